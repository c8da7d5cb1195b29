"""asmodeus: runs at the pair of pieces that promises most for its distance."""

from __future__ import annotations

from vauban.board import View
from vauban.notation.stratego.moves import Move

from .common import UNKNOWN, Draws, Sight, V, find_path, random_step, single_steps


def _table(row: str) -> dict[str, float]:
    return dict(zip("123456789s", map(float, row.split()), strict=True))


RISK = _table(".01 .05 .15 .2 .2 .25 .25 .01 .4 .01")
BOMB = _table("0 0 .05 .1 .3 .4 .5 1 .6 .1")
SUICIDE = _table("0 0 0 0 0 .05 .1 0 0 0")
KILL = _table("1.0 .9 .8 .5 .5 .5 .4 .9 .6 .9")


def base(a: str, e: str) -> float:
    """Return the worth of striking an enemy, for a piece."""
    if e == UNKNOWN:
        return RISK[a]
    if e == "B":
        return BOMB[a]
    if e == "F":
        return 1.0
    if V[e] < V[a] or (e == "1" and a == "s"):
        return KILL[e]
    return SUICIDE[a]


def best_pair(sight: Sight) -> tuple[Move, float] | None:
    """Return the first step of the best pair, and its score; None if no pair has a path with a legal first step."""
    best: tuple[Move, float] | None = None
    for a in sight.mobile:
        for e in sight.enemies:
            path = find_path(sight, a.square, e.square)
            if path is None:
                continue
            target = sight.step(a.square, path[0])
            assert target is not None
            move = Move(a.square, target)
            score = base(a.rank, e.rank) / (len(path) + 1)
            if move in sight.legal and (best is None or score > best[1]):
                best = move, score
    return best


def choose(view: View, draws: Draws) -> Move | None:
    """Return the move it plays; None if it has none."""
    sight = Sight(view)
    best = best_pair(sight)
    return random_step(sight, draws) if best is None else best[0]


def acceptable(view: View) -> set[Move | None]:
    """Return every move that it could play, for some draws."""
    sight = Sight(view)
    best = best_pair(sight)
    if best is not None:
        return {best[0]}
    return {*single_steps(sight)} or {None}
