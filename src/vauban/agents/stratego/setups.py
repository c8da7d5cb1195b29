"""Setups as people make them, the sampler `human` (`vauban.agents.setups`).

They are drawn from a model (`vauban.agents.stratego.priors`, docs/setups.md): whole armies, with the Flag where people
put it, Bombs around it, and neighbours that stand together as they do there.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import random
from functools import partial

import numpy as np

from vauban.agents.stratego import priors
from vauban.agents.stratego.priors import POCKET
from vauban.games.kernel import kernel
from vauban.games.randomness import HALF, LOW, philox
from vauban.games.stratego.pieces import BOMB, FLAG
from vauban.games.stratego.setups import Row, random_setup
from vauban.games.stratego.variants import Variant
from vauban.sim.compile import CPU, compiled, progress

USUAL = "human"
"""The sampler where none is named."""
STEPS = 6_000
"""Metropolis steps for one human-like setup: the statistics no longer change with more (docs/setups.md)."""


def human_setup(variant: Variant, rng: random.Random, steps: int = STEPS) -> Row:
    """Return a setup drawn from the model of human setups: a uniform one, changed by this many Metropolis steps."""
    setup = random_setup(variant, rng)
    function = compiled(settle, CPU)
    with progress(function, "setups"):
        function(setup, variant.columns, priors.model(variant), steps, np.uint64(rng.getrandbits(64)), np.uint64(0))
    return setup


SAMPLERS = {"human": lambda game: partial(human_setup, game.variant)}
"""The samplers that games of Stratego have besides those of any game."""


@kernel
def settle(setup, columns, model, steps, seed, number):
    """Change a setup in place by Metropolis steps whose stationary distribution is the model's.

    A step exchanges two squares. One in eight carries the Flag and what stands next to it to another
    place at once: Bombs make a Flag hard to move piece by piece. Each is its own inverse, so the
    proposals are even and the ratio of probabilities decides.
    """
    squares = len(setup)
    flag = 0
    for square in range(squares):
        if setup[square] == 1 + FLAG:
            flag = square
    for step in range(steps):
        bits = philox(np.uint64(step), np.uint64(1), number & LOW, number >> HALF, seed & LOW, seed >> HALF)
        first = np.int64((bits[0] * np.uint64(squares)) >> HALF)
        second = np.int64((bits[1] * np.uint64(squares)) >> HALF)
        together = bits[3] & np.uint64(7) == np.uint64(0)
        if together:
            first = flag
        if setup[first] == setup[second]:
            continue
        apart = abs(first // columns - second // columns) + abs(first % columns - second % columns)
        block = together and apart > 2
        # Only a Flag or a Bomb can change how the Flag is guarded: their codes are the last two.
        guarding = setup[first] > FLAG or setup[second] > FLAG
        before = model.guard[flag, guard_of(setup, model.near, flag)] if guarding else 0.0
        gain = exchange(setup, model, first, second)
        if block:
            gain += exchange_beside(setup, model, first, second)
        moved = flag
        if first == flag:
            moved = second
        elif second == flag:
            moved = first
        if guarding:
            gain += model.guard[moved, guard_of(setup, model.near, moved)] - before
        if gain >= 0.0 or (np.float64(bits[2]) + 0.5) / 4294967296.0 < np.exp(gain):
            flag = moved
        else:
            swap(setup, first, second)
            if block:
                for way in range(4):
                    if model.near[first, way] >= 0 and model.near[second, way] >= 0:
                        swap(setup, model.near[first, way], model.near[second, way])


@kernel
def exchange_beside(setup, model, first, second):
    """Exchange the pieces next to two squares, direction by direction; return the change of the log-probability."""
    gain = 0.0
    for way in range(4):
        if model.near[first, way] >= 0 and model.near[second, way] >= 0:
            gain += exchange(setup, model, model.near[first, way], model.near[second, way])
    return gain


@kernel
def exchange(setup, model, first, second):
    """Exchange two squares; return the change of the log-probability, but for the guard of the Flag."""
    code, other = setup[first], setup[second]
    return put(setup, model, first, other) + put(setup, model, second, code)


@kernel
def put(setup, model, square, code):
    """Put a code on a square; return the change of the log-probability."""
    old = setup[square]
    gain = model.single[square, code] - model.single[square, old]
    for way in range(8):
        beside = model.near[square, way]
        if beside >= 0:
            pairs = model.pairs[model.table[square, way]]
            gain += pairs[code, setup[beside]] - pairs[old, setup[beside]]
    setup[square] = code
    return gain


@kernel
def swap(setup, first, second):
    """Exchange two squares."""
    code = setup[first]
    setup[first] = setup[second]
    setup[second] = code


@kernel
def guard_of(setup, near, flag):
    """Return a Flag's guard: the number of Bombs next to it, or `POCKET` if it and one more piece are walled in."""
    bombs = 0
    open_ = 0
    gap = 0
    for way in range(4):
        beside = near[flag, way]
        if beside >= 0 and setup[beside] == 1 + BOMB:
            bombs += 1
        elif beside >= 0:
            open_ += 1
            gap = beside
    # The first way leads forward: there is none from the front row, which is open to the enemy.
    if open_ != 1 or near[flag, 0] < 0 or near[gap, 0] < 0:
        return bombs
    for way in range(4):
        beside = near[gap, way]
        if beside >= 0 and beside != flag and setup[beside] != 1 + BOMB:
            return bombs
    return POCKET
