"""One page about one game of Stratego."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vauban.board.stratego import Board, Piece, picture
from vauban.games.stratego.pieces import PLAYERS, RANKS, TYPES
from vauban.search.stratego.review import Review
from vauban.web import report as base

LEFT, TOP = 20, 4
"""The first square's place in `picture.svg`."""
FATES = {">": "wins", "<": "falls", "=": "both fall"}


class Report(base.Report):
    """The page about a game of Stratego."""

    moment_words = {  # noqa: RUF012
        "loss": "lost ground", "belief": "believed", "surprise": "was surprised", "flag": "captured the Flag",
    }  # fmt: skip
    kinds = TYPES
    first_kind = "Flag"
    cell = 40
    piece_word, pieces_word = "piece", "pieces"

    def picture(self, board: Board, size: int) -> str:
        return picture.svg(board, size)

    def corner(self, square: int) -> base.Spot:
        v = self.found.board.variant
        row, column = divmod(square, v.columns)
        return LEFT + column * self.cell, TOP + (v.rows - 1 - row) * self.cell

    def says(self, ply: int) -> str:
        played = self.found.board.history[ply - 1]
        source, target = (self.found.board.variant.square_name(square) for square in played.move)
        who = f"{ply}. {PLAYERS[played.player]}"
        battle = played.battle
        if battle is None:
            return f"{who} {source}–{target}"
        attacker, defender = TYPES[battle.attacker], TYPES[battle.defender]
        return f"{who} {source}–{target}: {attacker} attacks {defender}, {FATES[battle.result]}"

    def kinds_here(self) -> Sequence[int]:
        return [kind for kind in range(len(TYPES)) if self.found.board.variant.army[kind]]

    def piece_name(self, piece: Piece) -> str:
        return TYPES[piece.kind or 0]

    def row_name(self, piece: Piece) -> str:
        return f"{TYPES[piece.kind or 0]} ({RANKS[piece.kind or 0]})"


def report_html(found: Review, headers: Mapping[str, str] | None = None, result: str | None = None) -> str:
    """Return the page about a game that has been looked back on (`vauban.web.report.Report.html`)."""
    return Report(found).html(headers, result)
