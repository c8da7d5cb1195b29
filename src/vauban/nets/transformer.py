"""The blocks that all networks are made of: pre-layernorm, ReLU, learned positions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from vauban.errors import ConfigurationError

POSITION_SPREAD = 0.1
"""Standard deviation that learned positions begin with."""


@dataclass(frozen=True)
class Size:
    """The size of a transformer."""

    depth: int
    width: int
    heads: int
    feedforward: int = 4
    """Width of the inner layer of a block, in widths of the stream."""

    def __post_init__(self) -> None:
        if min(self.depth, self.width, self.heads, self.feedforward) < 1 or self.width % self.heads:
            raise ConfigurationError(
                f"a network's width must be a multiple of its heads, and all of them 1 or more: {self}"
            )


def learned_positions(length: int, width: int) -> nn.Parameter:
    """Return a vector to learn for each position."""
    positions = torch.empty(length, width)
    nn.init.trunc_normal_(positions, std=POSITION_SPREAD, a=-2, b=2)
    return nn.Parameter(positions)


def uniform_positions(length: int, width: int) -> nn.Parameter:
    """Return positions as the belief begins with them: weights of a linear layer from one-hot codes."""
    return nn.Parameter(torch.empty(length, width).uniform_(-(length**-0.5), length**-0.5))


class Cache:
    """Keys and values of the positions that a decoder has been through, so that each is computed once."""

    def __init__(self, rows: int, length: int, size: Size, device: torch.device, dtype: torch.dtype) -> None:
        shape = (rows, size.heads, length, size.width // size.heads)
        self.keys = torch.empty(shape, device=device, dtype=dtype)
        self.values = torch.empty(shape, device=device, dtype=dtype)
        self.length = 0

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append the keys and values of further positions; all of them so far."""
        last = self.length + keys.shape[2]
        self.keys[:, :, self.length : last] = keys
        self.values[:, :, self.length : last] = values
        self.length = last
        return self.keys[:, :, :last], self.values[:, :, :last]


class SelfAttention(nn.Module):
    """Every position looks at every other, or (`causal`) at those before it and at itself."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.project = nn.Linear(size.width, 3 * size.width)
        self.out = nn.Linear(size.width, size.width)

    def forward(self, x: Tensor, causal: bool = False, cache: Cache | None = None) -> Tensor:
        """`cache`: x continues the positions in it; one position at a time."""
        rows, length, width = x.shape
        queries, keys, values = self.project(x).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if cache is not None:
            keys, values = cache.extend(keys, values)
        mixed = functional.scaled_dot_product_attention(queries, keys, values, is_causal=causal and cache is None)
        attended: Tensor = self.out(mixed.transpose(1, 2).reshape(rows, length, width))
        return attended


class FeedForward(nn.Module):
    """Two layers on each position by itself."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.widen = nn.Linear(size.width, size.feedforward * size.width)
        self.narrow = nn.Linear(size.feedforward * size.width, size.width)

    def forward(self, x: Tensor) -> Tensor:
        """Return the same shape."""
        narrowed: Tensor = self.narrow(functional.relu(self.widen(x)))
        return narrowed


class Block(nn.Module):
    """Self-attention and feed-forward, each on a normalised copy of the stream and added to it."""

    def __init__(self, size: Size, dropout: float = 0.0) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(size.width)
        self.attention = SelfAttention(size)
        self.feedforward_norm = nn.LayerNorm(size.width)
        self.feedforward = FeedForward(size)
        self.dropout = dropout

    def forward(self, x: Tensor, causal: bool = False, cache: Cache | None = None) -> Tensor:
        """Return the stream after this block."""
        x = x + self._drop(self.attention(self.attention_norm(x), causal, cache))
        return x + self._drop(self.feedforward(self.feedforward_norm(x)))

    def _drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout, self.training) if self.dropout else x
