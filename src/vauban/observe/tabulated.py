"""The observation of tabulated games: the tensor that was listed for the viewer's information set."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vauban.games.kernel import kernel
from vauban.games.tabulated.game import set_word
from vauban.games.tabulated.tabulation import CHANNELS, PACKED, TENSOR_SHIFT, TENSORS, VALUE_BITS, VALUES
from vauban.observe.base import Observation, put, register

VALUE_MASK = 2**VALUE_BITS - 1


@kernel
def value_of(game, viewer, channel):
    """Return the number of the value in one channel."""
    width = (game.rules[CHANNELS] + PACKED - 1) // PACKED
    place = game.rules[TENSORS] + (set_word(game, viewer) >> TENSOR_SHIFT) * width + channel // PACKED
    return (game.rules[place] >> (VALUE_BITS * (channel % PACKED))) & VALUE_MASK


@kernel
def mark(game, viewer, lane, lanes, codes):
    """Mark the channels that are not 0."""
    for channel in range(lane, game.rules[CHANNELS], lanes):
        if value_of(game, viewer, channel) != 0:
            put(codes, 0, channel, 1)


@kernel
def set_values(game, viewer, lane, lanes, levels):
    """Write what the channels hold."""
    for channel in range(lane, game.rules[CHANNELS], lanes):
        place = game.rules[VALUES] + 2 * value_of(game, viewer, channel)
        levels[channel, 1] = np.float32(math.ldexp(np.float64(game.rules[place]), game.rules[place + 1]))


def _channels(game: Any) -> list[str]:
    return list(game.table.channels)


register(
    Observation(
        "tensor", "tabulated", lambda game: len(_channels(game)), _channels, mark, set_values, needs_tracking=False,
        default=True,
    )
)  # fmt: skip
