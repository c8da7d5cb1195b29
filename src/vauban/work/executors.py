"""Executors: tasks are done in this process, in processes on this machine, or on a Ray cluster.

for index, result in Processes(2).run(tasks): ...
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from vauban.errors import ConfigurationError, install_command
from vauban.work.base import ATTEMPTS, Result, Task, WorkError, describe
from vauban.work.processes import PATIENCE, Worker, cores, dismiss

CONNECT_SECONDS = 10.0
"""Seconds that a cluster has for its first answer."""


def _ignore(share: float) -> None:
    pass


class Here:
    """Does one task after the other, in this process."""

    workers = 1

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        for index, task in enumerate(tasks):
            yield index, task.run(_ignore)


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

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and (type(workers) is not int or workers < 1):
            raise ConfigurationError(f"the number of workers is a whole number from 1, not {workers!r}")
        self.workers = workers or cores()

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        again = deque[_Begun]()
        fresh = (_Begun(index, task) for index, task in enumerate(tasks))
        idle: list[Worker] = []
        busy: dict[Any, tuple[Worker, _Begun]] = {}  # by the connection to each worker
        try:
            while True:
                while len(busy) < self.workers:
                    begun = again.popleft() if again else next(fresh, None)
                    if begun is None:
                        break
                    worker = idle.pop() if idle else Worker(getattr(begun.task, "modules", ()))
                    busy[worker.connection] = worker, begun
                    begun.attempts += 1
                    with suppress(OSError):  # it is dead then, as listening to it will tell
                        worker.begin(begun.task)
                if not busy:
                    return
                for connection in wait(list(busy)):
                    worker, begun = busy[connection]
                    try:
                        answer = worker.listen(_ignore)
                    except (EOFError, OSError):
                        del busy[connection]
                        _bury(worker, begun)
                        again.append(begun)
                        continue
                    except WorkError as error:
                        raise WorkError(f"{begun.task}: {error}") from None
                    if answer is not None:
                        idle.append(busy.pop(connection)[0])
                        yield begun.index, answer[0]
        finally:
            dismiss([*idle, *(worker for worker, _ in busy.values())])


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


# ── A cluster ────────────────────────────────────────────────────────────────────────────────────


class RayExecutor:
    """Does tasks on a Ray cluster: one that runs, by its address ("auto": this machine's), or one of its own."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        """`workers`: number of tasks at a time; as many as the cluster has CPUs if not given."""
        try:
            import ray
        except ImportError as error:
            raise ConfigurationError(f"a Ray cluster needs ray: {install_command('ray')}") from error
        self._ray: Any = ray
        self._mine = not ray.is_initialized()
        if self._mine:
            if address is not None:
                _knock(address)
            try:
                ray.init(
                    address=address,
                    num_cpus=workers if address is None else None,
                    include_dashboard=False if address is None else None,
                    log_to_driver=False,
                    configure_logging=False,
                )
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise _no_cluster(address, error) from error
        self.workers = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        ray = self._ray
        remote = ray.remote(max_retries=ATTEMPTS - 1)(_run)
        fresh = enumerate(tasks)
        flying: dict[Any, tuple[int, Task[Result]]] = {}
        try:
            while True:
                while len(flying) < self.workers and (taken := next(fresh, None)) is not None:
                    flying[remote.remote(taken[1])] = taken
                if not flying:
                    return
                ready, _ = ray.wait(list(flying))
                for reference in ready:
                    index, task = flying.pop(reference)
                    try:
                        result = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        raise WorkError(f"{task}: {describe(error.cause)}") from error
                    except ray.exceptions.RayError as error:
                        raise WorkError(f"{task}: {error}") from error
                    yield index, result
        finally:
            for reference in flying:
                ray.cancel(reference, force=True)

    def close(self) -> None:
        """Leave the cluster; end it if it was made for this process."""
        if self._mine:
            self._ray.shutdown()


def _run(task: Task[Result]) -> Result:
    return task.run(_ignore)


def _knock(address: str) -> None:
    """Refuse an address at which no cluster listens: Ray would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, getattr(error, "strerror", None) or error) from error


def _no_cluster(address: str | None, why: object) -> ConfigurationError:
    return ConfigurationError(f"there is no Ray cluster at {address!r}: {why}. Start one with: ray start --head")
