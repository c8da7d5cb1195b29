"""`imported`: a recorded game to look back on, of any family: our notation, and what `vauban.notation.formats` makes of
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vauban.notation.formats import to_notation
from vauban.notation.records import read_games, write_game
from vauban.web.show import SIDES, TableError, show_of

LONGEST = 4_000
"""Longest game that can be looked back on, in plies."""


class Imported(NamedTuple):
    """A recorded game from elsewhere, to look back on."""

    variant: str
    record: str
    """The game in our notation."""
    names: tuple[str, str]
    """Of the players."""
    games: int
    """Number of games in the text; this is the first."""


def imported(text: str, variants: Sequence[str]) -> Imported:
    """Read the game of a text; of several, the first. Only these variants are taken."""
    if not text.strip():
        raise TableError("import", "There is no game in it: the text is empty.", "import.empty")
    games = read_games(to_notation(text))
    if not games:
        raise TableError("import", "There is no game in it.", "import.empty")
    game = games[0]
    if game.board is None:
        words = "Some pieces of this game are not known (U), so it cannot be shown on a board."
        raise TableError("import", words, "import.unknown")
    looked_back_on = [name for name in variants if show_of(name).looks_back]
    if game.game.name not in looked_back_on:
        shown = ", ".join(looked_back_on)
        words = f"The game is {game.game.name!r}, and only these can be shown: {shown}."
        raise TableError("import", words, "import.variant", games=shown)
    if len(game.board.history) > LONGEST:
        words = f"The game has {len(game.board.history)} moves: more than {LONGEST} cannot be shown."
        raise TableError("import", words, "import.long", most=LONGEST)
    # Records name players as their game does.
    players = [name.title() for name in game.game.players]
    red, blue = (game.headers.get(name, side.title())[:60] for name, side in zip(players, SIDES, strict=True))
    kept = {key: value for key, value in game.headers.items() if key in (*players, "Date")}
    if game.board.outcome() is None:
        kept |= {"Result": game.result, "End": game.end or "unfinished"}
    return Imported(game.game.name, write_game(game.board, kept), (red, blue), len(games))
