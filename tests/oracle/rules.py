"""The rules of Stratego (docs/rules.md), written as plainly as possible, for tests to compare with.

Every board of the game is kept, and the repetition rules are read off that list by their definitions.
Nothing here is fast on purpose and nothing is shared with the simulator: when the two differ,
this one is right until docs/rules.md shows otherwise.

    game = Oracle(10, 10, CLASSIC_LAKES, Rules(battleless_limit=200), pieces_from_setups(10, 10, red, blue))
    while not game.over:
        game.push(random.choice(game.legal()))
    print(game.winner, game.end, game.plies)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

RED, BLUE = 0, 1
COLOURS = ("red", "blue")

# c5 d5 g5 h5 c6 d6 g6 h6.
CLASSIC_LAKES = (42, 43, 46, 47, 52, 53, 56, 57)

IMMOBILE = "FB"
SCOUT = "O"

# Who is removed when the attacker (row) meets the defender (column).
DEFENDERS = "FSONTLPJCGMB"
BATTLES = {
    #     F  S  O  N  T  L  P  J  C  G  M  B
    "S": ["D", "AD", "A", "A", "A", "A", "A", "A", "A", "A", "D", "A"],
    "O": ["D", "D", "AD", "A", "A", "A", "A", "A", "A", "A", "A", "A"],
    "N": ["D", "D", "D", "AD", "A", "A", "A", "A", "A", "A", "A", "D"],
    "T": ["D", "D", "D", "D", "AD", "A", "A", "A", "A", "A", "A", "A"],
    "L": ["D", "D", "D", "D", "D", "AD", "A", "A", "A", "A", "A", "A"],
    "P": ["D", "D", "D", "D", "D", "D", "AD", "A", "A", "A", "A", "A"],
    "J": ["D", "D", "D", "D", "D", "D", "D", "AD", "A", "A", "A", "A"],
    "C": ["D", "D", "D", "D", "D", "D", "D", "D", "AD", "A", "A", "A"],
    "G": ["D", "D", "D", "D", "D", "D", "D", "D", "D", "AD", "A", "A"],
    "M": ["D", "D", "D", "D", "D", "D", "D", "D", "D", "D", "AD", "A"],
}

Move = tuple[int, int]
NO_PIECE = -1


@dataclass(frozen=True)
class Rules:
    """The switches of docs/rules.md with their defaults; limits are none unless given."""

    two_square: int = 3
    chase: str = "ataraxos"
    chase_compare: str = "identity"
    battleless_limit: int | None = None
    total_limit: int | None = None
    limits: str = "reached"
    cannot_move: str = "on_turn"

    def __post_init__(self) -> None:
        allowed = {
            "two_square": (0, 3, 5),
            "chase": ("ataraxos", "isf", "off"),
            "chase_compare": ("identity", "type"),
            "limits": ("reached", "exceeded"),
            "cannot_move": ("on_turn", "eager"),
        }
        for switch, values in allowed.items():
            value = getattr(self, switch)
            if value not in values:
                raise ValueError(f"{switch} = {value!r} is no value of this switch; use one of {values}")


class Piece(NamedTuple):
    """A piece and the public knowledge of it; its identity is the square on which it began."""

    owner: int
    letter: str
    identity: int
    moved: bool = False
    revealed: bool = False


class Turn(NamedTuple):
    """One move as it was made: by which piece, and along which squares."""

    identity: int
    origin: int
    target: int


@dataclass
class IsfChase:
    """A chase in the federation's reading (`isf`): identities of evaders and of pieces threatened last."""

    threatened: set[int]
    evaders: set[int] = field(default_factory=set)
    evaded: bool = False


def removed_in_battle(attacker: str, defender: str) -> str:
    """Return who is removed: 'A' the attacker, 'D' the defender, 'AD' both."""
    return BATTLES[attacker][DEFENDERS.index(defender)]


def rays_of(rows: int, columns: int, lakes: Iterable[int]) -> list[list[list[int]]]:
    """Return for each square four lists: the squares up, down, left and right of it, as far as the edge or a lake."""
    rays = []
    for square in range(rows * columns):
        row, column = divmod(square, columns)
        four = []
        for row_step, column_step in ((1, 0), (-1, 0), (0, -1), (0, 1)):
            ray = []
            r, c = row + row_step, column + column_step
            while 0 <= r < rows and 0 <= c < columns and r * columns + c not in lakes:
                ray.append(r * columns + c)
                r, c = r + row_step, c + column_step
            four.append(ray)
        rays.append(four)
    return rays


def neighbours_of(rows: int, columns: int, lakes: Iterable[int]) -> list[list[int]]:
    """Return for each square the squares next to it; lakes are left out, no piece ever stands there."""
    return [[ray[0] for ray in four if ray] for four in rays_of(rows, columns, lakes)]


def pieces_from_setups(rows: int, columns: int, red: str, blue: str) -> dict[int, tuple[int, str]]:
    """Return the pieces of two setup texts (docs/notation.md): each in its owner's view, back row first."""
    pieces = {}
    for index, letter in enumerate(red.replace("/", "")):
        if letter != ".":
            pieces[index] = (RED, letter)
    for index, letter in enumerate(blue.replace("/", "")):
        if letter != ".":
            pieces[rows * columns - 1 - index] = (BLUE, letter)
    return pieces


class Oracle:
    """A game from a free setup, judged after every ply and once before the first."""

    def __init__(
        self,
        rows: int,
        columns: int,
        lakes: Iterable[int],
        rules: Rules,
        pieces: Mapping[int, tuple[int, str]],
        to_move: int = RED,
    ) -> None:
        self.rows, self.columns, self.lakes, self.rules = rows, columns, frozenset(lakes), rules
        self.rays = rays_of(rows, columns, self.lakes)
        self.neighbours = neighbours_of(rows, columns, self.lakes)
        self._check(pieces)

        self.to_move = to_move
        self.plies = 0
        self.battleless = 0
        self.winner: str | None = None
        self.end: str | None = None

        self.board: list[Piece | None] = [None] * (rows * columns)
        for square, (owner, letter) in pieces.items():
            self.board[square] = Piece(owner, letter, square)
        # Boards are compared by this under chase_compare = type; types never change.
        self._type_of = {square: (owner, letter) for square, (owner, letter) in pieces.items()}
        self._type_of[NO_PIECE] = None

        # Every board since the start, as the identity on each square; the last one is the present board.
        self.boards: list[tuple[int, ...]] = [self._identities()]
        self.last_battle_board = 0  # index in `boards` of the board after the last battle, or of the start

        # The turns of each player apart: the two-square rule ignores what the opponent does in between.
        self.turns: tuple[list[Turn], list[Turn]] = ([], [])
        self.chase_length = [0, 0]
        self.isf_chase: list[IsfChase | None] = [None, None]

        self._judge()

    # --- queries ---

    @property
    def over(self) -> bool:
        return self.end is not None

    def legal(self) -> list[Move]:
        """Return the legal moves of the side on turn, sorted; none once the game is over."""
        return [] if self.over else list(self._legal)

    def barred(self) -> dict[str, list[Move]]:
        """Return the geometric moves of the side on turn that each repetition rule bars; a move may be in both."""
        if self.over:
            return {"two_square": [], "chase": []}
        return {rule: list(moves) for rule, moves in self._barred.items()}

    def piece_at(self, square: int) -> Piece | None:
        return self.board[square]

    def geometric(self, player: int) -> list[Move]:
        """Return all moves of a player's pieces, sorted, on turn or not; the repetition rules are left out."""
        moves = []
        for square, piece in enumerate(self.board):
            if piece is not None and piece.owner == player:
                moves += [(square, target) for target in self._targets(square)]
        return sorted(moves)

    def copy(self) -> Oracle:
        """Return the same game, to be played on differently."""
        twin = object.__new__(Oracle)
        twin.__dict__.update(self.__dict__)
        twin.board = list(self.board)
        twin.boards = list(self.boards)
        twin.turns = (list(self.turns[RED]), list(self.turns[BLUE]))
        twin.chase_length = list(self.chase_length)
        twin.isf_chase = [
            chase and IsfChase(set(chase.threatened), set(chase.evaders), chase.evaded) for chase in self.isf_chase
        ]
        return twin

    # --- one ply ---

    def push(self, move: Move) -> None:
        """Make a legal move of the side on turn."""
        origin, target = move
        if self.over or (origin, target) not in self._legal:
            raise ValueError(self._why_illegal((origin, target)))

        player, opponent = self.to_move, 1 - self.to_move
        attacker, defender = self.board[origin], self.board[target]
        battle = defender is not None

        # Every move marks the piece as moved; a long Scout move and a battle reveal.
        long_move = target not in self.neighbours[origin]
        attacker = attacker._replace(moved=True, revealed=attacker.revealed or long_move or battle)
        self.board[origin] = None
        survived = True
        if not battle:
            self.board[target] = attacker
        else:
            defender = defender._replace(revealed=True)
            removed = removed_in_battle(attacker.letter, defender.letter)
            self.board[target] = {"A": defender, "D": attacker, "AD": None}[removed]
            survived = removed == "D"

        self.plies += 1
        self.battleless = 0 if battle else self.battleless + 1
        self._update_ataraxos_chase(player, opponent, origin, target, battle)
        self._update_isf_chase(player, opponent, attacker.identity, target, battle, survived)
        self.turns[player].append(Turn(attacker.identity, origin, target))
        self.boards.append(self._identities())
        if battle:
            self.last_battle_board = len(self.boards) - 1
        self.to_move = opponent
        self._judge(flag_taken_by=player if battle and defender.letter == "F" else None)

    def _update_ataraxos_chase(self, player: int, opponent: int, origin: int, target: int, battle: bool) -> None:
        """Count the chase of `chase=ataraxos` on by one ply (the last move is the last of `turns`)."""
        evasion = bool(self.turns[opponent]) and origin in self.neighbours[self.turns[opponent][-1].target]
        self.chase_length[opponent] = self.chase_length[opponent] + 1 if evasion else 0
        if battle:
            self.chase_length = [0, 0]
        # Also after a battle, and even if the attacker died in it.
        threat = bool(self._pieces_next_to(target, opponent))
        self.chase_length[player] = self.chase_length[player] + 1 if threat else 0

    def _update_isf_chase(
        self, player: int, opponent: int, identity: int, target: int, battle: bool, survived: bool
    ) -> None:
        """Note evasions and threats for `chase=isf`."""
        theirs = self.isf_chase[opponent]
        if theirs is not None:
            if not battle and identity in theirs.threatened:
                theirs.evaders.add(identity)
                theirs.evaded = True
            else:
                self.isf_chase[opponent] = None

        threatened = {piece.identity for piece in self._pieces_next_to(target, opponent)} if survived else set()
        ours = self.isf_chase[player]
        if not threatened:
            self.isf_chase[player] = None
        elif ours is not None and ours.evaded and not battle:
            ours.threatened = threatened
            ours.evaded = False
        else:
            self.isf_chase[player] = IsfChase(threatened)

    # --- the end of the game ---

    def _judge(self, flag_taken_by: int | None = None) -> None:
        """Find the moves of the side on turn, then judge the end in the order that docs/rules.md gives."""
        geometric = self.geometric(self.to_move)
        self._barred = {
            "two_square": [move for move in geometric if self._barred_by_two_square(move)],
            "chase": [move for move in geometric if self._barred_by_chase(move)],
        }
        self._legal = [
            move for move in geometric if move not in self._barred["two_square"] and move not in self._barred["chase"]
        ]

        if self.plies == 0:
            flag_taken_by = self._winner_by_missing_flag()
        limit = self._limit_hit()
        mover, other = self.to_move, 1 - self.to_move
        mover_can = bool(self._legal)
        other_can = self._can_move(other)

        if self.rules.limits == "exceeded" and limit:
            self.winner, self.end = "draw", limit
        elif flag_taken_by is not None:
            self.winner, self.end = COLOURS[flag_taken_by], "flag"
        elif not mover_can and not other_can:
            self.winner, self.end = "draw", "both_immobile"
        elif not mover_can:
            self.winner, self.end = COLOURS[other], "no_moves"
        elif not other_can and self.rules.cannot_move == "eager":
            self.winner, self.end = COLOURS[mover], "no_moves"
        elif self.rules.limits == "reached" and limit:
            self.winner, self.end = "draw", limit

    def _limit_hit(self) -> str | None:
        """Return the limit that is hit, total looked at before battleless."""
        for name, counter, limit in (
            ("total_limit", self.plies, self.rules.total_limit),
            ("battleless_limit", self.battleless, self.rules.battleless_limit),
        ):
            if limit is not None and (counter > limit or (counter == limit and self.rules.limits == "reached")):
                return name
        return None

    def _can_move(self, player: int) -> bool:
        """Return whether a player has any geometric move; the repetition rules do not touch a player off turn."""
        for square, piece in enumerate(self.board):
            if piece is not None and piece.owner == player and any(True for _ in self._targets(square)):
                return True
        return False

    def _winner_by_missing_flag(self) -> int | None:
        """Return the winner where one side's Flag is missing: the game was won by taking it."""
        owners = {owner for owner, letter in filter(None, self._type_of.values()) if letter == "F"}
        return owners.pop() if len(owners) == 1 else None

    # --- moves and the rules that bar them ---

    def _targets(self, square: int) -> Iterator[int]:
        """Yield the squares to which the piece on a square may go, the repetition rules left out."""
        piece = self.board[square]
        if piece.letter in IMMOBILE:
            return
        for ray in self.rays[square]:
            for target in ray if piece.letter == SCOUT else ray[:1]:
                occupant = self.board[target]
                if occupant is None or occupant.owner != piece.owner:
                    yield target
                if occupant is not None:
                    break

    def _barred_by_two_square(self, move: Move) -> bool:
        """Return whether the two-square rule bars a move: one piece, one border, in each of the last n turns of its
        owner and now.
        """
        n = self.rules.two_square
        turns = self.turns[self.to_move]
        if n == 0 or len(turns) < n:
            return False
        identity = self.board[move[0]].identity
        if any(turn.identity != identity for turn in turns[-n:]):
            return False
        common = self._borders(*move)
        for turn in turns[-n:]:
            common = common & self._borders(turn.origin, turn.target)
        return bool(common)

    def _borders(self, origin: int, target: int) -> set[Move]:
        """Return the borders that a move crosses, each named by its two squares in ascending order."""
        ray = next(ray for ray in self.rays[origin] if target in ray)
        path = [origin, *ray[: ray.index(target) + 1]]
        return {(min(pair), max(pair)) for pair in itertools.pairwise(path)}

    def _barred_by_chase(self, move: Move) -> bool:
        """Return whether the chase rule bars a move; a battle is never barred, nor is stepping straight back."""
        origin, target = move
        if self.rules.chase == "off" or self.board[target] is not None or self._steps_back(move):
            return False
        if self.rules.chase == "isf":
            return self._barred_by_isf(origin, target)
        return self._barred_by_ataraxos(origin, target)

    def _barred_by_ataraxos(self, origin: int, target: int) -> bool:
        n = self.chase_length[self.to_move]
        if n < 2 or not self._pieces_next_to(target, 1 - self.to_move):
            return False
        after = self._board_after(origin, target)
        window = self.boards[-n:-1]  # the boards n - 1, …, 2, 1 plies before the present one
        if self.rules.chase_compare == "identity":
            return after in window
        return self._by_type(after) in [self._by_type(board) for board in window]

    def _barred_by_isf(self, origin: int, target: int) -> bool:
        chase = self.isf_chase[self.to_move]
        if chase is None or not chase.evaded:
            return False
        if not any(piece.identity in chase.evaders for piece in self._pieces_next_to(target, 1 - self.to_move)):
            return False
        return self._board_after(origin, target) in self.boards[self.last_battle_board :]

    def _steps_back(self, move: Move) -> bool:
        """Return whether a move is the exact reverse of the player's own last move."""
        turns = self.turns[self.to_move]
        return bool(turns) and move == (turns[-1].target, turns[-1].origin)

    def _pieces_next_to(self, square: int, owner: int) -> list[Piece]:
        around = [self.board[neighbour] for neighbour in self.neighbours[square]]
        return [piece for piece in around if piece is not None and piece.owner == owner]

    # --- boards as they are compared ---

    def _identities(self) -> tuple[int, ...]:
        return tuple([NO_PIECE if piece is None else piece.identity for piece in self.board])

    def _board_after(self, origin: int, target: int) -> tuple[int, ...]:
        """Return the board after a move to an empty square."""
        board = list(self.boards[-1])
        board[target], board[origin] = board[origin], NO_PIECE
        return tuple(board)

    def _by_type(self, board: tuple[int, ...]) -> list[tuple[int, str] | None]:
        return [self._type_of[identity] for identity in board]

    # --- complaints ---

    def _check(self, pieces: Mapping[int, tuple[int, str]]) -> None:
        flags = [0, 0]
        for square, (owner, letter) in pieces.items():
            if not 0 <= square < self.rows * self.columns or square in self.lakes:
                raise ValueError(f"a piece {letter!r} on {square}: no square of this board, or a lake")
            if owner not in (RED, BLUE) or letter not in DEFENDERS:
                raise ValueError(f"({owner!r}, {letter!r}) on {square}: owners are 0 and 1, letters {DEFENDERS}")
            flags[owner] += letter == "F"
        if max(flags) != 1:
            raise ValueError(f"Flags of red, blue: {flags}; each has one (or one side has lost it)")

    def _why_illegal(self, move: Move) -> str:
        where = f"illegal move {move} by {COLOURS[self.to_move]} at ply {self.plies}"
        if self.over:
            return f"{where}: the game is over ({self.winner}, {self.end})"
        # When both rules bar a move, two_square is reported.
        for rule in ("two_square", "chase"):
            if move in self._barred[rule]:
                return f"{where}: barred by {rule}"
        return f"{where}: no piece of this side moves like that"
