"""One game of Stratego: pieces, squares, setups as text, barred moves with their reasons, pictures."""

from vauban.board.stratego.board import Board, View
from vauban.board.stratego.look import FAULTS, Barred, Battle, LegalMoves, Look, Piece, Played

__all__ = ["FAULTS", "Barred", "Battle", "Board", "LegalMoves", "Look", "Piece", "Played", "View"]
