"""The score of a response: what it gains from its opponents, by seat and over time, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from vauban import charts
from vauban.charts import COLOURS

SIGMAS = 1.959963984540054
"""A 95 % interval reaches so many standard errors to both sides."""
SEATS = ("first", "second")


@dataclass(frozen=True)
class Sample:
    """Utilities of games: their number, mean and standard deviation."""

    games: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, utilities: Sequence[float]) -> Sample:
        """Return those of some games."""
        count = len(utilities)
        mean = math.fsum(utilities) / max(count, 1)
        squares = math.fsum((each - mean) ** 2 for each in utilities)
        return cls(count, mean, math.sqrt(squares / max(count - 1, 1)))

    @classmethod
    def joined(cls, samples: Sequence[Sample]) -> Sample:
        """Return all games of several samples."""
        count = sum(each.games for each in samples)
        mean = math.fsum(each.games * each.mean for each in samples) / max(count, 1)
        squares = math.fsum(
            max(each.games - 1, 0) * each.deviation**2 + each.games * (each.mean - mean) ** 2 for each in samples
        )
        return cls(count, mean, math.sqrt(squares / max(count - 1, 1)))

    @property
    def error(self) -> float:
        """The standard error of the mean; infinite where fewer than two games were played."""
        return self.deviation / math.sqrt(self.games) if self.games > 1 else math.inf


@dataclass(frozen=True)
class SeatScores:
    """Gains of a response as the first and as the second player."""

    first: Sample
    second: Sample

    @property
    def score(self) -> float:
        """The mean of both seats: a lower bound of the opponents' exploitability, but for chance."""
        return (self.first.mean + self.second.mean) / 2

    @property
    def margin(self) -> float:
        """Half the width of the score's 95 % interval."""
        return SIGMAS * math.hypot(self.first.error, self.second.error) / 2

    @property
    def games(self) -> int:
        """Games of both seats."""
        return self.first.games + self.second.games


@runtime_checkable
class Responds(Protocol):
    """A learner of responses."""

    episodes: int

    def measure(self, games: int, tick: Callable[[int], None] = ...) -> SeatScores:
        """Play new games with what was learned, and return what it gains.

        tick: called from time to time with the number of games that are over.
        """


@dataclass(frozen=True)
class Point:
    """A stretch of a training: where it ended, and what the response gained in its games."""

    minutes: float
    games: float
    scores: SeatScores


def course(lines: Sequence[Mapping[str, float]], points: int) -> list[Point]:
    """Return the course of a training in a number of stretches of about as many games each, from its metrics."""
    lines = [line for line in lines if "response.score" in line]
    most = lines[-1]["games"] if lines else 0.0
    found: list[Point] = []
    waiting: list[Mapping[str, float]] = []
    for line in lines:
        waiting.append(line)
        if line["games"] >= most * (len(found) + 1) / points or line is lines[-1]:
            first, second = (Sample.joined([_sample(each, seat) for each in waiting]) for seat in SEATS)
            found.append(Point(line["minutes"], line["games"], SeatScores(first, second)))
            waiting = []
    return found


def _sample(line: Mapping[str, float], seat: str) -> Sample:
    games = int(line[f"response.games.{seat}"])
    return Sample(games, line.get(f"response.score.{seat}", 0.0), line.get(f"response.deviation.{seat}", 0.0))


# ── The picture ──────────────────────────────────────────────────────────────────────────────────

WIDTH, HEIGHT = 720.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 24.0, 78.0, 52.0


def course_svg(title: str, points: Sequence[Point], measured: SeatScores, best: float | None = None) -> str:
    """Draw the score over minutes with its 95 % intervals, what was measured in the end, and the best possible."""
    # None if a run was over before its first iteration: there is only what was measured then.
    end = (points[-1].minutes if points else 0.0) or 1.0
    shown = [(point.minutes, point.scores.score, point.scores.margin) for point in points]
    shown = [each for each in shown if math.isfinite(each[2])]
    last = (end, measured.score, measured.margin if math.isfinite(measured.margin) else 0.0)
    heights = [0.0, *(y + sign * m for _, y, m in (*shown, last) for sign in (-1, 1))]
    heights += [] if best is None else [best]
    x = charts.Scale.fitting(0, end, LEFT, WIDTH - RIGHT, 8)
    y = charts.Scale.rounded(min(heights), max(heights), HEIGHT - BOTTOM, TOP, 6)
    words = "mean utility of the response, both seats, with 95 % intervals"
    parts = [charts.text(charts.MARGIN, 58, words, "soft"), *charts.grid(x, y)]
    parts += [*charts.axis(x, y, "minutes of training"), charts.line(x.start, y.at(0), x.end, y.at(0), "axis")]
    if best is not None:
        dashed = 'stroke="#59636e" stroke-dasharray="6 4"'
        parts.append(charts.line(LEFT, y.at(best), WIDTH - RIGHT, y.at(best), attributes=dashed))
        parts.append(charts.text(LEFT + 6, y.at(best) - 6, f"exact best response {best:.4g}", "soft"))
    low, high = ([(a, b + sign * m) for a, b, m in shown] for sign in (-1, 1))
    drawn = [
        charts.band(low, high, x, y),
        *charts.curve([(a, b) for a, b, _ in shown], x, y),
        charts.line(x.at(end), y.at(last[1] - last[2]), x.at(end), y.at(last[1] + last[2]), "curve"),
        charts.dot(x.at(end), y.at(last[1]), 3.4),
    ]
    parts.append(charts.group(drawn, "score of the response", attributes=charts.paint(COLOURS[0])))
    about = f"The score ends at {measured.score:.4g}, plus or minus {measured.margin:.2g}."
    return charts.picture(WIDTH, HEIGHT, charts.shortened(title, 78), about, parts, title)
