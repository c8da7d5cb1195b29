"""Agents as the opponents of learners (`vauban.learn.opponents`): networks stay on their device, others see views."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vauban.agents import make_player
from vauban.agents.base import Agent, Listener, Program, SetsUp
from vauban.agents.net import NetAgent
from vauban.agents.options import split_text
from vauban.agents.random import RandomAgent
from vauban.agents.setups import make_sampler, usual_setups
from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.learn.opponents import AgentPlayer, NetworkPlayer, Player

if TYPE_CHECKING:
    import torch

UNIFORM = "uniform"


class Opponents:
    """Makes opponents and samplers of setups by text (`vauban.learn.opponents.Agents`)."""

    def player(self, text: str, game: Game, device: torch.device) -> Player:
        """Return the player of an agent, or of a solver's policy."""
        agent = make_opponent(text, game, device.type)
        set_up = _set_up(agent, game)
        plainly = agent.plainly(game) if isinstance(agent, NetAgent) else None
        return AgentPlayer(agent, set_up) if plainly is None else NetworkPlayer(text, *plainly, set_up)

    def sampler(self, text: str, game: Game) -> Callable[[random.Random], Any]:
        return make_sampler(text or usual_setups(game) or UNIFORM, game)


def make_opponent(text: str, game: Game, device: str = "cpu") -> Agent:
    """Return the agent that a text names, to play many games at once; refuse one that cannot.

    device: where a network runs, unless the text says it.
    """
    if text == UNIFORM:
        # A policy of the solver that takes no tree, and so plays games of any size.
        return RandomAgent()
    name, settings = split_text(text)
    if name == NetAgent.kind and "device" not in settings and device != "cpu":
        text = f"{text},device={device}"
    agent = make_player(text, game)
    if isinstance(agent, Program | Listener):
        raise ConfigurationError(
            f"{text!r} plays one game at a time, and a response plays hundreds at once: take an agent that is asked "
            "about views (vauban agents lists them)"
        )
    return agent


def _set_up(agent: Agent, game: Game) -> Callable[[int, random.Random], Any] | None:
    if not isinstance(agent, SetsUp) or not game.setups_chosen:
        return None
    return lambda player, rng: agent.set_up(game, player, rng)
