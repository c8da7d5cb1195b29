"""Observations of the player on turn, as planes of numbers, written for tests to compare with.

Two observations, `ataraxos` and `deepnash`; docs/observations.md describes their channels.

An Observer is made from an Oracle at its start and told every move; it follows the public history by itself:

    observer = Observer(game)
    game.push(move); observer.push(move)
    observer.ataraxos()      # (355 + squares + 32, squares) float32, in the frame of the player on turn
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from .rules import RED, Oracle, removed_in_battle

# Piece types in their order, and the two things that are no type but occur in type sets.
TYPES = "SONTLPJCGMFB"
MOVABLE = "SONTLPJCGM"
HIDDEN = "hidden"
EMPTY = "empty"

# The orders in which types have channels. What is not in an order has no channel there.
ORDER_THREAT = [*MOVABLE, HIDDEN]
ORDER_DEAD = [*MOVABLE, "B"]
ORDER_DEATH_CAUSE = [*MOVABLE]
ORDER_PROTECTION = [*MOVABLE, "B", EMPTY, HIDDEN]

# First channel of each kind of type set: of our pieces, of theirs.
SET_CHANNELS = {
    "threatened": (43, 76, ORDER_THREAT),
    "evaded": (54, 87, ORDER_THREAT),
    "actively_adjacent": (65, 98, ORDER_THREAT),
    "protected": (251, 303, ORDER_PROTECTION),
    "protected_against": (264, 316, ORDER_PROTECTION),
    "was_protected_by": (277, 329, ORDER_PROTECTION),
    "was_protected_against": (290, 342, ORDER_PROTECTION),
}

BOARD_CHANNELS = 355
MOVE_CHANNELS = 32

# `deepnash` counts types otherwise: Flag 0, Spy 1, …, Marshal 10, Bomb 11.
DEEPNASH_TYPES = "FSONTLPJCGMB"
DEEPNASH_CHANNELS = 82
DEEPNASH_MOVES = 40


@dataclass(eq=False)
class SeenPiece:
    """A piece with its public marks and the type sets that it carries along."""

    owner: int
    letter: str
    start: int
    moved: bool = False
    visible: bool = False
    sets: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in SET_CHANNELS})

    def shown(self) -> str:
        return self.letter if self.visible else HIDDEN


@dataclass(frozen=True)
class Death:
    """A piece that fell, where it had begun, where it fell, and for which of six reasons."""

    owner: int
    letter: str
    start: int
    square: int
    reason: int


@dataclass(frozen=True)
class PlayedMove:
    """A move, and the letter of the piece if it attacked (`deepnash` marks attacks)."""

    origin: int
    target: int
    attacker: str | None


class Observer:
    """The public history of one game from its first ply, and the two observations of the player on turn."""

    def __init__(self, start: Oracle) -> None:
        if start.plies != 0:
            raise ValueError(f"an Observer starts with the game, this one is at ply {start.plies}; feed it every move")
        self.squares = start.rows * start.columns
        self.lakes = start.lakes
        self.neighbours = start.neighbours
        self.rules = start.rules
        self.to_move = start.to_move
        self.plies = 0
        self.battleless = 0
        self.board: list[SeenPiece | None] = [None] * self.squares
        for square in range(self.squares):
            piece = start.piece_at(square)
            if piece is not None:
                self.board[square] = SeenPiece(piece.owner, piece.letter, square)
        self.deaths: list[Death] = []
        self.moves: list[PlayedMove] = []
        # Destinations of the last two plies, and the last mover as shown (None if it died).
        self.prev: int | None = None
        self.prevprev: int | None = None
        self.last_type: str | None = None

    # --- one ply, in the order of the published simulator ---

    def push(self, move: tuple[int, int]) -> None:
        """Take note of a move, which must be legal; only the Oracle judges that."""
        origin, target = move
        player = self.to_move
        mover, defender = self.board[origin], self.board[target]
        self.plies += 1
        self.battleless += 1
        self.moves.append(PlayedMove(origin, target, mover.letter if defender is not None else None))

        self._note_active_adjacency(player)
        # It evades: it left a square next to the piece that moved last, and not by attacking that piece.
        if self.last_type is not None and origin in self.neighbours[self.prev] and target != self.prev:
            mover.sets["evaded"].add(self.last_type)

        mover.moved = True
        defender_was_visible = defender is not None and defender.visible
        if defender is not None:
            self.battleless = 0
            mover.visible = defender.visible = True
        if target not in self.neighbours[origin]:
            mover.visible = True  # two or more squares: a Scout

        self.board[origin] = None
        if defender is None:
            removed = ""
            self.board[target] = mover
            # A quiet move next to enemies threatens them, whatever the strength.
            mover.sets["threatened"] |= {piece.shown() for piece in self._next_to(target, 1 - player)}
        else:
            removed = removed_in_battle(mover.letter, defender.letter)
            self.board[target] = {"A": defender, "D": mover, "AD": None}[removed]
            self._note_deaths(mover, defender, target, removed, defender_was_visible)

        self._note_protection(player, origin, target, mover_survived="A" not in removed, defender_won=removed == "A")

        self.last_type = None if "A" in removed else mover.shown()
        self.prevprev = self.prev
        self.prev = target
        self.to_move = 1 - player

    def _note_active_adjacency(self, player: int) -> None:
        """Note which pieces stand beside each other, on the board before the move."""
        opponent = 1 - player
        if self.last_type is not None:
            for piece in self._next_to(self.prev, player):
                piece.sets["actively_adjacent"].add(self.last_type)
        if self.prevprev is None or self.board[self.prevprev] is None:
            return
        there = self.board[self.prevprev]
        if there.owner == player:
            there.sets["actively_adjacent"] |= {piece.shown() for piece in self._next_to(self.prevprev, opponent)}
        elif there.visible:
            for piece in self._next_to(self.prevprev, player):
                piece.sets["actively_adjacent"].add(there.shown())

    def _note_deaths(
        self, attacker: SeenPiece, defender: SeenPiece, square: int, removed: str, defender_was_visible: bool
    ) -> None:
        """Note the reason of a death: it depends on whether the defender was visible before the battle."""
        tie = removed == "AD"
        if "A" in removed:
            reason = (1 if tie else 0) if defender_was_visible else 2
            self.deaths.append(Death(attacker.owner, attacker.letter, attacker.start, square, reason))
        if "D" in removed:
            reason = (4 if tie else 3) if defender_was_visible else 5
            self.deaths.append(Death(defender.owner, defender.letter, defender.start, square, reason))

    def _note_protection(self, player: int, origin: int, target: int, mover_survived: bool, defender_won: bool) -> None:
        """Note protectors and protectees, in five cases, in the published order, on the board after the move."""
        if self.last_type is not None:
            self._count_triples(player, self._triples_with_aggressor(self.prev))
        if mover_survived:
            self._count_triples(player, self._triples_with_protector(target))
        if not defender_won:
            self._count_triples(player, self._triples_with_protectee(target))
        if defender_won:
            self._count_triples(player, self._triples_with_aggressor(target))
        self._count_triples(player, self._triples_with_protectee(origin))

    def _triples_with_aggressor(self, aggressor: int) -> Iterator[tuple[int, int, int]]:
        for protectee in self.neighbours[aggressor]:
            for protector in self.neighbours[protectee]:
                yield protector, protectee, aggressor

    def _triples_with_protector(self, protector: int) -> Iterator[tuple[int, int, int]]:
        for protectee in self.neighbours[protector]:
            for aggressor in self.neighbours[protectee]:
                yield protector, protectee, aggressor

    def _triples_with_protectee(self, protectee: int) -> Iterator[tuple[int, int, int]]:
        for protector in self.neighbours[protectee]:
            for aggressor in self.neighbours[protectee]:
                yield protector, protectee, aggressor

    def _count_triples(self, player: int, triples: Iterable[tuple[int, int, int]]) -> None:
        """Set the bits of those triples that count: enemy aggressor, own protector, own or no protectee.

        A protector that were also the aggressor is ruled out by the owners: it cannot be both.
        """
        for protector_square, protectee_square, aggressor_square in triples:
            protector = self.board[protector_square]
            protectee = self.board[protectee_square]
            aggressor = self.board[aggressor_square]
            if aggressor is None or aggressor.owner == player:
                continue
            if protector is None or protector.owner != player:
                continue
            if protectee is not None and protectee.owner != player:
                continue
            protector.sets["protected"].add(EMPTY if protectee is None else protectee.shown())
            protector.sets["protected_against"].add(aggressor.shown())
            if protectee is not None:
                protectee.sets["was_protected_by"].add(protector.shown())
                protectee.sets["was_protected_against"].add(aggressor.shown())

    def _next_to(self, square: int, owner: int) -> list[SeenPiece]:
        around = [self.board[neighbour] for neighbour in self.neighbours[square]]
        return [piece for piece in around if piece is not None and piece.owner == owner]

    # --- common to both observations ---

    def _view(self, square: int) -> int:
        """Return a square in the frame of the player on turn: turned by 180° for blue."""
        return square if self.to_move == RED else self.squares - 1 - square

    def _pieces(self, owner: int) -> list[tuple[int, SeenPiece]]:
        occupied = [(square, piece) for square, piece in enumerate(self.board) if piece is not None]
        return [(square, piece) for square, piece in occupied if piece.owner == owner]

    def _public_probabilities(self, owner: int) -> dict[int, dict[str, np.float32]]:
        """Return, for each square of a player's pieces, the probability of each type given public knowledge.

        Float32 throughout, in the published order of operations, so that bits can be compared.
        """
        pieces = self._pieces(owner)
        hidden = [piece for _, piece in pieces if not piece.visible]
        count = {letter: sum(piece.letter == letter for piece in hidden) for letter in TYPES}
        unmoved = sum(not piece.moved for piece in hidden)
        immobile = count["F"] + count["B"]
        movable = len(hidden) - immobile

        result = {}
        for square, piece in pieces:
            likely = {letter: np.float32(0) for letter in TYPES}
            if piece.visible:
                likely[piece.letter] = np.float32(1)
            elif piece.moved:
                for letter in MOVABLE:
                    likely[letter] = np.float32(count[letter]) / np.float32(movable)
            else:
                if movable > 0:
                    share = np.float32(unmoved - immobile) / (np.float32(unmoved) * np.float32(movable))
                    for letter in MOVABLE:
                        likely[letter] = np.float32(count[letter]) * share
                for letter in "FB":
                    likely[letter] = np.float32(count[letter]) / np.float32(unmoved)
            result[square] = likely
        return result

    @staticmethod
    def _fraction(counter: int, limit: int | None) -> np.float32:
        """Return counter over limit; 0 where there is no such limit. A limit of 0 has nothing to divide by either."""
        return np.float32(counter) / np.float32(limit) if limit else np.float32(0)

    # --- the two observations ---

    def ataraxos(self) -> np.ndarray:
        """Return the project's observation `ataraxos`: 355 board channels, the start squares, the last 32 moves."""
        planes = np.zeros((BOARD_CHANNELS + self.squares + MOVE_CHANNELS, self.squares), dtype=np.float32)
        us, them = self.to_move, 1 - self.to_move

        for square, piece in self._pieces(us):
            planes[TYPES.index(piece.letter), self._view(square)] = 1
        for owner, first in ((them, 12), (us, 24)):
            for square, likely in self._public_probabilities(owner).items():
                for letter, value in likely.items():
                    planes[first + TYPES.index(letter), self._view(square)] = value

        for square, piece in enumerate(self.board):
            at = self._view(square)
            if piece is None:
                planes[38, at] = square not in self.lakes
            else:
                planes[36 if piece.owner == us else 37, at] = not piece.visible
                planes[39 if piece.owner == us else 40, at] = piece.moved
        planes[41] = self._fraction(self.plies, self.rules.total_limit)
        planes[42] = self._fraction(self.battleless, self.rules.battleless_limit)

        for square, piece in self._pieces(us) + self._pieces(them):
            # A visible piece shows none of its sets.
            if piece.visible:
                continue
            for name, (ours, theirs, order) in SET_CHANNELS.items():
                first = ours if piece.owner == us else theirs
                for shown in piece.sets[name]:
                    if shown in order:
                        planes[first + order.index(shown), self._view(square)] = 1

        for death in self.deaths:
            first_dead, first_cause = (109, 131) if death.owner == us else (120, 191)
            if death.letter in ORDER_DEAD:
                planes[first_dead + ORDER_DEAD.index(death.letter), self._view(death.start)] = 1
            if death.letter in ORDER_DEATH_CAUSE:
                cause = first_cause + 10 * death.reason + ORDER_DEATH_CAUSE.index(death.letter)
                planes[cause, self._view(death.square)] = 1

        for square, piece in self._pieces(us) + self._pieces(them):
            planes[BOARD_CHANNELS + self._view(piece.start), self._view(square)] = 1

        # Oldest first: the newest move is the last plane of all.
        for age, move in enumerate(reversed(self.moves[-MOVE_CHANNELS:]), start=1):
            planes[-age, self._view(move.origin)] = -1
            planes[-age, self._view(move.target)] = 1
        return planes

    def deepnash(self) -> np.ndarray:
        """Return the observation `deepnash` in play: exact public information, first step of a turn.

        Planes 79 to 81 stay 0: no deployment, and no piece chosen yet.
        """
        planes = np.zeros((DEEPNASH_CHANNELS, self.squares), dtype=np.float32)
        us, them = self.to_move, 1 - self.to_move

        for lake in self.lakes:
            planes[0, self._view(lake)] = 1
        for square, piece in self._pieces(us):
            planes[1 + DEEPNASH_TYPES.index(piece.letter), self._view(square)] = 1
        for owner, first in ((them, 13), (us, 25)):
            for square, likely in self._public_probabilities(owner).items():
                for letter, value in likely.items():
                    planes[first + DEEPNASH_TYPES.index(letter), self._view(square)] = value

        # Newest first: plane 37 is the move just made.
        for age, move in enumerate(reversed(self.moves[-DEEPNASH_MOVES:])):
            mark = -1 if move.attacker is None else -(2 + DEEPNASH_TYPES.index(move.attacker) / 12)
            planes[37 + age, self._view(move.origin)] = mark
            planes[37 + age, self._view(move.target)] = 1
        planes[77] = self._fraction(self.plies, self.rules.total_limit)
        planes[78] = self._fraction(self.battleless, self.rules.battleless_limit)
        return planes
