"""Learning a belief: the true types of hidden pieces, from games that a finished policy plays against itself.

    config = BeliefConfig()
    sim = Simulator(game, config.games, device, seed=1)
    learner = BeliefLearner(Trainee(config.network(game), device), game, config, seed=1)
    for positions in PositionStream(sim, policy, setups, rng, config):
        learner.learn(positions)
    learner.validate(others)            # nats for each hidden piece, beside those of the closed forms
    learner.trainee.average             # the network to keep

The player on turn is the one whose belief is learned; the records of self-play have the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vauban.errors import ConfigurationError
from vauban.games.base import Format
from vauban.games.randomness import DROPOUT
from vauban.games.stratego.game import Stratego
from vauban.learn.trainee import Trainee
from vauban.nets.actor import Actor
from vauban.nets.belief import Belief, BeliefNetwork, Hidden, MarginalBelief, UniformBelief, hidden_pieces
from vauban.nets.policy import PolicyNetwork
from vauban.nets.transformer import Size
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot, Store

Setups = Callable[[np.random.Generator], Sequence[Tensor] | Tensor]
"""(random numbers) → pools of setups, as `Simulator.set_pools` takes them."""


@dataclass(frozen=True)
class BeliefConfig:
    """How a belief network is made and trained; as published with Ataraxos where that says."""

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
    """Of Adam; it does not fall."""
    gradient_norm: float = 0.5
    """Gradients longer than this are shortened to it."""
    average: float = 0.99
    """How much of the averaged weights a step of training keeps. That it is each step is ours: the paper has no average
    of the belief, and the published program averages once in an iteration, which may be several steps."""
    games: int = 1024
    """Games at once, of each worker; as many positions are learned from in a step."""
    every: int = 7
    """Every so many plies the positions of all games are taken. Odd, so that both players' are."""
    pool: int = 32
    """How many such takings wait, mixed, for their turn to be learned from."""
    warmup: int = 1000
    """Plies before the first taking: some games long, so that games are met at all their stages."""
    refresh: int = 200
    """Every so many plies the games to come get new pools of setups."""

    def __post_init__(self) -> None:
        Size(self.depth, self.width, self.heads)  # refuses what cannot be built, now and not when moves are done
        if self.decoder_depth < 1 or not 0 <= self.dropout < 1:
            raise ConfigurationError(
                "decoder_depth of the belief is 1 or more, its dropout from 0 to below 1, not "
                f"{self.decoder_depth} and {self.dropout}"
            )
        if min(self.learning_rate, self.gradient_norm) <= 0:
            raise ConfigurationError(
                f"learning_rate and gradient_norm of the belief are more than 0, not {self.learning_rate} and "
                f"{self.gradient_norm}"
            )
        if self.every < 1 or self.every % 2 == 0:
            raise ConfigurationError(f"every must be odd, so that both players' positions are taken, not {self.every}")
        if min(self.games, self.pool, self.refresh) < 1 or self.warmup < 0:
            raise ConfigurationError(f"games, pool and refresh are 1 or more, warmup is 0 or more: {self}")
        if not 0 <= self.average < 1:
            raise ConfigurationError(f"average is from 0 to below 1, not {self.average}")

    def network(self, game: Stratego) -> BeliefNetwork:
        """A network of this size, not trained."""
        return BeliefNetwork(game, Size(self.depth, self.width, self.heads), self.decoder_depth, self.dropout)


# ── Positions ────────────────────────────────────────────────────────────────────────────────────


class PositionStream:
    """Positions of games that a policy plays against itself, `sim.n` at a time, without end.

    Neighbouring positions of a game are much alike. So each taking is put into a pool in exchange for as many
    positions drawn from it, of other games and other stages; these are what is handed out.
    """

    def __init__(
        self, sim: Simulator, network: PolicyNetwork, setups: Setups | None, rng: np.random.Generator,
        config: BeliefConfig,
    ) -> None:  # fmt: skip
        """
        sim: with `restart`, on the device of the network. Its games go on from where they are.
        setups: where new pools of setups come from; None leaves the simulator's own.
        rng: for the setups and the mixing.
        """
        self.sim, self.setups, self.rng, self.config = sim, setups, rng, config
        self.ply = 0
        self._given: Sequence[Tensor] | Tensor | None = None
        self._pool: list[Snapshot] = []
        """Takings; once there are enough, a single one of all."""
        self._actor = Actor(network, sim)

    def __iter__(self) -> Iterator[Snapshot]:
        return self

    def __next__(self) -> Snapshot:
        while True:
            drawn = self._exchange() if self._play() else None
            if drawn is not None:
                return drawn

    @torch.no_grad()
    def _play(self) -> bool:
        """Play a ply; whether the positions before it are to be taken, in which case they are the last of the pool."""
        sim, config = self.sim, self.config
        if self.ply % config.refresh == 0:
            sim.check_step()
            if self.setups is not None:
                self._given = self.setups(self.rng)
                sim.set_pools(self._given)
        taking = self.ply >= config.warmup and (self.ply - config.warmup) % config.every == 0
        if taking:
            self._pool.append(sim.snapshot())
        self._actor.choose()
        self._actor.step()
        self.ply += 1
        return taking

    def _exchange(self) -> Snapshot | None:
        """Put the last taking into the pool, and positions of the pool out; None as long as it is not full."""
        size = self.config.pool * self.sim.n
        held = sum(map(len, self._pool))
        if held == size:
            self._pool = [Snapshot.join(self._pool)]
        if held <= size:
            return None
        pool, taken = self._pool
        rows = torch.from_numpy(self.rng.choice(size, self.sim.n, replace=False)).to(self.sim.device)
        drawn = pool[rows]
        for part, new in zip(pool.store, taken.store, strict=True):
            part[rows] = new
        self._pool = [pool]
        return drawn

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs."""
        given = self._given
        return {
            "ply": self.ply,
            "rng": self.rng.bit_generator.state,
            "games": tuple(part.clone() for part in self.sim.store),
            "pool": [tuple(each.store) for each in self._pool],
            "setups": given if given is None or isinstance(given, Tensor) else list(given),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `state()`."""
        self.ply = state["ply"]
        self.rng.bit_generator.state = state["rng"]
        self.sim.restore(self._records(state["games"]))
        self._pool = [self._records(parts) for parts in state["pool"]]
        self._given = state["setups"]
        if self._given is not None:
            self.sim.set_pools(self._given)

    def fits(self, state: Mapping[str, Any]) -> bool:
        """Whether a `state()` is of as many games as there are here, and of no more takings than the pool holds."""
        same = [part.shape for part in state["games"]] == [part.shape for part in self.sim.store]
        return same and sum(len(parts[0]) for parts in state["pool"]) <= self.config.pool * self.sim.n

    def _records(self, parts: Sequence[Tensor]) -> Snapshot:
        store = Store(*(part.to(self.sim.device) for part in parts))
        return Snapshot(self.sim.game, self.sim.format, store)


def observe_positions(sim: Simulator, positions: Snapshot, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """What the players on turn see in the layout "squares", and what is truly hidden from them."""
    sim.restore(positions)
    seen = sim.observe(Belief.observation, layout="squares", dtype=dtype)
    first = (sim.players == 0)[:, None]
    return seen, torch.where(first, sim.hidden_values(0), sim.hidden_values(1))


# ── Learning ─────────────────────────────────────────────────────────────────────────────────────


class Step(NamedTuple):
    """What a step of training found before it, of all workers (float32, on the device)."""

    loss: Tensor
    """Cross-entropy in nats for each hidden piece, unmasked, with dropout."""
    gradient_norm: Tensor
    """Before it was shortened."""


class Scores(NamedTuple):
    """Negative log-likelihood in nats for each hidden piece, of the network and of the closed forms.

    As in training the mean over a position's hidden pieces first, then over positions.
    """

    network: float
    marginal: float
    uniform: float
    positions: int
    """How many have counted: those in which something is hidden."""


class BeliefLearner:
    """A belief network in training. What becomes of it depends on the seed and the positions alone."""

    def __init__(self, trainee: Trainee[BeliefNetwork], game: Stratego, config: BeliefConfig, seed: int = 0) -> None:
        """`seed`: of the dropout. With several workers each is handed positions of its own."""
        self.trainee = trainee
        self.game = game
        self.config = config
        self.seed = seed
        self.steps = 0
        self.device = trainee.network.embed.weight.device
        self._simulators: dict[tuple[int, Format], Simulator] = {}

    def learn(self, positions: Snapshot) -> Step:
        """Take one step towards the true types in these positions, as the players on turn see them."""
        working = self.trainee.working.train()
        seen, values = observe_positions(self._simulator(positions), positions, self.trainee.dtype)
        hidden = hidden_pieces(seen, working.pieces)
        with self._own_dice():
            logits = working(seen, hidden, values).float()
        # Nothing is masked: that some types cannot be is for the network to learn.
        targets = values[:, : working.pieces].long()
        surprise = cross_entropy(logits.transpose(1, 2), targets, ignore_index=-1, reduction="none")
        of_positions, counted = mean_of_pieces(surprise, hidden)
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
        """A simulator to look at these positions with."""
        kind = len(positions), positions.format
        if kind not in self._simulators:
            self._simulators[kind] = Simulator(self.game, kind[0], self.device, seed=0, format=kind[1])
        return self._simulators[kind]


def score(network: BeliefNetwork, game: Stratego, sim: Simulator, positions: Snapshot) -> Scores:
    """How well a network and the closed forms know what is hidden in these positions; `sim` is as large as they are."""
    seen, values = observe_positions(sim, positions, torch.float32)
    hidden = hidden_pieces(seen, network.pieces)
    scores = []
    for belief in (network, MarginalBelief(game), UniformBelief(game)):
        of_positions, counted = mean_of_pieces(-belief.log_likelihood(seen, values), hidden)
        scores.append(float(of_positions.sum() / counted.sum().clamp_min(1)))
    learned, marginal, uniform = scores
    return Scores(learned, marginal, uniform, int(counted.sum()))


def together(batches: Sequence[Scores]) -> Scores:
    """The scores of several batches as one: every position counts the same, however many are in its batch."""
    positions = sum(batch.positions for batch in batches)
    shares = [batch.positions / max(positions, 1) for batch in batches]
    network, marginal, uniform = (
        sum(share * batch[column] for share, batch in zip(shares, batches, strict=True)) for column in range(3)
    )
    return Scores(network, marginal, uniform, positions)


def mean_of_pieces(numbers: Tensor, hidden: Hidden) -> tuple[Tensor, Tensor]:
    """The mean of a number of each hidden piece over a position's pieces; which positions have any (0 where not)."""
    pieces = hidden.present.sum(1)
    return torch.where(hidden.present, numbers, 0.0).sum(1) / pieces.clamp_min(1), pieces > 0
