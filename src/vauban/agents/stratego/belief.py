"""The opponent model: chances of the enemy's hidden pieces, given human setups and what has been seen.

    belief = PriorBelief("classic")
    belief.marginals(view)      # square → type → probability
    belief.sample(view, 7)      # square → type: one way it may be

The model: before anything is known, an assignment of the hidden types to the hidden pieces is as
likely as the product of `prior[start square, type]` over them. Given are the types that are hidden,
each with its number, and which pieces have moved: those are no Flag and no Bomb. (A Scout that has
moved further than one square is not hidden any more.)

Kernels take a record from which all that is hidden from `viewer` may have been erased: they read
identities, `moved` and the number of hidden pieces of each type, all public, and never a hidden
type. Hidden pieces are listed as `vauban.games.stratego.hidden` does; a prior has a row for each
square of the board in the owner's frame (`prior_table`).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.stratego import priors
from vauban.board.stratego import View
from vauban.errors import ConfigurationError, RecordError
from vauban.games.base import PLIES
from vauban.games.kernel import Record, holds, kernel
from vauban.games.randomness import HALF, LOW, PRIOR_WORLD, philox
from vauban.games.stratego.hidden import assign, hidden_count
from vauban.games.stratego.layout import BYTES, COLUMNS, HIDDEN, HIDDEN_COUNT, MOVED, PIECES, SQUARES
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES, TYPES
from vauban.games.stratego.variants import Variant, find_variant
from vauban.sim.compile import CPU, compiled, progress

KINDS = len(TYPES)
LEAST = 1e-6
"""Least weight: a type that a prior calls impossible is taken for very unlikely, so that there always is an answer."""
STATES = 256
"""Largest number of ways to choose from the hidden types with which marginals are added up over all assignments."""
EXACT = 1e-9
"""Largest distance of a type's marginals from its number of hidden pieces."""
ROUNDS = 20_000
"""Rounds of fitting after which the marginals are taken as they are."""
PURPOSE = np.uint64(PRIOR_WORLD)
MIXING = 128
"""First throw of dice that is for exchanges; those below are for the pieces."""
SHORT, SHORTS = np.uint64(16), np.uint64(0xFFFF)
UNIT = 1.0 / 4294967296.0

Floats = npt.NDArray[np.float64]


def prior_table(variant: Variant) -> Floats:
    """Return, by square of the board in the owner's frame, the probability of each type of a piece that started there.
        0 outside the setup rows: pieces of free setups that start there are taken to be anything.

    0 outside the setup rows: pieces of free setups that start there are taken to be anything.
    """
    marginals = priors.statistics(variant).marginals[:, 1:]
    mixed = (1 - priors.RESERVE) * marginals + priors.RESERVE * np.array(variant.army) / len(marginals)
    table = np.zeros((variant.squares, KINDS))
    table[: len(mixed)] = mixed / mixed.sum(1, keepdims=True)
    return table


# ── Kernels ──────────────────────────────────────────────────────────────────────────────────────


@kernel
def weights(game, viewer, prior, w):
    """Write for each hidden piece the weight of each type, and return how many pieces are hidden."""
    words, bytes_ = game.words, game.bytes
    squares = game.rules[SQUARES]
    other = 1 - viewer
    low, high = words[PIECES + 2 * other] & words[HIDDEN], words[PIECES + 2 * other + 1] & words[HIDDEN + 1]
    count = 0
    for step in range(squares):
        square = step if viewer == 0 else squares - 1 - step
        if not holds(low, high, square):
            continue
        identity = np.int64(bytes_[BYTES + square])
        start = identity if other == 0 else squares - 1 - identity
        known = 0.0
        for kind in range(KINDS):
            known += prior[start, kind]
        moved = holds(words[MOVED], words[MOVED + 1], square)
        for kind in range(KINDS):
            if moved and kind >= MOVABLE_TYPES:
                w[count, kind] = 0.0
            else:
                w[count, kind] = max(prior[start, kind], LEAST) if known > 0.0 else 1.0
        count += 1
    return count


@kernel
def marginals(game, viewer, prior, p):
    """Write for each hidden piece the probability of each type, and return how many pieces are hidden.

    Rows sum to 1 and columns to the number of hidden pieces of the type. Where few types are left they
    are the model's own marginals. Elsewhere the weights are scaled by rows and columns in turn until
    the sums are right (iterative proportional fitting): that is quick, and before the first move it
    gives people's own statistics (docs/setups.md).
    """
    count = weights(game, viewer, prior, p)
    first = HIDDEN_COUNT + 12 * (1 - viewer)
    states = 1
    for kind in range(KINDS):
        states *= 1 + np.int64(game.bytes[first + kind])
    if states <= STATES:
        add_up(p, count, game.bytes, first, states)
    else:
        fit(p, count, game.bytes, first)
    return count


@kernel
def add_up(p, count, bytes_, first, states):
    """Turn weights into the model's marginals, over all assignments.

    A state is how many pieces of each type have been given out: `before` adds up the ways of giving
    the first pieces, `after` those of giving the rest.
    """
    stride = np.empty(KINDS, np.int64)
    number = np.empty(KINDS, np.int64)
    size = 1
    for kind in range(KINDS):
        number[kind] = bytes_[first + kind]
        stride[kind] = size
        size *= 1 + number[kind]
    before = np.zeros((count + 1, states))
    after = np.zeros((count + 1, states))
    before[0, 0] = 1.0
    for piece in range(count):
        for state in range(states):
            if before[piece, state] > 0.0:
                for kind in range(KINDS):
                    if number[kind] > 0 and state // stride[kind] % (1 + number[kind]) < number[kind]:
                        before[piece + 1, state + stride[kind]] += before[piece, state] * p[piece, kind]
    after[count, states - 1] = 1.0
    ways = np.empty(KINDS)
    for piece in range(count - 1, -1, -1):
        ways[:] = 0.0
        for state in range(states):
            if before[piece, state] > 0.0:
                for kind in range(KINDS):
                    if number[kind] > 0 and state // stride[kind] % (1 + number[kind]) < number[kind]:
                        rest = after[piece + 1, state + stride[kind]] * p[piece, kind]
                        after[piece, state] += rest
                        ways[kind] += before[piece, state] * rest
        for kind in range(KINDS):
            p[piece, kind] = ways[kind] / before[count, states - 1]


@kernel
def fit(p, count, bytes_, first):
    """Scale weights by rows and columns until rows sum to 1 and columns to the numbers of hidden pieces."""
    spare = 0
    for kind in range(MOVABLE_TYPES):
        spare += np.int64(bytes_[first + kind])
    for piece in range(count):
        if p[piece, FLAG] == 0.0:
            spare -= 1
    if spare == 0:
        # Whatever can move has moved. Fitting would find this out, but only in the limit.
        for piece in range(count):
            if p[piece, FLAG] > 0.0:
                for kind in range(MOVABLE_TYPES):
                    p[piece, kind] = 0.0
    scale = np.ones(KINDS)
    for _ in range(ROUNDS):
        if fit_columns(p, count, bytes_, first, scale) < EXACT:
            break
    for piece in range(count):
        total = 0.0
        for kind in range(KINDS):
            p[piece, kind] *= scale[kind]
            total += p[piece, kind]
        for kind in range(KINDS):
            p[piece, kind] /= total


@kernel
def fit_columns(w, count, bytes_, first, scale):
    """Scale the columns so that, with rows scaled to 1 before, they fit; return their distance from it."""
    sums = np.zeros(KINDS)
    for piece in range(count):
        total = 0.0
        for kind in range(KINDS):
            total += w[piece, kind] * scale[kind]
        share = 1.0 / total
        for kind in range(KINDS):
            sums[kind] += w[piece, kind] * scale[kind] * share
    error = 0.0
    for kind in range(KINDS):
        wanted = np.float64(bytes_[first + kind])
        error = max(error, abs(sums[kind] - wanted))
        if sums[kind] > 0.0:
            scale[kind] *= wanted / sums[kind]
    return error


@kernel
def sample(game, viewer, prior, steps, seed, number, values):
    """Draw one assignment of the hidden types, as `assign` takes it.

    Types are drawn piece by piece without replacement, those that have moved first, and then
    exchanged between pairs of pieces by Metropolis steps, which lead to the model's distribution
    exactly; 40 come near it (docs/setups.md). The draw is a function of seed, number and ply.
    """
    count = hidden_count(game, viewer)
    w = np.empty((count, KINDS))
    weights(game, viewer, prior, w)
    first = HIDDEN_COUNT + 12 * (1 - viewer)
    scale = np.ones(KINDS)
    for _ in range(2):
        fit_columns(w, count, game.bytes, first, scale)
    p = np.empty((count, KINDS))
    due = np.zeros(KINDS)
    for piece in range(count):
        total = 0.0
        for kind in range(KINDS):
            p[piece, kind] = w[piece, kind] * scale[kind]
            total += p[piece, kind]
        for kind in range(KINDS):
            p[piece, kind] /= total
            due[kind] += p[piece, kind]

    left = np.empty(KINDS)
    for kind in range(KINDS):
        left[kind] = np.float64(game.bytes[first + kind])
    shares = np.empty(KINDS)
    ply = game.words[PLIES] & LOW
    for moved in (True, False):
        for piece in range(count):
            if (w[piece, FLAG] == 0.0) == moved:
                # Number left of each type, and number due to the pieces still to come.
                for kind in range(KINDS):
                    shares[kind] = p[piece, kind] * left[kind] / max(due[kind], p[piece, kind]) if left[kind] else 0.0
                    due[kind] -= p[piece, kind]
                chosen = pick(shares, dice(seed, number, ply, piece)[0])
                values[piece] = chosen
                left[chosen] -= 1.0

    pieces = np.uint64(count)
    for pair in range((steps + 1) // 2 if count > 1 else 0):
        bits = dice(seed, number, ply, MIXING + pair)
        exchange(w, values, (bits[0] >> SHORT) * pieces >> SHORT, (bits[0] & SHORTS) * pieces >> SHORT, bits[1])
        if 2 * pair + 1 < steps:
            exchange(w, values, (bits[2] >> SHORT) * pieces >> SHORT, (bits[2] & SHORTS) * pieces >> SHORT, bits[3])


@kernel
def exchange(w, values, one, other, chance):
    """Make one Metropolis step: exchange the types of two pieces if the ratio of the weights allows it."""
    here, there = values[one], values[other]
    if here != there:
        now = w[one, here] * w[other, there]
        if (np.float64(chance) + 0.5) * UNIT * now < w[one, there] * w[other, here]:
            values[one], values[other] = there, here


@kernel
def sample_thesis(game, viewer, prior, seed, number, values):
    """Draw one assignment as the Louvain thesis does (§4.4.2): one draw for each piece, and no correction.

    A draw weighs a type by the prior times the number left of it. Pieces that have moved come first;
    then the Flag, on the owner's back row if a piece that has not moved stands there; then the rest.
    """
    count = hidden_count(game, viewer)
    w = np.empty((count, KINDS))
    weights(game, viewer, prior, w)
    first = HIDDEN_COUNT + 12 * (1 - viewer)
    left = np.empty(KINDS)
    for kind in range(KINDS):
        left[kind] = np.float64(game.bytes[first + kind])
    shares = np.empty(KINDS)
    ply = game.words[PLIES] & LOW
    flag = -1
    for moved in (True, False):
        if not moved and left[FLAG] > 0.0:
            flag = pick(flag_shares(game, viewer, w), dice(seed, number, ply, MIXING)[0])
            values[flag] = FLAG
            left[FLAG] = 0.0
        for piece in range(count):
            if (w[piece, FLAG] == 0.0) == moved and piece != flag:
                for kind in range(KINDS):
                    shares[kind] = w[piece, kind] * left[kind]
                chosen = pick(shares, dice(seed, number, ply, piece)[0])
                values[piece] = chosen
                left[chosen] -= 1.0


@kernel
def flag_shares(game, viewer, w):
    """Return each hidden piece's chance to be the Flag: only those on the owner's back row, if one there can be."""
    words = game.words
    squares, columns = game.rules[SQUARES], game.rules[COLUMNS]
    other = 1 - viewer
    low, high = words[PIECES + 2 * other] & words[HIDDEN], words[PIECES + 2 * other + 1] & words[HIDDEN + 1]
    shares = w[:, FLAG].copy()
    behind = np.zeros(len(w))
    piece = 0
    for step in range(squares):
        square = step if viewer == 0 else squares - 1 - step
        if holds(low, high, square):
            # In the viewer's frame the owner's back row is the last one.
            if step >= squares - columns:
                behind[piece] = shares[piece]
            piece += 1
    return behind if behind.sum() > 0.0 else shares


@kernel
def pick(shares, chance):
    """Return an index with probability in proportion to its share; `chance` is 32 random bits."""
    rest = 0.0
    for share in shares:
        rest += share
    rest *= (np.float64(chance) + 0.5) * UNIT
    chosen = 0
    for index in range(len(shares)):
        if shares[index] > 0.0:
            chosen = index
            rest -= shares[index]
            if rest < 0.0:
                break
    return chosen


@kernel
def dice(seed, number, ply, index):
    """Return four 32-bit numbers; `index` tells several throws apart."""
    last = PURPOSE | (np.uint64(index) << np.uint64(8))
    return philox(number & LOW, number >> HALF, ply, last, seed & LOW, seed >> HALF)


# ── For people ───────────────────────────────────────────────────────────────────────────────────


class PriorBelief:
    """The player's estimate of the enemy's hidden pieces."""

    def __init__(self, variant: str | Variant) -> None:
        self.variant = find_variant(variant)
        self.prior = prior_table(self.variant)

    def marginals(self, view: View) -> dict[int, dict[int, float]]:
        """Return, for the square of each hidden piece, the probability of each type that it can have."""
        squares = self._hidden(view)
        table = np.empty((len(squares), KINDS))
        self._call(marginals, self._record(view), view.player, self.prior, table)
        return {
            square: {kind: float(p) for kind, p in enumerate(row) if p > 0.0}
            for square, row in zip(squares, table, strict=True)
        }

    def sample(self, view: View, seed: int) -> dict[int, int]:
        """Return a type for the square of each hidden piece: one way they may be, and legal at that."""
        squares = self._hidden(view)
        values = np.empty(len(squares), np.int8)
        steps = 10 * len(squares)
        for attempt in range(1000):
            record = self._record(view)
            self._call(sample, record, view.player, self.prior, steps, np.uint64(seed), np.uint64(attempt), values)
            # A player on turn has a move: some assignments would leave none.
            if self._call(assign, record, view.player, values):
                return dict(zip(squares, values.tolist(), strict=True))
        raise RecordError(f"no assignment of the hidden types of {view!r} was found that leaves its player a move")

    def _hidden(self, view: View) -> list[int]:
        if view.variant != self.variant:
            raise ConfigurationError(
                f"this belief is for {self.variant.name!r}, and the view is of {view.variant.name!r}"
            )
        return view.hidden()

    @staticmethod
    def _record(view: View) -> Record:
        return view.snapshot().record()

    @staticmethod
    def _call(function: Any, *arguments: Any) -> Any:
        kernel = compiled(function, CPU, TRACKS=True)
        with progress(kernel, "belief"):
            return kernel(*arguments)
