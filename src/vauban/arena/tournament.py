"""A tournament in a file: every agent against every other, or one against all, to be continued at any time.

    with Tournament.open("ladder.db", Settings(("cadet", "random", "fox"), games=100, game="barrage")) as tournament:
        tournament.play(Processes())
        report_json(tournament.results())

The file is an SQLite database (docs/arena.md has its tables). Games are written as they are done, in one
transaction for each job, so a tournament that is killed has lost only the jobs under way; opened again it goes on with
the games that are missing. Since a game depends only on the settings and its number, a tournament that was broken
off ends with the same table as one that was not.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from types import TracebackType
from typing import Any

from vauban import __version__
from vauban.agents import make_agent
from vauban.agents.base import Agent, close
from vauban.agents.external import MEMORY
from vauban.arena.match import NONE, FinishedGame, Match, mixed, record_text, repetition, settled_setups
from vauban.arena.results import GameResult
from vauban.arena.schedule import Schedule
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import Game, from_spec, nearest
from vauban.games.base import game as find_game
from vauban.work.base import Executor
from vauban.work.executors import Here

APPLICATION = 0x56415542  # "VAUB", by which the file is known for what it is
FORMAT = 2
"""Files of format 1 are brought up to date when they are opened: they hold Stratego, and no utilities."""

SCHEMA = (
    """CREATE TABLE settings (
        name TEXT PRIMARY KEY,      -- those of `Settings`, and version
        value TEXT NOT NULL         -- as JSON
    )""",
    """CREATE TABLE agents (
        id INTEGER PRIMARY KEY,     -- from 0, in the order in which they were named
        text TEXT NOT NULL UNIQUE   -- the text that makes the agent
    )""",
    """CREATE TABLE pairings (
        id INTEGER PRIMARY KEY,     -- from 0
        first INTEGER NOT NULL REFERENCES agents,   -- plays red in the games with even numbers
        second INTEGER NOT NULL REFERENCES agents,
        seed INTEGER NOT NULL       -- of the match between them
    )""",
    """CREATE TABLE games (
        pairing INTEGER NOT NULL REFERENCES pairings,
        number INTEGER NOT NULL,    -- within the pairing, from 0; games 2k and 2k+1 are a pair
        red INTEGER NOT NULL REFERENCES agents,
        blue INTEGER NOT NULL REFERENCES agents,
        winner INTEGER,             -- 0 the first player (red), 1 the second (blue), NULL a draw
        end TEXT NOT NULL,          -- flag, no_moves, …, forfeit
        plies INTEGER NOT NULL,
        seconds REAL NOT NULL,
        note TEXT NOT NULL,         -- of a forfeit, the reason
        red_setup TEXT NOT NULL,    -- as text, back row first, in its owner's view; empty if there was none
        blue_setup TEXT NOT NULL,
        moves TEXT NOT NULL,        -- actions as text: a4a5 b7b6 …
        utility REAL,               -- what it was worth to the first player; NULL where winner says it all
        PRIMARY KEY (pairing, number)
    )""",
    """CREATE VIEW results AS
        SELECT pairing, number, r.text AS red, b.text AS blue,
            CASE winner WHEN 0 THEN '1-0' WHEN 1 THEN '0-1' ELSE '1/2-1/2' END AS result,
            end, plies, seconds, note
        FROM games JOIN agents AS r ON r.id = games.red JOIN agents AS b ON b.id = games.blue
        ORDER BY pairing, number""",
)


class TournamentError(VaubanError, ValueError):
    """A file that is no tournament, or one of another kind than was asked for."""


@dataclass(frozen=True)
class Settings:
    """The settings of a tournament."""

    agents: tuple[str, ...]
    games: int = 100
    """Between every two who meet."""
    game: str | dict[str, Any] | Game = "classic"
    """A name, a file, what makes a game again (`Game.definition`), or a game."""
    rules: str | None = None
    setups: str | None = None
    """None: as is usual in the game."""
    seed: int = 0
    gauntlet: str | None = None
    """One of the agents, who plays all others while they do not play each other; None: everyone plays everyone."""
    time: float | None = None
    """Seconds allowed for a move."""
    bot_time: float | None = None
    """Seconds that programs have for an answer; None: the time for a move, or theirs by default."""
    memory: int = MEMORY
    """MiB for each process of a program (bot:COMMAND), 0 for no limit."""
    folder: str | None = None
    """Programs are started and files (py:FILE.py:NAME) are looked for here, from wherever the tournament goes on;
    None: where it was begun."""

    def __post_init__(self) -> None:
        if len(self.agents) < 2:
            raise ConfigurationError(f"a tournament needs at least two agents, not {len(self.agents)}")
        twice = [text for text in self.agents if self.agents.count(text) > 1]
        if twice:
            raise ConfigurationError(f"the agent {twice[0]!r} is named twice: each takes part once")
        if self.gauntlet is not None and self.gauntlet not in self.agents:
            raise ConfigurationError(
                f"{self.gauntlet!r} is to play all others, and takes no part: {nearest(self.gauntlet, self.agents)}"
            )

    def pairings(self) -> list[tuple[str, str]]:
        """Return the pairs of agents that meet, the first agent of each match first."""
        if self.gauntlet is not None:
            return [(self.gauntlet, other) for other in self.agents if other != self.gauntlet]
        return list(combinations(self.agents, 2))

    @cached_property
    def made(self) -> Game:
        """The game with its rules."""
        if isinstance(self.game, dict):
            return from_spec({"game": self.game, "rules": self.rules})
        return find_game(self.game, self.rules)

    @cached_property
    def settled(self) -> str:
        """The source of setups in every match."""
        return _settled(settled_setups(self.made, self.setups, self._agents()))

    def _agents(self) -> Iterator[Agent]:
        for text in self.agents:
            agent = make_agent(text, 0, Path(self.folder or ".").resolve(), self.memory, game=self.made)
            close(agent)
            yield agent

    def table(self) -> dict[str, Any]:
        """Return all settings, settled: two of the same meaning are equal."""
        return {
            "agents": list(self.agents),
            "gauntlet": self.gauntlet,
            "games": self.games,
            **self.made.spec(),
            "setups": self.settled,
            "seed": self.seed,
            "time": self.time,
            "bot_time": self.bot_time,
            "memory": self.memory,
            "folder": str(Path(self.folder or ".").resolve()),
        }

    def match(self, first: str, second: str, seed: int = 0) -> Match:
        """Return the match between two of the agents."""
        return Match(
            first, second, self.games, self.made, seed=seed, setups=self.setups, time=self.time, bot_time=self.bot_time,
            memory=self.memory, folder=self.folder,
        )  # fmt: skip


class Tournament:
    """A tournament and its file."""

    def __init__(self, path: Path, database: sqlite3.Connection, table: dict[str, Any]) -> None:
        """Use `open`."""
        self.path = path
        setups = None if table["setups"] == NONE else table["setups"]
        self.settings = Settings(
            tuple(table["agents"]), table["games"], table["game"], table["rules"], setups, table["seed"],
            table["gauntlet"], table["time"], table.get("bot_time"), table.get("memory", MEMORY), table.get("folder"),
        )  # fmt: skip
        self._database = database
        rows = database.execute(
            "SELECT a.text, b.text, p.seed FROM pairings AS p "
            "JOIN agents AS a ON a.id = p.first JOIN agents AS b ON b.id = p.second ORDER BY p.id"
        )
        self.matches = [self.settings.match(first, second, seed) for first, second, seed in rows]
        """One for each two who meet."""
        self._ids = {text: place for place, text in enumerate(self.settings.agents)}

    @classmethod
    def open(cls, path: str | Path, settings: Settings | None = None) -> Tournament:
        """Return the tournament of a file, begun anew with these settings if there is none yet.

        Without settings the file has to be there. With settings that are not those of the file, it is refused.
        """
        path = Path(path)
        if settings is None and not path.exists():
            raise TournamentError(f"there is no tournament {path} yet: name the agents that are to play")
        if settings is not None and not (path.exists() and path.stat().st_size):
            for first, second in settings.pairings():  # refuses what cannot be played before anything is written
                settings.match(first, second)
        try:
            database = sqlite3.connect(path, isolation_level=None, timeout=60)
        except sqlite3.Error as error:
            raise TournamentError(f"{path} cannot be opened: {error}") from error
        try:
            found = cls(path, database, _begin(path, database, settings))
            found.check(settings or found.settings)
            return found
        except sqlite3.DatabaseError as error:
            database.close()
            raise TournamentError(f"{path} is no tournament: {error}") from error
        except BaseException:
            database.close()
            raise

    def check(self, settings: Settings) -> None:
        """Refuse settings that are not those of the file. It can go on from another folder."""
        written, asked = self.settings.table(), settings.table()
        for name, value in asked.items():
            if written[name] != value and name != "folder":
                raise TournamentError(
                    f"{self.path} was begun with {name} {_said(written[name])}, and this asks for {_said(value)}: "
                    "leave it out to go on, or begin a new file"
                )

    def __enter__(self) -> Tournament:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    # ── Playing ──────────────────────────────────────────────────────────────────────────────────

    def missing(self) -> list[tuple[Match, list[int]]]:
        """Return the games of each match that have not been played."""
        done: list[set[int]] = [set() for _ in self.matches]
        for pairing, number in self._database.execute("SELECT pairing, number FROM games"):
            done[pairing].add(number)
        return [
            (match, [number for number in range(match.games) if number not in played])
            for match, played in zip(self.matches, done, strict=True)
        ]

    def play(self, executor: Executor | None = None, watch: Callable[[int], Any] | None = None) -> None:
        """Play what is missing. `watch` is called with the number of games that are done, whenever there are more."""
        executor = executor or Here()
        schedule = Schedule(self.missing(), executor.workers)
        done = self.played
        if watch is not None:
            watch(done)
        with closing(executor.run(schedule)) as running:  # type: ignore[type-var]
            for index, games in running:
                schedule.learn(index, games)
                self._keep(schedule.taken[index][0], games)
                done += len(games)
                if watch is not None:
                    watch(done)

    def _keep(self, pairing: int, games: Sequence[FinishedGame]) -> None:
        rows = [
            (
                pairing, game.result.number, *(self._ids[name] for name in game.result.agents), game.result.winner,
                game.result.end, game.result.plies, game.result.seconds, game.result.note, *game.setups, game.moves,
                game.result.utility,
            )
            for game in games
        ]  # fmt: skip
        self._database.execute("BEGIN IMMEDIATE")
        # Somebody else may be playing the same tournament: those games are as good.
        self._database.executemany("INSERT OR IGNORE INTO games VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        self._database.execute("COMMIT")

    # ── What has been played ─────────────────────────────────────────────────────────────────────

    @property
    def games(self) -> int:
        """Number of games in all."""
        return sum(match.games for match in self.matches)

    @property
    def played(self) -> int:
        """Number of games that have been played."""
        return int(self._database.execute("SELECT count(*) FROM games").fetchone()[0])

    def standings(self) -> list[tuple[str, float]]:
        """Return each agent that has played with its mean score so far, or its mean utility, the best first."""
        worth = "CASE winner WHEN {0} THEN 1.0 WHEN {1} THEN 0.0 ELSE 0.5 END"
        sides = (worth.format(0, 1), worth.format(1, 0)) if self.settings.made.drawn else ("utility", "-utility")
        return self._database.execute(
            f"SELECT text, avg(worth) AS mean FROM (SELECT red AS agent, {sides[0]} AS worth FROM games "
            f"UNION ALL SELECT blue, {sides[1]} FROM games) JOIN agents ON id = agent "
            "GROUP BY id ORDER BY mean DESC, id"
        ).fetchall()

    def results(self) -> list[list[GameResult]]:
        """Return the results of each match that has begun, by number."""
        found = (self._results(pairing) for pairing in range(len(self.matches)))
        return [results for results in found if results]

    def repetitions(self) -> list[str]:
        """Return a warning for every two who mostly play the same games again."""
        counted = self._database.execute(
            "SELECT pairing, count(*), count(DISTINCT red_setup || ' ' || blue_setup || ' ' || moves) "
            "FROM games GROUP BY pairing ORDER BY pairing"
        )
        found = []
        for pairing, games, different in counted:
            match = self.matches[pairing]
            warning = repetition(match, games, different)
            if warning is not None:
                found.append(f"{' – '.join(match.names)}: {warning}")
        return found

    def records(self) -> Iterator[str]:
        """Yield the records of all games that have been played and had begun, match by match."""
        for pairing, match in enumerate(self.matches):
            texts = self._database.execute(
                "SELECT red_setup, blue_setup, moves FROM games WHERE pairing = ? ORDER BY number", (pairing,)
            )
            for result, (red, blue, moves) in zip(self._results(pairing), texts, strict=True):
                text = record_text(match, FinishedGame(result, (red, blue), moves))
                if text is not None:
                    yield text

    def _results(self, pairing: int) -> list[GameResult]:
        names = self.settings.agents
        rows = self._database.execute(
            "SELECT number, red, blue, winner, end, plies, seconds, note, utility FROM games WHERE pairing = ? "
            "ORDER BY number",
            (pairing,),
        )
        return [GameResult(number, (names[red], names[blue]), *rest) for number, red, blue, *rest in rows]


# ── The file ─────────────────────────────────────────────────────────────────────────────────────


def _begin(path: Path, database: sqlite3.Connection, settings: Settings | None) -> dict[str, Any]:
    """Return the settings in a file; those given are written into one that is empty."""
    _check_ours(path, database)  # before anything in it is changed
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute("BEGIN IMMEDIATE")  # two who begin at the same time do it one after the other
    try:
        if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            if settings is None:
                raise TournamentError(f"{path} is empty: name the agents that are to play")
            _write(database, settings)
        _check_ours(path, database)
        written = database.execute("PRAGMA user_version").fetchone()[0]
        if written == 1:
            _bring_up_to_date(database)
            written = FORMAT
        if written != FORMAT:
            raise TournamentError(
                f"{path} was written by another version of Vauban (format {written}, here it is {FORMAT})"
            )
        table = {name: json.loads(value) for name, value in database.execute("SELECT name, value FROM settings")}
        if table["version"] != __version__:
            raise TournamentError(
                f"{path} was begun with Vauban {table['version']}, and this is {__version__}: games might differ. "
                "Go on with that version, or begin a new file"
            )
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    return table


def _bring_up_to_date(database: sqlite3.Connection) -> None:
    """Make a file of format 1 one of ours."""
    table = {name: json.loads(value) for name, value in database.execute("SELECT name, value FROM settings")}
    from vauban.games.stratego.game import Stratego
    from vauban.notation.stratego.headers import parse_variant_headers

    game = Stratego(parse_variant_headers(table["variant"]), table["rules"])
    database.execute("ALTER TABLE games ADD COLUMN utility REAL")
    database.execute("DELETE FROM settings WHERE name IN ('variant', 'rules')")
    database.executemany("INSERT INTO settings VALUES (?, ?)", [(k, json.dumps(v)) for k, v in game.spec().items()])
    database.execute(f"PRAGMA user_version = {FORMAT}")


def _check_ours(path: Path, database: sqlite3.Connection) -> None:
    """Refuse a database that is something else."""
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise TournamentError(f"{path} is a database, and no tournament: choose another name")


def _settled(setups: str) -> str:
    """Return a sampler of setups whose file is found from any folder."""
    before, named, file = setups.partition("list:")
    return f"{before}{named}{Path(file).resolve()}" if named and not before.replace("mirrored:", "") else setups


def _write(database: sqlite3.Connection, settings: Settings) -> None:
    for statement in SCHEMA:
        database.execute(statement)
    table = settings.table() | {"version": __version__}
    database.executemany("INSERT INTO settings VALUES (?, ?)", ((name, json.dumps(table[name])) for name in table))
    database.executemany("INSERT INTO agents VALUES (?, ?)", enumerate(settings.agents))
    database.executemany(
        "INSERT INTO pairings VALUES (?, ?, ?, ?)",
        [
            (place, settings.agents.index(first), settings.agents.index(second), mixed(settings.seed, first, second))
            for place, (first, second) in enumerate(settings.pairings())
        ],
    )
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {FORMAT}")


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(str(part) for part in value.values())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)
