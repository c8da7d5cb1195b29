"""Speed of the simulator: the measurements behind `vauban bench`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from vauban.games.base import Game
from vauban.sim.simulator import Simulator

REPEATS = 7
"""Runs behind each figure, which is their median."""
WARM_UP_PLIES = 400
"""Plies that games are played on before measuring: early positions have fewer moves, and all games would end
together."""

DEFAULT_GAMES = {"cpu": 4096, "cuda": 131072}


def bench_sim(simulator: Simulator, seconds: float) -> float:
    """Measure plies per second of uniformly random play: choosing a legal move and playing it, one step at a time."""
    actions = simulator.sample()
    for _ in range(WARM_UP_PLIES):
        simulator.sample(actions)
        simulator.step(actions, check=False)

    def ply() -> None:
        simulator.sample(actions)
        simulator.step(actions, check=False)

    return simulator.n * _rate(simulator, ply, seconds)


def bench_rollout(simulator: Simulator, seconds: float) -> float:
    """Measure plies per second of random play without a look at the games: 100 plies in one call."""
    simulator.play_random(WARM_UP_PLIES)
    return simulator.n * 100 * _rate(simulator, lambda: simulator.play_random(100), seconds)


def bench_mask(simulator: Simulator, seconds: float) -> float:
    """Measure masks of legal actions per second."""
    simulator.play_random(WARM_UP_PLIES)
    out = simulator.legal_mask()
    return simulator.n * _rate(simulator, lambda: simulator.legal_mask(out), seconds)


def bench_observe(simulator: Simulator, seconds: float, name: str, dtype: torch.dtype, layout: str) -> float:
    """Measure observations per second, written into one tensor."""
    simulator.play_random(WARM_UP_PLIES)
    out = simulator.observe(name, dtype=dtype, layout=layout)
    return simulator.n * _rate(simulator, lambda: simulator.observe(name, out, layout=layout), seconds)


def make(game: Game, n: int, device: str, threads: int | None, tracks: bool) -> Simulator:
    """Return the simulator to be measured."""
    return Simulator(game, n, device, seed=1, tracks=tracks, threads=threads)


def _rate(simulator: Simulator, work: Callable[[], Any], seconds: float) -> float:
    """Measure how often `work` is done in a second: on a GPU replayed from a graph, and timed there."""
    timed = _timed_cuda(work) if simulator.device.type == "cuda" else _timed_cpu(work)
    once = timed(3) / 3
    count = max(3, int(seconds / REPEATS / once))
    return statistics.median(count / timed(count) for _ in range(REPEATS))


def _timed_cpu(work: Callable[[], Any]) -> Callable[[int], float]:
    def timed(count: int) -> float:
        begun = time.perf_counter()
        for _ in range(count):
            work()
        return time.perf_counter() - begun

    return timed


def _timed_cuda(work: Callable[[], Any]) -> Callable[[int], float]:
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]

    def timed(count: int) -> float:
        begun.record()
        for _ in range(count):
            graph.replay()
        ended.record()
        torch.cuda.synchronize()
        return float(begun.elapsed_time(ended)) / 1000

    return timed
