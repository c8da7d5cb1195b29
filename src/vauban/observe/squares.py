"""The observation of games on squares (`vauban.games.squares`): own pieces and the enemy's, kind by kind.

A game of one's own registers it for its family: `register(pieces("ambush"))`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from vauban.games.kernel import kernel
from vauban.games.squares import KINDS, SquareGame, hidden_count, kind_at, owner_at, squares, turned
from vauban.observe.base import Observation, put
from vauban.observe.small import no_levels


@kernel
def mark_pieces(game, viewer, lane, lanes, codes):
    """Mark each piece on its square; hidden ones have the last channel."""
    kinds, hidden = game.rules[KINDS], hidden_count(game, viewer) > 0
    for place in range(lane, squares(game), lanes):
        square = turned(game, viewer, place)
        owner, kind = owner_at(game, square), kind_at(game, square)
        if owner == viewer:
            put(codes, place, kind - 1, 1)
        elif owner >= 0:
            put(codes, place, 2 * kinds if hidden else kinds + kind - 1, 1)


def channel_names(game: SquareGame) -> list[str]:
    """Return the names of the channels."""
    return [f"{whose} {kind}" for whose in ("own", "enemy") for kind in game.army] + ["enemy hidden"]


def pieces(family: str) -> Observation:
    """Return the observation for a family of games on squares."""
    return Observation("pieces", family, lambda game: 2 * len(game.army) + 1, channel_names, mark_pieces, no_levels)
