"""The sequential test: golden LLRs, decisions that no order of finishing changes, error rates."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from numpy.typing import NDArray

from vauban.arena.results import GameResult, ResultsError
from vauban.arena.sprt import Hypotheses, Sprt, llr, llr_approximation, run_sprt, tilt
from vauban.arena.statistics import expected_score
from vauban.errors import ConfigurationError


def close(shown: float, digits: int) -> object:
    return pytest.approx(shown, abs=10.0 ** (math.floor(math.log10(abs(shown))) + 1 - digits))


GOLDEN = [  # counts, elo0, elo1, θ(s0), θ(s1), LLR, approximation
    ((70, 60, 120), 0, 50, 0.5263157895, 0.1549053729, 6.1005052848, 6.37892106),
    ((100, 0, 150), 0, 50, 0.4, 0.1165267992, 4.61565626531, 4.78419850),
    ((490, 0, 510), 0, 5, 0.04, 0.0112219682, 0.18427409409, 0.18433868),
    ((45, 0, 55), 0, 100, 0.2, -0.390944198, -1.2079721101, -1.13372847),
    ((1, 4, 15), 0, 100, 1.75, 1.235503422, 4.15567790932, 10.1196511),
    ((0, 0, 20), 0, 100, 1.99980001, 1.562124297, 4.93915093741, 19273.7),
    ((5, 20, 50, 35, 15), 0, 20, 1.031894604, 0.6363687929, 3.01303503531, 3.19337462),
    ((10, 30, 60, 40, 20), 0, 10, 0.6333385085, 0.4439889562, 1.24108996691, 1.26829649),
    ((0, 3, 12, 8, 2), 0, 100, 1.99702903, -1.166212657, 1.7883614411, 1.77200449),
    ((12, 140, 300, 160, 28), 0, 5, 0.4571040127, 0.2955390018, 1.73333874772, 1.72930055),
]


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "theta0", "theta1", "ratio", "approximation"), GOLDEN, ids=lambda value: str(value)
)
def test_statistics_5_2_golden_llr(
    counts: tuple[int, ...],
    elo0: float,
    elo1: float,
    theta0: float,
    theta1: float,
    ratio: float,
    approximation: float,
) -> None:
    assert float(tilt(counts, expected_score(elo0))) == close(theta0, 9)
    assert float(tilt(counts, expected_score(elo1))) == close(theta1, 9)
    assert float(llr(counts, elo0, elo1)) == close(ratio, 11)
    assert float(llr_approximation(counts, elo0, elo1)) == close(approximation, 6 if approximation > 1000 else 8)


def test_statistics_5_2_bounds() -> None:
    assert Hypotheses(0, 5).bounds == (close(-2.94443897916644, 15), close(2.94443897916644, 15))
    assert Hypotheses(0, 5, alpha=0.01, beta=0.05).bounds == (close(-2.9856819377, 11), close(4.5538768916, 11))


def test_many_counts_at_once_give_what_each_gives_alone() -> None:
    rows = np.random.default_rng(1).integers(0, 50, (20, 5))
    assert llr(rows, 0, 20) == pytest.approx([float(llr(row, 0, 20)) for row in rows])


def test_the_llr_is_that_of_the_likeliest_distributions_with_the_two_means() -> None:
    """Against a plain search over all trinomial distributions with the mean: one free number, the share of draws."""
    lost, drawn, won = 70, 60, 120

    def best(mean: float) -> float:
        draws = np.linspace(0, 2 * min(mean, 1 - mean), 2_000_001)[1:-1]
        return float(
            (won * np.log(mean - draws / 2) + drawn * np.log(draws) + lost * np.log(1 - mean - draws / 2)).max()
        )

    assert float(llr((lost, drawn, won), 0, 50)) == pytest.approx(best(expected_score(50)) - best(0.5), abs=1e-6)


# ── Decisions ────────────────────────────────────────────────────────────────────────────────────────


def games(pairs: list[int]) -> list[GameResult]:
    """Return both games of pairs that bring the first agent these half points: 0 to 4."""
    split = {0: (-1, -1), 1: (-1, 0), 2: (1, -1), 3: (0, 1), 4: (1, 1)}
    results = []
    for pair, half_points in enumerate(pairs):
        for side, outcome in enumerate(split[half_points]):
            winner = None if outcome == 0 else side if outcome == 1 else 1 - side
            agents = ("A", "B") if side == 0 else ("B", "A")
            results.append(GameResult(2 * pair + side, agents, winner, "flag", 10, 0.1))
    return results


@pytest.mark.parametrize(("counts", "hypotheses", "decision"), [
    ((70, 60, 120), Hypotheses(0, 50), "H1"),
    ((5, 20, 50, 35, 15), Hypotheses(0, 20), "H1"),
    ((12, 140, 300, 160, 28), Hypotheses(0, 5), None),
    ((150, 0, 100), Hypotheses(0, 50), "H0"),
])  # fmt: skip
def test_statistics_5_2_decisions(counts: tuple[int, ...], hypotheses: Hypotheses, decision: str | None) -> None:
    """The last look decides: the order is one in which the LLR crosses no bound before."""
    lower, upper = hypotheses.bounds
    ratio = float(llr(counts, hypotheses.elo0, hypotheses.elo1))
    assert decision == ("H1" if ratio >= upper else "H0" if ratio <= lower else None)
    test = Sprt(hypotheses, paired=len(counts) == 5)
    # Interleave the results, so that the prefix keeps the proportions of the whole.
    turns = sorted((k / (count + 1), cell) for cell, count in enumerate(counts) for k in range(1, count + 1))
    for number, (_, half_points) in enumerate(turns):
        test.observe(number, half_points)
    assert test.decision == decision
    if decision is None:
        assert test.counts == list(counts)
        assert test.llr == pytest.approx(ratio)


def test_the_order_in_which_games_finish_does_not_change_the_decision() -> None:
    rng = random.Random(5)
    pairs = rng.choices(range(5), weights=(5, 20, 50, 38, 17), k=400)
    played = games(pairs)
    hypotheses = Hypotheses(0, 40)
    straight = run_sprt(played, hypotheses)
    assert straight.decision == "H1"
    assert 20 < sum(straight.counts) < 380
    for _ in range(20):
        mixed = played[:]
        rng.shuffle(mixed)
        assert run_sprt(mixed, hypotheses).state() == straight.state()


def test_a_pair_that_is_missing_holds_the_decision_up_whatever_comes_after_it() -> None:
    test = Sprt(Hypotheses(0, 100))
    played = games([4] * 40)
    for result in played[2:]:
        assert test.add(result) is None
    assert test.counts == [0] * 5
    assert test.add(played[1]) is None
    assert test.add(played[0]) == "H1"
    assert sum(test.counts) < 40


def test_after_the_decision_nothing_changes_it() -> None:
    test = Sprt(Hypotheses(0, 100))
    played = games([4] * 30 + [0] * 300)
    decided = [test.add(result) for result in played]
    assert decided[-1] == test.decision == "H1"
    assert test.state()["counts"][0] == 0


def test_games_without_pairs_are_counted_one_by_one() -> None:
    test = run_sprt(games([4, 3]), Hypotheses(0, 100), paired=False)
    assert test.counts == [0, 1, 3]
    assert test.state()["model"] == "trinomial"


def test_a_result_that_is_fed_twice_is_refused() -> None:
    played = games([4, 4])
    test = Sprt(Hypotheses(0, 100))
    test.add(played[0])
    with pytest.raises(ResultsError, match="game 0 was fed to the test twice"):
        test.add(played[0])
    single = run_sprt(played[:2], Hypotheses(0, 100), paired=False)
    with pytest.raises(ResultsError, match="game 1 was fed to the test twice"):
        single.add(played[1])
    with pytest.raises(ResultsError, match="brings 5 half points, expected 0 to 4"):
        test.observe(9, 5)


def test_hypotheses_that_cannot_be_tested_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="elo0 has to be below elo1"):
        Hypotheses(5, 5)
    with pytest.raises(ConfigurationError, match="their sum below 1"):
        Hypotheses(0, 5, alpha=0.5, beta=0.5)
    with pytest.raises(ConfigurationError, match="above 0"):
        Hypotheses(0, 5, alpha=0)


# ── Error rates ──────────────────────────────────────────────────────────────────────────────────────


def with_mean(shape: NDArray[np.float64], score: float) -> NDArray[np.float64]:
    """Return the distribution of results with this mean that is nearest to a shape."""
    values = np.linspace(0, 1, len(shape))
    chances = shape / (1 + tilt(shape, score) * (values - score))
    assert chances.sum() == pytest.approx(1)
    assert chances @ values == pytest.approx(score)
    return chances


def accepted(chances: NDArray[np.float64], hypotheses: Hypotheses, runs: int, longest: int) -> tuple[float, float]:
    """Return the shares of many tests that accepted H0 and H1; one look after every observation."""
    rng = np.random.default_rng(11)
    lower, upper = hypotheses.bounds
    counts = np.zeros((runs, len(chances)))
    verdicts = []
    for _ in range(longest):
        counts[np.arange(len(counts)), rng.choice(len(chances), len(counts), p=chances / chances.sum())] += 1
        ratio = llr(counts, hypotheses.elo0, hypotheses.elo1)
        done = (ratio <= lower) | (ratio >= upper)
        verdicts += list(ratio[done] > 0)
        counts = counts[~done]
        if len(counts) == 0:
            break
    assert len(counts) < runs / 50, "the tests were cut off too early"
    return verdicts.count(False) / runs, verdicts.count(True) / runs


SHAPES = {"trinomial": np.array([0.35, 0.3, 0.35]), "pentanomial": np.array([0.08, 0.2, 0.44, 0.2, 0.08])}


@pytest.mark.parametrize("model", SHAPES)
def test_the_test_is_wrong_no_more_often_than_it_may_be(model: str) -> None:
    """1000 tests of 0 against 80 Elo on each side; three standard errors are two points."""
    hypotheses = Hypotheses(0, 80, alpha=0.05, beta=0.1)
    runs, longest = 1000, 800
    noise = 3 * math.sqrt(0.1 * 0.9 / runs)
    _, false_alarm = accepted(with_mean(SHAPES[model], expected_score(0)), hypotheses, runs, longest)
    missed, found = accepted(with_mean(SHAPES[model], expected_score(80)), hypotheses, runs, longest)
    assert 0.005 < false_alarm < 0.05 + noise
    assert 0.01 < missed < 0.1 + noise
    assert found > 0.85


def test_pairs_need_fewer_games_where_setups_decide() -> None:
    """The same results, paired as they were played, and with the pairing forgotten."""
    paired = (5, 5, 160, 15, 15)
    single = (2 * 5 + 5 + 160, 5 + 15, 2 * 15 + 15 + 160)
    assert float(llr(paired, 0, 20)) > 3 * float(llr(single, 0, 20)) > 0
