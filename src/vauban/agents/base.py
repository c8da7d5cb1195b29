"""What an agent is: whatever chooses a setup and moves, from views alone.

    class Mine:
        name = "mine"

        def choose_setup(self, variant, player, rng):
            return random_setup(variant, rng)

        def choose_move(self, view):
            return view.legal_moves[0]

An agent is handed a `View`, never the `Board`: it cannot see what its player may not know. One that
wants more implements more: `told` (`Listener`), `choose_actions` (`BatchAgent`), `judge` (`Judge`),
`probabilities`.
"""

from __future__ import annotations

import random
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from vauban.board.stratego import Played, View
from vauban.games.stratego.setups import Row
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego.moves import Move

if TYPE_CHECKING:
    from vauban.sim.store import Snapshot

RESIGNS = -1
"""In place of an action: the agent gives the game up."""


class Agent(Protocol):
    """Whatever chooses."""

    name: str
    """What it is called in the pool, in records and on screens: the text that makes it again."""

    def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> Row:
        """Its setup for a game, in its own view (`vauban.games.stratego.setups`); chance comes from `rng`."""

    def choose_move(self, view: View) -> Move | None:
        """One of `view.legal_moves`, or None to resign; asked only when its player is on turn."""


@runtime_checkable
class BatchAgent(Protocol):
    """An agent that can also answer for many games at once."""

    def choose_actions(self, views: Snapshot, seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """For each view a legal action of its player, who is on turn, or `RESIGNS`.

        A game's seed stands in for the agent's own: with it, `choose_move` gives the same answer.
        """


@runtime_checkable
class Judge(Protocol):
    """An agent that can also say how it thinks its game will end."""

    def judge(self, view: View) -> float:
        """What the game is worth to its player, who is on turn: from −1, lost, to 1, won."""


@runtime_checkable
class Listener(Protocol):
    """An agent that also wants to be told of every move, its own too, as it is played."""

    def told(self, played: Played) -> None:
        """A move was made."""


def tell(agent: Agent, played: Played) -> None:
    """Tell an agent of a move, if it listens."""
    if isinstance(agent, Listener):
        agent.told(played)


@runtime_checkable
class Closing(Protocol):
    """An agent that holds something, such as a process, to be let go when its game is over."""

    def close(self) -> None:
        """The game is over."""


def close(agent: Any) -> None:
    """Let an agent go."""
    if isinstance(agent, Closing):
        agent.close()


def describe(agent: Agent) -> str:
    """Who an agent is: one line, then in full. Where it has options, their documentation says it."""
    return cleandoc(type(getattr(agent, "options", agent)).__doc__ or "")


def chance(seed: int, view: View) -> random.Random:
    """An agent's randomness for one move: a function of its seed, its player and the ply.

    So an answer depends on nothing but the seed and the view, and a game that was taken back or
    resumed goes on as it would have gone.
    """
    return random.Random(f"{seed} {view.player} {view.plies}")
