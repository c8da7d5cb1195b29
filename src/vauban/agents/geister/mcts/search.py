"""The search: worlds by the belief, moves by a prior, and the tree that all worlds share."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.agents.geister.belief import add_up, odds_of, sample
from vauban.agents.geister.purple.evaluate import Sides, evaluate
from vauban.agents.geister.purple.search import (
    CERTAIN,
    NOT_OVER,
    known_sides,
    list_moves,
    make_search,
    sides_of,
)
from vauban.agents.geister.purple.search import play as play_purple
from vauban.agents.geister.terrain import MOST_MOVES, as_action, escape_action
from vauban.agents.tree import (
    MIX_1,
    ROOT,
    find_edge,
    is_full,
    like,
    make_tree,
    mixed,
    most_visited,
    note_result,
    outcome_value,
    puct,
    slot_of,
    uniform,
)
from vauban.games.base import END, PLAYER, PLIES
from vauban.games.geister.hidden import assign, count_evil
from vauban.games.geister.layout import EVIL, MOST_GHOSTS, PIECES
from vauban.games.geister.rules import leavers, play
from vauban.games.kernel import ZERO, clock, copy_record, kernel, lowest, popcount
from vauban.games.randomness import MOVE, draw

SIMS, TIME, AHEAD, EXPLORE, BELIEF = range(5)
"""The options by index, as `bot` lists them."""
MOST_SIMS = 20_000
"""No move gets more simulations than this, however much time it has."""
MOST_DEPTH = 256
PATIENCE = 4
"""Simulations between two looks at the clock."""
GAP = 60.0
"""Points behind the best move at which a move gets a quarter of its weight in the prior."""
HALF_WON = 1000.0
"""Points that are worth half a win."""
FLOOR = 0.02
"""Least weight of a move; that of the best is 1."""


@kernel
def choose(game, seed, options, prior):
    """Return the action with the most visits, and the mean of what came of it."""
    viewer = np.int64(game.bytes[PLAYER])
    other = 1 - viewer
    state = np.empty(1, np.uint64)
    ply = np.int64(game.words[PLIES])
    state[0] = draw(seed, np.uint64(viewer), ply, 0, MOVE, 0) << np.uint64(32)
    state[0] |= draw(seed, np.uint64(viewer), ply, 0, MOVE, 1)
    deadline = clock() + options[TIME] if options[TIME] > 0 else np.inf
    sims = min(np.int64(options[SIMS]), MOST_SIMS) if options[SIMS] > 0 else MOST_SIMS

    # What each player thinks of, by its own knowledge.
    own_mind = make_search(game, viewer, 1)
    foe_mind = make_search(game, other, 1)
    odds = np.ones(MOST_GHOSTS)
    ways = np.empty((MOST_GHOSTS + 1, MOST_GHOSTS + 1))
    hidden = odds_of(game, own_mind.terrain, viewer, prior * options[BELIEF], odds)
    evil = count_evil(game, other)
    add_up(odds, hidden, ways)
    values = np.zeros(MOST_GHOSTS, np.int64)
    actions, shares = np.empty(MOST_MOVES, np.int64), np.empty(MOST_MOVES)

    line = like(game)
    tree = make_tree(sims, MOST_MOVES)
    path, movers = np.empty(MOST_DEPTH, np.int64), np.empty(MOST_DEPTH, np.int64)
    here = np.empty(MOST_MOVES, np.int64)
    for sim in range(sims):
        if sim > 0 and sim % PATIENCE == 0 and clock() > deadline:
            break
        copy_record(game, line)
        sample(odds, hidden, evil, ways, state, values)
        assign(line, viewer, values)
        key = ROOT
        depth = 0
        while True:
            if line.bytes[END] != 0:
                value = outcome_value(line, viewer)
                break
            if tree.keys[slot_of(tree, key)] != key or depth == MOST_DEPTH or is_full(tree, MOST_MOVES):
                tree.keys[slot_of(tree, key)] = key
                value = play_on(line, viewer, own_mind, foe_mind, actions, shares, np.int64(options[AHEAD]), state)
                break
            mover = np.int64(line.bytes[PLAYER])
            count = consider(line, own_mind if mover == viewer else foe_mind, actions, shares)
            node = slot_of(tree, key)
            visits = 0
            for index in range(count):
                here[index] = find_edge(tree, node, actions[index])
                visits += tree.visits[here[index]]
            chosen, highest = 0, -np.inf
            for index in range(count):
                bound = puct(tree, here[index], shares[index], visits, options[EXPLORE])
                if bound > highest:
                    chosen, highest = index, bound
            path[depth], movers[depth] = here[chosen], mover
            depth += 1
            shown = play_shown(line, actions[chosen])
            key = mixed(key ^ np.uint64(4 * actions[chosen] + shown + 1) * MIX_1)
        note_result(tree, path, movers, depth, viewer, value)
        # A single move needs no thought.
        if tree.used[0] == 1 or is_full(tree, MOST_MOVES):
            break
    best = most_visited(tree)
    return np.int64(tree.moves[best]), tree.values[best] / max(tree.visits[best], 1)


@kernel
def consider(game, mind, actions, shares):
    """Write down the moves of the player on turn with their probabilities; return their number.

    An escape is the only move where there is one. Else a step weighs the less the worse the position after it is for
    whoever knows what this player knows.
    """
    player = mind.player
    leaving = leavers(game, player)
    if leaving[0] | leaving[1]:
        actions[0], shares[0] = escape_action(mind.terrain, player, lowest(leaving[0] | leaving[1])), 1.0
        return 1
    known_sides(game, player, mind.sets[0], mind.left[0])
    list_moves(mind, 0)
    count = mind.counts[0]
    best = -np.inf
    for index in range(count):
        move = mind.moves[0, index]
        value = play_purple(mind, 0, move)
        if value == NOT_OVER:
            value = evaluate(mind.terrain, sides_of(mind, 1), player, False)
        actions[index] = as_action(mind.terrain, player, move & 63, move >> 6)
        shares[index] = min(CERTAIN, max(-CERTAIN, value))
        best = max(best, shares[index])
    total = 0.0
    for index in range(count):
        behind = 1.0 + (best - shares[index]) / GAP
        shares[index] = max(FLOOR, 1.0 / (behind * behind))
        total += shares[index]
    for index in range(count):
        shares[index] /= total
    return count


@kernel
def play_shown(game, action):
    """Play a move; return 0 if it captured nothing, 1 if a good ghost, 2 if an evil one."""
    other = 1 - np.int64(game.bytes[PLAYER])
    pieces, evil = game.words[PIECES + other], game.words[EVIL + other]
    play(game, action)
    if game.words[PIECES + other] == pieces:
        return 0
    return 1 if game.words[EVIL + other] == evil else 2


@kernel
def play_on(game, viewer, own_mind, foe_mind, actions, shares, ahead, state):
    """Estimate a position's worth to the viewer, after some moves drawn from the prior."""
    for _ in range(ahead):
        if game.bytes[END] != 0:
            break
        count = consider(game, own_mind if game.bytes[PLAYER] == viewer else foe_mind, actions, shares)
        left = uniform(state)
        index = 0
        while index + 1 < count and left >= shares[index]:
            left -= shares[index]
            index += 1
        play(game, actions[index])
    if game.bytes[END] != 0:
        return outcome_value(game, viewer)
    points = evaluate(own_mind.terrain, sides_in(game, viewer), viewer, game.bytes[PLAYER] == viewer)
    return points / (HALF_WON + abs(points))


@kernel
def sides_in(game, viewer):
    """Return who stands where, all colours known."""
    own, foes = game.words[PIECES + viewer], game.words[PIECES + 1 - viewer]
    evil, foe_evil = game.words[EVIL + viewer], game.words[EVIL + 1 - viewer]
    return Sides(own & ~evil, evil, foes & ~foe_evil, foe_evil, ZERO, popcount(foe_evil), popcount(foes & ~foe_evil))
