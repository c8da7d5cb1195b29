"""Deep CFR on a GPU does what it does on a CPU: the same plays, the same steps of training, captured or not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from vauban.games.base import game
from vauban.learn.base import Place
from vauban.learn.config import load_config
from vauban.learn.deep_cfr.learner import PLAYERS, DeepCFR
from vauban.learn.deep_cfr.together import join
from vauban.learn.run import Run
from vauban.learn.trainee import Trainee
from vauban.nets.conv import ConvNetwork

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
SMALL = ["deep_cfr.traversals=64", "deep_cfr.batch=64", "deep_cfr.batches=20", "deep_cfr.capacity=5000"]


def learner_on(device: torch.device, preset: str, changes: list[str]) -> DeepCFR:
    config = load_config(preset, [*SMALL, *changes])
    return DeepCFR(game(config.game, config.rules or None), config.stages["deep_cfr"], Place(device, seed=5))


@pytest.mark.parametrize("preset", ["deep-cfr-kuhn", "deep-cfr-geister", "deep-cfr-geister-history"])
def test_traversals_by_even_strategies_are_the_same_games_on_cpu_and_cuda(preset: str) -> None:
    here, there = (learner_on(device, preset, []) for device in (CPU, CUDA))
    for iteration in range(1, 4):  # the second and third are replayed from a captured graph
        paths = [each.traversal.run(iteration % 2, 64 * iteration) for each in (here, there)]
        assert torch.allclose(paths[0].utility, paths[1].utility.cpu())
        for mine, other in zip(here.traversal.visits, there.traversal.visits, strict=True):
            rows = paths[0].played
            assert torch.allclose(mine[rows].double(), other.cpu()[: len(mine)][rows].double())
        assert torch.equal(paths[0].played, paths[1].played.cpu()[: len(paths[0].played)])
        assert not paths[1].played[len(paths[0].played) :].any()


@pytest.mark.parametrize("name", ["first", "strategy"])
def test_captured_steps_of_training_are_the_steps_that_a_cpu_takes(name: str) -> None:
    """With a single item in the reservoir there is one minibatch, whatever is drawn."""
    found = []
    learners = [learner_on(device, "deep-cfr-kuhn", ["deep_cfr.capacity=1"]) for device in (CPU, CUDA)]
    for learner in learners:
        learner.iteration = 1
        learner._traverse(0)
    state = learners[0].regressions[name].reservoir.state()
    for learner in learners:
        regression = learner.regressions[name]
        regression.reservoir.load_state(state)
        loss = regression.learn(40, 1.0, learner._dice(1, 0))
        weights = torch.cat([each.detach().cpu().flatten() for each in learner.trainees[name].network.parameters()])
        found.append((loss, weights))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-3, abs=1e-7)
    assert torch.allclose(found[0][1], found[1][1], atol=2e-3)


def test_a_network_begins_anew_within_a_captured_graph() -> None:
    learner = learner_on(CUDA, "deep-cfr-geister", [])
    for _ in range(4):
        told = learner.iterate()
    assert torch.isfinite(torch.tensor(told["deep_cfr.value_loss"]))
    learner._begin_anew("first")
    fresh = learner._fresh("first").state_dict()
    for key, tensor in learner.trainees["first"].network.state_dict().items():
        assert torch.equal(tensor.cpu(), fresh[key])


def test_kuhn_poker_is_learned_on_a_gpu_and_the_run_goes_on(tmp_path: Path) -> None:
    config = load_config("deep-cfr-kuhn", ["iterations=6", "deep_cfr.strategy_every=2"])
    run = Run.begin(config, tmp_path / "run", "cuda")
    while run.goes_on():
        run.iterate()
    run.save()
    again = Run.resume(tmp_path / "run", "cuda", changes=["iterations=8"])
    assert not again.notes
    for name in PLAYERS:
        one, other = (each.first.regressions[name].reservoir.state() for each in (run, again))  # type: ignore[attr-defined]
        assert all(torch.equal(one[key], other[key]) for key in one)
    while again.goes_on():
        again.iterate()
    assert again.iteration == 8


def test_runs_side_by_side_are_captured_and_do_what_each_does_alone() -> None:
    """In the first iteration; after it, rounding may change plays. Later ones are replayed from captured graphs."""
    config = load_config("deep-cfr-geister", [*SMALL, "deep_cfr.exploration=0.1", "deep_cfr.learning_rate=0.001"])
    settings = config.stages["deep_cfr"]
    made = game(config.game, config.rules or None)
    alone, together = ([DeepCFR(made, settings, Place(CUDA, seed=seed)) for seed in (5, 6)] for _ in range(2))
    join(together)
    for one, other in zip(alone, together, strict=True):
        assert one.iterate()["moves"] == other.iterate()["moves"]
        for name in ("first", "strategy"):
            mine, theirs = (each.regressions[name].reservoir.state() for each in (one, other))
            assert all(torch.equal(mine[key], theirs[key]) for key in mine)
        states = [each.trainees["first"].network.state_dict() for each in (one, other)]
        for key, tensor in states[0].items():
            assert torch.allclose(tensor.double(), states[1][key].double(), rtol=1e-2, atol=1e-3), key
    for _ in range(8):
        told = [each.iterate() for each in together]
    assert all(torch.isfinite(torch.tensor(each["deep_cfr.value_loss"])) for each in told)
    first, second = (each.trainees["first"].network.output.weight for each in together)
    assert not torch.allclose(first, second, atol=1e-2)


def test_batch_normalisation_keeps_its_statistics_in_the_copy_that_runs_and_in_the_average() -> None:
    trainee = Trainee(ConvNetwork(game("geister"), observation="geister"), CUDA, working=torch.bfloat16)
    seen = torch.rand(256, 36, 6, device=CUDA, dtype=torch.bfloat16)
    trainee.network.train()
    trainee.working.train()
    trainee.step(trainee.working(seen)[0].clamp(min=-1).float().square().mean(), 1e-3, 1.0)
    trainee.update_average(0.0)
    assert trainee.network.norm.running_mean.abs().sum() > 0
    assert torch.equal(trainee.network.norm.running_mean, trainee.average.norm.running_mean)
    assert torch.allclose(trainee.network.norm.running_mean, trainee.working.norm.running_mean.float())
