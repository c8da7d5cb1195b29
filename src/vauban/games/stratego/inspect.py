"""Looking into one record: lists of moves, and which of them the repetition rules bar; as kernels."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import END, PLAYER
from vauban.games.kernel import ZERO, kernel, lowest
from vauban.games.stratego.layout import LEGAL
from vauban.games.stratego.repetition import bar
from vauban.games.stratego.rules import reach
from vauban.games.stratego.squares import origin

LEGAL_MOVES = -1
"""In place of a switch: the moves that no switch bars."""


@kernel
def write_moves(game, moves):
    """Write the moves that stand in the record as legal (source, target), and return how many."""
    count = 0
    for direction in range(4):
        for half in range(2):
            rest = game.words[LEGAL + 2 * direction + half]
            while rest != ZERO:
                target = lowest(rest) + 64 * half
                rest &= rest - np.uint64(1)
                moves[count, 0] = origin(game, direction, target)
                moves[count, 1] = target
                count += 1
    return count


@kernel
def list_moves(game, which, moves):
    """List one kind of moves of the player on turn, and return how many there are.

    which: LEGAL_MOVES; or a switch, by its place in `layout.SWITCH`, for those of the geometric moves that it bars. A
    game that is over has none. The record is left as it was.
    """
    words = game.words
    if which == LEGAL_MOVES or game.bytes[END] != 0:
        return write_moves(game, moves)
    player = np.int64(game.bytes[PLAYER])
    # The rules work on the record's own sets of legal moves: these are put back below. `moves` has
    # room for them behind the list, which never fills more than the rows before the last eight.
    kept = moves.shape[0] - 8
    for word in range(8):
        moves[kept + word, 0] = np.int64(words[LEGAL + word])
    for direction in range(4):
        low, high = reach(game, player, direction)
        words[LEGAL + 2 * direction] = low
        words[LEGAL + 2 * direction + 1] = high
    bar(game, player, which)
    for direction in range(4):
        low, high = reach(game, player, direction)
        words[LEGAL + 2 * direction] ^= low
        words[LEGAL + 2 * direction + 1] ^= high
    count = write_moves(game, moves)
    for word in range(8):
        words[LEGAL + word] = np.uint64(moves[kept + word, 0])
    return count
