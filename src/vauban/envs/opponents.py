"""Opponents that are part of an environment: an agent of the pool, or a function of what it sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.base import RESIGNS, Agent, Listener, Program, Watcher, check_plays
from vauban.errors import ConfigurationError, IllegalActionError
from vauban.games.base import Game
from vauban.sim.store import Snapshot

HOW = 'an agent of the pool such as "fox" (vauban agents lists them), or a function (observation, action_mask, rng)'


def agent_of(opponent: Any, game: Game) -> Agent | None:
    """Return the agent that an opponent is, or that its text names; None for a function. Refuse all others."""
    if isinstance(opponent, str):
        from vauban.agents import make_player

        opponent = make_player(opponent, game)
    elif hasattr(opponent, "choose"):
        check_plays(opponent, game)
    elif callable(opponent):
        return None
    else:
        raise ConfigurationError(f"{opponent!r} is no opponent: give {HOW}")
    agent: Agent = opponent
    if isinstance(agent, Listener | Watcher | Program):
        name = getattr(agent, "name", agent)
        raise ConfigurationError(
            f"{name!r} has to be told every move, and an environment asks it about positions: give {HOW}"
        )
    return agent


def choose(agent: Agent, views: Snapshot, seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return an agent's actions; an environment has no word for giving up."""
    actions = agent.choose(views, seeds)
    if (actions == RESIGNS).any():
        raise IllegalActionError(f"the opponent {agent.name!r} resigned: an opponent plays its games to the end")
    return actions
