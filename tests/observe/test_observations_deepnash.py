"""The 82 planes of DeepNash: the public information in its two forms, and the planes of deployment and steps."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from vauban.board import Board
from vauban.games.base import game as find_game
from vauban.games.stratego import StrategoSteps
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator

TYPES = ("Flag", "Spy", "Scout", "Miner", "Sergeant", "Lieutenant", "Captain", "Major", "Colonel", "General", "Marshal",
         "Bomb")  # fmt: skip
FLAG, SCOUT, BOMB = (TYPES.index(name) for name in ("Flag", "Scout", "Bomb"))
SETUP = "FBNNNNNOOB/BTTTTOOOOB/BLLLLSJJJB/OPPGMPPCCO"
A4, A5, B4, F1 = 30, 40, 31, 0


def planes(look: Any, name: str = "deepnash") -> Any:
    """Return what the player on turn, or a view's player, sees: 82 × squares."""
    return look.observe(name).numpy().reshape(82, -1)


def theirs(seen: Any, kind: int, square: int) -> float:
    """Return the chance that the opponent's piece on an absolute square has a type, as blue sees it on 100 squares."""
    return float(seen[13 + kind, 99 - square])


def after_one_move(game: str = "classic") -> Any:
    """Return a classic board on which red has moved an unrevealed piece by one square."""
    board = Board.from_setups(SETUP, SETUP, game)
    moves = ["a4a5"] if game == "classic" else ["a4", "a5"]
    for move in moves:
        board.push(move)
    return board


# ── Public information ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("game", ["classic", "steps:classic"])
def test_public_information_is_exact_by_default(game: str) -> None:
    """K = 33 movable pieces, m = 1 has moved, u = 39 squares have not."""
    seen = planes(after_one_move(game))
    assert theirs(seen, SCOUT, A5) == pytest.approx(8 / 33, abs=1e-7)
    assert theirs(seen, BOMB, A5) == theirs(seen, FLAG, A5) == 0
    assert theirs(seen, BOMB, B4) == pytest.approx(6 / 39, abs=1e-7)
    assert theirs(seen, FLAG, B4) == pytest.approx(1 / 39, abs=1e-7)
    assert theirs(seen, SCOUT, B4) == pytest.approx(8 * 32 / (33 * 39), abs=1e-7)
    assert seen[13:25].sum() == pytest.approx(40, abs=1e-4), "every piece is counted once"


@pytest.mark.parametrize("game", ["classic", "steps:classic"])
def test_the_printed_formula_has_a_name_of_its_own(game: str) -> None:
    board = after_one_move(game)
    seen, exact = planes(board, "deepnash-printed"), planes(board)
    assert theirs(seen, SCOUT, A5) == pytest.approx(0.242424, abs=1e-6)
    assert theirs(seen, BOMB, A5) == theirs(seen, FLAG, A5) == 0
    assert theirs(seen, BOMB, B4) == pytest.approx(0.15, abs=1e-7)
    assert theirs(seen, FLAG, B4) == pytest.approx(0.025, abs=1e-7)
    assert theirs(seen, SCOUT, B4) == pytest.approx(0.2, abs=1e-7)
    total = sum(seen[13 + kind].sum() for kind in (FLAG, BOMB))
    assert total == pytest.approx(39 * 7 / 40, abs=1e-4), "less than the 7 that there are"
    differ = sorted(set(np.argwhere(seen != exact)[:, 0].tolist()))
    assert set(differ) <= set(range(13, 37)), "nothing but the public information differs"


def test_our_own_public_information_is_what_the_other_side_sees() -> None:
    board, rng = Board.random("barrage", 3), random.Random(3)
    for _ in range(60):
        if board.is_over:
            break
        for name in ("deepnash", "deepnash-printed"):
            one, other = (planes(board.view(player), name) for player in (0, 1))
            assert np.array_equal(one[25:37], other[13:25, ::-1]) and np.array_equal(other[25:37], one[13:25, ::-1])
        board.push(rng.choice(list(board.legal_moves)))


def test_public_information_is_that_of_the_observation_ataraxos_with_types_in_another_order() -> None:
    board, rng = Board.random("classic", 5), random.Random(5)
    order = [10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
    for _ in range(150):
        board.push(rng.choice(list(board.legal_moves)))
        if rng.random() < 0.2:
            ataraxos = board.observe("ataraxos").numpy().reshape(-1, 100)
            seen = planes(board)
            assert np.array_equal(seen[1:13], ataraxos[:12][order])
            assert np.array_equal(seen[13:25], ataraxos[12:24][order])
            assert np.array_equal(seen[25:37], ataraxos[24:36][order])


# ── Deployment and steps ─────────────────────────────────────────────────────────────────────────


def test_in_the_deployment_a_player_sees_its_own_pieces_the_lakes_and_that_it_is_the_deployment() -> None:
    game = find_game("steps:classic")
    board, rng = Board(game, seed=1), random.Random(1)
    for placed in range(80):
        if placed in (0, 1, 7, 39, 40, 41, 79):
            for viewer in (0, 1):
                seen = planes(board.view(viewer))
                own = min(placed, 40) if viewer == 0 else max(placed - 40, 0)
                assert seen[1:13].sum() == own
                assert set(np.flatnonzero(seen.any(1))) <= {0, *range(1, 13), 79}
                assert (seen[79] == 1).all() and seen[0].sum() == 8
        board.push(rng.choice(board.legal_moves))
    first = Board(game, seed=1)
    first.push("d3")
    assert planes(first.view(0))[1, 23] == 1, "the Flag, in the frame of its owner"
    assert not planes(first)[79 + 1 :].any() and (planes(first)[79] == 1).all()


def test_the_second_step_changes_two_planes_and_no_other() -> None:
    game = find_game("steps:barrage")
    sim = Simulator(game, 40, seed=2, restart=False, threads=1, arrays="numpy")
    for step in range(120):
        before = sim.observe("deepnash").reshape(40, 82, 100)
        players, deploying = np.asarray(sim.players).copy(), sim.steps >= 2
        actions = sim.sample()
        over = np.asarray(sim.over).copy()
        sim.step(np.where(actions < 0, 0, actions))
        if step % 2 or step < 16:
            continue
        assert not deploying.any() and (sim.steps[~over] == 1).all()
        after = sim.observe("deepnash").reshape(40, 82, 100)
        for row in np.flatnonzero(~over):
            assert sim.players[row] == players[row]
            assert np.array_equal(before[row, :80], after[row, :80])
            assert not before[row, 80:].any() and (after[row, 80] == 1).all()
            assert np.flatnonzero(after[row, 81]).tolist() == [actions[row]], "the chosen piece, in the mover's frame"


def test_in_play_the_planes_are_those_of_plain_stratego() -> None:
    game = find_game("steps:duel", "deepnash")
    assert isinstance(game, StrategoSteps)
    whole = Simulator(game.plain, 30, seed=2, restart=False, threads=1, arrays="numpy")
    steps = Simulator(game, 30, seed=2, restart=False, threads=1, arrays="numpy")
    steps.reset(starts=whole.starts)
    for _ in range(100):
        for name in ("deepnash", "deepnash-printed"):
            for viewer in (None, 0, 1):
                assert np.array_equal(steps.observe(name, viewer=viewer), whole.observe(name, viewer=viewer))
        actions = np.maximum(whole.sample(), 0)
        pairs = np.array([game.pair_of(int(action)) for action in actions])
        whole.step(actions)
        for each in (0, 1):
            steps.step(pairs[:, each])


def test_placements_are_no_moves_and_counters_begin_with_the_first_move() -> None:
    board = Board("steps:nano", "total_limit=10", seed=1)
    for move in ("a1", "b1", "a3", "b3", "b1", "b2"):
        board.push(move)
    seen = planes(board)
    assert seen[37].any() and not seen[38:77].any() and (seen[77] == np.float32(0.1)).all()


def test_both_observations_are_offered_and_the_exact_one_is_meant_where_none_is_named() -> None:
    game = find_game("steps:tiny")
    assert observations.names(game) == ["deepnash", "deepnash-printed"]
    assert observations.default(game).name == "deepnash"
    assert {"deepnash", "deepnash-printed"} < set(observations.names(find_game("tiny")))
