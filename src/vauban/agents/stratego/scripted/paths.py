"""The path search that charger and fox share: depth first, towards the target, never twice to a square.

From a square it tries the four neighbours, the one nearest to the target as the crow flies first,
and goes on from each that is free and that this search has not been to. It comes back with the
shortest of the ways that it found. What was visited once blocks all later attempts, so that the way
is mostly the direct one but may be a long detour; its length is part of these bots' character.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vauban.agents.stratego.scripted.sight import DOWN, LEFT, NOWHERE, RIGHT, UP
from vauban.games.kernel import kernel

UNREACHED = 1 << 14
"""More steps than any way has."""


def _orders() -> npt.NDArray[np.int8]:
    """Return the orders of trying the neighbours, by the signs of dx and dy and by which of them is larger."""
    table = np.empty((3, 3, 3, 4), np.int8)
    for x in range(3):
        for y in range(3):
            for larger in range(3):
                # Any distances with these signs do, e.g. 2 for the larger one and 1 for the other.
                dx = (x - 1) * (2 if larger == 2 else 1)
                dy = (y - 1) * (2 if larger == 0 else 1)
                further = {LEFT: dx, RIGHT: -dx, UP: dy, DOWN: -dy}
                table[x, y, larger] = sorted((LEFT, RIGHT, UP, DOWN), key=further.__getitem__)
    return table.reshape(27, 4)


ORDERS = _orders()


@kernel
def order_at(sight, square, target):
    """Return the row of `ORDERS` by which a square's neighbours are tried."""
    dx = sight.column[target] - sight.column[square]
    dy = sight.row[target] - sight.row[square]
    across, along = abs(dx), abs(dy)
    x = (dx > 0) - (dx < 0) + 1
    y = (dy > 0) - (dy < 0) + 1
    return 9 * x + 3 * y + (across > along) - (across < along) + 1


@kernel
def flood(sight, start, ends, distance, queue):
    """Write into `distance` the steps of every square from a piece; return whether it can reach any of `ends`.

    ends: by square, the pieces that ways may end at (`sight.own` or `sight.enemy`).
    """
    distance[:] = UNREACHED
    distance[start] = 0
    queue[0] = start
    first, last = 0, 1
    met = False
    while first < last:
        square = queue[first]
        first += 1
        for direction in range(4):
            near = sight.beside[square, direction]
            if near < 0 or distance[near] != UNREACHED:
                continue
            if sight.free[near]:
                distance[near] = distance[square] + 1
                queue[last] = near
                last += 1
            elif ends[near] != NOWHERE:
                distance[near] = distance[square] + 1
                met = True
    return met


class Search(NamedTuple):
    """Room for searches, which are many."""

    visited: Any
    """By square: the number of the last search that was there."""
    number: Any
    """Of the present search, in an array of one."""
    squares: Any
    """The squares on the way to where the search is, by depth."""
    orders: Any
    """The order in which the neighbours of each are tried."""
    tried: Any
    """Number of them that have been tried."""


@kernel
def make_search(squares):
    """Return room for searches on a board of this many squares."""
    return Search(
        np.zeros(squares, np.int64),
        np.zeros(1, np.int64),
        np.empty(squares, np.int64),
        np.empty(squares, np.int64),
        np.empty(squares, np.int64),
    )


@kernel
def find_way(sight, source, target, distance, room):
    """Return the length of the way that the search finds from a piece to an enemy in reach, and the way's first
    direction.

    distance: by square, the steps to the target (`flood`). It changes nothing but the time that this takes: a search
    need not go on when nothing that it has left to try can be shorter.
    """
    room.number[0] += 1
    number = room.number[0]
    length, heading, first = np.int64(UNREACHED), np.int64(0), np.int64(0)
    depth = 0
    square = source
    while True:
        room.visited[square] = number
        room.squares[depth] = square
        room.orders[depth] = order_at(sight, square, target)
        room.tried[depth] = 0
        while True:  # until there is a square to go on to
            if room.tried[depth] == 4:
                depth -= 1
                if depth < 0:
                    return length, heading
                continue
            direction = np.int64(ORDERS[room.orders[depth], room.tried[depth]])
            room.tried[depth] += 1
            if depth == 0:
                first = direction
            square = sight.beside[room.squares[depth], direction]
            if square < 0:
                continue
            if sight.free[square]:
                if room.visited[square] != number:
                    depth += 1
                    break
            elif square == target and depth + 1 < length:
                length, heading = np.int64(depth + 1), first
                if not can_improve(sight, distance, room, depth, length):
                    return length, heading


@kernel
def can_improve(sight, distance, room, depth, length):
    """Return whether something that the search has left to try might lead to a way shorter than `length`."""
    if length == distance[room.squares[0]]:
        return False
    for level in range(depth + 1):
        for index in range(room.tried[level], 4):
            square = sight.beside[room.squares[level], ORDERS[room.orders[level], index]]
            if square >= 0 and sight.free[square] and room.visited[square] != room.number[0]:
                if level + 1 + distance[square] < length:
                    return True
    return False
