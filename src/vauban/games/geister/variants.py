"""Boards of Geister as data, and how to write one's own: a TOML file.

name = "narrow"
width = 4
height = 6
starts = [[1, 4], [2, 4], [1, 5], [2, 5]]   # x, y in the owner's view; y = 0 is the opponent's side
good = 2
evil = 2
total_limit = 200                           # leave out for 300
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import comb
from typing import Any

from vauban.errors import ConfigurationError
from vauban.games.base import Game, nearest
from vauban.games.geister.layout import MOST_GHOSTS

LETTERS = "ABCDEFGH"
"""Names of the ghosts, in the order of their start squares."""
FILES = "abcdefghijklmnopqrstuvwxyz"
MOST_SQUARES = 64
LARGEST_LIMIT = 10**9
USUAL_LIMIT = 300


@dataclass(frozen=True)
class Variant:
    """A board, the ghosts of each player and the longest game."""

    name: str
    width: int
    height: int
    starts: tuple[tuple[int, int], ...]
    """By ghost: x and y of its start square, in its owner's view."""
    good: int
    evil: int
    total_limit: int = USUAL_LIMIT
    """A game of so many plies is over."""

    def __post_init__(self) -> None:
        for name in ("width", "height", "good", "evil", "total_limit"):
            if type(getattr(self, name)) is not int:
                self._refuse(f"{name} must be a whole number, not {getattr(self, name)!r}")
        object.__setattr__(self, "starts", tuple(tuple(start) for start in self.starts))
        if not (2 <= self.width <= len(FILES) and self.height >= 2 and self.squares <= MOST_SQUARES):
            self._refuse(
                f"a board has at least 2 × 2 and at most {MOST_SQUARES} squares, and at most {len(FILES)} columns, "
                f"not {self.width} × {self.height}"
            )
        if self.good < 1 or self.evil < 1 or self.ghosts > MOST_GHOSTS:
            self._refuse(
                f"a player has at least one good and one evil ghost, and at most {MOST_GHOSTS} in all, "
                f"not {self.good} and {self.evil}"
            )
        if len(self.starts) != self.ghosts:
            self._refuse(f"{self.ghosts} ghosts need as many start squares, not {len(self.starts)}")
        for start in self.starts:
            if len(start) != 2 or not all(type(number) is int for number in start):
                self._refuse(f"a start square is [x, y], two whole numbers, not {list(start)!r}")
            if not (0 <= start[0] < self.width and 0 <= start[1] < self.height):
                self._refuse(f"the start square {list(start)} is off the board of {self.width} × {self.height}")
        ours = set(self.start_squares)
        if len(ours) != self.ghosts:
            self._refuse("two ghosts have the same start square")
        if ours & {self.squares - 1 - square for square in ours}:
            self._refuse("a start square of one player is also one of the other, whose view is turned by half a circle")
        if not 1 <= self.total_limit <= LARGEST_LIMIT:
            self._refuse(f"total_limit must be a whole number from 1 to {LARGEST_LIMIT:,}")

    def as_game(self, rules: Any = None) -> Game:
        """Return the variant, played by its default rules or the given ones."""
        from vauban.games.geister.game import Geister

        return Geister(self, rules)

    def _refuse(self, why: str) -> None:
        raise ConfigurationError(f"variant {self.name!r}: {why}")

    @property
    def squares(self) -> int:
        """Number of squares of the board."""
        return self.width * self.height

    @property
    def ghosts(self) -> int:
        """Number of ghosts of a player."""
        return self.good + self.evil

    @property
    def letters(self) -> str:
        """Names of a player's ghosts."""
        return LETTERS[: self.ghosts]

    @property
    def start_squares(self) -> tuple[int, ...]:
        """By ghost: its start square, in its owner's view."""
        return tuple(self.width * y + x for x, y in self.starts)

    @property
    def setup_count(self) -> int:
        """Number of ways to choose the evil ghosts."""
        return comb(self.ghosts, self.evil)

    def square_name(self, square: int) -> str:
        """Return a square's name: a1 is the first player's near left corner."""
        return FILES[square % self.width] + str(self.height - square // self.width)


def _pairs(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((int(word[0]), int(word[1])) for word in text.split())


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("geister", 6, 6, _pairs("14 24 34 44 15 25 35 45"), 4, 4),
        Variant("geister-33a", 3, 3, _pairs("02 22"), 1, 1, 30),
        Variant("geister-33b", 3, 3, _pairs("02 12 22"), 2, 1, 30),
        Variant("geister-33c", 3, 3, _pairs("02 12 22"), 1, 2, 30),
        Variant("geister-43", 4, 3, _pairs("12 22"), 1, 1, 30),
        Variant("geister-34", 3, 4, _pairs("03 23"), 1, 1, 40),
        Variant("geister-44", 4, 4, _pairs("12 22 13 23"), 2, 2, 60),
    )
}
FULL_SIZE = ("geister",)
"""The variants that a preset's limit is meant for; all others keep their own."""

TABLE_KEYS = tuple(field.name for field in fields(Variant))
"""The keys of a table (such as a TOML file) that describes a variant."""


def variant_from(table: Mapping[str, Any]) -> Variant:
    """Return the variant that a table (such as a TOML file) describes."""
    for key in table:
        if key not in TABLE_KEYS:
            raise ConfigurationError(f"a variant of Geister has no entry {key!r}: {nearest(key, TABLE_KEYS)}")
    for key in TABLE_KEYS[:-1]:
        if key not in table:
            raise ConfigurationError(f"a variant of Geister needs the entry {key!r}")
    starts = table["starts"]
    if not isinstance(starts, list) or not all(isinstance(start, list) for start in starts):
        raise ConfigurationError(f"the entry 'starts' is a list of squares such as [1, 4], not {starts!r}")
    if not isinstance(table["name"], str):
        raise ConfigurationError(f"the entry 'name' is a text, not {table['name']!r}")
    return Variant(**{**table, "starts": tuple(tuple(start) for start in starts)})


def variant_table(variant: Variant) -> dict[str, Any]:
    """Return the table that describes a variant: the inverse of `variant_from`."""
    table = {key: getattr(variant, key) for key in TABLE_KEYS}
    return table | {"starts": [list(start) for start in variant.starts]}


def find_variant(name: str | Variant) -> Variant:
    """Return a shipped variant by name, or a variant as it is."""
    if isinstance(name, Variant):
        return name
    if name in VARIANTS:
        return VARIANTS[name]
    raise ConfigurationError(f"there is no variant {name!r}: {nearest(name, list(VARIANTS))}")
