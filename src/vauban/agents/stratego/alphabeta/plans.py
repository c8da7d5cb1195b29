"""Plans: where the searcher's pieces should go, beyond the horizon of the search; as kernels.

Each piece may have one goal, an enemy that it would gain by attacking. Standing a step nearer to it is
worth a few points, by how much there is to gain; the ways keep away from enemies that are known to be
stronger. Enemies on their way to the searcher's Flag count more. Only the best few plans may set a
piece in motion that has never moved: moving tells.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.agents.stratego.alphabeta.values import ENEMY, OWN, UNMOVED_WORTH
from vauban.agents.stratego.alphabeta.world import gain
from vauban.games.kernel import kernel
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES
from vauban.games.stratego.rules import DEFENDER_DIES, battle

STARTERS = 3
"""Number of plans that may move a piece that has never moved."""
NEARBY = 3.0
"""Steps added to the way to a goal before its gain is divided by the way."""
STILL = 2.0
"""Factor on a goal that does not run away."""
ALARMING, ALARM = 9, 9.0
"""An enemy within this many steps of the searcher's Flag counts more: by the second number, divided by the steps."""
LEAST, MOST, MOST_ALARMED = 1, 7, 20
"""Points for a step nearer to a goal: the least, the most, and the most for a goal on its way to the Flag."""
POINTS = 60.0
"""Gain for which a plan gets one point."""
FAR = 99


@kernel
def set_plans(world):
    """Fill `world.plan`."""
    squares = len(world.place)
    distance = np.zeros((squares, squares), np.int16)
    queue = np.zeros(squares, np.int16)
    danger = np.zeros(squares, np.int8)
    goals = np.full(squares, -1, np.int64)
    wishes = np.zeros(squares)
    alarm = np.ones(squares)
    set_alarm(world, danger, distance, queue, alarm)
    for kind in range(MOVABLE_TYPES):
        if not any_of(world, kind):
            continue
        set_danger(world, kind, danger)
        for enemy in range(squares):
            if world.place[enemy] >= 0 and world.owner[enemy] == ENEMY:
                measure(world, np.int64(world.place[enemy]), danger, distance[enemy], queue)
        for own in range(squares):
            if world.place[own] >= 0 and world.owner[own] == OWN and world.kind[own] == kind:
                choose_goal(world, own, distance, alarm, goals, wishes)
                if goals[own] >= 0:
                    lay(world, own, distance[goals[own]], gain(world, own, goals[own]), alarm[goals[own]])
    keep_still(world, goals, wishes)


@kernel
def set_alarm(world, danger, distance, queue, alarm):
    """Set the extra worth of attacking each enemy that is on its way to the searcher's Flag."""
    for own in range(len(world.place)):
        if world.place[own] < 0 or world.owner[own] != OWN or world.kind[own] != FLAG:
            continue
        measure(world, np.int64(world.place[own]), danger, distance[own], queue)
        for enemy in range(len(world.place)):
            if world.place[enemy] < 0 or world.owner[enemy] != ENEMY or world.unmoved[enemy] or not world.mobile[enemy]:
                continue
            steps = distance[own, world.place[enemy]]
            if steps <= ALARMING:
                alarm[enemy] = 1 + ALARM / steps


@kernel
def any_of(world, kind):
    """Return whether the searcher has a piece of this type."""
    for own in range(len(world.place)):
        if world.place[own] >= 0 and world.owner[own] == OWN and world.kind[own] == kind:
            return True
    return False


@kernel
def set_danger(world, kind, danger):
    """Mark the squares next to enemies that are known to beat this type."""
    danger[:] = 0
    for enemy in range(len(world.place)):
        if world.place[enemy] < 0 or world.owner[enemy] != ENEMY or world.secret[enemy] or not world.mobile[enemy]:
            continue
        if battle(np.int64(world.kind[enemy]), kind) == DEFENDER_DIES:
            for direction in range(4):
                square = world.near[world.place[enemy], direction]
                if square >= 0:
                    danger[square] = 1


@kernel
def measure(world, goal, danger, distance, queue):
    """Measure the steps from every square to a goal, through squares that are empty or held by pieces of the searcher
    that can make way.
    """
    distance[:] = FAR
    distance[goal] = 0
    queue[0] = goal
    first, last = 0, 1
    while first < last:
        square = queue[first]
        first += 1
        for direction in range(4):
            beside = world.near[square, direction]
            if beside < 0 or distance[beside] != FAR or danger[beside]:
                continue
            distance[beside] = distance[square] + 1
            there = world.at[beside]
            if there < 0 or (world.owner[there] == OWN and world.mobile[there]):
                queue[last] = beside
                last += 1


@kernel
def choose_goal(world, own, distance, alarm, goals, wishes):
    """Set the goal of a piece: the enemy that it would most like to attack, for its gain and its distance."""
    here = np.int64(world.place[own])
    for enemy in range(len(world.place)):
        if world.place[enemy] < 0 or world.owner[enemy] != ENEMY or distance[enemy, here] >= FAR:
            continue
        wish = alarm[enemy] * gain(world, own, enemy) / (distance[enemy, here] + NEARBY)
        if world.unmoved[enemy]:
            wish *= STILL
        if wish > wishes[own]:
            wishes[own] = wish
            goals[own] = enemy


@kernel
def lay(world, own, distance, prize, alarm):
    """Write a plan: a number of points for every step nearer."""
    here = np.int64(world.place[own])
    points = min(MOST if alarm == 1.0 else MOST_ALARMED, LEAST + np.int64(alarm * prize / POINTS))
    for square in range(len(world.place)):
        steps = min(np.int64(distance[square]), distance[here] + 4)
        world.plan[own, square] = points * (distance[here] - steps)


@kernel
def keep_still(world, goals, wishes):
    """Charge pieces without one of the best plans the worth of never having moved, on all squares but their own."""
    for _ in range(STARTERS):
        best = -1
        for own in range(len(world.place)):
            if goals[own] >= 0 and wishes[own] > 0 and (best < 0 or wishes[own] > wishes[best]):
                best = own
        if best >= 0:
            wishes[best] = 0.0
            goals[best] = -2
    for own in range(len(world.place)):
        if world.place[own] < 0 or world.owner[own] != OWN or not world.unmoved[own] or goals[own] == -2:
            continue
        for square in range(len(world.place)):
            if square != world.place[own]:
                world.plan[own, square] -= np.int64(UNMOVED_WORTH)
