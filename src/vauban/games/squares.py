"""The common part of board games with hidden pieces: squares, setups, steps in four directions, what is hidden.

Each side places an army on its first rows, in secret. A piece's kind is hidden from the other side until the piece is
taken, or until all that are left are of one kind. A game of one's own derives from `SquareGame`, says how large the
board and the armies are, and writes `play`, by which the pieces move and the game ends (examples/ambush.py).

A record is two words (number, plies) and bytes: of each player how many pieces of each kind are left, then for each
square 0 or the kind of the piece there, + 16 if it is the second player's.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import SetupError
from vauban.games.base import (
    DRAW,
    END,
    NOBODY,
    NUMBER,
    OWN,
    PLAYER,
    PLIES,
    STEP,
    WINNER,
    Format,
    Game,
    Kernels,
    PlainKernel,
    Setups,
    Shape,
)
from vauban.games.kernel import ONE, ZERO, Record, hook, kernel
from vauban.games.randomness import START, below
from vauban.games.small import even_chance, refuse_rules

ROWS, COLUMNS, KINDS, SETUP, ARMY = 0, 1, 2, 3, 4
"""Parameters: the size of the board, the numbers of kinds and of squares of a setup, then the army, kind by kind."""
HIDDEN = 15
"""In place of a kind: a piece whose kind is concealed."""
SECOND = 16
"""Added to a kind if the piece is the second player's."""
FREE = "."


# ── Squares and pieces ───────────────────────────────────────────────────────────────────────────


@kernel
def squares(game):
    """Return the number of squares."""
    return game.rules[ROWS] * game.rules[COLUMNS]


@kernel
def turned(game, player, square):
    """Return a square as the other frame numbers it: the player's own, or that of both; the same for the first."""
    return square if player == 0 else squares(game) - 1 - square


@kernel
def place_of(game, square):
    """Return the byte that holds a square."""
    return OWN + 2 * game.rules[KINDS] + square


@kernel
def kind_at(game, square):
    """Return the kind of the piece on a square, from 1; 0 if it is free."""
    return np.int64(game.bytes[place_of(game, square)]) & 15


@kernel
def owner_at(game, square):
    """Return the player whose piece stands on a square; −1 if it is free."""
    code = np.int64(game.bytes[place_of(game, square)])
    return code >> 4 if code else -1


@kernel
def left(game, player, kind):
    """Return the byte that counts a player's pieces of a kind."""
    return OWN + game.rules[KINDS] * player + kind - 1


@kernel
def target_of(rows, columns, action):
    """Return where an action leads, 4 · square + direction (north, south, west, east); −1 off the board."""
    square, direction = action >> 2, action & 3
    row, column = square // columns, square % columns
    row += (direction == 0) - (direction == 1)
    column += (direction == 3) - (direction == 2)
    return row * columns + column if 0 <= row < rows and 0 <= column < columns else -1


# ── Actions ──────────────────────────────────────────────────────────────────────────────────────


@hook
def is_legal(game, action): ...


@kernel
def is_step(game, action):
    """Return whether the action takes an own piece to a neighbouring square that is free or an enemy's."""
    if game.bytes[END] != 0 or action < 0 or action >= 4 * squares(game):
        return False
    player, target = np.int64(game.bytes[PLAYER]), target_of(game.rules[ROWS], game.rules[COLUMNS], action)
    if target < 0 or owner_at(game, turned(game, player, action >> 2)) != player:
        return False
    return owner_at(game, turned(game, player, target)) != player


@kernel
def legal_count(game):
    """Count the legal actions."""
    count = 0
    for action in range(4 * squares(game)):
        count += is_legal(game, action)
    return count


@kernel
def legal_action(game, index):
    """Return the legal action with so many lower ones; −1 if there are not so many."""
    for action in range(4 * squares(game)):
        if is_legal(game, action):
            if index == 0:
                return action
            index -= 1
    return -1


@kernel
def step(game, action):
    """Move a piece, count the ply and pass the turn; return the kind of the piece that was taken, 0 if none was."""
    player = np.int64(game.bytes[PLAYER])
    source = turned(game, player, action >> 2)
    target = turned(game, player, target_of(game.rules[ROWS], game.rules[COLUMNS], action))
    taken = kind_at(game, target)
    if taken:
        game.bytes[left(game, 1 - player, taken)] -= 1
    game.bytes[place_of(game, target)] = game.bytes[place_of(game, source)]
    game.bytes[place_of(game, source)] = 0
    game.words[PLIES] += ONE
    game.bytes[PLAYER] = 1 - player
    return taken


@kernel
def won(game):
    """Return 1 if the first player has won, −1 if the second one has, else 0."""
    winner = game.bytes[WINNER]
    return np.float32(winner == 0) - np.float32(winner == 1)


# ── Beginnings ───────────────────────────────────────────────────────────────────────────────────


@kernel
def begin(game, start):
    """Put the pieces of a start on the board; the first player is on turn."""
    bytes_, kinds = game.bytes, game.rules[KINDS]
    game.words[PLIES] = ZERO
    bytes_[PLAYER], bytes_[END], bytes_[WINNER], bytes_[STEP] = 0, 0, NOBODY, 0
    for kind in range(2 * kinds):
        bytes_[OWN + kind] = 0
    for square in range(squares(game)):
        bytes_[place_of(game, square)] = start[square]
        if start[square]:
            bytes_[left(game, owner_at(game, square), kind_at(game, square))] += 1


@kernel
def place_setup(start, rules, player, setup):
    """Write a player's setup, in its own frame, into a start."""
    last = rules[ROWS] * rules[COLUMNS] - 1
    for place in range(rules[SETUP]):
        if setup[place]:
            start[place if player == 0 else last - place] = setup[place] + SECOND * player


@kernel
def draw_start(start, rules, seed, number, attempt):
    """Draw both players' setups: every order of the army and the free squares is equally likely."""
    last = rules[ROWS] * rules[COLUMNS] - 1
    for square in range(last + 1):
        start[square] = 0
    for player in range(2):
        place = 0
        for kind in range(rules[KINDS]):
            for _ in range(rules[ARMY + kind]):
                start[place if player == 0 else last - place] = kind + 1 + SECOND * player
                place += 1
        for place in range(rules[SETUP] - 1, 0, -1):
            other = below(place + 1, seed, number, attempt, 0, START, player * rules[SETUP] + place)
            one, two = place if player == 0 else last - place, other if player == 0 else last - other
            start[one], start[two] = start[two], start[one]


# ── What is hidden ───────────────────────────────────────────────────────────────────────────────


@kernel
def hidden_count(game, viewer):
    """Count the other player's pieces; none is hidden if all are of one kind."""
    count = kinds = 0
    for kind in range(1, game.rules[KINDS] + 1):
        pieces = np.int64(game.bytes[left(game, 1 - viewer, kind)])
        count += pieces
        kinds += pieces > 0
    return count if kinds > 1 else 0


@kernel
def hidden_values(game, viewer, values):
    """Write the kinds of the other player's pieces, in the order of the squares in the viewer's frame."""
    index = 0
    for place in range(squares(game) if hidden_count(game, viewer) else 0):
        square = turned(game, viewer, place)
        if owner_at(game, square) == 1 - viewer:
            values[index] = kind_at(game, square)
            index += 1


@kernel
def conceal(game, viewer):
    """Erase the kinds of the other player's pieces."""
    for square in range(squares(game) if hidden_count(game, viewer) else 0):
        if owner_at(game, square) == 1 - viewer:
            game.bytes[place_of(game, square)] = HIDDEN + SECOND * (1 - viewer)
    # Whoever knows a game's number and the seed can draw its setups again.
    game.words[NUMBER] = ZERO


@kernel
def assign(game, viewer, values):
    """Give the other player's pieces these kinds; False, and nothing changed, if they are not those that are left."""
    count, index = hidden_count(game, viewer), 0
    for kind in range(1, game.rules[KINDS] + 1):
        pieces = 0
        for place in range(count):
            pieces += values[place] == kind
        if count and pieces != game.bytes[left(game, 1 - viewer, kind)]:
            return False
    for place in range(squares(game) if count else 0):
        square = turned(game, viewer, place)
        if owner_at(game, square) == 1 - viewer:
            game.bytes[place_of(game, square)] = values[index] + SECOND * (1 - viewer)
            index += 1
    return True


def square_kernels(play: PlainKernel, is_legal: PlainKernel = is_step) -> Kernels:
    """Return the kernels of a game on squares, from those that are its own."""
    return Kernels(
        begin, legal_count, legal_action, is_legal, play, won, draw_start, place_setup, even_chance,
        hidden_count, hidden_values, conceal, assign,
    )  # fmt: skip


# ── Setups and the game ──────────────────────────────────────────────────────────────────────────


class ArmySetups(Setups):
    """An army on the first rows, in any order; as text the first letter of each piece's kind, "." for a free square."""

    def __init__(self, army: dict[str, int], rows: int, board: tuple[int, int]) -> None:
        self._squares = board[0] * board[1]
        size = self.size = rows * board[1]
        self._letters = FREE + "".join(kind[0].upper() for kind in army)
        pieces = [number for number, many in enumerate(army.values(), 1) for _ in range(many)]
        self._row = [0] * (size - len(pieces)) + pieces
        self.kinds = tuple(range(len(army) + 1))
        self.counts = tuple(map(self._row.count, self.kinds))
        self.count = math.factorial(size) // math.prod(math.factorial(self._row.count(each)) for each in set(self._row))

    def all(self) -> npt.NDArray[np.int8]:
        return np.array(sorted(set(itertools.permutations(self._row))), np.int8)

    def draw(self, rng: random.Random) -> npt.NDArray[np.int8]:
        return np.array(rng.sample(self._row, self.size), np.int8)

    def check(self, setups: npt.NDArray[Any]) -> None:
        for number, row in enumerate(setups):
            if sorted(row.tolist()) != self._row:
                raise SetupError(
                    f"setup {number} is no order of the army, such as {self.text(np.array(self._row))}: {row.tolist()}"
                )

    def parse(self, text: str) -> npt.NDArray[np.int8]:
        row = np.array([self._letters.find(letter) for letter in text.upper()], np.int8)
        if sorted(row.tolist()) != self._row:
            raise SetupError(f"{text!r} is no order of the army, such as {self.text(np.array(self._row))}")
        return row

    def text(self, setup: npt.NDArray[Any]) -> str:
        return "".join(self._letters[kind] for kind in setup)

    def starts(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
        starts = np.zeros((len(first), self._squares), np.int8)
        starts[:, : self.size] = first
        starts[:, self._squares - self.size :] = np.where(second > 0, second + SECOND, 0)[:, ::-1]
        return starts

    def of_starts(self, starts: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        second = starts[:, self._squares - self.size :][:, ::-1]
        return starts[:, : self.size].astype(np.int8), np.where(second > 0, second - SECOND, 0).astype(np.int8)


class SquareGame(Game):
    """A game with an army of hidden pieces for each side, which step in four directions (4 · square + direction)."""

    version = 1
    players = ("south", "north")
    has_chance = False
    public_actions = True
    utilities = (-1.0, 0.0, 1.0)
    setup_rows: int
    """Rows on which a player places its army."""
    army: dict[str, int]
    """Number of pieces by the name of their kind; kinds are numbered from 1, and begin with different letters."""

    def __init__(self, rules: Any = None) -> None:
        refuse_rules(self.name, rules)
        rows, columns = self.board
        self.start_size = rows * columns
        self.action_count = 4 * rows * columns
        self.hidden_size = sum(self.army.values())
        self.max_legal = 4 * self.hidden_size
        self.hidden_kinds = ("", *self.army)
        self.setups = ArmySetups(self.army, self.setup_rows, self.board)
        targets = [target_of(rows, columns, action) for action in range(self.action_count)]
        self.moves = np.stack([np.arange(self.action_count) // 4, np.array(targets)], 1)

    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        rules = np.array([*self.board, len(self.army), self.setup_size, *self.army.values()], np.int64)
        return Format(Shape(PLIES + 1, 0, OWN + 2 * len(self.army) + self.start_size), rules, tracks)

    def action_text(self, player: int, action: int) -> str:
        """Return the two squares; a step off the board, which has one, ends in its direction."""
        assert self.moves is not None
        source, target = self.moves[action].tolist()
        if target < 0:
            return (
                self.square_name(self._turned(player, source)) + "nswe"[action & 3 if player == 0 else action & 3 ^ 1]
            )
        return "".join(self.square_name(self._turned(player, square)) for square in (source, target))

    def _turned(self, player: int, square: int) -> int:
        return square if player == 0 else self.start_size - 1 - square

    def hidden_squares(self, record: Record, viewer: int) -> list[int]:
        codes = record.bytes[-self.start_size :].tolist()
        found = [square for square, code in enumerate(codes) if code and code >> 4 == 1 - viewer]
        kinds = record.bytes[OWN + len(self.army) * (1 - viewer) :][: len(self.army)]
        return [] if (kinds > 0).sum() < 2 else found if viewer == 0 else found[::-1]

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return np.asarray((bytes_[:, -self.start_size :] & HIDDEN == HIDDEN).any(1))

    def check_starts(self, starts: npt.NDArray[Any]) -> None:
        assert self.setups is not None
        for rows in self.setups.of_starts(starts):
            self.setups.check(rows)

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        codes = bytes_[:, -self.start_size :]
        kinds = codes & HIDDEN
        fine = (codes == 0) | ((kinds > 0) & ((kinds <= len(self.army)) | (kinds == HIDDEN)) & (codes < 2 * SECOND))
        fine = fine.all(1) & (bytes_[:, PLAYER] <= 1) & (bytes_[:, END] < len(self.ends)) & (bytes_[:, STEP] == 0)
        self.refuse_records(np.asarray(fine & ((bytes_[:, WINNER] <= DRAW) | (bytes_[:, WINNER] == NOBODY))))
