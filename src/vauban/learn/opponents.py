"""Opponents of a learner: networks, which stay on their device, and agents, which are handed views.

    players = NetworkPlayer("mine", network), AgentPlayer(agent)
    log_policy = players[1].log_policy(sim, rows, legal)      # of some games of a simulator

Agents are of a room above this one. Whoever makes a run hands in what makes them (`Place.agents`).
"""

from __future__ import annotations

import copy
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.games.randomness import RESPONSE, draw
from vauban.nets.actor import Thinker
from vauban.nets.policy import PolicyNetwork, at_temperature
from vauban.nets.positions import Recorded
from vauban.sim.arrays import as_numpy
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

SEAT, OPPONENT, CHANCE, SETUP, MEMBER = 0, 1, 2, 3, 4
"""Indices of the draws for a game with the purpose `RESPONSE`: the learner's seat, the opponent, its chance, a seed
for both setups, and the network of an opponent that has several."""
LIGHT = 100_000
"""Networks with no more parameters than this are asked together, about as many positions each."""

SetUp = Callable[[int, random.Random], Any]
"""(player, chance) → a setup, a row of numbers."""


class Player(ABC):
    """Whoever plays some of the games of a simulator."""

    name: str
    set_up: SetUp | None = None
    """Its own way to set up; None if it has none."""

    @abstractmethod
    def log_policy(self, sim: Simulator, rows: Tensor, legal: Tensor) -> Tensor:
        """Return the logarithm of its policy in some games, over the legal actions of each (float32, −inf elsewhere).

        rows: the games, in all of which it is on turn. legal: their legal actions, −1 behind the last.
        """


class NetworkPlayer(Player):
    """A network that plays, on its device."""

    def __init__(
        self, name: str, network: PolicyNetwork, temperature: float = 1.0, set_up: SetUp | None = None
    ) -> None:
        self.name, self.network, self.temperature, self.set_up = name, network, temperature, set_up

    @torch.no_grad()
    def log_policy(self, sim: Simulator, rows: Tensor, legal: Tensor) -> Tensor:
        choices, _ = Thinker(self.network, Recorded(sim.snapshot(rows))).look()
        return at_temperature(self.network.legal_log_policy(choices, legal), self.temperature)


class NetworksPlayer(Player):
    """Networks that are built alike, one of which is drawn for a whole game."""

    def __init__(
        self, name: str, networks: Sequence[PolicyNetwork], chances: Sequence[float], set_up: SetUp | None = None
    ) -> None:
        self.name, self.networks, self.set_up = name, list(networks), set_up
        self._sums = np.cumsum(chances) / sum(chances)
        first = self.networks[0]
        self._stacked: Any = None
        if sum(each.numel() for each in first.parameters()) <= LIGHT:
            self._stacked = torch.func.stack_module_state(self.networks)
            # A skeleton without weights of its own.
            self._skeleton = copy.deepcopy(first).to("meta")

    @torch.no_grad()
    def log_policy(self, sim: Simulator, rows: Tensor, legal: Tensor) -> Tensor:
        chances = (drawn(sim.seed, as_numpy(sim.numbers[rows]), MEMBER).astype(np.float64) + 0.5) / 2**32
        # The last sum may be rounded below 1.
        members = torch.from_numpy(np.searchsorted(self._sums[:-1], chances, side="right")).to(rows.device)
        first = self.networks[0]
        seen = Thinker(first, Recorded(sim.snapshot(rows))).observe()
        choices = self._ask(seen, members)
        return first.legal_log_policy(choices, legal)

    def _ask(self, seen: Tensor, members: Tensor) -> Tensor:
        """Return what each position's own network says of it."""
        order = members.argsort(stable=True)
        counts = torch.bincount(members, minlength=len(self.networks))
        if self._stacked is None:
            parts = torch.split(order, counts.tolist())
            found = torch.cat([net(seen[part])[0] for net, part in zip(self.networks, parts, strict=True) if len(part)])
        else:
            places = torch.arange(len(order), device=order.device) - (counts.cumsum(0) - counts)[members[order]]
            filled = seen.new_zeros((len(counts), int(counts.max()), *seen.shape[1:]))
            filled[members[order], places] = seen[order]
            ask: Any = torch.func.vmap(self._ask_one)
            said = ask(*self._stacked, filled)
            found = said[members[order], places]
        return torch.empty_like(found).index_copy_(0, order, found)

    def _ask_one(self, parameters: Any, buffers: Any, seen: Tensor) -> Tensor:
        choices: Tensor = torch.func.functional_call(self._skeleton, (parameters, buffers), (seen,))[0]
        return choices


class Chooses(Protocol):
    """An agent, as far as it is needed here (`vauban.agents.base.Agent`)."""

    name: str

    def choose(self, views: Snapshot, seeds: Any) -> Any:
        """Choose a legal action for each view; chance comes from the view's seed."""


class AgentPlayer(Player):
    """An agent, which is asked about the views of many games at once. What it draws depends on seed and game alone."""

    def __init__(self, agent: Chooses, set_up: SetUp | None = None) -> None:
        self.name, self.agent, self.set_up = agent.name, agent, set_up

    def log_policy(self, sim: Simulator, rows: Tensor, legal: Tensor) -> Tensor:
        actions = torch.full((len(rows),), -1, dtype=torch.int64)
        players, numbers = sim.players[rows], sim.numbers[rows]
        for viewer in (0, 1):
            mine = (players == viewer).nonzero().squeeze(1)
            if len(mine):
                views = sim.views(viewer, rows[mine])
                chosen = self.agent.choose(views, drawn(sim.seed, as_numpy(numbers[mine]), CHANCE))
                actions[mine.cpu()] = torch.as_tensor(np.asarray(chosen), dtype=torch.int64)
        return certain(self.name, actions, legal)


class Seated(Player):
    """Whoever plays each game by itself, from its beginning, and is told of every move."""

    @abstractmethod
    def begin(self, number: int, player: int, row: Any, own: bool, chance: random.Random) -> Any:
        """Begin a game as one of its players; its setup, which is this row unless it has its own.

        own: whether it sets up as it does by itself. row: None where the game has no setups.
        """

    @abstractmethod
    def moved(self, sim: Simulator, rows: Tensor, actions: Tensor) -> None:
        """Hear of the action that is about to be played in each of these games."""

    @abstractmethod
    def rise(self) -> None:
        """Leave all games that are not over."""


def certain(name: str, actions: Tensor, legal: Tensor) -> Tensor:
    """Return the logarithm of the policy of a player that answers with an action in each game."""
    chosen_places = legal == actions.to(legal.device)[:, None]
    lost = ~chosen_places.any(1)
    if lost.any():
        action = int(actions[int(lost.int().argmax())])
        what = "gave a game up" if action < 0 else f"answered with action {action}, which is not legal"
        raise ConfigurationError(
            f"{name!r} {what}: a response is learned to agents that play every game to its end by the rules"
        )
    return torch.where(chosen_places, 0.0, -torch.inf)


def drawn(seed: int, numbers: Any, what: int) -> Any:
    """Return 32 random bits (uint64) for each game by its number, for one purpose of a response."""
    given = np.asarray(numbers).astype(np.uint64)
    throw: Any = draw  # the kernel works on whole arrays as well
    zeros = np.zeros(len(given), np.uint64)
    return throw(np.uint64(seed % 2**64), given, zeros, zeros, RESPONSE, what)


class Agents(Protocol):
    """Makes players of agents, and samplers of setups, by text."""

    def player(self, text: str, game: Game, device: torch.device) -> Player:
        """Return the player that a text names; refuse one that cannot play many games at once."""

    def sampler(self, text: str, game: Game) -> Callable[[random.Random], Any]:
        """Return a sampler of setups; of those that are usual in the game for an empty text."""


class NoAgents:
    """Stands where nobody has handed in any."""

    def player(self, text: str, game: Game, device: torch.device) -> Player:
        raise ConfigurationError(
            f"there is nobody here who makes the opponent {text!r}: begin the run with agents, as vauban train does, "
            "or hand players to `face`"
        )

    def sampler(self, text: str, game: Game) -> Callable[[random.Random], Any]:
        raise ConfigurationError(f"there is nobody here who makes the sampler of setups {text!r}: hand in agents")
