"""Agents: the interface (`base`) and those that can be played with by name.

    make_agent("charger")
    make_agent("mcts:sims=200,setups=human", seed=7)
    make_agent("net:runs/mine,temperature=0.5")
    make_agent("bot:python3 examples/ucc_bot.py")

Agents of one family of games live in a package of their own in here, whose `AGENTS` names what makes them: it is found
by being there. docs/agents.md says who they are.
"""

from __future__ import annotations

import importlib
import pkgutil

from vauban.agents.base import Agent
from vauban.agents.external.agent import PREFIX, ExternalAgent
from vauban.agents.net import ModelAgent, NetAgent
from vauban.agents.options import Maker, make_options, split_text
from vauban.agents.random import Options as RandomOptions
from vauban.agents.random import RandomAgent
from vauban.agents.search import SearchAgent
from vauban.errors import ConfigurationError
from vauban.games.base import nearest


def _of_families() -> dict[str, Maker]:
    found: dict[str, Maker] = {}
    for each in pkgutil.iter_modules(__path__, f"{__name__}."):
        if each.ispkg:
            found |= getattr(importlib.import_module(each.name), "AGENTS", {})
    return found


AGENTS: dict[str, Maker] = {
    "random": lambda settings, seed: RandomAgent(seed, make_options(RandomOptions, "random", settings)),
    **_of_families(),
}
"""By name: what makes an agent from settings and a seed."""

LEARNED: dict[str, type[ModelAgent]] = {kind.kind: kind for kind in (NetAgent, SearchAgent)}
"""Agents that need a model, NAME:MODEL, by name."""


def make_agent(text: str, seed: int = 0) -> Agent:
    """The agent that a text names: NAME, NAME:OPTION=VALUE,…, NAME:MODEL,OPTION=VALUE,…, or bot:COMMAND."""
    if text.startswith(PREFIX):
        return ExternalAgent(text.removeprefix(PREFIX), seed)
    name, settings = split_text(text)
    if name in LEARNED:
        kind = LEARNED[name]
        return kind(make_options(kind.options_kind, name, settings), seed)
    if name not in AGENTS:
        raise ConfigurationError(f"there is no agent {name!r}: {nearest(name, [*AGENTS, *LEARNED])}")
    return AGENTS[name](settings, seed)
