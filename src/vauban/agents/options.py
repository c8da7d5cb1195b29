"""Agents by text: `mcts:sims=200,time=0.5` names an agent and sets some of its options.

An agent's options are the fields of a frozen dataclass; each has a default and a line of help:

    @dataclass(frozen=True)
    class Options:
        sims: int = option(200, "simulations a move", least=1, most=20_000)

One of them may be `leading`: it is written first and without its name, as the model in `net:barrage,temperature=0.5`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import Field, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from vauban.errors import ConfigurationError
from vauban.games.base import nearest

if TYPE_CHECKING:
    from vauban.agents.base import Agent

T = TypeVar("T")

Maker = Callable[[dict[str, str], int], "Agent"]
"""Makes an agent from its settings, by name, and a seed."""


LEADING = ""
"""Among settings: the name of a first one that was written without a name."""


LARGEST = 2**53
"""No number is larger: compiled agents are handed floats, which hold whole numbers up to here."""


def option(
    default: Any, help: str, *, leading: bool = False, least: float = -LARGEST, most: float = LARGEST,
    kind: type[Any] | None = None,
) -> Any:  # fmt: skip
    """Return a field of an agent's options.

    leading: it is written first, and without its name.
    least, most: what a number is at least and at most.
    kind: the type of its values, where the default is None, which stands for what the agent finds elsewhere.
    """
    metadata = {"help": help, "leading": leading, "least": least, "most": most, "kind": kind or type(default)}
    return field(default=default, metadata=metadata)


def split_text(text: str) -> tuple[str, dict[str, str]]:
    """Return the name and the settings of an agent's text."""
    name, colon, rest = text.partition(":")
    return name.strip(), settings_of(rest, text, f"{name}:") if colon else {}


def settings_of(rest: str, text: str, before: str) -> dict[str, str]:
    """Return the settings in the rest of an agent's text, OPTION=VALUE,OPTION=VALUE; they stand behind `before`."""
    settings: dict[str, str] = {}
    for number, part in enumerate(rest.split(",")):
        key, equals, value = part.partition("=")
        if number == 0 and not equals and part.strip():
            settings[LEADING] = part.strip()
            continue
        if not equals or not key.strip():
            raise ConfigurationError(f"{part!r} in {text!r} is no setting: write it as {before}key=value,key=value")
        if key.strip() in settings:
            raise ConfigurationError(f"{key.strip()!r} is set twice in {text!r}")
        settings[key.strip()] = value.strip()
    return settings


def make_options(kind: type[T], name: str, settings: dict[str, str]) -> T:
    """Return the options of an agent, with these settings in place of their defaults."""
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    leading = next((each.name for each in known.values() if each.metadata.get("leading")), LEADING)
    values: dict[str, Any] = {}
    for given, text in settings.items():
        key = given if given != LEADING else leading
        if key == LEADING:
            raise ConfigurationError(
                f"{text!r} in {f'{name}:{text}'!r} is no setting: write it as {name}:key=value,key=value"
            )
        if key not in known:
            hint = nearest(key, list(known)) if known else "it has none"
            raise ConfigurationError(f"agent {name!r} has no option {key!r}: {hint}")
        if key in values:
            raise ConfigurationError(f"agent {name!r}: {key!r} is set twice")
        values[key] = _parse(name, known[key], text)
    return kind(**values)


def without_options(name: str, kind: Callable[[int], Agent]) -> Maker:
    """Return a maker of an agent that has no options; it refuses any that are given."""

    def make(settings: dict[str, str], seed: int) -> Agent:
        if settings:
            given = next(key or value for key, value in settings.items())
            raise ConfigurationError(f"agent {name!r} has no options, and {given!r} was given")
        return kind(seed)

    return make


def options_text(options: Any) -> str:
    """Return the settings that differ from their defaults, as text: the inverse of `make_options`."""
    parts = []
    for each in fields(options):
        value = getattr(options, each.name)
        if value != each.default:
            key = "" if each.metadata.get("leading") else f"{each.name}="
            parts.append(f"{key}{int(value) if isinstance(value, bool) else value}")
    return ",".join(parts)


def _parse(name: str, known: Field[Any], text: str) -> Any:
    """Return the value behind a setting, of the same kind as its default and within its bounds."""
    key, kind = known.name, known.metadata["kind"]
    try:
        if kind is bool:
            return {"0": False, "1": True, "no": False, "yes": True, "false": False, "true": True}[text.lower()]
        if kind not in (int, float):
            return text
        value = kind(text)
    except (KeyError, ValueError):
        wanted = {bool: "0 or 1", int: "a whole number", float: "a number"}[kind]
        raise ConfigurationError(f"{key}={text} of agent {name!r}: it must be {wanted}") from None
    least, most = known.metadata["least"], known.metadata["most"]
    if not math.isfinite(value) or not least <= value <= most:
        bounds = [f"at least {least:,}"] if least > -LARGEST else []
        bounds += [f"at most {most:,}"] if most < LARGEST or value > most else []
        raise ConfigurationError(f"{key}={text} of agent {name!r}: it must be {' and '.join(bounds) or 'finite'}")
    return value
