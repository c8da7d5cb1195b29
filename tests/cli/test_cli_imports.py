"""The imports of commands: each only what it needs, so that a bot answers before a manager loses patience."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "scipy", "ray", "fastapi", "numba", "numpy")
MODULES = f"print([name for name in {HEAVY} if sys.modules.get(name)], file=sys.stderr)"


def loaded(*arguments: str, lines: str = "") -> set[str]:
    """Return the heavy modules that a command has loaded when it ends."""
    program = (
        "import atexit, sys\n"
        f"atexit.register(lambda: {MODULES})\n"
        f"sys.argv = {['vauban', *arguments]!r}\n"
        "from vauban.cli.main import run\n"
        "run()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input=lines, capture_output=True, text=True, check=False)
    return set(eval(done.stderr.splitlines()[-1]))


def test_the_list_of_commands_loads_none_of_them() -> None:
    assert loaded("--help") == set()


@pytest.mark.parametrize(
    "command", ["match", "tournament", "agents", "exploitability", "bot", "analyse", "geister-server"]
)
def test_help_loads_what_its_command_is_made_of_and_no_more(command: str) -> None:
    assert loaded(command, "--help") <= {"numpy"}


@pytest.mark.parametrize("agent", ["charger", "cadet", "random"])
def test_a_bot_says_its_first_word_without_what_it_does_not_need(agent: str) -> None:
    """Managers allow two seconds; torch alone takes longer on some machines."""
    assert loaded("bot", agent, "--seed", "1", lines="RED them 10 10\nQUIT\n") <= {"numba", "numpy"}


def test_agents_are_listed_without_torch() -> None:
    assert "torch" not in loaded("agents")


def test_a_match_of_scripted_agents_is_played_without_torch() -> None:
    match = ("match", "fox", "random", "--game", "tiny", "--games", "2", "--seed", "1", "--workers", "1")
    assert not {"torch", "fastapi", "ray"} & loaded(*match)


def test_a_small_game_is_solved_and_played_without_torch() -> None:
    assert "torch" not in loaded("exploitability", "kuhn", "cfr+:iterations=3")
    match = ("match", "random", "cfr+:iterations=3", "--game", "kuhn", "--games", "2", "--seed", "1", "--workers", "1")
    assert not {"torch", "fastapi", "ray"} & loaded(*match)
