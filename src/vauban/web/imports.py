"""`imported`: a recorded game to look back on, of any family: our notation, and what `vauban.notation.formats` makes of
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vauban.errors import NotationError, VaubanError
from vauban.games import base
from vauban.notation.formats import to_notation
from vauban.notation.game import OLDEST, GameText, parse_games
from vauban.notation.records import replay, write_game
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
    texts = parse_games(to_notation(text))
    if not texts:
        raise TableError("import", "There is no game in it.", "import.empty")
    looked_back_on = [name for name in variants if show_of(name).looks_back]
    _check_game(texts[0], looked_back_on)
    if len(texts[0].moves) > LONGEST:
        raise _too_long(len(texts[0].moves))
    try:
        game = replay(texts[0])
    except VaubanError as error:
        raise NotationError(f"game 1: {error}") from error
    if game.board is None:
        words = "Some pieces of this game are not known (U), so it cannot be shown on a board."
        raise TableError("import", words, "import.unknown")
    if game.game.name not in looked_back_on:
        raise _not_shown(game.game.name, looked_back_on)
    if len(game.board.history) > LONGEST:
        raise _too_long(len(game.board.history))
    # Records name players as their game does.
    players = [name.title() for name in game.game.players]
    red, blue = (game.headers.get(name, side.title())[:60] for name, side in zip(players, SIDES, strict=True))
    kept = {key: value for key, value in game.headers.items() if key in (*players, "Date")}
    if game.board.outcome() is None:
        kept |= {"Result": game.result, "End": game.end or "unfinished"}
    return Imported(game.game.name, write_game(game.board, kept), (red, blue), len(texts))


def _check_game(text: GameText, variants: Sequence[str]) -> None:
    """Refuse a text of another game before that is made: its header Game may name a file with code, or a huge game."""
    name = text.headers.get("Game", OLDEST)
    known = [told for each in variants for told in (show_of(each).family, base.game(each).definition())]
    if name not in known:
        raise _not_shown(name, variants)


def _not_shown(name: str, variants: Sequence[str]) -> TableError:
    shown = ", ".join(variants)
    words = f"The game is {name[:40]!r}, and only these can be shown: {shown}."
    return TableError("import", words, "import.variant", games=shown)


def _too_long(moves: int) -> TableError:
    words = f"The game has {moves} moves: more than {LONGEST} cannot be shown."
    return TableError("import", words, "import.long", most=LONGEST)
