"""A scripted bot's reading of a concealed record, decoded into small arrays; and steps on the board.

The bots come from programs that give squares as (x, y), y = 0 being red's back row. Their UP is one
row towards red, and their RIGHT one column further: `UP`, `DOWN`, `LEFT` and `RIGHT` below are the
record's directions under these names, for both players alike.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import Any, NamedTuple

import numpy as np

from vauban.games.base import PLAYER, PLIES
from vauban.games.kernel import ZERO, holds, kernel
from vauban.games.randomness import MOVE, below
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BYTES,
    COLUMNS,
    DEAD,
    EAST,
    HIDDEN,
    HIDDEN_COUNT,
    HISTORY,
    LEGAL,
    MOVED,
    NORTH,
    OWNER_BIT,
    PLAYABLE,
    RECORDED,
    ROW,
    SOUTH,
    SQUARES,
    WEST,
)
from vauban.games.stratego.pieces import MOVABLE_TYPES
from vauban.games.stratego.rules import encode

DOWN, UP, LEFT, RIGHT = NORTH, SOUTH, WEST, EAST
CYCLE = (UP, DOWN, LEFT, RIGHT)
"""Order in which directions are gone through from a random one on."""

STILL, STIRRED = 12, 13
"""Classes of enemy pieces besides the twelve types: hidden and never moved, hidden and moved."""
CLASSES = 14
NOWHERE = -1
"""No square, no piece."""


class Sight(NamedTuple):
    """One position as its player sees it. Lists of pieces are in order of identity, bombs and flag included."""

    player: Any
    own: Any
    """By square: the type of the own piece there, or `NOWHERE`."""
    enemy: Any
    """By square: the class of the enemy piece there, or `NOWHERE`."""
    units: Any
    """The squares of the own pieces."""
    foes: Any
    """The squares of the enemy's."""
    origins: Any
    """The identities of the own pieces, in the order of `units`."""
    free: Any
    """By square: True if it is empty and no lake."""
    beside: Any
    """By square and direction: the next square, or `NOWHERE` where the board ends."""
    row: Any
    column: Any
    unseen: Any
    """By type: the number of the enemy's hidden pieces."""


@kernel
def look(game):
    """Return the position of a concealed record, seen by the player on turn."""
    words, bytes_, rules = game.words, game.bytes, game.rules
    squares, columns = rules[SQUARES], rules[COLUMNS]
    player = np.int64(bytes_[PLAYER])
    own = np.full(squares, NOWHERE, np.int64)
    enemy = np.full(squares, NOWHERE, np.int64)
    units = np.empty(squares, np.int64)
    foes = np.empty(squares, np.int64)
    origins = np.empty(squares, np.int64)
    free = np.empty(squares, np.bool_)
    beside = np.full((squares, 4), NOWHERE, np.int64)
    row = np.empty(squares, np.int64)
    column = np.empty(squares, np.int64)
    unseen = np.empty(12, np.int64)
    playable_low, playable_high = np.uint64(rules[PLAYABLE]), np.uint64(rules[PLAYABLE + 1])
    for square in range(squares):
        y = rules[ROW + square]
        x = square - y * columns
        row[square] = y
        column[square] = x
        free[square] = holds(playable_low, playable_high, square)
        if y > 0:
            beside[square, UP] = square - columns
        if square + columns < squares:
            beside[square, DOWN] = square + columns
        if x > 0:
            beside[square, LEFT] = square - 1
        if x + 1 < columns:
            beside[square, RIGHT] = square + 1
    own_count = 0
    enemy_count = 0
    for identity in range(squares):
        square = np.int64(bytes_[BYTES + 2 * squares + identity])
        if square >= DEAD:  # it fell, or no piece started here
            continue
        free[square] = False
        kind = kind_of(game, identity)
        if (np.int64(bytes_[BYTES + squares + identity]) >= OWNER_BIT) == (player == 1):
            own[square] = kind
            units[own_count] = square
            origins[own_count] = identity
            own_count += 1
        else:
            if holds(words[HIDDEN], words[HIDDEN + 1], square):
                kind = STIRRED if holds(words[MOVED], words[MOVED + 1], square) else STILL
            enemy[square] = kind
            foes[enemy_count] = square
            enemy_count += 1
    for kind in range(12):
        unseen[kind] = bytes_[HIDDEN_COUNT + 12 * (1 - player) + kind]
    return Sight(
        player, own, enemy, units[:own_count], foes[:enemy_count], origins[:own_count],
        free, beside, row, column, unseen,
    )  # fmt: skip


@kernel
def may_step(game, target, direction):
    """Return whether the own piece before `target`, going one step in this direction, may move there."""
    return target >= 0 and holds(game.words[LEGAL + 2 * direction], game.words[LEGAL + 2 * direction + 1], target)


@kernel
def step_action(game, sight, source, direction):
    """Return the action number of a step."""
    return encode(game.rules, sight.player, source, sight.beside[source, direction])


@kernel
def is_mobile(kind):
    """Return whether a piece of this type can move."""
    return kind >= 0 and kind < MOVABLE_TYPES


@kernel
def chance_below(bound, game, seed, index):
    """Return a random number below a bound, for this position; `index` tells several apart."""
    return below(bound, seed, ZERO, game.words[PLIES], 0, MOVE, index)


@kernel
def last_squares(game, sight):
    """Return, by square, where the piece there came from with its latest move, or `NOWHERE`; as far back as the record
    goes.
    """
    words, rules = game.words, game.rules
    squares, history = rules[SQUARES], rules[HISTORY]
    came = np.full(squares, NOWHERE, np.int64)
    recorded = np.int64(words[RECORDED])
    slot = recorded % history
    for _ in range(min(recorded, history)):
        slot = slot - 1 if slot > 0 else history - 1
        identity = np.int64(game.bytes[BYTES + 3 * squares + slot])
        square = np.int64(game.bytes[BYTES + 2 * squares + identity])
        if square < DEAD and came[square] == NOWHERE:
            came[square] = np.int64(game.halves[slot]) & 127
    return came
