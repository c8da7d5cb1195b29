"""Charger, after asmodeus: every piece has a price on every enemy, divided by the way there."""

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
    CLASSES,
    CYCLE,
    STILL,
    chance_below,
    is_mobile,
    look,
    may_step,
    step_action,
)
from vauban.games.kernel import kernel
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MOVABLE_TYPES, SPY


@dataclass(frozen=True)
class Options:
    """Runs straight at the nearest piece that it might take.

    After asmodeus. Scouts go first, then Lieutenants and Sergeants, each for the nearest piece that it does not know;
    once a piece is known, the nearest stronger one hunts it. It knows no retreat, does not look beside its path, runs
    into known Bombs, chases without end and never uses the Scout's range. Always the same in the same position. It
    resigns when the rules leave none of its pieces a step.
    Deviations: it keeps to the rules of repetition (a charge that may not be begun is passed over for the next best);
    it knows a Scout by its long move; as blue it also understands red's very first move.
    """

    setups: str = option("own", "how it sets up: own, or a way that other agents know, such as human")


# By type, from Spy to Marshal.
RISK = np.array([0.01, 0.4, 0.01, 0.25, 0.25, 0.2, 0.2, 0.15, 0.05, 0.01])
BOMBING = np.array([0.1, 0.6, 1.0, 0.5, 0.4, 0.3, 0.1, 0.05, 0.0, 0.0])
SUICIDE = np.array([0.0, 0.0, 0.0, 0.1, 0.05, 0.0, 0.0, 0.0, 0.0, 0.0])
KILL = np.array([0.9, 0.6, 0.9, 0.4, 0.5, 0.5, 0.5, 0.8, 0.9, 1.0])


def _prices() -> npt.NDArray[np.float64]:
    """Return each type's price of going for each class."""
    prices = np.empty((MOVABLE_TYPES, CLASSES))
    for own in range(MOVABLE_TYPES):
        for enemy in range(MOVABLE_TYPES):
            wins = enemy < own or (own == SPY and enemy == MARSHAL)
            prices[own, enemy] = KILL[enemy] if wins else SUICIDE[own]
        prices[own, FLAG] = 1.0
        prices[own, BOMB] = BOMBING[own]
        prices[own, STILL:] = RISK[own]
    return prices


PRICES = _prices()


@kernel
def choose(game, seed, options, prior):
    """Return the first step of the dearest pair of an own piece and an enemy."""
    sight = look(game)
    squares, units, foes = len(sight.own), sight.units, sight.foes
    distances = np.empty((len(foes), squares), np.int16)
    queue = np.empty(squares, np.int64)
    for foe in range(len(foes)):
        flood(sight, foes[foe], sight.own, distances[foe], queue)

    # No way is shorter than the shortest: that bounds the worth of a pair without a search.
    dearest, first_unit, first_foe = -1.0, 0, 0
    for unit in range(len(units)):
        kind = sight.own[units[unit]]
        if is_mobile(kind):
            for foe in range(len(foes)):
                steps = distances[foe, units[unit]]
                if steps != UNREACHED:
                    bound = PRICES[kind, sight.enemy[foes[foe]]] / (steps + 1)
                    if bound > dearest:
                        dearest, first_unit, first_foe = bound, unit, foe
    if dearest < 0.0:
        return wander(game, sight, seed)

    # The pair that looks best comes first, so that most others need no search.
    room = make_search(squares)
    best, best_unit, best_foe, best_direction = -1.0, 0, 0, -1
    for unit in range(-1, len(units)):
        for foe in range(1 if unit < 0 else len(foes)):
            if unit < 0:
                one, other = first_unit, first_foe
            else:
                one, other = unit, foe
            source, target = units[one], foes[other]
            kind, steps = sight.own[source], distances[other, source]
            if steps == UNREACHED or not is_mobile(kind):
                continue
            price = PRICES[kind, sight.enemy[target]]
            # Of equals, the first in the order of the lists counts.
            earlier = one < best_unit or (one == best_unit and other < best_foe)
            bound = price / (steps + 1)
            if bound < best or (bound == best and not earlier):
                continue
            length, direction = find_way(sight, source, target, distances[other], room)
            worth = price / (length + 1)
            if worth > best or (worth == best and earlier):
                if may_step(game, sight.beside[source, direction], direction):
                    best, best_unit, best_foe, best_direction = worth, one, other, direction
    if best_direction < 0:
        return wander(game, sight, seed)
    return step_action(game, sight, units[best_unit], best_direction)


@kernel
def wander(game, sight, seed):
    """Return a step of the first piece, from a random one on, that can make one."""
    count = len(sight.units)
    start = chance_below(count, game, seed, 0)
    for index in range(count):
        source = sight.units[(start + index) % count]
        turn = chance_below(4, game, seed, 1 + index)
        for step in range(4):
            direction = CYCLE[(turn + step) % 4]
            if may_step(game, sight.beside[source, direction], direction):
                return step_action(game, sight, source, direction)
    return np.int64(RESIGNS)


BOT = Bot("charger", choose, Options, corner_setup)
