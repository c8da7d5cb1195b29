"""Connections with clients of the public Geister server, which are never waited for too long.

`Lines` cuts what came in into lines, `Clock` counts a player's time; neither knows of sockets. `Door` is an open port,
and `Wire` a connection that came through it, of a program that was started for it or of somebody else's.
"""

from __future__ import annotations

import math
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from vauban.agents.external.process import KEPT_LINES, LONGEST_LINE, BotError, BotProcess, harmless
from vauban.errors import ConfigurationError
from vauban.notation.geister import server
from vauban.words import shortened

BUDGET, TIMEOUT = 600.0, 10.0
"""Seconds of a player for the whole game, and for each move once they are used up."""
MOST_REFUSED = 1000
"""Number of lines out of turn, or setups that are none, after which a client has lost."""
QUEUE = 8
"""Number of connections that may wait until the port is opened for the next game."""
_END = server.BREAK.encode()


class Lines:
    """Cuts what comes in into lines that end with a carriage return and a line feed."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def add(self, data: bytes) -> None:
        """Take what came in."""
        self._rest += data

    def next(self) -> str | None:
        """Return the next line, if the whole of it is there. Raises `BotError` for one that is too long."""
        length = self._rest.find(_END)
        if length > LONGEST_LINE or (length < 0 and len(self._rest) > LONGEST_LINE + 1):
            raise BotError("babbling", f"it sent more than {LONGEST_LINE:,} characters without ending the line")
        if length < 0:
            return None
        text = _readable(bytes(self._rest[:length]))
        del self._rest[: length + len(_END)]
        return text

    @property
    def half(self) -> str:
        """The line that has not ended yet."""
        return _readable(bytes(self._rest))


def _readable(data: bytes) -> str:
    return harmless(data.decode("ascii", "backslashreplace")).replace("\n", "␊")


@dataclass
class Clock:
    """A player's time: a budget for the whole game, and so many seconds more for each move."""

    budget: float = BUDGET
    """Seconds left."""
    timeout: float = TIMEOUT

    @property
    def allowed(self) -> float:
        """Seconds for the next move."""
        return self.budget + self.timeout

    def spend(self, seconds: float) -> None:
        """Take the time of a move off the budget: whole seconds, rounded down, as the public server does."""
        self.budget = max(0.0, self.budget - math.floor(seconds))


class Door:
    """An open port."""

    def __init__(self, host: str, port: int) -> None:
        """Open it; port 0 is any free one."""
        try:
            self._listener = socket.create_server((host, port), backlog=QUEUE)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise ConfigurationError(
                f"port {port} of {host} cannot be opened ({why}): name another, or end the program that has it (one "
                "port is for one game at a time: --workers 1)"
            ) from error
        self._listener.setblocking(False)
        self.host = host
        self.port: int = self._listener.getsockname()[1]

    def fileno(self) -> int:
        """Return its descriptor, which is ready when somebody has come."""
        return self._listener.fileno()

    def accept(self) -> socket.socket:
        """Let in who has come, for reading and writing without waiting."""
        connection, _ = self._listener.accept()
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def close(self) -> None:
        """Close the port."""
        self._listener.close()


class Wire:
    """A connection with one client, and with its process if it was started for it."""

    def __init__(self, process: BotProcess | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        """The latest lines: "> " before ours, "< " before its."""
        self.spoke = False
        self._process = process
        self._talks = process is not None
        """Whether more may come on the process's own output."""
        self._socket: socket.socket | None = None
        self._incoming = Lines()
        self._outgoing = bytearray()
        self._ended = False

    def connect(self, connection: socket.socket) -> None:
        """Talk over this connection."""
        connection.setblocking(False)
        self._socket = connection

    def await_client(self, door: Door, seconds: float) -> None:
        """Wait until the client has come through the door."""
        deadline = self.clock() + seconds
        while self._socket is None:
            left = deadline - self.clock()
            if self._ready(door, left):
                with suppress(OSError):  # gone again
                    self.connect(door.accept())
            elif self._process is not None and not self._talks:
                self._fail("crashed", f"it did not connect to port {door.port}: {self._farewell()}")
            elif left <= 0:
                self._fail("silent", f"nobody has connected to port {door.port} within {seconds:g} s")

    def send(self, *lines: str) -> None:
        """Write lines; what the client does not take now is written while we wait for its answers."""
        for line in lines:
            self.lines.append(f"> {line}")
            self._outgoing += (line + server.BREAK).encode("ascii")
        self._write()

    def read_line(self, seconds: float) -> str:
        """Return its next line. Raises `BotError` if it does not come, whole, in this time."""
        deadline = self.clock() + seconds
        while (line := self._next()) is None:
            if self._ended:
                self._fail("crashed", self._farewell())
            left = deadline - self.clock()
            if self._ready(self._socket, left):
                self._read()
            elif left <= 0:
                half = self._incoming.half
                if half:
                    self._fail(
                        "late", f"it sent {shortened(half)}, and no end of the line (CR LF) within {seconds:g} s"
                    )
                kind = "late" if self.spoke else "silent"
                self._fail(kind, f"it sent nothing within {seconds:g} s")
        return line

    def unasked(self) -> list[str]:
        """Return the lines that it has sent and nobody has asked for, as far as they are here."""
        found: list[str] = []
        while True:
            while (line := self._next()) is not None:
                found.append(line)
            if len(found) > MOST_REFUSED:
                self._fail("babbling", f"it sent more than {MOST_REFUSED:,} lines out of turn")
            if self._ended or not self._ready(self._socket, 0.0):
                return found
            self._read()

    def close(self, grace: float = 1.0) -> None:
        """Hang up, and let nothing of its process stay behind."""
        if self._socket is not None:
            self._write()
            with suppress(OSError):  # what has come too late would break what we have written
                self._socket.recv(1 << 16)
            self._socket.close()
            self._socket = None
        if self._process is not None:
            if self._talks:
                self._talks = self._process.overhear()
            self._process.close(grace)

    @property
    def stderr(self) -> str:
        """The end of what its process has said on standard output and standard error."""
        return "" if self._process is None else self._process.stderr

    def _ready(self, awaited: socket.socket | Door | None, seconds: float) -> bool:
        """Wait until something is to be read; meanwhile write, and let the process say on its output what it likes."""
        assert awaited is not None
        poll = select.poll()
        poll.register(awaited, select.POLLIN | (select.POLLOUT if self._outgoing else 0))
        if self._process is not None and self._talks:
            poll.register(self._process, select.POLLIN)
        ready = dict(poll.poll(1000 * min(max(seconds, 0.0), 10**6)))
        events = ready.pop(awaited.fileno(), 0)
        if self._process is not None and ready:
            self._talks = self._process.overhear()
        if events & select.POLLOUT:
            self._write()
        return bool(events & ~select.POLLOUT)

    def _read(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.spoke = self.spoke or bool(data)
        self._ended = not data
        self._incoming.add(data)

    def _next(self) -> str | None:
        try:
            line = self._incoming.next()
        except BotError as error:
            self._fail(error.kind, str(error))
        if line is not None:
            self.lines.append(f"< {line}")
        return line

    def _write(self) -> None:
        try:
            while self._outgoing and self._socket is not None:
                del self._outgoing[: self._socket.send(self._outgoing)]
        except BlockingIOError:
            pass
        except OSError:  # it has gone, which is noticed when it is read from
            self._outgoing.clear()

    def _farewell(self) -> str:
        """Say how it has ended."""
        gone = "it closed the connection" if self.spoke or self._socket is not None else ""
        half = self._incoming.half
        if half:
            gone += f" after {shortened(half)}, which is half a line"
        if self._process is None:
            return gone
        how = self._process.how_it_ended()
        return f"{gone}; {how}" if gone else how

    def _fail(self, kind: str, sentence: str) -> NoReturn:
        raise BotError(kind, sentence, stderr=self.stderr, spoke=self.spoke)
