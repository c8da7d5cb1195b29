"""Regularised Nash dynamics (R-NaD), exactly: equilibria by following a flow to rest, time and again.

    solver = RegularisedDynamics(tree, eta=0.2)
    solver.run(10)
    evaluate(tree, solver.average()).nash_conv

Every reward is changed by −η ln(π/π_reg) for one's own actions, and by the opposite for the other player's. In the game
that this makes, the replicator dynamics come to rest: each information set's logits grow by what its actions are worth
there. Where they rest, π_reg is put, and the dynamics begin again. The places of rest approach an equilibrium; nothing
is averaged. (Perolat et al., "Mastering the game of Stratego with model-free multiagent reinforcement learning".)
"""

from __future__ import annotations

import math

import numpy as np

from vauban.errors import ConfigurationError
from vauban.sim.compile import CPU, compiled, progress
from vauban.solve import flow
from vauban.solve.cfr import Solver
from vauban.solve.policies import uniform
from vauban.solve.tree import Table, Tree

REST = 1e-10
"""The dynamics rest when no action is better than the others by more than this."""
WINDOW = 2.0
"""Time between two looks at how far they are, in units of 1/η."""
MOST = 500
"""Looks after which they are taken not to come to rest."""
FIRST_STEP = 0.5
"""The first time step, as a share of what the largest utility allows; it adapts from there,"""
LONGER, SHORTER = 1.2, 0.6
"""by these factors."""


class RegularisedDynamics(Solver):
    """Regularised Nash dynamics on a tree; an iteration ends where the dynamics rest."""

    name = "r-nad"

    def __init__(self, tree: Tree, eta: float = 0.2, start: Table | None = None) -> None:
        """
        eta: weight of the regularisation, in the units of the game's utilities.
        start: the first policy, and the first one to regularise towards; uniform if not given.
        """
        super().__init__(tree)
        if not eta > 0:
            raise ConfigurationError(f"eta is more than 0, not {eta!r}")
        if start is not None and not (start > 0).all():
            raise ConfigurationError("dynamics start from a policy that plays every action: none with probability 0")
        self.eta = eta
        self.log_policy: Table = np.log(uniform(tree) if start is None else start)
        """Logarithms of the present policy."""
        self.log_regular: Table = self.log_policy.copy()
        """Those of the policy that it is regularised towards."""
        self._time_step = FIRST_STEP / max(abs(worth) for worth in tree.game.utilities)
        self._reach = np.zeros((2, tree.histories))
        self._worth = np.zeros(tree.histories)
        self._gains = np.zeros(tree.slots)
        self._weights = np.zeros(len(tree.groups.owner))

    def average(self) -> Table:
        """Return the policy itself, which converges."""
        table: Table = np.exp(self.log_policy)
        return table

    def follow(self, time: float, time_step: float) -> None:
        """Follow the dynamics for some time, with the regularisation as it is."""
        self._advance(time_step, max(1, round(time / time_step)))

    def _run(self, first: int, last: int) -> None:
        for _ in range(first, last):
            self.log_regular[:] = self.log_policy
            self._come_to_rest()

    def _come_to_rest(self) -> None:
        """Follow the dynamics until they rest: in steps as long as the flow allows."""
        before = np.inf
        for _ in range(MOST):
            moved = self._advance(self._time_step, round(WINDOW / self.eta / self._time_step))
            if moved <= REST:
                return
            # Near its place of rest the flow draws in by exp(−η · time). Steps that are too long go round it instead.
            self._time_step *= LONGER if moved < before * math.exp(-WINDOW / 2) else SHORTER
            before = moved
        raise ConfigurationError(
            f"the dynamics of {self.tree.game.name!r} do not come to rest with eta={self.eta}: take a larger one"
        )

    def _advance(self, time_step: float, steps: int) -> float:
        """Take steps; return the largest advantage that an action had before the last one."""
        tree = self.tree
        run = compiled(flow.run_flow, CPU)
        with progress(run, "the solver"):
            return float(
                run(
                    tree.nodes, tree.groups, tree.chances, self.eta, time_step, steps, self.log_policy,
                    self.log_regular, self._reach, self._worth, self._gains, self._weights,
                )
            )  # fmt: skip
