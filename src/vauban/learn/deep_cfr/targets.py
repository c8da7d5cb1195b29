"""The formulas of Deep CFR with outcome sampling, as pure functions of tensors (docs/deep-cfr.md).

A *path* is one play of a game: at each of its steps the player on turn has a strategy σ, from which the sampler makes
σ′ (with exploration where the traverser acts), and an action is drawn from σ′. All functions take many paths side by
side, steps × games, and go by logarithms in float64: over a hundred steps the products leave float32 long before.

The *traverser* is the player whose regrets are estimated. A sample of its regret at one of its information sets I, with
the action a that was drawn there and the utility u of the end z, is

    target(b) = u · scale · (1[b = a] − σ(a)),     weight = w_t · factor

and what a weighted regression returns at I is Σ weight · target / Σ weight: regrets up to a positive number.

| weights | scale | factor | target · factor |
| --- | --- | --- | --- |
| printed | 1 / q(z) | π₋(I) · tail(I) | the estimate r̃ of outcome sampling |
| printed, in the value | π₋(I) · tail(I) / q(z) | 1 | r̃ |
| own | own tail(I) / q₊(z) | 1 | r̃: where σ′ = σ, the other player's factors cancel |
| dream | own tail(I) / q₊(I→z) | 1 / Π σ′·\\|A\\| over own steps before I | r̃ / Π \\|A\\| |
| reached | own tail(I) / q₊(I→z) | 1, and σ′(b) for each action b | an information set counts as often as it is met |

q is the probability with which the sampler plays so, q₊ that of the traverser's steps alone, π₋ the other player's
reach, tail the probability of the steps behind I by σ.

`reached` is our own. What the taken action's target varies by is about 1 / σ′(a), so that rare actions, weighed alike,
drown the others; by σ′(b) each action's target counts by what is known of it. It is no longer the counterfactual regret
that is learned but one in which iterations count more in which the player came here and liked the action.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

PRINTED, OWN, DREAM, REACHED = WEIGHTS = ("printed", "own", "dream", "reached")
"""The schemes of the table above."""
PLACES = ("weight", "value")
"""The parts of `printed` that may contain the probabilities."""
MOST = 1e6
"""Targets are cut to ± this, and factors of weights to between 1 / this and this."""


class Paths(NamedTuple):
    """Plays of many games, a row for each step."""

    played: Tensor
    """Whether an action was drawn here: false behind the end (bool, steps × games)."""
    own: Tensor
    """Whether the traverser was on turn (bool)."""
    widths: Tensor
    """Number of legal actions."""
    log_policy: Tensor
    """ln σ(a) of the action that was drawn; −∞ where exploration drew what σ never plays."""
    log_sampled: Tensor
    """ln σ′(a)."""
    utility: Tensor
    """Worth of the end to the traverser (games)."""


class Samples(NamedTuple):
    """Targets of each step, in the traverser's steps or in the other player's (steps × games)."""

    taken: Tensor
    """The target of the action that was drawn."""
    others: Tensor
    """The target of every other legal action."""
    factor: Tensor
    """The factor of the weight, without w_t."""


def before(logs: Tensor, steps: Tensor) -> Tensor:
    """Sum logarithms over the chosen steps before each step."""
    chosen = torch.where(steps, logs, 0.0)
    return torch.cat([torch.zeros_like(chosen[:1]), chosen.cumsum(0)[:-1]])


def behind(logs: Tensor, steps: Tensor) -> Tensor:
    """Sum logarithms over the chosen steps behind each step."""
    return before(logs.flip(0), steps.flip(0)).flip(0)


def advantages(paths: Paths, weights: str, probabilities_in: str = "weight") -> Samples:
    """Return the samples of the traverser's regrets; rows that are not its own have no meaning."""
    log_policy, log_sampled = paths.log_policy.double(), paths.log_sampled.double()
    own, other = paths.played & paths.own, paths.played & ~paths.own
    if weights == PRINTED:
        scale = -torch.where(paths.played, log_sampled, 0.0).sum(0).expand_as(log_sampled)
        factor = before(log_policy, other) + behind(log_policy, paths.played)
        if probabilities_in == "value":
            scale, factor = scale + factor, torch.zeros_like(factor)
    else:
        scale = behind(log_policy, own) - behind(log_sampled, own) - log_sampled
        factor = torch.zeros_like(scale)
        if weights == OWN:
            scale = scale - before(log_sampled, own)
        elif weights == DREAM:
            factor = -before(log_sampled + paths.widths.double().log(), own)
    worth = paths.utility.double().abs().log() + scale
    sign = paths.utility.double().sign()
    taken = sign * _exp(worth + torch.log1p(-log_policy.exp()))
    others = -sign * _exp(worth + log_policy)
    return Samples(taken, others, _factor(factor))


def strategy_factors(paths: Paths) -> Tensor:
    """Return the factors of the weights with which the other player's strategies are averaged (steps × games).

    They are that player's own reach by the probability that the sampler came here; its own steps cancel, since it is
    sampled by its strategy. So the traverser's steps are left: each path to I counts as if nobody had explored.
    """
    return _factor(-before(paths.log_sampled.double(), paths.played & paths.own))


def linear_weight(iteration: int) -> int:
    """Return w_t, the number of this iteration among those of its player: 1, 1, 2, 2, 3, 3, …"""
    return (iteration + 1) // 2


def traverser_of(iteration: int) -> int:
    """Return the player whose regrets an iteration estimates: the first in odd ones, the second in even ones."""
    return (iteration + 1) % 2


def explored(policy: Tensor, there: Tensor, exploration: float) -> Tensor:
    """Return σ′ = (1 − ε) σ + ε / |A| over the actions that are there."""
    even = there / there.sum(-1, keepdim=True).clamp_min(1)
    return (1 - exploration) * policy + exploration * even


def advantage_loss(
    values: Tensor, targets: Tensor, there: Tensor, weights: Tensor, shares: Tensor | None = None
) -> Tensor:
    """Return the weighted squared error of the values of legal actions; others do not count.

    shares: weights of each item's actions among themselves, where they are not all alike.
    """
    errors = torch.where(there, values - targets, 0.0).square()
    return (weights * (errors if shares is None else errors * shares).sum(1)).mean()


def strategy_loss(policy: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted squared error of a policy over all choices, where those that are not legal have target 0."""
    return (weights * (policy - targets).square().sum(1)).mean()


def _exp(logs: Tensor) -> Tensor:
    """Return e to these powers, cut to `MOST`."""
    return logs.clamp(max=math.log(MOST)).exp()


def _factor(logs: Tensor) -> Tensor:
    return logs.clamp(-math.log(MOST), math.log(MOST)).exp()
