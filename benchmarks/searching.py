"""Time of a search with networks of a given size, untrained: a line of JSON.

    python benchmarks/searching.py --device cuda                      # the paper's networks, 1,000 rollouts × 40
    python benchmarks/searching.py --device cpu --width 192 --depth 4 --rollouts 200 --plies 10

Plays a game at random and searches a position every few plies; the median of all but the first two, which compile.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time

import numpy as np
import torch

from vauban.games.base import game
from vauban.nets.belief import BeliefNetwork
from vauban.nets.move import MoveNetwork
from vauban.nets.transformer import Size
from vauban.search.search import Search, SearchConfig
from vauban.sim.simulator import Simulator

EVERY = 7
"""Plies between two searches: odd, so that both players search."""
WARM_UP = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--game", default="classic")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--belief-width", type=int, default=512)
    parser.add_argument("--belief-depth", type=int, default=6)
    parser.add_argument("--rollouts", type=int, default=1000)
    parser.add_argument("--plies", type=int, default=40)
    parser.add_argument("--searches", type=int, default=10)
    asked = parser.parse_args()
    played = game(asked.game)
    torch.manual_seed(1)
    network = MoveNetwork(played, Size(asked.depth, asked.width, asked.heads))
    belief = BeliefNetwork(played, Size(asked.belief_depth, asked.belief_width, 8), asked.belief_depth)
    config = SearchConfig(rollouts=asked.rollouts, depth=asked.plies)
    search = Search(network, belief, config, asked.device)
    sim = Simulator(played, 1, seed=1)
    seconds = []
    for number in range(WARM_UP + asked.searches):
        sim.play_random(EVERY)
        begun = time.perf_counter()
        search.analyse(sim.views(int(sim.players[0])), np.array([number], np.uint64))
        seconds.append(time.perf_counter() - begun)
        print(f"{seconds[-1]:.3f} s", file=sys.stderr, flush=True)
    told = vars(asked) | {
        "median_seconds": statistics.median(seconds[WARM_UP:]),
        "most_seconds": max(seconds[WARM_UP:]),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
