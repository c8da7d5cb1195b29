"""Deep CFR on a CPU, by the processor's time, one thread: beside OpenSpiel's, and a minibatch as published.

    pip install -r benchmarks/requirements-peers.txt
    python benchmarks/deep_cfr.py leduc --seconds 60
    python benchmarks/deep_cfr.py minibatch

`leduc` tells the NashConv of both in Leduc poker. Ours is the preset deep-cfr-leduc, with outcome sampling. OpenSpiel's
samples externally; its networks and the steps of its trainings are settings below. Both are measured after each quarter
of the seconds, as soon as an iteration ends; measuring is not counted. `minibatch` trains a value network for Geister
as published. One line of JSON for each figure.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from vauban.agents import make_agent
from vauban.agents.net import NetAgent
from vauban.agents.tables import tabulated
from vauban.learn.config import load_config
from vauban.learn.deep_cfr.learner import DeepCFR
from vauban.learn.run import Run
from vauban.solve import build_tree, evaluate

QUARTERS = 4
ROUNDS, MINIBATCHES = 3, 45
OPENSPIEL = {
    "policy_network_layers": (64, 64), "advantage_network_layers": (64, 64), "num_traversals": 200,
    "learning_rate": 1e-3, "batch_size_advantage": 2048, "batch_size_strategy": 2048,
    "policy_network_train_steps": 500, "advantage_network_train_steps": 200, "memory_capacity": 1_000_000,
}  # fmt: skip
"""Of OpenSpiel's solver, on top of its defaults."""
AT_ONCE = 5
"""Iterations of OpenSpiel's solver before its policy network is trained."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("leduc", "minibatch"))
    parser.add_argument("--seconds", type=float, default=60.0, help="of the processor, for each")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        if asked.what == "minibatch":
            measure_minibatches(Path(folder), asked.seed)
            return
        measure("Vauban", ours(asked.seed, Path(folder)), asked.seconds)
    measure(f"OpenSpiel {version('open_spiel')}", theirs(asked.seed), asked.seconds)


def measure(name: str, steps: Iterator[Callable[[], dict[str, float]]], seconds: float) -> None:
    """Tell how far a solver is after each quarter of the seconds.

    steps: give what measures it, when it is ready and then after each step.
    """
    worked, passed, quarter = 0.0, 0.0, 1
    next(steps)
    while quarter <= QUARTERS:
        processor, clock = time.process_time(), time.perf_counter()
        judge = next(steps)
        worked += time.process_time() - processor
        passed += time.perf_counter() - clock
        if worked >= quarter * seconds / QUARTERS:
            quarter = int(worked * QUARTERS / seconds) + 1
            line = {"solver": name, "processor_seconds": round(worked, 1), "seconds": round(passed, 1), **judge()}
            print(json.dumps(line), flush=True)


def measure_minibatches(folder: Path, seed: int) -> None:
    """Tell how long a minibatch of a value network takes, observations included: a few times."""
    changes = [f"seed={seed}", "evaluation.every=0", "deep_cfr.batches=1"]
    run = Run.begin(load_config("deep-cfr-geister", changes), folder / "run")
    run.iterate()
    assert isinstance(run.first, DeepCFR)
    regression = run.first.regressions["first"]
    for number in range(ROUNDS + 1):
        processor = time.process_time()
        regression.learn(MINIBATCHES, 1.0, torch.Generator().manual_seed(seed))
        each = (time.process_time() - processor) / MINIBATCHES
        if number:  # in the first one something may be compiled
            print(json.dumps({"minibatch_of": regression.batch, "milliseconds": round(1000 * each, 1)}), flush=True)


def ours(seed: int, folder: Path) -> Iterator[Callable[[], dict[str, float]]]:
    """Go on by iterations of the preset, once everything is compiled; the networks that are drawn play."""
    changes = [f"seed={seed}", "evaluation.every=0", "iterations=0", "deep_cfr.strategy_every=0"]
    Run.begin(load_config("deep-cfr-leduc", changes), folder / "first").iterate()  # which compiles
    run = Run.begin(load_config("deep-cfr-leduc", changes), folder / "run")
    tree = build_tree("leduc")

    def judge() -> dict[str, float]:
        run.save_model(folder / "model")
        agent = make_agent(f"net:{folder / 'model'},plays=drawn")
        assert isinstance(agent, NetAgent)
        return {"iterations": run.iteration, "nash_conv": round(evaluate(tree, tabulated(tree, agent)).nash_conv, 4)}

    yield judge
    while True:
        run.iterate()
        yield judge


def theirs(seed: int) -> Iterator[Callable[[], dict[str, float]]]:
    """Go on by a few iterations of OpenSpiel's solver, each time with a training of its policy network."""
    import pyspiel
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver

    np.random.seed(seed)
    leduc = pyspiel.load_game("leduc_poker")
    solver = DeepCFRSolver(leduc, num_iterations=AT_ONCE, seed=seed, **OPENSPIEL)
    iterations = 0

    def judge() -> dict[str, float]:
        average = policy.tabular_policy_from_callable(leduc, solver.action_probabilities)
        return {"iterations": iterations, "nash_conv": round(exploitability.nash_conv(leduc, average), 4)}

    yield judge
    while True:
        solver.solve()
        iterations += AT_ONCE
        yield judge


if __name__ == "__main__":
    main()
