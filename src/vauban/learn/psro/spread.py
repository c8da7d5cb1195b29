"""A workshop whose updates and entries are done elsewhere: in processes of this machine, or wherever tasks are done.

    workshop = SpreadWorkshop(NeuralWorkshop(…), Processes(4, standing=True))

The workshop inside must be one that can be pickled and that keeps policies in a folder which every process can reach.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vauban.learn.psro.workshop import Checkpoint, Floats, Job, Measured, Trained, Wanted, Workshop
from vauban.work.base import Executor, Tell


@dataclass(frozen=True)
class Update:
    """An update of a policy, as a task."""

    workshop: Workshop
    job: Job

    def __str__(self) -> str:
        return f"update {self.job.policy.version + 1} of policy {self.job.policy.number}"

    def run(self, tell: Tell) -> Trained:
        return self.workshop.train([self.job])[0]


@dataclass(frozen=True)
class Row:
    """Entries of a row of the payoff table, as a task."""

    workshop: Workshop
    wanted: Wanted

    def __str__(self) -> str:
        return f"{len(self.wanted.columns)} payoffs of policy {self.wanted.row.number}"

    def run(self, tell: Tell) -> Measured:
        return self.workshop.measure([self.wanted])[0]


class SpreadWorkshop(Workshop):
    """Hands the updates and the entries of a workshop to an executor; all else is done here."""

    def __init__(self, workshop: Workshop, executor: Executor, *, entries: bool = True) -> None:
        """entries: whether those are handed out as well; where they take no time, it is not worth it."""
        self.workshop, self.executor, self.entries = workshop, executor, entries

    def begin(self, number: int, parent: Checkpoint | None, seed: tuple[int, ...]) -> None:
        self.workshop.begin(number, parent, seed)

    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        found = dict(self.executor.run(Update(self.workshop, job) for job in jobs))
        return [found[place] for place in range(len(jobs))]

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        if not self.entries:
            return self.workshop.measure(wanted)
        found = dict(self.executor.run(Row(self.workshop, each) for each in wanted))
        return [found[place] for place in range(len(wanted))]

    def exploitability(self, policies: Sequence[Checkpoint], chances: Floats) -> float | None:
        return self.workshop.exploitability(policies, chances)

    def alike(self, one: Checkpoint, other: Checkpoint) -> bool:
        return self.workshop.alike(one, other)

    def keep(self, checkpoints: Collection[Checkpoint]) -> None:
        self.workshop.keep(checkpoints)

    def retire(self, checkpoints: Collection[Checkpoint]) -> None:
        self.workshop.retire(checkpoints)
