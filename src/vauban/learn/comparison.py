"""Comparisons of learners: runs with the same game and the same time, measured on their way.

    contest = Contest("rnad-kuhn", seed=1, folder=Path("compared/rnad-kuhn-1"), seconds=60.0, points=12)
    points = contest.train(measure)

Each contest is a run like any other, in a folder of its own, whose clock stands still while the run is measured and
saved. It can be killed at any moment: the next `train` goes on from its last checkpoint, which is made together with
each measurement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from vauban.errors import ConfigurationError
from vauban.learn.base import find_learner
from vauban.learn.config import EvaluationConfig, RunConfig, load_config
from vauban.learn.journal import read_lines, write_lines
from vauban.learn.run import CONFIG, Run
from vauban.work.base import Tell

Measure = Callable[[Path, int], Mapping[str, float]]
"""(what plays, the number of the point) → its scores, by metric."""

POINTS_FILE = "points.jsonl"
"""In a run's folder: what was measured, a line for each point."""


@dataclass(frozen=True)
class Point:
    """A measurement of a run after a share of its time."""

    number: int
    """1 for the first of the comparison's points."""
    iteration: int
    seconds: float
    """Of learning: on a CPU its processor time, on a GPU by the clock."""
    games: float
    moves: float
    measured: Mapping[str, float]


class Stopwatch:
    """Seconds of learning: processor time on a CPU, so that others on the machine cost nothing; else by the clock."""

    def __init__(self, device: torch.device, read: Callable[[], float] | None = None) -> None:
        self._read = read or (time.process_time if device.type == "cpu" else time.perf_counter)
        self._away = 0.0
        self._paused: float | None = None

    def __call__(self) -> float:
        return (self._read() if self._paused is None else self._paused) - self._away

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stand still meanwhile."""
        self._paused = self._read()
        try:
            yield
        finally:
            self._away += self._read() - self._paused
            self._paused = None


@dataclass(frozen=True)
class Contest:
    """A run of a comparison: one learner with one seed."""

    preset: str
    seed: int
    folder: Path
    seconds: float
    points: int
    changes: tuple[str, ...] = ()
    """Of the configuration, `key=value`: the same for all that are compared."""
    device: str = "cpu"

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The learner and the seed."""
        return f"{label(self.preset)}, seed {self.seed}"

    @property
    def config(self) -> RunConfig:
        """The configuration of the run: that of the preset, for the time of the comparison."""
        made = load_config(self.preset, self.changes)
        if made.later_minutes():
            raise ConfigurationError(
                f"{self.preset} has stages after the first ({', '.join(made.later_minutes())}), and a comparison is of "
                "one algorithm at a time: give their minutes as 0 in a .toml file of your own"
            )
        if any(stage.elsewhere for stage in made.stages.values()):
            raise ConfigurationError(
                f"{self.preset} hands work to other processes, and a comparison counts the seconds of one: set what "
                "says so (psro.spread) back in a .toml file of your own"
            )
        # Evaluated by the comparison, at its own times.
        alone = replace(made.evaluation, every=0.0)
        return replace(made, seed=self.seed, iterations=0, minutes=self.seconds / 60, evaluation=alone, keep_models=0)

    def train(self, measure: Measure, tell: Tell = lambda share: None) -> list[Point]:
        """Train for the time that is left, and measure; all points, those of before included."""
        there = read_points(self.folder)
        if there and there[-1].number == self.points:
            return there
        device = torch.device(self.device)
        if device.type == "cpu":
            torch.set_num_threads(1)
        self._compile(device)
        watch = Stopwatch(device)
        if (self.folder / CONFIG).exists():
            run = Run.resume(self.folder, device, clock=watch)
        else:
            run = Run.begin(self.config, self.folder, device, clock=watch)
        points = [point for point in there if point.iteration <= run.iteration]
        with closing(run):
            while run.goes_on():
                run.iterate()
                tell(min(1.0, 60 * run.minutes / self.seconds))
                number = min(self.points, int(self.points * 60 * run.minutes / self.seconds))
                if number > (points[-1].number if points else 0):
                    with watch.paused():
                        points.append(self._measured(run, number, measure))
                        write_lines(self.folder / POINTS_FILE, [asdict(point) for point in points])
        return points

    def _compile(self, device: torch.device) -> None:
        """Have everything compiled before the clock runs, by an iteration of another run that is thrown away."""
        with TemporaryDirectory() as folder, closing(Run.begin(self.config, Path(folder) / "run", device)) as run:
            run.iterate()

    def _measured(self, run: Run, number: int, measure: Measure) -> Point:
        run.save()
        seconds, totals = 60 * run.minutes, run.totals
        return Point(
            number, run.iteration, seconds, totals["games"], totals["moves"], dict(measure(run.player, number))
        )


@dataclass(frozen=True)
class ContestTask:
    """A contest for an executor, with what measures it."""

    contest: Contest
    measurer: Callable[[RunConfig], Measure]
    """Makes what measures it from the configuration of the run; a function of a module, so that it can be sent."""
    modules: tuple[str, ...] = field(default=("vauban.learn.comparison",))

    def __str__(self) -> str:
        return self.contest.name

    def run(self, tell: Tell) -> list[Point]:
        return self.contest.train(self.measurer(self.contest.config), tell)


def read_points(folder: Path) -> list[Point]:
    """Return the points of a run so far."""
    return [Point(**line) for line in read_lines(folder / POINTS_FILE)]


def label(preset: str) -> str:
    """Return the name of a preset, or that of a file without its ending."""
    return Path(preset).stem if preset.endswith(".toml") else preset


def contests(
    presets: Sequence[str], seeds: int, folder: Path, seconds: float, points: int, changes: Sequence[str] = (),
    device: str = "cpu",
) -> list[Contest]:  # fmt: skip
    """Return the runs of a comparison, after a check that they learn the same game.

    The seeds go round first, so that a comparison that is ended early has every learner in it.
    """
    names = [label(preset) for preset in presets]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{name} is named twice: give each learner once, or files with other names")
    made = [
        Contest(preset, seed, folder / f"{label(preset)}-{seed}", seconds, points, tuple(changes), device)
        for seed in range(1, seeds + 1)
        for preset in presets
    ]
    first = made[0].config
    for each in made[: len(presets)]:
        config = each.config
        if (config.game, config.rules) != (first.game, first.rules):
            raise ConfigurationError(
                f"{made[0].preset} learns {_played(first)}, and {each.preset} learns {_played(config)}: name the game "
                "that all are to learn, e.g. --game kuhn"
            )
    return made


def about(contest: Contest) -> str:
    """Return what a learner is, in a few words."""
    kind = find_learner(contest.config.algorithms[0])
    return kind.about or kind.name


def evaluation_of(config: RunConfig, opponents: Sequence[str], games: int, exact: bool) -> RunConfig:
    """Return a configuration that asks to be measured, against opponents and exactly."""
    asked = EvaluationConfig(every=1.0, games=games, ladder=tuple(opponents), exact=exact)
    return replace(config, evaluation=asked)


def settings(made: Sequence[Contest]) -> dict[str, Any]:
    """Return what all runs of a comparison have in common, whichever learners and seeds are in it."""
    first = made[0]
    return {
        "game": first.config.game,
        "rules": first.config.rules,
        "seconds": first.seconds,
        "points": first.points,
        "changes": list(first.changes),
        "device": first.device,
    }


def _played(config: RunConfig) -> str:
    return f"{config.game} ({config.rules})" if config.rules else config.game
