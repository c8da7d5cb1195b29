"""`population`: one policy of a population plays each game, drawn from the meta-Nash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vauban.agents.base import Actions, Agent, Floats, GivesPolicy, Seeds, drawn_policies
from vauban.agents.net import NetAgent
from vauban.agents.options import option, options_text
from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    from vauban.games.base import Game
    from vauban.nets.policy import PolicyNetwork
    from vauban.sim.store import Snapshot

LEAST = 1e-4
"""Policies with this chance or less are never drawn: fictitious play leaves a little on every one."""


@dataclass(frozen=True)
class PopulationOptions:
    """Draws a policy of a population for each game, as often as its meta-Nash says: population:RUN.

    The policy stays for the whole game; which one it is depends on the game's seed and the player alone.
    """

    run: str = option("", "the folder of a run that trained a population, or of a population", leading=True)
    device: str = option("cpu", "where its networks run: cpu or cuda")


class PopulationAgent:
    """Draws a policy of a population for each game."""

    def __init__(self, options: PopulationOptions, seed: int, make: Callable[[str, int], Agent]) -> None:
        """make: makes the agent of a policy, from a text and a seed."""
        from vauban.learn.population import read_population

        if not options.run:
            raise ConfigurationError("the agent 'population' needs a run: write population:RUN, with its folder")
        self.name = f"population:{options_text(options)}"
        self.options, self.seed = options, seed
        self.population = read_population(Path(options.run))
        there = [(text, chance) for text, chance in zip(self.population.agents, self.population.chances, strict=True)
                 if chance > LEAST]  # fmt: skip
        self._texts = [_on(options.device, text) for text, _ in there]
        self._chances = [chance / sum(each for _, each in there) for _, chance in there]
        self._make = cache(lambda number: make(self._texts[number], seed))

    def check_plays(self, game: Game) -> None:
        """Refuse a game that the population was not trained for."""
        from vauban.agents.base import check_plays

        own = self.population.game
        if not own.same_board(game):
            raise ConfigurationError(f"{self.name!r} is a population of {own.name!r}, and does not play {game.name!r}")
        check_plays(self._make(0), game)

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        assert views.viewer is not None
        actions = np.empty(len(views), np.int64)
        drawn = drawn_policies(self._chances, views, seeds)
        for number in np.unique(drawn):
            rows = np.flatnonzero(drawn == number)
            actions[rows] = self._make(int(number)).choose(views[rows], np.asarray(seeds)[rows])
        return actions

    def policy(self, views: Snapshot) -> Floats:
        if len(self._chances) > 1:
            raise ConfigurationError(
                f"the agent {self.name!r} draws a policy for a whole game, so a single position does not tell with "
                "what probabilities it moves: take one of its policies"
            )
        return self.policy_of(views, 0)

    def chances(self, player: int) -> list[float]:
        """Return how often each policy is drawn, the same for both players."""
        return self._chances

    def networks(self, game: Game) -> list[PolicyNetwork] | None:
        """Return the networks of the policies that are drawn, where each plays by nothing else; else None."""
        agents = [self._make(number) for number in range(len(self._chances))]
        found = [agent.plainly(game) if isinstance(agent, NetAgent) else None for agent in agents]
        plain = [each[0] for each in found if each is not None and each[1] == 1.0]
        return plain if len(plain) == len(agents) else None

    def policy_of(self, views: Snapshot, number: int) -> Floats:
        """Return the policy of one of those that are drawn, as `policy` has it."""
        agent = self._make(number)
        if not isinstance(agent, GivesPolicy):
            raise ConfigurationError(f"{self._texts[number]!r} does not say with what probabilities it plays")
        return agent.policy(views)


def _on(device: str, text: str) -> str:
    """Return the agent of a policy, on a device if it is a network's."""
    return f"{text},device={device}" if device != "cpu" and text.startswith(f"{NetAgent.kind}:") else text
