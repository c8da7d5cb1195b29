"""Recorded games in our notation, from whatever format they are in: ours, or one that a family of games reads."""

from __future__ import annotations

from vauban.errors import NotationError
from vauban.families import family_parts

OURS = ("[", "{", "1")
"""Beginnings of a text in our notation: a header; without headers, a move number."""


def to_notation(given: str | bytes) -> str:
    """Return a text in our notation: as it is, if it is in that already; else its game, written in it."""
    data = given.encode("utf-8", "replace") if isinstance(given, str) else given
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        text = "?"
    if not text or text.startswith(OURS):
        return text
    refusals = []
    for part in family_parts("notation", "formats"):
        try:
            found: str = part.to_notation(data)
            return found
        except NotationError as error:
            refusals.append(error)
    raise NotationError("; ".join(str(error) for error in refusals))
