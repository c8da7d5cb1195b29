"""Lines: moves of one's own from a position of a finished game; and positions that somebody puts together.

    board = read_line(table, 12, ["e4e5", "e7e6"])
    found = read_position("barrage", {"text": "…"})

An analysis board is a finished game, or an import without moves, and lines: the server says what may be played in
them, and keeps none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vauban.errors import VaubanError
from vauban.web.show import SIDES, Json, Placed, Show, TableError, no_way_back, show_of
from vauban.web.table import Table
from vauban.words import sentence

MOST_MOVES = 500
"""Longest line, in moves of one's own."""
MOST_PIECES = 200
"""Pieces of a position, at most."""


def read_line(table: Table, ply: int, moves: Sequence[str]) -> Any:
    """Return a board after these moves of one's own, made after so many moves of the game."""
    if moves and not table.show.looks_back:
        raise no_way_back()
    if len(moves) > MOST_MOVES:
        raise TableError("ply", f"A line has {MOST_MOVES} moves at most.", "line.long", most=MOST_MOVES)
    board = table.board_at(ply)
    for text in moves:
        if board.outcome() is not None:
            raise TableError("ply", "The game is over here: nothing is left to play.", "ply.over")
        board.push(table.show.read_move(board, text))
    return board


def read_position(variant: str, wanted: Json) -> Any:
    """Return a board with the position that is given as `text`, or as `pieces` and `turn`."""
    show = show_of(variant)
    if not show.looks_back:
        raise no_way_back()
    text = wanted.get("text")
    try:
        if not isinstance(text, str):
            text = show.position_text(variant, _pieces(show, variant, wanted.get("pieces")), _turn(wanted))
        board = show.place(variant, " ".join(text.split()))
    except TableError:
        raise
    except VaubanError as error:
        raise TableError("position", sentence(error)) from error
    if board.outcome() is not None:
        raise TableError("position", "The game is over in this position.", "position.over")
    return board


def position_json(variant: str, board: Any) -> Json:
    """Return a position that was put together: as text, and as pieces."""
    show = show_of(variant)
    pieces = show.position(board, None)["pieces"]
    return {"text": show.position_of(board), "turn": SIDES[board.turn], "pieces": pieces}


def setup_pieces(variant: str, wanted: Json) -> Json:
    """Return the pieces of a side's `setup`, where they stand before the first move."""
    show, side = show_of(variant), wanted.get("side")
    if not show.looks_back:
        raise no_way_back()
    if side not in SIDES:
        raise TableError("side", f"A side is red or blue, not {str(side)[:20]!r}.")
    setup = show.read_setup(variant, wanted.get("setup"))
    return {"pieces": show.before(variant, setup, SIDES.index(side))["pieces"]}


def _pieces(show: Show, variant: str, given: Any) -> list[Placed]:
    """Return the pieces that somebody has put on a board; refuses whatever is none."""
    offered = show.offer(variant)
    columns, rows, kinds = offered["columns"], offered["rows"], offered["army"]
    squares = {f"{chr(97 + column)}{row}" for column in range(columns) for row in range(1, rows + 1)}
    if not isinstance(given, list) or len(given) > MOST_PIECES:
        raise TableError("message", "'text' is a position, or 'pieces' are its pieces.")
    found = []
    for each in given:
        at, side, kind = (str(each.get(key)) for key in ("at", "side", "type")) if isinstance(each, dict) else ("",) * 3
        if at not in squares or side not in SIDES or kind not in kinds:
            raise TableError("message", "A piece has a square (at), a side and a type of this game.")
        marks = {mark: mark in show.marks and each.get(mark) is True for mark in ("moved", "revealed")}
        found.append(Placed(at, SIDES.index(side), kind, **marks))
    if len({each.at for each in found}) < len(found):
        raise TableError("message", "Two pieces stand on one square.")
    return found


def _turn(wanted: Json) -> int:
    turn = wanted.get("turn")
    if turn not in SIDES:
        raise TableError("side", f"On turn is red or blue, not {str(turn)[:20]!r}.")
    return SIDES.index(turn)
