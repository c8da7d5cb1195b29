"""Hunter: one piece wants one enemy, whatever lies between them."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vauban.agents.base import RESIGNS
from vauban.agents.options import option
from vauban.agents.stratego.compiled import Bot
from vauban.agents.stratego.scripted.own_setups import corner_setup
from vauban.agents.stratego.scripted.paths import UNREACHED, flood
from vauban.agents.stratego.scripted.sight import (
    CLASSES,
    DOWN,
    LEFT,
    NOWHERE,
    RIGHT,
    STILL,
    STIRRED,
    UP,
    is_mobile,
    look,
    may_step,
    step_action,
)
from vauban.games.kernel import kernel
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, MOVABLE_TYPES, SPY, TYPES


@dataclass(frozen=True)
class Options:
    """Picks one target and chases it across the board; hardly ever finishes a game.

    After hunter of the same competition. It gives every pair of an own piece and an enemy a value, as prey or as
    something to run from, and plays for the largest: distance does not count, and the way is whichever free square
    lies most in the direction. So the General leads the attack from the first move, and pieces run from enemies at the
    other end of the board. Most of its games end in a draw. Always the same in the same position. It resigns when no
    piece may step to a free square or strike what it is after.
    Deviations: it keeps to the rules of repetition (a step that they bar is dropped for the next direction); it knows a
    Scout by its long move; as blue it also understands red's very first move.
    With finish=1 it is what its author seems to have meant, and a little more: what is near counts more, strong pieces
    leave unmoved pieces to weaker ones, ways lead around what is in between, and it runs only from what stands beside
    it.
    """

    setups: str = option("own", "how it sets up: own, or a way that other agents know, such as human")
    finish: bool = option(False, "weigh distance, go round obstacles and run only from neighbours: finishes games")


WEIGHT = np.array([5.0, 2.0, 9.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 9.0, 9.0])
"""Worth of each type to it."""
NO_WAY = -2.0
FAR = 10
"""With finish: steps at which a target would count nothing; steps are counted up to one less."""
MINER_ON_STIRRED = 0.05
RANKED = (DOWN, RIGHT, UP, LEFT)
"""Directions, the first of equals first."""


def _wishes() -> npt.NDArray[np.float64]:
    """Return each type's wish for each: the value, below zero for running away; −0 is one too."""
    table = np.empty((MOVABLE_TYPES, len(TYPES)))
    for own in range(MOVABLE_TYPES):
        for enemy in range(len(TYPES)):
            if enemy == FLAG:
                wish = 1.0
            elif own == MINER and enemy == BOMB:
                wish = 0.9
            elif own == MARSHAL and enemy == SPY:
                wish = -0.9
            elif own == SPY and enemy == MARSHAL:
                wish = 0.6
            elif enemy == BOMB:
                wish = -0.0
            elif own == enemy:
                wish = 0.1
            elif own > enemy:
                wish = WEIGHT[enemy] * (0.1 + 1 / WEIGHT[own])
            else:
                wish = -WEIGHT[own] / 10
            table[own, enemy] = wish
    return table


WISHES = _wishes()


@kernel
def weigh(sight):
    """Return, by own type and enemy class, the value of the pair, and whether it is one of running away."""
    values = np.empty((MOVABLE_TYPES, CLASSES))
    flees = np.empty((MOVABLE_TYPES, CLASSES), np.bool_)
    total = max(sight.unseen.sum(), 1)
    for own in range(MOVABLE_TYPES):
        attack, retreat = 0.0, 0.0
        for enemy in range(12):
            wish = WISHES[own, enemy]
            values[own, enemy] = abs(wish)
            flees[own, enemy] = np.signbit(wish)
            if np.signbit(wish):
                retreat += sight.unseen[enemy] / total * -wish / 2
            else:
                attack += sight.unseen[enemy] / total * wish / 2
        for enemy in range(STILL, CLASSES):
            values[own, enemy] = max(attack, retreat)
            flees[own, enemy] = retreat > attack
    return values, flees


@kernel
def towards(game, sight, source, target, away):
    """Return the open direction that leads most towards a square, or away from it; −1 if none is open."""
    dx = sight.column[target] - sight.column[source]
    dy = sight.row[target] - sight.row[source]
    if away:
        dx, dy = -dx, -dy
    best, best_direction = 0, -1
    for direction in RANKED:
        if direction == DOWN:
            gain = dy
        elif direction == UP:
            gain = -dy
        elif direction == RIGHT:
            gain = dx
        else:
            gain = -dx
        if best_direction >= 0 and gain <= best:
            continue
        square = sight.beside[source, direction]
        if square >= 0 and (sight.free[square] or square == target) and may_step(game, square, direction):
            best, best_direction = gain, direction
    return best_direction


@kernel
def choose(game, seed, options, prior):
    """Return the step that the pair of the largest value asks for."""
    sight = look(game)
    values, flees = weigh(sight)
    if options[0] != 0.0:
        return hunt(game, sight, values, flees)
    best, best_source, best_direction = NO_WAY, -1, -1
    for target in sight.foes:
        enemy = sight.enemy[target]
        for source in sight.units:
            kind = sight.own[source]
            if is_mobile(kind) and values[kind, enemy] > best:
                direction = towards(game, sight, source, target, flees[kind, enemy])
                if direction >= 0:
                    best, best_source, best_direction = values[kind, enemy], source, direction
    if best_direction < 0:
        return np.int64(RESIGNS)
    return step_action(game, sight, best_source, best_direction)


# ── With finish ──────────────────────────────────────────────────────────────────────────────────


@kernel
def hunt(game, sight, values, flees):
    """Return the step of the pair of the largest value with distance counted, along ways that exist."""
    squares = len(sight.own)
    distance = np.empty(squares, np.int16)
    queue = np.empty(squares, np.int64)
    best, best_source, best_direction = NO_WAY, -1, -1
    for source in sight.units:
        kind = sight.own[source]
        if not is_mobile(kind) or not flood(sight, source, sight.enemy, distance, queue):
            continue
        for target in sight.foes:
            steps = distance[target]
            if steps == UNREACHED:
                continue
            enemy = sight.enemy[target]
            flee = flees[kind, enemy]
            if flee and steps > 1:
                continue
            value = values[kind, enemy] * (1 - min(steps, FAR - 1) / FAR) ** 2
            if enemy == STILL and kind != MINER:
                value *= (1 - (kind + 2) / 11) ** 2
            elif enemy == STIRRED and kind == MINER:
                value *= MINER_ON_STIRRED
            if value > best:
                if flee:
                    direction = towards(game, sight, source, target, True)
                else:
                    direction = first_step(game, sight, source, target, distance)
                if direction >= 0:
                    best, best_source, best_direction = value, source, direction
    if best_direction >= 0:
        return step_action(game, sight, best_source, best_direction)
    for source in sight.units:
        for direction in RANKED:
            if may_step(game, sight.beside[source, direction], direction):
                return step_action(game, sight, source, direction)
    return np.int64(RESIGNS)


@kernel
def first_step(game, sight, source, target, distance):
    """Find the direction in which a shortest way to an enemy begins, from its end; −1 if that step is barred."""
    square = target
    while True:
        for direction in RANKED:
            # A way that goes on in this direction from `square` comes from the opposite one.
            near = sight.beside[square, direction]
            if near == NOWHERE:
                continue
            if near == source:
                way = direction ^ 1
                return way if may_step(game, square, way) else -1
            if sight.free[near] and distance[near] == distance[square] - 1:
                square = near
                break


BOT = Bot("hunter", choose, Options, corner_setup)
