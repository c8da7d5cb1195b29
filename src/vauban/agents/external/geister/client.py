"""`Client`: an agent of ours on a server of others; without sockets, it answers line by line.

client = Client(agent)
client.hear("SET?")                  # "SET:ABCD"
client.hear("OK ")                   # None: nothing to say
client.hear("MOV?14R24R…")           # "MOV:A,NORTH"
client.hear("WON:13R24R…")           # None; client.result is "won"
"""

from __future__ import annotations

import random
from typing import Any

from vauban.agents.base import RESIGNS, Agent, choose_action, set_up, tell
from vauban.agents.external.geister.seen import SeenGame
from vauban.errors import NotationError
from vauban.notation.geister import server
from vauban.notation.records import result_of, write_game
from vauban.words import shortened

RESULTS = {server.WON: "won", server.LOST: "lost", server.DRAWN: "drawn"}
RESULT = {("won", 0): "1-0", ("won", 1): "0-1", ("lost", 0): "0-1", ("lost", 1): "1-0"}
"""By our result and which player we were: the result in a record."""


class Resigned(Exception):  # noqa: N818 – nothing went wrong
    """The agent gives the game up; the protocol has no word for that."""


class Client:
    """One game."""

    def __init__(self, agent: Agent, player: int = 0, seed: int = 0) -> None:
        """`player` is who we expect to be, until the server's first board says it."""
        self.agent = agent
        self.seed = seed
        self.result: str | None = None
        """"won", "lost" or "drawn", once the server has said so."""
        self.refused: str | None = None
        """The latest line of ours that the server has refused."""
        self._player = player
        self._game: SeenGame | None = None
        self._setup: Any = None
        self._said: str | None = None
        self._action: int | None = None
        """Our move, while we wait for the server to take it."""
        self._told = 0

    def hear(self, line: str) -> str | None:
        """Take a line of the server's, and return ours, if it waits for one."""
        if line == server.SET_ASKED:
            self._setup = set_up(self.agent, server.PUBLIC, self._player, random.Random(f"{self.seed} setup"))
            self._said = server.setup_line(self._setup)
            return self._said
        if line.startswith("OK"):
            self._taken()
            return None
        if line.startswith(server.REFUSED.strip()):
            self._refuse()
            return None
        word, text = line[:4], line[4:]
        if word in RESULTS and self._setup is not None:
            self.result = RESULTS[word]
            # While the server has not taken our setup there is no game: the opponent was gone before it began.
            if self._game is not None and "u" not in text:
                self._game.end(text)
            return None
        if self._game is None or word != server.MOVE_ASKED:
            raise NotationError(f"the server said {shortened(line)}, which it does not say here")
        self._game.look(text)
        return self._move()

    @property
    def player(self) -> int:
        """Our player: 0 moves first."""
        return self._player if self._game is None else self._game.player

    @property
    def plies(self) -> int:
        """Plies of the game so far."""
        return 0 if self._game is None else self._game.board.plies

    @property
    def end(self) -> str:
        """The game's end: one of its ends, or "" if the server has ended it for another reason."""
        outcome = None if self._game is None else self._game.board.outcome()
        shown = None if outcome is None else result_of(outcome)
        expected = "1/2-1/2" if self.result == "drawn" else RESULT.get((self.result or "", self.player))
        return outcome.end if outcome is not None and shown == expected else ""

    def record(self, names: tuple[str, str]) -> str | None:
        """Return the game as a record: our name, the opponent's. None if not all colours are known."""
        if self._game is None or self.result is None or not self._game.complete:
            return None
        first, second = names if self.player == 0 else names[::-1]
        headers = {"First": first, "Second": second}
        if not self.end:
            headers |= {"Result": RESULT[self.result, self.player], "End": "illegal", "Note": "ended by the server"}
        return write_game(self._game.board, headers)

    def _taken(self) -> None:
        """Note that the server has taken our setup, or move. The letter behind OK may be an old one: do not look."""
        if self._game is None and self._setup is not None:
            self._game = SeenGame(self._setup, self._player)
        elif self._game is not None and self._action is not None:
            self._game.made(self._action)
            self._action = None
        else:
            raise NotationError("the server said OK, and had not been asked for anything")

    def _refuse(self) -> None:
        self.refused, self._action = self._said, None
        if self._game is None:
            raise NotationError(f"the server has refused our setup, {self._said}")

    def _move(self) -> str:
        assert self._game is not None
        view = self._game.view()
        for played in view.history[self._told :]:
            tell(self.agent, played)
        self._told = len(view.history)
        action = choose_action(self.agent, view, self.seed)
        if action == RESIGNS:
            raise Resigned
        self._action = action
        self._said = server.move_line(view, action)
        return self._said
