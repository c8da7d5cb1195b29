"""Readers for the fields of a message: each raises a `TableError` that says what is wrong."""

from __future__ import annotations

import secrets
from typing import Any

from vauban.web.show import SIDES, TableError

Json = dict[str, Any]


def read_words(message: Json, key: str) -> str:
    """Read a text."""
    value = message.get(key)
    if not isinstance(value, str):
        raise TableError("message", f"{key!r} is missing: it is a text.")
    return value


def read_yes(message: Json, key: str) -> bool:
    """Read a yes or no that must be given."""
    value = message.get(key)
    if not isinstance(value, bool):
        raise TableError("message", f"{key!r} is missing: it is true or false.")
    return value


def read_switch(wanted: Json, key: str) -> bool:
    """Read a switch that is on by default."""
    value = wanted.get(key, True)
    if not isinstance(value, bool):
        raise TableError(key, f"{key} is true or false.")
    return value


def read_side(side: Any) -> int:
    """Read the number of a side; it may be left to chance."""
    if side == "random":
        return secrets.randbelow(2)
    if side not in SIDES:
        raise TableError("side", f"There is no side {side!r}: red, blue or random.")
    return SIDES.index(side)
