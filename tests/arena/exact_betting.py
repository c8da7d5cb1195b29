"""The betting measure of `vauban.arena.betting` in exact fractions, as docs/statistics.md has it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction


def share_on_win(wins: int, losses: int) -> Fraction:
    """Return the share of its wealth that the bettor puts on "win" after so many wins and losses."""
    return (max(Fraction(wins + losses, 2), Fraction(wins)) + Fraction(2, 3)) / (wins + losses + 1)


def factors(outcomes: Iterable[int], inclusive: bool = False) -> list[Fraction]:
    """Return the factors by which games multiply the bettor's wealth.

    With `inclusive` the split before a game counts that game already. That is no bet; it exists only
    to reproduce a published figure (see `docs/statistics.md`).
    """
    found = []
    wins = losses = 0
    for outcome in outcomes:
        before = wins, losses
        wins, losses = wins + (outcome > 0), losses + (outcome < 0)
        share = share_on_win(wins, losses) if inclusive else share_on_win(*before)
        found.append(Fraction(1) if outcome == 0 else 2 * share if outcome > 0 else 2 * (1 - share))
    return found


def wealth(outcomes: Iterable[int], inclusive: bool = False) -> Fraction:
    """Return the bettor's wealth after these games, exactly."""
    return math.prod(factors(outcomes, inclusive), start=Fraction(1))


def comparator(outcomes: Iterable[int]) -> Fraction:
    """Return the wealth of the best fixed split in hindsight with at most ½ on "win"; 1 unless losses lead."""
    played = list(outcomes)
    wins, losses = played.count(1), played.count(-1)
    if wins >= losses:
        return Fraction(1)
    share = Fraction(wins, wins + losses)
    return (2 * share) ** wins * (2 * (1 - share)) ** losses


def wealth_ratio(outcomes: Sequence[int], inclusive: bool = False) -> Fraction:
    """Return the bettor's wealth over the comparator's, exactly."""
    return wealth(outcomes, inclusive) / comparator(outcomes)
