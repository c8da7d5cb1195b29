"""`vauban train`: train networks by self-play."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vauban.cli.output import complain, console, errors, print_json
from vauban.errors import ConfigurationError, VaubanError
from vauban.learn.presets import presets

if TYPE_CHECKING:
    import torch

    from vauban.cli.train_display import Display
    from vauban.learn.config import RunConfig
    from vauban.learn.run import Evaluator, Run

PRICE = 4.0
"""Dollars that an hour of a large GPU costs to rent, unless told otherwise."""
INTERRUPTED = 130
LARGEST = 2_000_000
"""Histories of a game in which a run's model is measured exactly."""


def train(
    preset: Annotated[
        str | None,
        typer.Argument(help=f"A preset ({', '.join(presets())}) or a .toml file."),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the configuration: ataraxos.moves.games=512."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Stop the first algorithm when it has gone on for so many minutes in all.", min=0),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder (default: runs/PRESET).")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    model: Annotated[
        str | None,
        typer.Option("--from", metavar="MODEL", help="Begin with the networks of a model: a shipped one, or a folder."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto: a GPU if there is one.")] = "auto",
    price: Annotated[float, typer.Option(help="Dollars that an hour of one GPU costs, for the estimate.")] = PRICE,
    show: Annotated[bool, typer.Option("--show", help="Print the configuration, and train nothing.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the last line of metrics as JSON.")] = False,
) -> None:
    """Train networks by the algorithms that a configuration names, one after the other.

    ataraxos trains a setup network and a move network by damped self-play; belief, which comes after it where it is
    given minutes, a network that names hidden pieces; rnad learns by regularised Nash dynamics; deep_cfr learns regrets
    of single plays, and an average strategy; psro grows a population of policies; sac and ppo learn to beat given
    opponents (vauban best-response). It first measures a few batches and says how long it will take and what that
    costs. The run lives in a folder: its configuration, its metrics (metrics.jsonl, and TensorBoard where that is
    installed; docs/metrics.md explains every one), its checkpoint, and the model, which plays:
    vauban match net:runs/laptop random --game medium. --set wandb=PROJECT sends the metrics to Weights & Biases too.

    Ctrl-C ends it after the iteration that is under way; it can be killed at any moment. --resume goes on, to the same
    numbers, and takes changes of the configuration too. --from begins with networks that are trained already, and
    counts on from their iterations and minutes. docs/training.md tells the rest.

    Example: vauban train laptop --minutes 4

    Example: vauban train laptop --set seed=2 --set evaluation.every=1 --out runs/second

    Example: vauban train --resume runs/laptop --set belief.minutes=5

    Example: vauban train ataraxos-h200-classic --from classic --minutes 60 --out runs/stronger

    Example: torchrun --nproc-per-node 8 -m vauban train ataraxos-paper
    """
    if (preset is None) == (resume is None):
        raise ConfigurationError("say what to train: a preset or a .toml file, or a run to --resume")
    if resume is not None and out is not None:
        raise ConfigurationError(f"a resumed run stays in its folder, {resume}: leave --out away")
    if resume is not None and model is not None:
        raise ConfigurationError(f"a resumed run has its own networks, in {resume}: leave --from away")
    from vauban.agents.opponents import Opponents
    from vauban.learn.card import load_trained
    from vauban.learn.config import config_text, load_config
    from vauban.learn.run import Run, run_config
    from vauban.learn.workers import join_workers, local_device

    changes = [*(change or []), *([f"minutes={minutes}"] if minutes is not None else [])]
    config = load_config(preset, changes, _say) if preset else run_config(_given(resume), changes)
    if show:
        console.print(config_text(config), markup=False, highlight=False, soft_wrap=True)
        return
    place = local_device(device)
    evaluator = make_evaluator(config, place)
    folder = resume or out or Path("runs") / Path(preset or "").stem
    with _gone_workers_end_it(), room_for(config, place, folder):
        workers = join_workers(place, config.patience)
        command = command_text(preset, resume, changes, workers.count, out, model)
        if preset is not None:
            begun_with = None if model is None else load_trained(model)
            run = Run.begin(config, folder, place, workers, evaluator, begun_with, agents=Opponents())
        else:
            run = Run.resume(folder, place, workers, changes, evaluator, agents=Opponents())
        with room_for(config, place, folder, run):
            last = go(run, command, price)
        workers.leave()
    if workers.leads and json:
        print_json(last)
    if run.stopping:
        raise typer.Exit(INTERRUPTED)


def go(run: Run, command: str, price: float = PRICE) -> dict[str, Any]:
    """Say what a run will take, then train until it is over or somebody stops it; the last line of metrics."""
    from vauban.cli.train_display import Display, done_line, estimate_lines, place_text
    from vauban.learn.config import config_table
    from vauban.learn.origin import note_start

    leads = run.workers.leads
    display = Display(run)
    last: dict[str, Any] = {}
    with closing(run), stopped_by_signals(run, display):
        if leads:
            note_start(run.folder, command, config_table(run.config), run.device, run.workers, run.iteration)
            display.say(
                f"training in {run.folder}, on {place_text(run)}; Ctrl-C stops it, and --resume {run.folder} goes on"
            )
            display.say_notes()
        going = run.goes_on()
        begins = run.place == 0
        if leads and not begins:
            display.say(done_line(run))
        if going:
            if leads and begins:
                display.say("measuring a few batches, from which nothing is learned …")
            found = run.first.estimate() if begins else None
            for sentence in estimate_lines(run, found, price) if leads else []:
                display.say(sentence)
            if begins and found is None:
                display.price = price
                if leads:
                    display.say("time and cost are told after the first iterations")
        with display.open() if leads else nullcontext():
            while run.goes_on():
                last = run.iterate()
                if leads:
                    display.show(last)
                run.save_if_due()
            display.doing("saving")
            run.save()
    if leads:
        display.say_notes()  # what draws its curves may have failed at the very end
        if run.stopping:
            display.say(f"stopped. To go on: vauban train --resume {run.folder}")
        display.say(f"the {run.player.name} is in {run.player}. {_next_step(run)}")
    return last


def make_evaluator(config: RunConfig, device: torch.device) -> Evaluator | None:
    """Make the function that measures a model: in the arena, against every agent of the ladder, and exactly."""
    from vauban.games.base import game

    if not config.evaluation.every:
        return None
    played = game(config.game, config.evaluation.rules or config.rules or None)
    played = played.plain or played  # which every agent of the ladder plays, too
    if not played.drawn and config.evaluation.ladder:
        raise ConfigurationError(
            f"evaluation.ladder: a score counts games won, and those of {played.name!r} are played for stakes; set "
            "evaluation.every to 0 and measure the model by vauban exploitability, or set ladder=[] and exact=true"
        )
    exact = _exact_evaluator(config) if config.evaluation.exact else lambda folder: {}
    from vauban.agents import make_agent
    from vauban.arena.match import FAILED, Match, own_setups
    from vauban.arena.play import play_games
    from vauban.arena.statistics import ends_of_wins, summary
    from vauban.learn.run import EARLIER, earlier_model

    setups = own_setups(played)
    for opponent in config.evaluation.ladder:
        # Refuses what it cannot read or what cannot play here, now and not in an hour.
        try:
            Match(opponent, opponent, 1, played, setups=setups)
        except VaubanError as error:
            raise ConfigurationError(f"evaluation.ladder, {opponent!r}: {error}") from error

    def evaluate(folder: Path) -> dict[str, float]:
        scores = exact(folder)
        text = agent_text(config, folder, device.type)
        against = {opponent: opponent for opponent in config.evaluation.ladder}
        if config.evaluation.earlier and (there := earlier_model(folder.parent)):
            against[EARLIER] = agent_text(config, there, device.type)
        for opponent, played_by in against.items():
            # The same setups and seeds every time: what differs between two evaluations is the model.
            match = Match(
                lambda seed: make_agent(text, seed, game=played), played_by, config.evaluation.games, played, None,
                config.seed, setups=setups,
            )  # fmt: skip
            # In this process and all at once: on a GPU the network answers for all games in one go.
            results = [game.result for game in play_games(match, range(match.games))]
            failed = [result.note for result in results if result.note.startswith(FAILED)]
            if failed:
                errors.print(
                    f"against {opponent}, {len(failed)} games ended in an error, so there is no score: {failed[0]}",
                    markup=False,
                )
                continue
            told = summary(results)
            for name in ("score", "score_low", "score_high"):
                if told[name] is not None:
                    scores[f"{name}.{opponent}"] = told[name]
            scores |= {f"won.{opponent}.{end}": share for end, share in ends_of_wins(results).items()}
        return scores

    return evaluate


def _exact_evaluator(config: RunConfig) -> Callable[[Path], dict[str, float]]:
    """Make the function that computes how far a model is from an equilibrium of the game that it learns."""
    from vauban.agents import make_agent
    from vauban.agents.base import GivesPolicy
    from vauban.agents.tables import tabulated
    from vauban.games.base import game
    from vauban.solve import build_tree, evaluate

    try:
        tree = build_tree(game(config.game, config.rules or None), limit=LARGEST)
    except VaubanError as error:
        raise ConfigurationError(f"evaluation.exact: {error}") from error

    def measure(folder: Path) -> dict[str, float]:
        agent = make_agent(agent_text(config, folder, "cpu"))
        assert isinstance(agent, GivesPolicy)
        return {"nash_conv": evaluate(tree, tabulated(tree, agent)).nash_conv}

    return measure


def agent_text(config: RunConfig, folder: Path, device: str) -> str:
    """Return the agent that plays by a folder of a run."""
    from vauban.learn.base import find_learner

    kind = find_learner(config.algorithms[0]).agent
    options = ",device=cuda" if device == "cuda" and kind == "net" else ""
    return f"{kind}:{folder.absolute()}{options}"


def command_text(
    preset: str | None, resume: Path | None, changes: list[str], workers: int, out: Path | None = None,
    model: str | None = None,
) -> str:  # fmt: skip
    """Return the command that was given, for the card of the model."""
    start = ["vauban"] if workers == 1 else ["torchrun", f"--nproc-per-node={workers}", "-m", "vauban"]
    if workers > 1 and os.environ.get("LOCAL_WORLD_SIZE", str(workers)) != str(workers):
        local = os.environ["LOCAL_WORLD_SIZE"]
        start = ["torchrun", f"--nnodes={workers // int(local)}", f"--nproc-per-node={local}", "-m", "vauban"]
    what = [preset] if preset else ["--resume", str(resume)]
    where = [*([] if model is None else ["--from", model]), *(["--out", str(out)] if out else [])]
    return shlex.join([*start, "train", *what, *where, *(part for change in changes for part in ("--set", change))])


def _next_step(run: Run) -> str:
    """Suggest what to do with the model: play a match, or, for stakes, measure how far it is from equilibrium."""
    from vauban.arena.match import own_setups

    agent, config = f"{run.stages[0].kind.agent}:{run.player}", run.config
    rules = ["--rules", config.rules] if config.rules else []
    if run.game.drawn:
        played = run.game.plain
        name = config.game if played is None else played.definition()
        if played is None or not isinstance(name, str):
            played, name = run.game, config.game
        setups = ["--setups", own] if (own := own_setups(played)) else []
        command = ["vauban", "match", agent, "random", "--game", name, *rules, *setups]
        return f"To see it play: {shlex.join(command)}"
    return f"To see how good it is: {shlex.join(['vauban', 'exploitability', config.game, agent, *rules])}"


def _say(sentence: str) -> None:
    errors.print(sentence, markup=False, highlight=False, soft_wrap=True)


def _given(folder: Path | None) -> Path:
    assert folder is not None
    return folder


@contextmanager
def _gone_workers_end_it() -> Iterator[None]:
    """Say when another worker is gone, and end at once."""
    from vauban.learn.workers import WorkersError

    try:
        yield
    except WorkersError as error:
        complain(str(error))
        sys.stdout.flush()
        # Torch's threads still wait for the other worker, and abort the process if Python ends in its usual order.
        os._exit(2)


@contextmanager
def stopped_by_signals(run: Run, display: Display) -> Iterator[None]:
    """Ctrl-C, or a machine that is about to be taken away, ends a run in order; a second time at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        if run.stopping:
            raise KeyboardInterrupt
        run.stopping = True
        if run.workers.leads:
            display.say("stopping after this iteration; Ctrl-C once more stops at once, back at the last checkpoint")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        errors.print(f"stopped at once. To go on from the last checkpoint: vauban train --resume {run.folder}")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def room_for(config: RunConfig, device: torch.device, folder: Path, run: Run | None = None) -> Iterator[None]:
    """Say what to lower when memory is not enough."""
    from vauban.learn.run import CONFIG

    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not _is_for_want_of_memory(error):
            raise
        again = f"--resume {folder}" if (folder / CONFIG).exists() else "…"
        name = run.stage.name if run else next(iter(config.stages))
        fewer = config.stages[name].fewer()
        said = ", ".join(f"{name}.{key}={value}" for key, (value, _) in fewer.items())
        changes = " ".join(f"--set {name}.{key}={less}" for key, (_, less) in fewer.items())
        raise ConfigurationError(
            f"the memory of {device} is not enough for {said}: ask for less, e.g. vauban train {again} {changes}"
        ) from error


def _is_for_want_of_memory(error: Exception) -> bool:
    """Return a GPU's memory or the machine's: torch has a class for the one, and for the other only words."""
    import torch

    words = ("out of memory", "can't allocate memory")
    known = isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError))
    return known or any(each in str(error) for each in words)
