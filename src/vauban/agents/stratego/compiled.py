"""Bots of Stratego: compiled agents that know how people set up."""

from __future__ import annotations

from functools import cache, partial

from vauban.agents import compiled
from vauban.agents.compiled import Prior
from vauban.agents.stratego.belief import prior_table
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.variants import Variant


def prior_of(game: Stratego) -> Prior:
    """Return how people set up in a game, as the kernels read it."""
    return _table(game.variant)


@cache
def _table(variant: Variant) -> Prior:
    return prior_table(variant)


Bot = partial(compiled.Bot, family="stratego", prior=prior_of)
"""Makes a bot of Stratego: `Bot(name, choose, options, setup=…, judges=…)`."""
