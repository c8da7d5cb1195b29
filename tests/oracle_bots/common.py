"""Common parts of the plain bots: ranks, directions, sight, the path search, the random mover.

Ranks are the letters of the line protocol: 1 Marshal … 9 Scout, s Spy, B, F; "?" is a hidden enemy. Squares
are numbers; x is the column, y the row, UP is y − 1, and red's back row is y = 0.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from vauban.board import View
from vauban.notation.stratego.moves import Move

RANKS = "s987654321FB"
"""The letter of each type."""
UNKNOWN = "?"
IMMOBILE = "BF"
V = {"B": 12, "1": 11, "2": 10, "3": 9, "4": 8, "5": 7, "6": 6, "7": 5, "8": 4, "9": 3, "s": 2, "F": 1, UNKNOWN: 0}
"""The strength of each rank."""

UP, DOWN, LEFT, RIGHT = (0, -1), (0, 1), (-1, 0), (1, 0)
Direction = tuple[int, int]

CLOSE = 1e-9
"""Sums that differ by less are equal up to the order in which they were added."""


class Draws(Protocol):
    """The source of a bot's random numbers."""

    def below(self, n: int, purpose: str) -> int:
        """Return a whole number from 0 to n − 1."""


class SeededDraws:
    """Draws for games among plain bots."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, n: int, purpose: str) -> int:
        return self._random.randrange(n)


@dataclass(frozen=True)
class Unit:
    """A piece as the bot knows it."""

    square: int
    rank: str
    start: int
    """Its first square: the lists of units keep the order of the first board."""
    moved: bool

    @property
    def mobile(self) -> bool:
        return self.rank not in IMMOBILE


class Sight:
    """The bot's knowledge when it is asked for a move."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.columns, self.rows = view.variant.columns, view.variant.rows
        self.lakes = frozenset(view.variant.lakes)
        self.legal = frozenset(view.legal_moves)
        self.units = self._units(view.player)
        self.enemies = self._units(1 - view.player)
        self.own_at = {unit.square: unit for unit in self.units}
        self.enemy_at = {unit.square: unit for unit in self.enemies}
        self.hidden = {RANKS[kind]: count for kind, count in view.hidden_types().items()}
        """Number of enemy pieces of each rank that have not been seen."""
        self.forward = DOWN if view.player == 0 else UP

    def _units(self, player: int) -> list[Unit]:
        found = [
            Unit(square, UNKNOWN if piece.kind is None else RANKS[piece.kind], piece.identity, piece.moved)
            for square, piece in self.view.pieces(player).items()
        ]
        return sorted(found, key=lambda unit: unit.start)

    @property
    def mobile(self) -> list[Unit]:
        """The own pieces that can move, in list order."""
        return [unit for unit in self.units if unit.mobile]

    def xy(self, square: int) -> tuple[int, int]:
        y, x = divmod(square, self.columns)
        return x, y

    def on_board(self, x: int, y: int) -> bool:
        return 0 <= x < self.columns and 0 <= y < self.rows

    def step(self, square: int, direction: Direction) -> int | None:
        """Return the next square in a direction, lake or not; None off the board."""
        x, y = self.xy(square)
        x, y = x + direction[0], y + direction[1]
        return y * self.columns + x if self.on_board(x, y) else None

    def beside(self, square: int, directions: tuple[Direction, ...] = (UP, DOWN, LEFT, RIGHT)) -> Iterator[int]:
        """Yield the squares next to a square, in the order of the directions."""
        for direction in directions:
            square_there = self.step(square, direction)
            if square_there is not None:
                yield square_there

    def empty(self, square: int) -> bool:
        """Return whether no piece stands there; a lake is not empty."""
        return square not in self.lakes and square not in self.own_at and square not in self.enemy_at

    def chances(self, enemy: Unit) -> dict[str, float]:
        """Return P(rank) of vixen and hunter: 1 if known, else by the hidden counts, bombs and flag included."""
        if enemy.rank != UNKNOWN:
            return {enemy.rank: 1.0}
        total = sum(self.hidden.values())
        return {rank: self.hidden[rank] / total for rank in "B123456789sF" if self.hidden.get(rank)}


def find_path(sight: Sight, start: int, target: int) -> list[Direction] | None:
    """Search a path as asmodeus and vixen do: depth first, with one visited list for the whole search."""
    visited: set[tuple[int, int]] = set()
    tx, ty = sight.xy(target)
    first = sight.xy(start)
    occupied = {sight.xy(square) for square in [*sight.own_at, *sight.enemy_at, *sight.lakes]}

    def find(p: tuple[int, int]) -> list[Direction] | None:
        if p == (tx, ty):
            return []
        if p in visited or not sight.on_board(*p) or (p != first and p in occupied):
            return None
        visited.add(p)
        x, y = p
        neighbours = [(direction, (x + direction[0], y + direction[1])) for direction in (LEFT, RIGHT, UP, DOWN)]
        neighbours.sort(key=lambda each: (each[1][0] - tx) ** 2 + (each[1][1] - ty) ** 2)
        best: list[Direction] | None = None
        for direction, neighbour in neighbours:
            rest = find(neighbour)
            if rest is not None and (best is None or len(rest) + 1 < len(best)):
                best = [direction, *rest]
        return best

    return find(first)


def single_steps(sight: Sight) -> list[Move]:
    """Return every legal step of one square: the random mover's choices."""
    steps = [Move(unit.square, square) for unit in sight.mobile for square in sight.beside(unit.square)]
    return [move for move in steps if move in sight.legal]


def random_step(sight: Sight, draws: Draws) -> Move | None:
    """Return a step of basic_python: by the first piece from a random place in the list that can go somewhere."""
    count = len(sight.units)
    first = draws.below(count, "piece")
    for offset in range(count):
        unit = sight.units[(first + offset) % count]
        if not unit.mobile:
            continue
        turn = draws.below(4, "direction")
        for number in range(4):
            target = sight.step(unit.square, (UP, DOWN, LEFT, RIGHT)[(turn + number) % 4])
            if target is not None and Move(unit.square, target) in sight.legal:
                return Move(unit.square, target)
    return None
