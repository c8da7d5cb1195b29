"""Kuhn poker: three cards, one each, one bet (docs/solve.md)."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.games.base import CHANCE, END, PLAYER, PLIES, Format, register
from vauban.games.kernel import ONE, kernel
from vauban.games.small import (
    CARDS,
    FOLD,
    PAID,
    POKER_BYTES,
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

PASS, BET = 0, 1
ACTIONS = POKER_BYTES
"""Bytes: the actions so far, 1 + action each, 0 where there is none yet."""
LONGEST = 3


@kernel
def legal_count(game):
    """Both actions are always legal; at chance, as many events as there are cards left."""
    if game.bytes[END] != 0:
        return 0
    return count_deck(game) if game.bytes[PLAYER] == CHANCE else 2


@kernel
def legal_action(game, index):
    """Pass, bet; at chance, the cards left."""
    return find_in_deck(game, index) if game.bytes[PLAYER] == CHANCE else index


@kernel
def play(game, action):
    """Pass or bet; at chance, deal a card."""
    words, bytes_ = game.words, game.bytes
    if bytes_[PLAYER] == CHANCE:
        deal(game, action)
        return
    player = np.int64(bytes_[PLAYER])
    answers = must_answer(game, player)
    bytes_[ACTIONS + np.int64(words[PLIES])] = 1 + action
    words[PLIES] += ONE
    bytes_[PLAYER] = 1 - player
    if action == BET:
        bytes_[PAID + player] += 1
    if action == PASS and answers:
        finish(game, FOLD, 1 - player)
    elif answers or (action == PASS and player == 1):
        finish(game, SHOWDOWN, 0 if bytes_[CARDS] > bytes_[CARDS + 1] else 1)


class Kuhn(Poker):
    """Kuhn poker. Actions: 0 pass (or fold), 1 bet (or call)."""

    name = "kuhn"
    family = "kuhn"
    action_count = 2
    max_legal = 2
    max_plies = LONGEST
    cards = 3
    hidden_kinds = ("jack", "queen", "king")
    utilities = (-2.0, -1.0, 1.0, 2.0)
    record_bytes = ACTIONS + LONGEST
    kernels = poker_kernels(legal_count, legal_action, play)

    def action_text(self, player: int, action: int) -> str:
        return ("pass", "bet")[action]

    def check_records(
        self, words: npt.NDArray[Any], halves: npt.NDArray[Any], bytes_: npt.NDArray[Any], format: Format
    ) -> None:
        plies = words[:, PLIES]
        # A third action ends the game, so one that goes on has room for another.
        room = (plies >= 0) & (plies < LONGEST + (bytes_[:, END] != 0))
        self.refuse_records(are_hands(bytes_, self.cards) & room & (bytes_[:, ACTIONS:] <= 1 + BET).all(1))


register("kuhn", Kuhn)
