"""Learning to move: what is learned from a window, and how (Ataraxos, section D.4).

Most moves of a game decide little. Only those whose advantage is large are learned from: the quarter with the largest
ones, of all workers together. Steps are damped from two sides: towards the policy that played, so that an update stays
small, and towards the magnet, a policy that moves any piece anywhere, so that play stays mixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.learn.ataraxos.collect import Collector, Window
from vauban.learn.ataraxos.filter import AdvantageFilter
from vauban.learn.ataraxos.targets import (
    Returns,
    divergence,
    entropy,
    is_clipped,
    lambda_returns,
    outcome_loss,
    policy_loss,
)
from vauban.learn.base import NATS, SHARE, Metric, in_order, names_of
from vauban.learn.ranges import COUNT, DECAY, FRACTION, NOT_NEGATIVE, POSITIVE, check_ranges
from vauban.learn.schedules import PowerLaw, average_rate
from vauban.learn.trainee import Trainee
from vauban.learn.workers import ALONE, Workers
from vauban.nets.magnet import action_sources, magnet_log_policy
from vauban.nets.policy import PolicyNetwork, utility_values
from vauban.nets.replay import Replay
from vauban.sim.simulator import Simulator

MEANS = (
    Metric("moves.entropy", "Entropy of the policy at the positions trained, in nats.", NATS, "Entropy of the moves",
           "entropy {:.3f}", drawn=True, kept=True),
    Metric("moves.magnet_kl", "Divergence of the policy from the magnet: how far it is from playing anything.", NATS,
           "Distance from the magnet", drawn=True),
    Metric("moves.update_kl", "Divergence of the policy being trained from the one that played, at the positions "
           "trained.", NATS, "Size of an update", "KL {:.4f}", drawn=True),
    Metric("moves.outcome_loss", "The value loss: cross-entropy of the outcome head to its target, in nats.", NATS,
           "Loss of the outcome forecast", "outcome loss {:.3f}", drawn=True, kept=True),
    Metric("moves.policy_loss", "Clipped importance-weighted loss, mean over the positions trained."),
    Metric("moves.clip_rate", "The share of positions whose probability ratio was beyond the clip.", SHARE,
           shown="clipped {:.0%}"),
    Metric("moves.advantage", "Mean size of the advantages trained on."),
)  # fmt: skip
"""Means over the positions that were trained."""
METRICS = (
    *MEANS,
    Metric("moves.kept", "The share of the window's positions that passed the filter.", SHARE, shown="kept {:.0%}"),
    Metric("moves.threshold", "The size an advantage had to have."),
    Metric("moves.batches", "Gradient steps of the move network."),
    Metric("moves.gradient_norm", "Mean norm of its gradients before they are clipped."),
    Metric("moves.learning_rate", "Its learning rate."),
    Metric("moves.magnet_weight", "Weight of the divergence from the magnet."),
)  # fmt: skip


@dataclass(frozen=True)
class MoveConfig:
    """Settings of learning to move; the defaults are the paper's (tables 18 and 22)."""

    games: int = 1536
    """Games at once, of each worker."""
    length: int = 202
    """Rows in a window; the last of each player only bootstraps."""
    batch: int = 384
    """Positions in a batch, of each worker: a quarter of the games, since that many pass the filter."""
    slices: int = 1
    """In how many parts a batch goes through the network, one after the other: the same steps, with less memory."""
    quantile: float = 0.75
    """Share of the advantages that is too small to learn from."""
    magnitude: float = 0.01
    """The least size that an advantage must have, whatever the quantile says."""
    settled: int = 0
    """In how many windows on end advantages have to be that large before `magnitude` counts: for a cold start."""
    advantage_decay: float = 0.5
    outcome_decay: float = 0.8
    """λ of the two returns."""
    clip: float = 0.2
    """Distance from 1 up to which the ratio of new policy to old counts."""
    update_weight: float = 0.1
    """Weight of the divergence from the policy that played."""
    magnet_weight: PowerLaw = PowerLaw(0.05, 0.3)  # noqa: RUF009 - it is frozen
    """Weight of the divergence from the magnet, by iteration."""
    outcome_weight: float = 1.0
    """Weight of the outcome's cross-entropy."""
    learning_rate: PowerLaw = PowerLaw(0.5, 1.1, floor=5e-6, ceiling=1e-4)  # noqa: RUF009
    gradient_norm: float = 0.267
    average: float = 0.999
    """Rate of the moving average, an iteration."""
    reach: float = 0.0
    """Share of a run so far over which the average reaches back, for a cold start; 0: no bound, as in the paper."""

    def __post_init__(self) -> None:
        check_ranges(self, "the moves", {
            COUNT: "games length batch slices",
            FRACTION: "quantile advantage_decay outcome_decay",
            NOT_NEGATIVE: "magnitude settled clip update_weight outcome_weight reach",
            DECAY: "average",
            POSITIVE: "gradient_norm",
        })  # fmt: skip
        if self.learning_rate.coefficient <= 0:
            raise ConfigurationError(
                f"learning_rate of the moves must be more than 0, not {self.learning_rate.coefficient}"
            )


class Batch(NamedTuple):
    """Positions to learn from, and what is to be learned at them."""

    seen: Tensor
    legal: Tensor
    actions: Tensor
    old_log_policy: Tensor
    advantages: Tensor
    outcomes: Tensor
    weights: Tensor
    """Weight of each position in the whole; 0 for those that only fill the batch up."""


class MoveLearner:
    """Learns from windows, one after the other."""

    def __init__(
        self, trainee: Trainee[PolicyNetwork], collector: Collector, config: MoveConfig, seed: int,
        workers: Workers = ALONE,
    ) -> None:  # fmt: skip
        self.trainee, self.collector, self.config, self.seed, self.workers = trainee, collector, config, seed, workers
        sim = collector.sim
        self.device = sim.device
        self.filter = AdvantageFilter(config.quantile, config.magnitude, config.settled)
        # In units of the most that can be won, so that the same weights and thresholds fit poker as well.
        utilities = utility_values(sim.game, sim.device)
        self._utilities = utilities / utilities.abs().max()
        self._sources = action_sources(sim.game).to(sim.device)
        # Of a batch of all workers each has about its share; with this much room, hardly ever too many.
        self._room = config.batch if workers.count == 1 else config.batch + math.ceil(5 * math.sqrt(config.batch))
        self._sim = Simulator(sim.game, self._room, sim.device, seed, format=sim.format)
        self._legal, self._counts = self._sim.legal_actions()
        shape = (self._room, *sim.observation_shape(trainee.network.observation, "squares"))
        # Everything that a batch is made from lies in the same place every time, so that its training can be captured.
        empty = partial(torch.zeros, device=sim.device)
        self._seen = empty(shape, dtype=trainee.dtype)
        self._positions = empty(self._room, dtype=torch.int64)
        self._weights = empty(self._room)
        self._advantages = empty(config.length * sim.n)
        self._outcomes = empty(config.length * sim.n, len(sim.game.utilities))
        self._magnet_weight = empty(())
        self._sums = empty(len(MEANS))
        self._norms = empty(())
        # Gradients of several workers are added through the network, which a graph does not wait for.
        self._train = Replay(sim.device, captured=workers.count == 1)
        self._losses: Callable[[Batch], tuple[Tensor, Tensor]] = self._compute_losses
        if sim.device.type == "cuda":
            self._losses = torch.compile(self._compute_losses, dynamic=False)

    def learn(self, window: Window, iteration: int) -> dict[str, float]:
        """Make one pass over the window's positions that matter; return its metrics."""
        config = self.config
        returns = lambda_returns(
            window.foreseen, window.players, window.ended, window.results, self._utilities,
            config.outcome_decay, config.advantage_decay,
        )  # fmt: skip
        positions, threshold, usual = self._filter(returns)
        order, bounds, total = self._shuffle(positions, usual, iteration)
        self._advantages.copy_(returns.advantages.flatten())
        self._outcomes.copy_(returns.outcomes.flatten(0, 1))
        rate, magnet = config.learning_rate.at(iteration), config.magnet_weight.at(iteration)
        self.trainee.set_learning_rate(rate)
        self._magnet_weight.fill_(magnet)
        self._sums.zero_()
        self._norms.zero_()
        for first, last, size in bounds:
            count = last - first
            self._positions.zero_()
            self._positions[:count] = order[first:last]
            self._weights.zero_()
            self._weights[:count] = 1 / size
            self._train(self._train_batch)
        if bounds:
            self.trainee.update_average(average_rate(config.average, config.reach, iteration))
        self.workers.add([self._sums])
        metrics = {
            name: value / max(total, 1) for name, value in zip(names_of(MEANS), self._sums.tolist(), strict=True)
        }
        trained = returns.estimated[: -self.collector.carried].sum()
        self.workers.add([trained])
        return metrics | {
            "kept": total / max(trained.item(), 1),
            "threshold": threshold,
            "batches": float(len(bounds)),
            "gradient_norm": self._norms.item() / max(len(bounds), 1),
            "learning_rate": rate,
            "magnet_weight": magnet,
        }

    def rehearse(self) -> None:
        """Do the work of a batch and learn nothing: to have everything compiled, or to measure how long it takes."""
        sim = self.collector.sim
        for column, part in zip(self.collector.window, sim.store, strict=False):
            column[0] = part
        self._positions.copy_(torch.arange(self._room, device=self.device) % sim.n)
        self._weights.fill_(1 / self._room)
        for loss in self._slices():
            torch.autograd.backward(loss)
        self.trainee.working.zero_grad()

    def _train_batch(self) -> None:
        """Train on the batch that is laid out."""
        self._norms += self.trainee.descend(self._slices(), self.config.gradient_norm)

    def _slices(self) -> Iterator[Tensor]:
        """Yield the losses of the batch that is laid out, part by part; what they say is counted."""
        for columns in zip(*(column.chunk(self.config.slices) for column in self._batch()), strict=True):
            loss, measured = self._losses(Batch(*columns))
            self._sums += measured
            yield loss

    def _filter(self, returns: Returns) -> tuple[Tensor, float, int]:
        """Return the positions to learn from, as row × games + game; how large an advantage they have at least; and how
        many there would be, those of all workers together, if the quantile alone decided."""
        estimated = returns.estimated.clone()
        estimated[-self.collector.carried :] = False
        sizes = returns.advantages.abs()
        everywhere = self.workers.gather(sizes[estimated])
        threshold = self.filter.threshold(everywhere)
        positions = (estimated & (sizes >= threshold)).flatten().nonzero().squeeze(1)
        return positions, threshold, math.ceil((1 - self.config.quantile) * len(everywhere))

    def _shuffle(self, positions: Tensor, usual: int, iteration: int) -> tuple[Tensor, list[tuple[int, int, int]], int]:
        """Return the positions in random order, the bounds of this worker's part of each batch, and the batch's whole
        size.

        There are as many batches as the usual number of positions needs: where few advantages are large enough, batches
        are smaller, and not fewer. The order is drawn for all positions of the window, whoever has played them: several
        workers make the same batches as one would.
        """
        games = self.collector.sim.n
        row, game = positions // games, positions % games
        everywhere = row * (games * self.workers.count) + self.workers.rank * games + game
        keys, order = shuffle_keys(everywhere, self.seed, iteration).sort()
        together = self.workers.gather(keys)
        if self.workers.count > 1:
            together = together.sort().values
        count = math.ceil(max(usual, len(together)) / (self.config.batch * self.workers.count))
        bounds = _cut(keys, together, count)
        while self.workers.any(any(last - first > self._room for first, last, _ in bounds)):
            count = math.ceil(4 / 3 * count)
            bounds = _cut(keys, together, count)
        return positions[order], bounds, len(together)

    def _batch(self) -> Batch:
        """Return the positions that are laid out, observed again."""
        window, sim, positions = self.collector.window, self._sim, self._positions
        for part, column in zip(sim.store, window[:3], strict=True):
            part.copy_(column.flatten(0, 1)[positions])
        sim.observe(self.trainee.network.observation, self._seen, layout="squares")
        sim.legal_actions(self._legal, self._counts)
        return Batch(
            self._seen,
            self._legal,
            window.actions.flatten()[positions],
            window.log_policy.flatten(0, 1)[positions],
            self._advantages[positions],
            self._outcomes[positions],
            self._weights,
        )

    def _compute_losses(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss of a batch, and sums over its positions of what `MEANS` declares."""
        network, config = self.trainee.working, self.config
        choices, outcome = network(batch.seen)
        log_policy = network.legal_log_policy(choices, batch.legal)
        magnet = magnet_log_policy(self._sources, batch.legal)
        played = (batch.legal == batch.actions[:, None]).int().argmax(1, keepdim=True)
        log_ratio = (log_policy.gather(1, played) - batch.old_log_policy.gather(1, played)).squeeze(1)
        policy = policy_loss(log_ratio, batch.advantages, config.clip)
        update = divergence(log_policy, batch.old_log_policy)
        pull = divergence(log_policy, magnet)
        value = outcome_loss(outcome, batch.outcomes)
        losses = policy + config.update_weight * update + self._magnet_weight * pull + config.outcome_weight * value
        with torch.no_grad():
            counted = (batch.weights > 0).float()
            clipped = is_clipped(log_ratio, config.clip).float()
            measured = {
                "policy_loss": policy,
                "outcome_loss": value,
                "update_kl": update,
                "magnet_kl": pull,
                "entropy": entropy(log_policy),
                "clip_rate": clipped,
                "advantage": batch.advantages.abs(),
            }
            sums = torch.stack([*measured.values()]) @ counted
        return (losses * batch.weights).sum(), in_order(MEANS, dict(zip(measured, sums.detach(), strict=True)))


def _cut(keys: Tensor, together: Tensor, count: int) -> list[tuple[int, int, int]]:
    """Cut into `count` batches, none of them empty: bounds in one worker's sorted keys, and their whole sizes."""
    count = min(count, len(together))
    if count == 0:
        return []
    # As equal as can be: a last batch of a few positions would be a whole step for them.
    starts = [number * len(together) // count for number in range(count)]
    places = torch.searchsorted(keys, together[starts]).tolist()
    sizes = [last - first for first, last in pairwise([*starts, len(together)])]
    return list(zip(places, [*places[1:], len(keys)], sizes, strict=True))


def shuffle_keys(positions: Tensor, seed: int, iteration: int) -> Tensor:
    """Return random 64-bit keys, a function of position, seed and iteration (mixed much as SplitMix64 does it)."""
    mixed = positions + ((seed * 0x9E3779B97F4A7C15 + iteration * 0xD1B54A32D192ED03) % 2**63)
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15)):
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed ^ (mixed >> 31)
