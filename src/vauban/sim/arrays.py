"""The arrays in which a `Simulator` keeps its numbers: NumPy's here, torch tensors in `vauban.sim.tensors`.

Both offer the same few operations, so that the simulator is written once, and nothing below it needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vauban.errors import ConfigurationError

Array = Any
"""A NumPy array or a torch tensor."""

OBSERVED_AS = ("float32", "bfloat16")
"""The types that observations are written in."""


class NumpyArrays:
    """NumPy arrays in main memory."""

    noun = "array"
    device = "cpu"
    on_cpu = True

    def __init__(self, device: Any = "cpu") -> None:
        if str(device) != "cpu":
            raise ConfigurationError(f'NumPy arrays are on the device "cpu", not {str(device)!r}: leave arrays out')

    def zeros(self, shape: Sequence[int], kind: str) -> Array:
        return np.zeros(shape, kind)

    def empty(self, shape: Sequence[int], kind: str) -> Array:
        return np.empty(shape, kind)

    def take(self, given: Any) -> Array:
        """Return an array of ours with what a caller gives."""
        return as_numpy(given)

    def clear(self, array: Array) -> None:
        """Overwrite an array with zeros."""
        array.fill(0)

    def copy(self, array: Array) -> Array:
        return array.copy()

    def assign(self, target: Array, source: Array) -> None:
        """Overwrite an array with another of its shape, or of one row for all."""
        target[...] = as_numpy(source)

    def number(self, out: Array, first: int) -> None:
        """Fill an array with first, first + 1, …"""
        out[...] = np.arange(first, first + len(out))

    def actions(self, given: Array, wide: Array, halves: Array, most: int) -> Array:
        """Return given numbers as 16-bit actions, by way of 64 bits: one that 16 bits cannot hold becomes no action."""
        halves[...] = given.clip(-1, most)
        return halves

    def values(self, given: Array) -> Array:
        """Return given numbers as 8-bit values of hidden things."""
        return given.clip(-1, 127).astype(np.int8)

    def whole(self, array: Array) -> bool:
        """Return whether an array holds whole numbers."""
        return array.dtype.kind in "iu"

    def kind(self, array: Array) -> str:
        """Return the name of an array's type of numbers."""
        return str(array.dtype)

    def fits(self, out: Array) -> bool:
        """Return whether a caller's array is one of ours, in one piece."""
        return isinstance(out, np.ndarray) and out.flags.c_contiguous


def as_numpy(given: Any) -> Any:
    """Return a NumPy array of anything that holds numbers; of a tensor on a GPU, a copy."""
    if hasattr(given, "cpu"):
        given = given.cpu()
    return np.asarray(given)


def joined(parts: Sequence[Array]) -> Array:
    """Return arrays of one kind, one below the other."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import torch

    return torch.cat(list(parts))


def repeated(array: Array, times: int) -> Array:
    """Return every row `times` times, copies side by side."""
    return array.repeat(times, 0) if isinstance(array, np.ndarray) else array.repeat_interleave(times, 0)
