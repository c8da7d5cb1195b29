"""The observation `ataraxos`: 355 channels, one for each start square, and the last 32 moves.

As published with Ataraxos (appendix C of the paper, in the exact form of the released simulator),
in the viewer's frame: docs/observations.md has the table. On the classic board 487 channels.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from vauban.games.base import PLIES
from vauban.games.kernel import holds, kernel
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BATTLELESS,
    BATTLELESS_LIMIT,
    BYTES,
    DEAD,
    HIDDEN,
    HIDDEN_COUNT,
    HISTORY,
    MOVED,
    NONE,
    PIECES,
    PLAYABLE,
    RECORDED,
    SETS,
    SQUARES,
    TOTAL_LIMIT,
    TYPE_EMPTY,
    TYPE_HIDDEN,
    UNMOVED,
)
from vauban.games.stratego.pieces import BOMB, FLAG, MOVABLE_TYPES, TYPES
from vauban.games.stratego.switches import NO_LIMIT
from vauban.observe.base import HiddenChannels, Observation, PublicChannels, put, put_row, register, widened

OWN_TYPES, THEIR_CHANCES, OWN_CHANCES = 0, 12, 24
OWN_HIDDEN, THEIR_HIDDEN, EMPTY, OWN_MOVED, THEIR_MOVED = 36, 37, 38, 39, 40
PLIES_SHARE, BATTLELESS_SHARE = 41, 42
OWN_DEEDS, THEIR_DEEDS, DEED_WIDTH = 43, 76, 11
OWN_DEAD, THEIR_DEAD = 109, 120
OWN_DEATHS, THEIR_DEATHS = 131, 191
OWN_PROTECTION, THEIR_PROTECTION, PROTECTION_WIDTH = 251, 303, 13
STARTS = 355
MOVES = 32

CERTAIN, AFTER_MOVING, BEFORE_MOVING = 1, 2, 3
"""Codes of the channels of chances: revealed; hidden and moved; hidden and never moved."""
MOVABLE_ROW, WHOLE_ROW = 0x55555, 0x555555
"""The code 1 in the channels of the 10 movable types, of all 12."""
ARRIVED, LEFT = 1, 2
"""Codes of the channels of moves."""


@kernel
def mark_chances(codes, square, channel, kind, hidden, moved):
    """Mark what the other side can know of a piece: its type, or one chance for each type."""
    if not hidden:
        put(codes, square, channel + kind, CERTAIN)
    elif moved:
        put_row(codes, square, channel, AFTER_MOVING * MOVABLE_ROW)
    else:
        put_row(codes, square, channel, BEFORE_MOVING * WHOLE_ROW)


@kernel
def mark_deeds(game, codes, square, identity, deeds, protection):
    """Return the sets of types that a hidden piece carries."""
    base = game.rules[HISTORY] + SETS * identity
    for which in range(SETS):
        types = np.int64(game.halves[base + which])
        if types == 0:
            continue
        movable = types & 0x3FF
        hidden = types >> TYPE_HIDDEN
        if which < 3:
            put_row(codes, square, deeds + DEED_WIDTH * which, widened(movable | (hidden << 10)))
        else:
            bomb, empty = (types >> BOMB) & 1, (types >> TYPE_EMPTY) & 1
            row = widened(movable | (bomb << 10) | (empty << 11) | (hidden << 12))
            put_row(codes, square, protection + PROTECTION_WIDTH * (which - 3), row)


@kernel
def mark(game, viewer, lane, lanes, codes):
    """Write the codes of all channels."""
    words, bytes_, rules = game.words, game.bytes, game.rules
    squares = rules[SQUARES]
    last = squares - 1
    absolute = lane - lanes
    while absolute + lanes < squares:
        absolute += lanes
        square = absolute if viewer == 0 else last - absolute
        put(codes, square, PLIES_SHARE, 1)
        put(codes, square, BATTLELESS_SHARE, 1)
        if not holds(np.uint64(rules[PLAYABLE]), np.uint64(rules[PLAYABLE + 1]), absolute):
            continue
        identity = np.int64(bytes_[BYTES + absolute])
        if identity == NONE:
            put(codes, square, EMPTY, 1)
            continue
        kind = kind_of(game, identity)
        hidden = holds(words[HIDDEN], words[HIDDEN + 1], absolute)
        moved = holds(words[MOVED], words[MOVED + 1], absolute)
        start = identity if viewer == 0 else last - identity
        put(codes, square, STARTS + start, 1)
        if holds(words[PIECES + 2 * viewer], words[PIECES + 2 * viewer + 1], absolute):
            put(codes, square, OWN_TYPES + kind, 1)
            mark_chances(codes, square, OWN_CHANCES, kind, hidden, moved)
            if moved:
                put(codes, square, OWN_MOVED, 1)
            if hidden:
                put(codes, square, OWN_HIDDEN, 1)
                mark_deeds(game, codes, square, identity, OWN_DEEDS, OWN_PROTECTION)
        else:
            mark_chances(codes, square, THEIR_CHANCES, kind, hidden, moved)
            if moved:
                put(codes, square, THEIR_MOVED, 1)
            if hidden:
                put(codes, square, THEIR_HIDDEN, 1)
                mark_deeds(game, codes, square, identity, THEIR_DEEDS, THEIR_PROTECTION)

    # The parts begin at different lanes, so that they are done side by side where there are many.
    identity = (lane + lanes // 2) % lanes - lanes
    while identity + lanes < squares:
        identity += lanes
        place = np.int64(bytes_[BYTES + 2 * squares + identity])
        if place == NONE or place < DEAD:
            continue
        piece = np.int64(bytes_[BYTES + squares + identity])
        kind = piece & 15
        cause = (piece >> 4) & 7
        own = (piece >> 7) == viewer
        start = identity if viewer == 0 else last - identity
        grave = place - DEAD if viewer == 0 else last - (place - DEAD)
        if kind != FLAG:
            put(codes, start, (OWN_DEAD if own else THEIR_DEAD) + min(kind, MOVABLE_TYPES), 1)
        if kind < MOVABLE_TYPES:
            put(codes, grave, (OWN_DEATHS if own else THEIR_DEATHS) + 10 * cause + kind, 1)

    for plane in range((lane + lanes // 8) % lanes, MOVES, lanes):
        back = MOVES - plane
        if back <= np.int64(words[RECORDED]):
            move = np.int64(game.halves[(np.int64(words[RECORDED]) - back) % rules[HISTORY]])
            source, target = move & 127, (move >> 7) & 127
            channel = STARTS + squares + plane
            put(codes, source if viewer == 0 else last - source, channel, LEFT)
            put(codes, target if viewer == 0 else last - target, channel, ARRIVED)


@kernel
def chance(game, player, kind, moved):
    """Return the share of the consistent assignments in which a hidden piece of the player has this type.

    The order of operations is that of the published simulator, so that float32 results agree in
    every bit.
    """
    counts = HIDDEN_COUNT + 12 * player
    fixed = np.int64(game.bytes[counts + FLAG]) + np.int64(game.bytes[counts + BOMB])
    movable = np.int64(0)
    for other in range(MOVABLE_TYPES):
        movable += np.int64(game.bytes[counts + other])
    unmoved = np.int64(game.bytes[UNMOVED + player])
    count = np.float32(game.bytes[counts + kind])
    if moved:
        return count / np.float32(movable) if kind < MOVABLE_TYPES and movable > 0 else np.float32(0)
    if unmoved == 0:
        return np.float32(0)
    if kind >= MOVABLE_TYPES:
        return count / np.float32(unmoved)
    if movable == 0:
        return np.float32(0)
    return count * (np.float32(unmoved - fixed) / (np.float32(unmoved) * np.float32(movable)))


@kernel
def share(counter, limit):
    """Return a counter as a part of its limit; 0 where there is none."""
    return np.float32(0) if limit == NO_LIMIT else np.float32(counter) / np.float32(limit)


@kernel
def set_levels(game, viewer, lane, lanes, levels):
    """Write the levels of the channels that hold more than bits."""
    squares = game.rules[SQUARES]
    for index in range((lane + lanes // 4) % lanes, 24, lanes):
        kind = index % 12
        player = 1 - viewer if index < 12 else viewer
        levels[THEIR_CHANCES + index, AFTER_MOVING] = chance(game, player, kind, True)
        levels[THEIR_CHANCES + index, BEFORE_MOVING] = chance(game, player, kind, False)
    for plane in range(lane, MOVES, lanes):
        levels[STARTS + squares + plane, LEFT] = np.float32(-1)
    if lane == 0:
        levels[PLIES_SHARE, 1] = share(np.int64(game.words[PLIES]), game.rules[TOTAL_LIMIT])
        levels[BATTLELESS_SHARE, 1] = share(np.int64(game.words[BATTLELESS]), game.rules[BATTLELESS_LIMIT])


def channels(game: Stratego) -> int:
    """Return 455 and 32 on the classic board."""
    return STARTS + game.variant.squares + MOVES


def channel_names(game: Stratego) -> list[str]:
    """Return the name of every channel, in order."""
    kinds = [name.lower() for name in TYPES]
    movable = kinds[:MOVABLE_TYPES]
    shown = [*movable, "hidden"]
    mortal = [*movable, "bomb"]
    around = [*movable, "bomb", "empty", "hidden"]
    causes = (
        "attacked_visible_stronger", "attacked_visible_tie", "attacked_hidden",
        "visible_defended_weaker", "visible_defended_tie", "hidden_defended",
    )  # fmt: skip
    table = [f"our_{kind}" for kind in kinds]
    table += [f"their_{kind}_prob" for kind in kinds]
    table += [f"our_{kind}_prob" for kind in kinds]
    table += ["our_hidden_bool", "their_hidden_bool", "empty_bool", "our_moved_bool", "their_moved_bool"]
    table += ["max_num_moves_frac", "max_num_moves_between_attacks_frac"]
    for side in ("we", "they"):
        table += [f"{side}_{deed}_{kind}" for deed in ("threatened", "evaded", "actively_adj") for kind in shown]
    for side in ("our", "their"):
        table += [f"{side}_dead_{kind}" for kind in mortal]
    for side in ("our", "their"):
        table += [f"{side}_deathstatus_{cause}_{kind}" for cause in causes for kind in movable]
    relations = ("protected", "protected_against", "was_protected_by", "was_protected_against")
    for side in ("our", "their"):
        table += [f"{side}_{relation}_{kind}" for relation in relations for kind in around]
    table += [f"start_square[{square}]" for square in range(game.variant.squares)]
    table += [f"src_dst_cell[{back}]" for back in range(-MOVES, 0)]
    return table


register(
    Observation(
        "ataraxos",
        "stratego",
        channels,
        channel_names,
        mark,
        set_levels,
        needs_tracking=True,
        default=True,
        # A piece that has moved is no Flag and no Bomb.
        hidden=HiddenChannels(THEIR_HIDDEN, THEIR_MOVED, THEIR_CHANCES, tuple(range(MOVABLE_TYPES))),
        public=PublicChannels(
            tuple(range(OWN_CHANCES, OWN_CHANCES + len(TYPES))),
            tuple(range(THEIR_CHANCES, THEIR_CHANCES + len(TYPES))),
            BATTLELESS_SHARE,
        ),
    )
)
