"""A game of somebody else's goes through every room: examples/ambush.py, which nothing in the package knows.

One test a room, in the order of the house. The game is named by its file, as an outsider would.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from vauban.board import Board
from vauban.envs.pettingzoo import env
from vauban.games import base, kit
from vauban.games.base import Game
from vauban.notation.records import read_games, write_game
from vauban.sim.simulator import Simulator

ROOT = Path(__file__).parents[2]
AMBUSH = "py:examples/ambush.py:Ambush"


@pytest.fixture(scope="module")
def game() -> Game:
    return base.game(f"py:{ROOT}/examples/ambush.py:Ambush")


def vauban(*arguments: str, **options: Any) -> dict[str, Any]:
    """What a command answers with --json, run from the root of the project."""
    command = [sys.executable, "-m", "vauban", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def test_it_keeps_the_contract(game: Game) -> None:
    kit.check(game)


def test_the_simulator_plays_it_many_times_at_once(game: Game) -> None:
    sim = Simulator(game, 512, seed=1, restart=False)
    while not sim.over.all():
        sim.step(sim.sample())
    ends = {outcome.end for row in range(sim.n) if (outcome := sim.outcome(row))}
    assert ends == {"king_taken", "too_long"}


def test_a_view_says_nothing_of_what_is_hidden(game: Game) -> None:
    sim = Simulator(game, 64, seed=2)
    twin = Simulator(game, 64, seed=2)
    for viewer in (0, 1):
        values = sim.hidden_values(viewer)
        twin.determinise(sim.views(viewer), viewer, values.flip(1))
        assert torch.equal(twin.views(viewer).pack(), sim.views(viewer).pack())


def test_a_board_shows_it_and_takes_moves_as_text(game: Game) -> None:
    board = Board(game, seed=4)
    text = board.move_text(board.legal_moves[0])
    board.push(text)
    assert board.plies == 1 and board.turn == 1
    with pytest.raises(Exception, match="z9z9"):
        board.push("z9z9")
    assert "enemy hidden" in str(board.view(0)), "a player is shown that something is hidden, and not what"


def test_its_games_are_written_and_read_back(game: Game) -> None:
    board = Board(game, seed=6)
    rng = np.random.default_rng(6)
    while not board.is_over:
        moves = list(board.legal_moves)
        board.push(moves[rng.integers(len(moves))])
    text = write_game(board, {})
    [again] = read_games(text)
    assert again.board == board and again.outcome == board.outcome()
    assert write_game(again.board, again.headers, again.comments) == text


def test_the_solver_judges_players_of_it() -> None:
    found = vauban("exploitability", AMBUSH, "uniform", timeout=900)
    assert 0.5 < found["exploitability"] < 1.0, found


def test_pettingzoo_plays_it(game: Game) -> None:
    world = env(game)
    world.reset(seed=3)
    total = dict.fromkeys(world.possible_agents, 0.0)
    for agent in world.agent_iter():
        seen, reward, ended, cut, _ = world.last()
        total[agent] += reward
        world.step(None if ended or cut else int(np.flatnonzero(seen["action_mask"])[0]))
    assert sum(total.values()) == 0.0


FIRST = """
class First:
    \"\"\"Takes the first legal move.\"\"\"

    def choose_move(self, view):
        return view.legal_moves[0]
"""


def test_the_arena_plays_it_in_several_processes_and_alone_with_the_same_games(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(FIRST)
    match = "match", "random", f"py:{tmp_path}/first.py:First", "--game", AMBUSH, "--games", "20", "--seed", "3"
    one, two = (vauban(*match, "--workers", count) for count in ("1", "2"))
    assert one["wins"] + one["draws"] + one["losses"] == 20 and set(one["ends"]) <= {"king_taken", "too_long"}
    for key in ("wins", "draws", "losses", "pairs", "ends", "mean_plies"):
        assert one[key] == two[key], key


def test_a_tournament_of_it_is_kept_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(FIRST)
    database = str(tmp_path / "cup.db")
    first = f"py:{tmp_path}/first.py:First"
    cup = vauban("tournament", database, "random", first, "--game", AMBUSH, "--games", "6", "--workers", "1")
    again = vauban("tournament", database)
    assert again["played"] == 6 and set(again["agents"]) == {"random", first}
    assert [each["ends"] for each in again["matches"]] == [each["ends"] for each in cup["matches"]]
    assert [each["score"] for each in again["matches"]] == [each["score"] for each in cup["matches"]]


def test_ataraxos_is_trained_on_it_and_the_model_plays_and_is_judged(tmp_path: Path) -> None:
    run = tmp_path / "run"
    small = ("iterations=2", "minutes=0", "ataraxos.moves.games=32", "ataraxos.moves.batch=64")
    changes = [argument for change in (f"game={AMBUSH}", *small) for argument in ("--set", change)]
    trained = subprocess.run(
        [sys.executable, "-m", "vauban", "train", "ataraxos-kuhn", "--out", str(run), *changes],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    match = vauban("match", f"net:{run}/model", "random", "--game", AMBUSH, "--games", "8", "--seed", "1")
    assert match["games"] == 8 and "forfeit" not in match["ends"]
    assert 0.0 <= vauban("exploitability", AMBUSH, f"net:{run}/model")["exploitability"] <= 1.0
