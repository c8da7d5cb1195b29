"""The network of DeepNash: a torso in the shape of a pyramid, and heads that are smaller pyramids.

A pyramid narrows the board to half its rows and columns and widens it again; each block of the way up also sees what
went into its mirror image on the way down. A game in steps has three heads for its policy, one for each phase: to
deploy, to choose a piece, to choose its target. Other games on boards have one, with a channel for each way in which a
piece can move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.nets.kinds import register
from vauban.nets.values import ValueNetwork
from vauban.observe import base as observations

DEPLOYMENT, TARGET, CHOSEN = "deployment", "choosing_target", "chosen_piece"
"""Channels of an observation that tell the phase of a game in steps, and the piece that was chosen."""
BATTLELESS = "battleless_frac"
"""The channel with the share of the moves without a battle that may still come: heads see it anew."""
OWN_IMMOBILE, OWN_MARSHAL = "our_flag", "our_marshal"
"""The channels around those of the own pieces that can move: from behind the first to the second."""


@dataclass(frozen=True)
class PyramidConfig:
    """Settings of a pyramid network; the published ones, as far as they were published."""

    width: int = 256
    """Channels where the board is whole; even."""
    inner: int = 320
    """Channels where it is halved; even."""
    outer_blocks: int = 2
    """Blocks of the torso before it is halved, and as many behind."""
    inner_blocks: int = 2
    """Blocks on the halved board, and as many behind."""
    rectified: bool = False
    """Whether logits are rectified, as the paper's text says: no action is then less likely than any number of
    others."""
    observation: str = ""
    """Its observation; empty: `deepnash` where the game has it, else the default one of the game."""

    def __post_init__(self) -> None:
        if min(self.width, self.inner) < 2 or self.width % 2 or self.inner % 2:
            raise ConfigurationError(f"width and inner of a pyramid network are even and 2 or more: {self}")
        if min(self.outer_blocks, self.inner_blocks) < 0:
            raise ConfigurationError(f"outer_blocks and inner_blocks of a pyramid network are 0 or more: {self}")


class Down(nn.Module):
    """A residual block of convolutions, on the way to the halved board."""

    def __init__(self, before: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, width // 2, 3, stride, padding=1)
        self.second = nn.Conv2d(width // 2, width, 3, padding=1)
        self.residual = nn.Identity() if before == width and stride == 1 else nn.Conv2d(before, width, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        inside = torch.relu(self.second(torch.relu(self.first(x))))
        return inside + self.residual(x)  # type: ignore[no-any-return]


class Up(nn.Module):
    """A residual block of transposed convolutions on the way back, which also sees the input of its mirror block."""

    def __init__(self, before: int, mirrored: int, width: int, stride: int = 1) -> None:
        super().__init__()
        more = stride - 1
        self.first = nn.ConvTranspose2d(before, width // 2, 3, stride, padding=1, output_padding=more)
        self.skip = nn.Conv2d(mirrored, width // 2, 1)
        self.second = nn.ConvTranspose2d(width // 2, width, 3, padding=1)
        self.residual = (
            nn.Identity()
            if before == width and stride == 1
            else nn.ConvTranspose2d(before, width, 1, stride, output_padding=more)
        )

    def forward(self, x: Tensor, mirror: Tensor) -> Tensor:
        # Of an odd number of rows or columns, halving has rounded up: what is too much is cut off.
        rows, columns = mirror.shape[2:]
        inside = torch.relu(self.first(x))[..., :rows, :columns] + self.skip(mirror)
        return torch.relu(self.second(inside)) + self.residual(x)[..., :rows, :columns]  # type: ignore[no-any-return]


class Pyramid(nn.Module):
    """A pyramid, from channels on a board to `width` channels on the same board."""

    def __init__(self, channels: int, width: int, inner: int, outer_blocks: int, inner_blocks: int) -> None:
        super().__init__()
        self.enter = nn.Conv2d(channels, width, 3, padding=1)
        down = [Down(width, width) for _ in range(outer_blocks)] + [Down(width, width, stride=2)]
        befores = [width, *[inner] * (inner_blocks - 1)][:inner_blocks]
        self.down = nn.ModuleList(down + [Down(before, inner) for before in befores])
        up = [Up(inner, before, inner) for before in reversed(befores)]
        up.append(Up(inner if inner_blocks else width, width, width, stride=2))
        self.up = nn.ModuleList(up + [Up(width, width, width) for _ in range(outer_blocks)])

    def forward(self, planes: Tensor) -> Tensor:
        x = torch.relu(self.enter(planes))
        mirrors = []
        for block in self.down:
            mirrors.append(x)
            x = block(x)
        for block in self.up:
            x = block(x, mirrors.pop())
        return x


class PolicyHead(nn.Module):
    """A small pyramid, and logits: `ways` of them for each square."""

    def __init__(self, channels: int, config: PyramidConfig, ways: int) -> None:
        super().__init__()
        self.pyramid = Pyramid(channels, config.width, config.inner, outer_blocks=1, inner_blocks=0)
        self.logits = nn.Conv2d(config.width, ways, 3, padding=1)
        self.rectified = config.rectified

    def forward(self, planes: Tensor) -> Tensor:
        logits: Tensor = self.logits(self.pyramid(planes)).flatten(1)
        return torch.relu(logits) if self.rectified else logits


class ValueHead(nn.Module):
    """A smaller pyramid, and a number."""

    def __init__(self, channels: int, config: PyramidConfig, squares: int) -> None:
        super().__init__()
        self.pyramid = Pyramid(channels, config.width, config.inner, outer_blocks=0, inner_blocks=0)
        self.plane = nn.Conv2d(config.width, 1, 3, padding=1)
        self.value = nn.Linear(squares, 1)

    def forward(self, planes: Tensor) -> Tensor:
        value: Tensor = self.value(torch.relu(self.plane(self.pyramid(planes))).flatten(1))
        return value.squeeze(1)


@register("pyramid", PyramidConfig)
class PyramidNetwork(ValueNetwork):
    """Chooses squares or moves on a board, and foresees what the position is worth."""

    def __init__(
        self, game: Game, width: int = 256, inner: int = 320, outer_blocks: int = 2, inner_blocks: int = 2,
        rectified: bool = False, observation: str = "",
    ) -> None:  # fmt: skip
        super().__init__()
        if min(game.board) < 2:
            raise ConfigurationError(
                f"a pyramid network needs a board of 2 × 2 or more, and {game.name!r} has none: take kind plain"
            )
        self.observation = observation or _usual_observation(game)
        self.config = config = PyramidConfig(width, inner, outer_blocks, inner_blocks, rectified, self.observation)
        self.board = game.board
        seen = observations.find(game, self.observation)
        names, squares = seen.channel_names(game), game.board[0] * game.board[1]
        self.torso = Pyramid(seen.channels(game), width, inner, outer_blocks, inner_blocks)
        self.in_steps = game.moves is None
        if self.in_steps:
            missing = [name for name in (DEPLOYMENT, TARGET, CHOSEN, BATTLELESS, OWN_MARSHAL) if name not in names]
            if missing or game.action_count != squares:
                raise ConfigurationError(
                    f"a pyramid network plays moves on a board, or squares in steps that its observation tells of: "
                    f"{game.name!r} has neither with {self.observation!r}"
                )
            self.deployment, self.target, self.chosen, self.battleless = map(
                names.index, (DEPLOYMENT, TARGET, CHOSEN, BATTLELESS)
            )
            self.movable = slice(names.index(OWN_IMMOBILE) + 1, names.index(OWN_MARSHAL) + 1)
            kinds = self.movable.stop - self.movable.start
            self.deploy = PolicyHead(width, config, 1)
            self.select = PolicyHead(width + 1, config, 1)
            self.aim = PolicyHead(width + 1 + kinds, config, 1)
            self.judge = ValueHead(width + 1 + kinds, config, squares)
            choices = np.arange(squares)
        else:
            assert game.moves is not None
            choices, ways = _by_ways(game.moves, game.board)
            self.move = PolicyHead(width, config, ways)
            self.judge = ValueHead(width, config, squares)
        self.set_utilities(game)
        self.register_buffer("choice_of_action", torch.from_numpy(choices), persistent=False)

    def estimate(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        # Squares with channels behind them are what convolutions on a GPU like best: nothing is moved.
        planes = seen.unflatten(1, self.board).permute(0, 3, 1, 2)  # type: ignore[no-untyped-call]
        embedding = self.torso(planes)
        if not self.in_steps:
            return self.move(embedding), self.judge(embedding)
        deploying = planes[:, self.deployment : self.deployment + 1]
        aiming = planes[:, self.target, :1, :1].flatten(1) > 0
        without = torch.cat([embedding, planes[:, self.battleless : self.battleless + 1] * (1 - deploying)], 1)
        chosen = planes[:, self.movable] * planes[:, self.chosen : self.chosen + 1]
        whole = torch.cat([without, chosen], 1)
        # All heads look at all positions, and the phase picks one: so shapes do not depend on what is seen.
        choices = torch.where(aiming, self.aim(whole), self.select(without))
        choices = torch.where(deploying[:, 0, :1, 0] > 0, self.deploy(embedding), choices)
        return choices, self.judge(whole)


def _usual_observation(game: Game) -> str:
    known = observations.names(game)
    return "deepnash" if "deepnash" in known else observations.default(game).name


def _by_ways(moves: npt.NDArray[np.int64], board: Sequence[int]) -> tuple[npt.NDArray[np.int64], int]:
    """Return the place of each action among logits by way of moving and square, and the number of ways.

    A way is a difference of rows and of columns. Actions that lead from a square to the same one, or off the board,
    are told apart by their order.
    """
    squares = board[0] * board[1]
    ways: dict[tuple[int, ...], int] = {}
    seen: Counter[tuple[int, int]] = Counter()
    choices = np.zeros(len(moves), np.int64)
    for action, (source, target) in enumerate(moves.tolist()):
        step = (target // board[1] - source // board[1], target % board[1] - source % board[1]) if target >= 0 else ()
        way = (seen[source, target], *step)
        seen[source, target] += 1
        choices[action] = ways.setdefault(way, len(ways)) * squares + source
    return choices, len(ways)
