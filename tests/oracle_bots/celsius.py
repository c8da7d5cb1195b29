"""celsius and celsius1.1: every piece walks to where its own map is coldest."""

from __future__ import annotations

from typing import NamedTuple

from vauban.board import View
from vauban.notation.stratego.moves import Move

from .common import CLOSE, DOWN, LEFT, RIGHT, UNKNOWN, UP, Draws, Sight, Unit, V

MOVED = "!"
"""The class of an unknown enemy that has moved."""
CLASSES = "B123456789sF?!"
SCARE = {
    own: dict(zip(CLASSES, map(float, row.split()), strict=True))
    for own, row in {
        "1": "0 0 -8 -8 -7 -6 -5 -4 -3 -2 5 -9 0 -7",
        "2": "0 4 0 -7 -6 -5 -4 -3 -2 -1 -2 -9 -3 -6",
        "3": "0 4 2 0 -6 -5 -4 -3 -2 -1 -2 -9 -2 -5",
        "4": "0 3 2 2 0 -5 -4 -3 -2 -1 -2 -9 -1 -3",
        "5": "0 3 2 2 2 0 -4 -3 -2 -1 -2 -9 0 -2",
        "6": "0 3 2 2 2 2 0 -3 -2 -1 -2 -9 1 -1",
        "7": "0 3 2 2 2 2 2 0 -2 -1 -2 -9 -1 0",
        "8": "-40 3 2 2 2 2 2 2 0 -2 -2 -9 -1 1",
        "9": "0 3 2 2 2 2 2 2 2 0 -2 -9 -2 2",
        "s": "0 -5 3 3 3 3 3 3 3 3 -1 -9 5 3",
    }.items()
}
NEVER = {"1.0": 998.0, "1.1": 999.0}
"""Cost of a move that should never be played, by version."""
SURRENDER = 999.0
"""Cost from which on a move is not played."""
TURNS = (UP, DOWN, LEFT, RIGHT)


def enemy_class(enemy: Unit) -> str:
    return MOVED if enemy.rank == UNKNOWN and enemy.moved else enemy.rank


def heat(sight: Sight, a: Unit) -> list[float]:
    """Return the map of one own piece, by square."""
    squares = sight.columns * sight.rows
    h = [0.0] * squares
    for enemy in sight.enemies:
        h[enemy.square] = SCARE[a.rank][enemy_class(enemy)]
    for own in sight.units:
        if own.rank == "F":
            h[own.square] = -5.0
    if a.start in sight.own_at or a.start in sight.enemy_at:
        h[a.start] += 0.2

    def sweep(read: list[float], write: list[float]) -> None:
        for x in range(sight.columns):
            for y in range(sight.rows):
                square = y * sight.columns + x
                if read[square] != 0:
                    write[square] = read[square]
                else:
                    total = sum(read[near] for near in sight.beside(square, TURNS) if near not in sight.own_at)
                    write[square] = 0.2 * total

    second = [0.0] * squares
    sweep(h, second)
    for _ in range(7):
        sweep(second, second)
    return second


def never(a: str, e: str) -> bool:
    """Return whether an attack on a known piece is a last resort at best."""
    if e == "B":
        return a != "8"
    return V[e] > V[a] or a == e == "1"


def at_once(a: str, e: str) -> bool:
    """Return whether an attack on a known piece is played when it is met."""
    return e == "F" or (a, e) in {("8", "B"), ("1", "s"), ("s", "1"), ("s", "s")}


class Candidate(NamedTuple):
    """A move to consider."""

    move: Move
    value: float
    at_once: bool


def candidates(sight: Sight, a: Unit, version: str) -> dict[int, Candidate]:
    """Return the candidates of a piece, by the number of the direction."""
    steps = {number: sight.step(a.square, turn) for number, turn in enumerate(TURNS)}
    targets = {n: target for n, target in steps.items() if target is not None and Move(a.square, target) in sight.legal}
    if not targets:
        return {}
    h = heat(sight, a)
    found = {}
    for number, target in targets.items():
        enemy = sight.enemy_at.get(target)
        known = enemy is not None and enemy.rank != UNKNOWN
        now = enemy is not None and known and at_once(a.rank, enemy.rank)
        value = h[target]
        if enemy is not None and known and not now and never(a.rank, enemy.rank):
            value = NEVER[version]
        found[number] = Candidate(Move(a.square, target), value, now)
    return found


def noisy(n: int) -> bool:
    """Return whether values get noise after n single moves of both sides."""
    return n > 250 and n % 250 < 15


def choose(view: View, draws: Draws, *, version: str = "1.0") -> Move | None:
    """Return the move it plays; None if it surrenders."""
    sight = Sight(view)
    mobile = sight.mobile
    if not mobile:
        return None
    best, value = None, SURRENDER
    first = draws.below(len(mobile), "piece")
    for offset in range(len(mobile)):
        a = mobile[(first + offset) % len(mobile)]
        found = candidates(sight, a, version)
        turn = draws.below(4, "direction")
        for number in range(4):
            candidate = found.get((turn + number) % 4)
            if candidate is None:
                continue
            if candidate.at_once:
                return candidate.move
            here = candidate.value + (draws.below(6, "noise") if noisy(view.plies + 1) else 0)
            if here < value:
                best, value = candidate.move, here
    return best


def acceptable(view: View, *, version: str = "1.0") -> set[Move | None]:
    """Return every move that it could play, for some draws and whatever the order in which sums are added up."""
    sight = Sight(view)
    every = [candidate for a in sight.mobile for candidate in candidates(sight, a, version).values()]
    now: set[Move | None] = {candidate.move for candidate in every if candidate.at_once}
    if now:
        return now
    coldest = min((candidate.value for candidate in every), default=SURRENDER)
    noise = 5 if noisy(view.plies + 1) else 0
    found: set[Move | None] = {
        candidate.move
        for candidate in every
        if candidate.value <= coldest + noise + CLOSE and candidate.value < SURRENDER
    }
    if coldest + noise >= SURRENDER:
        found.add(None)
    return found
