"""Agents as a person writes them: from a class to an agent, and `py:FILE.py:CLASS` wherever an agent is named."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
from contenders import plain
from typer.testing import CliRunner

from vauban import Board
from vauban.agents import AGENTS, make_agent
from vauban.agents.adapter import adapted, build
from vauban.agents.base import RESIGNS, Closing, Listener, SetsUp, choose_action, choose_move, describe
from vauban.arena.match import Match
from vauban.arena.play import play_games
from vauban.arena.schedule import play_match
from vauban.cli.main import app
from vauban.errors import ConfigurationError, InvalidMoveError
from vauban.work.executors import Processes

MINE = '''
class Striker:
    """Strikes if it can."""

    def __init__(self, seed=0, depth=2, bold=False, pace: float = 1.0, motto=None):
        self.seed, self.depth, self.bold, self.pace, self.motto = seed, depth, bold, pace, motto

    def choose_move(self, view):
        strikes = [move for move in view.legal_moves if move.target in view.pieces(1 - view.player)]
        return (strikes or list(view.legal_moves))[0]


class Plain:
    def choose_move(self, view):
        return view.legal_moves[0]


class Ready:
    name = "ready"

    def choose(self, views, seeds):
        return [int(-1)] * len(views)


class NoAgent:
    pass


SOMETHING = 3
made = Plain()
'''


@pytest.fixture
def mine(tmp_path: Path) -> str:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return f"py:{file}"


class Answers:
    """Answers each view by a given function."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def choose_move(self, view: Any) -> Any:
        return self.answer(view)


# ── What may be answered ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "answer",
    [
        lambda view: view.legal_moves[3],
        lambda view: tuple(view.legal_moves[3]),
        lambda view: view.move_text(view.legal_moves[3]),
        lambda view: view.game.encode(view.player, *view.legal_moves[3]),
    ],
    ids=["a move", "a pair of squares", "its text", "an action"],
)
@pytest.mark.parametrize("player", [0, 1])
def test_an_answer_is_a_move_its_text_or_the_number_of_an_action(answer: Any, player: int) -> None:
    board = Board("barrage", seed=3)
    for _ in range(player):
        board.push(board.legal_moves[0])
    view = board.view(player)
    assert choose_move(adapted(Answers(answer)), view) == view.legal_moves[3]


def test_the_move_of_an_agent_is_a_text_where_moves_are_texts() -> None:
    assert choose_move(adapted(Answers(lambda view: "bet")), Board("kuhn", seed=1).view(0)) == "bet"


def test_two_squares_are_no_answer_where_moves_are_texts() -> None:
    with pytest.raises(InvalidMoveError, match="is no move: give a text"):
        choose_action(adapted(Answers(lambda view: (0, 1))), Board("kuhn", seed=1).view(0))


def test_a_family_may_offer_a_class_as_a_person_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bets:
        def choose_move(self, view: Any) -> Any:
            return view.legal_moves[-1]

    monkeypatch.setitem(AGENTS, "bets", lambda settings, seed: Bets())
    games = play_games(Match("bets", "first", 2, "kuhn", seed=1), range(2))
    assert [game.result.end for game in games] == ["fold", "fold"]


@pytest.mark.parametrize("answer", ["bet", 1])
def test_an_answer_at_poker_is_a_text_or_a_number(answer: Any) -> None:
    view = Board("kuhn", seed=1).view(0)
    assert choose_action(adapted(Answers(lambda view: answer)), view) == 1


def test_the_text_of_a_legal_move_is_its_str() -> None:
    view = Board("barrage", seed=3).view(0)
    texts = [str(move) for move in view.legal_moves]
    assert texts == [view.move_text(move).replace("x", "") for move in view.legal_moves] and len(texts) > 3
    assert view.legal_moves[0] == tuple(view.legal_moves[0])
    assert [str(move) for move in pickle.loads(pickle.dumps(list(view.legal_moves)))] == texts


def test_no_answer_resigns() -> None:
    assert choose_action(adapted(Answers(lambda view: None)), Board("kuhn", seed=1).view(0)) == RESIGNS


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda view: "e9xz3", "z3"),
        (lambda view: (3, 25), "no move"),
        (lambda view: 3.5, "no move"),
        (lambda view: 10**6, "no move"),
        (lambda view: (-1, 5), "no move"),
    ],
)
def test_an_answer_that_is_no_move_loses_with_a_sentence(answer: Any, words: str) -> None:
    [game] = play_match(Match(lambda: Answers(answer), "random", 1, "barrage", seed=1))
    assert game.result.winner == 1 and game.result.note.startswith("illegal: ") and words in game.result.note


# ── From a class to an agent ─────────────────────────────────────────────────────────────────────


def test_a_class_gets_a_seed_if_it_takes_one(mine: str) -> None:
    agent: Any = make_agent(f"{mine}:Striker", 7)
    assert agent.inner.seed == 7
    assert type(make_agent(f"{mine}:Plain", 7)).__name__ == "Adapted"


def test_options_have_the_type_of_their_default_or_annotation(mine: str) -> None:
    agent: Any = make_agent(f"{mine}:Striker,depth=3,bold=yes,pace=2,motto=a b")
    inner = agent.inner
    assert (inner.depth, inner.bold, inner.pace, inner.motto) == (3, True, 2.0, "a b")
    assert agent.name == f"{mine}:Striker,depth=3,bold=yes,pace=2,motto=a b"


def test_an_agent_has_the_abilities_of_its_class() -> None:
    class Whole(Answers):
        def choose_setup(self, variant: Any, player: int, rng: Any) -> str:
            return "FLPJ"

        def told(self, played: Any) -> None: ...
        def close(self) -> None: ...

    whole, part = adapted(Whole(lambda view: None)), adapted(Answers(lambda view: None))
    for capability in (SetsUp, Listener, Closing):
        assert isinstance(whole, capability) and not isinstance(part, capability)


def test_a_class_is_described_by_its_own_words(mine: str) -> None:
    assert describe(make_agent(f"{mine}:Striker")) == "Strikes if it can."


def test_a_class_that_answers_for_many_views_is_left_as_it_is(mine: str) -> None:
    assert type(make_agent(f"{mine}:Ready")).__name__ == "Ready"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("py:nowhere.py:Mine", "there is no file nowhere.py to take an agent from"),
        ("py:mine.py", "does not name an agent: write py:FILE.py:NAME"),
        ("{mine}:Striken", "has no 'Striken', which should be an agent: it has Striker, Plain, Ready, NoAgent"),
        ("{mine}:NoAgent", r"it lacks a method, choose_move\(view\), or choose\(views, seeds\)"),
        ("{mine}:SOMETHING", "is no agent, but 3"),
        ("{mine}:made", "is no agent, but one that is made already, of the class Plain: name a class"),
        ("{mine}:Striker,dept=3", "has no option 'dept': did you mean 'depth'"),
        ("{mine}:Striker,depth=deep", "depth=deep .* a whole number"),
        ("{mine}:Striker,bold=perhaps", "bold=perhaps .* 0 or 1"),
        ("{mine}:Plain,depth=3", "has no option 'depth': it has none"),
        ("{mine}:Striker,depth", "has no option 'depth'"),
        ("{mine}:Striker,depth=1,depth=2", "'depth' is set twice"),
    ],
)
def test_an_object_that_is_no_agent_is_refused_with_what_is_missing(text: str, words: str, mine: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        make_agent(text.replace("{mine}", mine))


def test_an_installed_package_offers_agents_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outsiders.py").write_text(MINE)
    info = tmp_path / "outsiders-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outsiders\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vauban.agents]\noutsider = outsiders:Striker\n")
    monkeypatch.syspath_prepend(tmp_path)
    agent: Any = make_agent("outsider:depth=5", 3)
    assert (agent.inner.depth, agent.inner.seed, agent.name) == (5, 3, "outsider:depth=5")
    with pytest.raises(ConfigurationError, match="did you mean 'outsider'"):
        make_agent("outsidr")
    sys.modules.pop("outsiders")


def test_a_package_whose_agent_is_broken_leaves_the_others_in_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "outsiders-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outsiders\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vauban.agents]\nlost = nowhere:X\n")
    monkeypatch.syspath_prepend(tmp_path)
    done = CliRunner().invoke(app, ["agents"])
    assert done.exit_code == 0 and "charger" in done.stdout
    assert "'lost' of the package outsiders cannot be loaded from nowhere:X: Module" in done.stderr.replace("\n", " ")


def test_what_makes_an_agent_may_be_a_function_of_the_seed() -> None:
    agent: Any = build(lambda number: Answers(number), 5)
    assert agent.inner.answer == 5


# ── In matches ───────────────────────────────────────────────────────────────────────────────────


def test_a_class_in_a_file_plays_matches_in_several_processes_as_in_one(mine: str) -> None:
    match = Match(f"{mine}:Striker", "fox", 4, "barrage", seed=2)
    games = play_games(match, range(4))
    assert games[0].result.agents == (f"{mine}:Striker", "fox")
    assert [plain(game) for game in play_match(match, Processes(2))] == [plain(game) for game in games]


def test_a_file_is_looked_for_in_the_folder_of_the_match(mine: str, tmp_path: Path) -> None:
    match = Match("py:mine.py:Plain", "random", 2, "tiny", seed=2, folder=tmp_path)
    assert len(play_match(match, Processes(1))) == 2


def test_a_class_without_setups_gets_those_of_the_match(mine: str) -> None:
    drawn = play_games(Match(f"{mine}:Plain", "random", 2, "barrage", seed=2), range(2))
    assert drawn[0].setups == drawn[1].setups
    own = play_games(Match(f"{mine}:Plain", "cadet", 2, "barrage", seed=2, setups="own"), range(2))
    assert own[0].setups == own[1].setups[::-1]
