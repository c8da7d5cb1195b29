"""Beliefs: what the enemy's hidden things may be, given what a player sees.

    belief = UniformBelief(game)                        # or MarginalBelief(game), or a BeliefNetwork
    seen = sim.observe(belief.observation, layout="squares", viewer=0)
    values = belief.sample(seen, uniforms)              # positions × samples × things, for `Simulator.determinise`
    belief.log_likelihood(seen, sim.hidden_values(0))   # of each hidden thing's true kind

All of them name the kinds of the hidden pieces, ghosts and so on one after the other, in the order of their squares in
the viewer's frame, each given those before it. At every one the kinds are masked that would leave no consistent rest
(`vauban.nets.hidden`): so counts come out even, and a piece that has moved is no Flag and no Bomb. A belief is handed
nothing but the observation: where the hidden things stand, what is known of each and how many there are of each kind
is all in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.nets.hidden import Hidden, Kinds, Left, masked_log_policy
from vauban.nets.kinds import register
from vauban.nets.policy import inverse_cdf
from vauban.nets.transformer import Block, Cache, FeedForward, Size, uniform_positions
from vauban.observe import base as observations


class Belief:
    """A distribution over what is hidden from a player."""

    observation: str
    """The observation that `seen` is, in the layout "squares"."""
    pieces: int
    """Most things that can be hidden."""

    def sample(self, seen: Tensor, uniforms: Tensor, *, wait: bool = True) -> Tensor:
        """Draw what the hidden things are (int8, positions × samples × `pieces`, −1 behind the last).

        seen: observations of the positions, by the player whose belief this is.
        uniforms: float32 from 0 to 1 (without 1), positions × samples × `pieces`: what the answer depends on.
        wait=False: do not ask the device how many things are hidden, but go through as many as can be: the same answer.
        """
        raise NotImplementedError


def uniform_belief(game: Game) -> Belief | None:
    """Return the belief that finds everything possible equally likely; None where no observation tells of hidden
    things.
    """
    return None if observations.of_hidden(game) is None else UniformBelief(game)


Speaker = Callable[[int, Tensor, Left], Tensor]
"""(number of the thing, kinds of the one before, what is left) → log-weights, positions × samples × kinds."""


class OrderedBelief(Belief):
    """A belief that names one hidden thing after the other, from which one can draw, and which can be asked."""

    def __init__(self, game: Game) -> None:
        self.kinds = Kinds(game)
        self.observation, self.pieces = self.kinds.observation, self.kinds.things

    @torch.no_grad()
    def sample(self, seen: Tensor, uniforms: Tensor, *, wait: bool = True) -> Tensor:
        """Draw the types of the hidden pieces one after the other, each by what is left."""
        if uniforms.dim() != 3 or len(uniforms) != len(seen) or uniforms.shape[2] != self.pieces:
            raise ConfigurationError(
                f"uniforms must be {len(seen)} (positions) × samples × {self.pieces} (pieces), "
                f"not {tuple(uniforms.shape)}"
            )
        hidden = self.kinds.read(seen)
        samples = uniforms.shape[1]
        values = torch.full(uniforms.shape, -1, dtype=torch.int8, device=seen.device)
        counts = hidden.counts[:, None].expand(-1, samples, -1)
        previous = values[:, :, 0]
        speak = self._speaker(seen, hidden, samples)
        for piece in range(int(hidden.present.sum(1).max()) if wait else self.pieces):
            left = Left(counts, hidden.bound[:, piece, None], hidden.unbound[:, piece, None])
            log_policy = masked_log_policy(speak(piece, previous, left), self.kinds.allowed(left))
            drawn = inverse_cdf(log_policy, uniforms[:, :, piece])
            previous = torch.where(hidden.present[:, piece, None], drawn, -1)
            values[:, :, piece] = previous
            counts = counts - self.kinds.one_hot(previous)
        return values

    @torch.no_grad()
    def log_likelihood(self, seen: Tensor, values: Tensor) -> Tensor:
        """With which log-probability `sample` names each of these types after those before (positions × `pieces`).

        values: as `Simulator.hidden_values` has them, −1 behind the last.
        Float32; 0 behind the last, −inf for what cannot be.
        """
        hidden = self.kinds.read(seen)
        values = self._fitted(values)
        given = self.kinds.one_hot(values)
        counts = hidden.counts[:, None] - (given.cumsum(1) - given)
        left = Left(counts, hidden.bound, hidden.unbound)
        log_policy = masked_log_policy(self._log_weights(seen, hidden, values, left), self.kinds.allowed(left))
        chosen = log_policy.gather(2, values.clamp_min(0)[:, :, None])[:, :, 0]
        return torch.where(hidden.present, chosen, 0.0)

    def _fitted(self, values: Tensor) -> Tensor:
        """Return the values as int64 of `pieces` columns."""
        values = values[:, : self.pieces].long()
        return functional.pad(values, (0, self.pieces - values.shape[1]), value=-1)

    def _speaker(self, seen: Tensor, hidden: Hidden, samples: int) -> Speaker:
        """Return a function that gives the log-weights of one piece after the other."""
        raise NotImplementedError

    def _log_weights(self, seen: Tensor, hidden: Hidden, values: Tensor, left: Left) -> Tensor:
        """Return the log-weights of all pieces, each given the values before it: positions × things × kinds."""
        raise NotImplementedError


class UniformBelief(OrderedBelief):
    """All consistent assignments are equally likely."""

    def _speaker(self, seen: Tensor, hidden: Hidden, samples: int) -> Speaker:
        return lambda piece, previous, left: self.kinds.uniform_chances(left).log()

    def _log_weights(self, seen: Tensor, hidden: Hidden, values: Tensor, left: Left) -> Tensor:
        return self.kinds.uniform_chances(left).log()


class MarginalBelief(OrderedBelief):
    """Each piece by itself as the observation gives its chances; only what cannot be is ruled out on the way."""

    def _speaker(self, seen: Tensor, hidden: Hidden, samples: int) -> Speaker:
        log_chances = hidden.chances.log()
        return lambda piece, previous, left: log_chances[:, piece, None].expand(-1, samples, -1)

    def _log_weights(self, seen: Tensor, hidden: Hidden, values: Tensor, left: Left) -> Tensor:
        return hidden.chances.log()


class MemoryAttention(nn.Module):
    """Every position looks at a memory, whose keys and values are made once."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.query = nn.Linear(size.width, size.width)
        self.project = nn.Linear(size.width, 2 * size.width)
        self.out = nn.Linear(size.width, size.width)

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys and values of a memory."""
        rows, length, _ = memory.shape
        keys, values = self.project(memory).view(rows, length, 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        return keys, values

    def forward(self, x: Tensor, memory: tuple[Tensor, Tensor], visible: Tensor) -> Tensor:
        """`memory`: as `remember` made it. `visible`: which of its positions are looked at (bool, rows × length)."""
        rows, length, width = x.shape
        queries = self.query(x).view(rows, length, self.heads, -1).transpose(1, 2)
        mixed = functional.scaled_dot_product_attention(queries, *memory, attn_mask=visible[:, None, None, :])
        attended: Tensor = self.out(mixed.transpose(1, 2).reshape(rows, length, width))
        return attended


class MemoryBlock(nn.Module):
    """Attention to a memory and feed-forward, each on a normalised copy of the stream and added to it."""

    def __init__(self, size: Size, dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(size.width)
        self.attention = MemoryAttention(size)
        self.feedforward_norm = nn.LayerNorm(size.width)
        self.feedforward = FeedForward(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, memory: tuple[Tensor, Tensor], visible: Tensor) -> Tensor:
        """Return the stream after this block."""
        x = x + self.dropout(self.attention(self.attention_norm(x), memory, visible))
        widened: Tensor = x + self.dropout(self.feedforward(self.feedforward_norm(x)))
        return widened


@dataclass(frozen=True)
class BeliefNetworkConfig:
    """Settings of a belief network."""

    size: Size
    decoder_depth: int
    dropout: float = 0.2


@register("belief", BeliefNetworkConfig)
class BeliefNetwork(nn.Module, OrderedBelief):
    """An encoder over the occupiable squares, and a decoder that names the hidden pieces one after the other.

    The decoder looks at the encoder's tokens of the squares on which hidden pieces stand, and at the types it has
    named. Dropout is for training alone: `sample` and `log_likelihood` do without, in whatever mode the network is.
    """

    def __init__(self, game: Game, size: Size, decoder_depth: int, dropout: float = 0.2) -> None:
        nn.Module.__init__(self)
        OrderedBelief.__init__(self, game)
        if decoder_depth < 1 or not 0 <= dropout < 1:
            raise ConfigurationError(
                f"a belief network has 1 or more decoder blocks, not {decoder_depth}, "
                f"and a dropout from 0 to below 1, not {dropout}"
            )
        self.config = BeliefNetworkConfig(size, decoder_depth, dropout)
        self.size = size
        squares = game.board[0] * game.board[1]
        occupiable = [square for square in range(squares) if square not in game.barred]
        token = torch.zeros(squares, dtype=torch.int64)
        token[occupiable] = torch.arange(len(occupiable))
        self.embed = nn.Linear(observations.find(game, self.observation).channels(game), size.width)
        self.positions = uniform_positions(len(occupiable), size.width)
        self.encoder = nn.ModuleList(Block(size, dropout) for _ in range(size.depth))
        self.memory_norm = nn.LayerNorm(size.width)
        self.embed_type = nn.Linear(self.kinds.count, size.width)
        self.order = uniform_positions(self.pieces, size.width)
        self.decoder = nn.ModuleList(Block(size, dropout) for _ in range(decoder_depth))
        self.recall = nn.ModuleList(MemoryBlock(size, dropout) for _ in range(decoder_depth))
        self.norm = nn.LayerNorm(size.width)
        self.types = nn.Linear(size.width, self.kinds.count)
        self.occupiable: Tensor
        self.token_of_square: Tensor
        self.register_buffer("occupiable", torch.tensor(occupiable), persistent=False)
        self.register_buffer("token_of_square", token, persistent=False)

    def forward(self, seen: Tensor, hidden: Hidden, values: Tensor) -> Tensor:
        """Return the logits of each hidden piece's type by the values before it: positions × `pieces` × kinds.

        values: as `Simulator.hidden_values` has them. Nothing is masked; rows behind the last piece mean nothing.
        """
        memory, visible = self._remember(seen, hidden)
        given = self.kinds.one_hot(self._fitted(values))
        before = functional.pad(given, (0, 0, 1, 0))[:, :-1]
        x = self.embed_type(before.to(memory.dtype)) + self.order
        for own, recall, known in zip(self.decoder, self.recall, self._keys_and_values(memory), strict=True):
            x = recall(own(x, causal=True), known, visible)
        logits: Tensor = self.types(self.norm(x))
        return logits

    def _remember(self, seen: Tensor, hidden: Hidden) -> tuple[Tensor, Tensor]:
        """Return the encoder's tokens of the hidden pieces, and which of them are to be looked at."""
        x = self.embed(seen.to(self.embed.weight.dtype))[:, self.occupiable] + self.positions
        for block in self.encoder:
            x = block(x)
        tokens = self.token_of_square[hidden.squares]
        memory: Tensor = self.memory_norm(x.gather(1, tokens[:, :, None].expand(-1, -1, x.shape[2])))
        # Attention to nothing is NaN in some kernels: where nothing is hidden the first row stands in, and is not used.
        visible = hidden.present.clone()
        visible[:, 0] = True
        return memory, visible

    def _keys_and_values(self, memory: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return the keys and values that each block of the decoder takes from the memory."""
        return [cast(MemoryBlock, recall).attention.remember(memory) for recall in self.recall]

    def sample(self, seen: Tensor, uniforms: Tensor, *, wait: bool = True) -> Tensor:
        with self._without_dropout():
            return super().sample(seen, uniforms, wait=wait)

    def log_likelihood(self, seen: Tensor, values: Tensor) -> Tensor:
        with self._without_dropout():
            return super().log_likelihood(seen, values)

    def _speaker(self, seen: Tensor, hidden: Hidden, samples: int) -> Speaker:
        memory, visible = self._remember(seen, hidden)
        rows, dtype = len(seen) * samples, memory.dtype
        memories = self._keys_and_values(memory)
        caches = [Cache(rows, self.pieces, self.size, memory.device, dtype) for _ in self.decoder]

        def speak(piece: int, previous: Tensor, left: Left) -> Tensor:
            x = self.embed_type(self.kinds.one_hot(previous).to(dtype)) + self.order[piece]
            for own, recall, cache, known in zip(self.decoder, self.recall, caches, memories, strict=True):
                x = own(x.view(rows, 1, -1), cache=cache)
                # All samples of a position look at the same memory, so they are its queries side by side.
                x = recall(x.view(len(seen), samples, -1), known, visible)
            logits: Tensor = self.types(self.norm(x))
            return logits

        return speak

    def _log_weights(self, seen: Tensor, hidden: Hidden, values: Tensor, left: Left) -> Tensor:
        logits: Tensor = self(seen, hidden, values)
        return logits

    @contextmanager
    def _without_dropout(self) -> Iterator[None]:
        training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(training)
