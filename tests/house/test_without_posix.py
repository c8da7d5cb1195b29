"""Boards, scripted agents, the arena, solvers and commands need nothing that only POSIX systems have."""

from __future__ import annotations

import subprocess
import sys

from patience import PATIENCE

CODE = """
import os, select, signal, sys

MISSING = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp")


class Block:
    def find_spec(self, name, path=None, target=None):
        if name in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Block())
for module, names in (
    (os, ("fork", "killpg", "setsid", "getuid", "sched_getaffinity", "set_blocking")),
    (signal, ("SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP")),
    (select, ("poll",)),
):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

from vauban import Board
from vauban.arena.match import Match
from vauban.arena.schedule import play_match
from vauban.cli.main import app
from vauban.solve import build_tree
import vauban.agents.external.process, vauban.cli.replay, vauban.cli.terminal_game, vauban.web.connections

board = Board("tiny", seed=1)
board.push(board.legal_moves[0])
assert len(play_match(Match("random", "charger", 2, "tiny", seed=1))) == 2
assert build_tree("kuhn").information_sets == (6, 6)
app(["games", "tiny"], standalone_mode=False)
"""


def test_what_only_posix_has_is_not_needed() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert "tiny" in done.stdout
