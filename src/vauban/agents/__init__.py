"""Agents: the protocol (`base`) and the pool of those that can be played against by name."""

from __future__ import annotations

from collections.abc import Callable

from vauban.agents.base import Agent
from vauban.agents.cadet import CadetAgent
from vauban.agents.random import RandomAgent
from vauban.errors import ConfigurationError
from vauban.games.base import nearest

AGENTS: dict[str, Callable[[int], Agent]] = {agent.name: agent for agent in (CadetAgent, RandomAgent)}
"""By name: what makes an agent from a seed. The first line of its documentation says who it is."""


def make_agent(name: str, seed: int = 0) -> Agent:
    """The agent of this name."""
    if name not in AGENTS:
        raise ConfigurationError(f"there is no agent {name!r}: {nearest(name, list(AGENTS))}")
    return AGENTS[name](seed)
