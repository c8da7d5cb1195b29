"""Every registered game, and the one of examples/, keeps the contract of `vauban.games.kit`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from vauban.errors import ConfigurationError
from vauban.games import base, kit
from vauban.games.base import Game

EXAMPLE = f"py:{Path(__file__).parents[2] / 'examples' / 'adding_a_game.py'}:LiarsCoin"
GAMES = [name for name in base.names() if name != "liars-coin"]
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*GAMES, EXAMPLE], ids=[*GAMES, "example"])
def test_the_contract_holds(name: str, check: Callable[[Game, str], None], device: str) -> None:
    check(base.game(name), device)


def test_the_kit_runs_on_a_game_of_ones_own_by_one_command() -> None:
    command = [sys.executable, "-m", "vauban.games.kit", EXAMPLE]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("all of the contract holds\n"), done.stderr


def broken(change: dict[str, Any]) -> Game:
    """Return the game of the example with something wrong in it."""
    kind = type(base.game(EXAMPLE))
    return type("Broken", (kind,), {"name": "broken", **change})()


@pytest.mark.parametrize(
    ("change", "said"),
    [({"max_plies": 1}, "no game is longer than 1 plies"), ({"moves_in_a_row": 2}, "nobody moves more often")],
)
def test_the_kit_finds_what_does_not_hold(change: dict[str, Any], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        kit.check(broken(change))


def test_the_kit_refuses_what_is_no_whole_game() -> None:
    with pytest.raises(ConfigurationError, match="what one gains the other loses"):
        kit.check(broken({"utilities": (1.0,)}))
