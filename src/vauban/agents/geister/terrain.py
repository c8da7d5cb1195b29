"""The board as the kernels of agents read it, and the moves of one side as sets of squares.

Squares and directions are those of the board, not of a player's view: north is towards the first row. `as_action` makes
an action of them.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import NamedTuple

import numpy as np

from vauban.games.geister.layout import BOTTOM, LEFT, RIGHT, SQUARES, TOP, WIDTH
from vauban.games.geister.rules import EAST, NORTH, SOUTH, WEST, around, turned
from vauban.games.kernel import ONE, ZERO, kernel

MOST_SQUARES = 64
MOST_MOVES = 32
"""Largest number of moves of a side: four for each ghost."""
ESCAPE = NORTH
"""The direction, in a player's view, in which its ghosts leave the board from either exit."""


class Terrain(NamedTuple):
    """A board."""

    width: np.uint64
    squares: np.int64
    top: np.uint64
    bottom: np.uint64
    left: np.uint64
    right: np.uint64
    """Sets of squares: the first and last row, the first and last column."""
    ways: np.ndarray
    """By square: steps to the first player's left and right exit, then to the second player's."""


@kernel
def survey(rules):
    """Return the board of a game."""
    width, squares = rules[WIDTH], rules[SQUARES]
    ways = np.empty((MOST_SQUARES, 4), np.int64)
    last = squares // width - 1
    for square in range(squares):
        row, column = square // width, square % width
        ways[square, 0] = row + column
        ways[square, 1] = row + width - 1 - column
        ways[square, 2] = last - row + width - 1 - column
        ways[square, 3] = last - row + column
    return Terrain(
        np.uint64(width), squares, np.uint64(rules[TOP]), np.uint64(rules[BOTTOM]), np.uint64(rules[LEFT]),
        np.uint64(rules[RIGHT]), ways,
    )  # fmt: skip


@kernel
def beside(terrain, squares):
    """Return the squares next to those of a set."""
    return around(squares, terrain.width, terrain.top, terrain.bottom, terrain.left, terrain.right)


@kernel
def sources(terrain, own, direction):
    """Return which ghosts of a side can step in a direction of the board: not onto each other, nor off it."""
    if direction == NORTH:
        return own & ~terrain.top & ~(own << terrain.width)
    if direction == SOUTH:
        return own & ~terrain.bottom & ~(own >> terrain.width)
    if direction == EAST:
        return own & ~terrain.right & ~(own >> ONE)
    return own & ~terrain.left & ~(own << ONE)


@kernel
def stepped(terrain, square, direction):
    """Return the square next to one in a direction of the board."""
    if direction == NORTH:
        return square - np.int64(terrain.width)
    if direction == SOUTH:
        return square + np.int64(terrain.width)
    return square + 1 if direction == EAST else square - 1


@kernel
def towards(terrain, source, target):
    """Return the direction of the board from a square to one beside it."""
    width = np.int64(terrain.width)
    if target == source - width:
        return NORTH
    if target == source + width:
        return SOUTH
    return EAST if target > source else WEST


@kernel
def as_action(terrain, player, source, direction):
    """Return the action of a player's step in a direction of the board."""
    return 4 * turned(terrain.squares, player, source) + (direction if player == 0 else 3 - direction)


@kernel
def escape_action(terrain, player, source):
    """Return the action with which a player's ghost leaves the board."""
    return 4 * turned(terrain.squares, player, source) + ESCAPE


@kernel
def set_of(square):
    """Return the set that holds one square."""
    return ONE << np.uint64(square)


@kernel
def is_in(squares, square):
    """Return whether a set holds a square."""
    return (squares >> np.uint64(square)) & ONE != ZERO
