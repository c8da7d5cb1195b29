"""Meta-games: fictitious play from a random start, noise, the mix with uniform and what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

from vauban.errors import ConfigurationError
from vauban.games.matrix import NAMED, random_antisymmetric
from vauban.solve.matrix import fictitious_play
from vauban.solve.meta import MetaSolver, beaten, exploitability, without_small

RPS = np.array(NAMED["rock-paper-scissors"][0], np.float64)


def test_a_start_counts_as_the_first_play_and_the_last_play_does_not_count() -> None:
    start = np.array([0.5, 0.3, 0.2])
    # Against (0.5, 0.3, 0.2) paper gets most, 0.3; against start + paper, divided by 2, scissors do.
    assert fictitious_play(RPS, 1, start) == pytest.approx(start)
    assert fictitious_play(RPS, 2, start) == pytest.approx((start + np.eye(3)[1]) / 2)
    assert fictitious_play(RPS, 3, start) == pytest.approx((start + np.eye(3)[1] + np.eye(3)[2]) / 3)


@pytest.mark.parametrize("iterations", [1, 7, 500])
def test_fictitious_play_answers_the_average_of_all_answers_before(iterations: int) -> None:
    payoffs = random_antisymmetric(12, 3)
    counts = np.full(12, 1 / 12)
    for _ in range(iterations):
        counts[(payoffs @ counts).argmax()] += 1
    assert fictitious_play(payoffs, iterations) == pytest.approx(counts / (iterations + 1), abs=1e-12)


def test_random_starts_differ_by_seed_and_come_near_the_same_equilibrium() -> None:
    payoffs = random_antisymmetric(10, 0)
    solver = MetaSolver(20_000, random_start=True)
    one, again, other = solver.solve(payoffs, (1, 2)), solver.solve(payoffs, (1, 2)), solver.solve(payoffs, (1, 3))
    assert (one == again).all() and (one != other).any()
    assert one == pytest.approx(other, abs=0.02)
    assert exploitability(payoffs, one) < 0.01


def test_the_mix_with_uniform_comes_before_small_chances_are_left_out() -> None:
    payoffs = random_antisymmetric(10, 0)
    plain = MetaSolver(20_000).solve(payoffs)
    assert MetaSolver(20_000, uniform=0.1).solve(payoffs) == pytest.approx(0.9 * plain + 0.01)
    cut = MetaSolver(20_000, least=1e-4).solve(payoffs)
    assert ((cut > 0) == (plain > 1e-4)).all() and (cut == 0).any()
    assert cut.sum() == pytest.approx(1)
    # With a tenth spread over ten policies nobody is small.
    assert (MetaSolver(20_000, uniform=0.1, least=1e-4).solve(payoffs) > 0).all()


def test_of_chances_that_are_all_small_the_largest_stay() -> None:
    assert without_small(np.array([0.25, 0.25, 0.5]), 0.9) == pytest.approx([0, 0, 1])


def test_noise_is_antisymmetric_and_of_the_size_that_was_asked_for() -> None:
    # In a game of nothing but noise the answer is that of a random game: fictitious play refuses what is not symmetric.
    mixes = [MetaSolver(1, noise=0.01).solve(np.zeros((5, 5)), seed) for seed in range(40)]
    assert len({int(mix.argmax()) for mix in mixes}) == 5
    payoffs = random_antisymmetric(10, 0)
    quiet = MetaSolver(20_000, noise=1e-4).solve(payoffs, 1)
    assert quiet == pytest.approx(MetaSolver(20_000).solve(payoffs), abs=0.02)
    loud = MetaSolver(20_000, noise=2.0).solve(payoffs, 1)
    assert np.abs(loud - quiet).max() > 0.1


def test_rectified_keeps_those_that_a_policy_beats_or_ties_and_itself() -> None:
    even = np.full(3, 1 / 3)
    assert beaten(RPS, 0, even) == pytest.approx([0.5, 0, 0.5])  # rock: itself and scissors
    assert beaten(RPS, 1, np.array([0.2, 0.2, 0.6])) == pytest.approx([0.5, 0.5, 0])
    tied = np.array([[0, -1e-13], [1e-13, 0]])
    assert beaten(tied, 0, np.array([0.5, 0.5])) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    "settings", [{"iterations": 0}, {"uniform": 1.5}, {"least": 1.0}, {"noise": -1.0}, {"noise": float("nan")}]
)
def test_settings_without_sense_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=r"1 iteration or more|with a share from 0 to 1"):
        MetaSolver(**settings)  # type: ignore[arg-type]
