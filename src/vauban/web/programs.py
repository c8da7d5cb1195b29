"""`Programs`: agents that stay with their game, such as programs of others, each in a process with it alone.

    programs = Programs({"bot:python3 examples/ucc_bot.py"}, seconds=2.0)
    setup = await programs.begin(table, 1)
    move = await programs.answer(table, 1)
    programs.leave(table)                      # the game is over, or nobody is there

Such an agent is told of a game from its beginning, move by move. It is started with the game, and ended with it. When
it is wanted again later (nobody was at the table for long, or the server was ended), it is started anew and told of the
whole game; one that then answers otherwise than it did cannot go on. Only what the server's host has named is started.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from vauban.errors import VaubanError
from vauban.games import base
from vauban.web.show import SIDES, TableError, show_of
from vauban.web.table import Table
from vauban.web.thinking import MODULES
from vauban.words import sentence
from vauban.work.base import Result, Task, Tell, WorkError
from vauban.work.pool import Pool
from vauban.work.processes import cores

START_SECONDS = 120.0
"""Seconds above an answer's, for kernels that have to be compiled and interpreters that are slow to start."""
LEFT_SECONDS = 600.0
"""Seconds after which an agent is ended whose table everybody has left."""
MOST = max(8, 2 * cores())
"""Agents that are there at the same time, unless told otherwise; half of them for one address."""
OPPONENT = "a person on the page"

log = logging.getLogger("vauban.web")


class FaultError(VaubanError):
    """The agent misbehaved, and has lost; the message says how, for the person at the table."""


class CannotGoOnError(VaubanError):
    """The game cannot go on, and nobody is to blame."""


class NoRoomError(TableError):
    """There is no room for another agent."""

    def __init__(self) -> None:
        super().__init__("busy", "As many programs play here as there is room for. Try again later.", "programs")


# ── In the process of the agent ──────────────────────────────────────────────────────────────────

_agent: Any = None
"""The agent that this process is for."""


@dataclass(frozen=True)
class Fault:
    """An agent's misbehaviour."""

    told: str
    """For the person at the table."""
    logged: str
    """For the host: with the last words of a program."""


@dataclass(frozen=True)
class Begin:
    """Make an agent for a new game; returns its setup as text, None where it chooses none."""

    agent: str
    seed: int
    variant: str
    rules: str
    player: int
    given: str | None
    """A drawn setup, for a program that answers with the classic army where another is played."""
    seconds: float

    def run(self, tell: Tell) -> str | Fault | None:
        global _agent
        from vauban.agents import make_player
        from vauban.agents.base import Program, set_up

        game = base.game(self.variant, self.rules or None)
        made = make_player(self.agent, game, self.seed)
        _agent = made
        if isinstance(made, Program):
            made.meet(OPPONENT, self.seconds)
        if self.given is None or game.setups is None:
            return None
        if isinstance(made, Program):
            made.give_setup(game, game.setups.parse(self.given))
        try:
            return game.setups.text(set_up(made, game, self.player, random.Random(f"{self.seed} setup")))
        except Exception as error:
            return _fault(error)


@dataclass(frozen=True)
class Answer:
    """The agent's move as text; None: it resigns."""

    view: Any

    def run(self, tell: Tell) -> str | Fault | None:
        from vauban.agents.base import RESIGNS, choose_action

        agent = _there()
        try:
            action = choose_action(agent, self.view)
            return None if action == RESIGNS else str(self.view.game.action_text(self.view.turn, action))
        except Exception as error:
            return _fault(error)


@dataclass(frozen=True)
class See:
    """Tell the agent of a move, its own too; `view` is its view after it."""

    view: Any

    def run(self, tell: Tell) -> None:
        from vauban.agents.base import Listener, Watcher

        agent = _there()
        with suppress(Exception):  # an agent that has ended is found out when it is asked
            if isinstance(agent, Listener) and self.view.history:
                agent.told(self.view.history[-1])
            if isinstance(agent, Watcher):
                agent.saw(self.view)


@dataclass(frozen=True)
class Quit:
    """Tell the agent how the game has ended, and let it go."""

    end: str

    def run(self, tell: Tell) -> None:
        from vauban.agents.base import Program, close

        with suppress(Exception):  # the game is over: nothing that the agent does now changes it
            if isinstance(_agent, Program):
                _agent.ended(self.end)
        with suppress(Exception):
            close(_agent)


def _there() -> Any:
    if _agent is None:
        raise WorkError("its process has ended")
    return _agent


def _fault(error: Exception) -> Fault:
    """Return what an agent did wrong. What a program has said on standard error is the host's, and nobody else's."""
    from vauban.agents.base import Program, close
    from vauban.agents.external.process import KINDS, BotError

    known = isinstance(error, VaubanError)
    told = sentence(error) if isinstance(error, VaubanError) else f"It has failed ({type(error).__name__})."
    logged = str(error) if known else f"{type(error).__name__}: {error}"
    if isinstance(error, BotError) and error.kind == "crashed":
        told = f"{KINDS[error.kind][0].upper()}{KINDS[error.kind][1:]}."
    if isinstance(_agent, Program):
        with suppress(Exception):
            close(_agent)  # its last words are there to the end then
        logged += _agent.last_words()
    return Fault(told, logged)


# ── In the server ────────────────────────────────────────────────────────────────────────────────


@dataclass(eq=False)
class _Seat:
    """An agent at a table."""

    table: Table
    player: int
    pool: Pool
    address: str
    """For whom it was started."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    begun: bool = False
    told: int = 0
    """Plies that it knows of."""
    answered: int = -1
    """The ply of its latest answer."""
    asked: tuple[int, asyncio.Task[str | None]] | None = None
    """The ply of the latest question to it, and the task of its answer."""
    leaving: asyncio.TimerHandle | None = None


class Programs:
    """All agents of a server that stay with their games."""

    def __init__(self, named: Collection[str], seconds: float, most: int = MOST) -> None:
        """`named` are the agents that may be started, `seconds` what each has for an answer."""
        self._named, self._seconds, self._most = frozenset(named), seconds, most
        self._seats: dict[tuple[str, int], _Seat] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def running(self) -> int:
        """Number of agents that are there now."""
        return len(self._seats)

    async def begin(self, table: Table, player: int, address: str = "") -> str | None:
        """Start an agent for a new game, for this address; return its setup, None where it chooses none.

        Refuse if there are too many.
        """
        try:
            seat = self._seat(table, player, address)
            async with seat.lock:
                return await self._begin(seat)
        except (FaultError, CannotGoOnError) as error:
            self.end(table)
            raise TableError("program", f"The game was not begun. {sentence(error)}") from error
        except TableError:
            self.end(table)
            raise

    async def answer(self, table: Table, player: int, address: str = "") -> str | None:
        """Return an agent's move; None: it resigns. An answer that somebody gave up waiting for is kept."""
        seat = self._seat(table, player, address)
        if seat.asked is None or seat.asked[0] != table.plies:
            assert table.board is not None
            seat.asked = table.plies, self._spawn(self._answer(seat, table.board.copy()))
        return await asyncio.shield(seat.asked[1])

    def follow(self, table: Table) -> None:
        """Tell agents that are at a table of its latest moves."""
        for seat in self._of(table):
            if table.over is None and table.board is not None and table.plies > seat.told and seat.begun:
                self._spawn(self._follow(seat, table.board.copy()))

    def stay(self, table: Table) -> None:
        """Keep the agents of a table that somebody has come to."""
        for seat in self._of(table):
            if seat.leaving is not None:
                seat.leaving.cancel()
                seat.leaving = None

    def leave(self, table: Table) -> None:
        """End the agents of a table after a while, since everybody has left it."""
        for seat in self._of(table):
            if seat.leaving is None:
                seat.leaving = asyncio.get_running_loop().call_later(LEFT_SECONDS, self.end, table)

    def end(self, table: Table) -> None:
        """End the agents of a table."""
        for seat in self._of(table):
            del self._seats[table.game, seat.player]
            if seat.leaving is not None:
                seat.leaving.cancel()
            self._spawn(self._quit(seat))

    async def close(self) -> None:
        """End all agents."""
        for seat in list(self._seats.values()):
            self.end(seat.table)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _of(self, table: Table) -> list[_Seat]:
        return [seat for player in (0, 1) if (seat := self._seats.get((table.game, player))) is not None]

    def _seat(self, table: Table, player: int, address: str) -> _Seat:
        """Return the agent at a table; make room for one, with a process of its own, if there is none."""
        agent = table.sitters[player].agent
        if agent not in self._named:
            raise CannotGoOnError(f"{table.sitters[player].name} is not offered here any more")
        seat = self._seats.get((table.game, player))
        if seat is None:
            here = [each for each in self._seats.values() if each.address == address and each.leaving is None]
            if len(here) >= max(2, self._most // 2):
                raise NoRoomError
            if len(self._seats) >= self._most:
                self._make_room(table.game)
            seat = self._seats[table.game, player] = _Seat(table, player, Pool(1, MODULES), address)
            seat.pool.start()
        seat.table = table
        return seat

    def _make_room(self, game: str) -> None:
        """End the agents of the table that was left first; refuse if nobody has left."""
        left = [seat for seat in self._seats.values() if seat.leaving is not None and seat.table.game != game]
        if not left:
            raise NoRoomError
        self.end(min(left, key=lambda seat: seat.leaving.when() if seat.leaving else 0.0).table)

    async def _ask(self, seat: _Seat, task: Task[Result | Fault], seconds: float) -> Result:
        found = await seat.pool.ask(task, seconds)
        if isinstance(found, Fault):
            sitter = seat.table.sitters[seat.player]
            log.warning("%s lost as %s: %s", sitter.name, SIDES[seat.player], found.logged)
            raise FaultError(found.told)
        return found

    async def _begin(self, seat: _Seat) -> str | None:
        table, sitter = seat.table, seat.table.sitters[seat.player]
        show, given = show_of(table.variant), None
        if table.has_setups:
            given = await asyncio.to_thread(show.draw_setup, table.variant, "human", sitter.seed)
        task = Begin(sitter.agent, sitter.seed, table.variant, table.rules, seat.player, given, self._seconds)
        try:
            setup = await self._ask(seat, task, 5 * self._seconds + START_SECONDS)
            text = None if setup is None else show.read_setup(table.variant, setup)
            if text is not None:
                show.check_first(table.variant, text)
        except WorkError as error:  # what it says may name the command, which is the host's own
            log.warning("%s could not be started: %s", sitter.name, error)
            raise FaultError(f"{sitter.name} could not be started") from error
        except TableError as error:
            raise FaultError(f"{sitter.name} has set up wrongly: {sentence(error)}") from error
        seat.begun, seat.told, seat.answered = True, 0, -1
        return text

    async def _answer(self, seat: _Seat, board: Any) -> str | None:
        for attempt in (1, 2):
            try:
                async with seat.lock:
                    await self._catch_up(seat, board)
                    seat.answered = len(board.history)
                    return await self._ask(seat, Answer(board.view(seat.player)), self._seconds + START_SECONDS)
            except WorkError as error:  # the process that watches over it was ended: by the system, say
                seat.begun = False
                if attempt == 2:
                    raise CannotGoOnError(
                        f"{seat.table.sitters[seat.player].name} could not go on: {sentence(error)}"
                    ) from error
        raise AssertionError

    async def _follow(self, seat: _Seat, board: Any) -> None:
        with suppress(FaultError, CannotGoOnError, WorkError):  # it is asked again when it is on turn
            async with seat.lock:
                if seat.begun:
                    await self._catch_up(seat, board)

    async def _catch_up(self, seat: _Seat, board: Any) -> None:
        """Tell an agent of the moves that it does not know yet; one that was started anew must repeat its own moves."""
        table, name = seat.table, seat.table.sitters[seat.player].name
        if not seat.begun:
            try:
                setup = await self._begin(seat)
            except FaultError as error:
                raise CannotGoOnError(sentence(error)) from error
            if setup != table.setups[seat.player]:
                raise CannotGoOnError(f"{name} was started anew, and set up otherwise than before")
        moves = [table.show.played_text(board, played) for played in board.history[seat.told :]]
        known = board.copy()
        while len(known.history) > seat.told:
            known.pop()
        for move in moves:
            if known.turn == seat.player and seat.answered < seat.told:
                seat.answered = seat.told
                try:
                    again = await self._ask(seat, Answer(known.view(seat.player)), self._seconds + START_SECONDS)
                except FaultError as error:
                    raise CannotGoOnError(f"{name} was started anew, and failed: {sentence(error)}") from error
                if again != move:
                    raise CannotGoOnError(f"{name} was started anew, and played otherwise than before")
            known.push(move)
            seat.told += 1
            await seat.pool.ask(See(known.view(seat.player)), START_SECONDS)

    async def _quit(self, seat: _Seat) -> None:
        """Tell an agent that the game is over, and end its process with all that it has started."""
        if seat.asked is not None:
            seat.asked[1].cancel()
        over = seat.table.over
        if seat.begun and over is not None:
            with suppress(WorkError, TimeoutError):
                async with asyncio.timeout(5.0):
                    await seat.pool.ask(Quit(over.end), 5.0)
        await seat.pool.close()

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)
        return task

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it is told
