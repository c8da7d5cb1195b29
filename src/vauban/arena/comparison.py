"""Results of a comparison of learners: curves over seeds, with intervals, and one page with all of it.

A comparison is a table for JSON: its settings, and the points of each learner and seed
(`vauban.learn.comparison`). `summarise` adds what they come to; `comparison_html` draws it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from statistics import fmean, stdev
from typing import Any

import numpy as np

from vauban import charts
from vauban.arena.ratings import rate
from vauban.arena.report_html import COLOURS, STYLE, WIDTH, html_page, html_table, section
from vauban.charts import minus

Comparison = dict[str, Any]

T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""0.975 quantiles of Student's distribution, by degrees of freedom from 1; beyond them 1.96 is near enough."""


@dataclass(frozen=True)
class Measure:
    """A measure that learners are compared by."""

    title: str
    about: str
    format: str
    least: float = -math.inf
    """It is never below."""
    ratios: bool = False
    """Whether ratios of it count, so that it is drawn on a scale of powers where they are large."""


NASH_CONV, SCORE = "nash_conv", "score."
"""Metrics of a model that are made into others here."""
EXPLOITABILITY, RESPONSE, ELO = "exploitability", "response", "elo"
MEASURES = {
    EXPLOITABILITY: Measure(
        "Exploitability",
        "The mean of what the best responses to it gain in both seats, computed exactly: 0 in an equilibrium, half of "
        "NashConv. Lower is better.",
        "{:.4f}", least=0.0, ratios=True,
    ),
    RESPONSE: Measure(
        "Gain of a best response",
        "The mean of what a player gains in both seats that has learned to beat it: a lower bound of exploitability. "
        "Lower is better.",
        "{:.4f}",
    ),
    ELO: Measure(
        "Elo", "Ratings are fitted to the games of all models together, draws half. Higher is better.", "{:+.0f}"
    ),
}  # fmt: skip
"""By name, in the order of the page."""
AXES = {"seconds": "seconds of learning", "games": "games played"}
LEFT, TOP, HEIGHT, BOTTOM, RIGHT = 64.0, 14.0, 300.0, 46.0, 190.0
RATIO = 20.0
"""A scale of powers is used where the largest number is more than this many times the smallest."""
SMALLEST = 1e-6
"""Numbers below are drawn as this one on a scale of powers."""
LINE = 17.0
"""Height of a line of text."""


def mean_interval(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean over seeds and half the width of its 95 % interval; None where there is one seed."""
    if len(values) < 2:
        return fmean(values), None
    freedom = len(values) - 1
    quantile = T95[freedom - 1] if freedom <= len(T95) else 1.96
    return fmean(values), quantile * stdev(values) / math.sqrt(len(values))


def summarise(comparison: Comparison) -> Comparison:
    """Add to each learner its curves: by measure, a point for each number that all its seeds have, with intervals."""
    points = [point for learner in comparison["learners"] for run in learner["runs"] for point in run["points"]]
    if comparison["settings"]["opponents"]:
        _rate(comparison, points)
    for point in points:
        if NASH_CONV in point["measured"]:
            point["measured"][EXPLOITABILITY] = point["measured"][NASH_CONV] / 2
    comparison["measures"] = [name for name in MEASURES if any(name in point["measured"] for point in points)]
    for learner in comparison["learners"]:
        learner["curves"] = {name: _curve(learner["runs"], name) for name in comparison["measures"]}
    return comparison


def _curve(runs: Sequence[Any], measure: str) -> list[dict[str, Any]]:
    by_number = [{point["number"]: point for point in run["points"] if measure in point["measured"]} for run in runs]
    curve = []
    for number in sorted(set.intersection(*map(set, by_number))) if by_number else []:
        there = [run[number] for run in by_number]
        mean, reach = mean_interval([point["measured"][measure] for point in there])
        axes = {axis: fmean(point[axis] for point in there) for axis in (*AXES, "moves")}
        curve.append({"number": number, **axes, "mean": mean, "reach": reach})
    return curve


def _rate(comparison: Comparison, points: Sequence[Any]) -> None:
    """Rate all models that were measured, and their opponents, together; the first opponent is 0."""
    opponents, games = comparison["settings"]["opponents"], comparison["settings"]["games"]
    names = [*opponents, *(f"model {number}" for number in range(len(points)))]
    wins = np.zeros((len(names), len(names)))
    for row, point in enumerate(points, len(opponents)):
        for column, opponent in enumerate(opponents):
            score = point["measured"][f"{SCORE}{opponent}"]
            # A draw counts as half a win: scores are what was kept.
            wins[row, column], wins[column, row] = games * score, games * (1 - score)
    (table, *_) = rate(names, wins, np.zeros_like(wins), anchor=(opponents[0], 0.0), prior=True)
    rated = dict(zip(table.agents, table.ratings, strict=True))
    for number, point in enumerate(points):
        point["measured"][ELO] = float(rated[f"model {number}"])
    comparison["ratings"] = {opponent: float(rated[opponent]) for opponent in opponents}


# ── In words ─────────────────────────────────────────────────────────────────────────────────────────


def value_text(value: float, measure: str) -> str:
    """Return a figure as it is printed."""
    return minus(MEASURES[measure].format.format(value))


def interval_text(mean: float, reach: float | None, measure: str) -> str:
    """Return a mean with its interval, where there is one."""
    if reach is None:
        return value_text(mean, measure)
    low, high = max(MEASURES[measure].least, mean - reach), mean + reach
    return f"{value_text(mean, measure)} ({value_text(low, measure)} … {value_text(high, measure)})"


def final_headings(comparison: Comparison) -> list[str]:
    """Return the headings of `final_rows`."""
    measures = [[f"{MEASURES[name].title} (95 %)", "each seed"] for name in comparison["measures"]]
    return ["learner", *(heading for pair in measures for heading in pair), "seconds", "games", "moves"]


def final_rows(comparison: Comparison) -> list[list[str]]:
    """Return a row for each learner: by measure its value with interval and each seed's; seconds, games, moves."""
    rows = []
    for learner in comparison["learners"]:
        cells, last = [], None
        for name in comparison["measures"]:
            curve = learner["curves"][name]
            if not curve:
                cells += ["–", "–"]
                continue
            last = curve[-1]
            seeds = [
                value_text(point["measured"][name], name)
                for run in learner["runs"]
                for point in run["points"]
                if point["number"] == last["number"]
            ]
            cells += [interval_text(last["mean"], last["reach"], name), ", ".join(seeds)]
        if last is not None:
            played = (f"{last[axis]:,.0f}" for axis in (*AXES, "moves"))
            rows.append([learner["name"], *cells, *played])
    return rows


def _said(comparison: Comparison, measure: str) -> str:
    said = MEASURES[measure].about
    settings = comparison["settings"]
    if measure == ELO:
        rated = ", ".join(f"{name} {minus(f'{value:+.0f}')}" for name, value in comparison["ratings"].items())
        said += f" {settings['games']:,} games against each opponent: {rated}."
    if measure == RESPONSE:
        said += f" Each learns for {settings['response']:g} seconds, by {settings['oracle']}."
    return said


# ── The page ─────────────────────────────────────────────────────────────────────────────────────────


def comparison_html(comparison: Comparison, title: str, conditions: Mapping[str, str]) -> str:
    """Return the page of a comparison that was summarised."""
    keys = count(1)
    parts = [_outcome(comparison)]
    for measure in comparison["measures"]:
        for axis, words in AXES.items():
            drawn = Drawing(comparison, measure, axis)
            drawing = f'<div class="scroll">{drawn.svg(str(next(keys)))}</div>'
            parts.append(
                section(f"{drawn.measure.title} against {words}", _paragraph(_said(comparison, measure)), drawing,
                        _paragraph(drawn.left_out))
            )  # fmt: skip
    parts.append(_learners(comparison))
    parts.append(_all_runs(comparison))
    return html_page(title, conditions, "\n".join(parts), "")


def comparison_svg(comparison: Comparison, title: str) -> str:
    """Return the first measure against seconds and against games as a picture of its own."""
    drawn = [Drawing(comparison, comparison["measures"][0], axis) for axis in AXES]
    head, step = 44.0, TOP + HEIGHT + BOTTOM + 10
    colours, rules = STYLE[: STYLE.index("* {")], "".join(re.findall(r"^svg .*}$", STYLE, re.MULTILINE))
    several = any(len(each["runs"]) > 1 for each in comparison["learners"])
    heading = f"{title}: {drawn[0].measure.title.lower()}, {'with 95 % intervals' if several else 'one seed'}"
    parts = [
        f"<style>{colours} text {{ font: 13px system-ui, sans-serif; }} {rules}</style>",
        charts.rect(0, 0, WIDTH, head + step * len(drawn), attributes='fill="var(--card)"'),
        charts.text(LEFT, 28, heading, "strong"),
    ]
    for number, each in enumerate(drawn):
        parts.append(charts.group(each.parts(), attributes=f'transform="translate(0 {head + number * step:.0f})"'))
    about = ". ".join(each.told for each in drawn[:1])
    named = 'xmlns="http://www.w3.org/2000/svg"'
    return charts.svg(WIDTH, head + step * len(drawn), title, about, parts, attributes=named) + "\n"


class Drawing:
    """Curves of learners by one measure, against one axis."""

    def __init__(self, comparison: Comparison, measure: str, axis: str) -> None:
        self.name, self.measure, self.axis = measure, MEASURES[measure], axis
        there = [(place, each) for place, each in enumerate(comparison["learners"]) if each["curves"][measure]]
        self.learners = [(place, each) for place, each in there if each["curves"][measure][-1][axis] > 0]
        """Those that have moved on this axis, with their places, which give them their colours."""
        self.absent = [each["name"] for place, each in there if (place, each) not in self.learners]
        self.x, self.y = self._scales()

    @property
    def left_out(self) -> str:
        """A sentence on learners that are not drawn."""
        return f"Not drawn, since no games are played: {', '.join(self.absent)}." if self.absent else ""

    @property
    def told(self) -> str:
        """The curves in words."""
        return ". ".join(
            f"{each['name']}: from {value_text(curve[0]['mean'], self.name)} to "
            f"{value_text(curve[-1]['mean'], self.name)}"
            for _, each in self.learners
            if (curve := each["curves"][self.name])
        )

    def svg(self, key: str) -> str:
        """Draw it."""
        title = f"{self.measure.title} against {AXES[self.axis]}"
        return charts.svg(WIDTH, TOP + HEIGHT + BOTTOM, title, self.told, self.parts(), f"-{key}")

    def parts(self) -> list[str]:
        """Return the elements of the drawing."""
        drawn = [charts.group(self._curve(place, each), each["name"]) for place, each in self.learners]
        return [*self._axes(), *drawn, *self._labels()]

    def _scales(self) -> tuple[charts.Axis, charts.Axis]:
        curves = [each["curves"][self.name] for _, each in self.learners]
        points = [point for curve in curves for point in curve]
        span = (LEFT, WIDTH - RIGHT)
        far = max((point[self.axis] for point in points), default=1.0)
        near = min((point[self.axis] for point in points), default=1.0)
        x: charts.Axis = charts.Scale.fitting(0, far, *span, 10)
        if self.axis == "games" and near < far:
            x = charts.PowerScale(near, far, *span)
        lows = [max(self.measure.least, point["mean"] - (point["reach"] or 0.0)) for point in points]
        highs = [point["mean"] + (point["reach"] or 0.0) for point in points]
        low, high = min(lows, default=0.0), max(highs, default=1.0)
        if self.measure.ratios:
            least = max(SMALLEST, min((point["mean"] for point in points), default=1.0))
            if high > RATIO * least:
                below = max(min((each for each in lows if each > 0), default=least), least / 3)
                return x, charts.PowerScale(below * 0.8, high * 1.1, TOP + HEIGHT, TOP)
        return x, charts.Scale.rounded(min(low, 0.0), high, TOP + HEIGHT, TOP, 6)

    def _axes(self) -> Iterable[str]:
        yield from charts.grid(self.x, self.y)
        yield from charts.axis(self.x, self.y, AXES[self.axis])

    def _curve(self, place: int, learner: Any) -> Iterable[str]:
        """Draw the mean with its interval, and each seed as a thin line."""
        x, y, colour, curve = self.x, self.y, f"var(--c{place % COLOURS})", learner["curves"][self.name]
        if any(point["reach"] for point in curve):
            least = max(self.measure.least, y.low)
            above = [(point[self.axis], point["mean"] + (point["reach"] or 0.0)) for point in curve]
            below = [(point[self.axis], max(least, point["mean"] - (point["reach"] or 0.0))) for point in curve[::-1]]
            band = charts.places([*above, *below], x, y)
            yield f'<polygon points="{band}" fill="{colour}" fill-opacity="0.12"/>'
            for run in learner["runs"]:
                own = [(point[self.axis], point["measured"][self.name]) for point in run["points"]
                       if self.name in point["measured"]]  # fmt: skip
                line = charts.places([(min(max(a, x.low), x.high), b) for a, b in own], x, y)
                yield f'<polyline class="seed" points="{line}" fill="none" stroke="{colour}" stroke-opacity="0.4"/>'
        line = charts.places([(point[self.axis], point["mean"]) for point in curve], x, y)
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        for point in curve:
            yield charts.dot(x.at(point[self.axis]), y.at(point["mean"]), 3.2, attributes=f'fill="{colour}"')

    def _labels(self) -> Iterable[str]:
        """Write each learner's name where its curve ends, at the right, one below the other."""
        ends = sorted((self.y.at(each["curves"][self.name][-1]["mean"]), place, each) for place, each in self.learners)
        heights = spread([height for height, _, _ in ends], LINE, TOP, TOP + HEIGHT)
        for (height, place, each), at in zip(ends, heights, strict=True):
            colour, last = f"var(--c{place % COLOURS})", each["curves"][self.name][-1]
            x = self.x.at(last[self.axis])
            leader = f'stroke="{colour}" stroke-opacity="0.5" stroke-dasharray="2 3"'
            yield charts.line(x + 5, height, self.x.end + 12, at, attributes=leader)
            yield charts.dot(self.x.end + 16, at, 4, attributes=f'fill="{colour}"')
            words = f"{charts.shortened(each['name'], 15)}  {value_text(last['mean'], self.name)}"
            yield charts.text(self.x.end + 24, at + 4.5, words)


def spread(places: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Move ascending places apart, no more than it takes for `least` between two, within low and high if they fit."""
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + least) if found else max(place, low))
    below = high
    for number in reversed(range(len(found))):
        found[number] = min(found[number], below)
        below = found[number] - least
    return found


def _paragraph(words: str) -> str:
    return f"<p>{escape(words)}</p>" if words else ""


def _outcome(comparison: Comparison) -> str:
    curves = [curve for learner in comparison["learners"] for curve in learner["curves"].values() if curve]
    said = "Every learner had the same time; measuring and compiling are not counted."
    if any(curve[-1]["reach"] is not None for curve in curves):
        said += " Means over seeds, with 95 % intervals (Student); thin lines are single seeds."
    return section(
        "After the whole time", _paragraph(said), html_table(final_headings(comparison), 1, final_rows(comparison))
    )


def _learners(comparison: Comparison) -> str:
    rows = [[each["name"], each.get("about", "")] for each in comparison["learners"]]
    return section("Learners", html_table(["learner", "method"], 2, rows))


def _all_runs(comparison: Comparison) -> str:
    names = comparison["measures"]
    rows = [
        [
            learner["name"], str(run["seed"]), f"{point['seconds']:,.1f}", f"{point['games']:,.0f}",
            f"{point['moves']:,.0f}",
            *(value_text(point["measured"][name], name) if name in point["measured"] else "–" for name in names),
        ]
        for learner in comparison["learners"]
        for run in learner["runs"]
        for point in run["points"]
    ]  # fmt: skip
    headings = ["learner", "seed", "seconds", "games", "moves", *(MEASURES[name].title for name in names)]
    table = html_table(headings, 1, rows)
    return section("Every measurement", f"<details><summary>{len(rows)} measurements</summary>{table}</details>")
