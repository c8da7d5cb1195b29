"""Agents think in processes of their own: a bounded queue, answers that can be cancelled, workers that can be lost.

    thinking = Thinking(workers=2)
    move = await thinking.ask(ChooseMove("mcts", seed, view), seconds=30)

A worker is handed a pickled `View`, never a `Board`. One that dies is replaced, and the task asked again; one that
takes too long is replaced, and whoever asked is told. While there is nothing to do, workers warm up, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol

from vauban.arena.processes import become_worker, process_context, start_server
from vauban.board import Board, View
from vauban.errors import VaubanError
from vauban.games.stratego.pieces import FLAG, WORTH
from vauban.games.stratego.setups import setup_text
from vauban.games.stratego.variants import VARIANTS
from vauban.words import oddities, sentence

MODULES = ("vauban.arena.play", "vauban.web.thinking")
"""What workers have imported before they start."""

TRIES = 50
"""A setup is drawn so often at most until there is nothing odd about it."""
ATTEMPTS = 3
"""So often a task is begun whose process is ended from outside; then something about it ends processes."""
GRACE = 1.0
"""Seconds that a worker may go on with what nobody waits for any more, before it is replaced."""
PATIENCE = 5.0
"""Seconds that a process has to end by itself."""
QUEUE = 1024
WORSE, BETTER, QUIET = -0.1, 0.1, 40
"""A draw is taken below the first value, and up to the second after so many plies without a battle."""
REASONS = {"own": ("less", "even", "more", "play"), "counted": ("weaker", "quiet", "stronger", "play")}
"""Why a draw is taken (the first two) or not, by whether the agent judges itself or armies were counted."""

Tell = Callable[[float], None]

log = logging.getLogger("vauban.web")


class BusyError(VaubanError):
    """There is too much to think about already."""


class ThinkingError(VaubanError):
    """An agent has given no answer; the message says why."""


# ── What can be asked ────────────────────────────────────────────────────────────────────────────


class Task(Protocol):
    """Something to be done in a worker; can be pickled."""

    def run(self, tell: Tell) -> Any:
        """Do it, and tell how far it is, from 0 to 1, if it takes long."""


@dataclass(frozen=True)
class ChooseSetup:
    """An agent's own setup, as text."""

    agent: str
    seed: int
    variant: str
    player: int

    def run(self, tell: Tell) -> str:
        from vauban.agents import make_agent

        variant = VARIANTS[self.variant]
        agent = make_agent(self.agent, self.seed)
        return setup_text(agent.choose_setup(variant, self.player, random.Random(f"{self.seed} setup")), variant)


@dataclass(frozen=True)
class DrawHidden:
    """One way the hidden pieces of a view may be: by square, their types."""

    view: View
    seed: int

    def run(self, tell: Tell) -> dict[int, int]:
        from vauban.agents.belief import PriorBelief

        return PriorBelief(self.view.variant).sample(self.view, self.seed)


@dataclass(frozen=True)
class ChooseMove:
    """An agent's move, as the squares it goes from and to; None: it resigns."""

    agent: str
    seed: int
    view: View

    def run(self, tell: Tell) -> tuple[int, int] | None:
        from vauban.agents import make_agent
        from vauban.agents.base import close

        agent = make_agent(self.agent, self.seed)
        try:
            move = agent.choose_move(self.view)
        finally:
            close(agent)
        return None if move is None else (int(move[0]), int(move[1]))


@dataclass(frozen=True)
class WeighDraw:
    """Whether an agent takes a draw, and why, in a word: `REASONS`.

    An agent that can judge its game says what it expects, a searching one after a search; for one that cannot, the
    armies are counted. `view` is of the agent's last turn, where it had to judge.
    """

    agent: str
    seed: int
    view: View

    def run(self, tell: Tell) -> tuple[bool, str]:
        value, own = _foresight(self.agent, self.seed, self.view)
        worse, even, better, play_left = REASONS["own" if own else "counted"]
        if value < WORSE:
            return True, worse
        if value > BETTER:
            return False, better
        return (True, even) if self.view.battleless >= QUIET else (False, play_left)


def _foresight(text: str, seed: int, view: View) -> tuple[float, bool]:
    """What an agent thinks its game is worth, −1 to 1, and whether that is its own opinion or a count of the armies."""
    from vauban.agents import make_agent
    from vauban.agents.base import Judge

    agent = make_agent(text, seed)
    if isinstance(agent, Judge) and view.turn == view.player:
        return agent.judge(view), True
    army = sum(WORTH[kind] * count for kind, count in enumerate(view.variant.army) if kind != FLAG)
    left = [army - sum(WORTH[kind] for kind in view.captured(player)) for player in (view.player, 1 - view.player)]
    return (left[0] - left[1]) / max(sum(left), 1e-9), False


@dataclass(frozen=True)
class ReviewGame:
    """Everything there is to say about a finished game (`vauban.search.review`), as JSON."""

    record: str
    """The game in our notation."""
    agent: str | None
    """Whose network looks back; None: nobody's."""

    def run(self, tell: Tell) -> dict[str, Any]:
        from vauban.agents import make_agent
        from vauban.agents.net import ModelAgent
        from vauban.notation.records import read_games
        from vauban.search.review import SEARCHED, review
        from vauban.search.search import Search

        [game] = read_games(self.record)
        assert game.board is not None
        agent = None if self.agent is None else make_agent(self.agent)
        model = agent.model if isinstance(agent, ModelAgent) else None
        search = None if model is None else Search(model.move, model.belief, SEARCHED)
        return review(game.board, model, search=search, ended=game.outcome, progress=tell).to_json()


@dataclass(frozen=True)
class WarmUp:
    """Have an agent and its kernels compiled and loaded, so that no game has to wait for it."""

    agent: str
    variant: str

    def run(self, tell: Tell) -> None:
        ChooseSetup(self.agent, 0, self.variant, 0).run(tell)
        ChooseMove(self.agent, 0, Board.random(self.variant, 0).view(0)).run(tell)


def draw_setup(sampler: str, seed: int, variant_name: str) -> str:
    """A setup from a sampler (`vauban.agents.setups`), as text; takes no time to speak of, so no worker does it."""
    from vauban.agents.setups import make_sampler

    variant, rng = VARIANTS[variant_name], random.Random(seed)
    sample = make_sampler(sampler, variant)
    # People sometimes leave their Flag in the open. Whoever is shown a setup should not lose by it at once.
    for _ in range(TRIES):
        setup = sample(rng)
        if not oddities(setup, variant):
            break
    return setup_text(setup, variant)


def prepare() -> None:
    """Have imported, in the background, what all workers begin with."""
    start_server(process_context(*MODULES))


# ── Asking ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(eq=False)
class _Asked:
    """A task on its way."""

    task: Task
    seconds: float
    tell: Tell
    answer: asyncio.Future[Any]
    waits: bool = True
    """Whether no worker has begun with it, and somebody still wants it."""


class Thinking:
    """A few processes, and the queue before them. For one event loop."""

    def __init__(self, workers: int, queue: int = QUEUE, warm_ups: Sequence[Task] = ()) -> None:
        self.workers = [_Worker() for _ in range(workers)]
        self._warm_ups = tuple(warm_ups)
        self._warming = False
        self._queue: asyncio.Queue[_Asked | None] = asyncio.Queue()
        self._most, self._waiting = queue, 0
        self._threads = ThreadPoolExecutor(workers, "thinking")
        self._serving: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to work through the queue; processes are started when there is something to do for them."""
        prepare()
        self._serving = [asyncio.create_task(self._serve(worker)) for worker in self.workers]

    async def close(self) -> None:
        """End all processes; whoever still waits is told."""
        for serving in self._serving:
            serving.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        for worker in self.workers:
            worker.end()
        self._threads.shutdown(wait=False, cancel_futures=True)
        while not self._queue.empty():
            asked = self._queue.get_nowait()
            if asked is not None and not asked.answer.done():
                asked.answer.set_exception(ThinkingError("The server is being stopped."))

    async def ask(self, task: Task, seconds: float, tell: Tell = lambda share: None) -> Any:
        """What a worker answers, within so many seconds from when it begins; cancelling this gives the task up."""
        if self._waiting >= self._most:
            raise BusyError("The machines have too much to think about just now. Try again in a moment.")
        asked = _Asked(task, seconds, tell, asyncio.get_running_loop().create_future())
        self._waiting += 1
        self._queue.put_nowait(asked)
        try:
            return await asked.answer
        finally:
            self._waits_no_more(asked)

    def _waits_no_more(self, asked: _Asked) -> None:
        self._waiting -= asked.waits
        asked.waits = False

    async def _serve(self, worker: _Worker) -> None:
        """Answer one task after the other; in between, warm up, unless another worker does so already."""
        warm_ups = deque(self._warm_ups)
        while True:
            if warm_ups and not self._warming and self._queue.empty():
                self._warming = True
                future = asyncio.get_running_loop().create_future()
                await self._answer(worker, _Asked(warm_ups.popleft(), 600.0, lambda share: None, future))
                future.exception()  # a level that cannot play says so when it is asked to
                self._warming = False
                self._queue.put_nowait(None)  # another one's turn to warm up
                continue
            asked = await self._queue.get()
            if asked is not None and not asked.answer.done():
                self._waits_no_more(asked)
                await self._answer(worker, asked)

    async def _answer(self, worker: _Worker, asked: _Asked) -> None:
        """Have a worker do a task: whatever happens, whoever asked is answered, and the next one can be."""
        try:
            await self._attempt(worker, asked)
        except Exception as error:
            log.exception("a task could not be thought about")
            _settle(asked.answer, ThinkingError(f"It could not be thought about: {type(error).__name__}: {error}"))

    async def _attempt(self, worker: _Worker, asked: _Asked) -> None:
        loop = asyncio.get_running_loop()
        # Steps of a task are told from another thread.
        tell: Tell = lambda share: None if loop.is_closed() else _quietly(loop, asked.tell, share)  # noqa: E731
        for _ in range(ATTEMPTS):
            trip = loop.run_in_executor(self._threads, worker.round_trip, asked.task, tell)
            trip.add_done_callback(_look_at)
            try:
                done, _ = await asyncio.wait({trip, asked.answer}, timeout=asked.seconds, return_when="FIRST_COMPLETED")
                if trip not in done and asked.answer.done():
                    done, _ = await asyncio.wait({trip}, timeout=GRACE)
                if trip not in done:
                    await asyncio.to_thread(worker.end)  # it may be starting just now, and the loop has other games
                    await asyncio.wait({trip})
                    _settle(asked.answer, ThinkingError(f"It took longer than {asked.seconds:g} seconds."))
                    return
            except asyncio.CancelledError:
                worker.end()
                _settle(asked.answer, ThinkingError("The server is being stopped."))
                raise
            error = trip.exception()
            if error is None or isinstance(error, ThinkingError):
                _settle(asked.answer, error or trip.result())
                return
            if not isinstance(error, EOFError | OSError):
                raise error
            log.warning("a process that thinks has ended, or could not be started: %r", error)
            await asyncio.to_thread(worker.end)
        _settle(asked.answer, ThinkingError(f"The process that thought has ended {ATTEMPTS} times in a row."))


def _quietly(loop: asyncio.AbstractEventLoop, tell: Tell, share: float) -> None:
    with suppress(RuntimeError):  # the loop has ended in the meantime
        loop.call_soon_threadsafe(tell, share)


def _look_at(trip: asyncio.Future[Any]) -> None:
    """Take note of an error that nobody may be left to hear of."""
    if not trip.cancelled():
        trip.exception()


def _settle(answer: asyncio.Future[Any], result: Any) -> None:
    """Give an answer to whoever still waits for it."""
    if answer.done():
        return
    if isinstance(result, BaseException):
        answer.set_exception(result)
    else:
        answer.set_result(result)


# ── Processes ────────────────────────────────────────────────────────────────────────────────────


@dataclass(eq=False)
class _Worker:
    """A process that does tasks until it is told to stop, or nobody is left to tell it."""

    process: Any = None
    connection: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def round_trip(self, task: Task, tell: Tell) -> Any:
        """Hand a task over, starting the process if there is none, and wait for the answer; in a thread."""
        with self._lock:
            if self.process is None:
                self._start()
            connection = self.connection
        connection.send(task)
        while True:
            what, value = connection.recv()
            if what == "answer":
                return value
            if what == "error":
                raise ThinkingError(value)
            tell(value)

    def _start(self) -> None:
        """Start the process; where that fails, there is still none."""
        context = process_context(*MODULES)
        ours, theirs = context.Pipe()
        try:
            process = context.Process(target=_work, args=(theirs,), daemon=True)
            process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self.process, self.connection = process, ours

    def end(self) -> None:
        """End the process, at once: it holds nothing that has to be let go."""
        with self._lock:
            process, connection = self.process, self.connection
            self.process = self.connection = None
        if process is not None:
            process.kill()
            process.join(PATIENCE)
            # Only now: a thread may still wait for the answer, and learns from the other end that there is none.
            with suppress(OSError):
                connection.close()


def _work(connection: Connection) -> None:
    """What a worker does."""
    become_worker()
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = ("answer", task.run(lambda share: connection.send(("progress", share))))
        except VaubanError as error:
            answer = ("error", sentence(error))
        except Exception as error:
            answer = ("error", f"{type(error).__name__}: {error}")
        try:
            connection.send(answer)
        except OSError:
            return
