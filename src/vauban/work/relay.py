"""`Relay`: a pool far away where there is one, and the pool on this machine for whatever that cannot do.

    relay = Relay(cluster, Pool(cluster.workers, hire=cluster.hire), Pool(2))
    answer = await relay.ask(task, seconds=30)

A caller gets an answer as long as this machine can give one: a cluster that is lost, has no room or has another version
of Vauban only costs time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from vauban.errors import VaubanError
from vauban.work.base import BusyError, Hand, Result, Task, Tell, WorkError
from vauban.work.pool import Pool

AGAIN_SECONDS = 30.0
"""Seconds between two attempts to reach a cluster that was lost."""

log = logging.getLogger("vauban.work")


class Cluster(Protocol):
    """Workers elsewhere, such as those of `vauban.work.bridge`."""

    @property
    def workers(self) -> int:
        """Tasks that are done there at the same time."""

    @property
    def connected(self) -> bool:
        """Whether it can be reached."""

    def connect(self) -> None:
        """Reach it again; raises a `VaubanError` if that cannot be done."""

    def hire(self) -> Hand:
        """Return a worker there; raises a `WorkError` if the cluster is lost."""

    def close(self) -> None:
        """Leave it."""


class Relay:
    """Two pools, of which the far one is asked first."""

    def __init__(self, cluster: Cluster, far: Pool, near: Pool) -> None:
        """The relay starts and closes the far pool; the near one is its owner's."""
        self._cluster, self._far, self._near = cluster, far, near
        self._complaint = ""

    @property
    def waiting(self) -> int:
        """Number of tasks that no far worker has begun with."""
        return self._far.waiting

    def start(self) -> None:
        """Begin to work through the queue."""
        self._far.start()

    async def close(self) -> None:
        """End the far workers; callers that still wait are told."""
        await self._far.close()

    async def ask(self, task: Task[Result], seconds: float, tell: Tell = lambda share: None, owner: str = "") -> Result:
        """Return the result of a task, as `Pool.ask` does; what goes wrong far away is done here."""
        if self._cluster.connected:
            try:
                return await self._far.ask(task, seconds, tell, owner)
            except BusyError:
                raise
            except WorkError as error:
                self._complain(str(error))
        return await self._near.ask(task, seconds, tell, owner)

    def _complain(self, sentence: str) -> None:
        """Say why something is done here, once for each reason in a row."""
        if sentence != self._complaint:
            log.warning("the cluster did not do a task, and this machine does it: %s", sentence)
        self._complaint = sentence


async def keep_connected(cluster: Cluster, told: Callable[[bool], None]) -> None:
    """Reach a cluster again whenever it is lost; `told` is called with whether it is connected, after each change."""
    known = True
    while True:
        await asyncio.sleep(AGAIN_SECONDS)
        if not cluster.connected:
            if known:
                told(False)
            known = False
            try:
                await asyncio.to_thread(cluster.connect)
            except VaubanError:
                continue
        if cluster.connected and not known:
            told(True)
            known = True
