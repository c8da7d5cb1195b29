"""The headers of a game text that name, or describe, a board of Geister and its rules."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vauban.errors import NotationError
from vauban.games.base import Game, nearest
from vauban.games.geister import Geister
from vauban.games.geister.variants import VARIANTS, Variant

USUAL = "geister"
HEADERS = ("Variant", "Board", "Rules")
"""The headers that `game_of` reads and `headers_of` writes."""
_BOARD = re.compile(r"(\d{1,2}) ?[x×] ?(\d{1,2}); ?starts((?: \d{1,2},\d{1,2})+); ?(\d) good; ?(\d) evil", re.ASCII)


def game_of(headers: Mapping[str, str]) -> Game:
    """Return the game that a text's headers tell."""
    return Geister(_variant_of(headers), headers.get("Rules"))


def headers_of(game: Game) -> dict[str, str]:
    """Return the headers that tell a game; the inverse of `game_of`."""
    assert isinstance(game, Geister)
    v = game.variant
    shipped = VARIANTS.get(v.name)
    headers = {"Variant": v.name, "Rules": game.rules.text}
    if shipped is None:
        starts = " ".join(f"{x},{y}" for x, y in v.starts)
        headers["Board"] = f"{v.width} x {v.height}; starts {starts}; {v.good} good; {v.evil} evil"
    elif not Geister(shipped).same_board(game):
        raise NotationError(f"there is another variant with the name {v.name!r}: rename yours before writing games")
    return headers


def _variant_of(headers: Mapping[str, str]) -> Variant:
    """Return the board that the headers name, or describe."""
    name, board = headers.get("Variant", USUAL), headers.get("Board")
    shipped = VARIANTS.get(name)
    if board is None:
        if shipped is None:
            raise NotationError(
                f"there is no variant {name!r}: {nearest(name, list(VARIANTS))} (a board of your own needs the header "
                "Board)"
            )
        return shipped
    match = _BOARD.fullmatch(board)
    if match is None:
        raise NotationError(f"the Board {board!r} is not written 'width x height; starts x,y x,y …; n good; n evil'")
    pairs = tuple((int(x), int(y)) for x, y in (pair.split(",") for pair in match[3].split()))
    described = Variant(name, int(match[1]), int(match[2]), pairs, int(match[4]), int(match[5]))
    if shipped is not None and not Geister(shipped).same_board(Geister(described)):
        raise NotationError(f"the header Board describes another board than {name!r}, a known one: rename it")
    return shipped or described
