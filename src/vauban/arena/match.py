"""A match: two agents, many games, in pairs with the sides swapped.

    match = Match("cadet", "random", 100, "barrage", seed=7)
    games = play_match(match)                           # vauban.arena.schedule
    summary([game.result for game in games])

The first agent is the first player (red) in the games with even numbers, the second player (blue) in the others. Games
2k and 2k+1 are a pair: the same setups for the first and the second player, the same deals where chance plays, and the
agents change sides. Where agents choose their setups themselves (`setups="own"`), each has one for both games of a
pair. A program of its own (`vauban.agents.base.Program`) sets up by itself in any case, where its protocol lets it; its
opponent then has one setup for both games.

Everything about game k follows from the match and k: the setups, all chance, and a seed for each agent. So it is the
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

from vauban import __version__
from vauban.agents import make_agent
from vauban.agents.adapter import build
from vauban.agents.base import Agent, AsksForOne, Listener, Program, Row, SetsUp, check_plays, close
from vauban.agents.external import MEMORY
from vauban.agents.setups import make_sampler, usual_setups
from vauban.arena.results import GameResult
from vauban.board import Board
from vauban.errors import ConfigurationError, SetupError, VaubanError
from vauban.games.base import Game
from vauban.games.base import game as find_game
from vauban.notation.records import write_game
from vauban.sim.simulator import Simulator

Contender = str | Callable[..., Any]
"""A player: an agent's text, or what makes an agent, such as a class, perhaps from a seed."""

OWN = "own"
"""In place of a sampler of setups: agents choose their own."""
UNIFORM = "uniform"
"""The sampler of setups that every game has."""
NONE = "none"
"""The setups of a game in which players place nothing."""

FORFEIT = "forfeit"
"""The end of a game that an agent lost other than on the board; the result's note begins with the reason:"""
RESIGNED, ILLEGAL, LATE, FAILED = "resigned", "illegal", "time", "failed"

RECORDED_ENDS = {RESIGNED: "resigned", ILLEGAL: "illegal", LATE: "time", FAILED: "illegal"}
"""By reason: the end as records of games call it."""


@dataclass(frozen=True)
class FinishedGame:
    """A game of a match: its result, and what it takes to play it again."""

    result: GameResult
    setups: tuple[str, str]
    """The first player's and the second's; empty if the game has none, or an agent failed to make one."""
    moves: str
    """The actions as text, e.g. "a4a5 b7b6 a5a6"."""


class Match:
    """The games to be played, the agents, and the setups."""

    def __init__(
        self,
        a: Contender,
        b: Contender,
        games: int = 100,
        game: str | Game = "classic",
        rules: str | Mapping[str, Any] | None = None,
        seed: int = 0,
        *,
        setups: str | None = None,
        time: float | None = None,
        bot_time: float | None = None,
        memory: int = MEMORY,
        folder: str | Path | None = None,
    ) -> None:
        """
        game: a name, a file or a game that is made already; rules: its rules, if not the usual ones.
        setups: a sampler for both sides (`vauban.agents.setups`), or "own": agents choose theirs; the game's own
            default if not given.
        time: seconds allowed for a move; who needs more loses the game.
        bot_time: seconds that programs (bot:COMMAND) have for an answer, if not `time`, or what is theirs by default.
        memory: MiB for each process of a program (bot:COMMAND), 0 for no limit.
        folder: where programs are started, and files (py:FILE.py:NAME) are looked for; the current one if not given.
        """
        if type(games) is not int or games < 1:
            raise ConfigurationError(f"a match has at least one game, and a whole number of them, not {games!r}")
        for seconds in (time, bot_time):
            if seconds is not None and not (seconds > 0 and math.isfinite(seconds)):
                raise ConfigurationError(f"the time for a move is a number of seconds above 0, not {seconds!r}")
        self.contenders = (a, b)
        self.games = games
        self.game = find_game(game, rules)
        self.seed = seed
        self.time = time
        self.bot_time = bot_time or time
        self.memory = memory
        self.folder = Path(folder or ".").resolve()
        # What cannot be read or played is refused now, and not in the first game.
        agents = [self._checked(contender) for contender in self.contenders]
        self.setups = settled_setups(self.game, setups, agents)
        self._check_setups(self.setups)
        self.programs = (isinstance(agents[0], Program), isinstance(agents[1], Program))
        """True for each of the two that is a program of its own."""
        for agent in agents:
            if isinstance(agent, Program) and self.setups == OWN:
                agent.check_sets_up(self.game)
        self.names = (_name(a, agents[0]), _name(b, agents[1]))
        """Names of the two agents."""
        alone = [isinstance(agent, AsksForOne | Listener) for agent in agents]
        self.in_batches = time is None and self.game.bounded and not any(alone)
        """Whether many games can be played at once: both agents answer for many, and nobody has to be timed or told."""
        for agent in agents:
            close(agent)

    @property
    def gives_setups(self) -> bool:
        """Whether games begin from setups: not where there are none, nor where players place them by actions."""
        return self.setups != NONE

    def __repr__(self) -> str:
        return f"<Match {self.names[0]} – {self.names[1]}: {self.games} games of {self.game!r}, seed {self.seed}>"

    # ── What follows from a game's number ────────────────────────────────────────────────────────

    def role(self, number: int, player: int) -> int:
        """Return which agent is this player: the first agent (0) or the second (1)."""
        return (number + player) % 2

    def names_in(self, number: int) -> tuple[str, str]:
        """Name the first player of a game, and the second."""
        return self.names[self.role(number, 0)], self.names[self.role(number, 1)]

    def agent_seed(self, number: int, role: int) -> int:
        """Return the seed of an agent in a game."""
        return mixed(self.seed, "agent", number, role)

    @property
    def chance_seed(self) -> int:
        """The seed of chance in the games, together with the number of the pair."""
        return mixed(self.seed, "chance")

    def make(self, role: int, seed: int = 0) -> Agent:
        """Return the first (0) or the second (1) agent."""
        return self._make(self.contenders[role], seed)

    def drawn_setups(self, pair: int) -> tuple[Row, Row]:
        """Return the first player's and the second's setup in both games of a pair, where a sampler draws them."""
        first, second = (self._draw_setup(pair, player) for player in (0, 1))
        return first, second

    def own_setup(self, pair: int, role: int) -> Row:
        """Return the setup that an agent chooses for both games of a pair: it is asked as in the first of them.

        Raises whatever the agent raises, or `SetupError` if what it answers is no setup.
        """
        agent = self.make(role, self.agent_seed(2 * pair, role))
        try:
            return self.ask_setup(agent, pair, role, player=role)
        finally:
            close(agent)

    def ask_setup(self, agent: Agent, pair: int, role: int, player: int) -> Row:
        """Return the setup that this agent chooses as the first or the second player, with the randomness of the pair.

        One that does not choose any is given one.
        """
        if not isinstance(agent, SetsUp) or not self.game.setups_chosen:
            return self._draw_setup(pair, role)
        assert self.game.setups is not None
        chosen = np.asarray(agent.set_up(self.game, player, self._setup_chance(pair, role)))
        if chosen.shape != (self.game.setup_size,):
            raise SetupError(f"a setup is {self.game.setup_size} numbers, not {chosen.shape}")
        self.game.setups.check(chosen[None])
        return chosen.astype(np.int8)

    def simulator(self, games: int) -> Simulator:
        """Make a simulator for this many games of the match at once."""
        return Simulator(self.game, games, seed=self.chance_seed, restart=False, threads=1, arrays="numpy")

    def _draw_setup(self, pair: int, which: int) -> Row:
        text = (usual_setups(self.game) or UNIFORM) if self.setups == OWN else self.setups
        return _sampler(text, self.game)(self._setup_chance(pair, which))

    def _setup_chance(self, pair: int, which: int) -> random.Random:
        return random.Random(f"{self.seed} setup {pair} {which}")

    def _make(self, contender: Contender, seed: int) -> Agent:
        if not isinstance(contender, str):
            return build(contender, seed)
        return make_agent(contender, seed, self.folder, self.memory, game=self.game)

    def _check_setups(self, setups: str) -> None:
        if setups not in (OWN, NONE):
            _sampler(setups, self.game)

    def _checked(self, contender: Contender) -> Agent:
        """Return an agent, to see that it can be made, plays the game, and can set up as its options say."""
        try:
            agent = self._make(contender, 0)
            check_plays(agent, self.game)
            if self.game.setups is not None and self.game.setups_chosen:
                self._check_setups(getattr(getattr(agent, "options", None), "setups", OWN))
            return agent
        except VaubanError:
            raise
        except Exception as error:
            raise ConfigurationError(f"the agent {_name(contender)!r} cannot be made: {error}") from error


def settled_setups(game: Game, setups: str | None, agents: Iterable[Agent]) -> str:
    """Settle where setups come from: as asked for, or as is usual in the game.

    agents: those who play. Some of them may choose setups; they are looked at where nothing else decides.
    """
    if game.setups is not None:
        if not game.setups_chosen and setups in (OWN, "human"):
            how = "players place their pieces by actions" if game.deploys else "chance draws them"
            raise ConfigurationError(
                f"nobody chooses setups in {game.name!r}, where {how}: leave {setups!r} out, or name a "
                "sampler such as uniform or list:FILE"
            )
        if setups is not None:
            return setups
        if game.deploys:
            return NONE
        if not game.setups_chosen:
            return UNIFORM
        return usual_setups(game) or (OWN if any(isinstance(agent, SetsUp) for agent in agents) else UNIFORM)
    if setups not in (None, NONE):
        raise ConfigurationError(
            f"players of {game.name!r} place nothing, so there are no setups: leave {setups!r} out"
        )
    return NONE


def own_setups(game: Game) -> str | None:
    """Return what has agents choose their setups, in a game where players do."""
    return OWN if game.setups is not None and game.setups_chosen else None


def mixed(*parts: object) -> int:
    """Return a seed that depends on all parts, and looks unlike that of any others."""
    digest = hashlib.blake2b(" ".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


_sampler = lru_cache(8)(make_sampler)  # a list is read once


def _name(contender: Contender, agent: Agent | None = None) -> str:
    if isinstance(contender, str):
        return contender
    return str(getattr(agent, "name", None) or getattr(contender, "__name__", contender))


MOSTLY = 0.5
"""Games of which a smaller share differs are too few for what figures say of them."""


def repetition(match: Match, games: int, different: int) -> str | None:
    """Return a warning where most games of a match are the same games again; None where all is well.

    different: how many there are of different setups and moves. Where chance deals, or players place nothing, as in
    poker or a matrix game, short games are alike and no less fair for it.
    """
    if match.game.setups is None or match.game.has_chance or different >= MOSTLY * games:
        return None
    counted = "1 game" if different == 1 else f"{different} games"
    advice = "let setups be drawn (--setups human or uniform)" if match.setups == OWN else "take other setups"
    return (
        f"only {different} of {games} games differ: these agents play the same games again, so all figures are of "
        f"{counted} and no more. For others, {advice}, or give the agents chance"
    )


# ── Records ──────────────────────────────────────────────────────────────────────────────────────


def begin(match: Match, number: int, setups: tuple[Row, Row] | None) -> Any:
    """Return the board of a game before its first move; no setups where none are given."""
    if not match.game.has_chance and (setups is not None or match.game.deploys):
        return Board(match.game, seed=match.chance_seed, setups=setups)
    sim = match.simulator(1)
    rows = None if setups is None else [np.asarray(setup)[None] for setup in setups]
    sim.reset(setups=rows, first_number=number // 2)
    return Board.from_snapshot(sim.snapshot(), seed=match.chance_seed)


@lru_cache(4)
def action_words(game: Game) -> tuple[list[str], list[str]]:
    """Return the text of each action as one word, by player and action."""
    first, second = (
        [game.action_text(player, action).replace(" ", "_") for action in range(game.action_count)] for player in (0, 1)
    )
    return first, second


def replayed(match: Match, number: int, setups: tuple[str, str], moves: str) -> Any:
    """Return a board on which these moves have been made."""
    known = match.game.setups if match.gives_setups else None
    board = begin(match, number, None if known is None else (known.parse(setups[0]), known.parse(setups[1])))
    words = action_words(match.game)
    for move in moves.split():
        board.push(match.game.action_text(board.turn, words[board.turn].index(move)))
    return board


def record_text(match: Match, game: FinishedGame) -> str | None:
    """Return the game as a record that `vauban replay` shows; None if it never began, since a setup was missing."""
    if match.gives_setups and not all(game.setups):
        return None
    result = game.result
    names = (player.title() for player in match.game.players)
    headers = {
        **dict(zip(names, result.agents, strict=True)),
        "Seed": str(match.seed),
        "Number": str(result.number),
        "Program": f"Vauban {__version__}",
        "Seconds": f"{result.seconds:.3f}",
    }
    if match.time is not None:
        headers["Time"] = f"{match.time:g}"
    if match.gives_setups:
        headers["Setups"] = match.setups
    if result.note:
        headers["Note"] = " ".join(result.note.split())
    if result.end == FORFEIT:
        reason = result.note.partition(":")[0]
        headers |= {"Result": ("1-0", "0-1")[result.winner or 0], "End": RECORDED_ENDS[reason]}
    return write_game(replayed(match, result.number, game.setups, game.moves), headers)


def records(match: Match, games: Iterable[FinishedGame]) -> Iterator[str]:
    """Yield the records of all games that had begun, in the order of their numbers."""
    for game in sorted(games, key=lambda game: game.result.number):
        text = record_text(match, game)
        if text is not None:
            yield text
