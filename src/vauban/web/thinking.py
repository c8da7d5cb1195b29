"""Questions to agents, each a task for a worker process.

    pool = thinkers(2)
    move = await pool.ask(ChooseMove("mcts", seed, view), seconds=30)

A worker is handed a pickled `View`, never a `Board`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from vauban.web.show import show_modules, show_of
from vauban.work.base import Hand, Task, Tell
from vauban.work.pool import QUEUE, Pool

MODULES = ("vauban.arena.play", "vauban.web.thinking", *show_modules())
"""Modules that workers import before they start."""

WORSE, BETTER = -0.1, 0.1
"""A draw is taken below the first value, and up to the second when nothing has happened for long."""
REASONS = {"own": ("less", "even", "more", "play"), "counted": ("weaker", "quiet", "stronger", "play")}
"""Reasons for taking a draw (the first two) or not, by whether the agent judges itself or the board was counted."""


def thinkers(
    workers: int,
    queue: int = QUEUE,
    warm_ups: Sequence[Task[Any]] = (),
    each: int | None = None,
    hire: Callable[[], Hand] | None = None,
) -> Pool:
    """Make a pool of processes in which agents think; `queue`, `each` and `hire` are those of `Pool`."""
    return Pool(workers, MODULES, queue, warm_ups, each, hire)


@dataclass(frozen=True)
class ChooseSetup:
    """An agent's own setup, as text."""

    agent: str
    seed: int
    variant: str
    player: int

    def run(self, tell: Tell) -> str:
        return show_of(self.variant).choose_setup(self.agent, self.seed, self.variant, self.player)


@dataclass(frozen=True)
class DrawHidden:
    """One way the hidden things of a view may be: by square, what is there."""

    variant: str
    view: Any
    seed: int

    def run(self, tell: Tell) -> dict[int, int]:
        return show_of(self.variant).draw_hidden(self.view, self.seed)


@dataclass(frozen=True)
class ChooseMove:
    """An agent's move as text; None: it resigns."""

    agent: str
    seed: int
    variant: str
    view: Any

    def run(self, tell: Tell) -> str | None:
        return show_of(self.variant).choose_move(self.agent, self.seed, self.view)


@dataclass(frozen=True)
class WeighDraw:
    """An agent's answer to the offer of a draw, and the reason in a word: `REASONS`.

    An agent that can judge its game says what it expects, a searching one after a search; for one that cannot, what is
    on the board is counted. `view` is of the agent's last turn, where it had to judge.
    """

    agent: str
    seed: int
    variant: str
    view: Any

    def run(self, tell: Tell) -> tuple[bool, str]:
        from vauban.agents import make_agent
        from vauban.agents.base import Judge
        from vauban.agents.external import prefix_of

        value, quiet = show_of(self.variant).weigh(self.view)
        # A program has no words for a draw, and need not be made.
        agent = None if prefix_of(self.agent) else make_agent(self.agent, self.seed, game=self.view.game)
        own = False
        if isinstance(agent, Judge) and self.view.turn == self.view.player:
            own = True
            value = float(agent.judge(self.view.snapshot())[0])
        worse, even, better, play_left = REASONS["own" if own else "counted"]
        if value < WORSE:
            return True, worse
        if value > BETTER:
            return False, better
        return (True, even) if quiet else (False, play_left)


@dataclass(frozen=True)
class ReviewGame:
    """Everything there is to say about a finished game, as JSON."""

    variant: str
    record: str
    """The game in our notation."""
    agent: str | None
    """The agent whose network looks back; None without one."""

    def run(self, tell: Tell) -> dict[str, Any]:
        return show_of(self.variant).review(self.record, self.agent, tell)


@dataclass(frozen=True)
class LookAt:
    """An analysis of the last position of a game or line, as JSON."""

    variant: str
    record: str
    """The game in our notation."""
    agent: str | None
    """The agent whose network looks at it; None without one."""

    def run(self, tell: Tell) -> dict[str, Any]:
        return show_of(self.variant).look_at(self.record, self.agent)


@dataclass(frozen=True)
class WarmUp:
    """Have an agent and its kernels compiled and loaded, so that no game has to wait for it."""

    agent: str
    variant: str

    def run(self, tell: Tell) -> None:
        show = show_of(self.variant)
        if show.has_setups(self.variant):
            ChooseSetup(self.agent, 0, self.variant, 0).run(tell)
        board = show.warm_up(self.variant)
        ChooseMove(self.agent, 0, self.variant, board.view(board.turn)).run(tell)
