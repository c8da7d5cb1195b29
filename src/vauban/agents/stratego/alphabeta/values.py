"""Worth of both sides' pieces to `alphabeta`, set before every move; as kernels.

A strong piece is worth what it can take: where the enemy has lost a rank, the ranks that were needed
against it sink. A piece that is hidden is worth something more, its *stealth*: what the enemy may lose
by not knowing it.

Arrays have a row for each side, the searcher's first. The sources speak of ranks 1 (Marshal) to 9
(Scout); here are types, so "weaker" is a smaller number.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import kernel
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, MOVABLE_TYPES, SCOUT, SPY

OWN, ENEMY = 0, 1

WORTH = (60.0, 80.0, 250.0, 120.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0)
"""Worth of each movable type while both sides have everything."""
SERGEANT, CAPTAIN = 3, 5
PLAIN_MINER = 108.0
"""A Miner's worth where few strong enemies, but others, are left."""
SPY_FEAR = 0.9
"""Share of the Marshal's worth that is left while a Spy can take it."""
SMALL = (10.0, 20.0, 30.0)
"""Spy, Scout and Miner in sums of material, while hidden; known ones count `SMALL_KNOWN`."""
SMALL_KNOWN = 10.0
STEALTH_SHARE = (0.0, 0.0, 0.0, 20.0, 20.0, 20.0, 30.0, 10.0, 10.0, 10.0)
"""By type: the divisor that turns what a hidden piece could take into its stealth; types up to Miner do not use it."""
PREY = 6
"""Number of pieces, the strongest that it beats, that count for the stealth of a type."""
UNMOVED_WORTH = 26.0
"""Worth that a piece has for never having moved."""
MOST_SINKS = 3
"""Most times that all stronger ranks sink because both sides lack one: in small armies the strong pieces stay dear."""
LARGEST_FLAG = 12800.0
HASTE = 0.7
"""Share of the worth of its pieces that a player who is ahead gives up to avoid a draw."""


@kernel
def weigh(counts, shown, bluff, haste, values, stealth, sums):
    """Fill `values` and `stealth` (sides × types) from the living pieces and those of them that are known, and `sums`
    (by side) with all material, as it is before the side that is ahead seeks to trade.

    bluff: how much the enemy is taken to bluff, from 2 to 5 (`suspects.bluff_risk`).
    haste: how near a draw for want of battles is, from 0 to 1.
    """
    for side in range(2):
        set_values(counts[side], counts[1 - side], values[side])
    whole = np.zeros(2)
    for side in range(2):
        sums[side] = material(counts[side], shown[side], values[side])
        for kind in range(MOVABLE_TYPES):
            whole[side] += counts[side, kind] * values[side, kind]
    for side in range(2):
        set_stealth(counts, shown, values, side, bluff, stealth[side])
    fewer = np.int64(0)
    for kind in range(MOVABLE_TYPES):
        fewer += counts[ENEMY, kind] - counts[OWN, kind]
    poor = OWN if fewer > 0 else ENEMY
    gap = abs(fewer)
    if sums[1 - poor] - sums[poor] >= 1600:
        gap *= 2
    for kind in range(MOVABLE_TYPES):
        stealth[poor, kind] += 4 * min(10, gap)
    for side in range(2):
        # A Flag is worth the war, a Bomb what it costs to get rid of it.
        values[side, FLAG] = min(LARGEST_FLAG, max(whole[0], whole[1]))
        values[side, BOMB] = values[side, MINER] / 2
    # A side that is ahead values its own pieces less, so that it seeks to trade.
    if sums[OWN] > 0:
        for kind in range(MOVABLE_TYPES):
            half = values[OWN, kind] / 2
            values[OWN, kind] = half + min(half, half * sums[ENEMY] / sums[OWN])
            if sums[OWN] > sums[ENEMY]:
                values[OWN, kind] *= 1 - HASTE * haste


@kernel
def set_values(own, enemy, values):
    """Set the worth of one side's movable types, by the numbers that both sides have left of each."""
    for kind in range(MOVABLE_TYPES):
        values[kind] = WORTH[kind]
    strong = 0
    others = 0
    for kind in range(MOVABLE_TYPES):
        if kind >= CAPTAIN:
            strong += enemy[kind]
        else:
            others += enemy[kind]
    if strong <= 2 and others >= 2:
        values[MINER] = PLAIN_MINER
    if enemy[SPY] > 0:
        values[MARSHAL] *= SPY_FEAR
    sinks = 0
    for kind in range(SERGEANT, MARSHAL + 1):
        if enemy[kind] > 0:
            continue
        if own[kind] > 0:
            weaker = kind - 1
            while weaker >= SERGEANT and enemy[weaker] == 0:
                values[kind] = min(values[kind], values[weaker])
                weaker -= 1
        elif sinks < MOST_SINKS:
            sinks += 1
            for stronger in range(MARSHAL, kind, -1):
                values[stronger] = values[stronger - 1]


@kernel
def material(own, shown, values):
    """Return the sum of one side's material: the small types count little, and less once they are known."""
    total = 0.0
    for kind in range(MOVABLE_TYPES):
        if kind >= SERGEANT:
            total += own[kind] * values[kind]
        else:
            total += shown[kind] * SMALL_KNOWN + (own[kind] - shown[kind]) * SMALL[kind]
    return total


@kernel
def set_stealth(counts, shown, values, side, bluff, stealth):
    """Set the worth of each type of one side beyond its value while it is hidden."""
    other = 1 - side
    for kind in range(12):
        stealth[kind] = 0.0
    for kind in range(SERGEANT, MARSHAL + 1):
        taken = 0
        prey = 0.0
        known = 0.0
        defenders = 0
        for weaker in range(kind - 1, -1, -1):
            for group in range(3):
                if group == 0:
                    number, share = counts[other, weaker], 1.0
                elif group == 1:
                    number, share = shown[side, weaker], 1.0
                else:
                    number, share = counts[side, weaker] - shown[side, weaker], 0.5
                number = min(number, PREY - taken)
                taken += number
                prey += share * number * values[other if group == 0 else side, weaker]
            known += shown[side, weaker] * values[side, weaker]
        for stronger in range(kind, MARSHAL + 1):
            defenders += counts[side, stronger] - shown[side, stronger]
        if values[side, kind] > 0:
            prey += min(prey / 3, prey * (4 * known / values[side, kind]) / (defenders + 3))
        stealth[kind] = prey / STEALTH_SHARE[kind]
        if side == ENEMY and kind > MARSHAL - 3:
            stealth[kind] = 4 * bluff * np.sqrt(prey / 10)
    stealth[SCOUT] = values[side, SCOUT] / 3
    stealth[MINER] = values[side, MINER] / 3
    if counts[other, MARSHAL] > 0:
        stealth[SPY] = stealth[MARSHAL]
    stealth[BOMB] = (stealth[CAPTAIN] + stealth[CAPTAIN + 1]) / 2
