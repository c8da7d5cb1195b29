"""The shelf: tables kept in one SQLite file, as the events they are made of.

A table's new events are written in one transaction before anybody is told of them. So a server that is killed at
any moment has lost nothing that a player has seen: `events` gives all there is to make the table again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vauban.errors import ConfigurationError, VaubanError

SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    game TEXT NOT NULL,
    number INTEGER NOT NULL,    -- 0 made the table
    event TEXT NOT NULL,        -- JSON
    PRIMARY KEY (game, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reviews (
    game TEXT PRIMARY KEY,
    review TEXT NOT NULL        -- JSON
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (
    game TEXT PRIMARY KEY,
    seconds REAL NOT NULL       -- since 1970, when its last event was kept
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS absences (
    game TEXT NOT NULL,
    side TEXT NOT NULL,
    seconds REAL NOT NULL,      -- since 1970, when its player left
    PRIMARY KEY (game, side)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS oldest ON changes (seconds);
"""
VERSION = 2
CLEARED = 20
"""Games that a full shelf removes for a new one: few, since all other games wait meanwhile."""


class ConflictError(VaubanError):
    """Another server on the same shelf has written the same table."""


class ShelfError(VaubanError):
    """The file cannot be written, or not be read: the disk is full, say."""


class ClearedError(ShelfError):
    """The game is not there any more: it had to make room for others."""


class UnreadableError(ShelfError):
    """The game is there, but it cannot be read."""


class Shelf:
    """Tables on disk. For one thread."""

    def __init__(self, path: Path | str, most: int | None = None) -> None:
        """`path`: a file, made where there is none, readable by its owner alone; ":memory:" forgets.

        `most`: the bytes that games may take; the ones that were changed longest ago make room for new ones.
        """
        self.path, self.most = str(path), most
        try:
            if self.path != ":memory:":
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # it holds secrets
            self._base = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            self._base.execute("PRAGMA journal_mode = WAL")
            # Safe against a kill of the process at any moment; a power cut may cost the last moves, never more.
            self._base.execute("PRAGMA synchronous = NORMAL")
            self._base.execute("PRAGMA busy_timeout = 5000")
            damage = self._base.execute("PRAGMA quick_check(1)").fetchone()[0]
            if damage != "ok":
                raise ConfigurationError(f"{path} is damaged ({damage}): put it aside, or name another file (--shelf)")
            version = self._base.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, VERSION):
                raise ConfigurationError(
                    f"{path} was made by another version of Vauban ({version}): name another file (--shelf)"
                )
            self._base.executescript(SCHEMA)
            self._base.execute(f"PRAGMA user_version = {VERSION}")
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"{path} cannot be used as a shelf for games: {error}") from error

    def append(self, game: str, number: int, events: Iterable[dict[str, Any]]) -> None:
        """Keep a table's events from this number on: all of them, or none."""
        rows = [(game, place, json.dumps(event, separators=(",", ":"))) for place, event in enumerate(events, number)]
        try:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                if number == 0:
                    self._make_room()
                elif not self._read("SELECT 1 FROM events WHERE game = ? AND number = 0", game):
                    raise ClearedError("This game has lain for so long that it had to make room for others.")
                self._base.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
                self._base.execute("INSERT OR REPLACE INTO changes VALUES (?, ?)", (game, time.time()))
                self._base.execute("COMMIT")
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
        except sqlite3.IntegrityError as error:
            raise ConflictError("This game is being played at another server, too. Reload the page.") from error
        except sqlite3.Error as error:
            raise ShelfError(f"The game cannot be kept, so nothing was changed: {error}") from error

    def events(self, game: str) -> list[dict[str, Any]]:
        """Return all events of a table, in order; none if there is no such table."""
        rows = self._read("SELECT event FROM events WHERE game = ? ORDER BY number", game)
        return [json.loads(row[0]) for row in rows]

    def keep_review(self, game: str, review: dict[str, Any]) -> None:
        """Keep the review of a finished game."""
        text = json.dumps(review, separators=(",", ":"))
        there = "SELECT 1 FROM events WHERE game = ? AND number = 0"
        try:
            self._base.execute(f"INSERT OR REPLACE INTO reviews SELECT ?, ? WHERE EXISTS ({there})", (game, text, game))
        except sqlite3.Error as error:
            raise ShelfError(f"What was found out about the game cannot be kept: {error}") from error

    def review(self, game: str) -> str | None:
        """Return the review that was kept, as JSON."""
        rows = self._read("SELECT review FROM reviews WHERE game = ?", game)
        return str(rows[0][0]) if rows else None

    def changed(self, game: str) -> float | None:
        """Return when a game's last event was kept, in seconds since 1970."""
        rows = self._read("SELECT seconds FROM changes WHERE game = ?", game)
        return float(rows[0][0]) if rows else None

    def absences(self, game: str) -> dict[str, float]:
        """Return since when players of a game are away, by side, in seconds since 1970."""
        return dict(self._read("SELECT side, seconds FROM absences WHERE game = ?", game))

    def keep_absence(self, game: str, side: str, seconds: float | None) -> None:
        """Keep since when a player is away; None: it is there."""
        try:
            if seconds is None:
                self._base.execute("DELETE FROM absences WHERE game = ? AND side = ?", (game, side))
            else:
                self._base.execute("INSERT OR REPLACE INTO absences VALUES (?, ?, ?)", (game, side, seconds))
        except sqlite3.Error as error:
            raise ShelfError(f"Who is away cannot be kept: {error}") from error

    def check(self) -> None:
        """Raise a `ShelfError` if games cannot be read."""
        self._read("SELECT 1 FROM events WHERE game = ?", "")

    def _make_room(self) -> None:
        """On a full shelf, remove some of the games that were changed longest ago."""
        if self.most is None or self._taken() < self.most:
            return
        rows = self._base.execute("SELECT game FROM changes ORDER BY seconds LIMIT ?", (CLEARED,)).fetchall()
        for table in ("events", "reviews", "changes", "absences"):
            self._base.executemany(f"DELETE FROM {table} WHERE game = ?", rows)

    def _taken(self) -> int:
        """Count the bytes in use; those of removed games are free."""
        pages, free, size = (
            self._base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def _read(self, query: str, game: str) -> list[Any]:
        try:
            return self._base.execute(query, (game,)).fetchall()
        except sqlite3.Error as error:
            raise ShelfError(f"The games cannot be read: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._base.close()
