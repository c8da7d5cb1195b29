"""Exact games judge the learner: the code that learns Stratego, on games whose best responses can be computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from vauban.learn.config import parse_config
from vauban.learn.run import Run
from vauban.nets.policy import PolicyNetwork
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot
from vauban.solve import Policy, Tree, build_tree, evaluate, tabulate, uniform

KUHN = """
game = "kuhn"
[move_network]
depth = 2
width = 64
heads = 1
[moves]
games = 512
length = 18
batch = 1024
quantile = 0.0
magnitude = 0.0
advantage_decay = 0.9
outcome_decay = 0.9
average = 0.99
gradient_norm = 0.5
learning_rate = { coefficient = 5e-4, decay = 0.3 }
magnet_weight = { coefficient = 0.25, decay = 0.3 }
"""
LEDUC = """
game = "leduc"
[move_network]
depth = 2
width = 64
heads = 1
[moves]
games = 8192
length = 18
batch = 8192
quantile = 0.0
magnitude = 0.0
advantage_decay = 1.0
outcome_decay = 0.9
outcome_weight = 0.03
average = 0.98
gradient_norm = 0.5
learning_rate = { coefficient = 0.3, decay = 1.0, ceiling = 3e-3 }
magnet_weight = 0.03
"""
UNDAMPED = ["moves.magnet_weight=0.0", "moves.update_weight=0.0", "moves.clip=1e9"]


def policy_of(network: PolicyNetwork) -> Policy:
    """A network's policy, as the solver asks for it."""

    def ask(views: Snapshot, actions: np.ndarray) -> np.ndarray:
        sim = Simulator(views.game, len(views), seed=0, history=views.history)
        sim.restore(views)
        legal, _ = sim.legal_actions()
        with torch.no_grad():
            choices, _ = network(sim.observe(network.observation, layout="squares", viewer=views.viewer))
        chances: np.ndarray = network.legal_log_policy(choices, legal).exp().numpy()[:, : actions.shape[1]]
        return chances

    return ask


def exploitability(tree: Tree, network: PolicyNetwork) -> float:
    return evaluate(tree, tabulate(tree, policy_of(network))).exploitability


def trained(text: str, folder: Path, iterations: int, changes: list[str] | None = None) -> Run:
    run = Run.begin(parse_config(text, changes or []), folder)
    for _ in range(iterations):
        run.iterate()
    return run


def test_damped_self_play_learns_kuhn_poker(tmp_path: Path) -> None:
    tree = build_tree("kuhn")
    run = trained(KUHN, tmp_path / "run", 300, ["moves.average=0.98"])
    assert exploitability(tree, run.move.average) < 0.1 < evaluate(tree, uniform(tree)).exploitability / 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "text", "iterations", "most"), [("kuhn", KUHN, 600, 0.03), ("leduc", LEDUC, 300, 0.3)]
)
def test_damped_self_play_comes_close_to_an_equilibrium_and_undamped_does_not(
    tmp_path: Path, game: str, text: str, iterations: int, most: float
) -> None:
    tree = build_tree(game)
    damped = exploitability(tree, trained(text, tmp_path / "damped", iterations).move.average)
    undamped = exploitability(tree, trained(text, tmp_path / "undamped", iterations, UNDAMPED).move.average)
    print(f"exploitability: damped {damped:.4f}, undamped {undamped:.4f}")
    assert damped <= most
    assert undamped > 3 * damped
