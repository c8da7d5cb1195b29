"""The setup network: a decoder that sets up a player's pieces one square after the other.

The squares are those of the player's own rows, the back row first and each row from the left, which is the order of a
setup's row. Before each square the network has seen what stands on the ones before it, and gives the probabilities of
what to place there, of the outcomes of the game, and how much is still undecided. An empty square is placed like a
piece, so that every variant fits; what is used up has probability 0, so that every sample is a setup of its variant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from vauban.errors import ConfigurationError, SetupError
from vauban.games.base import Game
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES, TYPES
from vauban.nets.kinds import register
from vauban.nets.policy import inverse_cdf
from vauban.nets.transformer import Block, Cache, Size, learned_positions

EMPTY = len(TYPES) + 1
"""Kinds that can be placed: the types 0 to 11; 12, a lake, which never is; and this, nothing."""
KINDS = EMPTY + 1
ENTROPY_SCALE = 10.0
"""The entropy head gives nats divided by this."""
REDRAWS = 100
"""Most times that setups which leave their owner without a move are drawn again."""


class Heads(NamedTuple):
    """The network's answer before each square."""

    log_policy: Tensor
    """Logarithm of the probability of each kind: n × squares × 14, float32, −inf for what cannot be placed there."""
    outcome: Tensor
    """Logits of the outcome for the owner: n × squares × `game.utilities`, the worst first."""
    entropy: Tensor
    """Entropy of what is undecided of the setup (nats / 10): n × squares."""


class Sampled(NamedTuple):
    """Setups that a network has drawn, and what it said while drawing them (float32)."""

    setups: Tensor
    """As a simulator takes them: int8, n × squares, 0 for nothing, 1 + type."""
    pieces: Tensor
    """The kinds as the network placed them (int64, n × squares): the setup may be their mirror image."""
    log_policy: Tensor
    """As in `Heads`."""
    outcome: Tensor
    """Probabilities of the outcomes: n × squares × `game.utilities`."""
    entropy: Tensor
    """As in `Heads`."""


@dataclass(frozen=True)
class SetupNetworkConfig:
    """Settings of a setup network."""

    size: Size
    count_prior: bool = False
    """Weigh each kind by how many of it are left to place."""
    flag_side: bool = False
    """Place the Flag in the right half only, and leave the left to mirroring."""


@register("setup", SetupNetworkConfig, family="stratego")
class SetupNetwork(nn.Module):
    """Sets up the pieces of a variant."""

    def __init__(self, game: Stratego, size: Size, *, count_prior: bool = False, flag_side: bool = False) -> None:
        """count_prior: weigh each kind by how many of it are left to place (published weights were trained so).
        flag_side: place the Flag in the right half only, and leave the left to mirroring (likewise).
        """
        super().__init__()
        if game.setup_size == 0:
            raise ConfigurationError(f"a setup network needs setups, and {game.name!r} has none")
        variant = game.variant
        self.config = SetupNetworkConfig(size, count_prior, flag_side)
        self.game = game
        self.size = size
        self.count_prior = count_prior
        self.flag_side = flag_side
        self.squares = game.setup_size
        self.embed = nn.Linear(KINDS, size.width)
        self.positions = learned_positions(self.squares, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.depth))
        self.norm = nn.LayerNorm(size.width)
        self.outcome = nn.Linear(size.width, len(game.utilities))
        self.entropy = nn.Linear(size.width, 1)
        self.piece = nn.Linear(size.width, KINDS)

        counts = torch.tensor([*variant.army, 0, self.squares - variant.pieces])
        barred = torch.zeros(self.squares, KINDS, dtype=torch.bool)
        barred[:, FLAG] = flag_side & (torch.arange(self.squares) % variant.columns < variant.columns // 2)
        self.counts: Tensor
        self.barred: Tensor
        self.register_buffer("counts", counts, persistent=False)
        self.register_buffer("barred", barred, persistent=False)

    def forward(self, pieces: Tensor) -> Heads:
        """Answer before each square of whole setups (int64, n × squares), in one pass."""
        placed = functional.one_hot(pieces, KINDS)
        remaining = self.counts - (placed.cumsum(1) - placed)
        # The network sees the squares before each one; before the first it sees nothing.
        before = functional.pad(placed[:, :-1], (0, 0, 1, 0))
        x = self.embed(before.to(self.embed.weight.dtype)) + self.positions
        for block in self.blocks:
            x = block(x, causal=True)
        return self._heads(x, remaining, self.barred)

    @torch.no_grad()
    def sample(self, uniforms: Tensor) -> Sampled:
        """Draw setups: one uniform number in [0, 1) decides each square (float64, n × squares)."""
        rows = len(uniforms)
        device, dtype = self.positions.device, self.positions.dtype
        uniforms = uniforms.to(device)
        caches = [Cache(rows, self.squares, self.size, device, dtype) for _ in self.blocks]
        remaining = self.counts.expand(rows, KINDS)
        before = torch.zeros(rows, 1, KINDS, device=device, dtype=dtype)
        pieces, said = [], []
        for square in range(self.squares):
            x = self.embed(before) + self.positions[square]
            for block, cache in zip(self.blocks, caches, strict=True):
                x = block(x, cache=cache)
            heads = self._heads(x, remaining[:, None], self.barred[square])
            piece = inverse_cdf(heads.log_policy[:, 0], uniforms[:, square])
            placed = functional.one_hot(piece, KINDS)
            remaining = remaining - placed
            before = placed[:, None].to(dtype)
            pieces.append(piece)
            said.append(heads)
        placements = torch.stack(pieces, 1)
        log_policy, outcome, entropy = (torch.cat(each, 1) for each in zip(*said, strict=True))
        return Sampled(setups_of(placements), placements, log_policy, outcome.float().softmax(-1), entropy.float())

    def draw(self, count: int, rng: np.random.Generator, sample: Callable[[Tensor], Sampled] | None = None) -> Sampled:
        """Draw setups to play with: each mirrored with probability ½, and none that leaves its owner without a move.

        sample: how to run `sample`, if it is not to be called as it is.
        """
        sample = sample or self.sample
        drawn = self._draw(count, rng, sample)
        stuck = self._stuck(drawn)
        for _ in range(REDRAWS):
            if len(stuck) == 0:
                break
            # As many as before, though few are needed: a GPU prepares itself anew for every other number.
            again = self._draw(count, rng, sample)
            for part, new in zip(drawn, again, strict=True):
                part[stuck] = new[: len(stuck)]
            stuck = self._stuck(drawn)
        if len(stuck):
            raise SetupError(
                f"of {count} setups drawn for {self.game.name!r}, {len(stuck)} leave their owner without a move, "
                f"however often they are drawn again ({REDRAWS} times): this network cannot set up"
            )
        return drawn

    def _stuck(self, drawn: Sampled) -> Tensor:
        """Return the rows of setups that leave their owner without a move."""
        return (~can_move_first(self.game, drawn.setups)).nonzero()[:, 0]

    def _draw(self, count: int, rng: np.random.Generator, sample: Callable[[Tensor], Sampled]) -> Sampled:
        drawn = sample(torch.from_numpy(rng.random((count, self.squares))))
        turned = torch.from_numpy(rng.random(count) < 0.5).to(drawn.setups.device)
        setups = torch.where(turned[:, None], mirrored(self.game, drawn.setups), drawn.setups)
        return drawn._replace(setups=setups)

    def _heads(self, x: Tensor, remaining: Tensor, barred: Tensor) -> Heads:
        x = self.norm(x)
        logits = self.piece(x).float().masked_fill((remaining <= 0) | barred, -torch.inf)
        if self.count_prior:
            logits = logits + remaining.clamp_min(1).log()
        return Heads(logits.log_softmax(-1), self.outcome(x), self.entropy(x)[..., 0])


def setups_of(pieces: Tensor) -> Tensor:
    """Return the rows of setups (int8) of kinds placed; the inverse of `pieces_of`."""
    return torch.where(pieces == EMPTY, 0, pieces + 1).to(torch.int8)


def pieces_of(setups: Tensor) -> Tensor:
    """Return the kinds (int64) on the squares of setups; the inverse of `setups_of`."""
    return torch.where(setups == 0, EMPTY, setups.long() - 1)


def setups_of_starts(game: Game, starts: Tensor) -> tuple[Tensor, Tensor]:
    """The setups of both players (int8) that games began from; `Setups.of_starts` on the device where they are."""
    squares = game.setup_size
    second = starts[:, starts.shape[1] - squares :].flip(1)
    second = torch.where(second > 0, second - len(TYPES), second)
    return starts[:, :squares].to(torch.int8), second.to(torch.int8)


def mirrored(game: Stratego, setups: Tensor) -> Tensor:
    """Setups, or kinds placed, with left and right exchanged."""
    return setups.view(len(setups), game.variant.setup_rows, game.variant.columns).flip(2).flatten(1)


def can_move_first(game: Stratego, setups: Tensor) -> Tensor:
    """Setups with a piece that can move at the start of a game, whatever the opponent sets up (bool)."""
    variant = game.variant
    codes = setups.view(len(setups), variant.setup_rows, variant.columns)
    movable = (codes > 0) & (codes <= MOVABLE_TYPES)
    front = range(variant.setup_rows * variant.columns, (variant.setup_rows + 1) * variant.columns)
    ahead = torch.tensor([square not in variant.lakes for square in front], device=setups.device)
    free = torch.cat([codes == 0, ahead.expand(len(setups), 1, -1)], 1)
    moves = [
        movable & free[:, 1:],
        movable[:, 1:] & free[:, :-2],
        movable[:, :, 1:] & free[:, :-1, :-1],
        movable[:, :, :-1] & free[:, :-1, 1:],
    ]
    return torch.stack([each.flatten(1).any(1) for each in moves]).any(0)
