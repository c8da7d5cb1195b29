"""Results of a comparison of learners: curves over seeds, with intervals, and one page with all of it.

A comparison is a table for JSON: its settings, and the points of each learner and seed
(`vauban.learn.comparison`). `summarise` adds what they come to; `comparison_html` draws it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import count
from statistics import fmean, stdev
from typing import Any

import numpy as np

from vauban import charts
from vauban.arena.ratings import rate
from vauban.arena.report_html import WIDTH, html_page, html_table, section
from vauban.charts import minus

Comparison = dict[str, Any]

T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""0.975 quantiles of Student's distribution, by degrees of freedom from 1; beyond them 1.96 is near enough."""
NASH_CONV, ELO, SCORE = "nash_conv", "elo", "score."
AXES = {"seconds": "seconds of learning", "games": "games played"}
LEFT, TOP, HEIGHT, BOTTOM = 58.0, 12.0, 260.0, 46.0


def mean_interval(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean over seeds and half the width of its 95 % interval; None where there is one seed."""
    if len(values) < 2:
        return fmean(values), None
    freedom = len(values) - 1
    quantile = T95[freedom - 1] if freedom <= len(T95) else 1.96
    return fmean(values), quantile * stdev(values) / math.sqrt(len(values))


def summarise(comparison: Comparison) -> Comparison:
    """Add to each learner its curve: a point for each number that all its seeds have, means with intervals."""
    if comparison["settings"]["opponents"]:
        _rate(comparison)
    metric = comparison["metric"] = ELO if comparison["settings"]["opponents"] else NASH_CONV
    for learner in comparison["learners"]:
        runs = [{point["number"]: point for point in run["points"]} for run in learner["runs"]]
        shared = sorted(set.intersection(*(set(run) for run in runs))) if runs else []
        learner["curve"] = []
        for number in shared:
            there = [run[number] for run in runs]
            mean, reach = mean_interval([point["measured"][metric] for point in there])
            axes = {axis: fmean(point[axis] for point in there) for axis in (*AXES, "moves")}
            learner["curve"].append({"number": number, **axes, "mean": mean, "reach": reach})
    return comparison


def _rate(comparison: Comparison) -> None:
    """Rate all models that were measured, and their opponents, together; the first opponent is 0."""
    opponents, games = comparison["settings"]["opponents"], comparison["settings"]["games"]
    points = [point for learner in comparison["learners"] for run in learner["runs"] for point in run["points"]]
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


# ── The page ─────────────────────────────────────────────────────────────────────────────────────────


def comparison_html(comparison: Comparison, title: str, conditions: Mapping[str, str]) -> str:
    """Return the page of a comparison that was summarised."""
    numbers = count(1)
    learners = [learner for learner in comparison["learners"] if learner["curve"]]
    parts = [_outcome(comparison, learners)]
    for axis, words in AXES.items():
        drawing = _chart(learners, axis, comparison["metric"], str(next(numbers)))
        parts.append(section(f"Against {words}", _legend(learners), f'<div class="scroll">{drawing}</div>'))
    parts.append(_all_runs(comparison))
    return html_page(title, conditions, "\n".join(parts), "")


def metric_text(metric: str) -> str:
    """Return the heading of what is compared."""
    return "Elo" if metric == ELO else "NashConv"


def value_text(value: float, metric: str) -> str:
    """Return a figure as it is printed."""
    return minus(f"{value:+.0f}" if metric == ELO else f"{value:.4f}")


def interval_text(mean: float, reach: float | None, metric: str) -> str:
    """Return a mean with its interval, where there is one."""
    if reach is None:
        return value_text(mean, metric)
    low, high = mean - reach, mean + reach
    if metric == NASH_CONV:
        low = max(0.0, low)
    return f"{value_text(mean, metric)} ({value_text(low, metric)} … {value_text(high, metric)})"


def final_rows(comparison: Comparison) -> list[list[str]]:
    """Return a row for each learner: its name, value with interval, each seed's value, games, moves, seconds."""
    metric, rows = comparison["metric"], []
    for learner in comparison["learners"]:
        if not learner["curve"]:
            continue
        last = learner["curve"][-1]
        seeds = [
            value_text(point["measured"][metric], metric)
            for run in learner["runs"]
            for point in run["points"]
            if point["number"] == last["number"]
        ]
        rows.append(
            [
                learner["name"],
                interval_text(last["mean"], last["reach"], metric),
                ", ".join(seeds),
                f"{last['seconds']:,.0f}",
                f"{last['games']:,.0f}",
                f"{last['moves']:,.0f}",
            ]
        )
    return rows


def final_headings(comparison: Comparison) -> list[str]:
    """Return the headings of `final_rows`."""
    return ["learner", f"{metric_text(comparison['metric'])} (95 %)", "each seed", "seconds", "games", "moves"]


def _outcome(comparison: Comparison, learners: Sequence[Any]) -> str:
    if comparison["metric"] == NASH_CONV:
        said = "NashConv is what the best responses of both players gain together: 0 in an equilibrium."
    else:
        rated = ", ".join(f"{name} {minus(f'{value:+.0f}')}" for name, value in comparison["ratings"].items())
        said = f"Ratings are fitted to the games of all models together, draws half; opponents: {rated}."
    if any(learner["curve"][-1]["reach"] is not None for learner in learners):
        said += " Intervals are over seeds (Student)."
    return section(
        "After the whole time", f"<p>{escape(said)}</p>",
        html_table(final_headings(comparison), 1, final_rows(comparison)),
    )  # fmt: skip


def _legend(learners: Sequence[Any]) -> str:
    names = "".join(
        f'<li><span style="background: var(--c{number % 8})"></span>{escape(learner["name"])}</li>'
        for number, learner in enumerate(learners)
    )
    return f'<ul class="legend">{names}</ul>'


def _chart(learners: Sequence[Any], axis: str, metric: str, key: str) -> str:
    curves = [[(point[axis], point["mean"], point["reach"] or 0.0) for point in each["curve"]] for each in learners]
    far = max((x for curve in curves for x, _, _ in curve), default=1.0) or 1.0
    lows = [mean - reach for curve in curves for _, mean, reach in curve]
    highs = [mean + reach for curve in curves for _, mean, reach in curve]
    low = 0.0 if metric == NASH_CONV else min(lows, default=0.0)
    x = charts.Scale.fitting(0, far, LEFT, WIDTH - 20, 10)
    y = charts.Scale.rounded(low, max(highs, default=1.0), TOP + HEIGHT, TOP, 6)
    parts = [*charts.grid(x, y), *charts.axis(x, y, AXES[axis])]
    for number, (learner, curve) in enumerate(zip(learners, curves, strict=True)):
        parts.append(charts.group(_curve(curve, x, y, low, number), learner["name"]))
    told = ". ".join(
        f"{learner['name']}: from {curve[0][1]:.4g} to {curve[-1][1]:.4g}"
        for learner, curve in zip(learners, curves, strict=True)
    )
    return charts.svg(
        WIDTH, TOP + HEIGHT + BOTTOM, f"{metric_text(metric)} against {AXES[axis]}", told, parts, f"-{key}"
    )


def _curve(
    curve: Sequence[tuple[float, float, float]], x: charts.Scale, y: charts.Scale, low: float, number: int
) -> Iterable[str]:
    colour = f"var(--c{number % 8})"
    if any(reach for _, _, reach in curve):
        above = [(at, mean + reach) for at, mean, reach in curve]
        below = [(at, max(low, mean - reach)) for at, mean, reach in reversed(curve)]
        yield f'<polygon points="{charts.places([*above, *below], x, y)}" fill="{colour}" fill-opacity="0.14"/>'
    line = charts.places([(at, mean) for at, mean, _ in curve], x, y)
    yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for at, mean, _ in curve:
        yield charts.dot(x.at(at), y.at(mean), 3, attributes=f'fill="{colour}"')


def _all_runs(comparison: Comparison) -> str:
    metric = comparison["metric"]
    rows = [
        [
            learner["name"], str(run["seed"]), f"{point['seconds']:,.1f}", f"{point['games']:,.0f}",
            f"{point['moves']:,.0f}", value_text(point["measured"][metric], metric),
        ]
        for learner in comparison["learners"]
        for run in learner["runs"]
        for point in run["points"]
    ]  # fmt: skip
    return section(
        "Every measurement", html_table(["learner", "seed", "seconds", "games", "moves", metric_text(metric)], 1, rows)
    )
