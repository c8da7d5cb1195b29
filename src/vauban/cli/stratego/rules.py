"""`vauban rules` and `vauban perft`: is it right?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from vauban.cli.output import Json, console, errors, print_json, progress_bar
from vauban.errors import ConfigurationError


def rules(
    files: Annotated[
        list[Path], typer.Argument(help="Recorded cases and games: .jsonl, or .json with its .npz beside it.")
    ],
    json: Json = False,
) -> None:
    """Replay recorded cases and games, and compare every ply with our rules.

    Prints how many cases, plies and observations agree, and shows the first disagreement. Exit code
    1 if anything disagrees. The formats are in docs/recorded-cases.md.

    Example: vauban rules games_uniform_barrage.json repetition_cases.jsonl
    """
    from vauban.board.stratego.verify import verify

    with progress_bar("replaying") as move:
        report = verify(files, lambda where: move(0, where))
    if json:
        print_json(
            {
                "cases": report.cases,
                "plies": report.plies,
                "observations": report.observations,
                "disagree": report.disagree,
            }
        )
    else:
        verdict = "[green]all agree[/]" if report.disagree == 0 else f"[bold red]{report.disagree} disagree[/]"
        console.print(
            f"{report.cases} cases, {report.plies:,} plies, {report.observations:,} observations: {verdict}",
            highlight=False,
        )
    if report.first:
        errors.print(report.first, markup=False, highlight=False)
    if report.disagree:
        raise typer.Exit(1)


def perft(
    start: Annotated[str, typer.Argument(help="A named start (tiny-1, classic-1, dance-1, …) or a position text.")],
    depth: Annotated[int, typer.Option(help="Depth in plies.", min=1, max=60)],
    rules: Annotated[
        str | None, typer.Option(help='Rules: a preset, switches, or both ("two_square=off chase=isf").')
    ] = None,
    json: Json = False,
) -> None:
    """Count the sequences of legal moves of every length up to a depth.

    Example: vauban perft tiny-1 --depth 7 --rules "two_square=off"
    """
    from vauban.board.stratego.perft import perft as count
    from vauban.board.stratego.perft import start_board

    if not start.strip():
        raise ConfigurationError("START is empty: give a named start such as tiny-1, or a position text")
    board = start_board(start, rules)
    count(board, 2)  # compiles what has to be compiled, so that the time is that of counting
    begun = time.perf_counter()
    with progress_bar(f"perft {depth}") as move:
        nodes = count(board, depth, lambda done, total: move(done, total=total))
    seconds = time.perf_counter() - begun
    if json:
        print_json(
            {"start": start, "rules": board.rules.text, "depth": depth, "nodes": nodes, "seconds": round(seconds, 3)}
        )
        return
    console.print(f"{start}, {board.rules.text}", highlight=False)
    for ply, number in enumerate(nodes, 1):
        console.print(f"{ply:3d}  {number:>15,}", highlight=False)
    console.print(f"{seconds:.2f} s", highlight=False)
