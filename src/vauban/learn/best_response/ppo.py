"""`ppo`: proximal policy optimisation on whole games, the on-policy oracle.

A round plays whole games by the network in training. λ-returns along the learner's own decisions say what each was
worth, as a distribution over the game's outcomes, and how much better the action was than foreseen. Some epochs of
batches then learn both, with the ratio of the new policy to the one that played clipped, and a bonus for entropy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from vauban.games.base import Game
from vauban.learn.ataraxos.targets import divergence, entropy, is_clipped, lambda_returns, outcome_loss, policy_loss
from vauban.learn.base import NATS, SHARE, Metric, Place, in_order, names_of, register
from vauban.learn.best_response import targets
from vauban.learn.best_response.duels import Duel
from vauban.learn.best_response.oracle import METRICS, NETWORK, Looked, Oracle, OracleConfig
from vauban.learn.ranges import COUNT, FRACTION, NOT_NEGATIVE, POSITIVE, check_ranges
from vauban.learn.schedules import PowerLaw
from vauban.nets.policy import utility_values

MEANS = (
    Metric("ppo.entropy", "Entropy of the policy at the positions trained, in nats.", NATS, "Entropy of the policy",
           "entropy {:.3f}", drawn=True, kept=True),
    Metric("ppo.update_kl", "Divergence of the policy being trained from the one that played.", NATS,
           "Size of an update", "KL {:.4f}", drawn=True),
    Metric("ppo.outcome_loss", "Cross-entropy of the outcome forecast to its target, in nats.", NATS,
           "Loss of the outcome forecast", "outcome loss {:.3f}", drawn=True, kept=True),
    Metric("ppo.clip_rate", "The share of positions whose probability ratio was beyond the clip.", SHARE,
           shown="clipped {:.0%}"),
)  # fmt: skip
"""Means over the steps of an iteration."""


@dataclass(frozen=True)
class PPOConfig(OracleConfig):
    """Settings of the on-policy oracle."""

    batch: int = 512
    """Positions in a batch."""
    epochs: int = 4
    """Passes of a round through its games."""
    advantage_decay: float = 0.95
    outcome_decay: float = 0.95
    """λ of the two returns."""
    clip: float = 0.2
    """Distance from 1 up to which the ratio of new policy to old counts."""
    outcome_weight: float = 0.5
    """Weight of the outcome's cross-entropy."""
    entropy: PowerLaw = PowerLaw(0.003)  # noqa: RUF009 - it is frozen
    """Weight of the entropy by round, beside advantages of standard deviation 1. It must last until every action has
    been tried often enough: what is never tried is never learned to be good."""
    warm_entropy: float = 0.05
    """Least weight of the entropy during warm-up."""
    learning_rate: PowerLaw = PowerLaw(1e-3)  # noqa: RUF009 - it is frozen
    """Learning rate by round."""
    gradient_norm: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranges(self, "ppo", {
            COUNT: "batch epochs",
            POSITIVE: "clip gradient_norm",
            FRACTION: "advantage_decay outcome_decay",
            NOT_NEGATIVE: "outcome_weight warm_entropy",
        })  # fmt: skip

    def fewer(self) -> dict[str, tuple[int, int]]:
        return {**super().fewer(), "batch": (self.batch, max(1, self.batch // 2))}


@register("ppo")
class PPO(Oracle):
    """A policy network in training, which foresees outcomes as well."""

    about = "a best response by proximal policy optimisation"
    config = PPOConfig
    metrics = (
        *METRICS,
        *MEANS,
        Metric("ppo.advantage", "Mean size of the advantages, in the units of the game's utilities."),
        Metric("ppo.entropy_weight", "Weight of the entropy in the loss."),
        Metric("ppo.updates", "Gradient steps of this iteration."),
        Metric("ppo.gradient_norm", "Mean norm of the gradients before they are clipped."),
    )
    steps: ClassVar = {NETWORK: "ppo.updates"}
    tables: ClassVar = {NETWORK: "network"}
    settings: PPOConfig

    def __init__(self, game: Game, config: PPOConfig, place: Place) -> None:
        super().__init__(game, config, place)
        self._worths = utility_values(game, place.device)

    @property
    def entropy_weight(self) -> float:
        """The weight of the entropy in the round that is under way."""
        weight = self.settings.entropy.at(max(1, self.taken))
        return max(weight, self.settings.warm_entropy) if self.warm else weight

    # ── A round ──────────────────────────────────────────────────────────────────────────────────

    def learn(self, duel: Duel) -> dict[str, float]:
        config = self.settings
        positions = duel.own.flatten().nonzero().squeeze(1)
        if not len(positions):  # every game was over before the learner's first decision
            return {"ppo.updates": 0.0}
        foreseen, before = self._foresee(duel, positions)
        outcomes, advantages = self._returns(duel, positions, foreseen)
        scaled = targets.standardised(advantages)
        places = duel.played.places.flatten()[positions]
        dice = self.dice()
        told, norms = [], []
        self.trainee.set_learning_rate(config.learning_rate.at(self.taken))
        for _ in range(config.epochs):
            order = torch.randperm(len(positions), generator=dice, device=self.device)
            for chosen in torch.split(order, config.batch):
                looked = self._look(duel, positions[chosen])
                loss, measured = self._loss(looked, places[chosen], outcomes[chosen], scaled[chosen], before[chosen])
                norms.append(self.trainee.descend([loss], config.gradient_norm))
                told.append(measured)
        means = torch.stack(told).mean(0)
        return {
            **{f"ppo.{name}": value for name, value in zip(names_of(MEANS), means.tolist(), strict=True)},
            "ppo.advantage": float(advantages.abs().mean()),
            "ppo.entropy_weight": self.entropy_weight,
            "ppo.updates": float(len(told)),
            "ppo.gradient_norm": float(torch.stack(norms).mean()),
        }

    @torch.no_grad()
    def _foresee(self, duel: Duel, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the network that played thinks of the learner's positions: outcomes, and its policy."""
        found = []
        for part in torch.split(positions, self.settings.batch):
            looked = self._look(duel, part)
            choices, outcome = self.trainee.working(looked.seen)
            log_policy = self.trainee.working.legal_log_policy(choices, looked.legal)
            found.append((outcome.float().softmax(-1), log_policy))
        outcomes, policies = zip(*found, strict=True)
        return torch.cat(outcomes), torch.cat(policies)

    def _returns(self, duel: Duel, positions: Tensor, foreseen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the targets of the outcome and the advantages at the learner's positions."""
        played, classes = duel.played, foreseen.shape[1]
        rows, games = duel.own.shape
        spread = foreseen.new_zeros((rows * games, classes)).index_copy(0, positions, foreseen)
        # What is foreseen at the other player's positions stays among these, and is of no use to anybody.
        lengths = played.there.sum(0)
        ended = torch.arange(rows, device=self.device)[:, None] == lengths - 1
        # A game that was cut off has a utility of 0, which is the nearest outcome to a draw.
        first = torch.where(duel.seats == 0, duel.utilities, -duel.utilities)
        results = targets.classes_of(first, self._worths).expand(rows, games)
        returns = lambda_returns(
            spread.view(rows, games, classes), played.players, ended, results, self._worths,
            self.settings.outcome_decay, self.settings.advantage_decay,
        )  # fmt: skip
        return returns.outcomes.flatten(0, 1)[positions], returns.advantages.flatten()[positions]

    def _look(self, duel: Duel, positions: Tensor) -> Looked:
        return self.look(*(column.flatten(0, 1)[positions] for column in duel.played[:3]))

    def _loss(
        self, looked: Looked, places: Tensor, outcomes: Tensor, advantages: Tensor, before: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the loss of a batch, and what `MEANS` declares."""
        config = self.settings
        choices, outcome = self.trainee.working(looked.seen)
        log_policy = self.trainee.working.legal_log_policy(choices, looked.legal)
        ratio = log_policy.gather(1, places[:, None]).squeeze(1) - before.gather(1, places[:, None]).squeeze(1)
        mixed = entropy(log_policy).mean()
        foreseen = outcome_loss(outcome, outcomes).mean()
        bonus = self.entropy_weight
        loss = policy_loss(ratio, advantages, config.clip).mean() + config.outcome_weight * foreseen - bonus * mixed
        measured = {
            "entropy": mixed,
            "update_kl": divergence(log_policy, before).mean(),
            "outcome_loss": foreseen,
            "clip_rate": is_clipped(ratio, config.clip).float().mean(),
        }
        return loss, in_order(MEANS, {name: each.detach() for name, each in measured.items()})

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def limits(cls, facts: Mapping[str, float]) -> list[str]:
        return [*super().limits(facts), "What it says of the outcome is about games against its opponents."]
