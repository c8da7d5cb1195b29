"""Our own prior and evaluation, in worth instead of won fights; cheap enough for the compiled search.

The thesis' prior counts fights and looks at the nearest enemy only; its evaluation knows nothing of
secrets. Here a move is weighed by what it wins or loses, a piece is drawn to the best fight within
reach, and a position counts what each side still hides.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.agents.stratego.mcts.knowledge import danger, expected_profit, is_unknown
from vauban.agents.stratego.mcts.prior import beside, list_moves, ranked_value
from vauban.games.base import PLAYER
from vauban.games.kernel import ONE, holds, kernel
from vauban.games.stratego import pieces
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BATTLELESS,
    BATTLELESS_LIMIT,
    BYTES,
    DEAD,
    HIDDEN,
    NONE,
    OWNER_BIT,
    PIECES,
    ROW,
    ROWS,
    SQUARES,
)
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES, SCOUT, SPY

WORTH = np.array(pieces.WORTH)
"""Worth of a piece of each type, Spy to Bomb."""
SECRECY = 0.25
"""Share of a piece's worth that is lost when it becomes known."""
NEARER = 0.8
"""Share of a wish that is left for every step on the way to it."""
CAUTION = 0.8
"""Share of a piece's worth that counts as lost beside one that takes it."""
REACH = 8
"""Steps within which a piece looks for fights."""
WARMTH = 1.5
"""Spread of the prior over moves that are worth less than the best, in worth."""
WIDE = 10
"""Most moves that are kept."""
SWING = 25.0
"""Lead in worth with which a position counts 0.76."""
STEP_AHEAD = 0.05
"""Worth of standing one row further on, for each piece."""
UNSEEN = 0.5
"""Worth of a piece's being unknown, whatever it is."""
DULLNESS = 0.6
"""Share of a lead that is lost as the limit of plies without a battle comes near."""


@kernel
def secrecy(kind):
    """Return what a hidden piece loses when it becomes known."""
    if kind == SPY:
        return 1.0
    if kind < MOVABLE_TYPES and kind > 5:
        return SECRECY * WORTH[kind]
    return 0.0


@kernel
def wish(game, knowledge, player, kind, secret, square):
    """Estimate the player's gain from attacking the piece on a square."""
    profit = expected_profit(game, knowledge, player, kind, square, WORTH)
    if is_unknown(game, knowledge, player, square):
        profit += knowledge.curiosity
    if secret:
        profit -= secrecy(kind)
    return profit


@kernel
def weigh_by_worth(game, knowledge, near, paths, moves):
    """Write down all legal moves with what they promise; return their number."""
    count = list_moves(game, moves)
    player = np.int64(game.bytes[PLAYER])
    words = game.words
    enemy_low, enemy_high = words[PIECES + 2 - 2 * player], words[PIECES + 3 - 2 * player]
    seen = np.zeros(2, np.uint64)
    for index in range(count):
        source = moves.sources[index]
        if holds(seen[0], seen[1], source):
            continue
        seen[source >> 6] |= ONE << np.uint64(source & 63)
        kind = kind_of(game, np.int64(game.bytes[BYTES + source]))
        secret = holds(words[HIDDEN], words[HIDDEN + 1], source)
        flight = CAUTION * WORTH[kind] * danger(game, knowledge, near, player, kind, source, -1)
        step, pull = find_goal(game, knowledge, near, paths, player, kind, secret, source)
        for other in range(index, count):
            if moves.sources[other] != source:
                continue
            target = moves.targets[other]
            if holds(enemy_low, enemy_high, target):
                value = wish(game, knowledge, player, kind, secret, target)
                after = danger(game, knowledge, near, player, kind, target, target)
                value += flight - 0.5 * CAUTION * WORTH[kind] * after
            else:
                value = flight - CAUTION * WORTH[kind] * danger(game, knowledge, near, player, kind, target, -1)
                if target == step:
                    value += pull * (1.0 / NEARER - 1.0)
                elif step >= 0:
                    value -= pull * (1.0 - NEARER)
                if kind == SCOUT and secret and not beside(near, source, target):
                    value -= 0.3
            moves.values[other] = value
    return count


@kernel
def find_goal(game, knowledge, near, paths, player, kind, secret, source):
    """Find the best fight within reach: the first step of the way, and the wish at that distance."""
    words = game.words
    enemy_low, enemy_high = words[PIECES + 2 - 2 * player], words[PIECES + 3 - 2 * player]
    visited_low, visited_high = words[PIECES + 2 * player], words[PIECES + 2 * player + 1]
    best, pull = -1, 0.0
    head, tail = 0, 1
    paths.queue[0] = source
    paths.first[0] = -1
    paths.steps[0] = 0
    while head < tail:
        here, first, steps = paths.queue[head], paths.first[head], paths.steps[head] + 1
        head += 1
        if steps > REACH:
            break
        for direction in range(4):
            square = near[here, direction]
            if square < 0 or holds(visited_low, visited_high, square):
                continue
            if square < 64:
                visited_low |= ONE << np.uint64(square)
            else:
                visited_high |= ONE << np.uint64(square - 64)
            begins = square if first < 0 else first
            if holds(enemy_low, enemy_high, square):
                desire = wish(game, knowledge, player, kind, secret, square) * NEARER**steps
                if desire > pull:
                    best, pull = begins, desire
                continue
            paths.queue[tail] = square
            paths.first[tail] = begins
            paths.steps[tail] = steps
            tail += 1
    return best, pull


@kernel
def warm_prior(moves, count):
    """Keep the best moves; the less a move promises than the best, the lower its probability."""
    best = -np.inf
    for index in range(count):
        best = max(best, moves.values[index])
    threshold = ranked_value(moves, count, WIDE) if count > WIDE else -np.inf
    kept, total = 0, 0.0
    for index in range(count):
        if moves.values[index] >= threshold:
            moves.sources[kept] = moves.sources[index]
            moves.targets[kept] = moves.targets[index]
            moves.values[kept] = np.exp((moves.values[index] - best) / WARMTH)
            total += moves.values[kept]
            kept += 1
    for index in range(kept):
        moves.values[index] /= total
    return kept


@kernel
def evaluate_worth(game, player):
    """Estimate the position's worth to the player."""
    squares, rows = game.rules[SQUARES], game.rules[ROWS]
    words = game.words
    score = 0.0
    for identity in range(squares):
        place = np.int64(game.bytes[BYTES + 2 * squares + identity])
        if place == NONE or place >= DEAD:
            continue
        owner = np.int64(game.bytes[BYTES + squares + identity]) // OWNER_BIT
        kind = kind_of(game, identity)
        value = 0.0
        if kind != FLAG:
            value = WORTH[kind]
        if holds(words[HIDDEN], words[HIDDEN + 1], place):
            value += secrecy(kind) + UNSEEN
        if kind < MOVABLE_TYPES:
            row = game.rules[ROW + place]
            value += STEP_AHEAD * (row if owner == 0 else rows - 1 - row)
        score += value if owner == player else -value
    value = np.tanh(score / SWING)
    limit = game.rules[BATTLELESS_LIMIT]
    if limit > 0:
        quiet = np.float64(words[BATTLELESS]) / limit
        value *= 1.0 - DULLNESS * quiet * quiet
    return value
