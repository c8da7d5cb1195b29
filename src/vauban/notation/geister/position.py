"""Positions of Geister as one line of text (docs/geister.md), without a board.

    1hgfe1/1dcba1/6/6/1ABCD1/1EFGH1 f RRRRBBBB BRRRRBBB 0

Rows from the far one to the first player's own, capitals for the first player's ghosts; who is on turn; what is known
of each player's ghosts, in the order of their letters; plies played. `?` stands for a colour that is not known: a view.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vauban.errors import NotationError
from vauban.games.geister.variants import LETTERS
from vauban.words import shortened

GOOD, EVIL, PROVEN, UNKNOWN = "BRP?"
"""A ghost on the board: good (blue), evil (red), evil as everybody can tell, or not known."""
CAPTURED_GOOD, CAPTURED_EVIL, ESCAPED = "bre"
"""A ghost that is gone."""
ON_BOARD, GONE = GOOD + EVIL + PROVEN + UNKNOWN, CAPTURED_GOOD + CAPTURED_EVIL + ESCAPED
TURNS = "fs"
"""The first player, the second."""
MOST_PLIES = 10**9
SIDES = (LETTERS, LETTERS.lower())

Places = tuple[int | None, ...]


@dataclass(frozen=True)
class Position:
    """A position: the squares of all ghosts, what is known of them, and who is on turn."""

    width: int
    height: int
    places: tuple[Places, Places]
    """By player and ghost: its square; None if it is gone."""
    known: tuple[str, str]
    """By player and ghost: a letter of `ON_BOARD` or `GONE`."""
    turn: int
    plies: int

    @property
    def is_view(self) -> bool:
        """Whether some colours are not known."""
        return any(UNKNOWN in known for known in self.known)


_FIELDS = re.compile(rf"(\S+) ([{TURNS}]) ([{ON_BOARD}{GONE}]+) ([{ON_BOARD}{GONE}]+) (0|[1-9][0-9]{{0,9}})", re.ASCII)
_CELL = re.compile(rf"[1-9][0-9]*|[{LETTERS}{LETTERS.lower()}]", re.ASCII)


def parse_position(text: str) -> Position:
    """Return the position behind a text; only the text is judged, not whether it fits a board and its rules."""
    match = _FIELDS.fullmatch(text)
    if match is None:
        raise NotationError(
            f"{shortened(text)} is no position: it has the rows of the board, f or s for who is on turn, the colours "
            "of either player's ghosts and the plies played, such as b1a/3/A1B f BR RB 0"
        )
    rows, turn, first, second, plies = match.groups()
    if int(plies) > MOST_PLIES:
        raise NotationError(f"a position is at most {MOST_PLIES:,} plies old, not {plies}")
    squares, width, height = _parse_rows(rows)
    places = tuple(_places(squares, player, known) for player, known in enumerate((first, second)))
    return Position(width, height, (places[0], places[1]), (first, second), TURNS.index(turn), int(plies))


def _parse_rows(text: str) -> tuple[dict[str, int], int, int]:
    """Return the squares by letter, and the size of the board."""
    squares: dict[str, int] = {}
    widths = set()
    rows = text.split("/")
    square = 0
    for row in rows:
        cells = _CELL.findall(row)
        if "".join(cells) != row or not cells:
            raise NotationError(f"the row {shortened(row)} is written as ghosts (A–H, a–h) and numbers of free squares")
        width = 0
        for cell in cells:
            if cell.isalpha():
                if cell in squares:
                    raise NotationError(f"the ghost {cell} stands on two squares")
                squares[cell] = square + width
            width += 1 if cell.isalpha() else min(int(cell[:4]), 99)
        widths.add(width)
        square += width
    if len(widths) > 1:
        raise NotationError(f"the rows of {shortened(text)} are not equally long")
    return squares, widths.pop(), len(rows)


def _places(squares: dict[str, int], player: int, known: str) -> Places:
    """Return the squares of a player's ghosts; refuse letters that say otherwise."""
    letters = SIDES[player]
    if len(known) > len(letters):
        raise NotationError(f"the colours {known} are of {len(known)} ghosts, and a player has at most {len(letters)}")
    extra = [letter for letter in letters[len(known) :] if letter in squares]
    if extra:
        raise NotationError(f"the ghost {extra[0]} stands on the board, and the colours {known} leave it out")
    for letter, each in zip(letters, known, strict=False):
        if (letter in squares) != (each in ON_BOARD):
            where = "stands on the board" if letter in squares else "is on no square"
            raise NotationError(f"the ghost {letter} {where}, and {each!r} says otherwise")
    return tuple(squares.get(letter) for letter in letters[: len(known)])


def position_text(position: Position) -> str:
    """Return a position as text; the inverse of `parse_position`."""
    letters = {
        square: SIDES[player][ghost]
        for player, places in enumerate(position.places)
        for ghost, square in enumerate(places)
        if square is not None
    }
    rows = []
    for row in range(position.height):
        cells = [letters.get(position.width * row + column, ".") for column in range(position.width)]
        rows.append(re.sub(r"\.+", lambda free: str(len(free[0])), "".join(cells)))
    return " ".join(["/".join(rows), TURNS[position.turn], *position.known, str(position.plies)])
