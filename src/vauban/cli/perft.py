"""`vauban perft`: how many sequences of legal actions there are."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from vauban.cli.output import Json, console, print_json, progress_bar
from vauban.errors import ConfigurationError


def perft(
    start: Annotated[
        str,
        typer.Argument(
            help="A game (kuhn, FILE.toml, py:FILE.py:NAME), a named start (tiny-1, classic-1, dance-1, …) or a "
            "position text."
        ),
    ],
    depth: Annotated[int, typer.Option(help="Length of the longest sequences, in actions.", min=1, max=60)],
    rules: Annotated[
        str | None, typer.Option(help='Rules: a preset, switches, or both ("two_square=off chase=isf").')
    ] = None,
    setups: Annotated[
        tuple[str, str] | None, typer.Option(help="Of a game with setups: the two players' ones (default: drawn).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the setups, where they are drawn.", min=0)] = 0,
    json: Json = False,
) -> None:
    """Count the sequences of legal actions of every length up to a depth.

    Where chance is on turn, every event that can happen is followed; it is no action, so it adds nothing to the length.

    Example: vauban perft tiny-1 --depth 7 --rules "two_square=off"

    Example: vauban perft py:examples/ambush.py:Ambush --depth 4 --setups K.G GK.
    """
    from vauban.board.perft import perft as count
    from vauban.board.perft import start_board

    if not start.strip():
        raise ConfigurationError("START is empty: give a game, a named start such as tiny-1, or a position text")
    board = start_board(start, rules, seed=seed, setups=setups)
    count(board, 2)  # compiles what has to be compiled, so that the time is that of counting
    begun = time.perf_counter()
    with progress_bar(f"perft {depth}") as move:
        nodes = count(board, depth, lambda done, total: move(done, total=total))
    seconds = time.perf_counter() - begun
    game = board.game
    rows = None if game.setups is None or board.setups is None else list(map(game.setups.text, board.setups))
    if json:
        print_json(
            {
                "start": start, "game": game.name, "rules": game.rules_text, "setups": rows, "depth": depth,
                "nodes": nodes, "seconds": round(seconds, 3),
            }
        )  # fmt: skip
        return
    facts = [start, *([] if game.rules_text is None else [game.rules_text]), *([] if rows is None else rows)]
    console.print(", ".join(facts), highlight=False, markup=False)
    for length, number in enumerate(nodes, 1):
        console.print(f"{length:3d}  {number:>15,}", highlight=False)
    console.print(f"{seconds:.2f} s", highlight=False)
