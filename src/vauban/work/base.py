"""Tasks, executors, and their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar

from vauban import __version__
from vauban.errors import VaubanError

Someone = TypeVar("Someone")
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
    one. It may have an attribute `home`: a standing worker that has done a task with the same one does it rather than
    others, since it has at hand what the task needs.
    """

    def run(self, tell: Tell) -> Result_co:
        """Do it; a task that takes long calls `tell` now and then."""


class Hand(Protocol):
    """A worker that does one task after the other, wherever it is."""

    def begin(self, task: Task[Any]) -> None:
        """Hand a task over."""

    def listen(self, tell: Tell) -> tuple[Any] | None:
        """Wait for the next word of the task: its result, in a tuple, or None after progress, which `tell` is told.

        Raises WorkError if the task failed, and EOFError or OSError if the worker is gone.
        """

    def kill(self) -> None:
        """End it at once."""


class Executor(Protocol):
    """Does tasks, some at the same time."""

    @property
    def workers(self) -> int:
        """Tasks that are done at the same time."""

    def run(self, tasks: Iterable[Task[Result]]) -> Iterator[tuple[int, Result]]:
        """Do all tasks; yield the index of each and its result, as soon as it is done.

        Tasks are taken when a worker is free, so their number need not be known. Closing the iterator, or an
        exception, stops what is still being done.
        """


class Parcel(Protocol):
    """A folder on its way to another process, here or on another machine."""

    def unpack(self, folder: Path) -> None:
        """Make a folder of it, which is not there yet."""


class Crew(Executor, Protocol):
    """An executor whose workers stay, with what they have at hand, and to whom folders can be sent."""

    def parcel(self, folder: Path, without: str = "") -> Parcel:
        """Return a folder as a task can take it along, without what lies in it by names like this (`*`: any)."""

    @property
    def back(self) -> Callable[[Path], Parcel]:
        """Return what does the same with a folder that a task brings back."""

    def close(self) -> None:
        """Let the workers go."""


def ignore(share: float) -> None:
    """Stand where nobody wants to be told of progress."""


def home_of(task: Task[Any]) -> object:
    """Return what a task has in common with others that one worker should do."""
    return getattr(task, "home", None)


def nearest_home(idle: list[tuple[Someone, object]], task: Task[Any]) -> Someone | None:
    """Take a worker for a task: the one that it is at home with, else the one that has waited longest, if any."""
    wanted = home_of(task)
    place = next((place for place, (_, home) in enumerate(idle) if home == wanted), 0)
    return idle.pop(place)[0] if idle else None


def check_version(theirs: str, what: str) -> None:
    """Refuse work that was begun by another version of Vauban: it might come to something else."""
    if theirs != __version__:
        raise WorkError(
            f"a worker has Vauban {__version__}, and {what} was begun with {theirs}: "
            "install the same version everywhere"
        )


def describe(error: BaseException) -> str:
    """Return an error's message, with its kind where it is none of Vauban's own."""
    return str(error) if isinstance(error, VaubanError) else f"{type(error).__name__}: {error}"
