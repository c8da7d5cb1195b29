"""Compare the speed of two versions of the code by turns, on one machine: a line of JSON for each part.

    git worktree add build/old d9f7f4c
    python benchmarks/turns.py build/old/src sim mask observe            # one thread of the CPU
    python benchmarks/turns.py build/old/src sim training search --device cuda

Three processes are kept: the old version, the new one, and the new one once more, which shows how far equal code
differs. They measure one after the other, nine times; a ratio is the median of the new rates over that of the old.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# ── Parts that a process measures ────────────────────────────────────────────────────────────────


def simulator(device: str, variant: str) -> Any:
    """Return a simulator of the usual number of games."""
    from vauban import bench
    from vauban.games.base import game

    return bench.make(game(variant), 131_072 if device == "cuda" else 1024, device, 1, True)


def sim(device: str) -> Callable[[], float]:
    """Measure random play, step by step: plies a second."""
    from vauban import bench

    made = simulator(device, "classic")
    return lambda: bench.bench_sim(made, 0.5)


def sim_barrage(device: str) -> Callable[[], float]:
    """Measure the same in barrage."""
    from vauban import bench

    made = simulator(device, "barrage")
    return lambda: bench.bench_sim(made, 0.5)


def rollout(device: str) -> Callable[[], float]:
    """Measure random play, many plies in a call."""
    from vauban import bench

    made = simulator(device, "classic")
    return lambda: bench.bench_rollout(made, 0.5)


def mask(device: str) -> Callable[[], float]:
    """Measure masks of legal actions a second."""
    from vauban import bench

    made = simulator(device, "classic")
    return lambda: bench.bench_mask(made, 0.5)


def observe(device: str) -> Callable[[], float]:
    """Measure observations a second."""
    import torch

    from vauban import bench
    from vauban.games.base import game

    made = bench.make(game("classic"), 65_536 if device == "cuda" else 1024, device, 1, True)
    return lambda: bench.bench_observe(made, 0.5, "ataraxos", torch.bfloat16, "squares")


def training(device: str) -> Callable[[], float]:
    """Measure moves a second through the whole loop of training: the paper's network on a GPU, a small one on a CPU."""
    from vauban.learn.config import load_config, presets
    from vauban.learn.run import Run

    named = "ataraxos-paper" in presets()  # presets and tables had other names at d9f7f4c
    preset = ("ataraxos-" if named else "") + ("paper" if device == "cuda" else "micro")
    settings = ["moves.magnitude=0"] if device == "cuda" else ["moves.games=256", "moves.length=16"]
    changed = [("ataraxos." if named else "") + setting for setting in settings]
    folder = tempfile.mkdtemp()
    run = Run.begin(load_config(preset, changed), Path(folder) / "run", device)
    for _ in range(2):
        run.iterate()
    return lambda: run.iterate()["speed.moves_per_second"]


def search(device: str) -> Callable[[], float]:
    """Measure searches a second: the paper's networks, 1,000 rollouts of 40 plies on a GPU, 100 of 4 on a CPU."""
    import time

    import numpy as np
    import torch

    from vauban.games.base import game
    from vauban.nets.belief import BeliefNetwork
    from vauban.nets.move import MoveNetwork
    from vauban.nets.transformer import Size
    from vauban.search.search import Search, SearchConfig
    from vauban.sim.simulator import Simulator

    played: Any = game("classic" if device == "cuda" else "barrage")
    torch.manual_seed(1)
    if device == "cuda":
        network, belief = MoveNetwork(played, Size(8, 384, 8)), BeliefNetwork(played, Size(6, 512, 8), 6)
        config = SearchConfig(rollouts=1000, depth=40)
    else:
        network, belief = MoveNetwork(played, Size(2, 64, 4)), BeliefNetwork(played, Size(2, 64, 4), 1)
        config = SearchConfig(rollouts=100, depth=4)
    made = Search(network, belief, config, device)
    positions, number = Simulator(played, 1, seed=1), iter(range(10**6))

    def once() -> float:
        positions.play_random(7)
        begun = time.perf_counter()
        made.analyse(positions.views(int(positions.players[0])), np.array([next(number)], np.uint64))
        return 1 / (time.perf_counter() - begun)

    for _ in range(2):
        once()
    return once


PARTS = {each.__name__: each for each in (sim, sim_barrage, rollout, mask, observe, training, search)}


def serve(part: str, device: str) -> None:
    """Measure once for every line that is read."""
    import torch

    torch.set_num_threads(1 if device == "cpu" else torch.get_num_threads())
    measure = PARTS[part](device)
    measure()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(measure(), flush=True)


# ── By turns ─────────────────────────────────────────────────────────────────────────────────────


class Worker:
    """A process that measures one version."""

    def __init__(self, source: Path, part: str, device: str) -> None:
        path = os.pathsep.join(filter(None, [str(source.resolve()), os.environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", part, "--device", device],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip

    def line(self) -> str:
        """Return the next line of the process."""
        assert self.process.stdout is not None
        said = self.process.stdout.readline().strip()
        if not said:
            raise SystemExit(f"a process ended: {self.process.args}")
        return said

    def measure(self) -> float:
        """Return one more rate."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.line())

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def compare(old: Path, new: Path, part: str, device: str, turns: int) -> dict[str, Any]:
    """Measure a part by turns."""
    workers = [Worker(source, part, device) for source in (old, new, new)]
    for worker in workers:
        assert worker.line() == "ready"
    rates = [[worker.measure() for worker in workers] for _ in range(turns)]
    for worker in workers:
        worker.close()
    before, after, again = (statistics.median(column) for column in zip(*rates, strict=True))
    return {
        "part": part, "device": device, "turns": turns, "old": round(before, 3), "new": round(after, 3),
        "ratio": round(after / before, 4), "equal_code": round(again / after, 4),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?", type=Path, help="the src folder of the old version")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--new", type=Path, default=Path(__file__).parents[1] / "src")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve, asked.device)
        return
    for part in asked.parts or PARTS:
        print(json.dumps(compare(asked.old, asked.new, part, asked.device, asked.turns)), flush=True)


if __name__ == "__main__":
    main()
