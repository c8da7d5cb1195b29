"""`Guest`: a client of the public Geister server in the arena, as an agent (docs/external-bots.md).

    make_agent("geister:python3 examples/geister_bot.py {host} {port}")     # started for every game
    make_agent("geister-tcp:10000")                                         # waited for, at every game

Its opponent is an agent of ours or another client: what it is told of the game is made from its views. One that
misbehaves raises `BotError`: it has lost that game. A client is given a port of its own for every game.
"""

from __future__ import annotations

import os
import random
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from vauban.agents.base import Actions, Row, Seeds, check_family
from vauban.agents.external import MEMORY
from vauban.agents.external.geister.wire import MOST_REFUSED, Clock, Door, Wire
from vauban.agents.external.process import BotError, BotProcess, check_command, last_words, split_command
from vauban.board import View
from vauban.errors import ConfigurationError, InvalidMoveError, SetupError, VaubanError
from vauban.games.base import Game
from vauban.notation.geister import server
from vauban.sim.store import Snapshot
from vauban.words import shortened

HOST = "127.0.0.1"
CPU_SECONDS = 2 * 3600
"""Seconds of the processor that a program may use: more than its clock allows in the longest game."""
STARTED, CALLING = "geister:", "geister-tcp:"
"""Beginnings of the agents' texts: a program that is started, a client that comes by itself."""
START_SECONDS, PATIENCE = 10.0, 120.0
"""Seconds in which a program that was started has to connect, and in which a client has to come by itself."""


class Guest:
    """Asks a client for its setup and its moves."""

    def __init__(
        self,
        name: str,
        arrival: Arrival,
        *,
        start_seconds: float,
        grace: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The client has `start_seconds` to come, and `grace` seconds to end by itself when its game is over."""
        self.name = name
        self.start_seconds = start_seconds
        self.grace = grace
        self.fault: BotError | None = None
        """Its fault in this game, if it misbehaved."""
        self._arrival = arrival
        self._now = clock
        self._seconds: float | None = None
        self._given: Row | None = None
        self._forget()

    def _forget(self) -> None:
        """Forget all games."""
        self._wire: Wire | None = None
        self._lines: list[str] = []
        self._stderr = ""
        self._view: Any = None
        self._owed: str | None = None
        """The fates of the opponent's ghosts before a move of the client's that it has heard no answer to."""
        self._clock = Clock() if self._seconds is None else Clock(0.0, self._seconds)

    # ── An agent ─────────────────────────────────────────────────────────────────────────────────

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        return np.array([self.answer(View.from_snapshot(views, row)) for row in range(len(views))], np.int64)

    def answer(self, view: Any) -> int:
        """Show it the board, and return its move."""
        if self._wire is None:
            self._begin()
        wire = self._connected()
        self.saw(view)
        try:
            for _ in wire.unasked():
                wire.send(server.REFUSED)
            wire.send(server.MOVE_ASKED + server.board_text(view, view.player))
            begun = self._now()
            line = wire.read_line(self._clock.allowed)
        except BotError as error:
            self._fail(error)
        self._clock.spend(self._now() - begun)
        try:
            action = server.legal_action(view, line)
        except VaubanError as error:
            wire.send(server.REFUSED)
            kind = "unintelligible" if isinstance(error, InvalidMoveError) else "illegal"
            self._fail(BotError(kind, str(error), answer=line, stderr=wire.stderr))
        self._owed = server.fates(view, 1 - view.player)
        return action

    def saw(self, view: Any) -> None:
        """Take the view after a move; what came of its own one the client is told."""
        self._view = view
        if self._owed is not None and self._wire is not None:
            self._wire.send("OK" + server.captured_letter(view, 1 - view.player, self._owed))
            self._owed = None

    def check_plays(self, game: Game) -> None:
        """Refuse a game that the protocol does not know."""
        check_family(self.name, server.PUBLIC.family, game)
        server.check_game(game, self.name)

    def check_sets_up(self, game: Game) -> None:
        """Refuse a game that the protocol has no setups for."""
        server.check_game(game, self.name)

    def give_setup(self, game: Game, row: Row) -> None:
        """Give it a setup in place of its own, where players choose none: it is shown on the board."""
        self._given = None if game.setups_chosen else row

    def meet(self, opponent: str, seconds: float | None) -> None:
        """Begin a game; with so many seconds for each answer, or with the public server's clock."""
        self._seconds = seconds

    def set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        """Await the client for a new game, and ask for its setup."""
        row = self._begin()
        return row if self._given is None else self._given

    def ended(self, end: str) -> None:
        """Tell who has won; the game is over."""
        if self._wire is None or self._view is None:
            return
        outcome = self._view.outcome()
        if outcome is None:
            word = server.WON if self.fault is None else server.LOST
        else:
            word = server.DRAWN if outcome.winner is None else server.WON
            word = server.LOST if outcome.winner == 1 - self._view.player else word
        self._wire.send(word + server.board_text(self._view, self._view.player, reveal=True))

    def close(self) -> None:
        """Hang up, and let nothing of it stay behind."""
        self._hang_up()
        self._arrival.close()

    def _hang_up(self) -> None:
        if self._wire is not None:
            wire, self._wire = self._wire, None
            wire.close(self.grace)
            self._lines, self._stderr = list(wire.lines), wire.stderr

    # ── What remains of it ───────────────────────────────────────────────────────────────────────

    def last_words(self) -> str:
        """Return what its process has said before it misbehaved."""
        # A message about a crash has it already.
        return "" if self.fault is None or self.fault.kind == "crashed" else last_words(self._stderr)

    @property
    def transcript(self) -> list[str]:
        """The latest lines of its latest game: "> " before those to it, "< " before its own."""
        return self._lines if self._wire is None else list(self._wire.lines)

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _connected(self) -> Wire:
        if self._wire is None:
            assert self.fault is not None
            raise self.fault
        return self._wire

    def _begin(self) -> Row:
        """Await the client, and return its setup."""
        self._hang_up()
        self._forget()
        self.fault = None
        try:
            wire = self._wire = self._arrival.await_client(self.start_seconds)
            wire.send(server.SET_ASKED)
            deadline = self._now() + max(self._clock.allowed, self.start_seconds)
            refused = 0
            while True:
                line = wire.read_line(max(0.0, deadline - self._now()))
                try:
                    row = server.parse_setup(line)
                except SetupError as error:
                    wire.send(server.REFUSED)
                    refused += 1
                    if refused > MOST_REFUSED:
                        raise BotError("bad setup", str(error), answer=line, stderr=wire.stderr) from error
                else:
                    wire.send(server.OK)
                    return row
        except BotError as error:
            self._fail(error)

    def _fail(self, error: BotError) -> NoReturn:
        self.fault = error
        raise error


# ── Programs that are started, and clients that come ─────────────────────────────────────────────


class Arrival(Protocol):
    """A way for a client to come."""

    def await_client(self, seconds: float) -> Wire:
        """Begin a game: return a connection with the client, which has so many seconds to come."""

    def close(self) -> None:
        """Let the client go: the game is over."""


class Started:
    """A program is started for every game, and told where it has to connect to."""

    def __init__(
        self, words: Sequence[str], seed: int, memory: int, cwd: str | None, clock: Callable[[], float]
    ) -> None:
        """`words` are the command; {host} and {port} come last if they are not in it. `memory` is in MiB."""
        placed = any("{port}" in word for word in words)
        self._words = list(words) if placed else [*words, "{host}", "{port}"]
        self._seed, self._memory, self._cwd, self._clock = seed, memory, cwd, clock

    def await_client(self, seconds: float) -> Wire:
        door = Door(HOST, 0)
        try:
            process = BotProcess(
                [word.replace("{host}", HOST).replace("{port}", str(door.port)) for word in self._words],
                cwd=self._cwd,
                memory=self._memory * 2**20,
                cpu_seconds=CPU_SECONDS,
                environment={**os.environ, "VAUBAN_SEED": str(self._seed)},
            )
            return _awaited(Wire(process, self._clock), door, seconds)
        finally:
            door.close()

    def close(self) -> None:
        """Leave nothing behind: the process ends with the connection."""


class Calling:
    """A client comes by itself, to a port that is open from the moment that the agent is made."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._door: Door | None = Door(HOST, port)

    def await_client(self, seconds: float) -> Wire:
        door = self._door or Door(HOST, self._port)
        self._door = door
        try:
            return _awaited(Wire(), door, seconds)
        finally:
            self.close()

    def close(self) -> None:
        if self._door is not None:
            self._door.close()
            self._door = None


def _awaited(wire: Wire, door: Door, seconds: float) -> Wire:
    try:
        wire.await_client(door, seconds)
    except BaseException:
        wire.close(0.0)
        raise
    return wire


def make_program(
    command: str | Sequence[str],
    seed: int,
    *,
    memory: int = MEMORY,
    folder: Path | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Guest:
    """Return the agent of a command, which is started for every game. Its limits of time go by the clock."""
    words = split_command(command)
    text = command if isinstance(command, str) else shlex.join(command)
    cwd = None if folder is None else str(folder)
    check_command(words, text, memory=memory, cwd=cwd)
    arrival = Started(words, seed, memory, cwd, clock)
    return Guest(STARTED + text, arrival, start_seconds=START_SECONDS, clock=clock)


def make_caller(port: str, seed: int, *, memory: int = MEMORY, folder: Path | None = None) -> Guest:
    """Return the agent of a port of this machine, to which a client connects by itself for every game."""
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 2**16):
        raise ConfigurationError(
            f"{CALLING}{shortened(port)} is no port: give a number from 1 to {2**16 - 1:,}, such as {CALLING}10000"
        )
    return Guest(CALLING + port, Calling(int(port)), start_seconds=PATIENCE)
