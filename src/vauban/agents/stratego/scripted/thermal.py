"""Thermal, after celsius: enemies warm or cool the squares around them, and pieces go where it is coldest."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vauban.agents.base import RESIGNS
from vauban.agents.options import option
from vauban.agents.stratego.compiled import Bot
from vauban.agents.stratego.scripted.own_setups import raid_setup
from vauban.agents.stratego.scripted.sight import (
    CLASSES,
    CYCLE,
    NOWHERE,
    STILL,
    chance_below,
    is_mobile,
    look,
    may_step,
    step_action,
)
from vauban.games.base import PLIES
from vauban.games.kernel import kernel
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, MOVABLE_TYPES, SPY


@dataclass(frozen=True)
class Options:
    """Goes where it is coldest: prey cools the squares around it, danger warms them.

    After celsius. The Marshal, set up in front, raids whatever has moved; Lieutenants shun what has not; Miners rush to
    known Bombs. It sees danger only as heat, and moves to and fro where there is none. Chance decides among equals,
    and now and then for some moves on end. It resigns when the rules leave none of its pieces a step.
    Deviations: it keeps to the rules of repetition (moves that they bar are no candidates).
    """

    setups: str = option("own", "how it sets up: own, or a way that other agents know, such as human")
    refuse: bool = option(False, "resign rather than attack a piece that is known to win, as celsius1.1 does")


# By own type from Spy to Marshal; then by enemy type, and hidden pieces that have not moved, that have.
SCARE = np.array([
    # s   9   8   7   6   5   4   3   2   1   F    B   ?   !
    [-1,  3,  3,  3,  3,  3,  3,  3,  3, -5, -9,   0,  5,  3],
    [-2,  0,  2,  2,  2,  2,  2,  2,  2,  3, -9,   0, -2,  2],
    [-2, -2,  0,  2,  2,  2,  2,  2,  2,  3, -9, -40, -1,  1],
    [-2, -1, -2,  0,  2,  2,  2,  2,  2,  3, -9,   0, -1,  0],
    [-2, -1, -2, -3,  0,  2,  2,  2,  2,  3, -9,   0,  1, -1],
    [-2, -1, -2, -3, -4,  0,  2,  2,  2,  3, -9,   0,  0, -2],
    [-2, -1, -2, -3, -4, -5,  0,  2,  2,  3, -9,   0, -1, -3],
    [-2, -1, -2, -3, -4, -5, -6,  0,  2,  4, -9,   0, -2, -5],
    [-2, -1, -2, -3, -4, -5, -6, -7,  0,  4, -9,   0, -3, -6],
    [ 5, -2, -3, -4, -5, -6, -7, -8, -8,  0, -9,   0,  0, -7],
], np.float64)  # fmt: skip
SPREAD = 0.2
"""Share of its neighbours' heat that a square takes on."""
HOMESICK = 0.2
"""Heat on the square where a piece started, if another piece stands there."""
SWEEPS = 8
LAST_RESORT = 998.0
NEVER = 999.0
NOISE_EVERY, NOISE_MOVES, NOISE = 250, 15, 6
"""From every 250th move on, for 15 moves of both sides, a number below 6 is added to each candidate."""

USUAL, BARRED, AT_ONCE = 0, 1, 2


def _attitudes() -> npt.NDArray[np.int8]:
    """Return each type's way of attacking each class: as usual, only in the last resort, at once."""
    table = np.full((MOVABLE_TYPES, CLASSES), USUAL, np.int8)
    for own in range(MOVABLE_TYPES):
        table[own, own + 1 : MOVABLE_TYPES] = BARRED
        table[own, BOMB] = BARRED
        table[own, FLAG] = AT_ONCE
    table[MARSHAL, MARSHAL] = BARRED
    table[MINER, BOMB] = AT_ONCE
    table[MARSHAL, SPY] = AT_ONCE
    table[SPY, MARSHAL] = AT_ONCE
    table[SPY, SPY] = AT_ONCE
    return table


ATTITUDES = _attitudes()


@kernel
def spread(sight, kind, origin, heat, cold):
    """Write into `heat` the warmth of each square that is not held by an own piece, for one piece."""
    squares = len(heat)
    count = 0
    for x in range(sight.column[squares - 1] + 1):
        square = x
        while square != NOWHERE:
            if sight.own[square] == NOWHERE:
                enemy = sight.enemy[square]
                warmth = 0.0
                if enemy != NOWHERE:
                    warmth = SCARE[kind, enemy]
                    if square == origin:
                        warmth += HOMESICK
                heat[square] = warmth
                if warmth == 0.0:
                    cold[count] = square
                    count += 1
            else:
                heat[square] = 0.0  # own pieces let no heat through
            square = sight.beside[square, 0]
    # The first sweep looks at the map as it was before it; the later ones see what they write.
    first = np.empty(count)
    for index in range(count):
        first[index] = SPREAD * around(sight, cold[index], heat)
    left = 0
    for index in range(count):
        heat[cold[index]] = first[index]
        if first[index] == 0.0:
            cold[left] = cold[index]
            left += 1
    for _ in range(1, SWEEPS):
        count, left = left, 0
        for index in range(count):
            warmth = SPREAD * around(sight, cold[index], heat)
            heat[cold[index]] = warmth
            if warmth == 0.0:
                cold[left] = cold[index]
                left += 1
        if left == count:
            break


@kernel
def around(sight, square, heat):
    """Return the sum of the heat next to a square."""
    total = 0.0
    for direction in range(4):
        near = sight.beside[square, direction]
        if near != NOWHERE:
            total += heat[near]
    return total


@kernel
def choose(game, seed, options, prior):
    """Return the coldest step, or an attack that is made at once."""
    refuse = options[0] != 0.0
    sight = look(game)
    squares = len(sight.own)
    heats = np.empty((MOVABLE_TYPES, squares))
    known = np.zeros(MOVABLE_TYPES, np.bool_)
    apart = np.empty(squares)
    cold = np.empty(squares, np.int64)
    moves = np.int64(game.words[PLIES]) + 1
    noisy = moves > NOISE_EVERY and moves % NOISE_EVERY < NOISE_MOVES
    best, best_source, best_direction = NEVER, -1, -1
    mobile = np.empty(len(sight.units), np.int64)
    count = 0
    for unit in range(len(sight.units)):
        if is_mobile(sight.own[sight.units[unit]]):
            mobile[count] = unit
            count += 1
    start = chance_below(count, game, seed, 0)
    for index in range(count):
        unit = mobile[(start + index) % count]
        source = sight.units[unit]
        kind = sight.own[source]
        turn = chance_below(4, game, seed, 1 + index)
        warm = False
        heat = heats[kind]
        for step in range(4):
            direction = CYCLE[(turn + step) % 4]
            target = sight.beside[source, direction]
            if not may_step(game, target, direction):
                continue
            enemy = sight.enemy[target]
            attitude = USUAL if enemy == NOWHERE or enemy >= STILL else ATTITUDES[kind, enemy]
            if attitude == AT_ONCE:
                return step_action(game, sight, source, direction)
            if attitude == BARRED:
                value = NEVER if refuse else LAST_RESORT
            else:
                if not warm:
                    # Pieces of a type share their map, but for one whose first square an enemy holds.
                    warm = True
                    origin = sight.origins[unit]
                    if sight.enemy[origin] != NOWHERE:
                        heat = apart
                        spread(sight, kind, origin, heat, cold)
                    elif not known[kind]:
                        known[kind] = True
                        spread(sight, kind, NOWHERE, heat, cold)
                value = heat[target]
            if noisy:
                value += chance_below(NOISE, game, seed, count + 1 + 4 * index + step)
            if value < best:
                best, best_source, best_direction = value, source, direction
    if best_source < 0:
        return np.int64(RESIGNS)
    return step_action(game, sight, best_source, best_direction)


BOT = Bot("thermal", choose, Options, raid_setup)
