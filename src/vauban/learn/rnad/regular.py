"""The policies beside the one that learns: the target, and the two towards which play is regularised."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from vauban.learn.trainee import Trainee
from vauban.nets.policy import PolicyNetwork

NEWER, OLDER = "newer", "older"


class Policies:
    """The target of a network in training, and two policies that were the target before."""

    def __init__(self, trainee: Trainee[PolicyNetwork]) -> None:
        self.trainee = trainee
        dtype = trainee.dtype
        self.target = _running(trainee.average, dtype)
        """The moving average, in the numbers that networks run in."""
        self._kept = {name: copy.deepcopy(trainee.average) for name in (NEWER, OLDER)}
        self.newer, self.older = (_running(self._kept[name], dtype) for name in (NEWER, OLDER))
        """π_m and π_m−1."""

    def follow(self, share: float) -> None:
        """Move the target towards the network in training by this share of the way."""
        self.trainee.update_average(1 - share)
        _copy(self.target, self.trainee.average)

    def replace(self) -> None:
        """Regularise towards the target from now on, and no longer towards the older of the two policies."""
        _copy(self._kept[OLDER], self._kept[NEWER])
        _copy(self._kept[NEWER], self.trainee.average)
        self._refresh()

    def begin_anew(self) -> None:
        """Regularise towards the target alone."""
        for kept in self._kept.values():
            _copy(kept, self.trainee.average)
        self._refresh()

    def refresh(self) -> None:
        """Take over a target that was loaded from elsewhere."""
        _copy(self.target, self.trainee.average)

    def state(self) -> dict[str, Any]:
        """Return the two policies."""
        return {name: kept.state_dict() for name, kept in self._kept.items()}

    def fits(self, state: Mapping[str, Any]) -> bool:
        """Return whether a `state()` is of two such networks."""
        return set(state) == {NEWER, OLDER} and all(
            {key: each.shape for key, each in state[name].items()}
            == {key: each.shape for key, each in self._kept[name].state_dict().items()}
            for name in state
        )

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `state()`."""
        for name, kept in self._kept.items():
            kept.load_state_dict(state[name])
        self._refresh()

    def _refresh(self) -> None:
        _copy(self.newer, self._kept[NEWER])
        _copy(self.older, self._kept[OLDER])


def _running(network: PolicyNetwork, dtype: torch.dtype) -> PolicyNetwork:
    """Return the network itself where it runs in float32, else a copy that does not."""
    return network if dtype == torch.float32 else copy.deepcopy(network).to(dtype)


@torch.no_grad()
def _copy(mine: nn.Module, other: nn.Module) -> None:
    if mine is not other:
        torch._foreach_copy_(_tensors(mine), _tensors(other))


def _tensors(network: nn.Module) -> list[Tensor]:
    return list(network.state_dict().values())
