"""Learning to move: what a pass over a window hands on to the formulas, the optimiser and the average."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from vauban.games.stratego.game import Stratego
from vauban.learn.ataraxos.collect import Collector
from vauban.learn.ataraxos.moves import MEANS, MoveConfig, MoveLearner
from vauban.learn.ataraxos.targets import lambda_returns
from vauban.learn.base import names_of
from vauban.learn.schedules import PowerLaw
from vauban.learn.trainee import Trainee
from vauban.nets.actor import Actor
from vauban.nets.move import MoveNetwork
from vauban.nets.policy import PolicyNetwork
from vauban.nets.transformer import Size

TINY = Stratego("tiny", "battleless_limit=20,total_limit=60")
UTILITIES = torch.tensor([-1.0, 0.0, 1.0])


def a_learner(**options: Any) -> MoveLearner:
    """A learner with an untrained network, whose second window is there to be learned from."""
    config = MoveConfig(**{"games": 24, "length": 34, "batch": 64, "learning_rate": PowerLaw(1e-3), **options})
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network: PolicyNetwork = MoveNetwork(TINY, Size(1, 16, 2))
    trainee = Trainee(network, torch.device("cpu"))
    collector = Collector(TINY, config.games, config.length, torch.device("cpu"), seed=5)
    for _ in range(2):
        collector.collect(Actor(trainee.working, collector.sim))
    return MoveLearner(trainee, collector, config, seed=7)


def gradient_norm(network: nn.Module) -> float:
    """Return the norm of the gradient of the last step."""
    return float(torch.cat([each.grad.flatten() for each in network.parameters() if each.grad is not None]).norm())


def test_advantages_and_outcomes_have_each_their_own_decay() -> None:
    learner = a_learner(advantage_decay=0.3, outcome_decay=0.9)
    window = learner.collector.window
    assert window.ended.any()
    learner.learn(window, 1)
    expected = lambda_returns(
        window.foreseen, window.players, window.ended, window.results, UTILITIES, advantage_decay=0.3, outcome_decay=0.9
    )
    torch.testing.assert_close(learner._advantages, expected.advantages.flatten())
    torch.testing.assert_close(learner._outcomes, expected.outcomes.flatten(0, 1))


def test_a_long_gradient_is_shortened_to_the_norm_and_a_short_one_stays() -> None:
    network = nn.Linear(3, 2)
    trainee = Trainee(network, torch.device("cpu"))
    for scale, kept in ((100.0, 0.5), (0.001, None)):
        loss = scale * network(torch.ones(1, 3)).sum()
        norm = float(trainee.descend([loss], 0.5))
        assert norm == pytest.approx(scale * 8**0.5), "what is told is the norm before"
        assert gradient_norm(network) == pytest.approx(kept or norm, rel=1e-4)


def test_moves_are_learned_with_the_gradient_norm_of_their_configuration() -> None:
    learner = a_learner(gradient_norm=0.01)
    assert learner.learn(learner.collector.window, 1)["gradient_norm"] > 0.02
    assert gradient_norm(learner.trainee.network) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("slices", [2, 3, 64])
def test_a_batch_that_is_cut_into_slices_is_the_same_step(slices: int) -> None:
    whole, sliced = a_learner(), a_learner(slices=slices)
    seen: list[int] = []
    sliced.trainee.network.register_forward_pre_hook(lambda _, rows: seen.append(len(rows[0])))
    told = {learner: learner.learn(learner.collector.window, 1) for learner in (whole, sliced)}
    assert told[sliced] == pytest.approx(told[whole], rel=1e-4)
    assert max(seen) == -(-64 // slices), "no more than a slice goes through the network at once"
    for one, other in zip(whole.trainee.network.parameters(), sliced.trainee.network.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-6)


def test_learning_rate_and_magnet_are_those_of_the_iteration() -> None:
    learner = a_learner(learning_rate=PowerLaw(0.01, 1.0), magnet_weight=PowerLaw(2.0, 0.5))
    told = learner.learn(learner.collector.window, 16)
    [group] = learner.trainee.optimiser.param_groups
    assert told["learning_rate"] == group["lr"] == pytest.approx(0.01 / 16)
    assert told["magnet_weight"] == float(learner._magnet_weight) == 0.5


@pytest.mark.parametrize(("reach", "kept"), [(0.0, 0.75), (0.25, 0.2), (99.0, 0.75)])
def test_the_average_follows_the_network_by_its_rate(reach: float, kept: float) -> None:
    learner = a_learner(average=0.75, reach=reach)
    trainee = learner.trainee
    old = [each.clone() for each in trainee.average.parameters()]
    assert learner.learn(learner.collector.window, 1)["batches"] > 1, "once an iteration, not once a batch"
    for before, average, new in zip(old, trainee.average.parameters(), trainee.network.parameters(), strict=True):
        torch.testing.assert_close(average, kept * before + (1 - kept) * new.detach())
    assert not torch.equal(old[0], next(trainee.network.parameters()))


def test_the_clip_rate_is_the_share_of_moves_whose_ratio_is_beyond_the_clip() -> None:
    learner = a_learner(clip=0.05, gradient_norm=10.0)
    learner.learn(learner.collector.window, 1)
    batch = learner._batch()
    batch = batch._replace(weights=torch.arange(len(batch.weights)) % 2 / len(batch.weights))
    with torch.no_grad():
        _, sums = learner._compute_losses(batch)
        network = learner.trainee.working
        policy = network.legal_log_policy(network(batch.seen)[0], batch.legal).exp()
    old = batch.old_log_policy.exp()
    beyond = []
    for row in range(1, len(batch.seen), 2):
        place = batch.legal[row].tolist().index(int(batch.actions[row]))
        ratio = float(policy[row, place]) / float(old[row, place])
        beyond.append(not 0.95 <= ratio <= 1.05)
    assert float(sums[names_of(MEANS).index("clip_rate")]) == sum(beyond)
    assert 0 < sum(beyond) < len(beyond), "some are, and some are not"
