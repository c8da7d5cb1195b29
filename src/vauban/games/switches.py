"""Rules that people choose: a preset, switches, or a preset followed by switches that win over it, as text.

    "server"    "two_square=5 chase=off"    "ataraxos battleless_limit=100"

A family has a dataclass of its rules with a field for each switch, and says what the switches can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from vauban.errors import ConfigurationError
from vauban.games.base import nearest

R = TypeVar("R", bound=Any)


def settle(
    rules: str | Mapping[str, Any] | None,
    usual: R,
    presets: Mapping[str, Mapping[str, str]],
    applies: Callable[[str, str], bool],
    read: Callable[[str, Any], Any],
    example: str,
) -> R:
    """Return rules from text or from a table of switches; what they do not name is as usual.

    applies: whether a preset's switch with this value counts in the game.
    read: the value that the rules keep, from its text or its JSON value.
    example: a switch as text.
    """
    names = list(vars(usual))

    def switched(settled: R, name: str, value: Any) -> R:
        if name not in names:
            raise ConfigurationError(f"there is no switch {name!r}: {nearest(name, names)}")
        return replace(settled, **{name: read(name, value)})

    if isinstance(rules, Mapping):
        for name, value in rules.items():
            usual = switched(usual, str(name), value)
        return usual
    for position, word in enumerate((rules or "").replace(",", " ").split()):
        name, equals, value = word.partition("=")
        if equals:
            usual = switched(usual, name, value)
        elif position > 0:
            raise ConfigurationError(f"a preset comes first, then switches such as {example}: {word!r} in {rules!r}")
        elif word not in presets:
            raise ConfigurationError(f"there is no preset {word!r}: {nearest(word, list(presets))}")
        else:
            for switch, chosen in presets[word].items():
                if applies(switch, chosen):
                    usual = switched(usual, switch, chosen)
    return usual


def whole_number(name: str, text: str, hint: str = "a number") -> int:
    """Return the number that a switch's text means."""
    if not (text.isascii() and text.isdigit()):
        raise ConfigurationError(f"{name} must be {hint}, not {text!r}")
    return int(text[:20])
