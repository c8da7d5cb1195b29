"""Counterfactual regret minimisation: four ways to approach an equilibrium of a tree.

    solver = CFRPlus(tree)
    solver.run(1000)
    evaluate(tree, solver.average()).exploitability

`run` can be called again and goes on. The average is what converges; the last policy need not.

| solver | an iteration | converges |
| --- | --- | --- |
| `CFR` | all of the tree, each player in turn | about as 1/√T or better |
| `CFRPlus` | the same; regrets never negative, later iterations count more | faster, in practice |
| `ExternalSampling` | all own actions, one of everything else | as 1/√T, cheap iterations |
| `OutcomeSampling` | one play | as 1/√T, with more noise |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from vauban.errors import ConfigurationError
from vauban.sim.compile import CPU, compiled, progress
from vauban.solve import sampling, sweeps
from vauban.solve.policies import uniform
from vauban.solve.tree import Table, Tree


class Solver(ABC):
    """Regrets, and the policies so far summed up."""

    name: str

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.iterations = 0
        """Iterations so far."""
        self.regrets: Table = np.zeros(tree.slots)
        """By slot: the cumulative counterfactual regret."""
        self.policy: Table = uniform(tree)
        """The policy of the next iteration, where it is known already."""
        self.sums: Table = np.zeros(tree.slots)
        """By slot: the policies so far, weighted; what the average is made of."""

    def run(self, iterations: int) -> None:
        """Run this many more iterations."""
        if iterations < 0:
            raise ConfigurationError(f"iterations cannot be negative: {iterations}")
        self._run(self.iterations + 1, self.iterations + 1 + iterations)
        self.iterations += iterations

    def average(self) -> Table:
        """Return the average policy; uniform in information sets that were never reached."""
        table = np.empty(self.tree.slots)
        _call(sweeps.normalise, self.tree.groups.first_slot, self.sums, table)
        return table

    @abstractmethod
    def _run(self, first: int, last: int) -> None:
        """Run the iterations `first` to `last`, exclusive; they are counted from 1."""


class CFR(Solver):
    """Counterfactual regret minimisation with alternating updates.

    In an iteration the first player's regrets and policy are updated, then the second's, against the
    updated policy. Averages are weighted by a player's own reach.
    """

    name = "cfr"
    plus = False

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self._reach = np.zeros(tree.slots + 1)
        self._value = np.zeros(tree.slots + 1)

    def _run(self, first: int, last: int) -> None:
        tree = self.tree
        _call(sweeps.run_cfr, tree.groups, tree.payoffs, *tree.live, first, last, self.plus,
              self.policy, self._reach, self._value, self.regrets, self.sums)  # fmt: skip


class CFRPlus(CFR):
    """CFR+: negative regrets are set to 0 after every update, and iteration t counts t times in the average."""

    name = "cfr+"
    plus = True


class ExternalSampling(Solver):
    """Monte Carlo CFR with external sampling: the same seed, the same answer."""

    name = "external"

    def __init__(self, tree: Tree, seed: int = 0) -> None:
        super().__init__(tree)
        self.seed = _checked_seed(seed)
        self._path = np.zeros(tree.depth + 1, np.int64)
        self._tried = np.zeros(tree.depth + 1, np.int64)
        self._values = np.zeros((tree.depth + 1, int(tree.widths.max())))

    def _run(self, first: int, last: int) -> None:
        tree = self.tree
        _call(sampling.run_external, tree.nodes, tree.groups, tree.chances, first, last, np.uint64(self.seed),
              self.policy, self.regrets, self.sums, self._path, self._tried, self._values)  # fmt: skip


class OutcomeSampling(Solver):
    """Monte Carlo CFR with outcome sampling; `exploration` is the share of uniformly chosen own actions."""

    name = "outcome"

    def __init__(self, tree: Tree, seed: int = 0, exploration: float = 0.6) -> None:
        super().__init__(tree)
        if not 0 < exploration <= 1:
            raise ConfigurationError(f"exploration is above 0 and at most 1, not {exploration!r}")
        self.seed = _checked_seed(seed)
        self.exploration = exploration
        self._mixed = np.zeros(int(tree.widths.max()))
        self._path = np.zeros(tree.depth + 1, np.int64)
        self._chosen = np.zeros(tree.depth + 1, np.int64)
        self._reaches = np.zeros(tree.depth + 1)

    def _run(self, first: int, last: int) -> None:
        tree = self.tree
        _call(sampling.run_outcome, tree.nodes, tree.groups, tree.chances, first, last, np.uint64(self.seed),
              self.exploration, self.policy, self._mixed, self.regrets, self.sums, self._path, self._chosen,
              self._reaches)  # fmt: skip


def _checked_seed(seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise ConfigurationError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    return seed


def _call(kernel: Any, *arguments: Any) -> None:
    function = compiled(kernel, CPU)
    with progress(function, "the solver"):
        function(*arguments)
