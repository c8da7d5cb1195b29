"""The searcher's suspicions: chances of the types of the enemy's hidden pieces; as kernels.

Two sources: what can be (which types are hidden, who has moved, how people set up), and what pieces
did. A hidden piece that went up to a known one is *suspected* to be of the weakest type that is still
hidden and beats it; one that ran, or let a chance pass, is hardly of a type that would have won. Both
go into one table of chances, whose rows (pieces) sum to 1 and whose columns (types) to what is hidden.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import holds, kernel
from vauban.games.stratego.layout import (
    BYTES,
    DEAD,
    HIDDEN,
    HIDDEN_COUNT,
    HISTORY,
    MOVED,
    NONE,
    OWNER_BIT,
    PIECES,
    QUIET,
    RECORDED,
    SET_ADJACENT,
    SET_EVADED,
    SET_THREATENED,
    SETS,
    SQUARES,
    TYPE_HIDDEN,
)
from vauban.games.stratego.pieces import FLAG, MARSHAL, MOVABLE_TYPES, SCOUT, SPY
from vauban.games.stratego.squares import around

SERGEANT, LIEUTENANT, CAPTAIN = 3, 4, 5
DIED_HIDDEN = 5
"""The cause of death of a piece that was hidden when it was attacked (docs/record.md)."""
CALMEST, WILDEST = 2, 5
"""The bounds of the risk that the enemy bluffs; at the upper one, no piece is suspected any more."""
CHASES_ENOUGH = 3
"""Number of chases in a row after which a piece is taken at its word."""
LOOK_BACK = 40
ROUNDS = 12
"""Rounds of fitting rows and columns in turn."""
LEAST_PRIOR = 0.01
"""Added to the share of people who set a type on a square, since anyone may do otherwise."""
FLED, PASSED = 0.3, 0.6
"""Factors on the weight of a type that beats what the piece ran from, or what it did not take."""


@kernel
def tracks(game):
    """Return whether the record remembers what hidden pieces did."""
    return len(game.halves) > game.rules[HISTORY]


@kernel
def deeds(game, identity, which):
    """Return one of the sets of types that a record keeps of a piece."""
    return np.int64(game.halves[game.rules[HISTORY] + SETS * identity + which])


@kernel
def chased_type(threatened):
    """Return the strongest known type from Sergeant on that a piece went up to; −1 if there is none."""
    for kind in range(MARSHAL, SERGEANT - 1, -1):
        if threatened >> kind & 1:
            if kind == CAPTAIN and threatened >> TYPE_HIDDEN & 1:
                # It goes up to anyone: that it met a Captain says less.
                return kind - 1
            return kind
    return -1


@kernel
def suspected_type(threatened, evaded, hidden):
    """Suspect a hidden piece's type, by the pieces that it went up to and ran from; −1 for none.

    hidden: how many of each type are hidden.
    """
    guess = -1
    chased = chased_type(threatened)
    if chased == MARSHAL:
        return SPY if hidden[SPY] > 0 else -1
    if chased >= 0:
        for kind in range(MARSHAL, chased, -1):
            if hidden[kind] > 0:
                guess = kind
    elif threatened >> TYPE_HIDDEN & 1 and hidden[SCOUT] + hidden[SERGEANT] + hidden[LIEUTENANT] == 0:
        # Nothing weaker is left to spare: only a strong piece goes up to the unknown now.
        guess = CAPTAIN if hidden[CAPTAIN] > 0 else -1
    for kind in range(guess + 1):
        if evaded >> kind & 1:
            return -1
    return guess


@kernel
def bluff_risk(game, enemy):
    """Estimate how much the enemy bluffs, from 2 to 5: by its hidden pieces that fell after having chased."""
    squares = game.rules[SQUARES]
    risk = 4
    for identity in range(squares):
        code = np.int64(game.bytes[BYTES + squares + identity])
        place = np.int64(game.bytes[BYTES + 2 * squares + identity])
        if code == NONE or place == NONE or place < DEAD or (code & OWNER_BIT != 0) != (enemy == 1):
            continue
        if code >> 4 & 7 != DIED_HIDDEN:
            continue
        chased = chased_type(deeds(game, identity, SET_THREATENED))
        if chased < 0:
            continue
        kind = code & 15
        beats = kind == SPY if chased == MARSHAL else kind > chased
        risk += -1 if beats else 1
    return min(max(risk, CALMEST), WILDEST)


@kernel
def maturity(game, enemy, identity, bluff):
    """Weigh a suspicion, from 0 to 1: full after enough moves of the piece, or three chases in a row."""
    rules = game.rules
    squares = rules[SQUARES]
    recorded = np.int64(game.words[RECORDED])
    moves = 0
    for slot in range(min(recorded, rules[HISTORY])):
        if game.bytes[BYTES + 3 * squares + slot] == identity:
            moves += 1
    if chases_in_a_row(game, enemy, identity) >= CHASES_ENOUGH:
        return 1.0
    return min(1.0, moves / (3.0 * bluff))


@kernel
def chases_in_a_row(game, enemy, identity):
    """Count the enemy's latest moves that were of this piece, each to the side of one of the searcher's pieces."""
    rules = game.rules
    words = game.words
    squares = rules[SQUARES]
    recorded = np.int64(words[RECORDED])
    other = 1 - enemy
    low, high = words[PIECES + 2 * other], words[PIECES + 2 * other + 1]
    count = 0
    for back in range(1, min(min(np.int64(words[QUIET]), rules[HISTORY]), LOOK_BACK) + 1):
        slot = (recorded - back) % rules[HISTORY]
        source = np.int64(game.halves[slot]) & 127
        target = np.int64(game.halves[slot]) >> 7 & 127
        if back & 1:
            near = around(target, rules)
            if game.bytes[BYTES + 3 * squares + slot] != identity or (near[0] & low) | (near[1] & high) == 0:
                return count
            count += 1
        else:
            # The searcher's own move, taken back.
            low, high = exchange(low, high, target, source)
    return count


@kernel
def exchange(low, high, leaves, enters):
    """Return a set of squares with one square in place of another."""
    one = np.uint64(1)
    if leaves < 64:
        low &= ~(one << np.uint64(leaves))
    else:
        high &= ~(one << np.uint64(leaves - 64))
    if enters < 64:
        low |= one << np.uint64(enters)
    else:
        high |= one << np.uint64(enters - 64)
    return low, high


@kernel
def estimate(game, enemy, suspicious, prior, chances, suspected):
    """Fill the chances of the enemy's hidden pieces (by identity × type); return the risk that the enemy bluffs.

    suspected: filled with the type that each identity is suspected to be, −1 for none.
    """
    words, rules = game.words, game.rules
    squares = rules[SQUARES]
    hidden = np.zeros(12, np.int64)
    for kind in range(12):
        hidden[kind] = game.bytes[HIDDEN_COUNT + 12 * enemy + kind]
    movers = 0
    for kind in range(MOVABLE_TYPES):
        movers += hidden[kind]
    low = words[PIECES + 2 * enemy] & words[HIDDEN]
    high = words[PIECES + 2 * enemy + 1] & words[HIDDEN + 1]
    marched = 0
    for square in range(squares):
        if holds(low, high, square) and holds(words[MOVED], words[MOVED + 1], square):
            marched += 1
    risk = bluff_risk(game, enemy) if tracks(game) else WILDEST
    suspected[:] = -1
    chances[:, :] = 0.0
    for square in range(squares):
        if not holds(low, high, square):
            continue
        identity = np.int64(game.bytes[BYTES + square])
        start = identity if enemy == 0 else squares - 1 - identity
        moved = holds(words[MOVED], words[MOVED + 1], square)
        total = 0.0
        for kind in range(12):
            total += prior[start, kind]
        for kind in range(12):
            if hidden[kind] == 0 or (moved and kind >= MOVABLE_TYPES):
                continue
            if not moved and kind < MOVABLE_TYPES and marched == movers:
                continue
            weight = 1.0
            if total > 0:
                weight = prior[start, kind] / total + LEAST_PRIOR
            chances[identity, kind] = weight
        if tracks(game) and suspicious:
            judge_deeds(game, enemy, identity, moved, hidden, risk, chances[identity], suspected)
    fit(game, low, high, hidden, chances)
    return risk


@kernel
def judge_deeds(game, enemy, identity, moved, hidden, risk, weights, suspected):
    """Weigh the types of one hidden piece by what it did, and note what it is suspected to be."""
    evaded = deeds(game, identity, SET_EVADED)
    adjacent = deeds(game, identity, SET_ADJACENT)
    for met in range(MOVABLE_TYPES):
        factor = 1.0
        if evaded >> met & 1:
            factor = FLED
        elif adjacent >> met & 1:
            factor = PASSED
        if factor < 1.0:
            for kind in range(met + 1, MOVABLE_TYPES):
                weights[kind] *= factor
    if not moved or risk >= WILDEST:
        return
    guess = suspected_type(deeds(game, identity, SET_THREATENED), evaded, hidden)
    if guess < 0 or weights[guess] == 0:
        return
    suspected[identity] = guess
    ripe = maturity(game, enemy, identity, risk)
    total = 0.0
    for kind in range(12):
        total += weights[kind]
    for kind in range(12):
        weights[kind] *= 1 - 0.9 * ripe
    weights[guess] += 0.9 * ripe * total


@kernel
def fit(game, low, high, hidden, chances):
    """Scale rows and columns in turn until rows sum to 1 and columns to what is hidden; rows last."""
    squares = game.rules[SQUARES]
    for _ in range(ROUNDS):
        for kind in range(12):
            total = 0.0
            for identity in range(squares):
                total += chances[identity, kind]
            if total > 0:
                for identity in range(squares):
                    chances[identity, kind] *= hidden[kind] / total
        for square in range(squares):
            if holds(low, high, square):
                identity = np.int64(game.bytes[BYTES + square])
                total = 0.0
                for kind in range(12):
                    total += chances[identity, kind]
                for kind in range(12):
                    if total > 0:
                        chances[identity, kind] /= total
                    else:
                        # Nothing fits: a position made by hand. Anything will do.
                        chances[identity, kind] = 1.0 / FLAG if kind < FLAG else 0.0
