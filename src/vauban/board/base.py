"""`Board`: one game of any kind, for people; and `View`, what one player may know of it.

    >>> from vauban import Board
    >>> board = Board("kuhn", seed=1)
    >>> list(board.legal_moves)
    ['pass', 'bet']
    >>> board.push("bet")
    Played(text='bet', player=0, action=1)
    >>> board.pop()
    'bet'

A board plays by the same compiled rules as `Simulator`. Whose turn it is comes from the record, and chance is settled
by the seed, as in the first game of a simulator with that seed. A family of games that offers more (pieces, squares,
explanations) has a board of its own in `vauban.board.<family>`, and `Board(…)` makes that.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from vauban.board import picture
from vauban.errors import (
    ConfigurationError,
    IllegalMoveError,
    InvalidMoveError,
    NotationError,
    NotYourTurnError,
    RecordError,
    SetupError,
)
from vauban.families import family_part, family_parts
from vauban.games.base import END, PLAYER, PLIES, WINNER, Format, Game, Outcome
from vauban.games.base import game as find_game
from vauban.games.kernel import Record
from vauban.sim.bodies import ATTEMPTS, settle_chance
from vauban.sim.compile import CPU, compiled, progress

if TYPE_CHECKING:
    from vauban.sim.store import Snapshot

LAYOUTS = ("planes", "squares")


@dataclass(frozen=True)
class Played:
    """A move that was made."""

    text: str
    player: int
    action: int


class Look:
    """The common part of boards and views: reading a record."""

    history: list[Any]
    """The moves made so far: `Played`, or what a family has in its place; each has its `player`."""

    def __init__(self, game: Game, record: Record) -> None:
        self.game = game
        self._record = record

    @property
    def turn(self) -> int:
        """The player on turn: 0 or 1."""
        return int(self._record.bytes[PLAYER])

    @property
    def plies(self) -> int:
        """Plies played so far."""
        return int(self._record.words[PLIES])

    @property
    def is_over(self) -> bool:
        """True if the game has ended."""
        return bool(self._record.bytes[END])

    def outcome(self) -> Outcome | None:
        """Return the winner, the end and the game's worth; None while the game goes on."""
        if not self.is_over:
            return None
        end, winner = int(self._record.bytes[END]), int(self._record.bytes[WINNER])
        return self.game.outcome(end, winner, float(call(self.game, self.game.kernels.utility, self._record)))

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions of the player on turn, by number, in their order."""
        kernels = self.game.kernels
        count = call(self.game, kernels.legal_count, self._record)
        return sorted(int(call(self.game, kernels.legal_action, self._record, place)) for place in range(count))

    @property
    def legal_moves(self) -> Sequence[Any]:
        """The legal moves of the player on turn, as texts."""
        return [self.game.action_text(self.turn, action) for action in self.legal_actions]

    def move_text(self, move: Any) -> str:
        """Return a move of the player on turn as text, from its text or from the number of its action."""
        return self.game.action_text(self.turn, self.action_of(move))

    def move_of(self, move: Any) -> Any:
        """Return a move as `legal_moves` has it, from its text or from the number of its action."""
        return self.move_text(move)

    def action_of(self, move: Any) -> int:
        """Return the number of an action, from its text or from its number."""
        if isinstance(move, str):
            return self.game.parse_action(self.turn, move)
        try:
            action = index(move)
        except TypeError:
            action = -1
        if isinstance(move, bool) or not 0 <= action < self.game.action_count:
            raise InvalidMoveError(
                f"{move!r} is no move: give a text, or a number from 0 to {self.game.action_count - 1}"
            )
        return action

    def observe(self, name: str | None = None, layout: str = "planes") -> Any:
        """Observe the game as the player on turn (of a view: as its player), as a tensor (`Simulator.observe`).

        name: of an observation of the game; its default one if not given.
        """
        import torch

        return torch.from_numpy(self.look_through(name, layout, self._viewer()))

    def look_through(self, name: str | None, layout: str, viewer: int) -> npt.NDArray[np.float32]:
        """Observe the game as a player, as an array; of a view, ask for its own player."""
        from vauban.observe import base as observations
        from vauban.sim.cpu import CpuBatch

        if layout not in LAYOUTS:
            raise ConfigurationError(f"layout is 'planes' or 'squares', not {layout!r}")
        found = observations.find(self.game, name) if name else observations.default(self.game)
        rows, columns = self.game.board
        channels = found.channels(self.game)
        shape = (channels, rows, columns) if layout == "planes" else (rows * columns, channels)
        out = np.empty((1, *shape), np.float32)
        seen = self.snapshot()
        CpuBatch(self.game, seen.format, threads=1).observe_all(seen.store, found, viewer, out, layout == "squares")
        return np.asarray(out[0])

    def _viewer(self) -> int:
        return self.turn

    def snapshot(self) -> Snapshot:
        """Return the game as a record, to put into a `Simulator`."""
        from vauban.sim.store import Snapshot, Store

        record = self._record
        parts = (record.words.view(np.int64), record.halves.view(np.int16), record.bytes)
        return Snapshot(self.game, self.game.format(), Store(*(part[None].copy() for part in parts)))

    @property
    def text(self) -> str:
        """The position as one line of text: the record in hexadecimal digits, unless the family writes positions."""
        return _packed(self._record)

    def as_text(self, observation: str | None = None) -> str:
        """Return a picture as text, made of what an observation shows unless the family draws its own."""
        return picture.text(self, observation)

    def svg(self, size: int = 480) -> str:
        """Return a picture as SVG, its longer side of this size: the text's signs on squares, or the family's own."""
        return picture.svg(self, size)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return self.as_text()


class View(Look):
    """All that one player may know. It holds nothing hidden, so nothing that is computed from it can leak it."""

    def __init__(self, game: Game, record: Record, player: int, history: list[Any]) -> None:
        super().__init__(game, record)
        self.player = player
        self.history = history

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, row: int = 0) -> Any:
        """Return one of the views that a simulator, or `snapshot`, has made; without the list of the moves before."""
        if snapshot.viewer is None:
            raise RecordError("these are whole games: `Simulator.views` has what a player may know of them")
        views = board_of(snapshot.game).views
        return views(snapshot.game, snapshot.record(row), snapshot.viewer, [])

    def _viewer(self) -> int:
        return self.player

    @property
    def legal_actions(self) -> list[int]:
        """The player's legal actions, by number; none if the other one is on turn."""
        return super().legal_actions if self.turn == self.player else []

    def count_assignments(self) -> int:
        """Count the ways in which the hidden things may be, for all that the player has seen."""
        return sum(1 for _ in self.assignments())

    def assignments(self) -> Iterator[tuple[int, ...]]:
        """Yield these ways, each the values of the hidden things, in the order that `Simulator.determinise` takes."""
        self._check_on_turn()
        size = int(call(self.game, self.game.kernels.hidden_count, self._record, self.player))
        for values in product(range(len(self.game.hidden_kinds)), repeat=size):
            given = np.array([*values, *[0] * (self.game.hidden_size - size)], np.int8)
            if call(self.game, self.game.kernels.assign, copy_of(self._record), self.player, given):
                yield values

    def _check_on_turn(self) -> None:
        """Refuse to tell assignments where they may also depend on the opponent's legal moves."""
        if self.turn != self.player and not self.is_over:
            raise ConfigurationError(
                f"{self!r}: the other player is on turn, and needs a legal move in each assignment: "
                "ask when its player is on turn"
            )

    def snapshot(self) -> Snapshot:
        """Return the view as a record, for `Simulator.determinise`."""
        return replace(super().snapshot(), viewer=self.player)

    def __repr__(self) -> str:
        return f"<View of {self.game.players[self.player]}, {self.game.name}, ply {self.plies}>"


class Board(Look):
    """One game: its position, its moves so far, and what may be played next."""

    views: ClassVar[type[Any]] = View
    """The class of its views."""
    setups: tuple[Any, Any] | None
    """The two players' setups as rows; None if the game has none, or they are not known."""
    drawn: bool
    """True if the seed alone tells how the game began."""

    def __new__(cls, game: str | Game = "classic", *arguments: Any, **options: Any) -> Any:
        """Make the board of the game's family."""
        if cls is not Board:
            return super().__new__(cls)
        rules = arguments[0] if arguments else options.get("rules")
        return super().__new__(board_of(find_game(game, rules)))

    def __init__(
        self,
        game: str | Game = "classic",
        rules: str | Mapping[str, Any] | None = None,
        *,
        seed: int | None = None,
        setups: tuple[Any, Any] | None = None,
    ) -> None:
        """Begin a game.

        game: a name ("classic", "kuhn", …), a file, or a `Game`; `rules` as `vauban.game` takes them.
        seed: what the start and all chance depend on; drawn, and kept in `seed`, if not given.
        setups: the two players' setups, texts or rows, each in its owner's own frame; drawn if not given, or placed by
            the players' actions where the game `deploys`.
        """
        self._begin(find_game(game, rules), seed, setups)
        self._settle()

    def _begin(self, game: Game, seed: int | None, setups: tuple[Any, Any] | None) -> None:
        """Begin a game, up to its first chance event."""
        self._take_place(game, new_record(game.format(plies=0)), seed)
        if setups is None:
            start = self._draw()
        else:
            start = self._start(game, *setups)
            call(game, game.kernels.begin, self._record, start)
        self.drawn = setups is None
        if game.setups is not None and not (self.drawn and game.deploys):
            first, second = game.setups.of_starts(start[None])
            self.setups = first[0], second[0]

    def _draw(self) -> npt.NDArray[np.int8]:
        """Begin from a start drawn by the seed, as the first game of a simulator does; return the start."""
        game, start = self.game, np.zeros(self.game.start_size, np.int8)
        for attempt in range(ATTEMPTS):
            drawn = np.uint64(self.seed), np.uint64(0), attempt
            call(game, game.kernels.draw_start, start, self._record.rules, *drawn)
            call(game, game.kernels.begin, self._record, start)
            if not self.is_over:
                return start
        raise SetupError(f"every setup of {game.name!r} that was drawn would be over at once: nobody could move")

    def _settle(self) -> None:
        """Let chance decide where it is on turn."""
        if self.game.has_chance:
            call(self.game, settle_chance, self._record, np.uint64(self.seed))

    def _take_place(self, game: Game, record: Record, seed: int | None) -> None:
        """Set everything up around a record."""
        super().__init__(game, record)
        self.seed = secrets.randbits(63) if seed is None else seed
        if type(self.seed) is not int or not 0 <= self.seed < 2**64:
            raise ConfigurationError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
        self.history = []
        self._records: list[Record] = []
        self.setups = None
        self.drawn = False

    @staticmethod
    def _start(game: Game, first: Any, second: Any) -> npt.NDArray[np.int8]:
        """Return the start that two setups make."""
        setups = game.setups
        if setups is None:
            raise ConfigurationError(f"{game.name!r} has no setups: leave them out")
        rows = [setups.parse(each) if isinstance(each, str) else np.asarray(each) for each in (first, second)]
        setups.check(np.stack(rows))
        return np.asarray(setups.starts(rows[0][None], rows[1][None])[0])

    # ── Beginnings ───────────────────────────────────────────────────────────────────────────────

    @classmethod
    def from_setups(
        cls,
        first: Any,
        second: Any,
        game: Any = "classic",
        rules: Any = None,
        *,
        seed: int | None = None,
    ) -> Any:
        """Return a game that begins from two setups, texts or rows, each in its owner's own view."""
        return Board(game, rules, seed=seed, setups=(first, second))

    @classmethod
    def before_chance(cls, game: Game, seed: int | None = None, setups: tuple[Any, Any] | None = None) -> Any:
        """Return a game in which nothing has been left to chance yet: chance may be on turn (`turn` is 2)."""
        board = object.__new__(board_of(game))
        board._begin(game, seed, setups)
        return board

    @classmethod
    def random(cls, game: Any = "classic", seed: int | None = None, rules: Any = None) -> Any:
        """Return a game that begins at random."""
        return board_of(find_game(game, rules))._random(find_game(game, rules), seed)

    @classmethod
    def _random(cls, game: Game, seed: int | None) -> Any:
        return cls(game, seed=seed)

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, row: int = 0, *, seed: int | None = None) -> Any:
        """Return a game that goes on from one of the records of a simulator; chance goes on by the given seed."""
        if snapshot.viewer is not None:
            raise RecordError("views cannot be played on: they can be shown (View.from_snapshot), or determinised")
        if not snapshot.format.tracks:
            raise ConfigurationError("a Board needs records with what observations need: Simulator(…, tracks=True)")
        return board_of(snapshot.game)._from_record(snapshot.game, snapshot.record(row), seed)

    @classmethod
    def from_position(cls, position: Any, game: Any = None, rules: Any = None, *, seed: int | None = None) -> Any:
        """Return a game that goes on from a position as `text` writes it; chance goes on by the given seed.

        game: as for a new game. It may be left out where a family's positions show it.
        """
        if game is None:
            return _family_board("from_position")(position, rules=rules)
        found = find_game(game, rules)
        board = board_of(found)
        if "from_position" in vars(board) and board is not Board:
            return board.from_position(position, found)
        return board._from_text(position, found, seed)

    @classmethod
    def _from_text(cls, text: Any, game: Game, seed: int | None) -> Any:
        """Return the game that goes on from a position as `text` writes it."""
        return cls.from_snapshot(_unpacked(text, game), seed=seed)

    @classmethod
    def from_pieces(cls, pieces: Any, game: Any = "classic", rules: Any = None, turn: int = 0) -> Any:
        """Return a game that begins with pieces on squares, where a family has such."""
        return _family_board("from_pieces", find_game(game, rules))(pieces, find_game(game, rules), turn=turn)

    @classmethod
    def _from_record(cls, game: Game, record: Record, seed: int | None = None) -> Any:
        board = object.__new__(cls)
        board._take_place(game, record, seed)
        return board

    # ── Moves ────────────────────────────────────────────────────────────────────────────────────

    def push(self, move: Any) -> Any:
        """Make a move, given as text or as an action's number.

        Raises `InvalidMoveError` (no move at all), `NotYourTurnError` (the game is over) or `IllegalMoveError`, which
        says what is legal. What is refused changes nothing.
        """
        action = self.action_of(move)
        if self.is_over:
            raise NotYourTurnError(f"{self.game.action_text(self.turn, action)} cannot be played: the game is over")
        if action not in self.legal_actions:
            text = self.game.action_text(self.turn, action)
            raise IllegalMoveError(f"{text} is not legal{self._why_illegal(action)}")
        played = Played(self.game.action_text(self.turn, action), self.turn, action)
        self._records.append(self._record)
        self._record = copy_of(self._record)
        call(self.game, self.game.kernels.play, self._record, action)
        self._settle()
        self.history.append(played)
        return played

    def _why_illegal(self, action: int) -> str:
        """Return what follows "is not legal" in a sentence: what is wrong with a move, or what would be right."""
        legal = (f"{each} ({self.game.action_text(self.turn, each)})" for each in self.legal_actions)
        return f"; legal are {', '.join(legal)}"

    def pop(self) -> Any:
        """Take back the last move and return it."""
        if not self.history:
            raise IndexError("there is no move to take back")
        self._record = self._records.pop()
        return self.history.pop().text

    def roomy_record(self, plies: int) -> Record:
        """Return a copy of the record for kernels that need no more than the rules, with room for so many plies."""
        return copy_of(self._record)

    @property
    def actions(self) -> list[int]:
        """The moves so far, as numbers of actions."""
        return [played.action for played in self.history]

    def played_text(self, played: Any) -> str:
        """Return a move of the history as text."""
        return str(played.text)

    # ── Knowledge, copies ────────────────────────────────────────────────────────────────────────

    def view(self, player: int) -> Any:
        """Return a player's view: a copy from which all that is hidden from that player has been erased."""
        if player not in (0, 1):
            first, second = self.game.players
            raise ConfigurationError(f"a player is 0 ({first}) or 1 ({second}), not {player!r}")
        record = copy_of(self._record)
        call(self.game, self.game.kernels.conceal, record, player)
        return self.views(self.game, record, player, self._known_history(player))

    def _known_history(self, player: int) -> list[Any]:
        """Return the moves that a player knows of: all, if actions are public; otherwise the player's own."""
        return [played for played in self.history if self.game.public_actions or played.player == player]

    def copy(self) -> Self:
        """Return a board that goes its own way from here."""
        board = object.__new__(type(self))
        board.__dict__.update(self.__dict__)
        board.history, board._records = list(self.history), list(self._records)
        return board

    @property
    def start_text(self) -> str:
        """The position from which this board's moves began, as `text` writes it."""
        return _packed(self._records[0] if self._records else self._record)

    def __eq__(self, other: object) -> bool:
        """Return whether the same game, by the same rules, stands as it does here."""
        if not isinstance(other, Board):
            return NotImplemented
        return bool(self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Any:
        return self.game.name, *(part.tobytes() for part in self._record)

    def __getnewargs__(self) -> tuple[Game]:
        return (self.game,)

    def __repr__(self) -> str:
        return f"<Board of {self.game.name}, ply {self.plies}>"


def board_of(game: Game) -> type[Board]:
    """Return the class of boards for a game: that of its family, or the one for all games."""
    found: type[Board] = getattr(family_part("board", game.family), "Board", Board)
    return found


def _family_board(name: str, game: Game | None = None) -> Any:
    """Return a way to begin that not all families have: that of a game's family, or of the first one that has it."""
    parts = family_parts("board")
    boards = [getattr(part, "Board", Board) for part in parts] if game is None else [board_of(game)]
    for board in boards:
        if name in vars(board) and board is not Board:
            return getattr(board, name)
    raise ConfigurationError("such a beginning needs a game whose family has it: name another game")


def _unpacked(text: str, game: Game) -> Snapshot:
    """Return the record that `Look.text` has written, as a snapshot."""
    from vauban.sim.store import Snapshot

    try:
        packed = np.frombuffer(bytes.fromhex(text), np.uint8)
    except (ValueError, TypeError) as error:
        raise NotationError(
            f"{text!r} is no position of {game.name!r}: it has other than hexadecimal digits"
        ) from error
    return Snapshot.unpack(game, packed[None], game.format(plies=0))


# ── Records of one game ──────────────────────────────────────────────────────────────────────────


@cache
def _kernel(function: Any, family_kernels: Any) -> Any:
    return compiled(function, CPU, vars(family_kernels), TRACKS=True)


def call(game: Game, function: Any, *arguments: Any) -> Any:
    """Call a kernel with a record of a game; the first call may have to compile it."""
    kernel = _kernel(function, game.kernels)
    with progress(kernel, game.family):
        return kernel(*arguments)


def new_record(format: Format) -> Record:
    """Return a record of zeros."""
    words, halves, bytes_ = format.empty(1)
    return Record(words[0], halves[0], bytes_[0], format.parameters)


def _packed(record: Record) -> str:
    return b"".join(np.ascontiguousarray(part).tobytes() for part in record[:3]).hex()


def copy_of(record: Record) -> Record:
    """Return a record that can be changed without changing this one."""
    return Record(record.words.copy(), record.halves.copy(), record.bytes.copy(), record.rules)
