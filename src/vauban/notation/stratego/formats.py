"""Games of Stratego in the formats of others: board strings with action numbers (Strados), UCC logs, Gravon files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from vauban.errors import NotationError, VaubanError
from vauban.notation.records import write_game
from vauban.notation.stratego.gravon import import_gravon
from vauban.notation.stratego.strados import CELLS, read_strados
from vauban.notation.stratego.ucc import read_log


def to_notation(data: bytes) -> str:
    """Return a game in our notation from another format; a Gravon file says itself how to decode it."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _from_gravon(data)
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise NotationError(f"this is no text: {error}") from error
    first = text.partition("\n")[0].strip()
    if len(first) in (CELLS, 2 * CELLS) and " " not in first:
        return write_game(read_strados(text))
    return _from_log(text)


def _from_log(text: str) -> str:
    try:
        game = read_log(text)
    except VaubanError as error:
        raise NotationError(
            "this is no game that can be read: neither our notation, which begins with headers such as "
            f'[Variant "barrage"], nor a board string, nor a log ({error})'
        ) from error
    if game.board is None:
        raise NotationError("some pieces of this game are not known (U), so it cannot be shown on a board")
    headers = dict(game.headers)
    if game.board.outcome() is None:
        headers |= {"Result": game.result, "End": game.end or "unfinished"}
    return write_game(game.board, headers)


def _from_gravon(data: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "game.xml"
        file.write_bytes(data)
        report = import_gravon([file], keep_prefix=True)
    if not report.games:
        raise NotationError(report.refusals[0].reason if report.refusals else "there is no game in it")
    return report.games[0].text
