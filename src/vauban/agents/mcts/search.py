"""The tree: selection by UCT or PUCT, rollouts, and one tree over as many sampled worlds as wanted.

A world is a complete position that fits the view (`vauban.agents.belief`). The thesis searches one
world a move and names that as its main weakness. Here a new one can be drawn every few
simulations; all share one tree. A node stands for what happened since the root: the moves, and the
types that fights showed. So worlds in which a fight ends differently part ways behind it, and the
value of a move is its average over worlds.
"""

import numpy as np

from vauban.agents.base import RESIGNS
from vauban.agents.belief import sample, sample_thesis
from vauban.agents.mcts.evaluate import evaluate, neighbours
from vauban.agents.mcts.instinct import WORTH, evaluate_worth, warm_prior, weigh_by_worth
from vauban.agents.mcts.knowledge import learn
from vauban.agents.mcts.memory import MIX_1, key_of, make_memory, mixed, recall, remember, repeats
from vauban.agents.mcts.prior import list_moves, make_moves, make_paths, prune, weigh_moves
from vauban.games.base import END, PLAYER, PLIES, WINNER
from vauban.games.kernel import ZERO, Record, clock, kernel
from vauban.games.randomness import draw
from vauban.games.stratego.hidden import assign
from vauban.games.stratego.layout import HIDDEN_COUNT, SQUARES
from vauban.games.stratego.rules import encode, play_move

SIMS, TIME, RESAMPLE, ROLLOUTS, AHEAD, EXPLORE, PUCT, PRIOR, FINISHED, SWAPS = range(10)
"""The options by index, as `bots` lists them."""
NO_PRIOR, THESIS_PRIOR, OWN_PRIOR = 0, 1, 2
MOST_SIMS = 20_000
"""No move gets more simulations than this, however much time it has."""
EDGES = 32
"""Room for so many edges a simulation."""
MOST_MOVES = 512
MOST_DEPTH = 256

MIX = np.uint64(0x9E3779B97F4A7C15)


@kernel
def uniform(state):
    """A random number from 0 to 1, exclusive; advances the state."""
    state[0] += MIX
    return np.float64(mixed(state[0]) >> np.uint64(11)) * (1.0 / (1 << 53))


@kernel
def copy_record(source, target):
    """Make one record equal to another."""
    target.words[:] = source.words
    target.halves[:] = source.halves
    target.bytes[:] = source.bytes


@kernel
def like(game):
    """A record of the same shape."""
    return Record(np.empty_like(game.words), np.empty_like(game.halves), np.empty_like(game.bytes), game.rules)


@kernel
def choose(game, seed, options, prior):
    """The action with the most visits."""
    viewer = np.int64(game.bytes[PLAYER])
    rules = game.rules
    squares = rules[SQUARES]
    state = np.empty(1, np.uint64)
    state[0] = (draw(seed, np.uint64(viewer), np.int64(game.words[PLIES]), 0, 0) << np.uint64(32)) | draw(
        seed, np.uint64(viewer), np.int64(game.words[PLIES]), 0, 1
    )
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

    # Nodes are found by a hash of what happened; each has a list of edges, which grows as worlds differ.
    capacity = 1
    while capacity < 4 * sims:
        capacity *= 2
    keys = np.zeros(capacity, np.uint64)
    first_edge = np.full(capacity, -1, np.int64)
    room = EDGES * sims + MOST_MOVES
    edge_next = np.empty(room, np.int32)
    edge_move = np.empty(room, np.int32)
    edge_visits = np.zeros(room, np.int32)
    edge_value = np.zeros(room, np.float64)
    edges = 0
    keys[slot_of(keys, MIX)] = MIX

    trail = np.empty(MOST_DEPTH, np.int64)
    movers = np.empty(MOST_DEPTH, np.int64)
    at_node = np.empty(MOST_MOVES, np.int64)

    for sim in range(sims):
        if (sim & 3) == 0 and clock() > deadline and sim > 0:
            break
        if sim == 0 or (resample > 0 and sim % resample == 0):
            draw_world(game, world, viewer, prior, types, np.int64(options[SWAPS]), seed, state)
        copy_record(world, line)
        key = MIX
        depth = 0
        value = 0.0
        while True:
            if line.bytes[END] != 0:
                value = outcome_value(line, viewer)
                break
            player = np.int64(line.bytes[PLAYER])
            count = consider(line, knowledge, near, paths, memory, moves, options)
            node = slot_of(keys, key)
            visits = 0
            for index in range(count):
                code = moves.sources[index] * 128 + moves.targets[index]
                edge = first_edge[node]
                while edge >= 0 and edge_move[edge] != code:
                    edge = edge_next[edge]
                if edge < 0:
                    edge = edges
                    edges += 1
                    edge_move[edge] = code
                    edge_visits[edge] = 0
                    edge_value[edge] = 0.0
                    edge_next[edge] = first_edge[node]
                    first_edge[node] = edge
                at_node[index] = edge
                visits += edge_visits[edge]
            chosen = select_edge(moves, count, at_node, edge_visits, edge_value, visits, options)
            edge = at_node[chosen]
            source, target = moves.sources[chosen], moves.targets[chosen]
            trail[depth] = edge
            movers[depth] = player
            depth += 1
            shown = play_shown(line, viewer, source, target)
            key = mixed(key ^ np.uint64(source * 128 + target + 16384 * (shown + 1)) * MIX_1)
            if line.bytes[END] != 0:
                value = outcome_value(line, viewer)
                break
            if depth >= MOST_DEPTH or keys[slot_of(keys, key)] != key:
                keys[slot_of(keys, key)] = key
                value = rollouts(line, rollout, viewer, knowledge, near, paths, memory, moves, options, state)
                break
        for index in range(depth):
            edge = trail[index]
            edge_visits[edge] += 1
            edge_value[edge] += value if movers[index] == viewer else -value
        if edges + MOST_MOVES > room:
            break

    best, most, total = -1, -1, -np.inf
    edge = first_edge[slot_of(keys, MIX)]
    while edge >= 0:
        visits = np.int64(edge_visits[edge])
        if visits > most or (visits == most and edge_value[edge] > total):
            best, most, total = np.int64(edge_move[edge]), visits, edge_value[edge]
        edge = edge_next[edge]
    if best < 0:
        return RESIGNS
    return encode(rules, viewer, best // 128, best % 128)


@kernel
def consider(game, knowledge, near, paths, memory, moves, options):
    """Write down the moves to look at with their probabilities; how many there are."""
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
    """A complete position that fits the view."""
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
    """Play a move; which of the other player's types it showed to the viewer, by a sum over types; −1 if none."""
    offset = HIDDEN_COUNT + 12 * (1 - viewer)
    before = 0
    for kind in range(12):
        before += np.int64(game.bytes[offset + kind]) * (kind + 1)
    play_move(game, source, target)
    for kind in range(12):
        before -= np.int64(game.bytes[offset + kind]) * (kind + 1)
    return before - 1


@kernel
def outcome_value(game, viewer):
    """What an ended game is worth."""
    winner = np.int64(game.bytes[WINNER])
    if winner == viewer:
        return 1.0
    if winner == 1 - viewer:
        return -1.0
    return 0.0


@kernel
def slot_of(keys, key):
    """Where a key is, or would be, in the table."""
    mask = np.uint64(len(keys) - 1)
    slot = np.int64(key & mask)
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & np.int64(mask)
    return slot


@kernel
def select_edge(moves, count, at_node, edge_visits, edge_value, visits, options):
    """The move with the highest upper bound."""
    explore = options[EXPLORE]
    best, highest = 0, -np.inf
    for index in range(count):
        edge = at_node[index]
        n = edge_visits[edge]
        if options[PUCT] > 0:
            bound = edge_value[edge] / n if n > 0 else 0.0
            bound += explore * moves.values[index] * np.sqrt(visits) / (n + 1)
            if visits == 0:
                bound = moves.values[index]
        elif n == 0:
            bound = np.inf
        else:
            bound = edge_value[edge] / n + explore * np.sqrt(np.log(visits) / n)
        if bound > highest:
            best, highest = index, bound
    return best


@kernel
def rollouts(line, rollout, viewer, knowledge, near, paths, memory, moves, options, state):
    """What a position is worth: the mean over several games played a few moves further."""
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
