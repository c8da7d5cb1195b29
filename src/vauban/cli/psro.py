"""`vauban psro`: a population in figures, and the experiment on random matrix games."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vauban.cli.output import Json, complaining, console, print_json, progress_bar
from vauban.errors import ConfigurationError

psro = typer.Typer(
    help="Look at populations of policies, and compare ways to train them (docs/psro.md). They are trained by vauban "
    "train psro-….",
    epilog="Example: vauban psro normal-form --dimension 60 --rate 0.5 --workers 4 --updates 100 · vauban psro show "
    "runs/psro-leduc-exact",
    no_args_is_help=True,
    rich_markup_mode=None,
)


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
        typer.Option(help="Run dch a second time, with rate r / (1 + t/ANNEAL) after t updates.", min=0),
    ] = 0.0,
    game: Annotated[
        str, typer.Option(help="A symmetric matrix game, in which policies begin as its first strategy: rps-x.")
    ] = "",
    random_start: Annotated[
        bool,
        typer.Option(help="Solve each meta-game from a random start, so that its mix differs a little every time."),
    ] = False,
    games: Annotated[int, typer.Option(help="Random games of each dimension.", min=1)] = 5,
    updates: Annotated[int, typer.Option(help="Updates of every policy in training.", min=1)] = 500,
    processes: Annotated[int, typer.Option(help="Processes at a time.", min=1)] = 1,
    out: Annotated[Path | None, typer.Option(help="A folder for the pictures, one for each dimension.")] = None,
    json: Json = False,
) -> None:
    """Compare schemes of population training on random symmetric matrix games.

    A policy is a mixed strategy, trained by steps of the learning rate towards the best response to its opponents.
    The table tells the exploitability of the population's meta-Nash after so many updates, mean and standard error
    over the games: of the finished policies, in brackets of all, which is what P2SRO comes to. Left out options take
    all values of the published experiment; that is a matter of minutes for each dimension.

    Example: vauban psro normal-form --dimension 60 --rate 0.5 --workers 4 --updates 100

    Example: vauban psro normal-form --game rps-x --rate 1 --workers 2 --scheme p2sro --scheme rectified --updates 50
    """
    from vauban.learn.psro import experiment
    from vauban.work.executors import Here, Processes

    begun = time.perf_counter()
    settings = experiment.grid(
        dimension or experiment.DIMENSIONS, scheme or experiment.USUAL, rate or experiment.RATES,
        workers or experiment.WORKERS, game=game, random_start=random_start,
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


@psro.command("show")
def show(
    run: Annotated[Path, typer.Argument(help="The folder of a run that trains a population, or of a population.")],
    out: Annotated[Path | None, typer.Option(help="A picture: a file that ends in .svg.")] = None,
    json: Json = False,
) -> None:
    """Show a population: its meta-Nash, and what its policies gain and get from it.

    The table tells of each policy its chance in the meta-Nash; what it gets from this mix now, about 0 for those that
    are drawn; what it gained from its opponents when it was trained last, which estimates from below how exploitable
    these were; its updates, what it has learned from, and the policy that it began as a copy of. The picture has the
    payoff table.

    Example: vauban psro show runs/psro-leduc-exact --out population.svg
    """
    from vauban.learn.population import read_population
    from vauban.learn.psro.portrait import Portrait, portrait_svg

    if out is not None and out.suffix.lower() != ".svg":
        raise ConfigurationError(f"--out {out}: the picture is SVG, so name a file that ends in .svg")
    population = read_population(run)
    portrait = Portrait.of(population)
    got = portrait.against_the_mix
    if out is not None:
        with complaining(out):
            out.write_text(portrait_svg(portrait), encoding="utf-8")
    if json:
        both = zip(population.policies, got, strict=True)
        policies = [{**asdict(each), "against_the_mix": float(now)} for each, now in both]
        print_json({"run": population.run, "game": population.game.name, "scheme": population.scheme,
                    "updates": population.updates, "policies": policies})  # fmt: skip
        return
    console.print(f"{population.run}: {population.game.name}, {population.scheme}, {population.updates} updates",
                  highlight=False, markup=False)  # fmt: skip
    console.print(
        f"{'policy':>6}{'chance':>9}{'gets now':>10}{'gained':>9}{'updates':>9}{'steps':>12}{'episodes':>12}  copy of"
    )
    for each, now in zip(population.policies, got, strict=True):
        gained = "" if each.performance is None else f"{each.performance:.4f}"
        parent = "" if each.parent is None else str(each.parent)
        state = "" if each.finished else "  in training"
        console.print(
            f"{each.number:6}{each.chance:9.4f}{now:10.4f}{gained:>9}{each.updates:9}{each.steps:12,}{each.episodes:12,}"
            f"  {parent}{state}",
            highlight=False,
        )
    if out is not None:
        console.print(f"the picture is in {out}", highlight=False, markup=False, soft_wrap=True)


def portraits(agents: Sequence[str]) -> dict[str, str]:
    """Return the pictures of those agents that are populations, by agent."""
    from vauban.agents import POPULATION
    from vauban.agents.options import make_options, split_text
    from vauban.agents.population import PopulationOptions

    named = [text for text in agents if text.startswith(f"{POPULATION}:")]
    if not named:
        return {}
    from vauban.learn.population import read_population
    from vauban.learn.psro.portrait import Portrait, portrait_svg

    folders = {text: make_options(PopulationOptions, *split_text(text)).run for text in named}
    return {text: portrait_svg(Portrait.of(read_population(Path(folder)))) for text, folder in folders.items()}
