"""Traversals: many games at once, one path each, played by the strategies of both players.

The traverser explores, the other player keeps to its strategy. What is drawn is a function of the seed and the game's
number, which no two traversals of a run share. On a GPU a ply is captured once and replayed; nothing waits for it.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Format, Game
from vauban.learn.deep_cfr.targets import Paths, explored
from vauban.nets.policy import PolicyNetwork
from vauban.nets.regrets import match_regrets
from vauban.nets.replay import Replay
from vauban.sim.simulator import Simulator
from vauban.sim.store import Store


class Strategies(Protocol):
    """Both players' strategies in an iteration."""

    def ask(self, sim: Simulator, legal: Tensor, whose: Tensor) -> Tensor:
        """Return the probabilities of the legal actions in each game (float64, 0 behind the last).

        legal: as the simulator lists them, −1 behind the last. whose: the player whose strategy is asked for.
        """


class Visits(NamedTuple):
    """The positions met on the way, a row for each step and an entry for each game."""

    words: Tensor
    halves: Tensor
    bytes: Tensor
    """The record before the action."""
    players: Tensor
    """The player on turn."""
    played: Tensor
    """Whether the game went on here."""
    widths: Tensor
    """Number of legal actions."""
    places: Tensor
    """The action that was drawn: its place in the list of legal ones."""
    policy: Tensor
    """The strategy over the legal actions, float32."""
    log_policy: Tensor
    log_sampled: Tensor
    """Logarithms of the probabilities of the drawn action: by the strategy, and as it was sampled (float64)."""


class Traversal:
    """Games that are played from their beginning to their end, time and again."""

    def __init__(
        self, game: Game, games: int, strategies: Strategies, exploration: float, device: torch.device, seed: int, *,
        format: Format | None = None, literal: bool = False,
    ) -> None:  # fmt: skip
        """
        games: played at once, a path each.
        literal: ask for the traverser's strategy wherever either player is on turn.
        """
        if game.max_plies is None:
            raise ConfigurationError(f"{game!r} has no longest game: give it a limit, such as total_limit=100")
        self.sim = Simulator(game, games, device, seed, format=format, restart=False)
        self.strategies, self.exploration, self.literal = strategies, exploration, literal
        self.length = game.max_plies * game.moves_in_a_row
        """Most steps of a path."""
        self._legal, self._counts = self.sim.legal_actions()
        self._actions = torch.empty(games, dtype=torch.int16, device=device)
        self._traverser = torch.zeros((), dtype=torch.uint8, device=device)
        self._row = torch.zeros(1, dtype=torch.int64, device=device)
        shapes: list[tuple[tuple[int, ...], torch.dtype]] = [
            *((part.shape[1:], part.dtype) for part in self.sim.store),
            ((), torch.uint8),
            ((), torch.bool),
            ((), torch.int32),
            ((), torch.int64),
            ((game.max_legal,), torch.float32),
            ((), torch.float64),
            ((), torch.float64),
        ]
        self._columns = Visits(
            *(torch.zeros((self.length, games, *shape), dtype=dtype, device=device) for shape, dtype in shapes)
        )
        self.visits = self._columns
        """The positions met on the way, as far as the longest game went."""
        self._replay = Replay(device)

    @torch.no_grad()
    def run(self, traverser: int, first_number: int) -> Paths:
        """Play all games to their ends; they are numbered from `first_number`. `visits` has the rest."""
        self.sim.reset(first_number=first_number)
        self._traverser.fill_(traverser)
        self._row.zero_()
        self._columns.played.zero_()
        steps = 0
        # Asking a GPU whether all games are over takes longer than playing on.
        while steps < self.length and (self.sim.device.type == "cuda" or not bool(self.sim.over.all())):
            self._replay(self._play)
            steps += 1
        self.visits = visits = Visits(*(column[:steps] for column in self._columns))
        sign = 1 - 2 * traverser
        return Paths(
            visits.played, visits.players == traverser, visits.widths, visits.log_policy, visits.log_sampled,
            sign * self.sim.results.utility,
        )  # fmt: skip

    def _play(self) -> None:
        """Play a step of all games that go on."""
        sim, legal = self.sim, self._legal
        sim.legal_actions(legal, self._counts)
        players = sim.players.clone()
        own = players == self._traverser
        policy = self.strategies.ask(sim, legal, self._traverser.expand_as(players) if self.literal else players)
        there = legal >= 0
        sampled = torch.where(own[:, None], explored(policy, there, self.exploration), policy)
        sim.choose(legal, sampled.log().float(), self._actions)
        places = (legal == self._actions[:, None]).int().argmax(1)
        of_action = places[:, None]
        now = Visits(
            *sim.store, players, there[:, 0], self._counts, places, policy.float(),
            policy.gather(1, of_action).squeeze(1).log(), sampled.gather(1, of_action).squeeze(1).log(),
        )  # fmt: skip
        for column, value in zip(self._columns, now, strict=True):
            column.index_copy_(0, self._row, value[None].to(column.dtype))
        sim.step(self._actions, check=False)
        self._row += 1


def records_of(visits: Visits) -> Store:
    """Return the records of all visits, one below the other."""
    return Store(*(column.flatten(0, 1) for column in visits[:3]))


def share_of(paths: Paths, visits: Visits, games: slice) -> tuple[Paths, Visits]:
    """Return what concerns some of the games alone."""
    own = Paths(*(each[..., games] for each in paths))
    return own, Visits(*(each[:, games] for each in visits))


class NetworkStrategies:
    """Regret matching on the values of each player's network; uniform until that has been trained."""

    def __init__(self, networks: tuple[PolicyNetwork, PolicyNetwork], game: Game, games: int) -> None:
        self.networks = networks
        device = next(networks[0].parameters()).device
        self.trained = torch.zeros(2, dtype=torch.bool, device=device)
        """Whether each player's network has been trained."""
        self._seen: Tensor | None = None

    def ask(self, sim: Simulator, legal: Tensor, whose: Tensor) -> Tensor:
        if self._seen is None:
            shape = sim.observation_shape(self.networks[0].observation, "squares")
            self._seen = torch.empty((sim.n, *shape), device=legal.device)
        sim.observe(self.networks[0].observation, self._seen, layout="squares")
        there = legal >= 0
        first, second = (self._values(player, self._seen, legal) for player in range(2))
        values = torch.where((whose == 0)[:, None], first, second).double()
        even = there.double() / there.sum(1, keepdim=True).clamp_min(1)
        trained = self.trained[whose.long()][:, None]
        return torch.where(trained, match_regrets(values, there), even)

    def _values(self, player: int, seen: Tensor, legal: Tensor) -> Tensor:
        """Return the values of the legal actions by a player's network."""
        return self.networks[player].of_legal(seen, legal)
