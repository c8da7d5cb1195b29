"""Stratego as a `Game`: a variant with its rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.games.base import Format, Game, Kernels, Shape, register, register_table
from vauban.games.kernel import Record
from vauban.games.stratego import layout, records
from vauban.games.stratego import rules as kernels
from vauban.games.stratego.hidden import assign, conceal, hidden_count, hidden_values
from vauban.games.stratego.pieces import PLAYERS, TYPES
from vauban.games.stratego.setups import StrategoSetups, check_starts
from vauban.games.stratego.switches import Rules, parse_rules
from vauban.games.stratego.variants import TABLE_KEYS, VARIANTS, Variant, find_variant, variant_from, variant_table

USUAL_HISTORY = 256
"""A record keeps so many moves, and more where the rules look back further. Observations look 40 moves back."""

ENDS = ("", "flag", "no_moves", "both_immobile", "total_limit", "battleless_limit")

KERNELS = Kernels(
    begin=kernels.begin,
    legal_count=kernels.legal_count,
    legal_action=kernels.legal_action,
    is_legal=kernels.is_legal,
    play=kernels.play,
    utility=kernels.utility,
    draw_start=kernels.draw_start,
    place_setup=kernels.place_setup,
    chance_weight=kernels.chance_weight,
    hidden_count=hidden_count,
    hidden_values=hidden_values,
    conceal=conceal,
    assign=assign,
)


class Stratego(Game):
    """A variant of Stratego and the rules it is played by."""

    family = "stratego"
    version = 1
    has_chance = False
    utilities = (-1.0, 0.0, 1.0)
    players = PLAYERS
    ends = ENDS
    public_actions = True
    hidden_kinds = TYPES
    setups: StrategoSetups
    kernels = KERNELS

    def __init__(
        self, variant: str | Variant = "classic", rules: str | Mapping[str, Any] | Rules | None = None
    ) -> None:
        self.variant = find_variant(variant)
        self.rules = parse_rules(rules, self.variant)
        v = self.variant
        self.name = v.name
        self.board = (v.rows, v.columns)
        self.action_count = v.squares * (v.rows + v.columns - 2)
        self.max_legal = 4 * (v.squares - len(v.lakes))
        self.start_size = v.squares
        self.setups = StrategoSetups(v)
        self.rules_text = self.rules.text
        self.hidden_size = v.pieces
        self.barred = tuple(v.lakes)
        limits = (self.rules.battleless_limit, self.rules.total_limit)
        self.bounded = self.rules.chase == "off" or limits != (None, None)
        margin = 1 if self.rules.limits == "exceeded" else 0
        self.max_plies = None if self.rules.total_limit is None else self.rules.total_limit + margin

    def __repr__(self) -> str:
        return f"Stratego({self.name!r}, {self.rules.text!r})"

    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        squares = self.variant.squares
        history = self._history(plies)
        sets = layout.SETS * squares if tracks else 0
        shape = Shape(layout.WORDS, history + sets, layout.BYTES + 3 * squares + history)
        return Format(shape, self._parameters(history), tracks, history)

    def _history(self, plies: int | None) -> int:
        """Return the number of moves that a record keeps: the rules of chasing look back to the last battle."""
        if self.rules.chase == "off":
            return USUAL_HISTORY
        if self.bounded:
            limits = (self.rules.battleless_limit, self.rules.total_limit)
            return max(USUAL_HISTORY, 1 + min(limit for limit in limits if limit is not None))
        if plies is None:
            raise ConfigurationError(
                f"the rules of {self!r} look back without a bound, and a record keeps a fixed number of moves: "
                "give a battleless_limit or a total_limit, or a format that keeps enough (game.format(plies=…))"
            )
        return max(USUAL_HISTORY, 1 << plies.bit_length())

    def _parameters(self, history: int) -> npt.NDArray[np.int64]:
        v = self.variant
        numbers = np.zeros(layout.ROW + v.squares, np.int64)
        numbers[layout.ROWS] = v.rows
        numbers[layout.COLUMNS] = v.columns
        numbers[layout.SQUARES] = v.squares
        for name, place in layout.SWITCH.items():
            numbers[place] = self.rules.number(name)
        numbers[layout.HISTORY] = history
        numbers[layout.SETUP_SQUARES] = self.setup_size
        numbers[layout.ARMY : layout.ARMY + 12] = v.army
        open_squares = [square for square in range(v.squares) if square not in v.lakes]
        numbers[layout.PLAYABLE : layout.PLAYABLE + 2] = _words(open_squares)
        numbers[layout.NOT_FIRST : layout.NOT_FIRST + 2] = _words([s for s in range(v.squares) if s % v.columns])
        last = v.columns - 1
        numbers[layout.NOT_LAST : layout.NOT_LAST + 2] = _words([s for s in range(v.squares) if s % v.columns != last])
        numbers[layout.ROW :] = np.arange(v.squares) // v.columns
        return numbers

    @cached_property
    def moves(self) -> npt.NDArray[np.int64]:  # type: ignore[override]
        return np.array([self.decode(0, action) for action in range(self.action_count)], np.int64)

    def definition(self) -> str | dict[str, Any]:
        if self.source and type(self) is not Stratego:
            return self.source
        return self.name if VARIANTS.get(self.name) == self.variant else variant_table(self.variant)

    @property
    def described(self) -> Variant:
        return self.variant

    def same_setups(self, other: Game) -> bool:
        return isinstance(other, Stratego) and self.variant.army == other.variant.army

    def same_board(self, other: Game) -> bool:
        return isinstance(other, Stratego) and self.variant.place == other.variant.place

    def check_starts(self, starts: npt.NDArray[Any]) -> None:
        check_starts(starts, self.variant)

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        parts = words.view(np.uint64), halves.view(np.uint16), bytes_
        fine = records.are_sound(self.variant, *parts, format.history, self.rules.chase != "off")
        self.refuse_records(fine)

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        kinds = bytes_[:, layout.BYTES + self.variant.squares : layout.BYTES + 2 * self.variant.squares]
        return np.asarray(((kinds & 15 == layout.UNKNOWN) & (kinds != layout.NONE)).any(1))

    def hidden_squares(self, record: Record, viewer: int) -> list[int]:
        def squares(offset: int) -> int:
            return int(record.words[offset]) | int(record.words[offset + 1]) << 64

        hidden = squares(layout.HIDDEN) & squares(layout.PIECES + 2 * (1 - viewer))
        found = [square for square in range(self.variant.squares) if hidden >> square & 1]
        return found if viewer == 0 else found[::-1]

    def decode(self, player: int, action: int) -> tuple[int, int]:
        """Return the squares (source, target) of an action; the inverse of `encode`."""
        v = self.variant
        line, source = divmod(action, v.squares)
        row, column = divmod(source, v.columns)
        if line < v.rows - 1:
            target = source + (line + (line >= row) - row) * v.columns
        else:
            line -= v.rows - 1
            target = row * v.columns + line + (line >= column)
        if player == 1:
            return v.squares - 1 - source, v.squares - 1 - target
        return source, target

    def encode(self, player: int, source: int, target: int) -> int:
        """Return the action of a move along a line, in the frame of the player who makes it."""
        v = self.variant
        if player == 1:
            source, target = v.squares - 1 - source, v.squares - 1 - target
        row, column = divmod(source, v.columns)
        to_row, to_column = divmod(target, v.columns)
        if row != to_row:
            line = to_row - (to_row > row)
        else:
            line = v.rows - 1 + to_column - (to_column > column)
        return v.squares * line + source

    def action_text(self, player: int, action: int) -> str:
        source, target = self.decode(player, action)
        return self.variant.square_name(source) + self.variant.square_name(target)


def _words(squares: list[int]) -> npt.NDArray[np.int64]:
    """Return a set of squares as two 64-bit words."""
    bits = sum(1 << square for square in squares)
    return np.array([bits & (2**64 - 1), bits >> 64], np.uint64).view(np.int64)


for _name in VARIANTS:
    register(_name, partial(Stratego, _name))
register_table("stratego", TABLE_KEYS, lambda table, rules=None: Stratego(variant_from(table), rules))
