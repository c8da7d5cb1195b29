"""The picture of a game as text, for games whose family draws none of its own: what each player sees.

A player's picture is made of that player's observation alone, so it shows nothing hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vauban.observe import base as observations

if TYPE_CHECKING:
    from vauban.board.base import Look

SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Signs for the things that can be on a square, in the order in which they are met."""


def text(look: Look, observation: str | None = None) -> str:
    """Return what a view's player sees, or what both players of a board see, as lines of text.

    observation: the name of what shows it; the game's default if not given.
    """
    viewer = getattr(look, "player", None)
    known = observations.names(look.game)
    if not known:
        return f"{look.game.name}, ply {look.plies}"
    lines: list[str] = []
    for player in (0, 1) if viewer is None else (viewer,):
        lines += _seen(look, player, observation or observations.default(look.game).name)
    return "\n".join(lines)


def _seen(look: Look, player: int, name: str) -> list[str]:
    """Draw one player's view: a grid of signs with their meanings where the game has a board, else a line."""
    values: npt.NDArray[Any] = look.look_through(name, "planes", player)
    names = observations.find(look.game, name).channel_names(look.game)
    flat = values.reshape(len(names), -1)
    whole = (flat == flat[:, :1]).all(1)
    everywhere = [_worth(names[channel], flat[channel, 0]) for channel in np.flatnonzero(whole & (flat[:, 0] != 0))]
    head = f"{look.game.players[player]} sees: {' '.join(everywhere)}".rstrip()
    if look.game.board == (1, 1):
        return [head]
    meanings: dict[str, str] = {}
    cells = []
    for square in range(flat.shape[1]):
        channels = np.flatnonzero(~whole & (flat[:, square] != 0))
        meaning = ", ".join(_worth(names[channel], flat[channel, square]) for channel in channels)
        cells.append(meanings.setdefault(meaning, SIGNS[len(meanings) % len(SIGNS)]) if meaning else ".")
    rows, columns = look.game.board
    grid = [" ".join(cells[row * columns : (row + 1) * columns]) for row in reversed(range(rows))]
    return [head, *grid, *(f"  {sign} {meaning}" for meaning, sign in meanings.items())]


def _worth(name: str, value: float) -> str:
    return name if value == 1 else f"{name}={value:g}"
