"""A training run: two self-play processes, one for setups and one for moves, that feed each other; then a belief.

    run = Run.begin(load_config("laptop-tiny"), Path("runs/mine"))
    while run.goes_on():
        print(run.iterate())
        run.save_if_due()
    run.save()
    run.close()

A run lives in a folder (docs/training.md): `config.toml`, `metrics.jsonl`, `checkpoint`, and `model`, which plays. It
can be killed at any moment; `Run.resume(folder)` goes on from the last checkpoint, to the same numbers as if nothing
had happened.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.files import write_whole
from vauban.games.base import Game, game
from vauban.games.stratego.game import Stratego
from vauban.learn.ancestry import check_same, model_checkpoint
from vauban.learn.ataraxos.belief_run import BeliefRun
from vauban.learn.ataraxos.collect import Collector, Window
from vauban.learn.ataraxos.moves import MoveLearner
from vauban.learn.ataraxos.setups import SetupLearner
from vauban.learn.checkpoint import Checkpoint, CheckpointError, load_checkpoint, save_checkpoint, under
from vauban.learn.config import RunConfig, config_text, parse_config, read_config
from vauban.learn.metrics import COLLAPSED, Journal
from vauban.learn.trainee import Trainee
from vauban.learn.workers import ALONE, Workers
from vauban.nets import store
from vauban.nets.actor import Actor
from vauban.nets.move import MoveNetwork
from vauban.nets.plain import PlainNetwork
from vauban.nets.policy import Forward, PolicyNetwork, utility_values
from vauban.nets.setup import SetupNetwork
from vauban.nets.transformer import Size

Evaluator = Callable[[Path], Mapping[str, float]]
"""(folder of a model) → its scores, by metrics such as score.cadet."""

CHECKPOINT, MODEL = "checkpoint", "model"
"""Folders of a run."""
CONFIG = "config.toml"
"""Its configuration, complete."""
SOON = 10.0
"""Seconds before the first checkpoint, and between the first ones."""
SHARE_AT_RISK = 0.25
"""A young run is saved when this share of its time would be lost, long before `save_every` minutes have passed."""
RECENT = 32
"""Iterations that the pace of a run is taken from."""
NEW = {
    "optimiser": "the optimiser begins anew",
    "setups": "games that are under way do not count for their setups",
    "games": "new games begin",
    "belief": "new games begin, for the belief to learn from",
}
"""What it means that a part of a checkpoint is missing."""


def make_policy_network(config: RunConfig, played: Game) -> PolicyNetwork:
    """The network that a run trains to move: over squares where there is a board."""
    if isinstance(played, Stratego):
        return MoveNetwork(played, config.move_network)
    return PlainNetwork(played, config.move_network)


class Run:
    """One training run, on one device; with several workers, one of them."""

    def __init__(
        self, config: RunConfig, folder: Path, device: torch.device, workers: Workers = ALONE,
        evaluator: Evaluator | None = None, clock: Callable[[], float] = time.perf_counter,
    ) -> None:  # fmt: skip
        """
        evaluator: measures a model while the run goes on, as often as `config.evaluation` says.
        clock: gives the time in seconds.
        """
        self.config, self.folder, self.device, self.workers, self.evaluator = config, folder, device, workers, evaluator
        self._clock = clock
        self.game = game(config.game, config.rules or None)
        if config.belief.minutes and not isinstance(self.game, Stratego):
            raise ConfigurationError(f"belief.minutes: a belief is trained for Stratego, not for {self.game.name!r}")
        self.iteration = self.moves = self.games = 0
        self.numbered = 0
        """No game of this run has had this number yet, nor a higher one: games that begin anew begin here."""
        self.seconds = 0.0
        self.stopping = False
        """Set it, at any moment, to end the run with the iteration that is under way."""
        self.notes: list[str] = []
        """What a run begins with, has to do without, or should be looked at for, in sentences."""
        self.before: dict[str, Any] = {}
        """What the card of the model says of its origin whose networks this run began with, if it did."""
        self.moving = True
        """Whether moves are learned, or the belief that comes after them."""
        self._warned = False
        """Whether it has been said that play has collapsed."""
        self._asked = -1
        """The iteration after which `goes_on` was asked last."""
        self._since = self._saved = self._evaluated = clock()
        self._ended: deque[float] = deque(maxlen=RECENT + 1)
        """When the latest iterations ended; at first also when the first one began."""
        moves = config.moves
        self.journal = Journal(folder, lambda sentence: self.notes.append(sentence)) if workers.leads else None
        if moves.length <= 1 + self.game.moves_in_a_row:
            raise ConfigurationError(
                f"moves.length: a window of {moves.length} rows has none to learn from in {self.game.name!r}: its last "
                f"{1 + self.game.moves_in_a_row} only say what came of the others"
            )
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
                self.setup,
                self.game,
                config.setups,
                plies=moves.length - self.collector.carried,
                seed=config.seed,
                workers=workers,
            )
        self.belief: BeliefRun | None = None
        self._belief_of = 0
        """The iteration whose networks play the games that the belief learns from."""
        self.forward: Forward = self.move.working
        if device.type == "cuda":
            self.forward = torch.compile(self.move.working, dynamic=False)
        self.actor = Actor(self.move.working, self.collector.sim, self.forward)

    @classmethod
    def begin(
        cls, config: RunConfig, folder: Path, device: str | torch.device = "cpu", workers: Workers = ALONE,
        evaluator: Evaluator | None = None, model: store.Model | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> Run:  # fmt: skip
        """A new run in a new folder; with a model, it goes on from its networks, and counts on from its iterations."""
        if workers.any(workers.leads and (folder / CONFIG).exists()):
            raise ConfigurationError(f"there is a run in {folder} already: resume it, or name another folder")
        run = cls(config, folder, torch.device(device), workers, evaluator, clock)
        if model is not None:
            run._go_on_from(model)
        # Not before: what is refused, or has no room, leaves no folder behind.
        if workers.leads:
            folder.mkdir(parents=True, exist_ok=True)
        if model is not None:
            run.save()  # a run that is killed in its first minutes must not begin again with nothing
        run._write_config()
        return run

    @classmethod
    def resume(
        cls, folder: Path, device: str | torch.device = "cpu", workers: Workers = ALONE, changes: Sequence[str] = (),
        evaluator: Evaluator | None = None,
    ) -> Run:  # fmt: skip
        """Go on with the run in a folder, from its last checkpoint; its configuration may be changed.

        A run that was killed before its first checkpoint begins anew. One that has a model and no checkpoint is
        refused: it would lose the model.
        """
        config = run_config(folder, changes)
        run = cls(config, folder, torch.device(device), workers, evaluator)
        found = load_checkpoint(folder / CHECKPOINT, workers)
        if found is not None:
            run._load(found)
        elif workers.any(workers.leads and (folder / MODEL).exists()):
            raise CheckpointError(
                f"the run in {folder} has a model and no checkpoint to resume it from, and would lose the model if it "
                f"began anew: begin another run with its networks, vauban train {folder / CONFIG} --from "
                f"{folder / MODEL} --out FOLDER"
            )
        else:
            run.notes.append("there is no checkpoint yet, so it begins anew")
        if run.journal:
            run.journal.rewind(run.iteration, run.belief.learner.steps if run.belief else 0)
        run._write_config()
        return run

    @property
    def minutes(self) -> float:
        """How long moves have been learned, evaluations and saving included; without the belief."""
        return (self.seconds + self._clock() - self._since) / 60

    def goes_on(self) -> bool:
        """Whether there is still time, and an iteration left."""
        config = self.config
        if self._asked != self.iteration:
            # Once after each iteration: the last one is evaluated, and the clock must not change its mind after that.
            self._asked = self.iteration
            over = (config.iterations and self.iteration >= config.iterations) or (
                config.minutes and self.minutes >= config.minutes
            )
            self.moving = not self.workers.any(bool(over))
        believes = bool(config.belief.minutes) and (self.belief is None or self.belief.goes_on())
        return not self.workers.any(self.stopping) and (self.moving or not self.workers.any(not believes))

    def iterate(self) -> dict[str, float]:
        """Collect a window and learn from it; when moves are done, a while of learning a belief."""
        moves = self.moving
        told = self._iterate_moves() if moves else self._iterate_belief()
        if self.device.type == "cuda":
            told["memory.gigabytes"] = torch.cuda.max_memory_allocated(self.device) / 2**30
        if self.journal:
            self.journal.write(told)
        if moves:
            self._warn_of_collapse(told)
        if moves and self._evaluation_is_due():
            told |= self._evaluate()
        if moves:
            self._ended.append(self._clock())
        return told

    @property
    def pace(self) -> float | None:
        """Seconds an iteration, lately; None before the first one. The first one counts only until there is another."""
        ended = list(self._ended)
        if len(ended) < 2:
            return None
        first = 1 if 2 < len(ended) <= RECENT else 0
        return (ended[-1] - ended[first]) / (len(ended) - 1 - first)

    def _iterate_moves(self) -> dict[str, float]:
        if not self._ended:
            self._ended.append(self._clock())
        self.iteration += 1
        seconds: dict[str, float] = {}
        first = self.collector.carried if self.collector.filled else 0
        with self._timed(seconds, "setups"):
            self._draw_setups()
        with self._timed(seconds, "collect"):
            window = self.collector.collect(self.actor)
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
        self.numbered += played  # a game can end with every move, and another begin
        speeds = {f"speed.{name}": played / max(value, 1e-9) for name, value in seconds.items()}
        whole = played / max(sum(seconds.values()), 1e-9)
        return {
            "iteration": float(self.iteration),
            "minutes": self.minutes,
            "moves": float(self.moves),
            "games": float(self.games),
            "speed.moves_per_second": whole,
            **speeds,
            **{f"seconds.{name}": value for name, value in seconds.items()},
            **play,
            **metrics,
        }

    def _warn_of_collapse(self, told: Mapping[str, float]) -> None:
        """Note, once, that the policy has come down to a single move almost everywhere."""
        if told["moves.batches"] and told["moves.entropy"] < COLLAPSED and not self._warned:
            self._warned = True
            self.notes.append(
                f"play has collapsed: the policy's entropy is {told['moves.entropy']:.3f} nats, below {COLLAPSED}. A "
                "larger moves.magnet_weight or a smaller moves.learning_rate keeps it mixed (docs/metrics.md)"
            )

    def _draw_setups(self) -> None:
        """Draw the setups that new games begin from; and begin all games, if there are none to go on with."""
        sim = self.collector.sim
        if self.setup_learner is not None:
            sim.set_pools(self.setup_learner.draw_pool(self.iteration))
        if not self.collector.filled:
            sim.reset(first_number=self.numbered + self.workers.rank * sim.n)
            self.numbered += self.workers.count * sim.n

    def _note_games(self, window: Window, first: int) -> dict[str, float]:
        """Tell the setup learner of the games that ended, and say how they did."""
        ended = window.ended[first:]
        results, ends, plies = (column[first:][ended] for column in (window.results, window.ends, window.plies))
        if self.setup_learner:
            self.setup_learner.note_ended(window.starts[first:][ended], results)
        utilities = utility_values(self.game, self.device)[results]
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

    def _evaluation_is_due(self) -> bool:
        """Whether it is time to measure the networks, or moves are done."""
        every = 60 * self.config.evaluation.every
        if not every:
            return False
        self.goes_on()
        due = self._clock() - self._evaluated >= every or (not self.moving and not self.stopping)
        return self.workers.any(due)

    def _evaluate(self) -> Mapping[str, float]:
        """Measure the averaged networks. The run is saved first: other programs' bots may bring anything about."""
        self.save()
        begun, evaluator = self._clock(), self.evaluator
        scores = self.workers.led(lambda: evaluator(self.folder / MODEL)) if evaluator else None
        self._evaluated = self._clock()
        if not scores:
            return {}
        told = {"minutes": self.minutes, "seconds.evaluation": self._evaluated - begun, **scores}
        if self.journal:
            self.journal.amend(told)
        return told

    def _iterate_belief(self) -> dict[str, float]:
        begun = self._clock()
        if self.belief is None or self._belief_of != self.iteration:
            self._belief_of = self.iteration
            before = self.belief
            self.belief = self._make_belief(before.learner.steps if before else 0)
            if before:
                self.belief.adopt(before)
        told = self.belief.iterate()
        self._since += self._clock() - begun  # the clock of the moves stands still
        return {
            "iteration": float(self.iteration),
            "minutes": self.minutes,
            "moves": float(self.moves),
            "games": float(self.games),
            **told,
        }

    def _make_belief(self, steps: int) -> BeliefRun:
        """A belief to be trained on games of the networks as they are now."""
        assert isinstance(self.game, Stratego)
        setup = self.setup.average if self.setup else None
        config = self.config
        return BeliefRun(
            self.game, config.belief, self.move.average, setup, self.device, config.seed, self.workers, steps
        )

    @contextmanager
    def _timed(self, seconds: dict[str, float], name: str) -> Iterator[None]:
        begun = self._clock()
        yield
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        seconds[name] = self._clock() - begun

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def save_if_due(self) -> bool:
        """Save when the last time is long enough ago: after `save_every` minutes, and sooner while a run is young."""
        young = max(SOON, SHARE_AT_RISK * 60 * self.minutes)
        due = self.workers.any(self._clock() - self._saved >= min(60 * self.config.save_every, young))
        if due:
            self.save()
        return due

    def save(self) -> None:
        """Write a checkpoint, and the model as it is now: the averaged networks."""
        self._saved = self._clock()
        for name, trainee in self._trainees().items():
            if not all(part.isfinite().all() for part in trainee.network.parameters()):
                raise CheckpointError(
                    f"the {name} network holds numbers that are not finite, so nothing was saved: resume {self.folder} "
                    "from its last checkpoint with a smaller learning rate"
                )
        save_checkpoint(self.folder / CHECKPOINT, self._checkpoint(), self.workers)
        if self.workers.leads:
            self.save_model(self.folder / MODEL)

    def close(self) -> None:
        """End what the run has running beside it: TensorBoard's threads."""
        if self.journal:
            self.journal.close()

    def save_model(self, folder: Path) -> None:
        """Write the averaged networks as a model."""
        networks = {name: trainee.average for name, trainee in self._trainees().items()}
        described = {name: self._description(name) for name in networks}
        card = store.make_card(self.game, described, name=self.folder.name, about=self.config.about)
        store.save_model(folder, networks, card, dtype=torch.float32)

    def _description(self, part: str) -> dict[str, Any]:
        """A network of this run, as a card has it."""
        config = self.config
        if part == "move":
            kind = "move" if isinstance(self.game, Stratego) else "plain"
            return store.describe(kind, config.move_network, observation=self.move.network.observation)
        if part == "setup":
            assert config.setup_network
            return store.describe("setup", config.setup_network, count_prior=False, flag_side=False)
        belief = config.belief
        size = Size(belief.depth, belief.width, belief.heads)
        return store.describe("belief", size, decoder_depth=belief.decoder_depth, dropout=belief.dropout)

    def _write_config(self) -> None:
        if self.workers.leads:
            write_whole(self.folder / CONFIG, config_text(self.config))

    def _trainees(self) -> dict[str, Trainee[Any]]:
        trainees: dict[str, Trainee[Any]] = {"move": self.move}
        if self.setup:
            trainees["setup"] = self.setup
        if self.belief:
            trainees["belief"] = self.belief.trainee
        return trainees

    def _checkpoint(self) -> Checkpoint:
        progress: dict[str, Any] = {
            "iteration": self.iteration,
            "moves": self.moves,
            "games": self.games,
            "seconds": 60 * self.minutes,
            "numbered": self.numbered,
            "played": [self.config.game, self.config.rules],
            "large_windows": self.move_learner.filter.large,
            "workers": self.workers.count,
            "saved": time.strftime("%Y-%m-%d"),
            "before": self.before,
        }
        networks: dict[str, Tensor] = {}
        for name, trainee in self._trainees().items():
            for part, network in (("network", trainee.network), ("average", trainee.average)):
                networks |= {f"{name}.{part}.{key}": tensor for key, tensor in network.state_dict().items()}
        parts: dict[str, Any] = {
            "optimiser": {name: trainee.optimiser.state_dict() for name, trainee in self._trainees().items()},
            "games": self.collector.state(),
        }
        if self.setup_learner:
            parts["setups"] = self.setup_learner.state()
        if self.belief:
            belief = {"iteration": self._belief_of, "steps": self.belief.learner.steps, "seconds": self.belief.seconds}
            progress["belief"] = belief
            parts["belief"] = self.belief.state()
        return Checkpoint(self.folder / CHECKPOINT, progress, networks, parts)

    def _go_on_from(self, model: store.Model) -> None:
        """Begin with the networks of a model, as if its run were resumed without its games and its optimiser."""
        model.check_plays(self.game)
        parts = ["move", *(["setup"] if self.setup else []), *(["belief"] if "belief" in model.networks else [])]
        check_same(model.card, {part: self._description(part) for part in parts})
        self._load(model_checkpoint(model, parts, self.config, self.workers.count))
        self.notes = [f"it goes on from the networks of {model.card['name']!r}, after iteration {self.iteration:,}"]

    def _load(self, found: Checkpoint) -> None:
        progress, parts = found.progress, found.parts
        self.iteration, self.moves, self.games = progress["iteration"], progress["moves"], progress["games"]
        self.seconds, self.numbered = progress["seconds"], progress["numbered"]
        self.before = progress["before"]
        self.move_learner.filter.large = progress["large_windows"]
        self._load_networks(found.networks, found.source)
        if belief := progress.get("belief"):
            # Its games are played by the averaged networks, which have to be there first.
            self._belief_of = belief["iteration"]
            self.belief = self._make_belief(belief["steps"])
            self.belief.seconds = belief["seconds"]
            self._load_networks(found.networks, found.source)
        wanted = ["optimiser", "games", *(["setups"] if self.setup_learner else [])]
        missing = {name: "it is not in the checkpoint" for name in wanted if name not in parts}
        if "games" in parts and self.workers.any(not _same_shapes(parts["games"], self.collector.state())):
            missing["games"] = "those of the checkpoint are for another configuration"
        if progress["played"] != [self.config.game, self.config.rules]:
            missing |= dict.fromkeys(wanted[1:], "the checkpoint is of another game or other rules")
            parts.pop("belief", None)
        for name, why in missing.items():
            self.notes.append(f"{name}.pt: {why}, so {NEW[name]}")
            parts.pop(name, None)
        if "optimiser" in parts:
            for name, trainee in self._trainees().items():
                _load_optimiser(trainee.optimiser, parts["optimiser"][name])
        if "games" in parts:
            self.collector.load_state(parts["games"])
        if "setups" in parts and self.setup_learner:
            self.setup_learner.load_state(parts["setups"])
        if self.belief:
            why = ""
            if "belief" not in parts:
                why = "it is not in the checkpoint"
            elif self.workers.count != progress["workers"]:
                why = "it is of another number of workers"
            elif self.workers.any(not self.belief.fits(parts["belief"])):
                why = "its games are for another configuration"
            if why:
                self.notes.append(f"belief.pt: {why}, so {NEW['belief']}")
            else:
                self.belief.load_state(parts["belief"])

    def _load_networks(self, networks: Mapping[str, Tensor], source: Path) -> None:
        for name, trainee in self._trainees().items():
            for part, network in (("network", trainee.network), ("average", trainee.average)):
                tensors = under(f"{name}.{part}.", networks)
                store.check_tensors(tensors, network, f"{source}, {part} of {name!r}")
                network.load_state_dict(tensors)
            trainee.refresh()


def run_config(folder: Path, changes: Sequence[str] = ()) -> RunConfig:
    """The configuration of the run in a folder, with changes."""
    path = folder / CONFIG
    if not path.exists():
        raise ConfigurationError(f"there is no run in {folder}: it has no config.toml")
    return parse_config(read_config(path), changes, str(path))


def _load_optimiser(optimiser: torch.optim.Optimizer, saved: Mapping[str, Any]) -> None:
    """Take over its moments. How it steps is for the device to say, which may be another one now."""
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": saved["state"], "param_groups": groups})


def _same_shapes(saved: Mapping[str, Tensor], mine: Mapping[str, Tensor]) -> bool:
    return {name: each.shape for name, each in saved.items()} == {name: each.shape for name, each in mine.items()}
