"""The formulas of the oracles, as pure functions of tensors.

Policies and values of actions are over the legal actions of a position, in the last dimension; behind the last one
logarithms of policies are −inf, and values are of no meaning.
"""

from __future__ import annotations

import torch
from torch import Tensor

NEAR = 1e-8
"""Added to probabilities before a logarithm is taken, as the published code does."""

# ── Discrete soft actor-critic (Christodoulou 2019, as Pipeline PSRO uses it) ────────────────────


def log_of(policy: Tensor) -> Tensor:
    """Return ln(π + 1e-8)."""
    return (policy + NEAR).log()


def entropy(policy: Tensor) -> Tensor:
    """Return the entropy of each row, in nats."""
    return -(policy * log_of(policy)).sum(-1)


def wanted_entropy(counts: Tensor, share: float) -> Tensor:
    """Return the entropy to aim at where so many actions are legal: a share of the largest that there can be."""
    return share * counts.float().clamp_min(1).log()


def soft_values(policy: Tensor, values: Tensor, alpha: Tensor | float) -> Tensor:
    """Return the worth of positions: Σ π·(Q − α ln π), where `values` are the smaller ones of both critics."""
    there = policy > 0
    return (policy * torch.where(there, values - alpha * log_of(policy), 0.0)).sum(-1)


def critic_targets(rewards: Tensor, goes_on: Tensor, following: Tensor, discount: float) -> Tensor:
    """Return r + γ·V of the learner's next decision, where there is one.

    following: the worth of that position; of no meaning where the game is over before it.
    """
    return rewards + discount * torch.where(goes_on, following, 0.0)


def critic_loss(values: Tensor, targets: Tensor) -> Tensor:
    """Return ½·mean (Q(s, a) − y)². values: of the actions that were played."""
    return 0.5 * (values - targets).square().mean()


def actor_loss(policy: Tensor, values: Tensor, alpha: Tensor | float) -> Tensor:
    """Return mean Σ π·stop[α ln π − min Q]: its gradient goes through the π in front alone."""
    there = policy > 0
    inside = torch.where(there, alpha * log_of(policy) - values, 0.0).detach()
    return (policy * inside).sum(-1).mean()


def temperature_loss(log_alpha: Tensor, entropies: Tensor, wanted: Tensor) -> Tensor:
    """Return −mean ln α·stop[H_wanted − H]: α falls where play is more mixed than it should be."""
    return -(log_alpha * (wanted - entropies).detach()).mean()


# ── Both oracles ─────────────────────────────────────────────────────────────────────────────────


def next_decisions(own: Tensor) -> Tensor:
    """Return the row of the learner's next decision in the same game, −1 where there is none.

    own: where the learner chose (bool, rows × games).
    """
    rows, games = own.shape
    found = torch.full((rows, games), -1, dtype=torch.int64, device=own.device)
    following = torch.full((games,), -1, dtype=torch.int64, device=own.device)
    for row in reversed(range(rows)):
        found[row] = torch.where(own[row], following, -1)
        following = torch.where(own[row], row, following)
    return found


def classes_of(utilities: Tensor, worths: Tensor) -> Tensor:
    """Return the outcome that each utility is, as an index into the game's utilities (the nearest one)."""
    return (utilities[..., None] - worths).abs().argmin(-1)


def standardised(advantages: Tensor) -> Tensor:
    """Return advantages with mean 0 and standard deviation 1; a single one is 0."""
    return (advantages - advantages.mean()) / (advantages.std(correction=0) + NEAR)
