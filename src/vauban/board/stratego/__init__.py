"""One game of Stratego: pieces, squares, setups as text, barred moves with their reasons, pictures."""

from vauban.board.stratego.board import FAULTS, Barred, Battle, Board, LegalMoves, Look, Piece, Played, View

__all__ = ["FAULTS", "Barred", "Battle", "Board", "LegalMoves", "Look", "Piece", "Played", "View"]
