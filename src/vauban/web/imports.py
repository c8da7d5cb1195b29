"""Recorded games, to look back on: our notation, board strings with action numbers, UCC logs, Gravon files."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from vauban.board import Board
from vauban.errors import NotationError, VaubanError
from vauban.notation.gravon import import_gravon
from vauban.notation.records import read_games, write_game
from vauban.notation.strados import read_strados
from vauban.notation.ucc import read_log

LONGEST = 4_000
"""Plies of a game that can be looked back on."""


class Imported(NamedTuple):
    """A recorded game."""

    variant: str
    record: str
    """The game in our notation."""
    names: tuple[str, str]
    """Of red and blue."""
    games: int
    """How many there are in the text; this is the first."""


def imported(text: str, variants: Sequence[str]) -> Imported:
    """The game of a text; of several, the first. Only these variants are taken."""
    board, headers, games = _read(text.lstrip("\ufeff").strip())
    if board.variant.name not in variants:
        raise NotationError(f"the game is {board.variant.name!r}, and only these can be shown: {', '.join(variants)}")
    if len(board.history) > LONGEST:
        raise NotationError(f"the game has {len(board.history)} moves: more than {LONGEST} cannot be shown")
    names = (headers.get("Red", "Red")[:60], headers.get("Blue", "Blue")[:60])
    kept = {key: value for key, value in headers.items() if key in ("Red", "Blue", "Date", "Result", "End")}
    return Imported(board.variant.name, write_game(board, kept), names, games)


def _read(text: str) -> tuple[Board, dict[str, str], int]:
    """The first game, its headers, and how many there are."""
    count = 1
    if not text:
        raise NotationError("there is no game in it: the text is empty")
    first = text.splitlines()[0]
    if text.startswith("<"):
        return *_read_gravon(text), 1
    if len(first.strip()) in (100, 200) and " " not in first.strip():
        return read_strados(text), {}, 1
    if not text.startswith(("[", "{", "1")):
        try:
            game = read_log(text)
        except VaubanError as error:
            raise NotationError(
                "this is no game that can be read: neither our notation, which begins with headers such as "
                f'[Variant "barrage"], nor a board string, nor a log ({error})'
            ) from error
    else:
        games = read_games(text)
        if not games:
            raise NotationError("there is no game in it")
        game, count = games[0], len(games)
    if game.board is None:
        raise NotationError("some pieces of this game are not known (U), so it cannot be shown on a board")
    found = dict(game.headers)
    if game.board.outcome() is None:
        found |= {"Result": game.result, "End": game.end or "unfinished"}
    return game.board, found, count


def _read_gravon(text: str) -> tuple[Board, dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "game.xml"
        file.write_text(text, encoding="utf-8")
        report = import_gravon([file], keep_prefix=True)
    if not report.games:
        raise NotationError(report.refusals[0].reason if report.refusals else "there is no game in it")
    [game] = read_games(report.games[0].text)
    assert game.board is not None
    return game.board, dict(game.headers) | {"Red": "Red", "Blue": "Blue"}
