"""Games of Stratego in the formats of others: board strings with action numbers (Strados), UCC logs, Gravon files."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from vauban.errors import NotationError
from vauban.notation.records import write_game
from vauban.notation.stratego.gravon import import_gravon
from vauban.notation.stratego.strados import CELLS, read_strados
from vauban.notation.stratego.ucc import read_log

FORMATS = "a board string, nor a log of a manager, nor a file of Gravon"
"""The formats, named in a sentence."""
_LOG = re.compile(r"^\S.* RED SETUP\s*$", re.MULTILINE)


def recognises(data: bytes) -> bool:
    """Return whether a text looks like one of these formats; whether it is sound, `to_notation` says."""
    text = data.decode("utf-8-sig", "replace").strip()
    return text.startswith("<") or _is_board(text) or _LOG.search(text) is not None


def to_notation(data: bytes) -> str:
    """Return a game in our notation from another format; a Gravon file says itself how to decode it."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _from_gravon(data)
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise NotationError(f"this is no text: {error}") from error
    return write_game(read_strados(text)) if _is_board(text) else _from_log(text)


def _is_board(text: str) -> bool:
    first = text.partition("\n")[0].strip()
    return len(first) in (CELLS, 2 * CELLS) and first[0].isalpha() and " " not in first


def _from_log(text: str) -> str:
    game = read_log(text)
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
