"""Every registered game, and the one of examples/, keeps the contract of `vauban.games.kit`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from vauban.errors import ConfigurationError
from vauban.games import base, kit
from vauban.games.base import Game

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE, AMBUSH = f"py:{EXAMPLES / 'adding_a_game.py'}:LiarsCoin", f"py:{EXAMPLES / 'ambush.py'}:Ambush"
GAMES = [name for name in base.names() if name not in ("liars-coin", "ambush")]
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*GAMES, EXAMPLE, AMBUSH], ids=[*GAMES, "example", "ambush"])
def test_the_contract_holds(name: str, check: Callable[[Game, str], None], device: str) -> None:
    check(base.game(name), device)


def test_the_kit_runs_on_a_game_of_ones_own_by_one_command() -> None:
    command = [sys.executable, "-m", "vauban.games.kit", EXAMPLE]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("all of the contract holds\n"), done.stderr


def test_the_kit_says_in_a_sentence_that_there_is_no_such_game() -> None:
    done = subprocess.run([sys.executable, "-m", "vauban.games.kit", "nosuch"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("error: there is no game 'nosuch'"), done.stderr


def broken(change: dict[str, Any], example: str = EXAMPLE) -> Game:
    """Return the game of an example with something wrong in it."""
    kind = type(base.game(example))
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


def of_setups(change: dict[str, Any]) -> dict[str, Any]:
    """Something wrong in the setups of ambush."""
    right = base.game(AMBUSH).setups
    wrong = type("Wrong", (type(right),), change)
    setups = wrong.__new__(wrong)
    setups.__dict__.update(right.__dict__)
    return {"__init__": lambda self: type(self).__mro__[1].__init__(self) or setattr(self, "setups", setups)}


@pytest.mark.parametrize(
    ("check", "change", "said"),
    [
        (
            kit.legal_actions_have_texts_of_their_own_that_are_read_back,
            {"action_text": lambda self, player, action: "move"}, "are both 'move'",
        ),
        (
            kit.legal_actions_have_texts_of_their_own_that_are_read_back,
            {"parse_action": lambda self, player, text: 0}, "and is read as 0",
        ),
        (kit.setups_are_checked_written_and_read_back, of_setups({"check": lambda self, rows: None}), "SetupError"),
        (
            kit.setups_are_checked_written_and_read_back,
            of_setups({"text": lambda self, row: "K.G"}), "is read as another setup",
        ),
        (
            kit.setups_are_checked_written_and_read_back,
            of_setups({"of_starts": lambda self, starts: (starts[:, :3], starts[:, -3:])}), "is the inverse of starts",
        ),
        (
            kit.setups_are_checked_written_and_read_back,
            of_setups({"all": lambda self: np.array([[0, 1, 2]] * 6)}), "lists each of the 6 setups once",
        ),
        (kit.it_is_made_again_from_its_description_and_in_another_process, {}, "there is no game 'broken'"),
        (kit.somebody_can_observe_it, {"family": "unseen"}, "the family 'unseen' has no observation"),
    ],
)  # fmt: skip
def test_the_kit_finds_wrong_texts_setups_and_descriptions(check: Any, change: dict[str, Any], said: str) -> None:
    check(base.game(AMBUSH), "cpu")
    with pytest.raises(AssertionError, match=said):
        check(broken(change, AMBUSH), "cpu")
