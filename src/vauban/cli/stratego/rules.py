"""`vauban rules`: recorded games, replayed by our rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vauban.cli.output import Json, console, errors, print_json, progress_bar


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
