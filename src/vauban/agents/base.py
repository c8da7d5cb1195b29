"""The interface of agents: whatever chooses, from views alone.

    class Mine:
        name = "mine"

        def choose(self, views, seeds):
            ...  # an action for each view

An agent is handed views, never games: it cannot see what its player may not know. It is asked about many views at once,
all of one player, who is on turn. One that can do more has more methods: `set_up` (`SetsUp`), `policy` (`GivesPolicy`),
`judge` (`Judge`), `answer` (`AsksForOne`), `told` (`Listener`), `saw` (`Watcher`), `close` (`Closing`). One that cannot
play every game has `check_plays` (`Choosy`). A program of its own has those of `Program`.

A class with `choose_move(view)`, the form a person writes, is made an agent by `vauban.agents.adapter`.
"""

from __future__ import annotations

import random
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError, VaubanError

if TYPE_CHECKING:
    from vauban.board import Board, View
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
        """Return for each view a legal action, or `RESIGNS`. All chance in it comes from the view's seed."""


@runtime_checkable
class Choosy(Protocol):
    """An agent that cannot play every game."""

    def check_plays(self, game: Game) -> None:
        """Refuse a game that it cannot play, with a `VaubanError` that says which games it can."""


@runtime_checkable
class SetsUp(Protocol):
    """An agent that also chooses its setups."""

    def set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        """Return a setup of the game, in the player's own frame; chance comes from `rng`."""


@runtime_checkable
class GivesPolicy(Protocol):
    """An agent that also says with what probabilities it plays."""

    def policy(self, views: Snapshot) -> Floats:
        """Return the probabilities of each view's legal actions, a row for each, ordered as `Simulator.legal_actions`.

        Rows are as long as the game has legal actions at most; 0 stands behind the last.
        """


@runtime_checkable
class DrawsPolicies(Protocol):
    """An agent that draws one of several policies for a whole game, or has a single one."""

    def chances(self, player: int) -> list[float]:
        """Return the chances of the policies that a player draws from; a single 1 where nothing is drawn."""

    def policy_of(self, views: Snapshot, number: int) -> Floats:
        """Return one of these, as `GivesPolicy.policy` does."""


def drawn_policies(chances: list[float], views: Snapshot, seeds: Seeds) -> Actions:
    """Return which of several policies plays each game: a function of its seed and the player, one for all plies."""
    from vauban.games.randomness import DRAWN_NETWORK, draw

    assert views.viewer is not None
    sums = np.cumsum(chances)
    if len(sums) == 1:
        return np.zeros(len(views), np.int64)
    throw: Any = draw
    given = np.asarray(seeds, np.uint64)
    zeros = np.zeros(len(given), np.uint64)
    bits = throw(given, zeros + np.uint64(views.viewer), zeros, zeros, DRAWN_NETWORK, 0)
    throws = (bits.astype(np.float64) + 0.5) / 2**32
    numbers: Actions = (sums > throws[:, None] * sums[-1]).argmax(1)
    return numbers


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
        """Take note of a move that was made."""


@runtime_checkable
class Watcher(Protocol):
    """An agent that also wants its view after every move, its own too, and at the end."""

    def saw(self, view: View) -> None:
        """Take note of the agent's view after a move."""


@runtime_checkable
class Closing(Protocol):
    """An agent that holds something, such as a process, to be let go when its game is over."""

    def close(self) -> None:
        """Let it go: the game is over."""


@runtime_checkable
class Program(Protocol):
    """An agent that is a program of its own: it begins anew with every game, and keeps its own clock.

    It is asked for its setup in every game, and raises an `AgentError` where it misbehaves.
    """

    def check_sets_up(self, game: Game) -> None:
        """Refuse a game for which it cannot choose its setup."""

    def give_setup(self, game: Game, row: Row) -> None:
        """Hand it the setup to play with, where it cannot choose one itself."""

    def meet(self, opponent: str, seconds: float | None) -> None:
        """Begin a game against this opponent; with so many seconds for each answer, or as it was made."""

    def ended(self, end: str) -> None:
        """Tell it how the game has ended."""

    def last_words(self) -> str:
        """Return what it has said beside its answers before it failed, to put behind a sentence; "" if nothing."""


class AgentError(VaubanError):
    """An agent misbehaved: it loses this game, and nothing else has happened."""

    reason: Literal["illegal", "time", "failed"] = "failed"
    """The cause of its loss: an answer that is none, its time, or a breakdown."""
    spoke: bool = True
    """Whether it has said anything since it was started."""


def check_plays(agent: Agent, game: Game) -> None:
    """Refuse an agent that cannot play a game, before anything is played."""
    if isinstance(agent, Choosy):
        agent.check_plays(game)


def check_family(name: str, family: str, game: Game) -> None:
    """Refuse a game of another family than the one that an agent plays."""
    if game.family != family:
        raise ConfigurationError(
            f"agent {name!r} plays {family.capitalize()}, not {game.name!r}: take another agent (vauban agents lists "
            "them, with what they play)"
        )


def choose_action(agent: Agent, view: View, seed: int | None = None) -> int:
    """Ask an agent about one view: a legal action, or `RESIGNS`. Without a seed its own is taken."""
    if isinstance(agent, AsksForOne):
        return agent.answer(view)
    chance = getattr(agent, "seed", 0) if seed is None else seed
    return int(agent.choose(view.snapshot(), np.array([chance % 2**64], np.uint64))[0])


def choose_move(agent: Agent, view: View, seed: int | None = None) -> Any:
    """Ask an agent for its move, as `legal_moves` has it; None if it resigns."""
    action = choose_action(agent, view, seed)
    return None if action == RESIGNS else view.move_of(action)


def set_up(agent: Agent, game: Game, player: int, rng: random.Random) -> Row:
    """Ask an agent for a setup. One that does not choose any, or may not, is given one."""
    if isinstance(agent, SetsUp) and game.setups_chosen:
        return agent.set_up(game, player, rng)
    from vauban.agents.setups import make_sampler, usual_setups

    return make_sampler(usual_setups(game) or "uniform", game)(rng)


def tell(agent: Any, played: Any) -> None:
    """Tell an agent of a move, if it listens."""
    if isinstance(agent, Listener):
        agent.told(played)


def show(agent: Any, board: Board, player: int) -> None:
    """Show an agent what its player knows after a move, if it watches."""
    if isinstance(agent, Watcher):
        agent.saw(board.view(player))


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
