"""Policies of a small game against each other, computed exactly on its tree.

A policy is known by its *reach*: for each action of each information set, how likely its own choices lead there. What
policies get from each other, what a mix of them is worth, and the best response to it are sums over the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vauban.learn.psro.workshop import Checkpoint, Floats, Measured, Wanted
from vauban.sim.compile import CPU, compiled, progress
from vauban.solve import sweeps
from vauban.solve.evaluate import reach_of
from vauban.solve.policies import uniform
from vauban.solve.tree import Table, Tree

SAME = 1e-9
"""Policies whose reaches differ by no more than this are the same."""


class Exact:
    """The policies of a game with a tree."""

    def __init__(self, tree: Tree, reach: Callable[[Checkpoint], Table]) -> None:
        """reach: returns that of a policy."""
        self.tree, self.reach = tree, reach
        stakes = np.abs(tree.payoffs.weight)
        self._at_stake = tuple(tree.payoffs._replace(weight=sign * stakes) for sign in (1, -1))
        """Payoffs with which every end is a gain, by the player whom it is counted for."""

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        """Return entries of the payoff table."""
        found = []
        for each in wanted:
            worths = self.worths(self.reach(each.row))
            found.append(Measured(np.array([worths @ self.reach(column) for column in each.columns])))
        return found

    def exploitability(self, policies: Sequence[Checkpoint], chances: Floats) -> float:
        """Return what the best response gets from a mix of policies."""
        opponents = self.mixed(policies, chances)
        return float(self.worths(self.respond(opponents)) @ opponents)

    def alike(self, one: Checkpoint, other: Checkpoint) -> bool:
        """Return whether two policies play the same."""
        return bool(np.abs(self.reach(one) - self.reach(other)).max() <= SAME)

    def mixed(self, policies: Sequence[Checkpoint], chances: Floats) -> Table:
        """Return the reach of a mix of policies, by slot."""
        reach: Table = np.sum([chance * self.reach(each) for each, chance in zip(policies, chances, strict=True)], 0)
        return reach

    def table(self, reach: Table) -> Table:
        """Return the probabilities of a policy by its reach; even where it never comes."""
        table = np.empty(self.tree.slots)
        _call(sweeps.normalise, self.tree.groups.first_slot, np.ascontiguousarray(reach[:-1]), table)
        return table

    def respond(self, opponents: Table) -> Table:
        """Return the reach of the best response of both players to a mix; it plays evenly where nothing is at stake."""
        tree, table = self.tree, uniform(self.tree)
        for player, live in enumerate(tree.live):
            value, stake = np.empty(tree.slots + 1), np.empty(tree.slots + 1)
            response, scratch = table.copy(), table.copy()
            _call(sweeps.gather, tree.payoffs, player, opponents, value)
            _call(sweeps.respond, tree.groups, live, value, response)
            # The same with what is at stake in place of what is won: 0 where the opponents never let the player come.
            _call(sweeps.gather, self._at_stake[player], player, opponents, stake)
            _call(sweeps.respond, tree.groups, live, stake, scratch)
            first = tree.groups.first_slot
            there = np.repeat(np.add.reduceat(stake[:-1], first[:-1]) > 0, tree.widths) & (tree.slot_owners == player)
            table[there] = response[there]
        return reach_of(tree, table)

    def worths(self, reach: Table) -> Table:
        """Return what a policy gets, by the opponent's slot: both seats' payoffs, halved, for its reach once."""
        worths = np.zeros(self.tree.slots + 1)
        for player in (0, 1):
            value = np.empty(self.tree.slots + 1)
            _call(sweeps.gather, self.tree.payoffs, player, reach, value)
            worths -= value / 2
        return worths


def _call(kernel: object, *arguments: object) -> object:
    function = compiled(kernel, CPU)  # type: ignore[arg-type]
    with progress(function, "the solver"):
        return function(*arguments)
