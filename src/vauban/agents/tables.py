"""The table of an agent on the tree of a small game: what it takes to compute how far it is from an equilibrium."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from vauban.agents.base import Actions, DrawsPolicies, Floats, GivesPolicy

if TYPE_CHECKING:
    from vauban.sim.store import Snapshot
    from vauban.solve import Table, Tree


def tabulated(tree: Tree, agent: GivesPolicy, tick: Callable[[int], None] = lambda _: None) -> Table:
    """Return the table of an agent; of one that draws its policy for a whole game, the table that plays alike.

    tick: called from time to time with the number of information sets that have been asked about.
    """
    from vauban.solve import joined, mixed, tabulate

    if not isinstance(agent, DrawsPolicies) or max(len(agent.chances(player)) for player in (0, 1)) == 1:
        return tabulate(tree, lambda views, actions: _cut(agent.policy(views), actions), tick)
    parts = []
    for player in (0, 1):
        chances = agent.chances(player)
        policies = [partial(_policy_of, agent, number) for number in range(len(chances))]
        tables = [tabulate(tree, policy, players=(player,)) for policy in policies]
        parts.append(mixed(tree, tables, chances))
        tick(sum(tree.information_sets[: player + 1]))
    return joined(tree, *parts)


def _policy_of(agent: DrawsPolicies, number: int, views: Snapshot, actions: Actions) -> Any:
    return _cut(agent.policy_of(views, number), actions)


def _cut(policy: Floats, actions: Actions) -> Floats:
    return policy[:, : actions.shape[1]]
