"""The rules of Geister (docs/geister.md) as plainly as they can be said, for tests to compare with.

Nothing here is fast on purpose and nothing is shared with the simulator: when the two differ,
this one is right until docs/geister.md shows otherwise.

    game = Geister(PAPER, evil_first="ABCD", evil_second="BCDE")
    while not game.over:
        game.push(random.choice(game.legal()))
    print(game.winner, game.end, game.plies)

Squares are pairs (x, y), x from left to right and y from the far side to the near one. Each player has an own view
with home at the bottom; the two views are the same board rotated by 180°. Unless said otherwise a ghost's square
is in the view of its owner, and an action in the view of the player who takes it.

Actions are numbers. The ghost encoding is 4·ghost + direction, the square encoding 4·(width·y + x) + direction,
with the directions N, E, W, S = 0, 1, 2, 3. Methods take and give the ghost encoding unless their name says square.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Square = tuple[int, int]
Plane = list[list[float]]

FIRST, SECOND = 0, 1

DIRECTIONS = "NEWS"
NORTH, EAST, WEST, SOUTH = 0, 1, 2, 3
STEPS: tuple[Square, ...] = ((0, -1), (1, 0), (-1, 0), (0, 1))

ESCAPE = "escape"
GOOD_CAPTURED = "good_captured"
EVIL_CAPTURED = "evil_captured"
LIMIT = "limit"
ENDS = (ESCAPE, GOOD_CAPTURED, EVIL_CAPTURED, LIMIT)

ON_BOARD, CAPTURED, ESCAPED = "on_board", "captured", "escaped"

# Captured ghosts are observed as shares of three: the fourth capture of a colour ends the full game.
CAPTURED_DIVISOR = 3


@dataclass(frozen=True)
class Rules:
    """The parameters of docs/geister.md; the defaults are the full game as the public server plays it.

    `starts` are the start squares in the order of the ghosts' names; `limit` counts the moves of both players
    together; `limit_result` is "draw", or "second" when the second player wins at the limit.
    """

    width: int = 6
    height: int = 6
    starts: tuple[Square, ...] = ((1, 4), (2, 4), (3, 4), (4, 4), (1, 5), (2, 5), (3, 5), (4, 5))
    good: int = 4
    evil: int = 4
    limit: int = 300
    escape_forced: bool = False
    limit_result: str = "draw"

    def __post_init__(self) -> None:
        """Refuse parameters that describe no game."""
        if self.good < 1 or self.evil < 1 or self.good + self.evil != len(self.starts):
            raise ValueError(
                f"{self.good} good and {self.evil} evil ghosts do not fill {len(self.starts)} start squares"
            )
        if not all(0 <= x < self.width and 0 <= y < self.height for x, y in self.starts):
            raise ValueError(f"a start square of {self.starts} is off the board")
        taken = [*self.starts, *(self.rotated(square) for square in self.starts)]
        if len(set(taken)) != len(taken):
            raise ValueError(f"two ghosts start on one square: {self.starts}")
        if self.limit < 1:
            raise ValueError(f"limit = {self.limit}: a game has one move at least")
        if self.limit_result not in ("draw", "second"):
            raise ValueError(f'limit_result = {self.limit_result!r}; use "draw" or "second"')

    @property
    def ghosts(self) -> int:
        """Count the ghosts of one player."""
        return len(self.starts)

    @property
    def names(self) -> str:
        """Name the ghosts in the order of their start squares."""
        return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: self.ghosts]

    @property
    def ghost_actions(self) -> int:
        """Count the actions of the ghost encoding."""
        return 4 * self.ghosts

    @property
    def square_actions(self) -> int:
        """Count the actions of the square encoding."""
        return 4 * self.width * self.height

    def rotated(self, square: Square) -> Square:
        """Give the same square in the other player's view."""
        x, y = square
        return self.width - 1 - x, self.height - 1 - y

    def contains(self, square: Square) -> bool:
        """Say whether the square is on the board."""
        x, y = square
        return 0 <= x < self.width and 0 <= y < self.height

    def is_exit(self, square: Square, direction: int) -> bool:
        """Say whether a good ghost may leave the board from this square in this direction (own view)."""
        if square == (0, 0) and direction in (NORTH, WEST):
            return True
        return square == (self.width - 1, 0) and direction in (NORTH, EAST)

    def setups(self) -> list[tuple[int, ...]]:
        """List every choice of the evil ghosts of one player, as indices."""
        return list(itertools.combinations(range(self.ghosts), self.evil))


SERVER = Rules(limit=300, escape_forced=False)
PAPER = Rules(limit=100, escape_forced=True)

# The small variants with the shortest limit of their golden numbers; take others with dataclasses.replace.
G33A = Rules(3, 3, ((0, 2), (2, 2)), good=1, evil=1, limit=4, escape_forced=True)
G33B = Rules(3, 3, ((0, 2), (1, 2), (2, 2)), good=2, evil=1, limit=4, escape_forced=True)
G33C = Rules(3, 3, ((0, 2), (1, 2), (2, 2)), good=1, evil=2, limit=5, escape_forced=True)
G43 = Rules(4, 3, ((1, 2), (2, 2)), good=1, evil=1, limit=5, escape_forced=True)
G34 = Rules(3, 4, ((0, 3), (2, 3)), good=1, evil=1, limit=7, escape_forced=True)
G44 = Rules(4, 4, ((1, 2), (2, 2), (1, 3), (2, 3)), good=2, evil=2, limit=5, escape_forced=True)

SMALL_VARIANTS = {"G33a": G33A, "G33b": G33B, "G33c": G33C, "G43": G43, "G34": G34, "G44": G44}


@dataclass
class Ghost:
    """A ghost: its colour, its square in its owner's view (none once it left the board), and what became of it."""

    good: bool
    square: Square | None
    fate: str = ON_BOARD


@dataclass(frozen=True)
class Turn:
    """One move as everyone saw it: who took which action, and which ghost of which colour it captured."""

    player: int
    action: int
    captured: int | None = None
    captured_good: bool | None = None
    escaped: bool = False


@dataclass(frozen=True)
class View:
    """All that a player knows, with every square in that player's view.

    `opponent_good` is None for a ghost whose colour is hidden. Two histories are in one information set
    of a player exactly when the views are equal.
    """

    player: int
    own_good: tuple[bool, ...]
    own_squares: tuple[Square | None, ...]
    own_fates: tuple[str, ...]
    opponent_good: tuple[bool | None, ...]
    opponent_squares: tuple[Square | None, ...]
    opponent_fates: tuple[str, ...]
    history: tuple[Turn, ...]


@dataclass
class Geister:
    """A game: the ghosts of both players and the moves so far.

    Evil ghosts are given as names ("ABCD") or as indices. `end` names how the game ended, and `winner` is
    None for a draw as for a game that goes on.
    """

    rules: Rules = SERVER
    evil_first: Iterable[int] | str = "ABCD"
    evil_second: Iterable[int] | str = "ABCD"
    ghosts: list[list[Ghost]] = field(init=False)
    history: list[Turn] = field(init=False, default_factory=list)
    winner: int | None = field(init=False, default=None)
    end: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Put the ghosts on their start squares."""
        self.evil_first = self._indices(self.evil_first)
        self.evil_second = self._indices(self.evil_second)
        self.ghosts = [
            [Ghost(index not in evil, square) for index, square in enumerate(self.rules.starts)]
            for evil in (self.evil_first, self.evil_second)
        ]

    def _indices(self, evil: Iterable[int] | str) -> tuple[int, ...]:
        """Turn names or indices of evil ghosts into sorted indices, and refuse a wrong choice."""
        names = self.rules.names
        indices = tuple(sorted(names.index(one) if isinstance(one, str) else one for one in evil))
        if len(set(indices)) != self.rules.evil or not set(indices) <= set(range(self.rules.ghosts)):
            raise ValueError(f"{indices} does not choose {self.rules.evil} of the ghosts {names}")
        return indices

    # --- where the game stands ---

    @property
    def plies(self) -> int:
        """Count the moves of both players."""
        return len(self.history)

    @property
    def to_move(self) -> int:
        """Say whose turn it is (or would be, once the game is over)."""
        return self.plies % 2

    @property
    def over(self) -> bool:
        """Say whether the game has ended."""
        return self.end is not None

    @property
    def utilities(self) -> tuple[int, int]:
        """Give what the players get: 1 to a winner, -1 to a loser, and 0 to both otherwise."""
        if self.winner is None:
            return 0, 0
        return (1, -1) if self.winner == FIRST else (-1, 1)

    def ghost_on(self, owner: int, square: Square) -> int | None:
        """Find the ghost of this owner on this square (owner's view)."""
        for index, ghost in enumerate(self.ghosts[owner]):
            if ghost.square == square:
                return index
        return None

    def left(self, player: int, good: bool) -> int:
        """Count the ghosts of this player and colour that have not been captured."""
        return sum(ghost.good == good and ghost.fate != CAPTURED for ghost in self.ghosts[player])

    def captured(self, player: int, good: bool) -> int:
        """Count the ghosts of this player and colour that have been captured."""
        return sum(ghost.good == good and ghost.fate == CAPTURED for ghost in self.ghosts[player])

    # --- moves ---

    def moves(self) -> list[int]:
        """List the steps that stay on the board, of the player to move."""
        found = []
        for index, ghost in enumerate(self.ghosts[self.to_move]):
            if ghost.square is None:
                continue
            for direction in (NORTH, EAST, WEST, SOUTH):
                target = stepped(ghost.square, direction)
                if self.rules.contains(target) and self.ghost_on(self.to_move, target) is None:
                    found.append(4 * index + direction)
        return found

    def escapes(self) -> list[int]:
        """List the escapes of the player to move: good ghosts on an exit corner, off the board."""
        found = []
        for index, ghost in enumerate(self.ghosts[self.to_move]):
            if ghost.square is None or not ghost.good:
                continue
            for direction in (NORTH, EAST, WEST, SOUTH):
                if self.rules.is_exit(ghost.square, direction):
                    found.append(4 * index + direction)
        return found

    def legal(self) -> list[int]:
        """List the legal actions of the player to move, in rising order; none once the game is over."""
        if self.over:
            return []
        escapes = self.escapes()
        if escapes and self.rules.escape_forced:
            return escapes
        return sorted(self.moves() + escapes)

    def legal_squares(self) -> list[int]:
        """List the legal actions in the square encoding, in rising order."""
        return sorted(self.to_square_action(action) for action in self.legal())

    def to_square_action(self, action: int) -> int:
        """Turn a ghost action of the player to move into the square encoding."""
        index, direction = divmod(action, 4)
        square = self.ghosts[self.to_move][index].square
        if square is None:
            raise ValueError(f"ghost {self.rules.names[index]} is not on the board")
        x, y = square
        return 4 * (self.rules.width * y + x) + direction

    def to_ghost_action(self, square_action: int) -> int:
        """Turn a square action of the player to move into the ghost encoding."""
        cell, direction = divmod(square_action, 4)
        y, x = divmod(cell, self.rules.width)
        index = self.ghost_on(self.to_move, (x, y))
        if index is None:
            raise ValueError(f"no own ghost stands on {(x, y)}")
        return 4 * index + direction

    def push(self, action: int) -> None:
        """Play an action in the ghost encoding."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal now; the legal ones are {self.legal()}")
        player, opponent = self.to_move, 1 - self.to_move
        index, direction = divmod(action, 4)
        mover = self.ghosts[player][index]
        assert mover.square is not None
        target = stepped(mover.square, direction)

        if not self.rules.contains(target):
            mover.square, mover.fate = None, ESCAPED
            self.history.append(Turn(player, action, escaped=True))
            self.end, self.winner = ESCAPE, player
            return

        mover.square = target
        captured = self.ghost_on(opponent, self.rules.rotated(target))
        if captured is None:
            self.history.append(Turn(player, action))
        else:
            prey = self.ghosts[opponent][captured]
            prey.square, prey.fate = None, CAPTURED
            self.history.append(Turn(player, action, captured, prey.good))

        if self.left(opponent, good=True) == 0:
            self.end, self.winner = GOOD_CAPTURED, player
        elif self.left(opponent, good=False) == 0:
            self.end, self.winner = EVIL_CAPTURED, opponent
        elif self.plies == self.rules.limit:
            self.end, self.winner = LIMIT, SECOND if self.rules.limit_result == "second" else None

    def push_square(self, square_action: int) -> None:
        """Play an action in the square encoding."""
        self.push(self.to_ghost_action(square_action))

    def copy(self) -> Geister:
        """Copy the game, so that the copy can go on by itself."""
        other = Geister(self.rules, self.evil_first, self.evil_second)
        other.ghosts = [[Ghost(one.good, one.square, one.fate) for one in side] for side in self.ghosts]
        other.history = list(self.history)
        other.winner, other.end = self.winner, self.end
        return other

    def after(self, action: int) -> Geister:
        """Give the game after one more action, and leave this one as it is."""
        other = self.copy()
        other.push(action)
        return other

    def replayed(self, plies: int) -> Geister:
        """Play the first moves of this game again from the start."""
        other = Geister(self.rules, self.evil_first, self.evil_second)
        for turn in self.history[:plies]:
            other.push(turn.action)
        return other

    # --- what a player sees ---

    def view(self, player: int) -> View:
        """Give all that a player knows: own colours, all squares, colours of captured ghosts, every move."""
        own, opponent = self.ghosts[player], self.ghosts[1 - player]
        return View(
            player=player,
            own_good=tuple(ghost.good for ghost in own),
            own_squares=tuple(ghost.square for ghost in own),
            own_fates=tuple(ghost.fate for ghost in own),
            opponent_good=tuple(None if ghost.fate == ON_BOARD else ghost.good for ghost in opponent),
            opponent_squares=tuple(ghost.square and self.rules.rotated(ghost.square) for ghost in opponent),
            opponent_fates=tuple(ghost.fate for ghost in opponent),
            history=tuple(self.history),
        )

    def observation(self, player: int, history: bool = False, divisor: int | None = None) -> list[Plane]:
        """Give the planes of this player as planes[plane][y][x], own view: 6 of them, or 11 with history.

        The last plane is the share of moves played out of `divisor` (the limit unless given), at most 1.
        The history planes show the position one ply earlier, and are 0 before the first move.
        """
        planes = self._position_planes(player)
        if history:
            if self.plies == 0:
                planes += [self._filled(0.0) for _ in range(5)]
            else:
                planes += self.replayed(self.plies - 1)._position_planes(player)
        return [*planes, self._filled(min(1.0, self.plies / (divisor or self.rules.limit)))]

    def _filled(self, value: float) -> Plane:
        """Make a plane with one value in every cell."""
        return [[value for _ in range(self.rules.width)] for _ in range(self.rules.height)]

    def _position_planes(self, player: int) -> list[Plane]:
        """Make the five planes of the position: own good, own evil, opponent's ghosts, good and evil captured."""
        good, evil, others = self._filled(0.0), self._filled(0.0), self._filled(0.0)
        for ghost in self.ghosts[player]:
            if ghost.square is not None:
                x, y = ghost.square
                (good if ghost.good else evil)[y][x] = 1.0
        for ghost in self.ghosts[1 - player]:
            if ghost.square is not None:
                x, y = self.rules.rotated(ghost.square)
                others[y][x] = 1.0
        good_share = self.captured(1 - player, good=True) / CAPTURED_DIVISOR
        evil_share = self.captured(1 - player, good=False) / CAPTURED_DIVISOR
        return [good, evil, others, self._filled(good_share), self._filled(evil_share)]

    def server_board(self, player: int) -> str:
        """Write the board as the public server sends it to this player: x, y and colour of each ghost.

        The own ghosts come first, then the opponent's. A captured ghost is at 99 and an escaped one at 88. Letters
        are R and B for own hidden colours, r and b for public ones, u for unknown ones. The colour of an escaped
        ghost counts as public: only a good one can escape.
        """
        text = ""
        for owner in (player, 1 - player):
            for ghost in self.ghosts[owner]:
                if ghost.fate == CAPTURED:
                    text += "99"
                elif ghost.fate == ESCAPED:
                    text += "88"
                else:
                    assert ghost.square is not None
                    x, y = ghost.square if owner == player else self.rules.rotated(ghost.square)
                    text += f"{x}{y}"
                letter = "b" if ghost.good else "r"
                if ghost.fate != ON_BOARD:
                    text += letter
                else:
                    text += letter.upper() if owner == player else "u"
        return text


def stepped(square: Square, direction: int) -> Square:
    """Give the square one step further; it may be off the board."""
    return square[0] + STEPS[direction][0], square[1] + STEPS[direction][1]


def starts(rules: Rules) -> Iterator[Geister]:
    """Give the start of every pair of set-ups; chance draws them all alike."""
    for evil_first, evil_second in itertools.product(rules.setups(), repeat=2):
        yield Geister(rules, evil_first, evil_second)


def random_start(rules: Rules, generator: random.Random) -> Geister:
    """Draw the set-ups of both players uniformly and independently."""
    return Geister(rules, generator.choice(rules.setups()), generator.choice(rules.setups()))


def random_playout(game: Geister, generator: random.Random) -> list[int]:
    """Play uniformly random legal actions to the end; give the number of legal actions at each ply."""
    counts = []
    while not game.over:
        legal = game.legal()
        if not legal:
            raise RuntimeError("no legal action, and no rule for that")
        counts.append(len(legal))
        game.push(generator.choice(legal))
    return counts


def perft(game: Geister, depth: int) -> int:
    """Count the move sequences of exactly this length; a game that ended has none."""
    if depth == 0:
        return 1
    if depth == 1:
        return len(game.legal())
    return sum(perft(game.after(action), depth - 1) for action in game.legal())
