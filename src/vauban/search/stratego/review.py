"""Review of a game of Stratego: each side's forecasts, policies and beliefs, and the moments that decided the game.

What it has in common with reviews of other games is in `vauban.search.review`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vauban.board.stratego import Board, Piece
from vauban.games.base import Game
from vauban.games.stratego.pieces import TYPES
from vauban.notation.stratego.moves import Move, MoveText, move_text
from vauban.notation.stratego.position import position_text
from vauban.notation.stratego.records import setups_of
from vauban.search import review as base
from vauban.search.moments import SIDES, Moment
from vauban.search.stratego.moments import Said, located, weighty
from vauban.sim.store import Snapshot


@dataclass(frozen=True, eq=False)
class Review(base.Review):
    """A game of Stratego that has been looked back on."""

    said = Said

    @staticmethod
    def standing(board: Board) -> Mapping[int, Piece]:
        return board.pieces()

    @staticmethod
    def bound(piece: Piece) -> bool:
        return piece.moved

    @staticmethod
    def views(positions: Sequence[Board], side: int, places: Sequence[int]) -> Snapshot:
        # Rules that look back without a bound need room for all the quiet plies of the game.
        format = positions[0].game.format(plies=max(each.quiet for each in positions))
        return Snapshot.join([positions[place].view(side).snapshot(format) for place in places])

    @staticmethod
    def move_in(game: Game, player: int, action: int) -> Move:
        return Move(*game.decode(player, action))  # type: ignore[attr-defined]

    def move_made(self, ply: int) -> Move:
        move: Move = self.board.history[ply - 1].move
        return move

    def squares_json(self, move: Move) -> dict[str, str]:
        source, target = (self.board.variant.square_name(square) for square in move)
        return {"from": source, "to": target}

    def move_json(self, ply: int) -> dict[str, Any]:
        played = self.board.history[ply - 1]
        battle = played.battle
        shown = None if battle is None else (battle.attacker, battle.defender, battle.result)
        return {
            "text": move_text(MoveText(played.move, battle is not None, shown), self.board.variant),
            "battle": None
            if battle is None
            else {
                "attacker": TYPES[battle.attacker].lower(),
                "defender": TYPES[battle.defender].lower(),
                "result": battle.result,
            },
        }

    def details_json(self) -> dict[str, Any]:
        board, name = self.board, self.board.variant.square_name
        start = board.start_position()
        setups = setups_of(start, board.variant)
        return {
            "truth": {"position": position_text(start)} if setups is None else dict(zip(SIDES, setups, strict=True)),
            "captured": {
                side: [TYPES[kind].lower() for kind in board.captured(player)] for player, side in enumerate(SIDES)
            },
            "located": {
                side: None if found is None else {"ply": found[0], "at": name(found[1])}
                for side, found in zip(SIDES, (located(self, player) for player in (0, 1)), strict=True)
            },
        }

    def weighty(self) -> list[Moment]:
        return weighty(self)
