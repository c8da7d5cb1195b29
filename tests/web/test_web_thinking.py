"""Agents that think in worker processes: setups, moves, and answers to the offer of a draw."""

from __future__ import annotations

import asyncio

import pytest
from rough_models import rough_model
from web_server import BLUE, RED

from vauban.board import Board, View
from vauban.web.stratego.show import QUIET, SHOW
from vauban.web.thinking import ChooseMove, ChooseSetup, WarmUp, WeighDraw, thinkers
from vauban.work.base import WorkError


def test_agents_set_up_move_and_warm_up_in_a_worker_as_they_do_here():
    board = Board.from_setups(RED, BLUE, "barrage")

    async def ask():
        pool = thinkers(1, warm_ups=[WarmUp("charger", "barrage")])
        pool.start()
        try:
            with pytest.raises(WorkError, match="no agent 'nobody'"):
                await pool.ask(ChooseSetup("nobody", 0, "barrage", 0), 60)
            setup = await pool.ask(ChooseSetup("cadet", 5, "barrage", 1), 60)
            human = SHOW.draw_setup("barrage", "human", 5)
            move = await pool.ask(ChooseMove("cadet", 5, "barrage", board.view(0)), 60)
            await pool.ask(WarmUp("charger", "fives"), 60)
            return setup, human, move
        finally:
            await pool.close()

    setup, human, move = asyncio.run(ask())
    assert Board.from_setups(setup, human, "barrage")
    assert board.parse_move(move) in board.legal_moves
    assert setup == ChooseSetup("cadet", 5, "barrage", 1).run(print)
    assert move == ChooseMove("cadet", 5, "barrage", board.view(0)).run(print)


def test_a_model_that_learned_in_steps_sets_up_moves_and_weighs_a_draw_in_the_plain_game(tmp_path):
    agent = rough_model(tmp_path, "steps:barrage")
    setup = ChooseSetup(agent, 5, "barrage", 1).run(print)
    board = Board.from_setups(RED, setup, "barrage")
    for player in (0, 1):
        move = ChooseMove(agent, 5, "barrage", board.view(player)).run(print)
        assert board.parse_move(move) in board.legal_moves
        board.push(move)
    assert WeighDraw(agent, 5, "barrage", board.view(0)).run(print) == (False, "play"), "its network expects nothing"


# ── Draws ────────────────────────────────────────────────────────────────────────────────────────


def view_after(*moves: str, player: int) -> View:
    board = Board.from_setups(RED, BLUE, "barrage")
    for move in moves:
        board.push(move)
    while board.turn != player:
        board.pop()
    return board.view(player)


def test_an_agent_that_cannot_judge_weighs_a_draw_by_what_the_armies_are_worth():
    level = view_after("e3e4", "d8d7", player=0)
    assert WeighDraw("cadet", 0, "barrage", level).run(print) == (False, "play")
    # Blue's Marshal strikes the Bomb on a2: blue is behind from then on.
    ahead = Board.from_setups(RED, "..F....S../..B...G.../...N....../OO.......M", "barrage")
    for move in "e3e4 a7a6 e4e5 a6a5 e5e6 a5a4 e6e5 a4a3 e5e4 a3a2 h3h4".split():  # noqa: SIM905
        ahead.push(move)
    assert WeighDraw("cadet", 0, "barrage", ahead.view(1)).run(print) == (True, "weaker")
    assert WeighDraw("cadet", 0, "barrage", ahead.view(0)).run(print) == (False, "stronger")


def test_in_a_dead_game_a_level_draw_is_taken():
    board = Board.from_setups(RED, BLUE, "barrage")
    dance = ["e3e4", "d8d7", "h3h4", "g8g7", "e4e3", "d7d8", "h4h3", "g7g8"]
    for ply in range(QUIET):
        board.push(dance[ply % 8])
    assert WeighDraw("cadet", 0, "barrage", board.view(0)).run(print) == (True, "quiet")


@pytest.mark.parametrize(
    "agent", ["net:barrage", "search:barrage,time=1", "mcts:sims=400,time=0", "alphabeta:nodes=4000"]
)
def test_a_level_that_can_judge_weighs_a_draw_by_what_it_expects_itself(agent):
    """Blue's Marshal has been lost on a Bomb, and both know what that means."""
    board = Board.from_setups(RED, "..F....S../..B...G.../...N....../OO.......M", "barrage")
    for move in "e3e4 a7a6 e4e5 a6a5 e5e6 a5a4 e6e5 a4a3 e5e4 a3a2 h3h4".split():  # noqa: SIM905
        board.push(move)
    assert WeighDraw(agent, 0, "barrage", board.view(1)).run(print) == (True, "less")
    board.pop()
    assert WeighDraw(agent, 0, "barrage", board.view(0)).run(print) == (False, "more")


@pytest.mark.parametrize("agent", ["mcts:sims=400,time=0", "alphabeta:nodes=4000"])
def test_a_level_that_looks_ahead_declines_a_draw_when_it_is_about_to_win_though_its_army_is_the_weaker(agent):
    """Red has a Scout against the Marshal, but it stands beside the only piece that has not moved: the Flag."""
    board = Board.from_position("f9/O'!9/10/10/2~~2~~2/2~~2~~2/10/10/5m'!4/9F r 40 0 -,- 0:-,0:-", "barrage")
    assert WeighDraw(agent, 0, "barrage", board.view(0)).run(print) == (False, "more")


@pytest.mark.parametrize("agent", ["net:barrage", "mcts:sims=400,time=0", "alphabeta:nodes=4000"])
def test_what_an_agent_says_to_a_draw_depends_on_nothing_that_is_hidden_from_it(agent):
    said = []
    for blue in (BLUE, BLUE.replace("F", "x").replace("S", "F").replace("x", "S")):
        board = Board.from_setups(RED, blue, "barrage")
        for move in ("e3e4", "d8d7"):
            board.push(move)
        said.append((WeighDraw(agent, 0, "barrage", board.view(0)).run(print), board.view(0).text))
    assert said[0] == said[1]
