"""`vauban psro`: experiments on populations."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from vauban.cli.output import Json, console, print_json, progress_bar

psro = typer.Typer(
    help="Experiments on populations of policies (docs/psro.md). Populations are trained by vauban train psro-….",
    epilog="Example: vauban psro normal-form --dimension 60 --rate 0.5 --workers 4 --updates 100",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@psro.callback()
def group() -> None:
    """Experiments on populations of policies (docs/psro.md). Populations are trained by vauban train psro-…."""


@psro.command("normal-form")
def normal_form(
    dimension: Annotated[
        list[int] | None, typer.Option(help="Strategies of a game; may be repeated (15, 30, 45, 60, 120).", min=2)
    ] = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option(help="p2sro, naive, dch, rectified, rectified-paper, sequential, self-play; may be repeated."),
    ] = None,
    rate: Annotated[list[float] | None, typer.Option(help="Learning rates; may be repeated (0.1, 0.2, 0.5).")] = None,
    workers: Annotated[
        list[int] | None, typer.Option(help="Policies in training at a time; may be repeated (4, 8, 16).", min=1)
    ] = None,
    anneal: Annotated[
        float,
        typer.Option(help="Let dch be there twice, with rate r, and with r / (1 + t/ANNEAL) after t updates.", min=0),
    ] = 0.0,
    game: Annotated[
        str, typer.Option(help="A symmetric matrix game, in which policies begin as its first strategy: rps-x.")
    ] = "",
    games: Annotated[int, typer.Option(help="Random games of each dimension.", min=1)] = 5,
    updates: Annotated[int, typer.Option(help="Updates of every policy in training.", min=1)] = 500,
    processes: Annotated[int, typer.Option(help="Processes at a time.", min=1)] = 1,
    out: Annotated[Path | None, typer.Option(help="A folder for the pictures, one for each dimension.")] = None,
    json: Json = False,
) -> None:
    """Compare schemes of population training on random symmetric matrix games.

    A policy is a mixed strategy, trained by steps of the learning rate towards the best response to its opponents.
    Told is the exploitability of the population's meta-Nash after so many updates, mean and standard error over the
    games: of the finished policies, in brackets of all, which is what P2SRO comes to. Left out options take all
    values of the published experiment; that is a matter of minutes for each dimension.

    Example: vauban psro normal-form --dimension 60 --rate 0.5 --workers 4 --updates 100

    Example: vauban psro normal-form --game rps-x --rate 1 --workers 2 --scheme p2sro --scheme rectified --updates 50
    """
    from vauban.learn.psro import experiment
    from vauban.work.executors import Here, Processes

    begun = time.perf_counter()
    settings = experiment.grid(
        dimension or experiment.DIMENSIONS, scheme or experiment.USUAL, rate or experiment.RATES,
        workers or experiment.WORKERS, game=game,
    )  # fmt: skip
    if anneal:
        settings = experiment.with_annealed(settings, anneal)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    total = sum(1 if each.game else games for each in settings)
    with progress_bar("games", total) as move:
        executor = Here() if processes == 1 else Processes(processes)
        curves = experiment.run_all(settings, games, updates, executor, lambda done: move(done, total=total))
    for size in dict.fromkeys(each.dimension for each in settings):
        there = [each for each in curves if each.setting.dimension == size]
        console.print(experiment.table_text(there), highlight=False, markup=False, soft_wrap=True)
        console.print()
        if out is not None:
            name = game or f"random games of dimension {size}"
            path = out / f"psro-{game or size}.svg"
            path.write_text(experiment.picture(there, f"Exploitability in {name}"), encoding="utf-8")
            console.print(f"the picture is in {path}", highlight=False, markup=False, soft_wrap=True)
    seconds = round(time.perf_counter() - begun, 1)
    console.print(f"{seconds} s", highlight=False)
    if json:
        print_json({"rows": list(experiment.rows(curves)), "games": games, "seconds": seconds})
