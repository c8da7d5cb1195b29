"""The setup network: a decoder that fills a player's setup one place after the other.

Places are in the order of a setup's row; in Stratego these are the squares of the player's own rows, the back row first
and each row from the left. Before each place the network has seen what stands on the ones before it, and gives the
probabilities of what to put there, of the outcomes of the game, and how much is still undecided. What is used up has
probability 0, so every sample is a setup of its game: an order of the kinds that all its setups have (`Setups.kinds`).
An empty square is one of these.
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
from vauban.games.base import Game, Setups
from vauban.nets.kinds import register
from vauban.nets.policy import inverse_cdf
from vauban.nets.transformer import Block, Cache, Size, learned_positions

ENTROPY_SCALE = 10.0
"""The entropy head gives nats divided by this."""
REDRAWS = 100
"""Most times that setups which leave their owner without a move are drawn again."""


def learnable(game: Game) -> Setups | None:
    """Return the setups of a game if a network can learn them: players choose them, and all are of the same kinds."""
    setups = game.setups
    return setups if setups is not None and setups.kinds and game.setups_chosen else None


class Heads(NamedTuple):
    """The network's answer before each square."""

    log_policy: Tensor
    """Logarithm of the probability of each kind: n × places × kinds, float32, −inf for what cannot be placed there."""
    outcome: Tensor
    """Logits of the outcome for the owner: n × places × `game.utilities`, the worst first."""
    entropy: Tensor
    """Entropy of what is undecided of the setup (nats / 10): n × places."""


class Sampled(NamedTuple):
    """Setups that a network has drawn, and what it said while drawing them (float32)."""

    setups: Tensor
    """As a simulator takes them: int8, n × places."""
    pieces: Tensor
    """The kinds as the network placed them (int64, n × places): the setup may be their mirror image."""
    log_policy: Tensor
    """As in `Heads`."""
    outcome: Tensor
    """Probabilities of the outcomes: n × places × `game.utilities`."""
    entropy: Tensor
    """As in `Heads`."""


@dataclass(frozen=True)
class SetupNetworkConfig:
    """Settings of a setup network."""

    size: Size
    count_prior: bool = False
    """Weigh each kind by how many of it are left to place."""
    flag_side: bool = False
    """Bar what makes a setup and its mirror image two (in Stratego, the Flag in the left half), and leave that to
    mirroring."""


@register("setup", SetupNetworkConfig)
class SetupNetwork(nn.Module):
    """Chooses the setups of a game."""

    def __init__(self, game: Game, size: Size, *, count_prior: bool = False, flag_side: bool = False) -> None:
        """count_prior: weigh each kind by how many of it are left to place (published weights were trained so).
        flag_side: place the Flag in the right half only, and leave the left to mirroring (likewise).
        """
        super().__init__()
        setups = game.setups
        if setups is None or not setups.kinds:
            what = "none" if setups is None else "none of which every one is an order of the same kinds"
            raise ConfigurationError(f"a setup network needs setups, and {game.name!r} has {what}")
        if flag_side and setups.one_sided is None:
            raise ConfigurationError(f"flag_side: nothing tells a setup of {game.name!r} from its mirror image")
        self.config = SetupNetworkConfig(size, count_prior, flag_side)
        self.game = game
        self.size = size
        self.count_prior = count_prior
        self.flag_side = flag_side
        self.places, self.kinds = setups.size, len(setups.kinds)
        self.embed = nn.Linear(self.kinds, size.width)
        self.positions = learned_positions(self.places, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.depth))
        self.norm = nn.LayerNorm(size.width)
        self.outcome = nn.Linear(size.width, len(game.utilities))
        self.entropy = nn.Linear(size.width, 1)
        self.piece = nn.Linear(size.width, self.kinds)

        barred = setups.one_sided if flag_side else None
        if barred is None:
            barred = np.zeros((self.places, self.kinds), bool)
        self.counts: Tensor
        self.barred: Tensor
        self.numbers: Tensor
        self.mirror: Tensor
        self.register_buffer("counts", torch.tensor(setups.counts), persistent=False)
        self.register_buffer("barred", torch.from_numpy(barred), persistent=False)
        self.register_buffer("numbers", torch.tensor(setups.kinds, dtype=torch.int8), persistent=False)
        mirror = np.arange(self.places) if setups.mirror is None else setups.mirror
        self.register_buffer("mirror", torch.from_numpy(mirror), persistent=False)

    def forward(self, pieces: Tensor) -> Heads:
        """Answer before each place of whole setups (kinds as int64, n × places), in one pass."""
        placed = functional.one_hot(pieces, self.kinds)
        remaining = self.counts - (placed.cumsum(1) - placed)
        # The network sees the places before each one; before the first it sees nothing.
        before = functional.pad(placed[:, :-1], (0, 0, 1, 0))
        x = self.embed(before.to(self.embed.weight.dtype)) + self.positions
        for block in self.blocks:
            x = block(x, causal=True)
        return self._heads(x, remaining, self.barred)

    @torch.no_grad()
    def sample(self, uniforms: Tensor) -> Sampled:
        """Draw setups: one uniform number in [0, 1) decides each place (float64, n × places)."""
        rows = len(uniforms)
        device, dtype = self.positions.device, self.positions.dtype
        uniforms = uniforms.to(device)
        caches = [Cache(rows, self.places, self.size, device, dtype) for _ in self.blocks]
        remaining = self.counts.expand(rows, self.kinds)
        before = torch.zeros(rows, 1, self.kinds, device=device, dtype=dtype)
        pieces, said = [], []
        for place in range(self.places):
            x = self.embed(before) + self.positions[place]
            for block, cache in zip(self.blocks, caches, strict=True):
                x = block(x, cache=cache)
            heads = self._heads(x, remaining[:, None], self.barred[place])
            piece = inverse_cdf(heads.log_policy[:, 0], uniforms[:, place])
            placed = functional.one_hot(piece, self.kinds)
            remaining = remaining - placed
            before = placed[:, None].to(dtype)
            pieces.append(piece)
            said.append(heads)
        placements = torch.stack(pieces, 1)
        log_policy, outcome, entropy = (torch.cat(each, 1) for each in zip(*said, strict=True))
        return Sampled(self.numbers[placements], placements, log_policy, outcome.float().softmax(-1), entropy.float())

    def draw(self, count: int, rng: np.random.Generator, sample: Callable[[Tensor], Sampled] | None = None) -> Sampled:
        """Draw setups to play with, none of which leaves its owner without a move.

        Where the game has the symmetry, each is mirrored with probability ½.

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
        assert self.game.setups is not None
        stuck = np.flatnonzero(~self.game.setups.can_begin(drawn.setups.cpu().numpy()))
        return torch.from_numpy(stuck).to(drawn.setups.device)

    def _draw(self, count: int, rng: np.random.Generator, sample: Callable[[Tensor], Sampled]) -> Sampled:
        drawn = sample(torch.from_numpy(rng.random((count, self.places))))
        turned = torch.from_numpy(rng.random(count) < 0.5).to(drawn.setups.device)
        setups = torch.where(turned[:, None], drawn.setups[:, self.mirror], drawn.setups)
        return drawn._replace(setups=setups)

    def _heads(self, x: Tensor, remaining: Tensor, barred: Tensor) -> Heads:
        x = self.norm(x)
        logits = self.piece(x).float().masked_fill((remaining <= 0) | barred, -torch.inf)
        if self.count_prior:
            logits = logits + remaining.clamp_min(1).log()
        return Heads(logits.log_softmax(-1), self.outcome(x), self.entropy(x)[..., 0])
