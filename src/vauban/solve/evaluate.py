"""The value of a policy, the best responses to it, its exploitability.

    evaluate(tree, uniform(tree)).nash_conv      # kuhn: 11/12

BR_i is the best that player i can get against the other's part of the policy. Since the game is
zero-sum, NashConv = BR_0 + BR_1, which is what both players together could still gain;
exploitability is half of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vauban.errors import ConfigurationError
from vauban.sim.compile import CPU, compiled, progress
from vauban.solve import sweeps
from vauban.solve.tree import Table, Tree


@dataclass(frozen=True)
class Evaluation:
    """The figures of a policy of both players."""

    value: float
    """The game's worth to the first player when both play by the policy."""
    best_responses: tuple[float, float]
    """The gain of each player by answering the other's part as well as possible."""

    @property
    def nash_conv(self) -> float:
        """Both players' possible gains together; 0 for an equilibrium."""
        return sum(self.best_responses)

    @property
    def exploitability(self) -> float:
        """Half of NashConv: the possible gain of a player who does not know which side it will be."""
        return self.nash_conv / 2

    @property
    def bounds(self) -> tuple[float, float]:
        """The value of the game to the first player lies between these."""
        return -self.best_responses[1], self.best_responses[0]


def evaluate(tree: Tree, policy: Table) -> Evaluation:
    """Return value and best responses of a table."""
    reach = reach_of(tree, policy)
    value = float(_call(sweeps.expect, tree.payoffs, reach))
    one, two = (_respond(tree, policy, player, reach)[0] for player in (0, 1))
    return Evaluation(value, (one, two))


def best_response(tree: Tree, policy: Table, player: int) -> tuple[float, Table]:
    """Return the most that a player can get against the other's part of a table, and the table that gets it.

    Of equally good actions it takes the first; where the player cannot come, or nothing is at stake, it
    keeps to the table.
    """
    if player not in (0, 1):
        raise ConfigurationError(f"player is 0 or 1, not {player!r}")
    return _respond(tree, policy, player, reach_of(tree, policy))


def counterfactual_regrets(tree: Tree, policy: Table) -> Table:
    """Compute by slot what its owner would gain by choosing it at its information set.

    Weighted with chance and the other player's reach, as in the first iteration of CFR.
    """
    reach = reach_of(tree, policy)
    regrets = np.zeros(tree.slots)
    for player, live in enumerate(tree.live):
        value = np.empty(tree.slots + 1)
        _call(sweeps.gather, tree.payoffs, player, reach, value)
        _call(sweeps.update_regrets, tree.groups, live, 1.0, False, np.array(policy, np.float64), reach, value, regrets,
              np.zeros(tree.slots))  # fmt: skip
    return regrets


def _respond(tree: Tree, policy: Table, player: int, reach: Table) -> tuple[float, Table]:
    value = np.empty(tree.slots + 1)
    response = np.array(policy, np.float64)
    _call(sweeps.gather, tree.payoffs, player, reach, value)
    got = _call(sweeps.respond, tree.groups, tree.live[player], value, response)
    return float(got), response


def reach_of(tree: Tree, policy: Table) -> Table:
    """Return by slot the probability with which its owner plays so far."""
    table = np.ascontiguousarray(policy, np.float64)
    if table.shape != (tree.slots,):
        raise ConfigurationError(
            f"a table for {tree.game!r} has {tree.slots} probabilities, one for each action of each information set, "
            f"not shape {table.shape}"
        )
    reach = np.zeros(tree.slots + 1)
    for live in tree.live:
        _call(sweeps.add_reach, tree.groups, live, table, reach)
    return reach


def _call(kernel: Any, *arguments: Any) -> Any:
    function = compiled(kernel, CPU)
    with progress(function, "the solver"):
        return function(*arguments)
