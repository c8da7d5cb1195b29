"""`Board` and `View`: one game, for people (docs/board.md)."""

from vauban.board.base import Board, Look, Played, View

__all__ = ["Board", "Look", "Played", "View"]
