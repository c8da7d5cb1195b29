"""Executors: tasks are done in this process, or in processes on this machine. For a cluster: `vauban.work.cluster`.

for index, result in Processes(2).run(tasks): ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from vauban.errors import ConfigurationError
from vauban.work.base import ATTEMPTS, Result, Task, WorkError, home_of, ignore, nearest_home
from vauban.work.parcels import Linked
from vauban.work.processes import PATIENCE, Worker, cores, dismiss


class Here:
    """Does one task after the other, in this process."""

    workers = 1

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        for index, task in enumerate(tasks):
            yield index, task.run(ignore)


# ── Processes on this machine ────────────────────────────────────────────────────────────────────


@dataclass
class _Begun:
    """A task on its way."""

    index: int
    task: Task[Any]
    attempts: int = 0


class Processes:
    """Does tasks in processes on this machine, one for each core unless told otherwise.

    A task whose process is killed is done again by another.
    """

    back = Linked

    def __init__(self, workers: int | None = None, *, standing: bool = False) -> None:
        """`standing`: processes stay when their tasks are done, and keep what they hold for the next ones."""
        if workers is not None and (type(workers) is not int or workers < 1):
            raise ConfigurationError(f"the number of workers is a whole number from 1, not {workers!r}")
        self.workers, self.standing = workers or cores(), standing
        self._idle: list[tuple[Worker, object]] = []
        """Standing workers, each with the home of its last task."""

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        again = deque[_Begun]()
        fresh = (_Begun(index, task) for index, task in enumerate(tasks))
        idle = self._idle
        busy: dict[Any, tuple[Worker, _Begun]] = {}  # by the connection to each worker
        try:
            while True:
                while len(busy) < self.workers:
                    begun = again.popleft() if again else next(fresh, None)
                    if begun is None:
                        break
                    worker = nearest_home(idle, begun.task) or Worker(getattr(begun.task, "modules", ()))
                    busy[worker.connection] = worker, begun
                    begun.attempts += 1
                    with suppress(OSError):  # it is dead then, as listening to it will tell
                        worker.begin(begun.task)
                if not busy:
                    return
                for connection in wait(list(busy)):
                    worker, begun = busy[connection]
                    try:
                        answer = worker.listen(ignore)
                    except (EOFError, OSError):
                        del busy[connection]
                        _bury(worker, begun)
                        again.append(begun)
                        continue
                    except WorkError as error:
                        raise WorkError(f"{begun.task}: {error}") from None
                    if answer is not None:
                        del busy[connection]
                        idle.append((worker, home_of(begun.task)))
                        yield begun.index, answer[0]
        finally:
            dismiss(worker for worker, _ in busy.values())
            if not self.standing:
                self.close()

    def parcel(self, folder: Path, without: str = "") -> Linked:
        """Return a folder as a task can take it along."""
        return Linked(folder, without)

    def close(self) -> None:
        """End the processes that are left."""
        dismiss(worker for worker, _ in self._idle)
        self._idle.clear()


def _bury(worker: Worker, begun: _Begun) -> None:
    """Let go of a dead worker; give a task up that has killed several."""
    worker.connection.close()
    worker.process.join(PATIENCE)
    if begun.attempts >= ATTEMPTS:
        code = worker.process.exitcode or 0
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        raise WorkError(
            f"{begun.task}: its process has ended {how}, {ATTEMPTS} times in a row. "
            "Use one worker (--workers 1) to see what happens"
        )
