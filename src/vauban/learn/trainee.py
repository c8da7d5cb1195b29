"""A network in training: its parameters, the copy of them that runs, its optimiser, its moving average."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from vauban.learn.workers import ALONE, Workers
from vauban.nets.dtypes import working_dtype

Network = TypeVar("Network", bound=nn.Module)


class Trainee(Generic[Network]):
    """A network whose float32 parameters are trained by Adam.

    On a GPU that has bfloat16 a copy in it does the work, in rollouts and in training alike, so that the policy which
    learns is the one which played. Elsewhere, where bfloat16 is slow, the network itself does.
    """

    def __init__(
        self, network: Network, device: torch.device, workers: Workers = ALONE, working: torch.dtype | None = None
    ) -> None:
        """`working`: the numbers of the copy that runs, if it is not to be as said above."""
        self.network = network.to(device)
        """The network in training, in float32."""
        dtype = working or working_dtype(device)
        self.working = self.network if dtype == torch.float32 else copy.deepcopy(self.network).to(dtype)
        """The copy that runs."""
        self.average = copy.deepcopy(self.network).requires_grad_(False)
        """The moving average of the parameters: what plays in the end."""
        self.workers = workers
        self._parameters: list[Tensor] = list(self.network.parameters())
        self._running: list[Tensor] = list(self.working.parameters())
        # Statistics that layers keep of what they see, such as those of batch normalisation.
        self._statistics, self._seen, self._shown = (
            _statistics(each) for each in (self.network, self.working, self.average)
        )
        # On a GPU the rate lies there as well, so that a captured graph of a step can be replayed with another.
        cuda = device.type == "cuda"
        rate = torch.zeros((), device=device) if cuda else 0.0
        self.optimiser = torch.optim.Adam(self._parameters, lr=rate, fused=cuda, capturable=cuda)
        workers.share(self._parameters)
        workers.share(self._statistics)
        self.refresh()

    @property
    def dtype(self) -> torch.dtype:
        """The type of what the working copy sees."""
        return self._running[0].dtype

    def step(self, loss: Tensor, learning_rate: float, gradient_norm: float) -> Tensor:
        """Take one step down the gradient of a loss, clipped to a norm; return the norm before that.

        With several workers the loss is this one's share of the whole: their gradients are added.
        """
        self.set_learning_rate(learning_rate)
        return self.descend([loss], gradient_norm)

    def set_learning_rate(self, rate: float) -> None:
        """Set the rate of the next steps."""
        for group in self.optimiser.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def descend(self, losses: Iterable[Tensor], gradient_norm: float) -> Tensor:
        """`step` down the sum of losses, at the rate that was set; it can be captured into a CUDA graph.

        A loss is done with before the next one is asked for: in memory there is only one at a time.
        """
        gradients: list[Tensor] = []
        for loss in losses:
            for running in self._running:
                running.grad = None
            torch.autograd.backward(loss)
            # In float32 also where the copy that runs has fewer bits: many small parts would be lost in a large sum.
            parts = [
                torch.zeros_like(mine) if running.grad is None else running.grad.float()
                for mine, running in zip(self._parameters, self._running, strict=True)
            ]
            gradients = list(torch._foreach_add(gradients, parts)) if gradients else parts
        self.workers.add(gradients)
        for mine, gradient in zip(self._parameters, gradients, strict=True):
            mine.grad = gradient
        norm = nn.utils.clip_grad_norm_(self._parameters, gradient_norm, foreach=True)
        self.optimiser.step()
        self._take_statistics()
        self.refresh()
        return norm

    @torch.no_grad()
    def refresh(self) -> None:
        """Bring the working copy up to date."""
        if self.working is not self.network:
            torch._foreach_copy_(self._running, self._parameters)
            for running, mine in zip(self._seen, self._statistics, strict=True):
                running.copy_(mine)

    @torch.no_grad()
    def _take_statistics(self) -> None:
        """Take over what the working copy has seen: the mean of all workers."""
        if self.working is not self.network:
            for mine, running in zip(self._statistics, self._seen, strict=True):
                mine.copy_(running)
        if self._statistics and self.workers.count > 1:
            means = [each.float() / self.workers.count for each in self._statistics]
            self.workers.add(means)
            for mine, mean in zip(self._statistics, means, strict=True):
                mine.copy_(mean)

    @torch.no_grad()
    def update_average(self, rate: float) -> None:
        """average ← rate · average + (1 − rate) · parameters; statistics, which are averages already, as they are."""
        torch._foreach_lerp_(list(self.average.parameters()), self._parameters, 1 - rate)
        for shown, mine in zip(self._shown, self._statistics, strict=True):
            shown.copy_(mine)

    def state(self) -> dict[str, Any]:
        """Return the network, its average and its optimiser, for `load_state` of another trainee of the same network.

        A run's checkpoint does not come from here: it keeps these in files of their own.
        """
        return {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `state()`."""
        self.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.refresh()


def _statistics(network: nn.Module) -> list[Tensor]:
    """Return what belongs to a network's state beside its parameters."""
    kept = set(network.state_dict())
    return [each for name, each in network.named_buffers() if name in kept]
