"""Policies that are tables of a small game, trained by exact best responses.

An update mixes the best response to the opponents into the policy, by how often each of them comes to an information
set: π ← r · best response + (1 − r) · π, drawn for a whole game. With r = 1 a pipeline of one worker is the double
oracle algorithm. Where the opponents never let a policy come, or nothing is at stake, it plays evenly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from vauban.errors import ConfigurationError
from vauban.learn.psro.exact import Exact
from vauban.learn.psro.folders import folder_name, keep_only, published
from vauban.learn.psro.workshop import Checkpoint, Floats, Job, Measured, Trained, Wanted, Workshop
from vauban.solve.evaluate import reach_of
from vauban.solve.policies import uniform
from vauban.solve.tree import Table, Tree

TABLE = "table.npy"
"""The file of a policy: its table."""


class TreeWorkshop(Workshop):
    """Exact best responses on a tree; a folder for each policy, where a folder is given for all of them."""

    def __init__(self, tree: Tree, rate: float = 1.0, folder: Path | None = None) -> None:
        """rate: the share r of the best response in an update."""
        if not 0 < rate <= 1:
            raise ConfigurationError(f"a learning rate is more than 0 and at most 1, not {rate}")
        self.tree, self.rate, self.folder = tree, rate, folder
        self.exact = Exact(tree, self._reach)
        self._reaches: dict[Checkpoint, Table] = {}

    def begin(self, number: int, parent: Checkpoint | None, seed: tuple[int, ...]) -> None:
        reach = reach_of(self.tree, uniform(self.tree)) if parent is None else self._reach(parent)
        self._publish(Checkpoint(number, 0), reach)

    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        found = []
        for job in jobs:
            opponents = self.exact.mixed(job.opponents, job.chances)
            reach = self.rate * self.exact.respond(opponents) + (1 - self.rate) * self._reach(job.policy)
            found.append((job.policy.next, reach, self.exact.worths(reach) @ opponents))
        for checkpoint, reach, _ in found:
            self._publish(checkpoint, reach)
        return [Trained(float(performance)) for _, _, performance in found]

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        return self.exact.measure(wanted)

    def exploitability(self, policies: Sequence[Checkpoint], chances: Floats) -> float:
        return self.exact.exploitability(policies, chances)

    def alike(self, one: Checkpoint, other: Checkpoint) -> bool:
        return self.exact.alike(one, other)

    def keep(self, checkpoints: Collection[Checkpoint]) -> None:
        self._reaches = {each: reach for each, reach in self._reaches.items() if each in checkpoints}
        if self.folder is not None:
            keep_only(self.folder, checkpoints)

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _publish(self, checkpoint: Checkpoint, reach: Table) -> None:
        # From the table, as it will be found again: a pipeline that was killed goes on to the same numbers.
        table = self.exact.table(reach)
        self._reaches[checkpoint] = reach_of(self.tree, table)
        if self.folder is not None:
            with published(self.folder, checkpoint) as place:
                np.save(place / TABLE, table)

    def _reach(self, checkpoint: Checkpoint) -> Table:
        if checkpoint not in self._reaches:
            assert self.folder is not None
            self._reaches[checkpoint] = reach_of(self.tree, np.load(self.folder / folder_name(checkpoint) / TABLE))
        return self._reaches[checkpoint]
