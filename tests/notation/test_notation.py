"""Texts of moves, positions and games: texts are read back as they were written, and errors name the fault."""

from __future__ import annotations

import contextlib
import doctest
import random
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban.board.stratego import Board
from vauban.errors import InvalidMoveError, NotationError, SetupError
from vauban.games.stratego.pieces import FLAG, LETTERS, MOVABLE_TYPES, SCOUT
from vauban.games.stratego.setups import parse_setup, random_setup, setup_text
from vauban.games.stratego.variants import VARIANTS, Variant, parse_army
from vauban.notation.game import (
    WIDTH,
    GameText,
    WrittenMove,
    game_text,
    games_text,
    parse_games,
)
from vauban.notation.records import read_games, replay, write_game
from vauban.notation.stratego.headers import parse_variant_headers, variant_headers
from vauban.notation.stratego.moves import Move, MoveText, move_text, parse_move_text
from vauban.notation.stratego.position import PlacedPiece, Position, parse_position, position_text

CLASSIC, MICRO = VARIANTS["classic"], VARIANTS["micro"]
SKIRMISH = Variant("skirmish", 6, 7, (15, 26), 2, parse_army("F1 O2 N1 M1 S1 B1"))
VARIANT = st.sampled_from([*VARIANTS.values(), SKIRMISH, Variant("wide", 4, 26, (), 1, parse_army("F1 O3 M1"))])
RANDOM = st.randoms(use_true_random=False)


# ── Moves ────────────────────────────────────────────────────────────────────────────────────────


@st.composite
def written_moves(draw: st.DrawFn) -> tuple[MoveText, Variant]:
    variant = draw(VARIANT)
    source = draw(st.integers(0, variant.squares - 1))
    row, column = divmod(source, variant.columns)
    line = [
        square
        for square in range(variant.squares)
        if (square // variant.columns == row) != (square % variant.columns == column)
    ]
    move = Move(source, draw(st.sampled_from(line)))
    kinds = st.integers(0, len(LETTERS) - 1)
    shown = draw(st.none() | st.tuples(kinds, kinds, st.sampled_from("<>=")))
    return MoveText(move, shown is not None or draw(st.booleans()), shown), variant


@given(written_moves())
def test_a_move_is_read_back_as_it_was_written(case):
    written, variant = case
    assert parse_move_text(move_text(written, variant), variant) == written


def test_moves_as_in_the_rules_4_1():
    assert parse_move_text("a4a5", CLASSIC) == MoveText(Move(30, 40), False, None)
    assert parse_move_text("e6xe7", CLASSIC) == MoveText(Move(54, 64), True, None)
    assert parse_move_text("e6xe7(M>C)", CLASSIC).shown == (9, 7, ">")
    assert parse_move_text("h3xe3(O=O)", CLASSIC).shown == (SCOUT, SCOUT, "=")
    assert parse_move_text("j10j1", CLASSIC).move == Move(99, 9)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'' is no move: a move is written a4a5"),
        ("a4", "'a4' is no move: a move is written a4a5"),
        ("A4A5", "is no move: a move is written a4a5"),
        ("a4-a5", "is no move: a move is written a4a5"),
        ("a4a5 ", "is no move: a move is written a4a5"),
        ("a4a٥", "is no move: a move is written a4a5"),
        ("a4a11", "'a11' is no square of this board: squares go from a1 to j10"),
        ("k4a4", "'k4' is no square of this board"),
        ("a0a1", "'a0' is no square of this board"),
        ("a01a2", "'a01' is no square of this board"),
        ("a4a4", "it ends where it begins"),
        ("a4b5", "not diagonally"),
        ("a4a5(M>C)", "shows a battle without an x: write a4xa5(M>C)"),
        ("a4xa5()", "does not say what its battle showed"),
        ("a4xa5(M?C)", "does not say what its battle showed"),
        ("a4xa5(m>c)", "does not say what its battle showed"),
        ("a4xa5(U>C)", "does not say what its battle showed"),
    ],
)
def test_a_text_that_is_no_move_is_refused_with_the_reason(text, sentence):
    with pytest.raises(InvalidMoveError) as error:
        parse_move_text(text, CLASSIC)
    assert sentence in str(error.value)


@given(st.text(max_size=20) | st.text("abjx0123456789(M>C)", max_size=14))
def test_any_text_is_a_move_or_an_invalid_move(text):
    try:
        parsed = parse_move_text(text, CLASSIC)
    except InvalidMoveError:
        return
    assert move_text(parsed, CLASSIC) == text


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


@given(VARIANT, RANDOM)
def test_a_setup_is_read_back_as_it_was_written(variant, rng):
    setup = random_setup(variant, rng)
    text = setup_text(setup, variant)
    assert (parse_setup(text, variant) == setup).all()
    assert text.count("/") == variant.setup_rows - 1


@given(st.text(max_size=60) | st.text("FSONB./", max_size=48))
def test_any_text_is_a_setup_or_a_setup_error(text):
    with contextlib.suppress(SetupError):
        parse_setup(text, VARIANTS["barrage"])


# ── Positions ────────────────────────────────────────────────────────────────────────────────────

START = "10/7b2/5sfm2/4ng1oo1/2~~2~~2/2~~2~~2/1G2M5/1S2N5/B8O/F8O r 0 0 -,- 0:-,0:-"
LATER = "10/4n's'1bm'1/6f2o'!/5g'4/2~~2~~1O'!/2~~1M'~~2/1G8/2S'7/B!1N'2O'!4/F9 b 31 13 j5-j6,g7-f7 0:j5j6,0:g7f7"
SEEN = "10/4u'u'1uu'1/6u2o'!/5u'4/2~~2~~1O'!/2~~1M'~~2/1G8/2S'7/B!1N'2O'!4/F9 b 31 13 j5-j6,g7-f7 0:j5j6,0:g7f7"


@pytest.mark.parametrize("text", [START, LATER, SEEN])
def test_the_positions_of_the_rules_4_4_are_read_and_written(text):
    assert position_text(parse_position(text)) == text


def test_a_position_says_what_its_text_says():
    start, later, seen = map(parse_position, (START, LATER, SEEN))
    assert (start.rows, start.columns, start.lakes, start.turn) == (10, 10, CLASSIC.lakes, 0)
    assert start.pieces[0] == PlacedPiece(0, 0, FLAG, False, False)
    assert [piece.square for piece in later.pieces] == sorted(piece.square for piece in later.pieces)
    assert (later.turn, later.plies, later.battleless) == (1, 31, 13)
    assert later.trails == ((49, 59), (66, 65))
    assert later.chases == ((0, Move(49, 59)), (0, Move(66, 65)))
    assert PlacedPiece(59, 0, SCOUT, True, True) in later.pieces
    assert (start.is_view, later.is_view, seen.is_view) == (False, False, True)
    assert PlacedPiece(65, 1, None, True, False) in seen.pieces


def random_position(rng: random.Random) -> Position:
    """Return a position that contradicts itself nowhere, on a board of any size."""
    columns = rng.randint(1, 26)
    rows = rng.randint(max(2, 4 - columns), 126 // columns) if columns < 42 else 3
    squares = rows * columns
    bare = Position(rows, columns, (), (), rng.randrange(2), 0, 0, ((), ()), ((0, None), (0, None)), ())
    lakes = set(rng.sample(range(squares), rng.randrange(squares // 4 + 1)))
    free = [square for square in range(squares) if square not in lakes]
    rng.shuffle(free)
    pieces: dict[int, PlacedPiece] = {}
    losers = rng.choice([(), (), (0,), (1,)])
    for player in (0, 1):
        if player not in losers and free:
            square = free.pop()
            pieces[square] = PlacedPiece(square, player, FLAG, False, rng.random() < 0.1)
    if len(pieces) + len(losers) < 2:
        return random_position(rng)
    for _ in range(rng.randrange(len(free) + 1)):
        square = free.pop()
        kind = rng.choice([kind for kind in range(len(LETTERS)) if kind != FLAG] + [None] * 2 * (not losers))
        moved = kind is None or (kind < MOVABLE_TYPES and rng.random() < 0.5)
        pieces[square] = PlacedPiece(square, rng.randrange(2), kind, moved, kind is not None and rng.random() < 0.5)
    trails, chases = [], []
    for player in (0, 1):
        ends = [piece for piece in pieces.values() if piece.player == player and piece.moved]
        trail = _walk(rng, rng.choice(ends), lakes, bare) if ends and rng.random() < 0.7 else ()
        trails.append(trail if len(trail) > 1 else ())
        last = Move(*trail[-2:]) if len(trail) > 1 else None
        chases.append((rng.randrange(300) if last else 0, last))
    plies = rng.randrange(10**6)
    moves = []
    for _ in range(0 if losers else rng.randrange(3)):
        source = rng.randrange(squares)
        target = rng.choice(
            [
                s
                for s in range(squares)
                if s != source and (s // columns == source // columns or s % columns == source % columns)
            ]
        )
        shown = rng.choice([None, (rng.randrange(12), rng.randrange(12), rng.choice("<>="))])
        moves.append(MoveText(Move(source, target), shown is not None or rng.random() < 0.5, shown))
    return replace(
        bare,
        lakes=tuple(sorted(lakes)),
        pieces=tuple(pieces[square] for square in sorted(pieces)),
        plies=plies,
        battleless=rng.randint(0, plies),
        trails=(trails[0], trails[1]),
        chases=(chases[0], chases[1]),
        moves=tuple(moves),
    )


def _walk(rng: random.Random, piece: PlacedPiece, lakes: set[int], grid: Position) -> tuple[int, ...]:
    """Return squares that the piece may have come by, oldest first."""
    walk = [piece.square]
    for _ in range(rng.randint(1, 5)):
        row, column = divmod(walk[0], grid.columns)
        up, right = rng.choice([(1, 0), (-1, 0), (0, 1), (0, -1)])
        reached = []
        for step in range(1, rng.randint(2, 10) if piece.kind in (None, SCOUT) else 2):
            to_row, to_column = row + step * up, column + step * right
            square = to_row * grid.columns + to_column
            if not (0 <= to_row < grid.rows and 0 <= to_column < grid.columns) or square in lakes:
                break
            reached.append(square)
        if reached:
            walk.insert(0, reached[-1])
    return tuple(walk)


@given(RANDOM)
@settings(max_examples=300)
def test_a_position_is_read_back_as_it_was_written(rng):
    position = random_position(rng)
    assert parse_position(position_text(position)) == position


@given(RANDOM, st.sampled_from(["barrage", "tiny", "duel", SKIRMISH]), st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_a_board_in_mid_game_survives_as_text(rng, variant, plies):
    board = played_board(rng, variant, plies)
    position = board.position()
    assert parse_position(position_text(position)) == position
    again = Board.from_position(board.text, board.variant, board.rules)
    assert again == board
    for player in (0, 1):
        view = parse_position(board.view(player).text)
        assert len(view.pieces) == len(position.pieces)


BARE = "3/F2/f2 r 0 0 -,- 0:-,0:-"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "other spaces than single ones"),
        (START.replace(" r ", "  r "), "other spaces than single ones"),
        (START + "\n", "other spaces than single ones"),
        ("3/F2/f2 r 0 0 -,-", "has 5 fields instead of 6: board, side to move"),
        (BARE + " then a1a2", "comes 'moves' or nothing, not 'then'"),
        (BARE + " moves", "write moves after it, or leave it out"),
        (BARE + " moves a1b2", "not diagonally"),
        (BARE + " moves a4a1", "'a4' is no square of this board: squares go from a1 to c3"),
        ("3/F2/f1 r 0 0 -,- 0:-,0:-", "rank 1 of the board, 'f1', has 2 squares, and rank 3 has 3"),
        ("3/F2/ r 0 0 -,- 0:-,0:-", "rank 1 of the board, '', has 0 squares"),
        ("3/F2/fX1 r 0 0 -,- 0:-,0:-", "'X' at place 2 of rank 1 of the board ('fX1') is no piece"),
        ("3/F2/f-1 r 0 0 -,- 0:-,0:-", "'-' at place 2 of rank 1"),
        ("3/F2/f0 r 0 0 -,- 0:-,0:-", "has a number 0"),
        ("3/F2/f'' r 0 0 -,- 0:-,0:-", "stands after no piece: marks follow a letter"),
        ("3/F2/f!'1 r 0 0 -,- 0:-,0:-", "' (has moved) before ! (revealed)"),
        ("Ff r 0 0 -,- 0:-,0:-", "at least 2 rows"),
        ("F/f r 0 0 -,- 0:-,0:-", "not 2 × 1"),
        ("/".join(["26"] * 5) + " r 0 0 -,- 0:-,0:-", "at most 126 squares, not 5 × 26"),
        ("27/27 r 0 0 -,- 0:-,0:-", "more than 26 squares"),
        ("99999999999999/27 r 0 0 -,- 0:-,0:-", "more than 26 squares"),
        ("/".join(["F"] * 127) + " r 0 0 -,- 0:-,0:-", "127 ranks"),
        ("3/F2/f2 w 0 0 -,- 0:-,0:-", "the side to move is r or b, not 'w'"),
        ("3/F2/f2 r -1 0 -,- 0:-,0:-", "the field 'plies' of a position is a number from 0"),
        ("3/F2/f2 r 0 x -,- 0:-,0:-", "the field 'battleless plies' of a position is a number"),
        ("3/F2/f2 r 99999999999 0 -,- 0:-,0:-", "is a number from 0 to 1000000000"),
        ("3/F2/f2 r 3 4 -,- 0:-,0:-", "4 battleless plies are more than all 3 plies"),
        ("3/F2/f2 r 0 0 - 0:-,0:-", "the field 'two-square squares' of a position has two parts"),
        ("3/F2/f2 r 0 0 -,- 0:-", "the field 'chase' of a position has two parts"),
        ("3/F2/f2 r 0 0 -,-,- 0:-,0:-", "has two parts, red,blue"),
        ("3/F2/f2 r 0 0 -,- 0:-,0", "a chase is 'length:last move'"),
        ("3/F2/f2 r 0 0 -,- 0:-,x:-", "the field 'chase' of a position is a number"),
        ("3/F2/f2 r 0 0 -,- 0:-,2:-", "blue's chase has length 2 and no last move"),
        ("3/F2/f2 r 0 0 -,- 0:-,2:a1", "the chase '2:a1' has no last move"),
        ("~2/F2/f2 r 0 0 -,- 0:a3b3,0:-", "red's last move a3b3 in the chase field leads through a lake"),
        ("O'2/F2/f2 r 9 0 a4-a3,- 0:-,0:-", "'a4' is no square of this board"),
        ("O'2/F2/f2 r 9 0 a3,- 0:-,0:-", "they are 2 to 6 squares"),
        ("O'2/F2/f2 r 9 0 b3-a3-b3-a3-b3-c3-a3,- 0:-,0:-", "they are 2 to 6 squares"),
        ("3/F2/f2 r 9 0 b3-a3,- 0:-,0:-", "no red piece stands on the last of them; if the piece is gone, write '-'"),
        ("o'2/F2/f2 r 9 0 b3-a3,- 0:-,0:-", "no red piece stands on the last of them"),
        ("O2/F2/f2 r 9 0 b3-a3,- 0:-,0:-", "is not marked as moved"),
        ("O'2/F2/f2 r 9 0 b2-a3,- 0:-,0:-", "from b2 to a3 is no move along a file or a rank"),
        ("O'2/F2/f2 r 9 0 a3-a3,- 0:-,0:-", "from a3 to a3 is no move along a file or a rank"),
        ("O'~1/F2/f2 r 9 0 c3-a3,- 0:-,0:-", "from c3 to a3 leads through a lake"),
        ("M'2/F2/f2 r 9 0 c3-a3,- 0:-,0:-", "is more than one step, and the piece is no Scout"),
        ("O'2/F2/f2 r 9 0 b3-a3,- 0:c3a3,0:-", "is not the last step of the two-square squares b3-a3"),
        ("3/F'2/f2 r 0 0 -,- 0:-,0:-", "the Flag on a2 is marked as moved ('), and it never moves"),
        ("b'2/F2/f2 r 0 0 -,- 0:-,0:-", "the Bomb on a3 is marked as moved"),
        ("u!2/F2/f2 r 0 0 -,- 0:-,0:-", "the hidden piece on a3 is marked as revealed (!): write its letter"),
        ("F2/F2/f2 r 0 0 -,- 0:-,0:-", "red has 2 Flags on the board"),
        ("3/O2/o2 r 0 0 -,- 0:-,0:-", "neither side has a Flag"),
        ("3/O2/f2 r 0 0 -,- 0:-,0:- moves a2a3", "red has no Flag, so it was taken and the game is over"),
    ],
)  # fmt: skip
def test_a_position_that_contradicts_itself_is_refused_with_the_reason(text, sentence):
    with pytest.raises(NotationError) as error:
        parse_position(text)
    assert sentence in str(error.value)


def test_a_position_without_one_flag_is_a_game_won_by_taking_it():
    board = Board.from_position("3/O2/f2 r 5 0 -,- 0:-,0:-")
    assert board.outcome().winner == 1
    assert board.outcome().end == "flag"


@given(st.text(max_size=80) | st.text("FfOoBb'!~/123 rb-:,a", max_size=60))
def test_any_text_is_a_position_or_a_notation_error(text):
    for each in (text, f"{text} r 0 0 -,- 0:-,0:-", f"2/F2/f2 r 9 0 {text},- 0:-,{text}", f"{BARE} moves {text}"):
        try:
            position = parse_position(each)
        except NotationError:
            continue
        assert parse_position(position_text(position)) == position


@given(st.integers(0, len(LATER) - 1), st.sampled_from(string.printable))
@settings(max_examples=200)
def test_a_damaged_position_is_another_position_or_a_notation_error(place, letter):
    damaged = LATER[:place] + letter + LATER[place + 1 :]
    try:
        position = parse_position(damaged)
    except NotationError:
        return
    assert parse_position(position_text(position)) == position


# ── Game texts ───────────────────────────────────────────────────────────────────────────────────

EXAMPLE = """\
[Game "stratego"]
[Variant "micro"]
[Rules "two_square=3 chase=ataraxos battleless_limit=none total_limit=20 limits=reached cannot_move=on_turn"]
[Red "Anna"]
[Blue "charger"]
[RedSetup "FLP."]
[BlueSetup "P.FL"]
[Result "1-0"]
[End "flag"]

1. b1b2 d3d2 2. c1b1 a3a2 3. b2xb3(L>F) 1-0
"""

NAMES = st.text(string.ascii_letters, min_size=1, max_size=12).filter(lambda name: name != "Result")
ONE_LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=40) | st.text(
    '"\\[]{}aé', max_size=12
)
COMMENTS = st.none() | st.text(st.characters(exclude_characters="}", exclude_categories=["Cs"]), max_size=30).map(
    str.strip
).map(lambda text: text or None)
MOVE_WORDS = st.sampled_from(["a4a5", "j7j6", "e6xe7", "e6xe7(M>C)", "z12z11", "h3xe3(O=O)"])


@st.composite
def game_texts(draw: st.DrawFn) -> GameText:
    headers = draw(st.dictionaries(NAMES, ONE_LINE, min_size=1, max_size=5))
    moves = [WrittenMove(*pair) for pair in draw(st.lists(st.tuples(MOVE_WORDS, COMMENTS), max_size=30))]
    result = draw(st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"]))
    if draw(st.booleans()):
        headers["Result"] = result
    first = draw(st.sampled_from([0, 1])) if moves else None
    return GameText(headers, moves, result, draw(COMMENTS), first)


@given(st.lists(game_texts(), max_size=4))
@settings(max_examples=150)
def test_game_texts_are_read_back_as_they_were_written(games):
    again = parse_games(games_text(games))
    assert again == games
    assert [list(game.headers) for game in again] == [list(game.headers) for game in games]


def test_the_game_of_the_rules_4_5_is_read_and_written():
    [game] = parse_games(EXAMPLE)
    assert game.headers["Red"] == "Anna"
    assert [move.text for move in game.moves] == ["b1b2", "d3d2", "c1b1", "a3a2", "b2xb3(L>F)"]
    assert (game.result, game.first) == ("1-0", 0)
    assert game_text(game) == EXAMPLE


def test_lines_are_broken_before_column_80_and_read_together_again():
    game = GameText({"Variant": "classic"}, [WrittenMove("a4a5")] * 301, "*", None, 1)
    text = game_text(game)
    lines = text.splitlines()[2:]
    assert max(map(len, lines)) <= WIDTH < len(lines[0]) + 10
    assert lines[0].startswith("1... a4a5 2. a4a5 a4a5 3. ")
    assert parse_games(text) == [game]


def test_a_reader_takes_numbers_breaks_and_comments_as_people_write_them():
    text = (
        '\ufeff[Variant "micro"]\r\n[RedSetup "FLP."][BlueSetup "P.FL"]\r\n'
        "{so it begins}1.b1b2{bold}\r\n{very} 1... d3d2\r\n\t2.\n c1b1 * {the end}\r\n"
    )
    [game] = parse_games(text)
    assert game.comment == "so it begins"
    assert game.moves == [("b1b2", "bold very"), ("d3d2", None), ("c1b1", "the end")]
    assert game.result == "*"
    [bare] = parse_games('[Variant "micro"] b1b2 d3d2')
    assert (bare.result, bare.first, len(bare.moves)) == (None, None, 2)
    assert parse_games("") == parse_games(" \n ") == []


HEAD = '[Variant "micro"]\n\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1. a4a5", "game 1, line 1: a game begins with headers"),
        (EXAMPLE + "\nhello", "game 2, line 13: a game begins with headers"),
        ("[Variant micro]", "line 1: '[Variant micro]' is no header: a header is [Name \"value\"]"),
        ('[Variant "mi\ncro"]', "is no header"),
        ('[Variant "micro"', "is no header"),
        ('[Vari-ant "micro"]', "'Vari-ant' is no name for a header"),
        ('[Variant "micro"]\n[Variant "micro"]', "line 2: the header 'Variant' stands there twice"),
        ('[Event "a\\n"]', "a backslash stands before a quote or a backslash only"),
        (HEAD + "{never ends", "line 3: a comment begins with { and never ends"),
        (HEAD + "* {never ends", "a comment begins with { and never ends"),
        (HEAD + "a4a5 } *", "'}' belongs to no header and no comment"),
        (HEAD + "a4-a5 *", "'a4-a5' is no move and no result"),
        (HEAD + "1. a4a5 j7j6 3. a5a6", "the move number '3.' is wrong here: 2. comes next (red is on turn)"),
        (HEAD + "1. a4a5 2. j7j6", "the move number '2.' is wrong here: 1... comes next (blue is on turn)"),
        (HEAD + "2. a4a5", "the move number '2.' is wrong here: 1. comes next"),
        (HEAD + "1. 1... a4a5", "the move number '1...' is wrong here"),
        ('[Result "won"]', "the Result 'won' is none of 1-0 0-1 1/2-1/2 *"),
        ('[Result "1-0"]\n\n0-1', "the header Result is '1-0', and the moves end with '0-1'"),
    ],
)
def test_a_game_text_that_cannot_be_read_is_refused_with_game_and_line(text, sentence):
    with pytest.raises(NotationError) as error:
        parse_games(text)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        (GameText(), "a game needs headers"),
        (GameText({"a b": "c"}), "'a b' is no name for a header"),
        (GameText({"Event": "two\nlines"}), "has a line break"),
        (GameText({"Event": ""}, [WrittenMove("a4a5", "a } b")]), "a comment cannot hold '}'"),
        (GameText({"Event": ""}, [WrittenMove("resigns")]), "'resigns' is no move"),
        (GameText({"Event": ""}, [], "2-0"), "the result '2-0' is none of"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(game, sentence):
    with pytest.raises(NotationError) as error:
        game_text(game)
    assert sentence in str(error.value)


# ── Variants in headers ──────────────────────────────────────────────────────────────────────────


@given(VARIANT)
def test_a_variant_is_read_back_from_its_headers(variant):
    headers = variant_headers(variant)
    assert parse_variant_headers(headers) == variant
    assert ("Board" in headers) == (variant.name not in VARIANTS)


def test_a_variant_of_ones_own_is_described_by_board_and_army():
    assert variant_headers(SKIRMISH) == {
        "Variant": "skirmish",
        "Board": "6 x 7; lakes b3 f4; setup rows 2",
        "Army": "F1 S1 O2 N1 M1 B1",
    }


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        ({}, "the header Variant is missing"),
        ({"Variant": "clasic"}, "there is no variant 'clasic': did you mean 'classic'?"),
        ({"Variant": "/etc/own.toml"}, "a variant of your own needs the headers Board and Army"),
        ({"Variant": "own", "Board": "6 x 6; setup rows 1"}, "needs both headers, Board and Army"),
        ({"Variant": "own", "Board": "6 by 6", "Army": "F1 O1"}, "is not written 'rows x columns; lakes c4 f4 …"),
        ({"Variant": "own", "Board": "6 x 6; setup rows 1", "Army": "F1 X1"}, "'X1' in the army"),
        ({"Variant": "own", "Board": "6 x 6; setup rows 4", "Army": "F1 O1"}, "4 setup rows for each player"),
        ({"Variant": "own", "Board": "6 x 6; lakes z3; setup rows 1", "Army": "F1 O1"}, "'z3' is no square"),
        ({"Variant": "tiny", "Board": "6 x 6; setup rows 1", "Army": "F1 O1"}, "describe another variant than 'tiny'"),
    ],
)  # fmt: skip
def test_headers_that_name_no_variant_are_refused(headers, sentence):
    with pytest.raises(NotationError) as error:
        parse_variant_headers(headers)
    assert sentence in str(error.value)


def test_a_variant_with_a_shipped_name_and_another_board_is_not_written():
    with pytest.raises(NotationError, match="rename yours"):
        variant_headers(replace(SKIRMISH, name="classic"))


# ── Records ──────────────────────────────────────────────────────────────────────────────────────


def played_board(rng: random.Random, variant: str | Variant, plies: int) -> Board:
    """Return a game after some random moves."""
    board = Board.random(variant, rng.randrange(2**32))
    for _ in range(plies):
        if board.is_over:
            break
        board.push(rng.choice(board.legal_moves))
    return board


@given(
    RANDOM,
    st.sampled_from(["nano", "micro", "tiny", "barrage", SKIRMISH]),
    st.integers(0, 80),
    st.dictionaries(NAMES, ONE_LINE, max_size=4),
    st.dictionaries(st.integers(0, 80), COMMENTS.filter(bool), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_a_game_is_read_back_as_it_was_written(rng, variant, plies, headers, comments):
    board = played_board(rng, variant, plies)
    headers = {name: value for name, value in headers.items() if name[0].islower()}
    comments = {place: text for place, text in comments.items() if place <= len(board.history)}
    text = write_game(board, headers, comments)
    [game] = read_games(text)
    assert game.board == board
    assert game.board.history == board.history
    assert game.board.start_position() == board.start_position()
    assert game.comments == comments
    assert {name: game.headers[name] for name in headers} == headers
    outcome = board.outcome()
    assert game.end == ("unfinished" if outcome is None else outcome.end)
    assert write_game(game.board, game.headers, game.comments) == text


@given(RANDOM, st.integers(1, 60))
@settings(max_examples=30, deadline=None)
def test_a_game_from_a_position_in_mid_game_is_read_back(rng, plies):
    middle = played_board(rng, "barrage", plies)
    board = Board.from_position(middle.text, "barrage", middle.rules)
    for _ in range(10):
        if board.is_over:
            break
        board.push(rng.choice(board.legal_moves))
    text = write_game(board)
    assert ("[Position" in text and "[RedSetup" not in text) or not middle.start_position().plies
    [game] = read_games(text)
    assert game.board == board
    assert write_game(game.board, game.headers) == text


def test_the_game_of_the_rules_4_5_is_replayed_and_written():
    [game] = read_games(EXAMPLE)
    assert game.board.outcome().end == game.end == "flag"
    assert game.result == "1-0"
    assert write_game(game.board, game.headers, game.comments) == EXAMPLE


def test_several_games_are_read_one_after_the_other():
    games = read_games(EXAMPLE + "\n" + EXAMPLE)
    assert [game.end for game in games] == ["flag", "flag"]


def test_a_reader_needs_neither_x_nor_result_nor_rules():
    [game] = read_games('[Variant "micro"]\n[RedSetup "FLP."]\n[BlueSetup "P.FL"]\n\nb1b2 d3d2 c1b1 a3a2 b2b3')
    assert (game.result, game.end) == ("1-0", "flag")
    assert game.rules.total_limit == 20
    assert game.board.history[-1].battle.result == ">"


def test_if_blue_moves_first_the_record_begins_with_1_and_three_dots():
    position = "M2/F2/f1m b 7 0 -,- 0:-,0:-"
    board = Board.from_position(position)
    board.push("c1c2")
    board.push("a3b3")
    text = write_game(board)
    assert "\n1... c1c2 2. a3b3 *\n" in text
    assert f'[Position "{position}"]' in text
    assert read_games(text)[0].board == board
    with pytest.raises(NotationError, match=r"blue begins, so the first move number is 1\.\.\., not 1\."):
        read_games(text.replace("1... c1c2 2. a3b3", "1. c1c2 a3b3"))


def test_moves_inside_a_position_header_belong_to_the_game():
    text = '[Variant "micro"]\n[Position "P1f1/4/FLp1 r 0 0 -,- 0:-,0:- moves b1b2 c3c2"]\n\n{here} 1. a3a2 {there} *'
    with pytest.raises(NotationError, match="never moves"):
        read_games(text)
    text = text.replace("P1f1", "P1fp").replace("c3c2", "d3d2")
    [game] = read_games(text)
    assert len(game.board.history) == 3
    assert game.comments == {2: "here", 3: "there"}
    assert read_games(write_game(game.board, {}, game.comments))[0].comments == game.comments


def test_setups_that_are_not_known_are_shown_and_not_judged():
    [game] = read_games(EXAMPLE.replace("P.FL", "U.UU"))
    assert game.board is None
    assert (game.result, game.end) == ("1-0", "flag")
    assert next(move.move for move in game.moves) == Move(1, 5)
    view = '[Variant "barrage"]\n[Position "' + SEEN + '"]\n\n1... f7f8 *'
    [seen] = read_games(view)
    assert seen.board is None and seen.end == "unfinished"


@pytest.mark.parametrize(
    ("end", "result"),
    [("resigned", "0-1"), ("agreed", "1/2-1/2"), ("time", "1-0"), ("illegal", "0-1"), ("unfinished", "*")],
)
def test_an_end_that_no_board_shows_is_believed_and_kept(end, result):
    board = Board.from_setups("FLP.", "P.FL", "micro")
    board.push("b1b2")
    text = write_game(board, {"Result": result, "End": end, "Red": "Anna"})
    [game] = read_games(text)
    assert (game.result, game.end) == (result, end)
    assert write_game(game.board, game.headers) == text


SETUPS = '[RedSetup "FLP."]\n[BlueSetup "P.FL"]'


def changed(old: str, new: str) -> str:
    assert old in EXAMPLE
    return EXAMPLE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (changed("stratego", "checkers"), "game 1: there is no game 'checkers'"),
        (changed('[Variant "micro"]\n', ""), "the header Variant is missing"),
        (changed("two_square=3", "two_square=4"), "two_square must be 3, 5 or off"),
        (changed("two_square=3", "two=3"), "there is no switch 'two'"),
        (changed('[RedSetup "FLP."]\n', ""), "the header RedSetup is missing"),
        (changed("[End", '[Position "3/F2/f2 r 0 0 -,- 0:-,0:-"]\n[End'), "from two setups, and this one has both"),
        (changed(SETUPS, f'[Position "{START}"]'), "the Position has not the board of 'micro'"),
        (changed(SETUPS, '[Position "x"]'), "has 1 fields instead of 6"),
        (changed("FLP.", "FLL."), "1 Captain is missing"),
        (changed("FLP.", "ULPX"), "'X' in red's setup 'ULPX' is no piece"),
        (changed("FLP.", "ULLU"), "red's setup 'ULLU' has 2 × Lieutenant"),
        (changed("FLP.", "UUUU"), "has 4 pieces, and 'micro' has 3"),
        (changed("FLP.", "UU"), "has not 1 rows of 4 squares"),
        (changed("b1b2", "b1xb2"), "move 1. b1xb2: 'b1xb2' says there is a battle, and b2 is empty"),
        (changed("(L>F)", "(P>F)"), "move 3. b2xb3(P>F): 'b2xb3(P>F)' shows a Captain"),
        (changed("(L>F)", "(L<F)"), "gives the battle the wrong result"),
        (changed("a3a2", "a3a1"), "move 2... a3a1: a3a1 is not legal"),
        (changed("a3a2", "e3e2"), "move 2... e3e2: 'e3e2' is no move here"),
        (changed("d3d2", "c1c2"), "move 1... c1c2: c1c2 is not your move"),
        (changed(" 1-0\n", " a2a1 1-0\n"), "move 3... a2a1: a2a1 cannot be played: the game is over"),
        (changed("1-0", "0-1"), "the record says 0-1 flag, and on the board the game ended 1-0 (flag)"),
        (changed("1-0", "1/2-1/2"), "the Result '1/2-1/2' does not go with the End 'flag', but 1-0 or 0-1"),
        (changed('"flag"', '"no_moves"'), "the record says 1-0 no_moves, and on the board"),
        (changed('"flag"', '"flags"'), "there is no End 'flags': did you mean 'flag'?"),
        (changed("1-0", "*"), "the Result '*' does not go with the End 'flag'"),
        (changed('[End "flag"]\n', "").replace("1-0", "*"), "the record says *, and on the board the game ended 1-0"),
        (changed(" 3. b2xb3(L>F)", ""), "the End is 'flag', and on the board the game is not over"),
        (changed(" 3. b2xb3(L>F)", "").replace('[End "flag"]\n', ""), "an End must say why (resigned, agreed,"),
        (changed('"flag"', '"agreed"'), "the Result '1-0' does not go with the End 'agreed', but 1/2-1/2"),
        (changed('"flag"', '"time"').replace('[Result "1-0"]\n', "").replace(" 1-0\n", "\n"), "no Result says who won"),
        (changed("1. b1b2 d3d2 2. c1b1 a3a2 3.", "1... b1b2 2. d3d2 c1b1 3. a3a2"), "first move number is 1., not"),
        (EXAMPLE + "\n" + changed("FLP.", "FLX."), "game 2: 'X' in row 1 of the setup"),
    ],
)  # fmt: skip
def test_a_record_that_contradicts_the_board_is_refused_with_the_place(text, sentence):
    with pytest.raises(NotationError) as error:
        read_games(text)
    assert sentence in str(error.value)


def test_a_writer_refuses_a_result_that_the_board_contradicts():
    [game] = read_games(EXAMPLE)
    with pytest.raises(NotationError, match="the record says 0-1"):
        write_game(game.board, {"Result": "0-1"})
    with pytest.raises(NotationError, match="a comment after move 9, and the game has 5 moves"):
        write_game(game.board, {}, {9: "late"})


@given(st.text(max_size=60) | st.text('[]"\\{}.*10- ab123xVarint', max_size=60))
@settings(deadline=None)
def test_any_text_is_games_or_a_notation_error(text):
    for each in (text, f'[Variant "micro"]\n{text}', f"{EXAMPLE}\n{text}", EXAMPLE.replace("d3d2", text)):
        with contextlib.suppress(NotationError):
            read_games(each)


@given(st.integers(0, len(EXAMPLE) - 1), st.sampled_from(string.printable + "é"))
@settings(max_examples=300, deadline=None)
def test_a_damaged_game_is_another_game_or_a_notation_error(place, letter):
    try:
        games = read_games(EXAMPLE[:place] + letter + EXAMPLE[place + 1 :])
    except NotationError:
        return
    for game in games:
        if game.board is not None:
            again = read_games(write_game(game.board, game.headers, game.comments))
            assert again[0].board == game.board


def test_every_game_text_can_be_replayed_by_itself():
    assert replay(parse_games(EXAMPLE)[0]).result == "1-0"


def test_the_code_of_the_docs_runs():
    page = Path(__file__).parents[2] / "docs" / "notation.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 15 and found.failed == 0
