"""`vauban games` and `vauban observation`: what there is."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from vauban.board import Board
from vauban.cli.output import Json, complain, console, print_json
from vauban.cli.show import Show, show_of
from vauban.games import base
from vauban.observe import base as observations

HEADINGS = {"game": "left", "board": "right", "setups": "right", "actions": "right", "longest": "right", "": "left"}


def games(
    name: Annotated[
        str | None, typer.Argument(metavar="GAME", help="One game: a name, a .toml file or py:FILE.py:CLASS.")
    ] = None,
    json: Json = False,
) -> None:
    """List the games, with their boards, setups and lengths; or look at one of them, drawn as one may begin.

    A board of Stratego or Geister of your own is a TOML file, a game of your own py:FILE.py:CLASS; every command that
    takes a game takes these too.

    Example: vauban games --json

    Example: vauban games mine.toml
    """
    found = [base.game(each) for each in (base.names() if name is None else [name])]
    shows = {game.name: show_of(game) for game in found}
    for sentence in base.failed().values():
        complain(sentence)
    if json:
        print_json(
            {
                "games": {
                    name: {
                        "family": show.game.family, "rows": show.game.board[0], "columns": show.game.board[1],
                        "setups": show.game.setups.count if show.game.setups else None,
                        "actions": show.game.action_count, "longest": show.game.max_plies, **show.facts(),
                    }
                    for name, show in shows.items()
                }
            }
        )  # fmt: skip
        return
    for family in dict.fromkeys(show.game.family for show in shows.values()):
        table = Table(title=family, title_justify="left", box=SIMPLE_HEAD)
        for heading, side in HEADINGS.items():
            table.add_column(heading, justify=side)  # type: ignore[arg-type]
        members = {name: show for name, show in shows.items() if show.game.family == family}
        for each, show in members.items():
            game, facts = show.game, ", ".join(str(fact) for fact in show.facts().values() if isinstance(fact, str))
            rows, columns = game.board
            count = game.setups.count if game.setups is not None else 0
            setups = f"{count:,}" if count < 10**6 else f"{count:.3g}".replace("e+", "e")
            table.add_row(
                f"[bold]{each}[/]", f"{rows}×{columns}" if rows * columns > 1 else "", setups if count else "",
                str(game.action_count), str(game.max_plies or "no limit"), facts,
            )  # fmt: skip
        console.print(table)
        if name is not None:
            _look_at(next(iter(members.values())))
            return
        for line in next(iter(members.values())).legend:
            console.print(line)
    console.print("board: rows × columns")
    console.print("longest: in plies, of one player each; then a game that is not over is a draw.")


def _look_at(show: Show) -> None:
    """Print all facts of a game, and the beginning of one."""
    for fact, value in show.facts().items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        if value not in (None, []):
            console.print(f"{fact.replace('_', ' ')}: {text}", highlight=False)
    console.print(Board(show.game, seed=1).as_text(), markup=False, highlight=False)


def observation(
    name: Annotated[str, typer.Argument(help="The observation, e.g. ataraxos or deepnash.")],
    game: Annotated[str, typer.Option(help="The game.")] = "classic",
    json: Json = False,
) -> None:
    """Print every channel of an observation.

    Example: vauban observation ataraxos --game barrage
    """
    chosen = base.game(game)
    channels = observations.find(chosen, name).channel_names(chosen)
    if json:
        print_json({"name": name, "game": chosen.name, "channels": channels})
        return
    for number, channel in enumerate(channels):
        print(f"{number:4d}  {channel}")
