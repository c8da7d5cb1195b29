"""Exact games judge the learner: the code that learns Stratego, on games whose best responses can be computed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from vauban.agents import make_agent
from vauban.agents.net import NetAgent
from vauban.learn.config import load_config
from vauban.learn.run import Run
from vauban.solve import Tree, build_tree, evaluate, tabulate, uniform

MICRO = Path(__file__).parents[1] / "models" / "micro"
"""A model of `vauban train ataraxos-micro` on a GPU; its card has the date."""
UNDAMPED = ["ataraxos.moves.magnet_weight=0.0", "ataraxos.moves.update_weight=0.0"]


def policy_of(agent: NetAgent) -> Any:
    """An agent's policy as the solver asks for it."""
    return lambda views, actions: agent.policy(views)[:, : actions.shape[1]]


def exploitability(tree: Tree, run: Run) -> float:
    """Of the network that a run leaves, asked as `vauban exploitability GAME net:RUN` does."""
    run.save_model(run.folder / "model")
    agent = make_agent(f"net:{run.folder}")
    assert isinstance(agent, NetAgent)
    return evaluate(tree, tabulate(tree, policy_of(agent))).exploitability


def trained(game: str, folder: Path, changes: Sequence[str] = ()) -> Run:
    run = Run.begin(load_config(f"ataraxos-{game}", changes), folder)
    while run.goes_on():
        run.iterate()
    return run


def test_damped_self_play_learns_kuhn_poker(tmp_path: Path) -> None:
    tree = build_tree("kuhn")
    run = trained("kuhn", tmp_path / "run", ["iterations=300", "ataraxos.moves.average=0.98"])
    assert exploitability(tree, run) < 0.1 < evaluate(tree, uniform(tree)).exploitability / 4


@pytest.mark.slow
@pytest.mark.parametrize(("game", "most"), [("kuhn", 0.03), ("leduc", 0.3)])
def test_damped_self_play_comes_close_to_an_equilibrium_and_undamped_does_not(
    tmp_path: Path, game: str, most: float
) -> None:
    tree = build_tree(game)
    damped = exploitability(tree, trained(game, tmp_path / "damped"))
    undamped = exploitability(tree, trained(game, tmp_path / "undamped", UNDAMPED))
    print(f"exploitability: damped {damped:.4f}, undamped {undamped:.4f}")
    assert damped <= most
    assert undamped > 3 * damped


def test_damped_self_play_learns_stratego_on_twelve_squares(tmp_path: Path) -> None:
    """Four plies of micro, with the move network that learns every board. The uniform policy's exploitability is 0.348;
    after these 60 iterations it was 0.024 to 0.030 with the seeds 1 to 4, after 80 iterations 0.022 to 0.031."""
    tree = build_tree("micro", rules="total_limit=4")
    moves = ("games=256", "length=10", "batch=256", "average=0.9")
    small = ["rules=total_limit=4", *(f"ataraxos.moves.{each}" for each in moves)]
    run = trained("micro", tmp_path / "run", [*small, "iterations=60"])
    learned, none = exploitability(tree, run), evaluate(tree, uniform(tree)).exploitability
    print(f"exploitability: learned {learned:.4f}, uniform {none:.4f}")
    assert learned < none / 6


@pytest.mark.slow
def test_stratego_on_twelve_squares_was_learned_to_a_tenth_of_what_the_uniform_policy_loses() -> None:
    agent = make_agent(f"net:{MICRO}")
    assert isinstance(agent, NetAgent)
    tree = build_tree("micro", rules="total_limit=8")
    learned = evaluate(tree, tabulate(tree, policy_of(agent))).exploitability
    none = evaluate(tree, uniform(tree)).exploitability
    print(f"exploitability: learned {learned:.4f}, uniform {none:.4f}")
    assert 0 < learned <= none / 10
