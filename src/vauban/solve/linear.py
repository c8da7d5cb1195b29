"""Equilibria by linear programming: of matrix games, and of trees in sequence form.

Exact to rounding, as long as the tree is small: thousands of information sets take a second, and
time grows faster than the tree. Larger ones are for `CFRPlus`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError, install_command
from vauban.solve.policies import joined
from vauban.solve.tree import Table, Tree

Mix = npt.NDArray[np.float64]


class MatrixEquilibrium(NamedTuple):
    """An equilibrium of a matrix game."""

    value: float
    """The game's worth to the player who chooses rows."""
    row: Mix
    column: Mix


class TreeEquilibrium(NamedTuple):
    """An equilibrium of a tree."""

    value: float
    """The game's worth to the first player."""
    policy: Table


def solve_matrix(payoffs: npt.ArrayLike) -> MatrixEquilibrium:
    """Return an equilibrium of the zero-sum game in which the row player gets `payoffs[row, column]`."""
    matrix = np.asarray(payoffs, np.float64)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ConfigurationError(f"payoffs must be a matrix, not an array of shape {matrix.shape}")
    value, row = _best_mix(matrix)
    return MatrixEquilibrium(value, row, _best_mix(-matrix.T)[1])


def _best_mix(matrix: Mix) -> tuple[float, Mix]:
    """Return the mix of rows that guarantees most, and how much: maximise v with mix · matrix ≥ v in every column."""
    rows, columns = matrix.shape
    found = _minimise(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-matrix.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    mix = found.x[:rows].clip(0)
    return -float(found.fun), mix / mix.sum()


def solve_tree(tree: Tree) -> TreeEquilibrium:
    """Return an equilibrium of a tree, in sequence form.

    (von Stengel, "Efficient computation of behavior strategies".)
    """
    value, first = _best_plan(tree, 0)
    return TreeEquilibrium(value, joined(tree, first, _best_plan(tree, 1)[1]))


def _best_plan(tree: Tree, player: int) -> tuple[float, Table]:
    """Return the player's policy that guarantees the most, and how much it guarantees.

    Variables: the realisation weight of each of the player's sequences (the empty one last), and what the
    other player can still get in each of its information sets and at the root (last).
    """
    sparse = _scipy().sparse
    other = 1 - player
    mine, own_column = _sequences(tree, player)
    theirs, _ = _sequences(tree, other)
    sign = 1.0 if player == 0 else -1.0
    # The player's gain by these weights if the other plays a sequence: one row for each of its sequences.
    payoff = sparse.coo_matrix(
        (sign * tree.payoffs.weight, (theirs[tree.payoffs.slots[:, other]], mine[tree.payoffs.slots[:, player]])),
        shape=(theirs[-1] + 1, mine[-1] + 1),
    ).tocsr()
    flow = _flow(tree, player, mine)
    # In each of its information sets the other takes what it likes best: the set's worth to the player is at most that
    # of any of its sequences, with all that follows them.
    worth = _flow(tree, other, theirs).T.tocsr()
    weights, worths = flow.shape[1], worth.shape[1]
    goal = np.zeros(weights + worths)
    goal[-1] = -1.0
    root = np.zeros(flow.shape[0])
    root[-1] = 1.0
    found = _minimise(
        goal,
        A_ub=sparse.hstack([-payoff, worth]).tocsr(),
        b_ub=np.zeros(payoff.shape[0]),
        A_eq=sparse.hstack([flow, sparse.csr_matrix((flow.shape[0], worths))]).tocsr(),
        b_eq=root,
        bounds=[(0, None)] * weights + [(None, None)] * worths,
    )
    table = np.zeros(tree.slots)
    table[own_column] = found.x[: weights - 1].clip(0)
    totals = np.repeat(np.add.reduceat(table, tree.groups.first_slot[:-1]), tree.widths)
    even = np.repeat(1.0 / tree.widths, tree.widths)
    return -float(found.fun), np.divide(table, totals, out=even, where=totals > 0)


def _sequences(tree: Tree, player: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return by slot (the empty sequence's last) its number among the player's sequences; and the player's slots in
    order.
    """
    own = np.flatnonzero(tree.slot_owners == player)
    numbers = np.full(tree.slots + 1, -1, np.int64)
    numbers[own] = np.arange(len(own))
    numbers[-1] = len(own)
    return numbers, own


def _flow(tree: Tree, player: int, numbers: npt.NDArray[np.int64]) -> Any:
    """Return a row for each information set: its sequences' weights less that of the sequence before it are 0.

    The last row is the weight of the empty sequence, which is 1.
    """
    sets = np.flatnonzero(tree.groups.owner == player)
    widths = tree.widths[sets]
    slots = np.flatnonzero(tree.slot_owners == player)
    rows = np.concatenate([np.repeat(np.arange(len(sets)), widths), np.arange(len(sets)), [len(sets)]])
    columns = np.concatenate([numbers[slots], numbers[tree.groups.parent[sets]], [numbers[-1]]])
    entries = np.concatenate([np.ones(len(slots)), -np.ones(len(sets)), [1.0]])
    return _scipy().sparse.coo_matrix((entries, (rows, columns)), shape=(len(sets) + 1, len(slots) + 1)).tocsr()


def _minimise(goal: Mix, **constraints: Any) -> Any:
    found = _scipy().optimize.linprog(goal, method="highs", **constraints)
    if not found.success:
        raise ConfigurationError(f"the linear program was not solved: {found.message}")
    return found


def _scipy() -> Any:
    """Return the library that solves linear programs, or an error that says how to get it."""
    try:
        import scipy.optimize
        import scipy.sparse
    except ImportError as error:
        raise ConfigurationError(f"linear programs need scipy: {install_command('solve')}") from error
    return scipy
