"""`Host`: two open ports, and the games that are played through them, one after the other.

    with Host("127.0.0.1", (10000, 10001)) as host:
        while True:
            host.play(Referee())

A port stays open between games and during them: who comes too early waits for the next game.
"""

from __future__ import annotations

import random
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from vauban.agents.base import RESIGNS, Agent, choose_action, close, set_up, tell
from vauban.agents.external.geister.referee import RESIGNED, Referee
from vauban.agents.external.geister.wire import Door

FLUSH_SECONDS = 1.0
"""So long at most a client that does not read is waited for at the end of a game."""

Pair = tuple[Agent | None, Agent | None]


class Host:
    """Carries bytes between clients and a referee, and lets agents of ours play where there is no client."""

    def __init__(
        self, address: str, ports: tuple[int | None, int | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """A port for each player: 0 for any free one, None for an agent of ours."""
        self._clock = clock
        self._doors: list[Door | None] = []
        try:
            for port in ports:
                self._doors.append(None if port is None else Door(address, port))
        except BaseException:
            self.close()
            raise

    @property
    def ports(self) -> tuple[int | None, int | None]:
        """The ports that are open."""
        first, second = (None if door is None else door.port for door in self._doors)
        return first, second

    @property
    def remote(self) -> tuple[bool, bool]:
        """The players that are clients."""
        first, second = (door is not None for door in self._doors)
        return first, second

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ports."""
        for door in self._doors:
            if door is not None:
                door.close()

    def play(self, referee: Referee, agents: Pair = (None, None), seed: int = 0) -> tuple[str, str]:
        """Play one game; returns where the clients were, "" for an agent of ours."""
        table = _Table(self._doors, referee, self._clock)
        try:
            for player, agent in enumerate(agents):
                if agent is not None:
                    self._let_set_up(referee, agent, player, seed)
            while referee.ending is None:
                table.deliver()
                [*due] = (agent for player in referee.due if (agent := agents[player]) is not None)
                if due and referee.board is not None:
                    self._let_move(referee, agents, seed)
                else:
                    table.wait()
            table.finish()
            first, second = table.addresses
            return first, second
        finally:
            table.close()

    def _let_set_up(self, referee: Referee, agent: Agent, player: int, seed: int) -> None:
        rng = random.Random(f"{seed} setup {player}")
        try:
            referee.set_up(player, set_up(agent, referee.game, player, rng), self._clock())
        except Exception as error:
            referee.forfeit(player, "crashed", f"{type(error).__name__}: {error}")

    def _let_move(self, referee: Referee, agents: Pair, seed: int) -> None:
        board: Any = referee.board
        player = board.turn
        agent = agents[player]
        assert agent is not None
        try:
            action = choose_action(agent, board.view(player), seed)
            if action == RESIGNS:
                referee.forfeit(player, RESIGNED, "it resigned")
                return
            plies = board.plies
            referee.move(action, self._clock())
            if board.plies > plies:
                for each in agents:
                    if each is not None:
                        tell(each, board.history[-1])
        except Exception as error:
            referee.forfeit(player, "crashed", f"{type(error).__name__}: {error}")


class _Table:
    """The connections of one game."""

    def __init__(self, doors: list[Door | None], referee: Referee, clock: Callable[[], float]) -> None:
        self._doors, self._referee, self._clock = doors, referee, clock
        self._selector = selectors.DefaultSelector()
        self._sockets: list[socket.socket | None] = [None, None]
        self._unsent = [bytearray(), bytearray()]
        self.addresses = ["", ""]
        for player, door in enumerate(doors):
            if door is not None:
                self._selector.register(door, selectors.EVENT_READ, player)

    def wait(self) -> None:
        """Wait for the next event, and hand it to the referee."""
        deadline = self._referee.deadline
        left = None if deadline is None else max(0.0, deadline - self._clock())
        for key, events in self._selector.select(left):
            player: int = key.data
            if self._sockets[player] is None:
                self._let_in(player)
            else:
                if events & selectors.EVENT_WRITE:
                    self._flush(player)
                if events & selectors.EVENT_READ:
                    self._read(player)
            self.deliver()
        self._referee.expire(self._clock())

    def deliver(self) -> None:
        """Send what the referee wants to be sent."""
        for player, data in self._referee.sent:
            self._unsent[player] += data
        self._referee.sent.clear()
        for player in (0, 1):
            self._flush(player)

    def finish(self) -> None:
        """Send the last words, to the end."""
        self.deliver()
        for connection, unsent in zip(self._sockets, self._unsent, strict=True):
            if connection is not None:
                with suppress(OSError):
                    if unsent:
                        connection.settimeout(FLUSH_SECONDS)
                        connection.sendall(unsent)
                    connection.setblocking(False)
                    connection.recv(1 << 16)  # what has come too late would break what was sent

    def close(self) -> None:
        """Hang up."""
        for connection in self._sockets:
            if connection is not None:
                connection.close()
        self._selector.close()

    def _let_in(self, player: int) -> None:
        door = self._doors[player]
        assert door is not None
        try:
            connection = door.accept()
            self.addresses[player] = "{}:{}".format(*connection.getpeername()[:2])
        except OSError:  # gone again
            return
        self._selector.unregister(door)
        self._sockets[player] = connection
        self._selector.register(connection, selectors.EVENT_READ, player)
        self._referee.connect(player, self._clock())

    def _read(self, player: int) -> None:
        connection = self._sockets[player]
        if connection is None:
            return
        try:
            data = connection.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._referee.receive(player, data, self._clock())
            return
        self._selector.unregister(connection)
        connection.close()
        self._sockets[player] = None
        self._unsent[player].clear()
        self._referee.disconnect(player)
        door = self._doors[player]
        assert door is not None
        if self._referee.ending is None:
            self._selector.register(door, selectors.EVENT_READ, player)

    def _flush(self, player: int) -> None:
        """Send what a client takes now; the rest when it is ready for it."""
        connection, unsent = self._sockets[player], self._unsent[player]
        if connection is None:
            return
        try:
            while unsent:
                del unsent[: connection.send(unsent)]
        except BlockingIOError:
            pass
        except OSError:  # it has gone, which is noticed when it is read from
            unsent.clear()
        self._selector.modify(connection, selectors.EVENT_READ | (selectors.EVENT_WRITE if unsent else 0), player)


def release(agents: Pair) -> None:
    """Let the agents of a game go."""
    for agent in agents:
        if agent is not None:
            close(agent)
