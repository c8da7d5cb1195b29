"""The switches of Geister's rules (docs/geister.md) and the presets, as data and as text (`vauban.games.switches`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vauban.errors import ConfigurationError
from vauban.games.geister.variants import FULL_SIZE, LARGEST_LIMIT, Variant
from vauban.games.switches import settle, whole_number

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
    usual = Rules(total_limit=variant.total_limit)
    return settle(
        rules, usual, PRESETS, lambda switch, _: switch != "total_limit" or variant.name in FULL_SIZE, _read,
        "escape=forced",
    )  # fmt: skip


def _read(name: str, value: Any) -> Any:
    """Return the value that the rules keep, from its text or its JSON value."""
    return whole_number(name, value) if SWITCHES[name] is None and isinstance(value, str) else value
