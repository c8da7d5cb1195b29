"""Moves as text (docs/notation.md): "a4a5", "e6xe7", "e6xe7(M>C)". Pure text: no board is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from vauban.errors import InvalidMoveError
from vauban.games.stratego.pieces import LETTERS, PLAYERS
from vauban.games.stratego.variants import FILES
from vauban.notation.game import Form
from vauban.words import shortened


class Grid(Protocol):
    """Anything with named squares: a `Variant`, a `Position`."""

    @property
    def rows(self) -> int: ...

    @property
    def columns(self) -> int: ...


class Move(NamedTuple):
    """A move from one square to another, as numbers in the absolute frame (0 is a1)."""

    source: int
    target: int


@dataclass(frozen=True)
class MoveText:
    """A move and what its text tells about it."""

    move: Move
    battle: bool = False
    """True if it is written with an x."""
    shown: tuple[int, int, str] | None = None
    """The battle that it showed: the attacker's type, the defender's, and ">", "<" or "="; None if not written."""


_SQUARE = re.compile(r"([a-z])([1-9][0-9]{0,2})", re.ASCII)
_MOVE = re.compile(r"([a-z][0-9]+)(x?)([a-z][0-9]+)(?:\((.*)\))?", re.ASCII)
_SHOWN = re.compile(rf"([{LETTERS}])([<>=])([{LETTERS}])")

EXAMPLE = "a move is written a4a5, a battle e6xe7 or e6xe7(M>C)"


def looks_like_a_move(text: str) -> bool:
    """Return whether a text has the form of a move on some board."""
    return _MOVE.fullmatch(text) is not None


FORM = Form(looks_like_a_move, EXAMPLE, PLAYERS)
"""The syntax of a game's moves: by turns, a number before each pair."""


def parse_square(name: str, grid: Grid) -> int:
    """Return the square of this name on a board of this size."""
    match = _SQUARE.fullmatch(name)
    if match is not None:
        row, column = int(match[2]) - 1, FILES.index(match[1])
        if row < grid.rows and column < grid.columns:
            return row * grid.columns + column
    last = square_text(grid.rows * grid.columns - 1, grid)
    raise InvalidMoveError(f"{shortened(name)} is no square of this board: squares go from a1 to {last}")


def square_text(square: int, grid: Grid) -> str:
    """Return a square's name, e.g. "a1"; the inverse of `parse_square`."""
    row, column = divmod(square, grid.columns)
    return f"{FILES[column]}{row + 1}"


def parse_move_text(text: str, variant: Grid) -> MoveText:
    """Return the move behind a text, on the board of a variant (or of a position).

    Only the text is judged. The board knows whether there is a piece to move and a battle to win.
    """
    match = _MOVE.fullmatch(text)
    if match is None:
        raise InvalidMoveError(f"{shortened(text)} is no move: {EXAMPLE}")
    try:
        move = Move(parse_square(match[1], variant), parse_square(match[3], variant))
    except InvalidMoveError as error:
        raise InvalidMoveError(f"{shortened(text)} is no move here: {error}") from None
    if move.source == move.target:
        raise InvalidMoveError(f"{shortened(text)} is no move: it ends where it begins")
    if not along_a_line(move, variant):
        raise InvalidMoveError(f"{shortened(text)} is no move: pieces move along a file or a rank, not diagonally")
    if match[4] is None:
        return MoveText(move, bool(match[2]))
    if not match[2]:
        raise InvalidMoveError(
            f"{shortened(text)} shows a battle without an x: write {match[1]}x{match[3]}({match[4]}), "
            f"or {match[1]}{match[3]} if there was none"
        )
    return MoveText(move, True, _parse_shown(match[4], text))


def move_text(written: MoveText, variant: Grid) -> str:
    """Return the text of a move; the inverse of `parse_move_text`."""
    source, target = (square_text(square, variant) for square in written.move)
    if written.shown is None:
        return f"{source}{'x' if written.battle else ''}{target}"
    attacker, defender, result = written.shown
    return f"{source}x{target}({LETTERS[attacker]}{result}{LETTERS[defender]})"


def along_a_line(move: Move, grid: Grid) -> bool:
    """Return whether a move goes along a file or a rank."""
    row, column = divmod(move.source, grid.columns)
    to_row, to_column = divmod(move.target, grid.columns)
    return (row == to_row) != (column == to_column)


def squares_between(move: Move, grid: Grid) -> range:
    """Return the squares that a move along a line passes over, from its source to its target, both left out."""
    step = 1 if move.source // grid.columns == move.target // grid.columns else grid.columns
    if move.target < move.source:
        step = -step
    return range(move.source + step, move.target, step)


def _parse_shown(shown: str, text: str) -> tuple[int, int, str]:
    match = _SHOWN.fullmatch(shown)
    if match is None:
        raise InvalidMoveError(
            f"{shortened(text)} does not say what its battle showed: in the brackets stand the attacker, '>', '<' "
            f"or '=', and the defender, e.g. (M>C), with the letters {LETTERS}"
        )
    return LETTERS.index(match[1]), LETTERS.index(match[3]), match[2]
