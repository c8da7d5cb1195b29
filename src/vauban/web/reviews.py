"""`Reviews`: looking back on finished games: one at a time in a process of its own, and a long one in another; several
at a time on a cluster. And looks at single positions.

    reviews.ask(table)        # the review as JSON, or how far it is: 0 to 1
    await reviews.look_at(table.variant, record)

A page asks again and again until its review is there; one that nobody asks for any more is given up. Addresses that ask
take turns. Reviews are kept on the shelf. Positions of analysis boards have a process of their own, so that none waits
for a whole game; a question is dropped with the request that asked it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vauban.errors import VaubanError
from vauban.web import logs
from vauban.web.levels import Level, learned_agents, travels
from vauban.web.shelf import Shelf, ShelfError
from vauban.web.table import Table
from vauban.web.thinking import LookAt, ReviewGame, thinkers
from vauban.words import sentence
from vauban.work.base import BusyError, WorkError
from vauban.work.pool import Pool
from vauban.work.relay import Cluster, Relay

REVIEW_LIMIT = 1800.0
"""Seconds for one game at most."""
LOOK_LIMIT = 120.0
"""Seconds for one position at most: the first one may have to wait until a network is loaded."""
QUEUE, EACH = 32, 4
"""Reviews that may wait for their turn, of all addresses and of one; and positions."""
SHORT = 300
"""Plies of a game up to which it is no long one."""
MOST_PLIES = 1_000
"""Longest game that a network looks back on, in plies; in longer ones all is counted, which takes seconds."""

log = logging.getLogger("vauban.web")


class ReviewError(VaubanError):
    """A game could not be looked back on; the message says why."""


@dataclass(eq=False)
class Reviewing:
    """A review that is being made, or could not be."""

    task: asyncio.Task[None] | None = None
    share: float = 0.0
    """Progress, from 0 to 1."""
    asked: float = 0.0
    """Time of the last request for it."""
    error: VaubanError | None = None
    """The reason of a failure, told at the next request."""


class _Lane:
    """Workers for reviews of one kind: of this machine, and of a cluster if there is one."""

    def __init__(self, cluster: Cluster | None, far_workers: int) -> None:
        self.near = thinkers(1, queue=QUEUE, each=EACH)
        self.far: Relay | None = None
        if cluster is not None:
            far = thinkers(far_workers, queue=QUEUE, each=EACH, hire=cluster.hire)
            self.far = Relay(cluster, far, self.near)

    @property
    def waiting(self) -> int:
        return self.near.waiting + (0 if self.far is None else self.far.waiting)

    def start(self) -> None:
        for each in (self.near, self.far):
            if each is not None:
                each.start()

    async def close(self) -> None:
        for each in (self.far, self.near):
            if each is not None:
                await each.close()


def far_reviewers(cluster: Cluster) -> int:
    """Return how many of a cluster's workers look back on games that are not long: a quarter."""
    return max(1, cluster.workers // 4)


class Reviews:
    """All reviews of a server."""

    def __init__(self, shelf: Shelf, levels: Sequence[Level], patience: float, cluster: Cluster | None = None) -> None:
        """`patience`: seconds without a request after which a review is given up."""
        self.short = _Lane(cluster, far_reviewers(cluster) if cluster else 0)
        self.long = _Lane(cluster, 1)
        """For games of more than `SHORT` plies: no other waits for them."""
        self.positions = _Lane(cluster, 1)
        self._shelf = shelf
        self._levels = levels
        self._patience = patience
        self._making: dict[str, Reviewing] = {}
        """By game, in the order in which they were asked for."""

    @property
    def waiting(self) -> int:
        """Number of reviews and positions that wait for their turn."""
        return sum(lane.waiting for lane in self._lanes)

    @property
    def _lanes(self) -> tuple[_Lane, ...]:
        return self.short, self.long, self.positions

    def start(self) -> None:
        """Begin to work."""
        for lane in self._lanes:
            lane.start()

    async def close(self) -> None:
        """End: what is not there yet is begun anew another time."""
        tasks = [each.task for each in self._making.values() if each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for lane in self._lanes:
            await lane.close()

    def ask(self, table: Table, address: str = "") -> str | float:
        """Return the review of a finished game, as JSON, or how far it is; begin it if need be, for this address."""
        kept = self._shelf.review(table.game)
        if kept is not None:
            return kept
        found = self._making.get(table.game)
        if found is None:
            found = self._making[table.game] = Reviewing()
            found.task = asyncio.create_task(self._make(table, found, address))
            asyncio.get_running_loop().call_later(self._patience, self._give_up, table.game, found)
        if found.error is not None:
            del self._making[table.game]
            raise found.error
        found.asked = time.monotonic()
        return found.share

    async def look_at(self, variant: str, record: str, address: str = "") -> dict[str, Any]:
        """Return what is to be said about the last position of a game or line, in the turn of this address."""
        learned = learned_agents(variant, self._levels)
        task = LookAt(variant, record, learned[-1] if learned else None)
        try:
            return await self._thinking(self.positions, variant, learned).ask(task, LOOK_LIMIT, owner=address)
        except WorkError as error:
            raise error if isinstance(error, BusyError) else ReviewError(sentence(error)) from error

    def _thinking(self, lane: _Lane, variant: str, learned: Sequence[str]) -> Pool | Relay:
        """Return the workers for a variant and the last of these agents: a cluster's where it can run that agent."""
        return lane.far if lane.far and travels(variant, learned[-1:], self._levels) else lane.near

    def _give_up(self, game: str, found: Reviewing) -> None:
        """Forget a review that nobody asks for any more; look again later at one that somebody does."""
        if self._making.get(game) is not found:
            return
        left = found.asked + self._patience - time.monotonic()
        if left > 0:
            asyncio.get_running_loop().call_later(left, self._give_up, game, found)
            return
        if found.task is not None:
            found.task.cancel()
        del self._making[game]

    async def _make(self, table: Table, found: Reviewing, address: str) -> None:
        def tell(share: float) -> None:
            found.share = share

        learned = learned_agents(table.variant, self._levels)
        lane = self.long if table.plies > SHORT else self.short
        long = bool(learned) and table.plies > MOST_PLIES
        begun = time.monotonic()
        try:
            task = ReviewGame(table.variant, table.record(), learned[-1] if learned and not long else None)
            made = await self._thinking(lane, table.variant, learned).ask(task, REVIEW_LIMIT, tell, address)
            self._shelf.keep_review(table.game, made | ({"most_plies": MOST_PLIES} if long else {}))
            logs.tell("review made", game=table.variant, moves=table.plies, seconds=round(time.monotonic() - begun, 1))
        except (BusyError, ShelfError) as error:
            found.error = error
        except VaubanError as error:
            found.error = ReviewError(sentence(error))
        except Exception as error:
            log.exception("a game could not be looked back on")
            found.error = ReviewError(f"Something went wrong at the server: {type(error).__name__}.")
        else:
            # It may have been given up in the last moment, and begun anew.
            if self._making.get(table.game) is found:
                del self._making[table.game]
