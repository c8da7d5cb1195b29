"""`vauban analyse`: what a searching agent finds out about a position."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from vauban.cli.output import Json, console, print_json
from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    from vauban.agents.searching import SearchAgent
    from vauban.board import Board

LIKELY = 4
"""Types of a hidden piece that are shown."""


def analyse(
    position: Annotated[str, typer.Argument(help="A position as text, or a file of recorded games.")],
    agent: Annotated[str, typer.Option(help="A searching agent, e.g. search:runs/mine,rollouts=200.")],
    game: Annotated[int, typer.Option(help="Which game of the file, from 1.", min=1)] = 1,
    ply: Annotated[
        int | None, typer.Option(help="The position after so many plies (default: the last one).", min=0)
    ] = None,
    top: Annotated[int, typer.Option(help="How many moves to show.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="What the search's chance depends on.")] = 0,
    json: Json = False,
) -> None:
    """Search a position, and show what was found: moves, values, outcomes, and what is believed to be hidden.

    The player on turn is the one who thinks, and he knows only what he may know. A position that is given as text is
    played by the variant and the rules of the agent's model.

    Example: vauban analyse games.txt --game 2 --ply 40 --agent search:runs/mine,time=2
    """
    thinker = _searching(agent, seed)
    board = _from_file(Path(position), game, ply) if Path(position).is_file() else _from_text(position, thinker, ply)
    if board.is_over:
        raise ConfigurationError("the game is over in this position: there is nothing to analyse")
    view = board.view(board.turn)
    found = thinker.analyse(view)
    told = {"agent": thinker.name, "seed": seed, "position": view.text, **found.to_json()}
    if json:
        print_json(told)
        return
    console.print(str(view), markup=False, highlight=False)
    _print(told, top)


def _searching(text: str, seed: int) -> SearchAgent:
    from vauban.agents import make_agent
    from vauban.agents.searching import SearchAgent

    found = make_agent(text, seed)
    if not isinstance(found, SearchAgent):
        raise ConfigurationError(f"the agent {text!r} does not tell what it thinks: take search:MODEL")
    return found


def _from_text(text: str, thinker: SearchAgent, ply: int | None) -> Board:
    from vauban.board import Board
    from vauban.games.stratego.game import Stratego

    if ply is not None:
        raise ConfigurationError("--ply is a place in a recorded game, and a position is given")
    game = thinker.model.game
    if not isinstance(game, Stratego):
        raise ConfigurationError(f"positions are of Stratego, and the model plays {game.name!r}")
    return Board.from_position(text, game.variant, game.rules)


def _from_file(file: Path, number: int, ply: int | None) -> Board:
    from vauban.cli.replay import read_game

    last = read_game(file, number)[0].board
    if last is None:
        raise ConfigurationError(f"game {number} of {file} has pieces that are not known (U): it cannot be replayed")
    board = last.copy()
    plies = len(board.history)
    if ply is not None and ply > plies:
        raise ConfigurationError(f"game {number} of {file} has {plies} plies, and no ply {ply}")
    while board.history and (len(board.history) > ply if ply is not None else board.is_over):
        board.pop()
    return board


def _print(told: dict[str, Any], top: int) -> None:
    cut = f", cut: {' and '.join(told['cut'])}" if told["cut"] else ""
    console.print(
        f"{told['player']} to move at ply {told['ply']}: worth {told['value']:+.3f} to {told['player']}\n"
        f"{told['rollouts']} rollouts of {told['depth']} plies, {told['configurations']} configurations, "
        f"{told['moves_searched']} of {len(told['moves'])} moves{cut}; {told['seconds']:.2f} s",
        highlight=False,
        markup=False,
    )
    forecast = Table(box=SIMPLE_HEAD)
    forecast.add_column("outcome")
    names = {-1.0: "loss", 0.0: "draw", 1.0: "win"}
    for worth in told["utilities"]:
        forecast.add_column(names.get(worth, f"{worth:+g}"), justify="right")
    for label, key in (("at sight", "forecast_before"), ("after the search", "forecast")):
        forecast.add_row(label, *(f"{share:.1%}" for share in told[key]))
    console.print(forecast)
    moves = Table(box=SIMPLE_HEAD)
    for heading in ("move", "value", "rollouts", "at sight", "after the search"):
        moves.add_column(heading, justify="left" if heading == "move" else "right")
    for each in told["moves"][:top]:
        value = f"{each['value']:+.3f}" if each["visits"] else "–"
        moves.add_row(each["move"], value, str(each["visits"]), f"{each['before']:.1%}", f"{each['policy']:.1%}")
    console.print(moves)
    if not told["belief"]:
        return
    belief = Table(box=SIMPLE_HEAD)
    belief.add_column("hidden")
    belief.add_column("most likely")
    for square, kinds in told["belief"].items():
        likely = sorted(kinds.items(), key=lambda item: -item[1])[:LIKELY]
        belief.add_row(square, "  ".join(f"{kind} {share:.0%}" for kind, share in likely))
    console.print(belief)
