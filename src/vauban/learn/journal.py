"""The journal of a run: one line of JSON an iteration (`vauban.learn.metrics` explains the numbers)."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vauban.errors import MissingLibraryError
from vauban.files import write_whole
from vauban.learn.watchers import Watcher

METRICS_FILE = "metrics.jsonl"
"""In a run's folder: a line for each iteration."""


class Journal:
    """The metrics of a run in its folder, `metrics.jsonl`, and what draws them."""

    def __init__(self, folder: Path, note: Callable[[str], None], watchers: Sequence[Watcher] = ()) -> None:
        """note: takes a sentence on what is not drawn any more. watchers: draw the metrics."""
        self.path = folder / METRICS_FILE
        self._note = note
        self._watchers = list(watchers)
        self._purge: dict[str, int] = {}

    def rewind(self, reached: Mapping[str, int]) -> None:
        """Forget what came later, by the metrics that count iterations: a resumed run says it again."""
        kept = [line for line in self.lines() if all(line.get(clock, 0) <= count for clock, count in reached.items())]
        write_lines(self.path, kept)
        self._purge = {clock: count + 1 for clock, count in reached.items()}

    def write(
        self, metrics: Mapping[str, float], stage: str = "", clock: str = "iteration", own: Container[str] = ()
    ) -> None:
        """Add a line.

        stage: the later stage that it is of, with curves of its own; clock: the metric that counts its iterations;
        own: its metrics. What its line says of the stages before has been said already.
        """
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(metrics)) + "\n")
        mine = {name: value for name, value in metrics.items() if not stage or name in own}
        self._draw(stage, mine, int(metrics[clock]), clock)

    def amend(self, metrics: Mapping[str, float]) -> None:
        """Add to the last line, which is one of the first stage, what came to be known after it was written."""
        *before, last = self.lines()
        write_lines(self.path, [*before, {**last, **metrics}])
        new = {name: value for name, value in metrics.items() if name not in last}
        self._draw("", new, int(last["iteration"]))

    def close(self) -> None:
        """End what the watchers have running beside the run."""
        for watcher in list(self._watchers):
            with self._guarded(watcher):
                watcher.close()

    def _draw(self, part: str, metrics: Mapping[str, float], step: int, clock: str = "iteration") -> None:
        """Tell the watchers."""
        for watcher in list(self._watchers):
            with self._guarded(watcher):
                watcher.tell(part, metrics, step, clock, self._purge.get(clock))

    @contextmanager
    def _guarded(self, watcher: Watcher) -> Iterator[None]:
        """Tell a watcher nothing more when it fails; one that nobody asked for need not be installed."""
        try:
            yield
        except Exception as error:
            self._watchers.remove(watcher)
            if isinstance(error, ImportError) and not isinstance(error, MissingLibraryError):
                return
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            self._note(
                f"{watcher.name}'s curves are not written any more ({reason}); {self.path.name} has every line, and "
                "the run goes on"
            )

    def lines(self) -> list[dict[str, float]]:
        """Return all lines so far; one that was cut off when the run was killed is left out."""
        return read_metrics(self.path.parent)


def read_metrics(folder: Path) -> list[dict[str, float]]:
    """Return all lines of a run's metrics; one that was cut off when the run was killed is left out."""
    return read_lines(folder / METRICS_FILE)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines, up to one that was cut off; none if there is no file."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return found


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Make these the objects of a file of JSON lines; whoever is killed meanwhile leaves it as it was."""
    write_whole(path, "".join(json.dumps(line) + "\n" for line in lines))
