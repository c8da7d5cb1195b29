"""One game of Geister: ghosts, squares, positions as text, moves refused with their reasons, pictures."""

from vauban.board.geister.board import Board, View
from vauban.board.geister.look import Ghost, Look, Played

__all__ = ["Board", "Ghost", "Look", "Played", "View"]
