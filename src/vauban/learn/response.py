"""The score of a response: what it gains from its opponents, by seat and over time, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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
    """What a response gains as the first and as the second player."""

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

    def measure(self, games: int) -> SeatScores:
        """Play new games with what was learned, and return what it gains."""


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
