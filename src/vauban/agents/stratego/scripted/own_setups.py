"""The scripted bots' own setups in classic: each has one setup, or one and its mirror image."""

from __future__ import annotations

import random

import numpy as np

from vauban.agents.setups import make_sampler
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import Row, mirrored
from vauban.games.stratego.variants import Variant

RANKS = "s987654321FB"
"""The letters below, in the order of types: 1 is the Marshal, 9 the Scout, s the Spy."""

# From the back row to the front row, columns from a to j for red.
CORNER = ("FB8sB479B8", "BB31555583", "6724898974", "967B669999")
"""Of charger, fox and hunter: the Flag in the corner."""
RAID = ("FB8sB979B8", "BB99555583", "6724898974", "B314676699")
"""Of thermal: the Marshal in front."""
OPEN_FRONT = ("8BFB67B7B7", "48B3862B89", "6359954865", "997159s499")
"""Of prober: no Bomb in the front rows."""


def corner_setup(variant: Variant, player: int, rng: random.Random) -> Row:
    """Return the setup of charger, fox and hunter."""
    return _setup(CORNER, variant, player, rng)


def raid_setup(variant: Variant, player: int, rng: random.Random) -> Row:
    """Return the setup of thermal."""
    return _setup(RAID, variant, player, rng)


def open_setup(variant: Variant, player: int, rng: random.Random) -> Row:
    """Return the setup of prober, or as often its mirror image."""
    setup = _setup(OPEN_FRONT, variant, player, rng)
    if variant.name == "classic" and rng.random() < 0.5:
        return mirrored(setup, variant)
    return setup


def _setup(rows: tuple[str, ...], variant: Variant, player: int, rng: random.Random) -> Row:
    """Return the rows as a setup in its owner's own view; on other boards than classic, as people set up."""
    if variant.name != "classic":
        return make_sampler("human", Stratego(variant))(rng)
    setup = np.array([1 + RANKS.index(letter) for row in rows for letter in row], np.int8)
    # Both players keep to columns a to j: seen from blue's side, left and right change places.
    return setup if player == 0 else mirrored(setup, variant)
