"""Executors on a Ray cluster: tasks, which go wherever there is room, and crews of actors, which stay.

    cluster = RayExecutor("auto")
    for index, result in cluster.run(tasks): ...
    cluster.close()

Nothing has to be at the same place on every machine: folders travel as bytes through Ray's object store.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vauban.errors import ConfigurationError, install_command
from vauban.work.base import (
    ATTEMPTS,
    Parcel,
    Result,
    Task,
    WorkError,
    describe,
    home_of,
    ignore,
    nearest_home,
)
from vauban.work.parcels import Packed

CONNECT_SECONDS = 10.0
"""Seconds that a cluster has for its first answer."""
ROOM_SECONDS = 30.0
"""Seconds after which it is said that a crew waits for room on the cluster."""


class RayExecutor:
    """Does tasks on a Ray cluster: one that runs, by its address ("auto": this machine's), or one of its own.

    A task whose process or machine is lost is done again elsewhere.
    """

    back = staticmethod(Packed.of)

    def __init__(self, address: str | None = None, workers: int | None = None, *, gpus: float = 0.0) -> None:
        """
        workers: number of tasks at a time; as many as the cluster has CPUs if not given.
        gpus: the share of a GPU that each has.
        """
        try:
            import ray
        except ImportError as error:
            raise ConfigurationError(f"a Ray cluster needs ray: {install_command('ray')}") from error
        self._ray: Any = ray
        self._most, self.gpus = workers, gpus
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

    @property
    def workers(self) -> int:
        """Tasks that are done at the same time: machines may join a cluster, and be lost."""
        return self._most or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        ray = self._ray
        remote = ray.remote(max_retries=ATTEMPTS - 1, num_cpus=1, num_gpus=self.gpus)(_run)
        fresh = enumerate(tasks)
        flying: dict[Any, tuple[int, Task[Result]]] = {}
        workers = self.workers
        try:
            while True:
                while len(flying) < workers and (taken := next(fresh, None)) is not None:
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

    def parcel(self, folder: Path, without: str = "") -> Parcel:
        """Return a folder as a task can take it along: its bytes lie in the object store until nobody needs them."""
        return _Stored(self._ray.put(Packed.of(folder, without)))

    def close(self) -> None:
        """Leave the cluster; end it if it was made for this process."""
        if self._mine:
            self._ray.shutdown()


@dataclass(frozen=True)
class _Stored:
    """A packed folder in the object store, of which a task fetches what it does not have."""

    reference: Any

    def unpack(self, folder: Path) -> None:
        import ray

        ray.get(self.reference).unpack(folder)


def _run(task: Task[Result]) -> Result:
    return task.run(ignore)


# ── Crews ────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class _Begun:
    """A task on its way."""

    index: int
    task: Task[Any]
    attempts: int = 0


class _Actor:
    """A standing worker, on whatever machine has room for it."""

    def join(self) -> None:
        """Answer as soon as it is there."""

    def run(self, task: Task[Result]) -> Result:
        return task.run(ignore)


class RayCrew(RayExecutor):
    """Does tasks on a Ray cluster by actors, which keep what they have at hand for the next tasks.

    An actor that is lost is replaced as soon as there is room; its task is done again by whoever is free first.
    """

    def __init__(
        self, workers: int, address: str | None = None, *, gpus: float = 0.0,
        note: Callable[[str], object] = lambda sentence: None,
    ) -> None:  # fmt: skip
        """`note` is told when the crew waits for room."""
        super().__init__(address, None, gpus=gpus)
        self._most, self._note, self._noted = workers, note, False
        self._idle: list[tuple[Any, object]] = []
        """Actors, each with the home of its last task."""
        self._joining: dict[Any, Any] = {}
        """Actors that are not there yet, by the answer that they will give."""
        self._failed = 0
        """Actors in a row that ended before they were there."""
        # Of CPUs an actor takes one to be placed, and none while it waits for tasks: those of measuring need them.
        wanted = {"num_cpus": 0, "num_gpus": gpus} if gpus else {}
        self._actor = self._ray.remote(max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD", **wanted)(
            _Actor
        )

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        ray = self._ray
        fresh = (_Begun(index, task) for index, task in enumerate(tasks))
        waiting = deque[_Begun]()
        busy: dict[Any, tuple[Any, _Begun]] = {}
        try:
            while True:
                if not waiting and (begun := next(fresh, None)):
                    waiting.append(begun)
                if not waiting and not busy:
                    return
                if waiting and (actor := nearest_home(self._idle, waiting[0].task)):
                    begun = waiting.popleft()
                    begun.attempts += 1
                    busy[actor.run.remote(begun.task)] = actor, begun
                    continue
                self._hire(len(busy))
                for reference in self._wait(busy):
                    if reference in self._joining:
                        self._welcome(reference)
                        continue
                    actor, begun = busy.pop(reference)
                    try:
                        result = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        self._idle.append((actor, None))
                        raise WorkError(f"{begun.task}: {describe(error.cause)}") from error
                    except ray.exceptions.RayError as error:
                        ray.kill(actor)
                        if begun.attempts >= ATTEMPTS:
                            raise WorkError(f"{begun.task}, begun {ATTEMPTS} times: {error}") from error
                        waiting.append(begun)
                        continue
                    self._idle.append((actor, home_of(begun.task)))
                    yield begun.index, result
        finally:
            for actor, _ in busy.values():
                ray.kill(actor)

    def _hire(self, busy: int) -> None:
        """Ask for actors in place of those that are missing."""
        for _ in range(self.workers - len(self._idle) - len(self._joining) - busy):
            actor = self._actor.remote()
            self._joining[actor.join.remote()] = actor

    def _wait(self, busy: dict[Any, Any]) -> list[Any]:
        """Wait for an actor that joins, or that is done."""
        alone = not busy and not self._idle
        ready, _ = self._ray.wait([*self._joining, *busy], timeout=ROOM_SECONDS if alone else None)
        if not ready and not self._noted:
            share = f"{self.gpus:g} of a GPU" if self.gpus else "a CPU"
            self._note(f"the cluster has no room yet, and is waited for: a worker needs {share}")
        self._noted = not ready
        return list(ready)

    def _welcome(self, reference: Any) -> None:
        """Count an actor in that has joined, or could not."""
        actor = self._joining.pop(reference)
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._failed += 1
            if self._failed >= ATTEMPTS * self.workers:
                raise WorkError(f"the workers of the cluster end as soon as they begin: {error}") from error
            return
        self._failed = 0
        self._idle.append((actor, None))

    def close(self) -> None:
        """Let the actors go, and leave the cluster; end it if it was made for this process."""
        if self._ray.is_initialized():
            for actor in [*(each for each, _ in self._idle), *self._joining.values()]:
                self._ray.kill(actor)
        self._idle.clear()
        self._joining.clear()
        super().close()


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
