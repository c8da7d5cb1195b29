"""Limits on what a server takes from one address, and from all: sizes, numbers, and token buckets.

    limits = Limits(paced=True)
    limits.take("games", address)         # False: too many, too fast

On a machine's own address nothing is paced: only sizes and numbers are bounded there.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

MESSAGE_BYTES = 4096
"""Of one message over a WebSocket."""
BODY_BYTES = 16_384
"""Of a request; an imported game may be longer."""
IMPORT_BYTES = 262_144
SOCKETS = 2_000
"""At the same time, of all; and from one address, where that is paced."""
SOCKETS_OF_ONE = 32
REQUESTS = 512
"""Connections beside those of sockets, at the same time."""
SHELF_BYTES = 4 * 2**30
"""Bytes that games may take on the disk, where others than the person at this machine can make some."""
ADDRESSES = 10_000
"""Addresses that are remembered; who has been silent longest is forgotten first."""


@dataclass(frozen=True)
class Rate:
    """Tokens a second, and most tokens at once."""

    rate: float
    most: float

    def bucket(self, now: float) -> Bucket:
        """Return a full bucket."""
        return Bucket(self.rate, self.most, self.most, now)


RATES = {
    "requests": Rate(30.0, 400),
    "messages": Rate(20.0, 100),
    "games": Rate(0.2, 10),
    "secrets": Rate(0.5, 20),
}
"""Paces by address. To open the page takes some forty requests, to keep it ninety; "secrets" are attempts with a wrong
one."""
FLOOD = Rate(200.0, 400)
"""Messages of one socket, even of one at this machine: beyond that it is closed."""


@dataclass
class Bucket:
    """Tokens that come back by themselves."""

    rate: float
    most: float
    tokens: float
    at: float

    def has(self, now: float) -> bool:
        """Return whether there is a token."""
        self.tokens = min(self.most, self.tokens + (now - self.at) * self.rate)
        self.at = now
        return self.tokens >= 1

    def take(self, now: float) -> bool:
        """Take a token, if there is one."""
        found = self.has(now)
        self.tokens -= found
        return found


class Limits:
    """The amount taken so far."""

    def __init__(self, paced: bool, clock: Callable[[], float] = time.monotonic, sockets: int = SOCKETS) -> None:
        """`paced`: whether others than the person at this machine can reach the server."""
        self.paced = paced
        self.sockets = sockets
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, str], Bucket] = OrderedDict()
        self._sockets: Counter[str] = Counter()

    def take(self, what: str, address: str) -> bool:
        """Return whether one more of these is fine; it counts if it is."""
        return not self.paced or self._bucket(what, address).take(self._clock())

    def allows(self, what: str, address: str) -> bool:
        """Return whether one more of these would be fine; nothing is counted."""
        return not self.paced or self._bucket(what, address).has(self._clock())

    def _bucket(self, what: str, address: str) -> Bucket:
        key = (what, address)
        bucket = self._buckets.pop(key, None) or RATES[what].bucket(self._clock())
        self._buckets[key] = bucket
        while len(self._buckets) > ADDRESSES * len(RATES):
            self._buckets.popitem(last=False)
        return bucket

    def open_socket(self, address: str) -> bool:
        """Return whether one more socket is fine; whoever was let in calls `close_socket` in the end."""
        if self._sockets.total() >= self.sockets or (self.paced and self._sockets[address] >= SOCKETS_OF_ONE):
            return False
        self._sockets[address] += 1
        return True

    def close_socket(self, address: str) -> None:
        """Count a socket that is gone."""
        self._sockets[address] -= 1
        if self._sockets[address] <= 0:
            del self._sockets[address]
