"""`Nearby`: a cluster whose workers are processes of this machine, and which can be cut off; tasks that tell of it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from vauban.errors import ConfigurationError
from vauban.work.base import WorkError
from vauban.work.processes import Worker


class Nearby:
    """A `vauban.work.relay.Cluster` without a cluster."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self.connected = True
        self.attempts = 0
        self._refusals = 0
        self.staff: list[Worker] = []

    def hire(self) -> Worker:
        if not self.connected:
            raise WorkError("the cluster is lost")
        self.staff.append(Worker())
        return self.staff[-1]

    def cut(self, refusals: int = 0) -> None:
        """Be lost, with all workers; the next attempts to connect fail so many times."""
        self.connected = False
        self._refusals = refusals
        self.close()

    def connect(self) -> None:
        self.attempts += 1
        if self.attempts <= self._refusals:
            raise ConfigurationError("there is no cluster")
        self.connected = True

    def close(self) -> None:
        for worker in self.staff:
            worker.process.kill()
        self.staff.clear()


@dataclass(frozen=True)
class Report:
    """Tells which process did it; writes that it is there, and waits for a file if one is named."""

    begun: Path | None = None
    until: Path | None = None

    def run(self, tell):
        tell(0.5)
        if self.begun is not None:
            self.begun.write_text(str(os.getpid()))
        while self.until is not None and not self.until.exists():
            signal.sigtimedwait([], 0.01)
        return os.getpid()


class Refuses:
    """Cannot be done in one process, and can in every other."""

    def __init__(self, process: int) -> None:
        self.process = process

    def run(self, tell):
        if os.getpid() == self.process:
            raise WorkError("not here")
        return os.getpid()


class Broken:
    """Fails wherever it is done."""

    def run(self, tell):
        raise KeyError("wheel")
