"""Where games are played: in this process, in processes on this machine, on a Ray cluster.

    for index, games in Processes(2).run(jobs): ...

An executor takes jobs, pieces of matches, and yields what each has brought, as soon as it has, with the
place of the job in the order in which they were taken. Jobs are taken when there is somebody to play them,
so their number need not be known. Games do not depend on who plays them. Whoever stops early, by closing
the iterator or by an exception, leaves nothing running behind.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from vauban import __version__
from vauban.arena.match import FinishedGame, Match
from vauban.arena.processes import become_worker, process_context, start_server
from vauban.errors import ConfigurationError, VaubanError, install_command

ATTEMPTS = 3
"""So often a job is begun whose process is ended from outside; then something about it ends processes."""
PATIENCE = 5.0
"""Seconds that a process has to end by itself."""
CONNECT_SECONDS = 10.0
"""For the first word of a cluster."""


class ExecutorError(VaubanError, RuntimeError):
    """Games that cannot be played where they were to be played."""


@dataclass(frozen=True)
class Job:
    """Some games of a match."""

    match: Match
    numbers: tuple[int, ...]
    version: str = __version__
    """Of Vauban, where the job was made: games of another might differ."""

    def play(self) -> list[FinishedGame]:
        """Play them, here."""
        from vauban.arena.play import play_games  # brings torch along, which whoever hands out jobs does not need

        if self.version != __version__:
            raise ExecutorError(
                f"a worker has Vauban {__version__}, and the match was begun with {self.version}: "
                "install the same version everywhere"
            )
        return play_games(self.match, self.numbers)

    def __str__(self) -> str:
        last = f"–{self.numbers[-1]}" if len(self.numbers) > 1 else ""
        return f"games {self.numbers[0]}{last} of {' – '.join(self.match.names)}"


class Executor(Protocol):
    """Plays jobs."""

    workers: int
    """How many jobs are played at the same time."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, list[FinishedGame]]]:
        """Play all jobs; yields the place of each, and its games, in the order in which they are done."""


class Here:
    """Plays in this process, one job after the other."""

    workers = 1

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, list[FinishedGame]]]:
        for index, job in enumerate(jobs):
            yield index, job.play()


# ── Processes on this machine ────────────────────────────────────────────────────────────────────


class Processes:
    """Plays in processes on this machine: one for each core, unless told otherwise.

    A job whose process is killed is played again by another.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and (type(workers) is not int or workers < 1):
            raise ConfigurationError(f"the number of workers is a whole number from 1, not {workers!r}")
        self.workers = workers or cores()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, list[FinishedGame]]]:
        waiting = deque[_Task]()
        fresh = enumerate(jobs)
        idle: list[_Worker] = []
        busy: dict[Any, _Worker] = {}  # by the connection to each
        try:
            while True:
                while len(busy) < self.workers:
                    task = waiting.popleft() if waiting else next((_Task(i, job) for i, job in fresh), None)
                    if task is None:
                        break
                    worker = idle.pop() if idle else _Worker()
                    busy[worker.connection] = worker
                    worker.begin(task)
                if not busy:
                    return
                for connection in wait(list(busy)):
                    worker = busy.pop(connection)
                    assert worker.task is not None
                    try:
                        answer = worker.connection.recv()
                    except (EOFError, OSError):
                        waiting.append(worker.bury())
                        continue
                    idle.append(worker)
                    if isinstance(answer, Exception):
                        raise answer
                    yield worker.task.index, answer
        finally:
            _dismiss([*idle, *busy.values()])


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class _Task:
    """A job on its way."""

    index: int
    job: Job
    attempts: int = 0


class _Worker:
    """A process that plays jobs until it is told to stop, or nobody is left to tell it."""

    def __init__(self) -> None:
        context = process_context("vauban.arena.play")
        start_server(context)
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.task: _Task | None = None

    def begin(self, task: _Task) -> None:
        self.task = task
        task.attempts += 1
        with suppress(OSError):  # it is dead then, as whoever waits for its answer will find
            self.connection.send(task.job)

    def bury(self) -> _Task:
        """What a worker that is dead has left undone."""
        assert self.task is not None
        self.connection.close()
        self.process.join(PATIENCE)
        if self.task.attempts >= ATTEMPTS:
            code = self.process.exitcode or 0
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            raise ExecutorError(
                f"{self.task.job}: the process that played them has ended {how}, {ATTEMPTS} times in a row. "
                "Play them with one worker (--workers 1) to see what happens"
            )
        return self.task


def _dismiss(workers: Iterable[_Worker]) -> None:
    """End processes: kindly, so that they let go of what they hold, then not."""
    staff = list(workers)
    for worker in staff:
        worker.connection.close()
        worker.process.terminate()
    for worker in staff:
        worker.process.join(PATIENCE)
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()


def _work(connection: Connection) -> None:
    """What a worker does."""
    become_worker()
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Any = job.play()
        except Exception as error:
            answer = _complaint(error, job)
        try:
            connection.send(answer)
        except OSError:
            return


def _complaint(error: BaseException, job: Job) -> ExecutorError:
    """What went wrong with the arena, not with an agent, for the process that handed the job out."""
    if isinstance(error, ExecutorError):
        return error
    kind = "" if isinstance(error, VaubanError) else f"{type(error).__name__}: "
    return ExecutorError(f"{job}: {kind}{error}")


# ── A cluster ────────────────────────────────────────────────────────────────────────────────────


def _knock(address: str) -> None:
    """Refuse an address at which nobody listens: Ray would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"there is no Ray cluster at {address!r}: {getattr(error, 'strerror', None) or error}. "
            "Start one with: ray start --head"
        ) from error


class RayExecutor:
    """Plays on a Ray cluster: one that runs, by its address ("auto": the one of this machine), or one of its own."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        """`workers`: how many jobs at a time; as many as the cluster has CPUs if not given."""
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
                raise ConfigurationError(
                    f"there is no Ray cluster at {address!r}: {error}. Start one with: ray start --head"
                ) from error
        self.workers = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, list[FinishedGame]]]:
        ray = self._ray
        play = ray.remote(max_retries=ATTEMPTS - 1)(Job.play)
        fresh = enumerate(jobs)
        flying: dict[Any, tuple[int, Job]] = {}
        try:
            while True:
                while len(flying) < self.workers:
                    taken = next(fresh, None)
                    if taken is None:
                        break
                    flying[play.remote(taken[1])] = taken
                if not flying:
                    return
                ready, _ = ray.wait(list(flying))
                for reference in ready:
                    index, job = flying.pop(reference)
                    try:
                        games = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        raise _complaint(error.cause, job) from error
                    except ray.exceptions.RayError as error:
                        raise ExecutorError(f"{job}: {error}") from error
                    yield index, games
        finally:
            for reference in flying:
                ray.cancel(reference, force=True)

    def close(self) -> None:
        """Leave the cluster; end it if it was made for this process."""
        if self._mine:
            self._ray.shutdown()
