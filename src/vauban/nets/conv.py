"""The published network of Deep CFR for Geister: a small convolution, then fully connected layers.

A 2 × 2 convolution without padding and a 1 × 1 one, both with tanh; layers x ← ReLU(Ax + b [+ x]), with the skip where
widths agree; batch normalisation; outputs. It knows nothing of outcomes: it foresees all of them alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.nets.kinds import register
from vauban.nets.policy import PolicyNetwork
from vauban.observe import base as observations


@dataclass(frozen=True)
class ConvNetworkConfig:
    """Settings of a convolutional network; the published ones."""

    channels: int = 16
    """Of both convolutions."""
    width: int = 64
    """Of the fully connected layers."""
    depth: int = 3
    """Number of these."""
    pieces: int = 8
    """Most pieces of a player. Each has outputs of its own, one for each direction: the first piece from the top left,
    the second, and so on. 0: an output for every action instead."""
    observation: str = ""
    """Its observation; empty: the default one of the game."""

    def __post_init__(self) -> None:
        if min(self.channels, self.width, self.depth) < 1 or self.pieces < 0:
            raise ConfigurationError(
                f"channels, width and depth of a convolutional network are 1 or more, pieces 0 or more: {self}"
            )


@register("conv", ConvNetworkConfig)
class ConvNetwork(PolicyNetwork):
    """Values of actions, or logits of a policy, from a board's planes."""

    def __init__(
        self, game: Game, channels: int = 16, width: int = 64, depth: int = 3, pieces: int = 8, observation: str = ""
    ) -> None:
        super().__init__()
        if game.moves is None or min(game.board) < 2:
            raise ConfigurationError(
                f"a convolutional network needs a board of 2 × 2 or more, and {game.name!r} has none"
            )
        self.observation = observation or observations.default(game).name
        self.config = ConvNetworkConfig(channels, width, depth, pieces, self.observation)
        found = observations.find(game, self.observation)
        self.board = game.board
        self.utilities = len(game.utilities)
        rows, columns = game.board
        self.directions = game.action_count // (rows * columns)
        if pieces:
            _check_pieces(game, found)
        patches = (rows - 1) * (columns - 1)
        widths = [patches * channels, *[width] * depth]
        self.squares = nn.Conv2d(found.channels(game), channels, 2)
        self.mixed = nn.Conv2d(channels, channels, 1)
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.norm = nn.BatchNorm1d(width)
        self.output = nn.Linear(width, pieces * self.directions if pieces else game.action_count)
        self.own: Tensor
        self.register_buffer("own", torch.tensor(found.pieces, dtype=torch.int64), persistent=False)
        self.register_buffer("choice_of_action", torch.arange(game.action_count), persistent=False)
        self.square_of_action: Tensor
        self.register_buffer("square_of_action", self.choice_of_action // max(self.directions, 1), persistent=False)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return an output for each action, −∞ where none of the own pieces is; and that of the outcomes, all 0."""
        choices = outputs = self._outputs(seen)
        if self.config.pieces:
            there, piece = self._pieces(seen)
            directions = outputs.view(len(seen), self.config.pieces, self.directions)
            spread = directions.gather(1, piece[:, :, None].expand(-1, -1, self.directions))
            choices = spread.masked_fill(~there[:, :, None], -torch.inf).flatten(1)
        return choices, outputs.new_zeros(len(seen), self.utilities)

    def of_legal(self, seen: Tensor, legal: Tensor) -> Tensor:
        outputs, place = self._outputs(seen), legal.long().clamp_min(0)
        if self.config.pieces:
            _, piece = self._pieces(seen)
            shift = self.directions * (piece - torch.arange(piece.shape[1], device=piece.device))
            place = place + shift.gather(1, self.square_of_action[place])
        return outputs.gather(1, place)

    def _outputs(self, seen: Tensor) -> Tensor:
        """Return the outputs of each piece, or of each action, as they leave the last layer."""
        x = tanh(functional.linear(self._patches(seen), self._kernel(), self.squares.bias))
        x = tanh(functional.linear(x, self.mixed.weight.flatten(1), self.mixed.bias))
        x = x.view(len(seen), -1)
        for number, layer in enumerate(self.layers):
            after = layer(x) if number else self._first(x)
            x = torch.relu(after + x if after.shape == x.shape else after)
        outputs: Tensor = self.output(self.norm(x))
        return outputs

    def _patches(self, seen: Tensor) -> Tensor:
        """Return what the convolution sees at each of its places, one below the other.

        Channels come last in observations. A product of matrices takes them as they are, and on a CPU it takes less
        time than moving them for torch's convolution, and its gradient.
        """
        rows, columns = self.board
        squares = seen.reshape(len(seen), rows, columns, -1)
        corners = [squares[:, i : rows - 1 + i, j : columns - 1 + j] for i in (0, 1) for j in (0, 1)]
        return torch.cat(corners, 3).flatten(0, 2)

    def _kernel(self) -> Tensor:
        """Return the weights of the convolution in the order of `_patches`."""
        return self.squares.weight.permute(0, 2, 3, 1).flatten(1)

    def _first(self, x: Tensor) -> Tensor:
        """Return what the first layer makes of the convolution's outputs, whose channels come last.

        Its weights, which are far fewer than these, are put in that order.
        """
        layer = self.layers[0]
        assert isinstance(layer, nn.Linear)
        weight = layer.weight.view(layer.out_features, self.config.channels, -1).transpose(1, 2).flatten(1)
        return functional.linear(x, weight, layer.bias)

    def _pieces(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return by square whether an own piece is there, and its number from the top left."""
        there = seen.index_select(2, self.own).sum(2) > 0
        return there, (there.cumsum(1) - 1).clamp(0, self.config.pieces - 1)


class _Tanh(torch.autograd.Function):
    """2 / (1 + e⁻²ˣ) − 1, which torch computes on a CPU in a fifth of the time that its own tanh takes."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return torch.sigmoid(2 * x).mul_(2).sub_(1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        result: Tensor = torch.ops.aten.tanh_backward(gradient, y)
        return result


def tanh(x: Tensor) -> Tensor:
    """Return the hyperbolic tangent, to the rounding of float32."""
    if x.is_cuda:
        return torch.tanh(x)
    y: Tensor = _Tanh.apply(x)  # type: ignore[no-untyped-call]
    return y


def _check_pieces(game: Game, observation: observations.Observation) -> None:
    """Refuse an observation that does not show the own pieces, and actions that are not a square and a direction."""
    if not observation.pieces:
        raise ConfigurationError(
            f"the observation {observation.name!r} does not say which channels show the own pieces, so they cannot "
            "have outputs of their own: set pieces to 0, for an output for every action"
        )
    rows, columns = game.board
    directions, left = divmod(game.action_count, rows * columns)
    sources = torch.as_tensor(game.moves)[:, 0]
    if left or not bool((sources == torch.arange(game.action_count) // max(directions, 1)).all()):
        raise ConfigurationError(
            f"actions of {game.name!r} are not numbered by square and direction: set pieces to 0, for an output for "
            "every action"
        )
