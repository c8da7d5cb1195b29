"""An agent of ours in somebody else's manager: the line protocol of the UCC competition, spoken by us."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import vauban.agents
from vauban.agents import LEARNED, make_agent, shipped
from vauban.agents.base import Agent, choose_move, close, set_up, tell
from vauban.agents.external import prefix_of
from vauban.agents.random import RandomAgent
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import Row
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego import ucc
from vauban.notation.stratego.moves import Move
from vauban.sim.compile import cache_folder, fingerprint

if TYPE_CHECKING:
    from vauban.agents.external.stratego.seen import SeenGame


class _Quit(Exception):  # noqa: N818 – nothing went wrong
    """The manager has said QUIT, or has gone."""


class Speaker:
    """An agent of ours in somebody else's game: reads what the manager writes, and answers."""

    def __init__(self, agent: Agent, seed: int, source: TextIO, target: TextIO, variant: Variant = ucc.CLASSIC) -> None:
        self.agent = agent
        self.variant = variant
        self.seed = seed
        self._source, self._target = source, target
        self._told = 0

    def run(self, prepare: Callable[[], None] | None = None) -> None:
        """Play one game, to its end.

        prepare: called when the setup has been said, and before a move is asked for.
        """
        try:
            line = self._read()
            player, _, asked = ucc.parse_setup_line(line)
            if (asked.place, asked.army) != (self.variant.place, self.variant.army):
                raise ConfigurationError(
                    f"the manager asks for another board or army than that of {self.variant.name!r}: {line!r}. "
                    "Name the game that it plays with --game"
                )
            setup = set_up(self.agent, Stratego(self.variant), player, random.Random(f"{self.seed} setup"))
            self._say(*ucc.setup_rows(setup, player, self.variant))
            if prepare is not None:
                prepare()
            event, rows = self._hear()
            self._game = _begun(player, setup, self.variant, rows, event)
            while True:
                self._follow(event, rows)
                self._answer()
                event, rows = self._hear()
        except _Quit:
            pass
        finally:
            close(self.agent)

    def _hear(self) -> tuple[str, list[str]]:
        """Read what has happened, and the board."""
        event = self._read()
        return event, [self._read() for _ in range(self.variant.rows)]

    def _follow(self, event: str, rows: list[str]) -> None:
        """Bring our game to where the manager's is; the board that is shown is always right."""
        try:
            if event.strip() != ucc.START:
                self._game.saw(ucc.parse_event(event))
            if self._game.agrees(rows):
                return
            why = "the board is another than ours"
        except VaubanError as error:
            why = str(error)
        print(f"after {event!r}: {why}. Going on from the board that is shown", file=sys.stderr)
        self._game.look_again(rows)
        self._told = 0

    def _answer(self) -> None:
        view = self._game.view()
        for played in view.history[self._told :]:
            tell(self.agent, played)
        self._told = len(view.history)
        move = choose_move(self.agent, view) if len(view.legal_moves) else None
        if move is None:
            self._say(ucc.SURRENDER)
            while True:  # who ends at once may be taken for one that crashed
                self._read()
        self._say(ucc.move_words(Move(*move), self.variant))
        words = self._read()
        echo = ucc.parse_event(words)
        if echo.outcome in ("OK", *ucc.OUTCOMES.values()):
            try:
                self._game.saw(echo)
            except VaubanError as error:  # the next board will show what has become of it
                print(f"after {words!r}: {error}. Waiting for the next board", file=sys.stderr)

    def _read(self) -> str:
        line = self._source.readline()
        if not line or line.split()[:1] == [ucc.QUIT]:
            raise _Quit
        return line.rstrip("\r\n")

    def _say(self, *lines: str) -> None:
        for line in lines:
            self._target.write(f"{line}\n")
            self._target.flush()


def _begun(player: int, setup: Row, variant: Variant, rows: list[str], event: str) -> SeenGame:
    """Return the game as it stood before the first move, from the first board that is shown."""
    from vauban.agents.external.stratego.seen import SeenGame, enemies_at_the_start

    return SeenGame(player, setup, variant, enemies_at_the_start(rows, event, variant))


def warm_up(agent: Agent, variant: Variant) -> None:
    """Have the rules and the agent compiled, or fetched from where they are kept, before a clock runs."""
    from vauban.agents.external.stratego.seen import SEEN_RULES
    from vauban.board.stratego import Board

    board = Board.random(variant, 0, SEEN_RULES)
    setup = set_up(agent, Stratego(variant), 0, random.Random(0))
    rows = ucc.board_rows(Board.from_setups(setup, setup, variant, SEEN_RULES), 0)
    board.push(board.legal_moves[0])
    choose_move(agent, _begun(0, setup, variant, rows, ucc.START).view())
    close(agent)


def hasty(text: str) -> Agent:
    """Return the same agent without time to think; a random mover in place of a program."""
    if prefix_of(text):
        return RandomAgent(0)
    agent = make_agent(text)
    if not hasattr(getattr(agent, "options", None), "time"):
        return agent
    name, _, rest = text.partition(":")
    kept = [part for part in rest.split(",") if part and part.partition("=")[0].strip() != "time"]
    return make_agent(f"{name}:{','.join([*kept, 'time=0.01'])}")


def mark_of(text: str, variant: Variant) -> Path | None:
    """Return the file that is there once all that an agent needs has been compiled on this machine.

    None for an agent from elsewhere, whose kernels are not kept.
    """
    if text.partition(":")[0] not in (*LEARNED, *shipped()):
        return None
    folders = frozenset(file.parent for file in Path(vauban.agents.__path__[0]).rglob("*.py"))
    digest = hashlib.sha256(f"{fingerprint(folders)} {text} {variant}".encode()).hexdigest()[:12]
    return cache_folder() / f"{digest}.bot"
