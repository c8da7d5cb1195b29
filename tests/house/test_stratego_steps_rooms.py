"""Stratego in steps in every room: it begins with the deployment, or from setups where these are given."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.agents.base import check_plays
from vauban.arena.match import NONE, Match, record_text
from vauban.arena.play import play_in_batch, play_on_boards
from vauban.board import Board
from vauban.board.perft import perft, start_board
from vauban.cli.main import app
from vauban.cli.terminal_game import TerminalGame
from vauban.envs.pettingzoo import env
from vauban.errors import ConfigurationError
from vauban.games import base
from vauban.notation.records import read_games, write_game
from vauban.sim.simulator import Simulator


def test_the_arena_plays_it_from_the_deployment_in_batches_and_on_boards() -> None:
    match = Match("random", "random", 8, "steps:tiny", seed=3)
    assert match.setups == NONE and not match.gives_setups
    games = play_in_batch(match, range(8))
    assert [game.moves for game in games] == [game.moves for game in play_on_boards(match, range(8))]
    assert all(game.setups == ("", "") and len(game.moves.split()) >= 8 for game in games)
    text = record_text(match, games[0])
    assert text is not None
    (read,) = read_games(text)
    assert read.board.is_over and len(read.moves) == len(games[0].moves.split())


def test_the_arena_plays_it_from_setups_if_asked_to() -> None:
    match = Match("random", "random", 6, "steps:tiny", seed=3, setups="uniform")
    games = play_in_batch(match, range(6))
    assert [game.moves for game in games] == [game.moves for game in play_on_boards(match, range(6))]
    assert [game.setups for game in games[::2]] == [game.setups for game in games[1::2]]
    text = record_text(match, games[1])
    assert text is not None and "RedSetup" in text
    (read,) = read_games(text)
    assert read.board.setups is not None and read.board.is_over
    with pytest.raises(ConfigurationError, match="players place their pieces by actions: leave 'own' out, or name a"):
        Match("random", "random", 2, "steps:tiny", setups="own")


def test_simulators_begin_with_the_deployment_or_from_pools() -> None:
    game = base.game("steps:duel")
    assert game.setups is not None and game.deploys and not game.setups_chosen
    deploying = Simulator(game, 5, seed=1, arrays="numpy")
    assert (deploying.steps == 2).all() and not deploying.starts.any()
    pool = np.stack([game.setups.parse("B.F..N../B..S.O/.N.M.G.O".replace("B..S.O", "B..S.O..").replace("/", ""))] * 3)
    playing = Simulator(game, 5, seed=1, setups=pool, arrays="numpy")
    assert (playing.steps == 0).all() and (playing.starts > 0).sum() == 5 * 2 * game.variant.pieces  # type: ignore[attr-defined]
    ended = playing.play_random(3000)
    assert (ended > 0).all() and (playing.steps < 2).all(), "games that are begun anew take setups of the pool too"
    assert (deploying.play_random(3000) > 0).all()


def test_environments_play_it_with_and_without_given_setups() -> None:
    api_test(env("steps:tiny"), num_cycles=60)
    world = env("steps:nano", setups=["FP", "PF"])
    world.reset(seed=1)
    assert world.observe("red")["observation"].shape == (82, 3, 2)
    for options in ({}, {"setups": ("FP", "FP")}):
        world.reset(seed=1, options=options)
        assert not world.observe("red")["observation"][79].any(), "no deployment"
    bare = env("steps:nano")
    bare.reset(seed=1)
    assert bare.observe("red")["observation"][79].all() and bare.observe("blue")["action_mask"].sum() == 0


def test_games_are_written_and_read_back_from_the_deployment_and_from_setups() -> None:
    for board in (Board("steps:micro", "total_limit=6", seed=2), Board.from_setups("FLP.", "P.FL", "steps:micro")):
        while not board.is_over:
            text = write_game(board)
            (read,) = read_games(text)
            assert read.board == board and read.board.history == board.history
            assert Board.from_position(board.text, board.game) == board
            board.push(board.legal_moves[-1])
        assert board.outcome() == read_games(write_game(board))[0].outcome


def test_perft_counts_placements_and_steps() -> None:
    nano = start_board("steps:nano")
    assert perft(nano, 4) == [2, 2, 4, 4], "each places its Flag on one of two squares, then its Captain on the other"
    # From given setups two actions are a move, so every second number is that of plain Stratego.
    setups = ("FLPJ", "JFPL")
    steps = perft(start_board("steps:tiny", setups=setups), 6)
    assert steps[1::2] == perft(start_board("tiny", setups=setups), 3)


def test_pictures_and_words_say_what_is_placed_and_chosen() -> None:
    board = Board("steps:nano", seed=1)
    assert str(board).endswith("red places a Flag (1 of 2)") and "<svg" in board.svg()
    for move in ("a1", "b1", "a3", "b3"):
        board.push(move)
    assert str(board.view(0)) == " 3 u u\n 2 . .\n 1 F P\n   a b\nred chooses a piece"
    board.push("b1")
    assert str(board.view(1)).endswith(" 1 U U\n   a b\nred moves the piece on b1")


def test_a_person_at_the_terminal_and_on_the_page_places_the_army_by_moves() -> None:
    screen = io.StringIO()
    game = base.game("steps:tiny")
    TerminalGame(make_agent("random", 1), 0, 7, game, source=io.StringIO("b1\nquit\n"), target=screen).run()
    assert "setup>" not in screen.getvalue() and "places a" in screen.getvalue()

    from vauban.web.show import show_of

    show = show_of("steps:tiny")
    assert not show.has_setups("steps:tiny")
    board = show.begin("steps:tiny", "", (None, None), 5)
    assert show.position(board.view(0), 0)["legal"] == ["a1", "b1", "c1", "d1"]


def test_a_bot_of_plain_stratego_says_that_it_does_not_play_it() -> None:
    with pytest.raises(ConfigurationError, match="steps:barrage"):
        check_plays(make_agent("charger"), base.game("steps:barrage"))


def test_the_command_line_lists_it_plays_it_and_shows_its_planes() -> None:
    def result(*arguments: str) -> Any:
        done = CliRunner().invoke(app, [*arguments, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.output.strip().splitlines()[-1])

    listed = result("games")["games"]
    assert listed["steps:barrage"]["family"] == "stratego-steps" and listed["steps:barrage"]["actions"] == 100
    assert result("match", "random", "random", "--game", "steps:nano", "--games", "4")["games"] == 4
    assert len(result("observation", "deepnash-printed", "--game", "steps:tiny")["channels"]) == 82
    assert result("perft", "steps:nano", "--depth", "2")["nodes"] == [2, 2]
    assert result("exploitability", "steps:nano", "lp")["histories"] == 63
