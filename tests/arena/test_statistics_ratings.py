"""Ratings of many agents by Davidson's model, against numbers computed elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vauban.arena.ratings import Ratings, components, needs_prior, rate
from vauban.arena.results import ResultsError
from vauban.arena.statistics import ELO_PER_NAT, elo
from vauban.errors import ConfigurationError

A_WINS = [[0, 30, 40, 45], [10, 0, 28, 38], [6, 14, 0, 30], [2, 7, 12, 0]]
A_DRAWS = [[0, 10, 4, 3], [10, 0, 8, 5], [4, 8, 0, 8], [3, 5, 8, 0]]
B_WINS = [[0, 6, 7], [3, 0, 5], [2, 4, 0]]
B_DRAWS = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
C_WINS = [[0, 20, 20], [0, 0, 12], [0, 8, 0]]
NONE = [[0] * 3] * 3
UNIT = {"abs": 1e-6}


def only(tables: list[Ratings]) -> Ratings:
    [table] = tables
    return table


def test_statistics_5_3_example_a() -> None:
    table = only(rate("0123", A_WINS, A_DRAWS))
    assert not table.prior
    assert table.nu == pytest.approx(0.3919634807, abs=1e-10)
    assert table.log_nu_error == pytest.approx(0.1821678604, abs=1e-10)
    assert table.log_likelihood == pytest.approx(-231.7545316, abs=1e-7)
    assert table.ratings == pytest.approx([262.475992, 61.791732, -76.963821, -247.303903], **UNIT)
    assert table.errors == pytest.approx([33.492944, 26.994630, 27.138710, 32.461876], **UNIT)
    for agent, shown in enumerate([(196.831028, 328.120957), (8.883229, 114.700235), (-130.154716, -23.772927),
                                   (-310.928010, -183.679796)]):  # fmt: skip
        assert table.interval(agent) == pytest.approx(shown, **UNIT)
    assert table.covariance == pytest.approx(
        np.array([
            [1121.7773, -199.1292, -362.7763, -559.8718], [-199.1292, 728.7101, -204.7062, -324.8746],
            [-362.7763, -204.7062, 736.5096, -169.0270], [-559.8718, -324.8746, -169.0270, 1053.7734],
        ]), abs=1e-4,
    )  # fmt: skip


def test_statistics_5_3_example_a_anchored() -> None:
    table = only(rate("0123", A_WINS, A_DRAWS, anchor=("0", 0)))
    assert table.anchor == "0"
    assert table.ratings == pytest.approx([0, -200.684260, -339.439814, -509.779895], **UNIT)
    assert table.errors == pytest.approx([0, 47.420943, 50.831482, 57.404653], **UNIT)
    moved = only(rate("0123", A_WINS, A_DRAWS, anchor=("0", 1500)))
    assert moved.ratings == pytest.approx(table.ratings + 1500)


def test_statistics_5_3_example_a_with_the_prior() -> None:
    table = only(rate("0123", A_WINS, A_DRAWS, prior=True))
    assert table.prior
    assert table.nu == pytest.approx(0.3760233590, abs=1e-10)
    assert table.ratings == pytest.approx([252.227674, 59.608247, -74.064626, -237.771295], **UNIT)
    assert table.errors == pytest.approx([32.387654, 26.403336, 26.537340, 31.454502], **UNIT)


def test_statistics_5_3_example_b() -> None:
    table = only(rate("abc", B_WINS, B_DRAWS))
    assert not table.prior
    assert table.nu == pytest.approx(0.2403029527, abs=1e-10)
    assert table.ratings == pytest.approx([110.816078, -27.765247, -83.050832], **UNIT)
    assert table.errors == pytest.approx([60.721783, 56.952717, 58.859957], **UNIT)


def test_statistics_5_3_example_c_a_perfect_score_switches_the_prior_on() -> None:
    table = only(rate("abc", C_WINS, NONE))
    assert table.prior
    assert (table.nu, table.log_nu_error) == (0, None)
    assert table.ratings == pytest.approx([431.935000, -183.993060, -247.941940], **UNIT)
    assert table.errors == pytest.approx([117.342002, 68.542206, 70.899648], **UNIT)
    with pytest.raises(ResultsError, match="no finite maximum"):
        rate("abc", C_WINS, NONE, prior=False)


def test_statistics_5_3_two_agents_with_the_prior() -> None:
    table = only(rate("ab", [[0, 20], [0, 0]], [[0, 0], [0, 0]]))
    difference, error = table.difference(0, 1)
    assert difference == pytest.approx(645.113543, **UNIT)
    assert difference == pytest.approx(400 * math.log10(20.5 / 0.5))
    assert error == pytest.approx(248.652035, **UNIT)


def test_statistics_5_3_a_rating_difference_is_larger_than_the_elo_of_the_score() -> None:
    table = only(rate("ab", [[0, 15], [1, 0]], [[0, 4], [4, 0]]))
    assert table.nu == pytest.approx(1.0327955590, abs=1e-10)
    assert table.difference(0, 1)[0] == pytest.approx(470.436504, **UNIT)
    assert elo(0.85) < 302


def test_without_draws_two_ratings_differ_by_the_elo_of_the_score() -> None:
    table = only(rate("ab", [[0, 55], [45, 0]], [[0, 0], [0, 0]]))
    assert table.difference(0, 1)[0] == pytest.approx(elo(0.55))


def test_every_agents_expected_score_is_its_score() -> None:
    table = only(rate("0123", A_WINS, A_DRAWS))
    half = (table.ratings[:, None] - table.ratings[None]) / ELO_PER_NAT / 2
    z = np.exp(half) + np.exp(-half) + table.nu
    expected = (np.exp(half) + table.nu / 2) / z
    wins, draws = np.array(A_WINS), np.array(A_DRAWS)
    played = wins + wins.T + draws
    assert (played * expected).sum(1) == pytest.approx((wins + draws / 2).sum(1))
    assert (played * table.nu / z).sum() == pytest.approx(draws.sum())


def test_the_anchored_errors_are_those_of_the_differences() -> None:
    free, anchored = only(rate("0123", A_WINS, A_DRAWS)), only(rate("0123", A_WINS, A_DRAWS, anchor=("2", 0)))
    for agent in range(4):
        difference, error = free.difference(agent, 2)
        assert anchored.ratings[agent] == pytest.approx(difference)
        assert anchored.errors[agent] == pytest.approx(error, abs=1e-6)


@pytest.mark.parametrize(("wins", "draws", "wanted"), [
    (A_WINS, A_DRAWS, False),
    (C_WINS, NONE, True),
    ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], NONE, False),  # a circle
    ([[0, 3, 0, 1], [3, 0, 2, 0], [0, 0, 0, 3], [0, 0, 3, 0]], [[0] * 4] * 4, True),  # two who only beat the others
    ([[0, 3, 0, 1], [3, 0, 2, 0], [0, 0, 0, 3], [0, 0, 3, 0]],
     [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], False),  # and one draw between
    ([[0, 0], [0, 0]], [[0, 9], [9, 0]], True),  # nothing decided
])  # fmt: skip
def test_the_prior_is_wanted_where_the_maximum_is_not_finite(
    wins: list[list[int]], draws: list[list[int]], wanted: bool
) -> None:
    assert needs_prior(wins, draws) == wanted
    assert only(rate("abcd"[: len(wins)], wins, draws)).prior == wanted


def test_only_draws_make_equals() -> None:
    table = only(rate("ab", [[0, 0], [0, 0]], [[0, 9], [9, 0]]))
    assert table.ratings == pytest.approx([0, 0])
    assert table.nu == pytest.approx(18)  # nine draws to half a win for each
    assert np.isfinite(table.errors).all()


def test_groups_that_never_met_have_a_table_each() -> None:
    wins = np.zeros((5, 5), int)
    wins[0, 3], wins[3, 0], wins[3, 4], wins[4, 3] = 6, 4, 5, 5
    wins[1, 2] = 7
    assert components(wins + wins.T) == [[0, 3, 4], [1, 2]]
    large, small = rate("abcde", wins, np.zeros((5, 5), int), anchor=("c", 100))
    assert (large.agents, large.prior, large.anchor) == (("a", "d", "e"), False, None)
    assert (small.agents, small.prior, small.anchor) == (("b", "c"), True, "c")
    assert large.ratings.mean() == pytest.approx(0)
    assert small.ratings[1] == 100


def test_far_apart_agents_are_rated_without_trouble() -> None:
    """A ladder of eight, each beating the next 999 times in 1000: the ratings span thousands of Elo."""
    wins = np.zeros((8, 8), int)
    for agent in range(7):
        wins[agent, agent + 1], wins[agent + 1, agent] = 999, 1
    table = only(rate("abcdefgh", wins, np.zeros((8, 8), int)))
    assert table.ratings[0] - table.ratings[7] == pytest.approx(7 * elo(0.999), abs=1e-6)


def test_the_intervals_of_ratings_cover() -> None:
    rng = np.random.default_rng(3)
    truth, nu = np.array([0.6, 0.1, -0.2, -0.5]), 0.5
    inside = total = 0
    for _ in range(400):
        wins, draws = np.zeros((4, 4), int), np.zeros((4, 4), int)
        for i in range(4):
            for j in range(i):
                half = (truth[i] - truth[j]) / 2
                weights = np.array([math.exp(half), nu, math.exp(-half)])
                won, drawn, lost = rng.multinomial(60, weights / weights.sum())
                wins[i, j], wins[j, i], draws[i, j], draws[j, i] = won, lost, drawn, drawn
        table = only(rate("abcd", wins, draws))
        for agent in range(4):
            low, high = table.interval(agent)
            inside += low <= truth[agent] * ELO_PER_NAT <= high
            total += 1
    assert inside / total == pytest.approx(0.95, abs=0.02)


def test_bad_tables_and_unknown_anchors_are_refused() -> None:
    with pytest.raises(ResultsError, match=r"3 agents need two 3×3 tables"):
        rate("abc", [[0, 1], [1, 0]], [[0, 0], [0, 0]])
    with pytest.raises(ResultsError, match="the same from both sides"):
        rate("ab", [[0, 1], [1, 0]], [[0, 2], [1, 0]])
    with pytest.raises(ConfigurationError, match="no agent 'z' to anchor: there are a, b"):
        rate("ab", [[0, 1], [1, 0]], [[0, 0], [0, 0]], anchor=("z", 0))
