"""The search of `alphabeta`: negamax with alpha–beta, deepened step by step; as kernels.

Near the leaves only pieces near an enemy move; instead of all other moves a side may pass. Beyond the
leaves captures that gain are played on for a few plies (quiescence). The tree is walked in a loop with
a stack of its own, since kernels do not call themselves.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import Any, NamedTuple

import numpy as np

from vauban.agents.stratego.alphabeta.values import OWN
from vauban.agents.stratego.alphabeta.world import (
    LONGEST,
    MOVER,
    PAST,
    PLY,
    QUIET_PLIES,
    RESULT,
    SCORE,
    SIDE,
    SOURCE,
    TARGET,
    TURNS_BACK,
    VICTIM,
    WINS,
    gain,
    make,
    unmake,
)
from vauban.games.kernel import ONE, clock, kernel, lowest
from vauban.games.stratego.squares import beside

WON = 22222
"""The value of a won game, less the plies to it."""
ENDLESS = 30000
QUIET_DEPTH = 4
"""Plies of captures beyond the leaves."""
RADIUS = 4
"""Pieces farther than this from every enemy do not move in the tree."""
EXACT, LOWER, UPPER = 1, 2, 3
PASS = 0
"""The move of a side that passes."""
BY_TABLE, BY_CAPTURE, BY_KILLER, BY_PASS = 1 << 40, 1 << 34, 1 << 32, 1 << 30
"""Keys in the order of moves."""
SIDE_KEY = np.uint64(0xD1B54A32D192ED03)
WIDTH = 200
"""Moves that are listed in the tree, besides passing."""
BETWEEN_LOOKS = 256
"""Nodes between two looks at the clock."""

NODES, STOPPED, REACHED, NODE_LIMIT, BATTLELESS_LIMIT_AT, TOTAL_LEFT, BARRED_TURNS = range(7)
"""Places in `Tree.numbers`."""
NEVER = 1 << 40

DEPTH, ALPHA, BETA, BEST, BEST_MOVE, COUNT, NEXT, FLOOR, SETTLED = range(9)
"""Columns of `Tree.stack`."""


class Tree(NamedTuple):
    """The state of a search besides the world."""

    stack: Any
    """plies × columns."""
    moves: Any
    """plies × moves: source · 128 + target."""
    order: Any
    """plies × moves: their keys."""
    killers: Any
    """By ply: the quiet move that last cut."""
    history: Any
    """sides × moves: number of times that a move was best, weighted by depth."""
    table_hash: Any
    table_value: Any
    table_move: Any
    table_depth: Any
    table_bound: Any
    numbers: Any
    """int64: nodes, stopped, limits."""
    deadline: Any
    """Time at which to stop, by the clock."""


@kernel
def make_tree(size):
    """Return an empty tree with a table of this many entries, a power of two."""
    return Tree(
        np.zeros((LONGEST + 1, 9), np.int64),
        np.zeros((LONGEST + 1, WIDTH + 1), np.int64),
        np.zeros((LONGEST + 1, WIDTH + 1), np.int64),
        np.zeros(LONGEST + 1, np.int64),
        np.zeros((2, 128 * 128), np.int64),
        np.zeros(size, np.uint64),
        np.zeros(size, np.int32),
        np.zeros(size, np.int16),
        np.zeros(size, np.int8),
        np.zeros(size, np.int8),
        np.zeros(7, np.int64),
        np.zeros(1),
    )


@kernel
def must_stop(tree):
    """Return whether the nodes or the time have run out; looks at the clock now and then."""
    numbers = tree.numbers
    if numbers[STOPPED] == 0:
        if numbers[NODE_LIMIT] > 0:
            if numbers[NODES] >= numbers[NODE_LIMIT]:
                numbers[STOPPED] = 1
        elif numbers[NODES] % BETWEEN_LOOKS == 0 and clock() >= tree.deadline[0]:
            numbers[STOPPED] = 1
    return numbers[STOPPED] != 0


@kernel
def barred(world, tree, mover, source, target):
    """Return whether the two-square rule bars this move of the side to move."""
    back = world.line[PAST + world.state[PLY] - 2]
    return (
        back[MOVER] == mover
        and back[SOURCE] == target
        and back[TARGET] == source
        and back[TURNS_BACK] >= tree.numbers[BARRED_TURNS] - 1
    )


@kernel
def add_move(tree, ply, source, target, key):
    """Add a move to the list of this ply."""
    node = tree.stack[ply]
    if node[COUNT] < WIDTH:
        tree.moves[ply, node[COUNT]] = source * 128 + target
        tree.order[ply, node[COUNT]] = key
        node[COUNT] += 1


@kernel
def list_moves(world, tree, rules, ply, depth, best):
    """List the moves of the side to move with their keys; return 1 if some piece was left out.

    depth: what remains; at 0 and below only captures that gain are listed. best: the table's move, 0 for none.
    """
    side = world.state[SIDE]
    tree.stack[ply, COUNT] = 0
    low, high = world.pieces[1 - side, 0], world.pieces[1 - side, 1]
    for _ in range(min(depth, RADIUS) + 1 if depth > 0 else 1):
        more = beside(low, high, rules)
        low |= more[0]
        high |= more[1]
    left_out = 0
    for half in range(2):
        rest = world.movers[side, half]
        region = low if half == 0 else high
        while rest:
            bit = lowest(rest)
            rest &= rest - ONE
            source = bit + 64 * half
            inside = region >> np.uint64(bit) & ONE != 0
            mover = np.int64(world.at[source])
            if inside:
                list_steps(world, tree, ply, side, mover, source, depth, best)
            elif depth > 0:
                left_out = 1
            if world.mobile[mover] == 2:
                list_strikes(world, tree, ply, side, mover, source, best)
    return left_out


@kernel
def list_steps(world, tree, ply, side, mover, source, depth, best):
    """List the steps of one piece."""
    for direction in range(4):
        target = np.int64(world.near[source, direction])
        if target < 0:
            continue
        victim = np.int64(world.at[target])
        if victim >= 0:
            if world.owner[victim] != side:
                list_capture(world, tree, ply, mover, victim, source, target, best)
        elif depth > 0 and not barred(world, tree, mover, source, target):
            move = source * 128 + target
            if move == best:
                key = BY_TABLE
            elif move == tree.killers[ply]:
                key = BY_KILLER
            else:
                key = tree.history[side, move]
            add_move(tree, ply, source, target, key)


@kernel
def list_strikes(world, tree, ply, side, mover, source, best):
    """List the captures that a Scout can make from afar."""
    for direction in range(4):
        target = np.int64(world.near[source, direction])
        if target < 0 or world.at[target] >= 0:
            continue
        while target >= 0 and world.at[target] < 0:
            target = np.int64(world.near[target, direction])
        if target >= 0 and world.owner[world.at[target]] != side:
            list_capture(world, tree, ply, mover, np.int64(world.at[target]), source, target, best)


@kernel
def list_capture(world, tree, ply, mover, victim, source, target, best):
    """List a capture if it gains something; a sure loss is not looked at."""
    prize = gain(world, mover, victim)
    if world.result[mover, victim] == WINS:
        prize = WON
    if prize > 0 and not barred(world, tree, mover, source, target):
        key = BY_TABLE if source * 128 + target == best else BY_CAPTURE + prize
        add_move(tree, ply, source, target, key)


@kernel
def next_move(tree, ply):
    """Return the best move of this ply that has not been tried, brought to the front of the rest."""
    node = tree.stack[ply]
    first = node[NEXT]
    pick = first
    for index in range(first + 1, node[COUNT]):
        if tree.order[ply, index] > tree.order[ply, pick]:
            pick = index
    move = tree.moves[ply, pick]
    tree.moves[ply, pick] = tree.moves[ply, first]
    tree.order[ply, pick] = tree.order[ply, first]
    tree.moves[ply, first] = move
    node[NEXT] = first + 1
    return move


@kernel
def position_hash(world):
    """Return the hash of the position, with the side to move and the number of times that the last moves went back and
    forth.
    """
    ply = world.state[PLY]
    word = world.hashes[ply]
    turns = world.line[PAST + ply - 1, TURNS_BACK] * 8 + world.line[PAST + ply - 2, TURNS_BACK]
    return word ^ (np.uint64(2 * turns + world.state[SIDE]) * SIDE_KEY)


@kernel
def look_up(world, tree, ply, word):
    """Set the node by the table where it knows the position this deep; return the table's move, 0 for none.

    Only entries of the same depth count: so a search to a depth is worth what it would be without a table.
    """
    node = tree.stack[ply]
    slot = np.int64(word & np.uint64(len(tree.table_hash) - 1))
    if tree.table_hash[slot] != word:
        return 0
    if tree.table_depth[slot] == node[DEPTH]:
        value = np.int64(tree.table_value[slot])
        bound = tree.table_bound[slot]
        if bound == EXACT or (bound == LOWER and value >= node[BETA]) or (bound == UPPER and value <= node[ALPHA]):
            node[BEST] = value
            node[SETTLED] = 1
    return np.int64(tree.table_move[slot])


@kernel
def keep(world, tree, ply):
    """Write the finished node into the table."""
    node = tree.stack[ply]
    word = position_hash(world)
    slot = np.int64(word & np.uint64(len(tree.table_hash) - 1))
    tree.table_hash[slot] = word
    tree.table_value[slot] = node[BEST]
    tree.table_move[slot] = node[BEST_MOVE]
    tree.table_depth[slot] = node[DEPTH]
    if node[BEST] >= node[BETA]:
        tree.table_bound[slot] = LOWER
    elif node[BEST] <= node[FLOOR]:
        tree.table_bound[slot] = UPPER
    else:
        tree.table_bound[slot] = EXACT


@kernel
def credit(world, tree, ply, move):
    """Remember a move that was best or cut, to try it early elsewhere."""
    node = tree.stack[ply]
    if move != PASS and node[DEPTH] > 0 and world.at[move & 127] < 0:
        tree.killers[ply] = move
        tree.history[world.state[SIDE], move] += node[DEPTH]


@kernel
def enter(world, tree, rules):
    """Begin a node: settle it, or list its moves."""
    state = world.state
    ply = state[PLY]
    node = tree.stack[ply]
    numbers = tree.numbers
    numbers[NODES] += 1
    node[BEST] = -ENDLESS
    node[BEST_MOVE] = PASS
    node[COUNT] = 0
    node[NEXT] = 0
    node[FLOOR] = node[ALPHA]
    node[SETTLED] = 1
    side = state[SIDE]
    last = world.line[PAST + ply - 1]
    if ply > 0 and last[VICTIM] >= 0 and last[RESULT] == WINS:
        node[BEST] = ply - WON
        return
    if state[QUIET_PLIES] >= numbers[BATTLELESS_LIMIT_AT] or ply >= numbers[TOTAL_LEFT]:
        node[BEST] = 0
        return
    if (world.movers[side, 0] | world.movers[side, 1]) == 0:
        node[BEST] = ply - WON
        return
    depth = node[DEPTH]
    standing = state[SCORE] if side == OWN else -state[SCORE]
    if depth <= 0:
        node[BEST] = standing
        if standing >= node[BETA] or depth <= -QUIET_DEPTH or ply >= LONGEST - 1:
            return
        node[ALPHA] = max(node[ALPHA], standing)
    node[SETTLED] = 0
    best = 0
    if depth > 0:
        best = look_up(world, tree, ply, position_hash(world))
        if node[SETTLED]:
            return
    left_out = list_moves(world, tree, rules, ply, depth, best)
    if left_out:
        tree.moves[ply, node[COUNT]] = PASS
        tree.order[ply, node[COUNT]] = BY_PASS
        node[COUNT] += 1
    elif depth > 0 and node[COUNT] == 0:
        # A side that cannot move has lost. Captures that lose were not listed, so it may still be able to move.
        node[BEST] = standing if can_move(world, side) else ply - WON
        node[SETTLED] = 1


@kernel
def can_move(world, side):
    """Return whether some piece of the side can make a step."""
    for square in range(len(world.at)):
        mover = world.at[square]
        if mover >= 0 and world.owner[mover] == side and world.mobile[mover]:
            for direction in range(4):
                target = world.near[square, direction]
                if target >= 0 and (world.at[target] < 0 or world.owner[world.at[target]] != side):
                    return True
    return False


@kernel
def search(world, tree, rules, depth, alpha, beta):
    """Return the value of the position for the side to move, to a depth; meaningless once the tree has stopped."""
    state = world.state
    root = state[PLY]
    tree.stack[root, DEPTH] = depth
    tree.stack[root, ALPHA] = alpha
    tree.stack[root, BETA] = beta
    entering = True
    while True:
        ply = state[PLY]
        node = tree.stack[ply]
        if entering:
            enter(world, tree, rules)
            entering = False
        if node[SETTLED] == 0 and node[NEXT] < node[COUNT] and node[ALPHA] < node[BETA] and not must_stop(tree):
            move = next_move(tree, ply)
            make(world, move >> 7, move & 127)
            child = tree.stack[ply + 1]
            child[DEPTH] = node[DEPTH] - 1
            child[ALPHA] = -node[BETA]
            child[BETA] = -node[ALPHA]
            entering = True
            continue
        if node[SETTLED] == 0 and node[DEPTH] > 0 and tree.numbers[STOPPED] == 0:
            keep(world, tree, ply)
            credit(world, tree, ply, node[BEST_MOVE])
        if ply == root:
            return node[BEST]
        value = -node[BEST]
        unmake(world)
        node = tree.stack[ply - 1]
        if value > node[BEST]:
            node[BEST] = value
            node[BEST_MOVE] = tree.moves[ply - 1, node[NEXT] - 1]
            node[ALPHA] = max(node[ALPHA], value)
