"""Randomness as a function: Philox4x32-10 of (seed, game, ply, step, purpose), the same on every device.

Nothing is stored and nothing advances: whoever knows a game's number and the seed can draw its
dice again, alone and in any order. (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3".)
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import kernel

MOVE, START, CHANCE = 0, 1, 2
"""Purposes: choosing a move, drawing a start, an event of chance."""
PRIOR_WORLD = 7
"""Drawing what is hidden, by how people set up."""
ROLLOUT, CONFIGURATION, SEARCHED_MOVE = 8, 9, 10
"""Of a search: its rollouts, what may be hidden in them, the move that is drawn from its policy in the end."""
SETUP_POOL, SETUP_SHUFFLE = 11, 12
"""Of learning setups: drawing a pool of them, and shuffling what is learned from."""
REVIEWED_BELIEF = 13
"""Of looking back on a game: what may have been hidden in it."""
DROPOUT, BELIEF_STREAM, BELIEF_VALIDATION, BELIEF_STRANGE = 21, 22, 23, 24
"""Of learning a belief: dropout, the games to learn from, those to measure on, those with strange setups."""
DEEP_CFR = 31
"""Of Deep CFR: first weights, minibatches, reservoirs; its traversals draw as any play does."""
DRAWN_NETWORK = 32
"""Drawing the network that plays a game, where a model has several."""
RESPONSE = 33
"""Of learning a best response: seats, opponents and their chance, first weights, minibatches."""

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLY_0 = np.uint64(0xD2511F53)
MULTIPLY_1 = np.uint64(0xCD9E8D57)
WEYL_0 = np.uint64(0x9E3779B9)
WEYL_1 = np.uint64(0xBB67AE85)


@kernel
def philox(c0, c1, c2, c3, k0, k1):
    """Return four 32-bit numbers (in 64-bit words) from a 128-bit counter and a 64-bit key."""
    for _ in range(10):
        product_0 = MULTIPLY_0 * c0
        product_1 = MULTIPLY_1 * c2
        c0 = (product_1 >> HALF) ^ c1 ^ k0
        c1 = product_1 & LOW
        c2 = (product_0 >> HALF) ^ c3 ^ k1
        c3 = product_0 & LOW
        k0 = (k0 + WEYL_0) & LOW
        k1 = (k1 + WEYL_1) & LOW
    return c0, c1, c2, c3


@kernel
def draw(seed, number, ply, step, purpose, index):
    """Return 32 random bits for one purpose at one step of one game.

    step: which action within the ply, 0 for the first. index: tells several draws apart, below 2¹⁶.
    """
    bits = philox(
        number & LOW,
        number >> HALF,
        np.uint64(ply) & LOW,
        np.uint64(purpose) | (np.uint64(index) << np.uint64(8)) | (np.uint64(step) << np.uint64(24)),
        seed & LOW,
        seed >> HALF,
    )
    return bits[0]


@kernel
def below(bound, seed, number, ply, step, purpose, index):
    """Return a random number from 0 to bound − 1 (uneven by less than bound / 2³²)."""
    return np.int64((draw(seed, number, ply, step, purpose, index) * np.uint64(bound)) >> HALF)
