"""Cutting matches into jobs, and playing a match to its end or to a test's decision."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar

from vauban import __version__
from vauban.arena.match import FinishedGame, Match
from vauban.arena.sprt import Sprt
from vauban.work.base import Executor, Tell, check_version
from vauban.work.executors import Here

SECONDS = 4.0
"""A job that took less is followed by larger ones: they show progress often enough, and little is lost with one."""
FIRST = 2
"""Games of a match's first jobs, as long as nobody knows how long they take."""
GROWTH = 4
"""The next job is this many times as large. Many games at once cost hardly more than few, so speed is no guide."""
LARGEST = 256
"""Games of a job: more at once are no faster."""


@dataclass(frozen=True)
class Job:
    """Some games of a match: a task for an executor."""

    match: Match
    numbers: tuple[int, ...]
    version: str = __version__
    """Vauban's version where the job was made: games of another might differ."""
    modules: ClassVar = ("vauban.arena.play",)

    def run(self, tell: Tell) -> list[FinishedGame]:
        """Play the games."""
        from vauban.arena.play import (
            play_games,  # brings torch along, which the process that hands out jobs can do without
        )

        check_version(self.version, "the match")
        return play_games(self.match, self.numbers)

    def __str__(self) -> str:
        last = f"–{self.numbers[-1]}" if len(self.numbers) > 1 else ""
        return f"games {self.numbers[0]}{last} of {' – '.join(self.match.names)}"


class Schedule:
    """Jobs for the missing games of some matches, larger and larger as long as they are quick.

    Games do not depend on how they are cut into jobs. Pairs stay together.
    """

    def __init__(self, missing: Sequence[tuple[Match, Sequence[int]]], workers: int) -> None:
        self.missing = missing
        self.workers = workers
        self.taken: list[tuple[int, Job]] = []
        """The jobs handed out so far, each with the place of its match."""
        self._sizes = [FIRST] * len(missing)

    def __iter__(self) -> Iterator[Job]:
        """Yield a job of each match in turn, as long as some of its games are missing."""
        left = sum(len(numbers) for _, numbers in self.missing)
        waiting = deque((place, 0) for place in range(len(self.missing)))
        while waiting:
            place, first = waiting.popleft()
            match, numbers = self.missing[place]
            # Towards the end jobs become smaller, so that the workers finish together.
            size = min(self._sizes[place], max(FIRST, left // (2 * self.workers)))
            last = min(first + size, len(numbers))
            while last < len(numbers) and numbers[last - 1] // 2 == numbers[last] // 2:
                last += 1
            if first < last:
                left -= last - first
                waiting.append((place, last))
                job = Job(match, tuple(numbers[first:last]))
                self.taken.append((place, job))
                yield job

    def learn(self, index: int, games: Sequence[FinishedGame]) -> None:
        """Hear how long a job took."""
        place, job = self.taken[index]
        seconds = sum(game.result.seconds for game in games)
        size = len(job.numbers)
        if seconds < SECONDS:
            size *= GROWTH
        elif seconds > GROWTH * SECONDS:
            size //= 2
        self._sizes[place] = max(FIRST, min(size, LARGEST))


def play_match(
    match: Match,
    executor: Executor | None = None,
    sprt: Sprt | None = None,
    watch: Callable[[list[FinishedGame]], Any] | None = None,
) -> list[FinishedGame]:
    """Play a match; returns its games by number.

    sprt: a test to feed; the match ends when it has decided, and only the games that it looked at are
        returned, so that these too depend neither on the number of workers nor on which were done first.
    watch: is called with all games that are done, in any order, whenever there are more.
    """
    executor = executor or Here()
    schedule = Schedule([(match, range(match.games))], executor.workers)
    done: list[FinishedGame] = []
    with closing(executor.run(schedule)) as running:  # type: ignore[type-var]
        for index, games in running:
            schedule.learn(index, games)
            done += games
            if watch is not None:
                watch(done)
            if sprt is not None and _decided(sprt, games):
                break
    done.sort(key=lambda game: game.result.number)
    if sprt is not None and sprt.decision is not None:
        looked_at = sum(sprt.counts) * (2 if sprt.paired else 1)
        return done[:looked_at]
    return done


def _decided(sprt: Sprt, games: Sequence[FinishedGame]) -> bool:
    for game in games:
        sprt.add(game.result)
    return sprt.decision is not None
