"""The switches of the rules (docs/rules.md) and the presets, as data and as text (`vauban.games.switches`).

All about a switch is declared here, in `Rules`, but for what it does: the kernels of `rules` and `repetition` read its
number at `layout.SWITCH[name]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from vauban.errors import ConfigurationError
from vauban.games.stratego.variants import LARGEST_LIMIT, Variant
from vauban.games.switches import settle, whole_number

CHASE_OFF, CHASE_ATARAXOS, CHASE_ISF = 0, 1, 2
NO_LIMIT = -1


def switch(default: Any, values: Mapping[str, int] | None = None, why: tuple[str, ...] = ()) -> Any:
    """Declare a switch, as a field of `Rules`.

    default: its value where nobody chooses one.
    values: the texts of its values, each with the number that the kernels know it by; a switch without them is a number
        or none.
    why: for one that bars moves, the reason as a sentence for a person; of several, the first that can be filled in.
        In braces: `piece`, `move`, `to`, the latest `steps` of the piece, and the `ply` after which the pieces stood as
        they would after the move. Its kernel has a place in `repetition.bar`.
    """
    return field(default=default, metadata={"values": values, "why": why})


_PRESET_COLUMNS = ("two_square", "chase", "battleless_limit", "total_limit", "limits", "cannot_move")
PRESETS: dict[str, dict[str, str]] = {
    name: dict(zip(_PRESET_COLUMNS, row.split(), strict=True))
    for name, row in {
        "strategus": "3 ataraxos 200 4000 reached on_turn",
        "ataraxos-train": "3 ataraxos 100 4000 exceeded eager",
        "ataraxos": "3 ataraxos 200 4000 exceeded eager",
        "deepnash": "3 isf 200 2000 reached on_turn",
        "louvain": "3 off none 1500 reached on_turn",
        "ucc": "off off none 9998 reached on_turn",
        "p2sro": "3 off none variant reached on_turn",
        "isf": "3 isf none none reached on_turn",
    }.items()
}
DEFAULT_PRESET = "strategus"
FULL_SIZE = ("classic", "barrage")
"""The variants that a preset's limits are meant for; all others keep their own."""


@dataclass(frozen=True)
class Rules:
    """One value for each switch."""

    two_square: int = switch(
        3,
        {"3": 3, "5": 5, "off": 0},
        why=(
            "two-square rule: this {piece} has just gone {steps}; it may not go to {to} now. "
            "Move it elsewhere, or move another piece",
        ),
    )
    """After so many turns across one border a piece may not cross it again; 0 is off."""
    chase: str = switch(
        "ataraxos",
        {"ataraxos": CHASE_ATARAXOS, "isf": CHASE_ISF, "off": CHASE_OFF},
        why=(
            "chasing rule: {move} would repeat the position after ply {ply} while chasing. "
            "Chase another way, step straight back, or attack",
            "chasing rule: {move} would repeat the position while chasing. "
            "Chase another way, step straight back, or attack",
        ),
    )
    chase_compare: str = switch("identity", {"identity": 0, "type": 1})
    battleless_limit: int | None = switch(None)
    total_limit: int | None = switch(None)
    limits: str = switch("reached", {"reached": 0, "exceeded": 1})
    cannot_move: str = switch("on_turn", {"on_turn": 0, "eager": 1})

    def __post_init__(self) -> None:
        for name, values in SWITCHES.items():
            value = getattr(self, name)
            if values is None:
                if value is not None and (type(value) is not int or not 1 <= value <= LARGEST_LIMIT):
                    raise ConfigurationError(f"{name} must be a whole number from 1 to {LARGEST_LIMIT:,}, or none")
            elif type(value) is not type(DEFAULTS[name]) or value not in _kept(name):
                *others, last = values
                raise ConfigurationError(f"{name} must be {', '.join(others)} or {last}, not {value!r}")

    @property
    def text(self) -> str:
        """The switches as in a game's header: those of the presets, and others that are not as by default.

        `parse_rules` reads it back.
        """
        written = [name for name in SWITCHES if name in _PRESET_COLUMNS or getattr(self, name) != DEFAULTS[name]]
        return " ".join(f"{name}={self._word(name)}" for name in written)

    def number(self, name: str) -> int:
        """Return the number that the kernels know a switch's value by."""
        value, values = getattr(self, name), SWITCHES[name]
        if values is None:
            return NO_LIMIT if value is None else int(value)
        return values[self._word(name)]

    def _word(self, name: str) -> str:
        """Return a switch's value as text."""
        value = getattr(self, name)
        return str(value or "none") if SWITCHES[name] is None else _kept(name)[value]

    def as_dict(self) -> dict[str, Any]:
        """Return the switches by name, None for none and 0 for off."""
        return asdict(self)


DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Rules)}
"""The value of each switch where nobody chooses one."""
SWITCHES: dict[str, Mapping[str, int] | None] = {each.name: each.metadata["values"] for each in fields(Rules)}
"""Every switch and its values, each with the number that the kernels know it by; None stands for a number or none."""
WHY: dict[str, tuple[str, ...]] = {each.name: each.metadata["why"] for each in fields(Rules) if each.metadata["why"]}
"""The switches that bar moves, and the sentences that say why (`switch`)."""


def _kept(name: str) -> dict[Any, str]:
    """Return the texts of a switch's values by what `Rules` keeps: numbers if the default is one, else the texts."""
    values = SWITCHES[name] or {}
    numbers = isinstance(DEFAULTS[name], int)
    return {number if numbers else text: text for text, number in values.items()}


def default_rules(variant: Variant) -> Rules:
    """Return the default preset with the variant's own limits."""
    return Rules(battleless_limit=variant.battleless_limit, total_limit=variant.total_limit)


def parse_rules(rules: str | Mapping[str, Any] | Rules | None, variant: Variant) -> Rules:
    """Return rules from text, from a table of switches, or as they are."""
    if isinstance(rules, Rules):
        return rules

    def applies(switch: str, chosen: str) -> bool:
        return chosen != "variant" and (SWITCHES[switch] is not None or variant.name in FULL_SIZE)

    return settle(rules, default_rules(variant), PRESETS, applies, _read, "chase=off")


def _read(name: str, value: Any) -> Any:
    """Return the value that the rules keep, from its text or its JSON value."""
    if not isinstance(value, str):
        return value
    if SWITCHES[name] is None:
        return None if value == "none" else whole_number(name, value, "a number or none")
    return {text: kept for kept, text in _kept(name).items()}.get(value, value)
