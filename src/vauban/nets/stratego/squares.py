"""Squares of Stratego's boards on which no piece can stand."""

from __future__ import annotations

from vauban.games.stratego.game import Stratego


def barred(game: Stratego) -> tuple[int, ...]:
    """Return the lakes."""
    return tuple(game.variant.lakes)
