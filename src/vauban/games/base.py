"""The interface of a game: its numbers, its record, its kernels; and the registry of games.

A game says how its records are laid out, gives the numbers that its rules depend on, and names the
kernels that begin a game, list and play actions and judge the result. Everything that runs many
games (`vauban.sim`), solves them, learns them or shows them needs nothing else.

Every record begins alike, whatever the game: word 0 is the game's number, word 1 counts plies,
byte 0 is who is on turn, byte 1 how the game ended, byte 2 who won, byte 3
counts the steps within a ply: the actions that a player has made of a move that takes several.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import random
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from vauban import door
from vauban.errors import ConfigurationError, InvalidMoveError, RecordError, VaubanError
from vauban.families import folder_of
from vauban.games.kernel import Record

NUMBER, PLIES = 0, 1
"""Words that every record begins with."""
PLAYER, END, WINNER, STEP = 0, 1, 2, 3
"""Bytes that every record begins with."""
OWN = 4
"""The first byte that is a game's own."""
CHANCE = 2
"""In the byte `PLAYER`: nobody is on turn, chance decides."""
DRAW, NOBODY = 2, 255
"""In the byte `WINNER`: a draw; nobody yet."""

PlainKernel = Callable[..., Any]


class Shape(NamedTuple):
    """Numbers of words, halves and bytes of a record."""

    words: int
    halves: int
    bytes: int

    @property
    def size(self) -> int:
        """The record's size in bytes."""
        return 8 * self.words + 2 * self.halves + self.bytes


@dataclass(frozen=True, eq=False)
class Format:
    """The layout of a game's records, and the numbers that its kernels read. `Game.format` makes one."""

    shape: Shape
    parameters: npt.NDArray[np.int64]
    """The numbers that the kernels know the rules by."""
    tracks: bool = True
    """Whether a record keeps what only observations need."""
    history: int = 0
    """Number of the latest moves that a record keeps."""

    def __eq__(self, other: object) -> bool:
        # Parameters may be a table of many megabytes, which is usually the same one.
        return (
            isinstance(other, Format)
            and self._key == other._key
            and (self.parameters is other.parameters or np.array_equal(self.parameters, other.parameters))
        )

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.tracks, self.history, len(self.parameters)

    def empty(self, rows: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint16], npt.NDArray[np.uint8]]:
        """Return zeros for so many records: their words, halves and bytes."""
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
    """(game, viewer): erase from the record all that is hidden from the viewer; what is left is the view."""
    assign: PlainKernel
    """(game, viewer, values) → make the hidden things so; False if they cannot be: the record is then of no use."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a game: one value."""

    winner: int | None
    """0 or 1; None for a draw."""
    end: str
    """The name of the end, e.g. "flag"."""
    utility: float
    """Its worth to the first player."""


class Setups(ABC):
    """The setups of a game: before it begins each player places a row of numbers."""

    size: int
    """Length of a setup: a row of int8."""
    count: int
    """Number of setups that a player can choose from."""

    # What follows is for networks that learn to set up.
    kinds: tuple[int, ...] = ()
    """The numbers of which setups are made, in the order in which networks know them; empty where a setup is not
    simply some order of the same numbers."""
    counts: tuple[int, ...] = ()
    """By kind, how often it stands in every setup."""
    mirror: npt.NDArray[np.int64] | None = None
    """By place of a setup, the place that left and right exchange it with; None where a board has no such symmetry."""
    one_sided: npt.NDArray[np.bool_] | None = None
    """Places × kinds: what to bar so that of a setup and its mirror image one is left; None where nothing does that."""

    def can_begin(self, setups: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which setups leave their owner a first move, whatever the opponent places."""
        return np.ones(len(setups), bool)

    @abstractmethod
    def all(self) -> npt.NDArray[np.int8]:
        """Return every setup, a row each; only asked of small games."""

    @abstractmethod
    def draw(self, rng: random.Random) -> npt.NDArray[np.int8]:
        """Return a setup drawn uniformly."""

    @abstractmethod
    def check(self, setups: npt.NDArray[Any]) -> None:
        """Raise a `SetupError` that names the first row that is no setup."""

    @abstractmethod
    def parse(self, text: str) -> npt.NDArray[np.int8]:
        """Return the setup that a text describes; a `SetupError` says what is wrong with it."""

    @abstractmethod
    def text(self, setup: npt.NDArray[Any]) -> str:
        """Return the inverse of `parse`."""

    @abstractmethod
    def starts(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
        """Return the starts that the two players' setups make, row by row."""

    @abstractmethod
    def of_starts(self, starts: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Return the inverse of `starts`."""


class Game(ABC):
    """A game with its rules settled: what a `Simulator`, a solver or a learner is made for."""

    name: str
    """As in the registry: "classic", "kuhn", …"""
    family: str
    """Games of one family share kernels and observations: "stratego", "kuhn", …"""
    version: int
    """Raised when the behaviour changes, never for speed."""
    players: tuple[str, str]
    """Names of the players, the first one first."""
    action_count: int
    """Actions are numbered from 0 to this, exclusive."""
    max_legal: int
    """No position has more legal actions than this."""
    start_size: int
    """Length of a start, from which a game begins, in numbers. 0 where all games begin alike."""
    hidden_size: int
    """No position hides more than this many things from a player."""
    board: tuple[int, int]
    """Rows and columns of an observation; (1, 1) for a game without a board."""
    ends: tuple[str, ...]
    """Names of the ends, by the byte `END`; the first stands for a game that goes on."""
    kernels: Kernels
    max_plies: int | None
    """The longest possible game; None if there is no limit."""
    has_chance: bool
    """Whether chance is ever on turn."""
    utilities: tuple[float, ...]
    """All that a game can be worth to a player, the worst first. What one player gains the other loses, so that the
    mirror image of the list is the other player's."""

    # What follows has an answer that fits many games.
    bounded: bool = True
    """Whether the rules look back a bounded number of plies. If not, records need a format with room (`plies`)."""
    moves_in_a_row: int = 1
    """Most actions of a player before the other one is on turn."""
    setups: Setups | None = None
    """The players' setups before the game; None where they place nothing."""
    setups_chosen: bool = True
    """Whether players choose their setups before the game; otherwise chance draws them, or the game `deploys`."""
    deploys: bool = False
    """Whether a game that is given no setups begins without any, and players place their pieces by actions."""
    plain: Game | None = None
    """The same game in whole moves, where this one plays it in steps; `vauban.sim.<family>` leads from one to the
    other. A model that has learned the steps plays it as well."""
    moves: npt.NDArray[np.int64] | None = None
    """By action its two squares, from and to, in the frame of the player who moves; None where actions are no moves.

    The first is always a square. The second is −1 where an action leads to none: a step off the board, which may be
    legal (an escape) or never be.
    """
    barred: tuple[int, ...] = ()
    """The squares on which nothing can ever stand."""
    public_actions: bool = False
    """Whether both players see every action as it is played. A game that does not say so keeps them secret."""
    hidden_kinds: tuple[str, ...] = ()
    """Names of what a hidden thing can be, by its value."""
    rules_text: str | None = None
    """The rules as text, where there are some to choose; `game(name, rules)` reads it."""
    source: str = ""
    """Names the game where its own name does not: `py:FILE.py:NAME`."""

    def __repr__(self) -> str:
        return f"game({self.name!r})"

    @property
    def max_actions(self) -> int | None:
        """Most actions of a game, of both players together: more than plies where a move takes several."""
        return self.max_plies

    @property
    def setup_size(self) -> int:
        """Length of a setup, in numbers; 0 where players place nothing."""
        return 0 if self.setups is None else self.setups.size

    @property
    def described(self) -> Any:
        """The description of squares and pieces for whoever sets up: a variant where there is one, else the game."""
        return self

    def same_setups(self, other: Game) -> bool:
        """Return whether a setup of one of the two games is one of the other."""
        return self.name == other.name

    @property
    def drawn(self) -> bool:
        """Whether a game is won, lost or drawn and nothing else counts, so that a score tells all."""
        return set(self.utilities) <= {-1.0, 0.0, 1.0}

    @abstractmethod
    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        """Return the format of the game's records: the one place where their size is worked out.

        tracks: with what only observations need.
        plies: how many plies the rules may have to look back, where they set no bound themselves. Without it such
            rules are refused. Rules that set a bound have one format, whatever is asked for here.
        """

    @abstractmethod
    def action_text(self, player: int, action: int) -> str:
        """Return an action as a person would write it."""

    def parse_action(self, player: int, text: str) -> int:
        """Return the action of a player that a text means; an `InvalidMoveError` says what would be one."""
        known = self._actions_by_text[player]
        action = known.get(" ".join(text.split()).lower())
        if action is None:
            raise InvalidMoveError(f"{self.name!r} has no move {text!r}: {nearest(text, list(known), most=12)}")
        return action

    @cached_property
    def _actions_by_text(self) -> tuple[dict[str, int], dict[str, int]]:
        first, second = (
            {self.action_text(player, action).lower(): action for action in range(self.action_count)}
            for player in (0, 1)
        )
        return first, second

    def square_name(self, square: int) -> str:
        """Return a square's name, e.g. "a1"."""
        row, column = divmod(square, self.board[1])
        return f"{chr(ord('a') + column)}{row + 1}"

    def hidden_squares(self, record: Record, viewer: int) -> list[int] | None:
        """Return the squares of what is hidden from the viewer, in the order of `hidden_values`; None without any."""
        return None

    def spec(self) -> dict[str, Any]:
        """Return plain data from which `from_spec` makes this game again."""
        return {"game": self.definition(), "rules": self.rules_text}

    def definition(self) -> str | dict[str, Any]:
        """Return the game's name; for one that is not in the registry, the table that a file would describe it by."""
        return self.source or self.name

    def __reduce_ex__(self, protocol: Any) -> Any:
        # A class from a file is not known to another process: what is sent there is how to make the game.
        return (from_spec, (self.spec(),)) if self.source else super().__reduce_ex__(protocol)

    def same_board(self, other: Game) -> bool:
        """Return whether a network that was made for one of the two games also fits the other."""
        return self.name == other.name

    def check_starts(self, starts: npt.NDArray[Any]) -> None:
        """Refuse rows that are no starts of this game."""

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        """Refuse rows that cannot be records of this game, so that no kernel is led astray by them."""

    def refuse_records(self, fine: npt.NDArray[np.bool_]) -> None:
        """Raise an error that names the first row that is not fine."""
        if not fine.all():
            row = int(fine.argmin())
            raise RecordError(f"row {row} is no record of {self.name!r}: it was made by another game, or damaged")

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which records have something erased from them."""
        return np.zeros(len(bytes_), bool)

    def outcome(self, end: int, winner: int, utility: float) -> Outcome | None:
        """Return the outcome behind a record's bytes; None while the game goes on."""
        if end == 0:
            return None
        return Outcome(None if winner == DRAW else winner, self.ends[end], utility)


def nearest(word: str, known: Sequence[str], most: int | None = None) -> str:
    """Return a hint for a misspelt word: the nearest known one, or all of them (the first `most`)."""
    near = difflib.get_close_matches(word, known, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    more = ", …" if most is not None and len(known) > most else ""
    return "known are " + ", ".join(map(repr, known[:most])) + more


# ── The registry ─────────────────────────────────────────────────────────────────────────────────

Maker = Callable[..., Game]
Made = TypeVar("Made")
GROUP = "vauban.games"
"""Under this entry point, installed packages offer games: modules that register them, or classes."""

_makers: dict[str, Maker] = {}
_prefixes: dict[str, Callable[[Game], Game]] = {}
_sources: dict[str, Callable[[str], Game]] = {}
_tables: dict[str, tuple[frozenset[str], Maker]] = {}
_loaded = False
_failed: dict[str, str] = {}


def register(name: str, maker: Maker) -> None:
    """Make a game known under a name; `maker(rules=…)` is called to make it, and once here, to check it.

    A maker of a game without rules to choose need not take any. A name that another game has is refused.
    """
    check_game(_make(maker, None, name))
    known = _makers.get(name)
    if known is not None and not _are_one(known, maker):
        sentence = f"there is a game {name!r} already, of {_module_of(known)}: register this one by another name"
        if not _is_shipped(maker) or _is_shipped(known):
            raise ConfigurationError(sentence)
        _failed[name] = sentence  # Somebody was here before the games that are shipped, which keep their names.
    _makers[name] = maker


def _module_of(maker: Any) -> str:
    """Return the name of the module that a maker of games is from."""
    return str(getattr(getattr(maker, "func", maker), "__module__", type(maker).__module__))


def _files_of(maker: Any) -> set[str]:
    """Return the files that a function, or the methods of a class, are written in."""
    written = vars(maker).values() if isinstance(maker, type) else (maker,)
    return {each.__code__.co_filename for each in written if isinstance(each, FunctionType)}


def _is_shipped(maker: Any) -> bool:
    return _module_of(maker).startswith("vauban.")


def _are_one(one: Any, other: Any) -> bool:
    """Return whether two makers are one, perhaps of a file that was imported twice."""
    if one is other:
        return True
    names = [getattr(each, "__qualname__", None) for each in (one, other)]
    return names[0] == names[1] and None not in names and _files_of(one) == _files_of(other)


def register_prefix(prefix: str, maker: Callable[[Game], Game]) -> None:
    """Make known that "PREFIX:NAME" is a game made of the one that NAME stands for, by `maker(game)`."""
    _prefixes[prefix] = maker


def register_source(prefix: str, maker: Callable[[str], Game]) -> None:
    """Make known that "PREFIX:TEXT" names a game that lies elsewhere, which `maker(text)` fetches."""
    _sources[prefix] = maker


def register_table(family: str, keys: Sequence[str], maker: Maker) -> None:
    """Make known that files describe games of a family: `maker(table, rules=…)` makes one."""
    _tables[family] = frozenset(keys), maker


def names() -> list[str]:
    """Return the names of all games."""
    _load()
    return list(_makers)


def failed() -> dict[str, str]:
    """Return what installed packages offer and cannot be used: a sentence on the reason, by name."""
    _load()
    return dict(_failed)


class Described(Protocol):
    """Describes a game and can make it, a variant for example."""

    def as_game(self, rules: Any = None) -> Game:
        """Return the game, by its default rules or the given ones."""


def game(name: str | Game | type[Game] | Described, rules: str | Mapping[str, Any] | None = None) -> Game:
    """Return the game of this name, or that a file describes, with its default rules or the given ones (docs/rules.md).

    name: of a registered game; a .toml file, which describes a variant; or `py:FILE.py:NAME`, a game of one's own.
        The class of one may also be given itself. A registered prefix, such as "steps:", may stand in front of any;
        "openspiel:NAME" is a game of OpenSpiel.
    """
    if isinstance(name, Game):
        if rules is not None:
            raise ConfigurationError(f"the game {name.name!r} is made already: give its rules when making it")
        return name
    _load()
    if not isinstance(name, str):
        return _made_of(name, getattr(name, "__name__", repr(name)), rules)
    if name.startswith(door.PREFIX):
        return _from_door(name, rules)
    prefix, _, rest = name.partition(":")
    if prefix in _sources and name not in _makers:
        return _from_source(prefix, rest, rules)
    if prefix in _prefixes and name not in _makers:
        return _from_prefix(prefix, game(rest, rules))
    if name.endswith(".toml"):
        return read_table(name, partial(_from_table, rules=rules))
    if name in _failed and name not in _makers:
        raise ConfigurationError(_failed[name])
    if name not in _makers:
        lost = "".join(f"; {sentence}" for sentence in _failed.values())
        raise ConfigurationError(f"there is no game {name!r}: {nearest(name, list(_makers))}{lost}")
    made = _make(_makers[name], rules, name)
    if made.name != name:
        made.source = name  # A package has chosen another name for it, which alone makes it again.
    return made


def from_spec(spec: str | Mapping[str, Any]) -> Game:
    """Return the game that `Game.spec` has described."""
    if isinstance(spec, str):
        return game(spec)
    definition, rules = spec["game"], spec.get("rules")
    return game(definition, rules) if isinstance(definition, str) else _from_table(definition, rules)


def _from_table(table: Mapping[str, Any], rules: Any) -> Game:
    """Return the game that a table describes, of the family whose keys it has most of."""
    _load()
    _, maker = max(_tables.values(), key=lambda each: len(each[0] & set(table)))
    return maker(table, rules=rules)


def read_table(path: str | Path, maker: Callable[[Mapping[str, Any]], Made]) -> Made:
    """Return what `maker` makes of the table in a TOML file; its errors name the file."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read as a variant: {error}") from error
    try:
        return maker(table)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error


def _from_source(prefix: str, text: str, rules: Any) -> Game:
    if rules is not None:
        raise ConfigurationError(
            f"'{prefix}:{text}' has no rules to choose, so {rules!r} cannot be used: leave rules out"
        )
    made = _sources[prefix](text)
    check_game(made)
    made.source = f"{prefix}:{text}"
    return made


def _from_prefix(prefix: str, inner: Game) -> Game:
    made = _prefixes[prefix](inner)
    made.source = f"{prefix}:{inner.source}" if inner.source else ""
    return made


def _from_door(text: str, rules: Any) -> Game:
    found = _made_of(door.load(text, "a game"), text, rules)
    found.source = door.whole(text)
    return found


def _made_of(offered: Any, text: str, rules: Any = None) -> Game:
    """Return the game behind what a file or a package offers: a game, what describes one, or what makes one."""
    known = not isinstance(offered, type) or issubclass(offered, Game)
    if isinstance(offered, Game):
        made = game(offered, rules)
    elif known and hasattr(offered, "as_game"):
        made = offered.as_game(rules)
    elif known and callable(offered):
        try:
            made = _make(offered, rules, text)
        except VaubanError:
            raise
        except Exception as error:
            raise ConfigurationError(f"the game {text!r} cannot be made: {type(error).__name__}: {error}") from error
    else:
        raise ConfigurationError(f"{text!r} is no game: make it a class that derives from vauban.games.base.Game")
    check_game(made)
    return made


def _make(maker: Maker, rules: Any, name: str) -> Game:
    """Call what makes a game; refuse a class that leaves methods out, and rules where there are none to choose."""
    missing = sorted(getattr(maker, "__abstractmethods__", ()))
    if missing:
        raise ConfigurationError(f"the game {name!r} lacks methods: {', '.join(missing)} (vauban.games.base.Game)")
    if rules is None:
        return maker()
    if not _takes_rules(maker):
        raise ConfigurationError(f"{name!r} has no rules to choose, so {rules!r} cannot be used: leave rules out")
    return maker(rules=rules)


def _takes_rules(maker: Maker) -> bool:
    known = inspect.signature(maker).parameters
    return "rules" in known or any(each.kind is each.VAR_KEYWORD for each in known.values())


def _load() -> None:
    """Import the families that we ship, and what installed packages offer."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    import vauban.games as room

    # Families of many modules come before those of one.
    modules = sorted(pkgutil.iter_modules(room.__path__), key=lambda each: (not each.ispkg, each.name))
    order = [f"{room.__name__}.{each.name}" for each in modules if each.name != "kit"]  # which stands above this room
    for module in order:
        importlib.import_module(module)
    # Whichever was imported first, games are listed in this order.
    ranks = {name: _rank(_module_of(maker), order) for name, maker in _makers.items()}
    for name in sorted(_makers, key=ranks.__getitem__):
        _makers[name] = _makers.pop(name)
    for name, load in door.entry_points(GROUP).items():
        # A package that is broken must not take the other games away: it is told of where it is asked for.
        try:
            offered = load()
            if isinstance(offered, ModuleType):  # which has registered its games
                continue
            if name in _makers:
                raise ConfigurationError(
                    f"an installed package offers a game {name!r}, and there is one already, of "
                    f"{_module_of(_makers[name])}, which is taken"
                )
            register(name, partial(_made_of, offered, name))
        except ConfigurationError as error:
            _failed[name] = str(error)


def _rank(module: str, order: Sequence[str]) -> int:
    """Return the place of the module, or package, that a module belongs to; the last one for those of others."""
    return next((place for place, each in enumerate(order) if f"{module}.".startswith(f"{each}.")), len(order))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(map(_is_text, value))


def _is_whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


def _are_numbers(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) > 0
        and all(isinstance(each, (int, float, np.number)) for each in value)
    )


def _is_two(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, (tuple, list)) and len(value) == 2 and all(map(fits, value))


def _is_family(value: Any) -> bool:
    return _is_text(value) and folder_of(value).isidentifier()


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


_is_count = partial(_is_whole, least=1)
REQUIRED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "name": ("what it is called", _is_text),
    "family": ('which kernels and observations it shares, a name of letters, digits, "_" and "-"', _is_family),
    "version": ("a whole number, raised when the behaviour changes", _is_whole),
    "players": ("what the two players are called", _is_two(_is_text)),
    "action_count": ("how many actions there are", _is_count),
    "max_legal": ("the most actions that are legal at once", _is_count),
    "start_size": ("how many numbers a start is, 0 if all games begin alike", _is_whole),
    "hidden_size": ("the most things that are hidden at once", _is_whole),
    "board": ("rows and columns, (1, 1) without a board", _is_two(_is_count)),
    "ends": ('names of the ends, "" first', _are_texts),
    "kernels": ("its rules, a Kernels", lambda value: isinstance(value, Kernels)),
    "max_plies": ("the longest possible game, None if there is no limit", lambda v: v is None or _is_count(v)),
    "has_chance": ("whether chance is ever on turn", _is_bool),
    "utilities": ("all that a game can be worth to a player, the worst first", _are_numbers),
}
"""The attributes that every game must give: what they mean, and whether a value can be that."""
ANSWERED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "bounded": ("whether the rules look back a bounded number of plies", _is_bool),
    "moves_in_a_row": ("most actions of a player before the other one is on turn", _is_count),
    "setups": ("the players' setups, a Setups; None without any", lambda v: v is None or isinstance(v, Setups)),
    "moves": (
        "a row for each action: its squares, from and to, -1 where it leads off the board; None without a board",
        lambda v: v is None or (isinstance(v, np.ndarray) and v.dtype.kind == "i" and v.ndim == 2),
    ),
    "barred": ("squares on which nothing can stand", lambda v: isinstance(v, tuple) and all(map(_is_whole, v))),
    "public_actions": ("whether both players see every action", _is_bool),
    "deploys": ("whether players place their pieces by actions", _is_bool),
    "plain": ("the same game in whole moves, None where it is played so", lambda v: v is None or isinstance(v, Game)),
    "hidden_kinds": ("names of what a hidden thing can be", _are_texts),
    "rules_text": ("the rules as text, None where there are none to choose", lambda v: v is None or _is_text(v)),
}
"""The attributes that have an answer already, which a game may change."""


def check_game(made: Any) -> None:
    """Refuse what is no whole game, with a sentence that says what is missing or cannot be."""
    kind = type(made).__name__
    if not isinstance(made, Game):
        raise ConfigurationError(f"{kind} is no game: derive it from vauban.games.base.Game")
    missing = [f"{name} ({meaning})" for name, (meaning, _) in REQUIRED.items() if not hasattr(made, name)]
    if missing:
        raise ConfigurationError(f"the game {kind} does not say: {'; '.join(missing)}")
    wrong = [
        f"{name}={value!r} ({meaning})"
        for name, (meaning, fits) in (REQUIRED | ANSWERED).items()
        if not fits(value := getattr(made, name))
    ]
    if wrong:
        raise ConfigurationError(f"the game {kind} cannot have: {'; '.join(wrong)}")
    if made.moves is not None:
        _check_moves(made.name, made.moves, made.action_count, made.board[0] * made.board[1])
    worths = list(made.utilities)
    if worths != sorted(set(worths)) or worths != sorted(0.0 - worth for worth in worths):
        raise ConfigurationError(
            f"the utilities of {made.name!r} are all that a game can be worth to either player, the worst first, e.g. "
            f"(-1.0, 0.0, 1.0): what one gains the other loses. They are {made.utilities!r}"
        )
    if not isinstance(made.setups_chosen, bool):
        raise ConfigurationError(
            f"setups_chosen of {made.name!r} says whether players choose their setups, True or False: it is "
            f"{made.setups_chosen!r}"
        )
    if not made.ends or made.ends[0] != "":
        raise ConfigurationError(f'the ends of {made.name!r} begin with "", for a game that goes on: {made.ends!r}')


def _check_moves(name: str, moves: npt.NDArray[Any], actions: int, squares: int) -> None:
    if moves.shape != (actions, 2):
        raise ConfigurationError(
            f"the moves of {name!r} have a row of two squares for each of its {actions} actions, not the shape "
            f"{moves.shape}"
        )
    low, high = moves.min(0), moves.max(0)
    if low[0] < 0 or low[1] < -1 or high.max() >= squares:
        raise ConfigurationError(
            f"the moves of {name!r} go from a square (0 to {squares - 1}) to a square, or to -1, off the board; "
            f"the table holds numbers from {moves.min()} to {moves.max()}"
        )
