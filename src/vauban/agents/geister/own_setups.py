"""Setups that agents of Geister choose themselves."""

from __future__ import annotations

import random

import numpy as np

from vauban.agents.base import Row
from vauban.games.geister.variants import Variant

BOLDNESS = 1.5
"""Weight of an evil ghost in the front row, against one behind it, in setups that are drawn by weight."""


def good_ahead(variant: Variant, player: int, rng: random.Random) -> Row:
    """Return a setup with the good ghosts nearest to the exits; of ghosts equally near any may be good."""

    def way(ghost: int) -> tuple[int, float]:
        x, y = variant.starts[ghost]
        return min(x, variant.width - 1 - x) + y, rng.random()

    setup = np.ones(variant.ghosts, np.int8)
    setup[sorted(range(variant.ghosts), key=way)[: variant.good]] = 0
    return setup


def mixed(variant: Variant, player: int, rng: random.Random) -> Row:
    """Draw a setup; all are possible, and those with evil ghosts ahead somewhat likelier."""
    front = min(y for _, y in variant.starts)
    setup = np.zeros(variant.ghosts, np.int8)
    left = list(range(variant.ghosts))
    for _ in range(variant.evil):
        weights = [BOLDNESS if variant.starts[ghost][1] == front else 1.0 for ghost in left]
        [chosen] = rng.choices(left, weights)
        setup[chosen] = 1
        left.remove(chosen)
    return setup
