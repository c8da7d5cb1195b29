"""Readers for the fields of a message: each raises a `TableError` that says what is wrong."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from vauban.web.show import SIDES, Switch, TableError
from vauban.web.table import ABSENCE

MOST_ABSENCE = 7 * 24 * 60
"""Longest absence of a friend that can be agreed on, in minutes."""

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


def read_rules(wanted: Json, switches: Sequence[Switch]) -> str | None:
    """Read the rules that somebody has chosen, {key: value}, as text; None for the usual ones."""
    rules = wanted.get("rules")
    if rules is None:
        return None
    if not isinstance(rules, dict):
        raise TableError("rules", 'Rules are given by their names: {"escape": "forced"}, for instance.')
    known = {each.key: each for each in switches}
    for key, value in rules.items():
        switch = known.get(key)
        if switch is None:
            text = f"{str(key)[:40]!r} is no rule that can be chosen here: {', '.join(known) or 'none can'}."
            raise TableError("rules", text)
        if switch.values:
            if value not in switch.values:
                raise TableError("rules", f"The rule {key} is {' or '.join(switch.values)}, not {str(value)[:40]!r}.")
        elif type(value) is not int or not switch.least <= value <= switch.most:
            text = f"The rule {key} is a whole number from {switch.least} to {switch.most}, not {str(value)[:40]!r}."
            raise TableError("rules", text)
    return " ".join(f"{key}={value}" for key, value in rules.items()) or None


def read_absence(wanted: Json) -> int:
    """Read the minutes that a friend on turn may be away before the win may be claimed."""
    minutes = wanted.get("absence", ABSENCE)
    if type(minutes) is not int or not 1 <= minutes <= MOST_ABSENCE:
        raise TableError("absence", f"A friend may be away for 1 to {MOST_ABSENCE} minutes, not {str(minutes)[:20]!r}.")
    return minutes


def read_side(side: Any) -> int:
    """Read the number of a side; it may be left to chance."""
    if side == "random":
        return secrets.randbelow(2)
    if side not in SIDES:
        raise TableError("side", f"There is no side {side!r}: red, blue or random.")
    return SIDES.index(side)
