"""A game whose rules are a table: a record holds the number of a history, and the parameters hold the tree.

Solver, simulator, arena and learners thus play any game of two whose tree is listed (`Tabulation`).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.games.base import DRAW, END, NOBODY, NUMBER, OWN, PLAYER, PLIES, STEP, WINNER, Format, Kernels, Shape
from vauban.games.kernel import ZERO, kernel
from vauban.games.small import SmallGame, is_listed, no_setup, no_start
from vauban.games.tabulated.tabulation import (
    ACTION,
    BASE,
    COUNT_MASK,
    COUNT_SHIFT,
    DIGITS,
    FIRST,
    HALF,
    HALF_SHIFT,
    KIND_MASK,
    KIND_SHIFT,
    KNOWN,
    MEMBERS,
    NODE_SIZE,
    NODES,
    PLACE_MASK,
    PLIES_SHIFT,
    SETS,
    SIZE_SHIFT,
    TERMINAL,
    VALUES,
    Tabulation,
)

NODE = PLIES + 1
"""Word: the number of the history; in a view that of the first one that looks alike."""
SEEN, BYTES = OWN, OWN + 1
"""Byte: 0 in a game, 1 + viewer in a view."""
OVER = 1


@kernel
def node_part(game, node, part):
    """Return one of the numbers of a history."""
    return game.rules[game.rules[NODES] + NODE_SIZE * node + part]


@kernel
def arrive(game, node):
    """Let the record stand at a history."""
    bytes_ = game.bytes
    word = node_part(game, node, FIRST)
    kind = (word >> KIND_SHIFT) & KIND_MASK
    game.words[NODE] = np.uint64(node)
    game.words[PLIES] = np.uint64(word >> PLIES_SHIFT)
    bytes_[STEP] = 0
    bytes_[SEEN] = 0
    if kind == TERMINAL:
        worth = worth_of(game, node)
        bytes_[PLAYER] = 0
        bytes_[END] = OVER
        bytes_[WINNER] = DRAW if worth == 0 else (0 if worth > 0 else 1)
    else:
        bytes_[PLAYER] = kind
        bytes_[END] = 0
        bytes_[WINNER] = NOBODY


@kernel
def worth_of(game, node):
    """Return what an end is worth to the first player."""
    place = game.rules[VALUES] + 2 * (node_part(game, node, FIRST) & HALF)
    return math.ldexp(np.float64(game.rules[place]), game.rules[place + 1])


@kernel
def child_of(game, index):
    """Return the history behind the action, or event, with this index."""
    return (node_part(game, np.int64(game.words[NODE]), FIRST) & HALF) + index


@kernel
def begin(game, start):
    """Stand at the root."""
    arrive(game, 0)


@kernel
def legal_count(game):
    """Count the histories behind this one."""
    return (node_part(game, np.int64(game.words[NODE]), FIRST) >> COUNT_SHIFT) & COUNT_MASK


@kernel
def legal_action(game, index):
    """Return the action that leads to the history with this index."""
    return node_part(game, child_of(game, index), ACTION) & HALF


@kernel
def chance_weight(game, index):
    """Return the weight of the event with this index."""
    return node_part(game, child_of(game, index), ACTION) >> HALF_SHIFT


@kernel
def play(game, action):
    """Go to the history behind an action, or event."""
    index = 0
    while legal_action(game, index) != action:
        index += 1
    arrive(game, child_of(game, index))


@kernel
def utility(game):
    """Return what the end is worth."""
    if game.bytes[END] == 0:
        return np.float64(0)
    return worth_of(game, np.int64(game.words[NODE]))


@kernel
def set_word(game, viewer):
    """Return the number that describes the viewer's information set."""
    known = node_part(game, np.int64(game.words[NODE]), KNOWN)
    which = known & HALF if viewer == 0 else known >> HALF_SHIFT
    return game.rules[game.rules[SETS] + which]


@kernel
def size_of(word):
    """Return how many histories look alike."""
    return (word >> SIZE_SHIFT) & PLACE_MASK


@kernel
def member(game, word, index):
    """Return one of the histories that look alike."""
    if size_of(word) == 1:
        return word & PLACE_MASK
    return game.rules[game.rules[MEMBERS] + (word & PLACE_MASK) + index]


@kernel
def hidden_count(game, viewer):
    """Count the digits of the hidden number: which of the histories that look alike this is."""
    return 0 if size_of(set_word(game, viewer)) == 1 else game.rules[DIGITS]


@kernel
def hidden_values(game, viewer, values):
    """Return the digits of this history's place among those that look alike, the lowest first."""
    word = set_word(game, viewer)
    if size_of(word) > 1:
        place = 0
        while member(game, word, place) != np.int64(game.words[NODE]):
            place += 1
        for digit in range(game.rules[DIGITS]):
            values[digit] = place % BASE
            place //= BASE


@kernel
def conceal(game, viewer):
    """Replace the history by the first one that looks alike."""
    arrive(game, member(game, set_word(game, viewer), 0))
    game.bytes[SEEN] = 1 + viewer
    # Whoever knows a game's number and the seed can draw its chances again.
    game.words[NUMBER] = ZERO


@kernel
def assign(game, viewer, values):
    """Make it the history with these digits; False, and nothing changed, if there are not so many."""
    word = set_word(game, viewer)
    place = 0
    if size_of(word) > 1:
        for digit in range(game.rules[DIGITS] - 1, -1, -1):
            value = np.int64(values[digit])
            if value < 0:
                return False
            place = place * BASE + value
    if place >= size_of(word):
        return False
    arrive(game, member(game, word, place))
    return True


Show = Callable[[list[int], int | None], str]
"""(actions and events so far, viewer) → a picture as text."""


class TabulatedGame(SmallGame):
    """A game of two whose whole tree is known."""

    family = "tabulated"
    ends = ("", "over")
    kernels = Kernels(
        begin=begin,
        legal_count=legal_count,
        legal_action=legal_action,
        is_legal=is_listed,
        play=play,
        utility=utility,
        draw_start=no_start,
        place_setup=no_setup,
        chance_weight=chance_weight,
        hidden_count=hidden_count,
        hidden_values=hidden_values,
        conceal=conceal,
        assign=assign,
    )

    def __init__(self, name: str, table: Tabulation, show: Show | None = None) -> None:
        """`show`: how the actions and events so far, none hidden, look to a viewer (None: to who may see all)."""
        self.name = name
        self._show = show
        self.table = table
        self.action_count, self.max_legal = table.action_count, table.max_legal
        self.max_plies = int(table.plies.max())
        self.has_chance = bool((table.kinds == 2).any())
        self.utilities = table.utilities
        self.moves_in_a_row = table.moves_in_a_row
        self.public_actions = table.public_actions
        self.hidden_kinds = tuple(map(str, range(min(BASE, table.largest_set))))
        self.hidden_size = int(table.parameters[DIGITS])

    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        return Format(Shape(NODE + 1, 0, BYTES), self.table.parameters, tracks)

    def action_text(self, player: int, action: int) -> str:
        return self.table.texts[player][action]

    def shown(self, node: int, viewer: int | None) -> str | None:
        """Return a history as its library shows it; None if that does not say."""
        return None if self._show is None else self._show(self.table.path(node), viewer)

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return np.asarray(bytes_[:, SEEN] > 0)

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        nodes = words[:, NODE]
        there = (nodes >= 0) & (nodes < len(self.table.kinds))
        nodes = np.where(there, nodes, 0).astype(np.int64)
        kinds = self.table.kinds[nodes]
        over = kinds == TERMINAL
        fine = there & (words[:, PLIES] == self.table.plies[nodes]) & (bytes_[:, END] == over) & (bytes_[:, STEP] == 0)
        self.refuse_records(fine & (bytes_[:, PLAYER] == np.where(over, 0, kinds)) & (bytes_[:, SEEN] <= 2))
