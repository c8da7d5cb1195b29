"""`search`: a trained network that searches before it moves (`vauban.search`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from vauban.agents.base import Actions, Floats, Seeds
from vauban.agents.net import ModelAgent
from vauban.agents.options import option
from vauban.games.base import from_spec
from vauban.games.randomness import SEARCHED_MOVE

if TYPE_CHECKING:
    from vauban.board import View
    from vauban.nets.store import Model
    from vauban.search.analysis import Analysis
    from vauban.search.search import Search
    from vauban.sim.store import Snapshot


TOLD = 64
"""Fewest samples that a reported belief is based on."""


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
    moves: int = option(0, "moves tried at most, the network's likeliest; 0: all legal ones")
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

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        from vauban.search.opinion import pick, uniforms

        chances = uniforms(views, seeds, SEARCHED_MOVE)
        found = self._analyse(views, seeds)
        places = [int(pick(each.policy[None], chances[row : row + 1])[0]) for row, each in enumerate(found)]
        return np.array([each.actions[place] for each, place in zip(found, places, strict=True)], np.int64)

    def policy(self, views: Snapshot) -> Floats:
        """Return the policies of its searches."""
        rows = np.zeros((len(views), views.game.max_legal))
        for row, each in zip(rows, self._analyse(views), strict=True):
            row[: len(each.policy)] = each.policy
        return rows

    def judge(self, views: Snapshot) -> Floats:
        """Estimate each game's worth if the agent plays by the policies of its searches."""
        return np.array([each.value for each in self._analyse(views)])

    def analyse(self, view: View) -> Analysis:
        """Search a position, and return the analysis.

        When time is short, rollouts begin in a few configurations only; so that the belief can be told all the same,
        more of them are drawn afterwards, in time of their own.
        """
        [found] = self._analyse(view.snapshot())
        if len(found.configurations) < TOLD:
            drawn = self.search.draw_configurations(found.view, self.seed % 2**64, TOLD)
            found = replace(found, configurations=drawn)
        return found

    def _analyse(self, views: Snapshot, seeds: Seeds | None = None) -> list[Analysis]:
        self.model.check_plays(views.game)
        return self.search.analyse(views, [self.seed % 2**64] * len(views) if seeds is None else seeds)


@lru_cache(4)
def _searching(options: SearchOptions, model: Model) -> Search:
    """Return a search, made once for all agents with the same options; with a limit of time, its pace is known."""
    from vauban.search.search import Search, SearchConfig

    config = SearchConfig(
        options.rollouts,
        options.depth,
        options.alpha,
        options.beta,
        options.configurations,
        options.time,
        options.moves,
    )
    search = Search.of_model(model, config, options.device)
    if options.time:
        # Whatever rules it was trained by, it is usually asked to play by the game's own.
        search.warm_up(from_spec({"game": model.game.definition()}))
    return search
