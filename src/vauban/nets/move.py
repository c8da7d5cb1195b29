"""The move network: an encoder over the occupiable squares and a value token.

A square's logit of moving to another is the product of its query with the other's key, so that one pair of small
layers serves all moves. The outcome is read off the value token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vauban.errors import ConfigurationError
from vauban.games.stratego.game import Stratego
from vauban.nets.policy import PolicyNetwork
from vauban.nets.transformer import Block, Size, learned_positions
from vauban.observe import base as observations


@dataclass(frozen=True)
class MoveNetworkConfig:
    """What a move network is built from, beside the game."""

    size: Size
    observation: str = "ataraxos"


class MoveNetwork(PolicyNetwork):
    """Chooses moves and foresees the outcome, from the observation of the player on turn."""

    def __init__(self, game: Stratego, size: Size, observation: str = "ataraxos") -> None:
        super().__init__()
        if game.board == (1, 1):
            raise ConfigurationError(f"a move network needs a board, and {game.name!r} has none")
        variant = game.variant
        self.observation = observation
        occupiable = [square for square in range(variant.squares) if square not in variant.lakes]
        self.embed = nn.Linear(observations.find(game, observation).channels(game), size.width)
        self.positions = learned_positions(1 + len(occupiable), size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.depth))
        self.norm = nn.LayerNorm(size.width)
        self.source_and_target = nn.Linear(size.width, 2 * size.width)
        self.outcome = nn.Linear(size.width, len(game.utilities))
        self.occupiable: Tensor
        self.register_buffer("occupiable", torch.tensor(occupiable), persistent=False)
        self.register_buffer("choice_of_action", _choices(game, occupiable), persistent=False)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of moving from each occupiable square to each, and of the outcome."""
        squares = self.embed(seen)[:, self.occupiable] + self.positions[1:]
        value = self.positions[:1].expand(len(seen), 1, -1)
        x = torch.cat([value, squares], 1)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        source, target = self.source_and_target(x[:, 1:]).chunk(2, -1)
        choices = source @ target.transpose(1, 2) / math.sqrt(source.shape[-1])
        return choices.flatten(1), self.outcome(x[:, 0])


def _choices(game: Stratego, occupiable: list[int]) -> Tensor:
    """Which pair of occupiable squares each action is; 0 for those into a lake, which are never legal."""
    place = {square: index for index, square in enumerate(occupiable)}
    choices = torch.zeros(game.action_count, dtype=torch.int64)
    for action in range(game.action_count):
        source, target = game.decode(0, action)
        if source in place and target in place:
            choices[action] = place[source] * len(occupiable) + place[target]
    return choices
