"""A model made of a run: its networks, and a card with all that the run's folder knows."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from vauban.files import write_whole
from vauban.games.base import Game, from_spec
from vauban.games.base import game as played
from vauban.learn.ancestry import moving_minutes
from vauban.learn.base import MODEL, learners
from vauban.learn.checkpoint import PROGRESS, read_progress
from vauban.learn.commands import commands_text
from vauban.learn.config import config_table
from vauban.learn.journal import read_metrics
from vauban.learn.metrics import clock_of, metrics
from vauban.learn.origin import read_starts
from vauban.learn.readme import README, readme_text
from vauban.learn.run import CHECKPOINT, CONFIG, run_config
from vauban.nets.kinds import COUNTED
from vauban.nets.store import (
    SHIPPED,
    Card,
    Model,
    ModelError,
    Training,
    load_model,
    make_card,
    player_of,
    read_card,
    save_model,
    strength_row,
    with_place,
    write_card,
)

PROGRESS_METRICS = ("iteration", "minutes", "moves")
"""Metrics that stand in every row of a run's curve, before those that learners have kept (`Metric.kept`) and scores."""
ROWS = 32
"""Most rows of a run's curve; the curve of a model that a run went on from comes before it."""


def make_model(
    run: Path, out: Path, name: str, matches: Sequence[Path] = (), temperature: float = 1.0, where: str = ""
) -> Card:
    """Write the model of a run into a folder of its own, in bfloat16, with a page on it; its card.

    matches: files with what `vauban match net:RUN OPPONENT --json` printed, a match on a line.
    temperature: at which the model plays, unless somebody asks for another.
    where: the place that commands name it by, if it is to be found elsewhere than in that folder.
    """
    config, where = run_config(run), where or place_of(out)
    played(config.game, config.rules or None)  # a game in a file is the run's own, and may be loaded
    # Read before anything is written: a model whose strength cannot be told is not half made.
    model = load_model(run / MODEL)
    strength = [row for path in matches for row in _strength(path, run, name, model.game, config.game)]
    described = {
        part: {key: value for key, value in each.items() if key not in COUNTED}
        for part, each in model.card["networks"].items()
    }
    card = make_card(
        model.game, described, name=name, about=config.about or f"Trained by vauban train, in {run.name}.",
        training=training_of(run), source=read_progress(run / CHECKPOINT)["before"].get("source"), strength=strength,
        plays=player_of(model.card), temperature=temperature,
    )  # fmt: skip
    save_model(out, model.networks, card, torch.bfloat16)
    card = with_place(read_card(out), where)
    write_card(out, card)
    write_whole(out / README, readme_text(card, where))
    return card


def place_of(folder: Path) -> str:
    """Return how a command names the model in a folder: a shipped one by its name, others by a path with a slash."""
    if folder.resolve().parent == SHIPPED.resolve():
        return folder.name
    return str(folder) if "/" in str(folder) else f"./{folder}"


def load_trained(name: str | Path) -> Model:
    """Return a model whose card has its training: as it was written, or from the run in whose folder the model is.

    A run that has lost its checkpoint, or is of an earlier version, cannot tell its training: its model counts from
    nothing.
    """
    model = load_model(name)
    run = model.folder.parent
    files = (run / CONFIG, run / CHECKPOINT / PROGRESS)
    if "training" in model.card or model.folder.name != MODEL or not all(path.exists() for path in files):
        return model
    if "stages" not in read_progress(run / CHECKPOINT):
        return model
    return replace(model, card={**model.card, "training": asdict(training_of(run))})


def training_of(run: Path) -> Training:
    """Return the training of a run, after that of the model which it began with, if any."""
    progress, starts, lines = read_progress(run / CHECKPOINT), read_starts(run), read_metrics(run)
    before = progress["before"].get("training", {})
    commands = [text for text in (before.get("command", ""), commands_text(starts)) if text]
    believing = before.get("minutes", 0.0) - moving_minutes(before)
    seconds = sum(stage["seconds"] for stage in progress["stages"].values()) + 60 * believing
    return Training(
        configuration=config_table(run_config(run)),
        iterations=progress["iteration"],
        moves=progress["moves"],
        games=progress["games"],
        minutes=round(seconds / 60, 2),
        machine=_distinct([each["machine"] for each in (before, *starts) if each]) or "not known",
        commit=_distinct([each["commit"] for each in (before, *starts) if each]) or "not known",
        command=" && ".join(commands) or f"vauban train {run / CONFIG}",
        date=progress["saved"],
        steps=steps_of(lines, before.get("steps", {})),
        facts=facts_of(lines),  # nothing of what was before: a belief was measured on games of another policy
        curve=[*before.get("curve", ()), *curve_of(lines)],
    )


def steps_of(lines: Sequence[Mapping[str, float]], before: Mapping[str, int] = {}) -> dict[str, int]:
    """Return the gradient steps of each network that a run has trained; before: those that it began with."""
    counted: dict[str, float] = {}
    for kind in learners().values():
        for part, metric in kind.steps.items():
            found = [line.get(metric, 0) for line in lines]
            had = before.get(part, 0)
            # A clock counts on by itself. Several algorithms may train networks of one name.
            steps = max([had, *found]) if metric == kind.clock else had + sum(found)
            counted[part] = max(counted.get(part, 0), steps)
    return {part: int(steps) for part, steps in counted.items() if steps}


def facts_of(lines: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the last values of the metrics that later algorithms have kept (`Metric.kept`), by name."""
    facts: dict[str, float] = {}
    for kind in learners().values():
        kept = [each.name for each in kind.metrics if each.kept and kind.clock != "iteration"]
        last = next((line for line in reversed(lines) if any(name in line for name in kept)), {})
        facts |= {name: round(last[name], 4) for name in kept if name in last}
    return facts


def curve_of(lines: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Return the course of a run in a few rows: some evenly chosen, and among them those in which it was measured."""
    kept = [each.name for each in metrics().values() if each.kept and clock_of(each.name) == "iteration"]
    lines = [line for line in lines if any(name in line for name in kept)]
    scored = [place for place, line in enumerate(lines) if any(name.startswith("score.") for name in line)]
    scored = [scored[place] for place in _spread(len(scored), ROWS)]
    rows = []
    for place in sorted({*scored, *_spread(len(lines), ROWS - len(scored))}):
        line = lines[place]
        scores = [name for name in line if name.startswith("score.")]
        row = {name: line[name] for name in PROGRESS_METRICS if name in line}
        row |= {name.rpartition(".")[2]: line[name] for name in kept if name in line}
        rows.append({name: round(value, 5) for name, value in (row | {name: line[name] for name in scores}).items()})
    return rows


def _spread(count: int, most: int) -> list[int]:
    """Return at most `most` of the numbers below `count`, evenly spread from the first to the last."""
    if count <= most:
        return list(range(count))
    return [round(step * (count - 1) / max(1, most - 1)) for step in range(most)]


def _distinct(texts: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _strength(path: Path, run: Path, name: str, game: Game, variant: str) -> list[dict[str, Any]]:
    """Return the matches of a file as rows of a card. variant: how a command names it, which may be a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        date = time.strftime("%Y-%m-%d", time.localtime(path.stat().st_mtime))
        return [_row(json.loads(line), run, name, game, variant, date) for line in lines if line.strip()]
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, ModelError) as error:
        raise ModelError(
            f"{path}: there must be a line of JSON for each match, as `vauban match … --json` prints it: {error}"
        ) from error


def _row(told: Any, run: Path, name: str, game: Game, variant: str, date: str) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise ModelError(f"a match is an object, not {told!r}")
    kind, colon, options = told["agents"][0].partition(":") if told.get("agents") else ("", "", "")
    if not colon or kind not in ("net", "search"):
        raise ModelError(f"the first agent has to be the model, as net:RUN or search:RUN, not {kind!r}")
    model, comma, rest = options.partition(",")
    played = model.removeprefix("model=")
    if played != name and Path(played).resolve() not in (run.resolve(), (run / MODEL).resolve()):
        raise ModelError(f"a match of the model {played!r}, and this one is {name!r}, of the run {str(run)!r}")
    found = strength_row(told, "", date)
    plain = game.plain
    if plain is not None and found["variant"] == plain.name:
        # What was learned in steps is played in whole moves, too.
        game, variant = plain, plain.name
    if found["variant"] != game.name:
        raise ModelError(f"a match of {found['variant']!r}, and the model plays {game.name}")
    row = found | {"agent": f"{kind}:{name}{comma}{rest}"}
    usual = row["rules"] == from_spec({"game": game.definition()}).rules_text
    row["command"] = shlex.join(
        [
            "vauban", "match", row["agent"], row["opponent"], "--games", str(row["games"]),
            "--game", variant, *([] if usual else ["--rules", row["rules"]]), "--setups", row["setups"],
            "--seed", str(row["seed"]),
        ]
    )  # fmt: skip
    return row
