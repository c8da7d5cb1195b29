"""Clocks: pure arithmetic in whole milliseconds. `vauban.web.host` measures the time, and acts when it is up.

    clock = make_clock({"kind": "strategus"})
    banks = clock.spend(clock.banks(), 0, 5_000)      # red thought for five seconds
    clock.left(banks, 1)                              # how long blue may think before losing

Three kinds. With `none` nobody loses by time. `strategus` gives a bank, some free time on every move, and
a longest time for one move. `bronstein` gives a bank that runs at once; after the move as much as was used
of it comes back, up to a number of seconds, so that a bank never grows; it may have a longest time for one move, too,
and one for the whole game, after which the game is a draw (`vauban.web.table`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vauban.errors import ConfigurationError
from vauban.games.base import nearest

Banks = tuple[int, int]
"""Time that red and blue have left, in milliseconds."""

MOST_MINUTES, MOST_SECONDS = 180, 60


@dataclass(frozen=True)
class Clock:
    """Time control of a game. All times are milliseconds."""

    kind: str
    bank: int = 0
    """Of each player, for the whole game."""
    free: int = 0
    """On every move: not taken from the bank, or given back to it."""
    cap: int | None = None
    """For one move at most."""
    whole: int | None = None
    """For all moves of both players together: then the game is a draw."""

    def banks(self) -> Banks:
        """Return the time that both players begin with."""
        return self.bank, self.bank

    def left(self, banks: Banks, player: int) -> int | None:
        """Return how long a player may think about a move before losing on time; None if there is no limit."""
        if self.kind == "none":
            return None
        whole = banks[player] + (0 if self.kind == "bronstein" else self.free)
        return whole if self.cap is None else min(whole, self.cap)

    def after(self, banks: Banks, player: int, spent: int) -> int:
        """Return the bank of a player who moves after thinking for so long."""
        if self.kind == "none":
            return 0
        return max(0, banks[player] - max(0, spent - self.free))

    def spend(self, banks: Banks, player: int, spent: int) -> Banks:
        """Return both banks after a move that took a player so long."""
        kept = self.after(banks, player, spent)
        return (kept, banks[1]) if player == 0 else (banks[0], kept)

    def is_up(self, banks: Banks, player: int, spent: int) -> bool:
        """Say whether a player who has thought for so long has lost on time."""
        left = self.left(banks, player)
        return left is not None and spent >= left

    def shown(self, banks: Banks, player: int, spent: int) -> Banks:
        """Return what a thinking player's clock shows: the bank, and the time left for this move."""
        left = self.left(banks, player) or 0
        bank = max(0, banks[player] - spent) if self.kind == "bronstein" else self.after(banks, player, spent)
        return bank, max(0, left - spent)

    def as_json(self) -> dict[str, Any]:
        """Return the clock as `make_clock` reads it."""
        if self.kind == "bronstein":
            own = {"kind": self.kind, "minutes": self.bank / 60_000, "seconds": self.free / 1_000}
            limits = {"move": self.cap, "whole": self.whole}
            return own | {key: limit / 60_000 for key, limit in limits.items() if limit is not None}
        return {"kind": self.kind}


NONE = Clock("none")
STRATEGUS = Clock("strategus", 15 * 60_000, 3_000, 3 * 60_000)


def make_clock(given: Mapping[str, Any] | None) -> Clock:
    """Return the clock that a table describes: {"kind": "none"}, {"kind": "strategus"}, or
    {"kind": "bronstein", "minutes": 12, "seconds": 4}, perhaps with "move": 3, the most minutes for one move, and
    "whole": 50, those for the whole game."""
    if given is None:
        return NONE
    kind = given.get("kind")
    if kind == "none":
        return NONE
    if kind == "strategus":
        return STRATEGUS
    if kind != "bronstein":
        raise ConfigurationError(
            f"there is no clock {kind!r}: {nearest(str(kind), ['none', 'strategus', 'bronstein'])}"
        )
    minutes, seconds = given.get("minutes"), given.get("seconds")
    bank = _milliseconds(minutes, 60_000)
    free = _milliseconds(seconds, 1_000)
    if bank is None or not 1_000 <= bank <= MOST_MINUTES * 60_000:
        raise ConfigurationError(f"a clock has up to {MOST_MINUTES} minutes, and at least a second, not {minutes!r}")
    if free is None or not 0 <= free <= MOST_SECONDS * 1_000:
        raise ConfigurationError(f"a clock gives 0 to {MOST_SECONDS} seconds back after a move, not {seconds!r}")
    return Clock("bronstein", bank, free, _limit(given, "move", "one move"), _limit(given, "whole", "the whole game"))


def _limit(given: Mapping[str, Any], key: str, what: str) -> int | None:
    """Return the longest time for something, if a clock has one."""
    minutes = given.get(key)
    if minutes is None:
        return None
    limit = _milliseconds(minutes, 60_000)
    if limit is None or not 1_000 <= limit <= MOST_MINUTES * 60_000:
        raise ConfigurationError(
            f"a clock gives {what} up to {MOST_MINUTES} minutes, and at least a second, not {minutes!r}"
        )
    return limit


def _milliseconds(number: Any, unit: int) -> int | None:
    """Return a number of minutes or seconds as milliseconds; None if a clock cannot have it."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 10**6:
        return None
    return round(number * unit)


CLOCKS: tuple[dict[str, Any], ...] = (
    {"key": "none"},
    {"key": "strategus"},
    {
        "key": "bronstein",
        "minutes": 12,
        "seconds": 4,
        "whole": 50,
        "most_minutes": MOST_MINUTES,
        "most_seconds": MOST_SECONDS,
    },
)
"""Clocks on offer. The proposed numbers are those of Gravon's championship."""
