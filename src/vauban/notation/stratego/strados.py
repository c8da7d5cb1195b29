"""Games as a board string and action numbers, as published with Ataraxos (docs/notation.md).

The first line has 100 letters, a cell each from red's left back corner on, or 200, with a mark after
every letter; every further line is one action number of the player on turn, red first. There is no
result. The letters are those of the Gravon archive ("Strados").

    board = read_strados(text)
    strados_text(board)    # the text again
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vauban.board.stratego import Board
from vauban.errors import NotationError, VaubanError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import MOVABLE_TYPES, PLAYERS, TYPES
from vauban.games.stratego.switches import Rules
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.notation.stratego.moves import Move
from vauban.notation.stratego.position import PlacedPiece, Position
from vauban.notation.stratego.records import setups_of

RED_LETTERS = "CDEFGHIJKLMB"
"""One letter for each type, in the order of `TYPES`."""
BLUE_LETTERS = "OPQRSTUVWXYN"
EMPTY, LAKE = "A", "_"
MOVED, UNMOVED = ".", "@"
CELLS = 100
ACTIONS = 1800

_CLASSIC = VARIANTS["classic"]
_ACTIONS = Stratego("classic")


def parse_strados_board(text: str) -> Position:
    """Return the position behind a board string of 100 or 200 characters: red on turn, nothing played yet.

    Case says nothing in 100 characters. In 200, small letters are revealed pieces, and "." after a
    letter says that the piece has moved ("@": it has not).
    """
    if len(text) not in (CELLS, 2 * CELLS):
        raise NotationError(f"a board string has exactly {CELLS} or {2 * CELLS} characters, not {len(text)}")
    marked = len(text) == 2 * CELLS
    pieces = []
    for cell in range(CELLS):
        letter = text[2 * cell] if marked else text[cell]
        where = f"cell {cell} ({_CLASSIC.square_name(cell)}) of the board string"
        mark = text[2 * cell + 1] if marked else UNMOVED
        if mark not in (MOVED, UNMOVED):
            raise NotationError(f"{mark!r} after the letter of {where} is no mark: '.' is moved, '@' not moved")
        if (letter == LAKE) != (cell in _CLASSIC.lakes):
            raise NotationError(f"{letter!r} in {where}: '_' stands on the lakes and nowhere else")
        if letter in (EMPTY, EMPTY.lower(), LAKE):
            continue
        capital = letter.upper() if letter.isascii() else letter
        player = 0 if capital in RED_LETTERS else 1
        kind = (RED_LETTERS, BLUE_LETTERS)[player].find(capital)
        if kind < 0:
            raise NotationError(
                f"{letter!r} in {where} is no piece: B to M are red's, N to Y blue's, A is empty, '_' a lake"
            )
        if mark == MOVED and kind >= MOVABLE_TYPES:
            raise NotationError(f"{where} has a {PLAYERS[player]} {TYPES[kind]} that has moved, and it never moves")
        pieces.append(PlacedPiece(cell, player, kind, mark == MOVED, marked and letter.islower()))
    return Position(10, 10, _CLASSIC.lakes, tuple(pieces), 0, 0, 0, ((), ()), ((0, None), (0, None)), ())


def strados_board_text(position: Position, marks: bool = False) -> str:
    """Return the board string of a position on the classic board; the inverse of `parse_strados_board`.

    With `marks` it has 200 characters; what is not on the board (counters, history) is not in it.
    """
    if (position.rows, position.columns, position.lakes) != (10, 10, _CLASSIC.lakes):
        raise NotationError(
            f"a board string holds the classic board only, not one of {position.rows} × {position.columns}"
        )
    cells = [LAKE if cell in _CLASSIC.lakes else EMPTY.lower() for cell in range(CELLS)]
    after = [UNMOVED] * CELLS
    for piece in position.pieces:
        if piece.kind is None:
            raise NotationError("a board string has no letter for a hidden piece: write the position, not a view")
        letter = (RED_LETTERS, BLUE_LETTERS)[piece.player][piece.kind]
        cells[piece.square] = letter.lower() if marks and piece.revealed else letter
        after[piece.square] = MOVED if piece.moved else UNMOVED
    return "".join(cell + mark for cell, mark in zip(cells, after, strict=True)) if marks else "".join(cells)


def parse_action(number: int, player: int) -> Move:
    """Return the move behind an action number of a player on the classic board."""
    if not 0 <= number < ACTIONS:
        raise NotationError(f"action numbers go from 0 to {ACTIONS - 1}, not {number}")
    return Move(*_ACTIONS.decode(player, number))


def action_number(move: Move, player: int) -> int:
    """Return the action number of a move along a line; the inverse of `parse_action`."""
    return _ACTIONS.encode(player, *move)


def read_strados(
    text: str,
    variant: str | Variant | None = None,
    rules: str | Mapping[str, Any] | Rules | None = None,
) -> Board:
    """Return the game behind a board string and its action numbers, replayed by the given rules.

    Without a variant it is barrage if both sides have that army, else classic: any pieces may stand
    on that board.
    """
    lines = text.strip().splitlines()
    if not lines:
        raise NotationError("there is no board string: the text is empty")
    position = parse_strados_board(lines[0].strip())
    try:
        board = Board.from_position(position, variant or _named_variant(position), rules)
    except VaubanError as error:
        raise NotationError(f"line 1: {error}") from error
    for number, line in enumerate(lines[1:], 2):
        word = line.strip()
        if not (word.isascii() and word.isdigit() and len(word) <= 4):
            raise NotationError(f"line {number}: {line[:40]!r} is no action number (0 to {ACTIONS - 1})")
        try:
            board.push(parse_action(int(word), board.turn))
        except VaubanError as error:
            raise NotationError(f"line {number}: action {word}: {error}") from error
    return board


def strados_text(board: Board) -> str:
    """Return a board's whole game as board string and action numbers; the inverse of `read_strados`.

    200 characters are written only where pieces had moved or were revealed at the start.
    """
    start = board.start_position()
    if start.turn != 0:
        raise NotationError("a game in action numbers begins with red: this one begins with blue")
    if start.plies or start.battleless or any(start.trails) or start.chases != ((0, None), (0, None)):
        raise NotationError("a board string holds no history, and this game began in mid-game: write it as game text")
    marks = any(piece.moved or piece.revealed for piece in start.pieces)
    lines = [strados_board_text(start, marks)]
    lines += [str(action_number(played.move, played.player)) for played in board.history]
    return "\n".join(lines) + "\n"


def _named_variant(position: Position) -> str:
    return "barrage" if setups_of(position, VARIANTS["barrage"]) is not None else "classic"
