"""Variants as data: boards, lakes, armies, limits (docs/rules.md), and how to write one's own.

A variant of your own is a `Variant`, or a TOML file:

    name = "skirmish"
    rows = 6
    columns = 6
    lakes = ["c3", "d4"]          # unchanged by a half turn of the board
    setup_rows = 2
    army = "F1 O2 N1 M1 S1 B1"
    total_limit = 300             # leave out for none
    battleless_limit = 100
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import factorial
from pathlib import Path
from typing import Any

from vauban.errors import ConfigurationError
from vauban.games.base import Game, nearest, read_table
from vauban.games.kernel import MAX_SQUARES
from vauban.games.stratego.pieces import FLAG, LETTERS, MOVABLE_TYPES, TYPES

LARGEST_LIMIT = 10**9

FILES = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Variant:
    """A board, its lakes, an army and the limits of a game."""

    name: str
    rows: int
    columns: int
    lakes: tuple[int, ...]
    """Squares that nobody enters."""
    setup_rows: int
    """Rows on which each player sets up."""
    army: tuple[int, ...]
    """Number of pieces of each type, in the order of `TYPES`."""
    total_limit: int | None = None
    """A game of so many plies is a draw."""
    battleless_limit: int | None = None
    """This many plies without a battle are a draw."""

    def __post_init__(self) -> None:
        for name in ("rows", "columns", "setup_rows"):
            if type(getattr(self, name)) is not int:
                self._refuse(f"{name} must be a whole number, not {getattr(self, name)!r}")
        object.__setattr__(self, "lakes", tuple(sorted(set(self.lakes))))
        object.__setattr__(self, "army", tuple(self.army))
        if not 1 <= self.columns <= len(FILES) or not self.rows >= 2 or self.squares > MAX_SQUARES:
            self._refuse(
                f"a board has 1 to {len(FILES)} columns, at least 2 rows and at most {MAX_SQUARES} squares, "
                f"not {self.rows} × {self.columns}"
            )
        if self.rows + self.columns < 4:
            self._refuse(f"a board of {self.rows} × {self.columns} is too small to move on")
        if not self.setup_rows >= 1 or 2 * self.setup_rows > self.rows:
            self._refuse(f"{self.setup_rows} setup rows for each player do not fit on {self.rows} rows")
        for lake in self.lakes:
            if not 0 <= lake < self.squares:
                self._refuse(f"the lake on square {lake} is off the board")
            if min(lake // self.columns, self.rows - 1 - lake // self.columns) < self.setup_rows:
                self._refuse(f"the lake on {self.square_name(lake)} lies in the setup rows")
            if self.squares - 1 - lake not in self.lakes:
                self._refuse(
                    f"the lakes must stay the same when the board is turned by 180°: {self.square_name(lake)} "
                    f"is a lake, {self.square_name(self.squares - 1 - lake)} is none"
                )
        if len(self.army) != len(TYPES) or min(self.army) < 0:
            self._refuse(f"an army is {len(TYPES)} counts, none below 0")
        if self.army[FLAG] != 1:
            self._refuse(f"an army has exactly one Flag, not {self.army[FLAG]}")
        if sum(self.army[:MOVABLE_TYPES]) == 0:
            self._refuse("an army needs at least one piece that can move")
        if self.pieces > self.setup_rows * self.columns:
            self._refuse(f"{self.pieces} pieces do not fit on {self.setup_rows * self.columns} setup squares")
        for name in ("total_limit", "battleless_limit"):
            limit = getattr(self, name)
            if limit is not None and (type(limit) is not int or not 1 <= limit <= LARGEST_LIMIT):
                self._refuse(f"{name} must be 1 or more and at most {LARGEST_LIMIT:,}, or none")

    def __str__(self) -> str:
        """Return the text of a TOML file that describes the variant."""
        table = {key: value for key, value in variant_table(self).items() if value not in (None, [])}
        return "\n".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items())

    def as_game(self, rules: Any = None) -> Game:
        """Return the variant, played by its default rules or the given ones."""
        from vauban.games.stratego.game import Stratego

        return Stratego(self, rules)

    def _refuse(self, why: str) -> None:
        raise ConfigurationError(f"variant {self.name!r}: {why}")

    @property
    def place(self) -> tuple[int, int, tuple[int, ...], int]:
        """The board and its setup rows, whatever is played on it."""
        return self.rows, self.columns, self.lakes, self.setup_rows

    @property
    def squares(self) -> int:
        """Number of squares of the board, lakes included."""
        return self.rows * self.columns

    @property
    def pieces(self) -> int:
        """Number of pieces in an army."""
        return sum(self.army)

    @cached_property
    def setup_count(self) -> int:
        """Number of setups that a player can choose from."""
        room = self.setup_rows * self.columns
        count = factorial(room) // factorial(room - self.pieces)
        for number in self.army:
            count //= factorial(number)
        return count

    @property
    def army_text(self) -> str:
        """The army as text, e.g. "F1 S1 O2"."""
        order = "FSONTLPJCGMB"
        return " ".join(
            f"{letter}{self.army[LETTERS.index(letter)]}" for letter in order if self.army[LETTERS.index(letter)]
        )

    def square_name(self, square: int) -> str:
        """Return a square's name, e.g. "a1"."""
        return FILES[square % self.columns] + str(square // self.columns + 1)

    def square(self, name: str) -> int:
        """Return the square of this name."""
        match = re.fullmatch(r"([a-z])([1-9][0-9]{0,2})", name)
        if match is None or match[1] not in FILES[: self.columns] or int(match[2]) > self.rows:
            last = self.square_name(self.squares - 1)
            raise ConfigurationError(f"{name!r} is no square of this board (a1 to {last})")
        return (int(match[2]) - 1) * self.columns + FILES.index(match[1])


def parse_army(text: str) -> tuple[int, ...]:
    """Return the army behind a text such as "F1 S1 O2 N1"."""
    counts = [0] * len(TYPES)
    for word in text.split():
        match = re.fullmatch(r"([A-Z])([0-9]+)", word)
        if match is None or match[1] not in LETTERS:
            raise ConfigurationError(
                f"{word!r} in the army {text!r} is not a piece's letter ({LETTERS}) and a number, e.g. O2"
            )
        counts[LETTERS.index(match[1])] += int(match[2])
    return tuple(counts)


def _board(
    name: str, rows: int, columns: int, lakes: str, setup_rows: int, army: str, total: int, battleless: int | None
) -> Variant:
    squares = tuple(sorted((int(lake[1:]) - 1) * columns + FILES.index(lake[0]) for lake in lakes.split()))
    return Variant(name, rows, columns, squares, setup_rows, parse_army(army), total, battleless)


_CLASSIC_LAKES = "c5 d5 g5 h5 c6 d6 g6 h6"
_EIGHT_LAKES = "c4 f4 c5 f5"
_BARRAGE = "F1 S1 O2 N1 G1 M1 B1"

VARIANTS = {
    variant.name: variant
    for variant in (
        _board("classic", 10, 10, _CLASSIC_LAKES, 4, "F1 S1 O8 N5 T4 L4 P4 J3 C2 G1 M1 B6", 4000, 200),
        _board("barrage", 10, 10, _CLASSIC_LAKES, 4, _BARRAGE, 4000, 200),
        _board("duel", 8, 8, _EIGHT_LAKES, 3, "F1 S1 O2 N2 G1 M1 B2", 2000, 200),
        _board("octa-barrage", 8, 8, _EIGHT_LAKES, 3, _BARRAGE, 1000, 200),
        _board("medium", 6, 6, "", 1, "F1 T1 L1 P1 J1 C1", 200, None),
        _board("fives", 5, 5, "", 1, "F1 T1 L1 P1 J1", 60, None),
        _board("tiny", 4, 4, "", 1, "F1 L1 P1 J1", 100, None),
        _board("micro", 3, 4, "", 1, "F1 L1 P1", 20, None),
        _board("nano", 3, 2, "", 1, "F1 P1", 8, None),
    )
}


def load_variant(path: str | Path) -> Variant:
    """Read a variant from a TOML file."""
    return read_table(path, variant_from)


def variant_from(table: Mapping[str, Any]) -> Variant:
    """Return the variant that a table (such as a TOML file) describes."""
    for key in table:
        if key not in TABLE_KEYS:
            raise ConfigurationError(f"a variant has no entry {key!r}: {nearest(key, TABLE_KEYS)}")
    for key in ("name", "rows", "columns", "setup_rows", "army"):
        if key not in table:
            raise ConfigurationError(f"a variant needs the entry {key!r}")
    for key, kind in (("name", str), ("rows", int), ("columns", int), ("setup_rows", int), ("army", str)):
        if not isinstance(table[key], kind) or isinstance(table[key], bool):
            raise ConfigurationError(f"the entry {key!r} of a variant must be {kind.__name__}, not {table[key]!r}")
    for key in ("total_limit", "battleless_limit"):
        if table.get(key) is not None and type(table[key]) is not int:
            raise ConfigurationError(f"the entry {key!r} of a variant must be a whole number, not {table[key]!r}")
    lakes = table.get("lakes", [])
    if not isinstance(lakes, list) or not all(isinstance(lake, str) for lake in lakes):
        raise ConfigurationError(
            f"the entry 'lakes' of a variant must be a list of squares such as \"c3\", not {lakes!r}"
        )
    bare = Variant(table["name"], table["rows"], table["columns"], (), table["setup_rows"], parse_army(table["army"]))
    return Variant(
        name=bare.name,
        rows=bare.rows,
        columns=bare.columns,
        lakes=tuple(sorted({bare.square(lake) for lake in lakes})),
        setup_rows=bare.setup_rows,
        army=bare.army,
        total_limit=table.get("total_limit"),
        battleless_limit=table.get("battleless_limit"),
    )


TABLE_KEYS = tuple(field.name for field in fields(Variant))
"""The keys of a table (such as a TOML file) that describes a variant."""


def variant_table(variant: Variant) -> dict[str, Any]:
    """Return the table that describes a variant: the inverse of `variant_from`."""
    lakes = [variant.square_name(lake) for lake in variant.lakes]
    return {key: getattr(variant, key) for key in TABLE_KEYS} | {"lakes": lakes, "army": variant.army_text}


def find_variant(name: str | Variant) -> Variant:
    """Return a shipped variant by name, a TOML file by path, or a variant as it is."""
    if isinstance(name, Variant):
        return name
    if name in VARIANTS:
        return VARIANTS[name]
    if name.endswith(".toml"):
        return load_variant(name)
    raise ConfigurationError(f"there is no variant {name!r}: {nearest(name, list(VARIANTS))} (or give a .toml file)")
