"""The display of a training run: it stays in its place on a terminal; elsewhere there is a line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from vauban.cli.output import errors
from vauban.learn.base import Estimate
from vauban.learn.run import METRICS

if TYPE_CHECKING:
    from vauban.learn.run import Run, Stage

LINE_SECONDS = 5.0
"""Least seconds between two lines where nobody watches a terminal,"""
LONG = 1.0
"""unless an iteration takes more than so many seconds: then each has a line."""
ENOUGH, ENOUGH_SECONDS = 20, 10.0
"""After so many iterations, or seconds of them, time and cost are told where they could not be measured before."""
COMPILING = 1.0
"""Seconds of compiling that are worth a word."""
SCORE, LOW, HIGH = "score.", "score_low.", "score_high."


class Display:
    """Shows how a run goes on."""

    def __init__(self, run: Run, console: Console = errors) -> None:
        self.run = run
        self.console = console
        self.price: float | None = None
        """Of an hour of one GPU, while time and cost have still to be told from the first iterations."""
        self._shown = 0
        """Iterations of the run's first stage that have been shown."""
        self._told: Mapping[str, float] = {}
        self._scores: dict[str, float] = {}
        self._scored = 0.0
        """The minute at which the scores were measured."""
        self._doing = "the first iteration"
        self._said = float("-inf")
        self._noted = 0
        """Number of the run's notes that have been said."""

    @contextmanager
    def open(self) -> Iterator[None]:
        """Show it, as long as this lasts."""
        if self.console.is_terminal:
            with Live(get_renderable=self.render, console=self.console, refresh_per_second=2):
                yield
        else:
            yield

    def show(self, told: Mapping[str, float]) -> None:
        """Show the metrics of an iteration."""
        self._told, self._doing = told, ""
        self._shown += 1
        self._say_estimate()
        scores = {name: value for name, value in told.items() if name.startswith(SCORE)}
        if scores:
            self._scores, self._scored = dict(told), told["minutes"]
        now = time.perf_counter()
        due = scores or now - self._said >= LINE_SECONDS or _seconds(told) > LONG
        if not self.console.is_terminal and due:
            self._said = now
            self.say(line(self.run, told, self._scores))
        self.say_notes()

    def _say_estimate(self) -> None:
        """Tell time and cost from the first iterations, of a run that could not measure them before."""
        run = self.run
        if self.price is None or run.pace is None or self._shown < 2 or run.place:
            return
        if self._shown >= ENOUGH or (self._shown - 1) * run.pace >= ENOUGH_SECONDS:
            moves = int(run.totals["moves"] / run.iteration)
            for sentence in estimate_lines(run, Estimate({}, moves, total=run.pace), self.price):
                self.say(sentence)
            self.price = None

    def say_notes(self) -> None:
        """Say what the run has noted since the last time."""
        notes = self.run.notes[self._noted :]
        self._noted += len(notes)
        for note in notes:
            self.say(note)

    def say(self, sentence: str) -> None:
        """Something that is to stay on the screen."""
        self.console.print(Text(sentence), soft_wrap=True)

    def doing(self, what: str) -> None:
        """Something that takes a while."""
        self._doing = what

    def render(self) -> Table:
        """Return the display, as it is now."""
        run, told = self.run, self._told
        rows = Table.grid(padding=(0, 2))
        share = share_done(run)
        if share is not None:
            rows.add_row("", ProgressBar(total=1.0, completed=share, width=60))
        for name, text in facts(run, told):
            rows.add_row(Text(name, "dim"), Text(text))
        if self._scores:
            rows.add_row(Text("score", "dim"), Text(f"{scores_text(self._scores)}, at {self._scored:.0f} min"))
        if self._doing:
            rows.add_row(Text("now", "dim"), Text(self._doing))
        return rows


def place_text(run: Run) -> str:
    """Return the device and the numbers in which a run's networks run."""
    name = f" ({torch.cuda.get_device_name(run.device)})" if run.device.type == "cuda" else ""
    numbers = dict.fromkeys(str(trainee.dtype).removeprefix("torch.") for trainee in run.trainees().values())
    return f"{run.device}{name}" + (f", in {' and '.join(numbers)}" if numbers else "")


def share_done(run: Run) -> float | None:
    """Return the share of its time or iterations that the stage which goes on has had; None if it has no limit."""
    stage = run.stage
    shares = [run.minutes_of(stage) / stage.minutes] if stage.minutes else []
    shares += [run.iteration / stage.iterations] if stage.iterations else []
    return min(1.0, max(shares)) if shares else None


def facts(run: Run, told: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return the lines of the display: the run's progress, and its metrics by the first part of their names."""
    stage = run.stage
    of_iterations = f" of {stage.iterations:,}" if stage.iterations else ""
    of_minutes = f" of {stage.minutes:g}" if stage.minutes else ""
    left = _left_text(run, " · ")
    minutes = run.minutes_of(stage)
    found = [
        ("run", f"{stage.name} · iteration {_iteration(run):,}{of_iterations} · {minutes:.1f}{of_minutes} min{left}")
    ]
    if "moves" in told:
        found.append(("so far", f"{_millions(told['moves'])} moves · {told['games']:,.0f} games"))
    return found + [(name, " · ".join(said)) for name, said in _shown(run, told).items()]


def line(run: Run, told: Mapping[str, float], scores: Mapping[str, float] = {}) -> str:
    """Return an iteration in a line. scores: those measured last, if it was in an earlier one."""
    stage = _stage_of(run, told)
    of = f" of {stage.iterations:,}" if stage.iterations else ""
    first = stage is run.stages[0]
    parts = [
        f"{int(told['iteration']):5}{of}" if first else stage.name,
        f"{told['minutes'] if first else run.minutes_of(stage):6.1f} min{_left_text(run, ', ')}",
    ]
    if first and "moves" in told:
        parts += [f"{_millions(told['moves'])} moves", f"{int(told['games']):,} games"]
    shown = _shown(run, told)
    parts += [
        f"{name} {', '.join(said)}" if name in stage.kind.headed else ", ".join(said) for name, said in shown.items()
    ]
    measured = scores_text(told) or scores_text({name: each for name, each in scores.items() if name.startswith(SCORE)})
    if measured:
        parts.append(f"score {measured}")
    return "  ".join(parts)


def _shown(run: Run, told: Mapping[str, float]) -> dict[str, list[str]]:
    """Return the metrics to be shown, in words, by the first part of their names."""
    stage = _stage_of(run, told)
    declared = [*stage.kind.metrics, *METRICS]
    found: dict[str, list[str]] = {}
    for each in declared:
        if each.shown and each.name in told:
            found.setdefault(each.name.partition(".")[0], []).append(each.shown.format(told[each.name]))
    return found


def _stage_of(run: Run, told: Mapping[str, float]) -> Stage:
    """Return the stage that a line of metrics is of: lines of later stages have their clocks."""
    return next((stage for stage in run.stages[1:] if stage.kind.clock in told), run.stages[0])


def _iteration(run: Run) -> int:
    learner = run.stage.learner
    return learner.iteration if learner else 0


def seconds_left(run: Run) -> float | None:
    """Return the seconds left of the stage that goes on, by the pace of the latest iterations; None if unknown."""
    stage, left = run.stage, []
    if stage.minutes:
        left.append(60 * (stage.minutes - run.minutes_of(stage)))
    if stage.iterations and run.pace is not None:
        left.append((stage.iterations - run.iteration) * run.pace)
    return max(0.0, min(left)) if left else None


def _left_text(run: Run, before: str) -> str:
    left = seconds_left(run)
    return "" if left is None else f"{before}{duration(left)} left"


def _seconds(told: Mapping[str, float]) -> float:
    """Return the seconds of an iteration."""
    return sum(value for name, value in told.items() if name.startswith("seconds."))


def scores_text(told: Mapping[str, float]) -> str:
    """Return the scores of an evaluation, with their intervals."""
    parts = []
    for name, score in told.items():
        if name.startswith(SCORE):
            agent = name.removeprefix(SCORE)
            low, high = told.get(f"{LOW}{agent}"), told.get(f"{HIGH}{agent}")
            interval = "" if low is None or high is None else f" ({low:.1%} to {high:.1%})"
            parts.append(f"{agent} {score:.1%}{interval}")
    return ", ".join(parts)


# ── The estimate ─────────────────────────────────────────────────────────────────────────────────


def estimate_lines(run: Run, found: Estimate | None, price: float) -> list[str]:
    """Return sentences on what a run will take. found: None where it was not measured. price: of an hour of one GPU."""
    rate = price * run.workers.count if run.device.type == "cuda" else 0.0
    lines = [] if found is None else _first_lines(run, found, rate)
    for stage in run.stages[1:]:
        seconds = 60 * (stage.minutes - run.minutes_of(stage))
        if seconds > 0:
            then = "then " if lines else ""
            lines.append(f"{then}{duration(seconds)} for the algorithm {stage.name!r}{dollars(seconds, rate)}")
    return lines


def done_line(run: Run) -> str:
    """Say why the first stage of a run is over, and what would make it go on."""
    config, reached = run.config, []
    if config.minutes and run.minutes >= config.minutes:
        more = f"--minutes {run.minutes + config.minutes:.0f}"
        reached.append(f"it has had {run.minutes:.1f} minutes, and {config.minutes:g} are asked for ({more} goes on)")
    if config.iterations and run.iteration >= config.iterations:
        more = f"--set iterations={run.iteration + config.iterations}"
        reached.append(f"it has had {run.iteration:,} iterations of {config.iterations:,} ({more} goes on)")
    return f"{run.stages[0].name!r} is over: {' and '.join(reached)}"


def _first_lines(run: Run, found: Estimate, rate: float) -> list[str]:
    config = run.config
    parts = ", ".join(f"{words} {seconds:.2g}" for words, seconds in found.seconds.items() if seconds)
    each = f"an iteration takes about {found.iteration:.2g} s{f' ({parts})' if parts else ''}"
    if found.moves:
        each += f" and has {found.moves:,} moves"
    memory = f"; the GPU needs about {found.gigabytes:.1f} GB" if found.gigabytes else ""
    compiling = f"; compiling took {duration(found.compiling)}" if found.compiling >= COMPILING else ""
    lines = [f"{each}{memory}{compiling}"]
    if config.minutes:
        seconds = max(0.0, 60 * (config.minutes - run.minutes))
        count = int(seconds / found.iteration)
        if config.iterations:
            count = min(count, max(0, config.iterations - run.iteration))
        measured = ", less what evaluations take of it" if config.evaluation.every else ""
        lines.append(
            f"{duration(seconds)}{' that are left' if run.iteration else ''}: enough for about {count:,} iterations"
            f"{_moves_text(count * found.moves)}{measured}{dollars(seconds, rate)}"
        )
    if config.iterations:
        seconds = found.iteration * max(0, config.iterations - run.iteration)
        lines.append(
            f"all {config.iterations:,} iterations of the configuration: about {duration(seconds)} from now"
            f"{dollars(seconds, rate)}"
        )
    if not config.minutes and not config.iterations:
        hourly = 3600 / found.iteration
        brings = f"{_millions(hourly * found.moves)} moves" if found.moves else f"{hourly:,.0f} iterations"
        lines.append(f"it has no end of its own: an hour brings {brings}"
                     f"{dollars(3600, rate)}; stop it with Ctrl-C, or give --minutes")  # fmt: skip
    return lines


def _moves_text(moves: float) -> str:
    return f", {_millions(moves)} moves" if moves else ""


def dollars(seconds: float, rate: float) -> str:
    """Return the costs, where a GPU is used."""
    return f", {max(0.0, seconds) / 3600 * rate:,.2f} dollars at {rate:.2f} an hour (--price)" if rate else ""


def duration(seconds: float) -> str:
    """Return a time for a person."""
    minutes = seconds / 60
    if minutes < 2:
        return f"{seconds:.0f} second{'s' if round(seconds) != 1 else ''}"
    if minutes < 120:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:,.1f} hours" if minutes < 48 * 60 else f"{minutes / 60 / 24:,.1f} days"


def _millions(number: float) -> str:
    return f"{number / 1e6:,.2f} million" if number >= 1e5 else f"{number:,.0f}"
