"""One page about one game of Geister."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vauban.board.geister import Board, picture
from vauban.board.geister.places import gates
from vauban.search.geister.moments import COLOURS
from vauban.search.geister.review import Review, Standing
from vauban.search.moments import SIDES
from vauban.web import report as base


class Report(base.Report):
    """The page about a game of Geister."""

    moment_words = {  # noqa: RUF012
        "end": "won", "missed": "missed an escape", "unstopped": "let a ghost go", "loss": "lost ground",
        "belief": "believed", "surprise": "was surprised", "one_left": "came close",
    }  # fmt: skip
    kinds = COLOURS
    first_kind = "evil"
    cell = picture.CELL
    offset = (4.0, 3.0)
    # Red's ghosts are red here and blue's blue; good ones are pale, with a halo, and evil ones have horns.
    style = "".join(
        f".vg-{player} .vg-good{{fill:#fff7ea;stroke:{colour};stroke-width:2.5}}"
        f".vg-{player} .vg-evil{{fill:{colour}}}.vg-{player} .vg-good~text{{fill:{colour}}}"
        for player, colour in (("first", "#b3392f"), ("second", "#27598f"))
    )
    dashed = False
    piece_word, pieces_word = "ghost", "ghosts"
    gone_words = ("Gone", "is gone", "was known to be evil")

    def picture(self, board: Board, size: int) -> str:
        return board.svg(size)

    def corner(self, square: int) -> base.Spot:
        row, column = divmod(square, self.found.board.variant.width)
        return picture.EDGE + column * self.cell, picture.TRAY + 4 + row * self.cell

    def places(self) -> dict[str, base.Spot]:
        found = super().places()
        game = self.found.board.game
        for gate, player in gates(game).items():
            x, y = found[gate[0] + (str(game.variant.height) if player == 0 else "1")]
            found[gate] = (x, y + (-self.cell if player == 0 else self.cell))
        return found

    def says(self, ply: int) -> str:
        played, move = self.found.board.history[ply - 1], self.found.move_made(ply)
        said = f"{ply}. {SIDES[played.player]} {move.source}–{move.target}"
        if played.escaped:
            return f"{said}: the ghost escapes"
        taken = played.captured
        return said if taken is None else f"{said}: takes {taken.colour} ghost {taken.letter}"

    def kinds_here(self) -> Sequence[int]:
        return range(len(COLOURS))

    def piece_name(self, piece: Standing) -> str:
        return f"{COLOURS[piece.kind]} ghost {piece.letter}"

    def row_name(self, piece: Standing) -> str:
        return f"{piece.letter}, {COLOURS[piece.kind]}"


def report_html(found: Review, headers: Mapping[str, str] | None = None, result: str | None = None) -> str:
    """Return the page about a game that has been looked back on (`vauban.web.report.Report.html`)."""
    return Report(found).html(headers, result)
