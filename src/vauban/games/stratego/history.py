"""What observations remember of each hidden piece: whom it threatened, evaded, stood beside, protected.

The sets of types are kept by identity and only for pieces that are still hidden: nothing shows them
once a piece is known. All of it follows from public events (docs/observations.md), as kernels.
"""

import numpy as np

from vauban.games.kernel import holds, kernel
from vauban.games.stratego.layout import (
    BYTES,
    HIDDEN,
    HISTORY,
    NEAR,
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


@kernel
def kind_of(game, identity):
    """The type of a piece, alive or dead."""
    return np.int64(game.bytes[BYTES + game.rules[SQUARES] + identity]) & 15


@kernel
def shown_type(game, square):
    """The type that the piece on the square shows: its own once revealed, else `TYPE_HIDDEN`."""
    if holds(game.words[HIDDEN], game.words[HIDDEN + 1], square):
        return np.int64(TYPE_HIDDEN)
    return kind_of(game, np.int64(game.bytes[BYTES + square]))


@kernel
def owned(game, player, square):
    """True if one of the player's pieces stands on the square."""
    return holds(game.words[PIECES + 2 * player], game.words[PIECES + 2 * player + 1], square)


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
def remember_adjacency(game, player):
    """Before a move: which of the mover's pieces stand beside a piece that has just come up or been met."""
    bytes_ = game.bytes
    rules = game.rules
    other = 1 - player
    previous = np.int64(bytes_[PREVIOUS])
    shown = np.int64(bytes_[SHOWN])
    if shown != NONE:
        for way in range(4):
            square = rules[NEAR + 4 * previous + way]
            if square >= 0 and owned(game, player, square):
                add_type_at(game, square, SET_ADJACENT, shown)
    own = np.int64(bytes_[PREVIOUS_OWN])
    if own == NONE:
        return
    if owned(game, player, own):
        for way in range(4):
            square = rules[NEAR + 4 * own + way]
            if square >= 0 and owned(game, other, square):
                add_type_at(game, own, SET_ADJACENT, shown_type(game, square))
    elif owned(game, other, own) and shown_type(game, own) != TYPE_HIDDEN:
        for way in range(4):
            square = rules[NEAR + 4 * own + way]
            if square >= 0 and owned(game, player, square):
                add_type_at(game, square, SET_ADJACENT, shown_type(game, own))


@kernel
def remember_evasion(game, identity, source, target):
    """Before a move: does the piece leave the side of the one that moved last?"""
    previous = np.int64(game.bytes[PREVIOUS])
    shown = np.int64(game.bytes[SHOWN])
    if shown == NONE or target == previous:
        return
    for way in range(4):
        if game.rules[NEAR + 4 * source + way] == previous:
            add_type(game, identity, SET_EVADED, shown)


@kernel
def remember_threat(game, other, identity, target):
    """After a move to an empty square: whose neighbour has the piece become?"""
    for way in range(4):
        square = game.rules[NEAR + 4 * target + way]
        if square >= 0 and owned(game, other, square):
            add_type(game, identity, SET_THREATENED, shown_type(game, square))


@kernel
def remember_protection(game, player, source, target, died, defender_won):
    """After a move: who stands behind whom, against whom.

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
    """All triples with this aggressor."""
    other = 1 - player
    rules = game.rules
    if not owned(game, other, aggressor):
        return
    kind = shown_type(game, aggressor)
    for way in range(4):
        protected = rules[NEAR + 4 * aggressor + way]
        if protected >= 0 and not owned(game, other, protected):
            for turn in range(4):
                protector = rules[NEAR + 4 * protected + turn]
                if protector >= 0 and owned(game, player, protector):
                    protect(game, protector, protected, kind)


@kernel
def protect_by(game, player, protector):
    """All triples with this protector."""
    other = 1 - player
    rules = game.rules
    for way in range(4):
        protected = rules[NEAR + 4 * protector + way]
        if protected >= 0 and not owned(game, other, protected):
            for turn in range(4):
                aggressor = rules[NEAR + 4 * protected + turn]
                if aggressor >= 0 and owned(game, other, aggressor):
                    protect(game, protector, protected, shown_type(game, aggressor))


@kernel
def protect_between(game, player, protected):
    """All triples with this square between protector and aggressor."""
    other = 1 - player
    rules = game.rules
    for way in range(4):
        aggressor = rules[NEAR + 4 * protected + way]
        if aggressor >= 0 and owned(game, other, aggressor):
            kind = shown_type(game, aggressor)
            for turn in range(4):
                protector = rules[NEAR + 4 * protected + turn]
                if protector >= 0 and owned(game, player, protector):
                    protect(game, protector, protected, kind)
