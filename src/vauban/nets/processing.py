"""Processing a policy: small probabilities are dropped, and the others become a number of equal parts.

A network never plays an action with probability 0. What it has learned never to do it still does now and then, and in a
long game that is often enough to lose.
"""

from __future__ import annotations

import torch
from torch import Tensor

SLACK = 1e-9
"""Parts by which a probability may be above a whole number of them by rounding alone."""


def threshold(policy: Tensor, least: float) -> Tensor:
    """Drop actions with probabilities below `least`; a policy of which nothing would be left stays as it is."""
    kept = torch.where(policy < least, 0.0, policy)
    total = kept.sum(-1, keepdim=True)
    return torch.where(total > 0, kept / torch.where(total > 0, total, 1.0), policy)


def discretise(policy: Tensor, levels: int) -> Tensor:
    """Make every probability a number of `levels` equal parts.

    The actions are served from the most probable to the least, of equals the first: each gets as many parts as cover
    its probability, while there are any. What would be left over goes to the most probable.
    """
    ordered, order = policy.double().sort(dim=-1, descending=True, stable=True)
    wanted = (ordered * levels - SLACK).ceil().clamp_min(0)
    left = levels - (wanted.cumsum(-1) - wanted)
    given = wanted.minimum(left.clamp_min(0))
    given[..., 0] += levels - given.sum(-1)
    return torch.zeros_like(policy).scatter(-1, order, (given / levels).to(policy.dtype))
