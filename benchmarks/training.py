"""Speed of the whole training loop, and the time of its parts: a line of JSON.

    python benchmarks/training.py ataraxos-paper --device cuda
    python benchmarks/training.py ataraxos-paper --device cuda --set ataraxos.move_network.width=256

Runs some iterations of a preset, setups and filter and everything on, and takes the median of all but the first two
(they compile). `seconds` are those of an iteration, by part of the loop; `trained` is the share of the positions that
pass the filter.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from vauban.learn.ataraxos.learner import Ataraxos
from vauban.learn.config import load_config
from vauban.learn.run import Run

WARM_UP = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--iterations", type=int, default=5, help="measured, besides the first two")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the configuration")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Run.begin(load_config(asked.preset, asked.set), Path(folder) / "run", asked.device)
        lines = []
        for _ in range(WARM_UP + asked.iterations):
            lines.append(run.iterate())
            parts = ", ".join(f"{name} {value:.2f} s" for name, value in seconds(lines[-1]).items())
            told = f"{lines[-1]['speed.moves_per_second']:,.0f} moves/s, {lines[-1]['moves.kept']:.0%} trained: {parts}"
            print(told, file=sys.stderr, flush=True)
        print(json.dumps(measured(run, lines[WARM_UP:])))


def seconds(line: dict[str, float]) -> dict[str, float]:
    """Return the seconds of the parts of an iteration."""
    return {name.removeprefix("seconds."): value for name, value in line.items() if name.startswith("seconds.")}


def measured(run: Run, lines: list[dict[str, float]]) -> dict[str, Any]:
    """Return the figures to print."""
    parts = {name: statistics.median(seconds(line)[name] for line in lines) for name in seconds(lines[0])}
    trained = statistics.median(line["moves.kept"] for line in lines)
    learner = run.first
    assert isinstance(learner, Ataraxos)
    moves = learner.settings.moves
    told: dict[str, Any] = {
        "preset": run.config.about,
        "device": torch.cuda.get_device_name() if run.device.type == "cuda" else "cpu",
        "parameters": sum(parameter.numel() for parameter in learner.move.network.parameters()),
        "games": moves.games,
        "batch": moves.batch,
        "moves_per_second": statistics.median(line["speed.moves_per_second"] for line in lines),
        "trained": trained,
        "seconds": parts,
    }
    if run.device.type == "cuda":
        told["gigabytes"] = torch.cuda.max_memory_allocated() / 2**30
    return told


if __name__ == "__main__":
    main()
