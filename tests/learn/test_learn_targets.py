"""The formulas of learning, against the worked numbers of the published program."""

from __future__ import annotations

import math

import pytest
import torch

from vauban.games.base import game
from vauban.learn.ataraxos.filter import AdvantageFilter
from vauban.learn.ataraxos.moves import MoveConfig
from vauban.learn.ataraxos.setups import SetupConfig
from vauban.learn.ataraxos.targets import (
    Returns,
    divergence,
    entropy,
    is_clipped,
    lambda_returns,
    outcome_loss,
    policy_loss,
    quantile_of,
)
from vauban.learn.schedules import average_rate
from vauban.nets.magnet import action_sources, magnet_log_policy

UTILITIES = torch.tensor([-1.0, 0.0, 1.0])
FORESEEN = {
    "A": [(40, 16, 44), (14, 10, 76), (35, 18, 47), (58, 9, 33), (16, 3, 81), (14, 12, 74), (44, 18, 38), (9, 16, 75),
          (36, 4, 60), (24, 20, 56), (49, 15, 36), (6, 25, 69), (34, 3, 63), (35, 16, 49), (21, 7, 72), (59, 13, 28),
          (10, 16, 74), (12, 24, 64)],
    "B": [(52, 8, 40), (41, 9, 50), (12, 14, 74), (21, 29, 50), (52, 22, 26), (46, 11, 43), (19, 7, 74), (41, 11, 48),
          (9, 8, 83), (54, 23, 23), (35, 13, 52), (8, 29, 63), (30, 23, 47), (31, 11, 58), (39, 15, 46), (45, 2, 53),
          (52, 20, 28), (21, 2, 77)],
    "C": [(59, 18, 23), (32, 18, 50), (20, 19, 61), (49, 15, 36), (27, 20, 53), (6, 20, 74), (5, 18, 77), (56, 29, 15),
          (46, 21, 33), (12, 6, 82), (48, 5, 47), (19, 29, 52), (12, 18, 70), (43, 17, 40), (29, 15, 56), (17, 14, 69),
          (5, 9, 86), (13, 28, 59)],
}  # fmt: skip
IDLE = {"A": (5, 6, 7), "B": (12, 13), "C": (4, 5)}
ENDS = {"A": (4, 2), "B": (11, 2), "C": (3, 1)}
"""The row that ends a game, and the outcome's class for the first player."""


def returns_of(name: str, last: int) -> dict[int, tuple[list[float], float]]:
    """Outcome and advantage by row, from the first `last` rows of a game: our games have no idle rows."""
    rows = [row for row in range(last) if row not in IDLE[name]]
    foreseen = torch.tensor([FORESEEN[name][row] for row in rows])[:, None] / 100
    players = torch.tensor([[row % 2] for row in rows])
    end, result = ENDS[name]
    ended = torch.tensor([[row == end] for row in rows])
    results = torch.tensor([[result if row == end else 0] for row in rows])
    found: Returns = lambda_returns(foreseen, players, ended, results, UTILITIES, 0.8, 0.5)
    return {
        row: (found.outcomes[place, 0].tolist(), found.advantages[place, 0].item())
        for place, row in enumerate(rows)
        if found.estimated[place, 0]
    }


FIRST = {
    "A": {0: ((0.0956, 0.0408, 0.8636), 0.4325), 1: ((0.916, 0.018, 0.066), -1.245), 2: ((0.032, 0.006, 0.962), 0.705),
          3: ((1, 0, 0), -0.75), 4: ((0, 0, 1), 0.35)},
    "B": {0: ((0.1776, 0.11312, 0.70928), 0.52625), 1: ((0.44456, 0.20744, 0.348), 0.0175),
          2: ((0.192, 0.1064, 0.7016), -0.4275), 3: ((0.5032, 0.1868, 0.31), -0.365), 4: ((0.11, 0.078, 0.812), 0.905),
          5: ((0.514, 0.206, 0.28), -0.09), 6: ((0.09, 0.08, 0.83), 0.19), 7: ((0.54, 0.23, 0.23), -0.38)},
    "C": {0: ((0.04, 0.838, 0.122), 0.565), 1: ((0.098, 0.83, 0.072), -0.245), 2: ((0, 1, 0), -0.41),
          3: ((0, 1, 0), 0.13), 6: ((0.46, 0.21, 0.33), -0.85), 7: ((0.12, 0.06, 0.82), 1.11)},
}  # fmt: skip
SECOND = {
    "A": {8: ((0.23048, 0.12568, 0.64384), -0.08875), 9: ((0.20496, 0.21512, 0.57992), 0.05625),
          10: ((0.1656, 0.1196, 0.7148), 0.5625), 11: ((0.2412, 0.2064, 0.5524), -0.5075),
          12: ((0.122, 0.142, 0.736), 0.285), 13: ((0.214, 0.218, 0.568), -0.035), 14: ((0.1, 0.16, 0.74), 0.13),
          15: ((0.12, 0.24, 0.64), 0.83)},
    "B": {8: ((0.07, 0.026, 0.904), -0.155), 9: ((0.816, 0.058, 0.126), 0.085), 10: ((0, 0, 1), 0.83),
          11: ((1, 0, 0), -1.55), 14: ((0.52, 0.2, 0.28), -0.31), 15: ((0.21, 0.02, 0.77), 0.48)},
    "C": {8: ((0.17792, 0.10408, 0.718), 0.405), 9: ((0.19512, 0.24648, 0.5584), -0.42),
          10: ((0.1024, 0.1176, 0.78), 0.57), 11: ((0.1964, 0.2356, 0.568), -0.1), 12: ((0.098, 0.102, 0.8), -0.04),
          13: ((0.138, 0.252, 0.61), 0.52), 14: ((0.05, 0.09, 0.86), 0.54), 15: ((0.13, 0.28, 0.59), -0.06)},
}  # fmt: skip


@pytest.mark.parametrize("name", "ABC")
def test_returns_of_a_won_game_one_that_spans_windows_and_a_draw_are_those_of_17_1(name: str) -> None:
    found = returns_of(name, 10)
    for row, (outcome, advantage) in FIRST[name].items():
        assert found[row][0] == pytest.approx(outcome, abs=1e-6), (name, row)
        assert found[row][1] == pytest.approx(advantage, abs=1e-6), (name, row)
    assert not {8, 9} & set(found), "the newest position of each player only bootstraps"


@pytest.mark.parametrize("name", "ABC")
def test_returns_of_the_second_window_are_those_of_17_1(name: str) -> None:
    found = returns_of(name, 18)
    for row, (outcome, advantage) in SECOND[name].items():
        assert found[row][0] == pytest.approx(outcome, abs=1e-6), (name, row)
        assert found[row][1] == pytest.approx(advantage, abs=1e-6), (name, row)


def test_the_filter_is_the_quantile_of_the_rows_trained_in_this_window_17_1() -> None:
    first = torch.tensor([returns_of(name, 10)[row][1] for name in "ABC" for row in FIRST[name]])
    assert len(first) == 19
    assert quantile_of(first.abs(), 0.75).item() == pytest.approx(0.7275, abs=1e-6)
    second = {f"{name}{row}": returns_of(name, 18)[row][1] for name in "ABC" for row in SECOND[name]}
    threshold = quantile_of(torch.tensor(list(second.values())).abs(), 0.75).item()
    assert threshold == pytest.approx(0.535, abs=1e-6)
    kept = {name for name, advantage in second.items() if abs(advantage) >= threshold}
    assert kept == {"A10", "A15", "B10", "B11", "C10", "C14"}


def test_the_filter_asks_for_a_size_only_when_values_have_begun_to_move() -> None:
    settled = 5
    tell = AdvantageFilter(0.75, 0.01, settled)
    small, large, later = (size * torch.arange(1, 101) / 100 for size in (0.005, 0.02, 0.008))
    quarter = 0.7525
    # An untrained network's values may differ by chance; then they even out, and only later do they mean anything.
    assert [tell.threshold(large) for _ in range(settled - 1)] == pytest.approx([0.02 * quarter] * (settled - 1))
    assert [tell.threshold(small) for _ in range(20)] == pytest.approx([0.005 * quarter] * 20)
    for _ in range(settled):
        assert tell.threshold(large) == pytest.approx(0.02 * quarter)
    assert [tell.threshold(later) for _ in range(3)] == [0.01] * 3
    assert AdvantageFilter(0.75, 0.01).threshold(small) == 0.01, "as published it is asked for from the start"


def test_policy_loss_and_clip_fraction_are_those_of_17_2() -> None:
    ratio = torch.tensor([0.7, 0.9, 1.0, 1.1, 1.5, 1.5, 0.7, 1.3])
    advantages = torch.tensor([0.4, -0.3, 0.2, 0.5, 0.6, -0.6, -0.4, 0.0])
    losses = policy_loss(ratio.log(), advantages, 0.2)
    assert losses.tolist() == pytest.approx([-0.28, 0.27, -0.20, -0.55, -0.72, 0.90, 0.32, 0.0], abs=1e-6)
    assert losses.mean().item() == pytest.approx(-0.0325, abs=1e-6)
    assert is_clipped(ratio.log(), 0.2).float().mean().item() == 0.625


LEGAL = torch.tensor([[31, 235, 331, 931, -1, -1]], dtype=torch.int16)
POLICY = torch.tensor([[0.5, 0.3, 0.15, 0.05, 0.0, 0.0]]).log()
OLD = torch.tensor([[0.4, 0.4, 0.1, 0.1, 0.0, 0.0]]).log()


def test_magnet_divergences_and_total_loss_are_those_of_17_3() -> None:
    magnet = magnet_log_policy(action_sources(game("classic")), LEGAL)
    assert magnet.exp()[0].tolist() == pytest.approx([1 / 6, 1 / 2, 1 / 6, 1 / 6, 0, 0], abs=1e-6)
    update, pull = divergence(POLICY, OLD).item(), divergence(POLICY, magnet).item()
    assert update == pytest.approx(0.0514295611, abs=1e-6)
    assert pull == pytest.approx(0.3200557396, abs=1e-6)
    uniform = torch.full((1, 6), math.log(1 / 4))
    assert divergence(POLICY, uniform).item() == pytest.approx(0.2441743181, abs=1e-6)
    assert entropy(POLICY).item() == pytest.approx(1.1421200430, abs=1e-6)
    value = outcome_loss(torch.tensor([[0.25, 0.15, 0.6]]).log(), torch.tensor([[0.2, 0.1, 0.7]])).item()
    assert value == pytest.approx(0.8245488073, abs=1e-6)
    policy = policy_loss((POLICY - OLD)[:, 0], torch.tensor([0.3]), 0.2).item()
    assert policy == pytest.approx(-0.36, abs=1e-6)
    config = MoveConfig()
    total = policy + config.update_weight * update + config.magnet_weight.at(1000) * pull + value
    assert total == pytest.approx(0.4717063950, abs=1e-6)


def test_schedules_are_those_of_17_4() -> None:
    config = MoveConfig()
    setups = SetupConfig().temperature
    for iteration, rate, magnet, temperature in (
        (1, 1e-4, 0.05, 0.1),
        (10, 1e-4, 0.0250593617, 0.0501187234),
        (1000, 1e-4, 0.0062946271, 0.0125892541),
        (2307, 9.9911999e-5, 0.0048984167, 0.0097968334),
        (35112, 5e-6, 0.0021643791, 0.0043287582),
        (42400, 5e-6, 0.0020453152, 0.0040906304),
    ):
        assert config.learning_rate.at(iteration) == pytest.approx(rate, rel=1e-6)
        assert config.magnet_weight.at(iteration) == pytest.approx(magnet, rel=1e-6)
        assert setups.at(iteration) == pytest.approx(temperature, rel=1e-6)


def test_a_player_who_is_on_turn_twice_in_a_row_follows_himself() -> None:
    """In Leduc the first player may end one betting round and begin the next."""
    foreseen = torch.tensor([[[0.5, 0.5]], [[0.2, 0.8]], [[0.4, 0.6]], [[0.9, 0.1]]])
    players = torch.tensor([[1], [0], [0], [1]])
    ended = torch.tensor([[False], [False], [False], [True]])
    results = torch.tensor([[0], [0], [0], [1]])
    found = lambda_returns(foreseen, players, ended, results, torch.tensor([-1.0, 1.0]), 0.8, 0.5)
    assert found.estimated.all()
    assert found.outcomes[2, 0].tolist() == pytest.approx([0.0, 1.0])
    assert found.outcomes[1, 0].tolist() == pytest.approx([0.2 * 0.4, 0.2 * 0.6 + 0.8])
    assert found.outcomes[0, 0].tolist() == pytest.approx([0.2 * 0.9 + 0.8 * 1.0, 0.2 * 0.1])


def test_a_young_average_reaches_back_over_a_share_of_the_run_only() -> None:
    kept = [average_rate(0.985, 0.1, iteration) for iteration in range(1, 2001)]
    assert kept[0] == pytest.approx(1 / 11) and kept[89] == pytest.approx(0.9)
    assert kept == sorted(kept) and kept[-1] == 0.985
    # What is left of the untrained weights after 45 iterations: next to nothing, where a steady rate keeps half.
    assert math.prod(kept[:45]) < 1e-6 and math.prod([average_rate(0.985, 0, n) for n in range(1, 46)]) > 0.5
