"""The imports of commands: each only what it needs, so that a bot answers before a manager loses patience."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vauban import agents
from vauban.cli.stratego import bots

HEAVY = ("torch", "scipy", "ray", "fastapi", "numba", "numpy")
MODULES = f"print([name for name in {HEAVY} if sys.modules.get(name)], file=sys.stderr)"


AT_THE_END = f"import atexit; atexit.register(lambda: {MODULES})"
AT_THE_FIRST_WORD = f"""
class Listener:
    told = False
    def write(self, text):
        if not self.told:
            {MODULES}
        self.told = True
    def flush(self): pass
sys.stdout = Listener()
"""


def loaded(*arguments: str, lines: str = "", told: str = AT_THE_END) -> set[str]:
    """Return the heavy modules that a command has loaded when it ends, or when it says its first word."""
    program = f"import sys\n{told}\nsys.argv = {['vauban', *arguments]!r}\nfrom vauban.cli.main import run\nrun()\n"
    done = subprocess.run([sys.executable, "-c", program], input=lines, capture_output=True, text=True, check=False)
    [modules] = [line for line in done.stderr.splitlines() if line.startswith("[")]
    return set(eval(modules))


def test_the_list_of_commands_loads_none_of_them() -> None:
    assert loaded("--help") == set()


@pytest.mark.parametrize(
    "command", ["match", "tournament", "agents", "exploitability", "bot", "analyse", "geister-server"]
)
def test_help_loads_what_its_command_is_made_of_and_no_more(command: str) -> None:
    assert loaded(command, "--help") <= {"numpy"}


RED = "RED them 10 10\nQUIT\n"
BOTS = [("charger", {"numpy"}), ("cadet", {"numpy"}), ("random", {"numpy"}), ("net:classic", {"numpy", "torch"})]


@pytest.mark.parametrize(("agent", "needed"), BOTS)
def test_a_bot_says_its_first_word_without_what_it_does_not_need(agent: str, needed: set[str]) -> None:
    """Managers allow two seconds from the start of the program: kernels are loaded when the setup has been said."""
    # What it needs is compiled before its first word, once for a machine.
    assert loaded("bot", agent, "--seed", "1", lines=RED) == needed | {"numba"}
    assert loaded("bot", agent, "--seed", "1", lines=RED, told=AT_THE_FIRST_WORD) == needed


def test_the_libraries_of_torch_are_mapped_for_those_agents_that_need_them() -> None:
    assert set(bots.LEARNED) == set(agents.LEARNED)


def test_agents_are_listed_without_torch() -> None:
    assert "torch" not in loaded("agents")


def test_a_match_of_scripted_agents_is_played_without_torch() -> None:
    match = ("match", "fox", "random", "--game", "tiny", "--games", "2", "--seed", "1", "--workers", "1")
    assert not {"torch", "fastapi", "ray"} & loaded(*match)


def test_a_small_game_is_solved_and_played_without_torch() -> None:
    assert "torch" not in loaded("exploitability", "kuhn", "cfr+:iterations=3")
    match = ("match", "random", "cfr+:iterations=3", "--game", "kuhn", "--games", "2", "--seed", "1", "--workers", "1")
    assert not {"torch", "fastapi", "ray"} & loaded(*match)
