"""How long a run will take: a few batches, played and trained on before it begins, with nothing learned from them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from vauban.learn.ataraxos.collect import Collector
from vauban.learn.run import Run
from vauban.nets.actor import Actor

ROWS = 4
"""Plies of all games that are played to measure."""
REPEATS = 3
"""How often something is measured, after a first time that compiles;"""
ENOUGH = 10.0
"""less often, when it has taken so many seconds already."""


@dataclass(frozen=True)
class Estimate:
    """What an iteration takes, of all workers together."""

    seconds: dict[str, float]
    """By part of the loop, as in the metrics."""
    moves: int
    """Played in an iteration."""
    gigabytes: float
    """Most memory of the GPU in use; 0 on a CPU."""
    compiling: float = 0.0
    """Seconds that it took to have everything compiled."""

    @property
    def iteration(self) -> float:
        """Seconds of an iteration."""
        return sum(self.seconds.values())


def estimate(run: Run) -> Estimate:
    """Measure a run that is about to begin or to go on; its games, networks and random numbers stay as they are."""
    config, device = run.config, run.device
    rows = config.moves.length - run.collector.carried
    # Games of its own, as many, so that those of the run stay where they are.
    games = Collector(run.game, config.moves.games, run.collector.carried + ROWS, device, config.seed)
    clock = _Clock(device)
    actor = Actor(run.move.working, games.sim, run.forward)
    collect = clock.time(lambda: games.collect(actor)) / ROWS
    train = clock.time(run.move_learner.rehearse)
    batches = math.ceil((1 - config.moves.quantile) * rows * config.moves.games / config.moves.batch)
    seconds = {"setups": 0.0, "collect": rows * collect, "moves": batches * train, "setup_training": 0.0}
    if run.setup and run.setup_learner:
        count = 2 * config.setups.per_player * run.workers.count
        network = run.setup.working
        drawn = network.draw(count, np.random.default_rng(0)).pieces
        seconds["setups"] = clock.time(lambda: network.draw(count, np.random.default_rng(0)))
        batch = drawn[: config.setups.batch]

        def learn_setups() -> None:
            heads = network(batch)
            torch.autograd.backward(sum(each.float().nan_to_num(neginf=0.0).sum() for each in heads))
            network.zero_grad()

        # As many setups are taken to have had a game that ended as are drawn.
        steps = config.setups.epochs * math.ceil(len(drawn) / run.workers.count / config.setups.batch)
        seconds["setup_training"] = steps * clock.time(learn_setups)
    gigabytes = torch.cuda.max_memory_allocated(device) / 2**30 if device.type == "cuda" else 0.0
    return Estimate(seconds, rows * config.moves.games * run.workers.count, gigabytes, clock.compiling)


class _Clock:
    """Measures pieces of work."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.compiling = 0.0
        """Seconds by which first times have been longer than those after them, in all."""

    def time(self, work: Callable[[], Any]) -> float:
        """Seconds of some work, the shortest of several times; the first time, which compiles, does not count."""
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
