"""Agents: the protocol (`base`) and the pool of those that can be played with by name.

    make_agent("charger")
    make_agent("mcts:sims=200,setups=human", seed=7)
    make_agent("net:runs/mine,temperature=0.5")
    make_agent("bot:python3 examples/ucc_bot.py")

docs/agents.md says who they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vauban.agents.alphabeta import BOT as ALPHABETA
from vauban.agents.base import Agent
from vauban.agents.cadet import CadetAgent
from vauban.agents.compiled import Bot, CompiledAgent, JudgingAgent
from vauban.agents.external import PREFIX, ExternalAgent
from vauban.agents.mcts.bots import BOTS as SEARCHING
from vauban.agents.net import ModelAgent, NetAgent
from vauban.agents.options import make_options, split_text
from vauban.agents.random import Options as RandomOptions
from vauban.agents.random import RandomAgent
from vauban.agents.scripted import BOTS as SCRIPTED
from vauban.agents.searching import SearchAgent
from vauban.errors import ConfigurationError
from vauban.games.base import nearest

Maker = Callable[[dict[str, str], int], Agent]


def _compiled(bot: Bot) -> Maker:
    def make(settings: dict[str, str], seed: int) -> Agent:
        kind = JudgingAgent if bot.judges else CompiledAgent
        return kind(bot, make_options(bot.options, bot.name, settings), seed)

    return make


def _plain(kind: Callable[[int], Any], name: str) -> Maker:
    def make(settings: dict[str, str], seed: int) -> Agent:
        if settings:
            given = next(key or value for key, value in settings.items())
            raise ConfigurationError(f"agent {name!r} has no options, and {given!r} was given")
        agent: Agent = kind(seed)
        return agent

    return make


AGENTS: dict[str, Maker] = {
    "random": lambda settings, seed: RandomAgent(seed, make_options(RandomOptions, "random", settings)),
    "cadet": _plain(CadetAgent, "cadet"),
    **{bot.name: _compiled(bot) for bot in (*SCRIPTED, ALPHABETA, *SEARCHING)},
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
