"""Reproduces the figures of the Deep CFR paper on Geister: trains several seeds side by side, then plays their models.

    python scripts/reproduce_deep_cfr.py OUT --runs runs/paper --seeds 6 --device cuda --minutes 9

Presets are trained one after the other, the seeds of each together in one process. All models that they keep (one in
a hundred iterations) play `--games` games against each of `--against`, half of them as first player, by the rules of
the preset's evaluation. Matches are played by processes of their own on the cores of the processor, while the GPU goes
on training. OUT/results.json has, for every run, its settings, its speed, its metrics at each model, and wins, draws,
losses and ends of each match; the table that is printed has the means over the seeds.

With `--minutes` it stops in time, saves, and tells what is left: the same command goes on, as often as it takes, with
the runs in the folder `--runs`. A call that is killed loses the training since the call before, and the matches that
were being played. OUT/results.json has what there is so far, and `complete` says whether that is all.

OUT/runs.tar.gz.0, .1, … are the pieces of an archive of the runs without their checkpoints: what the models that play
are made of, and the matches so far. `cat OUT/runs.tar.gz.* | tar xz -C RUNS` on another machine, and the same command
with `--runs RUNS --device cpu` there plays the matches that are left, without a GPU.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import shlex
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

import torch

from vauban.agents.net import NetAgent, NetOptions
from vauban.arena.match import FAILED, Match
from vauban.arena.play import play_games
from vauban.arena.statistics import ends_of_wins, summary
from vauban.errors import VaubanError
from vauban.games.base import game
from vauban.learn.base import MODEL
from vauban.learn.checkpoint import PROGRESS
from vauban.learn.config import RunConfig, config_table, load_config
from vauban.learn.deep_cfr.learner import DeepCFR
from vauban.learn.deep_cfr.together import join
from vauban.learn.journal import read_lines, read_metrics
from vauban.learn.origin import STARTS, note_start
from vauban.learn.run import CHECKPOINT, CONFIG, MODELS, Run, run_config
from vauban.learn.workers import ALONE, local_device
from vauban.nets.store import CARD, player_of, read_card

KEPT = ("wins", "draws", "losses", "games", "score", "score_low", "score_high", "mean_plies")
"""Entries of a match's summary that the results have."""
MATCHES = "matches.jsonl"
"""In a run's folder: its matches so far."""
BEFORE = "before"
"""In a run's folder: the model that it began with, by which matches are tried out."""
SAVING = 40.0
"""Seconds that are left for checkpoints, of which half a dozen runs of the published size write some gigabytes."""
EXPECTED = 30.0
"""Seconds that a match takes as long as none has been played."""
LOOKING = 2.0
"""Seconds of training between two looks at the matches."""
DIGITS = 6
"""Of metrics in the results."""
PIECE = 15 << 20
"""Bytes of a piece of the archive."""


def main() -> None:
    asked = _parser().parse_args()
    until = time.monotonic() + 60 * asked.minutes
    out = Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(asked.runs or folder)
        failed = go_on_with_all(asked, runs, lambda: until - time.monotonic())
        begun = [run for run in _runs(asked, runs) if run[0] not in failed and (run[-1] / CONFIG).exists()]
        results = [told(asked, *run) for run in begun]
        complete = not failed and not any(run["left"] for run in results)
        (out / "results.json").write_text(json.dumps({"complete": complete, "runs": results}, indent=1) + "\n")
        pack(asked, runs, out)
    _print_table(results)
    if failed:
        raise SystemExit("what failed: " + "; ".join(failed))
    print("\neverything is done" if complete else "\nnot everything is done: the same command goes on")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="the folder for results.json and the archive")
    parser.add_argument("--presets", nargs="+", default=["deep-cfr-geister", "deep-cfr-geister-history"])
    parser.add_argument("--seeds", type=int, default=6, help="seeds 1, 2, … of each preset")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as vauban train has it")
    parser.add_argument("--device", default="auto", help="for training; matches are played by the processor")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="most minutes of this call")
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--against", nargs="*", default=["random", "purple:depth=1", "runner"])
    parser.add_argument("--plays", default="", help="which network of a model plays, if not the one its card names")
    parser.add_argument("--last", type=int, default=10, help="so many of the models of each run are played")
    parser.add_argument("--players", type=int, default=max(1, (os.cpu_count() or 1) - 2),
                        help="processes that play matches")  # fmt: skip
    parser.add_argument("--runs", default="", help="the folder for the runs; they are thrown away without one")
    return parser


# ── All runs ─────────────────────────────────────────────────────────────────────────────────────


def _runs(asked: argparse.Namespace, runs: Path) -> Iterator[tuple[str, int, Path]]:
    for preset in asked.presets:
        for seed in range(1, asked.seeds + 1):
            yield preset, seed, runs / f"{Path(preset).stem}-{seed}"


def go_on_with_all(asked: argparse.Namespace, runs: Path, left: Callable[[], float]) -> list[str]:
    """Train one preset after the other, play what is missing meanwhile; return the presets that failed.

    left: seconds of this call that are left. However few they are, one iteration is made or one match is played.
    """
    runs.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # the other cores play matches
    with Matches(asked, [folder for *_, folder in _runs(asked, runs)], left) as matches:
        failed, trained = [], False
        for preset in asked.presets:
            if trained and left() < SAVING:
                break
            # The other presets, and what there is to tell, must not be lost with one.
            try:
                folders = [(seed, folder) for each, seed, folder in _runs(asked, runs) if each == preset]
                trained = train(asked, preset, folders, left, matches.go_on) or trained
            except Exception:
                traceback.print_exc()
                failed.append(preset)
        matches.finish(at_once=not trained)
    return failed + matches.failed


def train(
    asked: argparse.Namespace, preset: str, folders: Sequence[tuple[int, Path]], left: Callable[[], float],
    meanwhile: Callable[[], None],
) -> bool:  # fmt: skip
    """Train all seeds of a preset that are not done, as long as there is time; return whether there was one."""
    device = local_device(asked.device)
    runs = [
        Run.resume(folder, device, changes=asked.set)
        if (folder / CONFIG).exists()
        else _begun(load_config(preset, [*asked.set, f"seed={seed}", "evaluation.every=0"]), folder, device)
        for seed, folder in folders
        if not _is_trained(folder)
    ]
    for run in runs:
        command = shlex.join(["python", *sys.argv])
        note_start(run.folder, command, config_table(run.config), device, ALONE, run.iteration)
    learners = [run.first for run in runs if isinstance(run.first, DeepCFR)]
    # Of runs that were killed while they were saved, some may be ahead of others.
    alike = len({run.iteration for run in runs}) == 1 and len(runs) == len(folders)
    if alike and len(learners) == len(runs) > 1:
        join(learners)
    for group in [runs] if alike else [[run] for run in runs]:
        _train(group, left, meanwhile)
    return bool(runs)


def _begun(config: RunConfig, folder: Path, device: torch.device) -> Run:
    run = Run.begin(config, folder, device)
    run.save_model(folder / BEFORE)
    return run


def _train(runs: Sequence[Run], left: Callable[[], float], meanwhile: Callable[[], None]) -> None:
    every, looked = runs[0].config.keep_models, time.monotonic()
    while runs[0].goes_on():
        metrics = [run.iterate() for run in runs]
        if time.monotonic() - looked > LOOKING:
            meanwhile()
            looked = time.monotonic()
        if every and runs[0].iteration % every == 0:
            print(
                f"{runs[0].folder.name}: iteration {runs[0].iteration}, {left():.0f} s left: {metrics[0]}", flush=True
            )
        if left() < SAVING:
            break
    for run in runs:
        over = not run.goes_on()
        run.save()
        if over:
            run.save_model(_last_model(run.folder))
        run.close()


def _last_model(folder: Path) -> Path:
    return folder / MODELS / f"{run_config(folder).iterations:06}"


def _is_trained(folder: Path) -> bool:
    return (folder / CONFIG).exists() and (_last_model(folder) / CARD).exists()


# ── Matches ──────────────────────────────────────────────────────────────────────────────────────


class Matches:
    """The matches of all runs, played by processes of their own, as soon as there are models and as long as there is
    time."""

    def __init__(self, asked: argparse.Namespace, folders: Sequence[Path], left: Callable[[], float]) -> None:
        self._asked, self._folders, self._left = asked, folders, left
        self._pool: ProcessPoolExecutor | None = None
        self._playing: dict[Future[dict[str, Any]], tuple[Path, Path, str]] = {}
        self._tried = False
        self._lost: set[tuple[Path, Path, str]] = set()
        self.failed: list[str] = []
        """Matches that could not be played, and why."""

    def __enter__(self) -> Matches:
        os.environ.update({"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"})  # of processes to come
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self._asked.players, context, torch.set_num_threads, (1,))
        return self

    def __exit__(self, *error: object) -> None:
        assert self._pool is not None
        self._pool.shutdown(cancel_futures=True)

    def go_on(self, at_once: bool = False) -> None:
        """Take the results that there are, and let further matches begin; at_once: one of them even without the time.

        The first one is played alone, since it compiles what the others then find: by the model that a run began with,
        if it is there, just to try.
        """
        self._collect()
        tries = [folder for folder in self._folders if (folder / BEFORE / CARD).exists()]
        if self._asked.against and not self._tried and tries and not self._playing:
            self._begin(tries[0], tries[0] / BEFORE, "", 2)
        most = self._asked.players if self._tried else 1
        for folder, model, opponent in self._waiting():
            if len(self._playing) >= most:
                break
            if self._left() > 2 * self._expected(folder, opponent) or (at_once and not self._playing):
                self._begin(folder, model, opponent, self._asked.games)

    def finish(self, at_once: bool) -> None:
        """Play what is left, as long as there is time."""
        self.go_on(at_once)
        while self._playing:
            wait(self._playing, return_when=FIRST_COMPLETED)
            at_once = at_once and not any(opponent for _, _, opponent in self._playing.values())
            self.go_on(at_once)

    def _begin(self, folder: Path, model: Path, opponent: str, games: int) -> None:
        asked, config = self._asked, run_config(folder)
        assert self._pool is not None
        opponents = [opponent] if opponent else asked.against
        future = self._pool.submit(play, model.absolute(), opponents, games, asked.plays, config)
        self._playing[future] = folder, model, opponent

    def _collect(self) -> None:
        for future in [each for each in self._playing if each.done()]:
            folder, model, opponent = self._playing.pop(future)
            self._tried = True
            if error := future.exception():
                self._lost.add((folder, model, opponent))
                self.failed.append(f"{model} against {opponent or 'anybody'}: {error}")
                print(self.failed[-1], flush=True)
            elif opponent:
                match = {"iteration": int(model.name), "opponent": opponent, **future.result()}
                with (folder / MATCHES).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(match) + "\n")
                print(f"{folder.name}: {self._left():.0f} s left: {match}", flush=True)

    def _waiting(self) -> list[tuple[Path, Path, str]]:
        """Return the matches that nobody has begun: the latest models first, those of all runs in turn."""
        begun = {*self._playing.values(), *self._lost}
        found = [
            (folder, model, opponent)
            for folder in self._folders
            if (folder / CONFIG).exists()
            for model, opponent in missing(self._asked, folder)
        ]
        left = [each for each in found if each not in begun]
        return sorted(left, key=lambda each: (-int(each[1].name), self._asked.against.index(each[2])))

    def _expected(self, folder: Path, opponent: str) -> float:
        """Return how many seconds a match is expected to take."""
        played = [match for each in self._folders for match in read_lines(each / MATCHES)]
        alike = [match["seconds"] for match in played if match["opponent"] == opponent]
        return max(alike, default=EXPECTED)


def missing(asked: argparse.Namespace, folder: Path) -> list[tuple[Path, str]]:
    """Return the matches of a run that have not been played, of the models that there are."""
    played = {(match["iteration"], match["opponent"]) for match in read_lines(folder / MATCHES)}
    models = sorted(card.parent for card in (folder / MODELS).glob(f"*/{CARD}"))[-asked.last :]
    return [
        (model, opponent) for model in models for opponent in asked.against if (int(model.name), opponent) not in played
    ]


def play(model: Path, opponents: Sequence[str], games: int, plays: str, config: RunConfig) -> dict[str, Any]:
    """Return the match of a model against the last of these opponents."""
    played = game(config.game, config.evaluation.rules or config.rules or None)
    options = NetOptions(model=str(model), plays=plays)
    for opponent in opponents:
        begun = time.perf_counter()
        match = Match(lambda seed: NetAgent(options, seed), opponent, games, played, None, config.seed)
        results = [each.result for each in play_games(match, range(match.games))]
        failed = [result.note for result in results if result.note.startswith(FAILED)]
        if failed:
            raise VaubanError(f"{model} against {opponent}: {failed[0]}")
    counted = summary(results)
    first = [result for result in results if result.number % 2 == 0]
    return {
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
    unplayed = [f"{int(model.name)} against {opponent}" for model, opponent in missing(asked, folder)]
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
        "left": left + unplayed,
        "metrics": [
            {name: round(value, DIGITS) for name, value in line.items()}
            for line in lines
            if every and line["iteration"] % every == 0
        ],
        "matches": sorted(matches, key=lambda match: (match["iteration"], match["opponent"])),
    }


def _is_work(metric: str) -> bool:
    return metric.startswith("seconds.") and metric != "seconds.evaluation"


def pack(asked: argparse.Namespace, runs: Path, out: Path) -> None:
    """Write the archive of the runs, in pieces: of every model the network that plays, and no checkpoints."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz", compresslevel=1) as archive:
        for *_, folder in _runs(asked, runs):
            texts = [folder / name for name in (CONFIG, STARTS, MATCHES, "metrics.jsonl")]
            for path in [*texts, folder / CHECKPOINT / PROGRESS]:
                if path.exists():
                    archive.add(path, path.relative_to(runs))
            models = sorted(card.parent for card in (folder / MODELS).glob(f"*/{CARD}"))
            for model in [*models[-asked.last :], folder / MODEL]:
                if (model / CARD).exists():
                    _pack_model(archive, model, runs, asked.plays)
    data = whole.getvalue()
    for number, first in enumerate(range(0, len(data), PIECE)):
        (out / f"runs.tar.gz.{number}").write_bytes(data[first : first + PIECE])


def _pack_model(archive: tarfile.TarFile, model: Path, runs: Path, plays: str) -> None:
    card = read_card(model)
    part = plays or player_of(card)
    card |= {"plays": part, "networks": {part: card["networks"][part]}}
    text = json.dumps(card, indent=2).encode()
    entry = tarfile.TarInfo(str((model / CARD).relative_to(runs)))
    entry.size = len(text)
    archive.addfile(entry, io.BytesIO(text))
    for weights in model.glob(f"{part}.*"):
        archive.add(weights, weights.relative_to(runs))


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
    unplayed = len(run["left"]) - len(parts)
    if unplayed and matches:
        mean = sum(match["seconds"] for match in matches) / len(matches)
        parts.append(f"{unplayed} matches (about {unplayed * mean:.0f} s of a core)")
    elif unplayed:
        parts.append(f"{unplayed} matches")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
