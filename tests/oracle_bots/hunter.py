"""hunter: one piece hunts, or flees from, one enemy, wherever the two are.

`finish=True` does what the program was evidently meant to do: near pairs count more, and unknown
enemies that have not moved are left to cheap pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from vauban.board import View
from vauban.notation.stratego.moves import Move

from .common import CLOSE, DOWN, LEFT, RIGHT, UNKNOWN, UP, Draws, Sight, Unit, V

ATTACK, RETREAT = "ATTACK", "RETREAT"
T = {"B": 9, "1": 10, "2": 9, "3": 8, "4": 7, "5": 6, "6": 5, "7": 4, "8": 9, "9": 2, "s": 5, "F": 9}
NOTHING_POSSIBLE = -2.0


def action(a: str, r: str) -> tuple[str, float]:
    """Return a piece's wish towards an enemy of known rank, and its strength."""
    if r == "F":
        return ATTACK, 1.0
    if a == "8" and r == "B":
        return ATTACK, 0.9
    if a == "1" and r == "s":
        return RETREAT, 0.9
    if a == "s" and r == "1":
        return ATTACK, 0.6
    if r == "B":
        return RETREAT, 0.0
    if a == r:
        return ATTACK, 0.1
    if V[a] > V[r]:
        return ATTACK, T[r] * (0.1 + 1 / T[a])
    return RETREAT, T[a] / 10


def against_unknown(a: str, chances: Mapping[str, float]) -> dict[str, float]:
    """Return both actions against an enemy that is not known."""
    sums = {ATTACK: 0.0, RETREAT: 0.0}
    for rank, chance in chances.items():
        wish, value = action(a, rank)
        sums[wish] += chance * value / 2
    return sums


def wishes(sight: Sight, a: Unit, e: Unit) -> list[tuple[str, float]]:
    """Return the desired action; the other one too, second, if the two are equal up to rounding."""
    if e.rank != UNKNOWN:
        return [action(a.rank, e.rank)]
    sums = against_unknown(a.rank, sight.chances(e))
    chosen = RETREAT if sums[RETREAT] > sums[ATTACK] else ATTACK
    other = ATTACK if chosen == RETREAT else RETREAT
    close = abs(sums[ATTACK] - sums[RETREAT]) < CLOSE
    return [(chosen, sums[chosen])] + ([(other, sums[other])] if close else [])


def direction(sight: Sight, a: Unit, e: Unit, wish: str) -> tuple[Move, int] | None:
    """Return the step that serves the wish best, and how far the enemy is along that line; None if none is possible."""
    (ax, ay), (ex, ey) = sight.xy(a.square), sight.xy(e.square)
    dx, dy = ex - ax, ey - ay
    sign = 1 if wish == ATTACK else -1
    gains = [(DOWN, sign * dy), (RIGHT, sign * dx), (UP, -sign * dy), (LEFT, -sign * dx)]
    for way, gain in sorted(gains, key=lambda each: -each[1]):
        target = sight.step(a.square, way)
        if target is None or not (sight.empty(target) or target == e.square):
            continue
        if Move(a.square, target) in sight.legal:
            return Move(a.square, target), abs(gain)
    return None


class Pair(NamedTuple):
    """The values of one enemy and one own piece."""

    value: float
    move: Move | None
    kind: tuple[object, ...]
    """Pairs of the same kind have the same value in every implementation, to the last bit."""


def pairs(sight: Sight, finish: bool, *, other: bool = False) -> Iterator[Pair]:
    """Yield all pairs in the order of the loops; with `other`, by the other action where the two are equal."""
    for e in sight.enemies:
        for a in sight.mobile:
            wish, value = wishes(sight, a, e)[-1 if other else 0]
            found = direction(sight, a, e, wish)
            if found is None:
                yield Pair(NOTHING_POSSIBLE, None, ())
                continue
            move, m = found
            # Sums occur only against unknown enemies: a known enemy's value is that of the formula.
            kind: tuple[object, ...] = (a.rank, UNKNOWN) if e.rank == UNKNOWN else (value,)
            if finish:
                kind = (*kind, m, e.moved)
                value *= (1 - m / 10) ** 2
                if e.rank == UNKNOWN and not e.moved and a.rank != "8":
                    value *= (1 - V[a.rank] / 11) ** 2
                elif e.rank == UNKNOWN and e.moved and a.rank == "8":
                    value *= 0.05
            yield Pair(value, move, kind)


def choose(view: View, draws: Draws, *, finish: bool = False) -> Move | None:
    """Return the move it plays; None if it resigns. It draws nothing."""
    best: Pair | None = None
    for pair in pairs(Sight(view), finish):
        if best is None or pair.value > best.value:
            best = pair
    return best.move if best else None


def acceptable(view: View, *, finish: bool = False) -> set[Move | None]:
    """Return every move that it could play, whatever the order in which sums are added up."""
    sight = Sight(view)
    found: set[Move | None] = set()
    for other in (False, True):
        every = list(pairs(sight, finish, other=other))
        best = max((pair.value for pair in every), default=NOTHING_POSSIBLE)
        firsts: dict[tuple[object, ...], Move | None] = {}
        for pair in every:
            if pair.value > best - CLOSE:
                firsts.setdefault(pair.kind, pair.move)
        found |= set(firsts.values())
    return found or {None}
