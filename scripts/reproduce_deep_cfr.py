"""Reproduces the figures of the Deep CFR paper on Geister: trains several seeds side by side, then plays their models.

    python scripts/reproduce_deep_cfr.py OUT --presets deep-cfr-geister deep-cfr-geister-history --seeds 6 --device cuda

Every run is a process of its own. All models that it keeps (one in a hundred iterations) play `--games` games against
each of `--against`, half of them as first player, by the rules of the preset's evaluation. OUT/results.json has, for
every run, its settings, its speed, its metrics at each model, and wins, draws, losses and ends of each match; the
table that is printed has the means over the seeds. With `--model FOLDER`, the last model of the first seed of the last
preset is kept there. `--seconds` stops a training after so long: its models so far are played.

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vauban.agents.net import NetAgent, NetOptions
from vauban.arena.match import FAILED, Match
from vauban.arena.play import play_games
from vauban.arena.statistics import ends_of_wins, summary
from vauban.games.base import game
from vauban.learn.config import RunConfig, load_config
from vauban.learn.run import MODELS, Run
from vauban.learn.workers import local_device

KEPT = ("wins", "draws", "losses", "games", "score", "score_low", "score_high", "mean_plies")
"""Entries of a match's summary that the results have."""


def main() -> None:
    asked = _parser().parse_args()
    if asked.one:
        _run_one(asked)
        return
    out = Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _sharing(asked) as environment:
        runs = Path(asked.runs or folder)
        results = _run_all(asked, runs, environment)
        (out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        if asked.model:
            last = sorted((runs / f"{asked.presets[-1]}-1" / MODELS).iterdir())[-1]
            shutil.copytree(last, asked.model, dirs_exist_ok=True)
    _print_table(results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="the folder for results.json")
    parser.add_argument("--presets", nargs="+", default=["deep-cfr-geister", "deep-cfr-geister-history"])
    parser.add_argument("--seeds", type=int, default=6, help="seeds 1, 2, … of each preset")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as vauban train has it")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="most seconds of each training")
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--against", nargs="*", default=["random", "runner", "purple:depth=1"])
    parser.add_argument("--plays", default="", help="which network of a model plays, if not the one its card names")
    parser.add_argument("--last", type=int, default=10, help="so many of the models of each run are played")
    parser.add_argument("--runs", default="", help="the folder for the runs; they are thrown away without one")
    parser.add_argument("--model", default="", help="the folder for a model")
    parser.add_argument("--no-mps", action="store_true")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    return parser


# ── All runs ─────────────────────────────────────────────────────────────────────────────────────


def _run_all(asked: argparse.Namespace, runs: Path, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """Start a process for each run, and return what each has written."""
    started = {}
    for preset in asked.presets:
        for seed in range(1, asked.seeds + 1):
            folder = runs / f"{Path(preset).stem}-{seed}"
            command = [sys.executable, __file__, *sys.argv[1:], "--one", f"{preset} {seed} {folder}"]
            folder.parent.mkdir(parents=True, exist_ok=True)
            with folder.with_suffix(".log").open("w") as log:
                started[folder] = subprocess.Popen(command, env={**environment}, stdout=log, stderr=log)
    results = []
    for folder, process in started.items():
        if process.wait():
            print(f"{folder.name} failed:\n{folder.with_suffix('.log').read_text()[-4000:]}", flush=True)
            continue
        results.append(json.loads((folder / "results.json").read_text(encoding="utf-8")))
    return results


@contextmanager
def _sharing(asked: argparse.Namespace) -> Iterator[Mapping[str, str]]:
    """Give the environment in which processes share the GPU."""
    # A run is a process with little work for its CPU: more threads than cores would only wait for each other.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    control = shutil.which("nvidia-cuda-mps-control")
    alone = asked.seeds * len(asked.presets) == 1
    if asked.no_mps or asked.device == "cpu" or control is None or alone:
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


def _run_one(asked: argparse.Namespace) -> None:
    """Train, and play the models that were kept."""
    preset, seed, folder = asked.one.split(" ", 2)
    device = local_device(asked.device)
    config = load_config(preset, [*asked.set, f"seed={seed}", "evaluation.every=0"])
    begun = time.perf_counter()
    run = Run.begin(config, Path(folder), device)
    rows, iterations = [], 0.0
    while run.goes_on() and time.perf_counter() - begun < asked.seconds:
        started = time.perf_counter()
        told = run.iterate()
        iterations += time.perf_counter() - started
        if config.keep_models and run.iteration % config.keep_models == 0:
            rows.append({name: round(value, 6) for name, value in told.items()})
            print(f"{time.perf_counter() - begun:.0f} s: {rows[-1]}", flush=True)
    if not (run.folder / MODELS).exists():  # it was stopped before the first
        run.save_model(run.folder / MODELS / f"{run.iteration:06}")
    run.close()
    trained = time.perf_counter() - begun
    models = sorted((Path(folder) / MODELS).iterdir())[-asked.last :]
    matches = [_play(model, opponent, asked, config, device.type) for model in models for opponent in asked.against]
    found = {
        "preset": preset, "seed": int(seed), "settings": asked.set, "iterations": run.iteration,
        "states": int(run.totals["moves"]), "device": str(device), "seconds_training": round(trained, 1),
        "seconds_iterations": round(iterations, 1), "seconds_in_all": round(time.perf_counter() - begun, 1),
        "metrics": rows, "matches": matches,
    }  # fmt: skip
    (Path(folder) / "results.json").write_text(json.dumps(found), encoding="utf-8")


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
    told = summary(results)
    first = [result for result in results if result.number % 2 == 0]
    return {
        "iteration": int(model.name),
        "opponent": opponent,
        **{name: told[name] for name in KEPT},
        "wins_as_first": sum(result.winner == 0 for result in first),
        "ends_of_wins": {end: round(share, 4) for end, share in ends_of_wins(results).items()},
        "seconds": round(time.perf_counter() - begun, 1),
    }


def _print_table(results: list[dict[str, Any]]) -> None:
    """Print the mean share of wins of each preset against each opponent, by iteration."""
    keys = {(run["preset"], match["opponent"]): None for run in results for match in run["matches"]}
    for preset, opponent in keys:
        print(f"\n{preset} against {opponent}: iteration, wins (mean of the seeds; each), escapes of all wins")
        own = [match for run in results if run["preset"] == preset for match in run["matches"]]
        for iteration in sorted({match["iteration"] for match in own}):
            rows = [match for match in own if (match["iteration"], match["opponent"]) == (iteration, opponent)]
            shares = [match["wins"] / match["games"] for match in rows]
            wins = sum(match["wins"] for match in rows)
            escapes = sum(match["wins"] * match["ends_of_wins"].get("escape", 0.0) for match in rows)
            each = " ".join(f"{share:.3f}" for share in shares)
            print(f"{iteration:6} {sum(shares) / len(shares):7.3f}  ({each})  {escapes / max(wins, 1):.2f}")
    for run in results:
        print(
            f"{run['preset']} seed {run['seed']}: {run['iterations']} iterations, {run['states']:,} states, "
            f"{run['seconds_training']} s training (iterations {run['seconds_iterations']} s), "
            f"{run['seconds_in_all']} s in all"
        )


if __name__ == "__main__":
    main()
