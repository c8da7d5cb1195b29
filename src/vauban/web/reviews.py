"""`Reviews`: looking back on finished games, one at a time, in a process of its own.

    reviews.ask(table)        # the review as JSON, or how far it is: 0 to 1

A page asks again and again until its review is there. Reviews are kept on the shelf.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from vauban.errors import VaubanError
from vauban.web.levels import Level, learned_agents
from vauban.web.shelf import Shelf, ShelfError
from vauban.web.table import Table
from vauban.web.thinking import ReviewGame, thinkers
from vauban.words import sentence
from vauban.work.base import BusyError

REVIEW_LIMIT = 1800.0
"""Seconds for one game at most."""
QUEUE = 8
"""Reviews that may wait for their turn."""

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


class Reviews:
    """All reviews of a server."""

    def __init__(self, shelf: Shelf, levels: Sequence[Level], patience: float) -> None:
        """`patience`: seconds after which what nobody asks for any more is given up, if others wait for theirs."""
        self.thinking = thinkers(1, queue=QUEUE)
        self._shelf = shelf
        self._levels = levels
        self._patience = patience
        self._making: dict[str, Reviewing] = {}
        """By game, in the order in which they were asked for."""

    def start(self) -> None:
        """Start the worker process."""
        self.thinking.start()

    async def close(self) -> None:
        """End: what is not there yet is begun anew another time."""
        tasks = [each.task for each in self._making.values() if each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.thinking.close()

    def ask(self, table: Table) -> str | float:
        """Return the review of a finished game, as JSON, or how far it is; begin it if need be."""
        kept = self._shelf.review(table.game)
        if kept is not None:
            return kept
        found = self._making.get(table.game)
        if found is None:
            found = self._making[table.game] = Reviewing()
            found.task = asyncio.create_task(self._make(table, found))
        if found.error is not None:
            del self._making[table.game]
            raise found.error
        found.asked = time.monotonic()
        self._give_up()
        return found.share

    def _give_up(self) -> None:
        """Forget what nobody asks for any more, but for the last one: nobody waits behind it."""
        now = time.monotonic()
        for game, found in list(self._making.items())[:-1]:
            if now - found.asked > self._patience:
                if found.task is not None:
                    found.task.cancel()
                del self._making[game]

    async def _make(self, table: Table, found: Reviewing) -> None:
        def tell(share: float) -> None:
            found.share = share

        learned = learned_agents(table.variant, self._levels)
        try:
            task = ReviewGame(table.variant, table.record(), learned[-1] if learned else None)
            self._shelf.keep_review(table.game, await self.thinking.ask(task, REVIEW_LIMIT, tell))
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
