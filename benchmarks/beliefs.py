"""Quality of a model's belief about hidden pieces, by the kind of setups: a line of JSON for each.

    python benchmarks/beliefs.py barrage
    python benchmarks/beliefs.py classic --device cuda --games 512

Its own policy plays both sides, from setups of its own, as people set up, and uniform ones. In nats for each hidden
piece, beside what follows from the rules alone: the marginals of the observation, and the uniform posterior.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random

import numpy as np
import torch

from vauban.agents.setups import make_sampler
from vauban.learn.ataraxos.belief import BeliefConfig, Scores, score
from vauban.learn.ataraxos.positions import PositionStream
from vauban.nets.belief import BeliefNetwork
from vauban.nets.setup import SetupNetwork
from vauban.nets.store import Model, load_model
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

OWN = "own"
TAKINGS = 16
"""Positions of each game that are measured."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a shipped model or a folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--games", type=int, default=32, help="at once")
    parser.add_argument("--plies", type=int, default=200, help="before the first position that is measured on")
    parser.add_argument("--setups", type=int, default=500, help="for each player")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    model = load_model(asked.model, device=asked.device)
    for setups in (OWN, "human", "uniform"):
        found = measured(model, setups, asked)
        print(json.dumps({"model": asked.model, "setups": setups, **found._asdict()}), flush=True)


def measured(model: Model, setups: str, asked: argparse.Namespace) -> Scores:
    """Return the scores in games that begin from such setups."""
    game, belief = model.game, model.find(BeliefNetwork)
    assert belief is not None
    config = BeliefConfig(games=asked.games, pool=1, warmup=asked.plies, refresh=2**30)
    rng = np.random.default_rng(asked.seed)
    pools = drawn(model, setups, asked.setups, rng)
    sim = Simulator(game, asked.games, asked.device, seed=asked.seed, setups=pools)
    stream = PositionStream(sim, model.player, None, rng, config)
    positions = Snapshot.join(list(itertools.islice(stream, TAKINGS)))
    return score(belief, game, Simulator(game, len(positions), asked.device, seed=0), positions)


def drawn(model: Model, setups: str, count: int, rng: np.random.Generator) -> list[torch.Tensor]:
    """Return `count` setups for each player."""
    if setups == OWN:
        network = model.find(SetupNetwork)
        assert network is not None
        own = network.draw(2 * count, rng).setups
        return [own[0::2].contiguous(), own[1::2].contiguous()]
    sampler, dice = make_sampler(setups, model.game), random.Random(int(rng.integers(2**32)))
    return [torch.from_numpy(np.stack([sampler(dice) for _ in range(count)])) for _ in range(2)]


if __name__ == "__main__":
    main()
