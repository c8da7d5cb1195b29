"""A model made of a run: its networks, and a card with all that the run's folder knows."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from vauban.games.stratego.game import Stratego
from vauban.learn.checkpoint import read_progress
from vauban.learn.config import config_table, toml_text
from vauban.learn.metrics import read_metrics
from vauban.learn.origin import read_starts
from vauban.learn.run import CHECKPOINT, MODEL, run_config
from vauban.nets.store import (
    Card,
    ModelError,
    Training,
    load_model,
    make_card,
    read_card,
    save_model,
    strength_row,
)

CURVE = ("iteration", "minutes", "moves", "moves.entropy", "moves.outcome_loss")
"""Metrics that a card has the course of, beside the scores."""
ROWS = 32
"""So many points of the course, at most."""


def make_model(run: Path, out: Path, name: str, matches: Sequence[Path] = ()) -> Card:
    """Write the model of a run into a folder of its own, in bfloat16; its card.

    matches: files with what `vauban match net:RUN OPPONENT --json` printed, a match on a line.
    """
    config = run_config(run)
    # Read before anything is written: a model whose strength cannot be told is not half made.
    strength = [row for path in matches for row in _strength(path, name)]
    model = load_model(run / MODEL)
    kept = ("parameters", "dtype")
    described = {
        part: {key: value for key, value in each.items() if key not in kept}
        for part, each in model.card["networks"].items()
    }
    card = make_card(
        model.game, described, name=name, about=config.about or f"Trained by vauban train, in {run.name}.",
        training=training_of(run), strength=strength,
    )  # fmt: skip
    networks = {part: getattr(model, part) for part in described}
    save_model(out, networks, card, torch.bfloat16)
    return read_card(out)


def training_of(run: Path) -> Training:
    """How the networks of a run came about."""
    progress, starts = read_progress(run / CHECKPOINT), read_starts(run)
    seconds = progress["seconds"] + progress.get("belief", {}).get("seconds", 0.0)
    return Training(
        configuration=config_table(run_config(run)),
        iterations=progress["iteration"],
        moves=progress["moves"],
        games=progress["games"],
        minutes=round(seconds / 60, 2),
        machine=_distinct([start["machine"] for start in starts]) or "not known",
        commit=_distinct([start["commit"] for start in starts]) or "not known",
        command=_commands(starts) or f"vauban train {run / 'config.toml'}",
        date=progress["saved"],
        curve=curve_of(read_metrics(run)),
    )


def curve_of(lines: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The course of a run in a few rows: those in which it was measured, or some of all, evenly chosen."""
    lines = [line for line in lines if "moves.entropy" in line]
    scored = [line for line in lines if any(name.startswith("score.") for name in line)]
    shown = scored or lines
    if len(shown) > ROWS:
        shown = [shown[round(step * (len(shown) - 1) / (ROWS - 1))] for step in range(ROWS)]
    rows = []
    for line in shown:
        names = [*CURVE, *(name for name in line if name.startswith("score."))]
        rows.append({name.removeprefix("moves."): round(line[name], 5) for name in names})
    return rows


def _commands(starts: Sequence[Mapping[str, Any]]) -> str:
    """What was typed, one after the other; resuming alone changes nothing, and is left out.

    A run's config.toml can also be changed by hand: what no command says is added to it, so that it does say it.
    """
    commands = [start["command"] for start in starts[:1]]
    for before, start in pairwise(starts):
        command, had = start["command"], _leaves(before.get("configuration", {}))
        for key, value in _leaves(start.get("configuration", {})).items():
            if key in had and had[key] != value and not _says(command, key):
                text = value if value == "inf" else toml_text(value)  # which JSON has in quotes
                command += f" --set {shlex.quote(f'{key}={text}')}"
        if "--set" in command:
            commands.append(command)
    return " && ".join(commands)


def _leaves(table: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """The values of a configuration by their whole keys."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= _leaves(value, f"{path}{name}.") if isinstance(value, Mapping) else {f"{path}{name}": value}
    return found


def _says(command: str, key: str) -> bool:
    """Whether a command sets a key, or a table that it is in."""
    words = shlex.split(command)
    named = {word.partition("=")[0] for word in words} | {word.removeprefix("--") for word in words}
    parts = key.split(".")
    return any(".".join(parts[:length]) in named for length in range(1, len(parts) + 1))


def _distinct(texts: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _strength(path: Path, name: str) -> list[dict[str, Any]]:
    """The matches of a file as rows of a card."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        date = time.strftime("%Y-%m-%d", time.localtime(path.stat().st_mtime))
        return [_row(json.loads(line), name, date) for line in lines if line.strip()]
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, ModelError) as error:
        raise ModelError(
            f"{path}: there must be a line of JSON for each match, as `vauban match … --json` prints it: {error}"
        ) from error


def _row(told: Any, name: str, date: str) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise ModelError(f"a match is an object, not {told!r}")
    kind, colon, options = told["agents"][0].partition(":") if told.get("agents") else ("", "", "")
    if not colon or kind not in ("net", "search"):
        raise ModelError(f"the first agent has to be the model, as net:RUN or search:RUN, not {kind!r}")
    _, comma, rest = options.partition(",")
    row = strength_row(told, "", date)
    usual = row["rules"] == Stratego(row["variant"]).rules.text
    row["command"] = shlex.join(
        [
            "vauban", "match", f"{kind}:{name}{comma}{rest}", row["opponent"], "--games", str(row["games"]),
            "--variant", row["variant"], *([] if usual else ["--rules", row["rules"]]), "--setups", row["setups"],
            "--seed", str(row["seed"]),
        ]
    )  # fmt: skip
    return row
