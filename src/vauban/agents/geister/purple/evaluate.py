"""Worth of a position to a player who knows some of the enemy's ghosts, in points (docs/agents.md, "Purple ghosts").

An enemy ghost is known to be good, known to be evil, or purple: it runs for the exits like a good one, and its capture
counts as that of an evil one.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import NamedTuple

import numpy as np

from vauban.agents.geister.terrain import beside, set_of, sources
from vauban.games.kernel import kernel, lowest, popcount

GOOD, EVIL = 240, 120
"""A side's last good ghost is worth this much to it, and its last evil one to the other side; the second to last a
half, the third to last a third, and so on."""
PURPLE = 40
"""An enemy ghost on the board costs this much."""
APPROACH = 60
"""Worth of a good ghost on an exit; one step from it a half, two steps from it a third, and so on."""
RUN, RUN_STEP = 800, 20
"""Worth of winning the race for an exit, less the moves that it takes times a step's worth."""
FAR = 99


class Sides(NamedTuple):
    """The ghosts of both sides by square: of one's own all is known."""

    good: np.uint64
    evil: np.uint64
    foe_good: np.uint64
    foe_evil: np.uint64
    """Enemy ghosts of known colour."""
    purple: np.uint64
    foe_evil_left: np.int64
    """Number of evil ghosts of the enemy that are on the board, purple captures counted."""
    foe_good_left: np.int64
    """Number of its good ghosts."""


@kernel
def evaluate(terrain, sides, player, moves_first):
    """Estimate the worth of a position to the player; the last argument tells whether it is on turn."""
    ways = terrain.ways
    own, foes = sides.good | sides.evil, sides.foe_good | sides.foe_evil | sides.purple
    a, b = 2 * player, 2 * player + 1
    c, d = 2 - 2 * player, 3 - 2 * player
    runner_a, runner_b, guard_c, guard_d = FAR, FAR, FAR, FAR
    score = sum_of_parts(GOOD, popcount(sides.good)) - sum_of_parts(EVIL, popcount(sides.evil))
    score += sum_of_parts(EVIL, sides.foe_evil_left) - sum_of_parts(GOOD, popcount(sides.foe_good))
    score -= PURPLE * popcount(foes)
    rest = own
    while rest:
        square = lowest(rest)
        rest &= rest - np.uint64(1)
        guard_c, guard_d = min(guard_c, ways[square, c]), min(guard_d, ways[square, d])
        if sides.good & set_of(square):
            runner_a, runner_b = min(runner_a, ways[square, a]), min(runner_b, ways[square, b])
            score += APPROACH // (1 + min(ways[square, a], ways[square, b]))
    guard_a, guard_b, runner_c, runner_d = FAR, FAR, FAR, FAR
    rest = foes
    while rest:
        square = lowest(rest)
        rest &= rest - np.uint64(1)
        guard_a, guard_b = min(guard_a, ways[square, a]), min(guard_b, ways[square, b])
        if not sides.foe_evil & set_of(square):
            runner_c, runner_d = min(runner_c, ways[square, c]), min(runner_d, ways[square, d])
            score -= APPROACH // (1 + min(ways[square, c], ways[square, d]))
    # The side that is not on turn needs one step more of advance.
    own_delay, foe_delay = (0, 1) if moves_first else (1, 0)
    own_run = min(free_run(runner_a, guard_a, own_delay), free_run(runner_b, guard_b, own_delay))
    foe_run = min(free_run(runner_c, guard_c, foe_delay), free_run(runner_d, guard_d, foe_delay))
    if own_run < FAR and own_run + own_delay <= foe_run:
        score += RUN - RUN_STEP * own_run
    elif foe_run < FAR:
        score -= RUN - RUN_STEP * foe_run
    elif not moves_first and beside(terrain, foes) & sides.good:
        # A good ghost is about to be captured.
        score -= GOOD // popcount(sides.good)
    return score + mobility(terrain, own) - mobility(terrain, foes)


@kernel
def sum_of_parts(worth, count):
    """Return the worth of so many ghosts: of the last all, of the second to last a half, and so on."""
    total = 0
    for index in range(count):
        total += worth // (index + 1)
    return total


@kernel
def free_run(steps, guard, delay):
    """Return the moves to leave by an exit if no enemy comes there in time; else `FAR`."""
    return steps + 1 if steps < FAR and guard > steps + delay else FAR


@kernel
def mobility(terrain, own):
    """Count a side's steps."""
    count = 0
    for direction in range(4):
        count += popcount(sources(terrain, own, direction))
    return count
