"""The root of the search: chooses the legal move that `alphabeta` plays; as kernels."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.agents.base import RESIGNS
from vauban.agents.stratego.alphabeta.plans import set_plans
from vauban.agents.stratego.alphabeta.search import (
    BARRED_TURNS,
    BATTLELESS_LIMIT_AT,
    ENDLESS,
    NEVER,
    NODE_LIMIT,
    RADIUS,
    REACHED,
    STOPPED,
    TOTAL_LEFT,
    WON,
    make_tree,
    search,
)
from vauban.agents.stratego.alphabeta.values import ENEMY, OWN
from vauban.agents.stratego.alphabeta.world import LONGEST, PAST, SCORE, TARGET, WINS, build, gain, make, unmake
from vauban.games.base import PLAYER, PLIES
from vauban.games.kernel import clock, holds, kernel
from vauban.games.randomness import MOVE, below
from vauban.games.stratego.layout import (
    BATTLELESS_LIMIT,
    BYTES,
    EXCEEDED,
    HISTORY,
    QUIET,
    RECORDED,
    SQUARES,
    TOTAL_LIMIT,
    TWO_SQUARE,
)
from vauban.games.stratego.rules import encode, legal_count, legal_move
from vauban.games.stratego.squares import around, beside
from vauban.games.stratego.switches import NO_LIMIT

TIME, DEEPEST, NODE_BUDGET, SUSPECT = 0, 1, 2, 3
"""Places of the options."""
TABLE, SMALL_TABLE = 1 << 18, 1 << 15
"""Entries of the table: usually, and where few nodes are asked for."""
DEEPEST_ITERATION = 24
LEFT_OUT = -(1 << 40)
"""The key of a move that is not searched."""
MARGIN = 5
"""A new best move may turn out worth less by at most this when it is looked at more deeply."""
CONFIRM_DEPTH = 2
"""Number of plies that such a look goes deeper."""
PATIENCE = 2
"""Number of iterations after which a new best move is taken without that look."""
INERTIA = 14
"""A move must be better than the old best one by more than this, two steps of the best plan. Otherwise the searcher
would put off a gain at hand for what can be done in between."""


@kernel
def choose(game, seed, options, prior):
    """Return the action to play, and the estimated worth of the game."""
    begun = clock()
    count = legal_count(game)
    player = np.int64(game.bytes[PLAYER])
    sources = np.zeros(count, np.int64)
    targets = np.zeros(count, np.int64)
    for index in range(count):
        sources[index], targets[index] = legal_move(game, index)
    if count == 0:
        return np.int64(RESIGNS), -1.0
    world = build(game, options[SUSPECT] > 0, prior)
    set_plans(world)
    budget = np.int64(options[NODE_BUDGET])
    tree = make_tree(SMALL_TABLE if 0 < budget <= SMALL_TABLE else TABLE)
    set_limits(game, tree)
    tree.numbers[NODE_LIMIT] = budget
    tree.deadline[0] = begun + options[TIME]
    deepest = np.int64(options[DEEPEST])
    if deepest <= 0 or deepest > DEEPEST_ITERATION:
        deepest = DEEPEST_ITERATION
    kept = list_root(game, seed, world, sources, targets)
    best, value = think(world, tree, game.rules, sources[:kept], targets[:kept], deepest)
    return encode(game.rules, player, sources[best], targets[best]), standing(world, value)


@kernel
def standing(world, value):
    """Estimate the game's worth, from −1 to 1, by all material and by what the best move adds to it."""
    if abs(value) > WON - LONGEST:
        return 1.0 if value > 0 else -1.0
    ahead = world.material[OWN] - world.material[ENEMY] + value - world.state[SCORE]
    return max(-1.0, min(1.0, ahead / max(world.material[OWN] + world.material[ENEMY], 1.0)))


@kernel
def set_limits(game, tree):
    """Set the limits that make a draw, and the limit on going back and forth."""
    rules = game.rules
    tree.numbers[BATTLELESS_LIMIT_AT] = NEVER
    tree.numbers[TOTAL_LEFT] = NEVER
    tree.numbers[BARRED_TURNS] = NEVER
    if rules[BATTLELESS_LIMIT] != NO_LIMIT:
        tree.numbers[BATTLELESS_LIMIT_AT] = rules[BATTLELESS_LIMIT] + rules[EXCEEDED]
    if rules[TOTAL_LIMIT] != NO_LIMIT:
        tree.numbers[TOTAL_LEFT] = rules[TOTAL_LIMIT] + rules[EXCEEDED] - np.int64(game.words[PLIES])
    if rules[TWO_SQUARE] > 0:
        tree.numbers[BARRED_TURNS] = rules[TWO_SQUARE]


# ── Moves to search ──────────────────────────────────────────────────────────────────────────────


@kernel
def list_root(game, seed, world, sources, targets):
    """Bring the moves to be searched to the front, likeliest first, and return their number.

    Of the pieces far from every enemy only the best move stays. Repetitions are left out, and so are long moves by
    which a hidden Scout would show itself for nothing.
    """
    rules = game.rules
    count = len(sources)
    low, high = world.pieces[1, 0], world.pieces[1, 1]
    for _ in range(RADIUS + 2):
        more = beside(low, high, rules)
        low |= more[0]
        high |= more[1]
    keys = np.zeros(count, np.int64)
    far_pick = -1
    for index in range(count):
        source, target = sources[index], targets[index]
        mover, victim = np.int64(world.at[source]), np.int64(world.at[target])
        if victim >= 0:
            static = WON if world.result[mover, victim] == WINS else gain(world, mover, victim)
        else:
            static = world.plan[mover, target] - world.plan[mover, source]
        keys[index] = 16 * static + below(16, seed, np.uint64(index), np.int64(game.words[PLIES]), 0, MOVE, 0)
        far = not holds(low, high, source) and not holds(low, high, target)
        if victim < 0 and (repeats(game, world, source, target) or shows_scout(world, mover, source, target)):
            keys[index] = LEFT_OUT
        elif victim < 0 and far:
            dropped = index
            if far_pick < 0 or keys[index] > keys[far_pick]:
                dropped, far_pick = far_pick, index
            if dropped >= 0:
                keys[dropped] = LEFT_OUT
    kept = 0
    for first in range(count):
        pick = first
        for index in range(first + 1, count):
            if keys[index] > keys[pick]:
                pick = index
        sources[first], sources[pick] = sources[pick], sources[first]
        targets[first], targets[pick] = targets[pick], targets[first]
        keys[first], keys[pick] = keys[pick], keys[first]
        if keys[first] != LEFT_OUT:
            kept += 1
    return kept if kept > 0 else count


@kernel
def shows_scout(world, mover, source, target):
    """Return whether a quiet move would tell the enemy that a hidden piece is a Scout."""
    if not world.secret[mover]:
        return False
    for direction in range(4):
        if world.near[source, direction] == target:
            return False
    return True


@kernel
def repeats(game, world, source, target):
    """Return whether a quiet move that is no evasion recreates a position from the game since the last battle."""
    rules = game.rules
    last = world.line[PAST - 1, TARGET]
    if last >= 0:
        near = around(last, rules)
        if holds(near[0], near[1], source):
            return False
    mover = np.int64(world.at[source])
    reached = world.hashes[0] ^ world.keys[mover, source] ^ world.keys[mover, target]
    word = world.hashes[0]
    recorded = np.int64(game.words[RECORDED])
    for back in range(1, min(np.int64(game.words[QUIET]), rules[HISTORY]) + 1):
        slot = (recorded - back) % rules[HISTORY]
        identity = np.int64(game.bytes[BYTES + 3 * rules[SQUARES] + slot])
        move = np.int64(game.halves[slot])
        word ^= world.keys[identity, move & 127] ^ world.keys[identity, move >> 7 & 127]
        if back & 1 and word == reached:
            return True
    return False


# ── Deepening ────────────────────────────────────────────────────────────────────────────────────


@kernel
def think(world, tree, rules, sources, targets, deepest):
    """Find the best move and its value: deeper and deeper, until time or nodes run out.

    A new best move is looked at once more, two plies deeper, before it takes the place of the old one: it must not
    turn out worse than that, nor than it seemed. After some iterations it is taken anyway.
    """
    count = len(sources)
    order = np.arange(count)
    chosen, worth = np.int64(0), np.int64(world.state[SCORE])
    accepted = 0
    depth, index = 1, 0
    best, best_value, old_value = -1, -ENDLESS, -ENDLESS
    while depth <= deepest:
        # The new best move is tried again, more deeply, in the place behind the last move.
        confirming = index == count
        pick = best if confirming else order[index]
        bar = best_value
        if best == chosen and depth > 1:
            bar += INERTIA
        make(world, sources[pick], targets[pick])
        further = CONFIRM_DEPTH if confirming else 0
        value = -search(world, tree, rules, depth - 1 + further, -ENDLESS, ENDLESS if confirming else -bar)
        unmake(world)
        if tree.numbers[STOPPED]:
            break
        if confirming:
            sound = value >= old_value - MARGIN or value >= best_value - MARGIN
        else:
            if pick == chosen:
                old_value = value
            if value > bar:
                best, best_value = pick, value
            index += 1
            if index < count or (index == count and best != chosen and depth > 1 and depth - accepted <= PATIENCE):
                continue
            sound = True
        if sound:
            chosen, worth = best, best_value
            accepted = depth
        else:
            worth = old_value
        if (sound and abs(best_value) > WON - LONGEST) or count == 1:
            break
        put_first(order, chosen)
        tree.numbers[REACHED] = depth
        depth += 1
        index = 0
        best, best_value, old_value = -1, -ENDLESS, -ENDLESS
    # Out of time: the old best move was looked at first, so whatever is better by now is better.
    if tree.numbers[STOPPED] and best >= 0 and index < count:
        chosen, worth = best, best_value
    return chosen, worth


@kernel
def put_first(order, chosen):
    """Bring a move to the front, the others behind it in their order."""
    index = 0
    while order[index] != chosen:
        index += 1
    while index > 0:
        order[index] = order[index - 1]
        index -= 1
    order[0] = chosen
