"""Workshops that are spread: policies are trained, and entries measured, by many processes or on many machines.

    workshop = SpreadWorkshop(here, folder, bench, learners, measurers)

The folder of the pipeline's process has every checkpoint, and a worker has a folder of its own, to which a task brings
the checkpoints that are missing there. What it has trained comes back, and is published by the pipeline's process
alone. So no folder has to be shared; a task that is lost with its worker, or its machine, is done again from
the last checkpoint by another; and what was done twice is published once.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import numpy as np

from vauban import __version__
from vauban.learn.psro.folders import folder_name, published
from vauban.learn.psro.workshop import TRAINING, Checkpoint, Floats, Job, Measured, Trained, Wanted, Workshop
from vauban.work.base import Crew, Parcel, Tell, check_version

COLUMNS = 16
"""Most entries of a task: what they come to does not depend on how many workers there are."""
PREFIX = "vauban-policies"


class SpreadWorkshop(Workshop):
    """A workshop that hands training and measuring out."""

    def __init__(self, here: Workshop, folder: Path, learners: Team, measurers: Team) -> None:
        """here: a workshop on the folder of all checkpoints, which does by itself what is neither of both."""
        self.here, self.folder, self.learners, self.measurers = here, folder, learners, measurers
        self._parcels: dict[Checkpoint, Parcel] = {}

    def begin(self, number: int, parent: Checkpoint | None, seed: tuple[int, ...]) -> None:
        self.here.begin(number, parent, seed)

    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        bench, crew = self.learners.bench, self.learners.crew
        tasks = [
            Training(bench, job, crew.parcel(self.folder / folder_name(job.policy)), self._sent(job.opponents, crew),
                     crew.back)
            for job in jobs
        ]  # fmt: skip
        found: dict[int, Trained] = {}
        for index, (trained, parcel) in crew.run(tasks):
            publish(parcel, self.folder, jobs[index].policy.next)
            found[index] = trained
        return [found[index] for index in range(len(jobs))]

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        bench, crew = self.measurers.bench, self.measurers.crew
        cut = [
            (place, Wanted(each.row, each.columns[first : first + COLUMNS]))
            for place, each in enumerate(wanted)
            for first in range(0, len(each.columns), COLUMNS)
        ]
        tasks = (Measuring(bench, each, self._sent([each.row, *each.columns], crew)) for _, each in cut)
        found = dict(crew.run(tasks))
        rows: list[list[Measured]] = [[] for _ in wanted]
        for index, (place, _) in enumerate(cut):
            rows[place].append(found[index])
        return [Measured(np.concatenate([each.payoffs for each in row]), row[0].games) for row in rows]

    def exploitability(self, policies: Sequence[Checkpoint], chances: Floats) -> float | None:
        return self.here.exploitability(policies, chances)

    def alike(self, one: Checkpoint, other: Checkpoint) -> bool:
        return self.here.alike(one, other)

    def keep(self, checkpoints: Collection[Checkpoint]) -> None:
        self._parcels = {each: parcel for each, parcel in self._parcels.items() if each in checkpoints}
        self.here.keep(checkpoints)

    def retire(self, checkpoints: Collection[Checkpoint]) -> None:
        self.here.retire(checkpoints)

    def close(self) -> None:
        """Let the workers go."""
        self.learners.crew.close()
        if self.measurers.crew is not self.learners.crew:
            self.measurers.crew.close()

    def _sent(self, checkpoints: Sequence[Checkpoint], crew: Crew) -> dict[Checkpoint, Parcel]:
        """Return what plays these policies, to be taken along."""
        for each in checkpoints:
            if each not in self._parcels:
                self._parcels[each] = crew.parcel(self.folder / folder_name(each), TRAINING)
        return {each: self._parcels[each] for each in checkpoints}


def publish(parcel: Parcel, folder: Path, checkpoint: Checkpoint) -> None:
    """Make a checkpoint's folder: whole, or not at all."""
    with published(folder, checkpoint) as place:
        place.rmdir()  # a parcel makes the folder itself
        parcel.unpack(place)


# ── In the worker ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Bench:
    """The things that a worker needs to train and measure as the pipeline's own workshop does."""

    make: Callable[[Path], Workshop]
    """Makes the workshop, whose policies lie in a folder; it can be sent."""
    folder: Path | None = None
    """The place of the workers' folders; None: their machine's place for temporary files."""
    name: str = field(default_factory=lambda: uuid4().hex)
    """By which a worker knows it again."""
    version: str = __version__


@dataclass(frozen=True)
class Team:
    """Workers, and what they work with."""

    crew: Crew
    bench: Bench


@dataclass(frozen=True)
class Training:
    """An update of a policy: a task for an executor."""

    bench: Bench
    job: Job
    policy: Parcel
    """The policy with all that it takes to train on."""
    opponents: Mapping[Checkpoint, Parcel]
    back: Callable[[Path], Parcel]
    modules: ClassVar = ("vauban.learn.psro.learner",)

    @property
    def home(self) -> int:
        """The policy's number: whoever trained it last has it whole."""
        return self.job.policy.number

    def __str__(self) -> str:
        return f"update {self.job.policy.version + 1} of policy {self.job.policy.number}"

    def run(self, tell: Tell) -> tuple[Trained, Parcel]:
        """Train the policy."""
        desk = desk_of(self.bench)
        desk.fetch({self.job.policy: self.policy}, whole=True)
        desk.fetch(self.opponents)
        (trained,) = desk.workshop.train([self.job])
        made = self.job.policy.next
        desk.has(made, whole=True)
        return trained, self.back(desk.folder / folder_name(made))


@dataclass(frozen=True)
class Measuring:
    """Some entries of the payoff table: a task for an executor."""

    bench: Bench
    wanted: Wanted
    policies: Mapping[Checkpoint, Parcel]
    modules: ClassVar = ("vauban.learn.psro.learner",)

    def __str__(self) -> str:
        return f"{len(self.wanted.columns)} payoffs of policy {self.wanted.row.number}"

    def run(self, tell: Tell) -> Measured:
        """Measure them."""
        desk = desk_of(self.bench)
        desk.fetch(self.policies)
        (measured,) = desk.workshop.measure([self.wanted])
        return measured


@dataclass
class Desk:
    """A worker's workshop, and the checkpoints that it has at hand."""

    workshop: Workshop
    folder: Path
    there: dict[int, Checkpoint] = field(default_factory=dict)
    """The newest of each policy."""
    whole: set[Checkpoint] = field(default_factory=set)
    """Those with all that it takes to train on."""

    def fetch(self, parcels: Mapping[Checkpoint, Parcel], whole: bool = False) -> None:
        """Have these at hand, and of these policies no older ones."""
        missing = [each for each in parcels if each not in (self.whole if whole else self.there.values())]
        for each in missing:
            publish(parcels[each], self.folder, each)
            self.has(each, whole)
        if missing:
            self.workshop.keep(set(self.there.values()))

    def has(self, checkpoint: Checkpoint, whole: bool) -> None:
        """Count a checkpoint in that lies in the folder."""
        self.there[checkpoint.number] = checkpoint
        self.whole = {each for each in self.whole if each.number != checkpoint.number} | (
            {checkpoint} if whole else set()
        )


_desks: dict[str, Desk] = {}
"""Of this process, by the name of the pipeline."""


def desk_of(bench: Bench) -> Desk:
    """Return this process's desk for a pipeline; make it when it is first asked for."""
    check_version(bench.version, "the run")
    if bench.name not in _desks:
        where = bench.folder or Path(tempfile.gettempdir())
        _sweep(where)
        folder = Path(tempfile.mkdtemp(prefix=f"{_mark()}{os.getpid()}-", dir=where))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _desks[bench.name] = Desk(bench.make(folder), folder)
    return _desks[bench.name]


def _mark() -> str:
    return f"{PREFIX}-{socket.gethostname()}-"


def _sweep(where: Path) -> None:
    """Delete folders of processes that were killed on this machine."""
    for path in where.glob(f"{_mark()}*") if os.name == "posix" else ():
        number = path.name.removeprefix(_mark()).partition("-")[0]
        if number.isdigit() and not _is_running(int(number)):
            shutil.rmtree(path, ignore_errors=True)


def _is_running(process: int) -> bool:
    with suppress(PermissionError):  # another user's
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True
