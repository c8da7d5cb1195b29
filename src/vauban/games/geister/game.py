"""Geister as a `Game`: a variant with its rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import SetupError
from vauban.games.base import CHANCE, END, PLAYER, STEP, Format, Game, Kernels, Shape, register, register_table
from vauban.games.geister import hidden, layout
from vauban.games.geister import rules as kernels
from vauban.games.geister.layout import MOST_GHOSTS
from vauban.games.geister.setups import GeisterSetups
from vauban.games.geister.switches import Rules, parse_rules
from vauban.games.geister.variants import TABLE_KEYS, VARIANTS, Variant, find_variant, variant_from, variant_table
from vauban.games.kernel import Record
from vauban.games.small import even_chance

ENDS = ("", "escape", "good_captured", "evil_captured", "total_limit")
DIRECTIONS = "news"
"""Letters of the directions, in the view of the first player."""

KERNELS = Kernels(
    begin=kernels.begin,
    legal_count=kernels.legal_count,
    legal_action=kernels.legal_action,
    is_legal=kernels.is_legal,
    play=kernels.play,
    utility=kernels.utility,
    draw_start=kernels.draw_start,
    place_setup=kernels.place_setup,
    chance_weight=even_chance,
    hidden_count=hidden.hidden_count,
    hidden_values=hidden.hidden_values,
    conceal=hidden.conceal,
    assign=hidden.assign,
)


class Geister(Game):
    """A board of Geister and the rules it is played by."""

    family = "geister"
    version = 1
    has_chance = False
    utilities = (-1.0, 0.0, 1.0)
    players = ("first", "second")
    ends = ENDS
    public_actions = True
    hidden_kinds = ("good", "evil")
    setups: GeisterSetups
    kernels = KERNELS

    def __init__(
        self, variant: str | Variant = "geister", rules: str | Mapping[str, Any] | Rules | None = None
    ) -> None:
        self.variant = find_variant(variant)
        self.rules = parse_rules(rules, self.variant)
        v = self.variant
        self.name = v.name
        self.board = (v.height, v.width)
        self.action_count = 4 * v.squares
        self.max_legal = 4 * v.ghosts
        self.start_size = 2 * v.ghosts
        self.hidden_size = v.ghosts
        self.setups = GeisterSetups(v)
        self.setups_chosen = self.rules.colours == "chosen"
        self.rules_text = self.rules.text
        self.max_plies = self.rules.total_limit

    def __repr__(self) -> str:
        return f"Geister({self.name!r}, {self.rules.text!r})"

    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        halves, bytes_ = (layout.HISTORY, layout.TRACKED_BYTES) if tracks else (0, layout.BYTES)
        return Format(Shape(layout.WORDS, halves, bytes_), self._parameters(), tracks, halves)

    def _parameters(self) -> npt.NDArray[np.int64]:
        v, r = self.variant, self.rules
        numbers = np.zeros(layout.PARAMETERS, np.int64)
        numbers[layout.WIDTH], numbers[layout.SQUARES] = v.width, v.squares
        numbers[layout.GHOSTS], numbers[layout.EVIL_GHOSTS] = v.ghosts, v.evil
        numbers[layout.TOTAL_LIMIT] = r.total_limit
        numbers[layout.FORCED] = r.escape == "forced"
        numbers[layout.SECOND_WINS] = r.at_limit == "second"
        squares = range(v.squares)
        numbers[layout.TOP] = _word(square for square in squares if square < v.width)
        numbers[layout.BOTTOM] = _word(square for square in squares if square >= v.squares - v.width)
        numbers[layout.LEFT] = _word(square for square in squares if square % v.width == 0)
        numbers[layout.RIGHT] = _word(square for square in squares if square % v.width == v.width - 1)
        numbers[layout.START : layout.START + v.ghosts] = v.start_squares
        return numbers

    @cached_property
    def moves(self) -> npt.NDArray[np.int64]:  # type: ignore[override]
        """By action its squares; an escape ends where it began, and what is never legal has no target (−1)."""
        v = self.variant
        square, direction = np.divmod(np.arange(self.action_count), 4)
        x, y = square % v.width, square // v.width
        to_x, to_y = x + (direction == 1) - (direction == 2), y + (direction == 3) - (direction == 0)
        inside = (to_x >= 0) & (to_x < v.width) & (to_y >= 0) & (to_y < v.height)
        outside = np.where(self.escapes, square, -1)
        return np.stack([square, np.where(inside, to_y * v.width + to_x, outside)], 1)

    @cached_property
    def escapes(self) -> npt.NDArray[np.bool_]:
        """By action: whether it is an escape."""
        square, direction = np.divmod(np.arange(self.action_count), 4)
        west, east = square == 0, square == self.variant.width - 1
        return np.asarray((west & np.isin(direction, (0, 2))) | (east & np.isin(direction, (0, 1))))

    @property
    def described(self) -> Variant:
        return self.variant

    def definition(self) -> str | dict[str, Any]:
        if self.source and type(self) is not Geister:
            return self.source
        return self.name if VARIANTS.get(self.name) == self.variant else variant_table(self.variant)

    def same_board(self, other: Game) -> bool:
        mine = self.variant
        return isinstance(other, Geister) and (mine.width, mine.height, mine.starts, mine.evil) == (
            other.variant.width, other.variant.height, other.variant.starts, other.variant.evil,
        )  # fmt: skip

    def check_starts(self, starts: npt.NDArray[Any]) -> None:
        for row in np.asarray(starts):
            if row.shape != (self.start_size,):
                raise SetupError(f"a start is {self.start_size} numbers, not {row.shape}")
            self.setups.check(row.reshape(2, -1))

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        fine = self._are_sound(words.view(np.uint64), bytes_)
        self.refuse_records(fine)

    def _are_sound(self, words: npt.NDArray[Any], bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which records say the same of their ghosts in all places, and nothing that cannot be."""
        v = self.variant
        fine = (bytes_[:, PLAYER] < CHANCE) & (bytes_[:, END] < len(ENDS)) & (bytes_[:, STEP] == 0)
        fine &= bytes_[:, layout.CONCEALED] <= 2
        places = bytes_[:, layout.PLACE : layout.PLACE + 2 * MOST_GHOSTS].reshape(-1, 2, MOST_GHOSTS)
        absent = np.arange(MOST_GHOSTS) >= v.ghosts
        fine &= ((places == layout.ABSENT) == absent).all((1, 2)) & (places <= layout.ABSENT).all((1, 2))
        on_board = places < layout.CAPTURED_GOOD
        fine &= (~on_board | (places < v.squares)).all((1, 2))
        bits = np.where(on_board, np.uint64(1) << np.minimum(places, 63).astype(np.uint64), np.uint64(0))
        taken = np.bitwise_or.reduce(bits, 2)
        counted = np.array([[int(word).bit_count() for word in row] for row in taken]).reshape(-1, 2)
        fine &= (counted == on_board.sum(2)).all(1) & (taken[:, 0] & taken[:, 1] == 0)
        fine &= (words[:, layout.PIECES : layout.PIECES + 2] == taken).all(1)
        evil = words[:, layout.EVIL : layout.EVIL + 2]
        return np.asarray(fine & ((evil & ~taken) == 0).all(1))

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return np.asarray(bytes_[:, layout.CONCEALED] != 0)

    def hidden_squares(self, record: Record, viewer: int) -> list[int]:
        pieces = int(record.words[layout.PIECES + 1 - viewer])
        found = [square for square in range(self.variant.squares) if pieces >> square & 1]
        return found if viewer == 0 else found[::-1]

    def square_name(self, square: int) -> str:
        return self.variant.square_name(square)

    def action_text(self, player: int, action: int) -> str:
        """Return a move by its squares, "b2b3"; an escape by its square and the direction, "a6n"."""
        source, direction = divmod(action, 4)
        target = int(self.moves[action, 1])
        if player == 1:
            source, direction, target = (
                self.variant.squares - 1 - source,
                3 - direction,
                self.variant.squares - 1 - target,
            )
        name = self.square_name(source)
        inside = target != source and 0 <= target < self.variant.squares
        return name + (self.square_name(target) if inside else DIRECTIONS[direction])


def _word(squares: Any) -> np.int64:
    """Return a set of squares as one word."""
    return np.uint64(sum(1 << square for square in squares)).astype(np.int64)


for _name in VARIANTS:
    register(_name, partial(Geister, _name))
register_table("geister", TABLE_KEYS, lambda table, rules=None: Geister(variant_from(table), rules))
