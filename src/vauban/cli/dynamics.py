"""`vauban dynamics`: regularised Nash dynamics of a small game, in figures and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vauban.cli.output import Json, complaining, console, print_json
from vauban.errors import ConfigurationError


def dynamics(
    game: Annotated[str, typer.Argument(help="A game that is small enough: matching-pennies, kuhn, leduc, rps-x, …")],
    rules: Annotated[str | None, typer.Option(help="Rules: a preset, switches, or both.")] = None,
    eta: Annotated[float, typer.Option(help="Weight of the regularisation, in the units of the utilities.")] = 0.2,
    iterations: Annotated[int, typer.Option(help="How often the regularisation is replaced.", min=1)] = 6,
    start: Annotated[
        str | None,
        typer.Option(
            help='Where it starts, in games of one choice between two actions each: "0.999 0.999". Else uniform.'
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A picture: a file that ends in .svg.")] = None,
    json: Json = False,
) -> None:
    """Follow regularised Nash dynamics (R-NaD) exactly, and draw them.

    In each iteration the replicator dynamics of the regularised game are followed to where they rest; then play is
    regularised towards that policy. NashConv of the places of rest goes to 0. Where both players choose once between
    two actions, the picture shows the paths through the plane of their probabilities.

    Example: vauban dynamics matching-pennies --start "0.999 0.999" --out pennies.svg

    Example: vauban dynamics kuhn --iterations 10
    """
    from vauban.games.base import game as find_game
    from vauban.solve import build_tree
    from vauban.solve.portrait import Portrait, portrait_svg

    if out is not None and out.suffix.lower() != ".svg":
        raise ConfigurationError(f"--out {out}: the picture is SVG, so name a file that ends in .svg")
    tree = build_tree(find_game(game, rules))
    portrait = Portrait.of(tree, eta, iterations, None if start is None else _start(start))
    if out is not None:
        with complaining(out):
            out.write_text(portrait_svg(portrait), encoding="utf-8")
    if json:
        rests = [
            {"nash_conv": rest.nash_conv, "distance": rest.distance, "probabilities": rest.probabilities}
            for rest in portrait.rests
        ]
        print_json({"game": game, "rules": rules, "eta": eta, "start": start, "rests": rests})
        return
    plane = portrait.rests[0].probabilities is not None
    places = "".join(f"{name[:14]:>18}" for name in tree.game.players) if plane else ""
    console.print(f"iteration{'NashConv at rest':>20}{'distance to rest':>20}{places}", highlight=False, soft_wrap=True)
    for number, rest in enumerate(portrait.rests):
        there = "".join(f"{chance:18.14f}" for chance in rest.probabilities or ())
        console.print(f"{number:9}{rest.nash_conv:20.6g}{rest.distance:20.10g}{there}", highlight=False, soft_wrap=True)
    if out is not None:
        console.print(f"the picture is in {out}", highlight=False, markup=False, soft_wrap=True)


def _start(text: str) -> tuple[float, float]:
    try:
        first, second = map(float, text.replace(",", " ").split())
    except ValueError:
        raise ConfigurationError(
            f'--start {text!r}: write two probabilities, of the players\' first actions, e.g. "0.999 0.999"'
        ) from None
    return first, second
