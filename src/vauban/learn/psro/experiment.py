"""The experiment on random symmetric matrix games: how fast each scheme comes near an equilibrium.

    settings = grid([60], ["p2sro", "naive"], rates=[0.5], workers=[4], updates=100)
    curves = run_all(settings, games=5, executor=Processes(2))
    print(table_text(curves)), picture(curves, 60)

A game is a random antisymmetric matrix; policies are mixed strategies that are trained by steps towards the best
response. Judged is the meta-Nash of the finished policies, and of the whole population, those in training included.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vauban import charts
from vauban.charts import COLOURS, MARGIN
from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.games.matrix import MatrixGame, random_antisymmetric
from vauban.learn.psro.normal_form import STARTS, MatrixWorkshop
from vauban.learn.psro.pipeline import Pipeline
from vauban.learn.psro.schemes import TITLES, find_scheme
from vauban.solve.meta import MetaSolver
from vauban.work.base import Executor, Tell

DIMENSIONS, RATES, WORKERS = (15, 30, 45, 60, 120), (0.1, 0.2, 0.5), (4, 8, 16)
"""Those of the paper."""
USUAL = ("p2sro", "naive", "dch", "rectified", "sequential", "self-play")
"""The schemes that the paper compares."""
WHOLE = ("p2sro", "dch")
"""Schemes whose outcome is the whole population, those in training included."""
TOLD = (10, 50, 100, 200, 500)
"""Updates of which a table tells."""
DRAWN = 10
"""Updates between two points of a plot."""


@dataclass(frozen=True)
class Setting:
    """One scheme, in games of one dimension."""

    dimension: int
    scheme: str
    rate: float
    workers: int
    halves: float = 0.0
    """Updates after which the learning rate is half; 0: it stays."""
    game: str = ""
    """A matrix game by name, in which every policy begins as its first strategy, in place of random games."""
    random_start: bool = False
    """Whether each meta-game is solved from a random start, so that its mix differs a little every time."""

    @property
    def title(self) -> str:
        """The scheme in words."""
        return TITLES[self.scheme] + (", annealed" if self.halves else "")

    @property
    def outcome_is_whole(self) -> bool:
        """Whether the scheme's outcome is the whole population."""
        return self.scheme in WHOLE

    def pipeline(self, seed: int) -> Pipeline:
        """Return a pipeline in the game of a seed."""
        find_scheme(self.scheme)
        starts = None
        if self.game:
            payoffs = named_payoffs(self.game)
            starts = np.tile(np.eye(len(payoffs))[0], (STARTS, 1))
        else:
            payoffs = random_antisymmetric(self.dimension, seed)
        workshop = MatrixWorkshop(payoffs, self.rate, seed, self.halves, starts)
        solver = MetaSolver(random_start=self.random_start)
        return Pipeline(find_scheme(self.scheme), workshop, workers=self.workers, solver=solver, seed=seed)


@dataclass(frozen=True)
class Point:
    """A population after some updates."""

    updates: int
    finished: float
    """Exploitability of the finished policies."""
    whole: float
    """Exploitability of all policies."""
    count: int
    """Finished policies, the random one that it began with among them."""
    over: bool = False
    """Whether the scheme has ended: nothing was new."""


@dataclass(frozen=True)
class Curves:
    """The course of a scheme in several games."""

    setting: Setting
    games: tuple[tuple[Point, ...], ...]

    def points(self, at: int) -> list[Point]:
        """Return the populations after so many updates, one for each game."""
        return [point for points in self.games for point in points if point.updates == at]

    def outcome(self, at: int) -> tuple[float, float]:
        """Return mean and standard error of what the scheme's outcome is, after so many updates."""
        return mean_and_error([p.whole if self.setting.outcome_is_whole else p.finished for p in self.points(at)])


@dataclass(frozen=True)
class Played:
    """A task: one scheme in one game."""

    setting: Setting
    seed: int
    told: tuple[int, ...]

    modules = ("vauban.learn.psro.experiment",)

    def __str__(self) -> str:
        return f"{self.setting.title} in game {self.seed}"

    def run(self, tell: Tell) -> tuple[Point, ...]:
        """Play it."""
        pipeline = self.setting.pipeline(self.seed)
        points = []
        for update in range(1, max(self.told) + 1):
            pipeline.update()
            if update in self.told:
                finished, whole = (pipeline.judge(each)[1] for each in (pipeline.finished, pipeline.population))
                assert finished is not None and whole is not None
                points.append(Point(update, finished, whole, len(pipeline.finished), pipeline.over))
        return tuple(points)


def named_payoffs(name: str) -> np.ndarray:
    """Return the payoffs of a symmetric matrix game."""
    found = game(name)
    if not isinstance(found, MatrixGame) or not np.array_equal(found.payoffs, -found.payoffs.T):
        raise ConfigurationError(f"{name!r} is no symmetric matrix game: take rock-paper-scissors or rps-x")
    return found.payoffs


def grid(
    dimensions: Sequence[int] = DIMENSIONS, schemes: Sequence[str] = USUAL, rates: Sequence[float] = RATES,
    workers: Sequence[int] = WORKERS, halves: float = 0.0, game: str = "", random_start: bool = False,
) -> list[Setting]:  # fmt: skip
    """Return all settings of an experiment; a scheme that trains one policy at a time is there once for all workers."""
    if game:
        dimensions = [len(named_payoffs(game))]
    made = [
        Setting(dimension, scheme, rate, 1 if find_scheme(scheme).one else count, halves, game, random_start)
        for dimension in dimensions
        for rate in rates
        for count in workers
        for scheme in schemes
    ]
    return list(dict.fromkeys(made))


def run_all(
    settings: Sequence[Setting], games: int, updates: int, executor: Executor,
    watch: Callable[[int], object] = lambda done: None,
) -> list[Curves]:  # fmt: skip
    """Let every scheme play so many games; `watch` is told how many are done."""
    told = tuple(sorted({*range(DRAWN, updates + 1, DRAWN), *(each for each in TOLD if each < updates), updates}))
    tasks = [Played(setting, seed, told) for setting in settings for seed in range(1 if setting.game else games)]
    found: dict[int, tuple[Point, ...]] = {}
    for index, points in executor.run(tasks):
        found[index] = points
        watch(len(found))
    return [
        Curves(setting, tuple(found[place] for place, task in enumerate(tasks) if task.setting == setting))
        for setting in settings
    ]


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return a mean and its standard error; 0 for the error of a single value."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return statistics.fmean(values), error


# ── The table ────────────────────────────────────────────────────────────────────────────────────


def rows(curves: Sequence[Curves]) -> Iterator[dict[str, object]]:
    """Yield what a program reads of it: a row for each setting and each update of a table."""
    for each in curves:
        for at in told_of(each):
            there = each.points(at)
            finished, whole = mean_and_error([p.finished for p in there]), mean_and_error([p.whole for p in there])
            yield {
                "dimension": each.setting.dimension, "scheme": each.setting.scheme, "rate": each.setting.rate,
                "halves": each.setting.halves, "workers": each.setting.workers, "updates": at,
                "finished": finished[0], "finished_error": finished[1], "whole": whole[0], "whole_error": whole[1],
                "policies": statistics.fmean(p.count for p in there), "over": sum(p.over for p in there),
            }  # fmt: skip


def told_of(curves: Curves) -> list[int]:
    """Return the updates of which a table tells."""
    there = [point.updates for point in curves.games[0]]
    return [at for at in TOLD if at in there] or there[-1:]


def table_text(curves: Sequence[Curves]) -> str:
    """Return the table in Markdown: exploitability after so many updates, mean ± standard error over the games.

    Of finished policies; in brackets that of the whole population, where this is what the scheme comes to. DCH, which
    finishes none, has the whole population alone.
    """
    told = told_of(curves[0])
    counted = 100 if 100 in told else told[-1]
    heading = ["n", "r", "workers", "scheme", *map(str, told), f"finished at {counted}"]
    lines = [heading, ["---"] * len(heading)]
    for each in curves:
        setting = each.setting
        cells = [_cell(each, at) for at in told]
        count = statistics.fmean(
            (setting.workers + 1) if setting.scheme == "dch" else point.count for point in each.points(counted)
        )
        name = setting.game or str(setting.dimension)
        lines.append([name, f"{setting.rate:g}", str(setting.workers), setting.title, *cells, f"{count:g}"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(curves: Curves, at: int) -> str:
    points = curves.points(at)
    of_whole = mean_and_error([point.whole for point in points])
    mean, error = of_whole if curves.setting.scheme == "dch" else mean_and_error([point.finished for point in points])
    spread = f" ± {error:.4f}" if len(points) > 1 else ""
    inside = f" ({of_whole[0]:.4f})" if curves.setting.scheme == "p2sro" else ""
    over = sum(point.over for point in points)
    ended = f", ended in {over}" if over else ""
    return f"{mean:.4f}{spread}{inside}{ended}"


# ── The picture ──────────────────────────────────────────────────────────────────────────────────

WIDTH, GAP = 1000.0, 26.0
LEFT, TOP, HEIGHT, BOTTOM = 42.0, 26.0, 170.0, 46.0
LEVELS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Exploitabilities that the axis names."""


def picture(curves: Sequence[Curves], heading: str) -> str:
    """Return a picture (SVG): a row of panels for each learning rate, a column for each number of workers.

    Bands are standard errors. Schemes that train one policy at a time are in every column.
    """
    rates = sorted({each.setting.rate for each in curves})
    columns = sorted({each.setting.workers for each in curves if not find_scheme(each.setting.scheme).one}) or [1]
    titles = list(dict.fromkeys(each.setting.title for each in curves))
    width = (WIDTH - 2 * MARGIN - GAP * (len(columns) - 1)) / len(columns)
    legend, below = _legend(titles)
    parts = []
    for row, rate in enumerate(rates):
        for column, workers in enumerate(columns):
            there = [
                each for each in curves
                if each.setting.rate == rate
                and (each.setting.workers == workers or find_scheme(each.setting.scheme).one)
            ]  # fmt: skip
            place = f"translate({MARGIN + column * (width + GAP):.1f} {below + row * (TOP + HEIGHT + BOTTOM):.1f})"
            inside = _panel(there, titles, width, f"r = {rate:g}, {workers} workers")
            parts.append(charts.group(inside, attributes=f'transform="{place}"'))
    whole = below + len(rates) * (TOP + HEIGHT + BOTTOM)
    last = [f"{each.setting.title}, r = {each.setting.rate:g}, {each.setting.workers} workers: "
            f"{each.outcome(each.games[0][-1].updates)[0]:.3g}" for each in curves]  # fmt: skip
    about = f"Exploitability after {curves[0].games[0][-1].updates} updates. " + "; ".join(last)
    return charts.picture(WIDTH, whole, heading, about, [*legend, *parts])


def _legend(titles: Sequence[str]) -> tuple[list[str], float]:
    parts, x = [], MARGIN
    for title, colour in zip(titles, COLOURS, strict=False):
        stroke = f'stroke="{colour}" stroke-width="3.5" stroke-linecap="round"'
        parts += [charts.line(x, 67, x + 20, 67, attributes=stroke), charts.text(x + 27, 71.5, title, "name")]
        x += 48 + 7.4 * len(title)
    return parts, 96.0


def _panel(curves: Sequence[Curves], titles: Sequence[str], width: float, title: str) -> list[str]:
    last = max(each.games[0][-1].updates for each in curves)
    x = charts.Scale.fitting(0, last, LEFT, width, 5)
    y = charts.Scale.fitting(math.log10(LEVELS[0]), 0.15, TOP + HEIGHT, TOP, 5)
    parts = [charts.text(0, 14, title, "title"), *charts.grid(x, y, lambda tick: f"{10**tick:g}", map(_height, LEVELS))]
    parts += charts.axis(x, y, "updates")
    for each in curves:
        ats = [point.updates for point in each.games[0]]
        found = [(at, *each.outcome(at)) for at in ats]
        line = [(float(at), _height(mean)) for at, mean, _ in found]
        low, high = ([(float(at), _height(mean + sign * error)) for at, mean, error in found] for sign in (-1, 1))
        paint = charts.paint(COLOURS[titles.index(each.setting.title) % len(COLOURS)])
        shapes = [charts.band(low, high, x, y), *charts.curve(line, x, y)]
        parts.append(charts.group(shapes, each.setting.title, attributes=paint))
    return parts


def _height(exploitability: float) -> float:
    return math.log10(max(exploitability, LEVELS[0]))


def with_annealed(settings: Sequence[Setting], halves: float) -> list[Setting]:
    """Return settings, and behind each of DCH the same with an annealed learning rate."""
    return [
        each
        for setting in settings
        for each in ([setting, replace(setting, halves=halves)] if setting.scheme == "dch" else [setting])
    ]
