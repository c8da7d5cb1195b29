"""Meta-games: a table of what policies of a population get from each other, and how to mix them.

    solver = MetaSolver(iterations=20_000, uniform=0.1, least=1e-4)
    mix = solver.solve(payoffs)                      # payoffs[k, l] = -payoffs[l, k]: what policy k gets from policy l

The mix is an approximate equilibrium of the table, by fictitious play. `exploitability` says what the best of all
strategies gets from a mix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.solve.linear import Mix
from vauban.solve.matrix import fictitious_play


@dataclass(frozen=True)
class MetaSolver:
    """The way to compute the meta-Nash of a population."""

    iterations: int = 2000
    """Plays of fictitious play."""
    random_start: bool = False
    """Begin with random play, as the released program does, and not with equal shares."""
    uniform: float = 0.0
    """Share of the mix that is spread evenly over all policies afterwards."""
    least: float = 0.0
    """Policies with this chance or less are left out then."""
    noise: float = 0.0
    """Standard deviation of what is added to every payoff before."""

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ConfigurationError(f"fictitious play takes 1 iteration or more, not {self.iterations}")
        if not 0 <= self.uniform <= 1 or not 0 <= self.least < 1 or not self.noise >= 0:
            raise ConfigurationError(
                f"a meta-game is mixed with a share from 0 to 1, cut off from 0 to below 1, with noise from 0: {self}"
            )

    @property
    def throws(self) -> bool:
        """Whether its answer depends on chance."""
        return self.random_start or self.noise > 0

    def solve(self, payoffs: npt.ArrayLike, seed: object = 0) -> Mix:
        """Return the chances of the policies. seed: a number, or several in a tuple, for what is random."""
        table = np.asarray(payoffs, np.float64)
        rng = np.random.default_rng(seed)  # type: ignore[arg-type]
        if self.noise:
            added = np.triu(rng.normal(0, self.noise, table.shape), 1)
            table = table + added - added.T
        start = None
        if self.random_start:
            start = rng.uniform(size=len(table))
            start /= start.sum()
        mix = fictitious_play(table, self.iterations, start)
        mix = (1 - self.uniform) * mix + self.uniform / len(mix)
        return without_small(mix, self.least)


def without_small(mix: Mix, least: float) -> Mix:
    """Return a mix without the chances that are this small or smaller; the largest always stays."""
    kept: Mix = np.where(mix > min(least, mix.max() / 2), mix, 0.0)
    kept /= kept.sum()
    return kept


def beaten(payoffs: npt.ArrayLike, policy: int, mix: Mix, tie: float = 1e-12) -> Mix:
    """Return a mix restricted to the policies that one of them beats or ties, which is itself among them."""
    there = np.asarray(payoffs, np.float64)[policy] >= -tie
    kept: Mix = np.where(there, mix, 0.0)
    kept /= kept.sum()
    return kept


def exploitability(payoffs: npt.ArrayLike, mix: npt.ArrayLike) -> float:
    """Return the most that a strategy of a symmetric game gets from a mix."""
    return float((np.asarray(payoffs, np.float64) @ np.asarray(mix, np.float64)).max())
