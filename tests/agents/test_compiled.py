"""Compiled bots of any game: one of Kuhn poker, and how one of Ambush (examples/ambush.py) sets up."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contenders import plain

from vauban.agents import AGENTS
from vauban.agents.base import Judge, set_up
from vauban.agents.compiled import Bot, CompiledAgent, maker_of
from vauban.agents.options import option
from vauban.arena.match import Match
from vauban.arena.play import play_in_batch, play_on_boards
from vauban.errors import ConfigurationError
from vauban.games import base
from vauban.games.base import PLAYER
from vauban.games.kernel import kernel
from vauban.games.small import CARDS
from vauban.sim.simulator import Simulator

JACK, QUEEN, KING = 0, 1, 2


@dataclass(frozen=True)
class Options:
    """Bets by its card."""

    least: int = option(KING, "the lowest card with which it bets")


@kernel
def choose(game, seed, options, prior):
    """Bet with high cards; a hand is worth what is known beforehand of its card."""
    card = game.bytes[CARDS + np.int64(game.bytes[PLAYER])]
    return 1 if card >= options[0] else 0, prior[card]


BOT = Bot("tight", choose, Options, judges=True, prior=lambda game: np.array([-0.5, 0.0, 0.5]), family="kuhn")


@pytest.fixture(autouse=True)
def _tight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "tight", maker_of(BOT))


def test_it_plays_many_games_at_once_as_it_plays_them_one_by_one() -> None:
    match = Match("tight:least=1", "random", 24, "kuhn", seed=4)
    assert match.in_batches
    batch = play_in_batch(match, range(24))
    assert [plain(game) for game in batch] == [plain(game) for game in play_on_boards(match, range(24))]
    assert {game.moves.split()[0] for game in batch[::2]} == {"pass", "bet"}


def test_it_judges_by_what_its_family_knows_beforehand() -> None:
    agent = maker_of(BOT)({}, 7)
    assert isinstance(agent, Judge) and agent.name == "tight"
    sim = Simulator("kuhn", 9, seed=1, arrays="numpy")
    cards = sim.views(0).store.bytes[:, CARDS]
    assert agent.judge(sim.views(0)).tolist() == (cards / 2 - 0.5).tolist()


def test_it_is_refused_games_of_other_families() -> None:
    with pytest.raises(ConfigurationError, match="'tight' plays Kuhn, not 'leduc': take another agent"):
        Match("tight", "random", 2, "leduc")


@dataclass(frozen=True)
class Placing(Options):
    """Has a setup of its own."""

    setups: str = option("own", "how it sets up")


def king_first(game: base.Game, player: int, rng: random.Random) -> Any:
    assert game.setups is not None
    return game.setups.parse("KG." if player == 0 else ".GK")


def test_it_sets_up_as_its_options_say_else_by_itself_else_as_is_usual() -> None:
    game = base.game(f"py:{Path(__file__).parents[2]}/examples/ambush.py:Ambush")
    assert game.setups is not None

    def setups(options: Any, setup: Any = None) -> set[str]:
        agent = CompiledAgent(Bot("sly", choose, type(options), setup, family="ambush"), options)
        assert game.setups is not None
        return {game.setups.text(set_up(agent, game, 1, random.Random(seed))) for seed in range(40)}

    assert setups(Placing(), king_first) == setups(Options(), king_first) == {".GK"}
    assert setups(Placing(setups="fixed:G.K"), king_first) == {"G.K"}
    assert len(setups(Placing())) == len(setups(Options())) == 6
