"""`vauban play`: the page, on which a person plays against the machine or a friend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def play(
    port: Annotated[int, typer.Option(help="The port of the page; 0: any that is free.", min=0, max=65535)] = 8300,
    host: Annotated[
        str,
        typer.Option(help="The address to listen on: for this machine alone, or 0.0.0.0 for all that can reach it."),
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    shelf: Annotated[
        Path | None, typer.Option(help="The file that games are kept in (default: in the folder for programs' state).")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="The host name that a server in front of this one passes on, e.g. play.example.com."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="With --name: the address or network of that server, where it is not on this machine, e.g. "
            "10.0.0.0/24. May be repeated."
        ),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            help="The beginning of the names of games made here, e.g. a: by it a proxy before several servers knows "
            "whose a game is."
        ),
    ] = "",
    game: Annotated[
        list[str] | None,
        typer.Option(help="A game to offer beside the usual ones, e.g. kuhn, or py:FILE.py:NAME. May be repeated."),
    ] = None,
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            help="An agent to play against beside the levels, e.g. net:runs/mine, py:mine.py:Mine, cfr+, or a program "
            "of yours, bot:COMMAND. May be repeated."
        ),
    ] = None,
    bot_time: Annotated[
        float, typer.Option(help="Seconds that programs (bot:COMMAND) have for an answer.", min=0.1)
    ] = 2.0,
    ray: Annotated[
        str | None,
        typer.Option(
            help="Have strong levels think, and games looked back on, on a Ray cluster: its address (ray://HOST:PORT, "
            "HOST:PORT), auto for the one of this machine, local for a new one here."
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            help="A file to write down requests, games and faults, as lines of JSON without secrets; -: stderr."
        ),
    ] = None,
) -> None:
    """Play on a page: against the machine, against a friend, or watch two machines.

    It opens in your browser and needs no network. Games are kept: the page finds them again after a reload, and after
    the server was ended by Ctrl-C. Afterwards the network of General and Marshal says what it would have believed
    in the place of each side (vauban analyse does that for files). A game without a board here is shown as text, with
    its moves as buttons.

    Example: vauban play

    Example: vauban play --port 9000 --no-browser

    Example: vauban play --game kuhn --opponent cfr+

    Example: vauban play --opponent net:runs/mine

    Example: vauban play --opponent "bot:python3 examples/ucc_bot.py"

    Example: vauban play --host 0.0.0.0 --no-browser --log server.log --ray auto
    """
    from vauban.web.serve import serve

    serve(host, port, browser, shelf, name, game or (), opponent or (), log, ray, bot_time, prefix, proxy or ())
