"""Ambush on the page: how a family of games gets a drawing of its own (docs/page.md).

A package that offers it names it in its entry points, beside the game of ambush.py:

    [project.entry-points."vauban.games"]
    ambush = "ambush:Ambush"
    [project.entry-points."vauban.shows"]
    ambush = "ambush_show:SHOW"

The page draws it by ambush_page/ambush.js.
"""

from pathlib import Path
from typing import Any

from vauban.games import base
from vauban.games.squares import SECOND
from vauban.web.plain import PlainShow
from vauban.web.show import SIDES, Json

TYPES = {1: "king", 2: "guard"}
"""By kind; a piece that is hidden has none."""
ARMY = {"king": 1, "guard": 1}


class AmbushShow(PlainShow):
    """All else is as for any game."""

    family = "ambush"
    offered = ("ambush",)
    screens = ("rules",)
    files = Path(__file__).with_name("ambush_page")

    def offer(self, variant: str) -> Json:
        rows, columns = base.game(variant).board
        return {"rows": rows, "columns": columns, "army": ARMY}

    def position(self, look: Any, viewer: int | None) -> Json:
        pieces = _pieces(look)
        own = None if viewer is None or look.is_over else SIDES[viewer]
        legal = list(look.legal_moves) if own is not None and look.turn == viewer else []
        reach: dict[str, dict[str, str]] = {piece["at"]: {} for piece in pieces if piece["side"] == own}
        for move in legal:
            reach[move[:2]][move[2:]] = move
        return {"pieces": pieces, "legal": legal, "reach": reach}

    def move(self, board: Any, played: Any, viewer: int | None) -> Json:
        return {"from": played.text[:2], "to": played.text[2:], "text": played.text}

    def explain(self, view: Any, text: str) -> Json:
        said = {"from": text[:2], "to": text[2:]}
        return said | {"code": "legal" if text in view.legal_moves else "illegal"}


def _pieces(look: Any) -> list[Json]:
    """Return what stands on the board, each piece with the square that it started from."""
    game, record = look.game, look.snapshot().record(0)
    pieces = []
    for square, code in enumerate(record.bytes[-game.start_size :].tolist()):
        if code:
            at = game.square_name(square)
            started = at
            for played in reversed(look.history):
                if played.text[2:] == started:
                    started = played.text[:2]
            kind, owner = code % SECOND, code // SECOND
            pieces.append({"at": at, "side": SIDES[owner], "type": TYPES.get(kind), "from": started})
    return pieces


SHOW = AmbushShow()
