"""Types that hidden pieces do not have, since they would have attacked: a memory that an observation lacks.

A Spy is taken to attack a known Marshal beside it. A Marshal is taken to attack a known General or Colonel, and a
General a known Colonel, if nothing could take it back. Where a player makes a move without a battle instead, those of
the player's hidden pieces that could have attacked so are not of that type, for the rest of the game.

All of it follows from what both players have seen. A record keeps its latest moves (256 and more): they are taken back,
and then made again. Attacks that the rules of repetition bar count as possible.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vauban.games.kernel import Record, holds, kernel
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BATTLE_FLAG,
    BYTES,
    COLUMNS,
    DEAD,
    HIDDEN,
    HIDDEN_COUNT,
    HISTORY,
    NONE,
    RECORDED,
    ROW,
    SQUARES,
)
from vauban.games.stratego.pieces import COLONEL, GENERAL, MARSHAL, MOVABLE_TYPES, SPY
from vauban.games.stratego.rules import ATTACKER_DIES, DEFENDER_DIES, battle
from vauban.sim.compile import CPU, compiled, progress
from vauban.sim.store import Snapshot


def ruled_out(views: Snapshot) -> npt.NDArray[np.int64]:
    """Return for each view and square, in the viewer's frame, the set of types that the piece there does not have."""
    words, halves, bytes_ = views.numpy().store
    rules = views.format.parameters
    squares = int(rules[SQUARES])
    found = np.zeros((len(views), squares), np.int64)
    scratch = np.zeros((4, squares), np.int64), np.zeros(24, np.int64), np.zeros(int(rules[HISTORY]) + 1, np.int64)
    function = compiled(rule_out_all, CPU)
    with progress(function, views.game.family):
        function(words.view(np.uint64), halves.view(np.uint16), bytes_, rules, found, *scratch)
    return found[:, ::-1].copy() if views.viewer == 1 else found


@kernel
def rule_out_all(words, halves, bytes_, rules, found, pieces, counts, met):
    """Rule out types in all records, by square."""
    for row in range(words.shape[0]):
        game = Record(words[row], halves[row], bytes_[row], rules)
        at, known, alive, types = pieces[0], pieces[1], pieces[2], pieces[3]
        kept = min(np.int64(words[row, RECORDED]), rules[HISTORY])
        take_back(game, kept, at, alive, met)
        forget(game, kept, known, counts, met)
        for identity in range(rules[SQUARES]):
            types[identity] = 0
        for back in range(kept, 0, -1):
            make_again(game, back, at, known, types, counts, met)
        for square in range(rules[SQUARES]):
            identity = np.int64(bytes_[row, BYTES + square])
            if identity != NONE and holds(words[row, HIDDEN], words[row, HIDDEN + 1], square):
                found[row, square] = types[identity]


@kernel
def move_back(game, back):
    """Return a move, the last one with back = 1: from, to, whether it was a battle, and who made it."""
    slot = (np.int64(game.words[RECORDED]) - back) % game.rules[HISTORY]
    move = np.int64(game.halves[slot])
    mover = np.int64(game.bytes[BYTES + 3 * game.rules[SQUARES] + slot])
    return move & 127, (move >> 7) & 127, move & BATTLE_FLAG != 0, mover


@kernel
def owner_of(game, identity):
    """Return whose piece it is."""
    return np.int64(game.bytes[BYTES + game.rules[SQUARES] + identity]) >> 7


@kernel
def take_back(game, kept, at, alive, met):
    """Take all kept moves back: `at` is then by square who stands there, `met` by move whom a battle was with."""
    squares = game.rules[SQUARES]
    for square in range(squares):
        at[square] = game.bytes[BYTES + square]
        alive[square] = 0
    for square in range(squares):
        if at[square] != NONE:
            alive[at[square]] = 1
    for back in range(1, kept + 1):
        source, target, fought, mover = move_back(game, back)
        other = np.int64(NONE)
        if fought:
            other = at[target]
            if other in (mover, NONE):
                other = fallen(game, kept, back, alive)
            if other != NONE:
                alive[other] = 1
        met[back] = other
        at[target] = other
        at[source] = mover
        alive[mover] = 1


@kernel
def fallen(game, kept, back, alive):
    """Return who fell defending its square in a battle, `NONE` if that cannot be told.

    Of all who fell there before, it is the last to have come. One that came before the moves that are kept is not the
    one that began there, if any other fell there too: that one fell first.
    """
    squares = game.rules[SQUARES]
    _, square, _, mover = move_back(game, back)
    for older in range(back + 1, kept + 1):
        _, target, _, comer = move_back(game, older)
        if target == square and owner_of(game, comer) != owner_of(game, mover) and not alive[comer]:
            return comer
    found = np.int64(NONE)
    for identity in range(squares):
        place = game.bytes[BYTES + 2 * squares + identity]
        if place != NONE and place == square + DEAD and not alive[identity]:
            if owner_of(game, identity) != owner_of(game, mover) and (found == NONE or identity != square):
                found = np.int64(identity)
    return found


@kernel
def is_long(game, source, target):
    """True for a move over several squares, which only a Scout can make."""
    distance = abs(target - source)
    return distance != 1 and distance != game.rules[COLUMNS]


@kernel
def forget(game, kept, known, counts, met):
    """Make `known`, by piece, what it was before the kept moves, and `counts` the hidden pieces of each type."""
    squares = game.rules[SQUARES]
    for index in range(24):
        counts[index] = game.bytes[HIDDEN_COUNT + index]
    for identity in range(squares):
        known[identity] = 1
    for square in range(squares):
        identity = np.int64(game.bytes[BYTES + square])
        if identity != NONE and holds(game.words[HIDDEN], game.words[HIDDEN + 1], square):
            known[identity] = 0
    for back in range(1, kept + 1):
        source, target, fought, mover = move_back(game, back)
        if fought or is_long(game, source, target):
            hide(game, mover, known, counts)
        if met[back] != NONE:
            hide(game, met[back], known, counts)


@kernel
def hide(game, identity, known, counts):
    """Make a piece hidden again."""
    if known[identity]:
        known[identity] = 0
        counts[12 * owner_of(game, identity) + kind_of(game, identity)] += 1


@kernel
def show(game, identity, known, counts):
    """Make a piece known."""
    if not known[identity]:
        known[identity] = 1
        counts[12 * owner_of(game, identity) + kind_of(game, identity)] -= 1


@kernel
def make_again(game, back, at, known, types, counts, met):
    """Make a move again; one without a battle rules out types of the player's pieces first."""
    source, target, fought, mover = move_back(game, back)
    other = met[back]
    if not fought:
        rule_out(game, owner_of(game, mover), at, known, types, counts)
    if fought or is_long(game, source, target):
        show(game, mover, known, counts)
    at[source] = NONE
    at[target] = mover
    if other != NONE:
        show(game, other, known, counts)
        result = battle(kind_of(game, mover), kind_of(game, other))
        if result == ATTACKER_DIES:
            at[target] = other
        elif result != DEFENDER_DIES:
            at[target] = NONE


@kernel
def neighbour(rules, square, side):
    """Return the square north, south, west or east of one (side 0 to 3), −1 beyond the edge."""
    columns = rules[COLUMNS]
    if side == 0:
        return square + columns if square + columns < rules[SQUARES] else -1
    if side == 1:
        return square - columns
    beside = square - 1 if side == 2 else square + 1
    if beside < 0 or beside >= rules[SQUARES] or rules[ROW + beside] != rules[ROW + square]:
        return -1
    return beside


@kernel
def rule_out(game, player, at, known, types, counts):
    """Rule out types of the player's hidden pieces that would have attacked now."""
    for square in range(game.rules[SQUARES]):
        prey = at[square]
        if prey == NONE or not known[prey] or owner_of(game, prey) == player:
            continue
        kind = kind_of(game, prey)
        if kind == MARSHAL:
            gone = 1 << SPY
        elif kind in (GENERAL, COLONEL):
            gone = 0
            if not is_guarded(game, square, 1 - player, MARSHAL, at, known, counts):
                gone |= 1 << MARSHAL
            if kind == COLONEL and not is_guarded(game, square, 1 - player, GENERAL, at, known, counts):
                gone |= 1 << GENERAL
        else:
            continue
        for side in range(4):
            near = neighbour(game.rules, square, side)
            if near >= 0 and at[near] != NONE and not known[at[near]] and owner_of(game, at[near]) == player:
                types[at[near]] |= gone


@kernel
def is_guarded(game, square, player, attacker, at, known, counts):
    """Return whether the player could take back a piece of this type that has attacked a square, as far as known."""
    for side in range(4):
        near = neighbour(game.rules, square, side)
        if near < 0 or at[near] == NONE or owner_of(game, at[near]) != player:
            continue
        for kind in range(MOVABLE_TYPES):
            if battle(kind, attacker) & DEFENDER_DIES:
                guard = at[near]
                if known[guard] and kind_of(game, guard) == kind:
                    return True
                if not known[guard] and counts[12 * player + kind] > 0:
                    return True
    return False
