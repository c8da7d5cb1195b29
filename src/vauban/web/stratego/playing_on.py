"""Playing on from a position of a finished game: the same moves up to there, then others.

The new game is an ordinary one, with setups and moves of its own. Its hidden pieces are what they were, or drawn anew
among all that the player could not know; either way the moves up to there are legal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vauban.board.stratego import Board
from vauban.notation.stratego.position import Position
from vauban.notation.stratego.records import setups_of
from vauban.web.show import TableError


def setups_with(board: Board, hidden: Mapping[int, int]) -> tuple[str, str]:
    """Return the setups from which a game came to where it is, if the pieces on these squares are of these types."""
    if board.outcome() is not None:
        raise TableError("ply", "The game is over here: nothing is left to play.", "ply.over")
    setups = setups_of(_start_with(board, hidden), board.variant)
    if setups is None:
        text = "This record does not begin at the start of a game, so it cannot be played on."
        raise TableError("ply", text, "ply.start")
    return setups


def board_with(board: Board, hidden: Mapping[int, int]) -> Board:
    """Return the same game, if the pieces on these squares are of these types."""
    found = Board.from_position(_start_with(board, hidden), board.variant, board.rules)
    for played in board.history:
        found.push(played.move)
    return found


def _start_with(board: Board, hidden: Mapping[int, int]) -> Position:
    pieces = board.pieces()
    types = {pieces[square].identity: kind for square, kind in hidden.items()}
    start = board.start_position()
    changed = tuple(replace(piece, kind=types.get(piece.square, piece.kind)) for piece in start.pieces)
    return replace(start, pieces=changed)
