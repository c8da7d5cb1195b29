"""Learning on a GPU is what it is on a CPU: the same losses from the same window, and runs that go on as they were."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from test_learn_run import SMALL, without_times

from vauban.games.base import game
from vauban.games.stratego.game import Stratego
from vauban.learn.ataraxos.belief import BeliefConfig, BeliefLearner
from vauban.learn.ataraxos.collect import Collector, Window
from vauban.learn.ataraxos.moves import MoveConfig, MoveLearner
from vauban.learn.ataraxos.setups import SetupConfig, SetupLearner
from vauban.learn.config import parse_config
from vauban.learn.run import Run
from vauban.learn.schedules import PowerLaw
from vauban.learn.trainee import Trainee
from vauban.nets.actor import Actor
from vauban.nets.move import MoveNetwork
from vauban.nets.policy import PolicyNetwork
from vauban.nets.setup import SetupNetwork
from vauban.nets.transformer import Size
from vauban.sim.simulator import Simulator
from vauban.sim.store import Store

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

CONFIG = MoveConfig(games=48, length=34, batch=32, learning_rate=PowerLaw(1e-3))
TOLERANCES = [(torch.float32, 2e-3), (torch.bfloat16, 3e-2)]


def learner_on(device: torch.device, dtype: torch.dtype, slices: int = 1) -> MoveLearner:
    """A learner of the variant tiny whose network begins with the same numbers on every device."""
    torch.manual_seed(3)
    network: PolicyNetwork = MoveNetwork(game("tiny"), Size(2, 32, 4))  # type: ignore[arg-type]
    trainee = Trainee(network, device, working=dtype)
    collector = Collector(game("tiny"), CONFIG.games, CONFIG.length, device, seed=5)
    return MoveLearner(trainee, collector, replace(CONFIG, slices=slices), seed=7)


@pytest.fixture(scope="module")
def window() -> Window:
    """Games of an untrained network, long enough that some of them end."""
    learner = learner_on(torch.device("cpu"), torch.float32)
    learner.collector.collect(Actor(learner.trainee.working, learner.collector.sim))
    window = learner.collector.collect(Actor(learner.trainee.working, learner.collector.sim))
    assert window.ended.any()
    return window


def learned(window: Window, device: str, dtype: torch.dtype, slices: int = 1) -> tuple[dict[str, float], torch.Tensor]:
    """Return the metrics of a pass over the window, and the parameters after it."""
    learner = learner_on(torch.device(device), dtype, slices)
    for column, played in zip(learner.collector.window, window, strict=True):
        column.copy_(played)
    told = learner.learn(learner.collector.window, 1)
    return told, flat(learner)


def flat(learner: MoveLearner) -> torch.Tensor:
    """All parameters, one after the other."""
    return torch.cat([parameter.detach().cpu().flatten() for parameter in learner.trainee.network.parameters()])


def test_on_cuda_a_bfloat16_copy_plays_and_learns_and_the_parameters_stay_float32() -> None:
    torch.manual_seed(3)
    network: PolicyNetwork = MoveNetwork(game("tiny"), Size(2, 32, 4))  # type: ignore[arg-type]
    trainee = Trainee(network, torch.device("cuda"))
    assert trainee.dtype == torch.bfloat16
    assert {each.dtype for each in trainee.working.parameters()} == {torch.bfloat16}
    collector = Collector(game("tiny"), CONFIG.games, CONFIG.length, torch.device("cuda"), seed=5)
    learner = MoveLearner(trainee, collector, CONFIG, seed=7)
    before = flat(learner)
    told = learner.learn(collector.collect(Actor(trainee.working, collector.sim)), 1)
    assert all(math.isfinite(value) for value in told.values())
    for kept in (trainee.network, trainee.average):
        assert {each.dtype for each in kept.parameters()} == {torch.float32}
    assert not torch.equal(flat(learner), before)
    for mine, running in zip(trainee.network.parameters(), trainee.working.parameters(), strict=True):
        assert torch.equal(mine.to(torch.bfloat16), running), "the copy is up to date"


@pytest.mark.parametrize("slices", [1, 3])
@pytest.mark.parametrize(("dtype", "tolerance"), TOLERANCES)
def test_cuda_gives_the_losses_of_the_cpu(window: Window, dtype: torch.dtype, tolerance: float, slices: int) -> None:
    expected, parameters = learned(window, "cpu", torch.float32)
    told, mine = learned(window, "cuda", dtype, slices)
    assert told["batches"] == expected["batches"] >= 8  # the graph is captured after the third
    assert told == pytest.approx(expected, rel=tolerance, abs=tolerance)
    start = torch.cat(
        [each.detach().flatten() for each in learner_on(torch.device("cpu"), dtype).trainee.network.parameters()]
    )
    moved, its = parameters - start, mine - start
    likeness = torch.nn.functional.cosine_similarity(moved, its, dim=0)
    assert likeness > (0.999 if dtype == torch.float32 else 0.9)


@pytest.mark.parametrize(("dtype", "tolerance"), TOLERANCES)
def test_cuda_gives_the_losses_of_the_cpu_for_setups(dtype: torch.dtype, tolerance: float) -> None:
    def learner_of(device: str, working: torch.dtype) -> SetupLearner:
        torch.manual_seed(3)
        network = SetupNetwork(Stratego("barrage"), Size(2, 32, 4))
        config = SetupConfig(per_player=32, batch=16, epochs=2, learning_rate=1e-3)
        trainee = Trainee(network, torch.device(device), working=working)
        return SetupLearner(trainee, Stratego("barrage"), config, plies=50, seed=7)

    here, there = learner_of("cpu", torch.float32), learner_of("cuda", dtype)
    red, blue = here.draw_pool(1)
    results = torch.arange(len(red)) % 3
    here.note_ended(torch.from_numpy(here.game.setups.starts(red.numpy(), blue.numpy())), results)
    there.load_state(here.state())
    expected, told = here.learn(1), there.learn(1)
    assert told["steps"] == expected["steps"] == 8  # the graph is captured after the third
    assert told == pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), TOLERANCES)
def test_cuda_gives_the_losses_of_the_cpu_for_beliefs(dtype: torch.dtype, tolerance: float) -> None:
    played = Stratego("barrage")
    config = BeliefConfig(depth=1, decoder_depth=1, width=32, heads=4, dropout=0.0, learning_rate=1e-3)

    def losses(device: str, working: torch.dtype) -> list[float]:
        torch.manual_seed(3)
        trainee = Trainee(config.network(played), torch.device(device), working=working)
        learner = BeliefLearner(trainee, played, config)
        sim = Simulator(played, 64, seed=9)
        told = []
        for _ in range(4):
            sim.play_random(20)
            seen = sim.snapshot()
            store = Store(*(part.to(device) for part in seen.store))
            told += [float(each) for each in learner.learn(replace(seen, store=store))]
        return told

    assert losses("cuda", dtype) == pytest.approx(losses("cpu", torch.float32), rel=tolerance, abs=tolerance)


def test_a_run_on_cuda_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    whole = Run.begin(parse_config(SMALL), tmp_path / "whole", "cuda")
    expected = [without_times(whole.iterate()) for _ in range(4)]
    run = Run.begin(parse_config(SMALL), tmp_path / "killed", "cuda")
    run.iterate()
    run.iterate()
    run.save()
    again = Run.resume(tmp_path / "killed", "cuda")
    for line in expected[2:]:
        told = without_times(again.iterate())
        del told["memory.gigabytes"], line["memory.gigabytes"]
        assert told == pytest.approx(line, rel=0.05, abs=0.02)
