"""`SeenGame`: a game of which only one side's pieces are known, followed move by move as a manager tells it.

    game = SeenGame(player, setup)
    game.saw(event)            # every move, ours too, and what came of it
    view = game.view()         # when we are on turn: what an agent is handed

A view needs a board, and a board needs a type for every piece. So the enemy's hidden pieces get
types that agree with all that has been seen: each type as often as the army still hides it, nothing
that has moved a Bomb or a Flag. When something is shown to be otherwise, they are dealt anew and the
game is played again from its start. What the view says never depends on that deal: it holds no
hidden types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, replace

from vauban.board.stratego import Board, Played, View
from vauban.errors import NotationError
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES, PLAYERS, SCOUT, TYPES
from vauban.games.stratego.setups import Row
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego import ucc
from vauban.notation.stratego.moves import Move, squares_between
from vauban.notation.stratego.position import PlacedPiece, Position

SEEN_RULES = f"{ucc.UCC_RULES} total_limit=none"
"""A manager's turn cap is its own secret."""


@dataclass(frozen=True)
class _Piece:
    """A piece at the start: where, whose, and what is known of it."""

    square: int
    player: int
    kind: int | None
    moved: bool = False
    revealed: bool = False


def enemies_at_the_start(rows: list[str], event: str, variant: Variant) -> set[int]:
    """Return where the enemy's pieces stood before the first move, from the first board and what was told with it."""
    squares = {square for square, letter in ucc.parse_board_rows(rows, variant).items() if letter == ucc.ENEMY}
    answer = None if event.strip() == ucc.START else ucc.parse_event(event).answer
    move = None if answer is None else answer.move(variant)
    return squares if move is None else squares - {move.target} | {move.source}


class SeenGame:
    """One player's game."""

    def __init__(
        self, player: int, setup: Row, variant: Variant = ucc.CLASSIC, enemies: Container[int] | None = None
    ) -> None:
        """A game that begins; `setup` is our own.

        enemies: the squares on which the enemy's pieces stand (`enemies_at_the_start`); not needed for an army that
            fills its rows.
        """
        self.player = player
        self.variant = variant
        room = len(setup)
        places = [*range(room), *range(variant.squares - room, variant.squares)]
        pieces = []
        for square in places:
            side = 0 if square < room else 1
            own = square if side == 0 else variant.squares - 1 - square
            if side == player and setup[own]:
                pieces.append(_Piece(square, side, int(setup[own]) - 1))
            if side != player and (enemies is None or square in enemies):
                pieces.append(_Piece(square, side, None))
        self._fallen: Counter[int] = Counter()
        """The enemy's pieces that were gone before the start."""
        self._begin(pieces, 0, 0)

    def _begin(self, pieces: list[_Piece], turn: int, plies: int) -> None:
        """Go on from these pieces; the moves before are forgotten."""
        self._start = {piece.square: piece for piece in pieces}
        self._turn, self._plies = turn, plies
        self._events: list[tuple[Move, ucc.Event]] = []
        self._at = {square: square for square in self._start}
        """By square: which piece stands there, named by where it started."""
        self._kinds = {square: piece.kind for square, piece in self._start.items() if piece.kind is not None}
        self._moved = {square for square, piece in self._start.items() if piece.moved}
        self._public = {square for square, piece in self._start.items() if piece.revealed}
        self._dealt: dict[int, int] = {}
        self._board: Board | None = None

    @property
    def turn(self) -> int:
        """The player on turn."""
        return (self._turn + len(self._events)) % 2

    # ── What is seen ─────────────────────────────────────────────────────────────────────────────

    def saw(self, event: ucc.Event) -> None:
        """Take note of a move by the player on turn."""
        move = None if event.answer is None else event.answer.move(self.variant)
        if move is None or event.outcome not in ("OK", *ucc.OUTCOMES.values()):
            raise NotationError("what was told is no move")
        mover, other = self._at.get(move.source), self._at.get(move.target)
        if mover is None or self._start[mover].player != self.turn:
            raise NotationError(f"{ucc.move_words(move, self.variant)}: no piece of {PLAYERS[self.turn]} stands there")
        if (event.shown is None) != (other is None):
            raise NotationError(
                f"{ucc.move_words(move, self.variant)}: what was told of a battle does not fit the board"
            )
        if squares_between(move, self.variant):
            self._learn(mover, SCOUT)
        if event.shown is not None and other is not None:
            self._learn(mover, event.shown[0])
            self._learn(other, event.shown[1])
        self._moved.add(mover)
        self._events.append((move, event))
        del self._at[move.source]
        if event.outcome in ("OK", "KILLS"):
            self._at[move.target] = mover
        elif event.outcome == "BOTHDIE":
            del self._at[move.target]

    def _learn(self, piece: int, kind: int) -> None:
        known = self._kinds.setdefault(piece, kind)
        if known != kind:
            raise NotationError(f"a {TYPES[known]} is said to be a {TYPES[kind]}")
        self._public.add(piece)

    # ── What it looks like ───────────────────────────────────────────────────────────────────────

    def view(self) -> View:
        """Return our view of the game; we must be on turn."""
        board = self._up_to_date()
        return board.view(self.player)

    def history(self) -> list[Played]:
        """Return the moves so far, those before a `look_again` left out."""
        return self._up_to_date().history

    def agrees(self, rows: list[str]) -> bool:
        """Return whether the board that we were shown is the one that we have followed."""
        return ucc.board_rows(self._up_to_date(), self.player) == rows

    def look_again(self, rows: list[str]) -> None:
        """Go on from a board that we are shown, on turn: moves were lost, or were none.

        Enemies that stand where we saw them keep what is known of them.
        Of a board that cannot be there is no view: `NotationError`.
        """
        shown = ucc.parse_board_rows(rows, self.variant)
        pieces = []
        for square, letter in shown.items():
            piece = self._at.get(square)
            same = piece is not None and (self._start[piece].player != self.player) == (letter == ucc.ENEMY)
            moved = piece in self._moved if same else False
            if letter == ucc.ENEMY:
                kind = self._kinds.get(piece) if same and piece is not None else None
                pieces.append(_Piece(square, 1 - self.player, kind, moved, kind is not None))
            else:
                kind = ucc.LETTERS.index(letter)
                public = same and piece in self._public
                pieces.append(_Piece(square, self.player, kind, moved and kind < MOVABLE_TYPES, public))
        alive = set(self._at.values())
        enemies = [square for square, piece in self._start.items() if piece.player != self.player]
        self._fallen.update(self._kinds[square] for square in enemies if square not in alive)
        plies = self._plies + len(self._events)
        self._begin(pieces, self.player, plies + (plies % 2 != self.player))
        try:
            self._deal()
        except NotationError:  # what we thought to know cannot be: forget it
            self._fallen.clear()
            forgotten = [
                piece if piece.player == self.player else replace(piece, kind=None, moved=False, revealed=False)
                for piece in pieces
            ]
            self._begin(forgotten, self.player, self._plies)

    # ── The board behind it ──────────────────────────────────────────────────────────────────────

    def _up_to_date(self) -> Board:
        """Return the board with all moves made; played again from its start if the deal has turned out wrong."""
        wrong = (
            len(self._dealt) != len(self._start)
            or any(self._dealt[piece] != kind for piece, kind in self._kinds.items())
            or any(self._dealt[piece] >= MOVABLE_TYPES for piece in self._moved)
        )
        if wrong:
            self._dealt = self._deal()
            self._board = None
        if self._board is None:
            self._board = Board.from_position(self._position(), self.variant, SEEN_RULES)
        board = self._board
        for move, event in self._events[len(board.history) :]:
            battle = board.push(move).battle
            if event.outcome != ("OK" if battle is None else ucc.OUTCOMES[battle.result]):
                raise NotationError(
                    f"{ucc.move_words(move, self.variant)}: what was told of a battle does not fit the board"
                )
        return board

    def _deal(self) -> dict[int, int]:
        """Return a type for every piece: the known ones, and for the others some that agree with what is known."""
        hidden = [square for square, piece in self._start.items() if square not in self._kinds]
        known = Counter(kind for square, kind in self._kinds.items() if self._start[square].player != self.player)
        left = Counter(dict(enumerate(self.variant.army)))
        left.subtract(known + self._fallen)
        pool = [kind for kind, count in sorted(left.items()) for _ in range(count)]
        # Of too many (pieces fell unseen) the Flag is the last to be left out: without it there is no game.
        pool = [kind for kind in pool if kind != FLAG][: len(hidden) - left[FLAG]] + [FLAG] * left[FLAG]
        restless = [square for square in hidden if square in self._moved]
        movable = [kind for kind in pool if kind < MOVABLE_TYPES]
        if min(left.values()) < 0 or len(pool) != len(hidden) or len(restless) > len(movable):
            raise NotationError("what was told of the enemy's pieces cannot be: there are more than the army has")
        dealt = dict(self._kinds)
        for square, kind in zip(restless, movable, strict=False):
            dealt[square] = kind
            pool.remove(kind)
        dealt.update(zip((square for square in hidden if square not in self._moved), pool, strict=True))
        return dealt

    def _position(self) -> Position:
        pieces = tuple(
            PlacedPiece(square, piece.player, self._dealt[square], piece.moved, piece.revealed)
            for square, piece in sorted(self._start.items())
        )
        v = self.variant
        return Position(
            v.rows, v.columns, v.lakes, pieces, self._turn, self._plies, 0, ((), ()), ((0, None), (0, None)), (),
        )  # fmt: skip
