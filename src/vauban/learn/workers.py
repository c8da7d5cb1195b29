"""Several processes that train one network together, or one alone.

Two workers with n games each do what one with 2n games does: thresholds are taken over the positions of all, and the
gradient of a batch is the sum of the workers' shares.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta

import torch
from torch import Tensor, distributed

PATIENCE = timedelta(minutes=5)
"""How long a worker waits for the others before it takes one of them for dead."""


class Workers:
    """This process and the others of a run; on its own, all of this is nothing."""

    def __init__(self, rank: int = 0, count: int = 1) -> None:
        self.rank = rank
        """Which of them this is, from 0."""
        self.count = count
        """How many there are."""

    @property
    def leads(self) -> bool:
        """Whether this one writes files and talks."""
        return self.rank == 0

    def share(self, tensors: Sequence[Tensor]) -> None:
        """Give everybody the first one's tensors."""
        if self.count > 1:
            for tensor in tensors:
                distributed.broadcast(tensor.data, 0)

    def add(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by their sums over all workers."""
        if self.count > 1:
            flat = torch.cat([tensor.flatten() for tensor in tensors])
            distributed.all_reduce(flat)
            parts = torch.split(flat, [tensor.numel() for tensor in tensors])
            for tensor, part in zip(tensors, parts, strict=True):
                tensor.copy_(part.view_as(tensor))

    def gather(self, tensor: Tensor) -> Tensor:
        """The rows of all workers, in their order; each may have another number of them."""
        if self.count == 1:
            return tensor
        lengths = [torch.zeros(1, dtype=torch.int64, device=tensor.device) for _ in range(self.count)]
        distributed.all_gather(lengths, torch.tensor([len(tensor)], device=tensor.device))
        longest = max(int(length) for length in lengths)
        padded = torch.zeros((longest, *tensor.shape[1:]), dtype=tensor.dtype, device=tensor.device)
        padded[: len(tensor)] = tensor
        parts = [torch.empty_like(padded) for _ in range(self.count)]
        distributed.all_gather(parts, padded)
        return torch.cat([part[: int(length)] for part, length in zip(parts, lengths, strict=True)])


ALONE = Workers()


def join_workers(device: torch.device) -> Workers:
    """The workers that `torchrun` started, of which this is one; alone if it did not."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        return ALONE
    backend = "nccl" if device.type == "cuda" else "gloo"
    distributed.init_process_group(backend, timeout=PATIENCE)
    return Workers(distributed.get_rank(), count)
