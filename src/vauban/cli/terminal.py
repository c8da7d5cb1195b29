"""`vauban terminal`: a game of Stratego in the terminal, a person against an agent."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from vauban.agents import AGENTS, make_agent
from vauban.agents.stratego.cadet import CadetAgent
from vauban.cli.output import Json, print_json
from vauban.cli.terminal_game import TerminalGame, read_number
from vauban.errors import ConfigurationError, NotationError, VaubanError
from vauban.games.base import nearest
from vauban.games.stratego.pieces import PLAYERS
from vauban.games.stratego.switches import DEFAULT_PRESET
from vauban.notation.records import read_games


def resume(
    path: Path,
    colour: str | None = None,
    opponent: str | None = None,
    source: TextIO | None = None,
    target: TextIO | None = None,
    shelf: Path | None = None,
) -> TerminalGame:
    """The last game of a file, to go on with."""
    try:
        games = read_games(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"{path} cannot be read: {reason}") from error
    except VaubanError as error:
        raise NotationError(f"{path}: {error}") from error
    if not games:
        raise NotationError(f"{path}: there is no game in it")
    game = games[-1]
    if game.board is None:
        raise NotationError(f"{path}: some pieces of this game are not known (U), so it cannot be played on")
    if game.result != "*" or game.board.is_over:
        raise NotationError(
            f"{path}: this game is finished ({game.result}, {game.end}); play goes on with unfinished ones"
        )
    headers = game.headers
    seed = read_number(headers.get("Seed"))
    seed = _fresh_seed() if seed is None else seed
    agent = make_agent(opponent or headers.get("Opponent", CadetAgent.name), seed)
    person = _side(colour or headers.get("Person", "red"))
    found = TerminalGame(
        agent, person, seed, board=game.board, headers=headers, comments=game.comments,
        source=source, target=target, shelf=shelf,
    )  # fmt: skip
    found.files.add(path.absolute())
    return found


def _side(colour: str) -> int:
    if colour == "random":
        return random.randrange(2)
    if colour not in PLAYERS:
        raise ConfigurationError(f"there is no colour {colour!r}: {nearest(colour, [*PLAYERS, 'random'])}")
    return PLAYERS.index(colour)


def _fresh_seed() -> int:
    return random.SystemRandom().randrange(2**31)


def terminal(
    variant: Annotated[
        str | None, typer.Option(help="classic, barrage, duel, … or a .toml file (default: barrage)")
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(help=f'A preset, switches, or both: "isf", "two_square=5 chase=off" (default: {DEFAULT_PRESET})'),
    ] = None,
    colour: Annotated[str | None, typer.Option(help="Yours: red (moves first), blue or random (default: red)")] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(AGENTS)}, with options such as mcts:time=1 (vauban agents), or a program of your own "
            f"as bot:COMMAND (default: {CadetAgent.name})"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Makes the opponent, and its setup, the same again (default: another in every game)"),
    ] = None,
    load: Annotated[
        Path | None,
        typer.Option(help="A saved game to go on with, by its own variant, rules and seed (default: a new game)"),
    ] = None,
    json: Json = False,
) -> None:
    """Play a game of Stratego in this terminal.

    You choose a setup, then you type moves such as a4a5. Every rule is explained when it bars a
    move; a game that you leave is kept. Colours are left out where NO_COLOR is set.

    Example: vauban terminal --variant classic --colour blue
    """
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a strange character is shown as ?, and ends nothing
    if load is not None:
        if variant is not None or rules is not None or seed is not None:
            raise ConfigurationError(
                "a saved game has its variant, rules and seed: leave --variant, --rules and --seed out"
            )
        table = resume(load, colour, opponent)
    else:
        seed = _fresh_seed() if seed is None else seed
        agent = make_agent(opponent or CadetAgent.name, seed)
        table = TerminalGame(agent, _side(colour or "red"), seed, variant or "barrage", rules)
    code = table.run()
    if json:
        print_json(table.summary())
    if code:
        raise typer.Exit(code)
