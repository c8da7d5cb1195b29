"""Matrix games: the first player chooses a row, the second a column without seeing it (docs/solve.md)."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.games.base import DRAW, END, NOBODY, NUMBER, OWN, PLAYER, PLIES, STEP, WINNER, Format, Kernels, register
from vauban.games.kernel import ONE, ZERO, kernel
from vauban.games.small import NONE, UNKNOWN, SmallGame, even_chance, no_setup, no_start, refuse_rules

CHOICES, BYTES = OWN, OWN + 2
"""Bytes: the row and the column chosen."""
ROWS, COLUMNS, PAYOFFS = 0, 1, 2
"""Parameters: the size, then each payoff as mantissa · 2^exponent, so that every float64 comes through exactly."""
PAYOFF = 1
LARGEST = 128
"""Hidden things are numbers of 8 bits, and a hidden choice is one of them."""


@kernel
def payoff(rules, row, column):
    """Return what the first player gets."""
    place = PAYOFFS + 2 * (row * rules[COLUMNS] + column)
    return math.ldexp(np.float64(rules[place]), rules[place + 1])


@kernel
def begin(game, start):
    """Nobody has chosen."""
    bytes_ = game.bytes
    game.words[PLIES] = ZERO
    bytes_[PLAYER] = 0
    bytes_[END] = 0
    bytes_[WINNER] = NOBODY
    bytes_[STEP] = 0
    bytes_[CHOICES] = NONE
    bytes_[CHOICES + 1] = NONE


@kernel
def legal_count(game):
    """Return all rows, then all columns."""
    if game.bytes[END] != 0:
        return 0
    return game.rules[ROWS + np.int64(game.bytes[PLAYER])]


@kernel
def legal_action(game, index):
    """Every choice is legal."""
    return index


@kernel
def is_legal(game, action):
    """Return whether there is such a row or column."""
    return 0 <= action < legal_count(game)


@kernel
def play(game, action):
    """Choose; the second choice ends the game."""
    bytes_ = game.bytes
    player = np.int64(bytes_[PLAYER])
    bytes_[CHOICES + player] = action
    game.words[PLIES] += ONE
    bytes_[PLAYER] = 1 - player
    if player == 1:
        won = payoff(game.rules, np.int64(bytes_[CHOICES]), action)
        bytes_[END] = PAYOFF
        bytes_[WINNER] = DRAW if won == 0 else (0 if won > 0 else 1)


@kernel
def utility(game):
    """Return the payoff at the chosen row and column."""
    if game.bytes[END] == 0:
        return np.float64(0)
    return payoff(game.rules, np.int64(game.bytes[CHOICES]), np.int64(game.bytes[CHOICES + 1]))


@kernel
def hidden_count(game, viewer):
    """The row is hidden from the second player, who chooses."""
    return 1 if viewer == 1 and game.bytes[CHOICES] != NONE and game.bytes[END] == 0 else 0


@kernel
def hidden_values(game, viewer, values):
    """Return the row."""
    if hidden_count(game, viewer):
        values[0] = game.bytes[CHOICES]


@kernel
def conceal(game, viewer):
    """Erase the row if it is hidden."""
    if hidden_count(game, viewer):
        game.bytes[CHOICES] = UNKNOWN
    # Whoever knows a game's number and the seed can draw its random moves again.
    game.words[NUMBER] = ZERO


@kernel
def assign(game, viewer, values):
    """Let the first player have chosen this row; False, and nothing changed, if there is none."""
    if hidden_count(game, viewer):
        row = np.int64(values[0])
        if row < 0 or row >= game.rules[ROWS]:
            return False
        game.bytes[CHOICES] = row
    return True


class MatrixGame(SmallGame):
    """A zero-sum matrix game: `payoffs[row, column]` is what the first player gets."""

    family = "matrix"
    has_chance = False
    max_plies = 2
    ends = ("", "payoff")
    record_bytes = BYTES
    kernels = Kernels(
        begin=begin,
        legal_count=legal_count,
        legal_action=legal_action,
        is_legal=is_legal,
        play=play,
        utility=utility,
        draw_start=no_start,
        place_setup=no_setup,
        chance_weight=even_chance,
        hidden_count=hidden_count,
        hidden_values=hidden_values,
        conceal=conceal,
        assign=assign,
    )

    def __init__(self, name: str, payoffs: npt.ArrayLike, actions: Sequence[str] = ()) -> None:
        """`actions`: what the choices are called, the same for both players; their numbers if not given."""
        self.name = name
        self.payoffs = np.array(payoffs, np.float64)
        if self.payoffs.ndim != 2 or not 1 <= min(self.payoffs.shape) <= max(self.payoffs.shape) <= LARGEST:
            raise ConfigurationError(
                f"the payoffs of {name!r} must be a matrix of 1 to {LARGEST} rows and columns, "
                f"not an array of shape {self.payoffs.shape}"
            )
        if not np.isfinite(self.payoffs).all():
            raise ConfigurationError(f"the payoffs of {name!r} must be finite numbers")
        self.payoffs.flags.writeable = False
        self.utilities = tuple(sorted({float(sign * worth) + 0.0 for worth in self.payoffs.flat for sign in (-1, 1)}))
        self.action_count = self.max_legal = max(self.payoffs.shape)
        self.actions = tuple(actions) or tuple(map(str, range(self.action_count)))
        self.hidden_kinds = self.actions
        if len(self.actions) != self.action_count:
            raise ConfigurationError(
                f"{name!r} has {self.action_count} choices, and {len(self.actions)} names for them"
            )

    def parameters(self) -> npt.NDArray[np.int64]:
        fractions, exponents = np.frexp(self.payoffs.ravel())
        numbers = np.empty(PAYOFFS + 2 * self.payoffs.size, np.int64)
        numbers[ROWS], numbers[COLUMNS] = self.payoffs.shape
        # A float64 has 53 bits, so its fraction times 2^53 is a whole number.
        numbers[PAYOFFS::2] = np.ldexp(fractions, 53)
        numbers[PAYOFFS + 1 :: 2] = exponents - 53
        return numbers

    def action_text(self, player: int, action: int) -> str:
        return self.actions[action]

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        fine = (bytes_[:, PLAYER] <= 1) & (bytes_[:, STEP] == 0) & (bytes_[:, END] <= PAYOFF)
        for player, bound in enumerate(self.payoffs.shape):
            choice = bytes_[:, CHOICES + player]
            made = (words[:, PLIES] > player) & (words[:, PLIES] <= 2)
            concealed = (choice == UNKNOWN) & (player == 0) & (bytes_[:, END] == 0)
            fine &= np.where(made, (choice < bound) | concealed, choice == NONE)
        self.refuse_records(fine)


def random_antisymmetric(n: int, seed: int) -> npt.NDArray[np.float64]:
    """Return the payoffs of a random symmetric game of n choices, uniform in (−1, 1) above the diagonal."""
    payoffs = np.zeros((n, n))
    payoffs[np.triu_indices(n, 1)] = np.random.default_rng(seed).uniform(-1, 1, size=n * (n - 1) // 2)
    return payoffs - payoffs.T


X = 2 / 5
NAMED: dict[str, tuple[list[list[float]], tuple[str, ...]]] = {
    "matching-pennies": ([[1, -1], [-1, 1]], ("heads", "tails")),
    "rock-paper-scissors": ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], ("rock", "paper", "scissors")),
    "rps-x": ([[0, -1, 1, -X], [1, 0, -1, -X], [-1, 1, 0, -X], [X, X, X, 0]], ("rock", "paper", "scissors", "x")),
    "matrix-b2": ([[3, -1], [-2, 1]], ()),
    "matrix-b3": ([[2, -1, 6], [0, 1, -1], [-2, 2, 1]], ()),
}
"""The matrix games that have names: payoffs, what the choices are called."""


def named(name: str, rules: Any = None) -> MatrixGame:
    """Return one of the matrix games that have names."""
    refuse_rules(name, rules)
    return MatrixGame(name, *NAMED[name])


for _name in NAMED:
    register(_name, partial(named, _name))
