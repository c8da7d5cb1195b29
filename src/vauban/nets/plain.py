"""The network of games without a board (poker, matrices): layers over the information state.

Of a board, which other kinds of networks suit better, it sees all squares side by side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from vauban.games.base import Game
from vauban.nets.kinds import register
from vauban.nets.policy import PolicyNetwork
from vauban.nets.transformer import Size
from vauban.observe import base as observations


@dataclass(frozen=True)
class PlainNetworkConfig:
    """Settings of a plain network."""

    size: Size
    observation: str = ""
    """Its observation; empty: the default one of the game."""


@register("plain", PlainNetworkConfig)
class PlainNetwork(PolicyNetwork):
    """Chooses actions and foresees the outcome, by layers over the whole observation."""

    def __init__(self, game: Game, size: Size, observation: str = "") -> None:
        super().__init__()
        self.observation = observation or observations.default(game).name
        self.config = PlainNetworkConfig(size, self.observation)
        channels = observations.find(game, self.observation).channels(game)
        self.embed = nn.Linear(math.prod(game.board) * channels, size.width)
        self.layers = nn.ModuleList(nn.Linear(size.width, size.width) for _ in range(size.depth))
        self.policy = nn.Linear(size.width, game.action_count)
        self.outcome = nn.Linear(size.width, len(game.utilities))
        self.register_buffer("choice_of_action", torch.arange(game.action_count), persistent=False)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the actions and of the outcome."""
        x = functional.relu(self.embed(seen.flatten(1)))
        for layer in self.layers:
            x = x + functional.relu(layer(x))
        return self.policy(x), self.outcome(x)
