"""A pipeline as a training run: an iteration is an update of every policy in training.

The population lies in the run's folder `population`. What it has come to is in its database and in no checkpoint: a run
that was killed goes on from its last whole update, whatever its checkpoint says.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vauban.errors import ConfigurationError
from vauban.games.base import Game, from_spec, nearest
from vauban.learn.base import Learner, Metric, Place, StageConfig, register
from vauban.learn.best_response.oracle import OracleConfig
from vauban.learn.best_response.ppo import PPOConfig
from vauban.learn.best_response.sac import SACConfig
from vauban.learn.checkpoint import CheckpointError
from vauban.learn.opponents import Agents
from vauban.learn.population import FOLDER, PAYOFFS, POLICIES, Policy, Population, write_population
from vauban.learn.psro.folders import folder_name
from vauban.learn.psro.ledger import SqliteLedger
from vauban.learn.psro.neural import NeuralConfig, NeuralWorkshop
from vauban.learn.psro.pipeline import FINISHED, Pipeline, Plateau
from vauban.learn.psro.schemes import find_scheme
from vauban.learn.psro.spread import Bench, SpreadWorkshop, Team
from vauban.learn.psro.trees import TABLE, TreeWorkshop
from vauban.learn.psro.workshop import Checkpoint, Workshop
from vauban.solve import build_tree
from vauban.solve.linear import Mix
from vauban.solve.meta import MetaSolver
from vauban.work.cluster import RayCrew, RayExecutor
from vauban.work.executors import Processes

WORKERS = "workers"
"""The folder in the population's that processes of this machine work in while the run goes on."""
LARGEST = 2_000_000
"""Histories of a game whose best responses are computed exactly."""


@dataclass(frozen=True)
class ExactConfig:
    """Exact best responses on the tree of a small game."""

    rate: float = 1.0
    """The share of the best response in an update; the rest stays as it was."""


@dataclass(frozen=True)
class SpreadConfig:
    """The place where policies are trained and payoffs measured: the run's own process, unless it is said here."""

    processes: int = 0
    """In so many processes on this machine."""
    ray: str = ""
    """On a Ray cluster: its address, auto for the one that this machine belongs to, or local for one of its own."""
    gpus: float = 0.0
    """The share of a GPU of the cluster that a policy in training has; 0: it is trained on a CPU."""
    measuring_gpus: float = 0.0
    """The same for each task that measures payoffs."""

    def __post_init__(self) -> None:
        if self.processes < 0 or self.gpus < 0 or self.measuring_gpus < 0:
            raise ConfigurationError(f"processes and shares of GPUs are 0 or more: {self}")
        if self.ray and self.processes:
            raise ConfigurationError("spread has processes on this machine or a Ray cluster: leave one of them away")
        if not self.ray and (self.gpus or self.measuring_gpus):
            raise ConfigurationError("spread.gpus are shares of a cluster's GPUs: name the cluster by spread.ray")


@dataclass(frozen=True)
class PsroConfig(StageConfig):
    """Settings of a population."""

    scheme: str = "p2sro"
    """The algorithm: p2sro, sequential, naive, dch, rectified, rectified-paper, self-play."""
    workers: int = 3
    """Policies in training at a time."""
    oracle: str = "exact"
    """The way to train a policy: exact, sac or ppo."""
    drawn: bool = False
    """Whether a new policy begins as a copy of one that is drawn from the meta-Nash below it."""
    meta: MetaSolver = field(default_factory=MetaSolver)
    plateau: Plateau = field(default_factory=Plateau)
    exact: ExactConfig = field(default_factory=ExactConfig)
    neural: NeuralConfig = field(default_factory=NeuralConfig)
    """Updates of networks, by either of the oracles whose tables follow."""
    sac: SACConfig = field(default_factory=SACConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    spread: SpreadConfig = field(default_factory=SpreadConfig)

    @property
    def elsewhere(self) -> bool:
        return bool(self.spread.processes or self.spread.ray)

    def __post_init__(self) -> None:
        find_scheme(self.scheme)
        if self.oracle not in ORACLES:
            raise ConfigurationError(f"there is no oracle {self.oracle!r}: {nearest(self.oracle, list(ORACLES))}")
        for name in ("sac", "ppo"):
            if getattr(self, name).opponents:
                raise ConfigurationError(
                    f"psro.{name}.opponents: policies of a population play each other, leave it out"
                )


@dataclass(frozen=True)
class OracleKind:
    """A way to train policies, by a name of the configuration."""

    make: Callable[[Game, PsroConfig, Place, Path], Workshop]
    """Makes the workshop, whose policies lie in a folder."""
    agent: Callable[[Checkpoint], str]
    """Names the agent that plays a policy, by its place within the population's folder."""


def _exact(game: Game, config: PsroConfig, place: Place, folder: Path) -> Workshop:
    return TreeWorkshop(build_tree(game, limit=LARGEST), config.exact.rate, folder)


def _neural(game: Game, config: PsroConfig, place: Place, folder: Path) -> Workshop:
    oracle: OracleConfig = getattr(config, config.oracle)
    return NeuralWorkshop(game, config.oracle, oracle, folder, place.device, config.neural, place.seed, place.agents)


def _model(policy: Checkpoint) -> str:
    return f"net:{POLICIES}/{folder_name(policy)}"


def _elsewhere(
    spec: Mapping[str, Any], config: PsroConfig, seed: int, agents: Agents, device: str, folder: Path
) -> Workshop:
    """Make the workshop in a process that trains or measures for the run's."""
    place = Place(torch.device(device), seed=seed, agents=agents)
    return ORACLES[config.oracle].make(from_spec(spec), config, place, folder)


ORACLES = {
    "exact": OracleKind(_exact, lambda policy: f"table:{POLICIES}/{folder_name(policy)}/{TABLE}"),
    "sac": OracleKind(_neural, _model),
    "ppo": OracleKind(_neural, _model),
}
"""Ways to train policies, by name."""


@register("psro")
class Psro(Learner):
    """A population that grows towards equilibrium."""

    about = "policy-space response oracles, pipelined after McAleer et al."
    config = PsroConfig
    leaves = FOLDER
    agent = "population"
    metrics = (
        Metric("psro.policies", "Finished policies, the random one among them.", title="Finished policies",
               shown="{:.0f} policies", drawn=True, kept=True),
        Metric("psro.support", "Policies that the meta-Nash of the card plays, with a chance of more than 1 %.",
               title="Finished policies", shown="{:.0f} of them play", drawn=True),
        Metric("psro.entries", "Entries of the payoff table that have been measured so far, those of older checkpoints "
               "among them."),
        Metric("psro.lowest", "What the lowest policy in training gets from its opponents.",
               title="Gain of policies in training", shown="the lowest gains {:.4f}", drawn=True),
        Metric("psro.response", "What the policy that was finished in this iteration gets from the meta-Nash that it "
               "trained against: an estimate from below of how exploitable that was.",
               title="Gain of new best responses", shown="a finished one gained {:.4f}", drawn=True),
        Metric("psro.exploitability", "How exploitable the population is, half its NashConv, where that is computed "
               "exactly.", title="Exploitability", shown="exploitability {:.4f}", drawn=True, kept=True),
        Metric("seconds.update", "Seconds that training, measuring and solving took."),
    )  # fmt: skip

    def __init__(self, game: Game, config: Any, place: Place) -> None:
        if place.workers.count > 1:
            raise ConfigurationError("psro trains its policies itself, at the same time: start it without torchrun")
        self.game, self.settings, self.place = game, config, place
        self.networks = {}
        self._pipeline: Pipeline | None = None
        self._closing = ExitStack()
        if place.folder is not None and (self.folder / PAYOFFS).exists():
            count = self.pipeline.updates
            place.note(
                f"its population has had {count:,} updates, with {len(self.pipeline.finished)} policies finished"
            )
            self._write_card()

    @classmethod
    def check(cls, game: Game, config: Any) -> None:
        if config.oracle == "exact":
            build_tree(game, limit=LARGEST)

    @property
    def folder(self) -> Path:
        """The population's folder."""
        if self.place.folder is None:
            raise ConfigurationError("a population is kept in the folder of a run: give the learner one")
        return self.place.folder / FOLDER

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline; it is begun, and its folder is made, when it is first asked for."""
        if self._pipeline is None:
            self._pipeline = self._open()
        return self._pipeline

    @property
    def iteration(self) -> int:  # type: ignore[override]
        """Updates so far."""
        return self._pipeline.updates if self._pipeline else 0

    def iterate(self) -> dict[str, float]:
        begun = time.perf_counter()
        pipeline = self.pipeline
        before = len(pipeline.finished)
        lowest = pipeline.active[0].number if pipeline.active else None
        trained = pipeline.update()
        finished = pipeline.finished[before:]
        if not trained:
            self.place.note("nothing new can come any more: the scheme has ended")
        chances, exploitability = self._write_card()
        told = {
            "moves": float(pipeline.steps),
            "games": float(pipeline.episodes),
            "psro.policies": float(len(pipeline.finished)),
            "psro.support": float((chances > 0.01).sum()),
            "psro.entries": float(self._ledger.count()),
            "seconds.update": time.perf_counter() - begun,
        }
        if exploitability is not None:
            told["psro.exploitability"] = exploitability
        if lowest is not None:
            told["psro.lowest"] = trained[lowest].performance
        if finished:
            told["psro.response"] = float(np.mean([trained[each].performance for each in finished if each in trained]))
        return told

    def load_progress(self, progress: Mapping[str, Any]) -> None:
        if progress["iteration"] > self.iteration:
            raise CheckpointError(
                f"the checkpoint is of update {progress['iteration']:,}, and the population in {self.folder} has had "
                f"{self.iteration:,}: bring the whole folder of the run here"
            )

    # ── The population ───────────────────────────────────────────────────────────────────────────

    def _open(self) -> Pipeline:
        config = self.settings
        (self.folder / POLICIES).mkdir(parents=True, exist_ok=True)
        workshop = ORACLES[config.oracle].make(self.game, config, self.place, self.folder / POLICIES)
        if config.elsewhere:
            workshop = self._spread(workshop)
        settled = {**self.game.spec(), "scheme": config.scheme, "oracle": config.oracle, "workers": config.workers,
                   "seed": self.place.seed}  # fmt: skip
        self._ledger = SqliteLedger(self.folder / PAYOFFS, settled)
        self._closing.callback(self._ledger.close)
        return Pipeline(
            find_scheme(config.scheme), workshop, workers=config.workers, solver=config.meta, plateau=config.plateau,
            seed=self.place.seed, drawn=config.drawn, ledger=self._ledger,
        )  # fmt: skip

    def _spread(self, workshop: Workshop) -> SpreadWorkshop:
        """Return a workshop that hands out what this one would do."""
        spread, folder = self.settings.spread, self.folder / WORKERS
        make = partial(_elsewhere, self.game.spec(), self.settings, self.place.seed, self.place.agents)
        if spread.ray:
            address = None if spread.ray == "local" else spread.ray
            learners = RayCrew(self.settings.workers, address, gpus=spread.gpus, note=self.place.note)
            measurers = RayExecutor(address, gpus=spread.measuring_gpus)
            teams = [Team(crew, Bench(partial(make, "cuda" if crew.gpus else "cpu"))) for crew in (learners, measurers)]
        else:
            shutil.rmtree(folder, ignore_errors=True)  # of processes that were killed
            folder.mkdir()
            bench = Bench(partial(make, self.place.device.type), folder)
            teams = [Team(Processes(spread.processes, standing=True), bench)] * 2
        self._closing.callback(shutil.rmtree, folder, ignore_errors=True)
        spread_out = SpreadWorkshop(workshop, self.folder / POLICIES, *teams)
        self._closing.callback(spread_out.close)
        return spread_out

    def close(self) -> None:
        self._closing.close()

    def _write_card(self) -> tuple[Mix, float | None]:
        """Write the card of the population as it is now; the chances of its policies, and how exploitable they are.

        Those in training are among them where the scheme finishes none.
        """
        pipeline, config = self.pipeline, self.settings
        assert self.place.folder is not None
        never = pipeline.scheme.finishes == "never"
        numbers = pipeline.population if never else pipeline.finished
        chances, exploitability = pipeline.judge(numbers)
        policies = []
        for number, chance in zip(numbers, chances, strict=True):
            member = pipeline.members[number]
            performance = member.performance if np.isfinite(member.performance) else None
            policies.append(
                Policy(
                    number, ORACLES[config.oracle].agent(member.checkpoint), float(chance), member.state == FINISHED,
                    member.version, member.steps, member.episodes, performance, member.parent,
                )
            )  # fmt: skip
        name = self.place.folder.name
        write_population(Population(name, name, self.game, config.scheme, pipeline.updates, policies, self.folder))
        return chances, exploitability
