"""Geister in the terminal: a person who only reads the screen can play it, and the screen tells no hidden colour."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from test_terminal import ANSI, Person, at_random, sit_down, typing

from vauban import Board
from vauban.board.geister import View
from vauban.cli.show import show_of
from vauban.games.base import Outcome, game

BOARDS = ("geister", "geister-33b", "geister-34", "geister-44")


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """80 columns, no colours, and nothing written outside the test's own folder."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Dealt:
    """An opponent with a setup that is given to it, which plays the first legal move."""

    name = "dealt"

    def __init__(self, setup: str) -> None:
        self.setup = setup

    def set_up(self, game: Any, player: int, rng: random.Random) -> Any:
        return game.setups.parse(self.setup)

    def answer(self, view: View) -> int:
        return view.legal_actions[0]


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("side", [0, 1])
def test_a_whole_game_can_be_played_by_someone_who_only_reads_the_screen(name: str, side: int) -> None:
    code, screen = sit_down(at_random(3), side=side, name=name)
    assert code == 0
    assert re.search(r"^(You win|You lose|A draw): .+\.$", screen, re.MULTILINE)
    assert all(len(line) <= 80 for line in ANSI.sub("", screen).splitlines())
    last = screen.rpartition("Ply")[2]
    assert "?)" in last or "?]" in last, "colours are hidden until the end"
    opened = last[re.search(r"You win|You lose|A draw", last).start() :]  # type: ignore[union-attr]
    assert "?)" not in opened and "?]" not in opened, "and then both sides are open"


def test_the_screen_says_how_to_set_up_and_why_a_move_is_refused() -> None:
    lines = ("ABCX", "EFGH", "ready", "b2b3", "b3b5", "b1b3", "b1b2", "a3n", "a1w", "moves", "quit")
    _, screen = sit_down(typing(lines), agent=Dealt("ABCD"), name="geister")
    said = " ".join(screen.split())
    assert "type a setup as the text above, the letters of the evil ghosts" in said
    assert "a setup names the 4 evil ghosts among ABCDEFGH" in said and "EFGH (the evil ghosts)" in said
    assert "'b3b5' is no move: a ghost moves one square along a row or a column" in said
    assert "'a3n' is no move: a direction stands for a way off the board" in said
    assert "a1w is not legal: there is no ghost on a1" in said
    assert "0 of 300 moves" in said and "[A+]" in said and "(a?)" in said


def test_a_draw_that_is_near_and_a_way_out_are_told() -> None:
    board = Board.from_position("A1a/3/b1B f BR RB 25", "geister-33a")
    show = show_of(board.game)
    notes = show.notes(board.view(0))
    assert notes[:3] == [
        "25 of 30 moves",
        "5 more moves, and the game is a draw.",
        "You can leave the board and win: a3n or a3w.",
    ]
    assert "leave" not in " ".join(show.notes(board.view(1)))
    told = show.told(board, board.push("a3w"), 0)
    assert told == "You a3: a good ghost leaves the board"
    assert show.ended(board.outcome(), 0) == "You win: a good ghost of yours has left the board."
    assert show.ended(board.outcome(), 1) == "You lose: a good ghost of your opponent has left the board."
    assert show.ended(board.outcome()) == "First won: a good ghost has left the board."


@pytest.mark.parametrize("end", game("geister").ends[1:])
@pytest.mark.parametrize("winner", [0, 1, None])
@pytest.mark.parametrize("person", [0, 1, None])
def test_every_end_is_a_sentence(end: str, winner: int | None, person: int | None) -> None:
    said = show_of(game("geister")).ended(Outcome(winner, end, 0.0), person)
    assert said.endswith(".") and "_" not in said


@pytest.mark.parametrize("name", ["geister", "barrage", "kuhn"])
def test_a_draw_by_the_time_of_the_whole_game_is_nobodys_time(name: str) -> None:
    said = show_of(game(name)).ended(Outcome(None, "time", 0.0))
    assert said == "A draw: the time for the whole game is up."


def test_the_screen_is_the_same_whatever_the_colours_that_are_hidden() -> None:
    def screen(setup: str) -> str:
        person: Person = typing(("BCDE", "ready", "e2e3", "moves", "e3e2", "b1a1", "quit"))
        return sit_down(person, agent=Dealt(setup), name="geister")[1].partition("Saved as")[0]

    assert screen("ABCD") == screen("EFGH") == screen("ACEG")
