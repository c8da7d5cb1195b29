"""Recorded games in our notation, from whatever format they are in: ours, or one that a family of games reads.

A family's formats lie in `vauban.notation.<family>.formats`: `recognises(data)` tells whether a text is in one of them,
`to_notation(data)` returns its game in our notation, and `FORMATS` names them for people.
"""

from __future__ import annotations

from vauban.errors import NotationError
from vauban.families import family_parts

OURS = ("[", "{", "1")
"""Beginnings of a text in our notation: a header; without headers, a comment or a move number."""


def to_notation(given: str | bytes) -> str:
    """Return a text in our notation: as it is, if no family knows it for a format of its own; else its game."""
    data = given.encode("utf-8", "replace") if isinstance(given, str) else given
    parts = family_parts("notation", "formats")
    for part in parts:
        if part.recognises(data):
            found: str = part.to_notation(data)
            return found
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise NotationError(f"this is no text: {error}") from error
    if not text or text.startswith(OURS):
        return text
    raise NotationError(
        "this is no game that can be read: neither our notation, which begins with headers such as "
        f'[Variant "barrage"], nor {", nor ".join(part.FORMATS for part in parts)}'
    )
