"""The fixed setups as our setup texts: back row first, each row from the owner's left."""

from __future__ import annotations

from vauban.games.stratego.pieces import LETTERS

from .common import RANKS

BASE = ("FB8sB479B8", "BB31555583", "6724898974", "967B669999")
"""asmodeus, vixen and hunter: rows from the back to the front, columns from a to j, for both colours."""
CELSIUS = ("FB8sB979B8", "BB99555583", "6724898974", "B314676699")
PETERNLEWIS = ("8BFB67B7B7", "48B3862B89", "6359954865", "997159s499")


def setup_text(rows: tuple[str, ...], player: int, *, mirror: bool = False) -> str:
    """Return the text of a setup for a player.

    Both colours have the same columns from a to j; blue looks at them from the other side, so that in
    its own view every row is turned round.
    """
    turned = mirror != (player == 1)
    return "/".join("".join(LETTERS[RANKS.index(rank)] for rank in (row[::-1] if turned else row)) for row in rows)
