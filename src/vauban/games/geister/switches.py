"""The switches of Geister's rules (docs/geister.md) and the presets, as data and as text.

Rules are written as a preset, as switches, or as a preset followed by switches that win over it:
"server", "paper total_limit=300", "escape=forced at_limit=second".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vauban.errors import ConfigurationError
from vauban.games.base import nearest
from vauban.games.geister.variants import FULL_SIZE, LARGEST_LIMIT, Variant

SWITCHES: dict[str, tuple[str, ...] | None] = {
    "escape": ("optional", "forced"),
    "colours": ("chosen", "chance"),
    "total_limit": None,
    "at_limit": ("draw", "second"),
}
"""Every switch and its values; None stands for a number."""
PRESETS: dict[str, dict[str, str]] = {
    "server": {"escape": "optional", "colours": "chosen", "total_limit": "300", "at_limit": "draw"},
    "paper": {"escape": "forced", "colours": "chance", "total_limit": "100", "at_limit": "draw"},
}


@dataclass(frozen=True)
class Rules:
    """One value for each switch; the defaults are those of the preset `server`."""

    escape: str = "optional"
    """Whether a player who can escape may do something else."""
    colours: str = "chosen"
    """Whether players choose which of their ghosts are evil."""
    total_limit: int = 300
    """A game of so many plies is over."""
    at_limit: str = "draw"
    """Its result then: a draw, or a win of the second player."""

    def __post_init__(self) -> None:
        for name, values in SWITCHES.items():
            value = getattr(self, name)
            if values is None:
                if type(value) is not int or not 1 <= value <= LARGEST_LIMIT:
                    raise ConfigurationError(f"{name} must be a whole number from 1 to {LARGEST_LIMIT:,}")
            elif value not in values:
                raise ConfigurationError(f"{name} must be {' or '.join(values)}, not {value!r}")

    @property
    def text(self) -> str:
        """The switches as in a game's header. `parse_rules` reads it back."""
        return " ".join(f"{name}={getattr(self, name)}" for name in SWITCHES)


def parse_rules(rules: str | Mapping[str, Any] | Rules | None, variant: Variant) -> Rules:
    """Return rules from text, from a table of switches, or as they are."""
    if isinstance(rules, Rules):
        return rules
    settled = Rules(total_limit=variant.total_limit)
    if isinstance(rules, Mapping):
        for name, value in rules.items():
            settled = _switch(settled, str(name), value)
        return settled
    for position, word in enumerate((rules or "").replace(",", " ").split()):
        name, equals, value = word.partition("=")
        if equals:
            settled = _switch(settled, name, value)
        elif position > 0:
            raise ConfigurationError(
                f"a preset comes first, then switches such as escape=forced: {word!r} in {rules!r}"
            )
        elif word not in PRESETS:
            raise ConfigurationError(f"there is no preset {word!r}: {nearest(word, list(PRESETS))}")
        else:
            for switch, chosen in PRESETS[word].items():
                if switch != "total_limit" or variant.name in FULL_SIZE:
                    settled = _switch(settled, switch, chosen)
    return settled


def _switch(rules: Rules, name: str, value: Any) -> Rules:
    """Return the rules with one switch set, from its text or its JSON value."""
    if name not in SWITCHES:
        raise ConfigurationError(f"there is no switch {name!r}: {nearest(name, list(SWITCHES))}")
    if SWITCHES[name] is None and isinstance(value, str):
        if not (value.isascii() and value.isdigit()):
            raise ConfigurationError(f"{name} must be a number, not {value!r}")
        value = int(value[:20])
    return replace(rules, **{name: value})
