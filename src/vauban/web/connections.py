"""Connections with time limits: a client that neither asks nor takes its answer is disconnected.

`HttpConnection` and `SocketConnection` are uvicorn's protocols with limits that it does not have: a request has to be
asked for within a time, an answer has to be taken, and there are no more connections at once than the configuration's
`limit_concurrency`. `descriptors` makes room for so many.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

ASK_SECONDS = 15.0
"""For the head of a request, from its first byte, or from when the connection was made."""
CLOSE_SECONDS = 5.0
"""For the other end of a WebSocket to answer that it is closed."""
TAKE_SECONDS = 30.0
"""For whatever the network does not take at once."""


def descriptors(wanted: int) -> int:
    """Raise the limit on open files to what is wanted, or as far as allowed; return the limit."""
    try:
        import resource
    except ImportError:  # where there is none, there is no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):  # systems have limits beyond those that they tell
        return soft
    return most


class _Watched:
    """The part that both kinds of connection have in common: what is sent has to be taken."""

    transport: Any
    loop: asyncio.AbstractEventLoop
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        # Whatever the network does not take at once counts, not only what is more than a buffer's fill.
        transport.set_write_buffer_limits(high=0)
        super().connection_made(transport)  # type: ignore[misc]

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)  # type: ignore[misc]

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        # Read nothing meanwhile: pings alone could fill the memory with their answers.
        self.transport.pause_reading()
        self._stalled = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._forget()
        if not self._reads_later():
            self.transport.resume_reading()
        super().resume_writing()  # type: ignore[misc]

    def _reads_later(self) -> bool:
        """Return whether uvicorn itself does not want to read just now."""
        raise NotImplementedError

    def _forget(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class HttpConnection(_Watched, H11Protocol):
    """A connection for requests."""

    _asking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            transport.abort()
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Limit the time for a request that has begun; not for one that is being answered or has become a socket."""
        asking = self.cycle is None or self.cycle.response_complete
        if not asking or self.transport.get_protocol() is not self:
            self._relax()
        elif self._asking is None:
            self._asking = self.loop.call_later(ASK_SECONDS, self.transport.abort)

    def _relax(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _reads_later(self) -> bool:
        return self.flow.read_paused


class SocketConnection(_Watched, WebSocketsSansIOProtocol):
    """A WebSocket."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.close_timeout = CLOSE_SECONDS

    def _reads_later(self) -> bool:
        return self.read_paused
