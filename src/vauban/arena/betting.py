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
from collections.abc import Sequence


def log10_wealth_ratio(outcomes: Sequence[int]) -> float:
    """Return the decimal logarithm of the bettor's wealth over that of the best fixed split in hindsight.

    That split puts at most ½ on "win": its wealth is 1 unless losses lead. (The ratio itself has thousands of digits
    in a long match.)
    """
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


def _share(wins: int, losses: int) -> tuple[int, int]:
    """Return the share put on "win" after so many, (max((W+L)/2, W) + 2/3) / (W+L+1): above and below times six."""
    return 3 * max(wins + losses, 2 * wins) + 4, 6 * (wins + losses + 1)
