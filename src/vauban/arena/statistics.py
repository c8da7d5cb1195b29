"""Score, Elo (score) with its interval, likelihood of superiority, sign test: how far a match can be trusted.

"Elo (score)" is the difference at which the logistic formula expects the score of the match. It is
not the difference of two ratings of `vauban.arena.ratings`, which model draws: always say which.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vauban.arena.results import GameResult, PairCounts, ResultsError, Tally, in_order, pair_counts, tally

Z = 1.959963984540054
"""Standard errors from the middle of a two-sided interval of 95 % to either end."""
ELO_PER_NAT = 400 / math.log(10)
"""Elo per unit of natural log odds."""
GAME_SCORES = (0.0, 0.5, 1.0)
"""Points of a game: lost, drawn, won."""
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Points of a pair of games, per game."""
MOST_EXACT = 5000
"""Up to so many games likelihoods are computed in whole numbers; beyond, to nine digits."""
BALANCED_SCORES = (0.2, 0.8)
BALANCED_GAMES = 100
"""Outside these the interval of the score covers less than it says (see `docs/statistics.md`)."""


# ── Score and Elo ────────────────────────────────────────────────────────────────────────────────────


def elo(score: float) -> float:
    """Return the Elo difference at which a score is expected; infinite for 0 and 1."""
    if not 0 <= score <= 1:
        raise ResultsError(f"a score lies between 0 and 1, not at {score!r}")
    if score in (0, 1):
        return math.inf if score else -math.inf
    return 400 * math.log10(score / (1 - score))


def expected_score(difference: float) -> float:
    """Return the score that is expected at an Elo difference: the inverse of `elo`."""
    return 1 / (1 + 10 ** (-difference / 400))


@dataclass(frozen=True)
class Estimate:
    """A score and its Elo (score), each with the ends of its 95 % interval; `None` where there is none."""

    score: float
    variance: float
    """Of one observation (a game or a pair), with divisor N."""
    score_error: float
    score_low: float | None
    score_high: float | None
    elo: float
    elo_low: float | None
    elo_high: float | None
    elo_error: float | None
    """Standard error by the delta method: for places that need one number; never in place of the interval."""
    note: str
    """The reason if a figure is infinite, missing or exact; empty if nothing is unusual."""


def estimate(counts: Sequence[int]) -> Estimate:
    """Return the score and Elo (score) from counts of games (lost, drawn, won) or of pairs (of 0, ½, 1, 1½, 2 points).

    The ends of the score's interval are sent through `elo`, so the interval of the Elo is not
    symmetric, and reaches to infinity where the score's is clipped at 0 or 1.
    """
    values, things = (GAME_SCORES, "game") if len(counts) == 3 else (PAIR_SCORES, "pair")
    if len(counts) != len(values) or min(counts) < 0:
        raise ResultsError(f"counts of games are 3 numbers, of pairs 5, none below 0; not {tuple(counts)}")
    number = sum(counts)
    if number == 0:
        raise ResultsError(f"there is no score of no {things}s: at least one has to be finished")
    score = sum(count * value for count, value in zip(counts, values, strict=True)) / number
    variance = sum(count * (value - score) ** 2 for count, value in zip(counts, values, strict=True)) / number
    error = math.sqrt(variance / number)
    low: float | None = max(0.0, score - Z * error)
    high: float | None = min(1.0, score + Z * error)
    if number == max(counts):
        low, high, note = _always_the_same(score, number, things)
    else:
        note = _clipped(low == 0, high == 1)
    return Estimate(
        score=score,
        variance=variance,
        score_error=error,
        score_low=low,
        score_high=high,
        elo=elo(score),
        elo_low=None if low is None else elo(low),
        elo_high=None if high is None else elo(high),
        elo_error=ELO_PER_NAT * error / (score * (1 - score)) if 0 < score < 1 and low is not None else None,
        note=note,
    )


def _always_the_same(score: float, number: int, things: str) -> tuple[float | None, float | None, str]:
    """Return the interval where the sample has no variance, and must not be one of zero width."""
    exact = 0.025 ** (1 / number)  # Clopper–Pearson for `number` of `number`
    if score == 1:
        return (
            exact,
            1.0,
            f"every {things} won: Elo (score) and its upper end are +inf, the lower end is Clopper–Pearson's",
        )
    if score == 0:
        return (
            0.0,
            1 - exact,
            f"every {things} lost: Elo (score) and its lower end are -inf, the upper end is Clopper–Pearson's",
        )
    if things == "game":
        return None, None, "all draws, no interval"
    return None, None, "every pair brought the same, no interval"


def _clipped(low: bool, high: bool) -> str:
    if low and high:
        return "too few games: both ends of the interval are infinite"
    if low or high:
        return f"the score's interval is clipped at {int(high)}: the {'upper' if high else 'lower'} end is infinite"
    return ""


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided interval of a probability, from how often something happened."""
    if not 0 <= successes <= trials or trials == 0:
        raise ResultsError(f"{successes} of {trials} is no share: expected 0 ≤ successes ≤ trials, trials ≥ 1")
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else _solve(trials, successes, tail)
    # P(X ≤ k | p) = P(trials − X ≥ trials − k | 1 − p): the upper end is the lower one of what did not happen.
    high = 1.0 if successes == trials else 1 - _solve(trials, trials - successes, tail)
    return low, high


def _solve(trials: int, least: int, tail: float) -> float:
    """Return the p at which P(X ≥ least) equals the tail, X binomial; by bisection, the probability grows with p."""
    k = np.arange(least, trials + 1)
    ways = _log_ways(trials, k)
    low, high = 0.0, 1.0
    while True:
        p = (low + high) / 2
        if p in (low, high):
            return p
        if np.exp(ways + k * math.log(p) + (trials - k) * math.log1p(-p)).sum() < tail:
            low = p
        else:
            high = p


def _log_ways(trials: int, successes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the natural logarithms of binomial coefficients."""
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, trials + 1)))))
    return np.asarray(logs[trials] - logs[successes] - logs[trials - successes])


# ── Who is stronger ──────────────────────────────────────────────────────────────────────────────────


def los(wins: int, losses: int) -> float:
    """Return the likelihood of superiority, by the normal approximation; draws say nothing about who is stronger."""
    if wins + losses == 0:
        return 0.5
    return NormalDist().cdf((wins - losses) / math.sqrt(wins + losses))


def los_exact(wins: int, losses: int) -> float:
    """Return P(p > ½) for the share p of wins among decided games, with a uniform prior."""
    return _at_most(wins, wins + losses + 1)


def sign_test(wins: int, losses: int) -> tuple[float, float]:
    """Return the chance of so many wins or more between equals: one-sided; and two-sided, for either of the two."""
    decided = wins + losses
    return _at_most(losses, decided), min(1.0, 2 * _at_most(min(wins, losses), decided))


def _at_most(most: int, tosses: int) -> float:
    """Return P(X ≤ most) for fair tosses: in whole numbers until the last division, or by logarithms if many."""
    if tosses > MOST_EXACT:
        return float(np.exp(_log_ways(tosses, np.arange(most + 1)) - tosses * math.log(2)).sum())
    ways, total = 1, 0
    for k in range(most + 1):
        total += ways
        ways = ways * (tosses - k) // (k + 1)
    return total / (1 << tosses)


# ── A match in one table ─────────────────────────────────────────────────────────────────────────────


def estimate_match(games: Tally, pairs: PairCounts) -> Estimate:
    """Compute a match's published figures: from its pairs, where there is one, since their games share setups."""
    if sum(pairs) == 0:
        return estimate((games.losses, games.draws, games.wins))
    found = estimate(pairs)
    if games.wins == games.losses == 0:
        return replace(found, note="all draws, no interval")
    return found


def is_balanced(games: Tally) -> bool:
    """Return whether the interval of the score covers close to what it says."""
    return games.games >= BALANCED_GAMES and BALANCED_SCORES[0] <= games.score <= BALANCED_SCORES[1]


def summary(results: Sequence[GameResult]) -> dict[str, Any]:
    """Return a match from its first agent's point of view, ready for JSON: `null` and a `note` for what is infinite.

    `wins`, `draws`, `losses`, `score` and `los` count all games. `elo`, `score_low` and so on come
    from the complete pairs (a last game without its twin is left out), from single games only if
    there is no pair. `not_lost_low` and `not_lost_high` are Clopper–Pearson's bounds of the share of
    games won or drawn: they hold where the interval of the score does not, in lopsided and short matches.
    """
    if not results:
        raise ResultsError("a match without a finished game has no summary: at least one has to be finished")
    games, pairs = tally(results), pair_counts(results)
    found = estimate_match(games, pairs)
    notes = [found.note] if found.note else []
    alone = games.games - 2 * sum(pairs)
    if alone and sum(pairs):
        notes.append(f"{alone} unpaired {'game' if alone == 1 else 'games'} left out of Elo (score) and its interval")
    if not sum(pairs):
        notes.append("no complete pair: Elo (score) and its interval are of single games")
    not_lost = clopper_pearson(games.wins + games.draws, games.games)
    return {
        "wins": games.wins,
        "draws": games.draws,
        "losses": games.losses,
        "games": games.games,
        "pairs": list(pairs),
        "score": games.score,
        "score_low": found.score_low,
        "score_high": found.score_high,
        "elo": finite(found.elo),
        "elo_low": finite(found.elo_low),
        "elo_high": finite(found.elo_high),
        "los": los(games.wins, games.losses),
        "not_lost_low": not_lost[0],
        "not_lost_high": not_lost[1],
        "mean_plies": sum(result.plies for result in results) / games.games,
        "seconds": sum(result.seconds for result in results),
        "note": "; ".join(notes),
    }


def ends_of_wins(results: Sequence[GameResult]) -> dict[str, float]:
    """Return by end the share of the first agent's wins that ended so."""
    won = Counter(result.end for result in results if result.winner == result.number % 2)
    return {end: count / won.total() for end, count in sorted(won.items())}


# ── Games that are worth more than a win or a loss ───────────────────────────────────────────────────


def utility_summary(results: Sequence[GameResult]) -> dict[str, Any]:
    """Return a match in a game of stakes, such as poker, from its first agent's point of view, ready for JSON.

    `utility` is the mean of all games. Its 95 % interval comes from the complete pairs, which share their deals, from
    single games only if there is no pair; `None` where there are less than two of them, or all are alike.
    """
    if not results:
        raise ResultsError("a match without a finished game has no summary: at least one has to be finished")
    ordered = in_order(results)
    pairs = [(one.worth() + twin.worth()) / 2 for one, twin in pairwise(ordered) if one.pair == twin.pair]
    alone = len(ordered) - 2 * len(pairs)
    notes = []
    if alone and pairs:
        notes.append(f"{alone} unpaired {'game' if alone == 1 else 'games'} left out of the interval")
    if not pairs:
        notes.append("no complete pair: the interval is of single games")
    values = np.array(pairs or [result.worth() for result in ordered])
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    if not error:
        notes.append("no interval: too few games, or all alike")
    center = float(values.mean())
    return {
        "games": len(ordered),
        "pairs": len(pairs),
        "utility": sum(result.worth() for result in ordered) / len(ordered),
        "utility_error": error or None,
        "utility_low": center - Z * error if error else None,
        "utility_high": center + Z * error if error else None,
        "mean_plies": sum(result.plies for result in ordered) / len(ordered),
        "seconds": sum(result.seconds for result in ordered),
        "note": "; ".join(notes),
    }


def finite(value: float | None) -> float | None:
    """Return the value, or None if it is infinite: JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None
