"""`vauban variants` and `vauban observation`: what there is."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from vauban.cli.output import Json, console, print_json
from vauban.games.base import game, names
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, LETTERS, TYPES
from vauban.games.stratego.switches import PRESETS
from vauban.observe import base as observations


def variants(json: Json = False) -> None:
    """List the games and variants, with their boards, armies and limits.

    A variant of your own is a TOML file; every command that takes a variant takes its path.

    Example: vauban variants --json
    """
    all_games = [game(name) for name in names()]
    stratego = [each for each in all_games if isinstance(each, Stratego)]
    others = [each for each in all_games if not isinstance(each, Stratego)]
    if json:
        rows = {
            each.name: {
                "rows": each.variant.rows,
                "columns": each.variant.columns,
                "lakes": [each.variant.square_name(square) for square in each.variant.lakes],
                "setup_rows": each.variant.setup_rows,
                "army": each.variant.army_text,
                "setups": each.variant.setup_count,
                "total_limit": each.variant.total_limit,
                "battleless_limit": each.variant.battleless_limit,
                "actions": each.action_count,
            }
            for each in stratego
        }
        print_json({"variants": rows, "others": [each.name for each in others], "rules": PRESETS})
        return
    table = Table(title="Stratego", title_justify="left", box=SIMPLE_HEAD)
    for heading in ("variant", "board", "rows", "army (per side)", "setups", "limits"):
        table.add_column(heading, justify="left" if heading in ("variant", "army (per side)") else "right")
    for each in stratego:
        v = each.variant
        setups = f"{v.setup_count:,}" if v.setup_count < 10**6 else f"{v.setup_count:.3g}".replace("e+", "e")
        limits = f"{v.total_limit or 'none'} / {v.battleless_limit or 'none'}"
        table.add_row(f"[bold]{v.name}[/]", f"{v.rows}×{v.columns}", str(v.setup_rows), v.army_text, setups, limits)
    console.print(table)
    console.print("rows: on which each player sets up; limits: plies in all / plies without a battle, then a draw.")
    by_strength = sorted(range(len(TYPES)), key=lambda kind: (kind != FLAG, kind))
    console.print("army: " + ", ".join(f"{LETTERS[kind]} {TYPES[kind]}" for kind in by_strength) + ".\n")
    console.print("Other games: " + ", ".join(f"[bold]{each.name}[/]" for each in others))
    console.print("Rules by name (--rules): " + ", ".join(f"[bold]{name}[/]" for name in PRESETS))


def observation(
    name: Annotated[str, typer.Argument(help="The observation, e.g. ataraxos or deepnash.")],
    variant: Annotated[str, typer.Option(help="The game or variant.")] = "classic",
    json: Json = False,
) -> None:
    """Print every channel of an observation, by number.

    Example: vauban observation ataraxos --variant barrage
    """
    chosen = game(variant)
    found = observations.find(chosen, name)
    channels = found.channel_names(chosen)
    if json:
        print_json({"name": name, "variant": chosen.name, "channels": channels})
        return
    for number, channel in enumerate(channels):
        print(f"{number:4d}  {channel}")
