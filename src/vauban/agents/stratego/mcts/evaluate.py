"""Worth of a position to a player, from −1 to 1 (thesis §4.3.1): material, the Flag's cover, advance.

The weights of the pieces are the thesis' table 4.2. It gives no numbers for the other two terms:
these are ours.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import holds, kernel
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    ARMY,
    BYTES,
    DEAD,
    NONE,
    OWNER_BIT,
    PIECES,
    ROW,
    ROWS,
    SQUARES,
)
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES

WEIGHTS = np.array([0.1, 0.1, 0.3, 0.3, 0.3, 0.5, 0.5, 0.8, 1.0, 1.0, 2.0, 0.5])
"""By type: Spy, Scout, Miner, Sergeant, Lieutenant, Captain, Major, Colonel, General, Marshal, Flag, Bomb."""
COVER = 0.05
"""For each side of the Flag from which no piece can come."""
ADVANCE = 0.02
"""For each piece on the other player's half."""


@kernel
def evaluate(game, near, player):
    """Estimate the position's worth to the player."""
    score, full = 0.0, 0.0
    squares, rows = game.rules[SQUARES], game.rules[ROWS]
    for kind in range(12):
        full += game.rules[ARMY + kind] * (WEIGHTS[kind] + (ADVANCE if kind < MOVABLE_TYPES else 0.0))
    full += 4 * COVER
    for identity in range(squares):
        place = np.int64(game.bytes[BYTES + 2 * squares + identity])
        if place == NONE or place >= DEAD:
            continue
        owner = np.int64(game.bytes[BYTES + squares + identity]) // OWNER_BIT
        kind = kind_of(game, identity)
        value = WEIGHTS[kind]
        row = game.rules[ROW + place]
        if kind == FLAG:
            value += COVER * covered_sides(game, near, owner, place)
        elif kind < MOVABLE_TYPES and (2 * row >= rows) == (owner == 0):
            value += ADVANCE
        score += value if owner == player else -value
    return max(-1.0, min(1.0, score / full))


@kernel
def covered_sides(game, near, owner, square):
    """Count the sides of a square that are held by its owner's pieces, a lake or the edge."""
    covered = 0
    for direction in range(4):
        beside = near[square, direction]
        if beside < 0 or holds(game.words[PIECES + 2 * owner], game.words[PIECES + 2 * owner + 1], beside):
            covered += 1
    return covered
