"""The common part of the small games: no rules to choose, no setups, no board; and for poker, cards and chips.

A record of a small game is two words (number, plies) and a few bytes. A poker game deals with the
kernels below and adds its betting.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.games.base import (
    CHANCE,
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
    Shape,
)
from vauban.games.kernel import ZERO, hook, kernel

NONE = 255
"""A byte for a card or a choice that is not there yet."""
UNKNOWN = 254
"""A byte for one that is there, and concealed."""


class SmallGame(Game):
    """A game of a few moves, without rules to choose, setups or a board."""

    version = 1
    players = ("first", "second")
    start_size = 0
    hidden_size = 1
    board = (1, 1)
    has_chance = True
    record_bytes: int

    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        return Format(Shape(PLIES + 1, 0, self.record_bytes), self.parameters(), tracks)

    def parameters(self) -> npt.NDArray[np.int64]:
        """Return the numbers that the kernels know the rules by; none unless a game says otherwise."""
        return np.zeros(1, np.int64)

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return np.asarray((bytes_ == UNKNOWN).any(1))


def refuse_rules(name: str, rules: Any) -> None:
    """These games are played by one set of rules each."""
    if rules is not None:
        raise ConfigurationError(f"{name!r} has no rules to choose, so {rules!r} cannot be used: leave rules out")


@kernel
def no_start(start, rules, seed, number, attempt):
    """There is nothing to draw: chance acts in the game itself."""


@kernel
def no_setup(start, rules, player, setup):
    """There are no setups."""


@kernel
def even_chance(game, index):
    """All events are equally likely."""
    return 1


@hook
def legal_count(game): ...


@hook
def legal_action(game, index): ...


@kernel
def is_listed(game, action):
    """Return whether the action, or event, is one of those that the game lists: for games with few of them."""
    for index in range(legal_count(game)):
        if legal_action(game, index) == action:
            return True
    return False


# ── Poker: the deck, the hands, the chips ────────────────────────────────────────────────────────

CARDS, PUBLIC, PAID, POKER_BYTES = OWN, OWN + 2, OWN + 3, OWN + 5
"""Bytes: the two players' cards, the public card, the chips that each has put in; where a game's own begin."""
DECK = 0
"""The one parameter: how many cards there are."""
FOLD, SHOWDOWN = 1, 2
POKER_ENDS = ("", "fold", "showdown")


@kernel
def begin_hand(game, start):
    """Both players ante one chip, and chance is to deal. Bytes of the game's own begin as 0."""
    bytes_ = game.bytes
    game.words[PLIES] = ZERO
    for byte in range(bytes_.shape[0]):
        bytes_[byte] = 0
    bytes_[PLAYER] = CHANCE
    bytes_[WINNER] = NOBODY
    for place in range(CARDS, PUBLIC + 1):
        bytes_[place] = NONE
    bytes_[PAID] = 1
    bytes_[PAID + 1] = 1


@kernel
def in_deck(game, card):
    """Return whether the card has not been dealt."""
    bytes_ = game.bytes
    return bytes_[CARDS] != card and bytes_[CARDS + 1] != card and bytes_[PUBLIC] != card


@kernel
def count_deck(game):
    """Count the cards that have not been dealt."""
    count = 0
    for card in range(game.rules[DECK]):
        if in_deck(game, card):
            count += 1
    return count


@kernel
def find_in_deck(game, index):
    """Return the card with `index` lower ones in the deck; −1 if there are not so many."""
    for card in range(game.rules[DECK]):
        if in_deck(game, card):
            if index == 0:
                return card
            index -= 1
    return -1


@kernel
def deal(game, card):
    """Give a card to the first player, then one to the second, then turn one up; the first is on turn after these."""
    bytes_ = game.bytes
    if bytes_[CARDS] == NONE:
        bytes_[CARDS] = card
    else:
        place = CARDS + 1 if bytes_[CARDS + 1] == NONE else PUBLIC
        bytes_[place] = card
        bytes_[PLAYER] = 0


@kernel
def must_answer(game, player):
    """Return whether the other player has put in more chips."""
    return game.bytes[PAID + player] < game.bytes[PAID + 1 - player]


@kernel
def finish(game, end, winner):
    """End the game."""
    game.bytes[END] = end
    game.bytes[WINNER] = winner


@kernel
def chips_won(game):
    """Return what the first player wins: the chips that the loser has put in; 0 for a draw, and during the game."""
    winner = game.bytes[WINNER]
    if winner == 0:
        return np.float32(game.bytes[PAID + 1])
    if winner == 1:
        return -np.float32(game.bytes[PAID])
    return np.float32(0)


@kernel
def hidden_count(game, viewer):
    """The other player's card is hidden from when it is dealt until a showdown, and for good after a fold."""
    if game.bytes[CARDS + 1 - viewer] == NONE or game.bytes[END] == SHOWDOWN:
        return 0
    return 1


@kernel
def hidden_values(game, viewer, values):
    """Return the other player's card."""
    if hidden_count(game, viewer):
        values[0] = game.bytes[CARDS + 1 - viewer]


@kernel
def conceal(game, viewer):
    """Erase the other player's card."""
    if hidden_count(game, viewer):
        game.bytes[CARDS + 1 - viewer] = UNKNOWN
    # Whoever knows a game's number and the seed can draw its cards again.
    game.words[NUMBER] = ZERO


@kernel
def assign(game, viewer, values):
    """Give the other player this card; False, and nothing changed, if the viewer sees it elsewhere."""
    if hidden_count(game, viewer) == 0:
        return True
    card = np.int64(values[0])
    if card < 0 or card >= game.rules[DECK]:
        return False
    if card == game.bytes[CARDS + viewer] or card == game.bytes[PUBLIC]:
        return False
    game.bytes[CARDS + 1 - viewer] = card
    return True


class Poker(SmallGame):
    """A poker game of two: it adds how actions are listed, and `play`."""

    max_plies: int
    ends = POKER_ENDS
    public_actions = True
    cards: int

    def __init__(self, rules: Any = None) -> None:
        refuse_rules(self.name, rules)

    def parameters(self) -> npt.NDArray[np.int64]:
        return np.array([self.cards], np.int64)


def poker_kernels(legal_count: PlainKernel, legal_action: PlainKernel, play: PlainKernel) -> Kernels:
    """Return the kernels of a poker game, from those that are its own."""
    return Kernels(
        begin=begin_hand,
        legal_count=legal_count,
        legal_action=legal_action,
        is_legal=is_listed,
        play=play,
        utility=chips_won,
        draw_start=no_start,
        place_setup=no_setup,
        chance_weight=even_chance,
        hidden_count=hidden_count,
        hidden_values=hidden_values,
        conceal=conceal,
        assign=assign,
    )


def are_hands(bytes_: npt.NDArray[Any], deck: int) -> npt.NDArray[np.bool_]:
    """Return which rows hold what the bytes of a poker record can hold, as far as all poker games share them."""
    cards = bytes_[:, CARDS : PUBLIC + 1]
    fine = ((cards < deck) | (cards >= UNKNOWN)).all(1)
    return np.asarray(
        fine & (bytes_[:, PLAYER] <= CHANCE) & (bytes_[:, STEP] == 0) & (bytes_[:, END] < len(POKER_ENDS))
    )
