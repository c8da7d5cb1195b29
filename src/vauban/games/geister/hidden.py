"""Hidden colours: which they are, and making them so or so (determinisation), as kernels.

All ghosts of the opponent that are on the board are hidden. They are listed in the order of their squares in the
viewer's view; a value is 0 for a good ghost and 1 for an evil one.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import NUMBER
from vauban.games.geister.layout import (
    CAPTURED_EVIL,
    CONCEALED,
    EVIL,
    EVIL_GHOSTS,
    GHOSTS,
    MOST_GHOSTS,
    PIECES,
    PLACE,
    PROVEN,
    SQUARES,
)
from vauban.games.geister.rules import ghost_at, turned
from vauban.games.kernel import ONE, ZERO, kernel, popcount


@kernel
def hidden_count(game, viewer):
    """Count the opponent's ghosts on the board."""
    return popcount(game.words[PIECES + 1 - viewer])


@kernel
def hidden_values(game, viewer, values):
    """Return the colours of these ghosts."""
    other = 1 - viewer
    index = 0
    for step in range(game.rules[SQUARES]):
        bit = ONE << np.uint64(turned(game.rules[SQUARES], viewer, step))
        if game.words[PIECES + other] & bit:
            values[index] = 1 if game.words[EVIL + other] & bit else 0
            index += 1


@kernel
def conceal(game, viewer):
    """Erase the colours of the opponent's ghosts on the board."""
    game.words[EVIL + 1 - viewer] = ZERO
    game.bytes[CONCEALED] = 2 - viewer
    # Whoever knows a game's number and the seed can draw its colours again.
    game.words[NUMBER] = ZERO


@kernel
def count_evil(game, player):
    """Count the player's evil ghosts on the board, as anybody can: all but those that were captured."""
    count = game.rules[EVIL_GHOSTS]
    for ghost in range(game.rules[GHOSTS]):
        if game.bytes[PLACE + MOST_GHOSTS * player + ghost] == CAPTURED_EVIL:
            count -= 1
    return count


@kernel
def assign(game, viewer, values):
    """Give the opponent's ghosts these colours; False if that cannot be.

    Just so many evil ones must be left, and among them those that stayed on an exit where escapes are forced.
    """
    words, rules = game.words, game.rules
    other = 1 - viewer
    evil = ZERO
    index = 0
    for step in range(rules[SQUARES]):
        square = turned(game.rules[SQUARES], viewer, step)
        bit = ONE << np.uint64(square)
        if words[PIECES + other] & bit:
            value = np.int64(values[index])
            index += 1
            if value < 0 or value > 1:
                return False
            if value == 0 and (game.bytes[PROVEN + other] >> ghost_at(game, other, square)) & 1:
                return False
            if value == 1:
                evil |= bit
    if popcount(evil) != count_evil(game, other):
        return False
    words[EVIL + other] = evil
    game.bytes[CONCEALED] = 0
    return True
