"""Policies that are networks, trained by the oracles of best responses.

    workshop = NeuralWorkshop(game, "sac", SACConfig(…), folder, torch.device("cpu"), NeuralConfig(episodes=2500))

A checkpoint is the folder of a model, which plays, and beside it `training.pt`: optimiser, replay, and how far it is.
An update loads it, lets the oracle play and learn for some games against networks of its opponents, one of which is
drawn for each game, and publishes the next version. Nothing is kept in memory but networks that were read, so updates
and entries can be done by any process that has the folder (`vauban.learn.psro.spread`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from vauban.errors import ConfigurationError
from vauban.games.base import Game, from_spec
from vauban.learn.base import Place, find_learner
from vauban.learn.best_response.duels import Duels
from vauban.learn.best_response.oracle import NETWORK, REMEMBERED, Oracle, OracleConfig
from vauban.learn.opponents import Agents, NetworkPlayer, NetworksPlayer, NoAgents
from vauban.learn.psro.exact import Exact
from vauban.learn.psro.folders import folder_name, keep_only, published
from vauban.learn.psro.workshop import Checkpoint, Floats, Job, Measured, Trained, Wanted, Workshop
from vauban.models import CARD
from vauban.nets import store
from vauban.nets.actor import Thinker
from vauban.nets.kinds import describe
from vauban.nets.policy import PolicyNetwork
from vauban.nets.positions import Recorded
from vauban.sim.store import Snapshot
from vauban.solve import build_tree
from vauban.solve.evaluate import reach_of
from vauban.solve.policies import Actions, tabulate
from vauban.solve.tree import Table, Tree

TRAINING = "training.pt"
"""The state that training goes on from, in the folder of a checkpoint: of one in training, after its first update."""
SMALL = 100_000
"""Histories of a game that is computed exactly beside everything."""
NETWORKS = 512
"""Networks of others that a process remembers."""
ENTRIES = 3
"""Purpose of chance, beside those of a pipeline: games for the payoff table."""


@dataclass(frozen=True)
class NeuralConfig:
    """Updates of networks, and entries of their payoff table."""

    episodes: int = 2500
    """Games of an update, at least."""
    remembered: int = REMEMBERED
    """Games of a policy, the latest ones, whose mean reward is its performance."""
    games: int = 20_000
    """Games for an entry of the payoff table, at least; 0: it is computed on the tree of the game, which must be small.
    """

    def __post_init__(self) -> None:
        if self.episodes < 1 or self.games < 0:
            raise ConfigurationError(f"an update has 1 game or more, and an entry 0 or more: {self}")
        if not 1 <= self.remembered <= REMEMBERED:
            raise ConfigurationError(f"remembered is from 1 to {REMEMBERED}, not {self.remembered}")


@dataclass
class NeuralWorkshop(Workshop):
    """Networks in training, each against a mix of others; a folder for each checkpoint."""

    game: Game
    kind: str
    """The oracle: sac or ppo."""
    oracle: OracleConfig
    folder: Path
    """The folder of the checkpoints' folders."""
    device: torch.device
    config: NeuralConfig = field(default_factory=NeuralConfig)
    seed: int = 1
    agents: Agents = field(default_factory=NoAgents)
    """Makes samplers of setups."""

    def __post_init__(self) -> None:
        self._reaches: dict[Checkpoint, Table] = {}
        if not self.config.games and self._tree is None:
            raise ConfigurationError(
                f"{self.game.name!r} is too large for exact payoffs: say how many games an entry takes (games)"
            )

    @property
    def _tree(self) -> Tree | None:
        return _tree_of(json.dumps(self.game.spec()))

    # ── Policies ─────────────────────────────────────────────────────────────────────────────────

    def begin(self, number: int, parent: Checkpoint | None, seed: tuple[int, ...]) -> None:
        oracle = self._make_oracle(seed)
        if parent is not None:
            self._load_networks(oracle, parent)
        with published(self.folder, Checkpoint(number, 0)) as place:
            self._save_model(place, oracle, number)

    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        return [self._train(job) for job in jobs]

    def _train(self, job: Job) -> Trained:
        """Let an oracle learn for an update; the same for the same job."""
        oracle = self._make_oracle(job.seed)
        self._load(oracle, job.policy)
        networks = [self._network(each) for each in job.opponents]
        oracle.face([NetworksPlayer("the population", networks, job.chances.tolist())], [1.0])
        oracle.warm_up(job.warm)
        before = oracle.decisions, oracle.episodes
        while oracle.episodes - before[1] < self.config.episodes:
            oracle.iterate()
        performance, _ = oracle.latest_reward(self.config.remembered)
        with published(self.folder, job.policy.next) as place:
            self._save_model(place, oracle, job.policy.number)
            trainees = {name: trainee.state() for name, trainee in oracle.networks.items()}
            whole = {"networks": trainees, "state": oracle.state(), "progress": oracle.progress()}
            torch.save(whole, place / TRAINING)
        return Trained(performance, oracle.decisions - before[0], oracle.episodes - before[1])

    def keep(self, checkpoints: Collection[Checkpoint]) -> None:
        self._reaches = {each: reach for each, reach in self._reaches.items() if each in checkpoints}
        keep_only(self.folder, checkpoints)

    def retire(self, checkpoints: Collection[Checkpoint]) -> None:
        for each in checkpoints:
            (self._place(each) / TRAINING).unlink(missing_ok=True)

    # ── What they get from each other ────────────────────────────────────────────────────────────

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        if not self.config.games:
            return self._exact.measure(wanted)
        return [self._play(each) for each in wanted]

    def _play(self, wanted: Wanted) -> Measured:
        """Play the entries of a row: so many games against each column, the mean of both seats."""
        config, count = self.oracle, len(wanted.columns)
        chance = np.random.default_rng((self.seed, ENTRIES, *wanted.row))
        duels = Duels(
            self.game, config.games, config.longest, self._player(wanted.row), self.device,
            int(chance.integers(2**63)), self.agents, config.setups,
        )  # fmt: skip
        duels.face([self._player(each) for each in wanted.columns], [1.0] * count)
        sums, games = np.zeros((count, 2)), np.zeros((count, 2))
        first = 0
        for _ in range(math.ceil(self.config.games * count / config.games)):
            chosen = (first + np.arange(config.games)) % count
            duel = duels.play(first, chosen)
            seats = duel.seats.cpu().numpy()
            np.add.at(sums, (chosen, seats), duel.utilities.cpu().numpy())
            np.add.at(games, (chosen, seats), 1)
            first += config.games
        # Where one seat was never drawn, the other tells all that there is.
        means = np.divide(sums, games, out=np.full_like(sums, np.nan), where=games > 0)
        return Measured(np.nanmean(means, 1), int(games.sum(1).min()))

    def exploitability(self, policies: Sequence[Checkpoint], chances: Floats) -> float | None:
        return None if self._tree is None else self._exact.exploitability(policies, chances)

    def alike(self, one: Checkpoint, other: Checkpoint) -> bool:
        return self._tree is not None and self._exact.alike(one, other)

    @property
    def _exact(self) -> Exact:
        tree = self._tree
        assert tree is not None
        return Exact(tree, self._reach)

    def _reach(self, checkpoint: Checkpoint) -> Table:
        if checkpoint not in self._reaches:
            tree, network = self._tree, self._network(checkpoint)
            assert tree is not None
            table = tabulate(tree, lambda views, actions: _policy_of(network, views, actions))
            self._reaches[checkpoint] = reach_of(tree, table)
        return self._reaches[checkpoint]

    # ── Folders ──────────────────────────────────────────────────────────────────────────────────

    def _place(self, checkpoint: Checkpoint) -> Path:
        return self.folder / folder_name(checkpoint)

    def _network(self, checkpoint: Checkpoint) -> PolicyNetwork:
        place = self._place(checkpoint)
        return _read(place, self.device, (place / CARD).stat().st_mtime_ns)

    def _player(self, checkpoint: Checkpoint) -> NetworkPlayer:
        return NetworkPlayer(str(checkpoint.number), self._network(checkpoint))

    def _make_oracle(self, seed: tuple[int, ...]) -> Oracle:
        drawn = int(np.random.default_rng(seed).integers(2**63))
        made = find_learner(self.kind)(self.game, self.oracle, Place(self.device, seed=drawn, agents=self.agents))
        assert isinstance(made, Oracle)
        return made

    def _save_model(self, place: Path, oracle: Oracle, number: int) -> None:
        networks = {name: trainee.average for name, trainee in oracle.networks.items()}
        described = {name: describe(network) for name, network in networks.items()}
        card = store.make_card(
            self.game, described, name=f"policy {number}", about="A policy of a population.", plays=NETWORK
        )
        store.save_model(place, networks, card, torch.float32)

    def _load(self, oracle: Oracle, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint."""
        if not checkpoint.version:
            self._load_networks(oracle, checkpoint)
            return
        whole = torch.load(self._place(checkpoint) / TRAINING, map_location="cpu", weights_only=True)
        oracle.load_progress(whole["progress"])
        for name, trainee in oracle.networks.items():
            trainee.load_state(whole["networks"][name])
        oracle.load_state(whole["state"])

    def _load_networks(self, oracle: Oracle, checkpoint: Checkpoint) -> None:
        """Begin with the networks of a checkpoint, and with nothing else of it."""
        model = store.load_model(self._place(checkpoint), self.device)
        for name, trainee in oracle.networks.items():
            for network in (trainee.network, trainee.average):
                network.load_state_dict(model.networks[name].state_dict())
            trainee.refresh()


@lru_cache(NETWORKS)
def _read(folder: Path, device: torch.device, written: int) -> PolicyNetwork:
    """Return the network of a checkpoint that plays.

    written: when its card was.
    """
    return store.load_model(folder, device).player


@lru_cache(4)
def _tree_of(spec: str) -> Tree | None:
    """Return the tree of a small game, None of a larger one."""
    try:
        return build_tree(from_spec(json.loads(spec)), limit=SMALL)
    except ConfigurationError:  # it has too many histories, or no end
        return None


@torch.no_grad()
def _policy_of(network: PolicyNetwork, views: Snapshot, actions: Actions) -> Floats:
    """Return the probabilities of these actions, for `tabulate`."""
    device = next(network.parameters()).device
    there = views.to(device)
    choices, _ = Thinker(network, Recorded(there)).look()
    found: Floats = network.legal_log_policy(choices, torch.from_numpy(actions).to(device)).exp().double().cpu().numpy()
    return found
