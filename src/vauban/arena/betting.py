"""The betting measure: how rich one gets by betting on an agent, game after game.

Wealth starts at 1. Before each game all of it is split between "win" and "loss"; a win multiplies it
by twice the share on "win", a loss by twice the other, a draw leaves it. The modified KT bettor
takes its split from the games before (the first time 2/3 on "win"), and never bets against the agent.

If a win is never likelier than a loss, given the past, the wealth exceeds x with probability at most
1/x, whenever one stops: so 1/wealth is a p-value that holds even where games depend on each other, as
against an opponent who learns. Games are 1 won, 0 drawn, −1 lost (`results.outcomes`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction


def share_on_win(wins: int, losses: int) -> Fraction:
    """Return the share of its wealth that the bettor puts on "win" after so many wins and losses."""
    return Fraction(*_share(wins, losses))


def _share(wins: int, losses: int) -> tuple[int, int]:
    """Return (max((W+L)/2, W) + 2/3) / (W+L+1), above and below multiplied by six."""
    return 3 * max(wins + losses, 2 * wins) + 4, 6 * (wins + losses + 1)


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


def log10_wealth_ratio(outcomes: Sequence[int]) -> float:
    """Return the decimal logarithm of the wealth ratio: for long matches, whose exact ratio has thousands of digits."""
    bettor: list[float] = []
    wins = losses = 0
    for outcome in outcomes:
        on_win, all_of_it = _share(wins, losses)
        if outcome:
            bettor.append(math.log10(2 * (on_win if outcome > 0 else all_of_it - on_win) / all_of_it))
        wins, losses = wins + (outcome > 0), losses + (outcome < 0)
    if wins >= losses:
        return math.fsum(bettor)
    share = wins / (wins + losses)
    compared = (wins * math.log10(2 * share) if wins else 0.0) + losses * math.log10(2 * (1 - share))
    return math.fsum(bettor) - compared
