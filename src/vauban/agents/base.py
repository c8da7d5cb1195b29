"""The interface of agents: whatever chooses, from views alone.

    class Mine:
        name = "mine"

        def choose(self, views, seeds):
            ...  # an action for each view

An agent is handed views, never games: it cannot see what its player may not know. It is asked about many views at once,
all of one player, who is on turn. One that can do more has more methods: `set_up` (`SetsUp`), `policy` (`GivesPolicy`),
`judge` (`Judge`), `answer` (`AsksForOne`), `told` (`Listener`), `close` (`Closing`).

A class with `choose_move(view)`, the form a person writes, is made an agent by `vauban.agents.adapter`.
"""

from __future__ import annotations

import random
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from vauban.board import View
    from vauban.games.base import Game
    from vauban.sim.store import Snapshot

RESIGNS = -1
"""In place of an action: the agent gives the game up."""

Seeds = npt.NDArray[np.uint64]
Actions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Row = npt.NDArray[np.int8]
"""A setup: one player's, in its own frame."""


class Agent(Protocol):
    """Whatever chooses."""

    name: str
    """Its name in the pool, in records and on screens: the text that makes it again."""

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        """For each view a legal action, or `RESIGNS`. All chance in it comes from the view's seed."""


@runtime_checkable
class SetsUp(Protocol):
    """An agent that also chooses its setups."""

    def set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        """Return a setup of the game, in the player's own frame; chance comes from `rng`."""


@runtime_checkable
class GivesPolicy(Protocol):
    """An agent that also says with what probabilities it plays."""

    def policy(self, views: Snapshot) -> Floats:
        """A row for each view: the probabilities of its legal actions, in the order of `Simulator.legal_actions`.

        Rows are as long as the game has legal actions at most; 0 stands behind the last.
        """


@runtime_checkable
class Judge(Protocol):
    """An agent that also says how it thinks its games will end."""

    def judge(self, views: Snapshot) -> Floats:
        """Estimate each game's worth to its player, who is on turn; in a game of wins and losses from −1 to 1."""


@runtime_checkable
class AsksForOne(Protocol):
    """An agent that plays one game at a time, and wants to see all of it: the moves so far, too."""

    def answer(self, view: View) -> int:
        """Choose a legal action, or `RESIGNS`."""


@runtime_checkable
class Listener(Protocol):
    """An agent that also wants to be told of every move, its own too, as it is played."""

    def told(self, played: Any) -> None:
        """A move was made."""


@runtime_checkable
class Closing(Protocol):
    """An agent that holds something, such as a process, to be let go when its game is over."""

    def close(self) -> None:
        """The game is over."""


def choose_action(agent: Agent, view: View, seed: int | None = None) -> int:
    """Ask an agent about one view: a legal action, or `RESIGNS`. Without a seed its own is taken."""
    if isinstance(agent, AsksForOne):
        return agent.answer(view)
    chance = getattr(agent, "seed", 0) if seed is None else seed
    return int(agent.choose(view.snapshot(), np.array([chance % 2**64], np.uint64))[0])


def choose_move(agent: Agent, view: View, seed: int | None = None) -> tuple[int, int] | None:
    """Ask an agent for its move on a board, as squares; None if it resigns."""
    action = choose_action(agent, view, seed)
    game: Any = view.game
    return None if action == RESIGNS else game.decode(view.turn, action)


def set_up(agent: Agent, game: Game, player: int, rng: random.Random) -> Row:
    """Ask an agent for a setup. One that does not choose any is given one."""
    if isinstance(agent, SetsUp):
        return agent.set_up(game, player, rng)
    from vauban.agents.setups import make_sampler, usual_setups

    return make_sampler(usual_setups(game) or "uniform", game)(rng)


def tell(agent: Any, played: Any) -> None:
    """Tell an agent of a move, if it listens."""
    if isinstance(agent, Listener):
        agent.told(played)


def close(agent: Any) -> None:
    """Let an agent go."""
    if isinstance(agent, Closing):
        agent.close()


def describe(agent: Any) -> str:
    """Say who an agent is: one line, then in full, as its class says, or its options where it has some."""
    written = getattr(agent, "inner", agent)
    return cleandoc(type(getattr(written, "options", written)).__doc__ or "")


def chance(seed: int, view: View) -> random.Random:
    """Return an agent's randomness for one move: a function of its seed, its player and the ply.

    So an answer depends on nothing but the seed and the view, and a game that was taken back or
    resumed goes on as it would have gone.
    """
    return random.Random(f"{seed} {view.player} {view.plies}")
