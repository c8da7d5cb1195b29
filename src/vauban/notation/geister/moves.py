"""Moves as text: "b2b3", and "a6n" for a ghost that leaves the board. Pure text: no board is asked."""

from __future__ import annotations

import re

from vauban.notation.game import Form

PLAYERS = ("first", "second")
_MOVE = re.compile(r"[a-z][0-9]+(?:[a-z][0-9]+|[news])", re.ASCII)

EXAMPLE = "a move is written b2b3, an escape a6n"


def looks_like_a_move(text: str) -> bool:
    """Return whether a text has the form of a move on some board."""
    return _MOVE.fullmatch(text) is not None


FORM = Form(looks_like_a_move, EXAMPLE, PLAYERS)
"""The syntax of a game's moves: by turns, a number before each pair."""
