"""The starts of games: all that chance may draw, each as likely as the others.

Setups are drawn by chance, not chosen: the value of a game with setups is its value under
uniformly drawn ones, which is how `Simulator` begins games too. A start from which a game would be
over at once is drawn again there, so it is left out here. A game that `deploys` has one start, without any setup.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.games.base import Game


def count_setups(game: Game) -> int:
    """Count the setups that a player can begin with: 1 where there is nothing to set up, or it is done by actions."""
    if game.deploys:
        return 1
    if game.setups is not None:
        return game.setups.count
    if game.start_size:
        raise ConfigurationError(f"the starts of {game.name!r} cannot be listed: give the game `setups`, which can")
    return 1


def all_starts(game: Game) -> npt.NDArray[np.int8]:
    """Return every start that chance may draw: pairs of setups; just one where nothing is set up before the game."""
    if game.setups is None or game.deploys:
        return np.zeros((count_setups(game), game.start_size), np.int8)
    return starts_from_setups(game)


def starts_from_setups(game: Game) -> npt.NDArray[np.int8]:
    """Return every pair of setups as a start, also of a game that usually begins without any."""
    if game.setups is None:
        raise ConfigurationError(f"{game.name!r} has no setups, so no starts can be made of them")
    setups = game.setups.all()
    count = len(setups)
    return game.setups.starts(np.repeat(setups, count, 0), np.tile(setups, (count, 1)))
