"""The searching player's knowledge of the other's hidden pieces, as tables over identities.

A search runs on complete worlds, but judges fights by what it knows, not by what a world happens to
hold: for a hidden piece, the average over all types it can have. The other player is taken to know
everything (the thesis' worst case), and so are both about a piece that has been revealed.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import NamedTuple

import numpy as np

from vauban.agents.stratego.belief import marginals
from vauban.games.base import PLIES
from vauban.games.kernel import holds, kernel
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import BATTLELESS, BYTES, HIDDEN, PIECES, SQUARES
from vauban.games.stratego.pieces import MOVABLE_TYPES
from vauban.games.stratego.rules import ATTACKER_DIES, BOTH_DIE, DEFENDER_DIES, battle

EARLY = 60
"""Plies until which a game has only begun."""
CURIOSITY = 1.0
"""Worth of learning a piece's type, right after a battle."""
IMPATIENCE = 40
"""Plies without a battle after which it is worth twice as much."""


class Knowledge(NamedTuple):
    """The viewer's knowledge: tables by identity of an enemy piece and type of an own piece."""

    viewer: int
    """The player who knows this."""
    early: bool
    """Whether the game has only begun."""
    curiosity: float
    """Worth of learning a piece's type: the more, the longer the game is without a battle."""
    chances: np.ndarray
    """By identity and type: the probability that the piece has it."""
    gain: np.ndarray
    """Gain of the own piece from attacking, in fights: a win counts 1, a loss −1, a tie 0."""
    profit: np.ndarray
    """The same in worth: of what falls on the other side, less what falls on the own."""
    risk: np.ndarray
    """Probability that the other piece could come and take the own piece."""


@kernel
def learn(game, viewer, prior, worth):
    """Return the viewer's knowledge, from its view; `worth` is that of a piece of each type in a fight."""
    squares = game.rules[SQUARES]
    chances = np.zeros((squares, 12))
    other = 1 - viewer
    hidden = np.zeros((squares, 12))
    marginals(game, viewer, prior, hidden)
    words = game.words
    index = 0
    for step in range(squares):
        square = step if viewer == 0 else squares - 1 - step
        if not holds(words[PIECES + 2 * other], words[PIECES + 2 * other + 1], square):
            continue
        identity = np.int64(game.bytes[BYTES + square])
        if holds(words[HIDDEN], words[HIDDEN + 1], square):
            for kind in range(12):
                chances[identity, kind] = hidden[index, kind]
            index += 1
        else:
            chances[identity, kind_of(game, identity)] = 1.0

    gain = np.zeros((squares, 12))
    profit = np.zeros((squares, 12))
    risk = np.zeros((squares, 12))
    for identity in range(squares):
        for own in range(12):
            for kind in range(12):
                chance = chances[identity, kind]
                if chance == 0.0:
                    continue
                if own < MOVABLE_TYPES:
                    gain[identity, own] += chance * fight(own, kind)
                    profit[identity, own] += chance * fight_worth(own, kind, worth)
                if kind < MOVABLE_TYPES and fight(kind, own) > 0:
                    risk[identity, own] += chance
    early = np.int64(words[PLIES]) < EARLY
    curiosity = CURIOSITY * (1.0 + np.float64(words[BATTLELESS]) / IMPATIENCE)
    return Knowledge(viewer, early, curiosity, chances, gain, profit, risk)


@kernel
def fight(attacker, defender):
    """Return the end of a fight for the attacker: 1, 0 or −1."""
    result = battle(attacker, defender)
    if result == DEFENDER_DIES:
        return 1
    if result == BOTH_DIE:
        return 0
    return -1


@kernel
def fight_worth(attacker, defender, worth):
    """Return the worth of what falls on the other side in a fight, less that of what falls on the attacker's."""
    result = battle(attacker, defender)
    balance = 0.0
    if result != ATTACKER_DIES:
        balance += worth[defender]
    if result != DEFENDER_DIES:
        balance -= worth[attacker]
    return balance


@kernel
def is_unknown(game, knowledge, player, square):
    """Return whether the player does not know the type of the other's piece on a square."""
    return player == knowledge.viewer and holds(game.words[HIDDEN], game.words[HIDDEN + 1], square)


@kernel
def expected_fight(game, knowledge, player, kind, square):
    """Estimate the player's gain from attacking the piece on a square with one of its own: between −1 and 1."""
    identity = np.int64(game.bytes[BYTES + square])
    if is_unknown(game, knowledge, player, square):
        return knowledge.gain[identity, kind]
    return np.float64(fight(kind, kind_of(game, identity)))


@kernel
def expected_profit(game, knowledge, player, kind, square, worth):
    """Return the same in worth."""
    identity = np.int64(game.bytes[BYTES + square])
    if is_unknown(game, knowledge, player, square):
        return knowledge.profit[identity, kind]
    return fight_worth(kind, kind_of(game, identity), worth)


@kernel
def danger(game, knowledge, near, player, kind, square, ignored):
    """Return the chance that a piece of the player on a square is taken by one beside it (`ignored` left out)."""
    words = game.words
    other = 1 - player
    worst = 0.0
    for direction in range(4):
        beside = near[square, direction]
        if beside < 0 or beside == ignored:
            continue
        if not holds(words[PIECES + 2 * other], words[PIECES + 2 * other + 1], beside):
            continue
        identity = np.int64(game.bytes[BYTES + beside])
        if is_unknown(game, knowledge, player, beside):
            chance = knowledge.risk[identity, kind]
        else:
            enemy = kind_of(game, identity)
            chance = 1.0 if enemy < MOVABLE_TYPES and fight(enemy, kind) > 0 else 0.0
        worst = max(worst, chance)
    return worst
