"""A pool of standing workers for one event loop: a bounded queue, and answers that can be cancelled.

    pool = Pool(workers=2)
    pool.start()
    answer = await pool.ask(task, seconds=30)

Tasks may name an owner: owners take turns, so that one who asks for much keeps no other waiting for long.
A worker that dies is replaced and its task asked again; one that takes too long is replaced, and the caller is told.
While there is nothing to do, workers warm up, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from vauban.work.base import ATTEMPTS, BusyError, Hand, Result, Task, Tell, WorkError
from vauban.work.processes import Worker, prepare

GRACE = 1.0
"""Seconds that a worker may go on with a task that no caller waits for any more, before it is replaced."""
WARM_UP_SECONDS = 600.0
QUEUE = 1024
"""Tasks that may wait."""

log = logging.getLogger("vauban.work")


@dataclass(eq=False)
class _Asked:
    """A task on its way."""

    task: Task[Any]
    seconds: float
    tell: Tell
    answer: asyncio.Future[Any]
    owner: str = ""
    """For whom it is done."""
    waits: bool = True
    """No worker has begun with it, and its caller still waits."""


class _Rota:
    """Waiting work by owner: the owners take turns."""

    def __init__(self) -> None:
        self._by: OrderedDict[str, deque[_Asked | None]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._by.values()))

    def append(self, asked: _Asked | None) -> None:
        self._by.setdefault("" if asked is None else asked.owner, deque()).append(asked)

    def popleft(self) -> _Asked | None:
        owner, waiting = next(iter(self._by.items()))
        asked = waiting.popleft()
        if waiting:
            self._by.move_to_end(owner)
        else:
            del self._by[owner]
        return asked


class _FairQueue(asyncio.Queue["_Asked | None"]):
    """A queue in which owners take turns."""

    def _init(self, maxsize: int) -> None:
        self._queue = _Rota()


class Pool:
    """A few workers, and the queue before them."""

    def __init__(
        self,
        workers: int,
        modules: Sequence[str] = (),
        queue: int = QUEUE,
        warm_ups: Sequence[Task[Any]] = (),
        each: int | None = None,
        hire: Callable[[], Hand] | None = None,
    ) -> None:
        """`modules`: imported by workers before they start; `warm_ups`: tasks that each of them does when idle.

        Of all owners together `queue` tasks may wait, of one of them `each`. Workers are processes of this machine,
        unless `hire` finds others.
        """
        self._modules = tuple(modules)
        self._here = hire is None
        self._staff = [_Post(hire or partial(Worker, self._modules)) for _ in range(workers)]
        self._warm_ups = tuple(warm_ups)
        self._warming = False
        self._queue = _FairQueue()
        self._most, self._most_each = queue, queue if each is None else each
        self._owners: Counter[str] = Counter()
        """Number of tasks that wait, by owner."""
        self._threads = ThreadPoolExecutor(workers, "pool")
        self._serving: list[asyncio.Task[None]] = []

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes of this machine that are there now."""
        return [worker.process.pid for post in self._staff if isinstance(worker := post.worker, Worker)]

    @property
    def waiting(self) -> int:
        """Number of tasks that no worker has begun with."""
        return self._owners.total()

    def start(self) -> None:
        """Begin to work through the queue; processes are started when there is something to do for them."""
        if self._here:
            prepare(self._modules)
        self._serving = [asyncio.create_task(self._serve(post)) for post in self._staff]

    async def close(self) -> None:
        """End all processes; callers that still wait are told."""
        for serving in self._serving:
            serving.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        for post in self._staff:
            post.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)
        while not self._queue.empty():
            asked = self._queue.get_nowait()
            if asked is not None:
                _settle(asked.answer, _stopped())

    async def ask(self, task: Task[Result], seconds: float, tell: Tell = lambda share: None, owner: str = "") -> Result:
        """Return the result of a task, at most `seconds` seconds after a worker began; cancelling gives it up."""
        most = self._most if self.waiting >= self._most else self._most_each
        if self.waiting >= self._most or self._owners[owner] >= self._most_each:
            raise BusyError(f"{most} tasks are waiting already: try again in a moment")
        asked = _Asked(task, seconds, tell, asyncio.get_running_loop().create_future(), owner)
        self._owners[owner] += 1
        self._queue.put_nowait(asked)
        try:
            result: Result = await asked.answer
            return result
        finally:
            self._waits_no_more(asked)

    def _waits_no_more(self, asked: _Asked) -> None:
        self._owners[asked.owner] -= asked.waits
        if not self._owners[asked.owner]:
            del self._owners[asked.owner]
        asked.waits = False

    async def _serve(self, post: _Post) -> None:
        """Answer one task after the other; in between, warm up, unless another worker does so already."""
        warm_ups = deque(self._warm_ups)
        while True:
            if warm_ups and not self._warming and self._queue.empty():
                self._warming = True
                future = asyncio.get_running_loop().create_future()
                await self._answer(post, _Asked(warm_ups.popleft(), WARM_UP_SECONDS, lambda share: None, future))
                future.exception()  # a task that fails says so when a caller asks for it
                self._warming = False
                self._queue.put_nowait(None)  # another one's turn to warm up
                continue
            asked = await self._queue.get()
            if asked is not None and not asked.answer.done():
                self._waits_no_more(asked)
                await self._answer(post, asked)

    async def _answer(self, post: _Post, asked: _Asked) -> None:
        """Have a task done. Whatever happens, the caller is answered, and the next task can be."""
        try:
            await self._attempt(post, asked)
        except Exception as error:
            log.exception("a task could not be done")
            _settle(asked.answer, WorkError(f"it could not be done: {type(error).__name__}: {error}"))

    async def _attempt(self, post: _Post, asked: _Asked) -> None:
        loop = asyncio.get_running_loop()
        # Progress is told from another thread.
        tell: Tell = lambda share: None if loop.is_closed() else _quietly(loop, asked.tell, share)  # noqa: E731
        for _ in range(ATTEMPTS):
            trip = loop.run_in_executor(self._threads, post.round_trip, asked.task, tell)
            trip.add_done_callback(_look_at)
            try:
                done, _ = await asyncio.wait({trip, asked.answer}, timeout=asked.seconds, return_when="FIRST_COMPLETED")
                if trip not in done and asked.answer.done():
                    done, _ = await asyncio.wait({trip}, timeout=GRACE)
                if trip not in done:
                    await asyncio.to_thread(post.clear)  # it may be starting just now, and the loop has other tasks
                    await asyncio.wait({trip})
                    _settle(asked.answer, WorkError(f"it took longer than {asked.seconds:g} seconds"))
                    return
            except asyncio.CancelledError:
                post.clear()
                _settle(asked.answer, _stopped())
                raise
            error = trip.exception()
            if error is None or isinstance(error, WorkError):
                _settle(asked.answer, error or trip.result())
                return
            if not isinstance(error, EOFError | OSError):
                raise error
            log.warning("a worker has ended, or could not be started: %r", error)
            await asyncio.to_thread(post.clear)
        _settle(asked.answer, WorkError(f"its process has ended {ATTEMPTS} times in a row"))


@dataclass(eq=False)
class _Post:
    """The place of one worker, which may have to be replaced."""

    hire: Callable[[], Hand]
    worker: Hand | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def round_trip(self, task: Task[Any], tell: Tell) -> Any:
        """Hand a task over, starting a worker if there is none, and wait for the answer; in a thread."""
        with self._lock:
            worker = self.worker = self.worker or self.hire()
        worker.begin(task)
        while (answer := worker.listen(tell)) is None:
            pass
        return answer[0]

    def clear(self) -> None:
        """End the worker at once: it holds nothing that has to be let go."""
        with self._lock:
            worker, self.worker = self.worker, None
        if worker is not None:
            worker.kill()


def _stopped() -> WorkError:
    return WorkError("the server is being stopped")


def _quietly(loop: asyncio.AbstractEventLoop, tell: Tell, share: float) -> None:
    with suppress(RuntimeError):  # the loop has ended in the meantime
        loop.call_soon_threadsafe(tell, share)


def _look_at(trip: asyncio.Future[Any]) -> None:
    """Read an error for which no caller may be left."""
    if not trip.cancelled():
        trip.exception()


def _settle(answer: asyncio.Future[Any], result: Any) -> None:
    """Give an answer to its caller, if that still waits."""
    if answer.done():
        return
    if isinstance(result, BaseException):
        answer.set_exception(result)
    else:
        answer.set_result(result)
