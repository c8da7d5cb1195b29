"""The tree search: the thesis' numbers, its parts one by one, and its play as a whole."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from vauban import Board
from vauban.agents import make_agent
from vauban.agents.base import choose_move
from vauban.agents.stratego.belief import prior_table
from vauban.agents.stratego.mcts import instinct, search
from vauban.agents.stratego.mcts.evaluate import WEIGHTS, evaluate
from vauban.agents.stratego.mcts.knowledge import fight, learn
from vauban.agents.stratego.mcts.memory import key_of, make_memory, recall, remember, repeats
from vauban.agents.stratego.mcts.prior import Moves, make_moves, make_paths, prune, weigh_moves
from vauban.agents.stratego.terrain import neighbours
from vauban.board import View
from vauban.games.kernel import Record
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, SCOUT, SPY
from vauban.games.stratego.variants import VARIANTS
from vauban.sim.compile import CPU, compiled

SERGEANT, CAPTAIN, GENERAL = 3, 5, 8


def call(function: Any, *arguments: Any) -> Any:
    return compiled(function, CPU, TRACKS=False)(*arguments)


def record_of(look: View | Board) -> Record:
    return look.snapshot().record()


def weighed(board: Board) -> dict[str, float]:
    """Return the thesis' value of every legal move of the player on turn."""
    view = record_of(board.view(board.turn))
    knowledge = call(learn, view, board.turn, prior_table(board.variant), instinct.WORTH)
    near = call(neighbours, view.rules)
    moves, paths = call(make_moves, 512), call(make_paths, board.variant.squares)
    count = call(weigh_moves, view, knowledge, near, paths, moves)
    return {
        board.move_text((int(moves.sources[i]), int(moves.targets[i]))): float(moves.values[i]) for i in range(count)
    }


def pruned(values: list[float]) -> list[float]:
    moves = Moves(np.arange(len(values)), np.arange(len(values)), np.array(values, float))
    count = call(prune, moves, len(values))
    assert sum(moves.values[:count]) == pytest.approx(1)
    assert list(moves.sources[:count]) == list(moves.targets[:count])
    return [values[int(each)] for each in moves.sources[:count]]


# ── Pruning ──────────────────────────────────────────────────────────────────────


def test_moves_below_the_mean_are_pruned():
    assert pruned([8, 5, 5, 3, 3, 3, 3, 1, 1, 1, 0.5]) == [8, 5, 5]


def test_of_more_than_five_moves_those_below_the_fifth_best_are_pruned_and_ties_stay():
    assert pruned([8, 6, 5, 5, 4, 4, 4, 1, 1, 0]) == [8, 6, 5, 5, 4, 4, 4]
    assert pruned([9, 8, 7, 6, 5.5, 5, 0, 0, 0, 0]) == [9, 8, 7, 6, 5.5]


def test_equal_moves_all_stay():
    assert pruned([0.1] * 7) == [0.1] * 7
    assert pruned([0.0] * 3) == [0.0] * 3


# ── Evaluation ───────────────────────────────────────────────────────────────────


def value(board: Board, player: int = 0) -> float:
    record = record_of(board)
    return float(call(evaluate, record, call(neighbours, record.rules), player))


def test_the_weights_of_a_full_classic_army_sum_to_16_9():
    army = VARIANTS["classic"].army
    assert sum(count * WEIGHTS[kind] for kind, count in enumerate(army)) == pytest.approx(16.9)


def test_material_cover_and_advance_count_as_documented():
    pieces = {0: (0, FLAG), 33: (0, MARSHAL), 99: (1, FLAG), 66: (1, CAPTAIN)}
    assert 33 // 10 < 5 <= 66 // 10
    assert value(Board.from_pieces(pieces)) == pytest.approx((1.0 - 0.5) / (16.9 + 0.2 + 0.66))
    covered = {**pieces, 1: (0, SERGEANT)}
    assert value(Board.from_pieces(covered)) == pytest.approx((1.0 - 0.5 + 0.3 + 0.05) / 17.76)
    ahead = {0: (0, FLAG), 55: (0, MARSHAL), 99: (1, FLAG), 66: (1, CAPTAIN)}
    assert value(Board.from_pieces(ahead)) == pytest.approx((1.0 + 0.02 - 0.5) / 17.76)


def test_a_position_is_worth_to_one_player_what_it_costs_the_other():
    for seed in range(5):
        board = Board.random("barrage", seed=seed)
        assert value(board, 0) == pytest.approx(-value(board, 1))


# ── Prior and path finder ─────────────────────────────────────────────────


def place(text: str) -> Board:
    """Return a classic board from squares and pieces: "a1F e5'!M f5c"; capitals are red, ' has moved, ! is revealed."""
    v = VARIANTS["classic"]
    cells = {}
    for item in text.split():
        square, flags, letter = re.fullmatch(r"([a-j]\d+)('?!?)([a-zA-Z])", item).groups()
        cells[v.square(square)] = letter + flags
    rows = []
    for row in reversed(range(v.rows)):
        line = ""
        for column in range(v.columns):
            square = row * v.columns + column
            if square in v.lakes:
                line += "~"
            elif square in cells:
                line += cells[square]
            else:
                line += "1"
        rows.append(re.sub("1+", lambda empty: str(len(empty[0])), line))
    return Board.from_position(f"{'/'.join(rows)} r 100 0 -,- 0:-,0:-", "classic")


def test_a_fight_that_is_won_stands_out_and_a_lost_one_falls_below():
    values = weighed(place("a1F e5'!P f5'!t e6'!c j10f"))
    assert values["e5xf5"] == pytest.approx(1 + 4 + 2)
    assert values["e5xe6"] == pytest.approx(0.05)


def test_the_path_finder_leads_to_the_nearest_fight_and_away_from_a_lost_one():
    towards = weighed(place("a1F a5'P a8'!t j10f"))
    assert towards["a5a6"] == pytest.approx(1 + 2 / np.sqrt(3))
    assert towards["a5a4"] == pytest.approx(1)
    away = weighed(place("a1F a5'P a8'!c j10f"))
    assert away["a5a6"] == pytest.approx(1)
    assert away["a5a4"] == away["a5b5"] == pytest.approx(1 + 2 / np.sqrt(3))


def test_the_path_finder_looks_five_steps_far():
    assert weighed(place("a1F a5'P a10'!t j10f"))["a5a6"] == pytest.approx(1 + 2 / np.sqrt(5))
    assert weighed(place("a1F a4'P a10'!t j10f"))["a4a5"] == pytest.approx(1)


def test_a_step_beside_a_stronger_piece_is_bad():
    values = weighed(place("a1F b5'P a7'!c j10f"))
    assert values["b5a5"] > 0.9 and values["b5b6"] > 0.9
    assert weighed(place("a1F a5'P a7'!c j10f"))["a5a6"] == pytest.approx(0.05)


def test_a_high_piece_does_not_strike_what_never_moved():
    values = weighed(place("a1F e5'M e4'G f5s f4'c j10f"))
    assert values["e5xf5"] == 0
    assert values["e4xf4"] > 1, "this one has moved"


# ── Memory ───────────────────────────────────────────────────────────────────────


def test_a_prior_is_remembered_by_position_and_side():
    board = Board.random("barrage", seed=3)
    memory, moves = call(make_memory), call(make_moves, 512)
    moves.sources[:2], moves.targets[:2], moves.values[:2] = (31, 35), (41, 45), (0.25, 0.75)
    key = call(key_of, record_of(board))
    call(remember, memory, key, moves, 2)
    moves.sources[:2] = 0
    assert call(recall, memory, key, moves) == 2
    assert list(moves.sources[:2]) == [31, 35] and list(moves.values[:2]) == [0.25, 0.75]
    board.push(board.legal_moves[0])
    other = call(key_of, record_of(board))
    assert other != key and call(recall, memory, other, moves) == -1


def test_the_memory_is_not_asked_while_moves_repeat_themselves():
    board = Board.random("barrage", seed=3, rules="chase=off")
    there = next(move for move in board.legal_moves if board.piece_at(move.target) is None)
    back = (there.target, there.source)
    board.push(there)
    quiet = next(move for move in board.legal_moves if board.piece_at(move.target) is None)
    board.push(quiet)
    assert not call(repeats, record_of(board))
    board.push(back)
    assert call(repeats, record_of(board))


@pytest.mark.parametrize("name", ["mcts-louvain:sims=20", "mcts:sims=40", "mcts-vanilla:sims=20"])
def test_no_preset_breaks_the_two_square_rule(name):
    """A lone piece that would like to shuttle is asked at every point of the shuttle."""
    board = place("a1F e5'!P e8'!t j10f j1B a10b")
    agent = make_agent(name, 1)
    for _ in range(12):
        if board.is_over:
            break
        move = choose_move(agent, board.view(board.turn))
        assert move in board.legal_moves
        board.push(move)


# ── The whole ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["mcts-louvain", "mcts:sims=200,time=0", "mcts:sims=100,time=0,resample=0"])
def test_it_takes_the_flag_when_it_can(name):
    board = place("a1F e9'P e10!f j1B a10b h9'c j10l")
    assert board.move_text(choose_move(make_agent(name, 5), board.view(0))) == "e9xe10"


@pytest.mark.parametrize("name", ["mcts-louvain", "mcts:sims=200,time=0"])
def test_it_takes_a_free_piece_and_leaves_a_stronger_one(name):
    board = place("a1F e5'!J f5'!p j10f j9l a10b")
    assert board.move_text(choose_move(make_agent(name, 5), board.view(0))) == "e5xf5"
    board = place("a1F e5'!J f5'!c b1L j10f j9l a10b")
    assert board.move_text(choose_move(make_agent(name, 5), board.view(0))) != "e5xf5"


def test_the_same_seed_gives_the_same_move_and_another_may_not():
    board = Board.random("barrage", seed=8)
    moves = {seed: choose_move(make_agent("mcts:sims=30,time=0", seed), board.view(0)) for seed in range(12)}
    again = {seed: choose_move(make_agent("mcts:sims=30,time=0", seed), board.view(0)) for seed in range(12)}
    assert moves == again
    assert len(set(moves.values())) > 1


def test_it_answers_for_many_games_as_it_answers_for_each():
    agent = make_agent("mcts:sims=10,time=0", 3)
    board = Board.random("tiny", seed=8)
    seeds = np.arange(6, dtype=np.uint64)
    together = agent.choose(board.view(0).snapshot().repeat(6), seeds)
    alone = [choose_move(make_agent("mcts:sims=10,time=0", int(seed)), board.view(0)) for seed in seeds]
    assert [board.game.decode(0, int(action)) for action in together] == [tuple(move) for move in alone]


def test_a_fight_ends_as_the_rules_say():
    assert call(fight, SPY, MARSHAL) == 1 and call(fight, MARSHAL, SPY) == 1
    assert call(fight, MINER, BOMB) == 1 and call(fight, SCOUT, BOMB) == -1
    assert call(fight, GENERAL, GENERAL) == 0


def test_nodes_are_kept_apart_by_what_fights_show():
    """Two worlds, one move: where the fight shows another type, the positions behind it are not mixed."""
    board = place("a1F e5'!P f5's j10f j9l a10b")
    record = record_of(board)
    first = call(search.play_shown, Record(*(part.copy() for part in record)), 0, 44, 45)
    quiet = call(search.play_shown, Record(*(part.copy() for part in record)), 0, 44, 54)
    assert quiet == -1 and first == SPY
