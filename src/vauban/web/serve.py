"""Serving the page: a port, a line that says where it is, a browser, and an orderly end.

serve()                                    # this machine only
serve("0.0.0.0", 8300, browser=False)      # whoever can reach it; then with limits
"""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from pathlib import Path

import uvicorn

from vauban.arena.executors import cores
from vauban.errors import ConfigurationError
from vauban.games.stratego.pieces import PLAYERS
from vauban.web.app import is_loopback, make_app, own_names
from vauban.web.host import Host, Settings
from vauban.web.levels import levels
from vauban.web.limits import MESSAGE_BYTES, Limits
from vauban.web.shelf import Shelf
from vauban.web.sight import explain, sight
from vauban.web.table import PERSON, Table, new_table

HOST, PORT = "127.0.0.1", 8300
SHUTDOWN_SECONDS = 3


def default_shelf() -> Path:
    """Where games are kept."""
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "vauban" / "games.sqlite"


def serve(host: str = HOST, port: int = PORT, browser: bool = True, shelf: Path | None = None) -> None:
    """Serve the page until Ctrl-C; games are kept on the shelf.

    If the usual port is taken, another is; one that was asked for is not replaced. Port 0: any.
    """
    listener = _listen(host, port)
    _warm_up()
    address = f"http://{_written(host)}:{listener.getsockname()[1]}/"
    local = is_loopback(host)
    settings = Settings(workers=max(1, cores()))
    app = make_app(Host(Shelf(shelf or default_shelf()), levels(), settings), Limits(paced=not local), own_names(host))
    config = uvicorn.Config(
        app,
        access_log=False,  # addresses of requests hold secrets
        log_level="warning",
        ws_max_size=MESSAGE_BYTES,
        ws_per_message_deflate=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        proxy_headers=False,
    )
    server = _Server(config, address, browser)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # the server has ended in order, and passes on what ended it
    finally:
        listener.close()


def _warm_up() -> None:
    """Have the rules compiled or loaded now, so that no game waits for them while they hold up all others."""
    table = Table.made(new_table("fives", "friend", (PERSON, PERSON)))
    for seat in PLAYERS:
        table.give_setup(seat, "FTLPJ")
    table.move("red", "b1", "b2")
    for seat in PLAYERS:
        sight(table, seat)
    explain(table, "blue", "b5", "b2")


class _Server(uvicorn.Server):
    """A server that says where it is as soon as it is there."""

    def __init__(self, config: uvicorn.Config, address: str, browser: bool) -> None:
        super().__init__(config)
        self._address = address
        self._browser = browser

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(f"Vauban is at {self._address} (Ctrl-C ends it; games are kept)", flush=True)
            if self._browser:
                threading.Thread(target=webbrowser.open, args=(self._address,), daemon=True).start()


def _listen(host: str, port: int) -> socket.socket:
    """A socket on the port, or on a free one if the usual port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for choice in (port, 0) if port == PORT else (port,):
        listener = socket.socket(family, socket.SOCK_STREAM)
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
    """A host as it is written in an address that can be opened on this machine."""
    if host in ("0.0.0.0", "::"):
        return "localhost"
    return f"[{host}]" if ":" in host else host
