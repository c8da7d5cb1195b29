"""The formulas of damped self-play learning, as pure functions of tensors (Ataraxos, sections D.3 and D.4).

A *window* is what was collected between two trainings: `length` rows of `n` games each. In every row the player on
turn of each game saw a position, foresaw its outcome (a distribution over the game's utilities, the worst first) and
played. The positions of a player follow one another through the window; those of the other player lie between them.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Returns(NamedTuple):
    """The worth of a window's positions to the players on turn."""

    outcomes: Tensor
    """Targets of the outcome head: length × n × utilities."""
    advantages: Tensor
    """Advantages of the moves over what was foreseen: length × n."""
    estimated: Tensor
    """Positions that have these (bool, length × n): not the last of a player whose game goes on."""


def lambda_returns(
    foreseen: Tensor, players: Tensor, ended: Tensor, results: Tensor, utilities: Tensor,
    outcome_decay: float, advantage_decay: float,
) -> Returns:  # fmt: skip
    """Return λ-returns along each player's own positions, bootstrapped where the window ends.

    foreseen: distributions over outcomes, as the network foresaw them (length × n × utilities, float32).
    players: who was on turn (length × n); ended: where the move ended the game (bool).
    results: the class of the outcome for the first player, where a game ended (length × n, int64).
    utilities: what the classes are worth to a player, the worst first; the game is zero-sum, so that the other
        player's class is the mirror image.

    Per player, G = (1 − λ)·V' + λ·G', with V' and G' of the player's next position, or the outcome itself when the game
    ended before there was one. The newest position of a player whose game goes on only serves as such a V'.
    """
    length, games, classes = foreseen.shape
    device = foreseen.device
    rows = torch.arange(games, device=device)
    next_value = torch.zeros(2, games, classes, device=device)
    next_outcome = torch.zeros(2, games, classes, device=device)
    next_return = torch.zeros(2, games, device=device)
    known = torch.zeros(2, games, dtype=torch.bool, device=device)
    outcomes = torch.zeros_like(foreseen)
    advantages = torch.zeros(length, games, device=device)
    estimated = torch.zeros(length, games, dtype=torch.bool, device=device)
    identity = torch.eye(classes, device=device)
    for row in reversed(range(length)):
        over = ended[row]
        final = torch.stack([identity[results[row]], identity[classes - 1 - results[row]]])
        worth = final @ utilities
        next_value = torch.where(over[None, :, None], final, next_value)
        next_outcome = torch.where(over[None, :, None], final, next_outcome)
        next_return = torch.where(over[None], worth, next_return)
        known |= over[None]

        mover = players[row].long()
        value = foreseen[row]
        there = known[mover, rows]
        ahead = next_value[mover, rows]
        outcome = (1 - outcome_decay) * ahead + outcome_decay * next_outcome[mover, rows]
        reached = (1 - advantage_decay) * (ahead @ utilities) + advantage_decay * next_return[mover, rows]
        outcomes[row] = outcome
        advantages[row] = torch.where(there, reached - value @ utilities, 0.0)
        estimated[row] = there
        # A player's newest position has nothing behind it: what it foresees stands for its return.
        next_value[mover, rows] = value
        next_outcome[mover, rows] = torch.where(there[:, None], outcome, value)
        next_return[mover, rows] = torch.where(there, reached, value @ utilities)
        known[mover, rows] = True
    return Returns(outcomes, advantages, estimated)


def quantile_of(values: Tensor, quantile: float) -> Tensor:
    """Return the quantile, interpolated linearly, of any number of values (`torch.quantile` takes 16 million)."""
    ordered = values.flatten().float().sort().values
    place = quantile * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def policy_loss(log_ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """Return the clipped importance-weighted loss of each position: −min(r·A, clip(r)·A)."""
    ratio = log_ratio.exp()
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)


def is_clipped(log_ratio: Tensor, clip: float) -> Tensor:
    """Return the positions at which the ratio of new policy to old is farther from 1 than the clip (bool)."""
    return (log_ratio.exp() - 1).abs() > clip


def divergence(log_policy: Tensor, log_other: Tensor) -> Tensor:
    """Return KL(policy ‖ other) of each row, over the entries where the policy is not 0."""
    support = log_policy > -torch.inf
    difference = torch.where(support, log_policy - log_other, 0.0)
    return (torch.where(support, log_policy, -torch.inf).exp() * difference).sum(-1)


def entropy(log_policy: Tensor) -> Tensor:
    """Return the entropy of each row, in nats."""
    return -(log_policy.exp() * log_policy.clamp_min(torch.finfo(torch.float32).min)).sum(-1)


def outcome_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the cross-entropy of each position's outcome to its target distribution."""
    return -(targets * logits.float().log_softmax(-1)).sum(-1)
