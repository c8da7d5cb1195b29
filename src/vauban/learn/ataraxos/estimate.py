"""An estimate of a run's time: plays and trains a few batches before it begins, and learns nothing from them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from vauban.learn.ataraxos.collect import Collector
from vauban.learn.base import Estimate
from vauban.nets.actor import Actor

if TYPE_CHECKING:
    from vauban.learn.ataraxos.learner import Ataraxos

ROWS = 4
"""Plies of all games that are played to measure."""
REPEATS = 3
"""Measurements of a piece of work, after a first one that compiles;"""
ENOUGH = 10.0
"""less often, when it has taken so many seconds already."""


def estimate(learner: Ataraxos) -> Estimate:
    """Measure a learner that is about to begin or to go on; games, networks and random numbers stay as they are."""
    config, device, workers = learner.settings, learner.device, learner.workers
    carried = learner.collector.carried
    rows = config.moves.length - carried
    # Games of its own, as many, so that those of the run stay where they are.
    games = Collector(learner.game, config.moves.games, carried + ROWS, device, learner.place.seed)
    clock = _Clock(device)
    actor = Actor(learner.move.working, games.sim, learner.forward)
    collect = clock.time(lambda: games.collect(actor)) / ROWS
    train = clock.time(learner.move_learner.rehearse)
    batches = math.ceil((1 - config.moves.quantile) * rows * config.moves.games / config.moves.batch)
    seconds = {"playing": rows * collect, "learning moves": batches * train}
    if learner.setup:
        count = 2 * config.setups.per_player * workers.count
        network = learner.setup.working
        drawn = network.draw(count, np.random.default_rng(0)).pieces
        seconds["drawing setups"] = clock.time(lambda: network.draw(count, np.random.default_rng(0)))
        batch = drawn[: config.setups.batch]

        def learn_setups() -> None:
            heads = network(batch)
            torch.autograd.backward(sum(each.float().nan_to_num(neginf=0.0).sum() for each in heads))
            network.zero_grad()

        # As many setups are taken to have had a game that ended as are drawn.
        steps = config.setups.epochs * math.ceil(len(drawn) / workers.count / config.setups.batch)
        seconds["learning setups"] = steps * clock.time(learn_setups)
    gigabytes = torch.cuda.max_memory_allocated(device) / 2**30 if device.type == "cuda" else 0.0
    return Estimate(seconds, rows * config.moves.games * workers.count, gigabytes, clock.compiling)


class _Clock:
    """Measures pieces of work."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.compiling = 0.0
        """Seconds by which first times have been longer than those after them, in all."""

    def time(self, work: Callable[[], Any]) -> float:
        """Return the seconds of some work, the shortest of several times but the first, which compiles."""
        seconds: list[float] = []
        while len(seconds) < 2 or (len(seconds) <= REPEATS and sum(seconds) < ENOUGH):
            begun = time.perf_counter()
            work()
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)
            seconds.append(time.perf_counter() - begun)
        usual = min(seconds[1:])
        self.compiling += max(0.0, seconds[0] - usual)
        return usual
