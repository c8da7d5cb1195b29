"""Stratego in steps as a `Game`: a variant of Stratego, deployed piece by piece and moved in two steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError, InvalidMoveError, SetupError
from vauban.games.base import STEP, Format, Game, Kernels, Shape, register, register_prefix, register_table
from vauban.games.kernel import Record
from vauban.games.stratego import rules as plain_rules
from vauban.games.stratego.game import ENDS, Stratego
from vauban.games.stratego.pieces import PLAYERS, TYPES
from vauban.games.stratego.setups import StrategoSetups
from vauban.games.stratego.steps import hidden, layout, records, rules
from vauban.games.stratego.switches import Rules
from vauban.games.stratego.variants import TABLE_KEYS, VARIANTS, Variant, variant_from, variant_table

PREFIX = "steps"
"""In front of the name of a game of Stratego, or of the file of a variant: the same, in steps."""

KERNELS = Kernels(
    begin=rules.begin,
    legal_count=rules.legal_count,
    legal_action=rules.legal_action,
    is_legal=rules.is_legal,
    play=rules.play,
    utility=plain_rules.utility,
    draw_start=rules.draw_start,
    place_setup=plain_rules.place_setup,
    chance_weight=plain_rules.chance_weight,
    hidden_count=hidden.hidden_count,
    hidden_values=hidden.hidden_values,
    conceal=hidden.conceal,
    assign=hidden.assign,
)


class StrategoSteps(Game):
    """A variant of Stratego in steps: an action is a square, on which to place, from which or to which to move."""

    family = "stratego-steps"
    version = 1
    has_chance = False
    utilities = Stratego.utilities
    players = PLAYERS
    ends = ENDS
    setups_chosen = False
    deploys = True
    hidden_kinds = (*TYPES, "Nothing")
    setups: StrategoSetups
    kernels = KERNELS
    plain: Stratego

    def __init__(
        self, variant: str | Variant | Stratego = "classic", rules: str | Mapping[str, Any] | Rules | None = None
    ) -> None:
        self.plain = variant if isinstance(variant, Stratego) else Stratego(variant, rules)
        plain = self.plain
        self.variant = plain.variant
        self.rules = plain.rules
        self.name = f"{PREFIX}:{plain.name}"
        self.board = plain.board
        self.action_count = self.max_legal = plain.variant.squares
        self.start_size = plain.start_size
        self.setups = plain.setups
        self.rules_text = plain.rules_text
        self.hidden_size = plain.setup_size
        self.barred = plain.barred
        self.bounded = plain.bounded
        self.max_plies = plain.max_plies
        self.moves_in_a_row = max(plain.variant.pieces, 2)

    def __repr__(self) -> str:
        return f"StrategoSteps({self.name!r}, {self.rules.text!r})"

    @property
    def max_actions(self) -> int | None:
        return None if self.max_plies is None else 2 * self.variant.pieces + 2 * self.max_plies

    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        return self.around(self.plain.format(tracks=tracks, plies=plies))

    def around(self, format: Format) -> Format:
        """Return the format of records that continue those of the plain game which have this one."""
        army = [self.variant.pieces, *layout.placed_types(self.variant)]
        shape = Shape(layout.WORDS, format.shape.halves, format.shape.bytes)
        parameters = np.concatenate([format.parameters, np.array(army, np.int64)])
        return Format(shape, parameters, format.tracks, format.history)

    def definition(self) -> str | dict[str, Any]:
        if self.source:
            return self.source
        shipped = VARIANTS.get(self.variant.name) == self.variant
        return self.name if shipped else variant_table(self.variant) | {PREFIX: True}

    @property
    def described(self) -> Variant:
        return self.variant

    def same_setups(self, other: Game) -> bool:
        return isinstance(other, StrategoSteps) and self.plain.same_setups(other.plain)

    def same_board(self, other: Game) -> bool:
        return isinstance(other, StrategoSteps) and self.plain.same_board(other.plain)

    def check_starts(self, starts: npt.NDArray[Any]) -> None:
        given = np.asarray(starts)
        self.plain.check_starts(given[given.any(1)])

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        parts = words.view(np.uint64), halves.view(np.uint16), bytes_
        fine = records.are_sound(self.variant, *parts, format.history, self.rules.chase != "off")
        self.refuse_records(fine)

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return np.asarray(self.plain.are_views(bytes_) | records.lack_pieces(self.variant, bytes_).any(0))

    def hidden_squares(self, record: Record, viewer: int) -> list[int]:
        step = int(record.bytes[STEP])
        if step < layout.DEPLOYING:
            return self.plain.hidden_squares(record, viewer)
        placed = step - layout.DEPLOYING - self.variant.pieces * (1 - viewer)
        if placed <= 0:
            return []
        own = range(self.setup_size)
        return [self.variant.squares - 1 - square for square in reversed(own)] if viewer == 0 else list(reversed(own))

    # ── Texts ────────────────────────────────────────────────────────────────────────────────────

    def action_text(self, player: int, action: int) -> str:
        """Return the name of the square."""
        return self.variant.square_name(self._turned(player, action))

    def parse_action(self, player: int, text: str) -> int:
        try:
            return self._turned(player, self.variant.square(" ".join(text.split()).lower()))
        except ConfigurationError as error:
            raise InvalidMoveError(
                f"{self.name!r} is played square by square, a piece and then its target: {error}"
            ) from None

    def _turned(self, player: int, square: int) -> int:
        return square if player == 0 else self.variant.squares - 1 - square

    # ── Between plain Stratego and its steps ─────────────────────────────────────────────────────

    def pair_of(self, action: int) -> tuple[int, int]:
        """Return the two actions, piece and target, that are an action of plain Stratego; all in the mover's frame."""
        return self.plain.decode(0, action)

    def action_of(self, piece: int, target: int) -> int:
        """Return the action of plain Stratego that two actions are: the inverse of `pair_of`."""
        return self.plain.encode(0, piece, target)

    def setup_of(self, squares: Sequence[int]) -> npt.NDArray[np.int8]:
        """Return the setup that a player's actions in the deployment make."""
        if len(squares) != self.variant.pieces or len(set(squares)) != len(squares):
            raise SetupError(
                f"an army of {self.name!r} is placed on {self.variant.pieces} different squares, not on {list(squares)}"
            )
        setup = np.zeros(self.setup_size, np.int8)
        for square, kind in zip(squares, self.placed_types, strict=True):
            if not 0 <= square < self.setup_size:
                raise SetupError(f"square {square} is none of the {self.setup_size} on which {self.name!r} is set up")
            setup[square] = 1 + kind
        return setup

    def squares_of(self, setup: npt.NDArray[Any]) -> list[int]:
        """Return actions that place a setup, a type's from the lowest square on: the inverse of `setup_of`."""
        codes = np.asarray(setup)
        return [int(square) for kind in layout.ORDER for square in np.flatnonzero(codes == 1 + kind)]

    @cached_property
    def placed_types(self) -> list[int]:
        """The type of every piece of the army, in the order in which they are placed."""
        return layout.placed_types(self.variant)


def in_steps(game: Game) -> StrategoSteps:
    """Return a game of Stratego in steps."""
    if not isinstance(game, Stratego):
        raise ConfigurationError(f"only Stratego can be played in steps, and {game.name!r} is none")
    return StrategoSteps(game)


def _from_table(table: Mapping[str, Any], rules: Any = None) -> Game:
    """Return the game of a variant's table, by its entry `steps`: true in steps, false as it is."""
    chosen = table.get(PREFIX, False)
    if not isinstance(chosen, bool):
        raise ConfigurationError(f"the entry {PREFIX!r} of a variant is true or false, not {chosen!r}")
    variant = variant_from({key: value for key, value in table.items() if key != PREFIX})
    return StrategoSteps(variant, rules) if chosen else Stratego(variant, rules)


for _name in VARIANTS:
    register(f"{PREFIX}:{_name}", partial(StrategoSteps, _name))
register_prefix(PREFIX, in_steps)
register_table("stratego-steps", (*TABLE_KEYS, PREFIX), _from_table)
