"""Buffers of a fixed size that learning draws from: a uniform sample of all that was ever put in, or the newest of it.

    reservoir = Reservoir(capacity, {"target": ((2,), torch.float32)}, device)
    reservoir.add({"target": targets}, mask, generator)
    reservoir.columns["target"][reservoir.draw(256, generator)]

    ring = Ring(capacity, {"target": ((2,), torch.float32)}, device)
    ring.add({"target": targets})

Everything lies on the device, and nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

KEYS_SEED = 1
"""Of the numbers by which rows are told apart."""
Columns = Mapping[str, tuple[tuple[int, ...], torch.dtype]]
"""By name: the shape and the type of an item's entry."""


class Reservoir:
    """Items in columns. The k-th that is put in is kept with probability capacity / k, in place of any other."""

    def __init__(self, capacity: int, columns: Columns, device: torch.device) -> None:
        self.capacity = capacity
        # One row more than there is room for: what is not kept goes there.
        self.columns = {
            name: torch.zeros((capacity + 1, *shape), dtype=dtype, device=device)
            for name, (shape, dtype) in columns.items()
        }
        self.seen = torch.zeros((), dtype=torch.int64, device=device)
        """Number of items that were ever put in."""

    @property
    def filled(self) -> Tensor:
        """Number of items that are in."""
        return self.seen.clamp(max=self.capacity)

    def add(self, items: Mapping[str, Tensor], mask: Tensor, generator: torch.Generator) -> None:
        """Put in the items where the mask is true, in their order.

        Every item is accepted or not by itself: a number is drawn below its own count k, and if that is below the
        capacity, it is the place where the item goes.
        """
        device = self.seen.device
        counts = self.seen + mask.long().cumsum(0)
        chances = torch.rand(len(mask), generator=generator, device=device, dtype=torch.float64)
        drawn = (chances * counts).long().minimum(counts - 1)
        places = torch.where(counts <= self.capacity, counts - 1, drawn)
        places = torch.where(mask, places, self.capacity).clamp(max=self.capacity)
        # Of several items for one place the last one stays, as if they had come one by one.
        order = torch.arange(len(mask), device=device)
        last = torch.full((self.capacity + 1,), -1, device=device).scatter_reduce(0, places, order, "amax")
        places = torch.where(last[places] == order, places, self.capacity)
        for name, column in self.columns.items():
            column[places] = items[name].to(column.dtype)
        self.seen += mask.sum()

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Return the places of items that are drawn evenly, with repetition; there must be one."""
        chances = torch.rand(count, generator=generator, device=self.seen.device, dtype=torch.float64)
        return (chances * self.filled).long().minimum(self.filled - 1)

    def state(self) -> dict[str, Any]:
        """Return all that is in."""
        filled = int(self.filled)
        return {"seen": self.seen.clone(), **{name: column[:filled].clone() for name, column in self.columns.items()}}

    def fits(self, state: Mapping[str, Any]) -> bool:
        """Return whether a `state()` is of a reservoir of the same columns and no larger capacity than this one's."""
        if set(state) != {"seen", *self.columns}:
            return False
        same = (
            state[name].shape[1:] == column.shape[1:] and state[name].dtype == column.dtype
            for name, column in self.columns.items()
        )
        filled = min(int(state["seen"]), self.capacity)
        return all(same) and all(len(state[name]) == filled for name in self.columns)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `state()`."""
        for name, column in self.columns.items():
            column[: len(state[name])] = state[name].to(column.device)
        self.seen.copy_(state["seen"])


def row_keys(rows: Tensor) -> Tensor:
    """Return a number for each row of whole numbers: the same for equal rows, another for any other."""
    generator = torch.Generator().manual_seed(KEYS_SEED)
    factors = torch.randint(-(2**62), 2**62, (rows.shape[1],), generator=generator)
    return (rows * factors.to(rows.device)).sum(1)


class Ring:
    """Items in columns, of which the newest are kept: each takes the place of the oldest."""

    def __init__(self, capacity: int, columns: Columns, device: torch.device) -> None:
        self.capacity = capacity
        self.columns = {
            name: torch.zeros((capacity, *shape), dtype=dtype, device=device)
            for name, (shape, dtype) in columns.items()
        }
        self.seen = 0
        """Number of items that were ever put in."""

    @property
    def filled(self) -> int:
        """Number of items that are in."""
        return min(self.seen, self.capacity)

    def places(self, count: int) -> Tensor:
        """Return the places that the next items will have."""
        device = next(iter(self.columns.values())).device
        return (self.seen + torch.arange(count, device=device)) % self.capacity

    def add(self, items: Mapping[str, Tensor]) -> None:
        """Put in items, in their order."""
        count = len(next(iter(items.values())))
        places = self.places(count)[-self.capacity :]
        for name, column in self.columns.items():
            column[places] = items[name][-self.capacity :].to(column.dtype)
        self.seen += count

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Return the places of items that are drawn evenly, with repetition; there must be one."""
        device = next(iter(self.columns.values())).device
        return torch.randint(self.filled, (count,), generator=generator, device=device)

    def state(self) -> dict[str, Any]:
        """Return all that is in."""
        return {"seen": self.seen, **{name: column[: self.filled].clone() for name, column in self.columns.items()}}

    def fits(self, state: Mapping[str, Any]) -> bool:
        """Return whether a `state()` is of a ring of the same columns and the same capacity."""
        if set(state) != {"seen", *self.columns}:
            return False
        filled = min(int(state["seen"]), self.capacity)
        return all(
            state[name].shape == (filled, *column.shape[1:]) and state[name].dtype == column.dtype
            for name, column in self.columns.items()
        )

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `state()`."""
        for name, column in self.columns.items():
            column[: len(state[name])] = state[name].to(column.device)
        self.seen = int(state["seen"])
