"""The tree of a game as a file of Gambit (.efg), which other solvers of extensive games read, too.

write_efg(build_tree("kuhn"), "kuhn.efg")

Information sets are those of the tree, each player's numbered from 1; probabilities and payoffs are exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from vauban.errors import ConfigurationError
from vauban.games.base import CHANCE
from vauban.solve.tree import Tree
from vauban.solve.walk import TERMINAL

LARGEST = 10**7
"""The largest denominator of a probability: beyond it, a float no longer tells the fraction."""


def write_efg(tree: Tree, path: str | Path) -> None:
    """Write a tree to a file, a line for each history."""
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in efg_lines(tree))


def efg_lines(tree: Tree) -> Iterator[str]:
    """Yield the lines of the file: a head, then every history before its children."""
    first, second = tree.game.players
    rules = tree.game.rules_text
    yield f"EFG 2 R {_quoted(tree.game.name if rules is None else f'{tree.game.name} {rules}')}"
    yield f"{{ {_quoted(first)} {_quoted(second)} }}"
    yield ""
    nodes, outcomes = tree.nodes, dict[Fraction, int]()
    owned = np.eye(2, dtype=np.int64)[tree.groups.owner]
    sets = (owned.cumsum(0) * owned).sum(1)
    waiting = [0]
    while waiting:
        here = waiting.pop()
        kind, group = int(nodes.kind[here]), int(nodes.group[here])
        if kind == TERMINAL:
            worth = Fraction(float(nodes.utility[here]))
            number = outcomes.setdefault(worth, len(outcomes) + 1)
            yield f't "" {number} "" {{ {worth}, {-worth} }}'
            continue
        if kind == CHANCE:
            events = _probabilities(tree, group)
            choices = [f'"{number}" {chance}' for number, chance in enumerate(events, 1)]
            yield f'c "" {group + 1} "" {{ {" ".join(choices)} }} 0'
        else:
            slots = tree.slots_of(group)
            choices = [_quoted(tree.game.action_text(kind, int(action))) for action in tree.actions[slots]]
            yield f'p "" {kind + 1} {sets[group]} "" {{ {" ".join(choices)} }} 0'
        child = int(nodes.child[here])
        waiting.extend(range(child + len(choices) - 1, child - 1, -1))


def _probabilities(tree: Tree, group: int) -> list[Fraction]:
    """Return the exact probabilities of the events at a history of chance."""
    start, stop = tree.chances.first_event[group : group + 2]
    found = [Fraction(float(chance)).limit_denominator(LARGEST) for chance in tree.chances.probability[start:stop]]
    if sum(found) != 1:
        raise ConfigurationError(
            f"a chance event of {tree.game.name!r} has probabilities that are no fractions with denominators up to "
            f"{LARGEST:,}, and this format needs exact ones"
        )
    return found


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
