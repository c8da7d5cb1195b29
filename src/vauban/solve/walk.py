"""A walk through all histories of a game, as kernels: it fills `vauban.solve.tree`.

The walk is depth first, with a stack of records; every call goes on where the last one stopped,
which it does when an array is full (the caller makes it larger) or when it has done its share.

A player's knowledge is a chain: at every history the present view and, after an action of its own, that action are
hashed into the knowledge before. So nothing that it ever saw is forgotten, even if a
later view no longer shows it. Keys have 128 bits: among ten million information sets, two that
differ agree by accident with a chance of 10^-25.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import Any, NamedTuple

import numpy as np

from vauban.games.base import CHANCE, END, NUMBER, PLAYER
from vauban.games.kernel import ZERO, Record, kernel
from vauban.games.randomness import MOVE, START, below
from vauban.sim.batch_cpu import conceal
from vauban.sim.bodies import begin, chance_weight, legal_action, legal_count, play, utility

TERMINAL = 3
"""The kind of a history at which the game is over; the others are those of the byte `PLAYER`."""
DONE, SHARE_DONE, UNLIKE = 0, 1, 2
"""Reasons why a walk stopped: all is walked; its share is; two histories look alike and have different actions."""
NODES_FULL, GROUPS_FULL, SLOTS_FULL, PAYOFFS_FULL, CHANCES_FULL, EVENTS_FULL, STACK_FULL = 3, 4, 5, 6, 7, 8, 9
"""Or because something needs more room."""


class Nodes(NamedTuple):
    """Histories. The children of one lie side by side, behind it."""

    kind: Any
    """int8: the player on turn, `CHANCE` or `TERMINAL`."""
    group: Any
    """int32: its information set; at chance, its number among the histories of chance."""
    child: Any
    """int32: its first child."""
    utility: Any
    """float64: at the end, its worth to the first player."""


class Groups(NamedTuple):
    """Information sets, in the order in which the walk met them: each behind its player's earlier ones."""

    owner: Any
    """int8: its player."""
    first_slot: Any
    """int32: its actions are the slots from here to the next set's, exclusive."""
    parent: Any
    """int32: the owner's last slot before it; −1 if there was none (in a `Tree`, the slot behind all)."""
    example: Any
    """int32: one of its histories."""


class Index(NamedTuple):
    """The key by which an information set is found again."""

    keys: Any
    """uint64, two for each set: its player's knowledge, hashed."""
    table: Any
    """int32, a power of two, twice as many as sets have room: hash table of the sets, −1 where it is empty."""


class Payoffs(NamedTuple):
    """Ends that are not worth 0."""

    slots: Any
    """int32, one for each player: the slot of its last action; −1 if it had none (as above)."""
    weight: Any
    """float64: the end's worth to the first player times the probability of all that chance did."""


class Chances(NamedTuple):
    """Histories at which chance decides, and their events side by side."""

    first_event: Any
    """int32: its events are those from here to the next one's, exclusive."""
    probability: Any
    """float64: of each event."""


class Stack(NamedTuple):
    """The records and the knowledge along the histories from the root to where the walk is."""

    words: Any
    halves: Any
    bytes: Any
    node: Any
    """int64: the history's number."""
    count: Any
    """int64: its number of children."""
    next: Any
    """int64: the next of them."""
    keys: Any
    """uint64, players × 2: each player's knowledge."""
    slots: Any
    """int64: the slot of each player's last action."""
    reach: Any
    """float64: the probability of what chance did."""


LEVEL, DEEPEST, NODE_COUNT, GROUP_COUNT, SLOT_COUNT, PAYOFF_COUNT, CHANCE_COUNT, EVENT_COUNT, COUNTS = range(9)
"""Counters: the end of the stack, its furthest end so far, and the used part of each array."""

HASH_0 = np.uint64(0x9E3779B97F4A7C15)
HASH_1 = np.uint64(0xD6E8FEB86659FD93)
SHIFT = np.uint64(32)


@kernel
def record_at(stack, level, rules):
    """Return the record of one level of the stack."""
    return Record(stack.words[level], stack.halves[level], stack.bytes[level], rules)


@kernel
def copy_level(stack, source, target):
    """Copy a record from one level to another."""
    for word in range(stack.words.shape[1]):
        stack.words[target, word] = stack.words[source, word]
    for half in range(stack.halves.shape[1]):
        stack.halves[target, half] = stack.halves[source, half]
    for byte in range(stack.bytes.shape[1]):
        stack.bytes[target, byte] = stack.bytes[source, byte]


@kernel
def mixed(key, number, multiplier):
    """Return a key with one more number in it; different numbers never give the same."""
    key = (key ^ number) * multiplier
    return key ^ (key >> SHIFT)


@kernel
def know(stack, level, parent, player, action, rules):
    """Hash a player's knowledge at a level: the knowledge at its parent's, the own action (−1: none), the view."""
    scratch = stack.words.shape[0] - 1
    copy_level(stack, level, scratch)
    game = record_at(stack, scratch, rules)
    conceal(game, player)
    a, b = ZERO, ZERO
    if parent >= 0:
        a, b = stack.keys[parent, player, 0], stack.keys[parent, player, 1]
    a = mixed(a, np.uint64(action + 1), HASH_0)
    b = mixed(b, np.uint64(action + 1), HASH_1)
    for word in game.words:
        a = mixed(a, word, HASH_0)
        b = mixed(b, word, HASH_1)
    for half in game.halves:
        a = mixed(a, np.uint64(half), HASH_0)
        b = mixed(b, np.uint64(half), HASH_1)
    for byte in game.bytes:
        a = mixed(a, np.uint64(byte), HASH_0)
        b = mixed(b, np.uint64(byte), HASH_1)
    stack.keys[level, player, 0] = a
    stack.keys[level, player, 1] = b


@kernel
def find_place(table, keys, a, b):
    """Return the place in the hash table of the set with this key, or the empty one where it belongs."""
    last = table.shape[0] - 1
    place = np.int64(a & np.uint64(last))
    while table[place] >= 0 and not (keys[table[place], 0] == a and keys[table[place], 1] == b):
        place = (place + 1) & last
    return place


@kernel
def fill_table(keys, table, count):
    """Put the sets into an empty hash table."""
    for group in range(count):
        table[find_place(table, keys, keys[group, 0], keys[group, 1])] = group


@kernel
def enter(nodes, groups, sets, actions, payoffs, chances, stack, counts, rules, level, node):
    """Write down the history of a level of the stack, and push it if something follows.

    Returns `DONE`; or what is full, and then nothing has changed but the level itself.
    """
    game = record_at(stack, level, rules)
    counts[DEEPEST] = max(counts[DEEPEST], level)
    if game.bytes[END] != 0:
        worth = np.float64(utility(game))
        nodes.kind[node] = TERMINAL
        nodes.group[node] = -1
        nodes.utility[node] = worth
        if worth != 0:
            payoff = counts[PAYOFF_COUNT]
            if payoff == payoffs.weight.shape[0]:
                return PAYOFFS_FULL
            payoffs.slots[payoff, 0] = stack.slots[level, 0]
            payoffs.slots[payoff, 1] = stack.slots[level, 1]
            payoffs.weight[payoff] = worth * stack.reach[level]
            counts[PAYOFF_COUNT] = payoff + 1
        return DONE

    count = legal_count(game)
    if counts[NODE_COUNT] + count > nodes.kind.shape[0]:
        return NODES_FULL
    if level + 2 >= stack.words.shape[0]:  # the last level is for views
        return STACK_FULL
    kind = np.int64(game.bytes[PLAYER])
    if kind == CHANCE:
        group = counts[CHANCE_COUNT]
        event = counts[EVENT_COUNT]
        if group + 1 >= chances.first_event.shape[0]:
            return CHANCES_FULL
        if event + count > chances.probability.shape[0]:
            return EVENTS_FULL
        total = 0
        for index in range(count):
            total += chance_weight(game, index)
        for index in range(count):
            chances.probability[event + index] = chance_weight(game, index) / total
        chances.first_event[group + 1] = event + count
        counts[CHANCE_COUNT] = group + 1
        counts[EVENT_COUNT] = event + count
    else:
        a, b = stack.keys[level, kind, 0], stack.keys[level, kind, 1]
        place = find_place(sets.table, sets.keys, a, b)
        group = np.int64(sets.table[place])
        if group < 0:
            group = counts[GROUP_COUNT]
            slot = counts[SLOT_COUNT]
            if group == groups.owner.shape[0]:
                return GROUPS_FULL
            if slot + count > actions.shape[0]:
                return SLOTS_FULL
            sets.table[place] = group
            sets.keys[group, 0] = a
            sets.keys[group, 1] = b
            groups.owner[group] = kind
            groups.parent[group] = stack.slots[level, kind]
            groups.example[group] = node
            groups.first_slot[group + 1] = slot + count
            for index in range(count):
                actions[slot + index] = legal_action(game, index)
            counts[GROUP_COUNT] = group + 1
            counts[SLOT_COUNT] = slot + count
        else:
            slot = np.int64(groups.first_slot[group])
            if groups.first_slot[group + 1] - slot != count:
                return UNLIKE
            for index in range(count):
                if actions[slot + index] != legal_action(game, index):
                    return UNLIKE
    nodes.kind[node] = kind
    nodes.group[node] = group
    nodes.child[node] = counts[NODE_COUNT]
    counts[NODE_COUNT] += count
    stack.node[level] = node
    stack.count[level] = count
    stack.next[level] = 0
    counts[LEVEL] = level
    return DONE


@kernel
def enter_root(nodes, groups, sets, actions, payoffs, chances, stack, counts, rules, starts):
    """Put the root on the empty stack: chance that draws a start, or the one start there is; as `enter` returns."""
    stack.reach[0] = 1.0
    stack.slots[0, 0] = -1
    stack.slots[0, 1] = -1
    counts[NODE_COUNT] = 1
    several = starts.shape[0] > 1
    if several:
        for index in range(starts.shape[0]):
            chances.probability[index] = 1 / starts.shape[0]
        chances.first_event[1] = starts.shape[0]
        counts[CHANCE_COUNT] = 1
        counts[EVENT_COUNT] = starts.shape[0]
        nodes.kind[0] = CHANCE
        nodes.group[0] = 0
        nodes.child[0] = 1
        counts[NODE_COUNT] = 1 + starts.shape[0]
        stack.node[0] = 0
        stack.count[0] = starts.shape[0]
        stack.next[0] = 0
        counts[LEVEL] = 0
        return DONE
    begin(record_at(stack, 0, rules), starts[0])
    for player in range(2):
        know(stack, 0, -1, player, -1, rules)
    return enter(nodes, groups, sets, actions, payoffs, chances, stack, counts, rules, 0, 0)


@kernel
def walk(nodes, groups, sets, actions, payoffs, chances, stack, counts, rules, starts, share):
    """Go on walking until all is walked, an array is full, or `share` more histories were found.

    Level 0 is the root: the one start, or chance that draws one.
    """
    several = starts.shape[0] > 1
    if counts[NODE_COUNT] == 0:
        stop = enter_root(nodes, groups, sets, actions, payoffs, chances, stack, counts, rules, starts)
        if stop != DONE:
            counts[NODE_COUNT] = 0
            return stop
    until = counts[NODE_COUNT] + share
    while counts[LEVEL] >= 0:
        level = counts[LEVEL]
        index = stack.next[level]
        if index == stack.count[level]:
            counts[LEVEL] = level - 1
            continue
        if counts[NODE_COUNT] >= until:
            return SHARE_DONE
        node = stack.node[level]
        below_ = level + 1
        game = record_at(stack, below_, rules)
        group = np.int64(nodes.group[node])
        kind = np.int64(nodes.kind[node])
        stack.reach[below_] = stack.reach[level]
        stack.slots[below_, 0] = stack.slots[level, 0]
        stack.slots[below_, 1] = stack.slots[level, 1]
        if kind == CHANCE:
            stack.reach[below_] *= chances.probability[chances.first_event[group] + index]
        else:
            stack.slots[below_, kind] = groups.first_slot[group] + index
        action = np.int64(-1)
        if several and level == 0:
            begin(game, starts[index])
        else:
            copy_level(stack, level, below_)
            action = np.int64(legal_action(record_at(stack, level, rules), index))
            play(game, action)
        if game.bytes[END] == 0:
            for player in range(2):
                know(stack, below_, level, player, action if player == kind else -1, rules)
        stop = enter(
            nodes, groups, sets, actions, payoffs, chances, stack, counts, rules, below_, nodes.child[node] + index
        )
        if stop != DONE:
            return stop
        # Set only now: a history that found no room is tried again.
        stack.next[level] = index + 1
    return DONE


@kernel
def survey(words, halves, bytes_, rules, starts, live, plays):
    """Find the starts that begin a game that goes on, and estimate the number of histories that follow each of these.

    The estimate is from random plays: the sum over the steps of the number of ways to have come so far (Knuth).
    """
    game = Record(words, halves, bytes_, rules)
    game.words[NUMBER] = ZERO
    count = 0
    for index in range(starts.shape[0]):
        begin(game, starts[index])
        if game.bytes[END] == 0:
            live[count] = index
            count += 1
    ways_in_all = 0.0
    seed = ZERO
    for play_ in range(plays if count else 0):
        number = np.uint64(play_)
        begin(game, starts[live[below(count, seed, number, 0, 0, START, 0)]])
        ways = 1.0
        ways_in_all += ways
        depth = 0
        while game.bytes[END] == 0:
            choices = legal_count(game)
            ways *= choices
            ways_in_all += ways
            play(game, legal_action(game, below(choices, seed, number, depth, 0, MOVE, 0)))
            depth += 1
    return count, ways_in_all / plays


@kernel
def replay_views(words, halves, bytes_, rules, starts, paths, lengths, viewers):
    """Play each row's path from its start, and make the record the view of one player."""
    several = starts.shape[0] > 1
    for row in range(words.shape[0]):
        game = Record(words[row], halves[row], bytes_[row], rules)
        game.words[NUMBER] = ZERO
        first = 0
        if several:
            begin(game, starts[paths[row, 0]])
            first = 1
        else:
            begin(game, starts[0])
        for step in range(first, lengths[row]):
            play(game, legal_action(game, paths[row, step]))
        conceal(game, viewers[row])
