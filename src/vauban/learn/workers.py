"""Several processes that train one network together, or one alone.

    torchrun --nproc-per-node 8 -m vauban train ataraxos-paper

Two workers with n games each do what one with 2n games does: thresholds are taken over the positions of all, and the
gradient of a batch is the sum of the workers' shares.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import torch
from torch import Tensor, distributed

from vauban.errors import ConfigurationError, VaubanError
from vauban.learn.pulse import Pulse

T = TypeVar("T")

PATIENCE = 10.0
"""For so many minutes a worker waits for others that give no sign before it takes one of them for dead."""


class WorkersError(VaubanError, RuntimeError):
    """Another worker is gone."""


class Workers:
    """This process and the others of a run; with one process every method does nothing."""

    def __init__(self, rank: int = 0, count: int = 1, device: torch.device | str = "cpu") -> None:
        self.rank = rank
        """The number of this worker, from 0."""
        self.count = count
        """The number of workers."""
        self.device = torch.device(device)
        """The device of tensors that workers exchange."""
        self.pulse: Pulse | None = None
        """Signs of life, where there are several and they have met."""
        self._led = 0
        """Pieces of work that the first one has done for all."""

    @property
    def leads(self) -> bool:
        """Whether this one writes files and talks."""
        return self.rank == 0

    def share(self, tensors: Sequence[Tensor]) -> None:
        """Give everybody the first one's tensors."""
        if self.count > 1:
            for tensor in tensors:
                with self._together():
                    distributed.broadcast(tensor.data, 0)

    def add(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by their sums over all workers."""
        if self.count > 1:
            flat = torch.cat([tensor.flatten() for tensor in tensors])
            with self._together():
                distributed.all_reduce(flat)
            parts = torch.split(flat, [tensor.numel() for tensor in tensors])
            for tensor, part in zip(tensors, parts, strict=True):
                tensor.copy_(part.view_as(tensor))

    def gather(self, tensor: Tensor) -> Tensor:
        """Return the rows of all workers, in their order; each may have another number of them."""
        if self.count == 1:
            return tensor
        lengths = [torch.zeros(1, dtype=torch.int64, device=tensor.device) for _ in range(self.count)]
        with self._together():
            distributed.all_gather(lengths, torch.tensor([len(tensor)], device=tensor.device))
        longest = max(int(length) for length in lengths)
        padded = torch.zeros((longest, *tensor.shape[1:]), dtype=tensor.dtype, device=tensor.device)
        padded[: len(tensor)] = tensor
        parts = [torch.empty_like(padded) for _ in range(self.count)]
        with self._together():
            distributed.all_gather(parts, padded)
        return torch.cat([part[: int(length)] for part, length in zip(parts, lengths, strict=True)])

    def any(self, here: bool) -> bool:
        """Return whether this is so for any worker. All call it together, and go on when all have come."""
        if self.count == 1:
            return here
        flag = torch.tensor([float(here)], device=self.device)
        self.add([flag])
        return flag.item() > 0

    def wait(self) -> None:
        """Go on when all have come this far."""
        self.any(False)

    def led(self, work: Callable[[], T]) -> T | None:
        """Let the first worker do something, and the others wait while it takes and that worker is alive.

        What it comes to, for the first one; None for the others.
        """
        if self.pulse is None:
            return work()
        self._led += 1
        if not self.leads:
            with self._together():
                self.pulse.wait_for(self._led)
            return None
        try:
            return work()
        finally:  # also when it fails: the others are then to find the connection broken, and not to wait
            self.pulse.announce(self._led)

    def leave(self) -> None:
        """Part in an orderly way, all together, when the run is over."""
        if self.pulse is not None:
            self.pulse.stop()
            self.wait()
            distributed.destroy_process_group()

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Around what all workers do at once."""
        try:
            yield
        except RuntimeError as error:  # which is what torch raises when a connection breaks, or patience ends
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            gone = self.pulse.gone() if self.pulse else []
            who = f"worker {' and worker '.join(map(str, gone))}" if gone else "another"
            raise WorkersError(
                f"worker {self.rank} of {self.count} stops, since {who} has died or does not answer any more "
                f"({reason}). Its own message says why; the run goes on from its last checkpoint with --resume"
            ) from error


ALONE = Workers()


def local_device(name: str) -> torch.device:
    """Return this process's device: `cpu`, `cuda`, or `auto` for a GPU if there is one; each worker has its own."""
    if name not in ("auto", "cpu", "cuda"):
        raise ConfigurationError(f"the device is auto, cpu or cuda, not {name!r}")
    here = torch.cuda.is_available()
    if name == "cuda" and not here:
        raise ConfigurationError("there is no GPU that torch can use here: train with --device cpu")
    if name == "cpu" or not here:
        return torch.device("cpu")
    place = int(os.environ.get("LOCAL_RANK", "0"))
    if place >= torch.cuda.device_count():
        raise ConfigurationError(
            f"worker {place} of this machine has no GPU of its own: there are {torch.cuda.device_count()}; start "
            f"no more workers than that (torchrun --nproc-per-node {torch.cuda.device_count()})"
        )
    torch.cuda.set_device(place)
    return torch.device("cuda", place)


def join_workers(device: torch.device, patience: float = PATIENCE, meeting: float | None = None) -> Workers:
    """Return the workers that `torchrun` started, of which this is one; alone if it did not.

    patience: minutes without a sign of life after which a worker is taken for dead.
    meeting: minutes in which all must have come; `patience`, if not given.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        return ALONE
    # Here and not above: a torch without them can still train alone.
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    # Without it, a GPU that waits for a dead one is ended from outside, without a word of ours.
    os.environ.setdefault("TORCH_NCCL_BLOCKING_WAIT", "1")
    backend = "nccl" if device.type == "cuda" else "gloo"
    # Its functions take the group of that moment for their default, and would keep it alive behind `leave`: a thread of
    # the group that still runs when the program ends can end it with an abort.
    importlib.import_module("torch.distributed.nn")
    workers, limit = Workers(int(os.environ["RANK"]), count, device), timedelta(minutes=meeting or patience)
    with workers._together():
        store, rank, count = next(rendezvous("env://", timeout=limit))
        distributed.init_process_group(backend, store=store, rank=rank, world_size=count, timeout=limit)
        if meeting:
            workers.wait()
            distributed.distributed_c10d._set_pg_timeout(timedelta(minutes=patience))
    workers.pulse = Pulse(PrefixStore("pulse", store), rank, count, 60 * patience)
    return workers
