"""Observations of the small games: `information_state` and `observation`, laid out as in OpenSpiel.

One square, a channel for each number. An information state tells a player's information sets apart;
an observation forgets how the chips came to lie there.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vauban.games import kuhn, leduc
from vauban.games.kernel import kernel
from vauban.games.small import CARDS, DECK, PAID, PUBLIC
from vauban.observe.base import Observation, put, register

CARD = 2
KUHN_REST = CARD + kuhn.Kuhn.cards
LEDUC_PUBLIC = CARD + leduc.Leduc.cards
LEDUC_REST = LEDUC_PUBLIC + leduc.Leduc.cards
"""Channels: the viewer comes first, then its card, in Leduc the public card, then the betting or the chips."""


@kernel
def mark_viewer(game, viewer, lane, lanes, codes):
    """Mark which player looks."""
    if lane == 0:
        put(codes, 0, viewer, 1)


@kernel
def mark_card(game, codes, channel, card):
    """Mark a card, if it has been dealt."""
    if card < game.rules[DECK]:
        put(codes, 0, channel + card, 1)


@kernel
def mark_chips(codes, channel):
    """Mark both players' chips; their numbers are levels."""
    put(codes, 0, channel, 1)
    put(codes, 0, channel + 1, 1)


@kernel
def set_chips(game, levels, channel):
    """Write how many chips each player has put in."""
    levels[channel, 1] = np.float32(game.bytes[PAID])
    levels[channel + 1, 1] = np.float32(game.bytes[PAID + 1])


@kernel
def no_levels(game, viewer, lane, lanes, levels):
    """All numbers are 0 or 1."""


@kernel
def mark_kuhn(game, viewer, lane, lanes, codes):
    """Mark the viewer and its card."""
    mark_viewer(game, viewer, lane, lanes, codes)
    if lane == 0:
        mark_card(game, codes, CARD, np.int64(game.bytes[CARDS + viewer]))


@kernel
def mark_kuhn_state(game, viewer, lane, lanes, codes):
    """Mark also each action: pass, bet."""
    mark_kuhn(game, viewer, lane, lanes, codes)
    if lane == 0:
        for slot in range(kuhn.LONGEST):
            action = np.int64(game.bytes[kuhn.ACTIONS + slot]) - 1
            if action >= 0:
                put(codes, 0, KUHN_REST + 2 * slot + action, 1)


@kernel
def mark_kuhn_chips(game, viewer, lane, lanes, codes):
    """Mark also the chips."""
    mark_kuhn(game, viewer, lane, lanes, codes)
    if lane == 0:
        mark_chips(codes, KUHN_REST)


@kernel
def set_kuhn_chips(game, viewer, lane, lanes, levels):
    """Write the chips."""
    if lane == 0:
        set_chips(game, levels, KUHN_REST)


@kernel
def mark_leduc(game, viewer, lane, lanes, codes):
    """Mark the viewer, its card and the public one."""
    mark_viewer(game, viewer, lane, lanes, codes)
    if lane == 0:
        mark_card(game, codes, CARD, np.int64(game.bytes[CARDS + viewer]))
        mark_card(game, codes, LEDUC_PUBLIC, np.int64(game.bytes[PUBLIC]))


@kernel
def mark_leduc_state(game, viewer, lane, lanes, codes):
    """Mark also each call and raise of both rounds; a fold ends the game and has no channel."""
    mark_leduc(game, viewer, lane, lanes, codes)
    if lane == 0:
        for slot in range(2 * leduc.SLOTS):
            action = np.int64(game.bytes[leduc.ACTIONS + slot]) - 1
            if action >= leduc.CALL:
                put(codes, 0, LEDUC_REST + 2 * slot + action - leduc.CALL, 1)


@kernel
def mark_leduc_chips(game, viewer, lane, lanes, codes):
    """Mark also the chips."""
    mark_leduc(game, viewer, lane, lanes, codes)
    if lane == 0:
        mark_chips(codes, LEDUC_REST)


@kernel
def set_leduc_chips(game, viewer, lane, lanes, levels):
    """Write the chips."""
    if lane == 0:
        set_chips(game, levels, LEDUC_REST)


VIEWER = ["viewer[0]", "viewer[1]"]
CHIPS = ["chips[0]", "chips[1]"]
KUHN = VIEWER + [f"card[{card}]" for card in range(kuhn.Kuhn.cards)]
KUHN_BETTING = [f"{action}[{slot}]" for slot in range(kuhn.LONGEST) for action in ("pass", "bet")]
LEDUC = VIEWER + [f"{which}[{card}]" for which in ("card", "public") for card in range(leduc.Leduc.cards)]
LEDUC_BETTING = [
    f"{action}[{part}][{slot}]" for part in range(2) for slot in range(leduc.SLOTS) for action in ("call", "raise")
]


def _register(
    name: str, family: str, channels: list[str], mark: Callable[..., Any], levels: Callable[..., Any]
) -> None:
    """Register an observation that is the same for all games of its family."""
    register(
        Observation(
            name, family, lambda _: len(channels), lambda _: list(channels), mark, levels, needs_tracking=False,
            default=name == "information_state",
        )
    )  # fmt: skip


_register("information_state", "kuhn", KUHN + KUHN_BETTING, mark_kuhn_state, no_levels)
_register("observation", "kuhn", KUHN + CHIPS, mark_kuhn_chips, set_kuhn_chips)
_register("information_state", "leduc", LEDUC + LEDUC_BETTING, mark_leduc_state, no_levels)
_register("observation", "leduc", LEDUC + CHIPS, mark_leduc_chips, set_leduc_chips)
_register("information_state", "matrix", VIEWER, mark_viewer, no_levels)
