"""Upper bounds of what moves are worth: two plies ahead, hidden things at their best, safe replies at their worst.

A reply is safe by what is public alone: the piece is known to be movable, and to be a Scout if it goes far; if it
attacks, it wins whatever the two pieces are; and nothing can take it afterwards, whatever the pieces are. Such a reply
can be made however things lie, so its worth bounds that of the move. At most two hidden pieces matter: the one that is
attacked, and the one that attacks next. Where no reply is safe there is no bound.

Where several replies are attacks by hidden pieces, each is taken at its own best, which can only raise the bound.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.base import Actions, Floats
from vauban.agents.stratego.improve.memory import is_long, neighbour
from vauban.games.base import END, PLAYER
from vauban.games.kernel import Record, holds, kernel, size
from vauban.games.stratego.hidden import assign, conceal
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BYTES,
    HIDDEN,
    HIDDEN_COUNT,
    MOVED,
    NONE,
    PIECES,
    PLAYABLE,
    SQUARES,
    UNMOVED,
)
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES, SCOUT
from vauban.games.stratego.rules import DEFENDER_DIES, battle, decode, legal_count, legal_move, play_move, utility
from vauban.sim.compile import CPU, compiled, progress
from vauban.sim.store import Snapshot, Store

AT_ONCE = 32
"""Views that are looked ahead from in one go: more only take more memory."""
NO_PIECE = -1
LIKELY = 0.03
"""Moves that are less likely are not looked at, which saves most of the time; a threshold of as much drops them."""


def upper_bounds(views: Snapshot, legal: Actions, chances: Floats, judge: Callable[[Snapshot], Floats]) -> Floats:
    """Return bounds of the legal actions of each view that are likely; +inf for others, and where there is none."""
    parts = [
        _bounds(views[first : first + AT_ONCE], legal[first : first + AT_ONCE], chances[first : first + AT_ONCE], judge)
        for first in range(0, len(views), AT_ONCE)
    ]
    return np.concatenate(parts)


def _bounds(views: Snapshot, legal: Actions, chances: Floats, judge: Callable[[Snapshot], Floats]) -> Floats:
    keys, worth, ends = leaves(views, legal, chances)
    bounds = np.full(legal.shape, np.inf)
    if not len(keys):
        return bounds
    asked = np.isnan(worth)
    if asked.any():
        worth[asked] = judge(ends[np.flatnonzero(asked)])
    # Lines of play with the same beginning lie side by side: the best for the attacking piece, then the worst reply,
    # then the best for the piece that is attacked.
    keys, worth = _reduced(np.maximum, keys, worth)
    keys, worth = _reduced(np.minimum, keys[:, :3], worth)
    keys, worth = _reduced(np.maximum, keys[:, :2], worth)
    bounds[keys[:, 0], keys[:, 1]] = worth
    return bounds


def _reduced(by: Any, keys: npt.NDArray[Any], values: Floats) -> tuple[npt.NDArray[Any], Floats]:
    """Join neighbouring rows with the same key."""
    first = np.concatenate([[0], 1 + np.flatnonzero((keys[1:] != keys[:-1]).any(1))])
    return keys[first], by.reduceat(values, first)


def leaves(views: Snapshot, legal: Actions, chances: Floats) -> tuple[npt.NDArray[np.int64], Floats, Snapshot]:
    """Return all lines of play: their keys, what they are worth where that is certain, and the views they lead to.

    A key is the view, the place of the action, the type of the piece that is attacked, the reply. Not a number stands
    where the network is to be asked.
    """
    given = views.numpy().store
    arrays = given.words.view(np.uint64), given.halves.view(np.uint16), given.bytes
    rules, squares = views.format.parameters, int(views.format.parameters[SQUARES])
    function = compiled(look_ahead, CPU, TRACKS=views.format.tracks)
    between = views.format.empty(1)
    room = 0
    while True:
        out = views.format.empty(room + 1)  # the last one is for what finds no room
        keys, worth = np.zeros((room + 1, 4), np.int64), np.zeros(room + 1)
        with progress(function, views.game.family):
            needed = function(
                *arrays, rules, views.viewer, legal, chances, *between, np.zeros(squares, np.int64),
                np.zeros(12, np.int64), *out, keys, worth,
            )  # fmt: skip
        if needed <= room:
            break
        room = needed
    words, halves, bytes_ = (part[:needed] for part in out)
    store = Store(words.view(np.int64), halves.view(np.int16), bytes_)
    return keys[:needed], worth[:needed], Snapshot(views.game, views.format, store, views.viewer)


@kernel
def copy_record(source, target):
    """Copy a record over another one."""
    for word in range(source.words.shape[0]):
        target.words[word] = source.words[word]
    for half in range(source.halves.shape[0]):
        target.halves[half] = source.halves[half]
    for byte in range(source.bytes.shape[0]):
        target.bytes[byte] = source.bytes[byte]


@kernel
def look_ahead(words, halves, bytes_, rules, viewer, legal, chances, mid_words, mid_halves, mid_bytes, values, left,
               out_words, out_halves, out_bytes, keys, worth):  # fmt: skip
    """Write down all lines of play; return how many there are, which may be more than find room."""
    other = 1 - viewer
    room = len(keys) - 1
    count = 0
    mid = Record(mid_words[0], mid_halves[0], mid_bytes[0], rules)
    for row in range(words.shape[0]):
        view = Record(words[row], halves[row], bytes_[row], rules)
        for place in range(legal.shape[1]):
            if legal[row, place] < 0 or chances[row, place] < LIKELY:
                continue
            source, target = decode(rules, viewer, legal[row, place])
            unknown = has(view, PIECES + 2 * other, target) and has(view, HIDDEN, target)
            met = target if unknown else NO_PIECE
            for kind in range(12 if unknown else 1):
                if unknown and not is_possible(view, other, target, kind):
                    continue
                copy_record(view, mid)
                if not settle(mid, viewer, met, kind, NO_PIECE, 0, values, left):
                    continue
                play_move(mid, source, target)
                reply = 0
                if mid.bytes[END] == 0:
                    for index in range(legal_count(mid)):
                        start, goal = legal_move(mid, index)
                        if not is_safe(mid, start, goal):
                            continue
                        reply += 1
                        strikes = has(mid, PIECES + 2 * viewer, goal) and has(mid, HIDDEN, start)
                        striker = start if strikes else NO_PIECE
                        for striking in range(MOVABLE_TYPES if strikes else 1):
                            if strikes and not is_possible(mid, other, start, striking):
                                continue
                            slot = min(count, room)
                            leaf = Record(out_words[slot], out_halves[slot], out_bytes[slot], rules)
                            copy_record(view, leaf)
                            if not settle(leaf, viewer, met, kind, striker, striking, values, left):
                                continue
                            play_move(leaf, source, target)
                            play_move(leaf, start, goal)
                            note(keys[slot], row, place, kind, reply)
                            worth[slot] = np.nan if leaf.bytes[END] == 0 else worth_to(leaf, viewer)
                            conceal(leaf, viewer)
                            count += 1
                if reply == 0:
                    slot = min(count, room)
                    note(keys[slot], row, place, kind, 0)
                    worth[slot] = np.inf if mid.bytes[END] == 0 else worth_to(mid, viewer)
                    count += 1
    return count


@kernel
def note(key, row, place, kind, reply):
    """Write a key."""
    key[0] = row
    key[1] = place
    key[2] = kind
    key[3] = reply


@kernel
def worth_to(game, viewer):
    """Return what an ended game is worth to a player."""
    return utility(game) if viewer == 0 else -utility(game)


@kernel
def has(game, field, square):
    """Return whether a square is in the set kept at `field`."""
    return holds(game.words[field], game.words[field + 1], square)


@kernel
def is_possible(game, player, square, kind):
    """Return whether the player's piece on a square can be of this type, by what is public."""
    if not has(game, HIDDEN, square):
        return kind_of(game, np.int64(game.bytes[BYTES + square])) == kind
    counts = HIDDEN_COUNT + 12 * player
    if game.bytes[counts + kind] == 0:
        return False
    if has(game, MOVED, square):
        return kind < MOVABLE_TYPES
    if kind >= MOVABLE_TYPES:
        return True
    # One that has not moved can be movable, if there are more such pieces than have moved.
    movable = np.int64(0)
    for other in range(MOVABLE_TYPES):
        movable += np.int64(game.bytes[counts + other])
    hidden = size(
        game.words[PIECES + 2 * player] & game.words[HIDDEN],
        game.words[PIECES + 2 * player + 1] & game.words[HIDDEN + 1],
    )
    return movable > hidden - np.int64(game.bytes[UNMOVED + player])


@kernel
def is_safe(game, source, target):
    """Return whether a legal move of the player on turn is safe, by what is public."""
    player = np.int64(game.bytes[PLAYER])
    other = 1 - player
    if has(game, HIDDEN, source) and (not has(game, MOVED, source) or is_long(game, source, target)):
        return False
    attacks = has(game, PIECES + 2 * other, target)
    for kind in range(MOVABLE_TYPES):
        if not is_possible(game, player, source, kind):
            continue
        goes_on = not attacks
        if attacks:
            for met in range(12):
                if is_possible(game, other, target, met):
                    if battle(kind, met) != DEFENDER_DIES:
                        return False
                    goes_on = goes_on or met != FLAG
        if goes_on and can_be_taken(game, other, source, target, kind):
            return False
    return True


@kernel
def can_be_taken(game, player, source, target, kind):
    """Return whether the player may be able to take a piece of this type that has gone from one square to another."""
    rules = game.rules
    for side in range(4):
        square, distance = target, 0
        while True:
            square = neighbour(rules, square, side)
            distance += 1
            if square < 0 or not holds(np.uint64(rules[PLAYABLE]), np.uint64(rules[PLAYABLE + 1]), square):
                break
            if game.bytes[BYTES + square] == NONE or square == source:
                continue
            if has(game, PIECES + 2 * player, square):
                for taker in range(MOVABLE_TYPES):
                    reaches = distance == 1 or taker == SCOUT
                    if reaches and battle(taker, kind) & DEFENDER_DIES and is_possible(game, player, square, taker):
                        return True
            break
    return False


@kernel
def settle(game, viewer, first, first_kind, second, second_kind, values, left):
    """Give the hidden pieces types somehow, and these ones the given types; False if that cannot be."""
    other = 1 - viewer
    squares = game.rules[SQUARES]
    for kind in range(12):
        left[kind] = game.bytes[HIDDEN_COUNT + 12 * other + kind]
    if first != NO_PIECE:
        left[first_kind] -= 1
    if second != NO_PIECE:
        left[second_kind] -= 1
    # Those that have moved choose first, among the movable types; the others then take what is left.
    for turn in range(2):
        index = 0
        for step in range(squares):
            square = step if viewer == 0 else squares - 1 - step
            if not (has(game, PIECES + 2 * other, square) and has(game, HIDDEN, square)):
                continue
            moved = has(game, MOVED, square)
            if square == first:
                values[index] = first_kind
            elif square == second:
                values[index] = second_kind
            elif moved == (turn == 0):
                values[index] = -1
                for kind in range(MOVABLE_TYPES if moved else 12):
                    if left[kind] > 0:
                        left[kind] -= 1
                        values[index] = kind
                        break
            index += 1
    return assign(game, viewer, values)
