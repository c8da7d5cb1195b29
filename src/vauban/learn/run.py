"""A training run: two self-play processes, one for setups and one for moves, that feed each other.

    run = Run.begin(load_config("laptop-tiny"), Path("runs/mine"))
    while run.goes_on():
        print(run.iterate())
    run.save()

A run lives in a folder: `config.toml`, `metrics.jsonl`, `checkpoint.pt`, and `model/`, which plays. It can be killed at
any moment; `Run.resume(folder)` goes on from the last checkpoint, to the same numbers as if nothing had happened.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import Game, game
from vauban.games.stratego.game import Stratego
from vauban.learn.collect import CARRIED, Collector, Forward, Window
from vauban.learn.config import RunConfig, config_text, parse_config
from vauban.learn.metrics import Journal
from vauban.learn.moves import MoveLearner
from vauban.learn.setups import SetupLearner
from vauban.learn.trainee import Trainee
from vauban.learn.workers import ALONE, Workers
from vauban.nets import store
from vauban.nets.move import MoveNetwork
from vauban.nets.plain import PlainNetwork
from vauban.nets.policy import PolicyNetwork
from vauban.nets.setup import SetupNetwork


class RunError(VaubanError, RuntimeError):
    """A run that cannot go on."""


def make_policy_network(config: RunConfig, played: Game) -> PolicyNetwork:
    """The network that a run trains to move: over squares where there is a board."""
    if isinstance(played, Stratego):
        return MoveNetwork(played, config.move_network)
    return PlainNetwork(played, config.move_network)


class Run:
    """One training run, on one device; with several workers, one of them."""

    def __init__(self, config: RunConfig, folder: Path, device: torch.device, workers: Workers = ALONE) -> None:
        self.config, self.folder, self.device, self.workers = config, folder, device, workers
        self.game = game(config.game, config.rules or None)
        self.iteration = self.moves = self.games = 0
        self.seconds = 0.0
        self._since = time.perf_counter()
        self._saved = self._since
        moves = config.moves
        self.journal = Journal(folder) if workers.leads else None
        self.collector = Collector(
            self.game, moves.games, moves.length, device, config.seed,
            first=workers.rank * moves.games, stride=workers.count * moves.games,
        )  # fmt: skip
        # The same first weights on every device, and nothing taken from torch's own generator.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.move = Trainee(make_policy_network(config, self.game), device, workers)
            self.setup: Trainee[SetupNetwork] | None = None
            if config.setup_network and isinstance(self.game, Stratego):
                self.setup = Trainee(SetupNetwork(self.game, config.setup_network), device, workers)
        self.move_learner = MoveLearner(self.move, self.collector, moves, config.seed, workers)
        self.setup_learner: SetupLearner | None = None
        if self.setup and isinstance(self.game, Stratego):
            self.setup_learner = SetupLearner(
                self.setup, self.game, config.setups, plies=moves.length - CARRIED, seed=config.seed, workers=workers
            )
        self._forward: Forward = self.move.working
        if device.type == "cuda":
            self._forward = torch.compile(self.move.working, dynamic=False)

    @classmethod
    def begin(cls, config: RunConfig, folder: Path, device: str = "cpu", workers: Workers = ALONE) -> Run:
        """A new run in a new folder."""
        if (folder / "config.toml").exists():
            raise ConfigurationError(f"there is a run in {folder} already: resume it, or name another folder")
        if workers.leads:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "config.toml").write_text(config_text(config), encoding="utf-8")
        return cls(config, folder, torch.device(device), workers)

    @classmethod
    def resume(cls, folder: Path, device: str = "cpu", workers: Workers = ALONE, changes: Sequence[str] = ()) -> Run:
        """Go on with the run in a folder, from its last checkpoint; its configuration may be changed."""
        path = folder / "config.toml"
        if not path.exists():
            raise ConfigurationError(f"there is no run in {folder}: it has no config.toml")
        config = parse_config(path.read_text(encoding="utf-8"), changes, str(path))
        if workers.leads:
            path.write_text(config_text(config), encoding="utf-8")
        run = cls(config, folder, torch.device(device), workers)
        checkpoint = run._checkpoint
        if checkpoint.exists():
            run._load(torch.load(checkpoint, map_location=device, weights_only=True))
        if run.journal:
            run.journal.rewind(run.iteration)
        return run

    @property
    def _checkpoint(self) -> Path:
        """This worker's checkpoint; each has its own games."""
        return self.folder / (f"checkpoint-{self.workers.rank}.pt" if self.workers.count > 1 else "checkpoint.pt")

    @property
    def minutes(self) -> float:
        """How long it has been going on."""
        return (self.seconds + time.perf_counter() - self._since) / 60

    def goes_on(self) -> bool:
        """Whether there is still time, and an iteration left."""
        config = self.config
        over = (config.iterations and self.iteration >= config.iterations) or (
            config.minutes and self.minutes >= config.minutes
        )
        if self.workers.count > 1:
            flag = torch.tensor([float(bool(over))], device=self.device)
            self.workers.add([flag])
            return flag.item() == 0
        return not over

    def iterate(self) -> dict[str, float]:
        """Collect a window and learn from it."""
        self.iteration += 1
        seconds: dict[str, float] = {}
        with self._timed(seconds, "setups"):
            self._draw_setups()
        with self._timed(seconds, "collect"):
            window = self.collector.collect(self.move.working, self._forward)
        first = CARRIED if self.iteration > 1 else 0
        play = self._note_games(window, first)
        with self._timed(seconds, "moves"):
            learned = self.move_learner.learn(window, self.iteration)
        metrics = {f"moves.{name}": value for name, value in learned.items()}
        with self._timed(seconds, "setup_training"):
            if self.setup_learner:
                learned = self.setup_learner.learn(self.iteration)
                metrics |= {f"setups.{name}": value for name, value in learned.items()}
        played = (self.config.moves.length - first) * self.config.moves.games * self.workers.count
        self.moves += played
        told = {
            "iteration": float(self.iteration),
            "minutes": self.minutes,
            "moves": float(self.moves),
            "games": float(self.games),
            "speed.moves_per_second": played / sum(seconds.values()),
            **{f"seconds.{name}": value for name, value in seconds.items()},
            **play,
            **metrics,
        }
        if self.device.type == "cuda":
            told["memory.gigabytes"] = torch.cuda.max_memory_allocated(self.device) / 2**30
        if self.journal:
            self.journal.write(told)
        return told

    def _draw_setups(self) -> None:
        if self.setup_learner is None:
            return
        sim = self.collector.sim
        sim.set_pools(self.setup_learner.draw_pool(self.iteration))
        if self.iteration == 1:
            sim.reset(first_number=self.workers.rank * sim.n)

    def _note_games(self, window: Window, first: int) -> dict[str, float]:
        """Tell the setup learner of the games that ended, and say how they did."""
        ended = window.ended[first:]
        results, ends, plies = (column[first:][ended] for column in (window.results, window.ends, window.plies))
        if self.setup_learner:
            self.setup_learner.note_ended(window.starts[first:][ended], results)
        utilities = torch.tensor(self.game.utilities, device=self.device)[results]
        sums = torch.stack(
            [
                torch.ones_like(utilities).sum(),
                plies.sum(),
                ((utilities > 0) + 0.5 * (utilities == 0)).sum(),
                (utilities == 0).sum(),
                *((ends == end).sum() for end in range(1, len(self.game.ends))),
            ]
        ).float()
        self.workers.add([sums])
        count, *rest = sums.tolist()
        self.games += int(count)
        names = ("plies", "first_mover", "draws", *(f"end.{end}" for end in self.game.ends[1:]))
        shares = {f"play.{name}": value / max(count, 1) for name, value in zip(names, rest, strict=True)}
        return {"play.ended": count, **shares}

    @contextmanager
    def _timed(self, seconds: dict[str, float], name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        seconds[name] = time.perf_counter() - begun

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def save_if_due(self) -> bool:
        """Save when the last time is long enough ago."""
        due = time.perf_counter() - self._saved >= 60 * self.config.save_every
        if due:
            self.save()
        return due

    def save(self) -> None:
        """Write a checkpoint, and the model as it is now: the averaged networks."""
        self._saved = time.perf_counter()
        aside = self._checkpoint.with_suffix(".new")
        torch.save(self._state(), aside)
        aside.replace(self._checkpoint)
        if self.workers.leads:
            self.save_model(self.folder / "model")

    def save_model(self, folder: Path) -> None:
        """Write the averaged networks as a model."""
        networks: dict[str, Any] = {"move": self.move.average}
        kind = "move" if isinstance(self.game, Stratego) else "plain"
        descriptions = {
            "move": store.describe(kind, self.config.move_network, observation=self.move.network.observation)
        }
        if self.setup and self.config.setup_network:
            networks["setup"] = self.setup.average
            descriptions["setup"] = store.describe(
                "setup", self.config.setup_network, count_prior=False, flag_side=False
            )
        card = store.make_card(self.game, descriptions, name=self.folder.name, about=self.config.about)
        store.save_model(folder, networks, card, dtype=torch.float32)

    def _state(self) -> dict[str, Any]:
        return {
            "iteration": self.iteration,
            "moves": self.moves,
            "games": self.games,
            "seconds": 60 * self.minutes,
            "moving": self.move_learner.moving,
            "collector": self.collector.state(),
            "move": self.move.state(),
            "setup": self.setup.state() if self.setup else None,
            "setup_learner": self.setup_learner.state() if self.setup_learner else None,
        }

    def _load(self, state: dict[str, Any]) -> None:
        self.iteration, self.moves, self.games = state["iteration"], state["moves"], state["games"]
        self.seconds = state["seconds"]
        self.move_learner.moving = state["moving"]
        self.collector.load_state(state["collector"])
        self.move.load_state(state["move"])
        if self.setup and self.setup_learner:
            self.setup.load_state(state["setup"])
            self.setup_learner.load_state(state["setup_learner"])


def total_parameters(network: torch.nn.Module) -> int:
    """How many numbers a network has to learn."""
    return sum(parameter.numel() for parameter in network.parameters())
