"""The pipeline: policies are trained against mixes of others, measured, frozen, and followed by new ones.

    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=4)
    while …:
        pipeline.update()
    population = pipeline.finished                       # numbers
    mix = pipeline.meta_nash(population)

Policy 0 is random and finished from the beginning. One *update* trains every policy that is in training once, all of
them against the policies and the mixes of the time before it; then plateaus are looked for, policies are finished, and
new ones begin. So a pipeline comes to the same, however many processes its workshop has and whenever it is killed: an
update either has happened or has not (`vauban.learn.psro.ledger`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from vauban.errors import ConfigurationError
from vauban.learn.psro.schemes import Scheme
from vauban.learn.psro.workshop import Checkpoint, Floats, Job, Trained, Wanted, Workshop
from vauban.solve.linear import Mix
from vauban.solve.meta import MetaSolver, beaten

WAITING, ACTIVE, TRAINED, FINISHED = "waiting", "active", "trained", "finished"
"""States of a policy: not begun for want of workers; in training; done, until its generation is; in the population."""
SUPPORTS = 1e-4
"""Rectified PSRO answers the policies with more than this chance in the meta-Nash."""
REPORTED = MetaSolver(20_000)
"""The solver of the meta-Nash that is reported and played: long, without anything added."""
MIX, DRAW, TRAIN, BEGIN = range(4)
"""Purposes of chance."""


@dataclass(frozen=True)
class Plateau:
    """A test by its performance of whether a policy has learned what it can."""

    gain: float = 0.01
    """It must have gained this much since the test before."""
    start: int = 1
    """Steps until the first test, from when its opponents change no more."""
    every: int = 1
    """Steps between two tests."""
    least: int = 0
    """Steps that every policy has, those before the first test among them."""
    most: int = 0
    """Steps after which it is finished in any case; 0: no limit."""

    def __post_init__(self) -> None:
        if self.start < 1 or self.every < 1 or self.least < 0 or self.most < 0 or not math.isfinite(self.gain):
            raise ConfigurationError(f"a plateau is tested after 1 step or more, with limits from 0: {self}")


@dataclass
class Member:
    """A policy of a population, and how far it is."""

    number: int
    state: str
    version: int = 0
    parent: int | None = None
    """The policy that it began as a copy of."""
    steps: int = 0
    episodes: int = 0
    performance: float = math.nan
    """At its last update."""
    tested: bool = False
    """Whether its opponents change no more because of policies below it, and plateaus are looked for."""
    previous: float = -math.inf
    """Its performance at the last test."""
    due: int = 0
    """Steps at which it is tested next."""
    place: int = -1
    """In the population, in the order in which policies were finished; −1: not yet."""
    opponents: list[tuple[int, float]] = field(default_factory=list)
    """Its opponents, where they are settled for good: numbers and chances."""

    @property
    def checkpoint(self) -> Checkpoint:
        """The newest one."""
        return Checkpoint(self.number, self.version)


@dataclass
class Entry:
    """An entry of the payoff table that has come to be known."""

    row: Checkpoint
    column: Checkpoint
    payoff: float
    games: int


class Ledger(Protocol):
    """The state of a pipeline, kept so that a killed one goes on."""

    def members(self) -> list[Member]:
        """Return all policies."""

    def entries(self) -> list[Entry]:
        """Return all entries of the payoff table."""

    def updates(self) -> int:
        """Return the number of updates so far."""

    def commit(self, updates: int, members: Sequence[Member], entries: Sequence[Entry]) -> None:
        """Put down these policies and entries, and that there have been so many updates: all of it or nothing."""


class Pipeline:
    """A population in training."""

    def __init__(
        self, scheme: Scheme, workshop: Workshop, *, workers: int = 1, solver: MetaSolver | None = None,
        plateau: Plateau | None = None, seed: int = 0, drawn: bool = False, ledger: Ledger | None = None,
    ) -> None:  # fmt: skip
        """
        workers: policies in training at a time.
        drawn: a new policy begins as a copy of one that is drawn from the meta-Nash below it, and not as a random one.
        """
        if workers < 1:
            raise ConfigurationError(f"a pipeline has 1 worker or more, not {workers}")
        self.scheme, self.workshop, self.seed, self.drawn = scheme, workshop, seed, drawn
        self.workers = 1 if scheme.one else workers
        self.solver, self.plateau = solver or MetaSolver(), plateau or Plateau()
        self.members: list[Member] = []
        """All policies, by number."""
        self.finished: list[int] = []
        """Numbers of the finished policies, in the order in which they were: the population."""
        self.updates = 0
        self.over = False
        """Whether nothing new can come any more."""
        self._payoffs = np.zeros((16, 16))
        self._known = np.zeros((16, 16), np.bool_)
        self._new: list[Entry] = []
        self._mixes: dict[tuple[int, ...], Mix] = {}
        self._changed: set[int] = set()
        self._ledger = ledger
        if ledger is None or not ledger.members():
            self._begin()
        else:
            self._go_on(ledger)

    # ── Where it is ──────────────────────────────────────────────────────────────────────────────

    @property
    def active(self) -> list[Member]:
        """The policies in training, by number."""
        return [each for each in self.members if each.state == ACTIVE]

    @property
    def population(self) -> list[int]:
        """The numbers of the finished policies and of those in training behind them."""
        return [*self.finished, *(each.number for each in self.members if each.state == ACTIVE)]

    @property
    def steps(self) -> int:
        """Steps of all policies so far."""
        return sum(each.steps for each in self.members)

    @property
    def episodes(self) -> int:
        """Games that policies have learned from so far."""
        return sum(each.episodes for each in self.members)

    def payoffs(self, numbers: Sequence[int]) -> Floats:
        """Return what these policies get from each other, as they are now; what is not known is measured."""
        index = np.asarray(numbers, np.int64)
        known = self._known[np.ix_(index, index)]
        if not known.all():
            self._measure(index, known)
        return self._payoffs[np.ix_(index, index)]

    def meta_nash(self, numbers: Sequence[int], solver: MetaSolver | None = None, *more: int) -> Mix:
        """Return the meta-Nash of these policies, by the pipeline's way of solving unless another is given.

        more: numbers that chance depends on, besides the seed and the number of updates.
        """
        return (solver or self.solver).solve(self.payoffs(numbers), (self.seed, MIX, self.updates, *more))

    def judge(self, numbers: Sequence[int]) -> tuple[Mix, float | None]:
        """Return the meta-Nash of these policies as it is reported, and how exploitable it is, where that is known."""
        mix = self.meta_nash(numbers, REPORTED)
        return mix, self.workshop.exploitability([self.members[each].checkpoint for each in numbers], mix)

    # ── An update ────────────────────────────────────────────────────────────────────────────────

    def update(self) -> dict[int, Trained]:
        """Train every policy that is in training once, then finish policies and begin others; by number, what came."""
        if self.over:
            return {}
        training = self.active
        jobs = [self._job(each) for each in training]
        trained = self.workshop.train(jobs)
        for member, came in zip(training, trained, strict=True):
            member.version += 1
            member.steps += came.steps
            member.episodes += came.episodes
            member.performance = came.performance
            self._forget(member.number)
        self.updates += 1
        self._finish([each for each in training if each.tested and self._is_on_a_plateau(each)])
        self._commit()
        return {each.number: came for each, came in zip(training, trained, strict=True)}

    def _job(self, member: Member) -> Job:
        numbers, chances = self._opponents(member)
        there = np.flatnonzero(chances > 0).tolist()
        return Job(
            member.checkpoint,
            [self.members[numbers[each]].checkpoint for each in there],
            chances[there],
            warm=self.scheme.finishes == "lowest" and not member.tested,
            seed=(self.seed, TRAIN, member.number, member.version),
        )

    def _opponents(self, member: Member) -> tuple[Sequence[int], Mix]:
        """Return whom a policy trains against now, and the chances."""
        if member.opponents:
            numbers, chances = zip(*member.opponents, strict=True)
            return numbers, np.array(chances)
        if self.scheme.opponents == "newest":
            return self.finished[-1:], np.ones(1)
        pool = range(member.number) if self.scheme.opponents == "below" else self.finished
        return pool, self._mix(pool, member.number)

    def _mix(self, pool: Sequence[int], number: int) -> Mix:
        """Return the meta-Nash of a pool, solved once as long as nobody in it changes."""
        if self.solver.throws:
            return self.meta_nash(pool, None, number)
        key = (len(pool), *(each for each in pool if self.members[each].state == ACTIVE), -1,
               *(self.members[each].version for each in pool if self.members[each].state == ACTIVE))  # fmt: skip
        if key not in self._mixes:
            if len(self._mixes) > 4 * self.workers:
                self._mixes.clear()
            self._mixes[key] = self.meta_nash(pool)
        return self._mixes[key]

    def _is_on_a_plateau(self, member: Member) -> bool:
        plateau = self.plateau
        if member.steps < member.due:
            return False
        if plateau.most and member.steps >= plateau.most:
            return True
        if member.performance < member.previous + plateau.gain and member.steps >= plateau.least:
            return True
        member.previous, member.due = member.performance, member.steps + plateau.every
        self._changed.add(member.number)
        return False

    # ── Finishing, and beginning anew ────────────────────────────────────────────────────────────

    def _finish(self, done: list[Member]) -> None:
        """Let these policies be finished, as the scheme has it, and others begin."""
        if self.scheme.finishes == "together":
            for member in done:
                self._set(member, TRAINED)
            for waiting in self.members:
                if waiting.state == WAITING and len(self.active) < self.workers:
                    self._set(waiting, ACTIVE)
            if not self.active:
                self._end_generation()
            return
        for member in done:
            self._take_in(member)
        for _ in done:
            self._add()
        self._test_lowest()

    def _end_generation(self) -> None:
        """Take in what a generation has trained, and make the next one."""
        taken = 0
        for member in [each for each in self.members if each.state == TRAINED]:
            if not self.scheme.stops or not self._is_there(member):
                self._take_in(member)
                taken += 1
        if taken:
            self._make_generation()
        else:
            self.over = True

    def _is_there(self, member: Member) -> bool:
        """Return whether the population has such a policy already."""
        return any(self.workshop.alike(member.checkpoint, self.members[each].checkpoint) for each in self.finished)

    def _make_generation(self) -> None:
        """Begin a policy for each that the meta-Nash plays: it answers those that this one beats or ties."""
        table = self.payoffs(self.finished)
        mix = self._mix(self.finished, 0)
        for each in np.flatnonzero(mix > SUPPORTS):
            wins = beaten(table, int(each), mix)
            state = ACTIVE if len(self.active) < self.workers else WAITING
            member = self._add(state)
            member.opponents = [(self.finished[place], float(wins[place])) for place in np.flatnonzero(wins)]

    def _test_lowest(self) -> None:
        """In a hierarchy, settle the opponents of the lowest policy in training: all below it are finished."""
        if self.scheme.finishes != "lowest":
            return
        lowest = self.active[0]
        if not lowest.tested:
            pool = range(lowest.number)
            chances = self._mix(pool, lowest.number)
            lowest.opponents = [(each, float(chance)) for each, chance in zip(pool, chances, strict=True) if chance]
            self._test(lowest)

    def _test(self, member: Member) -> None:
        """From now on, look for plateaus of a policy."""
        member.tested, member.previous, member.due = True, -math.inf, member.steps + self.plateau.start
        self._changed.add(member.number)

    def _add(self, state: str = ACTIVE) -> Member:
        """Claim the lowest free number for a new policy, and begin it."""
        number = len(self.members)
        parent = self._draw_parent(number) if self.drawn and number else None
        self._make_room(number + 1)
        self.workshop.begin(number, parent, (self.seed, BEGIN, number))
        member = Member(number, state, parent=None if parent is None else parent.number)
        self.members.append(member)
        self._changed.add(number)
        if self.scheme.finishes in ("each", "together"):
            self._test(member)
        return member

    def _draw_parent(self, number: int) -> Checkpoint:
        pool = range(number) if self.scheme.opponents == "below" else self.finished
        chances = self._mix(pool, number)
        drawn = np.random.default_rng((self.seed, DRAW, number)).choice(len(chances), p=chances)
        return self.members[pool[int(drawn)]].checkpoint

    def _take_in(self, member: Member) -> None:
        """Add a policy to the population."""
        member.place = len(self.finished)
        self.finished.append(member.number)
        self._set(member, FINISHED)

    def _set(self, member: Member, state: str) -> None:
        member.state = state
        self._changed.add(member.number)

    # ── The payoff table ─────────────────────────────────────────────────────────────────────────

    def _measure(self, index: np.ndarray, known: np.ndarray) -> None:
        """Have the entries measured that are missing, each once: the higher number has the row."""
        wanted = []
        for place, number in enumerate(index):
            columns = index[~known[place] & (index < number)]
            if len(columns):
                wanted.append((int(number), columns))
        asked = [
            Wanted(self.members[row].checkpoint, [self.members[each].checkpoint for each in columns])
            for row, columns in wanted
        ]
        for (row, columns), found in zip(wanted, self.workshop.measure(asked), strict=True):
            self._payoffs[row, columns] = found.payoffs
            self._payoffs[columns, row] = -found.payoffs
            self._known[row, columns] = self._known[columns, row] = True
            if self._ledger is not None:
                self._new += [
                    Entry(self.members[row].checkpoint, self.members[each].checkpoint, float(payoff), found.games)
                    for each, payoff in zip(columns.tolist(), found.payoffs, strict=True)
                ]

    def _forget(self, number: int) -> None:
        """A policy has changed, and with it what it gets."""
        self._known[number, :] = self._known[:, number] = False
        self._known[number, number] = True
        self._changed.add(number)

    def _make_room(self, count: int) -> None:
        size = len(self._payoffs)
        if count > size:
            more = size  # twice as much
            self._payoffs = np.pad(self._payoffs, (0, more))
            self._known = np.pad(self._known, (0, more))
        self._known[count - 1, count - 1] = True

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def _begin(self) -> None:
        """Begin with a finished random policy, and with as many in training as the scheme allows."""
        self._take_in(self._add())
        if self.scheme.finishes == "together":
            self._make_generation()
        else:
            for _ in range(self.workers):
                self._add()
        self._test_lowest()
        self._commit()

    def _go_on(self, ledger: Ledger) -> None:
        self.members, self.updates = ledger.members(), ledger.updates()
        finished = sorted((each.place, each.number) for each in self.members if each.state == FINISHED)
        self.finished = [number for _, number in finished]
        for member in self.members:
            self._make_room(member.number + 1)
        newest = {each.checkpoint for each in self.members}
        for entry in ledger.entries():
            if entry.row in newest and entry.column in newest:
                row, column = entry.row.number, entry.column.number
                self._payoffs[row, column], self._payoffs[column, row] = entry.payoff, -entry.payoff
                self._known[row, column] = self._known[column, row] = True
        self.over = not self.active

    def _commit(self) -> None:
        if self._ledger is not None:
            changed = [self.members[number] for number in sorted(self._changed)]
            self._ledger.commit(self.updates, changed, self._new)
            self._new.clear()
            self.workshop.keep({each.checkpoint for each in self.members})
            self.workshop.retire({each.checkpoint for each in self.members if each.state == FINISHED})
        self._changed.clear()
