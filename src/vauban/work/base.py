"""Tasks, executors, and their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from vauban.errors import VaubanError

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

Tell = Callable[[float], Any]
"""Called with the share of a task that is done, from 0 to 1."""

ATTEMPTS = 3
"""Most times that a task is begun whose process is killed. After that, the task itself is taken to kill processes."""


class WorkError(VaubanError, RuntimeError):
    """A task that has no result; the message says why."""


class BusyError(WorkError):
    """A pool that has too much to do already."""


class Task(Protocol[Result_co]):
    """Something to do, here or elsewhere. It can be pickled, and its `str` names it in messages.

    A task may have an attribute `modules`: the modules that a new process imports before it is given tasks like this
    one.
    """

    def run(self, tell: Tell) -> Result_co:
        """Do it; a task that takes long calls `tell` now and then."""


class Executor(Protocol):
    """Does tasks, some at the same time."""

    workers: int
    """Tasks that are done at the same time."""

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        """Do all tasks; yield the index of each and its result, as soon as it is done.

        Tasks are taken when a worker is free, so their number need not be known. Closing the iterator, or an
        exception, stops what is still being done.
        """


def describe(error: BaseException) -> str:
    """Return an error's message, with its kind where it is none of Vauban's own."""
    return str(error) if isinstance(error, VaubanError) else f"{type(error).__name__}: {error}"
