"""The journal of a run: one line of JSON an iteration (`vauban.learn.metrics` explains the numbers)."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from vauban.files import write_whole

METRICS_FILE = "metrics.jsonl"
"""In a run's folder: a line for each iteration."""


class Journal:
    """The metrics of a run in its folder: `metrics.jsonl`, and TensorBoard's files where that is installed."""

    def __init__(self, folder: Path, note: Callable[[str], None]) -> None:
        """note: takes a sentence on what is not written."""
        self.path = folder / METRICS_FILE
        self._note = note
        self._boards: dict[str, Any] = {}
        self._purge: dict[str, int] = {}
        self._draws = True
        """Whether TensorBoard is written to."""

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
        """End the threads that write TensorBoard's files."""
        boards, self._boards = self._boards, {}
        for board in boards.values():
            try:
                board.close()
            except OSError as error:
                self._stop_drawing(error)

    def _draw(self, part: str, metrics: Mapping[str, float], step: int, clock: str = "iteration") -> None:
        """Tell TensorBoard. It is a picture of the run and no part of it: when it fails, the run goes on."""
        if not self._draws:
            return
        try:
            board = self._tensorboard(part, clock)
            for name, value in metrics.items():
                board.add_scalar(name.replace(".", "/", 1), value, step)
            board.flush()
        except ImportError:  # it is not installed, and nobody has to have it
            self._draws = False
        except OSError as error:
            self._stop_drawing(error)

    def _stop_drawing(self, error: OSError) -> None:
        if self._draws:
            self._draws = False
            self._note(
                f"TensorBoard's curves are not written any more ({error}); {self.path.name} has every line, and the "
                "run goes on"
            )

    def _tensorboard(self, part: str, clock: str) -> Any:
        """Return TensorBoard's writer for a part, made when there is something to write."""
        if part not in self._boards:
            from torch.utils.tensorboard import SummaryWriter

            # It writes from a thread of its own, also when the program has gone to another folder.
            folder = (self.path.parent / "tensorboard" / part).absolute()
            self._boards[part] = SummaryWriter(str(folder), purge_step=self._purge.get(clock))
        return self._boards[part]

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
