"""`Board` and `View`: one game, for people (docs/board.md)."""

from vauban.board.stratego import Board, View

__all__ = ["Board", "View"]
