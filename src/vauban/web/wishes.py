"""Reading what was asked for: each refuses what it cannot read with a sentence, as a `TableError`."""

from __future__ import annotations

import secrets
from typing import Any

from vauban.errors import VaubanError
from vauban.games.stratego.pieces import PLAYERS
from vauban.games.stratego.setups import Row, parse_setup
from vauban.games.stratego.variants import Variant
from vauban.web.table import TableError
from vauban.words import sentence

Json = dict[str, Any]


def read_words(message: Json, key: str) -> str:
    """A text."""
    value = message.get(key)
    if not isinstance(value, str):
        raise TableError("message", f"{key!r} is missing: it is a text.")
    return value


def read_squares(message: Json) -> tuple[str, str]:
    """Where a move goes from and to."""
    return read_words(message, "from"), read_words(message, "to")


def read_yes(message: Json, key: str) -> bool:
    """An answer that has to be given."""
    value = message.get(key)
    if not isinstance(value, bool):
        raise TableError("message", f"{key!r} is missing: it is true or false.")
    return value


def read_switch(wanted: Json, key: str) -> bool:
    """A choice that is on unless it is switched off."""
    value = wanted.get(key, True)
    if not isinstance(value, bool):
        raise TableError(key, f"{key} is true or false.")
    return value


def read_setup(text: Any, variant: Variant) -> Row:
    """A setup of a variant."""
    if not isinstance(text, str):
        raise TableError("setup", "A setup is missing.")
    try:
        return parse_setup(text, variant)
    except VaubanError as error:
        raise TableError("setup", sentence(error)) from error


def read_side(side: Any) -> int:
    """The number of a side that may be left to chance."""
    if side == "random":
        return secrets.randbelow(2)
    if side not in PLAYERS:
        raise TableError("side", f"There is no side {side!r}: red, blue or random.")
    return PLAYERS.index(side)
