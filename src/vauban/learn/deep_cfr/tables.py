"""The tabular twin: the same traversals and weights, with tables in place of networks and buffers.

It solves games that have a tree, and tells whether the sampling is right before any network is asked.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import NUMBER
from vauban.learn.buffers import row_keys
from vauban.learn.deep_cfr import targets
from vauban.learn.deep_cfr.targets import explored
from vauban.learn.deep_cfr.traversal import Traversal
from vauban.learn.solvers import register
from vauban.nets.regrets import match_regrets
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot
from vauban.solve import Solver, Tree

CPU = torch.device("cpu")
LEAST = 1e-300
"""Divisor of what was never met."""


@register("deep-cfr-table")
class DeepCFRTable(Solver):
    """Deep CFR with outcome sampling, with the sums that its networks would learn in tables."""

    name = "deep-cfr-table"

    def __init__(
        self, tree: Tree, seed: int = 0, traversals: int = 384, exploration: float = 0.6, weights: str = "printed"
    ) -> None:
        super().__init__(tree)
        if weights not in targets.WEIGHTS:
            raise ConfigurationError(f"weights are {', '.join(targets.WEIGHTS)}, not {weights!r}")
        self.traversals, self.weights = traversals, weights
        self._strategies = TableStrategies(tree)
        format = tree.game.format(plies=tree.game.max_plies)
        self._traversal = Traversal(
            tree.game, traversals, self._strategies, exploration, CPU, seed, format=format
        )  # fmt: skip
        # The solver's arrays, as tensors on the same memory.
        self._regrets, self._sums = torch.from_numpy(self.regrets), torch.from_numpy(self.sums)
        self._strategies.regrets = self._regrets
        self._gained, self._counted = (torch.zeros_like(self._regrets) for _ in range(2))
        """Of `reached`, whose weights are not the same for all actions: the sums of targets and of their weights."""

    def _run(self, first: int, last: int) -> None:
        for iteration in range(first, last):
            self._iterate(iteration)

    def _iterate(self, iteration: int) -> None:
        traversal, strategies = self._traversal, self._strategies
        strategies.met.clear()
        paths = traversal.run(targets.traverser_of(iteration), iteration * self.traversals)
        slots = strategies.slots[torch.stack(strategies.met)]
        # What is not there has the slot behind the last.
        there = slots >= 0
        slots = torch.where(there, slots, self.tree.slots)
        linear = targets.linear_weight(iteration)
        found = targets.advantages(paths, self.weights)
        visits = traversal.visits
        taken = torch.nn.functional.one_hot(visits.places, there.shape[-1]).bool()
        own, other = paths.played & paths.own, paths.played & ~paths.own
        gained = torch.where(taken, found.taken[..., None], found.others[..., None])
        weight = (linear * found.factor)[..., None]
        if self.weights == targets.REACHED:
            shares = weight * explored(visits.policy.double(), there, traversal.exploration)
            _add(self._gained, slots, gained * shares, there & own[..., None])
            _add(self._counted, slots, shares, there & own[..., None])
            self._regrets.copy_(self._gained / self._counted.clamp_min(LEAST))
        else:
            _add(self._regrets, slots, gained * weight, there & own[..., None])
        weights = linear * targets.strategy_factors(paths)
        _add(self._sums, slots, visits.policy.double() * weights[..., None], there & other[..., None])


class TableStrategies:
    """Regret matching on a table of a tree; uniform where nothing has been learned yet."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.regrets = torch.zeros(tree.slots, dtype=torch.float64)
        self.met: list[Tensor] = []
        """The information set of each game, for every time that the strategies were asked for."""
        widths = tree.widths
        place = np.arange(tree.game.max_legal)
        self.slots = torch.from_numpy(
            np.where(place < widths[:, None], tree.groups.first_slot[:-1, None] + place, -1).astype(np.int64)
        )
        """By information set: the slots of its actions, −1 behind the last."""
        self._keys, self._sets = self._known()

    def ask(self, sim: Simulator, legal: Tensor, whose: Tensor) -> Tensor:
        first, second = (_keys(sim.views(player)) for player in (0, 1))
        wanted = torch.where(sim.players == 0, first, second)
        there = legal >= 0
        sets = self._find(wanted, there[:, 0])
        self.met.append(sets)
        regrets = torch.cat([self.regrets, torch.zeros(1, dtype=torch.float64)])[self.slots[sets]]
        even = there.double() / there.sum(1, keepdim=True).clamp_min(1)
        learned = (regrets * there).any(1, keepdim=True)
        return torch.where(learned, match_regrets(regrets, there), even)

    def _find(self, keys: Tensor, there: Tensor) -> Tensor:
        """Return the information sets with these keys; any for games that are over."""
        places = torch.searchsorted(self._keys, keys).clamp(max=len(self._keys) - 1)
        if not bool(((self._keys[places] == keys) | ~there).all()):
            raise ConfigurationError(f"{self.tree.game!r}: a traversal met a view that the game's tree does not have")
        return self._sets[places]

    def _known(self) -> tuple[Tensor, Tensor]:
        """Return the keys of all information sets, sorted, and the sets in their order."""
        tree, keys = self.tree, np.empty(len(self.tree.groups.owner), np.int64)
        for player in (0, 1):
            own = np.flatnonzero(tree.groups.owner == player)
            keys[own] = _keys(tree.views(own)).numpy()
        order = np.argsort(keys, kind="stable")
        if (np.diff(keys[order]) == 0).any():
            raise ConfigurationError(
                f"what a player of {tree.game!r} sees now does not tell all that the player has known before, so its "
                "information sets cannot be told apart by views: take another policy"
            )
        return torch.from_numpy(keys[order]), torch.from_numpy(order)


def _keys(views: Snapshot) -> Tensor:
    """Return a number for each view, by its record but for the game's number."""
    row = torch.cat([torch.as_tensor(part).long() for part in views.store], 1)
    row[:, NUMBER] = 0
    return row_keys(row)


def _add(table: Tensor, slots: Tensor, numbers: Tensor, there: Tensor) -> None:
    """Add numbers to the slots of a table, where they are there."""
    table.index_add_(0, slots[there], numbers[there])
