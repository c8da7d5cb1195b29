"""Hidden pieces: which they are, and making them so or so (determinisation), as kernels.

Hidden pieces are listed in the order of their squares in the viewer's frame.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import END, NUMBER, PLAYER
from vauban.games.kernel import ZERO, holds, kernel, size
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BYTES,
    COMPARE_TYPES,
    HIDDEN,
    HIDDEN_COUNT,
    LEGAL,
    MOVABLE,
    MOVED,
    OWNER_BIT,
    PIECES,
    SCOUTS,
    SQUARES,
    UNKNOWN,
)
from vauban.games.stratego.pieces import MOVABLE_TYPES, SCOUT
from vauban.games.stratego.rules import find_moves, flip


@kernel
def hidden_count(game, viewer):
    """Count the other player's hidden pieces."""
    words = game.words
    other = 1 - viewer
    return size(words[PIECES + 2 * other] & words[HIDDEN], words[PIECES + 2 * other + 1] & words[HIDDEN + 1])


@kernel
def hidden_values(game, viewer, values):
    """Return the types of these pieces."""
    words = game.words
    squares = game.rules[SQUARES]
    other = 1 - viewer
    low, high = words[PIECES + 2 * other] & words[HIDDEN], words[PIECES + 2 * other + 1] & words[HIDDEN + 1]
    index = 0
    for step in range(squares):
        square = step if viewer == 0 else squares - 1 - step
        if holds(low, high, square):
            values[index] = kind_of(game, np.int64(game.bytes[BYTES + square]))
            index += 1


@kernel
def conceal(game, viewer):
    """Erase the types of the other player's hidden pieces, and all that would betray them."""
    words, bytes_ = game.words, game.bytes
    squares = game.rules[SQUARES]
    other = 1 - viewer
    low, high = words[PIECES + 2 * other] & words[HIDDEN], words[PIECES + 2 * other + 1] & words[HIDDEN + 1]
    for square in range(squares):
        if holds(low, high, square):
            bytes_[BYTES + squares + np.int64(bytes_[BYTES + square])] = UNKNOWN + OWNER_BIT * other
    words[MOVABLE + 2 * other] &= ~low
    words[MOVABLE + 2 * other + 1] &= ~high
    words[SCOUTS + 2 * other] &= ~low
    words[SCOUTS + 2 * other + 1] &= ~high
    # Whoever knows a game's number and the seed can draw its setups again.
    words[NUMBER] = ZERO
    if bytes_[PLAYER] == other:
        for word in range(LEGAL, LEGAL + 8):
            words[word] = ZERO


@kernel
def assign(game, viewer, types):
    """Give the hidden pieces of the other player these types; False if that cannot be.

    The types must be just those that are hidden, a piece that has moved is no Flag and no Bomb, and
    a player on turn has a move.
    """
    words, bytes_ = game.words, game.bytes
    squares = game.rules[SQUARES]
    other = 1 - viewer
    low, high = words[PIECES + 2 * other] & words[HIDDEN], words[PIECES + 2 * other + 1] & words[HIDDEN + 1]

    # The counts are taken down while checking, and put back afterwards in every case.
    fits = True
    given = 0
    index = 0
    for step in range(squares):
        square = step if viewer == 0 else squares - 1 - step
        if holds(low, high, square):
            kind = np.int64(types[index])
            index += 1
            if kind < 0 or kind >= 12 or bytes_[HIDDEN_COUNT + 12 * other + kind] == 0:
                fits = False
                break
            if kind >= MOVABLE_TYPES and holds(words[MOVED], words[MOVED + 1], square):
                fits = False
                break
            bytes_[HIDDEN_COUNT + 12 * other + kind] -= 1
            given += 1
    for index in range(given):
        bytes_[HIDDEN_COUNT + 12 * other + np.int64(types[index])] += 1
    if not fits:
        return False

    index = 0
    for step in range(squares):
        square = step if viewer == 0 else squares - 1 - step
        if holds(low, high, square):
            identity = np.int64(bytes_[BYTES + square])
            old = kind_of(game, identity)
            kind = np.int64(types[index])
            index += 1
            if (old < MOVABLE_TYPES) != (kind < MOVABLE_TYPES):
                flip(words, MOVABLE + 2 * other, square)
            if (old == SCOUT) != (kind == SCOUT):
                flip(words, SCOUTS + 2 * other, square)
            bytes_[BYTES + squares + identity] = kind + OWNER_BIT * other
    # The viewer's own moves depend on what is hidden only where boards are compared by type.
    # A game that goes on has a move: where these types leave none, the truth must be another.
    if bytes_[END] == 0 and (bytes_[PLAYER] == other or game.rules[COMPARE_TYPES]):
        return find_moves(game)
    return True
