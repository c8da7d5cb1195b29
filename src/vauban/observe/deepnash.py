"""The observations `deepnash` and `deepnash-printed`: 82 planes in the viewer's frame, as published.

Planes 79 to 81 speak of a deployment phase and of a move made in two steps: Stratego in steps has them, and in a
game of whole moves from given setups they are 0. Types are counted from the Flag here.

The two differ in what is public of a hidden piece that has never moved. `deepnash` has its exact chances, all
consistent assignments being equally likely; `deepnash-printed` has the paper's formula, which forgets that pieces that
have moved are no Flag and no Bomb.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from vauban.games.base import PLIES, STEP
from vauban.games.kernel import holds, kernel
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BATTLE_FLAG,
    BATTLELESS,
    BATTLELESS_LIMIT,
    BYTES,
    HIDDEN,
    HIDDEN_COUNT,
    HISTORY,
    MOVED,
    NONE,
    PIECES,
    PLAYABLE,
    RECORDED,
    SQUARES,
    TOTAL_LIMIT,
)
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES, TYPES
from vauban.games.stratego.steps.game import StrategoSteps
from vauban.games.stratego.steps.layout import CHOSEN, DEPLOYING, TARGET
from vauban.observe.ataraxos import (
    AFTER_MOVING,
    ARRIVED,
    BEFORE_MOVING,
    CERTAIN,
    LEFT,
    MOVABLE_ROW,
    WHOLE_ROW,
    chance,
    share,
)
from vauban.observe.base import Observation, PublicChannels, put, put_row, register

LAKES, OWN_TYPES, THEIR_CHANCES, OWN_CHANCES = 0, 1, 13, 25
MOVES, MOVE_COUNT = 37, 40
PLIES_SHARE, BATTLELESS_SHARE = 77, 78
DEPLOYMENT, CHOOSING_TARGET, CHOSEN_PIECE = 79, 80, 81
PLANES = 82


@kernel
def plane_of(kind):
    """Return a type's place in the order Flag, Spy, …, Marshal, Bomb."""
    if kind == FLAG:
        return 0
    return kind + 1 if kind < MOVABLE_TYPES else 11


@kernel
def mark(game, viewer, lane, lanes, codes):
    """Write the codes of all planes."""
    words, bytes_, rules = game.words, game.bytes, game.rules
    squares = rules[SQUARES]
    last = squares - 1
    deploying = bytes_[STEP] >= DEPLOYING
    for absolute in range(lane, squares, lanes):
        square = absolute if viewer == 0 else last - absolute
        put(codes, square, PLIES_SHARE, 1)
        put(codes, square, BATTLELESS_SHARE, 1)
        if deploying:
            put(codes, square, DEPLOYMENT, 1)
        elif bytes_[STEP] == TARGET:
            put(codes, square, CHOOSING_TARGET, 1)
            if np.int64(words[CHOSEN]) == absolute:
                put(codes, square, CHOSEN_PIECE, 1)
        if not holds(np.uint64(rules[PLAYABLE]), np.uint64(rules[PLAYABLE + 1]), absolute):
            put(codes, square, LAKES, 1)
            continue
        identity = np.int64(bytes_[BYTES + absolute])
        if identity == NONE:
            continue
        kind = kind_of(game, identity)
        own = holds(words[PIECES + 2 * viewer], words[PIECES + 2 * viewer + 1], absolute)
        channel = OWN_CHANCES if own else THEIR_CHANCES
        if own:
            put(codes, square, OWN_TYPES + plane_of(kind), 1)
        if deploying:
            continue
        if not holds(words[HIDDEN], words[HIDDEN + 1], absolute):
            put(codes, square, channel + plane_of(kind), CERTAIN)
        elif holds(words[MOVED], words[MOVED + 1], absolute):
            put_row(codes, square, channel + plane_of(0), AFTER_MOVING * MOVABLE_ROW)
        else:
            put_row(codes, square, channel, BEFORE_MOVING * WHOLE_ROW)

    for back in range(lane + 1, MOVE_COUNT + 1, lanes):
        if back <= np.int64(words[RECORDED]):
            move = np.int64(game.halves[(np.int64(words[RECORDED]) - back) % rules[HISTORY]])
            source, target = move & 127, (move >> 7) & 127
            put(codes, source if viewer == 0 else last - source, MOVES + back - 1, LEFT)
            put(codes, target if viewer == 0 else last - target, MOVES + back - 1, ARRIVED)


@kernel
def printed_chance(game, player, kind):
    """Return what the paper takes for the chance that a hidden piece which has not moved has this type."""
    hidden = np.int64(0)
    for other in range(12):
        hidden += np.int64(game.bytes[HIDDEN_COUNT + 12 * player + other])
    count = np.float32(game.bytes[HIDDEN_COUNT + 12 * player + kind])
    return count / np.float32(hidden) if hidden > 0 else np.float32(0)


@kernel
def set_move_levels(game, lane, lanes, levels):
    """Write the levels of the planes of moves and counters."""
    rules = game.rules
    for back in range(lane + 1, MOVE_COUNT + 1, lanes):
        level = np.float32(-1)
        if back <= np.int64(game.words[RECORDED]):
            slot = (np.int64(game.words[RECORDED]) - back) % rules[HISTORY]
            if np.int64(game.halves[slot]) & BATTLE_FLAG:
                # A piece that attacks is known from then on, so its type is public.
                kind = kind_of(game, np.int64(game.bytes[BYTES + 3 * rules[SQUARES] + slot]))
                level = np.float32(-(2.0 + plane_of(kind) / 12.0))
        levels[MOVES + back - 1, LEFT] = level
    if lane == 0:
        levels[PLIES_SHARE, 1] = share(np.int64(game.words[PLIES]), rules[TOTAL_LIMIT])
        levels[BATTLELESS_SHARE, 1] = share(np.int64(game.words[BATTLELESS]), rules[BATTLELESS_LIMIT])


@kernel
def set_levels(game, viewer, lane, lanes, levels):
    """Write the levels of the planes that hold more than bits; chances are exact."""
    for index in range(lane, 24, lanes):
        kind = index % 12
        player = 1 - viewer if index < 12 else viewer
        plane = (THEIR_CHANCES if index < 12 else OWN_CHANCES) + plane_of(kind)
        levels[plane, AFTER_MOVING] = chance(game, player, kind, True)
        levels[plane, BEFORE_MOVING] = chance(game, player, kind, False)
    set_move_levels(game, lane, lanes, levels)


@kernel
def set_printed_levels(game, viewer, lane, lanes, levels):
    """Write the same levels, with the paper's formula for what has not moved."""
    for index in range(lane, 24, lanes):
        kind = index % 12
        player = 1 - viewer if index < 12 else viewer
        plane = (THEIR_CHANCES if index < 12 else OWN_CHANCES) + plane_of(kind)
        levels[plane, AFTER_MOVING] = chance(game, player, kind, True)
        levels[plane, BEFORE_MOVING] = printed_chance(game, player, kind)
    set_move_levels(game, lane, lanes, levels)


def channel_names(game: Stratego | StrategoSteps) -> list[str]:
    """Return the name of every plane, in order."""
    kinds = ["flag", *(name.lower() for name in TYPES[:MOVABLE_TYPES]), "bomb"]
    table = ["lake"]
    table += [f"our_{kind}" for kind in kinds]
    table += [f"their_{kind}_prob" for kind in kinds]
    table += [f"our_{kind}_prob" for kind in kinds]
    table += [f"move[-{back}]" for back in range(1, MOVE_COUNT + 1)]
    table += ["plies_frac", "battleless_frac", "deployment", "choosing_target", "chosen_piece"]
    return table


def planes(game: Stratego | StrategoSteps) -> int:
    """Return 82, on every board."""
    return PLANES


_KINDS = [plane_of(kind) for kind in range(len(TYPES))]
_PUBLIC = PublicChannels(
    tuple(OWN_CHANCES + plane for plane in _KINDS), tuple(THEIR_CHANCES + plane for plane in _KINDS), BATTLELESS_SHARE
)
for _family in (Stratego.family, StrategoSteps.family):
    _usual = _family == StrategoSteps.family
    register(Observation("deepnash", _family, planes, channel_names, mark, set_levels, default=_usual, public=_PUBLIC))
    register(Observation("deepnash-printed", _family, planes, channel_names, mark, set_printed_levels, public=_PUBLIC))
