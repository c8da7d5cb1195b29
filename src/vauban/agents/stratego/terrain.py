"""The board as searching agents walk it, as a kernel."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import kernel, single
from vauban.games.stratego.layout import COLUMNS, SQUARES
from vauban.games.stratego.squares import shifted


@kernel
def neighbours(rules):
    """Return, by square and direction (north, south, west, east), the square beside it; −1 for a lake or the edge."""
    squares = rules[SQUARES]
    near = np.full((squares, 4), -1, np.int16)
    steps = (rules[COLUMNS], -rules[COLUMNS], np.int64(-1), np.int64(1))
    for square in range(squares):
        low, high = single(square)
        for direction in range(4):
            to_low, to_high = shifted(low, high, direction, rules)
            if to_low | to_high:
                near[square, direction] = square + steps[direction]
    return near
