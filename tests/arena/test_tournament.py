"""Tournaments: pairings, the file, and going on after being killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from test_executors import wait_until
from test_match import RESIGNS_AT_ONCE

from vauban.arena.report import report_json
from vauban.arena.tournament import Settings, Tournament, TournamentError
from vauban.errors import ConfigurationError
from vauban.notation.records import read_games
from vauban.work.executors import Processes

COLUMNS = "pairing, number, red, blue, winner, end, plies, note, red_setup, blue_setup, moves"


def small(**changes: Any) -> Settings:
    return Settings(**({"agents": ("cadet", "random"), "games": 6, "game": "tiny", "seed": 3} | changes))


def games_in(path: Path) -> list[tuple[Any, ...]]:
    """Return all games of a file, without their seconds."""
    with closing(sqlite3.connect(path)) as database:
        return database.execute(f"SELECT {COLUMNS} FROM games ORDER BY pairing, number").fetchall()


def count(path: Path) -> int:
    """Return the number of games in a file so far; none while it is being made."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


# ── Pairings ─────────────────────────────────────────────────────────────────────────────────────


def test_everyone_meets_everyone_or_one_meets_all() -> None:
    assert small(agents=("a", "b", "c")).pairings() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert small(agents=("a", "b", "c"), gauntlet="b").pairings() == [("b", "a"), ("b", "c")]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"agents": ("cadet",)}, "at least two agents"),
        ({"agents": ("cadet", "random", "cadet")}, "'cadet' is named twice"),
        ({"gauntlet": "cade"}, "did you mean 'cadet'"),
    ],
)
def test_settings_that_make_no_tournament_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        small(**changes)


def test_a_tournament_that_cannot_be_played_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'cadet'"):
        Tournament.open(tmp_path / "t.db", small(agents=("cadett", "random")))
    assert not (tmp_path / "t.db").exists()


# ── The file ─────────────────────────────────────────────────────────────────────────────────────


def test_all_games_are_in_the_file_with_what_it_takes_to_see_them_again(tmp_path: Path) -> None:
    with Tournament.open(tmp_path / "t.db", small()) as tournament:
        seen: list[int] = []
        tournament.play(watch=seen.append)
        assert seen[0] == 0 and seen[-1] == 6 == tournament.played == tournament.games
        [results] = tournament.results()
        report = report_json(tournament.results())
        text = "\n".join(tournament.records())
    assert report["games"] == 6 and set(report["agents"]) == {"cadet", "random"}
    read = read_games(text)
    assert [len(game.moves) for game in read] == [result.plies for result in results]
    assert [game.headers["Red"] for game in read] == ["cadet", "random"] * 3
    with closing(sqlite3.connect(tmp_path / "t.db")) as database:
        row = database.execute("SELECT red, blue, result FROM results LIMIT 1").fetchone()
        assert row[:2] == ("cadet", "random") and row[2] in ("1-0", "0-1", "1/2-1/2")
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_it_goes_on_with_the_games_that_are_missing_whichever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with Tournament.open(path, small()) as tournament:
        tournament.play()
    whole = games_in(path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM games WHERE number IN (0, 3, 4)")
    with Tournament.open(path) as tournament:
        assert tournament.missing()[0][1] == [0, 3, 4]
        tournament.play()
        assert tournament.missing()[0][1] == []
    assert games_in(path) == whole


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"games": 8}, "begun with games 6, and this asks for 8"),
        ({"seed": 4}, "begun with seed 3, and this asks for 4"),
        ({"game": "micro"}, "begun with game tiny, and this asks for micro"),
        ({"agents": ("random", "cadet")}, "begun with agents cadet, random, and this asks for random, cadet"),
        ({"rules": "chase=off"}, "begun with rules"),
        ({"setups": "own"}, "begun with setups human"),
        ({"gauntlet": "random"}, "begun with gauntlet none"),
        ({"time": 1.0}, "begun with time none"),
    ],
)
def test_other_settings_than_those_of_the_file_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with Tournament.open(tmp_path / "t.db", small()):
        pass
    with pytest.raises(TournamentError, match=words):
        Tournament.open(tmp_path / "t.db", small(**changes))
    with Tournament.open(tmp_path / "t.db", small(rules="strategus")) as tournament:  # the same in other words
        assert tournament.settings.games == 6


def make_text(path: Path) -> None:
    path.write_text("this is no database, and long enough to be told from one that is empty" * 20)


def make_other(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE recipes (name TEXT)")


@pytest.mark.parametrize(
    ("make", "words"), [(make_text, "t.db is no tournament"), (make_other, "t.db is a database, and no tournament")]
)
def test_other_files_are_left_alone(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    path = tmp_path / "t.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(TournamentError, match=words):
        Tournament.open(path, small())
    assert path.read_bytes() == before


@pytest.mark.parametrize("changes", [{"agents": ("cadet", "nosuch")}, {"time": -1.0}, {"setups": "list:nowhere"}])
@pytest.mark.parametrize("there", [False, True])
def test_a_start_that_is_refused_writes_nothing(tmp_path: Path, changes: dict[str, Any], there: bool) -> None:
    path = tmp_path / "t.db"
    if there:
        path.touch()
    with pytest.raises(ConfigurationError):
        Tournament.open(path, small(**changes))
    assert path.exists() is there and (not there or path.stat().st_size == 0)


def test_it_goes_on_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (home / "bot.py").write_text(RESIGNS_AT_ONCE)
    (home / "setups.txt").write_text("PONOBMONTC/BLBLJPNFLB/BTJLNNSTOO/PPCJGOTOBO\n")
    settings = small(
        agents=("random", f"bot:{sys.executable} -u bot.py"), games=2, game="classic", setups="list:setups.txt"
    )
    monkeypatch.chdir(home)
    with Tournament.open("t.db", settings):
        pass
    with Tournament.open("t.db", settings):  # the same in the same words
        pass
    monkeypatch.chdir(elsewhere)
    with Tournament.open(home / "t.db") as tournament:
        assert tournament.settings.setups == f"list:{home / 'setups.txt'}"
        tournament.play()
        assert [result.note for result in tournament.results()[0]] == ["resigned"] * 2
    (home / "bot.py").unlink()
    home.rename(tmp_path / "moved")
    with pytest.raises(ConfigurationError, match="there is no folder|cannot be read as a list"):
        Tournament.open(tmp_path / "moved" / "t.db")


def test_a_variant_of_ones_own_is_kept_in_the_file(tmp_path: Path) -> None:
    toml = tmp_path / "strip.toml"
    toml.write_text('name = "strip"\nrows = 4\ncolumns = 4\nsetup_rows = 1\narmy = "F1 L1 P1 J1"\ntotal_limit = 60\n')
    with Tournament.open(tmp_path / "t.db", small(game=str(toml))) as tournament:
        tournament.play()
        first = tournament.results()
    toml.unlink()
    with Tournament.open(tmp_path / "t.db") as tournament:
        assert tournament.settings.made.name == "strip"
        assert tournament.results() == first
        assert tournament.matches[0].game.rules.total_limit == 60


# ── Killed ───────────────────────────────────────────────────────────────────────────────────────


def start(path: Path, *more: str) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    command = [sys.executable, "-c", "from vauban.cli.main import run; run()", "tournament", str(path), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_tournament_that_is_killed_ends_with_the_same_table_as_one_that_is_not(tmp_path: Path) -> None:
    broken, whole = tmp_path / "broken.db", tmp_path / "whole.db"
    options = ["cadet", "random", "--games", "40", "--game", "octa-barrage", "--seed", "5", "--workers", "2"]
    with start(broken, *options) as process:
        wait_until(lambda: count(broken) > 0)
        os.kill(process.pid, signal.SIGKILL)
    assert 0 < count(broken) < 40, "it was to be killed midway"
    with start(broken) as process:
        said, complaint = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, complaint
    assert "40 of 40 games" in said
    with Tournament.open(whole, Settings(("cadet", "random"), 40, "octa-barrage", seed=5)) as tournament:
        tournament.play(Processes(2))
        table = report_json(tournament.results())
    assert games_in(broken) == games_in(whole)
    with Tournament.open(broken) as tournament:
        again = report_json(tournament.results())
    assert [again[key] for key in ("wins", "draws", "ratings", "ends")] == [
        table[key] for key in ("wins", "draws", "ratings", "ends")
    ]


def test_an_interrupted_tournament_prints_the_command_that_continues_it(tmp_path: Path) -> None:
    path = tmp_path / "my ladder.db"
    with start(path, "cadet", "random", "--games", "400", "--game", "octa-barrage", "--workers", "2") as process:
        wait_until(lambda: count(path) > 0)
        os.kill(process.pid, signal.SIGINT)
        said, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert f"vauban tournament '{path}'" in complaint.replace("\n", "")
    assert "cadet" in said and "Traceback" not in complaint


# ── Files of earlier versions ────────────────────────────────────────────────────────────────────

EARLIER = Path(__file__).parents[1] / "data" / "tournament_barrage.db"
"""Written at commit d9f7f4c: vauban tournament FILE random fox cadet --games 4 --variant barrage
--rules "isf total_limit=200" --setups uniform --seed 12"""


def test_a_tournament_written_at_d9f7f4c_goes_on_and_plays_the_same_games(tmp_path: Path) -> None:
    path = tmp_path / "earlier.db"
    path.write_bytes(EARLIER.read_bytes())
    games = games_in(path)
    assert len(games) == 12
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DELETE FROM games WHERE number = 3 OR pairing = 2")
    with Tournament.open(path) as tournament:
        assert (tournament.played, tournament.games) == (6, 12)
        tournament.play()
        assert len(list(tournament.records())) == 12
        assert report_json(tournament.results())["games"] == 12
    assert games_in(path) == games
