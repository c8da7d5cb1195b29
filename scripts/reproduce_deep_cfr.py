"""Reproduces the figures of the Deep CFR paper on Geister: trains several seeds side by side, then plays their models.

    python scripts/reproduce_deep_cfr.py OUT --runs runs/paper --seeds 6 --device cuda --minutes 9

Every run is a process of its own. All models that it keeps (one in a hundred iterations) play `--games` games against
each of `--against`, half of them as first player, by the rules of the preset's evaluation. OUT/results.json has, for
every run, its settings, its speed, its metrics at each model, and wins, draws, losses and ends of each match; the
table that is printed has the means over the seeds. With `--model FOLDER`, the last model of the first seed of the last
preset is kept there.

With `--minutes` it stops in time, saves, and tells what is left: the same command goes on, as often as it takes, with
the runs in the folder `--runs`. A call that is killed loses the training since the call before, and the matches that
were being played. OUT/results.json has what there is so far, and `complete` says whether that is all.

Small kernels of several processes share a GPU well only through NVIDIA's multi-process service: it is started where
its program, nvidia-cuda-mps-control, is there and works (`--no-mps` leaves it).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vauban.agents.net import NetAgent, NetOptions
from vauban.arena.match import FAILED, Match
from vauban.arena.play import play_games
from vauban.arena.statistics import ends_of_wins, summary
from vauban.games.base import game
from vauban.learn.config import RunConfig, load_config
from vauban.learn.journal import read_lines, read_metrics
from vauban.learn.run import CONFIG, MODELS, Run, run_config
from vauban.learn.workers import local_device
from vauban.nets.store import CARD

KEPT = ("wins", "draws", "losses", "games", "score", "score_low", "score_high", "mean_plies")
"""Entries of a match's summary that the results have."""
MATCHES = "matches.jsonl"
"""In a run's folder: its matches so far."""
SAVING = 40.0
"""Seconds that are left for checkpoints, of which a dozen runs of the published size write some gigabytes; and that the
first match is expected to take."""
DIGITS = 6
"""Of metrics in the results."""


def main() -> None:
    asked = _parser().parse_args()
    until = time.time() + 60 * asked.minutes if asked.until is None else asked.until
    if asked.one:
        preset, seed, folder = asked.one.split(" ", 2)
        go_on(asked, preset, int(seed), Path(folder), lambda: until - time.time())
        return
    out = Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _sharing(asked) as environment:
        runs = Path(asked.runs or folder)
        failed = _go_on_with_all(asked, runs, environment, until)
        rest = [run for run in _runs(asked, runs) if run[-1].name not in failed]
        results = [told(asked, *run) for run in rest]
        complete = not failed and not any(run["left"] for run in results)
        found = {"complete": complete, "runs": results}
        (out / "results.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        models = runs / f"{Path(asked.presets[-1]).stem}-1" / MODELS
        if asked.model and models.exists():
            shutil.copytree(sorted(models.iterdir())[-1], asked.model, dirs_exist_ok=True)
    _print_table(results)
    if failed:
        raise SystemExit(f"{len(failed)} runs failed: {', '.join(failed)}")
    print("\neverything is done" if complete else "\nnot everything is done: the same command goes on")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="the folder for results.json")
    parser.add_argument("--presets", nargs="+", default=["deep-cfr-geister", "deep-cfr-geister-history"])
    parser.add_argument("--seeds", type=int, default=6, help="seeds 1, 2, … of each preset")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as vauban train has it")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="most minutes of this call")
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--against", nargs="*", default=["random", "runner", "purple:depth=1"])
    parser.add_argument("--plays", default="", help="which network of a model plays, if not the one its card names")
    parser.add_argument("--last", type=int, default=10, help="so many of the models of each run are played")
    parser.add_argument("--runs", default="", help="the folder for the runs; they are thrown away without one")
    parser.add_argument("--model", default="", help="the folder for a model")
    parser.add_argument("--no-mps", action="store_true")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=None, help=argparse.SUPPRESS)
    return parser


# ── All runs ─────────────────────────────────────────────────────────────────────────────────────


def _runs(asked: argparse.Namespace, runs: Path) -> Iterator[tuple[str, int, Path]]:
    for preset in asked.presets:
        for seed in range(1, asked.seeds + 1):
            yield preset, seed, runs / f"{Path(preset).stem}-{seed}"


def _go_on_with_all(asked: argparse.Namespace, runs: Path, environment: Mapping[str, str], until: float) -> list[str]:
    """Go on with every run, each in a process of its own; return the names of those that failed."""
    runs.mkdir(parents=True, exist_ok=True)
    started = {}
    for preset, seed, folder in _runs(asked, runs):
        command = [sys.executable, __file__, *sys.argv[1:], "--one", f"{preset} {seed} {folder}", "--until", str(until)]
        with folder.with_suffix(".log").open("a") as log:
            started[folder] = subprocess.Popen(command, env={**environment}, stdout=log, stderr=log)
    failed = [folder for folder, process in started.items() if process.wait()]
    for folder in failed:
        print(f"{folder.name} failed:\n{folder.with_suffix('.log').read_text()[-4000:]}", flush=True)
    return [folder.name for folder in failed]


@contextmanager
def _sharing(asked: argparse.Namespace) -> Iterator[Mapping[str, str]]:
    """Give the environment in which processes share the machine."""
    # More threads than cores would only wait for each other; whoever shares the cores asks for fewer still.
    side_by_side = asked.seeds * len(asked.presets)
    threads = str(max(1, (os.cpu_count() or 1) // side_by_side))
    environment = {"OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads, **os.environ}
    control = shutil.which("nvidia-cuda-mps-control")
    if asked.no_mps or asked.device == "cpu" or control is None or side_by_side == 1:
        print("without NVIDIA's multi-process service", flush=True)
        yield environment
        return
    with tempfile.TemporaryDirectory() as folder:
        shared = {**environment, "CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        subprocess.run([control, "-d"], env=shared, check=False)
        try:
            check = [sys.executable, "-c", "import torch; torch.zeros(1, device='cuda').item()"]
            works = subprocess.run(check, env=shared, check=False, timeout=60).returncode == 0
        except subprocess.TimeoutExpired:
            works = False
        print(f"NVIDIA's multi-process service {'works' if works else 'does not work here'}", flush=True)
        try:
            yield shared if works else environment
        finally:
            subprocess.run([control], input=b"quit\n", env=shared, check=False, timeout=30)


# ── One run ──────────────────────────────────────────────────────────────────────────────────────


def go_on(asked: argparse.Namespace, preset: str, seed: int, folder: Path, left: Callable[[], float]) -> None:
    """Train until it is done, then play the matches that are missing, as long as there is time.

    left: seconds of this call that are left. However few they are, one iteration is made or one match is played.
    """
    device = local_device(asked.device)
    if not (folder / CONFIG).exists():
        run = Run.begin(load_config(preset, [*asked.set, f"seed={seed}", "evaluation.every=0"]), folder, device)
    elif _is_trained(folder):
        run = None
    else:
        run = Run.resume(folder, device, changes=asked.set)
    if run is not None:
        _train(run, left)
    if _is_trained(folder):
        _play_all(asked, folder, device.type, left, at_once=run is None)


def _last_model(folder: Path) -> Path:
    return folder / MODELS / f"{run_config(folder).iterations:06}"


def _is_trained(folder: Path) -> bool:
    return (_last_model(folder) / CARD).exists()


def _train(run: Run, left: Callable[[], float]) -> None:
    every = run.config.keep_models
    while run.goes_on():
        metrics = run.iterate()
        if every and run.iteration % every == 0:
            print(f"{run.folder.name}: iteration {run.iteration}, {left():.0f} s left: {metrics}", flush=True)
        if left() < SAVING and run.goes_on():
            run.save()
            break
    else:
        run.save_model(_last_model(run.folder))
    run.close()


def _play_all(asked: argparse.Namespace, folder: Path, device: str, left: Callable[[], float], at_once: bool) -> None:
    """Play the matches that are missing; at_once: one of them even without the time for it."""
    config = run_config(folder)
    for model, opponent in _missing(asked, folder):
        played = read_lines(folder / MATCHES)
        alike = [match for match in played if match["opponent"] == opponent] or played
        if left() <= max((match["seconds"] for match in alike), default=SAVING) and not at_once:
            break
        at_once = False
        match = _play(model, opponent, asked, config, device)
        with (folder / MATCHES).open("a", encoding="utf-8") as file:
            file.write(json.dumps(match) + "\n")
        print(f"{folder.name}: {left():.0f} s left: {match}", flush=True)


def _missing(asked: argparse.Namespace, folder: Path) -> list[tuple[Path, str]]:
    """Return the matches that have not been played, the last model first."""
    played = {(match["iteration"], match["opponent"]) for match in read_lines(folder / MATCHES)}
    models = sorted((folder / MODELS).iterdir())[-asked.last :] if (folder / MODELS).exists() else []
    return [
        (model, opponent)
        for model in reversed(models)
        for opponent in asked.against
        if (int(model.name), opponent) not in played
    ]


def _play(model: Path, opponent: str, asked: argparse.Namespace, config: RunConfig, device: str) -> dict[str, Any]:
    """Return a match of a model."""
    played = game(config.game, config.evaluation.rules or config.rules or None)
    options = NetOptions(model=str(model.absolute()), device=device, plays=asked.plays)
    begun = time.perf_counter()
    match = Match(lambda seed: NetAgent(options, seed), opponent, asked.games, played, None, config.seed)
    results = [each.result for each in play_games(match, range(match.games))]
    failed = [result.note for result in results if result.note.startswith(FAILED)]
    if failed:
        raise SystemExit(f"{model} against {opponent}: {failed[0]}")
    counted = summary(results)
    first = [result for result in results if result.number % 2 == 0]
    return {
        "iteration": int(model.name),
        "opponent": opponent,
        **{name: counted[name] for name in KEPT},
        "wins_as_first": sum(result.winner == 0 for result in first),
        "ends_of_wins": {end: round(share, 4) for end, share in ends_of_wins(results).items()},
        "seconds": round(time.perf_counter() - begun, 1),
    }


# ── Results ──────────────────────────────────────────────────────────────────────────────────────


def told(asked: argparse.Namespace, preset: str, seed: int, folder: Path) -> dict[str, Any]:
    """Return what is known of a run."""
    config, lines = run_config(folder), read_metrics(folder)
    last = lines[-1] if lines else {"iteration": 0, "moves": 0, "minutes": 0}
    every = config.keep_models
    matches = read_lines(folder / MATCHES)
    missing = [f"{int(model.name)} against {opponent}" for model, opponent in _missing(asked, folder)]
    left = [] if _is_trained(folder) else [f"iterations {int(last['iteration']) + 1} to {config.iterations}"]
    return {
        "preset": preset,
        "seed": seed,
        "settings": asked.set,
        "device": asked.device,
        "iterations": int(last["iteration"]),
        "states": int(last["moves"]),
        "seconds_training": round(60 * last["minutes"], 1),
        "seconds_iterations": round(sum(value for line in lines for name, value in line.items() if _is_work(name)), 1),
        "left": left + missing,
        "metrics": [
            {name: round(value, DIGITS) for name, value in line.items()}
            for line in lines
            if every and line["iteration"] % every == 0
        ],
        "matches": sorted(matches, key=lambda match: (match["iteration"], match["opponent"])),
    }


def _is_work(metric: str) -> bool:
    return metric.startswith("seconds.") and metric != "seconds.evaluation"


def _print_table(results: list[dict[str, Any]]) -> None:
    """Print the mean share of wins of each preset against each opponent, by iteration."""
    keys = {(run["preset"], match["opponent"]): None for run in results for match in run["matches"]}
    for preset, opponent in keys:
        print(f"\n{preset} against {opponent}: iteration, wins (mean of the seeds; each), escapes of all wins")
        own = [match for run in results if run["preset"] == preset for match in run["matches"]]
        own = [match for match in own if match["opponent"] == opponent]
        for iteration in sorted({match["iteration"] for match in own}):
            rows = [match for match in own if match["iteration"] == iteration]
            shares = [match["wins"] / match["games"] for match in rows]
            wins = sum(match["wins"] for match in rows)
            escapes = sum(match["wins"] * match["ends_of_wins"].get("escape", 0.0) for match in rows)
            each = " ".join(f"{share:.3f}" for share in shares)
            print(f"{iteration:6} {sum(shares) / len(shares):7.3f}  ({each})  {escapes / max(wins, 1):.2f}")
    print()
    for run in results:
        print(
            f"{run['preset']} seed {run['seed']}: {run['iterations']} iterations, {run['states']:,} states, "
            f"{run['seconds_training']} s training (iterations {run['seconds_iterations']} s), "
            f"{len(run['matches'])} matches in {sum(match['seconds'] for match in run['matches']):.0f} s"
            + (f"; left: {_times(run)}" if run["left"] else "")
        )


def _times(run: Mapping[str, Any]) -> str:
    """Say what is left of a run, and for how long, by what the past took."""
    matches, seconds = run["matches"], run["seconds_training"]
    total = run["iterations"]
    parts = []
    for each in run["left"]:
        if each.startswith("iterations ") and total:
            first, last = (int(number) for number in each.removeprefix("iterations ").split(" to "))
            parts.append(f"{each} (about {(last - first + 1) * seconds / total:.0f} s)")
    missing = len(run["left"]) - len(parts)
    if missing and matches:
        mean = sum(match["seconds"] for match in matches) / len(matches)
        parts.append(f"{missing} matches (about {missing * mean:.0f} s)")
    elif missing:
        parts.append(f"{missing} matches")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
