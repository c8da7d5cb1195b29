"""Texts of games without a notation of their own: they are read back as written, and errors name the fault."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban import Board
from vauban.errors import NotationError, VaubanError
from vauban.games.base import game, names
from vauban.notation.formats import to_notation
from vauban.notation.game import GameText, WrittenMove, game_text, parse_games
from vauban.notation.records import read_games, write_game

AMBUSH = f"py:{Path(__file__).parents[2] / 'examples' / 'ambush.py'}:Ambush"
SMALL = [name for name in names() if game(name).family != "stratego"]

KUHN = """\
[Game "kuhn"]
[First "Anna"]
[Second "cfr+"]
[Seed "1"]
[Result "1-0"]
[End "fold"]

1. bet {strong} 2. pass 1-0
"""


def test_a_game_of_kuhn_poker_is_read_and_written() -> None:
    [read] = read_games(KUHN)
    assert (read.game.name, read.result, read.end, read.comments) == ("kuhn", "1-0", "fold", {1: "strong"})
    assert read.headers["First"] == "Anna" and read.moves == ["bet", "pass"]
    assert read.outcome == read.board.outcome() and read.outcome.utility == 1
    assert write_game(read.board, read.headers, read.comments) == KUHN
    assert to_notation(KUHN) == KUHN.strip()


@settings(max_examples=120, deadline=None)
@given(
    name=st.sampled_from(SMALL),
    seed=st.integers(0, 2**64 - 1),
    plies=st.integers(0, 12),
    begun=st.booleans(),
    data=st.data(),
)
def test_a_game_is_read_back_as_it_was_written(
    name: str, seed: int, plies: int, begun: bool, data: st.DataObject
) -> None:
    board = Board(name, seed=seed)
    if begun:  # from a record in mid-game, as a simulator hands it out
        board.push(data.draw(st.sampled_from(board.legal_moves)))
        board = Board.from_snapshot(board.snapshot(), seed=seed)
    while not board.is_over and len(board.history) < plies:
        board.push(data.draw(st.sampled_from(board.legal_moves)))
    comments = data.draw(st.dictionaries(st.integers(0, len(board.history)), st.sampled_from(["why?", "(!)"])))
    text = write_game(board, {"First": "a", "Event": 'x "y"'}, comments)
    [read] = read_games(text)
    assert read.board == board and read.board.outcome() == board.outcome()
    assert read.board.history == board.history and read.comments == comments
    assert write_game(read.board, read.headers, read.comments) == text
    # Chance goes on as it would have gone.
    while not board.is_over:
        move = board.legal_moves[0]
        board.push(move)
        read.board.push(move)
        assert read.board == board


WORDS = st.text(string.ascii_letters + string.digits + ' .{}[]"\\*/-', min_size=1, max_size=8)


@given(st.lists(st.tuples(WORDS, st.none() | st.just("so"))))
@settings(max_examples=200, deadline=None)
def test_any_words_are_moves_and_come_back(moves: list[tuple[str, str | None]]) -> None:
    written = GameText({"Game": "of words"}, [WrittenMove(*move) for move in moves], "*")
    [read] = parse_games(game_text(written))
    assert read.moves == written.moves


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"kuhn"', '"kunh"'), "game 1: there is no game 'kunh': did you mean 'kuhn'"),
        (('"kuhn"', '"tiny"'), r'is written with the header \[Game "stratego"\]'),
        (('[Seed "1"]\n', ""), "the header Seed is missing"),
        (('[Seed "1"]', '[Seed "-1"]'), "the Seed '-1' is no whole number"),
        (("2. pass", "2. fold"), "move 2. fold: 'kuhn' has no move 'fold': known are 'pass', 'bet'"),
        (("2. pass", "2. pass 3. pass"), "move 3. pass: pass cannot be played: the game is over"),
        ((" 2. pass", ""), "on the board the game is not over"),
        (('[Result "1-0"]\n', '[Result "0-1"]\n'), "the header Result is '0-1', and the moves end with '1-0'"),
        (('"fold"', '"showdown"'), "the record says 1-0 showdown, and on the board the game ended 1-0 .fold."),
        (('"fold"', '"folded"'), "there is no End 'folded': did you mean 'fold'"),
        (('[Seed "1"]', '[Position "00"]'), "records of 'kuhn' are rows of"),
    ],
)
def test_a_text_that_contradicts_the_game_is_refused(change: tuple[str, str], words: str) -> None:
    assert change[0] in KUHN
    with pytest.raises(VaubanError, match=words):
        read_games(KUHN.replace(*change))


def test_an_end_that_no_board_shows_is_believed() -> None:
    text = KUHN.replace(" 2. pass", "").replace('"fold"', '"resigned"')
    [read] = read_games(text)
    assert (read.result, read.end) == ("1-0", "resigned")
    assert (read.outcome.winner, read.outcome.utility) == (0, 1.0)
    with pytest.raises(NotationError, match="comment after move 9"):
        write_game(read.board, {}, {9: "?"})


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_a_game_of_ones_own_is_written_with_its_setups_and_its_file(seed: int, data: st.DataObject) -> None:
    board = Board(AMBUSH, seed=seed)
    while not board.is_over:
        board.push(data.draw(st.sampled_from(board.legal_moves)))
    text = write_game(board)
    assert f'[Game "{AMBUSH}"]' in text and "[SouthSetup " in text and "[Seed " not in text
    [read] = read_games(text)
    assert read.board == board and read.board.history == board.history
    with pytest.raises(NotationError, match="the header SouthSetup and NorthSetup is missing"):
        read_games(re.sub(r"\[NorthSetup.*\n", "", text))
