"""The formulas of regularised Nash dynamics, as pure functions of tensors (DeepNash, sections "Methods" to "R-NaD").

A *trajectory* is one game from its beginning to its end: the steps of both players in the order in which they acted. A
batch of them has a row for each step and an entry for each game; games that are over are padded (`played` is false).
It is worked off backwards, in chunks of rows from the last one to the first, and each chunk hands a `Carry` to the one
before it.

Policies are over the legal actions of a step, in the last dimension, and 0 behind the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

# ── The regularised game ─────────────────────────────────────────────────────────────────────────


class Outer(NamedTuple):
    """A place in the schedule: an iteration of regularised Nash dynamics, and a step within it."""

    number: int
    """The iteration, m: how often the regularisation has been replaced."""
    inside: int
    """The step within it, n, from 0."""
    duration: int
    """Number of its steps, Δ."""

    @property
    def alpha(self) -> float:
        """Weight of the newer of the two policies towards which play is regularised."""
        return min(1.0, 2 * self.inside / self.duration)

    @property
    def ends(self) -> bool:
        """Whether this is the last step of the iteration."""
        return self.inside == self.duration - 1


def outer_step(step: int, durations: Sequence[int], counts: Sequence[int]) -> Outer:
    """Return where a step, counted from 0, lies in the schedule.

    durations: steps of an iteration, in each phase of the schedule.
    counts: iterations of each phase but the last, which has no end.
    """
    number = 0
    for phase, duration in enumerate(durations):
        here = step // duration
        if phase == len(durations) - 1 or here < counts[phase]:
            return Outer(number + here, step % duration, duration)
        number += counts[phase]
        step -= counts[phase] * duration
    raise ValueError("a schedule has a duration at least")


def log_ratios(log_policy: Tensor, log_newer: Tensor, log_older: Tensor, alpha: float | Tensor) -> Tensor:
    """Return ℓ(a) = ln π(a) − [α ln π_m(a) + (1 − α) ln π_m−1(a)]; 0 where there is no action.

    Logarithms of policies are −∞ behind the last legal action, as `PolicyNetwork.legal_log_policy` gives them.
    """
    there = log_policy > -torch.inf
    log_policy, log_newer, log_older = (
        torch.where(there, each, 0.0) for each in (log_policy, log_newer, log_older)
    )  # fmt: skip
    return log_policy - (alpha * log_newer + (1 - alpha) * log_older)


def transformed_rewards(rewards: Tensor, own: Tensor, log_ratio: Tensor, eta: float) -> Tensor:
    """Return what a player gets for a step of the regularised game.

    own: whether the step is the player's own. log_ratio: ℓ of the action that was taken.
    """
    return rewards + torch.where(own, -1, 1) * log_ratio * eta


# ── Two-player v-trace ───────────────────────────────────────────────────────────────────────────


class Steps(NamedTuple):
    """Rows of a batch of trajectories, with an entry for each game."""

    played: Tensor
    """Whether the game goes on here (bool)."""
    players: Tensor
    """The player on turn."""
    places: Tensor
    """The action that was taken: its place among the legal ones (int64)."""
    rewards: Tensor
    """The first player's reward for it; the other one lost as much."""
    sampled: Tensor
    """μ(a): the probability with which it was taken."""
    policy: Tensor
    """π: the policy to evaluate."""
    log_ratios: Tensor
    """ℓ of every action."""
    values: Tensor
    """The position's worth to the player on turn, as it was estimated."""


class Carry(NamedTuple):
    """Sums over the steps behind a row, for both players (2 × games)."""

    rewards: Tensor
    """The player's reward before acting again, R or r̂: weighted by the ratios of the other player's actions."""
    regularised: Tensor
    """The same with the expected regularisation and without weights, U; not in variant P."""
    values: Tensor
    """The estimate at the player's next step, V."""
    targets: Tensor
    """The target at that step, v̂."""
    ratio: Tensor
    """The product of the ratios of the other player's actions before it, ξ."""

    @staticmethod
    def at_the_end(like: Tensor) -> Carry:
        """Return that of games that are over. like: a row with an entry for each game."""
        nothing = like.new_zeros((2, *like.shape))
        return Carry(nothing, nothing, nothing, nothing, torch.ones_like(nothing))


class Estimates(NamedTuple):
    """Estimates of v-trace at each step, for the player on turn."""

    targets: Tensor
    """v̂: the worth of the position, for the critic."""
    action_values: Tensor
    """Q of every action."""


def vtrace_s(steps: Steps, carry: Carry, eta: float, rho: float, c: float) -> tuple[Estimates, Carry]:
    """Return v-trace as DeepNash's public code has it: regularisation by expectation, ratios counted once.

    rho, c: bounds of the ratios in the targets. With an infinite rho the action values have no bias, whoever played.
    """
    sides = _Sides.of(steps)
    rewards, ratios, value = sides.rewards, sides.ratios, steps.values[:, None]
    expected = (steps.policy * steps.log_ratios).sum(-1)[:, None]
    bonuses = torch.where(sides.own, -1, 1) * expected * eta
    until = sides.until_own(ratios, bonuses + ratios * rewards, carry.rewards)
    regularised = sides.until_own(1.0, rewards + bonuses, carry.regularised)
    values = sides.until_own(1.0, 0.0, carry.values, own=value)
    ratio = sides.until_own(ratios, 0.0, carry.ratio, own=1.0, over=1.0)
    both = ratios * ratio[1:]
    low, high = both.clamp(max=c), both.clamp(max=rho)
    moved = value + high * (rewards + bonuses + regularised[1:] + values[1:] - value) - low * values[1:]
    handed_on = sides.from_own(low, moved, carry.targets)
    gained = rewards + until[1:] + ratio[1:] * handed_on[1:] - value
    carried = Carry(*(each[0] for each in (until, regularised, values, handed_on, ratio)))
    return sides.estimates(steps, handed_on[:-1], gained, eta), carried


def vtrace_p(steps: Steps, carry: Carry, eta: float, rho: float, c: float) -> tuple[Estimates, Carry]:
    """Return v-trace as DeepNash's equations 1 to 5 are printed: right on-policy only, for reproduction.

    Away from the policy that played, the ratio of the own action counts twice, those of the other player's not at all
    in what follows: action values are then wrong by more than all that can be won.
    """
    sides = _Sides.of(steps)
    ratios, value = sides.ratios, steps.values[:, None]
    log_ratios = steps.log_ratios.gather(2, steps.places[..., None])[..., 0][:, None]
    rewards = transformed_rewards(sides.rewards, sides.own, log_ratios, eta)
    until = sides.until_own(ratios, rewards, carry.rewards)
    values = sides.until_own(1.0, 0.0, carry.values, own=value)
    ratio = sides.until_own(ratios, 0.0, carry.ratio, own=1.0, over=1.0)
    both = ratios * ratio[1:]
    low, high = both.clamp(max=c), both.clamp(max=rho)
    moved = value + high * (rewards + ratios * until[1:] + values[1:] - value) - low * values[1:]
    handed_on = sides.from_own(low, moved, carry.targets)
    gained = rewards + eta * log_ratios + ratios * (until[1:] + handed_on[1:]) - value
    carried = Carry(until[0], carry.regularised, *(each[0] for each in (values, handed_on, ratio)))
    return sides.estimates(steps, handed_on[:-1], gained, eta), carried


VARIANTS = {"s": vtrace_s, "p": vtrace_p}
"""Both by name."""


class _Sides(NamedTuple):
    """Rows of steps as both players see them (rows × 2 × games)."""

    own: Tensor
    """Whether the step is the player's own."""
    played: Tensor
    """Whether the game goes on here (rows × 1 × games)."""
    rewards: Tensor
    ratios: Tensor
    """π / μ of the action that was taken (rows × 1 × games)."""

    @staticmethod
    def of(steps: Steps) -> _Sides:
        sides = torch.arange(2, device=steps.players.device)[:, None]
        chosen = steps.policy.gather(2, steps.places[..., None])[..., 0]
        own, rewards = steps.players[:, None] == sides, steps.rewards[:, None] * (1 - 2 * sides)
        return _Sides(own, steps.played[:, None], rewards, (chosen / steps.sampled)[:, None])

    def until_own(
        self, factors: Tensor | float, terms: Tensor | float, behind: Tensor, own: Tensor | float = 0.0,
        over: float = 0.0,
    ) -> Tensor:  # fmt: skip
        """Return a sum by rows and behind the last: begun at a player's own step, and gone on with at the other's.

        own, over: what it is at an own step, and behind the end of a game.
        """
        passes = self.played & ~self.own
        begun = torch.where(self.played, torch.as_tensor(own).to(behind), over)
        return backwards(torch.where(passes, factors, 0.0), torch.where(passes, terms, begun), behind)

    def from_own(self, factors: Tensor, terms: Tensor, behind: Tensor) -> Tensor:
        """Return a sum by rows and behind the last: gone on with at a player's own steps, and as it is between them."""
        factors, terms = torch.where(self.own, factors, 1.0), torch.where(self.own, terms, 0.0)
        return backwards(torch.where(self.played, factors, 0.0), torch.where(self.played, terms, 0.0), behind)

    def estimates(self, steps: Steps, targets: Tensor, gained: Tensor, eta: float) -> Estimates:
        """Return those of the players on turn. gained: by the action that was taken, beyond the value."""
        first = self.own[:, 0]
        gained = torch.where(first, gained[:, 0], gained[:, 1]) / steps.sampled
        action_values = steps.values[..., None] - eta * steps.log_ratios
        action_values.scatter_add_(2, steps.places[..., None], gained[..., None])
        return Estimates(torch.where(first, targets[:, 0], targets[:, 1]), action_values)


def backwards(factors: Tensor, terms: Tensor, behind: Tensor) -> Tensor:
    """Return x of each row, x[t] = terms[t] + factors[t] · x[t + 1], and `behind` as that of the row behind the last.

    All rows at once: every pass makes sums over twice as many rows, so that a thousand rows take ten passes.
    """
    x = torch.cat([terms, behind[None]])
    product = torch.cat([factors.expand_as(terms), torch.zeros_like(behind)[None]])
    reach = 1
    while reach < len(x):
        x = torch.cat([x[:-reach] + product[:-reach] * x[reach:], x[-reach:]])
        product = torch.cat([product[:-reach] * product[reach:], product[-reach:]])
        reach *= 2
    return x


# ── Losses ───────────────────────────────────────────────────────────────────────────────────────


def value_losses(values: Tensor, targets: Tensor) -> Tensor:
    """Return the squared error of each position's estimate."""
    return (values - targets.detach()).square()


def neurd_losses(log_policy: Tensor, action_values: Tensor, beta: float, clip: float) -> Tensor:
    """Return the loss of each position whose gradient is that of neural replicator dynamics (NeuRD).

    Advantages push *logits*, not probabilities: those of unlikely actions as hard as the others. A logit that is
    already `beta` away from the mean of the legal ones is pushed no further.

    log_policy: with the gradient of the network, −∞ behind the last legal action. Only differences of logits count, so
    that it serves as well as the logits do.
    clip: bound of the advantages.
    """
    there = log_policy > -torch.inf
    policy = log_policy.exp().detach()
    expected = (policy * action_values).sum(-1, keepdim=True)
    advantages = (action_values - expected).clamp(-clip, clip).detach()
    logits = torch.where(there, log_policy, 0.0)
    centred = logits - logits.sum(-1, keepdim=True) / there.sum(-1, keepdim=True).clamp_min(1)
    free = torch.where(advantages > 0, centred < beta, centred > -beta) & there
    return -(centred * torch.where(free, advantages, 0.0)).sum(-1)
