"""Monte Carlo CFR, as kernels: iterations that look at a sample of the histories only.

(Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive
games".) Dice are functions of the seed and the iteration (`vauban.games.randomness`).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import CHANCE
from vauban.games.kernel import kernel
from vauban.games.randomness import CHANCE as FOR_CHANCE
from vauban.games.randomness import MOVE, draw
from vauban.solve.sweeps import match_regrets
from vauban.solve.walk import TERMINAL

WHOLE = 2.0**-32


@kernel
def pick(probabilities, first, last, dice):
    """Return a place from `first` to `last`, exclusive, by these probabilities; `dice`: 32 random bits."""
    rest = np.float64(dice) * WHOLE
    for place in range(first, last - 1):
        rest -= probabilities[place]
        if rest < 0:
            return place - first
    # Rounding may leave a trace of probability over: it must not fall on an impossible place.
    place = last - 1
    while probabilities[place] == 0 and place > first:
        place -= 1
    return place - first


@kernel
def happen(nodes, chances, node, seed, iteration, player):
    """Let chance act at a history; return the child."""
    group = np.int64(nodes.group[node])
    dice = draw(seed, iteration, group, 0, FOR_CHANCE, player)
    return nodes.child[node] + pick(
        chances.probability, chances.first_event[group], chances.first_event[group + 1], dice
    )


@kernel
def sample_externally(nodes, groups, chances, player, seed, iteration, policy, regrets, sums, path, tried, values):
    """Make one traversal with external sampling: all of the player's own actions, one of everything else.

    The other player chooses once in each information set, as often as the traversal comes by. Its policy is counted
    into the average here, since the traversal comes here as often as it plays so.
    """
    sign = 1.0 if player == 0 else -1.0
    node = np.int64(0)
    level = -1
    while True:
        # Down to an end, by the first action that has not been tried yet.
        while nodes.kind[node] != TERMINAL:
            kind = nodes.kind[node]
            if kind == CHANCE:
                node = happen(nodes, chances, node, seed, iteration, player)
                continue
            group = np.int64(nodes.group[node])
            first, last = groups.first_slot[group], groups.first_slot[group + 1]
            match_regrets(regrets, first, last, policy)
            if kind == player:
                level += 1
                path[level] = node
                tried[level] = 0
                node = np.int64(nodes.child[node])
            else:
                for slot in range(first, last):
                    sums[slot] += policy[slot]
                node = nodes.child[node] + pick(policy, first, last, draw(seed, iteration, group, 0, MOVE, player))
        worth = sign * nodes.utility[node]
        # Up to an own history with an action left.
        while level >= 0:
            group = np.int64(nodes.group[path[level]])
            first, last = groups.first_slot[group], groups.first_slot[group + 1]
            values[level, tried[level]] = worth
            tried[level] += 1
            if tried[level] < last - first:
                node = np.int64(nodes.child[path[level]]) + tried[level]
                break
            worth = 0.0
            for slot in range(first, last):
                worth += policy[slot] * values[level, slot - first]
            for slot in range(first, last):
                regrets[slot] += values[level, slot - first] - worth
            level -= 1
        if level < 0:
            return


@kernel
def sample_outcome(nodes, groups, chances, player, exploration, seed, iteration, policy, mixed, regrets, sums, path,
                   chosen, reaches):  # fmt: skip
    """Make one traversal with outcome sampling: a single play, in which the player explores.

    `reaches`: by step, the other player's reach before it. Chance is sampled as it is, so it cancels.
    """
    node = np.int64(0)
    steps = 0
    theirs = 1.0
    sampled = 1.0
    while nodes.kind[node] != TERMINAL:
        kind = nodes.kind[node]
        if kind == CHANCE:
            node = happen(nodes, chances, node, seed, iteration, player)
            continue
        group = np.int64(nodes.group[node])
        first, last = groups.first_slot[group], groups.first_slot[group + 1]
        match_regrets(regrets, first, last, policy)
        path[steps] = node
        reaches[steps] = theirs
        dice = draw(seed, iteration, steps, 0, MOVE, player)
        if kind == player:
            for slot in range(first, last):
                mixed[slot - first] = (1 - exploration) * policy[slot] + exploration / (last - first)
            index = pick(mixed, 0, last - first, dice)
            sampled *= mixed[index]
        else:
            for slot in range(first, last):
                sums[slot] += theirs / sampled * policy[slot]
            index = pick(policy, first, last, dice)
            sampled *= policy[first + index]
            theirs *= policy[first + index]
        chosen[steps] = index
        steps += 1
        node = nodes.child[node] + index

    worth = nodes.utility[node] / sampled
    if player == 1:
        worth = -worth
    tail = 1.0
    for step in range(steps - 1, -1, -1):
        group = np.int64(nodes.group[path[step]])
        first, last = groups.first_slot[group], groups.first_slot[group + 1]
        here = policy[first + chosen[step]]
        if nodes.kind[path[step]] == player:
            weight = worth * reaches[step] * tail
            for slot in range(first, last):
                regrets[slot] -= weight * here
            regrets[first + chosen[step]] += weight
        tail *= here


@kernel
def run_external(nodes, groups, chances, first, last, seed, policy, regrets, sums, path, tried, values):
    """Run the iterations `first` to `last`, exclusive: a traversal for each player."""
    for iteration in range(first, last):
        for player in range(2):
            sample_externally(nodes, groups, chances, player, seed, np.uint64(iteration), policy, regrets, sums, path,
                              tried, values)  # fmt: skip


@kernel
def run_outcome(nodes, groups, chances, first, last, seed, exploration, policy, mixed, regrets, sums, path, chosen,
                reaches):  # fmt: skip
    """Run the iterations `first` to `last`, exclusive: a traversal for each player."""
    for iteration in range(first, last):
        for player in range(2):
            sample_outcome(nodes, groups, chances, player, exploration, seed, np.uint64(iteration), policy, mixed,
                           regrets, sums, path, chosen, reaches)  # fmt: skip
