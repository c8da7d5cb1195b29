"""`vauban terminal`: a game in the terminal, a person against an agent."""

from __future__ import annotations

import random
import shlex
import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from vauban.agents import make_player, shipped, usual_opponent
from vauban.agents.external import prefix_of
from vauban.cli.output import Json, print_json
from vauban.cli.terminal_game import TerminalGame, read_number
from vauban.door import whole
from vauban.errors import ConfigurationError, NotationError, VaubanError
from vauban.games import base
from vauban.games.base import Game, nearest
from vauban.notation.records import read_games


def resume(
    path: Path,
    colour: str | None = None,
    opponent: str | None = None,
    source: TextIO | None = None,
    target: TextIO | None = None,
    shelf: Path | None = None,
) -> TerminalGame:
    """Return the last game of a file, to go on with."""
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
    named = game.headers.get("Opponent")
    if named is not None and opponent is None and prefix_of(named):
        raise ConfigurationError(
            f"{path} names a program as the opponent, {named!r}, which would be run. If you know what it is, name it "
            f"yourself: --opponent {shlex.quote(named)}"
        )
    text = whole(opponent or named or usual_opponent(game.game))
    headers = {**game.headers, "Opponent": text}
    seed = read_number(headers.get("Seed"))
    seed = _fresh_seed() if seed is None else seed
    agent = make_player(text, game.game, seed)
    person = _side(game.game, colour or headers.get("Person"))
    found = TerminalGame(
        agent, person, seed, game.game, board=game.board, headers=headers, source=source, target=target, shelf=shelf
    )
    found.files.add(path.absolute())
    return found


def _side(game: Game, colour: str | None) -> int:
    if colour == "random":
        return random.randrange(2)
    if colour is None:
        return 0
    if colour not in game.players:
        raise ConfigurationError(f"there is no player {colour!r}: {nearest(colour, [*game.players, 'random'])}")
    return game.players.index(colour)


def _fresh_seed() -> int:
    return random.SystemRandom().randrange(2**31)


def terminal(
    game: Annotated[
        str | None,
        typer.Option(help="A game (vauban games), a .toml file, or py:FILE.py:CLASS (default: barrage)"),
    ] = None,
    rules: Annotated[
        str | None, typer.Option(help='A preset, switches, or both: "isf", "two_square=5 chase=off" (default: its own)')
    ] = None,
    colour: Annotated[
        str | None, typer.Option(help="Yours: red (moves first), blue, or random; elsewhere first or second")
    ] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(shipped())}, with options such as mcts:time=1 (vauban agents); a model, net:MODEL or "
            "search:MODEL; in small games a solved policy such as cfr+; a class of your own, py:FILE.py:CLASS; a "
            "program of your own, bot:COMMAND (default: cadet in Stratego, purple in Geister, random where there is "
            "nobody better)"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Makes the opponent, and its setup, the same again (default: another in every game)"),
    ] = None,
    load: Annotated[
        Path | None,
        typer.Option(help="A saved game to go on with, by its own rules and seed (default: a new game)"),
    ] = None,
    json: Json = False,
) -> None:
    """Play a game in this terminal.

    You choose a setup where the game has any, then you type moves such as a4a5. What is not legal is refused with the
    reason; a game that you leave is kept. Colours are left out where NO_COLOR is set.

    Example: vauban terminal --game classic --colour blue

    Example: vauban terminal --game kuhn
    """
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a strange character is shown as ?, and ends nothing
    if load is not None:
        if game is not None or rules is not None or seed is not None:
            raise ConfigurationError("a saved game has its game, rules and seed: leave --game, --rules and --seed out")
        table = resume(load, colour, opponent)
    else:
        seed = _fresh_seed() if seed is None else seed
        chosen = base.game(game or "barrage", rules)
        text = whole(opponent or usual_opponent(chosen))
        agent = make_player(text, chosen, seed)
        table = TerminalGame(agent, _side(chosen, colour), seed, chosen, headers={"Opponent": text})
    code = table.run()
    if json:
        print_json(table.summary())
    if code:
        raise typer.Exit(code)
