"""The policy that a search ends with: one step of magnetic mirror descent, in closed form."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from vauban.errors import ConfigurationError


def mirror_descent(values: Tensor, log_policy: Tensor, log_magnet: Tensor, alpha: float, beta: float) -> Tensor:
    """Return the logarithm of the policy that maximises ⟨values, π⟩ − α·KL(π, magnet) − β·KL(π, policy), row by row.

    That is π ∝ [exp(values) · magnetᵅ · policyᵝ]^(1 / (α + β)) (Ataraxos, equations 7 and 8). Actions that are not
    there have a magnet of −inf, and get −inf.
    """
    if not (alpha >= 0 and beta >= 0 and 0 < alpha + beta < math.inf):
        raise ConfigurationError(f"alpha and beta are finite, 0 or more, and not both 0: alpha={alpha}, beta={beta}")
    absent = log_magnet == -torch.inf
    scores = values.masked_fill(absent, 0.0)
    for weight, logarithms in ((alpha, log_magnet), (beta, log_policy)):
        if weight > 0:  # a weight of 0 may stand beside −inf
            scores = scores + (weight * logarithms).masked_fill(absent, 0.0)
    return torch.log_softmax((scores / (alpha + beta)).masked_fill(absent, -torch.inf), -1)
