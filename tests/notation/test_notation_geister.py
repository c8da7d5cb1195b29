"""Texts of Geister: games with their headers, and the logs of the public server."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from vauban import Board
from vauban.cli.main import make_app
from vauban.errors import NotationError, VaubanError
from vauban.games.geister import Geister
from vauban.games.geister.variants import VARIANTS, Variant
from vauban.notation.formats import to_notation
from vauban.notation.game import parse_games
from vauban.notation.geister.headers import game_of, headers_of
from vauban.notation.geister.moves import looks_like_a_move
from vauban.notation.records import read_games, write_game

NARROW = Variant("narrow", 4, 6, ((1, 4), (2, 4), (1, 5), (2, 5)), 2, 2, 200)

GAME = """\
[Game "geister"]
[First "Anna"]
[Second "random"]
[Variant "geister-33a"]
[Rules "escape=optional colours=chosen total_limit=30 at_limit=draw"]
[FirstSetup "B"]
[SecondSetup "A"]
[Result "1-0"]
[End "escape"]

1. a1a2 {slow} a3b3 2. a2a3 b3b2 3. a3n 1-0
"""


def test_a_game_is_written_with_headers_that_people_can_read() -> None:
    [read] = read_games(GAME)
    assert (read.game.name, read.result, read.end, read.comments) == ("geister-33a", "1-0", "escape", {1: "slow"})
    assert [played.text for played in read.board.history] == ["a1a2", "a3b3", "a2a3", "b3b2", "a3n"]
    assert write_game(read.board, read.headers, read.comments) == GAME
    assert to_notation(GAME) == GAME.strip()


@settings(max_examples=80, deadline=None)
@given(
    name=st.sampled_from([*sorted(VARIANTS), "narrow"]),
    rules=st.sampled_from(["server", "paper", "escape=forced total_limit=9 at_limit=second"]),
    seed=st.integers(0, 10**6),
    plies=st.integers(0, 60),
    begun=st.integers(0, 3),
    data=st.data(),
)
def test_a_game_is_read_back_as_it_was_written(
    name: str, rules: str, seed: int, plies: int, begun: int, data: st.DataObject
) -> None:
    game = Geister(NARROW if name == "narrow" else name, rules)
    board, rng = Board(game, seed=seed), random.Random(seed)
    if begun:
        while not board.is_over and board.plies < begun:
            board.push(rng.choice(board.legal_actions))
        board = Board.from_position(board.text, game)
    while not board.is_over and len(board.history) < plies:
        board.push(rng.choice(board.legal_actions))
    comments = data.draw(st.dictionaries(st.integers(0, len(board.history)), st.sampled_from(["why?", "(!)"])))
    text = write_game(board, {"First": "a", "Event": 'x "y"'}, comments)
    [read] = read_games(text)
    assert read.board == board and read.board.history == board.history and read.comments == comments
    assert write_game(read.board, read.headers, read.comments) == text
    assert game_of(headers_of(game)).same_board(game) and game_of(headers_of(game)).rules == game.rules


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"geister"', '"geister-33a"'), r'is written with the header \[Game "geister"\]'),
        (('"geister-33a"', '"geister-33x"'), "there is no variant 'geister-33x': did you mean 'geister-33"),
        (("total_limit=30", "total_limit=3"), "move 4. b3b2: b3b2 cannot be played: the game is over"),
        (("escape=optional", "escape=free"), "escape must be optional or forced"),
        (('[SecondSetup "A"]\n', ""), "the header FirstSetup and SecondSetup is missing"),
        (('"B"', '"C"'), "a setup names the 1 evil ghosts among AB"),
        (("1. a1a2", "1... a1a2"), "the move number '2.' is wrong here: 2... comes next"),
        (("2. a2a3", "3. a2a3"), "the move number '3.' is wrong here: 2. comes next"),
        (("3. a3n", "3. a3b2"), "move 5. a3b2: 'a3b2' is no move: a ghost moves one square"),
        (("3. a3n", "3. e4"), "'e4' is no move and no result: a move is written b2b3, an escape a6n"),
        (("1-0\n", "0-1\n"), "the header Result is '1-0', and the moves end with '0-1'"),
        (('"escape"', '"total_limit"'), "the record says 1-0 total_limit, and on the board the game ended 1-0 .escape"),
        (('[Variant "geister-33a"]', '[Variant "mine"]'), "there is no variant 'mine'"),
        (('[Variant "geister-33a"]', '[Variant "mine"]\n[Board "3 x 3"]'), "is not written 'width x height; starts"),
        (
            ('[Variant "geister-33a"]', '[Variant "geister-33a"]\n[Board "3 x 3; starts 0,2 1,2; 1 good; 1 evil"]'),
            "describes another board than 'geister-33a'",
        ),
    ],
)
def test_a_text_that_contradicts_the_game_is_refused(change: tuple[str, str], words: str) -> None:
    assert change[0] in GAME
    with pytest.raises(VaubanError, match=words):
        read_games(GAME.replace(*change, 1))


def test_a_variant_that_takes_the_name_of_another_is_not_written() -> None:
    board = Board(Geister(Variant("geister", 4, 4, ((1, 3), (2, 3)), 1, 1)), seed=1)
    with pytest.raises(NotationError, match="rename yours"):
        write_game(board)


def test_a_game_that_the_second_player_goes_on_with_begins_with_dots() -> None:
    board = Board.from_position("1a1/A1b/2B s RB BR 3", "geister-33a")
    board.push("c2c3")
    board.push("a2a3")
    text = write_game(board)
    assert "1... c2c3 2. a2a3 *" in text and '[Position "1a1/A1b/2B s RB BR 3"]' in text
    assert read_games(text)[0].board == board
    with pytest.raises(NotationError, match=r"second begins, so the first move number is 1\.\.\., not 1\."):
        read_games(text.replace("1... c2c3 2. a2a3", "1. c2c3 a2a3"))


@given(st.text("abf123 newsxNEWS", max_size=6))
def test_the_form_of_a_move_is_two_squares_or_a_square_and_a_direction(text: str) -> None:
    game = Geister("geister")
    known = {game.action_text(player, action) for player in (0, 1) for action in range(game.action_count)}
    assert looks_like_a_move(text) or text not in known


# ── Logs of the public server ────────────────────────────────────────────────────────────────────

DIRECTIONS = ("NORTH", "EAST", "WEST", "SOUTH")


def log_of(board: Any, words: random.Random, end: bool = True) -> str:
    """Return the log that the server would have written of a game from its start, with lines that it refused."""
    first, second = (board.game.setups.text(setup) for setup in board.setups)
    again = Board.from_setups(first, second, board.game)
    lines = [f"player=1,SET:{second.lower()}", "player=1,MOV:A,N", "player=0,SET:AB", f"player=0,SET:{first}"]
    for played in board.history:
        source = again.squares_of(played.player, played.action)[0]
        ghost = again.ghost_at(source)
        direction = DIRECTIONS[played.action % 4]
        said = words.choice([direction, direction.lower(), direction[0], direction[0].lower()])
        if words.random() < 0.1:
            lines.append(f"player={1 - again.turn},MOV:A,N")  # out of turn
        if words.random() < 0.1:
            lines.append(f"player={again.turn},SET:EFGH")
        lines.append(f"player={again.turn},MOV:{words.choice([ghost.letter.upper(), ghost.letter.lower()])},{said}")
        again.push(played.action)
    outcome = board.outcome()
    if end and outcome is not None:
        lines.append(f"winner={2 if outcome.winner is None else outcome.winner}")
    return "\r\n".join(lines) + "\r\n"


@pytest.mark.parametrize("seed", range(8))
def test_a_log_of_the_server_is_the_game_that_was_played(seed: int) -> None:
    rng = random.Random(seed)
    boards = []
    for each in range(2):
        board = Board("geister", seed=10 * seed + each)
        while not board.is_over:
            board.push(rng.choice(board.legal_actions))
        boards.append(board)
    text = "".join(log_of(board, rng) for board in boards)
    read = read_games(to_notation(text.encode()))
    assert [game.board for game in read] == boards
    assert [game.board.history for game in read] == [board.history for board in boards]
    assert [game.outcome for game in read] == [board.outcome() for board in boards]


SHORT = """\
player=0,SET:abcd
player=1,SET:EFGH
player=0,MOV:A,NORTH
player=1,MOV:d,n
player=0,MOV:A,N
player=1,MOV:E,S
"""
"""A short game that was really played: the last move leaves the board, and loses."""


def test_a_game_that_ended_by_an_illegal_move_says_so() -> None:
    [read] = read_games(to_notation(SHORT))
    assert (read.result, read.end, read.headers["Note"]) == ("1-0", "illegal", "MOV:E,S was refused")
    assert [played.text for played in read.board.history] == ["b2b3", "b5b4", "b3b4"]
    captured = read.board.history[-1].captured
    assert (captured.letter, captured.evil) == ("d", False), "as the server told: OKB"
    assert read.board.text == "1hgfe1/2cba1/1A4/6/2BCD1/1EFGH1 s RRRRBBBB BBBbRRRR 3"


def test_a_server_that_lets_players_try_again_writes_on_after_an_illegal_move() -> None:
    [read] = read_games(to_notation(SHORT + "player=1,MOV:Z,N\nplayer=1,MOV:E,W\n"))
    assert (read.result, read.end, read.board.plies) == ("*", "unfinished", 4)
    [read] = read_games(to_notation(SHORT + "player=0,MOV:A,N\n"))
    assert (read.result, read.end, read.board.plies) == ("*", "unfinished", 3)


def test_a_game_without_an_end_is_unfinished() -> None:
    [read] = read_games(to_notation(SHORT.replace("player=1,MOV:E,S\n", "")))
    assert (read.result, read.end) == ("*", "unfinished")


def finished() -> str:
    """The log of a game that is decided on the board."""
    board, rng = Board("geister", seed=4), random.Random(4)
    while not board.is_over:
        board.push(rng.choice(board.legal_actions))
    assert board.outcome().winner is not None
    return log_of(board, rng)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda log: log.replace("winner=1", "winner=X").replace("winner=0", "winner=1").replace("X", "0"),
            "which is (1-0|0-1), and on",
        ),
        (lambda log: log[: log.index("winner")] + "winner=2\r\n", "winner=2, which is 1/2-1/2, and on the board the"),
        (lambda log: log[: log.index("winner")], "the log names no winner"),
        (lambda log: log[: log.index("winner")] + "player=0,MOV:A,N\r\nplayer=1,MOV:A,N\r\n", "comes after the end"),
        (lambda log: SHORT + "winner=0", "on the board the game is not over after 3 plies"),
        (lambda log: SHORT.replace("abcd", "AAAA"), "line 1: SET:AAAA does not name four different ghosts"),
        (lambda log: SHORT.replace("abcd", "ABCX"), "line 1: SET:ABCX does not name four different ghosts"),
        (lambda log: SHORT.replace("player=0,SET:abcd\n", ""), "before both players have sent their setups"),
        (lambda log: SHORT + "player=2,MOV:A,N", "line 7: 'player=2,MOV:A,N' is no line of a log"),
        (lambda log: SHORT + "hello", "line 7: 'hello' is no line of a log"),
    ],
)
def test_a_log_that_contradicts_the_board_is_refused_with_its_line(change: Any, words: str) -> None:
    with pytest.raises(NotationError, match=words):
        to_notation(change(finished()))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("player=01,SETMOV:ABCDNEWSwinr2 \n", max_size=20), max_size=8))
def test_any_text_is_a_log_or_refused(lines: list[str]) -> None:
    with suppress(NotationError):
        assert parse_games(to_notation("player=0,SET:ABCD\nplayer=1,SET:ABCD\n" + "\n".join(lines)))


def test_the_command_replays_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log-20261119.txt"
    path.write_text(SHORT)
    done = CliRunner().invoke(make_app("replay"), ["replay", str(path)])
    assert done.exit_code == 0, done.output
    assert "3. First b3xb4: captures d, a good ghost" in done.output
    assert "First won: the other side gave no legal answer (MOV:E,S was refused)." in done.output
