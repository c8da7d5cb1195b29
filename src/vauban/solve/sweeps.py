"""Passes over a tree's information sets, as kernels: reach, values, best responses, regrets.

With perfect recall nothing has to be done history by history. A player's probability of having
played so far depends on its last slot alone, and so does what the ends after it are worth to it:
going through the information sets in order gives the one, through the ends and back through the
information sets the other.

Arrays by slot have one element more than there are slots, the last: for a player who has not acted
yet. `live` lists a player's information sets, in order, from which some end that is not worth 0 can
be reached; in the others nothing matters.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import kernel


@kernel
def mark_live(groups, payoffs, alive):
    """Mark, by slot and, behind them, for the root, whether an end that is not worth 0 can follow. (`alive` begins as
    0.)
    """
    for end in range(payoffs.weight.shape[0]):
        alive[payoffs.slots[end, 0]] = True
        alive[payoffs.slots[end, 1]] = True
    for group in range(groups.owner.shape[0] - 1, -1, -1):
        for slot in range(groups.first_slot[group], groups.first_slot[group + 1]):
            if alive[slot]:
                alive[groups.parent[group]] = True


@kernel
def add_reach(groups, live, policy, reach):
    """Add the probability with which a player's own choices lead through each of its slots."""
    reach[reach.shape[0] - 1] = 1.0
    for group in live:
        before = reach[groups.parent[group]]
        for slot in range(groups.first_slot[group], groups.first_slot[group + 1]):
            reach[slot] = before * policy[slot]


@kernel
def gather(payoffs, player, reach, value):
    """Sum by slot the worth of the ends right after it to the player, weighted by chance and the other's reach."""
    value[:] = 0.0
    sign = 1.0 if player == 0 else -1.0
    for end in range(payoffs.weight.shape[0]):
        value[payoffs.slots[end, player]] += sign * payoffs.weight[end] * reach[payoffs.slots[end, 1 - player]]


@kernel
def expect(payoffs, reach):
    """Return the game's worth to the first player."""
    sum_ = 0.0
    for end in range(payoffs.weight.shape[0]):
        sum_ += payoffs.weight[end] * reach[payoffs.slots[end, 0]] * reach[payoffs.slots[end, 1]]
    return sum_


@kernel
def respond(groups, live, value, policy):
    """Let the player choose the best slot everywhere (the first of equals); return what it gets."""
    for place in range(live.shape[0] - 1, -1, -1):
        group = live[place]
        first, last = groups.first_slot[group], groups.first_slot[group + 1]
        best = first
        for slot in range(first, last):
            policy[slot] = 0.0
            if value[slot] > value[best]:
                best = slot
        policy[best] = 1.0
        value[groups.parent[group]] += value[best]
    return value[value.shape[0] - 1]


@kernel
def match_regrets(regrets, first, last, policy):
    """Set probabilities in proportion to positive regrets; uniform where there are none."""
    total = 0.0
    for slot in range(first, last):
        total += max(regrets[slot], 0.0)
    for slot in range(first, last):
        policy[slot] = max(regrets[slot], 0.0) / total if total > 0 else 1.0 / (last - first)


@kernel
def update_regrets(groups, live, weight, clips, policy, reach, value, regrets, sums):
    """Take a player's turn in CFR: count its policy into the average, add its regrets, and match them.

    `value` as `gather` leaves it, `reach` its own. `clips`: negative regrets become 0 (CFR+).
    """
    for place in range(live.shape[0] - 1, -1, -1):
        group = live[place]
        first, last = groups.first_slot[group], groups.first_slot[group + 1]
        mean = 0.0
        for slot in range(first, last):
            mean += policy[slot] * value[slot]
        for slot in range(first, last):
            sums[slot] += weight * reach[slot]
            regrets[slot] += value[slot] - mean
            if clips and regrets[slot] < 0:
                regrets[slot] = 0.0
        match_regrets(regrets, first, last, policy)
        value[groups.parent[group]] += mean


@kernel
def run_cfr(groups, payoffs, live_0, live_1, first, last, plus, policy, reach, value, regrets, sums):
    """Run the iterations `first` to `last`, exclusive, counted from 1: the first player's turn, then the second's.

    `plus`: regrets are clipped, and iterations count by their number (CFR+).
    """
    add_reach(groups, live_0, policy, reach)
    add_reach(groups, live_1, policy, reach)
    for iteration in range(first, last):
        weight = np.float64(iteration) if plus else 1.0
        for player in range(2):
            live = live_0 if player == 0 else live_1
            gather(payoffs, player, reach, value)
            # The average takes the policy with which the turn began; the other player answers the new one.
            update_regrets(groups, live, weight, plus, policy, reach, value, regrets, sums)
            add_reach(groups, live, policy, reach)


@kernel
def normalise(first_slot, sums, policy):
    """Turn sums into probabilities; uniform where nothing was added."""
    for group in range(first_slot.shape[0] - 1):
        first, last = first_slot[group], first_slot[group + 1]
        total = 0.0
        for slot in range(first, last):
            total += sums[slot]
        for slot in range(first, last):
            policy[slot] = sums[slot] / total if total > 0 else 1.0 / (last - first)
