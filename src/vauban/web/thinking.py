"""What agents are asked to think about, each question a task for a worker process.

    pool = thinkers(2)
    move = await pool.ask(ChooseMove("mcts", seed, view), seconds=30)

A worker is handed a pickled `View`, never a `Board`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vauban.board.stratego import Board, View
from vauban.board.stratego.words import oddities
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, WORTH
from vauban.games.stratego.setups import setup_text
from vauban.games.stratego.variants import VARIANTS
from vauban.work.base import Task, Tell
from vauban.work.pool import QUEUE, Pool

MODULES = ("vauban.arena.play", "vauban.web.thinking")
"""What workers have imported before they start."""

TRIES = 50
"""How often a setup is drawn, at most, until nothing about it is odd."""
WORSE, BETTER, QUIET = -0.1, 0.1, 40
"""A draw is taken below the first value, and up to the second after so many plies without a battle."""
REASONS = {"own": ("less", "even", "more", "play"), "counted": ("weaker", "quiet", "stronger", "play")}
"""Why a draw is taken (the first two) or not, by whether the agent judges itself or armies were counted."""


def thinkers(workers: int, queue: int = QUEUE, warm_ups: Sequence[Task[Any]] = ()) -> Pool:
    """Make a pool of processes in which agents think."""
    return Pool(workers, MODULES, queue, warm_ups)


@dataclass(frozen=True)
class ChooseSetup:
    """An agent's own setup, as text."""

    agent: str
    seed: int
    variant: str
    player: int

    def run(self, tell: Tell) -> str:
        from vauban.agents import make_agent
        from vauban.agents.base import set_up

        game = Stratego(self.variant)
        agent = make_agent(self.agent, self.seed)
        return setup_text(set_up(agent, game, self.player, random.Random(f"{self.seed} setup")), game.variant)


@dataclass(frozen=True)
class DrawHidden:
    """One way the hidden pieces of a view may be: by square, their types."""

    view: View
    seed: int

    def run(self, tell: Tell) -> dict[int, int]:
        from vauban.agents.stratego.belief import PriorBelief

        return PriorBelief(self.view.variant).sample(self.view, self.seed)


@dataclass(frozen=True)
class ChooseMove:
    """An agent's move, as the squares it goes from and to; None: it resigns."""

    agent: str
    seed: int
    view: View

    def run(self, tell: Tell) -> tuple[int, int] | None:
        from vauban.agents import make_agent
        from vauban.agents.base import choose_move, close

        agent = make_agent(self.agent, self.seed)
        try:
            move = choose_move(agent, self.view)
        finally:
            close(agent)
        return None if move is None else (int(move[0]), int(move[1]))


@dataclass(frozen=True)
class WeighDraw:
    """Whether an agent takes a draw, and why, in a word: `REASONS`.

    An agent that can judge its game says what it expects, a searching one after a search; for one that cannot, the
    armies are counted. `view` is of the agent's last turn, where it had to judge.
    """

    agent: str
    seed: int
    view: View

    def run(self, tell: Tell) -> tuple[bool, str]:
        value, own = _foresight(self.agent, self.seed, self.view)
        worse, even, better, play_left = REASONS["own" if own else "counted"]
        if value < WORSE:
            return True, worse
        if value > BETTER:
            return False, better
        return (True, even) if self.view.battleless >= QUIET else (False, play_left)


def _foresight(text: str, seed: int, view: View) -> tuple[float, bool]:
    """What an agent thinks its game is worth, −1 to 1, and whether that is its own opinion or a count of the armies."""
    from vauban.agents import make_agent
    from vauban.agents.base import Judge

    agent = make_agent(text, seed)
    if isinstance(agent, Judge) and view.turn == view.player:
        return float(agent.judge(view.snapshot())[0]), True
    army = sum(WORTH[kind] * count for kind, count in enumerate(view.variant.army) if kind != FLAG)
    left = [army - sum(WORTH[kind] for kind in view.captured(player)) for player in (view.player, 1 - view.player)]
    return (left[0] - left[1]) / max(sum(left), 1e-9), False


@dataclass(frozen=True)
class ReviewGame:
    """Everything there is to say about a finished game (`vauban.search.review`), as JSON."""

    record: str
    """The game in our notation."""
    agent: str | None
    """Whose network looks back; None: nobody's."""

    def run(self, tell: Tell) -> dict[str, Any]:
        from vauban.agents import make_agent
        from vauban.agents.net import ModelAgent
        from vauban.notation.records import read_games
        from vauban.search.review import SEARCHED, review
        from vauban.search.search import Search

        [game] = read_games(self.record)
        assert game.board is not None
        agent = None if self.agent is None else make_agent(self.agent)
        model = agent.model if isinstance(agent, ModelAgent) else None
        search = None if model is None else Search.of_model(model, SEARCHED)
        return review(game.board, model, search=search, ended=game.outcome, progress=tell).to_json()


@dataclass(frozen=True)
class WarmUp:
    """Have an agent and its kernels compiled and loaded, so that no game has to wait for it."""

    agent: str
    variant: str

    def run(self, tell: Tell) -> None:
        ChooseSetup(self.agent, 0, self.variant, 0).run(tell)
        ChooseMove(self.agent, 0, Board.random(self.variant, 0).view(0)).run(tell)


def draw_setup(sampler: str, seed: int, variant_name: str) -> str:
    """Draw a setup from a sampler (`vauban.agents.stratego.setups`), as text; this is quick, so no worker does it."""
    from vauban.agents.stratego.setups import make_sampler

    variant, rng = VARIANTS[variant_name], random.Random(seed)
    sample = make_sampler(sampler, variant)
    # People sometimes leave their Flag in the open. Whoever is shown a setup should not lose by it at once.
    for _ in range(TRIES):
        setup = sample(rng)
        if not oddities(setup, variant):
            break
    return setup_text(setup, variant)
