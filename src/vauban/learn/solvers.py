"""Solvers that learners offer: their algorithm on the tree of a small game, with tables in place of networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vauban.learn.base import learners
from vauban.solve import Solver

Kind = TypeVar("Kind", bound=type[Solver])
_solvers: dict[str, Callable[..., Solver]] = {}


def register(name: str) -> Callable[[Kind], Kind]:
    """Make a solver known under a name."""

    def add(kind: Kind) -> Kind:
        _solvers[name] = kind
        return kind

    return add


def find_solver(name: str) -> Callable[..., Solver]:
    """Return the solver of this name: from a tree, a seed and settings of its own."""
    learners()  # whose packages register theirs
    return _solvers[name]
