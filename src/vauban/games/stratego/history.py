"""The memory that observations keep of each hidden piece: whom it threatened, evaded, stood beside, protected.

The sets of types are kept by identity and only for pieces that are still hidden: nothing shows them
once a piece is known. All of it follows from public events (docs/observations.md), as kernels.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import ONE, ZERO, holds, kernel, lowest
from vauban.games.stratego.layout import (
    BYTES,
    HIDDEN,
    HISTORY,
    NONE,
    PIECES,
    PREVIOUS,
    PREVIOUS_OWN,
    SET_ADJACENT,
    SET_EVADED,
    SET_PROTECTED,
    SET_PROTECTED_AGAINST,
    SET_PROTECTED_BY,
    SET_THREATENED,
    SET_WAS_PROTECTED_AGAINST,
    SETS,
    SHOWN,
    SQUARES,
    TYPE_EMPTY,
    TYPE_HIDDEN,
)
from vauban.games.stratego.squares import around, beside


@kernel
def kind_of(game, identity):
    """Return the type of a piece, alive or dead."""
    return np.int64(game.bytes[BYTES + game.rules[SQUARES] + identity]) & 15


@kernel
def shown_type(game, square):
    """Return the type that the piece on the square shows: its own once revealed, else `TYPE_HIDDEN`."""
    if holds(game.words[HIDDEN], game.words[HIDDEN + 1], square):
        return np.int64(TYPE_HIDDEN)
    return kind_of(game, np.int64(game.bytes[BYTES + square]))


@kernel
def add_type(game, identity, which, kind):
    """Put a type into one of a piece's sets."""
    game.halves[game.rules[HISTORY] + SETS * identity + which] |= 1 << kind


@kernel
def add_type_at(game, square, which, kind):
    """Put a type into one of the sets of the piece on a square, if that piece is hidden."""
    if holds(game.words[HIDDEN], game.words[HIDDEN + 1], square):
        add_type(game, np.int64(game.bytes[BYTES + square]), which, kind)


@kernel
def pieces_of(game, player):
    """Return the squares of a player's pieces."""
    return game.words[PIECES + 2 * player], game.words[PIECES + 2 * player + 1]


@kernel
def common(first, second):
    """Return the squares that two sets have in common."""
    return first[0] & second[0], first[1] & second[1]


@kernel
def without(first, second):
    """Return the squares of one set that are not in another."""
    return first[0] & ~second[0], first[1] & ~second[1]


@kernel
def first_of(squares):
    """Return the lowest square of a set that is not empty."""
    return lowest(squares[0]) if squares[0] else 64 + lowest(squares[1])


@kernel
def rest_of(squares):
    """Return a set without its lowest square."""
    low, high = squares
    if low:
        return low & (low - ONE), high
    return low, high & (high - ONE)


@kernel
def remember_adjacency(game, player):
    """Before a move: note which of the mover's pieces stand beside a piece that has just come up or been met."""
    bytes_ = game.bytes
    rules = game.rules
    own, enemy = pieces_of(game, player), pieces_of(game, 1 - player)
    shown = np.int64(bytes_[SHOWN])
    if shown != NONE:
        beside_it = common(around(np.int64(bytes_[PREVIOUS]), rules), own)
        while beside_it[0] | beside_it[1]:
            add_type_at(game, first_of(beside_it), SET_ADJACENT, shown)
            beside_it = rest_of(beside_it)
    last = np.int64(bytes_[PREVIOUS_OWN])
    if last == NONE:
        return
    if holds(own[0], own[1], last):
        if holds(game.words[HIDDEN], game.words[HIDDEN + 1], last):
            met = common(around(last, rules), enemy)
            while met[0] | met[1]:
                add_type_at(game, last, SET_ADJACENT, shown_type(game, first_of(met)))
                met = rest_of(met)
    elif holds(enemy[0], enemy[1], last):
        victor = shown_type(game, last)
        if victor != TYPE_HIDDEN:
            beside_it = common(around(last, rules), own)
            while beside_it[0] | beside_it[1]:
                add_type_at(game, first_of(beside_it), SET_ADJACENT, victor)
                beside_it = rest_of(beside_it)


@kernel
def remember_evasion(game, identity, source, target):
    """Before a move: note a piece that leaves the side of the one that moved last."""
    previous = np.int64(game.bytes[PREVIOUS])
    shown = np.int64(game.bytes[SHOWN])
    if shown == NONE or target == previous:
        return
    near = around(source, game.rules)
    if holds(near[0], near[1], previous):
        add_type(game, identity, SET_EVADED, shown)


@kernel
def remember_threat(game, other, identity, near):
    """After a move to an empty square: note whose neighbour the piece has become. `near` is what lies next to it."""
    met = common(near, pieces_of(game, other))
    while met[0] | met[1]:
        add_type(game, identity, SET_THREATENED, shown_type(game, first_of(met)))
        met = rest_of(met)


@kernel
def remember_protection(game, player, source, target, died, defender_won):
    """After a move: note who stands behind whom, against whom.

    A protector C counts if it is the mover's and next to a square B, empty or the mover's, that
    is next to an enemy A. Only triples around what the last two plies changed are looked at.
    """
    if game.bytes[SHOWN] != NONE:
        protect_against(game, player, np.int64(game.bytes[PREVIOUS]))
    if not died:
        protect_by(game, player, target)
    if defender_won:
        protect_against(game, player, target)
    else:
        protect_between(game, player, target)
    protect_between(game, player, source)


@kernel
def protect(game, protector, protected, aggressor_type):
    """Remember one triple."""
    words = game.words
    occupied = holds(words[PIECES] | words[PIECES + 2], words[PIECES + 1] | words[PIECES + 3], protected)
    kind = shown_type(game, protected) if occupied else np.int64(TYPE_EMPTY)
    if holds(words[HIDDEN], words[HIDDEN + 1], protector):
        identity = np.int64(game.bytes[BYTES + protector])
        add_type(game, identity, SET_PROTECTED, kind)
        add_type(game, identity, SET_PROTECTED_AGAINST, aggressor_type)
    if occupied and kind == TYPE_HIDDEN:
        identity = np.int64(game.bytes[BYTES + protected])
        add_type(game, identity, SET_PROTECTED_BY, shown_type(game, protector))
        add_type(game, identity, SET_WAS_PROTECTED_AGAINST, aggressor_type)


@kernel
def protect_against(game, player, aggressor):
    """Return all triples with this aggressor."""
    own, enemy = pieces_of(game, player), pieces_of(game, 1 - player)
    if not holds(enemy[0], enemy[1], aggressor):
        return
    between = without(around(aggressor, game.rules), enemy)
    protectors = common(beside(between[0], between[1], game.rules), own)
    if protectors[0] | protectors[1] == ZERO:
        return
    kind = shown_type(game, aggressor)
    while between[0] | between[1]:
        protected = first_of(between)
        between = rest_of(between)
        protectors = common(around(protected, game.rules), own)
        while protectors[0] | protectors[1]:
            protect(game, first_of(protectors), protected, kind)
            protectors = rest_of(protectors)


@kernel
def protect_by(game, player, protector):
    """Return all triples with this protector."""
    enemy = pieces_of(game, 1 - player)
    between = without(around(protector, game.rules), enemy)
    aggressors = common(beside(between[0], between[1], game.rules), enemy)
    if aggressors[0] | aggressors[1] == ZERO:
        return
    while between[0] | between[1]:
        protected = first_of(between)
        between = rest_of(between)
        aggressors = common(around(protected, game.rules), enemy)
        while aggressors[0] | aggressors[1]:
            protect(game, protector, protected, shown_type(game, first_of(aggressors)))
            aggressors = rest_of(aggressors)


@kernel
def protect_between(game, player, protected):
    """Return all triples with this square between protector and aggressor."""
    near = around(protected, game.rules)
    aggressors = common(near, pieces_of(game, 1 - player))
    while aggressors[0] | aggressors[1]:
        kind = shown_type(game, first_of(aggressors))
        aggressors = rest_of(aggressors)
        protectors = common(near, pieces_of(game, player))
        while protectors[0] | protectors[1]:
            protect(game, first_of(protectors), protected, kind)
            protectors = rest_of(protectors)
