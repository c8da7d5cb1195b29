"""Asking a network once about observations that are alike.

A batch of a small game holds every situation many times: thousands of positions of Leduc poker are a few hundred
different ones. In a large game the first moves of all games are alike. To find that out costs little beside a network
on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import torch
from torch import Tensor

AT_ONCE = 1024
"""Rows that are compared at once: copies of them stay small."""
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
    marks = torch.cat([part.double() @ _weights(rows.shape[1]) for part in torch.split(rows, AT_ONCE)])
    kinds, place = torch.unique(marks, return_inverse=True)
    numbers = torch.arange(len(rows))
    first = place.new_empty(len(kinds)).scatter_(0, place, numbers)
    pairs = zip(torch.split(rows, AT_ONCE), torch.split(first[place], AT_ONCE), strict=True)
    if not all(torch.equal(part, rows[alike]) for part, alike in pairs):  # two kinds have one mark
        return numbers, numbers
    return first, place


@lru_cache(maxsize=8)
def _weights(count: int) -> Tensor:
    return torch.rand(count, generator=torch.Generator().manual_seed(count), dtype=torch.float64)
