"""Measures Pipeline PSRO in barrage as the paper does, and how exploitable players are, by best responses.

    python scripts/reproduce_p2sro.py OUT sac population matches responses --device cuda --minutes 9

| part | what it measures |
| --- | --- |
| `sac` | gradient steps and decisions a second of `--sac-preset`, the published oracle at its size |
| `population` | trains `--preset` for `--train` minutes in all: what each new best response gains, entries measured |
| `matches` | the population against `--against`, half of the games as first player, setups of people, full rules |
| `responses` | trains a response to each of `--to` for `--respond` minutes, and what it gains in new games |

A call stops after `--minutes` and the same command goes on, as often as it takes: trainings stay in OUT/runs, and
OUT/results.json has what all calls have measured. Parts are done in the order in which they are named; a match is
begun when there was time for the one before it. `--to population` names the population that was trained here.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from vauban.agents.opponents import Opponents
from vauban.arena.match import FAILED, Match
from vauban.arena.play import play_games
from vauban.arena.statistics import summary
from vauban.files import write_whole
from vauban.games.base import game
from vauban.learn.base import Place
from vauban.learn.best_response.sac import SAC, SACConfig
from vauban.learn.config import load_config
from vauban.learn.journal import read_metrics
from vauban.learn.opponents import NetworkPlayer
from vauban.learn.population import read_population
from vauban.learn.response import Responds
from vauban.learn.run import CONFIG, Run
from vauban.learn.workers import local_device

PARTS = ("sac", "population", "matches", "responses")
POPULATION = "population"
"""The name of its run, and of whom `--to` means by it."""
KEPT = ("wins", "draws", "losses", "games", "score", "score_low", "score_high", "mean_plies")
"""Entries of a match's summary that the results have."""
SAVING = 20.0
"""Seconds that are left for checkpoints, and for measuring a response."""

Left = Callable[[], float]
"""Seconds of this call that are left."""


def main() -> None:
    asked = _parser().parse_args()
    until = time.time() + 60 * asked.minutes
    done = go_on(asked, lambda: until - time.time())
    print("\neverything is done" if done else "\nnot everything is done: the same command goes on")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder for results.json and the runs")
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="most minutes of this call")
    parser.add_argument("--game", default="barrage")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--preset", default="psro-barrage", help="of the population")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the population's preset")
    parser.add_argument("--train", type=float, default=12.0, help="minutes that the population is trained")
    parser.add_argument("--against", nargs="*", default=["charger", "thermal", "fox", "thermal:refuse=1"])
    parser.add_argument("--games", type=int, default=400, help="of a match")
    parser.add_argument("--setups", default="human", help="of both sides in a match")
    parser.add_argument("--to", nargs="*", default=["net:barrage", "search:barrage", POPULATION])
    parser.add_argument("--response-preset", default="ppo-barrage")
    parser.add_argument("--set-response", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--respond", type=float, default=3.0, help="minutes that a response is trained")
    parser.add_argument("--response-games", type=int, default=2000, help="new games that measure a response")
    parser.add_argument("--sac-preset", default="sac-barrage")
    parser.add_argument("--set-sac", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--updates", type=int, default=100, help="gradient steps of sac that are timed")
    return parser


def go_on(asked: argparse.Namespace, left: Left) -> bool:
    """Do what there is time for, however little that is; whether everything is done."""
    asked.out.mkdir(parents=True, exist_ok=True)
    parts = {"sac": _sac, POPULATION: _population, "matches": _matches, "responses": _responses}
    done = [left() > 0 and parts[part](asked, left) for part in asked.parts]
    return all(done)


# ── Results ──────────────────────────────────────────────────────────────────────────────────────


def results(out: Path) -> dict[str, Any]:
    """Return what all calls have measured."""
    file = out / "results.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def _keep(asked: argparse.Namespace, part: str, name: str, told: Any) -> None:
    """Put down what was measured, in place of what was before."""
    found = results(asked.out)
    found.setdefault(part, {})[name] = told
    write_whole(asked.out / "results.json", json.dumps(found, indent=1) + "\n")
    print(f"{part} {name}: {json.dumps(told)}", flush=True)


def _has(asked: argparse.Namespace, part: str, name: str) -> bool:
    return name in results(asked.out).get(part, {})


# ── The published oracle ─────────────────────────────────────────────────────────────────────────


def _sac(asked: argparse.Namespace, left: Left) -> bool:
    """Time steps of discrete SAC against a network of its own kind that knows nothing."""
    if _has(asked, "sac", asked.sac_preset):
        return True
    device = local_device(asked.device)
    changes = [f'game="{asked.game}"', "sac.opponents=[]", *asked.set_sac]
    config = load_config(asked.sac_preset, changes).stages["sac"]
    assert isinstance(config, SACConfig)
    played = game(asked.game)
    place = Place(device, seed=asked.seed, agents=Opponents())
    oracle = SAC(played, replace(config, start=min(config.start, 4 * config.batch), rounds=1), place)
    oracle.face([NetworkPlayer("itself", SAC(played, config, place).trainee.average)], [1.0])
    told = dict.fromkeys(("play", "learn", "updates", "decisions"), 0.0)
    compiled = False  # by the first steps, which are not timed
    while told["updates"] < asked.updates:
        before = oracle.decisions
        line = oracle.iterate()
        if compiled:
            told["play"] += line["seconds.play"]
            told["learn"] += line["seconds.learn"]
            told["updates"] += line["sac.updates"]
            told["decisions"] += oracle.decisions - before
        compiled = compiled or line["sac.updates"] > 0
    parameters = sum(each.numel() for each in oracle.trainee.network.parameters())
    memory = torch.cuda.max_memory_allocated(device) / 2**30 if device.type == "cuda" else 0.0
    _keep(
        asked, "sac", asked.sac_preset,
        {
            "updates_per_second": told["updates"] / told["learn"],
            "decisions_per_second": told["decisions"] / told["play"],
            "updates": told["updates"], "batch": config.batch, "parameters": parameters, "gigabytes": memory,
            "device": _name(device),
        },
    )  # fmt: skip
    return True


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


# ── Trainings ────────────────────────────────────────────────────────────────────────────────────


def _run(asked: argparse.Namespace, name: str, preset: str, changes: list[str]) -> Run:
    """Begin a training of this script, or go on with it."""
    folder, device = asked.out / "runs" / name, local_device(asked.device)
    if (folder / CONFIG).exists():
        return Run.resume(folder, device, changes=changes, agents=Opponents())
    changes = [f'game="{asked.game}"', f"seed={asked.seed}", "iterations=0", *changes]
    return Run.begin(load_config(preset, changes), folder, device, agents=Opponents())


def _train(run: Run, left: Left) -> bool:
    """Train until it is over or the time is; whether it is over."""
    longest = 0.0
    while run.goes_on() and left() > SAVING + longest:
        begun = left()
        line = run.iterate()
        longest = max(longest, begun - left())
        print(f"{run.folder.name}: iteration {run.iteration}, {left():.0f} s left: {json.dumps(line)}", flush=True)
        run.save_if_due()
    run.save()
    return not run.goes_on()


def _population(asked: argparse.Namespace, left: Left) -> bool:
    told = results(asked.out).get(POPULATION, {}).get(asked.preset, {})
    if told.get("over") and told["asked_minutes"] == asked.train:
        return True
    run = _run(asked, POPULATION, asked.preset, [f"minutes={asked.train}", *asked.set])
    over = _train(run, left)
    run.close()
    population = read_population(run.folder)
    lines = read_metrics(run.folder)
    last = lines[-1] if lines else {}
    gains = [(line["iteration"], line["psro.response"]) for line in lines if "psro.response" in line]
    _keep(
        asked, POPULATION, asked.preset,
        {
            "over": over, "asked_minutes": asked.train, "minutes": last.get("minutes", 0.0),
            "updates": population.updates, "episodes": last.get("games", 0.0), "entries": last.get("psro.entries", 0.0),
            "gains_of_new_responses": gains, "policies": [asdict(each) for each in population.policies],
            "device": _name(run.device),
        },
    )  # fmt: skip
    return over


# ── What they come to ────────────────────────────────────────────────────────────────────────────


def _matches(asked: argparse.Namespace, left: Left) -> bool:
    """Play the matches of the population as it is now that have not been played."""
    folder = asked.out / "runs" / POPULATION
    agent = f"population:{folder}"
    updates, longest = read_population(folder).updates, 0.0
    for opponent in asked.against:
        name = f"{opponent} after {updates} updates"
        if _has(asked, "matches", name):
            continue
        if left() < longest:
            return False
        begun = time.perf_counter()
        match = Match(agent, opponent, asked.games, asked.game, None, asked.seed, setups=asked.setups)
        played = [each.result for each in play_games(match, range(match.games))]
        if failed := [each.note for each in played if each.note.startswith(FAILED)]:
            raise SystemExit(f"{agent} against {opponent}: {failed[0]}")
        longest = time.perf_counter() - begun
        counted = summary(played)
        _keep(asked, "matches", name, {**{key: counted[key] for key in KEPT}, "seconds": round(longest, 1)})
    return True


def _responses(asked: argparse.Namespace, left: Left) -> bool:
    """Train the responses, one after the other, and measure each when it is over."""
    for number, text in enumerate(asked.to):
        if _has(asked, "responses", text):
            continue
        agent = f"population:{asked.out.absolute() / 'runs' / POPULATION}" if text == POPULATION else text
        table = load_config(asked.response_preset).algorithms[0]
        changes = [f"minutes={asked.respond}", f"{table}.opponents={json.dumps([agent])}", *asked.set_response]
        if left() <= SAVING:
            return False
        run = _run(asked, f"response-{number}", asked.response_preset, changes)
        if not _train(run, left):
            run.close()
            return False
        learner = run.first
        assert isinstance(learner, Responds)
        scores = learner.measure(asked.response_games)
        _keep(
            asked, "responses", text,
            {
                "score": scores.score, "margin": scores.margin, "first": asdict(scores.first),
                "second": asdict(scores.second), "minutes": run.minutes, "episodes": learner.episodes,
                "model": str(run.folder / "model"), "device": _name(run.device),
            },
        )  # fmt: skip
        run.close()
    return True


if __name__ == "__main__":
    main()
