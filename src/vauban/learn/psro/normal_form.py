"""Policies that are mixed strategies of a symmetric matrix game, trained by steps towards the best response.

    workshop = MatrixWorkshop(random_antisymmetric(60, seed=0), rate=0.5, seed=0)
    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=4)

An update is π ← r · best response + (1 − r) · π. Nothing in it is chance but the strategies that policies begin with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.learn.psro.workshop import Checkpoint, Floats, Job, Measured, Trained, Wanted, Workshop
from vauban.solve.meta import exploitability

STARTS, FIRST_SEED = 6000, 1000
"""Strategies to begin with, which are drawn at once, and the seed of those of game 0."""
SAME = 1e-9
"""Strategies that differ by no more than this are the same."""


class MatrixWorkshop(Workshop):
    """Steps towards the best response; the newest versions are kept, and no others."""

    def __init__(
        self, payoffs: npt.ArrayLike, rate: float, seed: int = 0, halves: float = 0.0, starts: Floats | None = None
    ) -> None:
        """
        payoffs: of a symmetric game, what the row's strategy gets from the column's.
        rate: r; with `halves` it is r / (1 + t / halves) after t updates of the policy.
        starts: the strategies that policies begin with; drawn evenly from all mixes if not given.
        """
        self.game = np.ascontiguousarray(payoffs, np.float64)
        if not 0 < rate <= 1 or not halves >= 0:
            raise ConfigurationError(
                f"a learning rate is more than 0 and at most 1, and halved after 0 updates or more, "
                f"not {rate} and {halves}"
            )
        self.rate, self.halves = rate, halves
        size = len(self.game)
        self._starts = starts
        if starts is None:
            self._starts = np.random.default_rng(FIRST_SEED + seed).dirichlet(np.ones(size), size=STARTS)
        self.strategies: Floats = np.zeros((16, size))
        """By number of the policy."""

    def begin(self, number: int, parent: Checkpoint | None, seed: tuple[int, ...]) -> None:
        assert self._starts is not None
        if number >= len(self.strategies):
            self.strategies = np.concatenate([self.strategies, np.zeros_like(self.strategies)])
        start = self._starts[number % len(self._starts)] if parent is None else self.strategies[parent.number]
        self.strategies[number] = start

    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        numbers = [job.policy.number for job in jobs]
        worths = np.stack([self.game @ self.mixed([each.number for each in job.opponents], job.chances)
                           for job in jobs])  # fmt: skip
        rates = np.array([self._rate(job.policy.version) for job in jobs])[:, None]
        answers = np.zeros_like(worths)
        answers[np.arange(len(jobs)), worths.argmax(1)] = 1
        self.strategies[numbers] = rates * answers + (1 - rates) * self.strategies[numbers]
        got = (self.strategies[numbers] * worths).sum(1)
        return [Trained(float(each)) for each in got]

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        found = []
        for each in wanted:
            worths = self.strategies[each.row.number] @ self.game
            found.append(Measured(self.strategies[[column.number for column in each.columns]] @ worths))
        return found

    def exploitability(self, policies: Sequence[Checkpoint], chances: Floats) -> float:
        return exploitability(self.game, self.mixed([each.number for each in policies], chances))

    def alike(self, one: Checkpoint, other: Checkpoint) -> bool:
        return bool(np.abs(self.strategies[one.number] - self.strategies[other.number]).max() <= SAME)

    def mixed(self, numbers: Sequence[int], chances: Floats) -> Floats:
        """Return the strategy of a mix of policies."""
        strategy: Floats = chances @ self.strategies[np.asarray(numbers, np.int64)]
        return strategy

    def _rate(self, updates: int) -> float:
        return self.rate / (1 + updates / self.halves) if self.halves else self.rate
