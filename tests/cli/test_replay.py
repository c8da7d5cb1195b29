"""`vauban replay` with games that have no notation of their own."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vauban.board import Board
from vauban.cli.main import make_app
from vauban.cli.replay import Replay
from vauban.errors import ConfigurationError
from vauban.notation.records import read_games, write_game


@pytest.fixture
def poker(tmp_path: Path) -> Path:
    board = Board("kuhn", seed=1)
    for move in ("bet", "pass"):
        board.push(move)
    path = tmp_path / "poker.txt"
    path.write_text(write_game(board, {"First": "anna", "Second": "cfr"}, {1: "bold"}))
    return path


def test_a_game_of_poker_is_printed_move_by_move(poker: Path) -> None:
    shown = CliRunner().invoke(make_app("replay"), ["replay", str(poker)]).output
    assert "[first] anna" in shown and "(second) cfr" in shown
    assert "1. First: bet  {bold}" in shown and shown.rstrip().endswith("First won: fold.")


def test_one_player_s_view_shows_no_other_card(poker: Path) -> None:
    shown = CliRunner().invoke(make_app("replay"), ["replay", str(poker), "--ply", "1", "--view", "second"]).output
    assert "second sees" in shown and "first sees" not in shown and "as second knew it" in shown


def test_the_answer_for_programs_names_the_moves(poker: Path) -> None:
    told = json.loads(CliRunner().invoke(make_app("replay"), ["replay", str(poker), "--json"]).output.splitlines()[-1])
    assert (told["moves"], told["result"], told["end"]) == (["First: bet", "Second: pass"], "1-0", "fold")


def test_one_steps_through_the_views_of_its_players(poker: Path) -> None:
    [game] = read_games(poker.read_text())
    table = Replay(game, source=io.StringIO("n\nv\nv\nb\n"), target=io.StringIO())
    table.run()
    assert (table.ply, table.view) == (0, "second")
    with pytest.raises(ConfigurationError, match="there is no view 'red'"):
        Replay(game, "red")
