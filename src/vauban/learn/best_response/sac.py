"""`sac`: discrete soft actor-critic, the oracle of Pipeline PSRO.

A round plays whole games and puts the learner's decisions into a replay: records, of which observations are made again,
and for each the place of the learner's next decision, from whose worth its target is bootstrapped. Then it takes some
steps on batches of the replay: two critics learn values of actions, the policy what they say, and a temperature how
mixed it should be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.learn.base import NATS, Metric, Place, in_order, names_of, register
from vauban.learn.best_response import targets
from vauban.learn.best_response.duels import Duel
from vauban.learn.best_response.oracle import METRICS, NETWORK, Looked, Oracle, OracleConfig
from vauban.learn.buffers import Ring
from vauban.learn.ranges import COUNT, FRACTION, PART, POSITIVE, check_ranges
from vauban.learn.trainee import Trainee
from vauban.nets.policy import PolicyNetwork, without_forecast
from vauban.sim.store import Store

CRITICS = ("critic_1", "critic_2")
REPLAY, TEMPERATURE = "replay", "temperature"
"""Parts of a checkpoint."""
NEVER = float("inf")
"""The norm to which gradients are clipped."""

MEANS = (
    Metric("sac.entropy", "Entropy of the policy at the positions of the batches, in nats.", NATS,
           "Entropy of the policy", "entropy {:.3f}", drawn=True, kept=True),
    Metric("sac.wanted_entropy", "The entropy that is aimed at there.", NATS),
    Metric("sac.alpha", "The temperature: what a nat of entropy is worth.", title="Temperature",
           shown="temperature {:.3g}", drawn=True),
    Metric("sac.critic_loss", "Half the squared error of a critic, the mean of both.", title="Loss of the critics",
           shown="critic loss {:.3g}", drawn=True),
    Metric("sac.value", "Mean value of the actions played, by the smaller one of both critics."),
)  # fmt: skip
"""Means over the steps of an iteration."""


@dataclass(frozen=True)
class SACConfig(OracleConfig):
    """Settings of discrete SAC; the defaults are those of Pipeline PSRO for small games."""

    capacity: int = 20_000
    """Decisions that the replay keeps, the newest ones."""
    start: int = 10_000
    """Decisions that must have been made before anything is learned."""
    updates: int = 4
    """Steps in a round."""
    batch: int = 1024
    discount: float = 1.0
    target_rate: float = 0.01
    """Share of the way to the critics that their targets go in a step, τ."""
    learning_rate: float = 0.01
    """Learning rate of the policy."""
    critic_rate: float = 0.01
    """Learning rate of the critics."""
    temperature_rate: float = 0.01
    """Learning rate of the temperature."""
    entropy: float = 0.0
    """The entropy that is aimed at, as a share of the largest that the legal actions allow."""
    warm_entropy: float = 0.2
    """The same during warm-up."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranges(self, "sac", {
            COUNT: "capacity start updates batch",
            PART: "discount target_rate",
            FRACTION: "entropy warm_entropy",
            POSITIVE: "learning_rate critic_rate temperature_rate",
        })  # fmt: skip
        if self.start > self.capacity:
            raise ConfigurationError(
                f"start of sac is {self.start}, and the replay keeps {self.capacity} decisions: make it no larger"
            )

    def fewer(self) -> dict[str, tuple[int, int]]:
        less = max(self.start, self.capacity // 2)
        return {**super().fewer(), "capacity": (self.capacity, less), "batch": (self.batch, max(1, self.batch // 2))}


class Batch(NamedTuple):
    """Decisions from the replay."""

    here: Looked
    places: Tensor
    """The action that was played: its place in the list of legal ones."""
    rewards: Tensor
    goes_on: Tensor
    """Whether the learner had another decision in the game (bool)."""
    there: Looked
    """That decision, of those that go on."""


@register("sac")
class SAC(Oracle):
    """A policy, two critics and a temperature in training."""

    about = "a best response by discrete soft actor-critic, after Pipeline PSRO"
    config = SACConfig
    metrics = (
        *METRICS,
        *MEANS,
        Metric("sac.updates", "Gradient steps of this iteration."),
        Metric("sac.filled", "Decisions in the replay."),
    )
    steps: ClassVar = {NETWORK: "sac.updates"}
    tables: ClassVar = dict.fromkeys((NETWORK, *CRITICS), "network")
    settings: SACConfig
    # Bootstrapped values differ by little: bfloat16 has too few bits for them.
    working_in = torch.float32

    def __init__(self, game: Game, config: SACConfig, place: Place) -> None:
        super().__init__(game, config, place)
        self.critics: list[Trainee[PolicyNetwork]] = [self.make_trainee(1 + part) for part in range(len(CRITICS))]
        """Two networks that give a value for each action. Their averages are the targets."""
        self.networks |= dict(zip(CRITICS, self.critics, strict=True))
        self.log_alpha = torch.zeros((), device=place.device, requires_grad=True)
        self.alpha_optimiser = torch.optim.Adam([self.log_alpha], lr=config.temperature_rate)
        words, halves, bytes_ = self.duels.games.sim.format.shape
        self.replay = Ring(
            config.capacity,
            {
                "words": ((words,), torch.int64),
                "halves": ((halves,), torch.int16),
                "bytes": ((bytes_,), torch.uint8),
                "place": ((), torch.int16),
                "reward": ((), torch.float32),
                "next": ((), torch.int64),
            },
            place.device,
        )

    def fresh(self) -> PolicyNetwork:
        return without_forecast(super().fresh())

    @property
    def share(self) -> float:
        """The entropy that is aimed at, as a share of the largest."""
        return self.settings.warm_entropy if self.warm else self.settings.entropy

    # ── A round ──────────────────────────────────────────────────────────────────────────────────

    def learn(self, duel: Duel) -> dict[str, float]:
        self.remember(duel)
        if self.decisions < self.settings.start:
            return {"sac.filled": float(self.replay.filled), "sac.updates": 0.0}
        dice = self.dice()
        told = torch.stack([self.update(self.draw(dice)) for _ in range(self.settings.updates)]).mean(0)
        return {
            **{f"sac.{name}": value for name, value in zip(names_of(MEANS), told.tolist(), strict=True)},
            "sac.updates": float(self.settings.updates),
            "sac.filled": float(self.replay.filled),
        }

    def remember(self, duel: Duel) -> None:
        """Put the learner's decisions into the replay, with the place where the next one of the same game lies."""
        own, played = duel.own, duel.played
        games = own.shape[1]
        positions = own.flatten().nonzero().squeeze(1)
        places = self.replay.places(len(positions))
        place_of = torch.full((own.numel(),), -1, dtype=torch.int64, device=own.device)
        place_of[positions] = places
        rows = targets.next_decisions(own).flatten()[positions]
        following = place_of[(rows * games + positions % games).clamp_min(0)]
        # Everything that a game brings comes behind the learner's last decision in it.
        rewards = torch.where(rows < 0, duel.utilities[positions % games], 0.0)
        records = {name: column.flatten(0, 1)[positions] for name, column in
                   zip(Store._fields, played[:3], strict=True)}  # fmt: skip
        self.replay.add(
            {
                **records,
                "place": played.places.flatten()[positions],
                "reward": rewards,
                "next": torch.where(rows < 0, -1, following),
            }
        )

    def draw(self, dice: torch.Generator) -> Batch:
        """Return a batch of the replay."""
        columns = self.replay.columns
        chosen = self.replay.draw(self.settings.batch, dice)
        following = columns["next"][chosen]
        goes_on = following >= 0
        here, there = (
            self.look(*(columns[name][places] for name in Store._fields)) for places in (chosen, following[goes_on])
        )
        return Batch(here, columns["place"][chosen].long(), columns["reward"][chosen], goes_on, there)

    def update(self, batch: Batch) -> Tensor:
        """Take a step with everything that learns, by the gradients at where it is now; what `MEANS` declares."""
        config, here = self.settings, batch.here
        alpha = self.log_alpha.detach().exp()
        wanted = self._critic_targets(batch, alpha)
        values = [self._values(critic.working, here) for critic in self.critics]
        lower = torch.minimum(*(each.detach() for each in values))
        policy = self._policy(here)
        entropies = targets.entropy(policy.detach())
        aims = targets.wanted_entropy(here.counts, self.share)
        actor = targets.actor_loss(policy, lower, alpha)
        played = [each.gather(1, batch.places[:, None]).squeeze(1) for each in values]
        losses = [targets.critic_loss(each, wanted) for each in played]
        self.trainee.step(actor, config.learning_rate, NEVER)
        for critic, loss in zip(self.critics, losses, strict=True):
            critic.step(loss, config.critic_rate, NEVER)
            critic.update_average(1 - config.target_rate)
        self.alpha_optimiser.zero_grad()
        targets.temperature_loss(self.log_alpha, entropies, aims).backward()  # type: ignore[no-untyped-call]
        self.alpha_optimiser.step()
        return in_order(
            MEANS,
            {
                "entropy": entropies.mean(),
                "wanted_entropy": aims.mean(),
                "alpha": alpha,
                "critic_loss": torch.stack([loss.detach() for loss in losses]).mean(),
                "value": torch.minimum(*(each.detach() for each in played)).mean(),
            },
        )

    @torch.no_grad()
    def _critic_targets(self, batch: Batch, alpha: Tensor) -> Tensor:
        there = batch.there
        lower = torch.minimum(*(self._values(critic.average, there) for critic in self.critics))
        following = torch.zeros_like(batch.rewards)
        following[batch.goes_on] = targets.soft_values(self._policy(there), lower, alpha)
        return targets.critic_targets(batch.rewards, batch.goes_on, following, self.settings.discount)

    def _policy(self, looked: Looked) -> Tensor:
        choices, _ = self.trainee.working(looked.seen)
        return self.trainee.working.legal_log_policy(choices, looked.legal).exp()

    def _values(self, network: PolicyNetwork, looked: Looked) -> Tensor:
        """Return the values of the legal actions, by a critic; of no meaning behind the last."""
        choices, _ = network(looked.seen)
        values: Tensor = choices.gather(1, network.choice_of_action[looked.legal.long().clamp_min(0)]).float()
        return values

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def state(self) -> dict[str, Any]:
        return {
            REPLAY: self.replay.state(),
            TEMPERATURE: {"log_alpha": self.log_alpha.detach(), "optimiser": self.alpha_optimiser.state_dict()},
        }

    def load_state(self, state: Mapping[str, Any], missing: str = "it is not in the checkpoint") -> list[str]:
        said = []
        if REPLAY in state and self.replay.fits(state[REPLAY]):
            self.replay.load_state(state[REPLAY])
        else:
            why = "it is for another configuration" if REPLAY in state else missing
            said.append(f"{self.name}.{REPLAY}.pt: {why}, so the replay begins empty")
        if TEMPERATURE in state:
            with torch.no_grad():
                self.log_alpha.copy_(state[TEMPERATURE]["log_alpha"])
            self.alpha_optimiser.load_state_dict(state[TEMPERATURE]["optimiser"])
        else:
            said.append(f"{self.name}.{TEMPERATURE}.pt: {missing}, so the temperature begins at 1")
        return said
