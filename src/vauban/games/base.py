"""What a game is: its numbers, its record, its kernels; and the registry of games.

A game says how large a record is, gives the numbers that its rules depend on, and names the
kernels that begin a game, list and play actions and judge the result. Everything that runs many
games (`vauban.sim`), solves them or learns them needs nothing else.

Every record begins alike, whatever the game: word 0 is the game's number, word 1 counts plies,
byte 0 is who is on turn, byte 1 how the game ended, byte 2 who won.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError

NUMBER, PLIES = 0, 1
"""Words that every record begins with."""
PLAYER, END, WINNER = 0, 1, 2
"""Bytes that every record begins with."""
CHANCE = 2
"""In the byte `PLAYER`: nobody is on turn, chance decides."""
DRAW, NOBODY = 2, 255
"""In the byte `WINNER`: a draw; nobody yet."""

PlainKernel = Callable[..., Any]


class Shape(NamedTuple):
    """How many words, halves and bytes a record has."""

    words: int
    halves: int
    bytes: int

    @property
    def size(self) -> int:
        """The record's size in bytes."""
        return 8 * self.words + 2 * self.halves + self.bytes


@dataclass(frozen=True, eq=False)
class Format:
    """How the records of a game are laid out, and the numbers that its kernels read. `Game.format` makes one."""

    shape: Shape
    parameters: npt.NDArray[np.int64]
    """The numbers that the kernels know the rules by."""
    tracks: bool = True
    """Whether a record keeps what only observations need."""
    history: int = 0
    """How many of the latest moves a record keeps."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.tracks, self.history, self.parameters.tobytes()

    def empty(self, rows: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint16], npt.NDArray[np.uint8]]:
        """Zeros for so many records: their words, halves and bytes."""
        words, halves, bytes_ = self.shape
        return (
            np.zeros((rows, words), np.uint64),
            np.zeros((rows, halves), np.uint16),
            np.zeros((rows, bytes_), np.uint8),
        )


@dataclass(frozen=True)
class Kernels:
    """A game's rules as plain functions, to be compiled (`vauban.games.kernel`).

    `game` stands for a `Record`, `rules` for its parameters, `start` for a row of `start_size`
    numbers from which a game begins, `setup` for a row of `setup_size`: one player's part of it.
    """

    begin: PlainKernel
    """(game, start): begin a game. Only the game's number is kept from what was there."""
    legal_count: PlainKernel
    """(game) → how many actions are legal; 0 when the game is over. At chance: how many events can happen."""
    legal_action: PlainKernel
    """(game, index) → the legal action (or event) with this index."""
    is_legal: PlainKernel
    """(game, action) → True if it is legal; any number may be asked about."""
    play: PlainKernel
    """(game, action): play a legal action, or let an event happen, and judge."""
    utility: PlainKernel
    """(game) → what the ended game is worth to the first player; 0 while it goes on."""
    draw_start: PlainKernel
    """(start, rules, seed, number, attempt): draw a start at random."""
    place_setup: PlainKernel
    """(start, rules, player, setup): write one player's setup into a start."""
    chance_weight: PlainKernel
    """(game, index) → the weight (a whole number) of an event; probabilities are weights over their sum."""
    hidden_count: PlainKernel
    """(game, viewer) → how many things are hidden from the viewer."""
    hidden_values: PlainKernel
    """(game, viewer, values): write the hidden things as they truly are, in the order in which `assign` takes them."""
    conceal: PlainKernel
    """(game, viewer): erase from the record all that is hidden from the viewer; what is left is his view."""
    assign: PlainKernel
    """(game, viewer, values) → make the hidden things so; False if they cannot be: the record is then of no use."""


@dataclass(frozen=True)
class Outcome:
    """How a game ended: one value."""

    winner: int | None
    """0 or 1; None for a draw."""
    end: str
    """What ended it, e.g. "flag"."""
    utility: float
    """What it is worth to the first player."""


class Game(ABC):
    """A game with its rules settled: what a `Simulator`, a solver or a learner is made for."""

    name: str
    """As in the registry: "classic", "kuhn", …"""
    family: str
    """Games of one family share kernels and observations: "stratego", "kuhn", …"""
    version: int
    """Raised when the behaviour changes, never for speed."""
    players: tuple[str, str]
    """What the players are called, the first one first."""
    action_count: int
    """Actions are numbered from 0 to this, exclusive."""
    max_legal: int
    """No position has more legal actions than this."""
    start_size: int
    setup_size: int
    hidden_size: int
    """No position hides more than this many things from a player."""
    board: tuple[int, int]
    """Rows and columns of an observation; (1, 1) for a game without a board."""
    ends: tuple[str, ...]
    """Names of the ends, by the byte `END`; the first stands for a game that goes on."""
    kernels: Kernels
    max_plies: int | None
    """The longest possible game; None if there is no limit."""
    moves_in_a_row: int = 1
    """How often a player can be on turn before the other one is again."""
    bounded: bool = True
    """Whether the rules look back a bounded number of plies. If not, records need a format with room (`plies`)."""
    has_chance: bool
    """Whether chance is ever on turn."""
    utilities: tuple[float, ...]
    """All that a game can be worth to a player, the worst first. What one player gains the other loses, so that the
    mirror image of the list is the other player's."""

    @abstractmethod
    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        """The format of the game's records: the one place where their size is worked out.

        tracks: with what only observations need.
        plies: how many plies the rules may have to look back, where they set no bound themselves. Without it such
            rules are refused. Rules that set a bound have one format, whatever is asked for here.
        """

    @abstractmethod
    def action_text(self, player: int, action: int) -> str:
        """An action as a person would write it."""

    def check_setups(self, setups: npt.NDArray[Any]) -> None:
        """Refuse rows that are no setups of this game."""

    def check_starts(self, starts: npt.NDArray[Any]) -> None:
        """Refuse rows that are no starts of this game."""

    def starts_from(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
        """The starts that the two players' setups make."""
        raise ConfigurationError(f"{self.name!r} has no setups")

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        """Refuse rows that cannot be records of this game, so that no kernel is led astray by them."""

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which records have something erased from them."""
        return np.zeros(len(bytes_), bool)

    def outcome(self, end: int, winner: int, utility: float) -> Outcome | None:
        """The outcome behind a record's bytes; None while the game goes on."""
        if end == 0:
            return None
        return Outcome(None if winner == DRAW else winner, self.ends[end], utility)


# ── The registry ─────────────────────────────────────────────────────────────────────────────────

Maker = Callable[..., Game]
_makers: dict[str, Maker] = {}
_families: list[str] = ["vauban.games.stratego.game", "vauban.games.kuhn", "vauban.games.leduc", "vauban.games.matrix"]


_file_makers: dict[str, Maker] = {}


def register_file(suffix: str, maker: Maker) -> None:
    """Make a kind of file known that describes a game: `maker(path, rules=…)` is called to make it."""
    _file_makers[suffix] = maker


def register(name: str, maker: Maker) -> None:
    """Make a game known under a name; `maker(rules=…)` is called to make it."""
    _makers[name] = maker


def names() -> list[str]:
    """The names of all games."""
    _load_families()
    return list(_makers)


def game(name: str | Game, rules: str | Mapping[str, Any] | None = None) -> Game:
    """The game of this name, or that a file describes, with its default rules or the given ones (docs/rules.md)."""
    if isinstance(name, Game):
        if rules is not None:
            raise ConfigurationError(f"the game {name.name!r} is made already: give its rules when making it")
        return name
    _load_families()
    for suffix, maker in _file_makers.items():
        if name.endswith(suffix):
            return maker(name, rules=rules)
    if name not in _makers:
        raise ConfigurationError(f"there is no game {name!r}: {nearest(name, list(_makers))}")
    return _makers[name](rules=rules)


def _load_families() -> None:
    """Import the modules that register the games we ship."""
    import importlib

    while _families:
        importlib.import_module(_families.pop(0))


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint for a misspelt word: the nearest known one, or all of them."""
    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {near[0]!r}?" if near else "known are " + ", ".join(map(repr, known))
