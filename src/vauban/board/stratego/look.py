"""A position of Stratego: pieces, squares, barred moves with their reasons; the common part of boards and views."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from vauban.board import base
from vauban.board.stratego import picture
from vauban.board.stratego.records import list_moves, reformatted
from vauban.errors import ConfigurationError, InvalidMoveError, VaubanError
from vauban.games.base import Format
from vauban.games.stratego import inspect, layout
from vauban.games.stratego import rules as kernels
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import LETTERS, MOVABLE_TYPES, PIECE_TYPES, PLAYERS, SCOUT, TYPES, PieceType
from vauban.games.stratego.switches import WHY, Rules
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego.moves import Move, MoveText, move_text, parse_move_text
from vauban.notation.stratego.position import PlacedPiece, Position
from vauban.words import moves_word

if TYPE_CHECKING:
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
"""Faults of a move that no rule of repetition bars."""


@dataclass(frozen=True)
class Piece:
    """A piece on the board, as the viewer knows it."""

    player: int
    kind: PieceType | None
    """Its type, a number that prints as its name; None if it is hidden from the viewer."""
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
    """The pieces that a battle showed."""

    attacker: PieceType
    defender: PieceType
    result: str
    """">" if the attacker won, "<" if the defender did, "=" if both fell."""


@dataclass(frozen=True)
class Played:
    """A move that was made."""

    move: Move
    player: int
    battle: Battle | None


SIGNS = {kernels.DEFENDER_DIES: ">", kernels.ATTACKER_DIES: "<", kernels.BOTH_DIE: "="}
"""The text of a battle's result: attacker, sign, defender."""


@dataclass(frozen=True)
class Barred:
    """A rule that bars a move, and why."""

    rule: str
    """The switch that bars it, such as "two_square"."""
    reason: str
    """A sentence for a person."""
    steps: tuple[Move, ...] = ()
    """For the two-square rule: the latest steps of the piece."""
    ply: int | None = None
    """For the chase rule: the ply after which the same position stood on the board, if it is known."""


class BoardMove(Move):
    """A move on a board of known size; it prints as it is written: a4a5."""

    variant: Variant

    @classmethod
    def on(cls, move: tuple[int, int], variant: Variant) -> BoardMove:
        """Return a move on the board of a variant."""
        found = cls(*move)
        found.variant = variant
        return found

    def __str__(self) -> str:
        return self.variant.square_name(self.source) + self.variant.square_name(self.target)

    __repr__ = __str__


SHOWN_MOVES = 20
"""Moves that a list of legal moves prints."""


class LegalMoves(Sequence[BoardMove]):
    """The legal moves of a position, ordered by source and target."""

    def __init__(self, moves: list[Move], variant: Variant) -> None:
        self._moves = [BoardMove.on(move, variant) for move in sorted(moves)]
        self._set = frozenset(moves)

    @overload
    def __getitem__(self, index: int) -> BoardMove: ...
    @overload
    def __getitem__(self, index: slice) -> list[BoardMove]: ...
    def __getitem__(self, index: int | slice) -> BoardMove | list[BoardMove]:
        return self._moves[index]

    def __len__(self) -> int:
        return len(self._moves)

    def __contains__(self, move: object) -> bool:
        return move in self._set

    def __iter__(self) -> Iterator[BoardMove]:
        return iter(self._moves)

    def __repr__(self) -> str:
        shown = [str(move) for move in self._moves[:SHOWN_MOVES]] + ["…"] * (len(self) > SHOWN_MOVES)
        return f"<{len(self)} legal {moves_word(len(self))}: {', '.join(shown)}>" if shown else "<no legal moves>"


class Look(base.Look):
    """The common part of boards and views: reading a record."""

    game: Stratego
    history: list[Played]
    """The moves made so far, all public."""

    @property
    def variant(self) -> Variant:
        """The variant that is played."""
        return self.game.variant

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.game.rules

    @property
    def battleless(self) -> int:
        """Plies since the last battle."""
        return int(self._record.words[layout.BATTLELESS])

    @property
    def quiet(self) -> int:
        """Plies since the last battle that the record knows, and the chase rule can look back to."""
        return int(self._record.words[layout.QUIET])

    def piece_at(self, square: int | str) -> Piece | None:
        """Return the piece on a square, given by number or by name ("e5"); None if there is none."""
        square = self.variant.square(square) if isinstance(square, str) else square
        self._check_squares(square)
        bytes_ = self._record.bytes
        identity = int(bytes_[layout.BYTES + square])
        if identity == layout.NONE:
            return None
        code = int(bytes_[layout.BYTES + self.variant.squares + identity])
        hidden, moved = self._set(layout.HIDDEN), self._set(layout.MOVED)
        kind = None if code & 15 == layout.UNKNOWN else PIECE_TYPES[code & 15]
        return Piece(code >> 7, kind, identity, bool(moved >> square & 1), not hidden >> square & 1)

    def pieces(self, player: int | None = None) -> dict[int, Piece]:
        """Return all pieces on the board, or one player's, by square."""
        found = {}
        for square in range(self.variant.squares):
            piece = self.piece_at(square)
            if piece is not None and player in (None, piece.player):
                found[square] = piece
        return found

    def barred_moves(self, rule: str) -> list[Move]:
        """List the moves that one rule ("two_square" or "chase") bars, whether or not others do too."""
        if rule not in WHY:
            *others, last = map(repr, WHY)
            raise ConfigurationError(f"the rules that bar moves are {', '.join(others)} and {last}, not {rule!r}")
        return sorted(list_moves(self._record, layout.SWITCH[rule]))

    def why_barred(self, move: Squares) -> Barred | None:
        """Say which rule bars a geometric move of the player on turn, and why; None if none does."""
        chosen = Move(*move)
        self._check_squares(*chosen)
        rule = next((rule for rule in WHY if chosen in self.barred_moves(rule)), None)
        if rule is None:
            return None
        wanted = "".join(WHY[rule])
        steps = self._latest_steps() if "{steps}" in wanted else ()
        ply = self._same_position(chosen) if "{ply}" in wanted else None
        name = self.variant.square_name
        piece = self.piece_at(chosen.source)
        known = {
            "piece": "piece" if piece is None else TYPES[piece.kind or 0],
            "move": name(chosen.source) + name(chosen.target),
            "to": name(chosen.target),
            "steps": ", ".join(f"{name(step.source)}–{name(step.target)}" for step in steps),
            "ply": "" if ply is None else str(ply),
        }
        # The last sentence is for when nothing more is known.
        sentence = next(
            (each for each in WHY[rule] if all(known[word] for word in re.findall(r"\{(\w+)\}", each))), WHY[rule][-1]
        )
        return Barred(rule, sentence.format(**known), steps, ply)

    def _latest_steps(self) -> tuple[Move, ...]:
        """Return the latest steps of the own piece that moved last, as many as the two-square rule counts."""
        trail = self.position().trails[self.turn][-self.rules.two_square - 1 :]
        return tuple(Move(*pair) for pair in itertools.pairwise(trail))

    def _check_squares(self, *squares: int) -> None:
        for square in squares:
            if not 0 <= square < self.variant.squares:
                raise ConfigurationError(
                    f"{square} is no square of this board: squares go from 0 to {self.variant.squares - 1}"
                )

    def _same_position(self, move: Move) -> int | None:
        """Return the ply after which the pieces stood as they would after this move: the place of every piece is
        public.
        """
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
        """Name the fault, repetition aside, of a move of an own piece that is not legal: one of `FAULTS`."""
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

    def captured(self, player: int) -> list[PieceType]:
        """Return the types of the player's pieces that have been removed, strongest first."""
        squares = self.variant.squares
        kinds = self._record.bytes[layout.BYTES + squares : layout.BYTES + 2 * squares]
        places = self._record.bytes[layout.BYTES + 2 * squares : layout.BYTES + 3 * squares]
        dead = (places != layout.NONE) & (places >= layout.DEAD) & (kinds >> 7 == player)
        return sorted((PIECE_TYPES[int(kind) & 15] for kind in kinds[dead]), reverse=True)

    def position(self) -> Position:
        """Return the position as it stands, without the moves that led to it."""
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

    def move_text(self, move: Any) -> str:
        """Return a move as text, with an x if it goes onto a piece."""
        source, target = self.move_of(move)
        return move_text(MoveText(Move(source, target), self.piece_at(target) is not None, None), self.variant)

    @property
    def legal_moves(self) -> LegalMoves:
        """The legal moves of the player on turn, repetition rules included."""
        return LegalMoves(list_moves(self._record, inspect.LEGAL_MOVES), self.variant)

    @property
    def legal_actions(self) -> list[int]:
        """The same, as numbers of actions, in their order."""
        return sorted(self.game.encode(self.turn, *move) for move in self.legal_moves)

    def parse_move(self, text: str) -> BoardMove:
        """Return the move behind a text such as "a4a5", "e6xe7" or "e6xe7(M>C)"."""
        return BoardMove.on(parse_move_text(text, self.variant).move, self.variant)

    def move_of(self, move: Any) -> BoardMove:
        """Return a move, from its text, from a pair of squares or from the number of an action."""
        if isinstance(move, str):
            return self.parse_move(move)
        try:
            if hasattr(move, "__index__") and not isinstance(move, bool) and 0 <= index(move) < self.game.action_count:
                return BoardMove.on(self.game.decode(self.turn, index(move)), self.variant)
            source, target = move
            return BoardMove.on((index(source), index(target)), self.variant)
        except (TypeError, ValueError) as error:
            if isinstance(error, VaubanError):
                raise
            raise InvalidMoveError(
                f"{move!r} is no move: give a text, a pair of squares or the number of an action"
            ) from error

    def action_of(self, move: Any) -> int:
        """Return the number of an action, from what `move_of` takes."""
        return self.game.encode(self.turn, *self.move_of(move))

    def snapshot(self, format: Format | None = None) -> Snapshot:
        """Return the game as a record, to put into a `Simulator`; in the usual format of its rules, or a given one."""
        from vauban.sim.store import Snapshot, Store

        format = format or self.game.format(plies=self.quiet)
        record = reformatted(self._record, self.game, format)
        parts = (record.words.view(np.int64), record.halves.view(np.int16), record.bytes)
        return Snapshot(self.game, format, Store(*(part[None] for part in parts)))

    def as_text(self, observation: str | None = None) -> str:
        """Return the board as lines of text."""
        return picture.text(self)

    def svg(self, size: int = 480) -> str:
        """Return the position as an SVG picture."""
        return picture.svg(self, size)

    @property
    def _history(self) -> int:
        return int(self._record.rules[layout.HISTORY])

    def _set(self, offset: int) -> int:
        """Return a set of squares of the record, as a number with a bit for each square."""
        return int(self._record.words[offset]) | int(self._record.words[offset + 1]) << 64
