"""A game whose setups chance draws, and nobody chooses: a subclass of examples/ambush.py, in every room."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from vauban.agents import make_agent
from vauban.agents.base import set_up
from vauban.arena.match import Match
from vauban.arena.play import play_in_batch, play_on_boards
from vauban.cli.terminal_game import TerminalGame
from vauban.envs.pettingzoo import env
from vauban.errors import ConfigurationError
from vauban.games import base
from vauban.games.base import Game

EXAMPLES = Path(__file__).parents[2] / "examples"
PAPER = f"""
from vauban.games.base import game

Ambush = type(game("py:{EXAMPLES}/ambush.py:Ambush"))


class Paper(Ambush):
    name = "paper"
    setups_chosen = False


class Odd(Ambush):
    setups_chosen = "never"
"""


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("paper") / "paper.py"
    file.write_text(PAPER)
    return f"py:{file}:Paper"


class Stubborn:
    """Has a setup of its own, and is never asked for it."""

    name = "stubborn"

    def choose_setup(self, game: Game, player: int, rng: random.Random) -> str:
        raise AssertionError("nobody chooses a setup here")

    def choose_move(self, view: Any) -> Any:
        return view.legal_moves[0]


def test_a_game_says_whether_setups_are_chosen(paper: str) -> None:
    assert base.game("classic").setups_chosen and not base.game(paper).setups_chosen
    with pytest.raises(ConfigurationError, match="setups_chosen of 'ambush' says whether players choose .*'never'"):
        base.game(paper.replace("Paper", "Odd"))


@pytest.mark.parametrize("setups", ["own", "human"])
def test_the_arena_draws_setups_and_refuses_to_have_them_chosen(paper: str, setups: str) -> None:
    with pytest.raises(ConfigurationError, match=f"nobody chooses setups in 'paper'.* leave '{setups}' out"):
        Match("random", "random", 2, paper, setups=setups)


def test_agents_are_not_asked_for_setups_in_the_arena(paper: str) -> None:
    match = Match(Stubborn, "random:setups=fixed:KG.", 12, paper, seed=3)
    assert match.setups == "uniform"
    games = play_in_batch(match, range(12))
    assert [game.setups for game in games] == [game.setups for game in play_on_boards(match, range(12))]
    assert [game.setups for game in games[::2]] == [game.setups for game in games[1::2]], "a pair has the same draw"
    assert len({game.setups for game in games}) > 3
    assert Match("random", "random", 2, paper, setups="fixed:KG.").setups == "fixed:KG."


def test_an_agent_that_sets_up_is_given_a_draw(paper: str) -> None:
    game = base.game(paper)
    assert game.setups is not None
    given = [set_up(make_agent("random:setups=fixed:KG."), game, 0, random.Random(seed)) for seed in range(20)]
    assert len({game.setups.text(row) for row in given}) == 6


def test_nobody_is_asked_for_a_setup_in_the_terminal(paper: str) -> None:
    screen = io.StringIO()
    game = base.game(paper)
    TerminalGame(make_agent("random", 1), 0, 7, game, source=io.StringIO("quit\n"), target=screen).run()
    assert "setup>" not in screen.getvalue() and "south>" in screen.getvalue()


def test_the_page_begins_without_setups(paper: str) -> None:
    from vauban.web.show import show_of

    show = show_of(paper)
    assert not show.has_setups(paper)
    board = show.begin(paper, "", (None, None), 5)
    assert board.seed == 5 and not board.is_over


def test_environments_refuse_setups_that_are_chosen(paper: str) -> None:
    world = env(base.game(paper))
    world.reset(seed=1)
    for options in ({"setups": ("KG.", "KG.")},):
        with pytest.raises(ConfigurationError, match="nobody chooses setups in 'paper'"):
            world.reset(seed=1, options=options)
    with pytest.raises(ConfigurationError, match="leave 'setups' out"):
        env(base.game(paper), setups=["KG."])


def test_ataraxos_learns_no_setups_where_nobody_chooses_them() -> None:
    from vauban.games.stratego.game import Stratego
    from vauban.learn.ataraxos.learner import Ataraxos, AtaraxosConfig
    from vauban.learn.ataraxos.moves import MoveConfig
    from vauban.learn.ataraxos.setups import SetupConfig
    from vauban.learn.base import Place
    from vauban.learn.networks import NetworkTable
    from vauban.nets.move import MoveNetworkConfig
    from vauban.nets.transformer import Size

    class Dealt(Stratego):
        setups_chosen = False

    config = AtaraxosConfig(
        move_network=NetworkTable(MoveNetworkConfig(Size(1, 16, 2))), setup_network=Size(1, 16, 2),
        moves=MoveConfig(games=4, length=8, batch=8), setups=SetupConfig(per_player=4, batch=4),
    )  # fmt: skip
    place = Place(torch.device("cpu"))
    assert set(Ataraxos(Stratego("micro"), config, place).networks) == {"move", "setup"}
    learner = Ataraxos(Dealt("micro"), config, place)
    assert set(learner.networks) == {"move"}
    assert np.isfinite(learner.iterate()["moves.entropy"])
