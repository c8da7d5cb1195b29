"""The line protocol: its texts, both ways, its logs, and our agents in another program's manager."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban.agents.adapter import adapted
from vauban.agents.base import choose_move, set_up
from vauban.agents.external.stratego.agent import ExternalAgent
from vauban.agents.external.stratego.seen import SEEN_RULES, SeenGame
from vauban.agents.random import RandomAgent
from vauban.board.stratego import Battle, Board, Played, View
from vauban.cli.stratego.speaker import Speaker
from vauban.errors import ConfigurationError, InvalidMoveError, NotationError, SetupError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, SCOUT, SPY, TYPES
from vauban.games.stratego.setups import Row, random_setup
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.notation.records import read_games, write_game
from vauban.notation.stratego import ucc
from vauban.notation.stratego.moves import Move

CLASSIC = VARIANTS["classic"]
RED_ROWS = ["5B8B8B4B68", "78B939B195", "s499766593", "946727589F"]
BLUE_ROWS = ["8859576999", "8717524398", "749B86B9s5", "B6BFB369B4"]
ANSWERS = [
    "0 3 DOWN 3",
    "5 6 UP",
    "4 3 DOWN",
    "5 5 UP",
    "8 3 DOWN 2",
    "5 4 UP",
    "4 4 DOWN 1",
    "0 6 UP",
    "4 5 DOWN",
    "9 6 UP 3",
]
LOG = """\
./redbot.py RED SETUP
5B8B8B4B68
78B939B195
s499766593
946727589F
./bluebot.py BLUE SETUP
8859576999
8717524398
749B86B9s5
B6BFB369B4
1 RED: 0 3 DOWN 3 DIES 9 8
1 BLU: 5 6 UP OK
2 RED: 4 3 DOWN OK
2 BLU: 5 5 UP OK
3 RED: 8 3 DOWN 2 OK
3 BLU: 5 4 UP BOTHDIE 7 7
4 RED: 4 4 DOWN OK
4 BLU: 0 6 UP OK
5 RED: 4 5 DOWN KILLS 2 5
5 BLU: 9 6 UP 3 VICTORY_FLAG
Game ends on BLUE's turn - REASON: Captured the flag
./bluebot.py BLUE VICTORY 5 142 138
"""


def move_of(text: str, variant: Variant = CLASSIC) -> Move:
    answer = ucc.parse_answer(text)
    assert answer is not None
    return answer.move(variant) or pytest.fail(text)


def example(plies: int | None = None) -> Board:
    """Return the recorded game, so far."""
    board = Board.from_setups(ucc.parse_setup_rows(RED_ROWS, 0), ucc.parse_setup_rows(BLUE_ROWS, 1), rules="ucc")
    for text in ANSWERS[:plies]:
        board.push(move_of(text))
    return board


def random_game(seed: int, plies: int, rules: str = SEEN_RULES) -> Board:
    rng = random.Random(seed)
    board = Board.random("classic", seed, rules)
    for _ in range(plies):
        if board.is_over:
            break
        moves = list(board.legal_moves)
        strikes = [move for move in moves if board.piece_at(move.target) is not None]
        board.push(rng.choice(strikes if strikes and rng.random() < 0.3 else moves))
    return board


# ── Letters, setups, boards ──────────────────────────────────────────────────────────────────────


def test_letters_and_values_are_those_of_the_table() -> None:
    assert ucc.LETTERS[MARSHAL] == "1" and ucc.LETTERS[SCOUT] == "9" and ucc.LETTERS[SPY] == "s"
    assert (ucc.LETTERS[BOMB], ucc.LETTERS[FLAG]) == ("B", "F")
    assert [ucc.value(kind) for kind in range(len(TYPES))] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0]
    assert ucc.army_value() == 148


def test_the_setup_line_names_a_colour_an_opponent_and_the_board() -> None:
    assert ucc.setup_line(0, "./bluebot.py") == "RED ./bluebot.py 10 10"
    assert ucc.setup_line(1, "two words") == "BLUE ./two_words 10 10"
    assert len(ucc.setup_line(0, "x" * 500)) < 100
    assert ucc.parse_setup_line("BLUE ./red bot 10 10\r") == (1, "./red bot", CLASSIC)
    for wrong in ("", "GREEN x 10 10", "RED x", "RED x 8 8"):
        with pytest.raises(NotationError):
            ucc.parse_setup_line(wrong)


def test_reds_first_row_is_its_back_row_and_blues_its_front_row() -> None:
    red, blue = ucc.parse_setup_rows(RED_ROWS, 0), ucc.parse_setup_rows(BLUE_ROWS, 1)
    board = Board.from_setups(red, blue)
    assert str(board.piece_at("a1")) == "red Captain" and str(board.piece_at("j4")) == "red Flag"
    assert str(board.piece_at("a7")) == "blue Miner" and str(board.piece_at("d10")) == "blue Flag"


@given(st.integers(0, 2**32), st.sampled_from([0, 1]))
def test_setups_survive_the_way_to_rows_and_back(seed: int, player: int) -> None:
    setup = random_setup(CLASSIC, random.Random(seed))
    rows = ucc.setup_rows(setup, player)
    assert [len(row) for row in rows] == [10] * 4
    assert np.array_equal(ucc.parse_setup_rows(rows, player), setup)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (RED_ROWS[:3], "4 rows, not 3"),
        (["5B8B8B4B6", *RED_ROWS[1:]], "y=0, '5B8B8B4B6', has 9 characters instead of 10"),
        ([*RED_ROWS[:3], "946727589F\r"], "11 characters"),
        (["5B8B8B4B6S", *RED_ROWS[1:]], "'S' in setup row y=0"),
        (["5B8B8B4B6.", *RED_ROWS[1:]], "39 pieces.*1 Miner is missing"),
        (["5B8B8B4B69", *RED_ROWS[1:]], "9 Scouts, 1 too many; 1 Miner is missing"),
    ],
)
def test_a_wrong_setup_is_refused_with_the_reason(rows: list[str], sentence: str) -> None:
    with pytest.raises(SetupError, match=sentence):
        ucc.parse_setup_rows(rows, 0)


def test_the_board_shows_every_enemy_alike_even_a_known_one() -> None:
    assert ucc.board_rows(example(2), 0) == [
        "5B8B8B4B68", "78B939B195", "s499766593", ".46727589F", "..++..++..",
        "..++.#++..", "#####.####", "##########", "##########", "##########",
    ]  # fmt: skip
    assert ucc.board_rows(example(9), 1) == [
        "##########", "##########", "##########", ".###..##.#", "..++..++..",
        "8.++..++#.", ".859#.6999", "8717524398", "749B86B9s5", "B6BFB369B4",
    ]  # fmt: skip
    view = example(9).view(1)
    assert ucc.board_rows(view, 1) == ucc.board_rows(example(9), 1)
    assert ucc.parse_board_rows(ucc.board_rows(view, 1))[50] == "8"


# ── Answers and events ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("0 3 DOWN", Move(30, 40)),
        ("0 3 DOWN 3", Move(30, 60)),
        ("9 6 UP 3", Move(69, 39)),
        ("4 4 DOWN 1", Move(44, 54)),
        ("0 4 UP ", Move(40, 30)),
        ("0 4 UP\r", Move(40, 30)),
        ("0 4 UP 1 junk", Move(40, 30)),
        ("  0   4\tRIGHT 2\r", Move(40, 42)),
        ("5 5 LEFT 02", Move(55, 53)),
    ],
)
def test_answers_are_read_as_the_manager_reads_them(text: str, move: Move) -> None:
    assert move_of(text) == move


@pytest.mark.parametrize(
    "text", ["0 0 UP", "0 3 DOWN 0", "0 3 DOWN -1", "0 3 DOWN junk", "10 0 UP", "-1 0 UP", "0 3 DOWN 99"]
)
def test_what_leads_nowhere_is_an_answer_and_no_move(text: str) -> None:
    answer = ucc.parse_answer(text)
    assert answer is not None and answer.move() is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "NO_MOVE",
        "0 3 down",
        "0 3",
        "0 3 NORTH",
        "a b UP",
        "hello",
        "UP 0 3",
        "surrender",
        "SURRENDER ",
        "1.5 2 UP",
    ],
)
def test_rubbish_is_no_answer(text: str) -> None:
    with pytest.raises(InvalidMoveError):
        ucc.parse_answer(text)


def test_surrender_resigns() -> None:
    assert ucc.parse_answer("SURRENDER") is None


SQUARES = st.integers(0, 99)
MOVES = st.builds(
    lambda source, along, other: Move(source, 10 * (source // 10) + other if along else 10 * other + source % 10),
    SQUARES, st.booleans(), st.integers(0, 9),
).filter(lambda move: move.source != move.target)  # fmt: skip
KINDS = st.integers(0, 9)
BATTLES = st.none() | st.builds(Battle, KINDS, KINDS | st.just(BOMB), st.sampled_from("<>="))


@given(MOVES)
def test_moves_survive_the_way_to_words_and_back(move: Move) -> None:
    assert move_of(ucc.move_words(move)) == move


@given(st.text(max_size=40))
def test_any_text_is_an_answer_or_is_refused(text: str) -> None:
    try:
        answer = ucc.parse_answer(text)
    except InvalidMoveError:
        return
    assert answer is None or answer.direction in ucc.DIRECTIONS
    ucc.parse_event(text)


@given(MOVES, BATTLES, st.sampled_from(["", " 1", "\r", "  ", " 1 junk", " 1 OK", " 1 KILLS 3 4", " 1 so 5"]))
def test_events_survive_with_the_odd_words_of_bots_in_them(move: Move, battle: Battle | None, tail: str) -> None:
    words = ucc.move_words(move)
    words += tail if len(words.split()) == 3 else ""
    event = ucc.parse_event(ucc.event_line(Played(move, 0, battle), words))
    assert event.answer is not None and event.answer.move() == move
    assert event.outcome == ("OK" if battle is None else ucc.OUTCOMES[battle.result])
    assert event.shown == (None if battle is None else (battle.attacker, battle.defender))


@pytest.mark.parametrize(
    ("line", "outcome"),
    [("hello", None), ("NO_MOVE", None), ("", None), ("0 0 UP ILLEGAL", "ILLEGAL"), ("0 0 UP KILLS x 3", None)],
)
def test_a_line_without_an_outcome_is_an_event_of_nothing(line: str, outcome: str | None) -> None:
    assert ucc.parse_event(line).outcome == outcome


def test_the_events_of_the_recorded_game() -> None:
    lines = [ucc.event_line(played) for played in example().history]
    assert lines[0] == "0 3 DOWN 3 DIES 9 8" and lines[5] == "5 4 UP BOTHDIE 7 7"
    assert lines[8] == "4 5 DOWN KILLS 2 5" and lines[9] == "9 6 UP 3 VICTORY_FLAG"


# ── The end ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("end", "plies", "line"),
    [
        ("flag", 10, "./b BLUE VICTORY 5 142 138"),
        ("flag", 9, "./a RED VICTORY 5 142 138"),
        ("no_moves", 10, "./b BLUE VICTORY 5 142 138"),
        ("resigned", 10, "./a RED SURRENDER 6 142 138"),
        ("illegal", 11, "./b BLUE ILLEGAL 6 142 138"),
        ("time", 0, "./a RED ILLEGAL 1 142 138"),
        ("both_immobile", 10, "./b BLUE DRAW 5 142 138"),
        ("total_limit", 9998, "./b BLUE DRAW_DEFAULT 5000 142 138"),
    ],
)
def test_the_last_line_names_the_player_on_turn(end: str, plies: int, line: str) -> None:
    said = ucc.ending(end, plies, ("./a", "./b"), (142, 138))
    assert said.text == line
    assert ucc.parse_ending(f"QUIT {line}") == said == ucc.parse_ending(line)


# ── Logs ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_recorded_log_is_written_and_read() -> None:
    board = example()
    assert ucc.write_log(board, ("./redbot.py", "./bluebot.py")) == LOG
    game = ucc.read_log(LOG)
    assert (game.result, game.end, game.headers) == ("0-1", "flag", {"Red": "./redbot.py", "Blue": "./bluebot.py"})
    assert game.board is not None and game.board.history == board.history
    [again] = read_games(write_game(game.board, game.headers))
    assert again.result == "0-1" and again.moves == game.moves


def test_a_log_with_a_bots_own_words_and_two_ends_is_read_by_the_first() -> None:
    text = LOG.replace("4 RED: 4 4 DOWN OK", "4 RED: 4 4 DOWN 1 OK").replace("\n./bluebot.py BLUE VICTORY", "")
    text = text.replace(
        " 5 142 138\n", "\nGame ends on BLUE's turn - REASON: Unintelligable response\n./b BLUE ILLEGAL 5 1 1\n"
    )
    assert ucc.read_log(text).end == "flag"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("DIES 9 8", "KILLS 9 8", "line 11: .* should end with 'DIES 9 8'"),
        ("5 5 UP OK", "5 4 UP OK", "line 14"),
        ("2 BLU", "2 RED", "should be move '2 BLU"),
        ("BLUE's turn - REASON: Captured the flag", "RED's turn - REASON: Captured the flag", "on the board"),
        ("REASON: Captured the flag", "REASON: Draw by turns", "on the board"),
        ("142 138", "142 139", "count 142 and 139"),
        ("946727589F", "94672758FF", "line 2"),
        ("./bluebot.py BLUE SETUP\n8859576999", "./bluebot.py BLUE SETUP\nINVALID!", "was refused"),
        ("Game ends", "Gamme ends", "is no move and no end"),
    ],
)
def test_a_log_that_contradicts_the_rules_is_refused(old: str, new: str, sentence: str) -> None:
    assert old in LOG
    with pytest.raises(NotationError, match=sentence):
        ucc.read_log(LOG.replace(old, new))


@pytest.mark.parametrize("end", ["resigned", "time", "illegal"])
def test_an_end_that_no_board_shows_is_believed(end: str) -> None:
    board = example(5)
    game = ucc.read_log(ucc.write_log(board, result="1-0", end=end))
    assert (game.result, game.end) == ("1-0", end) and game.board is not None and game.board.plies == 5
    with pytest.raises(NotationError, match="player on turn loses"):
        ucc.write_log(board, result="0-1", end=end)


def test_an_illegal_move_in_a_log_is_not_played() -> None:
    lines = LOG.splitlines()[:15]
    text = "\n".join(
        [*lines, "3 BLU: 0 9 UP ILLEGAL", "Game ends on BLUE's turn - REASON: Selected piece is not mobile"]
    )
    game = ucc.read_log(text)
    assert (game.result, game.end) == ("1-0", "illegal") and game.board is not None and game.board.plies == 5


@pytest.mark.parametrize(
    ("last", "end"),
    [
        (["3 BLU: SURRENDER OK", "Game ends on BLUE's turn - REASON: This player has surrendered!"], "resigned"),
        (["3 BLU: ", "Game ends on BLUE's turn - REASON: Response timeout after 2.000000 seconds."], "time"),
        (["3 BLU: NO_MOVE", "Game ends on BLUE's turn - REASON: Unintelligable response"], "illegal"),
        (
            ["3 BLU: SIGPIPE - Broken pipe (AI program no longer running)", "\tStrange; BLUE still appears valid.",
             "\tRED also appears valid. Exiting with ERROR.",
             "Game ends on BLUE's turn - REASON: Internal controller error - Unspecified ERROR"],
            "unfinished",
        ),
    ],
)  # fmt: skip
def test_the_ways_in_which_the_manager_breaks_a_log_off_are_known(last: list[str], end: str) -> None:
    game = ucc.read_log("\n".join([*LOG.splitlines()[:15], *last]) + "\n")
    assert (game.result, game.end) == ("*" if end == "unfinished" else "1-0", end)
    assert game.board is not None and game.board.plies == 5


def test_a_log_may_end_by_the_last_movable_piece_falling_in_its_own_attack() -> None:
    # Red's last movable piece strikes a Marshal: there blue has won at once, here blue must move once more.
    pieces = {0: (0, FLAG), 55: (0, 2), 65: (1, MARSHAL), 99: (1, FLAG)}
    board = Board.from_pieces(pieces, "classic", "ucc cannot_move=eager")
    board.push(Move(55, 65))
    outcome = board.outcome()
    assert outcome is not None and (outcome.winner, outcome.end) == (1, "no_moves")
    slow = Board.from_pieces(pieces, "classic", "ucc")
    slow.push(Move(55, 65))
    assert not slow.is_over


@given(st.integers(0, 10**6), st.integers(1, 300))
@settings(max_examples=15, deadline=None)
def test_logs_of_games_survive_writing_and_reading(seed: int, plies: int) -> None:
    board = random_game(seed, plies, f"ucc total_limit={plies}")
    game = ucc.read_log(ucc.write_log(board))
    assert game.board is not None and game.board.history == board.history
    outcome = board.outcome()
    assert outcome is not None and game.end == outcome.end


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_described_in_the_line_that_asks_for_a_setup(name: str) -> None:
    variant = VARIANTS[name]
    player, opponent, asked = ucc.parse_setup_line(ucc.setup_line(1, "some bot", variant))
    assert (player, opponent) == (1, "./some_bot") and (asked.place, asked.army) == (variant.place, variant.army)
    assert len(ucc.setup_line(1, "x" * 500, variant)) < 250
    rng = random.Random(3)
    for side in (0, 1):
        setup = random_setup(variant, rng)
        rows = ucc.setup_rows(setup, side, variant)
        assert (ucc.parse_setup_rows(rows, side, variant) == setup).all()


def test_a_line_for_another_board_is_as_the_page_shows_it() -> None:
    line = "RED ./bot 8 8 SETUP 3 ARMY 1=1 2=1 8=2 9=2 s=1 B=2 F=1 LAKES 2,3 5,3 2,4 5,4"
    assert ucc.setup_line(0, "./bot", VARIANTS["duel"]) == line
    assert ucc.parse_setup_line(f"{line} CLOCK 2")[2].army == VARIANTS["duel"].army, "later words are for later days"
    beside = line.replace("2,4 5,4", "10,3 13,3")  # counted on from the end of a row, they would be the same squares
    for wrong in (
        "RED ./bot 6 6",
        f"{line[:20]} ARMY 1=1",
        line.replace("F=1", "F=2"),
        line.replace("5,4", "9,9"),
        beside,
    ):
        with pytest.raises(NotationError):
            ucc.parse_setup_line(wrong)


@pytest.mark.parametrize("name", ["barrage", "medium", "tiny"])
def test_moves_and_events_of_every_board_are_read_back(name: str) -> None:
    variant, board = VARIANTS[name], Board.random(name, 4)
    while not board.is_over and board.plies < 40:
        played = board.push(board.legal_moves[board.plies % len(board.legal_moves)])
        event = ucc.parse_event(ucc.event_line(played, variant=variant))
        assert event.answer is not None and event.answer.move(variant) == played.move
        rows = ucc.board_rows(board, board.turn)
        assert set(ucc.parse_board_rows(rows, variant)) == set(board.pieces())


def test_other_games_are_not_written_as_logs() -> None:
    with pytest.raises(NotationError, match="classic games"):
        ucc.write_log(Board.random("barrage", 1))


# ── A game of which one side is seen ─────────────────────────────────────────────────────────────


def own_setup(board: Board, player: int) -> Row:
    """Return a player's setup, from the board at its start."""
    row = np.zeros(40, np.int8)
    for piece in board.start_position().pieces:
        if piece.player == player and piece.kind is not None:
            row[piece.square if player == 0 else 99 - piece.square] = 1 + piece.kind
    return row


def same_view(one: View, other: View) -> bool:
    """Return whether two views are equal in every bit of their records, and in all their answers."""
    room = one.game.format(plies=2000)
    parts = zip(one.snapshot(room).store, other.snapshot(room).store, strict=True)
    return (
        all(bool((mine == yours).all()) for mine, yours in parts)
        and one.text == other.text
        and list(one.legal_moves) == list(other.legal_moves)
        and one.hidden_types() == other.hidden_types()
        and one.history == other.history
    )


@given(st.integers(0, 10**6), st.sampled_from([0, 1]))
@settings(max_examples=8, deadline=None)
def test_what_is_followed_by_events_is_the_very_view_of_the_true_board(seed: int, player: int) -> None:
    true = random_game(seed, 400)
    moves = [played.move for played in true.history]
    if true.is_over:
        moves.pop()
    seen = SeenGame(player, own_setup(true, player))
    board = Board.from_position(true.start_position(), "classic", SEEN_RULES)
    for ply, move in enumerate(moves):
        if board.turn == player and (ply < 4 or ply % 7 in (0, 1)):
            assert same_view(seen.view(), board.view(player)), f"ply {ply}"
            assert seen.agrees(ucc.board_rows(board, player))
        seen.saw(ucc.parse_event(ucc.event_line(board.push(move))))


def test_a_blocked_looking_enemy_has_a_move_after_all() -> None:
    # Whatever types are dealt to the enemy, it must be able to make its move, and the game goes on.
    for seed in range(8):
        true = random_game(seed, 3)
        seen = SeenGame(1, own_setup(true, 1))
        for played in true.history:
            seen.saw(ucc.parse_event(ucc.event_line(played)))
        assert len(seen.view().legal_moves)


@pytest.mark.parametrize("player", [0, 1])
def test_a_lost_thread_is_found_again_on_the_board_that_is_shown(player: int) -> None:
    true = random_game(3, 120 + player)
    seen = SeenGame(player, own_setup(true, player))
    for played in true.history[:80]:
        seen.saw(ucc.parse_event(ucc.event_line(played)))
    known = (
        {square: piece.kind for square, piece in seen.view().pieces(1 - player).items() if piece.kind is not None}
        if player == 0
        else {}
    )
    rows = ucc.board_rows(true, player)
    seen.look_again(rows)
    assert seen.agrees(rows) and len(seen.view().legal_moves)
    assert list(seen.view().legal_moves) == list(true.view(player).legal_moves)
    still = {square for square in known if (piece := true.piece_at(square)) is not None and piece.player != player}
    shown = seen.view().pieces(1 - player)
    assert all(shown[square].kind is not None for square in still if rows[square // 10][square % 10] == "#")


# ── Our agents in another program's manager ──────────────────────────────────────────────────────


class Scripted:
    """Sets up and moves as it is told."""

    name = "scripted"

    def __init__(self, setup: Row, moves: list[Move]) -> None:
        self.setup, self.moves = setup, iter(moves)
        self.views: list[View] = []
        self.heard: list[Played] = []
        self.closed = False

    def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> Row:
        return self.setup

    def choose_move(self, view: View) -> Move | None:
        self.views.append(view)
        return next(self.moves, None)

    def told(self, played: Played) -> None:
        self.heard.append(played)

    def close(self) -> None:
        self.closed = True


class Manager(io.StringIO):
    """The other end of the pipes: writes lines, and keeps the answers, which must have been flushed."""

    def __init__(self, lines: Iterator[str]) -> None:
        super().__init__()
        self.answers = io.StringIO()
        self.flushed = 0
        self.answers.flush = self._flush  # type: ignore[method-assign]
        self._lines = lines

    def _flush(self) -> None:
        self.flushed = self.answers.tell()

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        assert self.flushed == self.answers.tell(), "an answer was not flushed"
        return next(self._lines, "")


def manager_lines(player: int) -> Iterator[str]:
    """Yield all lines that a player was sent in the recorded game, byte for byte."""
    yield f"{ucc.COLOURS[player]} {('./bluebot.py', './redbot.py')[player]} 10 10\n"
    board = example(0)
    if player == 0:
        yield "START\n"
    for text in ANSWERS:
        if board.turn == player:
            yield from (f"{row}\n" for row in ucc.board_rows(board, player))
        played = board.push(move_of(text))
        if not board.is_over:
            yield f"{text} {ucc.outcome_words(played.battle)}\n"
    yield "QUIT ./bluebot.py BLUE VICTORY 5 142 138\n"


@pytest.mark.parametrize("player", [0, 1])
def test_the_recorded_game_is_played_again_by_an_agent_of_ours(player: int, capsys: pytest.CaptureFixture[str]) -> None:
    rows = (RED_ROWS, BLUE_ROWS)[player]
    own = ANSWERS[player::2]
    agent = Scripted(ucc.parse_setup_rows(rows, player), [move_of(text) for text in own])
    manager = Manager(manager_lines(player))
    Speaker(adapted(agent), 1, manager, manager.answers).run()
    assert manager.answers.getvalue().splitlines() == [*rows, *(text.removesuffix(" 1") for text in own)]
    assert agent.closed and not capsys.readouterr().err
    assert [view.plies for view in agent.views] == list(range(player, 10, 2))
    assert agent.heard == example().history[: 8 + player]
    true = Board.from_position(example(0).position(), "classic", SEEN_RULES)
    for text in ANSWERS[: 8 + player]:
        true.push(move_of(text))
    assert same_view(agent.views[-1], true.view(player))


def play_with(
    agent: Scripted | RandomAgent,
    player: int,
    edit: Callable[[int, str], str] = lambda ply, line: line,
    plies: int = 60,
    variant: Variant = CLASSIC,
) -> tuple[Board, Manager]:
    """Play a game that a manager of the test runs between an agent behind the protocol and a random mover."""
    other = RandomAgent(9)

    def lines() -> Iterator[str]:
        yield f"{ucc.setup_line(player, './them', variant)}\n"
        own = ucc.parse_setup_rows(manager.answers.getvalue().splitlines(), player, variant)
        setups = [own, own]
        setups[1 - player] = set_up(other, Stratego(variant), 1 - player, random.Random(4))
        board = Board.from_setups(setups[0], setups[1], variant, SEEN_RULES)
        boards.append(board)
        news = "START\n"
        while not board.is_over and board.plies < plies:
            if board.turn == player:
                yield edit(board.plies, news)
                yield from (f"{row}\n" for row in ucc.board_rows(board, player))
                text = manager.answers.getvalue().splitlines()[-1]
                if text == "SURRENDER":
                    yield "QUIT me RED SURRENDER 1 1 1\n"
                    return
                yield ucc.event_line(board.push(move_of(text, variant)), text) + "\n"
            else:
                news = ucc.event_line(board.push(choose_move(other, board.view(board.turn))), None, variant) + "\n"

    boards: list[Board] = []
    manager = Manager(lines())
    Speaker(adapted(agent), 1, manager, manager.answers, variant).run()
    return boards[0], manager


@pytest.mark.parametrize("player", [0, 1])
def test_an_agent_plays_long_without_ever_losing_the_thread(player: int, capsys: pytest.CaptureFixture[str]) -> None:
    play_with(RandomAgent(3), player, plies=4)
    capsys.readouterr()  # compiling, which is announced where it takes long
    board, _ = play_with(RandomAgent(3), player, plies=500)
    assert board.plies == 500 or board.is_over
    assert not capsys.readouterr().err


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["barrage", "duel", "tiny"])
def test_it_keeps_the_thread_on_every_board(name: str, player: int, capsys: pytest.CaptureFixture[str]) -> None:
    variant = VARIANTS[name]
    play_with(RandomAgent(3), player, plies=4, variant=variant)
    capsys.readouterr()  # compiling, which is announced where it takes long
    board, _ = play_with(RandomAgent(3), player, plies=120, variant=variant)
    assert board.plies >= 120 or board.is_over
    assert not capsys.readouterr().err


def test_another_board_than_the_one_it_was_started_for_is_refused() -> None:
    manager = Manager(iter([f"{ucc.setup_line(0, './them', VARIANTS['tiny'])}\n"]))
    with pytest.raises(ConfigurationError, match=r"another board or army than that of 'classic'.*--game"):
        Speaker(RandomAgent(1), 1, manager, manager.answers).run()


@pytest.mark.parametrize("player", [0, 1])
def test_events_that_cannot_be_read_do_not_stop_it(player: int, capsys: pytest.CaptureFixture[str]) -> None:
    odd = {
        player: "hello\n",
        10: "hello\n",
        11: "\n",
        20: "0 0 UP ILLEGAL\n",
        21: "5 5 UP KILLS 1 F\n",
        30: "\x00\xff\n",
        31: "9 9 DOWN OK\n",
    }
    board, _ = play_with(RandomAgent(3), player, lambda ply, line: odd.get(ply, line))
    assert board.plies >= 60 or board.is_over
    assert capsys.readouterr().err.count("Going on from the board that is shown") >= 3


def test_an_echo_of_another_move_does_not_stop_it(capsys: pytest.CaptureFixture[str]) -> None:
    whole = list(manager_lines(0))
    echo = next(place for place, line in enumerate(whole) if line.startswith(ANSWERS[0]))
    whole[echo] = "9 9 UP KILLS 1 2\n"
    agent = Scripted(ucc.parse_setup_rows(RED_ROWS, 0), [move_of(text) for text in ANSWERS[::2]])
    manager = Manager(iter(whole))
    Speaker(adapted(agent), 1, manager, manager.answers).run()
    assert len(agent.views) == 5
    said = capsys.readouterr().err
    assert "Waiting for the next board" in said and "Going on from the board that is shown" in said


@pytest.mark.parametrize("rows", [["##########"] * 10, ["##########"] * 5 + [".........."] * 5])
def test_a_board_that_cannot_be_is_a_mistake_of_the_manager(rows: list[str]) -> None:
    lines = ["RED ./them 10 10\n", "START\n", *(f"{row}\n" for row in rows)]
    manager = Manager(iter(lines))
    with pytest.raises(NotationError, match="more than the army has"):
        Speaker(RandomAgent(1), 1, manager, manager.answers).run()


def test_it_resigns_and_waits_to_be_told_to_quit() -> None:
    _, manager = play_with(Scripted(ucc.parse_setup_rows(RED_ROWS, 0), []), 0)
    assert manager.answers.getvalue().splitlines()[-1] == "SURRENDER"
    assert next(manager._lines, None) is None


def test_it_quits_at_every_moment() -> None:
    whole = list(manager_lines(0))
    for length in range(len(whole)):
        agent = Scripted(ucc.parse_setup_rows(RED_ROWS, 0), [move_of(text) for text in ANSWERS[::2]])
        manager = Manager(iter([*whole[:length], *(["QUIT x RED DRAW 1 1 1\n"] if length % 2 else [])]))
        Speaker(adapted(agent), 1, manager, manager.answers).run()
        assert agent.closed


OURS = "import typer; from vauban.cli.stratego.bots import bot; typer.run(bot)"


def test_our_agents_play_each_other_through_both_ends_of_the_protocol() -> None:
    """A whole game between two processes of ours, each of which knows only what the manager tells it."""
    command = [sys.executable, "-c", OURS, "random"]
    bots = [ExternalAgent(command, seed, seconds=60.0, start_seconds=60.0) for seed in (1, 2)]
    plain = [RandomAgent(1), RandomAgent(2)]
    setups = [set_up(agent, Stratego(CLASSIC), player, random.Random()) for player, agent in enumerate(bots)]
    board = Board.from_setups(setups[0], setups[1], rules="ucc total_limit=300")
    try:
        while not board.is_over:
            view = board.view(board.turn)
            move = choose_move(bots[board.turn], view)
            assert move is not None and move == choose_move(plain[board.turn], view)
            played = board.push(move)
            for agent in bots:
                agent.told(played)
    finally:
        for agent in bots:
            agent.close()
    assert board.outcome() is not None
    assert not any("Going on from" in agent.stderr for agent in bots)


def test_a_line_that_asks_for_no_setup_is_a_mistake_of_the_caller() -> None:
    done = subprocess.run([sys.executable, "-c", OURS, "random"], input="hello\n", text=True, capture_output=True)
    assert done.returncode != 0 and "does not ask for a setup" in done.stderr
