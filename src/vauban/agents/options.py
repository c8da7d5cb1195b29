"""Agents by text: `mcts:sims=200,time=0.5` names an agent and sets some of its options.

An agent's options are the fields of a frozen dataclass; each has a default and a line of help:

    @dataclass(frozen=True)
    class Options:
        sims: int = option(200, "simulations a move")
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, TypeVar

from vauban.errors import ConfigurationError
from vauban.games.base import nearest

T = TypeVar("T")


def option(default: Any, help: str) -> Any:
    """A field of an agent's options."""
    return field(default=default, metadata={"help": help})


def split_text(text: str) -> tuple[str, dict[str, str]]:
    """The name and the settings of an agent's text."""
    name, colon, rest = text.partition(":")
    settings: dict[str, str] = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise ConfigurationError(f"{part!r} in {text!r} is no setting: write it as {name}:key=value,key=value")
        settings[key.strip()] = value.strip()
    return name.strip(), settings


def make_options(kind: type[T], name: str, settings: dict[str, str]) -> T:
    """The options of an agent, with these settings in place of their defaults."""
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, text in settings.items():
        if key not in known:
            hint = nearest(key, list(known)) if known else "it has none"
            raise ConfigurationError(f"agent {name!r} has no option {key!r}: {hint}")
        values[key] = _parse(name, key, text, known[key].default)
    return kind(**values)


def options_text(options: Any) -> str:
    """The settings that differ from their defaults, as text: the inverse of `make_options`."""
    parts = []
    for each in fields(options):
        value = getattr(options, each.name)
        if value != each.default:
            parts.append(f"{each.name}={int(value) if isinstance(value, bool) else value}")
    return ",".join(parts)


def _parse(name: str, key: str, text: str, default: Any) -> Any:
    """The value behind a setting, of the same kind as its default."""
    try:
        if isinstance(default, bool):
            return {"0": False, "1": True, "no": False, "yes": True, "false": False, "true": True}[text.lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
    except (KeyError, ValueError):
        kind = {bool: "0 or 1", int: "a whole number", float: "a number"}[type(default)]
        raise ConfigurationError(f"{key}={text} of agent {name!r}: it must be {kind}") from None
    return text
