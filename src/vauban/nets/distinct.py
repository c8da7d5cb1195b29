"""Asking a network once about observations that are alike.

In a small game, a batch holds every situation many times: thousands of positions of Leduc poker are a few hundred
different ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import torch
from torch import Tensor

Answers = TypeVar("Answers", bound=tuple[Tensor, ...])


def distinct(ask: Callable[[Tensor], Answers]) -> Callable[[Tensor], Answers]:
    """Return what asks about the different rows of what is seen alone, and gives every row its answers."""

    def ask_once(seen: Tensor) -> Answers:
        first, place = different_rows(seen)
        answers = ask(seen[first])
        return type(answers)(each.index_select(0, place) for each in answers)

    return ask_once


def different_rows(seen: Tensor) -> tuple[Tensor, Tensor]:
    """Return a row of each kind, and for every row the place of its kind among them."""
    rows = seen.flatten(1)
    # Rows are told apart by their product with random numbers, which is a hundred times faster than sorting them.
    marks, place = torch.unique(rows.double() @ _weights(rows.shape[1]), return_inverse=True)
    first = place.new_empty(len(marks)).scatter_(0, place, torch.arange(len(rows)))
    if not torch.equal(rows[first][place], rows):  # two kinds with one mark
        everything = torch.arange(len(rows))
        return everything, everything
    return first, place


@lru_cache(maxsize=8)
def _weights(count: int) -> Tensor:
    return torch.rand(count, generator=torch.Generator().manual_seed(count), dtype=torch.float64)
