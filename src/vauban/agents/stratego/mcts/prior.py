"""The prior: the moves that are worth a thought, and their weights (thesis §4.2.3, §4.3.2, §4.6, §4.7).

Every legal move gets a value from what is known, not from the world that is searched. Moves below
the mean are dropped; if more than five are left, so are those below the fifth best. What remains,
scaled to a sum of 1, is the prior. The thesis gives no numbers for the values: these are ours.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import NamedTuple

import numpy as np

from vauban.agents.stratego.mcts.knowledge import danger, expected_fight, is_unknown
from vauban.games.base import PLAYER
from vauban.games.kernel import ONE, holds, kernel, lowest
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import BYTES, LEGAL, MOVED, PIECES
from vauban.games.stratego.pieces import FLAG, MARSHAL, MINER, SCOUT
from vauban.games.stratego.squares import origin

BASE = 1.0
"""A move about which nothing is known."""
BAD = 0.05
"""A fight with nothing to gain; a step beside a piece that takes it; a Miner or a long Scout move early on."""
CURIOUS = 2.0
"""A Scout's attack on an unknown piece; any attack on one when it is in danger anyway."""
WON_FIGHT = 4.0
"""Added for a fight that is surely won; less likely ones in proportion."""
PATH = 2.0
"""Added for a step towards a fight that is surely won (away from one surely lost), divided by √steps."""
TAKES_FLAG = 100.0
RADIUS = 5
"""Steps within which the path finder looks."""
HIGH = MARSHAL - 2
"""Colonels and above do not strike what has never moved."""
KEPT = 5
"""Most moves that are kept, ties with the last one aside."""
DREAD = 0.5
"""Probability of being taken from which on a piece is in danger."""


class Moves(NamedTuple):
    """Room for the moves of one position."""

    sources: np.ndarray
    targets: np.ndarray
    values: np.ndarray
    """Before pruning: values; after it: probabilities."""


class Paths(NamedTuple):
    """Room for the path finder."""

    queue: np.ndarray
    first: np.ndarray
    steps: np.ndarray


@kernel
def make_moves(limit):
    """Return room for the moves of one position, at most `limit`."""
    return Moves(np.empty(limit, np.int64), np.empty(limit, np.int64), np.empty(limit, np.float64))


@kernel
def make_paths(squares):
    """Return room for paths on a board."""
    return Paths(np.empty(squares, np.int64), np.empty(squares, np.int64), np.empty(squares, np.int64))


@kernel
def list_moves(game, moves):
    """Write down all legal moves; return their number."""
    count = 0
    for word in range(LEGAL, LEGAL + 8):
        bits = game.words[word]
        direction = (word - LEGAL) >> 1
        while bits:
            target = lowest(bits) + 64 * ((word - LEGAL) & 1)
            bits &= bits - ONE
            moves.sources[count] = origin(game, direction, target)
            moves.targets[count] = target
            moves.values[count] = BASE
            count += 1
    return count


@kernel
def weigh_moves(game, knowledge, near, paths, moves):
    """Write down all legal moves with their values; return their number."""
    count = list_moves(game, moves)
    player = np.int64(game.bytes[PLAYER])
    words = game.words
    enemy_low, enemy_high = words[PIECES + 2 - 2 * player], words[PIECES + 3 - 2 * player]
    # Moves of a piece do not follow each other in the list: all of them are weighed when the first is met.
    seen = np.zeros(2, np.uint64)
    for index in range(count):
        source = moves.sources[index]
        if holds(seen[0], seen[1], source):
            continue
        seen[source >> 6] |= ONE << np.uint64(source & 63)
        kind = kind_of(game, np.int64(game.bytes[BYTES + source]))
        threat = danger(game, knowledge, near, player, kind, source, -1)
        step, steps, goal = find_fight(game, knowledge, near, paths, player, kind, source)
        for other in range(index, count):
            if moves.sources[other] != source:
                continue
            target = moves.targets[other]
            value = BASE
            if holds(enemy_low, enemy_high, target):
                value = weigh_fight(game, knowledge, player, kind, target, threat)
            else:
                if (
                    (threat < DREAD and danger(game, knowledge, near, player, kind, target, -1) >= DREAD)
                    or (knowledge.early and kind == MINER and threat < DREAD)
                    or (knowledge.early and kind == SCOUT and not beside(near, source, target))
                ):
                    value = BAD
            if step >= 0:
                if goal > 0.0 and target == step and value >= BASE:
                    value += PATH * goal / np.sqrt(steps)
                elif goal < 0.0 and target != step and value >= BASE:
                    value -= PATH * goal / np.sqrt(steps)
            moves.values[other] = value
    return count


@kernel
def weigh_fight(game, knowledge, player, kind, target, threat):
    """Return the value of an attack."""
    if not is_unknown(game, knowledge, player, target):
        if kind_of(game, np.int64(game.bytes[BYTES + target])) == FLAG:
            return TAKES_FLAG
    elif kind >= HIGH and not holds(game.words[MOVED], game.words[MOVED + 1], target):
        return 0.0
    gain = expected_fight(game, knowledge, player, kind, target)
    if gain > 0.0:
        return BASE + WON_FIGHT * gain
    if is_unknown(game, knowledge, player, target) and (kind == SCOUT or threat >= DREAD):
        return CURIOUS
    return BAD


@kernel
def beside(near, source, target):
    """Return whether two squares lie side by side."""
    for direction in range(4):
        if near[source, direction] == target:
            return True
    return False


@kernel
def find_fight(game, knowledge, near, paths, player, kind, source):
    """Find the nearest enemy within reach of a piece: the first step of the way, its length, the expectation of the
    fight.
    """
    words = game.words
    own_low, own_high = words[PIECES + 2 * player], words[PIECES + 2 * player + 1]
    enemy_low, enemy_high = words[PIECES + 2 - 2 * player], words[PIECES + 3 - 2 * player]
    visited_low, visited_high = own_low, own_high
    head, tail = 0, 0
    for direction in range(4):
        square = near[source, direction]
        if square < 0 or holds(own_low, own_high, square):
            continue
        if holds(enemy_low, enemy_high, square):
            return square, 1, expected_fight(game, knowledge, player, kind, square)
        paths.queue[tail] = square
        paths.first[tail] = square
        paths.steps[tail] = 1
        tail += 1
        if square < 64:
            visited_low |= ONE << np.uint64(square)
        else:
            visited_high |= ONE << np.uint64(square - 64)
    while head < tail:
        here, first, steps = paths.queue[head], paths.first[head], paths.steps[head] + 1
        head += 1
        if steps > RADIUS:
            break
        for direction in range(4):
            square = near[here, direction]
            if square < 0 or holds(visited_low, visited_high, square):
                continue
            if holds(enemy_low, enemy_high, square):
                return first, steps, expected_fight(game, knowledge, player, kind, square)
            paths.queue[tail] = square
            paths.first[tail] = first
            paths.steps[tail] = steps
            tail += 1
            if square < 64:
                visited_low |= ONE << np.uint64(square)
            else:
                visited_high |= ONE << np.uint64(square - 64)
    return -1, 0, 0.0


@kernel
def ranked_value(moves, count, rank):
    """Return the value with this rank, ties counted one by one: found by taking off the best ones in turn."""
    last, above = np.inf, 0
    while above < rank:
        following, ties = -np.inf, 0
        for index in range(count):
            value = moves.values[index]
            if value < last:
                if value > following:
                    following, ties = value, 1
                elif value == following:
                    ties += 1
        last = following
        above += ties
    return last


@kernel
def prune(moves, count):
    """Keep the moves that are worth a thought, scaled to a sum of 1; return their number."""
    total = 0.0
    for index in range(count):
        total += moves.values[index]
    if total <= 0.0:
        for index in range(count):
            moves.values[index] = 1.0 / count
        return count
    # Equal values may have a mean that is larger by the last digit.
    threshold = total / count * (1.0 - 1e-12)
    kept = 0
    for index in range(count):
        if moves.values[index] >= threshold:
            kept += 1
    if kept > KEPT:
        threshold = ranked_value(moves, count, KEPT)
    kept, total = 0, 0.0
    for index in range(count):
        if moves.values[index] >= threshold:
            moves.sources[kept] = moves.sources[index]
            moves.targets[kept] = moves.targets[index]
            moves.values[kept] = moves.values[index]
            total += moves.values[index]
            kept += 1
    for index in range(kept):
        moves.values[index] /= total
    return kept
