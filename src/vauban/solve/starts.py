"""Where games begin: every start that chance may draw, each as likely as the others.

Setups are drawn by chance, not chosen: the value of a game with setups is its value under
uniformly drawn ones, which is how `Simulator` begins games too. A start from which a game would be
over at once is drawn again there, so it is left out here.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.games.stratego.game import Stratego

Rows = npt.NDArray[np.int8]


@singledispatch
def count_setups(game: Game) -> int:
    """How many setups a player can have: 1 where there is nothing to set up. Other games register theirs."""
    if game.start_size:
        raise ConfigurationError(
            f"the setups of {game.name!r} cannot be listed: "
            "register count_setups and all_setups (vauban.solve.starts) for its class"
        )
    return 1


@singledispatch
def all_setups(game: Game) -> Rows:
    """Every setup that a player can have, a row each. Other games register theirs."""
    return np.zeros((count_setups(game), game.setup_size), np.int8)


@count_setups.register
def _(game: Stratego) -> int:
    return game.variant.setup_count


@all_setups.register
def _(game: Stratego) -> Rows:
    codes = [1 + kind for kind, count in enumerate(game.variant.army) for _ in range(count)]
    codes += [0] * (game.setup_size - len(codes))
    return distinct_orders(codes)


def all_starts(game: Game) -> Rows:
    """Every pair of setups as a start; one row of nothing for a game without setups."""
    setups = all_setups(game)
    if game.start_size == 0:
        return setups
    count = len(setups)
    return game.starts_from(np.repeat(setups, count, 0), np.tile(setups, (count, 1)))


def distinct_orders(codes: list[int]) -> Rows:
    """All different orders of some numbers, in ascending order."""
    row = sorted(codes)
    orders = [row.copy()]
    while True:
        # The next greater order: raise the last number that can be raised, and put what follows it in order.
        at = next((place for place in range(len(row) - 2, -1, -1) if row[place] < row[place + 1]), None)
        if at is None:
            return np.array(orders, np.int8)
        by = next(place for place in range(len(row) - 1, at, -1) if row[place] > row[at])
        row[at], row[by] = row[by], row[at]
        row[at + 1 :] = reversed(row[at + 1 :])
        orders.append(row.copy())
