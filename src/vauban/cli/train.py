"""`vauban train`: train networks by self-play."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vauban.cli.output import console, errors, print_json
from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    from vauban.learn.run import Run

PRICE = 4.0
"""Dollars an hour of a large GPU costs to rent, for the estimate."""


def train(
    preset: Annotated[
        str | None, typer.Argument(help="A preset (laptop-tiny, h200-barrage, h200-classic, paper) or a .toml file.")
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the configuration: moves.games=512.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after so many minutes.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder; runs/PRESET if not given.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda; cuda where there is one.")] = "auto",
    show: Annotated[bool, typer.Option("--show", help="Print the configuration, and train nothing.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the last iteration's metrics as JSON.")] = False,
) -> None:
    """Train a setup and a move network by damped self-play (Ataraxos).

    The run lives in a folder: its configuration, its metrics (metrics.jsonl, TensorBoard), its checkpoints, and the
    model, which plays: vauban match net:runs/laptop-tiny random --variant medium. It can be stopped with Ctrl-C or
    killed at any moment, and resumed.

    Example: vauban train laptop-tiny --minutes 4
    """
    import torch

    from vauban.learn.config import config_text, load_config
    from vauban.learn.run import Run
    from vauban.learn.workers import join_workers

    if (preset is None) == (resume is None):
        raise ConfigurationError("say what to train, a preset or a .toml file, or --resume a run")
    place = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    changes = [*(change or []), *([f"minutes={minutes}"] if minutes is not None else [])]
    if preset is not None:
        config = load_config(preset, changes)
        if show:
            console.print(config_text(config), markup=False, highlight=False)
            return
        workers = join_workers(torch.device(place))
        run = Run.begin(config, out or Path("runs") / Path(preset).stem, place, workers)
    else:
        workers = join_workers(torch.device(place))
        run = Run.resume(_given(resume), place, workers, changes)
    last = _iterate(run)
    if workers.leads and json:
        print_json(last)


def _given(folder: Path | None) -> Path:
    assert folder is not None
    return folder


def _iterate(run: Run) -> dict[str, Any]:
    """Go on until the run is over or somebody stops it."""
    last: dict[str, Any] = {}
    leads = run.workers.leads
    if leads:
        errors.print(f"training in {run.folder}, on {run.device}; Ctrl-C stops it, --resume {run.folder} goes on")
    try:
        while run.goes_on():
            begun = time.perf_counter()
            last = run.iterate()
            if leads:
                errors.print(_line(last, time.perf_counter() - begun), highlight=False)
            run.save_if_due()
    except KeyboardInterrupt:
        errors.print("stopped")
    run.save()
    if leads:
        errors.print(f"the model is in {run.folder / 'model'}: vauban match net:{run.folder} random")
    return last


def _line(metrics: dict[str, Any], seconds: float) -> str:
    """An iteration in a line."""
    return (
        f"{int(metrics['iteration']):5}  {metrics['minutes']:6.1f} min  {metrics['moves'] / 1e6:8.2f} M moves  "
        f"{metrics['speed.moves_per_second']:9,.0f}/s  {seconds:5.1f} s  games {int(metrics['play.ended']):5} of "
        f"{metrics['play.plies']:4.0f} plies, drawn {metrics['play.draws']:4.0%}  "
        f"entropy {metrics['moves.entropy']:.2f}  outcome loss {metrics['moves.outcome_loss']:.3f}"
    )
