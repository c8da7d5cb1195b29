"""`Board`: one game of Stratego, for people; and `View`, what one player may know of it.

    >>> from vauban import Board
    >>> board = Board.from_setups("FLPJ", "JFPL", "tiny")
    >>> [board.move_text(move) for move in board.legal_moves]
    ['b1b2', 'c1c2', 'd1d2']
    >>> board.push("b1b2")
    Played(move=Move(source=1, target=5), player=0, battle=None)
    >>> board.pop()
    Move(source=1, target=5)

A board plays by the same compiled rules as `Simulator`, and judges games of any length. Squares are
numbers (0 is a1) in an absolute frame; red is player 0.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vauban.board.stratego import picture
from vauban.errors import (
    ConfigurationError,
    IllegalMoveError,
    InvalidMoveError,
    NotationError,
    NotYourTurnError,
    RecordError,
    SetupError,
    VaubanError,
)
from vauban.games.base import END, NOBODY, PLAYER, PLIES, WINNER, Format, Outcome
from vauban.games.kernel import Record
from vauban.games.stratego import inspect, layout
from vauban.games.stratego import rules as kernels
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.hidden import conceal
from vauban.games.stratego.pieces import FLAG, LETTERS, MOVABLE_TYPES, PLAYERS, SCOUT, TYPES
from vauban.games.stratego.setups import neighbours, parse_setup, random_setup, start_from_setups
from vauban.games.stratego.switches import Rules
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.notation.stratego.moves import Move, MoveText, move_text, parse_move_text
from vauban.notation.stratego.position import PlacedPiece, Position, parse_position, position_text
from vauban.sim.compile import CPU, compiled, progress

if TYPE_CHECKING:
    import torch

    from vauban.sim.store import Snapshot

Squares = Move | tuple[int, int]

FAULTS = {
    "never": "a {kind} never moves",
    "lake": "{target} is a lake",
    "own": "{target} holds a piece of your own",
    "line": "pieces move along a row or a column",
    "one": "a {kind} moves one square",
    "way": "a Scout cannot pass over pieces or lakes",
}
"""What may be wrong with a move that no rule of repetition bars."""


@dataclass(frozen=True)
class Piece:
    """A piece on the board, as whoever looks knows it."""

    player: int
    kind: int | None
    """Its type, a place in `TYPES`; None if it is hidden from whoever looks."""
    identity: int
    """The square on which it started."""
    moved: bool
    revealed: bool

    @property
    def letter(self) -> str:
        """Its letter: capital for red, small for blue; U or u if hidden."""
        letter = "U" if self.kind is None else LETTERS[self.kind]
        return letter if self.player == 0 else letter.lower()

    def __str__(self) -> str:
        return f"{PLAYERS[self.player]} {'piece' if self.kind is None else TYPES[self.kind]}"


@dataclass(frozen=True)
class Battle:
    """What a battle showed."""

    attacker: int
    defender: int
    result: str
    """">" if the attacker won, "<" if the defender did, "=" if both fell."""


@dataclass(frozen=True)
class Played:
    """A move that was made."""

    move: Move
    player: int
    battle: Battle | None


SIGNS = {kernels.DEFENDER_DIES: ">", kernels.ATTACKER_DIES: "<", kernels.BOTH_DIE: "="}
"""How a battle's result is written: attacker, sign, defender."""


@dataclass(frozen=True)
class Barred:
    """Why a repetition rule bars a move."""

    rule: str
    """"two_square" or "chase"."""
    reason: str
    """A sentence for a person."""
    steps: tuple[Move, ...] = ()
    """For the two-square rule: how the piece has just gone."""
    ply: int | None = None
    """For the chase rule: the ply after which the same position stood on the board, if it is known."""


class LegalMoves(Sequence[Move]):
    """The legal moves of a position, ordered by source and target."""

    def __init__(self, moves: list[Move]) -> None:
        self._moves = sorted(moves)
        self._set = frozenset(moves)

    def __getitem__(self, index: Any) -> Any:
        return self._moves[index]

    def __len__(self) -> int:
        return len(self._moves)

    def __contains__(self, move: object) -> bool:
        return move in self._set

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves)

    def __repr__(self) -> str:
        return f"<{len(self)} legal moves>"


class Look:
    """What boards and views have in common: reading a record."""

    history: list[Played]
    """The moves made so far, all public."""

    def __init__(self, game: Stratego, record: Record) -> None:
        self.game = game
        self._record = record

    @property
    def variant(self) -> Variant:
        """The variant that is played."""
        return self.game.variant

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.game.rules

    @property
    def turn(self) -> int:
        """Who is on turn: 0 red, 1 blue."""
        return int(self._record.bytes[PLAYER])

    @property
    def plies(self) -> int:
        """How many plies have been played."""
        return int(self._record.words[PLIES])

    @property
    def battleless(self) -> int:
        """How many plies have passed since the last battle."""
        return int(self._record.words[layout.BATTLELESS])

    @property
    def quiet(self) -> int:
        """How many plies since the last battle the record knows: so far back the chase rule can look."""
        return int(self._record.words[layout.QUIET])

    @property
    def is_over(self) -> bool:
        """True if the game has ended."""
        return bool(self._record.bytes[END])

    def outcome(self) -> Outcome | None:
        """Who won and how it ended; None while the game goes on."""
        winner = int(self._record.bytes[WINNER])
        return self.game.outcome(int(self._record.bytes[END]), winner, {0: 1.0, 1: -1.0}.get(winner, 0.0))

    def piece_at(self, square: int | str) -> Piece | None:
        """The piece on a square, given by number or by name ("e5"); None if there is none."""
        square = self.variant.square(square) if isinstance(square, str) else square
        self._check_squares(square)
        bytes_ = self._record.bytes
        identity = int(bytes_[layout.BYTES + square])
        if identity == layout.NONE:
            return None
        code = int(bytes_[layout.BYTES + self.variant.squares + identity])
        hidden, moved = self._set(layout.HIDDEN), self._set(layout.MOVED)
        kind = None if code & 15 == layout.UNKNOWN else code & 15
        return Piece(code >> 7, kind, identity, bool(moved >> square & 1), not hidden >> square & 1)

    def pieces(self, player: int | None = None) -> dict[int, Piece]:
        """All pieces on the board, or one player's, by square."""
        found = {}
        for square in range(self.variant.squares):
            piece = self.piece_at(square)
            if piece is not None and player in (None, piece.player):
                found[square] = piece
        return found

    def barred_moves(self, rule: str) -> list[Move]:
        """The moves that one repetition rule ("two_square" or "chase") bars, whether or not the other does too."""
        rules = {"two_square": inspect.TWO_SQUARE_BARS, "chase": inspect.CHASE_BARS}
        if rule not in rules:
            raise ConfigurationError(f"the repetition rules are 'two_square' and 'chase', not {rule!r}")
        return sorted(_list_moves(self._record, rules[rule]))

    def why_barred(self, move: Squares) -> Barred | None:
        """Which repetition rule bars a geometric move of the player on turn, and why; None if none does."""
        chosen = Move(*move)
        self._check_squares(*chosen)
        name = self.variant.square_name
        text = name(chosen.source) + name(chosen.target)
        if chosen in self.barred_moves("two_square"):
            piece = self.piece_at(chosen.source)
            trail = self.position().trails[self.turn][-self.rules.two_square - 1 :]
            steps = tuple(Move(*pair) for pair in itertools.pairwise(trail))
            gone = ", ".join(f"{name(step.source)}–{name(step.target)}" for step in steps)
            return Barred(
                "two_square",
                f"two-square rule: this {TYPES[piece.kind or 0] if piece else 'piece'} has just gone {gone}; "
                f"it may not go to {name(chosen.target)} now. Move it elsewhere, or move another piece",
                steps=steps,
            )
        if chosen in self.barred_moves("chase"):
            ply = self._same_position(chosen)
            when = "" if ply is None else f" after ply {ply}"
            return Barred(
                "chase",
                f"chasing rule: {text} would repeat the position{when} "
                "while chasing. Chase another way, step straight back, or attack",
                ply=ply,
            )
        return None

    def _check_squares(self, *squares: int) -> None:
        for square in squares:
            if not 0 <= square < self.variant.squares:
                raise ConfigurationError(
                    f"{square} is no square of this board: squares go from 0 to {self.variant.squares - 1}"
                )

    def _same_position(self, move: Move) -> int | None:
        """After which ply the pieces stood as they would after this move: which piece stands where is public."""
        here = {square: piece.identity for square, piece in self.pieces().items()}
        wanted = dict(here)
        wanted[move.target] = wanted.pop(move.source)
        for back, played in enumerate(reversed(self.history), 1):
            if played.battle is not None:
                return None
            here[played.move.source] = here.pop(played.move.target)
            if here == wanted:
                return self.plies - back
        return None

    def fault(self, move: Move) -> str:
        """What §1.2 of the rules says against a move, of a piece of one's own, that is not legal: one of `FAULTS`."""
        piece, target = self.piece_at(move.source), self.piece_at(move.target)
        assert piece is not None and piece.kind is not None
        if piece.kind >= MOVABLE_TYPES:
            return "never"
        if move.target in self.variant.lakes:
            return "lake"
        if target is not None and target.player == piece.player:
            return "own"
        row, column = divmod(move.source, self.variant.columns)
        to_row, to_column = divmod(move.target, self.variant.columns)
        if move.source == move.target or (row != to_row and column != to_column):
            return "line"
        return "way" if piece.kind == SCOUT else "one"

    def captured(self, player: int) -> list[int]:
        """The types of the player's pieces that have been removed, strongest first."""
        squares = self.variant.squares
        kinds = self._record.bytes[layout.BYTES + squares : layout.BYTES + 2 * squares]
        places = self._record.bytes[layout.BYTES + 2 * squares : layout.BYTES + 3 * squares]
        dead = (places != layout.NONE) & (places >= layout.DEAD) & (kinds >> 7 == player)
        return sorted((int(kind) & 15 for kind in kinds[dead]), reverse=True)

    def position(self) -> Position:
        """The position as it stands, without the moves that led to it."""
        bytes_, words = self._record.bytes, self._record.words
        pieces = tuple(
            PlacedPiece(square, piece.player, piece.kind, piece.moved, piece.revealed)
            for square, piece in self.pieces().items()
        )
        trails = []
        chases = []
        for player in (0, 1):
            start = layout.TRAIL + layout.TRAIL_LENGTH * player
            newest_first = [int(s) for s in bytes_[start : start + layout.TRAIL_LENGTH] if s != layout.NONE]
            trails.append(tuple(reversed(newest_first)))
            source, target = (int(s) for s in bytes_[layout.LAST + 2 * player : layout.LAST + 2 * player + 2])
            last = None if source == layout.NONE else Move(source, target)
            chases.append((int(words[layout.LENGTH + player]), last))
        v = self.variant
        return Position(
            v.rows, v.columns, v.lakes, pieces, self.turn, self.plies, self.battleless,
            (trails[0], trails[1]), (chases[0], chases[1]), (),
        )  # fmt: skip

    def move_text(self, move: Squares) -> str:
        """A move as text, with an x if it goes onto a piece."""
        source, target = move
        return move_text(MoveText(Move(source, target), self.piece_at(target) is not None, None), self.variant)

    def observe(self, name: str = "ataraxos", layout: str = "planes") -> torch.Tensor:
        """What the player on turn sees (of a view: what its player sees), as a tensor (`Simulator.observe`)."""
        import torch

        from vauban.observe import base as observations
        from vauban.sim.cpu import CpuBatch

        if layout not in ("planes", "squares"):
            raise ConfigurationError(f"layout is 'planes' or 'squares', not {layout!r}")
        found = observations.find(self.game, name)
        rows, columns = self.game.board
        channels = found.channels(self.game)
        shape = (channels, rows, columns) if layout == "planes" else (rows * columns, channels)
        out = torch.empty((1, *shape))
        seen = self.snapshot()
        batch = CpuBatch(self.game, seen.format, threads=1)
        batch.observe_all(seen.store, found, self._viewer(), out, layout == "squares")
        return out[0]

    def _viewer(self) -> int:
        return self.turn

    def snapshot(self, format: Format | None = None) -> Snapshot:
        """The game as a record, to put into a `Simulator`; in the usual format of its rules, or in a given one."""
        from vauban.sim.store import Snapshot, Store

        format = format or self.game.format(plies=self.quiet)
        record = _reformatted(self._record, self.game, format)
        parts = (record.words.view(np.int64), record.halves.view(np.int16), record.bytes)
        return Snapshot(self.game, format, Store(*(part[None] for part in parts)))

    def __str__(self) -> str:
        return picture.text(self)

    def svg(self, size: int = 480) -> str:
        """The position as an SVG picture."""
        return picture.svg(self, size)

    def _repr_svg_(self) -> str:
        return self.svg()

    @property
    def _history(self) -> int:
        return int(self._record.rules[layout.HISTORY])

    def _set(self, offset: int) -> int:
        """A set of squares of the record, as a number with a bit for each square."""
        return int(self._record.words[offset]) | int(self._record.words[offset + 1]) << 64


class View(Look):
    """All that one player may know: his own pieces, what he has seen, and everything public.

    A view holds no hidden type anywhere, so nothing that is computed from it can leak one.
    """

    def __init__(self, game: Stratego, record: Record, player: int, history: list[Played]) -> None:
        super().__init__(game, record)
        self.player = player
        self.history = history

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, row: int = 0) -> View:
        """One of the views that a simulator, or `snapshot`, has made; without the list of the moves before."""
        if snapshot.viewer is None:
            raise RecordError("these are whole games: `Simulator.views` has what a player may know of them")
        return cls(_shown_game(snapshot), snapshot.record(row), snapshot.viewer, [])

    def __repr__(self) -> str:
        return f"<View of {PLAYERS[self.player]}: {self.text}>"

    def _viewer(self) -> int:
        return self.player

    def snapshot(self, format: Format | None = None) -> Snapshot:
        """The view as a record, for `Simulator.determinise`."""
        return replace(super().snapshot(format), viewer=self.player)

    @property
    def text(self) -> str:
        """The view as position text, with U and u for hidden pieces."""
        return position_text(self.position())

    @property
    def legal_moves(self) -> LegalMoves:
        """The player's legal moves; none if he is not on turn."""
        return LegalMoves(_list_moves(self._record, inspect.LEGAL_MOVES))

    def hidden(self) -> list[int]:
        """The squares of the enemy's hidden pieces, in the player's own frame order (as `determinise` takes them)."""
        squares = [square for square, piece in self.pieces(1 - self.player).items() if not piece.revealed]
        return squares if self.player == 0 else squares[::-1]

    def hidden_types(self) -> dict[int, int]:
        """How many hidden pieces of each type the enemy has."""
        start = layout.HIDDEN_COUNT + 12 * (1 - self.player)
        counts = self._record.bytes[start : start + 12]
        return {kind: int(count) for kind, count in enumerate(counts) if count}


class Board(Look):
    """One game: its position, its moves so far, and what may be played next."""

    def __init__(self, game: Stratego, record: Record) -> None:
        """Use `from_setups`, `from_position`, `from_pieces` or `random`."""
        super().__init__(game, record)
        self.history = []
        self._records: list[Record] = []
        self._legal: LegalMoves | None = None

    # ── Beginnings ───────────────────────────────────────────────────────────────────────────────

    @classmethod
    def from_setups(
        cls,
        red: str | npt.ArrayLike,
        blue: str | npt.ArrayLike,
        variant: str | Variant = "classic",
        rules: str | Mapping[str, Any] | Rules | None = None,
    ) -> Board:
        """A game that begins from two setups, texts or rows, each in its owner's own view."""
        game = Stratego(variant, rules)
        pair = [parse_setup(each, game.variant) if isinstance(each, str) else np.asarray(each) for each in (red, blue)]
        game.setups.check(np.stack(pair))
        return cls(game, _begin(game, start_from_setups(pair[0], pair[1], game.variant)))

    @classmethod
    def random(
        cls,
        variant: str | Variant = "classic",
        seed: int | None = None,
        rules: str | Mapping[str, Any] | Rules | None = None,
    ) -> Board:
        """A game that begins from two setups drawn uniformly, drawn again if it would be over at once."""
        game = Stratego(variant, rules)
        rng = random.Random(seed)
        while True:
            red, blue = random_setup(game.variant, rng), random_setup(game.variant, rng)
            board = cls(game, _begin(game, start_from_setups(red, blue, game.variant)))
            if not board.is_over:
                return board

    @classmethod
    def from_pieces(
        cls,
        pieces: Mapping[int, tuple[int, int]],
        variant: str | Variant = "classic",
        rules: str | Mapping[str, Any] | Rules | None = None,
        turn: int = 0,
    ) -> Board:
        """A game that begins from a free setup: by square, the player and type of each piece."""
        game = Stratego(variant, rules)
        v = game.variant
        placed = tuple(PlacedPiece(s, player, kind, False, False) for s, (player, kind) in sorted(pieces.items()))
        start = Position(v.rows, v.columns, v.lakes, placed, turn, 0, 0, ((), ()), ((0, None), (0, None)), ())
        return cls._from_position(game, start)

    @classmethod
    def from_position(
        cls,
        position: str | Position,
        variant: str | Variant | None = None,
        rules: str | Mapping[str, Any] | Rules | None = None,
    ) -> Board:
        """A game that goes on from a position.

        A position given alone has the board that it shows, and no limits unless rules name them.
        """
        place = parse_position(position) if isinstance(position, str) else position
        if variant is None:
            variant = replace(_variant_of(place), total_limit=None, battleless_limit=None)
        return cls._from_position(Stratego(variant, rules), place)

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, row: int = 0) -> Board:
        """One game of a simulator's snapshot, to look at and play on.

        It judges repetitions by all that the record remembers, but has no list of the moves before;
        so its `text` is the position as it stands, not the complete one.
        """
        if snapshot.viewer is not None:
            raise RecordError("a view cannot be played: it can be shown (View.from_snapshot), or determinised")
        return cls(_shown_game(snapshot), snapshot.record(row))

    @classmethod
    def _from_position(cls, game: Stratego, position: Position) -> Board:
        v = game.variant
        if (position.rows, position.columns, tuple(position.lakes)) != (v.rows, v.columns, v.lakes):
            raise ConfigurationError(
                f"the position is not on the board of {v.name!r}: {v.rows} × {v.columns} with its lakes"
            )
        board = cls(game, _place(game, position))
        for move in position.moves:
            board._check_text(move)
            board.push(move.move)
        return board

    # ── Moves ────────────────────────────────────────────────────────────────────────────────────

    @property
    def legal_moves(self) -> LegalMoves:
        """The legal moves: none once the game is over."""
        if self._legal is None:
            self._legal = LegalMoves(_list_moves(self._record, inspect.LEGAL_MOVES))
        return self._legal

    def parse_move(self, text: str) -> Move:
        """The move behind a text such as "a4a5", "e6xe7" or "e6xe7(M>C)"; refuses what contradicts the board."""
        parsed = parse_move_text(text, self.variant)
        self._check_text(parsed)
        return parsed.move

    def push(self, move: Squares | str) -> Played:
        """Make a move.

        Raises `InvalidMoveError` (no move at all), `NotYourTurnError`, or `IllegalMoveError` with the reason.
        A text is compared with the board, hidden types included: hand a player's own words on as squares.
        """
        try:
            source, target = self.parse_move(move) if isinstance(move, str) else move
            chosen = Move(index(source), index(target))
        except (TypeError, ValueError) as error:
            if isinstance(error, VaubanError):
                raise
            raise InvalidMoveError(f"{move!r} is no move: give a text, or a pair of squares") from error
        if chosen not in self.legal_moves:
            raise self._refusal(chosen)
        before, victim = self.piece_at(chosen.source), self.piece_at(chosen.target)
        assert before is not None and before.kind is not None
        battle = None
        if victim is not None and victim.kind is not None:
            result = int(_call(kernels.battle, before.kind, victim.kind))
            battle = Battle(before.kind, victim.kind, SIGNS[result])
        played = Played(chosen, self.turn, battle)
        self._records.append(self._record)
        self._record = self._roomy_copy()
        _call(kernels.play_move, self._record, chosen.source, chosen.target)
        self.history.append(played)
        self._legal = None
        return played

    def pop(self) -> Move:
        """Take back the last move and return it."""
        if not self.history:
            raise IndexError("there is no move to take back")
        self._record = self._records.pop()
        self._legal = None
        return self.history.pop().move

    # ── Knowledge, copies, texts ─────────────────────────────────────────────────────────────────

    def view(self, player: int) -> View:
        """What a player may know: a copy from which all that is hidden from him has been erased."""
        if player not in (0, 1):
            raise ConfigurationError(f"a player is 0 (red) or 1 (blue), not {player!r}")
        record = _copy(self._record)
        _call(conceal, record, player)
        return View(self.game, record, player, list(self.history))

    def copy(self) -> Board:
        """A board that goes its own way from here."""
        board = Board(self.game, self._record)
        board.history = list(self.history)
        board._records = list(self._records)
        return board

    def start_position(self) -> Position:
        """The position from which this board's moves began."""
        return Look(self.game, self._records[0]).position() if self._records else self.position()

    @property
    def text(self) -> str:
        """The game as position text, complete: the position after the last battle, and all moves since.

        `Board.from_position` reads it back (give it the variant and the rules).
        """
        quiet = min(self.quiet, len(self._records))
        base = self._records[len(self._records) - quiet] if quiet else self._record
        moves = tuple(MoveText(played.move, False, None) for played in self.history[len(self.history) - quiet :])
        return position_text(replace(Look(self.game, base).position(), moves=moves))

    def __eq__(self, other: object) -> bool:
        """Equal if the same game, with the same rules, stands as it does here, with all the history that matters."""
        if not isinstance(other, Board):
            return NotImplemented
        return self.variant == other.variant and self.rules == other.rules and self.text == other.text

    def __hash__(self) -> int:
        return hash((self.variant, self.rules, self.text))

    def __repr__(self) -> str:
        return f"Board.from_position({self.text!r}, {self.variant.name!r}, {self.rules.text!r})"

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _roomy_copy(self) -> Record:
        """A copy of the record that has room for one more move that the rules may look back to."""
        if self.quiet + 1 < self._history:
            return _copy(self._record)
        return _reformatted(self._record, self.game, self.game.format(plies=self.quiet + 1))

    def _check_text(self, written: MoveText) -> None:
        """Refuse a written move that contradicts the board."""
        source, target = written.move
        text = move_text(written, self.variant)
        attacker, defender = self.piece_at(source), self.piece_at(target)
        if written.battle and defender is None:
            raise NotationError(f"{text!r} says there is a battle, and {self.variant.square_name(target)} is empty")
        if written.shown is None or attacker is None or defender is None:
            return
        for piece, kind in ((attacker, written.shown[0]), (defender, written.shown[1])):
            if piece.kind is not None and piece.kind != kind:
                raise NotationError(f"{text!r} shows a {TYPES[kind]}, and the piece is a {piece}")
        result = int(_call(kernels.battle, written.shown[0], written.shown[1]))
        sign = SIGNS[result]
        if written.shown[2] != sign:
            raise NotationError(f"{text!r} gives the battle the wrong result: it is {sign!r}")

    def _refusal(self, move: Move) -> Exception:
        """The error that says why a move cannot be made here."""
        v = self.variant
        if not (0 <= move.source < v.squares and 0 <= move.target < v.squares):
            return InvalidMoveError(f"{tuple(move)} is no move: squares go from 0 to {v.squares - 1}")
        name = v.square_name
        text = name(move.source) + name(move.target)
        outcome = self.outcome()
        if outcome is not None:
            result = "a draw" if outcome.winner is None else f"{PLAYERS[outcome.winner]} has won"
            return NotYourTurnError(f"{text} cannot be played: the game is over ({outcome.end}; {result})")
        piece = self.piece_at(move.source)
        if piece is None:
            return IllegalMoveError(f"{text} is not legal: there is no piece on {name(move.source)}")
        if piece.player != self.turn:
            return NotYourTurnError(
                f"{text} is not your move: {name(move.source)} holds a {PLAYERS[piece.player]} piece, and "
                f"{PLAYERS[self.turn]} is on turn"
            )
        barred = self.why_barred(move)
        if barred is not None:
            return IllegalMoveError(f"{text} is not legal: {barred.reason}")
        why = FAULTS[self.fault(move)].format(kind=TYPES[piece.kind or 0], target=name(move.target))
        own = [name(legal.target) for legal in self.legal_moves if legal.source == move.source]
        instead = f"it may go to {', '.join(own)}" if own else "it has no legal move"
        return IllegalMoveError(f"{text} is not legal: {why}; {instead}")


# ── Records of one game ──────────────────────────────────────────────────────────────────────────


@cache
def _kernel(function: Any) -> Any:
    return compiled(function, CPU, TRACKS=True)


def _call(function: Any, *arguments: Any) -> Any:
    """Call a kernel; the first call may have to compile it."""
    kernel = _kernel(function)
    with progress(kernel, "stratego"):
        return kernel(*arguments)


def _empty(format: Format) -> Record:
    words, halves, bytes_ = format.empty(1)
    return Record(words[0], halves[0], bytes_[0], format.parameters)


def _copy(record: Record) -> Record:
    return Record(record.words.copy(), record.halves.copy(), record.bytes.copy(), record.rules)


def _shown_game(snapshot: Snapshot) -> Stratego:
    """The game of a snapshot whose records can be shown."""
    if not isinstance(snapshot.game, Stratego):
        raise ConfigurationError(f"a Board shows Stratego, not {snapshot.game.name!r}")
    if not snapshot.format.tracks:
        raise ConfigurationError("a Board needs records with what observations need: Simulator(…, tracks=True)")
    return snapshot.game


def _begin(game: Stratego, start: npt.NDArray[np.int8]) -> Record:
    record = _empty(game.format(plies=0))
    _call(kernels.begin, record, start)
    return record


def _place(game: Stratego, position: Position) -> Record:
    """The record of a position: as a start, with everything that a position text tells put in."""
    v = game.variant
    start = np.zeros(v.squares, np.int8)
    flags = [0, 0]
    for piece in position.pieces:
        if piece.kind is None:
            raise NotationError("a view (with U or u) is not a playable position: it can be shown, not resumed")
        if not 0 <= piece.square < v.squares or piece.square in v.lakes:
            raise SetupError(f"no piece can stand on square {piece.square} of this board")
        if not (0 <= piece.kind < len(TYPES) and piece.player in (0, 1)):
            raise SetupError(
                f"square {v.square_name(piece.square)}: there is no piece {piece.kind} of player {piece.player}"
            )
        start[piece.square] = 1 + piece.kind + 12 * piece.player
        flags[piece.player] += piece.kind == FLAG
    if max(flags) > 1 or flags == [0, 0]:
        raise SetupError(f"each side has exactly one Flag, not {flags[0]} (red) and {flags[1]} (blue)")
    if position.turn not in (0, 1):
        raise NotationError(f"the player on turn is 0 (red) or 1 (blue), not {position.turn!r}")
    record = _begin(game, start)
    words, bytes_ = record.words, record.bytes
    for piece in position.pieces:
        bit = np.uint64(1 << (piece.square & 63))
        assert piece.kind is not None
        if piece.revealed:
            words[layout.HIDDEN + (piece.square >> 6)] &= ~bit
            bytes_[layout.HIDDEN_COUNT + 12 * piece.player + piece.kind] -= 1
        if piece.moved:
            words[layout.MOVED + (piece.square >> 6)] |= bit
        if piece.revealed or piece.moved:
            bytes_[layout.UNMOVED + piece.player] -= 1
    words[PLIES] = position.plies
    words[layout.BATTLELESS] = position.battleless
    for player in (0, 1):
        newest_first = position.trails[player][::-1]
        first = layout.TRAIL + layout.TRAIL_LENGTH * player
        bytes_[first : first + len(newest_first)] = newest_first
        length, last = position.chases[player]
        words[layout.LENGTH + player] = length
        if last is not None:
            bytes_[layout.LAST + 2 * player : layout.LAST + 2 * player + 2] = last
    bytes_[PLAYER] = position.turn
    bytes_[END] = 0
    bytes_[WINNER] = NOBODY
    _resume_isf(game, record)
    # A side without its Flag has lost it to the other, who has just moved if this side is on turn.
    if flags == [1, 1] or flags[position.turn] == 0:
        _call(kernels.judge, record, flags != [1, 1])
    else:
        _call(kernels.finish, record, kernels.END_FLAG, position.turn)
    return record


def _resume_isf(game: Stratego, record: Record) -> None:
    """The chase of the federation's text that a battle begins: it follows from the board right after it (§3)."""
    words, bytes_ = record.words, record.bytes
    player = 1 - int(bytes_[PLAYER])
    target = int(bytes_[layout.LAST + 2 * player + 1])
    if game.rules.chase != "isf" or words[layout.BATTLELESS] != 0 or target == layout.NONE:
        return
    look = Look(game, record)
    survivor = look.piece_at(target)
    if survivor is None or survivor.player != player:
        return
    beside = [square for square in neighbours(target, game.variant) if square in look.pieces(1 - player)]
    for square in beside:
        words[layout.THREATENED + 2 * player + (square >> 6)] |= np.uint64(1 << (square & 63))
    bytes_[layout.CHASING + player] = 1 if beside else 0


def _reformatted(record: Record, game: Stratego, format: Format) -> Record:
    """The same record in another format; refuses to drop moves that the rules look back to."""
    old, new = int(record.rules[layout.HISTORY]), format.history
    if new == old:
        return _copy(record)
    if int(record.words[layout.QUIET]) >= new:
        raise RecordError(
            f"this game has {int(record.words[layout.QUIET])} plies since the last battle, and a record with "
            f"history={new} cannot hold them: ask for more (game.format(plies=…))"
        )
    fresh = _empty(format)
    fresh.words[:] = record.words
    recorded = int(record.words[layout.RECORDED])
    movers = layout.BYTES + 3 * game.variant.squares
    fresh.bytes[:movers] = record.bytes[:movers]
    fresh.halves[new:] = record.halves[old:]
    for ply in range(max(0, recorded - min(old, new)), recorded):
        fresh.halves[ply % new] = record.halves[ply % old]
        fresh.bytes[movers + ply % new] = record.bytes[movers + ply % old]
    return fresh


def _list_moves(record: Record, which: int) -> list[Move]:
    moves = np.empty((4 * int(record.rules[layout.SQUARES]) + 8, 2), np.int64)
    count = _call(inspect.list_moves, record, which, moves)
    return [Move(int(source), int(target)) for source, target in moves[:count]]


def _variant_of(position: Position) -> Variant:
    """A variant with the board of a position: a shipped one if there is one, else one made for it."""
    for variant in VARIANTS.values():
        if (variant.rows, variant.columns, variant.lakes) == (position.rows, position.columns, tuple(position.lakes)):
            return variant
    army = [0] * len(TYPES)
    army[FLAG], army[SCOUT] = 1, 1
    rows = [lake // position.columns for lake in position.lakes]
    free = min([position.rows // 2, *(min(row, position.rows - 1 - row) for row in rows)])
    return Variant("position", position.rows, position.columns, tuple(position.lakes), free, tuple(army))
