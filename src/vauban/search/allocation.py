"""Rollouts for each move: their number, their configurations, their depth, and the cuts when time is short.

Time is cut in this order, each as far as it goes before the next: depth (down to 4 plies), configurations (down to
one), moves (the least likely ones get no rollout; two always do, since the value of one alone says nothing). Moves are
cut last because the network knows its likeliest moves already: a search gains by looking at the others. Where
drawing configurations by the belief would take more than half of the time, they are drawn as if all were equally
likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vauban.search.pace import Pace

SHALLOWEST = 4
"""Plies: the move, the answer to it, and one more of each (docs/search.md)."""

FEWEST_MOVES = 2
"""Moves that are compared, however short the time."""

DEPTH, CONFIGURATIONS, MOVES, BELIEF = "depth", "configurations", "moves", "belief"
"""The parts that can be cut."""


@dataclass(frozen=True)
class Plan:
    """The work for one position."""

    rollouts: int
    depth: int
    """Plies of each rollout, the forced one included: an even number, so that the searching player is on turn again."""
    configurations: int
    """Number of configurations to look at: ways the hidden pieces may be."""
    moves: int
    """Number of moves that get rollouts: the most likely ones."""
    cut: tuple[str, ...] = ()
    """The parts that were cut to keep to the time: `DEPTH`, `CONFIGURATIONS`, `MOVES`, `BELIEF`."""


def make_plan(
    legal: int, rollouts: int, depth: int, most: int = 0, pace: Pace | None = None, time: float = 0.0
) -> Plan:
    """Plan the rollouts of a position with a given number of legal moves.

    most: most configurations to look at; 0 for as many as there are rollouts a move.
    time: seconds; 0 for no limit. With a limit, `pace` says what fits.
    """
    cut = []
    moves = min(legal, rollouts)
    if time > 0 and pace is not None:
        left = time - pace.fixed - pace.draw
        if pace.draw > max(left, 0.0):
            cut.append(BELIEF)
            left += pace.draw
        fits = int(left / (pace.ply + pace.row * rollouts))
        if fits < depth > SHALLOWEST:
            cut.append(DEPTH)
            depth = min(depth, max(SHALLOWEST, fits - fits % 2))
        fits = max(min(FEWEST_MOVES, moves), int((left / depth - pace.ply) / pace.row))
        if fits < rollouts and pace.rolling(rollouts, depth) > left:
            cut += [CONFIGURATIONS] if fits >= moves else [CONFIGURATIONS, MOVES]
            rollouts, moves = fits, min(moves, fits)
    configurations = rollouts // moves
    return Plan(rollouts, depth, min(configurations, most) if most else configurations, moves, tuple(cut))


def rollout_counts(rollouts: int, moves: int) -> npt.NDArray[np.int64]:
    """Divide the rollouts over the moves: as evenly as can be, the first moves one more or less than the rest.

    Each gets rollouts / moves, rounded half to even; the first ones are corrected by one until the sum is right.
    """
    counts = np.full(moves, round(rollouts / moves), np.int64)
    missing = rollouts - int(counts.sum())
    counts[: abs(missing)] += np.sign(missing)
    return counts
