"""Learning curves: the metrics of runs in, one SVG picture out.

`read_runs` reads what runs said about themselves, `make_panels` picks what of it is drawn (one panel a metric), and
`curves_svg` draws: small multiples, a colour for each run, round numbers on the axes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import Any

from vauban import charts
from vauban.charts import COLOURS, MARGIN, Point, number_text
from vauban.errors import ConfigurationError
from vauban.games.base import nearest
from vauban.learn.base import SHARE
from vauban.learn.journal import METRICS_FILE, read_metrics
from vauban.learn.metrics import clock_of, clocks, find_metric
from vauban.learn.metrics import metrics as metrics_declared

DASHES = ("", "6 3.5", "0.1 4")
"""Dashes of the metrics that share a panel, in order."""

SCORE = "score."
AXES = {"moves": "moves played", "minutes": "minutes of training", "iteration": "iterations"}

MANY = 150
"""Points of a full axis from which on a line is smoothed: by a moving mean of 3; of 5 from twice as many on, and so
on."""
FEW = 30
"""Up to so many points, each has a dot; of more, the last one."""


class Against(StrEnum):
    """The horizontal axis of the curves."""

    MOVES = "moves"
    MINUTES = "minutes"
    ITERATIONS = "iterations"

    @property
    def metric(self) -> str:
        """The metric on the axis."""
        return "iteration" if self is Against.ITERATIONS else self.value


# ── What runs said ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class RunMetrics:
    """The lines of a run's metrics, and what the run is called."""

    name: str
    lines: Sequence[Mapping[str, float]]

    def points(self, metric: str, against: str) -> list[Point]:
        """Return a metric as points, where it was measured."""
        # A line of a later stage repeats what those before it came to: that is no measurement of theirs.
        clock, later = clock_of(metric), clocks()
        found = [
            (line[against], line[metric])
            for line in self.lines
            if metric in line
            and against in line
            and next((each for each in later if each in line), "iteration") == clock
        ]
        return [point for point in found if all(map(math.isfinite, point))]


def read_runs(paths: Sequence[Path]) -> list[RunMetrics]:
    """Return the metrics of runs: each a run's folder, or a file of metrics."""
    if len(paths) > len(COLOURS):
        raise ConfigurationError(f"a picture has colours for {len(COLOURS)} runs, and these are {len(paths)}")
    paths = [path.parent if path.name == METRICS_FILE else path for path in paths]
    places = [path.resolve() for path in paths]
    for place, path in zip(places, paths, strict=True):
        if places.count(place) > 1:
            raise ConfigurationError(f"the run {path} is given twice: name it once")
    lines = [_read(path) for path in paths]
    return [RunMetrics(name, each) for name, each in zip(_distinct(places), lines, strict=True)]


def _read(path: Path) -> list[dict[str, float]]:
    if not path.exists():
        raise ConfigurationError(
            f"there is no {path}: name the folder of a run (vauban train), or a file of its metrics"
        )
    if path.is_dir() and not (path / METRICS_FILE).exists():
        inside = sorted(str(each.parent) for each in path.glob(f"*/{METRICS_FILE}"))
        hint = f"did you mean {' '.join(inside[: len(COLOURS)])}?" if inside else "name a folder that vauban train made"
        raise ConfigurationError(f"{path} is not the folder of a run, it has no {METRICS_FILE}: {hint}")
    lines = read_metrics(path) if path.is_dir() else _read_file(path)
    if not lines:
        raise ConfigurationError(f"{path} has no metrics yet: a run writes a line after each iteration")
    for number, line in enumerate(lines, 1):
        if not _is_metrics(line):
            raise ConfigurationError(f"{path}: line {number} is not one of a run's metrics, numbers by name: {line!r}")
    return lines


def _read_file(path: Path) -> list[Any]:
    """Return the lines of a file that somebody named: it may be anything, where a run's own can only be cut off."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read as metrics, a JSON object on each line: {error}") from error


def _is_metrics(line: Any) -> bool:
    return (
        isinstance(line, dict) and "iteration" in line and all(isinstance(each, int | float) for each in line.values())
    )


def _distinct(places: Sequence[Path]) -> list[str]:
    """Return a name for each run: the last part of its path, and as many before it as tell the runs apart."""
    parts = [(*place.parts[:-1], place.name.removesuffix(".jsonl")) for place in places]
    names = ["/".join(each[-1:]) for each in parts]
    for length in range(2, max(map(len, parts), default=0) + 1):
        names = [
            "/".join(each[-length:]) if names.count(name) > 1 else name for each, name in zip(parts, names, strict=True)
        ]
    return names


# ── What is drawn ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Line:
    """One metric of one run: its points, and for scores the 95 % intervals around them."""

    run: int
    metric: str
    points: Sequence[Point]
    low: Sequence[Point] = ()
    high: Sequence[Point] = ()
    smoothed_over: int = 1

    @property
    def extent(self) -> list[float]:
        """All heights that must be in sight."""
        return [y for _, y in (*self.points, *self.low, *self.high)]


@dataclass(frozen=True)
class Panel:
    """A metric of all runs, or a few that belong together."""

    metrics: tuple[str, ...]
    against: str
    lines: Sequence[Line]

    @property
    def title(self) -> str:
        """The heading."""
        name = self.metrics[0]
        if name.startswith(SCORE):
            return f"Score against {name.removeprefix(SCORE)}"
        found = find_metric(name)
        return (found.title if found else "") or name.replace(".", ": ", 1).replace("_", " ")

    @property
    def is_share(self) -> bool:
        """Whether it is shown in per cent."""
        found = find_metric(self.metrics[0])
        return found is not None and found.unit == SHARE


def make_panels(
    runs: Sequence[RunMetrics], against: Against = Against.MOVES, metrics: Sequence[str] = ()
) -> list[Panel]:
    """Make the panels of these metrics (a star stands for anything), or else the default ones.

    Metrics of a later stage are drawn against its own clock. What no run has measured is left out.
    """
    known = list(dict.fromkeys(name for run in runs for line in run.lines for name in line))
    groups: list[tuple[str, ...]]
    if metrics:
        chosen = dict.fromkeys(name for wanted in metrics for name in _matching(wanted, known))
        groups = [(name,) for name in chosen]
    else:
        scores = [(name,) for name in known if name.startswith(SCORE)]
        usual: dict[str, list[str]] = {}
        for each in metrics_declared().values():
            if each.drawn and each.name in known:
                usual.setdefault(each.title, []).append(each.name)
        groups = [*scores, *map(tuple, usual.values())]
    panels = [_panel(runs, group, against) for group in groups if group]
    panels = [panel for panel in panels if panel.lines]
    if not panels:
        raise ConfigurationError(f"there is nothing to draw; choose from these with --metric: {', '.join(known)}")
    return panels


def _matching(wanted: str, known: Sequence[str]) -> list[str]:
    found = [name for name in known if fnmatchcase(name, wanted)]
    if not found and wanted in metrics_declared():
        raise ConfigurationError(f"none of the runs has measured {wanted!r}: leave it away")
    if not found:
        raise ConfigurationError(f"no run has a metric {wanted!r}: {nearest(wanted, known)}")
    return found


def _panel(runs: Sequence[RunMetrics], metrics: tuple[str, ...], against: Against) -> Panel:
    clock = clock_of(metrics[0])
    axis = against.metric if clock == "iteration" else clock
    far = max((line[axis] for run in runs for line in run.lines if axis in line), default=0.0)
    lines = [_line(run, number, name, axis, far) for name in reversed(metrics) for number, run in enumerate(runs)]
    return Panel(metrics, axis, [line for line in lines if line.points])


def _line(run: RunMetrics, number: int, metric: str, axis: str, far: float) -> Line:
    points = run.points(metric, axis)
    if metric.startswith(SCORE):
        opponent = metric.removeprefix(SCORE)
        low, high = (run.points(f"score_{end}.{opponent}", axis) for end in ("low", "high"))
        return Line(number, metric, points, low, high)
    reach = _crowd(points, far) // MANY
    return Line(number, metric, _thinned(_smoothed(points, reach)), smoothed_over=2 * reach + 1)


def _crowd(points: Sequence[Point], far: float) -> int:
    """Return the number of points that the whole axis would have, were they as close everywhere."""
    return int(len(points) * far / points[-1][0]) if points and points[-1][0] > 0 else len(points)


def _smoothed(points: Sequence[Point], reach: int) -> list[Point]:
    """Return each height as the mean of itself and `reach` others on either side, fewer near the ends, which stay."""
    if not reach:
        return list(points)
    heights = [y for _, y in points]
    smooth = []
    for number, (x, _) in enumerate(points):
        near = min(reach, number, len(points) - 1 - number)
        smooth.append((x, fmean(heights[number - near : number + near + 1])))
    return smooth


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Return no more points than can be told apart; the first and the last one stay."""
    step = math.ceil(len(points) / (2 * MANY))
    return [*points[:-1:step], points[-1]] if step > 1 else list(points)


# ── The picture ──────────────────────────────────────────────────────────────────────────────────────

WIDTH = 1000.0
GAP = 26.0
"""Between panels."""
LEFT, TOP, BOTTOM = 42.0, 42.0, 42.0
"""Room in a panel for what stands left of the curves, above and below them."""
HEIGHT = 150.0
"""Height of the curves in a panel."""
LETTER = 7.4
"""Width of a letter of the legend, about."""
LONGEST_NAME = 40


def curves_svg(runs: Sequence[RunMetrics], panels: Sequence[Panel]) -> str:
    """Return the picture of panels that `make_panels` made of these runs."""
    names = [run.name for run in runs]
    legend, below = _legend(names, MARGIN + 48)
    said = _smoothing(names, panels)
    if said:
        legend.append(charts.text(MARGIN, below + 2, said, "soft"))
        below += 20
    columns = min(len(panels), 3 if len(panels) > 4 else 2)
    width = (WIDTH - 2 * MARGIN - GAP * (columns - 1)) / columns
    height = TOP + HEIGHT + BOTTOM + 14
    reach = {panel.against: _reach(panels, panel.against) for panel in panels}
    drawn = []
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        x, y = MARGIN + column * (width + GAP), below + row * height
        inside = _drawn_panel(panel, names, width, reach[panel.against])
        declared = find_metric(panel.metrics[0])
        said = declared.meaning if declared else ""
        drawn.append(charts.group(inside, said, "panel", f'transform="translate({x:.1f} {y:.1f})"'))
    whole = below + height * math.ceil(len(panels) / columns) + 4
    title = f"Learning curves of {', '.join(names)}"
    return charts.picture(WIDTH, whole, "Learning curves", _description(names, panels), [*legend, *drawn], title)


def _legend(names: Sequence[str], top: float) -> tuple[list[str], float]:
    """Return the names of the runs with their colours, in as many rows as it takes; and where it ends."""
    parts, x, y = [], MARGIN, top
    for colour, name in zip(COLOURS, names, strict=False):
        shown = charts.shortened(name, LONGEST_NAME)
        wide = 30 + LETTER * len(shown)
        if x > MARGIN and x + wide > WIDTH - MARGIN:
            x, y = MARGIN, y + 20
        stroke = f'stroke="{colour}" stroke-width="3.5" stroke-linecap="round"'
        parts.append(charts.line(x, y - 4.5, x + 20, y - 4.5, attributes=stroke))
        parts.append(charts.text(x + 28, y, shown, "name"))
        x += wide + 20
    return parts, y + 20


def _smoothing(names: Sequence[str], panels: Iterable[Panel]) -> str:
    """Return a sentence on the runs that were smoothed, and how much."""
    over = dict.fromkeys(range(len(names)), 1)
    for line in (line for panel in panels for line in panel.lines):
        over[line.run] = max(over[line.run], line.smoothed_over)
    said = []
    for points in sorted(set(over.values()) - {1}):
        of = [names[run] for run in over if over[run] == points]
        said.append(f"{', '.join(of)} (means of {points} points)")
    return f"Lightly smoothed where points are close: {', '.join(said)}" if said else ""


def _description(names: Sequence[str], panels: Iterable[Panel]) -> str:
    """Return the picture in words: where each line begins and ends."""
    parts = []
    for panel in panels:
        lines = [
            f"{names[line.run]} {'' if line.metric == panel.metrics[0] else f'({_last(line.metric)}) '}"
            f"from {line.points[0][1]:.3g} to {line.points[-1][1]:.3g}"
            for line in panel.lines
        ]
        parts.append(f"{panel.title}: {', '.join(lines)}.")
    return " ".join(parts)


# ── One panel ────────────────────────────────────────────────────────────────────────────────────────


def _drawn_panel(panel: Panel, names: Sequence[str], width: float, reach: float) -> list[str]:
    x = charts.Scale.fitting(0, reach, LEFT, width, min(10, round(width / 60)))
    y = charts.Scale.fitting(*_heights(panel), TOP + HEIGHT, TOP, 5)
    parts = [charts.text(0, 14, panel.title, "title")]
    parts += _key(panel) if len(panel.metrics) > 1 else [charts.text(0, 30, _measured(panel), "soft")]
    parts += charts.grid(x, y, lambda tick: number_text(tick, y.step, panel.is_share))
    factor, unit = _factor(reach)
    parts += charts.axis(x, y, _axis(panel.against) + unit, lambda tick: number_text(tick / factor, x.step / factor))
    for line in panel.lines:
        dash = DASHES[panel.metrics.index(line.metric) % len(DASHES)]
        parts += _drawn_line(line, names[line.run], dash, x, y)
    return parts


def _drawn_line(line: Line, name: str, dash: str, x: charts.Scale, y: charts.Scale) -> list[str]:
    label = name if not dash else f"{name}: {_last(line.metric)}"
    parts = []
    if line.low and line.high:
        parts.append(charts.band(line.low, line.high, x, y))
    dashes = f'stroke-dasharray="{dash}"' if dash else ""
    parts += charts.curve(line.points, x, y, _dotted(line.points, dash), dashes)
    return [charts.group(parts, label, "run", charts.paint(COLOURS[line.run]))]


def _dotted(points: Sequence[Point], dash: str) -> Sequence[Point]:
    """Return the points that have a dot: all if they are few, or the last, where a run ends."""
    if dash and len(points) > 1:  # something to compare with, not the course of a run
        return ()
    return points if len(points) <= FEW else points[-1:]


def _key(panel: Panel) -> list[str]:
    """Return the key to the dashes of a panel with several metrics."""
    parts, x = [], 0.0
    for metric, dash in zip(panel.metrics, DASHES, strict=False):
        parts.append(
            f'<path class="curve" stroke="#59636e" stroke-dasharray="{dash or "none"}" d="M{x + 1:.1f} 26.5h22"/>'
        )
        parts.append(charts.text(x + 29, 30, _last(metric), "soft"))
        x += 44 + 5.8 * len(_last(metric))
    return parts


def _measured(panel: Panel) -> str:
    """Return the metric's name, by which docs/metrics.md explains it, and what it is counted in."""
    metric = panel.metrics[0]
    found = find_metric(metric)
    return f"{metric}, {found.unit}" if found and found.unit not in ("", SHARE) else metric


def _axis(metric: str) -> str:
    """Return the label of an axis."""
    found = find_metric(metric)
    return AXES.get(metric) or (found.title if found else "") or metric


def _reach(panels: Iterable[Panel], against: str) -> float:
    """Return the right end of the curves: the same for all panels with the same axis."""
    ends = [x for panel in panels if panel.against == against for line in panel.lines for x, _ in line.points]
    return max(ends) or 1.0


def _heights(panel: Panel) -> Point:
    """From where to where a panel shows: from 0 if that is not far, and with some air."""
    extent = [y for line in panel.lines for y in line.extent]
    low, high = min(extent), max(extent)
    span = high - low
    if span <= 1e-9 * abs(high):  # level, but for rounding
        return min(0.0, 1.3 * high), max(0.0, 1.3 * high) or float(high == 0)
    top = high + 0.05 * span
    if 0 <= low < 0.4 * high:
        return 0.0, top
    return low - 0.05 * span, top


def _factor(reach: float) -> tuple[float, str]:
    """Return the factor that long axes are divided by, and the words for it."""
    if reach >= 1e6:
        return 1e6, " (millions)"
    return (1e3, " (thousands)") if reach >= 1e4 else (1.0, "")


def _last(metric: str) -> str:
    return metric.rpartition(".")[2]
