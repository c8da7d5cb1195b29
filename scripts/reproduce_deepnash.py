"""Measures R-NaD as the paper on DeepNash does: speed by part, small games, barrage from nothing, deployments.

    python scripts/reproduce_deepnash.py OUT throughput small barrage matches deployments --device cuda --seconds 500

| part | what it measures |
| --- | --- |
| `throughput` | actions a second through the whole loop, with the paper's network and a small one; its parts; memory |
| `small` | NashConv of the target network as it is: `--presets`, seeds 1, 2, …; also with fine-tuning at the end |
| `barrage` | trains `--run`, of any algorithm, from nothing or further; keeps a model every `--keep` minutes |
| `matches` | its models, kept and last, against `--against` in whole moves, half of the games as first player |
| `deployments` | where its model puts its pieces, and how much that varies, beside setups drawn uniformly |

Trainings stop after `--seconds` and go on with the next call; matches that have been played are not played again. Runs
and results stay in `--runs`, in OUT/runs where nothing else is said. OUT/results.json has what all calls have measured,
OUT/strength.svg the scores of all runs by minutes of training. After `barrage`, `matches` and `deployments`
OUT/runs.tar.0, .1, … are the pieces of an archive of the run, from which another machine goes on, or plays the matches
without a GPU: `cat runs.tar.* | tar x -C RUNS` there.

Every training of `small` and every measurement of `throughput` is a process of its own. In `small`, fine-tuning begins
in a copy of the run when nine tenths of the steps are done, so that both go on from the same networks.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tarfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from vauban.agents.net import NetAgent, NetOptions
from vauban.agents.tables import tabulated
from vauban.arena.match import FAILED, Match
from vauban.arena.play import play_games
from vauban.arena.statistics import summary
from vauban.errors import VaubanError
from vauban.games.base import Game, game
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MOVABLE_TYPES, SPY, TYPES
from vauban.games.stratego.steps.game import StrategoSteps
from vauban.learn.base import Place
from vauban.learn.config import load_config
from vauban.learn.curves import Against, RunMetrics, curves_svg, make_panels
from vauban.learn.journal import METRICS_FILE, read_lines, read_metrics, write_lines
from vauban.learn.rnad import targets
from vauban.learn.rnad.learner import RNaD
from vauban.learn.run import CHECKPOINT, CONFIG, MODEL, MODELS, Run
from vauban.learn.workers import local_device
from vauban.nets.actor import Actor
from vauban.nets.store import load_model
from vauban.sim.simulator import Simulator
from vauban.solve import Tree, build_tree, evaluate

GENERAL = TYPES.index("General")
SPEEDS = {
    # With random weights games of classic are as long as can be. A few hundred actions are measured, at full tables.
    "paper": ("rnad-paper", ["rnad.games=256", "rnad.longest=512"]),
    "small": ("rnad-barrage", []),
}
"""Presets and changes that speed is measured with, beside presets as they are."""
KEPT = ("wins", "draws", "losses", "games", "score", "score_low", "score_high", "mean_plies")
"""Entries of a match's summary that the results have."""
OFTEN = 2_000_000
"""Histories of a game that is judged ten times in a training; a larger one is at its end."""
RESULTS, SCORES = "results.json", "scores.jsonl"
"""Files: of all results, among the runs; of a run's matches, in its folder."""
SHOWN = ("speed.moves_per_second", "rnad.plies", "rnad.entropy", "rnad.value_loss", "rnad.bounded", "rnad.cut",
         "play.plies", "moves.entropy", "moves.outcome_loss", "setups.entropy")  # fmt: skip
"""Metrics that are printed while a run trains, as far as its algorithm has them."""
PIECE = 15 << 20
"""Bytes of a piece of an archive."""
UNDER_WAY = ".games.pt"
"""The end of names of files with games under way: without them new ones begin, and they are most of a checkpoint."""
ON_CPU = ("rnad-kuhn", "rnad-leduc")
"""Presets that a CPU trains faster than a GPU: their networks are as good as nothing."""


def main() -> None:
    asked = _parser().parse_args()
    asked.end = time.perf_counter() + asked.seconds
    if asked.one:
        kind, *rest = asked.one.split(" ", 2)
        _write(Path(asked.to), {"speed": _speed, "train": _train_small}[kind](asked, *rest))
        return
    asked.runs = asked.runs or str(Path(asked.out) / "runs")
    for folder in (asked.out, asked.runs):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for part in dict.fromkeys(asked.parts):
        print(f"\n{part}", flush=True)
        PARTS[part](asked)
    if set(asked.parts) & set(OF_A_RUN):
        _pack(asked)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="the folder for results.json and the runs")
    parser.add_argument("parts", nargs="+", choices=sorted(PARTS), metavar="PART")
    parser.add_argument("--runs", default="", help="the folder for the runs, if not OUT/runs")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seconds", type=float, default=500.0, help="of trainings in this call")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as vauban train has it")
    parser.add_argument("--speeds", nargs="+", default=sorted(SPEEDS), help="of throughput: these, or presets")
    parser.add_argument("--steps", type=int, default=5, help="steps that speed is measured over")
    parser.add_argument("--presets", nargs="+", default=["rnad-leduc", "rnad-micro"], help="of small")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 1, 2, … of each")
    parser.add_argument("--run", default="rnad-barrage", help="the preset or file of barrage")
    parser.add_argument("--keep", type=float, default=2.0, help="minutes of training between two models of barrage")
    parser.add_argument("--games", type=int, default=400, help="of each match")
    parser.add_argument("--against", nargs="*", default=["random", "charger", "thermal", "fox"])
    parser.add_argument("--draws", type=int, default=2000, help="deployments that are drawn")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    parser.add_argument("--to", default="", help=argparse.SUPPRESS)
    return parser


# ── Results ──────────────────────────────────────────────────────────────────────────────────────


def _write(path: Path, found: Any) -> None:
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _results(asked: argparse.Namespace) -> dict[str, Any]:
    path = Path(asked.runs) / RESULTS
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _keep(asked: argparse.Namespace, part: str, found: Any) -> None:
    found = _results(asked) | {part: found}
    for folder in (asked.runs, asked.out):
        _write(Path(folder) / RESULTS, found)


def _start(asked: argparse.Namespace, one: str, to: Path) -> subprocess.Popen[bytes]:
    """Start a process that measures one thing and writes it to a file."""
    to.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, __file__, *sys.argv[1:], "--one", one, "--to", str(to)]
    with to.with_suffix(".log").open("w") as log:
        return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=log, stderr=log)


def _finish(process: subprocess.Popen[bytes], to: Path) -> dict[str, Any] | None:
    if process.wait():
        print(f"{to.stem} failed:\n{to.with_suffix('.log').read_text()[-4000:]}", flush=True)
        return None
    found: dict[str, Any] = json.loads(to.read_text(encoding="utf-8"))
    return found


# ── Speed ────────────────────────────────────────────────────────────────────────────────────────


def _throughput(asked: argparse.Namespace) -> None:
    rows = {}
    for name in asked.speeds:
        to = Path(asked.runs) / f"speed-{name}.json"
        found = _finish(_start(asked, f"speed {name}", to), to)
        if found:
            rows[name] = found
    _keep(asked, "throughput", _results(asked).get("throughput", {}) | rows)
    for name, row in rows.items():
        print(
            f"{name}: {row['preset']} {' '.join(row['settings'])}: {row['parameters']:,} parameters, "
            f"{row['actions_per_second']:,.0f} actions/s (playing alone {row['playing']:,.0f}, learning alone "
            f"{row['learning']:,.0f}), {row['actions_per_game']:.0f} actions a game, "
            f"{row['games_per_second']:,.0f} games/s, {row['games_per_second_of_a_core']:,.0f} a second of a core, "
            f"{row['gigabytes']:.2f} GB, {row['seconds_before']:.0f} s until all was compiled"
        )
        for part, share in row["parts"].items():
            print(f"    {part:32} {share:6.1%}")


def _speed(asked: argparse.Namespace, name: str) -> dict[str, Any]:
    """Return the speed of steps, and then their parts: with a wait for the device around each."""
    preset, changes = SPEEDS.get(name, (name, []))
    changes = [*changes, "rnad.steps=1", *asked.set]
    config, device = load_config(preset, changes), local_device(asked.device)
    begun = time.perf_counter()
    learner = RNaD(game(config.game, config.rules or None), config.stages["rnad"], Place(device, seed=1))
    for _ in range(5):  # graphs are captured at the fourth
        learner.iterate()
    before = time.perf_counter() - begun
    finished, processor = learner.games, time.process_time()
    steps = [learner.iterate() for _ in range(asked.steps)]
    processor = time.process_time() - processor
    play, learn = (sum(each[f"seconds.{part}"] for each in steps) for part in ("play", "learn"))
    moves = sum(each["speed.moves_per_second"] * (each["seconds.play"] + each["seconds.learn"]) for each in steps)
    gigabytes = torch.cuda.max_memory_allocated(device) / 2**30 if device.type == "cuda" else 0.0
    return {
        "preset": preset, "settings": changes, "device": _name(device),
        "parameters": sum(each.numel() for each in learner.trainee.network.parameters()),
        "actions_per_second": moves / (play + learn), "playing": moves / play, "learning": moves / learn,
        "games_per_second": (learner.games - finished) / (play + learn),
        "games_per_second_of_a_core": (learner.games - finished) / processor,
        "actions_per_game": moves / (asked.steps * learner.settings.games),
        "gigabytes": gigabytes, "seconds_before": before, "parts": _parts(learner, asked.steps),
    }  # fmt: skip


def _parts(learner: RNaD, steps: int) -> dict[str, float]:
    """Return the shares of the parts of a step in its time."""
    seconds: dict[str, float] = defaultdict(float)

    def timed(part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def do(*given: Any, **named: Any) -> Any:
            with learner.place.timed({}, "before"):
                pass  # the device finishes what it was given before
            with learner.place.timed(seconds, part):
                return work(*given, **named)

        return do

    whole: Any = learner
    whole.looker.look = timed("observations made again", learner.looker.look)
    whole._forward = timed("forward, in training", learner._forward)
    others = "forward, target and regularisation"
    whole._judge = timed(others, learner._judge)
    whole._regular = {name: timed(others, forward) for name, forward in learner._regular.items()}
    variant = learner.settings.variant
    kept, backward = targets.VARIANTS[variant], torch.autograd.backward
    targets.VARIANTS[variant] = timed("v-trace", kept)
    torch.autograd.backward = timed("backward", backward)
    whole.trainee.optimiser.step = timed("Adam", learner.trainee.optimiser.step)
    whole.policies.follow = timed("target", learner.policies.follow)
    try:
        told = [learner.iterate() for _ in range(steps)]
    finally:
        targets.VARIANTS[variant], torch.autograd.backward = kept, backward
    play, learn = (sum(each[f"seconds.{part}"] for each in told) for part in ("play", "learn"))
    parts = {"playing": play, **seconds, "losses and the rest": learn - sum(seconds.values())}
    return {part: round(each / (play + learn), 4) for part, each in parts.items()}


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


# ── Small games ──────────────────────────────────────────────────────────────────────────────────


def _small(asked: argparse.Namespace) -> None:
    runs = Path(asked.runs)
    started = {}
    for preset in asked.presets:
        for seed in range(1, asked.seeds + 1):
            to = runs / f"{Path(preset).stem}-{seed}.json"
            started[to] = _start(asked, f"train {seed} {preset}", to)
    found = [each for to, process in started.items() if (each := _finish(process, to))]
    others = [each for each in _results(asked).get("small", []) if each["preset"] not in asked.presets]
    _keep(asked, "small", [*others, *found])
    print("NashConv of the target network as it is, without fine-tuning and with it in the last tenth")
    for run in found:
        told = "  ".join(f"{name} {_shown(run['nash_conv'].get(name))}" for name in ("plain", "tuned"))
        course = " ".join(f"{each['nash_conv']:.3f}" for each in run["course"] if "nash_conv" in each)
        print(
            f"{run['preset']} seed {run['seed']}: {told}  ({run['steps']:,} steps, {run['games']:,} games, "
            f"{run['minutes']:.1f} minutes on {run['device']})  in its course: {course or '–'}"
        )


def _shown(number: float | None) -> str:
    return "not done yet" if number is None else f"{number:.4f}"


def _train_small(asked: argparse.Namespace, seed: str, preset: str) -> dict[str, Any]:
    """Train, and from nine tenths on a copy of the run with fine-tuning; judge both when they have ended."""
    name = Path(preset).stem
    folder = Path(asked.runs) / f"{name}-{seed}"
    device = torch.device("cpu") if name in ON_CPU else local_device(asked.device)
    course_file = folder / "course.json"
    folder.mkdir(parents=True, exist_ok=True)
    course = json.loads(course_file.read_text(encoding="utf-8")) if course_file.exists() else []
    changes = [*asked.set, f"seed={seed}", "evaluation.every=0"]
    plain, tuned = folder / "plain", folder / "tuned"
    run = _open(preset, changes, plain, device)
    whole = run.config.iterations
    tree = None
    judged = {}
    while run.goes_on() and time.perf_counter() < asked.end:
        told = run.iterate()
        if run.iteration == max(1, whole * 9 // 10) and not tuned.exists():
            run.save()
            shutil.copytree(plain, tuned)
        if run.iteration % max(1, whole // 10) == 0:
            run.save()
            row = {"iteration": run.iteration, "games": run.totals["games"], "minutes": round(run.minutes, 2)}
            row |= {key: round(told[f"rnad.{key}"], 5) for key in ("entropy", "value_loss", "bounded", "regular_kl")}
            if _often(run.game):
                tree = tree or build_tree(run.game)
                row["nash_conv"] = _nash_conv(tree, plain / MODEL, device)
            row["scores"] = {
                opponent: _play(plain / MODEL, opponent, run.game, asked.games, device, run.config.seed)
                for opponent in run.config.evaluation.ladder
            }
            course.append(row)
            _write(course_file, course)
            print(row, flush=True)
    run.save()
    run.close()
    ended = run.iteration >= whole
    if ended:
        taken = run.stages[0].learner.progress()["taken"]
        first = max(1, whole * 9 // 10) * (taken // run.iteration) + 1
        other = Run.resume(tuned, device, changes=[f"rnad.fine_tuning_from={first}"])
        while other.goes_on() and time.perf_counter() < asked.end:
            other.iterate()
        other.save()
        other.close()
        if other.iteration >= whole and time.perf_counter() < asked.end:
            tree = tree or build_tree(run.game)
            judged = {each.name: _nash_conv(tree, each / MODEL, device) for each in (plain, tuned)}
    return {
        "preset": name, "seed": int(seed), "settings": asked.set, "device": _name(device),
        "steps": run.stages[0].learner.progress()["taken"], "games": int(run.totals["games"]),
        "minutes": round(run.minutes, 2), "ended": ended, "nash_conv": judged, "course": course,
    }  # fmt: skip


def _often(played: Game) -> bool:
    try:
        build_tree(played, limit=OFTEN)
    except VaubanError:
        return False
    return True


def _nash_conv(tree: Tree, model: Path, device: torch.device) -> float:
    agent = NetAgent(NetOptions(model=str(model.absolute()), device=device.type))
    return float(evaluate(tree, tabulated(tree, agent)).nash_conv)


def _open(preset: str, changes: list[str], folder: Path, device: torch.device) -> Run:
    """Begin a run, or go on with it."""
    if (folder / CONFIG).exists():
        return Run.resume(folder, device)
    return Run.begin(load_config(preset, changes), folder, device)


# ── Barrage ──────────────────────────────────────────────────────────────────────────────────────


def _barrage(asked: argparse.Namespace) -> None:
    """Train for the seconds of this call."""
    run = _open(asked.run, [*asked.set, "evaluation.every=0"], _folder(asked), local_device(asked.device))
    begun, before = time.perf_counter(), run.totals["moves"]
    told: dict[str, float] = {}
    while run.goes_on() and time.perf_counter() < asked.end:
        kept = run.minutes // asked.keep
        told = run.iterate()
        run.save_if_due()
        if run.minutes // asked.keep > kept:
            run.save_model(run.folder / MODELS / f"{run.iteration:06}")
        print(_line(told), flush=True)
    run.save()
    run.close()
    seconds = time.perf_counter() - begun
    row = {
        "iteration": run.iteration, "minutes": round(run.minutes, 2), "moves": int(run.totals["moves"]),
        "games": int(run.totals["games"]), "seconds_of_this_call": round(seconds, 1),
        "actions_per_second": round((run.totals["moves"] - before) / max(seconds, 1e-9), 1),
        "last": {name: round(value, 5) for name, value in told.items()},
    }  # fmt: skip
    row = {"run": run.folder.name} | row
    _keep(asked, "barrage", [*_results(asked).get("barrage", []), row])
    print(
        f"{row['minutes']} minutes in all, {row['iteration']} iterations, {row['games']:,} games, "
        f"{row['actions_per_second']:,.0f} actions/s in this call, compiling and saving included"
    )


def _line(told: dict[str, float]) -> str:
    shown = [name for name in ("iteration", "minutes", *SHOWN) if name in told]
    return "  ".join(f"{name} {told[name]:.4g}" for name in shown)


def _folder(asked: argparse.Namespace) -> Path:
    return Path(asked.runs) / Path(asked.run).stem


def _matches(asked: argparse.Namespace) -> None:
    """Let models play the game in whole moves, against agents that know no other, as long as there is time."""
    run, device = _folder(asked), local_device(asked.device)
    config = load_config(str(run / CONFIG))
    played = game(config.game, config.rules or None)
    played = played.plain if isinstance(played, StrategoSteps) else played
    minutes = {line["iteration"]: line["minutes"] for line in read_metrics(run) if "minutes" in line}
    scores = {line["iteration"]: line for line in read_lines(run / SCORES)}
    rows = _results(asked).get("matches", [])
    for at, model in reversed(_models(run)):
        for opponent in asked.against:
            if f"score.{opponent}" in scores.get(at, {}) or time.perf_counter() > asked.end:
                continue
            row = {"run": run.name, "iteration": at, "minutes": round(minutes.get(at, 0.0), 2), "opponent": opponent,
                   "game": played.name, "rules": played.rules_text}  # fmt: skip
            row |= _play(model, opponent, played, asked.games, device, config.seed)
            rows.append(row)
            if "refused" in row:
                print(f"{opponent}: not played: {row['refused']}", flush=True)
                continue
            line = scores.setdefault(at, {"iteration": at, "minutes": row["minutes"]})
            told = {f"{name}.{opponent}": row[name] for name in ("score", "score_low", "score_high")}
            line |= {name: value for name, value in told.items() if value is not None}  # of few games no interval
            write_lines(run / SCORES, [scores[each] for each in sorted(scores)])
            _keep(asked, "matches", rows)
            print(
                f"{opponent:12} {row['minutes']} minutes: {row['wins']} – {row['draws']} – {row['losses']} of "
                f"{row['games']}: score {row['score']:.3f} ({_shown(row['score_low'])} … {_shown(row['score_high'])}), "
                f"{row['mean_plies']:.0f} plies, {row['seconds']} s",
                flush=True,
            )
    _keep(asked, "matches", rows)
    _draw_strength(asked)


def _models(run: Path) -> list[tuple[int, Path]]:
    """Return the models of a run, kept ones and the last, by their iterations."""
    progress = json.loads((run / CHECKPOINT / "progress.json").read_text(encoding="utf-8"))
    kept = {int(model.name): model for model in (run / MODELS).glob("*") if model.name.isdigit()}
    return sorted((kept | {progress["iteration"]: run / MODEL}).items())


def _draw_strength(asked: argparse.Namespace) -> None:
    """Draw the scores of all runs that have played matches, by minutes of training."""
    found = sorted(Path(asked.runs).glob(f"*/{SCORES}"))
    runs = [RunMetrics(path.parent.name, read_lines(path)) for path in found]
    if runs:
        picture = curves_svg(runs, make_panels(runs, Against.MINUTES, ["score.*"]))
        (Path(asked.out) / "strength.svg").write_text(picture, encoding="utf-8")


def _pack(asked: argparse.Namespace) -> None:
    """Write an archive of the run and of all results, in pieces: what it takes to go on elsewhere."""
    whole, runs, run = io.BytesIO(), Path(asked.runs), _folder(asked)
    with tarfile.open(fileobj=whole, mode="w") as archive:
        names = (CONFIG, METRICS_FILE, SCORES, CHECKPOINT, MODEL, MODELS)
        for path in (runs / RESULTS, *(run / name for name in names)):
            if path.exists():
                archive.add(path, path.relative_to(runs), filter=_unless_under_way)
    data = whole.getvalue()
    for number, first in enumerate(range(0, len(data), PIECE)):
        (Path(asked.out) / f"runs.tar.{number}").write_bytes(data[first : first + PIECE])


def _unless_under_way(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if entry.name.endswith(UNDER_WAY) else entry


def _play(model: Path, opponent: str, played: Game, games: int, device: torch.device, seed: int) -> dict[str, Any]:
    """Return a match of a model, or why it cannot play."""
    options = NetOptions(model=str(model.absolute()), device=device.type)
    begun = time.perf_counter()
    try:
        NetAgent(options).check_plays(played)
        match = Match(lambda number: NetAgent(options, number), opponent, games, played, None, seed)
        results = [each.result for each in play_games(match, range(match.games))]
    except VaubanError as error:
        return {"refused": str(error)}
    failed = [result.note for result in results if result.note.startswith(FAILED)]
    if failed:
        raise SystemExit(f"{model} against {opponent}: {failed[0]}")
    told = summary(results)
    return {**{name: told[name] for name in KEPT}, "seconds": round(time.perf_counter() - begun, 1)}


# ── Deployments ──────────────────────────────────────────────────────────────────────────────────


def _deployments(asked: argparse.Namespace) -> None:
    device = local_device(asked.device)
    model = load_model(_folder(asked) / MODEL, device)
    played = model.game
    if not isinstance(played, StrategoSteps):
        raise SystemExit(f"{played.name} is not deployed by its players: {asked.run} trains another game")
    setups, nats = drawn_deployments(played, model.player, asked.draws, device)
    uniform = np.stack([played.setups.draw(random.Random(seed)) for seed in range(asked.draws)])
    found: dict[str, Any] = {"draws": asked.draws, "game": played.name}
    for player, name in enumerate(played.players):
        found[name] = described(played, setups[player]) | {"entropy_bits": round(nats[player] / math.log(2), 2)}
    # The entropy of a uniform order of placing, which the paper's network has at first.
    free = range(played.setup_size, played.setup_size - played.variant.pieces, -1)
    found["uniform"] = described(played, uniform) | {"entropy_bits": round(sum(map(math.log2, free)), 2)}
    _keep(asked, "deployments", found)
    for key in found["uniform"]:
        print(f"{key:36} " + "  ".join(f"{name} {found[name][key]}" for name in (*played.players, "uniform")))


@torch.no_grad()
def drawn_deployments(
    played: StrategoSteps, network: Any, draws: int, device: torch.device
) -> tuple[npt.NDArray[np.int8], list[float]]:
    """Return setups of both players (2 × draws × squares) that a network places by its policy as it is, and the
    entropies of the players' placements in nats, estimated from the policies at each placement."""
    sim = Simulator(played, draws, device, seed=1, format=played.format(tracks=True), restart=False)
    actor = Actor(network, sim)
    squares: list[list[npt.NDArray[np.int16]]] = [[], []]
    nats = [0.0, 0.0]
    for placed in range(2 * played.variant.pieces):
        player = placed // played.variant.pieces
        log_policy = actor.choose().log_policy
        policy = log_policy.exp()
        nats[player] -= float((policy * torch.where(policy > 0, log_policy, 0.0)).sum(1).mean())
        squares[player].append(actor.actions.cpu().numpy().copy())
        actor.step()
    chosen = [np.stack(each, 1).tolist() for each in squares]
    return np.stack([[played.setup_of(each) for each in rows] for rows in chosen]), nats


def described(played: StrategoSteps, setups: npt.NDArray[Any]) -> dict[str, Any]:
    """Return what the paper says of deployments, of these (rows of codes: 0 for nothing, 1 + type)."""
    rows, columns = setups.shape[1] // played.board[1], played.board[1]
    flag = _where(setups, FLAG)
    found: dict[str, Any] = {
        "flag_by_row_from_the_back": _shares(flag // columns, rows),
        "different_of_all": round(len(np.unique(setups, axis=0)) / len(setups), 4),
        "most_frequent_flag_square": round(float(np.bincount(flag).max() / len(flag)), 4),
        "immobile": round(float(np.mean([not _moves(played, each) for each in setups])), 4),
    }
    has = [(setups == 1 + kind).any(0).any() for kind in range(len(TYPES))]
    if has[BOMB]:
        around = np.array([_beside(each, square, rows, columns) for each, square in zip(setups, flag, strict=True)])
        found["bombs_beside_the_flag"] = round(float(around[:, 0].mean()), 4)
        found["flag_has_a_bomb_beside_it"] = round(float((around[:, 0] > 0).mean()), 4)
        found["flag_closed_in_by_bombs"] = round(float((around[:, 0] == around[:, 1]).mean()), 4)
    if has[MARSHAL] and has[GENERAL]:
        marshal, general = _where(setups, MARSHAL) % columns, _where(setups, GENERAL) % columns
        found["marshal_and_general_on_different_sides"] = round(
            float(((marshal < columns / 2) != (general < columns / 2)).mean()), 4
        )
        found["columns_between_marshal_and_general"] = round(float(abs(marshal - general).mean()), 3)
    if has[SPY] and has[GENERAL]:
        spy, general = _where(setups, SPY), _where(setups, GENERAL)
        apart = np.maximum(abs(spy // columns - general // columns), abs(spy % columns - general % columns))
        found["spy_within_two_squares_of_the_general"] = round(float((apart <= 2).mean()), 4)
    return found


def _where(setups: npt.NDArray[Any], kind: int) -> npt.NDArray[np.int64]:
    """Return the square of the first piece of a type in each setup."""
    return np.asarray((setups == 1 + kind).argmax(1))


def _shares(values: npt.NDArray[np.int64], count: int) -> list[float]:
    return [round(float(each), 4) for each in np.bincount(values, minlength=count) / len(values)]


def _near(square: int, rows: int, columns: int) -> list[int]:
    row, column = divmod(square, columns)
    steps = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [a * columns + b for a, b in steps if 0 <= a < rows and 0 <= b < columns]


def _beside(setup: npt.NDArray[Any], flag: int, rows: int, columns: int) -> tuple[int, int]:
    """Return the number of Bombs beside the Flag, and the number of squares beside it, those in front included."""
    near = _near(int(flag), rows, columns)
    in_front = int(flag) // columns == rows - 1
    return sum(int(setup[square] == 1 + BOMB) for square in near), len(near) + in_front


def _moves(played: StrategoSteps, setup: npt.NDArray[Any]) -> bool:
    """Return whether a player with this setup can move at the start."""
    board = np.zeros(played.variant.squares, np.int64)
    board[: len(setup)] = setup
    board[list(played.barred)] = -1
    board[-len(setup) :] = np.where(setup[::-1] > 0, -2, 0)  # the other army, if it stood alike
    for square in np.flatnonzero((board > 0) & (board <= MOVABLE_TYPES)):
        if any(board[near] in (0, -2) for near in _near(int(square), *played.board)):
            return True
    return False


PARTS = {
    "throughput": _throughput, "small": _small, "barrage": _barrage, "matches": _matches, "deployments": _deployments,
}  # fmt: skip
OF_A_RUN = ("barrage", "matches", "deployments")


if __name__ == "__main__":
    main()
