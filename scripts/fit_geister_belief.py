"""Fits the weights of the belief of Geister's `mcts`, and writes src/vauban/agents/geister/belief.json.

    python scripts/fit_geister_belief.py                 (one minute on one core)

It plays games of Geister between agents that set up uniformly, each against each, and notes at some of the turns how
every hidden ghost has behaved (`vauban.agents.geister.belief.FEATURES`) and whether it is evil. The weights are those
of a logistic regression on what a ghost's features differ by from the mean of the hidden ghosts of its side, with the
share of evil ones among them, which is known, as the offset. The `mcts` among the agents does without a belief, so that
the script gives the same answer whatever is stored.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents import make_agent
from vauban.agents.geister import belief
from vauban.agents.geister.belief import FEATURES, describe
from vauban.agents.geister.terrain import survey
from vauban.games.base import game as find_game
from vauban.games.geister.layout import MOST_GHOSTS
from vauban.games.kernel import Record, kernel
from vauban.sim.compile import CPU, compiled
from vauban.sim.simulator import Simulator

PLAYERS = {
    "random": 1,
    "runner": 4,
    "runner:careful=1": 4,
    "purple:depth=1": 8,
    "purple:depth=3": 8,
    "mcts:sims=100,time=0,belief=0": 8,
}
"""Agents, and how much each counts among those whose behaviour is learned."""
RULES = ("server", "escape=forced")
GAMES = 40
"""Games of every ordered pair of agents, by each of the rules."""
EVERY = 5
"""Every so many plies what has been seen of both sides is noted."""
RIDGE = 1.0

Floats = npt.NDArray[np.float64]


@kernel
def describe_all(words, halves, bytes_, rules, viewer, features, counts):  # type: ignore[no-untyped-def]
    """Write down the features of the hidden ghosts of many games, and their numbers."""
    for row in range(len(words)):
        game = Record(words[row], halves[row], bytes_[row], rules)
        counts[row] = describe(game, survey(rules), viewer, features[row])


def note(sim: Simulator, viewer: int) -> tuple[Floats, Floats, Floats]:
    """Return of every hidden ghost: its centred features, whether it is evil, and the known share of evil ones."""
    views = sim.views(viewer)
    words, halves, bytes_ = views.store
    features, counts = np.zeros((sim.n, MOST_GHOSTS, len(FEATURES))), np.zeros(sim.n, np.int64)
    function = compiled(describe_all, CPU, TRACKS=True)
    function(words.view(np.uint64), halves.view(np.uint16), bytes_, views.format.parameters, viewer, features, counts)
    values = np.asarray(sim.hidden_values(viewer))[:, :MOST_GHOSTS]
    found: list[tuple[Floats, Floats, Floats]] = []
    for row in np.flatnonzero(~sim.over):
        count = int(counts[row])
        own, evil = features[row, :count], values[row, :count].astype(float)
        found.append((own - own.mean(0), evil, np.full(count, evil.mean())))
    if not found:
        return np.zeros((0, len(FEATURES))), np.zeros(0), np.zeros(0)
    first, second, third = zip(*found, strict=True)
    return np.concatenate(first), np.concatenate(second), np.concatenate(third)


def play(first: str, second: str, rules: str, seed: int) -> list[tuple[Floats, Floats, Floats, Floats]]:
    """Play games of two agents; return what was noted, with how much it counts."""
    game = find_game("geister", rules)
    agents = [make_agent(text, seed, game=game) for text in (first, second)]
    sim = Simulator(game, GAMES, seed=seed, restart=False, threads=1, arrays="numpy")
    found = []
    ply = 0
    while not sim.over.all():
        player = ply % 2
        rows = np.flatnonzero(~sim.over)
        actions = np.full(sim.n, -1, np.int64)
        seeds = (np.uint64(seed) << np.uint64(32)) + rows.astype(np.uint64)
        actions[rows] = agents[player].choose(sim.views(player)[rows], seeds)
        sim.step(actions, check=False)
        ply += 1
        if ply % EVERY == 0:
            for viewer, text in ((0, second), (1, first)):
                features, evil, share = note(sim, viewer)
                found.append((features, evil, share, np.full(len(evil), float(PLAYERS[text]))))
    return found


def fit(features: Floats, evil: Floats, share: Floats, weights: Floats) -> Floats:
    """Return the coefficients of a logistic regression with an offset, by Newton's method."""
    offset = np.log(share / (1 - share))
    found = np.zeros(features.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-(offset + features @ found)))
        gradient = features.T @ (weights * (evil - chance)) - RIDGE * found
        curvature = (features * (weights * chance * (1 - chance))[:, None]).T @ features
        found = found + np.linalg.solve(curvature + RIDGE * np.eye(len(found)), gradient)
    return found


def log_loss(features: Floats, evil: Floats, share: Floats, found: Floats) -> float:
    """Return the mean surprise in nats."""
    chance = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + features @ found)))
    return float(-(evil * np.log(chance) + (1 - evil) * np.log(1 - chance)).mean())


def main() -> None:
    """Play, fit, print and write."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    noted = []
    for seed, (rules, first, second) in enumerate(product(RULES, PLAYERS, PLAYERS), 1):
        noted += play(first, second, rules, seed)
        print(f"{rules}: {first} – {second}", flush=True)
    features, evil, share, weights = (np.concatenate(part) for part in zip(*noted, strict=True))
    found = fit(features, evil, share, weights)
    facts: dict[str, Any] = {
        "about": "Weights of vauban.agents.geister.belief.FEATURES, fitted by scripts/fit_geister_belief.py",
        "ghosts_noted": len(evil),
        "loss_without": round(log_loss(features, evil, share, np.zeros(len(FEATURES))), 4),
        "loss": round(log_loss(features, evil, share, found), 4),
        "weights": {name: round(float(weight), 3) for name, weight in zip(FEATURES, found, strict=True)},
    }
    path = Path(belief.__file__).with_name("belief.json")
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
