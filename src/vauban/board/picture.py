"""Pictures of a game as text and as SVG, for games whose family draws none of its own: what each player sees.

A player's picture is made of that player's observation alone, so it shows nothing hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vauban.observe import base as observations

if TYPE_CHECKING:
    from vauban.board.base import Look

SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Signs for the things that can be on a square, in the order in which they are met."""


CELL, LINE = 32, 18
"""Width of a square and height of a line of text in an SVG picture."""


@dataclass(frozen=True)
class Seen:
    """One player's sight of a position."""

    head: str
    grid: list[list[str]]
    """By row, the highest first, the sign on each square; empty without a board."""
    legend: list[tuple[str, str]]
    """Signs, and what is there."""


def text(look: Look, observation: str | None = None) -> str:
    """Return what a view's player sees, or what both players of a board see, as lines of text.

    observation: the name of what shows it; the game's default if not given.
    """
    lines: list[str] = []
    for seen in _all_seen(look, observation):
        legend = [f"  {sign} {meaning}" for sign, meaning in seen.legend]
        lines += [seen.head, *(" ".join(row) for row in seen.grid), *legend]
    return "\n".join(lines)


def svg(look: Look, size: int = 480) -> str:
    """Return the same as an SVG picture: squares with signs, and lines of text."""
    parts: list[str] = []
    widest, y = 0, 0

    def write(line: str) -> None:
        nonlocal widest, y
        y += LINE
        widest = max(widest, 8 * len(line) + 16)
        parts.append(f'<text x="8" y="{y}">{escape(line, quote=False)}</text>')

    for seen in _all_seen(look, None):
        write(seen.head)
        y += 8 * bool(seen.grid)
        for row in seen.grid:
            for column, sign in enumerate(row):
                x = 8 + CELL * column
                parts.append(
                    f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="#e9e1c8" stroke="#b9ad8b"/>'
                    f'<text x="{x + CELL // 2}" y="{y + 21}" text-anchor="middle">{sign.replace(".", "")}</text>'
                )
            widest = max(widest, CELL * len(row) + 16)
            y += CELL
        for sign, meaning in seen.legend:
            write(f"{sign} {meaning}")
        y += 8
    scale = size / max(widest, y)
    name = escape(f"{look.game.name}, ply {look.plies}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {widest} {y}" width="{widest * scale:g}" '
        f'height="{y * scale:g}" font-family="monospace" font-size="13" fill="#3a3528" role="img" '
        f'aria-label="{name}"><rect width="{widest}" height="{y}" fill="#fdfaf1"/>{"".join(parts)}</svg>'
    )


def _all_seen(look: Look, observation: str | None) -> list[Seen]:
    viewer = getattr(look, "player", None)
    if not observations.names(look.game):
        return [Seen(f"{look.game.name}, ply {look.plies}", [], [])]
    name = observation or observations.default(look.game).name
    return [_seen(look, player, name) for player in ((0, 1) if viewer is None else (viewer,))]


def _seen(look: Look, player: int, name: str) -> Seen:
    """Return one player's view: a grid of signs with their meanings where the game has a board, else a line."""
    values: npt.NDArray[Any] = look.look_through(name, "planes", player)
    names = observations.find(look.game, name).channel_names(look.game)
    flat = values.reshape(len(names), -1)
    whole = (flat == flat[:, :1]).all(1)
    everywhere = [_worth(names[channel], flat[channel, 0]) for channel in np.flatnonzero(whole & (flat[:, 0] != 0))]
    head = f"{look.game.players[player]} sees: {' '.join(everywhere)}".rstrip()
    if look.game.board == (1, 1):
        return Seen(head, [], [])
    meanings: dict[str, str] = {}
    cells = []
    for square in range(flat.shape[1]):
        channels = np.flatnonzero(~whole & (flat[:, square] != 0))
        meaning = ", ".join(_worth(names[channel], flat[channel, square]) for channel in channels)
        cells.append(meanings.setdefault(meaning, SIGNS[len(meanings) % len(SIGNS)]) if meaning else ".")
    rows, columns = look.game.board
    grid = [cells[row * columns : (row + 1) * columns] for row in reversed(range(rows))]
    return Seen(head, grid, [(sign, meaning) for meaning, sign in meanings.items()])


def _worth(name: str, value: float) -> str:
    return name if value == 1 else f"{name}={value:g}"
