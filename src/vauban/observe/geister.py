"""Observations of Geister: `geister-full`, our own; `geister` and `geister-history`, as published with Deep CFR.

All are in the viewer's frame, which is that of the actions: square width · y + x, with y = 0 on the opponent's side.
docs/observations.md has the tables.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from vauban.games.base import END, PLAYER, PLIES
from vauban.games.geister.hidden import count_evil
from vauban.games.geister.layout import (
    CAPTURED_EVIL,
    CAPTURED_GOOD,
    EVIL,
    EVIL_GHOSTS,
    FLED,
    FORCED,
    FORWARD,
    GHOSTS,
    HISTORY,
    MOST_GHOSTS,
    MOVE_CAPTURED,
    MOVE_TARGET,
    MOVED,
    OFFERED,
    PIECES,
    PLACE,
    PROVEN,
    SECOND_WINS,
    SQUARES,
    STOOD,
    TOTAL_LIMIT,
    WIDTH,
)
from vauban.games.geister.rules import exit_squares, turned
from vauban.games.kernel import ONE, ZERO, kernel
from vauban.observe.base import HiddenChannels, Observation, put, register

GOOD, BAD = 0, 1
GOOD_SHARE, EVIL_SHARE = 3, 4
"""In the five planes of a position: after the own good, the own evil and the opponent's ghosts."""
POSITION_PLANES = 5
NO_MOVE = 0
"""The record's code for a move that is not known."""


@kernel
def latest_move(game, back):
    """Return one of the latest moves, the last one with 1; `NO_MOVE` if it is not known.

    The move by which a ghost left the board may have the same number, as the last one of a game only.
    """
    if np.uint64(back) > game.words[PLIES]:
        return NO_MOVE
    return np.int64(game.halves[(np.int64(game.words[PLIES]) - back) % HISTORY])


@kernel
def knows_move(game, back, move):
    """Return whether `latest_move` is a move."""
    return move != NO_MOVE or (back == 1 and game.bytes[END] == 1 and game.words[PLIES] > ZERO)


@kernel
def count_captured(game, owner, fate):
    """Count the owner's ghosts with this fate: `CAPTURED_GOOD` or `CAPTURED_EVIL`."""
    count = 0
    for ghost in range(MOST_GHOSTS):
        count += game.bytes[PLACE + MOST_GHOSTS * owner + ghost] == fate
    return count


@kernel
def captured_share(game, owner, fate, fewer):
    """Return the captured ghosts of a colour, less `fewer` of them, as a part of those whose capture ends no game."""
    ghosts = game.rules[EVIL_GHOSTS]
    if fate == CAPTURED_GOOD:
        ghosts = game.rules[GHOSTS] - ghosts
    return np.float32(count_captured(game, owner, fate) - fewer) / np.float32(max(ghosts - 1, 1))


@kernel
def progress(game):
    """Return the plies played as a part of the limit, at most 1."""
    return min(np.float32(game.words[PLIES]) / np.float32(game.rules[TOTAL_LIMIT]), np.float32(1))


# ── As published ─────────────────────────────────────────────────────────────────────────────────


@kernel
def mark_position(codes, squares, viewer, lane, lanes, channel, good, evil, enemies):
    """Mark the five planes of a position, given as sets of squares."""
    for square in range(lane, squares, lanes):
        bit = ONE << np.uint64(turned(squares, viewer, square))
        if good & bit:
            put(codes, square, channel, 1)
        if evil & bit:
            put(codes, square, channel + 1, 1)
        if enemies & bit:
            put(codes, square, channel + 2, 1)
        put(codes, square, channel + GOOD_SHARE, 1)
        put(codes, square, channel + EVIL_SHARE, 1)


@kernel
def mark(game, viewer, lane, lanes, codes):
    """Mark the planes of the position, and progress."""
    words, squares = game.words, game.rules[SQUARES]
    evil = words[EVIL + viewer]
    good = words[PIECES + viewer] & ~evil
    mark_position(codes, squares, viewer, lane, lanes, 0, good, evil, words[PIECES + 1 - viewer])
    for square in range(lane, squares, lanes):
        put(codes, square, POSITION_PLANES, 1)


@kernel
def set_levels(game, viewer, lane, lanes, levels):
    """Write the captured shares and progress."""
    if lane == 0:
        other = 1 - viewer
        levels[GOOD_SHARE, 1] = captured_share(game, other, CAPTURED_GOOD, 0)
        levels[EVIL_SHARE, 1] = captured_share(game, other, CAPTURED_EVIL, 0)
        levels[POSITION_PLANES, 1] = progress(game)


@kernel
def taken_by(game, owner, move):
    """Return the fate of the owner's ghost that a move of its opponent captured; 0 if it captured none."""
    captured = move >> MOVE_CAPTURED
    if captured == 0 or game.bytes[PLAYER] != owner:
        return 0
    return np.int64(game.bytes[PLACE + MOST_GHOSTS * owner + captured - 1])


@kernel
def before(game, viewer, move):
    """Return the sets of the own good, the own evil and the opponent's ghosts one ply earlier."""
    words = game.words
    evil = words[EVIL + viewer]
    good = words[PIECES + viewer] & ~evil
    enemies = words[PIECES + 1 - viewer]
    left = ONE << np.uint64(move & 63)
    arrived = ONE << np.uint64((move >> MOVE_TARGET) & 63)
    if game.bytes[PLAYER] == viewer:  # the opponent has moved
        enemies = (enemies & ~arrived) | left
        fate = taken_by(game, viewer, move)
        if fate == CAPTURED_EVIL:
            evil |= arrived
        elif fate == CAPTURED_GOOD:
            good |= arrived
    else:
        if evil & arrived:
            evil = (evil & ~arrived) | left
        else:
            good = (good & ~arrived) | left
        if taken_by(game, 1 - viewer, move) != 0:
            enemies |= arrived
    return good, evil, enemies


@kernel
def mark_history(game, viewer, lane, lanes, codes):
    """Mark the planes of the position, those of the one before it, and progress."""
    words, squares = game.words, game.rules[SQUARES]
    evil = words[EVIL + viewer]
    good = words[PIECES + viewer] & ~evil
    mark_position(codes, squares, viewer, lane, lanes, 0, good, evil, words[PIECES + 1 - viewer])
    move = latest_move(game, 1)
    if knows_move(game, 1, move):
        good, evil, enemies = before(game, viewer, move)
        mark_position(codes, squares, viewer, lane, lanes, POSITION_PLANES, good, evil, enemies)
    for square in range(lane, squares, lanes):
        put(codes, square, 2 * POSITION_PLANES, 1)


@kernel
def set_history_levels(game, viewer, lane, lanes, levels):
    """Write the captured shares of both positions, and progress."""
    if lane == 0:
        other = 1 - viewer
        fate = taken_by(game, other, latest_move(game, 1))
        earlier = POSITION_PLANES
        levels[GOOD_SHARE, 1] = captured_share(game, other, CAPTURED_GOOD, 0)
        levels[EVIL_SHARE, 1] = captured_share(game, other, CAPTURED_EVIL, 0)
        levels[earlier + GOOD_SHARE, 1] = captured_share(game, other, CAPTURED_GOOD, fate == CAPTURED_GOOD)
        levels[earlier + EVIL_SHARE, 1] = captured_share(game, other, CAPTURED_EVIL, fate == CAPTURED_EVIL)
        levels[2 * POSITION_PLANES, 1] = progress(game)


# ── Our own ──────────────────────────────────────────────────────────────────────────────────────

OUR_GOOD, OUR_EVIL, OUR_PROVEN, THEIR_GHOSTS, THEIR_PROVEN = range(5)
THEIR_GOOD_CHANCE, THEIR_EVIL_CHANCE = 5, 6
OUR_GOOD_SHARE, OUR_EVIL_SHARE, THEIR_GOOD_SHARE, THEIR_EVIL_SHARE = range(7, 11)
OUR_EXITS, THEIR_EXITS, ESCAPE_FORCED, LIMIT_WORTH, PLIES_SHARE = range(11, 16)
OUR_DEEDS, THEIR_DEEDS = 16, 21
MOVES = 26
PLANES = MOVES + 3 * HISTORY

DEEDS = ("moved", "forward", "offered", "fled", "stood")
"""The counters of behaviour, in the order of their planes."""
UNPROVEN_CODE, PROVEN_CODE = 1, 2
"""Codes of the chances of the opponent's ghosts."""


@kernel
def evil_chance(game, owner):
    """Return the chance that a ghost of the owner's that is not proven evil is evil, if all that can be is equally
    likely.
    """
    unproven, evil = np.int64(0), np.int64(count_evil(game, owner))
    for ghost in range(game.rules[GHOSTS]):
        if game.bytes[PLACE + MOST_GHOSTS * owner + ghost] < CAPTURED_GOOD:
            if (game.bytes[PROVEN + owner] >> ghost) & 1:
                evil -= 1
            else:
                unproven += 1
    return np.float32(evil) / np.float32(max(unproven, 1))


@kernel
def amount(count):
    """Return the code of a counter: one, two or three, four or more."""
    if count < 2:
        return count
    return 2 if count < 4 else 3


@kernel
def mark_counter(game, codes, square, channel, counter, ghost):
    """Mark how often a ghost has behaved in one way."""
    code = amount(np.int64(game.bytes[counter + ghost]))
    if code:
        put(codes, square, channel, code)


@kernel
def mark_full(game, viewer, lane, lanes, codes):
    """Mark all that can be known of the position, of how its ghosts behaved, and the latest moves."""
    words, bytes_, rules = game.words, game.bytes, game.rules
    squares = rules[SQUARES]
    other = 1 - viewer
    our_left, our_right = exit_squares(squares, rules[WIDTH], viewer)
    their_left, their_right = exit_squares(squares, rules[WIDTH], other)
    for square in range(lane, squares, lanes):
        bit = ONE << np.uint64(turned(squares, viewer, square))
        if words[PIECES + viewer] & bit:
            put(codes, square, OUR_EVIL if words[EVIL + viewer] & bit else OUR_GOOD, 1)
        if words[PIECES + other] & bit:
            put(codes, square, THEIR_GHOSTS, 1)
        if (our_left | our_right) & bit:
            put(codes, square, OUR_EXITS, 1)
        if (their_left | their_right) & bit:
            put(codes, square, THEIR_EXITS, 1)
        for channel in range(OUR_GOOD_SHARE, THEIR_EVIL_SHARE + 1):
            put(codes, square, channel, 1)
        for channel in range(ESCAPE_FORCED, PLIES_SHARE + 1):
            put(codes, square, channel, 1)

    for each in range((lane + lanes // 2) % lanes, 2 * MOST_GHOSTS, lanes):
        place = np.int64(bytes_[PLACE + each])
        if place >= CAPTURED_GOOD:
            continue
        owner = each // MOST_GHOSTS
        square = turned(squares, viewer, place)
        proven = (bytes_[PROVEN + owner] >> (each % MOST_GHOSTS)) & 1
        if proven:
            put(codes, square, OUR_PROVEN if owner == viewer else THEIR_PROVEN, 1)
        if owner == other:
            code = PROVEN_CODE if proven else UNPROVEN_CODE
            put(codes, square, THEIR_GOOD_CHANCE, code)
            put(codes, square, THEIR_EVIL_CHANCE, code)
        first = OUR_DEEDS if owner == viewer else THEIR_DEEDS
        mark_counter(game, codes, square, first, MOVED, each)
        mark_counter(game, codes, square, first + 1, FORWARD, each)
        mark_counter(game, codes, square, first + 2, OFFERED, each)
        mark_counter(game, codes, square, first + 3, FLED, each)
        mark_counter(game, codes, square, first + 4, STOOD, each)

    for plane in range((lane + lanes // 4) % lanes, HISTORY, lanes):
        move = latest_move(game, plane + 1)
        if knows_move(game, plane + 1, move):
            source, target = move & 63, (move >> MOVE_TARGET) & 63
            channel = MOVES + 3 * plane
            put(codes, turned(squares, viewer, source), channel, 1)
            if target != source:  # else the ghost has left the board
                put(codes, turned(squares, viewer, target), channel + 1, 1)
            if move >> MOVE_CAPTURED:
                put(codes, turned(squares, viewer, target), channel + 2, 1)


@kernel
def set_full_levels(game, viewer, lane, lanes, levels):
    """Write the shares, and what the counters' codes stand for."""
    if lane == 0:
        other, rules = 1 - viewer, game.rules
        evil = evil_chance(game, other)
        levels[THEIR_GOOD_CHANCE, UNPROVEN_CODE] = np.float32(1) - evil
        levels[THEIR_GOOD_CHANCE, PROVEN_CODE] = np.float32(0)
        levels[THEIR_EVIL_CHANCE, UNPROVEN_CODE] = evil
        levels[OUR_GOOD_SHARE, 1] = captured_share(game, viewer, CAPTURED_GOOD, 0)
        levels[OUR_EVIL_SHARE, 1] = captured_share(game, viewer, CAPTURED_EVIL, 0)
        levels[THEIR_GOOD_SHARE, 1] = captured_share(game, other, CAPTURED_GOOD, 0)
        levels[THEIR_EVIL_SHARE, 1] = captured_share(game, other, CAPTURED_EVIL, 0)
        levels[ESCAPE_FORCED, 1] = np.float32(rules[FORCED])
        levels[LIMIT_WORTH, 1] = np.float32(rules[SECOND_WINS] * (2 * viewer - 1))
        levels[PLIES_SHARE, 1] = progress(game)
    for channel in range(OUR_DEEDS + lane, MOVES, lanes):
        levels[channel, 1] = np.float32(1) / np.float32(3)
        levels[channel, 2] = np.float32(2) / np.float32(3)


# ── Names ────────────────────────────────────────────────────────────────────────────────────────

POSITION_NAMES = ["our_good", "our_evil", "their_ghosts", "their_good_captured", "their_evil_captured"]
NAMES = [*POSITION_NAMES, "plies_frac"]
HISTORY_NAMES = [*POSITION_NAMES, *(f"{name}[-1]" for name in POSITION_NAMES), "plies_frac"]
FULL_NAMES = [
    "our_good", "our_evil", "our_proven_evil", "their_ghosts", "their_proven_evil",
    "their_good_chance", "their_evil_chance",
    "our_good_captured", "our_evil_captured", "their_good_captured", "their_evil_captured",
    "our_exits", "their_exits", "escape_forced", "limit_worth", "plies_frac",
    *(f"{side}_{deed}" for side in ("our", "their") for deed in DEEDS),
    *(f"{what}[-{back}]" for back in range(1, HISTORY + 1) for what in ("left", "arrived", "captured")),
]  # fmt: skip


register(
    Observation(
        "geister-full",
        "geister",
        lambda game: PLANES,
        lambda game: list(FULL_NAMES),
        mark_full,
        set_full_levels,
        needs_tracking=True,
        default=True,
        pieces=(OUR_GOOD, OUR_EVIL),
        # A ghost that is proven evil is not good.
        hidden=HiddenChannels(THEIR_GHOSTS, THEIR_PROVEN, THEIR_GOOD_CHANCE, (1,)),
    )
)
register(
    Observation(
        "geister", "geister", lambda game: len(NAMES), lambda game: list(NAMES), mark, set_levels, pieces=(GOOD, BAD)
    )
)
register(
    Observation(
        "geister-history",
        "geister",
        lambda game: len(HISTORY_NAMES),
        lambda game: list(HISTORY_NAMES),
        mark_history,
        set_history_levels,
        needs_tracking=True,
        pieces=(GOOD, BAD),
    )
)
