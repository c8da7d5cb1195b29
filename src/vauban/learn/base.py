"""Learners: algorithms that a `Run` keeps going; and the metrics that they report.

A run is the loop: it keeps the clock, stops, saves, resumes, writes the journal, evaluates and makes the model. A
learner is what happens in an iteration. It is registered by its name, by which a configuration asks for it, and has a
table of its own there. Those we ship lie in packages of this room; a configuration may also ask for `py:FILE.py:CLASS`,
whose table bears the name of the class in small letters unless it registers another.

    @register("mine")
    class Mine(Learner):
        config = MineConfig
        metrics = (Metric("mine.loss", "Cross-entropy of the policy.", NATS, "Loss", "loss {:.3f}", drawn=True),)

Several algorithms of a configuration are the stages of its run, one after the other; a later one is handed the networks
of those before it (`follow`).
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from vauban import door
from vauban.errors import ConfigurationError
from vauban.games.base import Game, nearest
from vauban.learn.opponents import Agents, NoAgents
from vauban.learn.trainee import Trainee
from vauban.learn.workers import ALONE, Workers

PLAYED = {"iteration": "iterations", "moves": "moves", "games": "games"}
"""Counts (`Learner.counts`) of an algorithm that plays."""
MODEL = "model"
"""The folder of a run that has its networks, averaged, as a model."""
NATS, PLIES, SHARE = "nats", "plies", "%"
"""Units. A share is shown in per cent."""


@dataclass(frozen=True)
class Metric:
    """A number that a run says after an iteration. It is declared once, where it arises."""

    name: str
    """As in metrics.jsonl; a star stands for what varies."""
    meaning: str
    """A sentence, for docs/metrics.md and for whoever points at a curve."""
    unit: str = ""
    title: str = ""
    """The heading of its curve. Metrics with one title share a panel."""
    shown: str = ""
    """A format by which the display of a run shows it, such as "entropy {:.3f}"; empty: it does not."""
    drawn: bool = False
    """Whether `vauban curves` draws it unless others are asked for."""
    kept: bool = False
    """Whether the card of a model keeps it: its course, if it is of the first stage; of a later one its last value."""


SPEED = Metric("speed.moves_per_second", "Moves of this iteration by its seconds, those of learning included.",
               shown="{:,.0f} moves/s")  # fmt: skip
"""Of any algorithm that plays."""
PLAY_AND_LEARN = (
    Metric("seconds.play", "Seconds that playing took."),
    Metric("seconds.learn", "Seconds that learning took."),
)
"""Of algorithms whose iteration has these two parts."""


def names_of(declared: Sequence[Metric]) -> tuple[str, ...]:
    """Return the last parts of the names of metrics."""
    return tuple(each.name.rpartition(".")[2] for each in declared)


def in_order(declared: Sequence[Metric], measured: Mapping[str, Tensor]) -> Tensor:
    """Return what was measured, by the last parts of its names, as rows in the order in which it is declared."""
    names = names_of(declared)
    if set(measured) != set(names):
        odd = ", ".join(sorted(set(measured) ^ set(names)))
        raise ConfigurationError(f"declared as metrics and measured are not the same: {odd}")
    return torch.stack([measured[name] for name in names])


@dataclass(frozen=True)
class Place:
    """The surroundings of a learner: device, workers, seed, agents to play against."""

    device: torch.device
    workers: Workers = ALONE
    seed: int = 1
    agents: Agents = field(default_factory=NoAgents)
    """Makes the agents that a configuration names."""
    note: Callable[[str], None] = lambda sentence: None
    """Is told sentences that whoever watches the run should read."""
    folder: Path | None = None
    """The run's folder, for a learner that keeps more than a checkpoint holds; None: it is to keep nothing."""

    @contextmanager
    def timed(self, seconds: dict[str, float], name: str) -> Iterator[None]:
        """Add up the seconds of a part of an iteration, until the device is done with it."""
        begun = time.perf_counter()
        yield
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begun


@contextmanager
def first_weights(seed: int) -> Iterator[None]:
    """Draw first weights by a seed: the same ones on every device, and nothing taken from torch's own generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@dataclass(frozen=True)
class Estimate:
    """The cost of an iteration, of all workers together."""

    seconds: Mapping[str, float]
    """By parts of the iteration, in words."""
    moves: int
    """Played in an iteration."""
    gigabytes: float = 0.0
    """Most memory of the GPU in use; 0 on a CPU."""
    compiling: float = 0.0
    """Seconds that it took to have everything compiled."""
    total: float = 0.0
    """Seconds of an iteration whose parts are not known."""

    @property
    def iteration(self) -> float:
        """Seconds of an iteration."""
        return self.total or sum(self.seconds.values())


@dataclass(frozen=True)
class StageConfig:
    """Settings that the tables of all algorithms have."""

    minutes: float = 0.0
    """Time limit of a later stage; 0: leave it out. The first algorithm has the minutes of the run."""

    @property
    def elsewhere(self) -> bool:
        """Whether work is handed to other processes, whose time the run's own does not have in it."""
        return False

    def fewer(self) -> dict[str, tuple[int, int]]:
        """Return the settings that memory depends on, by key: what they are, and what would need less."""
        return {}


class Learner(ABC):
    """An algorithm in training on one device; with several workers, one of them."""

    name: ClassVar[str]
    """As a configuration asks for it."""
    about: ClassVar[str] = ""
    """Its method, in a few words for the page of a model: "damped self-play after Ataraxos"."""
    config: ClassVar[type[StageConfig]] = StageConfig
    """The dataclass of its table."""
    metrics: ClassVar[Sequence[Metric]] = ()
    headed: ClassVar[Sequence[str]] = ()
    """First parts of the names of metrics that a line shows under their heading, since others are worded alike."""
    clock: ClassVar[str] = "iteration"
    """The metric that counts its iterations."""
    steps: ClassVar[Mapping[str, str]] = {}
    """By network: the metric that has its gradient steps; those of an iteration, or all so far if it is the clock."""
    tables: ClassVar[Mapping[str, str]] = {}
    """By network that it may have: the key of its table in the configuration; empty where that is the whole table."""
    player: str = ""
    """The network that plays, which settings may decide; empty where nothing that it learns changes how the model
    plays."""
    counts: ClassVar[Mapping[str, str]] = {"iteration": "iterations"}
    """Its attributes that count, each with the entry of a card's training that a run goes on counting from."""
    own: ClassVar[Sequence[str]] = ()
    """Parts of the state that each worker has for itself."""
    leaves: ClassVar[str] = MODEL
    """The folder in the run's folder that plays: the model of its networks, or one that the learner writes itself."""
    agent: ClassVar[str] = "net"
    """The agent that plays by this folder, AGENT:FOLDER."""

    networks: dict[str, Trainee[Any]]
    """The networks in training, by the names that they have in the model."""
    iteration: int
    """Iterations so far, by its clock."""

    @abstractmethod
    def __init__(self, game: Game, config: Any, place: Place) -> None: ...

    @classmethod
    def check(cls, game: Game, config: Any) -> None:
        """Refuse a game that it cannot learn, or not with these settings."""

    @classmethod
    def limits(cls, facts: Mapping[str, float]) -> list[str]:
        """Return sentences for the page of a model on what it cannot do.

        facts: the last values of metrics that the card keeps (`Training.facts`).
        """
        return []

    def follow(self, networks: Mapping[str, Trainee[Any]]) -> None:
        """Go on from what the stages before have come to, by name: when it begins, or begins again."""

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Learn for an iteration; its metrics."""

    def close(self) -> None:
        """End what it has running beside it."""

    def others(self) -> dict[str, nn.Module]:
        """Return networks that belong to the model and are not in training, by name."""
        return {}

    def progress(self) -> dict[str, Any]:
        """Return the progress in numbers and texts, which a checkpoint cannot do without."""
        return {name: getattr(self, name) for name in self.counts}

    def load_progress(self, progress: Mapping[str, Any]) -> None:
        """Go on from `progress()`."""
        for name in self.counts:
            setattr(self, name, progress[name])

    @classmethod
    def progress_of(cls, config: Any, training: Mapping[str, Any]) -> dict[str, Any]:
        """Return the progress of the run that made a model, as far as the training on its card says it."""
        return {name: training.get(entry, 0) for name, entry in cls.counts.items()}

    def state(self) -> dict[str, Any]:
        """Return the tensors that a resumed run goes on with, by part. Networks and optimisers are kept by the run."""
        return {}

    def load_state(self, state: Mapping[str, Any], missing: str = "it is not in the checkpoint") -> list[str]:
        """Go on from the parts of a `state()` that are there; sentences on what begins anew.

        missing: says why a part is not there.
        """
        return []

    def estimate(self) -> Estimate | None:
        """Measure what an iteration takes, and learn nothing from it; None where that is not measured."""
        return None


# ── The registry ─────────────────────────────────────────────────────────────────────────────────

GROUP = "vauban.learners"
"""Under this entry point, installed packages offer learners: classes, or modules that register them."""
_learners: dict[str, type[Learner]] = {}
_failed: dict[str, str] = {}
_loaded = False
Kind = TypeVar("Kind", bound=type[Learner])


def register(name: str) -> Callable[[Kind], Kind]:
    """Make a learner known under a name."""

    def add(kind: Kind) -> Kind:
        taken = _learners.get(name, kind)
        if taken is not kind:
            raise ConfigurationError(
                f"there is an algorithm {name!r} already, {taken.__qualname__} of {taken.__module__}: give "
                f"{kind.__qualname__} of {kind.__module__} another name"
            )
        _check_metrics(name, kind)
        kind.name = name
        _learners[name] = kind
        return kind

    return add


def learners() -> dict[str, type[Learner]]:
    """Return all learners, by name."""
    _load()
    return dict(_learners)


def find_learner(name: str) -> type[Learner]:
    """Return the learner of this name, or the class that `py:FILE.py:CLASS` names."""
    if name.startswith(door.PREFIX):
        return _taken_in(door.load(name, "an algorithm"), name)
    known = learners()
    if name not in known:
        lost = "".join(f"; {sentence}" for sentence in _failed.values())
        raise ConfigurationError(f"there is no algorithm {name!r}: {nearest(name, list(known))}{lost}")
    return known[name]


def _load() -> None:
    """Import the algorithms that we ship, a package of this room each, and what installed packages offer."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    import vauban.learn as room

    for package in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        if package.ispkg:
            for module in pkgutil.iter_modules(importlib.import_module(package.name).__path__, f"{package.name}."):
                importlib.import_module(module.name)
    for name, load in door.entry_points(GROUP).items():
        # A package that is broken must not take the others away: it is told of where an algorithm is not found.
        try:
            offered = load()
            if not isinstance(offered, ModuleType):  # which has registered its learners
                _taken_in(offered, name, name)
        except ConfigurationError as error:
            _failed[name] = str(error)


def _taken_in(offered: Any, text: str, name: str = "") -> type[Learner]:
    """Return the learner that a file or a package offers; one without a name gets this one, or that of its class."""
    if not isinstance(offered, type) or not issubclass(offered, Learner):
        raise ConfigurationError(
            f"{text!r} is no algorithm: make it a class that derives from vauban.learn.base.Learner"
        )
    missing = sorted(offered.__abstractmethods__)
    if missing:
        raise ConfigurationError(
            f"the algorithm {text!r} lacks methods: {', '.join(missing)} (vauban.learn.base.Learner)"
        )
    return register(vars(offered).get("name") or name or offered.__name__.lower())(offered)


def _check_metrics(name: str, kind: type[Learner]) -> None:
    """Refuse a metric that could not be shown."""
    for each in kind.metrics:
        try:
            said = each.shown.format(0.5)
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            if not each.shown or said != each.shown:
                continue
            reason = "the number is not in it"
        raise ConfigurationError(
            f"the algorithm {name!r}: its metric {each.name!r} cannot be shown as {each.shown!r} ({reason}): "
            "write a format of one number, such as 'loss {:.3f}'"
        )
