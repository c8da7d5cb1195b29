"""Duels: whole games of a learner against opponents, one of whom is drawn for each game, as is the learner's seat.

    duels = Duels(game, 256, 3600, learner, device, seed, agents)
    duels.face([opponent], [1.0])
    duel = duels.play(first_number=0)
    duel.own                                    # rows × games: where the learner chose

Seat, opponent, setups and all chance are functions of the seed and the number of the game.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.learn.episodes import Episodes, Games
from vauban.learn.opponents import OPPONENT, SEAT, SETUP, Agents, Player, Seated, SetUp, drawn
from vauban.nets.actor import Thought
from vauban.sim.simulator import Simulator

UNIFORM, OWN = "uniform", "own"
"""Setups: all equally likely; or each opponent's own, against those that are usual in the game."""


class Duel(NamedTuple):
    """Games that were played."""

    played: Episodes
    seats: Tensor
    """By game: the player that the learner was (uint8)."""
    own: Tensor
    """The places where the learner chose (bool, rows × games)."""
    utilities: Tensor
    """By game: its worth to the learner; 0 where it was cut off."""
    over: Tensor
    """By game: whether it was played to its end."""
    plies: Tensor


class Duels:
    """Plays a learner's games, so many at once."""

    def __init__(
        self, game: Game, games: int, longest: int, learner: Player, device: torch.device, seed: int,
        agents: Agents, setups: str = UNIFORM,
    ) -> None:  # fmt: skip
        """
        longest: steps after which a game is cut off, with nothing won.
        setups: a sampler for both sides, or `OWN`.
        """
        self.game, self.count, self.device, self.seed = game, games, device, seed
        self.learner, self.opponents, self.weights = learner, list[Player](), list[float]()
        self._agents = agents
        chosen = game.setups is not None and game.setups_chosen
        self._setups = setups if chosen and setups != UNIFORM else ""
        self._samplers: dict[str, SetUp] = {}
        # Agents may look at anything that a view can have.
        format = game.format(plies=game.max_plies or longest)
        self.games = Games(
            game, games, longest, lambda sim: Table(self, sim), device, seed, format, captured=False
        )  # fmt: skip
        self.who = torch.zeros((games, 2), dtype=torch.int64, device=device)
        """By game and player: 0 for the learner, 1 for the first opponent, and so on."""
        self.first = 0
        """The number of the first game."""

    @property
    def players(self) -> list[Player]:
        """The learner, and behind it the opponents."""
        return [self.learner, *self.opponents]

    def face(self, opponents: Sequence[Player], weights: Sequence[float]) -> None:
        """Play against these from now on: each is drawn as often as its weight says."""
        if len(weights) != len(opponents) or not all(weight >= 0 for weight in weights) or not sum(weights) > 0:
            raise ConfigurationError(
                f"{len(opponents)} opponents need as many weights, from 0 and not all of them 0, not {list(weights)}"
            )
        self.opponents, self.weights = list(opponents), [weight / sum(weights) for weight in weights]

    def play(self, first_number: int) -> Duel:
        """Play games to their ends, numbered from `first_number`. They lie where those before have lain."""
        if not self.opponents:
            raise ConfigurationError("there is nobody to play against: name opponents, or call `face`")
        numbers = np.arange(first_number, first_number + self.count)
        seats = (drawn(self.seed, numbers, SEAT) & np.uint64(1)).astype(np.int64)
        chances = (drawn(self.seed, numbers, OPPONENT).astype(np.float64) + 0.5) / 2**32
        # The last sum may be rounded below 1.
        chosen = np.searchsorted(np.cumsum(self.weights)[:-1], chances, side="right")
        who = np.zeros((self.count, 2), np.int64)
        who[np.arange(self.count), 1 - seats] = 1 + chosen
        self.who.copy_(torch.from_numpy(who))
        self.first = first_number
        self.rise()
        played = self.games.play(first_number, self._draw_setups(numbers, who))
        ends = self.games.ends
        seat = torch.from_numpy(seats).to(self.device, torch.uint8)
        utilities = torch.where(seat == 0, ends.utilities, -ends.utilities)
        return Duel(played, seat, played.there & (played.players == seat), utilities, ends.over, ends.plies)

    def _draw_setups(self, numbers: Any, who: Any) -> list[Any] | None:
        """Return both players' setups in each game; None where the simulator draws them."""
        seated = any(isinstance(each, Seated) for each in self.players)
        if not self._setups and not seated:
            return None
        seeds = drawn(self.seed, numbers, SETUP)
        found: list[list[Any]] = [[], []]
        chosen = self.game.setups is not None and self.game.setups_chosen
        for number, seed, roles in zip(numbers.tolist(), seeds.tolist(), who, strict=True):
            for player in (0, 1):
                whose, chance = self.players[roles[player]], random.Random(f"{seed} {number} {player}")
                row = self._set_up_of(whose)(player, chance) if chosen else None
                if isinstance(whose, Seated):
                    row = whose.begin(number, player, row, self._setups == OWN, chance)
                found[player].append(row)
        return [np.stack(rows).astype(np.int8) for rows in found] if chosen else None

    def rise(self) -> None:
        """Leave the games that are not over."""
        for each in self.players:
            if isinstance(each, Seated):
                each.rise()

    def _set_up_of(self, player: Player) -> SetUp:
        if self._setups == OWN and player.set_up is not None:
            return player.set_up
        text = "" if self._setups == OWN else self._setups or UNIFORM
        if text not in self._samplers:
            sampler = self._agents.sampler(text, self.game)
            self._samplers[text] = lambda player, chance: sampler(chance)
        return self._samplers[text]


class Table:
    """The games of a simulator, in each of which the learner plays against an opponent."""

    def __init__(self, duels: Duels, sim: Simulator) -> None:
        self.duels, self.sim = duels, sim
        self.actions = torch.empty(sim.n, dtype=torch.int16, device=duels.device)
        self._legal, self._counts = sim.legal_actions()
        self._log_policy = torch.zeros((sim.n, duels.game.max_legal), device=duels.device)
        self._silence = torch.zeros((sim.n, len(duels.game.utilities)), device=duels.device)

    def choose(self) -> Thought:
        """Let everybody choose who is on turn."""
        sim, duels = self.sim, self.duels
        sim.legal_actions(self._legal, self._counts)
        who = duels.who[sim.numbers - duels.first, sim.players.long()].masked_fill(sim.over, -1)
        for number, player in enumerate(duels.players):
            rows = (who == number).nonzero().squeeze(1)
            if len(rows):
                self._log_policy[rows] = player.log_policy(sim, rows, self._legal[rows])
        sim.choose(self._legal, self._log_policy, self.actions)
        return Thought(self._legal, self._counts, self._log_policy, self._silence)

    def step(self) -> None:
        """Play what was chosen."""
        sim, duels = self.sim, self.duels
        for number, player in enumerate(duels.players):
            if isinstance(player, Seated):
                takes_part = (duels.who[sim.numbers - duels.first] == number).any(1)
                player.moved(sim, (takes_part & ~sim.over).nonzero().squeeze(1), self.actions)
        sim.step(self.actions, check=False)
