"""A server of the page for tests: the real application behind a real port, and people who play at it by hand."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import random
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from patience import PATIENCE
from websockets.sync.client import ClientConnection, connect

from vauban.web import app as application
from vauban.web import connections
from vauban.web.app import make_app, own_names
from vauban.web.host import Host, Settings
from vauban.web.levels import Level, levels
from vauban.web.limits import SOCKETS, Limits
from vauban.web.serve import configuration, listen
from vauban.web.shelf import Shelf
from vauban.work.relay import Cluster

# The server lets no client go because a test's machine is slow, except in tests of that.
application.SIT_SECONDS = application.BODY_SECONDS = application.SEND_SECONDS = PATIENCE
connections.ASK_SECONDS = connections.TAKE_SECONDS = PATIENCE
RED = "F.......SO/B......G.O/....N..M../.........."
BLUE = "..F....S.O/..B...G..O/...N..M.../.........."
"""Barrage setups, one for each side (`RED`, `BLUE`)."""
WALLED = "BFN......./.G......../...S..M.../O.......O."
"""A barrage setup whose Flag is not taken in a few moves."""


class Talk:
    """One HTTP or WebSocket client of a server, which keeps every byte that reaches it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"

    def ask(
        self, method: str, path: str, body: Any = None, secret: str | None = None, **headers: str
    ) -> tuple[int, Any, dict[str, str]]:
        """Return the status, the body (read if it is JSON) and the headers of an answer; `secret` opens a game."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            given.setdefault("Content-Type", "application/json")
        if secret is not None:
            given["Vauban-Secret"] = secret
        try:
            connection.request(method, path, data, given)
            answer = connection.getresponse()
            content = answer.read()
            found = {name.lower(): value for name, value in answer.getheaders()}
            if found.get("content-encoding") == "gzip":
                content = gzip.decompress(content)
        finally:
            connection.close()
        if found.get("content-type", "").startswith("application/json"):
            return answer.status, json.loads(content), found
        return answer.status, content, found

    def post(self, path: str, **body: Any) -> Any:
        """Return the answer to a request that should be fine."""
        status, found, _ = self.ask("POST", path, body)
        assert status == 200, found
        return found

    def level(self, level: str = "cadet", side: str = "red", setup: str = RED, **wishes: Any) -> dict[str, Any]:
        """Begin a game of barrage against a level."""
        against = {"kind": "level", "level": level}
        return self.post("/api/games", variant="barrage", against=against, side=side, setup=setup, **wishes)

    def friends(self, red: str = RED, blue: str = BLUE, variant: str = "barrage", **wishes: Any) -> tuple[Seat, Seat]:
        """Begin a game of two people who have set up."""
        made = self.post("/api/games", variant=variant, against={"kind": "friend"}, side="red", **wishes)
        seats = (
            self.sit(made["game"], "red", made["seats"]["red"]),
            self.sit(made["game"], *self.join(made["game"], made["friend"]["invitation"])),
        )
        seats[0].do("setup", setup=red)
        seats[0].until(lambda sight: sight["ready"]["red"])
        seats[1].do("setup", setup=blue)
        for seat in seats:
            seat.until(lambda sight: sight["phase"] == "play")
        return seats

    def join(self, game: str, invitation: str) -> tuple[str, str]:
        """Take an invitation; return the seat, and its secret."""
        secret = secrets.token_urlsafe(24)
        [taken] = self.post(f"/api/games/{game}/join", invitation=invitation, secret=secret)["seats"].items()
        return taken

    def socket(
        self,
        origin: str | None = None,
        name: str | None = None,
        headers: dict[str, str] | None = None,
        game: str | None = None,
    ) -> ClientConnection:
        """Open a bare socket, for a game if one is named; `name` is the client's name for the server."""
        address = f"ws://{name or f'127.0.0.1:{self.port}'}/ws{'' if game is None else f'/{game}'}"
        chosen: Any = origin or self.origin
        there = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        return connect(
            address, sock=there, origin=chosen, additional_headers=headers, compression=None, open_timeout=PATIENCE,
            ping_interval=None,  # a server that compiles kernels answers late, and is not gone
        ).__enter__()  # fmt: skip

    def sit(self, game: str, seat: str, secret: str, have: int = 0, browser: str | None = None) -> Seat:
        """Take a seat at a table."""
        return Seat(self.socket(game=game), game, seat, secret, have, browser)


class Seat:
    """A client at a table."""

    def __init__(
        self, ws: ClientConnection, game: str, seat: str, secret: str, have: int = 0, browser: str | None = None
    ) -> None:
        self.ws, self.game, self.seat, self.secret = ws, game, seat, secret
        self.heard: list[str] = []
        self.moves: list[dict[str, Any]] = []
        self.sight: dict[str, Any] = {}
        self.ignore_errors = False
        self.do("sit", game=game, seat=seat, secret=secret, have=have, browser=browser)
        self.until(lambda sight: True)

    def __enter__(self) -> Seat:
        return self

    def __exit__(self, *_: object) -> None:
        self.ws.close()

    def do(self, what: str, **more: Any) -> None:
        self.ws.send(json.dumps({"do": what, **more}))

    def hear(self) -> dict[str, Any]:
        """Return the next message."""
        text = self.ws.recv(PATIENCE)
        assert isinstance(text, str)
        self.heard.append(text)
        told: dict[str, Any] = json.loads(text)
        if told["say"] == "moves":
            self.moves[told["first"] :] = told["moves"]
        elif told["say"] == "sight":
            self.sight = told
        return told

    def wait_for(self, say: str) -> dict[str, Any]:
        """Return the next message of a kind; an error that was not waited for fails."""
        while True:
            told = self.hear()
            if told["say"] == say:
                return told
            assert told["say"] != "error" or self.ignore_errors, told

    def until(self, right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first sight for which `right` is true."""
        while not (self.sight and right(self.sight)):
            self.wait_for("sight")
        return self.sight

    def refused(self, what: str, **more: Any) -> dict[str, Any]:
        """Return the error that answers a message."""
        self.do(what, **more)
        return self.wait_for_error()

    def wait_for_error(self) -> dict[str, Any]:
        while True:
            told = self.hear()
            if told["say"] == "error":
                return told

    def move(self, text: str) -> dict[str, Any]:
        """Make a move such as "a4a5", and see that it was made."""
        ply = self.sight["ply"]
        self.do("move", move=text)
        return self.until(lambda sight: sight["ply"] > ply)

    def quiet_move(self, rng: random.Random) -> None:
        """Make some move that takes nothing, and opens no way to the Flag: a game does not end by it."""
        taken = {piece["at"] for piece in self.sight["pieces"]}
        moves = [re.findall("[a-z][0-9]+", move) for move in sorted(self.sight["legal"])]
        quiet = [(source, target) for source, target in moves if target not in taken]
        guards = ("1", "2") if self.seat == "red" else ("9", "10")
        self.move("".join(rng.choice([move for move in quiet if move[0][1:] not in guards] or quiet)))

    def my_turn(self) -> dict[str, Any]:
        """Wait until the player is on turn, or the game is over."""
        return self.until(lambda sight: sight["over"] is not None or bool(sight["legal"]))


class Server(Talk):
    """The application in a thread of this process."""

    def __init__(
        self,
        shelf: Path | str = ":memory:",
        settings: Settings | None = None,
        paced: bool = False,
        among: tuple[Level, ...] | None = None,
        sockets: int = SOCKETS,
        name: str | None = None,
        games: tuple[str, ...] = (),
        clock: Callable[[], float] = time.monotonic,
        cluster: Cluster | None = None,
    ) -> None:
        """`clock`: what limits by address go by."""
        quick = Settings(delay=0.0, watch_delay=0.0, warm_up=False)
        self.host = Host(Shelf(shelf), among or levels(), settings or quick, games, cluster)
        listener = listen("127.0.0.1", 0)
        super().__init__(listener.getsockname()[1])
        self.limits = Limits(paced, clock, sockets)
        app = make_app(self.host, self.limits, own_names("127.0.0.1", name))
        self.config = configuration(app, sockets, name is not None)
        self.config.timeout_graceful_shutdown = 1
        self._server = uvicorn.Server(self.config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()
        wait_until(lambda: self._server.started)

    @property
    def connections(self) -> list[asyncio.BaseTransport]:
        """The server's ends of all open connections."""
        return [each.transport for each in self._server.server_state.connections]

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def wait_until(right: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for something that will become true."""
    last = time.monotonic() + seconds
    while not right():
        assert time.monotonic() < last, "it did not come true in time"
        time.sleep(0.005)
