"""Boards of Stratego in steps."""

from vauban.board.stratego_steps.board import Board, View

__all__ = ["Board", "View"]
