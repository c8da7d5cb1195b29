"""The published network of Pipeline PSRO for Barrage: a stack of 3 × 3 convolutions, and one more for the moves.

Each of its last filters is a square to go to, and each place in a filter the square that the piece comes from. The
outcome is read off the mean over all squares, which the published network did not need.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.nets.kinds import register
from vauban.nets.policy import PolicyNetwork
from vauban.observe import base as observations


@dataclass(frozen=True)
class StackNetworkConfig:
    """Settings of a stack of convolutions; the published ones."""

    first: int = 128
    """Filters of the first convolution,"""
    width: int = 256
    """and of the others."""
    depth: int = 7
    """Number of convolutions, without the one for the moves."""
    observation: str = ""
    """The observation that it sees; empty: the default one of the game."""

    def __post_init__(self) -> None:
        if min(self.first, self.width, self.depth) < 1:
            raise ConfigurationError(f"a stack of convolutions has a first, a width and a depth from 1: {self}")


@register("stack", StackNetworkConfig)
class StackNetwork(PolicyNetwork):
    """Chooses moves and foresees the outcome, by convolutions alone."""

    def __init__(self, game: Game, first: int = 128, width: int = 256, depth: int = 7, observation: str = "") -> None:
        super().__init__()
        if game.moves is None:
            raise ConfigurationError(f"a stack of convolutions needs a board, and {game.name!r} has none")
        self.observation = observation or observations.default(game).name
        self.config = StackNetworkConfig(first, width, depth, self.observation)
        self.board = game.board
        squares = game.board[0] * game.board[1]
        widths = [observations.find(game, self.observation).channels(game), first, *[width] * (depth - 1)]
        self.layers = nn.ModuleList(nn.Conv2d(before, after, 3, padding=1) for before, after in pairwise(widths))
        self.moves = nn.Conv2d(widths[-1], squares, 3, padding=1)
        self.outcome = nn.Linear(widths[-1], len(game.utilities))
        moves = torch.as_tensor(game.moves)
        # A step off the board has its source twice, a pair that no move has.
        source, target = moves[:, 0], torch.where(moves[:, 1] < 0, moves[:, 0], moves[:, 1])
        self.register_buffer("choice_of_action", (target * squares + source).long(), persistent=False)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of going to each square from each, and of the outcome."""
        x = seen.transpose(1, 2).reshape(len(seen), -1, *self.board)
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.moves(x).flatten(1), self.outcome(x.mean((2, 3)))
