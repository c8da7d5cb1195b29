"""Torch tensors for a `Simulator` (`vauban.sim.arrays` says why), on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from vauban.errors import ConfigurationError
from vauban.sim.arrays import Array


class TorchArrays:
    """Tensors on one device."""

    noun = "tensor"

    def __init__(self, device: Any = "cpu") -> None:
        try:
            self.device = torch.device(device)
        except RuntimeError as error:
            raise ConfigurationError(f'device is "cpu" or "cuda", not {device!r}') from error
        if self.device.type not in ("cpu", "cuda"):
            raise ConfigurationError(f'device is "cpu" or "cuda", not {str(self.device)!r}')
        if self.device.type == "cuda" and not torch.cuda.is_available():
            raise ConfigurationError('device "cuda" is not available here: use device="cpu"')
        self.on_cpu = self.device.type == "cpu"

    def zeros(self, shape: Sequence[int], kind: str) -> Array:
        return torch.zeros(tuple(shape), dtype=getattr(torch, kind), device=self.device)

    def empty(self, shape: Sequence[int], kind: str) -> Array:
        return torch.empty(tuple(shape), dtype=getattr(torch, kind), device=self.device)

    def take(self, given: Any) -> Array:
        return torch.as_tensor(given, device=self.device)

    def clear(self, array: Array) -> None:
        array.zero_()

    def copy(self, array: Array) -> Array:
        return array.clone()

    def assign(self, target: Array, source: Array) -> None:
        target.copy_(torch.as_tensor(source).expand_as(target))

    def number(self, out: Array, first: int) -> None:
        torch.arange(first, first + len(out), out=out)

    def actions(self, given: Array, wide: Array, halves: Array, most: int) -> Array:
        if given.dtype == torch.int16 and given.is_contiguous():
            return given
        return halves.copy_(wide.copy_(given).clamp_(-1, most))

    def values(self, given: Array) -> Array:
        return given.clamp(-1, 127).to(torch.int8).contiguous()

    def whole(self, array: Array) -> bool:
        return not (array.is_floating_point() or array.is_complex() or array.dtype == torch.bool)

    def kind(self, array: Array) -> str:
        return str(array.dtype).removeprefix("torch.")

    def fits(self, out: Array) -> bool:
        return isinstance(out, torch.Tensor) and out.device.type == self.device.type and out.is_contiguous()


def raw(tensor: torch.Tensor) -> Any:
    """Return a tensor in main memory as the NumPy array of the same memory; bfloat16 as the 16 bits of each number."""
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(np.uint16)
    return tensor.numpy()
