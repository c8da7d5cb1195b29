"""Clients at a table: `Client`, one socket's end, and `Room`, a table in memory with all that goes on at it."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from vauban.web import sight as wall
from vauban.web.show import SIDES
from vauban.web.table import Table

Json = dict[str, Any]

REPLIES = 64
"""Answers that may wait for a slow socket; with more it is let go."""


class Client:
    """One socket's end: what is still to be sent to it. A slow one misses sights, never moves or answers."""

    def __init__(self, address: str = "") -> None:
        self.address = address
        self.room: Room | None = None
        self.seat = ""
        self.owns = False
        """Whether it came by the seat's own secret, and not by a link to look back."""
        self.eyes: str | None = None
        """The side with whose eyes a watcher looks on."""
        self.browser: str | None = None
        """The name by which its browser tells itself from others; the client's own word."""
        self.lost = False
        """It did not take what it was sent, or its table is gone: the socket is to be closed."""
        self._replies: deque[Json] = deque()
        self._sent = 0
        """Number of moves of the game that the client has."""
        self._behind = False
        self._number: Any = None
        self._wake = asyncio.Event()

    def reply(self, message: Json) -> None:
        """Answer something that it asked."""
        self._replies.append(message)
        self.lost = self.lost or len(self._replies) > REPLIES
        self._wake.set()

    def show(self, number: Any = None) -> None:
        """Show it how things stand. Several of these may become one; the last number is told."""
        self._behind = True
        self._number = self._number if number is None else number
        self._wake.set()

    def dismiss(self) -> None:
        """Send it away, with what it was answered last."""
        self.room = None
        self.lost = True
        self._wake.set()

    def rewind(self, moves: int) -> None:
        """Only so many of its moves are still true."""
        if self._sent > moves:
            self._sent = moves
            self.reply({"say": "moves", "first": moves, "moves": []})

    async def outgoing(self, look: Callable[[Client], Json]) -> AsyncIterator[str]:
        """Yield what is to be sent, as it comes up; `look` makes a sight. Ends when the client is lost."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._replies:
                yield _text(self._replies.popleft())
            if self.lost:
                return
            if self._behind and self.room is not None:
                self._behind = False
                number, self._number = self._number, None
                # Both now: while the moves are on their way there may be another.
                fresh, sight = wall.moves(self.room.table, self._sent, self.eyes or self.seat), look(self)
                if fresh:
                    first, self._sent = self._sent, self._sent + len(fresh)
                    yield _text({"say": "moves", "first": first, "moves": fresh})
                yield _text(numbered(sight, number))

    def sit(
        self, room: Room, seat: str, owns: bool, have: int, eyes: str | None = None, browser: str | None = None
    ) -> None:
        """Take a seat; it has so many moves already."""
        firm = room.table.firm
        self.room, self.seat, self.owns, self.eyes, self.browser = room, seat, owns, eyes, browser
        if owns:
            room.browsers.setdefault(seat, set()).add(browser)
        self._sent = min(have, room.table.plies if firm is None else firm)


@dataclass(eq=False)
class Room:
    """A table that is in memory, and all that goes on at it."""

    table: Table
    stored: int
    """Number of its events on the shelf."""
    began: float
    """Time at which the side on turn began to think."""
    turn: int
    """The side on turn."""
    clients: set[Client] = field(default_factory=set)
    away: dict[str, float] = field(default_factory=dict)
    """Of two friends, since when who is away, by side, in seconds since 1970."""
    changed: float = 0.0
    """When the table last changed, in seconds since 1970."""
    address: str = ""
    """The address that its machines think for: that of the client that came last."""
    browsers: dict[str, set[str | None]] = field(default_factory=dict)
    """By seat, the browsers that have come by its own secret since this table is in memory."""
    thinking: asyncio.Task[None] | None = None
    since: float = 0.0
    """Time at which the machine began to think."""
    stepping: bool = False
    """One move is wanted of a game that is paused."""
    weighing: asyncio.Task[None] | None = None
    flag: asyncio.TimerHandle | None = None
    matching: bool = False
    """A table for a rematch is being made."""

    def is_elsewhere(self, client: Client) -> bool:
        """Return whether another browser has come to the client's own seat, too."""
        return client.owns and not self.browsers[client.seat] <= {client.browser}

    def absent(self, player: int, now: float) -> float | None:
        """Return how many seconds a player has been on turn and away; None for one who is there or not on turn."""
        since = self.away.get(SIDES[player])
        if since is None or self.table.phase != "play" or self.table.turn != player:
            return None
        return max(0.0, now - max(since, self.changed))

    @property
    def ticks(self) -> bool:
        """Whether a clock runs."""
        return self.table.phase == "play" and self.table.clock.kind != "none"

    @property
    def is_idle(self) -> bool:
        """Whether nothing goes on here that the shelf would not remember."""
        return not (self.clients or self.thinking or self.weighing or self.matching or self.ticks)


def numbered(message: Json, number: Any) -> Json:
    """Return a message with the number of what it answers, if that had one."""
    return message if number is None else message | {"n": number}


def _text(message: Json) -> str:
    return json.dumps(message, separators=(",", ":"))
