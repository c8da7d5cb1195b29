"""`Bridge`: standing workers on a Ray cluster, for a server that must outlive it.

    bridge = Bridge("auto")                              # or ray://HOST:PORT, HOST:PORT, local
    pool = Pool(bridge.workers, hire=bridge.hire)

Ray ends a process that belongs to a cluster which is lost, and starts threads that a server has no use for. So a
process of its own belongs to the cluster, and passes on what is said: tasks, progress, results.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from vauban import __version__
from vauban.errors import ConfigurationError, VaubanError
from vauban.work.base import Task, Tell, WorkError, check_version, describe
from vauban.work.cluster import RayExecutor
from vauban.work.processes import PATIENCE, become_worker, prepare

LOCAL = "local"
"""In place of an address: a cluster of this machine alone, begun now."""
TELL_SECONDS = 0.5
"""Seconds between two questions about the progress of a task."""
ROOM_SECONDS = 10.0
"""Seconds in which the cluster has to find room for a worker that is wanted now."""
LOST_SECONDS = 10
"""Seconds without a sign of the cluster after which the process that belongs to it gives it up."""

Said = tuple[str, Any]
"""A message of a worker: "result", "error", "progress" or "lost", and its value. Tasks and results travel as bytes,
which the process between does not unpickle."""


class Bridge:
    """A cluster, and the process through which it is reached."""

    def __init__(self, address: str, patience: float = ROOM_SECONDS) -> None:
        """Connect to the cluster at an address; refuse one that is not there.

        It has `patience` seconds to find room for a worker that is wanted.
        """
        self.address, self._patience = address, patience
        self.workers = 0
        """CPUs of the cluster when it was reached last: so many tasks are done at the same time."""
        self._line: _Line | None = None
        self._closed = False
        self.connect()

    @property
    def connected(self) -> bool:
        """Whether the cluster can be reached."""
        return self._line is not None and self._line.stands

    def connect(self) -> None:
        """Reach the cluster, for the first time or again."""
        line = _Line(self.address, self._patience)
        self.workers = line.workers
        if self._closed:
            line.close()
        else:
            self._line = line

    def hire(self) -> FarWorker:
        """Return a worker on the cluster; it is begun there with its first task."""
        line = self._line
        if line is None or not line.stands:
            raise WorkError("the Ray cluster is lost")
        return FarWorker(line)

    def close(self) -> None:
        """Leave the cluster; its workers end."""
        self._closed = True
        if self._line is not None:
            self._line.close()
            self._line = None


class FarWorker:
    """A worker on the cluster, as a pool knows it."""

    def __init__(self, line: _Line) -> None:
        self._line = line
        self._number, self._mail = line.open()

    def begin(self, task: Task[Any]) -> None:
        """Hand a task over."""
        self._line.send((self._number, "run", pickle.dumps(task)))

    def listen(self, tell: Tell) -> tuple[Any] | None:
        """Wait for the next word of the task, as every `Hand` does."""
        what, value = self._mail.get()
        if what == "lost":
            raise EOFError(value)
        if what == "error":
            raise WorkError(value)
        if what == "result":
            return (pickle.loads(value),)
        tell(value)
        return None

    def kill(self) -> None:
        """End it at once."""
        with suppress(OSError):  # then the cluster ends it
            self._line.send((self._number, "kill", None))
        self._line.shut(self._number, "it was ended")


class _Line:
    """The connection with the process that belongs to the cluster."""

    def __init__(self, address: str, patience: float) -> None:
        self._sending, self._opening = threading.Lock(), threading.Lock()
        context = prepare(())
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_belong, args=(theirs, address, patience), daemon=True)
        self._process.start()
        theirs.close()
        try:
            what, value = self._connection.recv()
        except EOFError:
            what, value = "refused", f"the process that should have reached the Ray cluster at {address!r} has ended"
        if what == "refused":
            self.close()
            raise ConfigurationError(value)
        self.workers: int = value
        self.stands = True
        self._mail: dict[int, queue.SimpleQueue[Said]] = {}
        self._last = 0
        threading.Thread(target=self._receive, name="bridge", daemon=True).start()

    def open(self) -> tuple[int, queue.SimpleQueue[Said]]:
        """Return the number of a new worker, and where to wait for what it says."""
        with self._opening:
            self._last += 1
            mail = self._mail[self._last] = queue.SimpleQueue()
            if not self.stands:
                mail.put(("lost", "the Ray cluster is lost"))
            return self._last, mail

    def shut(self, number: int, why: str) -> None:
        """Forget a worker; whoever waits for it is told why."""
        with self._opening:
            mail = self._mail.pop(number, None)
        if mail is not None:
            mail.put(("lost", why))

    def send(self, message: tuple[int, str, Any]) -> None:
        with self._sending:
            self._connection.send(message)

    def _receive(self) -> None:
        """Distribute what workers say, until the process is gone."""
        with suppress(EOFError, OSError):
            while True:
                number, what, value = self._connection.recv()
                with self._opening:
                    mail = self._mail.get(number)
                if mail is not None:
                    mail.put((what, value))
        with self._opening:
            self.stands = False
            numbers = list(self._mail)
        for number in numbers:
            self.shut(number, "the Ray cluster is lost")

    def close(self) -> None:
        with suppress(OSError):
            self.send((0, "leave", None))
        self._process.join(PATIENCE)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        with suppress(OSError):
            self._connection.close()


# ── In the process that belongs to the cluster ───────────────────────────────────────────────────


def _belong(connection: Connection, address: str, patience: float) -> None:
    become_worker()
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(LOST_SECONDS))
    try:
        cluster = RayExecutor(None if address == LOCAL else address)
    except VaubanError as error:
        connection.send(("refused", str(error)))
        return
    lock = threading.Lock()
    seats: dict[int, _Seat] = {}

    def say(number: int, what: str, value: Any) -> None:
        with lock:
            connection.send((number, what, value))

    try:
        connection.send(("ready", cluster.workers))
        while True:
            number, what, value = connection.recv()
            if what == "leave":
                return
            if what == "run":
                if number not in seats:
                    seats[number] = _Seat(partial(say, number), patience)
                seats[number].tasks.put(value)
            elif number in seats:
                seats.pop(number).kill()
    except (EOFError, OSError):
        return  # nobody is left who could ask
    finally:
        cluster.close()


class _Thinker:
    """A standing worker on some machine of the cluster, which says how far it is."""

    def __init__(self) -> None:
        self._share = 0.0

    def join(self) -> str:
        """Return its version of Vauban, as soon as it is there."""
        return __version__

    def run(self, data: bytes) -> bytes:
        """Do a task; return its result. Both are pickled."""
        self._share = 0.0
        task: Task[Any] = pickle.loads(data)
        return pickle.dumps(task.run(self._tell))

    def share(self) -> float:
        """Return how far the task is; another thread does it."""
        return self._share

    def _tell(self, share: float) -> None:
        self._share = share


class _Seat:
    """The place of one worker: an actor, and a thread that waits for what it says."""

    def __init__(self, say: Callable[[str, Any], None], patience: float) -> None:
        import ray

        self._ray: Any = ray
        self._say = say
        self.tasks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._patience = patience
        thinker = ray.remote(max_restarts=0, max_task_retries=0, max_concurrency=2, scheduling_strategy="SPREAD")
        self._actor: Any = thinker(_Thinker).remote()
        self._joining: Any = self._actor.join.remote()
        threading.Thread(target=self._serve, daemon=True).start()

    def kill(self) -> None:
        """End the actor, wherever it is."""
        with suppress(Exception):
            self._ray.kill(self._actor)
        self.tasks.put(None)

    def _serve(self) -> None:
        while (task := self.tasks.get()) is not None:
            try:
                self._say(*self._do(task))
            except OSError:
                return  # nobody listens any more
            except Exception as error:
                with suppress(OSError):
                    self._say("lost", str(error).partition("\n")[0])
                return

    def _do(self, task: bytes) -> Said:
        """Have a task done; an error of Ray's means that the actor is lost."""
        ray = self._ray
        if self._joining is not None:
            if not ray.wait([self._joining], timeout=self._patience)[0]:
                self._patience = 0.0  # it waits for room on the cluster, and we do not wait for it again
                return "error", "the Ray cluster has no room for another worker just now"
            there, self._joining = ray.get(self._joining), None
            try:
                check_version(there, "what is asked of the cluster")
            except WorkError as error:
                self._joining, self._patience = self._actor.join.remote(), 1.0
                return "error", str(error)
        running = self._actor.run.remote(task)
        try:
            while not ray.wait([running], timeout=TELL_SECONDS)[0]:
                self._say("progress", ray.get(self._actor.share.remote()))
            return "result", ray.get(running)
        except ray.exceptions.RayTaskError as error:
            return "error", describe(error.cause)
