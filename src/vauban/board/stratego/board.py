"""`Board`: one game of Stratego, for people; and `View`, what one player may know of it.

    >>> from vauban import Board
    >>> board = Board.from_setups("FLPJ", "JFPL", "tiny")
    >>> [board.move_text(move) for move in board.legal_moves]
    ['b1b2', 'c1c2', 'd1d2']
    >>> board.push("b1b2")
    Played(move=b1b2, player=0, battle=None)
    >>> board.pop()
    b1b2

A board judges games of any length. Squares are numbers (0 is a1) in an absolute frame; red is player 0.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import comb, factorial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from vauban.board import base
from vauban.board.stratego.look import FAULTS, SIGNS, Battle, BoardMove, LegalMoves, Look, Played, Squares
from vauban.board.stratego.placing import place, variant_of
from vauban.board.stratego.records import call, reformatted
from vauban.errors import (
    ConfigurationError,
    IllegalMoveError,
    InvalidMoveError,
    NotationError,
    NotYourTurnError,
)
from vauban.games.base import Format
from vauban.games.kernel import Record
from vauban.games.stratego import layout
from vauban.games.stratego import rules as kernels
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import MOVABLE_TYPES, PIECE_TYPES, PLAYERS, TYPES, PieceType
from vauban.games.stratego.setups import random_setup
from vauban.games.stratego.switches import Rules
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego.moves import Move, MoveText, move_text, parse_move_text
from vauban.notation.stratego.position import PlacedPiece, Position, parse_position, position_text

if TYPE_CHECKING:
    from vauban.sim.store import Snapshot


class View(Look, base.View):
    """All that one player may know: the player's own pieces, what has been seen of the others, everything public.

    A view holds no hidden type anywhere, so nothing that is computed from it can leak one.
    """

    def __repr__(self) -> str:
        return f"<View of {PLAYERS[self.player]}: {self.text}>"

    def snapshot(self, format: Format | None = None) -> Snapshot:
        """Return the view as a record, for `Simulator.determinise`."""
        return replace(Look.snapshot(self, format), viewer=self.player)

    @property
    def text(self) -> str:
        """The view as position text, with U and u for hidden pieces."""
        return position_text(self.position())

    def hidden(self) -> list[int]:
        """List the squares of the enemy's hidden pieces, in the order of the player's frame (as `determinise` does)."""
        return self.game.hidden_squares(self._record, self.player)

    def hidden_types(self) -> dict[PieceType, int]:
        """Count the enemy's hidden pieces of each type."""
        start = layout.HIDDEN_COUNT + 12 * (1 - self.player)
        counts = self._record.bytes[start : start + 12]
        return {kind: int(count) for kind, count in zip(PIECE_TYPES, counts, strict=True) if count}

    def count_assignments(self) -> int:
        """Count the ways in which the enemy's hidden pieces may be of the hidden types: moved ones are movable."""
        self._check_on_turn()
        counts = self.hidden_types()
        still = sum(not moved for moved in self._hidden_moved())
        fixed = sum(count for kind, count in counts.items() if kind >= MOVABLE_TYPES)
        ways = comb(still, fixed) * factorial(fixed) * factorial(sum(counts.values()) - fixed)
        for count in counts.values():
            ways //= factorial(count)
        return ways

    def assignments(self) -> Iterator[tuple[PieceType, ...]]:
        """Yield these ways, each the types of the pieces on `hidden()`, in the order that `determinise` takes."""
        self._check_on_turn()
        moved, left = self._hidden_moved(), self.hidden_types()
        chosen: list[PieceType] = []

        def extended() -> Iterator[tuple[PieceType, ...]]:
            if len(chosen) == len(moved):
                yield tuple(chosen)
                return
            # What has moved comes from the movable types, and these must not run out before the still pieces.
            for kind in left:
                if left[kind] and not (kind >= MOVABLE_TYPES and moved[len(chosen)]):
                    left[kind] -= 1
                    chosen.append(kind)
                    yield from extended()
                    chosen.pop()
                    left[kind] += 1

        return extended()

    def _hidden_moved(self) -> list[bool]:
        """Return of each hidden piece whether it has moved."""
        moved = self._set(layout.MOVED)
        return [bool(moved >> square & 1) for square in self.hidden()]


class Board(Look, base.Board):
    """One game: its position, its moves so far, and the legal moves."""

    views: ClassVar[type[Any]] = View

    def _take_place(self, game: Any, record: Record, seed: int | None) -> None:
        super()._take_place(game, record, seed)
        self._legal: LegalMoves | None = None

    # ── Beginnings ───────────────────────────────────────────────────────────────────────────────

    @classmethod
    def from_setups(
        cls,
        red: str | npt.ArrayLike,
        blue: str | npt.ArrayLike,
        variant: str | Variant | Stratego = "classic",
        rules: str | Mapping[str, Any] | Rules | None = None,
        *,
        seed: int | None = None,
    ) -> Board:
        """Return a game that begins from two setups, texts or rows, each in its owner's own view."""
        return cls(_game(variant, rules), seed=seed, setups=(red, blue))

    @classmethod
    def random(
        cls,
        variant: str | Variant | Stratego = "classic",
        seed: int | None = None,
        rules: str | Mapping[str, Any] | Rules | None = None,
    ) -> Board:
        """Return a game that begins from two setups drawn uniformly, drawn again if it would be over at once."""
        return cls._random(_game(variant, rules), seed)

    @classmethod
    def _random(cls, game: Any, seed: int | None) -> Board:
        rng = random.Random(seed)
        while True:
            board = cls(game, seed=0, setups=(random_setup(game.variant, rng), random_setup(game.variant, rng)))
            if not board.is_over:
                return board

    @classmethod
    def from_pieces(
        cls,
        pieces: Mapping[int, tuple[int, int]],
        variant: str | Variant | Stratego = "classic",
        rules: str | Mapping[str, Any] | Rules | None = None,
        turn: int = 0,
    ) -> Board:
        """Return a game that begins from a free setup: by square, the player and type of each piece."""
        game = _game(variant, rules)
        v = game.variant
        placed = tuple(PlacedPiece(s, player, kind, False, False) for s, (player, kind) in sorted(pieces.items()))
        start = Position(v.rows, v.columns, v.lakes, placed, turn, 0, 0, ((), ()), ((0, None), (0, None)), ())
        return cls._from_position(game, start)

    @classmethod
    def from_position(  # type: ignore[override]  # nothing is left to chance
        cls,
        position: str | Position,
        variant: str | Variant | Stratego | None = None,
        rules: str | Mapping[str, Any] | Rules | None = None,
    ) -> Board:
        """Return a game that goes on from a position.

        A position given alone has the board that it shows, and no limits unless rules name them.
        """
        placed = parse_position(position) if isinstance(position, str) else position
        if variant is None:
            variant = replace(variant_of(placed), total_limit=None, battleless_limit=None)
        return cls._from_position(_game(variant, rules), placed)

    @classmethod
    def _from_position(cls, game: Stratego, position: Position) -> Board:
        v = game.variant
        if (position.rows, position.columns, tuple(position.lakes)) != (v.rows, v.columns, v.lakes):
            raise ConfigurationError(
                f"the position is not on the board of {v.name!r}: {v.rows} × {v.columns} with its lakes"
            )
        board: Board = cls._from_record(game, place(game, position))
        for move in position.moves:
            board._check_text(move)
            board.push(move.move)
        return board

    # ── Moves ────────────────────────────────────────────────────────────────────────────────────

    @property
    def legal_moves(self) -> LegalMoves:
        """The legal moves: none once the game is over."""
        if self._legal is None:
            self._legal = super().legal_moves
        return self._legal

    def parse_move(self, text: str) -> BoardMove:
        """Return the move behind a text such as "a4a5", "e6xe7" or "e6xe7(M>C)"; refuses what contradicts the board."""
        parsed = parse_move_text(text, self.variant)
        self._check_text(parsed)
        return BoardMove.on(parsed.move, self.variant)

    def push(self, move: Squares | str | int) -> Played:
        """Make a move, given as text, as a pair of squares or as the number of an action.

        Raises `InvalidMoveError` (no move at all), `NotYourTurnError`, or `IllegalMoveError` with the reason.
        A text is compared with the board, hidden types included: hand a player's own words on as squares.
        """
        chosen = self.move_of(move)
        if chosen not in self.legal_moves:
            raise self._refusal(chosen)
        before, victim = self.piece_at(chosen.source), self.piece_at(chosen.target)
        assert before is not None and before.kind is not None
        battle = None
        if victim is not None and victim.kind is not None:
            result = int(call(kernels.battle, int(before.kind), int(victim.kind)))
            battle = Battle(before.kind, victim.kind, SIGNS[result])
        played = Played(chosen, self.turn, battle)
        self._records.append(self._record)
        self._record = self._roomy_copy()
        call(kernels.play_move, self._record, chosen.source, chosen.target)
        self.history.append(played)
        self._legal = None
        return played

    def pop(self) -> BoardMove:
        """Take back the last move and return it."""
        if not self.history:
            raise IndexError("there is no move to take back")
        self._record = self._records.pop()
        self._legal = None
        return self.move_of(self.history.pop().move)

    @property
    def actions(self) -> list[int]:
        """The moves so far, as numbers of actions."""
        return [self.game.encode(played.player, *played.move) for played in self.history]

    def played_text(self, played: Played) -> str:
        """Return a move of the history as text, with what its battle showed."""
        battle = played.battle
        shown = None if battle is None else (battle.attacker, battle.defender, battle.result)
        return move_text(MoveText(played.move, battle is not None, shown), self.variant)

    # ── Knowledge, copies, texts ─────────────────────────────────────────────────────────────────

    def view(self, player: int) -> View:
        """Return a player's view: a copy from which all that is hidden from that player has been erased."""
        view: View = super().view(player)
        return view

    def _known_history(self, player: int) -> list[Played]:
        """Return every move: all of them are public."""
        return list(self.history)

    def start_position(self) -> Position:
        """Return the position from which this board's moves began."""
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
        """Return whether the other is the same game, by the same rules, with all the history that matters."""
        if not isinstance(other, Board):
            return NotImplemented
        return self.variant == other.variant and self.rules == other.rules and self.text == other.text

    def __hash__(self) -> int:
        return hash((self.variant, self.rules, self.text))

    def __repr__(self) -> str:
        return f"Board.from_position({self.text!r}, {self.variant.name!r}, {self.rules.text!r})"

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _roomy_copy(self) -> Record:
        """Return a copy of the record that has room for one more move that the rules may look back to."""
        if self.quiet + 1 < self._history:
            return base.copy_of(self._record)
        return reformatted(self._record, self.game, self.game.format(plies=self.quiet + 1))

    def roomy_record(self, plies: int) -> Record:
        found = reformatted(self._record, self.game, self.game.format(plies=self.quiet + plies))
        return found._replace(halves=found.halves[: found.rules[layout.HISTORY]].copy())

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
        result = int(call(kernels.battle, written.shown[0], written.shown[1]))
        sign = SIGNS[result]
        if written.shown[2] != sign:
            raise NotationError(f"{text!r} gives the battle the wrong result: it is {sign!r}")

    def _refusal(self, move: Move) -> Exception:
        """Return the error that says why a move cannot be made here."""
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


def _game(variant: str | Variant | Stratego, rules: str | Mapping[str, Any] | Rules | None) -> Stratego:
    """Return the game of a variant, or a game that is made already."""
    if not isinstance(variant, Stratego):
        return Stratego(variant, rules)
    if rules is not None:
        raise ConfigurationError(f"the game {variant.name!r} is made already: give its rules when making it")
    return variant
