"""Fox, after vixen: every enemy draws every piece, and the strongest draw wins."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vauban.agents.base import RESIGNS
from vauban.agents.options import option
from vauban.agents.stratego.compiled import Bot
from vauban.agents.stratego.scripted.own_setups import corner_setup
from vauban.agents.stratego.scripted.paths import UNREACHED, find_way, flood, make_search
from vauban.agents.stratego.scripted.sight import (
    DOWN,
    LEFT,
    RIGHT,
    STILL,
    UP,
    is_mobile,
    last_squares,
    look,
    may_step,
    step_action,
)
from vauban.games.kernel import kernel
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, MOVABLE_TYPES, SPY, TYPES


@dataclass(frozen=True)
class Options:
    """Marches its strongest pieces towards the mass of the enemy.

    After vixen. Each enemy adds to the direction in which a piece would go to it what a battle would bring on average,
    divided by the way; the piece and the direction with the largest sum move. So Marshal and General go out early, and
    hit Bombs. It does not notice when it is attacked. Always the same in the same position. It resigns when none of its
    pieces may take a step on a way to an enemy.
    Deviations: it keeps to the rules of repetition (a step that they bar is no candidate); it knows a Scout by its long
    move; as blue it also understands red's very first move; where a piece came from it knows for as many moves back as
    a record keeps.
    """

    setups: str = option("own", "how it sets up: own, or a way that other agents know, such as human")


# By type, from Spy to Marshal.
LOSS = np.array([-0.4, 0.0, -1.0, 0.1, 0.0, -0.2, -0.25, -0.5, -0.6, -0.8])
GAIN = np.array([1.0, 0.7, 0.9, 0.8, 0.8, 0.8, 0.8, 0.9, 0.9, 1.0])
RETURNING = 100.0
"""Divisor of the gain from going back to where a piece came from."""
RANKED = (DOWN, RIGHT, UP, LEFT)
"""Directions, the first of equals first."""


def _battles() -> npt.NDArray[np.float64]:
    """Return a battle's gain: by whether the enemy is two steps away, own type, enemy type."""
    table = np.empty((2, MOVABLE_TYPES, len(TYPES)))
    for near in range(2):
        for own in range(MOVABLE_TYPES):
            for enemy in range(MOVABLE_TYPES):
                if enemy == SPY and own == MARSHAL and near:
                    worth = LOSS[MARSHAL]
                elif enemy == MARSHAL and own == SPY and not near:
                    worth = GAIN[SPY]
                else:
                    worth = GAIN[enemy] * (own >= enemy) + LOSS[own] * (own <= enemy)
                table[near, own, enemy] = worth
            table[near, own, FLAG] = 1.0
            table[near, own, BOMB] = 1.0 if own == MINER else LOSS[own]
    return table


BATTLES = _battles()


@kernel
def expected(sight):
    """Return the mean gain of a battle with a hidden piece: by whether it is two steps away, and own type."""
    table = np.zeros((2, MOVABLE_TYPES))
    total = sight.unseen.sum()
    if total > 0:
        for near in range(2):
            for own in range(MOVABLE_TYPES):
                for enemy in range(12):
                    table[near, own] += sight.unseen[enemy] / total * BATTLES[near, own, enemy]
    return table


@kernel
def choose(game, seed, options, prior):
    """Return the step with the largest sum."""
    sight = look(game)
    squares = len(sight.own)
    came = last_squares(game, sight)
    unknown = expected(sight)
    distances = np.empty((len(sight.foes), squares), np.int16)
    queue = np.empty(squares, np.int64)
    for foe in range(len(sight.foes)):
        flood(sight, sight.foes[foe], sight.own, distances[foe], queue)
    room = make_search(squares)
    sums = np.empty(4)
    drawn = np.empty(4, np.bool_)
    best, best_source, best_direction = 0.0, -1, -1
    for source in sight.units:
        kind = sight.own[source]
        if not is_mobile(kind):
            continue
        sums[:] = 0.0
        drawn[:] = False
        for foe in range(len(sight.foes)):
            if distances[foe, source] == UNREACHED:
                continue
            target = sight.foes[foe]
            length, direction = find_way(sight, source, target, distances[foe], room)
            near = 1 if length == 2 else 0
            enemy = sight.enemy[target]
            worth = unknown[near, kind] if enemy >= STILL else BATTLES[near, kind, enemy]
            worth = 1 / length * worth
            if length > 1 and sight.beside[source, direction] == came[source]:
                worth /= RETURNING
            sums[direction] += worth
            drawn[direction] = True
        for direction in RANKED:
            if drawn[direction] and (best_source < 0 or sums[direction] > best):
                if may_step(game, sight.beside[source, direction], direction):
                    best, best_source, best_direction = sums[direction], source, direction
    if best_source < 0:
        return np.int64(RESIGNS)
    return step_action(game, sight, best_source, best_direction)


BOT = Bot("fox", choose, Options, corner_setup)
