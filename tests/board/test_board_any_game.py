"""`Board` and `View` for games of every family: they play by the rules of the simulator and keep secrets."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban import Board
from vauban.board import View
from vauban.errors import (
    ConfigurationError,
    IllegalMoveError,
    InvalidMoveError,
    NotYourTurnError,
    RecordError,
    SetupError,
)
from vauban.games.base import game, names
from vauban.sim.simulator import Simulator

FAMILIES = sorted({game(name).family: name for name in reversed(names())}.values())
SMALL = [name for name in names() if game(name).family != "stratego"]


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(["kuhn", "leduc", "matching-pennies", "tiny"]), seed=st.integers(0, 10**6), data=st.data())
def test_a_board_plays_the_first_game_of_a_simulator_with_its_seed(name: str, seed: int, data: st.DataObject) -> None:
    board = Board(name, seed=seed)
    sim = Simulator(name, 1, seed=seed, restart=False, threads=1, arrays="numpy")
    while True:
        assert (board.turn, board.plies, board.is_over) == (sim.players[0], sim.plies[0], bool(sim.over[0]))
        assert board.legal_actions == np.flatnonzero(sim.legal_mask()[0]).tolist()
        assert (board.snapshot().pack() == sim.snapshot().pack()).all()
        for player in (0, 1):
            assert (board.view(player).snapshot().pack() == sim.views(player).pack()).all()
        if board.is_over:
            break
        action = data.draw(st.sampled_from(board.legal_actions))
        board.push(action)
        sim.step(np.array([action]))
    assert board.outcome() == sim.outcome(0)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(SMALL), seed=st.integers(0, 10**6), data=st.data())
def test_moves_are_texts_and_are_taken_back_one_by_one(name: str, seed: int, data: st.DataObject) -> None:
    board = Board(name, seed=seed)
    before = []
    while not board.is_over:
        before.append((board.copy(), data.draw(st.sampled_from(board.legal_moves))))
        played = board.push(before[-1][1])
        assert (played.text, played.player) == (before[-1][1], before[-1][0].turn)
    while before:
        earlier, move = before.pop()
        assert board.pop() == move and board == earlier and hash(board) == hash(earlier)
    with pytest.raises(IndexError):
        board.pop()


def test_what_is_refused_says_what_would_be_right_and_changes_nothing() -> None:
    board = Board("leduc", seed=1)
    text = board.text
    for move, error, words in (
        ("fold", IllegalMoveError, r"fold is not legal; legal are 1 \(call\), 2 \(raise\)"),
        (0, IllegalMoveError, "fold is not legal"),
        ("rise", InvalidMoveError, "did you mean 'raise'"),
        (7, InvalidMoveError, "a number from 0 to 2"),
        (None, InvalidMoveError, "None is no move"),
        (True, InvalidMoveError, "True is no move"),
    ):
        with pytest.raises(error, match=words):
            board.push(move)
        assert board.text == text
    for move in ("raise", "fold"):
        board.push(move)
    with pytest.raises(NotYourTurnError, match="the game is over"):
        board.push("call")


def test_a_player_is_on_turn_twice_in_leduc_when_the_rules_say_so() -> None:
    board = Board("leduc", seed=1)
    for move in ("call", "raise", "call"):
        board.push(move)
    assert [played.player for played in board.history] == [0, 1, 0] and board.turn == 0


def test_a_view_knows_the_own_moves_and_legal_moves_and_no_others() -> None:
    board = Board("matching-pennies")
    board.push("heads")
    first, second = board.view(0), board.view(1)
    assert [played.text for played in first.history] == ["heads"] and second.history == []
    open_hand = Board("kuhn", seed=1)
    open_hand.push("bet")
    assert [played.text for played in open_hand.view(1).history] == ["bet"], "bets are made in the open"
    assert list(first.legal_moves) == [] and list(second.legal_moves) == ["heads", "tails"]
    other = Board("matching-pennies")
    other.push("tails")
    assert other.view(1).text == second.text and str(other.view(1)) == str(second)
    assert other.view(0).text != first.text


@pytest.mark.parametrize("seed", range(4))
def test_no_view_shows_the_other_players_card(seed: int) -> None:
    board = Board("kuhn", seed=seed)
    cards = [text.split("card[")[1][0] for text in str(board).splitlines()]
    assert len(set(cards)) == 2
    for player in (0, 1):
        assert f"card[{cards[player]}]" in str(board.view(player))
        assert f"card[{cards[1 - player]}]" not in str(board.view(player))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_board_survives_pickling_copying_and_its_text(name: str) -> None:
    board = Board(name, seed=5)
    board.push(board.legal_actions[0])
    again = pickle.loads(pickle.dumps(board))
    assert type(again) is type(board) and again == board and again.history == board.history
    found = Board.from_position(board.text, name)
    assert found == board and type(found) is type(board)
    records = board.snapshot()
    assert (Board.from_snapshot(records).snapshot().pack() == records.pack()).all()


def test_a_snapshot_of_views_can_be_looked_at_and_not_played() -> None:
    sim = Simulator("kuhn", 2, seed=1, arrays="numpy")
    views = sim.views(1)
    with pytest.raises(RecordError, match="determinised"):
        Board.from_snapshot(views)
    view = View.from_snapshot(views, 1)
    assert view.player == 1 and view.game.name == "kuhn"
    with pytest.raises(RecordError, match="whole games"):
        View.from_snapshot(sim.snapshot())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Board("kunh"), "did you mean 'kuhn'"),
        (lambda: Board("kuhn", seed=-1), "a seed is a whole number"),
        (lambda: Board("kuhn", setups=("a", "b")), "'kuhn' has no setups"),
        (lambda: Board.from_pieces({}, "kuhn"), "such a beginning"),
        (lambda: Board.from_position("xyz", "kuhn"), "hexadecimal digits"),
        (lambda: Board.from_position("00", "kuhn"), "records of 'kuhn' are rows of"),
        (lambda: Board("kuhn", seed=1).view(2), r"a player is 0 \(first\) or 1 \(second\)"),
    ],
)
def test_beginnings_that_cannot_be_are_refused_in_a_sentence(make, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises((ConfigurationError, RecordError, ValueError), match=words):
        make()


@pytest.mark.parametrize("room", ["board", "notation.records", "notation.formats", "games.base", "board.stratego"])
def test_one_game_needs_no_torch(room: str) -> None:
    code = (
        f"import sys, vauban.{room}; from vauban import Board; b = Board('kuhn', seed=1); b.push('bet'); "
        "str(b.view(0)); b.snapshot(); "
        "Board.from_setups('FLPJ', 'JFPL', 'tiny').view(1).snapshot(); print('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False"]


def test_a_game_with_a_board_and_no_family_has_a_picture_with_a_legend() -> None:
    ambush = f"py:{Path(__file__).parents[2] / 'examples' / 'ambush.py'}:Ambush"
    board = Board(ambush, setups=("KG.", ".GK"))
    south, north = str(board.view(0)), str(board.view(1))
    assert str(board) == f"{south}\n{north}"
    assert south.splitlines()[1:4] == [". c c", ". . .", "a b ."] or "own King" in south
    assert "enemy hidden" in south and "enemy King" not in south
    assert Board.from_setups("KG.", ".GK", ambush) == board
    with pytest.raises(SetupError):
        Board(ambush, setups=("KK.", ".GK"))


@pytest.mark.parametrize("name", [*FAMILIES, f"py:{Path(__file__).parents[2]}/examples/ambush.py:Ambush"])
def test_every_game_has_a_picture_as_svg_that_shows_what_its_text_shows(name: str) -> None:
    board = Board(name, seed=5)
    for look in (board, board.view(1)):
        picture = ElementTree.fromstring(look.svg(300))
        assert max(float(picture.attrib[side]) for side in ("width", "height")) == pytest.approx(300)
        assert look._repr_svg_() == look.svg()
    if type(board) is Board:
        texts = {each.text for each in ElementTree.fromstring(board.svg()).iter() if each.text}
        lines = str(board).splitlines()
        assert {line.strip() for line in lines if "sees:" in line} <= texts
        squares = [each for each in ElementTree.fromstring(board.svg()).iter() if each.tag.endswith("rect")]
        assert len(squares) == 1 + 2 * board.game.board[0] * board.game.board[1] * (board.game.board != (1, 1))
