"""Formats of others: board strings with action numbers, and the Gravon archive (hand-made files only)."""

from __future__ import annotations

import json
import os
import random
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban import notation
from vauban.board import Board
from vauban.errors import ConfigurationError, NotationError
from vauban.games.stratego.pieces import FLAG, MARSHAL, SCOUT
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.formats import to_notation
from vauban.notation.records import read_games, write_game
from vauban.notation.stratego import gravon
from vauban.notation.stratego.gravon import (
    COLUMNS,
    GravonCalibrationError,
    GravonFormatError,
    Hypothesis,
    calibrate,
    import_gravon,
    parse_gravon,
)
from vauban.notation.stratego.moves import Move
from vauban.notation.stratego.position import PlacedPiece
from vauban.notation.stratego.strados import (
    action_number,
    parse_action,
    parse_strados_board,
    read_strados,
    strados_board_text,
    strados_text,
)
from vauban.notation.stratego.ucc import write_log

RANDOM = st.randoms(use_true_random=False)
RULES_OFF = gravon.RULES

# ── Board strings and action numbers ─────────────────────────────────────────────────────────────

START = "EGBDBDBDBMELFEEFDJIBIHCDDFGDGEKHJHHDIFGBaa__aa__aaaa__aa__aaPTPSPTWVTPPSVOQRPPPSUXNQNRQNQURRSYNQTUNN"


def play(board: Board, rng: random.Random, plies: int) -> Board:
    for _ in range(plies):
        if board.is_over:
            break
        board.push(rng.choice(board.legal_moves))
    return board


def test_the_board_string_of_the_protocols_4_is_a_complete_start():
    position = parse_strados_board(START)
    assert position.pieces[9] == PlacedPiece(9, 0, FLAG, False, False)
    assert position.pieces[11] == PlacedPiece(11, 0, MARSHAL, False, False)
    assert strados_board_text(position) == START
    assert parse_strados_board(START.lower().replace("a", "A")) == position
    assert len(strados_board_text(position, marks=True)) == 200


@pytest.mark.parametrize(
    ("action", "player", "move"), [(338, 0, (38, 48)), (530, 1, (69, 39)), (1425, 0, (25, 26)), (1637, 0, (37, 38))]
)
def test_action_numbers_as_in_the_rules_4_2_and_the_protocols_4(action, player, move):
    assert parse_action(action, player) == move
    assert action_number(Move(*move), player) == action


@given(st.integers(0, 1799), st.sampled_from([0, 1]))
def test_every_action_number_is_a_move_and_back(action, player):
    assert action_number(parse_action(action, player), player) == action


@given(RANDOM, st.sampled_from(["classic", "barrage"]), st.integers(0, 60))
@settings(max_examples=25, deadline=None)
def test_a_game_in_action_numbers_is_read_back_as_it_was_written(rng, variant, plies):
    board = play(Board.random(variant, rng.randrange(2**32)), rng, plies)
    text = strados_text(board)
    again = read_strados(text)
    assert again == board
    assert again.history == board.history
    assert strados_text(again) == text


@given(RANDOM)
@settings(max_examples=25, deadline=None)
def test_marks_of_200_characters_are_read_back(rng):
    position = play(Board.random("barrage", rng.randrange(2**32)), rng, 40).position()
    text = strados_board_text(position, marks=True)
    assert parse_strados_board(text).pieces == position.pieces
    assert strados_board_text(parse_strados_board(text), marks=True) == text


def test_a_start_with_marks_is_written_with_200_characters():
    text = "".join(letter + "@" for letter in START)
    moved = text[:20] + "e." + text[22:]
    board = read_strados(moved + "\n338\n530\n")
    assert board.piece_at(10).moved and board.piece_at(10).revealed
    assert strados_text(board) == moved + "\n338\n530\n"


def test_artificial_boards_are_free_setups_on_the_classic_board():
    empty = ["a"] * 100
    for lake in VARIANTS["classic"].lakes:
        empty[lake] = "_"
    empty[0], empty[99], empty[30], empty[69] = "M", "Y", "L", "P"
    board = read_strados("".join(empty) + "\n330\n530")
    assert board.variant.name == "classic"
    assert [board.variant.square_name(played.move.target) for played in board.history] == ["a5", "j4"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the text is empty"),
        (START[:-1], "exactly 100 or 200 characters, not 99"),
        (START + "a", "exactly 100 or 200 characters, not 101"),
        (START.replace("L", "Z"), "'Z' in cell 11 (b2) of the board string is no piece"),
        (START.replace("L", "é"), "'é' in cell 11 (b2)"),
        (START.replace("L", "_"), "'_' in cell 11 (b2) of the board string: '_' stands on the lakes and nowhere else"),
        (START.replace("_", "a", 1), "'a' in cell 42 (c5)"),
        (START * 2, "'G' after the letter of cell 0 (a1) of the board string is no mark"),
        ("".join(letter + "." for letter in START), "cell 2 (c1) of the board string has a red Bomb that has moved"),
        (START.replace("M", "B").replace("Y", "N"), "line 1: each side has exactly one Flag"),
        (START + "\nhello", "line 2: 'hello' is no action number (0 to 1799)"),
        (START + "\n-5", "line 2: '-5' is no action number"),
        (START + "\n1800", "line 2: action 1800: action numbers go from 0 to 1799, not 1800"),
        (START + "\n338\n0", "line 3: action 0: j10j9 is not legal"),
        (START + "\n\n338", "line 2: '' is no action number"),
    ],
)
def test_a_board_string_that_cannot_be_read_is_refused_with_the_line(text, sentence):
    with pytest.raises(NotationError) as error:
        read_strados(text)
    assert sentence in str(error.value)


@given(st.text(max_size=250) | st.text("aABCDM_Y.@\n0123456789", max_size=250))
@settings(deadline=None)
def test_any_text_is_a_board_string_or_a_notation_error(text):
    for each in (text, START + "\n" + text):
        try:
            read_strados(each)
        except NotationError:
            continue


def test_what_a_board_string_cannot_hold_is_not_written():
    with pytest.raises(NotationError, match="the classic board only"):
        strados_text(Board.random("tiny", 1))
    middle = play(Board.random("barrage", 3), random.Random(3), 5)
    with pytest.raises(NotationError, match="begins with blue"):
        strados_text(Board.from_position(middle.position(), "barrage"))
    middle.push(middle.legal_moves[0])
    with pytest.raises(NotationError, match="began in mid-game"):
        strados_text(Board.from_position(middle.position(), "barrage"))
    with pytest.raises(NotationError, match="no letter for a hidden piece"):
        strados_board_text(middle.view(0).position())


def test_recorded_games_survive_as_action_numbers():
    """The published games, where the folder with them is at hand."""
    folder = Path(os.environ.get("VAUBAN_VECTORS", Path(__file__).parents[3] / "shared" / "vectors"))
    if not (folder / "chase_games.jsonl").exists():
        pytest.skip(f"no recorded games in {folder}")
    lines = (folder / "chase_games.jsonl").read_text().splitlines()
    for line in (lines[0], lines[-1]):
        game = json.loads(line)
        board = Board.from_setups(game["red"], game["blue"], game["army"], game["rules"])
        for move in game["moves"]:
            board.push(Move(*move))
        assert read_strados(strados_text(board), game["army"], game["rules"]) == board


# ── Gravon: hand-made files in the probable layout ───────────────────────────────────────────────


def square_of(square: int, way: Hypothesis, turned: bool) -> str:
    """Return our square under the name that a file would give it."""
    index = 99 - square if turned else square
    row, column = divmod(index, 10)
    row = row if way.row_1_first else 9 - row
    column = column if way.column_a_first else 9 - column
    return f"{COLUMNS[column]}{row + 1}"


PROBABLE = Hypothesis(row_1_first=True, column_a_first=True, b_to_m_begins=True)


def xml(board: Board, way: Hypothesis = PROBABLE, turned: bool = False, result: str = "") -> str:
    """Return a board's game as a file, written one of the eight ways; `turned`: the first mover ends the string."""
    letters = strados_board_text(board.start_position())
    if not way.b_to_m_begins:
        letters = "".join(_other_side(letter) for letter in letters)
    content = letters[::-1] if turned else letters
    moves = "".join(
        f'<move id="{number}" source="{square_of(played.move.source, way, turned)}" '
        f'target="{square_of(played.move.target, way, turned)}"/>\n'
        for number, played in enumerate(board.history, 1)
    )
    return f'<?xml version="1.0"?>\n<gravon><game><field content="{content}"/>\n{moves}{result}</game></gravon>'


def _other_side(letter: str) -> str:
    if letter in "aA_":
        return letter
    return chr(ord(letter) + (12 if letter <= "M" else -12))


def archive(folder: Path, texts: list[str]) -> Path:
    for number, text in enumerate(texts):
        (folder / f"classic-{number:03}.xml").write_text(text, encoding="utf-8")
    return folder


def random_games(count: int, plies: int = 40, variant: str = "classic", seed: int = 1) -> list[Board]:
    rng = random.Random(seed)
    return [play(Board.random(variant, rng.randrange(2**32), RULES_OFF), rng, plies) for _ in range(count)]


GAMES = random_games(8)


@pytest.mark.parametrize(("way", "turned"), list(product(gravon.HYPOTHESES, [False, True])))
def test_the_orientation_of_an_archive_is_found_out_whichever_it_is(tmp_path, way, turned):
    report = import_gravon([archive(tmp_path, [xml(board, way, turned) for board in GAMES])])
    assert report.hypothesis == way
    assert (report.accepted, report.prefixes, report.refused) == (8, 0, {})
    for game, board in zip(report.games, GAMES, strict=True):
        [read] = read_games(game.text)
        assert read.board.history == board.history
        assert read.board.start_position() == board.start_position()
        assert (game.result, game.complete, read.end) == ("unknown", False, "unfinished")


def test_barrage_games_are_imported_as_barrage(tmp_path):
    report = import_gravon([archive(tmp_path, [xml(board) for board in random_games(5, variant="barrage")])])
    assert {read_games(game.text)[0].variant.name for game in report.games} == {"barrage"}


def test_games_that_replay_in_no_way_stop_the_import_with_eight_scores(tmp_path):
    texts = [xml(board).replace('source="', 'source="K1" was="') for board in GAMES]
    with pytest.raises(GravonCalibrationError) as error:
        import_gravon([archive(tmp_path, texts)])
    assert str(error.value).count("0 of 8  row 1 is the ") == 8
    assert len(error.value.scores) == 8


def test_an_archive_of_two_orientations_is_not_accepted():
    mixed = [xml(board, Hypothesis(True, number % 2 == 0, True)) for number, board in enumerate(GAMES)]
    with pytest.raises(GravonCalibrationError):
        calibrate([parse_gravon(text.encode()) for text in mixed])


def test_one_bad_game_in_twenty_is_tolerated_and_two_are_not():
    games = [parse_gravon(xml(board).encode()) for board in random_games(20, plies=12, seed=5)]
    games[0].moves[-1] = ("A1", "A1")
    assert calibrate(games)[0] == PROBABLE
    games[1].moves[-1] = ("A1", "A1")
    with pytest.raises(GravonCalibrationError):
        calibrate(games)


def won_game(seed: int = 11, winner: int = 0) -> Board:
    """Return a game that ends with the Flag being taken by the winner."""
    rng = random.Random(seed)
    while True:
        board = Board.random("barrage", rng.randrange(2**32), RULES_OFF)
        while not board.is_over and len(board.history) < 400:
            catch = [
                move
                for move in board.legal_moves
                if board.turn == winner and (piece := board.piece_at(move.target)) is not None and piece.kind == FLAG
            ]
            board.push(rng.choice(catch or board.legal_moves))
        outcome = board.outcome()
        if outcome is not None and (outcome.end, outcome.winner) == ("flag", winner):
            return board


def import_one(folder: Path, text: str, **options: object):
    """Import one file beside eight that settle the orientation."""
    archive(folder, [xml(board) for board in GAMES])
    (folder / "the-file.xml").write_text(text, encoding="utf-8")
    # Twelve good files more, so that a bad one stays below one in twenty.
    for number in range(3):
        for copy, board in enumerate(GAMES):
            (folder / f"more-{number}-{copy}.xml").write_text(xml(board), encoding="utf-8")
    report = import_gravon([folder], **options)
    mine = [game for game in report.games if game.file == "the-file.xml"]
    refusals = [error for error in report.refusals if error.file == "the-file.xml"]
    assert len(mine) + len(refusals) == 1
    assert report.files == 33 == report.accepted + report.prefixes + len(report.refusals)
    return report, (mine or refusals)[0]


@pytest.mark.parametrize("winner", [0, 1])
def test_if_the_board_shows_the_end_the_board_decides(tmp_path, winner):
    board = won_game(winner=winner)
    _, game = import_one(tmp_path, xml(board, result=f'<result type="4" winner="{winner}"/>'))
    assert (game.complete, game.result) == (True, ("1-0", "0-1")[winner])
    assert read_games(game.text)[0].end == "flag"
    assert '[Complete "true"]' in game.text


def test_if_the_side_n_to_y_moves_first_it_is_red_and_its_number_is_1(tmp_path):
    way = Hypothesis(row_1_first=True, column_a_first=True, b_to_m_begins=False)
    texts = [xml(board, way) for board in GAMES] + [xml(won_game(), way, result='<result type="4" winner="1"/>')]
    report = import_gravon([archive(tmp_path, texts)])
    assert (report.hypothesis, report.accepted, report.games[-1].result) == (way, 9, "1-0")


def test_a_winner_whom_the_board_contradicts_is_refused(tmp_path):
    _, error = import_one(tmp_path, xml(won_game(), result='<result type="4" winner="1"/>'))
    assert error.reason == "the winner contradicts the board"
    assert "winner '1' means 0-1, the board shows 1-0 by flag" in str(error)


def test_a_winner_that_means_nothing_known_is_not_compared_with_the_board(tmp_path):
    _, game = import_one(tmp_path, xml(won_game(), result='<result type="4" winner="x"/>'))
    assert game.result == "1-0"


TABLE = {"3": ("resigned", {"0": "first", "1": "second"}), "5": ("agreed", {"-1": "draw"}), "9": ("unfinished", {})}


@pytest.mark.parametrize(
    ("result", "expected", "end"),
    [
        ("", "unknown", "unfinished"),
        ('<result type="3" winner="0"/>', "1-0", "resigned"),
        ('<result type="3" winner="1"/>', "0-1", "resigned"),
        ('<result type="5" winner="-1"/>', "1/2-1/2", "agreed"),
        ('<result type="9" winner="0"/>', "unknown", "unfinished"),
        ('<result type="7" winner="0"/>', "unknown", "unfinished"),
    ],
)
def test_a_result_table_says_what_the_codes_mean(tmp_path, result, expected, end):
    _, game = import_one(tmp_path, xml(GAMES[0], result=result), result_table=TABLE)
    assert (game.result, game.complete) == (expected, False)
    assert read_games(game.text)[0].end == end


def test_without_a_table_the_result_of_an_unfinished_board_is_unknown(tmp_path):
    _, game = import_one(tmp_path, xml(GAMES[0], result='<result type="3" winner="0"/>'))
    assert game.result == "unknown"


@pytest.mark.parametrize(
    ("result", "table", "reason"),
    [
        ('<result type="3" winner="8"/>', TABLE, "the result table does not know this winner"),
        ('<result type="3"/>', TABLE, "the result table does not know this winner"),
        ('<result type="1" winner="0"/>', {"1": ("flag", {"0": "first"})}, "the type means 'flag', and on the board"),
        ('<result type="1" winner="0"/>', {"1": ("agreed", {"0": "first"})}, "the result 1-0 does not go with the end"),
    ],
)
def test_a_result_that_the_table_does_not_explain_is_refused(tmp_path, result, table, reason):
    _, error = import_one(tmp_path, xml(GAMES[0], result=result), result_table=table)
    assert reason in error.reason


def test_a_result_table_with_unknown_words_is_refused():
    with pytest.raises(ConfigurationError, match="'resign' is no End: did you mean 'resigned'?"):
        import_gravon([], result_table={"1": ("resign", {})})
    with pytest.raises(ConfigurationError, match="means 'first', 'second' or 'draw', not 'red'"):
        import_gravon([], result_table={"1": ("resigned", {"0": "red"})})


def with_bad_move(board: Board, number: int) -> str:
    """Return a file in which one move leads from a lake."""
    text = xml(board)
    start = text.index(f'<move id="{number}"')
    end = text.index("/>", start)
    return text[:start] + f'<move id="{number}" source="C5" target="C6"' + text[end:]


def test_a_game_with_an_illegal_move_is_refused_or_cut_on_request(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    _, error = import_one(tmp_path / "a", with_bad_move(GAMES[0], 10))
    assert (error.place, error.reason) == ("move 10, C5-C6", "an illegal move")
    assert "there is no piece on c5" in str(error)
    report, game = import_one(tmp_path / "b", with_bad_move(GAMES[0], 10), keep_prefix=True)
    assert (game.plies, game.prefix, game.complete, game.result) == (9, True, False, "unknown")
    assert (report.accepted, report.prefixes) == (32, 1)
    assert read_games(game.text)[0].board.history == GAMES[0].history[:9]


def test_a_game_that_begins_with_an_illegal_move_leaves_no_prefix(tmp_path):
    _, error = import_one(tmp_path, with_bad_move(GAMES[0], 1), keep_prefix=True)
    assert error.reason == "an illegal move"


def test_moves_after_the_flag_are_refused_even_if_prefixes_are_kept(tmp_path):
    text = xml(won_game()).replace("</game>", '<move id="999" source="A1" target="A2"/></game>')
    _, error = import_one(tmp_path, text, keep_prefix=True)
    assert error.reason == "a move after the Flag was taken"


def test_repetition_is_not_judged(tmp_path):
    """The archive's rules are its own: a piece may go to and fro as often as it was recorded to."""
    setup = "F.......SO/B......G.O/....N..M../.........."
    board = Board.from_setups(setup, setup, "barrage", RULES_OFF)
    for _ in range(5):
        for move in ("e3e4", "f8f7", "e4e3", "f7f8"):
            board.push(move)
    _, game = import_one(tmp_path, xml(board))
    assert game.plies == 20


def test_names_are_dropped_unless_they_are_asked_for(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    extra = '<player side="0">Anna B.</player><info date="2010-05-17" place="Somewhere" user="17"/></game>'
    text = xml(GAMES[0]).replace("</game>", extra)
    report, game = import_one(tmp_path / "a", text)
    assert game.meta == {"gravon": "", "info": "", "info.date": "2010-05-17"}
    assert "Anna" not in game.text + report.summary
    _, game = import_one(tmp_path / "b", text, keep_names=True)
    assert game.meta["player"] == "Anna B."
    assert game.meta["info.user"] == "17"
    assert "Anna" not in game.text


def test_unknown_names_are_kept_and_warned_of_once(tmp_path):
    texts = [xml(board).replace("<game>", '<game clock="12"><chat/>') for board in GAMES]
    report = import_gravon([archive(tmp_path, texts)])
    assert report.accepted == 8
    assert len(report.warnings) == 3
    assert any("'game.clock', first seen in classic-000.xml" in warning for warning in report.warnings)
    assert report.games[3].meta["game.clock"] == "12"


GOOD = xml(GAMES[0])
BOARD = GOOD.split('content="')[1].split('"')[0]


def with_board(board: str) -> str:
    return GOOD.replace(BOARD, board)


def swapped(board: str, here: int, there: int) -> str:
    letters = list(board)
    letters[here], letters[there] = letters[there], letters[here]
    return "".join(letters)


def with_one_scout_less(board: str) -> str:
    return board.replace("D", "A", 1)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", "line 1", "not well-formed XML"),
        (GOOD[:-4], "line", "not well-formed XML"),
        (GOOD.replace("<gravon>", '<!DOCTYPE gravon SYSTEM "x.dtd"><gravon>'), "line 2", "a DOCTYPE or an entity"),
        (GOOD.replace("<gravon>", '<!DOCTYPE g [<!ENTITY a "b">]><gravon>'), "line 2", "a DOCTYPE or an entity"),
        (GOOD.replace("</game>", "&lol;</game>"), "line", "not well-formed XML"),
        (GOOD.replace('"1.0"', '"1.0" encoding="rot13"'), "", "encod"),
        (GOOD + " " * gravon.SIZE_LIMIT, "size", "larger than 1000000 bytes"),
        (GOOD.replace("<field", "<feld"), "element 'field'", "exactly one is needed"),
        (GOOD.replace("<field", "<field/><field"), "element 'field'", "exactly one is needed"),
        (GOOD.replace("content=", "contents="), "element 'field'", "the attribute 'content' is missing"),
        (GOOD.replace("<move", "<zug"), "element 'move'", "at least one is needed"),
        (GOOD.replace("source=", "from="), "move 1", "the attribute 'source' is missing"),
        (GOOD.replace("target=", "to="), "move 1", "the attribute 'target' is missing"),
        (GOOD.replace("</game>", "<result/><result/></game>"), "element 'result'", "at most one is understood"),
        (with_board(BOARD[:-1]), "content", "the board has not 100 letters"),
        (with_board(BOARD.replace("L", "Z")), "content", "the letter 'Z' is unknown"),
        (with_board(BOARD.replace("L", "l")), "content", "the letter 'l' is unknown"),
        (with_board(BOARD.replace("_", "A", 1)), "content", "the lakes are not where they should be"),
        (with_board(BOARD.replace("D", "_", 1)), "content", "the lakes are not where they should be"),
        (with_board(swapped(BOARD, 30, 40)), "content", "the pieces B–M do not stand in one block of 40 squares"),
        (with_board(swapped(BOARD, 69, 50)), "content", "the pieces N–Y do not stand in one block of 40 squares"),
        (with_board(swapped(BOARD, 0, 99)), "content", "do not stand in one block of 40 squares"),
        (
            with_board(with_one_scout_less(BOARD)),
            "content",
            "neither Stratego nor Barrage: B C D E F G H I J K L M are 6, 1, 7, 5, 4, 4, 4, 3, 2, 1, 1, 1 and 6, 1, 8,",
        ),
        (GOOD.replace('source="', 'source="J', 1).replace('"JA', '"J'), "move 1, source", "column J does not exist"),
        (GOOD.replace('target="', 'target="X', 1), "move 1, target", "no square: A1 to K10"),
        (GOOD.replace('id="2"', ""), "move 2", "some moves have an id and some have none"),
        (GOOD.replace('id="2"', 'id="zwei"'), "move 2", "the id is no number"),
        (GOOD.replace('id="2"', 'id="1"'), "move 2", "the ids do not ascend"),
    ],
)
def test_a_file_that_is_not_understood_is_refused_with_place_and_reason(text, place, reason):
    with pytest.raises(GravonFormatError) as error:
        parse_gravon(text.encode(), "the-file.xml")
    assert error.value.file == "the-file.xml"
    assert place in error.value.place
    assert reason in error.value.reason
    assert str(error.value).startswith("the-file.xml, ")


@pytest.mark.parametrize("square", ["J4", "A0", "A11", "a4", "L4", "A٤", ""])
def test_only_squares_a1_to_k10_without_j_are_squares(square):
    start = GOOD.index('source="') + 8
    text = GOOD[:start] + square + GOOD[GOOD.index('"', start) :]
    with pytest.raises(GravonFormatError, match="column J does not exist" if square == "J4" else "no square"):
        parse_gravon(text.encode())


def test_both_sides_in_one_block_are_refused():
    half = BOARD[:40]
    mixed = "".join(_other_side(letter) if index % 2 else letter for index, letter in enumerate(half))
    with pytest.raises(GravonFormatError, match="both sides stand in the same block"):
        parse_gravon(with_board(mixed + BOARD[40:60] + "A" * 40).encode())


def test_white_space_in_the_board_is_nothing():
    assert parse_gravon(with_board("\n".join(BOARD[i : i + 10] for i in range(0, 100, 10))).encode()).letters == BOARD


def test_other_files_are_refused_and_counted(tmp_path):
    folder = archive(tmp_path, [xml(board) for board in GAMES])
    (folder / "old.gsn").write_text("anything")
    (folder / "notes.txt").write_text("not looked at in a folder")
    other = tmp_path / "game.zip"
    other.write_text("x")
    report = import_gravon([folder, other, tmp_path / "missing.xml"])
    assert (report.files, report.accepted, len(report.refusals)) == (11, 8, 3)
    assert report.refused == {
        "format .gsn is not documented; convert it to a board string (docs/notation.md)": 1,
        "not an .xml file": 1,
        "cannot be opened": 1,
    }
    first, *rest = report.summary.splitlines()
    assert first == "11 files: 8 accepted, 0 prefixes, 3 refused"
    assert "      1  not an .xml file" in rest
    assert "orientation: row 1 is the first block, column A the first letter, B–M moves first" in rest


def test_with_nothing_to_find_the_orientation_from_nothing_is_imported(tmp_path):
    for number in range(gravon.CALIBRATION_FILES):
        (tmp_path / f"a{number}.gsn").write_text("")
    (tmp_path / "b.xml").write_text(GOOD)
    report = import_gravon([tmp_path])
    assert (report.accepted, len(report.refusals), report.hypothesis) == (0, 51, None)
    assert any("not settled" in reason for reason in report.refused)
    assert import_gravon([]).summary == "0 files: 0 accepted, 0 prefixes, 0 refused"


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_a_file_or_a_format_error(data):
    for each in (data, GOOD.encode()[:300] + data + GOOD.encode()[300:]):
        try:
            parse_gravon(each)
        except GravonFormatError:
            continue


def test_a_scout_may_run_far_in_an_imported_game(tmp_path):
    """The first long move of a Scout names its squares with the column K where ours is j."""
    board = Board.from_setups(
        "F.......SO/B......G.O/....N..M../..........",
        "F.......SO/B......G.O/....N..M../..........",
        "barrage",
        RULES_OFF,
    )
    board.push("j2j8")
    assert board.history[0].battle is None and board.piece_at(77 + 2).kind == SCOUT
    text = xml(board)
    assert 'source="K2" target="K8"' in text
    _, game = import_one(tmp_path, text)
    assert read_games(game.text)[0].board.history == board.history


# ── Any of them ──────────────────────────────────────────────────────────────────────────────────


def test_a_game_of_any_format_is_the_same_in_our_notation() -> None:
    board = play(Board.random("classic", 3, RULES_OFF), random.Random(3), 40)
    moves = [played.move for played in board.history]
    for text in (write_game(board), strados_text(board), xml(board), write_log(board, end="unfinished", result="*")):
        [found] = read_games(to_notation("\ufeff" + text))
        assert found.board is not None
        assert [played.move for played in found.board.history] == moves
        assert found.board.start_position().pieces == board.start_position().pieces
    declared = xml(board).replace("<gravon>", "<gravon><!-- Jürgen -->").replace('"1.0"', '"1.0" encoding="ISO-8859-1"')
    assert to_notation(declared.encode("latin-1")) == to_notation(xml(board))
    with pytest.raises(NotationError, match="no text"):
        to_notation(b"\xff\xfe not ours")
    several = write_game(board) + "\n" + write_game(board)
    assert to_notation(several) == several.strip(), "what is in our notation already is left as it is"
    for wrong, words in (
        ("hello", "no game that can be read: neither our notation, .* nor a board string, nor a log"),
        ("<gravon/>", "needed"),
        ("<\ud800>", "not well-formed XML"),
        ("x" * 100, "on the lakes"),
    ):
        with pytest.raises(NotationError, match=words):
            to_notation(wrong)


def test_a_family_reads_its_formats_however_they_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON begins like our notation; a later family is asked although an earlier one knows no such text."""
    ours = write_game(Board("kuhn", seed=1))
    (tmp_path / "zzz").mkdir()
    (tmp_path / "zzz" / "__init__.py").write_text("")
    (tmp_path / "zzz" / "formats.py").write_text(
        f"FORMATS = 'JSON'\n\ndef recognises(data):\n    return b'moves' in data\n\n"
        f"def to_notation(data):\n    return {ours!r}\n"
    )
    monkeypatch.setattr(notation, "__path__", [*notation.__path__, str(tmp_path)])
    assert to_notation('{"moves": []}') == ours
    assert to_notation(ours) == ours.strip()
    with pytest.raises(NotationError, match="nor JSON"):
        to_notation("hello")
