"""Programs by other protocols than that of Stratego: a module and a line make them play in the arena."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.agents.base import Actions, AgentError, Program, Row, Seeds, check_family
from vauban.agents.external import PROTOCOLS
from vauban.agents.external.protocol import LineProtocol
from vauban.arena.match import FAILED, FORFEIT, Match
from vauban.arena.play import play_games
from vauban.cli.main import app
from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.sim.store import Snapshot


class Duck:
    """A program that passes, and writes down what it is told; one called "mute" never says a word."""

    heard: list[tuple[Any, ...]] = []  # noqa: RUF012 – of all of them

    def __init__(self, command: str, seed: int, *, memory: int, folder: Path | None) -> None:
        self.name, self.command, self.memory = f"duck:{command}", command, memory

    def check_plays(self, game: Game) -> None:
        check_family(self.name, "kuhn", game)

    def check_sets_up(self, game: Game) -> None:
        raise AssertionError("nothing is set up in poker")

    def give_setup(self, game: Game, row: Row) -> None:
        raise AssertionError("nothing is set up in poker")

    def meet(self, opponent: str, seconds: float | None) -> None:
        self.heard.append(("meet", opponent, seconds, self.memory))

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        if self.command == "mute":
            error = AgentError("not a quack")
            error.reason, error.spoke = "time", False
            raise error
        if self.command == "ill":
            raise AgentError("it fell over")
        return np.zeros(len(views), np.int64)

    def answer(self, view: Any) -> int:
        return int(self.choose(view.snapshot(), np.zeros(1, np.uint64))[0])

    def ended(self, end: str) -> None:
        self.heard.append(("ended", end))

    def last_words(self) -> str:
        return ". Its last words: ouch" if self.command == "ill" else ""


@pytest.fixture(autouse=True)
def _ducks(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("ducks")
    module.make_program = Duck  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ducks", module)
    protocol = LineProtocol(
        "ducks:make_program", "Kuhn", "A duck of your own.", "duck:donald", "docs/ducks.md", "vauban duck-check"
    )
    monkeypatch.setitem(PROTOCOLS, "duck:", protocol)
    monkeypatch.setattr(Duck, "heard", [])


def test_a_program_is_told_of_its_opponent_its_time_and_the_end() -> None:
    match = Match("duck:donald", "first", 2, "kuhn", seed=1, time=3.0, memory=77)
    assert isinstance(make_agent("duck:donald"), Program) and match.programs == (True, False) and not match.in_batches
    games = play_games(match, range(2))
    assert [game.result.end for game in games] == ["showdown", "showdown"]
    assert Duck.heard == [("meet", "first", 3.0, 77), ("ended", "showdown")] * 2


def test_a_program_that_misbehaves_loses_for_the_reason_that_it_gives_with_its_last_words() -> None:
    [game] = play_games(Match("first", "duck:ill", 1, "kuhn", seed=1), [0])
    assert (game.result.winner, game.result.end) == (0, FORFEIT)
    assert game.result.note == f"{FAILED}: it fell over. Its last words: ouch"


def test_a_program_that_never_says_a_word_is_refused_with_what_checks_it() -> None:
    with pytest.raises(ConfigurationError, match="'mute' has not said a word .*not a quack.* what vauban duck-check"):
        play_games(Match("first", "duck:mute", 2, "kuhn", seed=1), range(2))


def test_a_program_is_refused_games_that_its_protocol_does_not_know() -> None:
    with pytest.raises(ConfigurationError, match="'duck:donald' plays Kuhn, not 'leduc': take another agent"):
        Match("duck:donald", "first", 2, "leduc")


def test_programs_are_listed_by_their_protocols() -> None:
    listed = CliRunner().invoke(app, ["agents"]).stdout
    assert "duck:COMMAND" in listed and "bot:COMMAND" in listed
    done = CliRunner().invoke(app, ["agents", "duck"])
    assert "duck:COMMAND is a program of your own, e.g. 'duck:donald'" in str(done.exception)
    done = CliRunner().invoke(app, ["exploitability", "kuhn", "duck:donald"])
    assert "is a program, which chooses moves" in str(done.exception)
