"""The command line: its output, its JSON, its exit codes, its complaints."""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE
from typer.testing import CliRunner, Result

from vauban.board import Board
from vauban.cli.main import _interrupt_again, app
from vauban.errors import VaubanError

DATA = Path(__file__).parents[1] / "data"


def vauban(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-c", "from vauban.cli.main import run; run()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def result(*arguments: str) -> dict:
    """Return the JSON object on the last line of a command that succeeds."""
    done = vauban(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_games_are_listed() -> None:
    table = result("games")["games"]
    assert table["classic"]["setups"] == 1_411_873_643_675_199_617_616_832_128_000_000
    assert table["classic"]["army"].startswith("F1") and table["kuhn"]["longest"] == 3
    assert table["leduc"]["setups"] is None
    listed = vauban("games").stdout
    assert all(name in listed for name in table)


def test_perft_counts_every_depth() -> None:
    assert result("perft", "micro-1", "--depth", "6")["nodes"] == [3, 9, 51, 181, 704, 2_382]
    rules = result("perft", "dance-1", "--depth", "9", "--rules", "two_square=off chase=isf")
    assert rules["nodes"] == [4, 12, 36, 80, 280, 797, 2_362, 5_492, 17_987]
    text = "lf1p/4/FLP1 r 0 0 -,- 0:-,0:-"
    assert result("perft", text, "--depth", "5")["nodes"] == [3, 9, 51, 181, 704]
    assert "2,382" in vauban("perft", "micro-1", "--depth", "6").stdout


def test_perft_counts_any_game_and_every_chance_event(tmp_path: Path) -> None:
    """Kuhn: six deals, two actions each, two more; a bet after a pass has two answers."""
    assert result("perft", "kuhn", "--depth", "4")["nodes"] == [12, 24, 12, 0]
    assert result("perft", "leduc", "--depth", "2")["nodes"] == [30 * 2, 30 * (2 + 3)]
    assert result("perft", "rock-paper-scissors", "--depth", "2")["nodes"] == [3, 9]
    variant = 'name = "small"\nrows = 4\ncolumns = 4\nsetup_rows = 1\narmy = "F1 L1 P1 J1"\n'
    (tmp_path / "small.toml").write_text(variant)
    small = result("perft", str(tmp_path / "small.toml"), "--depth", "4", "--setups", "FLPJ", "JFPL")
    assert small["nodes"] == result("perft", "tiny-1", "--depth", "4")["nodes"]
    assert result("perft", "tiny", "--depth", "4", "--setups", "FLPJ", "JFPL")["nodes"] == [3, 9, 63, 375]


def test_perft_counts_a_game_of_ones_own_as_a_board_plays_it() -> None:
    board = Board("py:examples/ambush.py:Ambush", setups=("K.G", "GK."))

    def count(depth: int) -> int:
        if depth == 0:
            return 1
        total = 0
        for action in board.legal_actions:
            board.push(action)
            total += count(depth - 1)
            board.pop()
        return total

    told = result("perft", "py:examples/ambush.py:Ambush", "--depth", "4", "--setups", "K.G", "GK.")
    assert told["nodes"] == [count(depth) for depth in (1, 2, 3, 4)]


def test_rules_replays_files_and_counts_what_agrees() -> None:
    table = result("rules", str(DATA / "games_uniform_short.json"), str(DATA / "games_uniform_sparse1.json"))
    assert table == {"cases": 60, "plies": 2842 + 3483, "observations": 28 + 16, "disagree": 0}


def test_rules_shows_the_first_disagreement_and_exits_with_1(tmp_path: Path) -> None:
    source = DATA / "games_uniform_short.json"
    arrays = dict(np.load(source.with_suffix(".npz")))
    arrays["legal"][5] += 1
    (tmp_path / "set.json").write_text(source.read_text())
    np.savez(tmp_path / "set.npz", **arrays)
    done = vauban("rules", str(tmp_path / "set.json"), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout.splitlines()[-1])["disagree"] == 1
    assert "set.json, game 0, ply 0: legal moves" in done.stderr


def test_observation_prints_its_channels() -> None:
    lines = vauban("observation", "ataraxos").stdout.splitlines()
    assert len(lines) == 487 and lines[12].split() == ["12", "their_spy_prob"]
    assert len(result("observation", "deepnash", "--game", "tiny")["channels"]) == 82
    assert len(result("observation", "information_state", "--game", "kuhn")["channels"]) == 11


@pytest.mark.parametrize(("what", "unit"), [("sim", "plies"), ("mask", "states"), ("observe", "states")])
def test_bench_measures(what: str, unit: str) -> None:
    table = result("bench", what, "--game", "tiny", "--games", "8", "--threads", "1", "--seconds", "0.2")
    assert table[f"{unit}_per_second"] > 1000
    assert (table["games"], table["threads"], table["device"]) == (8, 1, "cpu")
    assert 0 < table["record_bytes"] <= 4096


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["perft", "tinny-1", "--depth", "2"], "position"),
        (["perft", "tiny-1", "--depth", "2", "--rules", "chaze=off"], "did you mean 'chase'"),
        (["perft", "", "--depth", "2"], "START is empty"),
        (["rules", "nowhere.json"], "nowhere.json"),
        (["rules", "README.md"], "README.md"),
        (["observation", "ataraxo"], "did you mean 'ataraxos'"),
        (["observation", "ataraxos", "--game", "clasic"], "did you mean 'classic'"),
        (["bench", "sim", "--game", "clasic"], "did you mean 'classic'"),
        (["bench", "observe", "--dtype", "int8"], "bfloat16 or float32"),
        (["bench", "sim", "--device", "tpu"], "tpu"),
        (["perft", "tiny-1", "--depth", "0"], "depth"),
        (["dance"], "dance"),
    ],
)
def test_bad_input_ends_in_a_sentence_and_exit_code_2(arguments: list[str], words: str) -> None:
    done = vauban(*arguments)
    assert done.returncode == 2
    assert words in done.stderr.replace("\n", " ").replace("│", " ")
    assert "Traceback" not in done.stderr


def test_no_line_of_the_list_of_commands_is_cut_off() -> None:
    assert "..." not in vauban("--help").stdout.partition("Commands:")[2]


@pytest.mark.parametrize("command", ["play", "games", "observation", "rules", "perft", "bench"])
def test_help_teaches(command: str) -> None:
    text = vauban(command, "--help").stdout
    assert command in text
    if command != "games":
        assert "Example" in text


@pytest.mark.parametrize("hooked", [True, False])
def test_an_interrupt_in_the_middle_of_compiling_ends_a_command_all_the_same(
    hooked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler calls Python back, where nothing can be raised; without the hook an interrupt is lost there."""
    noted: list[BaseException | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraised: noted.append(unraised.exc_value))
    if hooked:
        monkeypatch.setattr(sys, "unraisablehook", _interrupt_again)
    called_back = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))
    again = threading.Event()
    with pytest.raises(KeyboardInterrupt) if hooked else nullcontext():
        called_back()
        again.wait(60 if hooked else 0)
    assert [type(each) for each in noted] == ([] if hooked else [KeyboardInterrupt])


def test_a_game_that_nothing_looks_back_on_is_refused_and_a_position_of_it_is_not(tmp_path: Path) -> None:
    games = str(tmp_path / "kuhn.txt")
    result("match", "random", "random", "--game", "kuhn", "--games", "2", "--save", games)
    done = vauban("analyse", games, "--agent", "none")
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    said = " ".join(done.stderr.split())
    told = "nothing looks back on a whole game of 'kuhn' yet, only on games of these families: geister, stratego"
    assert told in said
    assert "say who looks at it" in " ".join(vauban("analyse", games, "--ply", "1").stderr.split())


def shown_by(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(arguments))


def test_one_game_can_be_looked_at(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'name = "skirmish"\nrows = 6\ncolumns = 6\nlakes = ["c3", "d4"]\nsetup_rows = 2\narmy = "F1 S1 O2 N1 M1 B1"\n'
    )
    shown = shown_by("games", str(mine)).stdout
    assert "skirmish" in shown and "O2" in shown and "c3, d4" in shown and shown.count("~") == 2
    table = json.loads(shown_by("games", str(mine), "--json").stdout.splitlines()[-1])["games"]
    assert list(table) == ["skirmish"] and table["skirmish"]["lakes"] == ["c3", "d4"]
    assert "4 × " not in shown_by("games", "kuhn").stdout and "bet" not in shown_by("games", "tiny").stdout
    assert isinstance(shown_by("games", "clasic").exception, VaubanError)
