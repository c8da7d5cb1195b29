"""Learning to set up: the pool of setups that games begin from, and the training of the network that draws them.

    learner = SetupLearner(Trainee(network, device), game, SetupConfig(), plies=200, seed=1)
    for iteration in range(1, …):
        red, blue = learner.draw_pool(iteration)     # new games begin from these; games under way go on
        …                                            # play `plies` plies in every game
        learner.note_ended(starts, results)          # those that ended, any number of times
        metrics = learner.learn(iteration)

Most games outlast the iteration that they began in. So a setup is remembered, with what the network said when it drew
it, for as long as a game that began from it can run; when the game ends, its start tells both of its setups. A setup
is learned from in every iteration in which one of its games ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.games.randomness import SETUP_POOL, SETUP_SHUFFLE
from vauban.learn.ataraxos.setup_targets import remaining_surprise, setup_advantages, setup_loss
from vauban.learn.base import NATS, SHARE, Metric, in_order, names_of
from vauban.learn.ranges import COUNT, DECAY, NOT_NEGATIVE, POSITIVE, check_ranges
from vauban.learn.schedules import PowerLaw, average_rate
from vauban.learn.trainee import Trainee
from vauban.learn.workers import ALONE, Workers
from vauban.nets.policy import utility_values
from vauban.nets.replay import Replay
from vauban.nets.setup import Sampled, SetupNetwork

MEANS = (
    Metric("setups.loss", "Total loss of the setup network."),
    Metric("setups.policy_loss", "Clipped importance-weighted loss of placements."),
    Metric("setups.outcome_loss", "Cross-entropy of its outcome head."),
    Metric("setups.entropy_loss", "Squared error of its entropy head (nats / 10)."),
    Metric("setups.kl", "Divergence of the setup policy from the one that drew."),
    Metric("setups.clip_rate", "The share of placements beyond the clip.", SHARE),
)
"""Means over batches."""
METRICS = (
    Metric("setups.entropy", "Mean surprise of the setups drawn, in nats: how mixed the setups are.", NATS,
           "Entropy of the setups", "entropy {:.1f}", drawn=True),
    Metric("setups.merged", "Setups drawn that were in the table already."),
    Metric("setups.temperature", "Weight of the setups' entropy."),
    Metric("setups.setups", "Setups trained on: those of which a game ended.", shown="{:.0f} learned from"),
    Metric("setups.games", "Games that ended and whose setups were known."),
    Metric("setups.unknown", "Setups of ended games that were not known any more."),
    *MEANS,
    Metric("setups.gradient_norm", "Mean norm of the setup network's gradients before they are clipped."),
    Metric("setups.steps", "Gradient steps of the setup network."),
)  # fmt: skip


@dataclass(frozen=True)
class SetupConfig:
    """Settings of drawing and learning setups; the numbers of Ataraxos (tables 18 and 20)."""

    per_player: int = 1000
    """Setups for each player in an iteration's pool, of each worker."""
    batch: int = 1024
    """Rows in a batch, of each worker. A row is a setup and one outcome of its games, weighted by how many had it."""
    epochs: int = 5
    """Passes through an iteration's setups."""
    learning_rate: float = 5e-5
    gradient_norm: float = 0.5
    """Longer gradients are shortened to this."""
    clip: float = 0.2
    """Distance from 1 up to which the importance ratio counts."""
    outcome_weight: float = 0.5
    entropy_weight: float = 1.0
    kl_weight: float = 0.1
    """Weight of the divergence from the policy that drew the setup."""
    temperature: PowerLaw = field(default=PowerLaw(0.1, 0.3))
    """Weight of the entropy of setups against their outcome."""
    average: float = 0.999
    """Share of the averaged network that an iteration keeps."""
    reach: float = 0.0
    """Share of a run so far over which the average reaches back, for a cold start; 0: no bound, as in the paper."""
    expiry: int | None = None
    """Iterations for which a setup is remembered; as long as a game can run, if not given."""

    def __post_init__(self) -> None:
        check_ranges(self, "the setups", {
            COUNT: "per_player batch epochs",
            POSITIVE: "learning_rate gradient_norm",
            NOT_NEGATIVE: "clip outcome_weight entropy_weight kl_weight reach",
            DECAY: "average",
        })  # fmt: skip
        if self.expiry is not None and self.expiry < 2:
            raise ConfigurationError(f"expiry of the setups must be 2 iterations or more, not {self.expiry}")


def iterations_to_remember(game: Game, plies: int) -> int:
    """Return the most iterations of this many plies that a game can touch which begins in the first of them."""
    if game.max_actions is None:
        raise ConfigurationError(
            f"games of {game!r} may go on for ever, and their setups cannot be remembered for so long: give a "
            "total_limit, or the setups an expiry (in iterations)"
        )
    return max(2, math.ceil(game.max_actions / plies) + 1)


class Entries(NamedTuple):
    """Setups remembered, with what the network said when it drew them (as in `Sampled`)."""

    iterations: Tensor
    """Iteration in which each setup was drawn (int64)."""
    setups: Tensor
    pieces: Tensor
    log_policy: Tensor
    outcome: Tensor
    entropy: Tensor

    def at(self, places: Tensor) -> Entries:
        """Return the entries at these places."""
        return Entries(*(part[places] for part in self))


class Batch(NamedTuple):
    """Setups to learn from, and what is to be learned from them."""

    pieces: Tensor
    log_policy: Tensor
    advantages: Tensor
    outcomes: Tensor
    surprise: Tensor
    weights: Tensor
    """Weight of each setup in the whole; 0 for those that only fill the batch up."""


class SetupTable:
    """The setups that games under way may have begun from, and what games came to that ended in this iteration.

    Setups are found by a 64-bit key, in which the table is sorted, and compared place by place: a game is never
    put down to a setup that it did not begin from.
    """

    def __init__(self, game: Game, device: torch.device) -> None:
        assert game.setups is not None
        self._setups, self._classes = game.setups, len(game.utilities)
        places, kinds, classes = game.setups.size, len(game.setups.kinds), len(game.utilities)
        # Powers of an odd number; two setups of one key are as rare as in random numbers.
        powers = [pow(0x9E3779B97F4A7C15, 1 + place, 2**64) for place in range(places)]
        self._powers = torch.from_numpy(np.array(powers, np.uint64).view(np.int64)).to(device)
        self._put(
            Entries(
                torch.zeros(0, dtype=torch.int64, device=device),
                torch.zeros(0, places, dtype=torch.int8, device=device),
                torch.zeros(0, places, dtype=torch.int64, device=device),
                torch.zeros(0, places, kinds, device=device),
                torch.zeros(0, places, classes, device=device),
                torch.zeros(0, places, device=device),
            )
        )

    def __len__(self) -> int:
        return len(self.entries.iterations)

    def add(self, drawn: Sampled, iteration: int, expiry: int) -> int:
        """Remember setups, forget those too old, and begin to count anew; how many were there already, or drawn twice.

        Of several entries of the same setup the newest stays.
        """
        kept = self.entries.at(self.entries.iterations > iteration - expiry)
        now = torch.full((len(drawn.setups),), iteration, device=drawn.setups.device)
        both = Entries(*(torch.cat(pair) for pair in zip(kept, Entries(now, *drawn), strict=True)))
        self._put(both)
        return len(both.iterations) - len(self)

    def count(self, starts: Tensor, results: Tensor) -> None:
        """Put games that ended down to the setups of both players.

        starts: how they began (int8, games × `game.start_size`).
        results: the class of each outcome for the first player (int64, an index into `game.utilities`).
        """
        both = np.concatenate(self._setups.of_starts(starts.cpu().numpy()))
        places = self._find(torch.from_numpy(both).to(starts.device))
        outcomes = torch.cat([results, self._classes - 1 - results]).long()
        self.counts.index_put_((places, outcomes), torch.ones_like(places), accumulate=True)

    def state(self) -> dict[str, Tensor]:
        """Return all that a resumed run needs."""
        return {**self.entries._asdict(), "counts": self.counts.clone()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go on from `state()`."""
        device = self._powers.device
        self._put(Entries(*(state[name].to(device) for name in Entries._fields)))
        self.counts.copy_(state["counts"])

    def _put(self, entries: Entries) -> None:
        """Hold these entries, sorted by key, the last of each setup; and no games."""
        keys, order = self._keys(entries.setups).sort(stable=True)
        last = torch.ones_like(keys, dtype=torch.bool)
        last[:-1] = keys[1:] != keys[:-1]
        self.entries = entries.at(order[last])
        self._sorted = keys[last]
        # The last row counts the games of setups that are not in the table.
        self.counts = torch.zeros(len(self) + 1, self._classes, dtype=torch.int64, device=keys.device)

    def _keys(self, setups: Tensor) -> Tensor:
        return (setups.long() * self._powers).sum(1)

    def _find(self, setups: Tensor) -> Tensor:
        """Return the places of setups in the table; its length for those that are not there."""
        if len(self) == 0:
            return torch.zeros(len(setups), dtype=torch.int64, device=setups.device)
        places = torch.searchsorted(self._sorted, self._keys(setups)).clamp_max(len(self) - 1)
        same = (self.entries.setups[places] == setups).all(1)
        return torch.where(same, places, len(self))


class SetupLearner:
    """Draws the setups that games begin from, and learns from what the games came to."""

    def __init__(
        self,
        trainee: Trainee[SetupNetwork],
        game: Game,
        config: SetupConfig,
        *,
        plies: int,
        seed: int,
        workers: Workers = ALONE,
    ) -> None:
        """plies: how many are played in each game between two trainings."""
        self.trainee, self.game, self.config, self.seed, self.workers = trainee, game, config, seed, workers
        self.expiry = config.expiry or iterations_to_remember(game, plies)
        self.device = trainee.network.positions.device
        self.table = SetupTable(game, self.device)
        self._utilities = utility_values(game, self.device)
        self._drawn = {"entropy": 0.0, "merged": 0.0}
        self._sums = torch.zeros(len(MEANS), device=self.device)
        self._norms = torch.zeros((), device=self.device)
        # On a GPU a batch has always the same size and lies in the same place, so that its training can be captured.
        self._fixed = self.device.type == "cuda" and workers.count == 1
        self._batch: Batch | None = None
        self._train = Replay(self.device, captured=self._fixed)
        self._uniforms = torch.zeros(
            2 * config.per_player * workers.count, game.setup_size, dtype=torch.float64, device=self.device
        )
        self._sampled: Sampled | None = None
        self._sample = Replay(self.device)

    def draw_pool(self, iteration: int) -> tuple[Tensor, Tensor]:
        """Return the setups that new games of this iteration begin from: a pool (int8) for each player.

        All workers have the same pool, `per_player` setups for each worker and player.
        """
        rng = np.random.default_rng((self.seed, iteration, SETUP_POOL))
        drawn = self.trainee.working.draw(len(self._uniforms), rng, self._sample_by)
        # All have drawn the same already, but for what rounding may differ between their machines.
        self.workers.share(drawn)
        log_chosen = drawn.log_policy.gather(-1, drawn.pieces[..., None])
        merged = self.table.add(drawn, iteration, self.expiry)
        self._drawn = {"entropy": float(-log_chosen.sum() / len(drawn.setups)), "merged": float(merged)}
        return drawn.setups[0::2].contiguous(), drawn.setups[1::2].contiguous()

    def _sample_by(self, uniforms: Tensor) -> Sampled:
        self._uniforms.copy_(uniforms)
        self._sample(self._sample_pool)
        assert self._sampled is not None
        return Sampled(*(part.clone() for part in self._sampled))

    def _sample_pool(self) -> None:
        self._sampled = self.trainee.working.sample(self._uniforms)

    def note_ended(self, starts: Tensor, results: Tensor) -> None:
        """Tell of games that ended: how they began, and the class of the outcome for the first player.

        starts: rows as `Simulator.starts` has them (int8, any number × `game.start_size`), on the learner's device.
        results: indices into `game.utilities` (whole numbers, one for each row).
        Setups that are not remembered, such as those that games began from before a pool was drawn, do not count.
        """
        self.table.count(starts, results)

    def learn(self, iteration: int) -> dict[str, float]:
        """Train on the setups of which games have ended since the pool was drawn; what there is to say about it."""
        config = self.config
        temperature = config.temperature.at(iteration)
        counts = self.table.counts.clone()
        self.workers.add([counts])
        unknown, counts = counts[-1], counts[:-1]
        ready = int((counts.sum(1) > 0).sum())
        metrics = {
            **self._drawn,
            "temperature": temperature,
            "setups": float(ready),
            "games": counts.sum().item() / 2,
            "unknown": float(unknown.sum()),
        }
        if ready == 0:
            return metrics
        whole = self.targets(counts, temperature)
        self.trainee.set_learning_rate(config.learning_rate)
        self._sums.zero_()
        self._norms.zero_()
        steps = 0
        for rows, shares in self._batches(iteration, whole.weights):
            self._lay_out(whole, rows, shares)
            self._train(self._train_batch)
            steps += 1
        self.trainee.update_average(average_rate(config.average, config.reach, iteration))
        self.workers.add([self._sums])
        measured = dict(zip(names_of(MEANS), (self._sums / steps).tolist(), strict=True))
        return metrics | measured | {"gradient_norm": self._norms.item() / steps, "steps": float(steps)}

    def targets(self, counts: Tensor, temperature: float) -> Batch:
        """Return the targets of setups whose games had these outcomes; counts: setups of the table × outcomes."""
        # Each of a setup's games counts (the published program takes their mean); those that end alike teach the same.
        places, results = counts.nonzero(as_tuple=True)
        outcomes = torch.eye(counts.shape[1], device=self.device)[results]
        weights = counts[places, results].float()
        data = self.table.entries.at(places)
        surprise = remaining_surprise(data.log_policy.gather(-1, data.pieces[..., None])[..., 0])
        advantages = setup_advantages(outcomes, surprise, data.outcome, data.entropy, self._utilities, temperature)
        return Batch(data.pieces, data.log_policy, advantages, outcomes, surprise, weights)

    def _lay_out(self, whole: Batch, rows: Tensor, shares: Tensor) -> None:
        """Make a batch of some setups and their shares in it."""
        if self._fixed:
            missing = self.config.batch - len(rows)
            rows = torch.cat([rows, rows[:1].expand(missing)])
            shares = torch.cat([shares, shares.new_zeros(missing)])
        batch = Batch(*(part[rows] for part in whole))._replace(weights=shares)
        if self._batch is None or not self._fixed:
            self._batch = batch
        else:
            for place, part in zip(self._batch, batch, strict=True):
                place.copy_(part)

    def _train_batch(self) -> None:
        """Train on the batch that is laid out."""
        config, batch = self.config, self._batch
        assert batch is not None
        loss = setup_loss(
            self.trainee.working(batch.pieces), batch.pieces, batch.log_policy, batch.advantages, batch.outcomes,
            batch.surprise, batch.weights, config.clip,
        )  # fmt: skip
        total = (
            loss.policy
            + config.outcome_weight * loss.outcome
            + config.entropy_weight * loss.entropy
            + config.kl_weight * loss.divergence
        )
        self._norms += self.trainee.descend([total], config.gradient_norm)
        measured = {
            "loss": total,
            "policy_loss": loss.policy,
            "outcome_loss": loss.outcome,
            "entropy_loss": loss.entropy,
            "kl": loss.divergence,
            "clip_rate": loss.clipped,
        }
        self._sums += in_order(MEANS, measured).detach()

    def state(self) -> dict[str, Any]:
        """Return all that a resumed run needs, but for what the trainee says itself."""
        return {"table": self.table.state(), "drawn": dict(self._drawn)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `state()`."""
        self.table.load_state(state["table"])
        self._drawn = dict(state["drawn"])

    def _batches(self, iteration: int, weights: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield this worker's rows of each batch, through all epochs, and their shares in the batch.

        The order depends on seed and iteration alone: several workers make the same batches as one would.
        """
        rng = np.random.default_rng((self.seed, iteration, SETUP_SHUFFLE))
        size = self.config.batch * self.workers.count
        for _ in range(self.config.epochs):
            order = torch.from_numpy(rng.permutation(len(weights))).to(self.device)
            for start in range(0, len(order), size):
                batch = order[start : start + size]
                mine = batch[self.workers.rank :: self.workers.count]
                if len(mine) == 0:
                    # A batch too small for all: a setup that does not count lets this worker keep step.
                    yield batch[:1], torch.zeros_like(weights[:1])
                else:
                    yield mine, weights[mine] / weights[batch].sum()
