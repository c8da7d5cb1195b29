"""Learning a belief: the true kinds of hidden things, from games that a finished policy plays against itself.

The player on turn is the one whose belief is learned; the records of self-play have the truth. What has been learned is
measured on games that are not learned from, against what follows without learning: the shares of each thing's possible
kinds, and the same recomputed after each thing that is named.
"""

from __future__ import annotations

import copy
import itertools
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vauban.errors import ConfigurationError
from vauban.games.base import Format, Game
from vauban.games.randomness import BELIEF_STRANGE, BELIEF_STREAM, BELIEF_VALIDATION, DROPOUT
from vauban.learn.ataraxos.positions import PositionStream, Setups, observe_positions
from vauban.learn.base import NATS, Learner, Metric, Place, StageConfig, first_weights, register
from vauban.learn.ranges import COUNT, DECAY, FRACTION, NOT_NEGATIVE, POSITIVE, check_ranges
from vauban.learn.trainee import Trainee
from vauban.nets.belief import BeliefNetwork, MarginalBelief, UniformBelief
from vauban.nets.hidden import Hidden
from vauban.nets.policy import PolicyNetwork
from vauban.nets.setup import SetupNetwork
from vauban.nets.transformer import Size
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

OTHER_GAMES = 1 << 40
"""Changes the run's seed into another one."""
TAKINGS = 16
"""The positions to measure on are of so many moments of the same games."""
TITLE = "Loss of the belief"


@dataclass(frozen=True)
class BeliefConfig(StageConfig):
    """Settings of a belief network and its training; the published ones of Ataraxos, where there are."""

    depth: int = 6
    """Layers of the encoder."""
    decoder_depth: int = 6
    """Blocks of the decoder."""
    width: int = 512
    """Width of the stream."""
    heads: int = 8
    """Heads of each attention."""
    dropout: float = 0.2
    """Share of each layer's output that is dropped in training."""
    learning_rate: float = 5e-5
    """Rate of Adam; it does not fall."""
    gradient_norm: float = 0.5
    """Gradients longer than this are shortened to it."""
    average: float = 0.99
    """Share of the averaged weights that a step of training keeps. Averaging at each step is ours: the paper has no
    average of the belief, and the published program averages once in an iteration, which may be several steps."""
    games: int = 1024
    """Games at once, of each worker; as many positions are learned from in a step."""
    every: int = 7
    """Every so many plies the positions of all games are taken. Odd, so that both players' are."""
    pool: int = 32
    """Number of such takings that wait, mixed, to be learned from."""
    warmup: int = 1000
    """Plies before the first taking: some games long, so that games are met at all their stages."""
    refresh: int = 200
    """Every so many plies the games to come get new pools of setups."""

    steps: int = 100
    """Steps of training between two lines of metrics."""
    validation: int = 2048
    """Positions to measure on, of games that are not learned from."""
    setups: int = 1000
    """Setups for each player that games begin from, until new ones are drawn."""
    strange: float = 0.0
    """Share of them that is drawn uniformly, and not by the setup network. A belief that has met its own setups alone
    takes every army for one of them, and against people may be worse than none."""

    def __post_init__(self) -> None:
        check_ranges(self, "the belief", {
            COUNT: "steps validation setups decoder_depth games pool refresh every",
            NOT_NEGATIVE: "minutes warmup",
            FRACTION: "strange",
            DECAY: "dropout average",
            POSITIVE: "learning_rate gradient_norm",
        })  # fmt: skip
        Size(self.depth, self.width, self.heads)  # refuses what cannot be built, now and not when moves are done
        if self.every % 2 == 0:
            raise ConfigurationError(f"every must be odd, so that both players' positions are taken, not {self.every}")

    def fewer(self) -> dict[str, tuple[int, int]]:
        return {"games": (self.games, max(1, self.games // 2)), "pool": (self.pool, max(1, self.pool // 2))}

    def network(self, game: Game) -> BeliefNetwork:
        """Return a network of this size, not trained."""
        return BeliefNetwork(game, Size(self.depth, self.width, self.heads), self.decoder_depth, self.dropout)


# ── Learning ─────────────────────────────────────────────────────────────────────────────────────


class Step(NamedTuple):
    """Measurements before a step of training, of all workers (float32, on the device)."""

    loss: Tensor
    """Cross-entropy in nats for each hidden thing, unmasked, with dropout."""
    gradient_norm: Tensor
    """Before it was shortened."""


class Scores(NamedTuple):
    """Negative log-likelihood in nats for each hidden thing, of the network and of the closed forms.

    As in training the mean over a position's hidden things first, then over positions.
    """

    network: float
    marginal: float
    uniform: float
    positions: int
    """Positions that counted: those in which something is hidden."""


class BeliefLearner:
    """A belief network in training. What becomes of it depends on the seed and the positions alone."""

    def __init__(self, trainee: Trainee[BeliefNetwork], game: Game, config: BeliefConfig, seed: int = 0) -> None:
        """`seed`: of the dropout. With several workers each is handed positions of its own."""
        self.trainee = trainee
        self.game = game
        self.config = config
        self.seed = seed
        self.steps = 0
        self.device = trainee.network.embed.weight.device
        self._simulators: dict[tuple[int, Format], Simulator] = {}

    def learn(self, positions: Snapshot) -> Step:
        """Take one step towards the true kinds in these positions, as the players on turn see them."""
        working = self.trainee.working.train()
        seen, values = observe_positions(self._simulator(positions), positions, working.observation, self.trainee.dtype)
        hidden = working.kinds.read(seen)
        with self._own_dice():
            logits = working(seen, hidden, values).float()
        # Nothing is masked: that some kinds cannot be is for the network to learn.
        targets = values[:, : working.pieces].long()
        surprise = cross_entropy(logits.transpose(1, 2), targets, ignore_index=-1, reduction="none")
        of_positions, counted = mean_of_things(surprise, hidden)
        total = [of_positions.detach().sum(), counted.sum().float()]
        self.trainee.workers.add(total)
        whole, number = total
        loss = of_positions.sum() / number.clamp_min(1)
        norm = self.trainee.step(loss, self.config.learning_rate, self.config.gradient_norm)
        self.trainee.update_average(self.config.average)
        self.steps += 1
        return Step(whole / number.clamp_min(1), norm)

    def validate(self, positions: Snapshot) -> Scores:
        """Compare the averaged network with the closed forms, on positions that were not learned from."""
        return score(self.trainee.average, self.game, self._simulator(positions), positions)

    @contextmanager
    def _own_dice(self) -> Iterator[None]:
        """Dropout by random numbers that depend on seed, worker and step alone; torch's own are left as they were."""
        rank = self.trainee.workers.rank
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(int(np.random.default_rng((self.seed, self.steps, rank, DROPOUT)).integers(2**63)))
            yield

    def _simulator(self, positions: Snapshot) -> Simulator:
        """Return a simulator to look at these positions with."""
        kind = len(positions), positions.format
        if kind not in self._simulators:
            self._simulators[kind] = Simulator(self.game, kind[0], self.device, seed=0, format=kind[1])
        return self._simulators[kind]


def score(network: BeliefNetwork, game: Game, sim: Simulator, positions: Snapshot) -> Scores:
    """Compare a network and the closed forms on these positions; `sim` has as many games."""
    seen, values = observe_positions(sim, positions, network.observation, torch.float32)
    hidden = network.kinds.read(seen)
    scores = []
    for belief in (network, MarginalBelief(game), UniformBelief(game)):
        of_positions, counted = mean_of_things(-belief.log_likelihood(seen, values), hidden)
        scores.append(float(of_positions.sum() / counted.sum().clamp_min(1)))
    learned, marginal, uniform = scores
    return Scores(learned, marginal, uniform, int(counted.sum()))


def together(batches: Sequence[Scores]) -> Scores:
    """Return the scores of several batches as one: every position counts the same, however many are in its batch."""
    positions = sum(batch.positions for batch in batches)
    shares = [batch.positions / max(positions, 1) for batch in batches]
    network, marginal, uniform = (
        sum(share * batch[column] for share, batch in zip(shares, batches, strict=True)) for column in range(3)
    )
    return Scores(network, marginal, uniform, positions)


def mean_of_things(numbers: Tensor, hidden: Hidden) -> tuple[Tensor, Tensor]:
    """Return the mean over a position's hidden things of a number of each (0 without any), and which positions have
    some.
    """
    things = hidden.present.sum(1)
    return torch.where(hidden.present, numbers, 0.0).sum(1) / things.clamp_min(1), things > 0


# ── The stage ────────────────────────────────────────────────────────────────────────────────────


@register("belief")
class BeliefStage(Learner):
    """A belief in training, and the games that it learns from: played by the networks of the stages before."""

    about = "a belief about hidden pieces, from games of the finished policy"
    config = BeliefConfig
    metrics = (
        Metric("belief.steps", "Gradient steps of the belief network so far.", title="belief steps",
               shown="{:,.0f} steps"),
        Metric("belief.minutes", "Minutes for which it has been trained so far.", shown="{:.1f} min"),
        Metric("belief.loss", "Its cross-entropy in training, in nats for each hidden piece, with dropout.", NATS,
               shown="loss {:.4f}"),
        Metric("belief.gradient_norm", "Mean norm of its gradients before they are clipped."),
        Metric("belief.validation", "Nats for each hidden piece in games it was not trained on; the averaged network.",
               NATS, TITLE, "unseen games {:.4f} nats a piece", drawn=True, kept=True),
        Metric("belief.marginal", "The same of the marginals: the shares that the observation has (channels 12–23).",
               NATS, TITLE, "marginals {:.4f}", drawn=True, kept=True),
        Metric("belief.uniform", "The same of the uniform posterior: such shares, anew after each piece that is named.",
               NATS, TITLE, "uniform {:.4f}", drawn=True, kept=True),
        Metric("belief.strange", "Its nats in games that begin from uniform setups, if belief.strange asks for some.",
               NATS, shown="strange setups {:.4f}", kept=True),
        Metric("belief.strange_uniform", "The same of the uniform posterior.", NATS, shown="uniform there {:.4f}",
               kept=True),
        Metric("speed.belief_positions_per_second", "Positions that the belief learned from, by the seconds that it "
               "took in all."),
    )  # fmt: skip
    clock = "belief.steps"
    steps: ClassVar = {"belief": "belief.steps"}
    tables: ClassVar = {"belief": ""}
    own = ("games",)

    def __init__(self, game: Game, config: BeliefConfig, place: Place) -> None:
        self.check(game, config)
        self.game = game
        self.settings, self.place = config, place
        self.device, self.workers = place.device, place.workers
        with first_weights(place.seed):
            network = config.network(self.game)
        self.trainee = Trainee(network, place.device, place.workers)
        self.networks = {"belief": self.trainee}
        self.learner = BeliefLearner(self.trainee, self.game, config, place.seed)
        self.stream: PositionStream | None = None
        self._policy: PolicyNetwork | None = None
        self._setup: SetupNetwork | None = None
        self._validation: list[Snapshot] = []
        self._strange: list[Snapshot] = []

    @classmethod
    def check(cls, game: Game, config: BeliefConfig) -> None:
        if observations.of_hidden(game) is None:
            raise ConfigurationError(
                f"belief: no observation of {game.name!r} tells of hidden things, from which a belief is learned: "
                "leave the algorithm out"
            )

    @classmethod
    def limits(cls, facts: Mapping[str, float]) -> list[str]:
        met_others = "belief.strange" in facts or "belief.validation" not in facts
        return [] if met_others else ["Its belief has met no setups but its own, and may be wrong about others."]

    def follow(self, networks: Mapping[str, Trainee[Any]]) -> None:
        """Begin new games, played by the averages of the networks `move` and, if there is one, `setup`."""
        # Nobody learns from these networks any more: they run as those in training do, rounded on a GPU.
        dtype = self.trainee.dtype
        played = {
            part: copy.deepcopy(networks[part].average).to(dtype).requires_grad_(False)
            for part in ("move", "setup")
            if part in networks
        }
        self._policy, self._setup = played["move"], played.get("setup")
        self._validation, self._strange = [], []
        config, workers, steps = self.settings, self.workers, self.iteration
        sim = Simulator(self.game, config.games, self.device, self.place.seed, stride=workers.count * config.games)
        earlier = steps and config.warmup + (config.pool + steps) * config.every
        sim.reset(first_number=(earlier * workers.count + workers.rank) * config.games)
        rng = np.random.default_rng((self.place.seed, workers.rank, steps, BELIEF_STREAM))
        self.stream = PositionStream(sim, self._policy, self._setups(config.strange), rng, config)

    def iterate(self) -> dict[str, float]:
        """Take some steps of training, and measure."""
        assert self.stream is not None
        begun = time.perf_counter()
        if self.workers.leads and not self._validation:
            self._validation = self._unseen_positions(BELIEF_VALIDATION, strange=0)
            if self._setup is not None and self.settings.strange > 0:
                self._strange = self._unseen_positions(BELIEF_STRANGE, strange=1)
        steps = [self.learner.learn(next(self.stream)) for _ in range(self.settings.steps)]
        loss, norm = (torch.stack(each).mean().item() for each in zip(*steps, strict=True))
        told = {"belief.loss": loss, "belief.gradient_norm": norm}
        if self.workers.leads:
            found = self._measure(self._validation)
            told |= {
                "belief.validation": found.network,
                "belief.marginal": found.marginal,
                "belief.uniform": found.uniform,
            }
            if self._strange:
                found = self._measure(self._strange)
                told |= {"belief.strange": found.network, "belief.strange_uniform": found.uniform}
        positions = self.settings.steps * self.settings.games * self.workers.count
        speed = positions / max(time.perf_counter() - begun, 1e-9)
        return {"belief.steps": float(self.iteration), "speed.belief_positions_per_second": speed, **told}

    def _setups(self, strange: float) -> Setups | None:
        """Return a source of setups, of which this share is drawn uniformly."""
        network = self._setup
        if network is None:
            return None
        uniform = round(strange * self.settings.setups)
        own = self.settings.setups - uniform
        assert self.game.setups is not None
        some = self.game.setups.draw(random.Random(0))

        def draw(rng: np.random.Generator) -> list[Tensor]:
            parts = []
            if own:
                parts.append(network.draw(2 * own, rng).setups)
            if uniform:
                shuffled = rng.permuted(np.tile(some, (2 * uniform, 1)), axis=1)
                parts.append(torch.from_numpy(shuffled).to(self.device))
            return [torch.cat([part[player::2] for part in parts]) for player in (0, 1)]

        return draw

    def _unseen_positions(self, purpose: int, strange: float) -> list[Snapshot]:
        """Return positions to measure on. Another seed plays other games, with other setups, from the first ply on."""
        assert self._policy is not None
        games = max(1, self.settings.validation // TAKINGS)
        sim = Simulator(self.game, games, self.device, self.place.seed ^ OTHER_GAMES)
        config = replace(self.settings, pool=1)
        rng = np.random.default_rng((self.place.seed, purpose))
        stream = PositionStream(sim, self._policy, self._setups(strange), rng, config)
        joined = Snapshot.join(list(itertools.islice(stream, TAKINGS)))
        return [joined[first : first + self.settings.games] for first in range(0, len(joined), self.settings.games)]

    def _measure(self, batches: list[Snapshot]) -> Scores:
        return together([self.learner.validate(positions) for positions in batches])

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    @property
    def iteration(self) -> int:  # type: ignore[override]
        """Steps of training so far."""
        return self.learner.steps

    def load_progress(self, progress: Mapping[str, Any]) -> None:
        self.learner.steps = progress["iteration"]

    @classmethod
    def progress_of(cls, config: BeliefConfig, training: Mapping[str, Any]) -> dict[str, Any]:
        return {"iteration": training.get("steps", {}).get("belief", 0)}

    def state(self) -> dict[str, Any]:
        return {"games": self.stream.state()} if self.stream else {}

    def load_state(self, state: Mapping[str, Any], missing: str = "it is not in the checkpoint") -> list[str]:
        assert self.stream is not None
        if "games" in state and not self.workers.any(not self.stream.fits(state["games"])):
            self.stream.load_state(state["games"])
            return []
        why = "its games are for another configuration" if "games" in state else missing
        return [f"{self.name}.games.pt: {why}, so new games begin, for the belief to learn from"]
