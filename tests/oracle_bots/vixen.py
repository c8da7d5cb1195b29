"""vixen: every enemy pulls every piece in the direction of its path."""

from __future__ import annotations

from collections.abc import Mapping

from vauban.board import View
from vauban.notation.stratego.moves import Move

from .common import CLOSE, DOWN, LEFT, RIGHT, UP, Direction, Draws, Sight, V, find_path


def _table(row: str) -> dict[str, float]:
    return dict(zip("123456789s", map(float, row.split()), strict=True))


SUI = _table("-.8 -.6 -.5 -.25 -.2 0 .1 -1.0 0 -.4")
KIL = _table("1.0 .9 .9 .8 .8 .8 .8 .9 .7 1.0")


def combat(a: str, r: str, length: int) -> float:
    """Return the worth of a fight of rank a with rank r at the end of a path of this length."""
    if r == "F":
        return 1.0
    if r == "B":
        return 1.0 if a == "8" else SUI[a]
    if r == "s" and a == "1" and length == 2:
        return SUI["1"]
    if r == "1" and a == "s" and length != 2:
        return KIL["s"]
    if V[a] > V[r]:
        return KIL[r]
    if V[a] < V[r]:
        return SUI[a]
    return KIL[r] + SUI[a]


def expected_combat(a: str, chances: Mapping[str, float], length: int) -> float:
    """Return the sum over all ranks that the enemy may have."""
    return sum(chance * combat(a, rank, length) for rank, chance in chances.items())


def came_from(view: View, square: int) -> int | None:
    """Return the square that the own piece on a square came from last; None if it has not moved."""
    for played in reversed(view.history):
        if played.player == view.player and played.move.target == square:
            return played.move.source
    return None


def sums(sight: Sight) -> list[tuple[Move, float]]:
    """Return the sum of each legal first direction of a path, pieces in list order, directions in tie order."""
    found: list[tuple[Move, float]] = []
    for a in sight.mobile:
        total: dict[Direction, float] = {}
        back = came_from(sight.view, a.square)
        for e in sight.enemies:
            path = find_path(sight, a.square, e.square)
            if path is None:
                continue
            length = len(path)
            score = expected_combat(a.rank, sight.chances(e), length) / length
            if length > 1 and sight.step(a.square, path[0]) == back:
                score /= 100
            total[path[0]] = total.get(path[0], 0.0) + score
        for direction in (DOWN, RIGHT, UP, LEFT):
            target = sight.step(a.square, direction)
            if direction in total and target is not None and Move(a.square, target) in sight.legal:
                found.append((Move(a.square, target), total[direction]))
    return found


def choose(view: View, draws: Draws) -> Move | None:
    """Return the move it plays; None if it resigns. It draws nothing."""
    # max keeps the first among equals: the first piece, and of it the first direction.
    return max(sums(Sight(view)), key=lambda each: each[1], default=(None, 0.0))[0]


def acceptable(view: View) -> set[Move | None]:
    """Return every move that it could play, whatever the order in which sums are added up."""
    found = sums(Sight(view))
    best = max((value for _, value in found), default=0.0)
    return {move for move, value in found if value > best - CLOSE} or {None}
