"""Geometry of sets of squares, as kernels."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import ONE, ZERO, holds, kernel, single
from vauban.games.stratego.layout import COLUMNS, EAST, NORTH, NOT_FIRST, NOT_LAST, PIECES, PLAYABLE, ROW, SOUTH, WEST

WIDTH = np.uint64(64)
LAST_BIT = np.uint64(63)


@kernel
def shifted(low, high, direction, rules):
    """Return the set moved by one step; what leaves the board or runs into a lake is dropped."""
    if direction == NORTH:
        columns = np.uint64(rules[COLUMNS])
        high = (high << columns) | (low >> (WIDTH - columns))
        low = low << columns
    elif direction == SOUTH:
        columns = np.uint64(rules[COLUMNS])
        low = (low >> columns) | (high << (WIDTH - columns))
        high = high >> columns
    elif direction == WEST:
        low &= np.uint64(rules[NOT_FIRST])
        high &= np.uint64(rules[NOT_FIRST + 1])
        low = (low >> ONE) | (high << LAST_BIT)
        high = high >> ONE
    else:
        low &= np.uint64(rules[NOT_LAST])
        high &= np.uint64(rules[NOT_LAST + 1])
        high = (high << ONE) | (low >> LAST_BIT)
        low = low << ONE
    return low & np.uint64(rules[PLAYABLE]), high & np.uint64(rules[PLAYABLE + 1])


@kernel
def beside(low, high, rules):
    """Return all squares next to some square of the set."""
    all_low, all_high = ZERO, ZERO
    for direction in range(4):
        step_low, step_high = shifted(low, high, direction, rules)
        all_low |= step_low
        all_high |= step_high
    return all_low, all_high


@kernel
def around(square, rules):
    """Return the squares next to one square."""
    low, high = single(square)
    return beside(low, high, rules)


@kernel
def direction_of(rules, source, target):
    """Return the direction of a move along a line of the board; −1 if there is no such line."""
    if source == target:
        return -1
    if rules[ROW + source] == rules[ROW + target]:
        return EAST if target > source else WEST
    if (source - target) % rules[COLUMNS] == 0:
        return NORTH if target > source else SOUTH
    return -1


@kernel
def origin(game, direction, target):
    """Return the square where a move in this direction to `target` began: that of the first piece on the way back."""
    words = game.words
    rules = game.rules
    step = rules[COLUMNS]
    if direction == SOUTH:
        step = -step
    elif direction == WEST:
        step = np.int64(-1)
    elif direction == EAST:
        step = np.int64(1)
    low, high = words[PIECES] | words[PIECES + 2], words[PIECES + 1] | words[PIECES + 3]
    square = target - step
    while not holds(low, high, square):
        square -= step
    return square
