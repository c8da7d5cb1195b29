"""The state of a population: `payoffs.db`, an SQLite database.

An update of a pipeline is one transaction. Killed at any moment, a pipeline goes on from the last whole update;
checkpoints that were written after it are of no version that the database names, and are written again.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from vauban.errors import VaubanError
from vauban.learn.psro.pipeline import Entry, Member
from vauban.learn.psro.workshop import Checkpoint

APPLICATION = 0x56415550  # "VAUP", by which the file is known for what it is
FORMAT = 1
SCHEMA = (
    """CREATE TABLE settings (
        name TEXT PRIMARY KEY,      -- what the population must not change: game, scheme, oracle, seed
        value TEXT NOT NULL         -- as JSON
    )""",
    """CREATE TABLE progress (
        updates INTEGER NOT NULL    -- of the pipeline, in the only row
    )""",
    """CREATE TABLE policies (
        number INTEGER PRIMARY KEY,
        state TEXT NOT NULL,        -- waiting, active, trained, finished
        version INTEGER NOT NULL,   -- of the newest checkpoint: updates so far
        parent INTEGER,             -- the policy that it began as a copy of
        steps INTEGER NOT NULL,     -- actions that it has learned from
        episodes INTEGER NOT NULL,  -- games that it has learned from
        performance REAL,           -- against its opponents, at its last update
        tested INTEGER NOT NULL,    -- 1: all below it are finished, and plateaus are looked for
        previous REAL,              -- its performance at the last test
        due INTEGER NOT NULL,       -- steps at which it is tested next
        place INTEGER NOT NULL,     -- in the population, in the order of being finished; -1: not yet
        opponents TEXT NOT NULL     -- [[number, chance], …] where they are settled, else []
    )""",
    """CREATE TABLE payoffs (
        row INTEGER NOT NULL, row_version INTEGER NOT NULL,
        column INTEGER NOT NULL, column_version INTEGER NOT NULL,   -- of a policy with a lower number
        payoff REAL NOT NULL,       -- what the row's policy gets from the column's, seats drawn evenly
        games INTEGER NOT NULL,     -- that were played; 0: it is exact
        PRIMARY KEY (row, row_version, column, column_version)
    ) WITHOUT ROWID""",
)


class LedgerError(VaubanError, RuntimeError):
    """A database that is no population's, or not this one's."""


class SqliteLedger:
    """The database of a population."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Open it, or begin it with these settings; refuse one that was begun with others."""
        self.path = path
        self._database = sqlite3.connect(path, isolation_level=None, timeout=60)
        try:
            self._open({name: json.dumps(value, sort_keys=True) for name, value in settings.items()})
        except sqlite3.DatabaseError as error:
            raise LedgerError(f"{path} cannot be used as a population's payoffs: {error}") from error
        self._updates = self.updates()

    def _open(self, settings: Mapping[str, str]) -> None:
        database = self._database
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute("BEGIN IMMEDIATE")
        if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            for statement in SCHEMA:
                database.execute(statement)
            database.execute("INSERT INTO progress VALUES (0)")
            database.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {FORMAT}")
        elif database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise LedgerError(f"{self.path} is a database, and no population's: name another folder")
        database.execute("COMMIT")
        written = dict(database.execute("SELECT name, value FROM settings"))
        for name, value in settings.items():
            if written.get(name) != value:
                raise LedgerError(
                    f"{self.path} was begun with {name} {written.get(name)}, and this asks for {value}: go on with "
                    "what it was begun with, or begin another run"
                )

    def updates(self) -> int:
        """Return the number of updates so far."""
        return int(self._database.execute("SELECT updates FROM progress").fetchone()[0])

    def members(self) -> list[Member]:
        """Return all policies, by number."""
        rows = self._database.execute(
            "SELECT number, state, version, parent, steps, episodes, performance, tested, previous, due, place, "
            "opponents FROM policies ORDER BY number"
        )
        return [
            Member(
                number, state, version, parent, steps, episodes, math.nan if performance is None else performance,
                bool(tested), -math.inf if previous is None else previous, due, place,
                [(int(each), chance) for each, chance in json.loads(opponents)],
            )
            for number, state, version, parent, steps, episodes, performance, tested, previous, due, place, opponents
            in rows
        ]  # fmt: skip

    def entries(self) -> list[Entry]:
        """Return all entries of the payoff table."""
        return _entries(self._database)

    def count(self) -> int:
        """Return the number of entries of the payoff table, those of older checkpoints among them."""
        return int(self._database.execute("SELECT count(*) FROM payoffs").fetchone()[0])

    def commit(self, updates: int, members: Sequence[Member], entries: Sequence[Entry]) -> None:
        """Put down these policies and entries, and that there have been so many updates: all of it or nothing."""
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            # Another process that goes on with the same population has counted on.
            moved = database.execute("UPDATE progress SET updates = ? WHERE updates = ?", (updates, self._updates))
            if moved.rowcount != 1:
                raise LedgerError(f"another process goes on with the population of {self.path}: let one of them do so")
            database.executemany("INSERT OR REPLACE INTO policies VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", map(_row, members))
            database.executemany(
                "INSERT OR REPLACE INTO payoffs VALUES (?,?,?,?,?,?)",
                [(*each.row, *each.column, each.payoff, each.games) for each in entries],
            )
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        self._updates = updates

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def read_entries(path: Path) -> list[Entry]:
    """Return all entries of the payoff table of a population, which may be in training meanwhile."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as database:
            return _entries(database)
    except sqlite3.DatabaseError as error:
        raise LedgerError(f"{path} cannot be read as a population's payoffs: {error}") from error


def _entries(database: sqlite3.Connection) -> list[Entry]:
    rows = database.execute("SELECT row, row_version, column, column_version, payoff, games FROM payoffs")
    return [Entry(Checkpoint(a, b), Checkpoint(c, d), payoff, games) for a, b, c, d, payoff, games in rows]


def _row(member: Member) -> tuple[Any, ...]:
    return (
        member.number, member.state, member.version, member.parent, member.steps, member.episodes,
        _finite(member.performance), member.tested, _finite(member.previous), member.due, member.place,
        json.dumps(member.opponents),
    )  # fmt: skip


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
