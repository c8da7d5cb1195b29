"""The sequential probability ratio test: stop a match as soon as it has shown what it was played for.

H0 says that the Elo (score) difference is `elo0`, H1 that it is `elo1`. The test uses the generalised
log likelihood ratio (LLR): for each hypothesis the likeliest of all distributions of results that
have its mean. It is a function of the totals, not a sum over games.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vauban.arena.results import GameResult, ResultsError
from vauban.arena.statistics import GAME_SCORES, PAIR_SCORES, expected_score
from vauban.errors import ConfigurationError

EMPTY = 0.001
"""Stands in for a count of 0, so that no result is impossible."""
MOST_STEPS = 100
SMALL_STEP = 1e-12

Decision = Literal["H0", "H1"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Hypotheses:
    """The hypotheses, and how often the test may be wrong."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Probability of accepting H1 where H0 is true."""
    beta: float = 0.05
    """Probability of accepting H0 where H1 is true."""

    def __post_init__(self) -> None:
        numbers = (self.elo0, self.elo1, self.alpha, self.beta)
        if not all(map(math.isfinite, numbers)):
            raise ConfigurationError(f"SPRT with {', '.join(f'{number:g}' for number in numbers)}: not all are finite")
        if not self.elo0 < self.elo1:
            raise ConfigurationError(f"SPRT from {self.elo0:g} to {self.elo1:g} Elo: elo0 has to be below elo1")
        if min(self.alpha, self.beta) <= 0 or self.alpha + self.beta >= 1:
            raise ConfigurationError(
                f"SPRT with alpha={self.alpha:g}, beta={self.beta:g}: both have to be above 0, and their sum below 1"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR at which H0, and the one at which H1 is accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


def _shares(counts: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return the number of observations, the share of each result, and the score that it brings."""
    filled = np.asarray(counts, np.float64)
    if filled.shape[-1] not in (3, 5):
        raise ResultsError(f"counts of games are 3 numbers, of pairs 5; not {filled.shape[-1]}")
    filled = np.where(filled == 0, EMPTY, filled)
    number = filled.sum(-1, keepdims=True)
    return number, filled / number, np.array(GAME_SCORES if filled.shape[-1] == 3 else PAIR_SCORES)


def tilt(counts: ArrayLike, score: ArrayLike) -> Floats:
    """Return the θ of the likeliest distribution with this mean: p_i = p̂_i / (1 + θ·(a_i − score)).

    It is the root of Σ p̂_i (a_i − score) / (1 + θ·(a_i − score)), which falls from +∞ to −∞ between
    the two ends. Newton's method finds it in a few steps; where a step would leave the bracket it is halved.
    """
    _, shares, values = _shares(counts)
    mean = np.asarray(score, np.float64)
    away = values - mean[..., None]
    low, high = np.broadcast_arrays(-1 / (1 - mean), 1 / mean, shares[..., 0])[:2]
    theta = np.zeros(low.shape)
    for _ in range(MOST_STEPS):
        pulls = away / (1 + theta[..., None] * away)
        sums = (shares * pulls).sum(-1)
        low, high = np.where(sums > 0, theta, low), np.where(sums > 0, high, theta)
        newton = theta + sums / (shares * pulls**2).sum(-1)
        step = np.where((low < newton) & (newton < high), newton, (low + high) / 2) - theta
        theta = theta + step
        if np.abs(step).max() < SMALL_STEP:
            break
    return theta


def llr(counts: ArrayLike, elo0: float, elo1: float) -> Floats:
    """Return the exact generalised LLR of H1 over H0, by counts of games (lost, drawn, won) or pairs (0, ½, 1, 1½, 2).

    Takes one row of counts or many at once (…, 3 or 5).
    """
    number, shares, values = _shares(counts)
    means = np.array([expected_score(elo0), expected_score(elo1)])
    away = values - means[:, None]
    logs = np.log1p(tilt(np.asarray(counts)[..., None, :], means)[..., None] * away)
    return np.asarray((number * shares * (logs[..., 0, :] - logs[..., 1, :])).sum(-1))


def llr_approximation(counts: ArrayLike, elo0: float, elo1: float) -> Floats:
    """Return a normal approximation of `llr`: close near the hypotheses, useless for extreme results."""
    number, shares, values = _shares(counts)
    mean = (shares * values).sum(-1)
    variance = (shares * (values - mean[..., None]) ** 2).sum(-1)
    s0, s1 = expected_score(elo0), expected_score(elo1)
    return np.asarray(number[..., 0] * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance))


class Sprt:
    """One sequential test, fed with results in any order.

    It decides by the finished prefix: observation after observation in the order of their numbers,
    up to the first that is missing. So the decision depends neither on the number of workers nor on
    which games end first. What comes after the decision is not looked at.
    """

    def __init__(self, hypotheses: Hypotheses, paired: bool = True) -> None:
        self.hypotheses = hypotheses
        self.paired = paired
        self.counts = [0] * (5 if paired else 3)
        """The observations that the decision rests on."""
        self.llr = 0.0
        self.decision: Decision | None = None
        self._next = 0
        self._waiting: dict[int, int] = {}
        self._halves: dict[int, GameResult] = {}

    def add(self, result: GameResult) -> Decision | None:
        """Feed a finished game of the match; returns "H0" or "H1" once accepted, None while the test goes on."""
        if not self.paired:
            return self.observe(result.number, 1 + result.outcome())
        twin = self._halves.pop(result.pair, None)
        if twin is None:
            self._halves[result.pair] = result
            return self.decision
        if twin.number == result.number:
            raise ResultsError(f"game {result.number} was fed to the test twice")
        return self.observe(result.pair, 2 + result.outcome() + twin.outcome())

    def observe(self, number: int, half_points: int) -> Decision | None:
        """Feed a finished pair (0 to 4 half points for the first agent) or, without pairs, a game (0 to 2)."""
        if not 0 <= half_points < len(self.counts):
            raise ResultsError(
                f"observation {number} brings {half_points} half points, expected 0 to {len(self.counts) - 1}"
            )
        if number < self._next or number in self._waiting:
            raise ResultsError(f"{'pair' if self.paired else 'game'} {number} was fed to the test twice")
        self._waiting[number] = half_points
        while self.decision is None and self._next in self._waiting:
            self.counts[self._waiting.pop(self._next)] += 1
            self._next += 1
            self._look()
        return self.decision

    def _look(self) -> None:
        self.llr = float(llr(self.counts, self.hypotheses.elo0, self.hypotheses.elo1))
        lower, upper = self.hypotheses.bounds
        if self.llr >= upper:
            self.decision = "H1"
        elif self.llr <= lower:
            self.decision = "H0"

    def state(self) -> dict[str, Any]:
        """Return the state of the test, ready for JSON."""
        lower, upper = self.hypotheses.bounds
        return {
            "elo0": self.hypotheses.elo0,
            "elo1": self.hypotheses.elo1,
            "alpha": self.hypotheses.alpha,
            "beta": self.hypotheses.beta,
            "model": "pentanomial" if self.paired else "trinomial",
            "counts": list(self.counts),
            "llr": self.llr,
            "lower": lower,
            "upper": upper,
            "decision": self.decision,
        }


def run_sprt(results: Sequence[GameResult], hypotheses: Hypotheses, paired: bool = True) -> Sprt:
    """Return the test over the results of a match."""
    test = Sprt(hypotheses, paired)
    for result in results:
        test.add(result)
    return test
