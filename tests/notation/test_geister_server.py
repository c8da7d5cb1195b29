"""The words of the public Geister server: every line and board, there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban.board import Board
from vauban.errors import ConfigurationError, IllegalMoveError, InvalidMoveError, NotationError, SetupError
from vauban.games.base import game
from vauban.notation.geister import server

START = "14R24R34R44R15B25B35B45B41u31u21u11u40u30u20u10u"


def fresh(first: str = "ABCD", second: str = "EFGH", rules: str = "") -> Board:
    board: Board = Board("geister", rules, setups=(first, second))
    return board


def played(*lines: str, first: str = "ABCD", second: str = "EFGH", rules: str = "") -> Board:
    board = fresh(first, second, rules)
    for line in lines:
        board.push(server.legal_action(board, line))
    return board


def random_game(seed: int, rules: str = "") -> Board:
    rng = np.random.default_rng(seed)
    board: Board = Board("geister", rules, seed=seed)
    while not board.is_over:
        board.push(int(rng.choice(board.legal_actions)))
    return board


def test_the_start_is_shown_as_the_public_server_shows_it() -> None:
    assert server.board_text(fresh(), 0) == START
    assert server.board_text(fresh("EFGH", "ABCD"), 1) == START


def test_a_short_game_is_shown_as_the_public_server_showed_it() -> None:
    board = fresh()
    for line, shown in (
        ("MOV:A,NORTH", "14B24B34B44B15R25R35R45R42u31u21u11u40u30u20u10u"),
        ("MOV:d,n", "13R24R34R44R15B25B35B45B41u31u21u12u40u30u20u10u"),
        ("MOV:A,N", "14B24B34B99b15R25R35R45R43u31u21u11u40u30u20u10u"),
    ):
        board.push(server.legal_action(board, line))
        assert server.board_text(board, board.turn) == shown
    with pytest.raises(IllegalMoveError, match="SOUTH of \\(1, 5\\) there is no square"):
        server.legal_action(board, "MOV:E,S")
    assert server.board_text(board, 1, reveal=True) == "14B24B34B99b15R25R35R45R43r31r21r11r40b30b20b10b"
    assert server.board_text(board, 0, reveal=True) == "12R24R34R44R15B25B35B45B41b31b21b99b40r30r20r10r"
    assert server.board_text(board.view(0), 0, reveal=True) == "12R24R34R44R15B25B35B45B41u31u21u99b40u30u20u10u"


def test_an_escaped_ghost_is_shown_with_88() -> None:
    moves = ["MOV:E,W", "MOV:A,N", "MOV:E,N", "MOV:A,S"] + ["MOV:E,N", "MOV:A,N", "MOV:E,N", "MOV:A,S"] * 2
    board = played(*moves, "MOV:E,W")
    assert board.outcome() is not None and board.outcome().end == "escape"  # type: ignore[union-attr]
    assert server.board_text(board, 0)[12:15] == server.board_text(board, 1)[36:39] == "88b"
    assert server.fates(board, 0) == "....e..."


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["", "paper total_limit=300"]))
def test_a_game_is_followed_from_the_boards_that_each_player_is_shown(seed: int, rules: str) -> None:
    whole = random_game(seed, rules)
    setups = whole.setups
    assert setups is not None
    board = Board.from_setups(*setups, "geister", rules)
    for played in whole.history:
        mover, other = board.turn, 1 - board.turn
        line = server.move_line(board, played.action)
        assert server.legal_action(board, line) == played.action
        assert server.legal_action(board, line.lower().replace("mov", "MOV")) == played.action
        before, fates = board.copy(), server.fates(board, other)
        board.push(played.action)
        text = server.board_text(board, other)
        shown = server.parse_board(text)
        north = played.action // 4 * 4
        escapes = 66 in shown.places[1]  # by either of two directions, which look the same
        assert server.opponents_action(before, other, shown) == (north if escapes else played.action)
        assert server.opponents_action(board, other, shown) is None
        assert shown.places == tuple(server.places(server.record_of(board), other)[side] for side in (other, mover))
        assert text == server.board_text(board.view(other), other)
        changed = [now for then, now in zip(fates, server.fates(board, other), strict=True) if now != then]
        assert server.captured_letter(board, other, fates) == (changed[0].upper() if changed else " ")
    for player in (0, 1):
        evil = server.parse_board(server.board_text(board, player, reveal=True)).evil
        assert [list(each) for each in evil] == [setups[side].astype(bool).tolist() for side in (player, 1 - player)]


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    board = fresh()
    for read in (
        server.parse_setup,
        server.parse_move,
        server.parse_board,
        lambda line: server.legal_action(board, line),
    ):
        for line in (text, f"SET:{text}", f"MOV:{text}", START[: len(text)] + text + START[2 * len(text) :]):
            try:
                read(line)
            except (SetupError, NotationError, IllegalMoveError) as error:
                assert str(error)


def test_setups_name_four_different_ghosts_in_any_case() -> None:
    assert server.setup_line(server.parse_setup("SET:hbDf")) == "SET:BDFH"
    for line in ("SET:AAAA", "SET:ABC", "SET:ABCDE", "SET:ABCI", "SET:", "SET:AB C", "set:ABCD", "SET?", "",
                 "SET:ABCD\n", "SET:AB\u0421D", "MOV:A,N"):  # fmt: skip
        with pytest.raises(SetupError):
            server.parse_setup(line)


def test_moves_are_a_ghost_and_a_direction_in_any_case() -> None:
    for line in ("MOV:A,NORTH", "MOV:a,north", "MOV:A,N", "MOV:a,n"):
        assert server.parse_move(line) == (0, 0)
    assert [server.parse_move(f"MOV:H,{word}")[1] for word in "NEWS"] == [0, 1, 2, 3]
    for line in ("MOV:I,N", "MOV:,N", "MOV:AB,N", "MOV:A,", "MOV:A,NO", "MOV:A,UP", "MOV:A", "mov:A,N", " MOV:A,N", "",
                 "MOV:A,N ", "MOV:A,N\n", "SET:ABCD"):  # fmt: skip
        with pytest.raises(InvalidMoveError):
            server.parse_move(line)


def test_an_illegal_move_is_refused_with_the_reason() -> None:
    for line, why in (
        ("MOV:E,N", "another ghost of its own stands NORTH of \\(1, 5\\)"),
        ("MOV:E,S", "SOUTH of \\(1, 5\\) there is no square"),
    ):
        with pytest.raises(IllegalMoveError, match=why):
            server.legal_action(fresh(), line)
    board = played("MOV:A,N", "MOV:D,N", "MOV:A,N")
    with pytest.raises(IllegalMoveError, match="ghost D is captured"):
        server.legal_action(board, "MOV:D,N")
    to_the_exit = ["MOV:A,W", "MOV:A,N"] + ["MOV:A,N", "MOV:A,S", "MOV:A,N", "MOV:A,N"] * 2
    board = played(*to_the_exit, "MOV:H,E", "MOV:A,S")
    with pytest.raises(IllegalMoveError, match="ghost A on \\(0, 0\\) is red, and only blue ones leave the board"):
        server.legal_action(board, "MOV:A,W")
    board = played(*to_the_exit, first="EFGH", rules="escape=forced")
    with pytest.raises(IllegalMoveError, match="a ghost that can escape has to"):
        server.legal_action(board, "MOV:H,E")
    with pytest.raises(IllegalMoveError, match="no ghost of the player"):
        server.move_line(fresh(), 0)


def test_a_board_that_cannot_be_is_refused() -> None:
    for text, why in (
        (START[:-1], "48 characters, not 47"),
        (START.replace("14R", "64R"), "ghost A of a board is on x, y = '64'"),
        (START.replace("10u", "1xu"), "ghost h of a board is on x, y = '1x'"),
        (START.replace("10u", "17u"), "ghost h of a board"),
        (START.replace("14R", "14X"), "its colour is R, B, r, b or u, not 'X'"),
        (START.replace("14R", "99u"), "ghost A of a board is on x, y = '99'"),
        (START.replace("14R", "24R"), "two ghosts stand on one square"),
    ):
        with pytest.raises(NotationError, match=why):
            server.parse_board(text)
    for text in (START.replace("41u", "42u").replace("31u", "32u"), START.replace("41u", "43u")):
        with pytest.raises(NotationError, match="no single move of the opponent"):
            server.opponents_action(fresh(), 0, server.parse_board(text))


def test_colours_that_were_not_chosen_are_not_shown() -> None:
    text = server.board_text(fresh(), 0, reveal=True)
    assert server.without_colours(text, opponents=True) == START
    assert server.without_colours(START, opponents=False)[:24] == "14u24u34u44u15u25u35u45u"


def test_other_boards_have_no_words() -> None:
    server.check_game(game("geister", "paper"), "x")
    for name in ("geister-33a", "kuhn", "barrage"):
        with pytest.raises(ConfigurationError, match="knows the full board of 'geister' only"):
            server.check_game(game(name), "x")


def test_logs_name_players_and_the_winner_as_the_public_server_does() -> None:
    assert server.log_line(1, "MOV:D,N") == "player=1,MOV:D,N"
    assert [server.log_end(winner) for winner in (0, 1, None)] == ["winner=0", "winner=1", "winner=2"]
