"""Learning on a GPU is what it is on a CPU: the same losses from the same window, and runs that go on as they were."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.test_learn_run import SMALL, without_times
from vauban.games.base import game
from vauban.learn.collect import Collector, Window
from vauban.learn.config import parse_config
from vauban.learn.moves import MoveConfig, MoveLearner
from vauban.learn.run import Run
from vauban.learn.schedules import PowerLaw
from vauban.learn.trainee import Trainee
from vauban.nets.move import MoveNetwork
from vauban.nets.policy import PolicyNetwork
from vauban.nets.transformer import Size

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

CONFIG = MoveConfig(games=48, length=34, batch=32, learning_rate=PowerLaw(1e-3))


def learner_on(device: torch.device, dtype: torch.dtype) -> MoveLearner:
    """A learner of the variant tiny whose network begins with the same numbers on every device."""
    torch.manual_seed(3)
    network: PolicyNetwork = MoveNetwork(game("tiny"), Size(2, 32, 4))  # type: ignore[arg-type]
    trainee = Trainee(network, device, working=dtype)
    collector = Collector(game("tiny"), CONFIG.games, CONFIG.length, device, seed=5)
    return MoveLearner(trainee, collector, CONFIG, seed=7)


@pytest.fixture(scope="module")
def window() -> Window:
    """Games of an untrained network, long enough that some of them end."""
    learner = learner_on(torch.device("cpu"), torch.float32)
    learner.collector.collect(learner.trainee.working, learner.trainee.working)
    window = learner.collector.collect(learner.trainee.working, learner.trainee.working)
    assert window.ended.any()
    return window


def learned(window: Window, device: str, dtype: torch.dtype) -> tuple[dict[str, float], torch.Tensor]:
    """What a pass over the window says, and the parameters after it."""
    learner = learner_on(torch.device(device), dtype)
    for column, played in zip(learner.collector.window, window, strict=True):
        column.copy_(played)
    told = learner.learn(learner.collector.window, 1)
    return told, flat(learner)


def flat(learner: MoveLearner) -> torch.Tensor:
    """All parameters, one after the other."""
    return torch.cat([parameter.detach().cpu().flatten() for parameter in learner.trainee.network.parameters()])


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-3), (torch.bfloat16, 3e-2)])
def test_cuda_gives_the_losses_of_the_cpu(window: Window, dtype: torch.dtype, tolerance: float) -> None:
    expected, parameters = learned(window, "cpu", torch.float32)
    told, mine = learned(window, "cuda", dtype)
    assert told["batches"] == expected["batches"] >= 8  # the graph is captured after the third
    assert told == pytest.approx(expected, rel=tolerance, abs=tolerance)
    start = torch.cat(
        [each.detach().flatten() for each in learner_on(torch.device("cpu"), dtype).trainee.network.parameters()]
    )
    moved, its = parameters - start, mine - start
    likeness = torch.nn.functional.cosine_similarity(moved, its, dim=0)
    assert likeness > (0.999 if dtype == torch.float32 else 0.9)


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
