"""Agents as the opponents of learners (`vauban.learn.opponents`): networks stay on their device, others see views."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from vauban.agents import POPULATION, make_player
from vauban.agents.base import Agent, AgentError, Listener, Program, SetsUp, choose_action, close, show, tell
from vauban.agents.net import NetAgent
from vauban.agents.options import split_text
from vauban.agents.population import PopulationAgent
from vauban.agents.random import RandomAgent
from vauban.agents.setups import make_sampler, usual_setups
from vauban.board import Board
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import Game
from vauban.learn.opponents import AgentPlayer, NetworkPlayer, NetworksPlayer, Player, Seated, certain
from vauban.sim.simulator import Simulator

UNIFORM = "uniform"


class Opponents:
    """Makes opponents and samplers of setups by text (`vauban.learn.opponents.Agents`)."""

    def player(self, text: str, game: Game, device: torch.device) -> Player:
        """Return the player of an agent, or of a solver's policy."""
        agent = make_opponent(text, game, device.type)
        if plays_one_game(agent):
            return OneByOne(text, game)
        set_up = _set_up(agent, game)
        if isinstance(agent, PopulationAgent) and (networks := agent.networks(game)) is not None:
            return NetworksPlayer(text, networks, agent.chances(0), set_up)
        plainly = agent.plainly(game) if isinstance(agent, NetAgent) else None
        return AgentPlayer(agent, set_up) if plainly is None else NetworkPlayer(text, *plainly, set_up)

    def sampler(self, text: str, game: Game) -> Callable[[random.Random], Any]:
        return make_sampler(text or usual_setups(game) or UNIFORM, game)


def make_opponent(text: str, game: Game, device: str = "cpu") -> Agent:
    """Return the agent that a text names, to play many games.

    device: where a network runs, unless the text says it.
    """
    if text == UNIFORM:
        # A policy of the solver that takes no tree, and so plays games of any size.
        return RandomAgent()
    name, settings = split_text(text)
    if name in (NetAgent.kind, POPULATION) and "device" not in settings and device != "cpu":
        text = f"{text},device={device}"
    return make_player(text, game)


def plays_one_game(agent: Agent) -> bool:
    """Return whether an agent plays one game at a time, and is made anew for each: a program, or one told of moves."""
    return isinstance(agent, Program | Listener)


@dataclass
class _Seat:
    """An agent in one game."""

    agent: Agent
    player: int
    seed: int
    board: Any = None
    """The game as it was played so far; made when it begins."""


class OneByOne(Seated):
    """An agent that plays one game at a time, such as a program: one is made for every game."""

    def __init__(self, text: str, game: Game) -> None:
        if game.has_chance:
            raise ConfigurationError(
                f"{text!r} is told of every move, and chance goes on in {game.name!r}: take an agent that is asked "
                "about views (vauban agents lists them)"
            )
        self.name, self.game = text, game
        self._seats: dict[int, _Seat] = {}
        """By the number of the game."""

    def begin(self, number: int, player: int, row: Any, own: bool, chance: random.Random) -> Any:
        seed = chance.getrandbits(32)
        agent = make_player(self.name, self.game, seed)
        self._seats[number] = _Seat(agent, player, seed)
        if isinstance(agent, Program):
            agent.meet("a response", None)
            if row is not None:
                agent.give_setup(self.game, row)
        if row is None or not isinstance(agent, SetsUp) or not (own or isinstance(agent, Program)):
            return row
        with self._at_fault():
            return agent.set_up(self.game, player, chance)

    def log_policy(self, sim: Simulator, rows: Tensor, legal: Tensor) -> Tensor:
        actions = []
        with self._at_fault():
            for seat in self._seats_of(sim, rows):
                actions.append(choose_action(seat.agent, seat.board.view(seat.player), seat.seed))
        return certain(self.name, torch.tensor(actions, dtype=torch.int64), legal)

    def moved(self, sim: Simulator, rows: Tensor, actions: Tensor) -> None:
        numbers = sim.numbers[rows].tolist()
        for number, seat, action in zip(numbers, self._seats_of(sim, rows), actions[rows].tolist(), strict=True):
            seat.board.push(action)
            with self._at_fault():
                tell(seat.agent, seat.board.history[-1])
                show(seat.agent, seat.board, seat.player)
            if seat.board.is_over:
                self._leave(number)

    def rise(self) -> None:
        for number in list(self._seats):
            self._leave(number)

    def _seats_of(self, sim: Simulator, rows: Tensor) -> list[_Seat]:
        """Return the agents in some games, which have their boards from the first move on."""
        seats = [self._seats[number] for number in sim.numbers[rows].tolist()]
        for row, seat in zip(rows, seats, strict=True):
            if seat.board is None:
                seat.board = Board.from_snapshot(sim.snapshot(row[None]))
        return seats

    def _leave(self, number: int) -> None:
        seat = self._seats.pop(number)
        with suppress(VaubanError):  # the game is over: nothing that an agent does now changes it
            outcome = None if seat.board is None else seat.board.outcome()
            if outcome is not None and isinstance(seat.agent, Program):
                seat.agent.ended(outcome.end)
        close(seat.agent)

    @contextmanager
    def _at_fault(self) -> Iterator[None]:
        try:
            yield
        except AgentError as error:
            raise ConfigurationError(
                f"{self.name!r} lost a game by its own fault ({error}): a response is learned to agents that play "
                "every game to its end by the rules"
            ) from error


def _set_up(agent: Agent, game: Game) -> Callable[[int, random.Random], Any] | None:
    if not isinstance(agent, SetsUp) or not game.setups_chosen:
        return None
    return lambda player, rng: agent.set_up(game, player, rng)
