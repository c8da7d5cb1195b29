"""Priors that were worked out already, by position (thesis §4.7).

Rollouts from one world pass through the same positions again and again. A prior is not taken from
here while a player's last moves repeat themselves: what the repetition rules bar is not in the key.
The memory lives for one move: the next one begins with other knowledge.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import NamedTuple

import numpy as np

from vauban.agents.stratego.mcts.prior import KEPT
from vauban.agents.tree import mixed
from vauban.games.base import PLAYER
from vauban.games.kernel import kernel
from vauban.games.stratego.layout import BYTES, HIDDEN, LENGTH, NONE, SQUARES, TRAIL, TRAIL_LENGTH

ENTRIES = 4096
LONGEST = 4 * KEPT
"""Priors with more moves than this are not kept."""


class Memory(NamedTuple):
    """A table by the lowest bits of the key; a later entry takes an earlier one's place."""

    keys: np.ndarray
    counts: np.ndarray
    moves: np.ndarray
    values: np.ndarray
    tally: np.ndarray
    """Number of times that it was asked, and that it knew."""


@kernel
def make_memory():
    """Return an empty memory."""
    return Memory(
        np.zeros(ENTRIES, np.uint64),
        np.zeros(ENTRIES, np.int64),
        np.empty((ENTRIES, LONGEST), np.int64),
        np.empty((ENTRIES, LONGEST), np.float64),
        np.zeros(2, np.int64),
    )


@kernel
def key_of(game):
    """Return a number for the board and whose turn it is."""
    squares = game.rules[SQUARES]
    key = np.uint64(1 + np.int64(game.bytes[PLAYER]))
    for word in range(HIDDEN, HIDDEN + 2):
        key = mixed(key ^ game.words[word])
    for identity in range(squares):
        place = np.uint64(game.bytes[BYTES + 2 * squares + identity])
        if place != NONE:
            key = mixed(key ^ place ^ np.uint64(np.int64(game.bytes[BYTES + squares + identity]) << 8))
    return key


@kernel
def repeats(game):
    """Return whether a player's last moves go back and forth, or a player is being chased."""
    for player in range(2):
        trail = TRAIL + TRAIL_LENGTH * player
        if game.bytes[trail + 2] != NONE and game.bytes[trail] == game.bytes[trail + 2]:
            return True
        if game.words[LENGTH + player] > 0:
            return True
    return False


@kernel
def recall(memory, key, moves):
    """Write down the prior of a position; return its number of moves, or −1 if it is not known."""
    memory.tally[0] += 1
    slot = np.int64(key & np.uint64(ENTRIES - 1))
    if memory.keys[slot] != key:
        return -1
    memory.tally[1] += 1
    count = memory.counts[slot]
    for index in range(count):
        move = memory.moves[slot, index]
        moves.sources[index] = move >> 7
        moves.targets[index] = move & 127
        moves.values[index] = memory.values[slot, index]
    return count


@kernel
def remember(memory, key, moves, count):
    """Keep the prior of a position."""
    if count > LONGEST:
        return
    slot = np.int64(key & np.uint64(ENTRIES - 1))
    memory.keys[slot] = key
    memory.counts[slot] = count
    for index in range(count):
        memory.moves[slot, index] = (moves.sources[index] << 7) + moves.targets[index]
        memory.values[slot, index] = moves.values[index]
