"""`vauban geister-client` and `vauban geister-server`: the protocol of the public Geister server, both ways."""

from __future__ import annotations

import random
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vauban.cli.output import Json, check_files, complain, complaining, console, print_json
from vauban.errors import ConfigurationError, VaubanError

if TYPE_CHECKING:
    from vauban.agents.base import Agent
    from vauban.agents.external.geister.client import Client
    from vauban.agents.external.geister.referee import Ending, Referee

HOST = "127.0.0.1"
FIRST_PORT = 10000
WAIT = 10.0
"""Seconds in which a server has to open its port, again after each game."""
AGAIN_SECONDS = 0.05
"""After which a port that is closed is tried again."""
LARGEST_SEED = 2**31
Seed = Annotated[
    int | None, typer.Option(envvar="VAUBAN_SEED", help="Makes it play the same again (default: another in every run)")
]
Save = Annotated[Path | None, typer.Option(help="Add the games to this file, as our game texts")]


# ── The client ───────────────────────────────────────────────────────────────────────────────────


def geister_client(
    agent: Annotated[str, typer.Argument(help="The agent, e.g. random.")],
    host: Annotated[str, typer.Option(help="Where the server is")] = HOST,
    port: Annotated[
        int, typer.Option(help="Its port: 10000 plays first, 10001 second.", min=1, max=65535)
    ] = FIRST_PORT,
    games: Annotated[int, typer.Option(help="Number of games, one after the other.", min=1)] = 1,
    seed: Seed = None,
    wait: Annotated[float, typer.Option(help="Seconds in which the server has to open its port.", min=0.0)] = WAIT,
    save: Save = None,
    json: Json = False,
) -> None:
    """Play on a public Geister server, or on any other that speaks its protocol (docs/external-bots.md).

    What a server does not say, the opponent's moves, follows from the boards that it shows. Exit code 1 if a game was
    broken off.

    Example: vauban geister-client random --host localhost --port 10001 --games 3
    """
    from vauban.agents.external.geister.client import Client

    check_files(save=save)
    seed = _seed(seed)
    player = 1 if port == FIRST_PORT + 1 else 0
    _warm_up(_make(agent, seed))
    counts: Counter[str] = Counter()
    table: list[dict[str, Any]] = []
    with suppress(KeyboardInterrupt):
        for number in range(games):
            client = Client(_make(agent, seed + number), player, seed + number)
            why = play_game(client, lambda: connect(host, port, wait))
            result = client.result or "broken off"
            counts[result] += 1
            end = client.end or ("ended by the server" if client.result else why)
            table.append({"result": result, "end": end, "first": client.player == 0, "plies": client.plies})
            if client.refused is not None:
                complain(f"the server has refused {client.refused}")
            if not json:
                console.print(
                    f"game {number + 1}: {result} as the {('first', 'second')[client.player]} player, {client.plies} "
                    f"plies ({end})",
                    highlight=False, markup=False, soft_wrap=True,
                )  # fmt: skip
            text = client.record((agent, f"{host}:{port}"))
            if save is not None and text is not None:
                _add(save, text)
            if client.result is None:
                break
    words = ("won", "lost", "drawn")
    if json:
        print_json({"agent": agent, **{word: counts[word] for word in words}, "games": table})
    else:
        console.print(", ".join(f"{counts[word]} {word}" for word in words), highlight=False)
    if counts["broken off"]:
        raise typer.Exit(1)


def connect(
    host: str, port: int, wait: float, clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> socket.socket:  # fmt: skip
    """Return a connection with the server; its port is closed for a moment between two games."""
    deadline = clock() + wait
    while True:
        try:
            return socket.create_connection((host, port))
        except ConnectionRefusedError as error:
            if clock() >= deadline:
                raise ConfigurationError(
                    f"nobody listens on port {port} of {host}: start the server first, or name another with --host and "
                    "--port"
                ) from error
        except OSError as error:
            raise ConfigurationError(f"{host} cannot be reached ({error.strerror or error}): name another") from error
        pause(AGAIN_SECONDS)


def play_game(client: Client, connecting: Callable[[], socket.socket]) -> str:
    """Play one game; return why it was broken off, if the server has not said how it ended."""
    from vauban.agents.base import close
    from vauban.agents.external.geister.client import Resigned
    from vauban.agents.external.geister.wire import Lines
    from vauban.notation.geister.server import BREAK

    lines = Lines()
    try:
        with connecting() as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while client.result is None:
                line = lines.next()
                if line is None:
                    data = connection.recv(4096)
                    if not data:
                        return "the server has closed the connection"
                    lines.add(data)
                elif (answer := client.hear(line)) is not None:
                    connection.sendall((answer + BREAK).encode())
        return ""
    except Resigned:
        return "the agent resigned, and has left"
    except OSError as error:
        return f"the connection broke: {error.strerror or error}"
    except ConfigurationError:
        raise
    except VaubanError as error:
        return str(error)
    finally:
        close(client.agent)


# ── The server ───────────────────────────────────────────────────────────────────────────────────


def geister_server(
    first: Annotated[str | None, typer.Option(help="The first player, an agent of ours (default: a client)")] = None,
    second: Annotated[str | None, typer.Option(help="The second player, an agent of ours (default: a client)")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for other machines too.")] = HOST,
    port: Annotated[
        int, typer.Option(help="The first player's port, the second's is the next; 0 for free ones.", min=0, max=65534)
    ] = FIRST_PORT,
    games: Annotated[int, typer.Option(help="End after so many games, 0 for none.", min=0)] = 0,
    rules: Annotated[str | None, typer.Option(help="Preset and switches, e.g. total_limit=100")] = None,
    budget: Annotated[float, typer.Option(help="Seconds of a player for the whole game.", min=0.0)] = 600.0,
    timeout: Annotated[float, typer.Option(help="Seconds for each move once these are used up.", min=0.01)] = 10.0,
    illegal_loses: Annotated[
        bool, typer.Option("--illegal-loses/--no-ng-terminate", help="A move that may not be played loses the game.")
    ] = True,
    log: Annotated[Path | None, typer.Option(help="A folder for logs in the public server's format")] = None,
    save: Save = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Let clients of the public Geister server play each other, or agents of ours (docs/external-bots.md).

    It says of each game who has won, and what a client has done wrong. Ctrl-C ends it.

    Example: vauban geister-server --second random --games 10 --log logs
    """
    from vauban.agents.external.geister.host import Host, release
    from vauban.agents.external.geister.referee import Referee, Terms
    from vauban.games.base import game as find_game

    agents = (first, second)
    if first is not None and second is not None:
        raise ConfigurationError("a server needs a client: two agents of ours play each other with vauban match")
    check_files(save=save)
    if log is not None:
        with complaining(log):
            log.mkdir(parents=True, exist_ok=True)
    game = find_game("geister", rules)
    if not game.setups_chosen:
        raise ConfigurationError("on a server players choose their setups: leave colours=chance and paper out")
    seed = _seed(seed)
    for text in agents:
        if text is not None:
            _warm_up(_make(text, seed))
    table: list[dict[str, Any]] = []
    ports = tuple(None if text else port and port + side for side, text in enumerate(agents))
    with Host(host, (ports[0], ports[1])) as house, suppress(KeyboardInterrupt):
        for side, opened in enumerate(house.ports):
            if opened is not None:
                word = ("first", "second")[side]
                console.print(f"the {word} player connects to port {opened} of {host}", highlight=False)
        number = 0
        while games == 0 or number < games:
            referee = Referee(game, Terms(budget, timeout, illegal_loses), house.remote)
            made = [None if text is None else _make(text, seed + number) for text in agents]
            try:
                addresses = house.play(referee, (made[0], made[1]), seed + number)
            finally:
                release((made[0], made[1]))
            number += 1
            names = [text or address for text, address in zip(agents, addresses, strict=True)]
            assert referee.ending is not None
            table.append(_row(referee.ending, names))
            if not json:
                line = f"game {number}: {ending_words(referee.ending)}"
                console.print(line, highlight=False, markup=False, soft_wrap=True)
            if log is not None:
                _write_log(log, referee)
            if save is not None and referee.board is not None:
                _add(save, record(referee, names))
    if json:
        print_json({"games": table})


def ending_words(ending: Ending) -> str:
    """Say how a game ended."""
    players = ("the first player", "the second player")
    after = f"after {ending.plies} plies"
    if ending.winner is None:
        return f"a draw {after} ({ending.end})"
    if not ending.kind:
        return f"{players[ending.winner]} won {after} ({ending.end})"
    return f"{players[1 - ending.winner]} lost {after} ({ending.kind}): {ending.sentence}"


def record(referee: Referee, names: list[str]) -> str:
    """Return a game as our game text."""
    from vauban.agents.external.process import REASONS
    from vauban.arena.match import RECORDED_ENDS
    from vauban.notation.records import write_game

    headers = {"First": names[0], "Second": names[1]}
    ending = referee.ending
    if ending is not None and ending.kind:
        reason = RECORDED_ENDS.get(ending.kind) or RECORDED_ENDS[REASONS.get(ending.kind, "illegal")]
        note = " ".join(f"{ending.kind}: {ending.sentence}".split())
        headers |= {"Result": ("1-0", "0-1")[ending.winner or 0], "End": reason, "Note": note}
    return write_game(referee.board, headers)


def _row(ending: Ending, names: list[str]) -> dict[str, Any]:
    return {
        "first": names[0], "second": names[1], "winner": ending.winner, "end": ending.end, "plies": ending.plies,
        "kind": ending.kind, "note": ending.sentence,
    }  # fmt: skip


def _write_log(folder: Path, referee: Referee) -> None:
    path = folder / f"log-{datetime.now():%Y-%m-%d-%H-%M-%S-%f}.txt"
    with complaining(path):
        path.write_text("".join(f"{line}\n" for line in referee.log), encoding="utf-8")


# ── Both ─────────────────────────────────────────────────────────────────────────────────────────


def _seed(given: int | None) -> int:
    return random.SystemRandom().randrange(LARGEST_SEED) if given is None else given


def _make(text: str, seed: int) -> Agent:
    """Return an agent of ours."""
    from vauban.agents import make_player
    from vauban.agents.external import prefix_of
    from vauban.notation.geister.server import PUBLIC

    if prefix_of(text):
        raise ConfigurationError(
            f"{text!r} is a program: let it connect by itself to vauban geister-server, or play with it in a match"
        )
    return make_player(text, PUBLIC, seed)


def _warm_up(agent: Agent) -> None:
    """Have the rules and the agent compiled, or fetched from where they are kept, before a clock runs."""
    from vauban.agents.base import choose_action, close, set_up
    from vauban.board import Board
    from vauban.notation.geister.server import PUBLIC

    set_up(agent, PUBLIC, 0, random.Random(0))
    board = Board(PUBLIC, seed=0)
    board.push(board.legal_actions[0])
    board.pop()
    choose_action(agent, board.view(0), 0)
    close(agent)


def _add(path: Path, text: str) -> None:
    """Add a game to a file of games."""
    with complaining(path):
        begun = path.exists() and path.stat().st_size > 0
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}" if begun else text)
