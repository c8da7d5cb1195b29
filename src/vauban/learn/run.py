"""A training run: the loop that keeps learners going.

    run = Run.begin(load_config("laptop"), Path("runs/mine"))
    while run.goes_on():
        print(run.iterate())
        run.save_if_due()
    run.save()
    run.close()

The algorithms of the configuration are the run's stages, one after the other. A run lives in a folder
(docs/training.md): `config.toml`, `metrics.jsonl`, `checkpoint`, and `model`, which plays. It can be killed at any
moment; `Run.resume(folder)` goes on from the last checkpoint, to the same numbers as if nothing had happened.
"""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from vauban.errors import ConfigurationError
from vauban.files import write_whole
from vauban.games.base import Game, game
from vauban.learn.ancestry import check_same, model_checkpoint
from vauban.learn.base import MODEL, SHARE, Learner, Metric, Place, StageConfig, find_learner
from vauban.learn.checkpoint import Checkpoint, CheckpointError, load_checkpoint, save_checkpoint, under
from vauban.learn.config import RunConfig, config_table, config_text, parse_config, read_config
from vauban.learn.journal import Journal
from vauban.learn.opponents import Agents, NoAgents
from vauban.learn.trainee import Trainee
from vauban.learn.watchers import TensorBoard, Watcher, WeightsAndBiases
from vauban.learn.workers import ALONE, Workers
from vauban.nets import store
from vauban.nets.kinds import describe
from vauban.sim.compile import working_seconds

Evaluator = Callable[[Path], Mapping[str, float]]
"""(folder of a model) → its scores, by metrics such as score.cadet and nash_conv."""

CHECKPOINT, MODELS, EARLIER = "checkpoint", "models", "earlier"
"""Folders of a run: what it goes on from, models of earlier iterations, if any are kept, and the one of these that
evaluations are played against."""
CONFIG = "config.toml"
"""Its configuration, complete."""
SOON = 10.0
"""Seconds before the first checkpoint, and between the first ones."""
SHARE_AT_RISK = 0.25
"""A young run is saved when this share of its time would be lost, long before `save_every` minutes have passed."""
RECENT = 32
"""Iterations that the pace of a run is taken from."""
TOTALS = ("moves", "games")
"""Metrics that stages count for the whole run; the lines of later stages repeat them."""
METRICS = (
    Metric("iteration", "Which iteration of the first algorithm this was, from 1."),
    Metric("minutes", "Minutes of the first algorithm so far, without compiling, what comes before the first "
           "iteration, and those between being stopped and resumed."),
    Metric("moves", "Moves played so far, of all workers."),
    Metric("games", "Games that have ended so far, of all workers."),
    Metric("memory.gigabytes", "Most memory of the GPU in use so far.", shown="{:.1f} GB"),
    Metric("seconds.evaluation", "Seconds that playing the ladder took, where it was played."),
    Metric("score.*", "Score of the averaged networks against this agent, draws half, where it was measured.", SHARE,
           drawn=True),
    Metric("score_low.*", "The lower end of the score's 95 % interval.", SHARE),
    Metric("score_high.*", "The upper end of the score's 95 % interval.", SHARE),
    Metric("won.*", "Of the games won against this agent, the share that ended so.", SHARE),
    Metric("nash_conv", "NashConv of the model, the sum of what the best responses to it gain, where evaluation.exact "
           "asks for it.", title="NashConv", shown="NashConv {:.4f}", drawn=True),
)  # fmt: skip


@dataclass
class Stage:
    """An algorithm of a run, and how far it is."""

    kind: type[Learner]
    config: StageConfig
    iterations: int
    """Most iterations; 0: no limit."""
    minutes: float
    """Most minutes; 0: no limit for the first stage, and a later one is left out."""
    learner: Learner | None = None
    """Made when it is needed: a later stage may have large networks."""
    seconds: float = 0.0
    """Its time so far, evaluations and saving included."""
    after: list[int] | None = None
    """The iterations of the stages before whose networks it follows."""

    @property
    def name(self) -> str:
        """The algorithm's."""
        return self.kind.name


class Run:
    """One training run, on one device; with several workers, one of them."""

    def __init__(
        self, config: RunConfig, folder: Path, device: torch.device, workers: Workers = ALONE,
        evaluator: Evaluator | None = None, clock: Callable[[], float] = working_seconds,
        agents: Agents | None = None,
    ) -> None:  # fmt: skip
        """
        evaluator: measures a model while the run goes on, as often as `config.evaluation` says.
        clock: gives the time in seconds; it runs from the first iteration on, and the usual one not while kernels are
            compiled.
        agents: makes the agents that a configuration names as opponents.
        """
        self.config, self.folder, self.device, self.workers, self.evaluator = config, folder, device, workers, evaluator
        self._clock, self._agents = clock, agents or NoAgents()
        self.game: Game = game(config.game, config.rules or None)
        self.stages = [
            Stage(find_learner(name), table, *((0, table.minutes) if later else (config.iterations, config.minutes)))
            for later, (name, table) in enumerate(zip(config.algorithms, config.stages.values(), strict=True))
        ]
        for later, stage in enumerate(self.stages):
            if stage.minutes or not later:
                stage.kind.check(self.game, stage.config)
        self.place = 0
        """The number of the stage that goes on; the number of stages when all are over."""
        self.totals = dict.fromkeys(TOTALS, 0.0)
        self.stopping = False
        """Set it, at any moment, to end the run with the iteration that is under way."""
        self.notes: list[str] = []
        """Sentences for whoever watches the run."""
        self.before: dict[str, Any] = {}
        """The training and the source of the model that this run began with, from its card."""
        self._done, self._asked = 0, -1
        """Iterations of this process, and the one after which `goes_on` was asked last."""
        self._begun = False
        """Whether this process has begun its first iteration: before it, no time passes."""
        self._since = self._saved = self._evaluated = 0.0
        self._ended: deque[float] = deque(maxlen=RECENT + 1)
        """Times at which the latest iterations of the first stage ended; at first also that of the beginning."""
        self.journal = (
            Journal(folder, lambda sentence: self.notes.append(sentence), self._watchers()) if workers.leads else None
        )
        self._make_learner(self.stages[0])

    @classmethod
    def begin(
        cls, config: RunConfig, folder: Path, device: str | torch.device = "cpu", workers: Workers = ALONE,
        evaluator: Evaluator | None = None, model: store.Model | None = None,
        clock: Callable[[], float] = working_seconds, agents: Agents | None = None,
    ) -> Run:  # fmt: skip
        """Begin a run in a new folder; with a model, go on from its networks, and count on from its iterations."""
        if workers.any(workers.leads and (folder / CONFIG).exists()):
            raise ConfigurationError(f"there is a run in {folder} already: resume it, or name another folder")
        run = cls(config, folder, torch.device(device), workers, evaluator, clock, agents)
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
        evaluator: Evaluator | None = None, clock: Callable[[], float] = working_seconds,
        agents: Agents | None = None,
    ) -> Run:  # fmt: skip
        """Go on with the run in a folder, from its last checkpoint; its configuration may be changed.

        A run that was killed before its first checkpoint begins anew. One that has a model and no checkpoint is
        refused: it would lose the model.
        """
        config = run_config(folder, changes)
        run = cls(config, folder, torch.device(device), workers, evaluator, clock, agents)
        own = [f"{stage.name}.{part}" for stage in run.stages for part in stage.kind.own]
        found = load_checkpoint(folder / CHECKPOINT, workers, own)
        if found is not None:
            run._load(found)
        elif workers.any(workers.leads and (folder / MODEL).exists()):
            raise CheckpointError(
                f"the run in {folder} has a model and no checkpoint to resume it from, and would lose the model if it "
                f"began anew: begin another run with its networks, vauban train {folder / CONFIG} --from "
                f"{folder / MODEL} --out FOLDER"
            )
        elif not run.iteration:  # a learner may keep what it has come to itself
            run.notes.append("there is no checkpoint yet, so it begins anew")
        if run.journal:
            run.journal.rewind({stage.kind.clock: _iteration(stage) for stage in run.stages})
        run._write_config()
        return run

    # ── Where it is ──────────────────────────────────────────────────────────────────────────────

    @property
    def stage(self) -> Stage:
        """The stage that goes on, or the last one."""
        return self.stages[min(self.place, len(self.stages) - 1)]

    @property
    def first(self) -> Learner:
        """The learner of the first stage."""
        learner = self.stages[0].learner
        assert learner is not None
        return learner

    @property
    def player(self) -> Path:
        """The folder that plays."""
        return self.folder / self.stages[0].kind.leaves

    @property
    def _has_model(self) -> bool:
        """Whether what plays is the model of its networks."""
        return self.stages[0].kind.leaves == MODEL

    @property
    def iteration(self) -> int:
        """The iterations of the first stage."""
        return self.first.iteration

    @property
    def minutes(self) -> float:
        """Minutes of the first stage, evaluations and saving included."""
        return self.minutes_of(self.stages[0])

    def minutes_of(self, stage: Stage) -> float:
        """Return the minutes of a stage so far."""
        running = self._begun and self.place < len(self.stages) and self.stages[self.place] is stage
        return (stage.seconds + running * (self._clock() - self._since)) / 60

    def goes_on(self) -> bool:
        """Return whether there is still time, and an iteration left."""
        if self._asked != self._done:
            # Once after each iteration: the last one is evaluated, and the clock must not change its mind after that.
            self._asked = self._done
            while self.place < len(self.stages) and self.workers.any(self._is_over(self.place)):
                self._enter(self.place + 1)
        return not self.workers.any(self.stopping) and self.place < len(self.stages)

    def _is_over(self, place: int) -> bool:
        stage = self.stages[place]
        if place:
            return self.minutes_of(stage) >= stage.minutes
        return bool(
            (stage.iterations and self.iteration >= stage.iterations)
            or (stage.minutes and self.minutes >= stage.minutes)
        )

    def _enter(self, place: int) -> None:
        """Go on with another stage."""
        self._tick()
        self.place = place

    def _tick(self) -> None:
        """Put the time since the last tick down to the stage that goes on."""
        now = self._clock()
        if self._begun and self.place < len(self.stages):
            self.stages[self.place].seconds += now - self._since
        self._since = now

    @property
    def pace(self) -> float | None:
        """Seconds an iteration of the first stage, lately; None before the first one.

        The first one counts only until there is another: it has compiled.
        """
        ended = list(self._ended)
        if len(ended) < 2:
            return None
        first = 1 if 2 < len(ended) <= RECENT else 0
        return (ended[-1] - ended[first]) / (len(ended) - 1 - first)

    # ── An iteration ─────────────────────────────────────────────────────────────────────────────

    def iterate(self) -> dict[str, float]:
        """Let the stage that goes on learn for an iteration; its metrics."""
        stage, begins = self.stage, self.stage is self.stages[0]
        if not self._begun:
            self._begun = True
            self._since = self._saved = self._evaluated = self._clock()
        learner = stage.learner or self._make_learner(stage)
        self._follow(stage)
        if begins and not self._ended:
            self._ended.append(self._clock())
        told = learner.iterate()
        self._done += 1
        self.totals |= {name: told[name] for name in TOTALS if name in told}
        told = {"iteration": float(self.iteration), "minutes": self.minutes, **self.totals, **told}
        if not begins:
            told[f"{stage.name}.minutes"] = self.minutes_of(stage)
        if self.device.type == "cuda":
            told["memory.gigabytes"] = torch.cuda.max_memory_allocated(self.device) / 2**30
        if self.journal:
            self.journal.write(
                told, "" if begins else stage.name, stage.kind.clock, {each.name for each in stage.kind.metrics}
            )
        if (stage.kind.player or not self._has_model) and self._evaluation_is_due(stage):
            told |= self._evaluate()
        keeps = self.config.keep_models and self._has_model and self.workers.leads
        if begins and keeps and self.iteration % self.config.keep_models == 0:
            self.save_model(self.folder / MODELS / f"{self.iteration:06}")
        if begins:
            self._ended.append(self._clock())
        return told

    def _watchers(self) -> list[Watcher]:
        watchers: list[Watcher] = [TensorBoard(self.folder)]
        if self.config.wandb:
            watchers.append(WeightsAndBiases(self.folder, self.config.wandb, config_table(self.config)))
        return watchers

    def _make_learner(self, stage: Stage) -> Learner:
        place = Place(
            self.device,
            self.workers,
            self.config.seed,
            self._agents,
            lambda sentence: self.notes.append(sentence),
            self.folder,
        )
        learner = stage.learner = stage.kind(self.game, stage.config, place)
        names = [name for each in self.stages if each.learner for name in each.learner.networks]
        for name in names:
            if names.count(name) > 1:
                raise ConfigurationError(f"algorithms: two of {list(self.config.algorithms)} train a network {name!r}")
        return learner

    def _follow(self, stage: Stage) -> None:
        """Let a later stage go on from what the stages before have come to by now."""
        earlier = self.stages[: self.stages.index(stage)]
        now = [_iteration(each) for each in earlier]
        if earlier and stage.learner and stage.after != now:
            stage.after = now
            stage.learner.follow({name: each for before in earlier for name, each in _networks(before).items()})

    def _evaluation_is_due(self, stage: Stage) -> bool:
        """Return whether it is time to measure the networks, or the stage is over."""
        every = 60 * self.config.evaluation.every
        if not every:
            return False
        self.goes_on()
        over = self.place >= len(self.stages) or self.stage is not stage
        return self.workers.any(self._clock() - self._evaluated >= every or (over and not self.stopping))

    def _evaluate(self) -> Mapping[str, float]:
        """Measure the averaged networks. The run is saved first: other programs' bots may bring anything about."""
        self.save()
        begun, evaluator = self._clock(), self.evaluator
        scores = self.workers.led(lambda: evaluator(self.player)) if evaluator else None
        self._evaluated = self._clock()
        if not scores:
            return {}
        told = {"minutes": self.minutes, "seconds.evaluation": self._evaluated - begun, **scores}
        if self.journal:
            self.journal.amend(told)
        if self.config.evaluation.earlier and self._has_model:
            self._judge_by_earlier(scores)
        return told

    def _judge_by_earlier(self, scores: Mapping[str, float]) -> None:
        """Warn of a run that loses to what it was; what it is now stays for later, when the other is half as old."""
        there = earlier_model(self.folder)
        if there is not None and scores.get(f"score_high.{EARLIER}", 1.0) < 0.5:
            share = scores[f"score.{EARLIER}"]
            self.notes.append(
                f"it loses to what it was at iteration {int(there.name):,} ({share:.0%}): play may be going round in "
                "circles (docs/metrics.md)"
            )
        if there is None or not int(there.name) <= self.iteration < 2 * int(there.name):
            self.save_model(self.folder / EARLIER / f"{self.iteration:06}")
            if there is not None and int(there.name) != self.iteration:
                shutil.rmtree(there)

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def save_if_due(self) -> bool:
        """Save when the last time is long enough ago: after `save_every` minutes, and sooner while a run is young."""
        young = max(SOON, SHARE_AT_RISK * 60 * sum(map(self.minutes_of, self.stages)))
        due = self.workers.any(self._clock() - self._saved >= min(60 * self.config.save_every, young))
        if due:
            self.save()
        return due

    def save(self) -> None:
        """Write a checkpoint, and the model as it is now: the averaged networks."""
        self._saved = self._clock()
        for name, trainee in self.trainees().items():
            if not all(part.isfinite().all() for part in trainee.network.parameters()):
                raise CheckpointError(
                    f"the {name} network holds numbers that are not finite, so nothing was saved: resume {self.folder} "
                    "from its last checkpoint with a smaller learning rate"
                )
        save_checkpoint(self.folder / CHECKPOINT, self._checkpoint(), self.workers)
        if self.workers.leads and self._has_model:
            self.save_model(self.folder / MODEL)

    def close(self) -> None:
        """End what the run has running beside it: whatever draws its curves, processes of its learners."""
        if self.journal:
            self.journal.close()
        for stage in self.stages:
            if stage.learner:
                stage.learner.close()

    def save_model(self, folder: Path) -> None:
        """Write the averaged networks as a model."""
        networks: dict[str, nn.Module] = {name: trainee.average for name, trainee in self.trainees().items()}
        for stage in self.stages:
            networks |= stage.learner.others() if stage.learner else {}
        players = [(stage.learner or stage.kind).player for stage in self.stages]
        player = next(filter(None, players))
        described = {name: describe(network) for name, network in networks.items()}
        card = store.make_card(self.game, described, name=self.folder.name, about=self.config.about, plays=player)
        store.save_model(folder, networks, card, dtype=torch.float32)

    def trainees(self) -> dict[str, Trainee[Any]]:
        """Return the networks of all stages that have begun, by name."""
        return {name: trainee for stage in self.stages for name, trainee in _networks(stage).items()}

    def _write_config(self) -> None:
        if self.workers.leads:
            write_whole(self.folder / CONFIG, config_text(self.config))

    def _checkpoint(self) -> Checkpoint:
        self._tick()
        begun = [(stage, stage.learner) for stage in self.stages if stage.learner]
        progress: dict[str, Any] = {
            "iteration": self.iteration,
            **{name: int(value) for name, value in self.totals.items()},
            "played": [self.config.game, self.config.rules],
            "stages": {
                stage.name: {"seconds": stage.seconds, "after": stage.after, **learner.progress()}
                for stage, learner in begun
            },
            "saved": time.strftime("%Y-%m-%d"),
            "before": self.before,
        }
        networks: dict[str, Tensor] = {}
        for name, trainee in self.trainees().items():
            for part, network in (("network", trainee.network), ("average", trainee.average)):
                networks |= {f"{name}.{part}.{key}": tensor for key, tensor in network.state_dict().items()}
        parts: dict[str, Any] = {
            "optimiser": {name: trainee.optimiser.state_dict() for name, trainee in self.trainees().items()}
        }
        own = []
        for stage, learner in begun:
            parts |= {f"{stage.name}.{part}": state for part, state in learner.state().items()}
            own += [f"{stage.name}.{part}" for part in stage.kind.own]
        return Checkpoint(self.folder / CHECKPOINT, progress, networks, parts, own)

    def _go_on_from(self, model: store.Model) -> None:
        """Begin with the networks of a model, as if its run were resumed without its games and its optimiser."""
        model.check_plays(self.game)
        for stage in self.stages[1:]:
            if set(stage.kind.tables) & set(model.networks):
                self._make_learner(stage)
        keys = {
            name: ".".join(filter(None, (stage.name, table)))
            for stage in self.stages
            for name, table in stage.kind.tables.items()
        }
        check_same(model, {name: trainee.network for name, trainee in self.trainees().items()}, keys)
        self._load(model_checkpoint(model, self.stages, list(self.trainees()), self.config))
        self.notes = [f"it goes on from the networks of {model.card['name']!r}, after iteration {self.iteration:,}"]

    def _load(self, found: Checkpoint) -> None:
        progress, parts = found.progress, dict(found.parts)
        self.totals = {name: float(progress[name]) for name in TOTALS}
        self.before = progress["before"]
        there = [stage for stage in self.stages if stage.name in progress["stages"]]
        for stage in there:
            learner = stage.learner or self._make_learner(stage)
            table = progress["stages"][stage.name]
            stage.seconds, stage.after = table["seconds"], table["after"]
            learner.load_progress(table)
        self._load_networks(found.networks, found.source)
        missing = "it is not in the checkpoint"
        if "optimiser" in parts:
            for name, trainee in self.trainees().items():
                _load_optimiser(trainee.optimiser, parts["optimiser"][name])
        else:
            self.notes.append(f"optimiser.pt: {missing}, so the optimiser begins anew")
        if progress["played"] != [self.config.game, self.config.rules]:
            missing, parts = "the checkpoint is of another game or other rules", {}
        for stage in there:
            if stage.after not in (None, [_iteration(each) for each in self.stages[: self.stages.index(stage)]]):
                continue  # it begins again when the stages before it are over
            if stage.after is not None:
                stage.after = None
                self._follow(stage)
            state = {name.removeprefix(f"{stage.name}."): part for name, part in parts.items()
                     if name.startswith(f"{stage.name}.")}  # fmt: skip
            assert stage.learner is not None
            if stage is self.stages[0] or stage.after is not None:
                self.notes += stage.learner.load_state(state, missing)

    def _load_networks(self, networks: Mapping[str, Tensor], source: Path) -> None:
        for name, trainee in self.trainees().items():
            for part, network in (("network", trainee.network), ("average", trainee.average)):
                tensors = under(f"{name}.{part}.", networks)
                store.check_tensors(tensors, network, f"{source}, {part} of {name!r}")
                network.load_state_dict(tensors)
            trainee.refresh()


def earlier_model(folder: Path) -> Path | None:
    """Return the model of an earlier iteration that a run is measured against; its name is that iteration's number."""
    there = sorted((folder / EARLIER).glob("[0-9]*"))
    return there[0] if there else None


def run_config(folder: Path, changes: Sequence[str] = ()) -> RunConfig:
    """Return the configuration of the run in a folder, with changes."""
    path = folder / CONFIG
    if not path.exists():
        raise ConfigurationError(f"there is no run in {folder}: it has no config.toml")
    text = read_config(path)
    try:
        parse_config(text, (), str(path))
    except ConfigurationError as error:
        raise ConfigurationError(
            f"{error} (a run of another version of Vauban cannot be resumed, but another run can go on from its "
            f"networks: vauban train PRESET --from {folder / MODEL} --out FOLDER)"
        ) from error
    return parse_config(text, changes, str(path))


def _networks(stage: Stage) -> dict[str, Trainee[Any]]:
    return stage.learner.networks if stage.learner else {}


def _iteration(stage: Stage) -> int:
    return stage.learner.iteration if stage.learner else 0


def _load_optimiser(optimiser: torch.optim.Optimizer, saved: Mapping[str, Any]) -> None:
    """Take over its moments. How it steps is for the device to say, which may be another one now."""
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": saved["state"], "param_groups": groups})
