"""Workshops: they train policies, keep their checkpoints, and measure what these get from each other.

A pipeline knows policies by number, and asks a workshop for everything that depends on what a policy is. The workshop
keeps checkpoints until it is told which ones still count (`keep`): a pipeline that is killed goes on from those.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
TRAINING = "training*"
"""Names in a checkpoint's folder of what only training on needs: optimiser, replay. Players are sent without it."""


class Checkpoint(NamedTuple):
    """A policy as it was published at some time."""

    number: int
    """The policy's."""
    version: int
    """Updates that it has had."""

    @property
    def next(self) -> Checkpoint:
        """The policy after one more update."""
        return self._replace(version=self.version + 1)


@dataclass(frozen=True)
class Job:
    """One update of one policy."""

    policy: Checkpoint
    """The policy in training; it becomes the next version."""
    opponents: Sequence[Checkpoint]
    chances: Floats
    """Of each opponent, by which one is drawn for a whole game."""
    warm: bool
    """Whether lower policies are still in training, so that the opponents will change: time to keep exploring."""
    seed: tuple[int, ...]
    """Of all chance in this update: done again, it comes to the same."""


@dataclass(frozen=True)
class Trained:
    """The outcome of an update."""

    performance: float
    """The policy's mean utility against its opponents, over both seats."""
    steps: int = 1
    """Actions that it took to learn."""
    episodes: int = 0
    """Games that it took to learn."""


@dataclass(frozen=True)
class Wanted:
    """Entries of a row of the payoff table that are not known."""

    row: Checkpoint
    columns: Sequence[Checkpoint]


@dataclass(frozen=True)
class Measured:
    """Entries of a row of the payoff table."""

    payoffs: Floats
    """The mean utility of the row's policy against each column's, a game's seats drawn evenly."""
    games: int = 0
    """Games that were played for each; 0: they are exact."""


class Workshop(ABC):
    """Trains policies, keeps and measures them."""

    @abstractmethod
    def begin(self, number: int, parent: Checkpoint | None, seed: tuple[int, ...]) -> None:
        """Publish version 0 of a policy: a random one, or a copy of its parent."""

    @abstractmethod
    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        """Give each of these policies one update, against what is published now, and publish the next versions."""

    @abstractmethod
    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        """Return entries of the payoff table."""

    def exploitability(self, policies: Sequence[Checkpoint], chances: Floats) -> float | None:
        """Return how exploitable a mix of policies is, exactly; None where that cannot be computed."""
        return None

    def alike(self, one: Checkpoint, other: Checkpoint) -> bool:
        """Return whether two policies are the same, as far as that can be told."""
        return False

    def keep(self, checkpoints: Collection[Checkpoint]) -> None:
        """Forget all checkpoints but these: no other will be asked for again."""

    def retire(self, checkpoints: Collection[Checkpoint]) -> None:
        """Forget of these, which are finished, what only training on needs."""
