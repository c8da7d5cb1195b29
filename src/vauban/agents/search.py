"""`search`: a trained network that searches before it moves (`vauban.search`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vauban.agents.net import ModelAgent
from vauban.agents.options import option
from vauban.board.stratego import View
from vauban.games.randomness import SEARCHED_MOVE
from vauban.games.stratego.game import Stratego

if TYPE_CHECKING:
    from vauban.nets.store import Model
    from vauban.search.analysis import Analysis
    from vauban.search.search import Search
    from vauban.sim.store import Snapshot


TOLD = 64
"""So many configurations at least an analysis tells the belief by."""


@dataclass(frozen=True)
class SearchOptions:
    """Plays by a trained network that searches: search:MODEL.

    Every legal move is tried in positions drawn from the model's belief about the hidden pieces, and played on by the
    network for both sides; the network's policy is then moved towards what did well (Ataraxos, section D.7). With a
    time, depth is cut first, then the number of positions, then the least likely moves (docs/search.md).
    """

    model: str = option("", "a model: the name of a shipped one, or a folder such as runs/mine", leading=True)
    rollouts: int = option(1000, "games played on for a move")
    depth: int = option(40, "plies in each of them, an even number")
    time: float = option(1.0, "seconds a move; 0: no limit, which is for a GPU")
    alpha: float = option(0.002, "pull towards any move of any piece")
    beta: float = option(0.02, "pull towards the network's policy; the larger, the more it plays like net")
    configurations: int = option(0, "positions drawn from the belief at most; 0: as many as fit the rollouts")
    device: str = option("cpu", "where it runs: cpu or cuda")
    setups: str = option("own", "how it sets up: own (as it learned), human, uniform, list:FILE, …")


class SearchAgent(ModelAgent):
    """Plays by a trained network that searches."""

    kind = "search"
    options_kind = SearchOptions

    def __init__(self, options: SearchOptions, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.search = _searching(options, self.model)

    def choose_actions(self, views: Snapshot, seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        from vauban.search.opinion import pick, uniforms

        self.model.check_plays(views.game)
        chances = uniforms(views, seeds, SEARCHED_MOVE)
        found = self.search.analyse(views, seeds)
        places = [int(pick(each.policy[None], chances[row : row + 1])[0]) for row, each in enumerate(found)]
        return np.array([each.actions[place] for each, place in zip(found, places, strict=True)], np.int64)

    def judge(self, view: View) -> float:
        """What the game is worth, if it plays by the policy of its search (`Judge`)."""
        return self._analyse(view.snapshot()).value

    def policies(self, views: Snapshot, actions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        self.model.check_plays(views.game)
        found = np.zeros(actions.shape)
        for row, each in enumerate(self.search.analyse(views, [self.seed % 2**64] * len(views))):
            found[row, : len(each.policy)] = each.policy
        return found

    def probabilities(self, view: Snapshot) -> npt.NDArray[np.float64]:
        return self._analyse(view).policy

    def analyse(self, view: View) -> Analysis:
        """What it finds out about a position before it moves.

        When time is short, rollouts begin in a few configurations only; so that the belief can be told all the same,
        more of them are drawn afterwards, in time of their own.
        """
        found = self._analyse(view.snapshot())
        if len(found.configurations) < TOLD:
            drawn = self.search.draw_configurations(found.view, self.seed % 2**64, TOLD)
            found = replace(found, configurations=drawn)
        return found

    def _analyse(self, view: Snapshot) -> Analysis:
        self.model.check_plays(view.game)
        [found] = self.search.analyse(view, [self.seed % 2**64])
        return found


@lru_cache(4)
def _searching(options: SearchOptions, model: Model) -> Search:
    """A search, made once for all agents with the same options; with a limit of time, its pace is known."""
    from vauban.search.search import Search, SearchConfig

    config = SearchConfig(
        options.rollouts, options.depth, options.alpha, options.beta, options.configurations, options.time
    )
    search = Search.of_model(model, config, options.device)
    if options.time:
        # Whatever rules it was trained by, it is usually asked to play by the variant's own.
        game = Stratego(model.game.variant) if isinstance(model.game, Stratego) else model.game
        search.warm_up(game)
    return search
