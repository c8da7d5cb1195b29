"""Pointless threats: going back and forth between two squares, beside a piece that goes back and forth as well.

Both pieces stay on four squares in a block. A piece may threaten another there three times in a row, as often as the
two-square rule allows. After that, with the same two pieces on the same four squares, a threat is followed by another
at once no more: where the piece has stepped back, the next move is one elsewhere.

A threat is a step to the side of a piece that is hidden, or known and weaker.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.stratego.improve.memory import move_back, neighbour, owner_of
from vauban.games.base import PLAYER
from vauban.games.kernel import Record, holds, kernel
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import BYTES, COLUMNS, HIDDEN, HISTORY, NONE, RECORDED
from vauban.games.stratego.rules import DEFENDER_DIES, battle, decode
from vauban.sim.compile import CPU, compiled, progress
from vauban.sim.store import Snapshot

IN_A_ROW = 3
"""Threats of one piece by another in a row, after which they are pointless."""


def pointless(views: Snapshot, legal: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which of the legal actions of each view (−1 behind the last) are pointless threats."""
    words, halves, bytes_ = views.numpy().store
    found: npt.NDArray[Any] = np.zeros(legal.shape, np.uint8)
    function = compiled(find_pointless, CPU)
    with progress(function, views.game.family):
        function(words.view(np.uint64), halves.view(np.uint16), bytes_, views.format.parameters, legal, found)
    return np.asarray(found != 0)


@kernel
def find_pointless(words, halves, bytes_, rules, legal, found):
    """Mark pointless threats in all records."""
    for row in range(words.shape[0]):
        game = Record(words[row], halves[row], bytes_[row], rules)
        for place in range(legal.shape[1]):
            if legal[row, place] >= 0:
                source, target = decode(rules, np.int64(bytes_[row, PLAYER]), legal[row, place])
                if is_pointless(game, source, target):
                    found[row, place] = 1


@kernel
def is_pointless(game, source, target):
    """True for a step by which a piece threatens another again, which it has threatened too often."""
    rules = game.rules
    step = abs(target - source)
    if np.int64(game.words[RECORDED]) < 2 * IN_A_ROW or game.bytes[BYTES + target] != NONE:
        return False
    if step != 1 and step != rules[COLUMNS]:
        return False
    piece = np.int64(game.bytes[BYTES + source])
    for side in range(4):
        there, here = neighbour(rules, target, side), neighbour(rules, source, side)
        if there < 0 or here < 0 or here == target or there == source:
            continue
        prey = np.int64(game.bytes[BYTES + there])
        if prey == NONE or owner_of(game, prey) == owner_of(game, piece):
            continue
        hidden = holds(game.words[HIDDEN], game.words[HIDDEN + 1], there)
        if not hidden and battle(kind_of(game, piece), kind_of(game, prey)) != DEFENDER_DIES:
            continue
        came_from, came_to, _, comer = move_back(game, 1)
        went_from, went_to, _, goer = move_back(game, 2)
        retreated = comer == prey and came_from == here and came_to == there
        threatened = goer == piece and went_from == target and went_to == source
        if retreated and threatened and most_in_a_row(game, piece, prey, source, target, side) >= IN_A_ROW:
            return True
    return False


@kernel
def most_in_a_row(game, piece, prey, source, target, side):
    """Count the most threats in a row so far, on the four squares at a side of these two."""
    rules = game.rules
    player = owner_of(game, piece)
    stood = neighbour(rules, target, side)
    count, most = 0, 0
    for back in range(1, min(np.int64(game.words[RECORDED]), rules[HISTORY]) + 1):
        came_from, came_to, _, mover = move_back(game, back)
        if mover == prey:
            stood = came_from
        elif owner_of(game, mover) == player:
            there = (came_from == source and came_to == target) or (came_from == target and came_to == source)
            if mover == piece and there and stood == neighbour(rules, came_to, side):
                count += 1
                most = max(most, count)
            else:
                count = 0
    return most
