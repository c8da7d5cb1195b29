"""Serving the page: a port, a line that says where it is, a browser, and an orderly end.

serve()                                    # this machine only
serve("0.0.0.0", 8300, browser=False)      # whoever can reach it; then with limits
"""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from vauban.errors import ConfigurationError
from vauban.web.app import is_loopback, make_app, own_names
from vauban.web.connections import HttpConnection, SocketConnection, descriptors
from vauban.web.host import Host, Settings
from vauban.web.levels import levels, own_levels
from vauban.web.limits import MESSAGE_BYTES, REQUESTS, SHELF_BYTES, SOCKETS, Limits
from vauban.web.logs import log_to
from vauban.web.shelf import Shelf
from vauban.web.show import offered, show_of, shows
from vauban.web.thinking import MODULES
from vauban.work.bridge import Bridge
from vauban.work.processes import cores, prepare

HOST, PORT = "127.0.0.1", 8300
EVERYBODY = ("0.0.0.0", "::")
"""Hosts that stand for all addresses of a machine."""
NEIGHBOURS = ("127.0.0.1", "::1")
"""From where a server that stands before this one passes on who asks."""
SHUTDOWN_SECONDS = 3
OWN_FILES = 256
"""Open files that the server needs for itself: its shelf, its workers, the page's files."""

log = logging.getLogger("vauban.web")


def default_shelf() -> Path:
    """Return the file that games are kept in."""
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "vauban" / "games.sqlite"


def serve(
    host: str = HOST,
    port: int = PORT,
    browser: bool = True,
    shelf: Path | None = None,
    name: str | None = None,
    games_too: Sequence[str] = (),
    opponents: Sequence[str] = (),
    log_file: str | None = None,
    ray: str | None = None,
    bot_time: float = Settings.bot_time,
    prefix: str = "",
    proxies: Sequence[str] = (),
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Serve the page until Ctrl-C; games are kept on the shelf.

    If the usual port is taken, another is; one that was asked for is not replaced. Port 0: any. `name` is what a
    proxy before this server is called: through it others come, even to a server on loopback. `games_too`
    are games that are offered beside the usual ones, `opponents` agents to play against beside the levels. Limits go
    by `clock`. `log_file` is where it is written down what is asked (`vauban.web.logs`). `ray` is the address of a Ray
    cluster on which strong levels think and games are looked back on. Programs have `bot_time` seconds for an answer.
    The names of games that are made here begin with `prefix`. `proxies` are addresses and networks of servers that
    stand before this one on other machines.
    """
    if log_file is not None:
        try:
            log_to(log_file)
        except OSError as error:
            raise ConfigurationError(f"{log_file} cannot be written: {error.strerror}") from error
    if not re.fullmatch(r"[a-z0-9]{0,8}", prefix):
        raise ConfigurationError(f"a prefix of games is up to 8 small letters and digits, not {prefix!r}")
    if proxies and name is None:
        raise ConfigurationError("a proxy is believed together with the name that it passes on: give --name, too")
    names = own_names(host, name)
    listener = listen(host, port)
    prepare(MODULES)  # it takes longer than all that follows, and somebody may want to play at once
    cluster = None if ray is None else Bridge(ray)
    _warm_up(games_too)
    own = own_levels(opponents, (*offered(), *games_too), log.warning)
    port = listener.getsockname()[1]
    address = f"http://{_written(host)}:{port}/"
    others = f"http://{_own_number()}:{port}/" if host in EVERYBODY else None
    settings = Settings(workers=max(1, cores()), bot_time=bot_time, prefix=f"{prefix}-" if prefix else "")
    limits = Limits(name is not None or not is_loopback(host), clock, _room_for(SOCKETS))
    games = Shelf(shelf or default_shelf(), SHELF_BYTES if limits.paced else None)
    app = make_app(Host(games, (*levels(), *own), settings, games_too, cluster), limits, names)
    said = [f"Vauban is at {address} (Ctrl-C ends it; games are kept)"]
    if others is not None:
        said.append(f"Others reach it at {others}; links to friends are made from there")
    if cluster is not None:
        said.append(f"Strong levels think on the Ray cluster at {ray}: {cluster.workers} workers")
    server = _Server(configuration(app, limits.sockets, name is not None, proxies), said, address if browser else None)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # the server has ended in order, and passes on what ended it
    finally:
        listener.close()


def configuration(
    app: FastAPI, sockets: int = SOCKETS, behind: bool = False, proxies: Sequence[str] = ()
) -> uvicorn.Config:
    """Configure the server: with the limits, and without the logs, that this page needs.

    `behind`: whether a server stands before this one, on this machine or at one of the `proxies`; it tells where people
    come from (X-Forwarded-For, whose last entry is its own word), and they are limited by that. Nobody else is
    believed.
    """
    for each in proxies:
        try:
            ipaddress.ip_network(each)
        except ValueError as error:
            raise ConfigurationError(f"a proxy is an address or a network, as 10.0.0.0/24: {error}") from error
    return uvicorn.Config(
        app,
        http=HttpConnection,
        ws=SocketConnection,
        access_log=False,  # addresses of requests hold secrets
        log_level="warning",
        ws_max_size=MESSAGE_BYTES,
        ws_per_message_deflate=False,
        server_header=False,
        limit_concurrency=sockets + REQUESTS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        proxy_headers=behind,
        forwarded_allow_ips=[*NEIGHBOURS, *proxies],
    )


def _room_for(sockets: int) -> int:
    """Return how many sockets there can be, if so many are wanted: each takes an open file, and so do other things."""
    return max(1, descriptors(sockets + REQUESTS + OWN_FILES) - REQUESTS - OWN_FILES)


def _warm_up(games: Sequence[str]) -> None:
    """Have the rules compiled or loaded now, so that no game waits for them while they hold up all others."""
    usual = [show.offered[0] for show in shows() if show.offered]
    for name in dict.fromkeys((*usual, *games)):
        show = show_of(name)
        show.warm_up(name)
        if show.has_setups(name):
            show.draw_setup(name, "human", 0)


class _Server(uvicorn.Server):
    """A server that says where it is as soon as it is there."""

    def __init__(self, config: uvicorn.Config, said: Sequence[str], page: str | None) -> None:
        """`page` is the address that a browser is to open."""
        super().__init__(config)
        self._said = said
        self._page = page

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            for line in self._said:
                print(line, flush=True)
            if self._page is not None:
                threading.Thread(target=webbrowser.open, args=(self._page,), daemon=True).start()


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket on the port, or on a free one if the usual port is taken. Port 0: any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for choice in (port, 0) if port == PORT else (port,):
        # With the protocol named, asyncio sets TCP_NODELAY on what is accepted: small answers are sent at once.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, choice))
            listener.listen(2048)
        except (OSError, OverflowError) as error:
            listener.close()
            reason = getattr(error, "strerror", None) or error
            refusal = ConfigurationError(f"nothing can be served at {host}, port {choice}: {reason}")
            refusal.__cause__ = error
            continue
        return listener
    raise refusal


def _written(host: str) -> str:
    """Return a host as it is written in an address that can be opened on this machine."""
    if host in EVERYBODY:
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _own_number() -> str:
    """Return the address in numbers by which this machine goes to others; its name, if it goes nowhere."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: only the way there is looked up
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])
