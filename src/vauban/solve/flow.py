"""The flow of regularised Nash dynamics through a tree, as kernels (`vauban.solve.dynamics`).

A step of it goes through all histories twice: forwards for the players' reach, backwards for what they are worth in
the regularised game. Policies are held by their logarithms, since probabilities become as small as one likes.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import math

import numpy as np

from vauban.games.base import CHANCE
from vauban.games.kernel import kernel
from vauban.solve.walk import TERMINAL


@kernel
def spread(nodes, groups, chances, log_policy, reach):
    """Compute by history how likely chance, and each player, leads to it: reach[0] and [1], chance in both.

    reach[player] leaves the player's own actions out: it is the weight of a history among those that look the same.
    """
    reach[0, 0] = 1.0
    reach[1, 0] = 1.0
    for node in range(nodes.kind.shape[0]):
        kind = nodes.kind[node]
        if kind == TERMINAL:
            continue
        group = np.int64(nodes.group[node])
        child = np.int64(nodes.child[node])
        if kind == CHANCE:
            for event in range(chances.first_event[group], chances.first_event[group + 1]):
                for player in range(2):
                    reach[player, child] = reach[player, node] * chances.probability[event]
                child += 1
            continue
        for slot in range(groups.first_slot[group], groups.first_slot[group + 1]):
            reach[kind, child] = reach[kind, node]
            reach[1 - kind, child] = reach[1 - kind, node] * math.exp(log_policy[slot])
            child += 1


@kernel
def weigh(nodes, groups, chances, eta, log_policy, log_regular, reach, worth, gains, weights):
    """Sum by slot what its action is worth to its owner in the regularised game, over the histories of its information
    set by their weights; sum the weights themselves by information set.

    worth: by history, to the first player. What an action costs its owner goes to the other player: the regularised
    game is zero-sum, too.
    """
    gains[:] = 0.0
    weights[:] = 0.0
    for node in range(nodes.kind.shape[0] - 1, -1, -1):
        kind = nodes.kind[node]
        if kind == TERMINAL:
            worth[node] = nodes.utility[node]
            continue
        group = np.int64(nodes.group[node])
        child = np.int64(nodes.child[node])
        total = 0.0
        if kind == CHANCE:
            for event in range(chances.first_event[group], chances.first_event[group + 1]):
                total += chances.probability[event] * worth[child]
                child += 1
            worth[node] = total
            continue
        sign = 1.0 if kind == 0 else -1.0
        weights[group] += reach[kind, node]
        for slot in range(groups.first_slot[group], groups.first_slot[group + 1]):
            cost = sign * eta * (log_policy[slot] - log_regular[slot])
            total += math.exp(log_policy[slot]) * (worth[child] - cost)
            gains[slot] += reach[kind, node] * sign * (worth[child] - cost)
            child += 1
        worth[node] = total


@kernel
def advance(groups, time_step, log_policy, gains, weights):
    """Let every logit grow by what its action is worth; return the largest advantage of an action.

    Information sets that cannot be reached stay as they are.
    """
    largest = 0.0
    for group in range(groups.owner.shape[0]):
        if weights[group] <= 0.0:
            continue
        first, last = groups.first_slot[group], groups.first_slot[group + 1]
        mean = 0.0
        for slot in range(first, last):
            gains[slot] /= weights[group]
            mean += math.exp(log_policy[slot]) * gains[slot]
        highest = -math.inf
        for slot in range(first, last):
            largest = max(largest, abs(gains[slot] - mean))
            log_policy[slot] += time_step * (gains[slot] - mean)
            highest = max(highest, log_policy[slot])
        total = 0.0
        for slot in range(first, last):
            total += math.exp(log_policy[slot] - highest)
        for slot in range(first, last):
            log_policy[slot] -= highest + math.log(total)
    return largest


@kernel
def run_flow(nodes, groups, chances, eta, time_step, steps, log_policy, log_regular, reach, worth, gains, weights):
    """Take steps along the flow; return the largest advantage before the last one."""
    largest = 0.0
    for _ in range(steps):
        spread(nodes, groups, chances, log_policy, reach)
        weigh(nodes, groups, chances, eta, log_policy, log_regular, reach, worth, gains, weights)
        largest = advance(groups, time_step, log_policy, gains, weights)
    return largest
