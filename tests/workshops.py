"""Workshops whose workers meet with accidents: each is set off once, by a file that it takes away."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vauban.learn.psro.trees import TreeWorkshop
from vauban.learn.psro.workshop import Job, Measured, Trained, Wanted
from vauban.solve import build_tree
from vauban.work.base import Tell

TRAIN, TRAINED, MEASURE = "train", "trained", "measure"
"""Fuses: before an update, after it, before a measurement."""


class Fragile(TreeWorkshop):
    """Exact best responses on Kuhn poker; a lit fuse ends the process, or leaves it hanging until somebody ends it."""

    def __init__(self, fuses: Path, hangs: bool, folder: Path) -> None:
        super().__init__(build_tree("kuhn"), 0.5, folder)
        self.fuses, self.hangs = fuses, hangs

    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        self._burn(TRAIN)
        trained = super().train(jobs)
        self._burn(TRAINED)
        with (self.fuses / "log").open("a") as log:
            log.writelines(f"{job.policy.number}-{job.policy.version}\n" for job in jobs)
        return trained

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        self._burn(MEASURE)
        return super().measure(wanted)

    def _burn(self, fuse: str) -> None:
        try:
            (self.fuses / fuse).rename(self.fuses / f"{fuse}.{os.getpid()}")
        except FileNotFoundError:
            return
        if self.hangs:
            threading.Event().wait()
        os.kill(os.getpid(), signal.SIGKILL)


def fragile(fuses: Path, hangs: bool, folder: Path) -> Fragile:
    """Make one in the folder of a worker."""
    return Fragile(fuses, hangs, folder)


@dataclass(frozen=True)
class Say:
    """A task that says something."""

    word: str

    def run(self, tell: Tell) -> str:
        return self.word
