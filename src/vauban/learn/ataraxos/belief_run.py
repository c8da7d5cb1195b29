"""The last part of a run: a belief, learned from games that its final policy plays against itself.

What has been learned is measured on games that are not learned from, against what follows without learning: the
shares of each piece's possible types, and the same recomputed after each piece that is named.
"""

from __future__ import annotations

import copy
import itertools
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.randomness import BELIEF_STRANGE, BELIEF_STREAM, BELIEF_VALIDATION
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import random_setup
from vauban.learn.ataraxos.belief import BeliefConfig, BeliefLearner, PositionStream, Scores, Setups, together
from vauban.learn.trainee import Trainee
from vauban.learn.workers import ALONE, Workers
from vauban.nets.policy import PolicyNetwork
from vauban.nets.setup import SetupNetwork
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

OTHER_GAMES = 1 << 40
"""What makes another seed of the run's."""
TAKINGS = 16
"""The positions to measure on are of so many moments of the same games."""


@dataclass(frozen=True)
class BeliefRunConfig(BeliefConfig):
    """How a run trains a belief, when its moves are done."""

    minutes: float = 0.0
    """For how long; 0: no belief is trained."""
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
        super().__post_init__()
        if min(self.steps, self.validation, self.setups) < 1 or self.minutes < 0:
            raise ConfigurationError(
                f"steps, validation and setups of the belief are 1 or more, its minutes 0 or more: {self}"
            )
        if not 0 <= self.strange <= 1:
            raise ConfigurationError(f"strange is a share of the setups, from 0 to 1, not {self.strange}")


class BeliefRun:
    """A belief in training, and the games that it learns from."""

    def __init__(
        self, game: Stratego, config: BeliefRunConfig, policy: PolicyNetwork, setup: SetupNetwork | None,
        device: torch.device, seed: int, workers: Workers = ALONE, steps: int = 0,
    ) -> None:  # fmt: skip
        """
        policy, setup: what plays; a copy is taken. Without a setup network, setups are drawn uniformly.
        steps: how many have been taken before; the games are others then.
        """
        self.game, self.config, self.device, self.seed, self.workers = game, config, device, seed, workers
        self.seconds = 0.0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = config.network(game)
        self.trainee = Trainee(network, device, workers)
        self.learner = BeliefLearner(self.trainee, game, config, seed)
        self.learner.steps = steps
        # Nobody learns from these networks any more: they run as those in training do, rounded on a GPU.
        self._policy = copy.deepcopy(policy).to(self.trainee.dtype).requires_grad_(False)
        self._setup = None if setup is None else copy.deepcopy(setup).to(self.trainee.dtype).requires_grad_(False)
        sim = Simulator(game, config.games, device, seed, stride=workers.count * config.games)
        earlier = steps and config.warmup + (config.pool + steps) * config.every
        sim.reset(first_number=(earlier * workers.count + workers.rank) * config.games)
        rng = np.random.default_rng((seed, workers.rank, steps, BELIEF_STREAM))
        self.stream = PositionStream(sim, self._policy, self._setups(config.strange), rng, config)
        self._validation: list[Snapshot] = []
        self._strange: list[Snapshot] = []

    def goes_on(self) -> bool:
        """Whether there is time left."""
        return self.seconds < 60 * self.config.minutes

    def iterate(self) -> dict[str, float]:
        """Take some steps of training, and measure; what there is to say about it."""
        begun = time.perf_counter()
        if self.workers.leads and not self._validation:
            self._validation = self._unseen_positions(BELIEF_VALIDATION, strange=0)
            if self._setup is not None and self.config.strange > 0:
                self._strange = self._unseen_positions(BELIEF_STRANGE, strange=1)
        steps = [self.learner.learn(next(self.stream)) for _ in range(self.config.steps)]
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
        seconds = time.perf_counter() - begun
        self.seconds += seconds
        positions = self.config.steps * self.config.games * self.workers.count
        return {
            "belief.steps": float(self.learner.steps),
            "belief.minutes": self.seconds / 60,
            "speed.belief_positions_per_second": positions / seconds,
            **told,
        }

    def _setups(self, strange: float) -> Setups | None:
        """Where setups come from, this share of them drawn uniformly."""
        network = self._setup
        if network is None:
            return None
        uniform = round(strange * self.config.setups)
        own = self.config.setups - uniform
        army = random_setup(self.game.variant, random.Random(0))

        def draw(rng: np.random.Generator) -> list[Tensor]:
            parts = []
            if own:
                parts.append(network.draw(2 * own, rng).setups)
            if uniform:
                shuffled = rng.permuted(np.tile(army, (2 * uniform, 1)), axis=1)
                parts.append(torch.from_numpy(shuffled).to(self.device))
            return [torch.cat([part[player::2] for part in parts]) for player in (0, 1)]

        return draw

    def _unseen_positions(self, purpose: int, strange: float) -> list[Snapshot]:
        """Positions to measure on. Another seed plays other games, with other setups, from the first ply on."""
        games = max(1, self.config.validation // TAKINGS)
        sim = Simulator(self.game, games, self.device, self.seed ^ OTHER_GAMES)
        config = replace(self.config, pool=1)
        rng = np.random.default_rng((self.seed, purpose))
        stream = PositionStream(sim, self._policy, self._setups(strange), rng, config)
        joined = Snapshot.join(list(itertools.islice(stream, TAKINGS)))
        return [joined[first : first + self.config.games] for first in range(0, len(joined), self.config.games)]

    def _measure(self, batches: list[Snapshot]) -> Scores:
        return together([self.learner.validate(positions) for positions in batches])

    def adopt(self, before: BeliefRun) -> None:
        """Go on from what another has learned, with games of one's own."""
        self.trainee.load_state(before.trainee.state())
        self.seconds = before.seconds

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def state(self) -> dict[str, Any]:
        """Of the games that this worker learns from."""
        return self.stream.state()

    def fits(self, state: Mapping[str, Any]) -> bool:
        """Whether it can go on from a `state()`, which may be of another configuration."""
        return self.stream.fits(state)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `state()`."""
        self.stream.load_state(state)
