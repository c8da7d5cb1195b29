"""The formulas of learning to set up, as pure functions of tensors (Ataraxos, section D.3).

Every place of a setup is a decision, and all of a setup's decisions share what its games came to. What is maximised
is the outcome and, with the temperature as its weight, the entropy of the setup: so the surprise of the places still
to be filled counts like a reward.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from vauban.learn.ataraxos.targets import divergence, is_clipped, outcome_loss, policy_loss
from vauban.nets.setup import ENTROPY_SCALE, Heads


def remaining_surprise(log_chosen: Tensor) -> Tensor:
    """Return −log of the probability of what was placed on each square and after it, by what stood before (nats).

    log_chosen: the logarithm of the probability with which each square was filled as it was (n × squares). This is
    a sample of the conditional entropy of the rest of the setup.
    """
    return -log_chosen.flip(-1).cumsum(-1).flip(-1)


def setup_advantages(
    outcomes: Tensor, surprise: Tensor, foreseen: Tensor, entropy: Tensor, utilities: Tensor, temperature: float
) -> Tensor:
    """Return the advantage of each placement over what was foreseen, in outcome and in entropy: n × squares.

    outcomes: what the setup's games came to, as a distribution (n × utilities).
    surprise: as `remaining_surprise` gives it.
    foreseen, entropy: what the network that drew the setup said: probabilities (n × squares × utilities), nats / 10.
    """
    return (outcomes @ utilities)[:, None] - foreseen @ utilities + temperature * (surprise - ENTROPY_SCALE * entropy)


class SetupLoss(NamedTuple):
    """The parts of the loss before they are weighed; each a mean over squares, and over setups by their shares."""

    policy: Tensor
    outcome: Tensor
    entropy: Tensor
    divergence: Tensor
    clipped: Tensor
    """Share of placements whose importance ratio is beyond the clip (not a part of the loss)."""


def setup_loss(
    heads: Heads, pieces: Tensor, old_log_policy: Tensor, advantages: Tensor, outcomes: Tensor, surprise: Tensor,
    shares: Tensor, clip: float,
) -> SetupLoss:  # fmt: skip
    """Return the loss of a network that says `heads` of setups, against their targets.

    old_log_policy: of the network that drew them (n × squares × kinds).
    shares: how much each setup counts (n); those of a whole batch add up to 1.
    """
    chosen = pieces[..., None]
    log_ratio = (heads.log_policy.gather(-1, chosen) - old_log_policy.gather(-1, chosen))[..., 0]
    parts = (
        policy_loss(log_ratio, advantages, clip),
        outcome_loss(heads.outcome, outcomes[:, None]),
        (heads.entropy.float() - surprise / ENTROPY_SCALE).square(),
        divergence(heads.log_policy, old_log_policy),
        is_clipped(log_ratio, clip).float(),
    )
    return SetupLoss(*((part.mean(1) * shares).sum() for part in parts))
