"""Leduc poker: six cards, one each and a public one, two rounds of betting (docs/solve.md)."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.games.base import CHANCE, DRAW, END, PLAYER, PLIES, Format, register
from vauban.games.kernel import ONE, kernel
from vauban.games.small import (
    CARDS,
    FOLD,
    NONE,
    PAID,
    POKER_BYTES,
    PUBLIC,
    SHOWDOWN,
    Poker,
    are_hands,
    count_deck,
    deal,
    find_in_deck,
    finish,
    must_answer,
    poker_kernels,
)

GIVE_UP, CALL, RAISE = 0, 1, 2
RAISES, SPOKEN, ACTIONS = POKER_BYTES, POKER_BYTES + 1, POKER_BYTES + 2
"""Bytes: raises and actions in this round; all actions by round and slot, 1 + action each, 0 where there is none."""
SLOTS = 4
"""No round has more actions than this: check, raise, raise, call."""
MOST_RAISES = 2
RAISE_SIZE = 2
"""Chips of a raise in the first round; twice as many in the second."""


@kernel
def legal_count(game):
    """Count the legal actions; at chance, the cards that are left."""
    bytes_ = game.bytes
    if bytes_[END] != 0:
        return 0
    if bytes_[PLAYER] == CHANCE:
        return count_deck(game)
    return 1 + must_answer(game, np.int64(bytes_[PLAYER])) + (bytes_[RAISES] < MOST_RAISES)


@kernel
def legal_action(game, index):
    """Fold if there is a bet to answer, call, raise if there have not been two; at chance, the cards left."""
    bytes_ = game.bytes
    if bytes_[PLAYER] == CHANCE:
        return find_in_deck(game, index)
    return index if must_answer(game, np.int64(bytes_[PLAYER])) else index + CALL


@kernel
def rank(card):
    """Jack, Queen, King: two cards of each."""
    return card // 2


@kernel
def best_hand(game):
    """Return the winner of a showdown: a pair with the public card, else the higher rank; equal ranks share."""
    first = rank(game.bytes[CARDS])
    second = rank(game.bytes[CARDS + 1])
    public = rank(game.bytes[PUBLIC])
    if first == second:
        return DRAW
    if first == public:
        return 0
    if second == public:
        return 1
    return 0 if first > second else 1


@kernel
def play(game, action):
    """Fold, call (or check) or raise; at chance, deal a card."""
    words, bytes_ = game.words, game.bytes
    if bytes_[PLAYER] == CHANCE:
        deal(game, action)
        return
    player = np.int64(bytes_[PLAYER])
    other = 1 - player
    second_round = bytes_[PUBLIC] != NONE
    spoken = np.int64(bytes_[SPOKEN])
    bytes_[ACTIONS + SLOTS * second_round + spoken] = 1 + action
    bytes_[SPOKEN] = spoken + 1
    words[PLIES] += ONE
    bytes_[PLAYER] = other
    if action == GIVE_UP:
        finish(game, FOLD, other)
        return
    bytes_[PAID + player] = bytes_[PAID + other]
    if action == RAISE:
        bytes_[PAID + player] += 2 * RAISE_SIZE if second_round else RAISE_SIZE
        bytes_[RAISES] += 1
    elif spoken > 0:
        # Only a check that opens the round leaves something to say.
        bytes_[RAISES] = 0
        bytes_[SPOKEN] = 0
        if second_round:
            finish(game, SHOWDOWN, best_hand(game))
        else:
            bytes_[PLAYER] = CHANCE


class Leduc(Poker):
    """Leduc poker. Actions: 0 fold, 1 call (or check), 2 raise. Cards 0 to 5; a card's rank is its half."""

    name = "leduc"
    family = "leduc"
    action_count = 3
    max_legal = 3
    max_plies = 2 * SLOTS
    moves_in_a_row = 2
    cards = 6
    hidden_kinds = ("jack", "jack", "queen", "queen", "king", "king")
    utilities = tuple(float(chips) for chips in (-13, -11, -9, -7, -5, -3, -1, 0, 1, 3, 5, 7, 9, 11, 13))
    record_bytes = ACTIONS + 2 * SLOTS
    kernels = poker_kernels(legal_count, legal_action, play)

    def action_text(self, player: int, action: int) -> str:
        return ("fold", "call", "raise")[action]

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        fine = are_hands(bytes_, self.cards) & (bytes_[:, ACTIONS:] <= 1 + RAISE).all(1)
        # A fourth action ends a round, so one that goes on has room for another.
        fine &= (bytes_[:, SPOKEN] < SLOTS + (bytes_[:, END] != 0)) & (bytes_[:, RAISES] <= MOST_RAISES)
        self.refuse_records(fine)


register("leduc", Leduc)
