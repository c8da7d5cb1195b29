"""Policies that are tables of a small game, trained by exact best responses.

An update mixes the best response to the opponents into the policy, by how often each of them comes to an information
set: π ← r · best response + (1 − r) · π, drawn for a whole game. With r = 1 a pipeline of one worker is the double
oracle algorithm. Where the opponents never let a policy come, or nothing is at stake, it plays evenly.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from vauban.errors import ConfigurationError
from vauban.learn.psro.workshop import Checkpoint, Floats, Job, Measured, Trained, Wanted, Workshop
from vauban.sim.compile import CPU, compiled, progress
from vauban.solve import sweeps
from vauban.solve.evaluate import reach_of
from vauban.solve.policies import uniform
from vauban.solve.tree import Table, Tree

TABLE = "table.npy"
"""The file of a policy: its table."""


class TreeWorkshop(Workshop):
    """Exact best responses on a tree; a folder for each policy, where a folder is given for all of them."""

    def __init__(self, tree: Tree, rate: float = 1.0, folder: Path | None = None) -> None:
        """rate: the share r of the best response in an update."""
        if not 0 < rate <= 1:
            raise ConfigurationError(f"a learning rate is more than 0 and at most 1, not {rate}")
        self.tree, self.rate, self.folder = tree, rate, folder
        stakes = np.abs(tree.payoffs.weight)
        self._at_stake = tuple(tree.payoffs._replace(weight=sign * stakes) for sign in (1, -1))
        """Payoffs with which every end is a gain, by the player whom it is counted for."""
        self._reaches: dict[Checkpoint, Table] = {}

    def begin(self, number: int, parent: Checkpoint | None, seed: tuple[int, ...]) -> None:
        reach = reach_of(self.tree, uniform(self.tree)) if parent is None else self._reach(parent)
        self._publish(Checkpoint(number, 0), reach)

    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        found = []
        for job in jobs:
            opponents = self.mixed(job.opponents, job.chances)
            reach = self.rate * self._respond(opponents) + (1 - self.rate) * self._reach(job.policy)
            found.append(
                (Checkpoint(job.policy.number, job.policy.version + 1), reach, self._worths(reach) @ opponents)
            )
        for checkpoint, reach, _ in found:
            self._publish(checkpoint, reach)
        return [Trained(float(performance)) for _, _, performance in found]

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        found = []
        for each in wanted:
            worths = self._worths(self._reach(each.row))
            found.append(Measured(np.array([worths @ self._reach(column) for column in each.columns])))
        return found

    def exploitability(self, policies: Sequence[Checkpoint], chances: Floats) -> float:
        opponents = self.mixed(policies, chances)
        return float(self._worths(self._respond(opponents)) @ opponents)

    def alike(self, one: Checkpoint, other: Checkpoint) -> bool:
        return bool(np.abs(self._reach(one) - self._reach(other)).max() <= 1e-9)

    def keep(self, checkpoints: Collection[Checkpoint]) -> None:
        self._reaches = {each: reach for each, reach in self._reaches.items() if each in checkpoints}
        if self.folder is not None:
            kept = {folder_name(each) for each in checkpoints}
            for path in self.folder.iterdir():
                if path.name not in kept:
                    shutil.rmtree(path, ignore_errors=True)

    def mixed(self, policies: Sequence[Checkpoint], chances: Floats) -> Table:
        """Return the reach of a mix of policies, by slot."""
        reach: Table = np.sum([chance * self._reach(each) for each, chance in zip(policies, chances, strict=True)], 0)
        return reach

    def table(self, reach: Table) -> Table:
        """Return the probabilities of a policy by its reach; even where it never comes."""
        table = np.empty(self.tree.slots)
        _call(sweeps.normalise, self.tree.groups.first_slot, np.ascontiguousarray(reach[:-1]), table)
        return table

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _respond(self, opponents: Table) -> Table:
        """Return the reach of the best response of both players to a mix of opponents."""
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

    def _worths(self, reach: Table) -> Table:
        """Return what a policy gets, by the opponent's slot: both seats' payoffs, halved, for its reach once."""
        worths = np.zeros(self.tree.slots + 1)
        for player in (0, 1):
            value = np.empty(self.tree.slots + 1)
            _call(sweeps.gather, self.tree.payoffs, player, reach, value)
            worths -= value / 2
        return worths

    def _publish(self, checkpoint: Checkpoint, reach: Table) -> None:
        # From the table, as it will be found again: a pipeline that was killed goes on to the same numbers.
        table = self.table(reach)
        self._reaches[checkpoint] = reach_of(self.tree, table)
        if self.folder is not None:
            place = self.folder / folder_name(checkpoint)
            aside = place.with_name(f"{place.name}.new")
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir(parents=True)
            np.save(aside / TABLE, table)
            shutil.rmtree(place, ignore_errors=True)  # of an update that was killed
            aside.rename(place)

    def _reach(self, checkpoint: Checkpoint) -> Table:
        if checkpoint not in self._reaches:
            assert self.folder is not None
            self._reaches[checkpoint] = reach_of(self.tree, np.load(self.folder / folder_name(checkpoint) / TABLE))
        return self._reaches[checkpoint]


def folder_name(checkpoint: Checkpoint) -> str:
    """Return the name of a checkpoint's folder."""
    return f"{checkpoint.number:04}-{checkpoint.version}"


def _call(kernel: object, *arguments: object) -> object:
    function = compiled(kernel, CPU)  # type: ignore[arg-type]
    with progress(function, "the solver"):
        return function(*arguments)
