"""A match: two agents, many games, in pairs with the sides swapped.

    match = Match("cadet", "random", 100, "barrage", seed=7)
    games = play_match(match)                           # vauban.arena.schedule
    summary([game.result for game in games])

The first agent plays red in the games with even numbers, blue in the others. Games 2k and 2k+1 are a
pair: red's setup and blue's are the same in both, and the agents change sides. Where agents choose
their setups themselves (`setups="own"`), each has one for both games of a pair. A program of its own
(`ExternalAgent`) sets up by itself in any case, where its protocol lets it; its opponent then has one
setup for both games.

Everything about game k follows from the match and k: the setups, and a seed for each agent. So it is the
same game whoever plays it, alone or with others, here or elsewhere, unless an agent goes by the clock.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vauban.agents import make_agent
from vauban.agents.base import Agent, BatchAgent, Listener, close
from vauban.agents.external.agent import PREFIX, ExternalAgent
from vauban.agents.stratego.setups import make_sampler
from vauban.arena.results import GameResult
from vauban.board.stratego import Board
from vauban.errors import ConfigurationError, SetupError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import Row, check_army
from vauban.games.stratego.switches import Rules
from vauban.games.stratego.variants import Variant
from vauban.notation.records import write_game
from vauban.notation.stratego import ucc

Contender = str | Callable[[int], Agent]
"""Who plays: an agent's text, or what makes an agent from a seed."""

OWN = "own"
"""In place of a sampler of setups: agents choose their own."""

FORFEIT = "forfeit"
"""The end of a game that an agent lost other than on the board; the result's note begins with the reason:"""
RESIGNED, ILLEGAL, LATE, FAILED = "resigned", "illegal", "time", "failed"

MEMORY = 1024
"""MiB for each process of a program, unless told otherwise."""

RECORDED_ENDS = {RESIGNED: "resigned", ILLEGAL: "illegal", LATE: "time", FAILED: "illegal"}
"""By reason: the end as records of games call it."""


@dataclass(frozen=True)
class FinishedGame:
    """A game of a match: its result, and what it takes to play it again."""

    result: GameResult
    setups: tuple[str, str]
    """Red's and blue's; empty if an agent failed to make one."""
    moves: str
    """The moves as squares, e.g. "a4a5 b7b6 a5a6"."""


class Match:
    """What is to be played, by whom and from which setups."""

    def __init__(
        self,
        a: Contender,
        b: Contender,
        games: int = 100,
        variant: str | Variant = "classic",
        rules: str | Mapping[str, Any] | Rules | None = None,
        seed: int = 0,
        *,
        setups: str = "human",
        time: float | None = None,
        memory: int = MEMORY,
        folder: str | Path | None = None,
    ) -> None:
        """
        setups: a sampler for both sides (`vauban.agents.stratego.setups`), or "own": agents choose theirs.
        time: seconds allowed for a move; who needs more loses the game.
        memory: MiB for each process of a program (bot:COMMAND), 0 for no limit.
        folder: where programs are started; the current one if not given.
        """
        if type(games) is not int or games < 1:
            raise ConfigurationError(f"a match has at least one game, and a whole number of them, not {games!r}")
        if time is not None and not (time > 0 and math.isfinite(time)):
            raise ConfigurationError(f"the time for a move is a number of seconds above 0, not {time!r}")
        self.contenders = (a, b)
        self.games = games
        self.game = Stratego(variant, rules)
        self.seed = seed
        self.setups = setups
        self.time = time
        self.memory = memory
        self.folder = folder
        if setups != OWN:
            _sampler(setups, self.variant)  # refuses what it cannot read, now and not in the first game
        agents = [self._checked(contender) for contender in self.contenders]
        self.programs = (isinstance(agents[0], ExternalAgent), isinstance(agents[1], ExternalAgent))
        """Which of the two are programs of their own."""
        if any(self.programs):
            self._check_protocol()
        self.names = (_name(a, agents[0]), _name(b, agents[1]))
        """What the two agents are called."""
        self.in_batches = time is None and self.game.bounded and all(map(_plays_in_batches, agents))
        """Whether many games can be played at once: both agents answer for many, and nobody has to be timed or told."""
        for agent in agents:
            close(agent)

    def __repr__(self) -> str:
        return f"<Match {self.names[0]} – {self.names[1]}: {self.games} games of {self.game!r}, seed {self.seed}>"

    @property
    def variant(self) -> Variant:
        return self.game.variant

    # ── What follows from a game's number ────────────────────────────────────────────────────────

    def role(self, number: int, player: int) -> int:
        """Which of the two agents, the first (0) or the second (1), plays red (0) or blue (1) in a game."""
        return (number + player) % 2

    def names_in(self, number: int) -> tuple[str, str]:
        """Who plays red and who plays blue in a game."""
        return self.names[self.role(number, 0)], self.names[self.role(number, 1)]

    def agent_seed(self, number: int, role: int) -> int:
        """The seed of an agent in a game."""
        return mixed(self.seed, "agent", number, role)

    def make(self, role: int, seed: int = 0) -> Agent:
        """The first (0) or the second (1) agent."""
        return self._make(self.contenders[role], seed)

    def drawn_setups(self, pair: int) -> tuple[Row, Row]:
        """Red's and blue's setup in both games of a pair, where a sampler draws them."""
        sampler = _sampler(self.setups, self.variant)
        red, blue = (sampler(self._setup_chance(pair, player)) for player in (0, 1))
        return red, blue

    def own_setup(self, pair: int, role: int) -> Row:
        """The setup that an agent chooses for both games of a pair: it is asked as in the first of them.

        Raises whatever the agent raises, or `SetupError` if what it answers is no setup.
        """
        agent = self.make(role, self.agent_seed(2 * pair, role))
        try:
            return self.ask_setup(agent, pair, role, player=role)
        finally:
            close(agent)

    def ask_setup(self, agent: Agent, pair: int, role: int, player: int) -> Row:
        """The setup that this agent chooses as red or blue, with the randomness of the pair."""
        chosen = np.asarray(agent.choose_setup(self.variant, player, self._setup_chance(pair, role)))
        if chosen.shape != (self.game.setup_size,):
            raise SetupError(f"a setup is {self.game.setup_size} numbers, not {chosen.shape}")
        check_army(chosen, self.variant)
        return chosen.astype(np.int8)

    def _setup_chance(self, pair: int, which: int) -> random.Random:
        return random.Random(f"{self.seed} setup {pair} {which}")

    def _make(self, contender: Contender, seed: int) -> Agent:
        if not isinstance(contender, str):
            return contender(seed)
        if contender.startswith(PREFIX):
            return ExternalAgent(contender.removeprefix(PREFIX), seed, memory=self.memory, cwd=self.folder)
        return make_agent(contender, seed)

    def _check_protocol(self) -> None:
        """Refuse a board or an army that programs cannot be told of."""
        try:
            ucc.check_variant(self.variant, any_army=self.setups != OWN)
        except ConfigurationError as error:
            if self.setups != OWN:
                raise
            raise ConfigurationError(
                f"a program cannot choose a setup of {self.variant.name!r}: the line protocol knows the classic board "
                "and army only. On the classic board it can play other armies with setups that are drawn, such as human"
            ) from error

    def _checked(self, contender: Contender) -> Agent:
        """An agent, to see that it can be made, and that it can set up as its options say."""
        try:
            agent = self._make(contender, 0)
            setups = getattr(getattr(agent, "options", None), "setups", OWN)
            if setups != OWN:
                _sampler(setups, self.variant)
            return agent
        except ConfigurationError:
            raise
        except Exception as error:
            raise ConfigurationError(f"the agent {_name(contender)!r} cannot be made: {error}") from error


def mixed(*parts: object) -> int:
    """A seed that depends on all parts, and looks unlike that of any others."""
    digest = hashlib.blake2b(" ".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


_sampler = lru_cache(8)(make_sampler)  # a list is read once


def _name(contender: Contender, agent: Agent | None = None) -> str:
    if isinstance(contender, str):
        return contender
    return str(getattr(agent, "name", None) or getattr(contender, "__name__", contender))


def _plays_in_batches(agent: Agent) -> bool:
    return isinstance(agent, BatchAgent) and not isinstance(agent, Listener)


# ── Records ──────────────────────────────────────────────────────────────────────────────────────


def replayed(match: Match, setups: tuple[str, str], moves: str) -> Board:
    """A board on which these moves have been made."""
    board = Board.from_setups(*setups, match.variant, match.game.rules)
    for move in moves.split():
        board.push(move)
    return board


def record_text(match: Match, game: FinishedGame) -> str | None:
    """The game as a record that `vauban replay` shows; None if it never began, since a setup was missing."""
    if not all(game.setups):
        return None
    result = game.result
    headers = {
        "Red": result.agents[0],
        "Blue": result.agents[1],
        "Seed": str(match.seed),
        "Number": str(result.number),
        "Setups": match.setups,
    }
    if result.note:
        headers["Note"] = " ".join(result.note.split())
    if result.end == FORFEIT:
        reason = result.note.partition(":")[0]
        headers |= {"Result": ("1-0", "0-1")[result.winner or 0], "End": RECORDED_ENDS[reason]}
    return write_game(replayed(match, game.setups, game.moves), headers)


def records(match: Match, games: Iterable[FinishedGame]) -> Iterator[str]:
    """The records of all games that had begun, in the order of their numbers."""
    for game in sorted(games, key=lambda game: game.result.number):
        text = record_text(match, game)
        if text is not None:
            yield text
