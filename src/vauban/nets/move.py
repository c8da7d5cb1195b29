"""The move network: an encoder over the occupiable squares and a value token.

A square's logit of moving to another is the product of its query with the other's key, so that one pair of small
layers serves all moves. The outcome is read off the value token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.nets.kinds import register
from vauban.nets.policy import PolicyNetwork
from vauban.nets.transformer import Block, Size, learned_positions
from vauban.observe import base as observations


@dataclass(frozen=True)
class MoveNetworkConfig:
    """Settings of a move network."""

    size: Size
    observation: str = ""
    """Its observation; empty: the default one of the game."""


@register("move", MoveNetworkConfig)
class MoveNetwork(PolicyNetwork):
    """Chooses moves and foresees the outcome, from the observation of the player on turn."""

    def __init__(self, game: Game, size: Size, observation: str = "") -> None:
        super().__init__()
        if game.moves is None:
            raise ConfigurationError(f"a move network needs a board, and {game.name!r} has none")
        self.observation = observation or observations.default(game).name
        self.config = MoveNetworkConfig(size, self.observation)
        occupiable = [square for square in range(game.board[0] * game.board[1]) if square not in game.barred]
        self.embed = nn.Linear(observations.find(game, self.observation).channels(game), size.width)
        self.positions = learned_positions(1 + len(occupiable), size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.depth))
        self.norm = nn.LayerNorm(size.width)
        self.source_and_target = nn.Linear(size.width, 2 * size.width)
        self.outcome = nn.Linear(size.width, len(game.utilities))
        self.occupiable: Tensor
        self.register_buffer("occupiable", torch.tensor(occupiable), persistent=False)
        self.register_buffer(
            "choice_of_action", _choices(game.moves, game.board[0] * game.board[1], occupiable), persistent=False
        )

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of moving from each occupiable square to each, and of the outcome."""
        squares = self.embed(seen)[:, self.occupiable] + self.positions[1:]
        value = self.positions[:1].expand(len(seen), 1, -1)
        x = torch.cat([value, squares], 1)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        source, target = self.source_and_target(x[:, 1:]).chunk(2, -1)
        choices = source @ target.transpose(1, 2) / math.sqrt(source.shape[-1])
        return choices.flatten(1), self.outcome(x[:, 0])


def _choices(moves: npt.NDArray[np.int64], squares: int, occupiable: list[int]) -> Tensor:
    """Return the pair of occupiable squares of each action.

    A step off the board (target −1) has its source twice, a pair that no move has. Actions that leave the occupiable
    squares otherwise are never legal, and have the pair 0.
    """
    place = np.full(squares, -1)
    place[occupiable] = np.arange(len(occupiable))
    source, target = place[moves[:, 0]], place[np.where(moves[:, 1] < 0, moves[:, 0], moves[:, 1])]
    return torch.from_numpy(np.where((source < 0) | (target < 0), 0, source * len(occupiable) + target))
