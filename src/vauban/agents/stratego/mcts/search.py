"""The tree: selection by UCT or PUCT, rollouts, and one tree over as many sampled worlds as wanted.

A world is a complete position that fits the view (`vauban.agents.stratego.belief`). The thesis searches one
world a move and names that as its main weakness. Here a new one can be drawn every few
simulations; all share one tree. A node stands for what happened since the root: the moves, and the
types that fights showed. So worlds in which a fight ends differently part ways behind it, and the
value of a move is its average over worlds.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.agents.stratego.belief import sample, sample_thesis
from vauban.agents.stratego.mcts.evaluate import evaluate
from vauban.agents.stratego.mcts.instinct import WORTH, evaluate_worth, warm_prior, weigh_by_worth
from vauban.agents.stratego.mcts.knowledge import learn
from vauban.agents.stratego.mcts.memory import key_of, make_memory, recall, remember, repeats
from vauban.agents.stratego.mcts.prior import list_moves, make_moves, make_paths, prune, weigh_moves
from vauban.agents.stratego.terrain import neighbours
from vauban.agents.tree import (
    MIX,
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
from vauban.games.kernel import ZERO, clock, copy_record, kernel
from vauban.games.randomness import MOVE, draw
from vauban.games.stratego.hidden import assign
from vauban.games.stratego.layout import HIDDEN_COUNT, SQUARES
from vauban.games.stratego.rules import encode, play_move

SIMS, TIME, RESAMPLE, ROLLOUTS, AHEAD, EXPLORE, PUCT, PRIOR, FINISHED, SWAPS = range(10)
"""The options by index, as `bots` lists them."""
NO_PRIOR, THESIS_PRIOR, OWN_PRIOR = 0, 1, 2
MOST_SIMS = 20_000
"""No move gets more simulations than this, however much time it has."""
MOST_MOVES = 512
MOST_DEPTH = 256
PATIENCE = 4
"""Simulations between two looks at the clock."""


@kernel
def choose(game, seed, options, prior):
    """Return the action with the most visits, and the mean of what came of it."""
    viewer = np.int64(game.bytes[PLAYER])
    rules = game.rules
    squares = rules[SQUARES]
    state = np.empty(1, np.uint64)
    ply = np.int64(game.words[PLIES])
    state[0] = draw(seed, np.uint64(viewer), ply, 0, MOVE, 0) << np.uint64(32)
    state[0] |= draw(seed, np.uint64(viewer), ply, 0, MOVE, 1)
    deadline = clock() + options[TIME] if options[TIME] > 0 else np.inf
    sims = min(np.int64(options[SIMS]), MOST_SIMS) if options[SIMS] > 0 else MOST_SIMS
    resample = np.int64(options[RESAMPLE])

    near = neighbours(rules)
    moves = make_moves(MOST_MOVES)
    paths = make_paths(squares)
    memory = make_memory()
    knowledge = learn(game, viewer, prior, WORTH)
    world, line, rollout = like(game), like(game), like(game)
    types = np.zeros(squares, np.int64)

    tree = make_tree(sims, MOST_MOVES)
    path = np.empty(MOST_DEPTH, np.int64)
    movers = np.empty(MOST_DEPTH, np.int64)
    here = np.empty(MOST_MOVES, np.int64)
    for sim in range(sims):
        if sim > 0 and sim % PATIENCE == 0 and clock() > deadline:
            break
        if sim == 0 or (resample > 0 and sim % resample == 0):
            draw_world(game, world, viewer, prior, types, np.int64(options[SWAPS]), seed, state)
        copy_record(world, line)
        key = ROOT
        depth = 0
        while True:
            if line.bytes[END] != 0:
                value = outcome_value(line, viewer)
                break
            if tree.keys[slot_of(tree, key)] != key or depth == MOST_DEPTH or is_full(tree, MOST_MOVES):
                tree.keys[slot_of(tree, key)] = key
                value = rollouts(line, rollout, viewer, knowledge, near, paths, memory, moves, options, state)
                break
            count = consider(line, knowledge, near, paths, memory, moves, options)
            visits = find_edges(tree, slot_of(tree, key), moves, count, here)
            chosen = select_move(tree, moves, count, here, visits, options)
            path[depth] = here[chosen]
            movers[depth] = line.bytes[PLAYER]
            depth += 1
            source, target = moves.sources[chosen], moves.targets[chosen]
            shown = play_shown(line, viewer, source, target)
            key = mixed(key ^ np.uint64(source * 128 + target + 16384 * (shown + 1)) * MIX_1)
        note_result(tree, path, movers, depth, viewer, value)
        # A single move needs no thought.
        if tree.used[0] == 1 or is_full(tree, MOST_MOVES):
            break
    best = most_visited(tree)
    move = np.int64(tree.moves[best])
    return encode(rules, viewer, move // 128, move % 128), tree.values[best] / max(tree.visits[best], 1)


# ── The tree ─────────────────────────────────────────────────────────────────────────────────────


@kernel
def find_edges(tree, node, moves, count, here):
    """Write down a node's edges for these moves, new ones where there are none; return the number of visits to all.

    The number of a move is 128 · source + target.
    """
    visits = 0
    for index in range(count):
        edge = find_edge(tree, node, moves.sources[index] * 128 + moves.targets[index])
        here[index] = edge
        visits += tree.visits[edge]
    return visits


@kernel
def select_move(tree, moves, count, here, visits, options):
    """Return the move with the highest upper bound (thesis §4.2.2)."""
    explore = options[EXPLORE]
    best, highest = 0, -np.inf
    for index in range(count):
        n = tree.visits[here[index]]
        if options[PUCT] > 0:
            bound = puct(tree, here[index], moves.values[index], visits, explore)
        elif n == 0:
            bound = np.inf
        else:
            bound = tree.values[here[index]] / n + explore * np.sqrt(np.log(visits) / n)
        if bound > highest:
            best, highest = index, bound
    return best


# ── Moves, worlds, rollouts ──────────────────────────────────────────────────────────────────────


@kernel
def consider(game, knowledge, near, paths, memory, moves, options):
    """Write down the moves to look at with their probabilities; return their number."""
    if options[PRIOR] == NO_PRIOR:
        count = list_moves(game, moves)
        for index in range(count):
            moves.values[index] = 1.0 / count
        return count
    # Positions come again only where many rollouts begin in one world.
    remembers = options[RESAMPLE] == 0 and not repeats(game)
    key = ZERO
    if remembers:
        key = key_of(game)
        count = recall(memory, key, moves)
        if count > 0:
            return count
    if options[PRIOR] == THESIS_PRIOR:
        count = prune(moves, weigh_moves(game, knowledge, near, paths, moves))
    else:
        count = warm_prior(moves, weigh_by_worth(game, knowledge, near, paths, moves))
    if remembers:
        remember(memory, key, moves, count)
    return count


@kernel
def draw_world(game, world, viewer, prior, types, swaps, seed, state):
    """Draw a complete position that fits the view."""
    while True:
        copy_record(game, world)
        state[0] += MIX
        if swaps >= 0:
            sample(game, viewer, prior, swaps, seed, mixed(state[0]), types)
        else:
            sample_thesis(game, viewer, prior, seed, mixed(state[0]), types)
        if assign(world, viewer, types):
            return


@kernel
def play_shown(game, viewer, source, target):
    """Play a move; return the other player's types that it showed to the viewer, as a sum over types; −1 if none."""
    offset = HIDDEN_COUNT + 12 * (1 - viewer)
    before = 0
    for kind in range(12):
        before += np.int64(game.bytes[offset + kind]) * (kind + 1)
    play_move(game, source, target)
    for kind in range(12):
        before -= np.int64(game.bytes[offset + kind]) * (kind + 1)
    return before - 1


@kernel
def rollouts(line, rollout, viewer, knowledge, near, paths, memory, moves, options, state):
    """Estimate a position's worth: the mean over several games played a few moves further."""
    total, weight = 0.0, 0.0
    for _ in range(np.int64(options[ROLLOUTS])):
        copy_record(line, rollout)
        for _ in range(np.int64(options[AHEAD])):
            if rollout.bytes[END] != 0:
                break
            count = consider(rollout, knowledge, near, paths, memory, moves, options)
            left = uniform(state)
            index = 0
            while index + 1 < count and left >= moves.values[index]:
                left -= moves.values[index]
                index += 1
            play_move(rollout, moves.sources[index], moves.targets[index])
        if rollout.bytes[END] != 0:
            total += options[FINISHED] * outcome_value(rollout, viewer)
            weight += options[FINISHED]
        else:
            total += evaluate_worth(rollout, viewer) if options[PRIOR] == OWN_PRIOR else evaluate(rollout, near, viewer)
            weight += 1.0
    return total / weight
