"""Places of moves in words: squares, and the gates beyond the exits.

A gate is the place beyond an exit; it is called as a square there would be, so that the first player's ghost on a6
escapes to a7, whichever of the two directions it leaves in.
"""

from __future__ import annotations

import re

from vauban.games.geister.game import Geister

PLACE = re.compile(r"([a-z][0-9]{1,2})([a-z][0-9]{1,2})")
"""A move by its places: where it goes from, and a square or gate."""


def gates(game: Geister) -> dict[str, int]:
    """Return the player whose ghosts leave by it, by gate."""
    v = game.variant
    rows = {0: v.height + 1, 1: 0}
    corners = [v.square_name(square)[0] for square in (0, v.width - 1)]
    return {corner + str(row): player for player, row in rows.items() for corner in corners}


def gate_at(game: Geister, player: int, square: int) -> str | None:
    """Return the gate that a player's ghost on this square can leave by; None if it is no exit of that player."""
    v = game.variant
    own = square if player == 0 else v.squares - 1 - square
    if own not in (0, v.width - 1):
        return None
    return v.square_name(square)[0] + str(v.height + 1 if player == 0 else 0)


def home_square(game: Geister, player: int, number: int) -> int:
    """Return the square from which a ghost started."""
    square = game.variant.start_squares[number]
    return square if player == 0 else game.variant.squares - 1 - square


def home(game: Geister, player: int, number: int) -> str:
    """Return the name of the square from which a ghost started."""
    return game.square_name(home_square(game, player, number))


def neighbours(game: Geister, square: int) -> list[int]:
    """Return the squares next to one."""
    v = game.variant
    x, y = square % v.width, square // v.width
    around = ((x, y - 1), (x + 1, y), (x - 1, y), (x, y + 1))
    return [v.width * b + a for a, b in around if 0 <= a < v.width and 0 <= b < v.height]


def ends(game: Geister, player: int, action: int) -> tuple[str, str]:
    """Return where a move goes from and to: squares by name, or a gate."""
    source, target = (int(square) for square in game.moves[action])
    if player == 1:
        source, target = (game.variant.squares - 1 - square for square in (source, target))
    if game.escapes[action]:
        gate = gate_at(game, player, source)
        assert gate is not None
        return game.square_name(source), gate
    return game.square_name(source), game.square_name(target)
