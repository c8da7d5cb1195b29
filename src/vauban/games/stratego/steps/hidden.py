"""The hidden things of Stratego in steps, as kernels.

In play it is as in plain Stratego; which piece has been chosen is seen by both, since its owner goes on at once. During
the deployment nothing is seen of the other army but how many of its pieces stand: hidden is what stands on each of its
setup squares, in the order of the viewer's frame, a type or `NOTHING`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import NUMBER, PLAYER, STEP
from vauban.games.kernel import ZERO, holds, kernel
from vauban.games.stratego.hidden import assign as plain_assign
from vauban.games.stratego.hidden import conceal as plain_conceal
from vauban.games.stratego.hidden import hidden_count as plain_hidden_count
from vauban.games.stratego.hidden import hidden_values as plain_hidden_values
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BYTES,
    HIDDEN,
    HIDDEN_COUNT,
    MOVABLE,
    NONE,
    PIECES,
    SCOUTS,
    SETUP_SQUARES,
    SQUARES,
    UNMOVED,
)
from vauban.games.stratego.rules import put_piece
from vauban.games.stratego.steps.layout import DEPLOYING, NOTHING, OPEN, TARGET
from vauban.games.stratego.steps.rules import open_squares, placed_by, setup_squares, turned, type_to_place


@kernel
def hidden_count(game, viewer):
    """Count what is hidden: the other player's hidden pieces, or the squares on which it has begun to set up."""
    if game.bytes[STEP] < DEPLOYING:
        return plain_hidden_count(game, viewer)
    return game.rules[SETUP_SQUARES] if placed_by(game, 1 - viewer) else 0


@kernel
def hidden_values(game, viewer, values):
    """Write the types of these pieces, or what stands on these squares."""
    if game.bytes[STEP] < DEPLOYING:
        plain_hidden_values(game, viewer, values)
        return
    if hidden_count(game, viewer) == 0:
        return
    low, high = setup_squares(game, 1 - viewer)
    index = 0
    for step in range(game.rules[SQUARES]):
        square = turned(game, viewer, step)
        if holds(low, high, square):
            identity = np.int64(game.bytes[BYTES + square])
            values[index] = NOTHING if identity == NONE else kind_of(game, identity)
            index += 1


@kernel
def take_army(game, player):
    """Take all pieces of a player off the board; only done during the deployment."""
    words, bytes_ = game.words, game.bytes
    squares = game.rules[SQUARES]
    low, high = setup_squares(game, player)
    for square in range(squares):
        if holds(low, high, square):
            for part in range(3):
                bytes_[BYTES + part * squares + square] = NONE
    words[HIDDEN] &= ~low
    words[HIDDEN + 1] &= ~high
    for half in range(2):
        words[PIECES + 2 * player + half] = ZERO
        words[MOVABLE + 2 * player + half] = ZERO
        words[SCOUTS + 2 * player + half] = ZERO
    for kind in range(12):
        bytes_[HIDDEN_COUNT + 12 * player + kind] = 0
    bytes_[UNMOVED + player] = 0


@kernel
def conceal(game, viewer):
    """Erase what the viewer may not know, and all that would betray it."""
    other = 1 - viewer
    if game.bytes[STEP] < DEPLOYING:
        plain_conceal(game, viewer)
    else:
        game.words[NUMBER] = ZERO
        if placed_by(game, other) == 0:
            return
        take_army(game, other)
    if game.bytes[PLAYER] == other:
        game.words[OPEN] = ZERO
        game.words[OPEN + 1] = ZERO


@kernel
def assign(game, viewer, values):
    """Make the hidden things so; False if they cannot be: other pieces are placed, or the chosen one has no move."""
    if game.bytes[STEP] >= DEPLOYING:
        return assign_army(game, viewer, values)
    if not plain_assign(game, viewer, values):
        return False
    some = open_squares(game)
    return some or game.bytes[STEP] != TARGET


@kernel
def assign_army(game, viewer, values):
    """Place the other player's pieces on its setup squares as given, if they are just those that stand."""
    other = 1 - viewer
    count = hidden_count(game, viewer)
    placed = placed_by(game, other) if count else 0
    # What is given must be the first pieces of the army, and nothing on the other squares.
    for kind in range(NOTHING + 1):
        wanted = count - placed if kind == NOTHING else 0
        for index in range(placed):
            wanted += type_to_place(game, index) == kind
        for index in range(count):
            wanted -= values[index] == kind
        if wanted != 0:
            return False
    take_army(game, other)
    low, high = setup_squares(game, other)
    index = 0
    for step in range(game.rules[SQUARES] if count else 0):
        square = turned(game, viewer, step)
        if holds(low, high, square):
            if values[index] != NOTHING:
                put_piece(game, other, square, np.int64(values[index]))
            index += 1
    open_squares(game)
    return True
