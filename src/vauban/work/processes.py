"""Worker processes: their start, their tasks, their end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from vauban.work.base import Task, Tell, WorkError, describe

PATIENCE = 5.0
"""Seconds that a process has to end by itself."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(modules: Iterable[str]) -> Any:
    """Start the process that workers are copied from, where the system has that; it imports these modules once for all.

    Returns the context that starts workers.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(modules))
    if threading.current_thread() is threading.main_thread():
        # It keeps the handler that it is started with: Ctrl-C would look like an error while it still imports.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            forkserver.ensure_running()
        finally:
            signal.signal(signal.SIGINT, before)
    return context


class Worker:
    """A process that does one task after the other until it is ended, or this process is gone."""

    def __init__(self, modules: Iterable[str] = ()) -> None:
        context = prepare(modules)
        self.connection, theirs = context.Pipe()
        try:
            self.process = context.Process(target=_work, args=(theirs,), daemon=True)
            self.process.start()
        except BaseException:
            self.connection.close()
            raise
        finally:
            theirs.close()

    def begin(self, task: Task[Any]) -> None:
        """Hand a task over."""
        self.connection.send(task)

    def listen(self, tell: Tell) -> tuple[Any] | None:
        """Wait for the next word of the task, as every `Hand` does."""
        what, value = self.connection.recv()
        if what == "error":
            raise WorkError(value)
        if what == "result":
            return (value,)
        tell(value)
        return None

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join(PATIENCE)
        # Only now: a thread may still listen, and learns from the other end that there is no answer.
        with suppress(OSError):
            self.connection.close()


def dismiss(workers: Iterable[Worker]) -> None:
    """End workers so that they can let go of what they hold, such as programs they started; kill those that do not."""
    staff = list(workers)
    for worker in staff:
        worker.connection.close()
        worker.process.terminate()
    for worker in staff:
        worker.process.join(PATIENCE)
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()


# ── In the worker ────────────────────────────────────────────────────────────────────────────────


def _work(connection: Connection) -> None:
    become_worker()
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = ("result", task.run(lambda share: connection.send(("progress", share))))
        except Exception as error:
            answer = ("error", describe(error))
        try:
            connection.send(answer)
        except OSError:
            return


def become_worker() -> None:
    """Leave Ctrl-C to the process that started this one, end with it, and keep to one core."""
    # Ctrl-C reaches every process of a terminal; the one that hands the work out decides what follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.unraisablehook = _end_all_the_same
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"  # for a torch that is imported later
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _end_all_the_same(unraised: sys.UnraisableHookArgs) -> None:
    """End this process where Python cannot raise the exit: in a call back from the compiler."""
    if isinstance(unraised.exc_value, SystemExit):
        os._exit(1)
    sys.__unraisablehook__(unraised)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, even in the middle of a task."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
