"""torch is optional: boards, scripted agents, arena and solvers do without it, and the rest says how to get it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

HOW = 'pip install "vauban-games[learn]"'

BLOCK = """
import sys


class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


sys.meta_path.insert(0, Block())
"""
"""The first lines of a process without torch."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    """Return what runs Python code, or a command of ours, where torch cannot be imported."""
    folder = tmp_path_factory.mktemp("without")
    (folder / "sitecustomize.py").write_text(BLOCK)
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{source}"}

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, timeout=PATIENCE, env=environment
        )

    return start


LIGHT = """
import sys
from vauban import Board, Simulator, game
from vauban.agents import make_agent
from vauban.arena.match import Match
from vauban.arena.schedule import play_match
from vauban.board.base import Look
from vauban.solve.tree import build_tree

board = Board("tiny", seed=1)
board.push(board.legal_moves[0])
assert board.look_through(None, "planes", 0).shape[1:] == (4, 4)
sim = Simulator("tiny", 4, seed=1, arrays="numpy")
sim.step(sim.sample())
assert len(play_match(Match("random", "charger", 2, "tiny", seed=1))) == 2
assert build_tree(game("kuhn")).information_sets[0] == 6
assert "torch" not in sys.modules
for what, needs in (("tensors", lambda: Simulator("tiny", 4)), ("tensors", board.observe),
                    ("networks", lambda: make_agent("net:medium").choose(board.snapshot(), [1]))):
    try:
        needs()
    except ImportError as error:
        print(what, error)
        assert str(error).startswith(what), error
    else:
        raise AssertionError(what)
"""


def test_boards_agents_the_arena_and_solvers_do_without_torch(run) -> None:
    done = run("-c", LIGHT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(HOW) == 3


@pytest.mark.parametrize(
    ("command", "who"),
    [
        (["models"], "networks need torch"),
        (["match", "net:medium", "random", "--game", "medium", "--games", "2", "--workers", "1"], "need torch"),
        (["train", "laptop-tiny"], "need"),
        (["bench", "sim"], "this command needs torch"),
    ],
)
def test_what_needs_torch_says_how_to_get_it_in_one_sentence(run, command: list[str], who: str, tmp_path: Path) -> None:
    done = run("-c", "from vauban.cli.main import run; run()", *command)
    assert done.returncode == 2
    assert who in done.stderr and HOW in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_other_commands_run_without_torch(run) -> None:
    done = run("-c", "from vauban.cli.main import run; run()", "exploitability", "kuhn", "cfr+:iterations=10")
    assert done.returncode == 0, done.stderr
