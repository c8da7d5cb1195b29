"""The chance of each hidden ghost to be evil: from the behaviour of ghosts, and how many evil ones are left.

A ghost's odds are exp(weights · features). A set of ghosts is as likely to be the evil ones as the product of their
odds says, among all sets of the right size that hold every ghost that must be evil. The weights were fitted to games
between agents (scripts/fit_geister_belief.py; docs/agents.md).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.geister.terrain import beside, is_in, set_of
from vauban.agents.tree import uniform
from vauban.games.geister.hidden import count_evil
from vauban.games.geister.layout import (
    BYTES,
    FLED,
    FORWARD,
    MOST_GHOSTS,
    MOVED,
    OFFERED,
    PIECES,
    PROVEN,
    SQUARES,
    STOOD,
)
from vauban.games.geister.rules import ghost_at, turned
from vauban.games.kernel import kernel

FEATURES = ("moved", "forward", "offered", "fled", "stood", "near_exit", "beside_enemy", "offered_share")
"""Of a ghost: log(1 + n) of its moves, and of those of each kind (`vauban.games.geister.layout`); 1 / (1 + its steps to
an exit); whether an enemy is beside it; the share of its moves that offered it. Behaviour counts as 0 in records that
keep none."""
COUNTED = np.array([MOVED, FORWARD, OFFERED, FLED, STOOD])
SURE = 1e9
"""Odds of a ghost that must be evil."""
LARGEST_LOG = 3.0
"""Behaviour is trusted no further than this: odds are from exp(−3) to exp(3)."""


@cache
def weights() -> npt.NDArray[np.float64]:
    """Return the fitted weights of the features."""
    table = json.loads(files(__package__).joinpath("belief.json").read_text(encoding="utf-8"))
    return np.array([table["weights"][name] for name in FEATURES])


def prior_of(game: Any) -> npt.NDArray[np.float64]:
    """Return what bots of Geister know beforehand: the weights."""
    return weights()


@kernel
def describe(game, terrain, viewer, features):
    """Write down the features of each hidden ghost, in the order of `assign`; return their number."""
    other = 1 - viewer
    tracked = game.bytes.shape[0] > BYTES
    near = beside(terrain, game.words[PIECES + viewer])
    count = 0
    for step in range(game.rules[SQUARES]):
        square = turned(game.rules[SQUARES], viewer, step)
        if not is_in(game.words[PIECES + other], square):
            continue
        ghost = MOST_GHOSTS * other + ghost_at(game, other, square)
        for kind in range(len(COUNTED)):
            features[count, kind] = np.log1p(np.float64(game.bytes[COUNTED[kind] + ghost])) if tracked else 0.0
        ways = min(terrain.ways[square, 2 * other], terrain.ways[square, 2 * other + 1])
        features[count, 5] = 1.0 / (1 + ways)
        features[count, 6] = 1.0 if near & set_of(square) else 0.0
        moved = np.float64(game.bytes[MOVED + ghost]) if tracked else 0.0
        features[count, 7] = np.float64(game.bytes[OFFERED + ghost]) / moved if moved > 0.0 else 0.0
        count += 1
    return count


@kernel
def odds_of(game, terrain, viewer, prior, odds):
    """Write down the odds of each hidden ghost to be evil; return their number."""
    features = np.empty((MOST_GHOSTS, len(FEATURES)))
    count = describe(game, terrain, viewer, features)
    for index in range(count):
        log = 0.0
        for kind in range(len(FEATURES)):
            log += prior[kind] * features[index, kind]
        odds[index] = np.exp(min(LARGEST_LOG, max(-LARGEST_LOG, log)))
    index = 0
    for step in range(game.rules[SQUARES]):
        square = turned(game.rules[SQUARES], viewer, step)
        if is_in(game.words[PIECES + 1 - viewer], square):
            if (game.bytes[PROVEN + 1 - viewer] >> ghost_at(game, 1 - viewer, square)) & 1:
                odds[index] = SURE
            index += 1
    return count


@kernel
def add_up(odds, count, ways):
    """Write down, for the first n ghosts and each size, the weight of all sets of that size among them.

    A ghost that must be evil is in all of them.
    """
    for size in range(count + 1):
        ways[0, size] = 1.0 if size == 0 else 0.0
    for index in range(count):
        for size in range(count + 1):
            without = 0.0 if odds[index] == SURE else ways[index, size]
            ways[index + 1, size] = without + (odds[index] * ways[index, size - 1] if size > 0 else 0.0)


@kernel
def marginals(game, terrain, viewer, prior, chances):
    """Write down the chance of each hidden ghost to be evil, in the order of `assign`; return their number."""
    odds, turned_odds = np.empty(MOST_GHOSTS), np.empty(MOST_GHOSTS)
    ways = np.empty((MOST_GHOSTS + 1, MOST_GHOSTS + 1))
    count = odds_of(game, terrain, viewer, prior, odds)
    evil = count_evil(game, 1 - viewer)
    for last in range(count):
        # Sets that hold a ghost are counted with it in the last place.
        for index in range(count):
            turned_odds[index] = odds[(last + 1 + index) % count]
        add_up(turned_odds, count, ways)
        chances[last] = odds[last] * ways[count - 1, evil - 1] / ways[count, evil] if evil > 0 else 0.0
    return count


@kernel
def sample(odds, count, evil, ways, state, values):
    """Draw the colours of the hidden ghosts, as `assign` takes them; `ways` is from `add_up`."""
    left = evil
    for index in range(count - 1, -1, -1):
        share = odds[index] * ways[index, left - 1] / ways[index + 1, left] if left > 0 else 0.0
        values[index] = 1 if uniform(state) < share else 0
        left -= values[index]
