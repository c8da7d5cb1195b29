"""Parts of Monte-Carlo tree search that do not depend on the game, as kernels: the tree, dice, copies of records.

A node stands for what was seen since the root, as a hash; its edges are moves, by a number of the game's own.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import NamedTuple

import numpy as np

from vauban.games.base import WINNER
from vauban.games.kernel import Record, kernel

MIX = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
ROOT = MIX
"""The key of the root."""
EDGES = 40
"""Number of edges for which there is room in each simulation."""


class Tree(NamedTuple):
    """Nodes, found by a hash of what happened since the root; each has a list of edges, its moves.

    Worlds differ in what the other player can do, so a list may grow when its node is visited again.
    """

    keys: np.ndarray
    """By slot of the table of nodes: the node's hash, 0 if there is none."""
    first: np.ndarray
    """By slot: the first edge."""
    following: np.ndarray
    """By edge: the next of the same node."""
    moves: np.ndarray
    """By edge: the number of its move."""
    visits: np.ndarray
    values: np.ndarray
    """By edge: the sum of its simulations' results, for the player who moves."""
    used: np.ndarray
    """Number of edges so far."""


@kernel
def make_tree(sims, most_moves):
    """Return a tree with its root, and room for a number of simulations."""
    capacity = 1
    while capacity < 4 * sims:
        capacity *= 2
    room = EDGES * sims + 2 * most_moves
    tree = Tree(
        np.zeros(capacity, np.uint64),
        np.full(capacity, -1, np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.float64),
        np.zeros(1, np.int64),
    )
    tree.keys[slot_of(tree, ROOT)] = ROOT
    return tree


@kernel
def slot_of(tree, key):
    """Return the place of a node in the table, or the place where it would be."""
    mask = np.uint64(len(tree.keys) - 1)
    slot = np.int64(key & mask)
    while tree.keys[slot] != 0 and tree.keys[slot] != key:
        slot = (slot + 1) & np.int64(mask)
    return slot


@kernel
def is_full(tree, most_moves):
    """Return whether there is no room for another node's edges."""
    return tree.used[0] + most_moves > len(tree.visits)


@kernel
def find_edge(tree, node, move):
    """Return a node's edge for a move, a new one if there is none."""
    edge = tree.first[node]
    while edge >= 0 and tree.moves[edge] != move:
        edge = np.int64(tree.following[edge])
    if edge < 0:
        edge = tree.used[0]
        tree.used[0] += 1
        tree.moves[edge] = move
        tree.following[edge] = tree.first[node]
        tree.first[node] = edge
    return edge


@kernel
def puct(tree, edge, probability, visits, explore):
    """Return the upper bound of an edge by PUCT; before the first visit to its node the prior alone decides."""
    n = tree.visits[edge]
    mean = tree.values[edge] / n if n > 0 else 0.0
    return mean + explore * probability * np.sqrt(max(visits, 1)) / (n + 1)


@kernel
def note_result(tree, path, movers, depth, viewer, value):
    """Add a simulation's result, the viewer's, to all edges that it went along."""
    for step in range(depth):
        tree.visits[path[step]] += 1
        tree.values[path[step]] += value if movers[step] == viewer else -value


@kernel
def most_visited(tree):
    """Return the root's edge with the most visits; of several, the one with the best value."""
    best, most, highest = np.int64(-1), np.int64(-1), -np.inf
    edge = tree.first[slot_of(tree, ROOT)]
    while edge >= 0:
        visits, value = np.int64(tree.visits[edge]), tree.values[edge]
        if visits > most or (visits == most and value > highest):
            best, most, highest = edge, visits, value
        edge = np.int64(tree.following[edge])
    return best


@kernel
def outcome_value(game, viewer):
    """Return an ended game's worth."""
    winner = np.int64(game.bytes[WINNER])
    if winner == viewer:
        return 1.0
    if winner == 1 - viewer:
        return -1.0
    return 0.0


@kernel
def mixed(word):
    """Return a word scrambled (SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * MIX_1
    word = (word ^ (word >> np.uint64(27))) * MIX_2
    return word ^ (word >> np.uint64(31))


@kernel
def uniform(state):
    """Return a random number from 0 to 1, exclusive; advances the state."""
    state[0] += MIX
    return np.float64(mixed(state[0]) >> np.uint64(11)) * (1.0 / (1 << 53))


@kernel
def like(game):
    """Return a record of the same shape."""
    return Record(np.empty_like(game.words), np.empty_like(game.halves), np.empty_like(game.bytes), game.rules)
