"""Review of a game of Geister: each side's forecasts, policies and beliefs, and the moments that decided the game.

The first player is called red and the second blue, as on the page. What it has in common with reviews of other games is
in `vauban.search.review`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from vauban.board.geister import Board
from vauban.board.geister.places import ends, home_square
from vauban.games.base import Game
from vauban.games.geister.game import Geister
from vauban.search import review as base
from vauban.search.geister.moments import Said, told, weighty
from vauban.search.moments import SIDES, Moment


class Standing(NamedTuple):
    """A ghost on the board, as it truly is."""

    player: int
    kind: int
    """0 for a good ghost, 1 for an evil one."""
    identity: int
    """The square on which it started."""
    revealed: bool
    """Whether everybody can tell that it is evil."""
    letter: str
    """Capital for the first player, small for the second."""


class Move(NamedTuple):
    """A move by its places: squares, or a gate."""

    source: str
    target: str


@dataclass(frozen=True, eq=False)
class Review(base.Review):
    """A game of Geister that has been looked back on."""

    said = Said

    @staticmethod
    def standing(board: Board) -> Mapping[int, Standing]:
        ghosts = [ghost for player in (0, 1) for ghost in board.ghosts(player)]
        return {
            ghost.square: Standing(
                ghost.player,
                int(bool(ghost.evil)),
                home_square(board.game, ghost.player, ghost.number),
                ghost.proven,
                ghost.letter,
            )
            for ghost in ghosts
            if ghost.square is not None
        }

    @staticmethod
    def move_in(game: Game, player: int, action: int) -> Move:
        assert isinstance(game, Geister)
        return Move(*ends(game, player, action))

    def squares_json(self, move: Move) -> dict[str, str]:
        return {"from": move.source, "to": move.target}

    def move_json(self, ply: int) -> dict[str, Any]:
        played = self.board.history[ply - 1]
        captured = played.captured
        return {
            "text": played.text,
            "captured": None if captured is None else {"type": captured.colour, "letter": captured.letter},
            "escaped": played.escaped,
        }

    def details_json(self) -> dict[str, Any]:
        board = self.board
        rows = [[int(bool(ghost.evil)) for ghost in board.ghosts(player)] for player in (0, 1)]
        return {
            "truth": {side: board.game.setups.text(row) for side, row in zip(SIDES, rows, strict=True)},
            "captured": {
                side: [told(ghost.colour, ghost.letter) for ghost in board.captured(player)]
                for player, side in enumerate(SIDES)
            },
        }

    def weighty(self) -> list[Moment]:
        return weighty(self)
