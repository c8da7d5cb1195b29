"""Policies: the probability of each action in each information set.

A `Table` holds them all; a `Policy` is a function that computes them from views. `tabulate` asks a
function, or an agent that gives probabilities, everywhere, and makes a table of its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.sim.compile import CPU, compiled, progress
from vauban.sim.store import Snapshot
from vauban.solve import sweeps
from vauban.solve.evaluate import reach_of
from vauban.solve.tree import Table, Tree

Actions = npt.NDArray[np.int64]
Policy = Callable[[Snapshot, Actions], npt.ArrayLike]
"""(views, actions) → probabilities.

`views` are of one player, `views.viewer`, who is on turn in all of them; `actions` has a row for
each: its legal actions in the order of `Simulator.legal_actions`, −1 behind the last. The answer
has the same shape.
"""


@runtime_checkable
class GivesProbabilities(Protocol):
    """An agent that tells the probabilities of its actions."""

    def probabilities(self, view: Snapshot) -> npt.ArrayLike:
        """Return one number for each legal action of a view of the player on turn, in the order of `legal_actions`."""


BATCH = 4096
"""Views that a policy is asked about at once."""
TOLERANCE = 1e-4
"""Probabilities may sum to this much more or less than 1, as those of a network do; they are made to sum to 1."""


def uniform(tree: Tree) -> Table:
    """Return every legal action with the same probability."""
    return np.repeat(1.0 / tree.widths, tree.widths)


def first(tree: Tree) -> Table:
    """Return the policy that always plays the legal action with the lowest number."""
    table = np.zeros(tree.slots)
    lowest = np.minimum.reduceat(tree.actions, tree.groups.first_slot[:-1])
    table[tree.actions == np.repeat(lowest, tree.widths)] = 1
    return table


def tabulate(
    tree: Tree, policy: Policy | GivesProbabilities, tick: Callable[[int], None] = lambda _: None,
    players: Sequence[int] = (0, 1),
) -> Table:  # fmt: skip
    """Return the table of a policy, which is asked about every information set of these players.

    tick: called from time to time with the number of information sets that have been asked about.
    """
    asked = _one_by_one(policy) if isinstance(policy, GivesProbabilities) else policy
    table = np.zeros(tree.slots)
    widths = tree.widths
    done = 0
    for player in players:
        own = np.flatnonzero(tree.groups.owner == player)
        for start in range(0, len(own), BATCH):
            sets = own[start : start + BATCH]
            there = np.arange(widths[sets].max()) < widths[sets, None]
            slots = np.where(there, tree.groups.first_slot[sets, None] + np.arange(there.shape[1]), 0)
            actions = np.where(there, tree.actions[slots], -1).astype(np.int64)
            answer = _checked(tree, asked(tree.views(sets), actions), there, sets)
            table[slots[there]] = answer[there]
            done += len(sets)
            tick(done)
    return table


def _one_by_one(agent: GivesProbabilities) -> Policy:
    def ask(views: Snapshot, actions: Actions) -> Any:
        answers = np.zeros(actions.shape)
        for row, legal in enumerate(actions):
            count = int((legal >= 0).sum())
            given = np.asarray(agent.probabilities(views[row]), np.float64)
            if given.shape != (count,):
                raise ConfigurationError(
                    f"{type(agent).__name__}.probabilities gave an array of shape {given.shape} "
                    f"for a view with {count} legal actions: it must give one number for each"
                )
            answers[row, :count] = given
        return answers

    return ask


def _checked(tree: Tree, given: npt.ArrayLike, there: npt.NDArray[np.bool_], sets: Actions) -> Table:
    """Return an answer as probabilities, or an error that names the information set where it is none."""
    answer = np.array(given, np.float64)
    if answer.shape != there.shape:
        raise ConfigurationError(
            f"a policy was asked about {there.shape[0]} views with up to {there.shape[1]} legal actions, "
            f"and gave an array of shape {answer.shape} instead of {there.shape}"
        )
    fine = np.where(there, np.isfinite(answer) & (answer >= 0), answer == 0).all(1)
    totals = answer.sum(1, keepdims=True)
    fine &= np.abs(totals[:, 0] - 1) <= TOLERANCE
    if not fine.all():
        row = int(fine.argmin())
        player = int(tree.groups.owner[sets[row]])
        names = [tree.game.action_text(player, int(each)) for each in tree.actions[tree.slots_of(int(sets[row]))]]
        raise ConfigurationError(
            f"a policy gave {answer[row].tolist()} in information set {int(sets[row])} of {tree.game.players[player]} "
            f"({', '.join(names)}): probabilities are not negative, sum to 1, and are 0 behind the last legal action"
        )
    probabilities: Table = answer / totals
    return probabilities


def joined(tree: Tree, first_player: Table, second_player: Table) -> Table:
    """Return the first player's part of one table and the second's of another."""
    return np.where(tree.slot_owners == 0, first_player, second_player)


def mixed(tree: Tree, tables: Sequence[Table], chances: Sequence[float]) -> Table:
    """Return the table that plays as one of several does, which is drawn by these chances for a whole game.

    Each counts at an information set as much as it comes there by itself.
    """
    sums = sum(chance * reach_of(tree, table)[:-1] for table, chance in zip(tables, chances, strict=True))
    table = np.empty(tree.slots)
    normalise = compiled(sweeps.normalise, CPU)
    with progress(normalise, "the solver"):
        normalise(tree.groups.first_slot, np.asarray(sums), table)
    return table
