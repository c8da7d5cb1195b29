"""`vauban curves`: the learning curves of runs as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vauban.cli.output import Json, console, print_json
from vauban.errors import ConfigurationError
from vauban.learn.curves import Against, curves_svg, make_panels, read_runs


def curves(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Folders of runs, or files of their metrics (.jsonl).")
    ],
    out: Annotated[Path, typer.Option(help="The picture: a file that ends in .svg.")],
    against: Annotated[Against, typer.Option(help="The horizontal axis.")] = Against.MOVES,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A panel for this metric, e.g. moves.clip_rate or play.end.*, in place of the usual ones."),
    ] = None,
    json: Json = False,
) -> None:
    """Draw the learning curves of one or several runs into one picture (SVG).

    A panel for each metric: the scores if they were measured, entropies, sizes of updates, losses, how games went, and
    the belief if one was trained. docs/metrics.md explains every metric. A metric that no run has is left out.

    Example: vauban curves runs/laptop --out curves.svg

    Example: vauban curves runs/first runs/second --out both.svg --against minutes --metric 'score.*'
    """
    if out.suffix.lower() != ".svg":
        raise ConfigurationError(f"--out {out}: the picture is SVG, so name a file that ends in .svg")
    read = read_runs(runs)
    panels = make_panels(read, against, metric or ())
    try:
        out.write_text(curves_svg(read, panels), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"--out {out}: it cannot be written: {error.strerror}") from error
    names = [run.name for run in read]
    if json:
        print_json({"out": str(out), "runs": names, "panels": [list(panel.metrics) for panel in panels]})
        return
    console.print(
        f"{out}: {_counted(len(panels), 'panel')}, {_counted(len(names), 'run')} ({', '.join(names)})",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
