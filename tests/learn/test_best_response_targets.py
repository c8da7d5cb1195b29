"""The formulas of the oracles: the worked numbers of discrete SAC, and where gradients go."""

from __future__ import annotations

import math

import pytest
import torch

from vauban.learn.best_response import targets
from vauban.learn.response import Sample, SeatScores, course

POLICY = torch.tensor([[0.7, 0.2, 0.1]])
VALUES = torch.tensor([[0.5, -0.2, 0.1]])


def test_b3_the_worked_target() -> None:
    """π = (0.7, 0.2, 0.1), min Q' = (0.5, −0.2, 0.1), α = 0.1, γ = 1, r = 0: y = 0.32 + 0.1·0.801819 = 0.400182."""
    assert float(targets.soft_values(POLICY, VALUES, 0.0)) == pytest.approx(0.32, abs=1e-6)
    assert float(targets.entropy(POLICY)) == pytest.approx(0.801819, abs=1e-6)
    worth = targets.soft_values(POLICY, VALUES, 0.1)
    assert float(worth) == pytest.approx(0.400182, abs=1e-6)
    goes_on, over = torch.tensor([True]), torch.tensor([False])
    assert float(targets.critic_targets(torch.zeros(1), goes_on, worth, 1.0)) == pytest.approx(0.400182, abs=1e-6)
    assert float(targets.critic_targets(torch.ones(1), goes_on, worth, 0.5)) == pytest.approx(1.200091, abs=1e-6)
    assert float(targets.critic_targets(torch.ones(1), over, worth, 1.0)) == 1.0


def test_b3_the_worked_temperature() -> None:
    """Share 0.3 of ln 3 is 0.329584; H is 0.801819, so that H_wanted − H = −0.472235 and α falls."""
    wanted = targets.wanted_entropy(torch.tensor([3]), 0.3)
    assert float(wanted) == pytest.approx(0.329584, abs=1e-6)
    log_alpha = torch.zeros((), requires_grad=True)
    loss = targets.temperature_loss(log_alpha, targets.entropy(POLICY), wanted)
    loss.backward()
    assert log_alpha.grad is not None and float(log_alpha.grad) == pytest.approx(0.472235, abs=1e-6)
    optimiser = torch.optim.Adam([log_alpha], lr=0.01)
    optimiser.step()
    assert float(log_alpha.detach()) < 0


def test_a_single_legal_action_wants_no_entropy() -> None:
    assert targets.wanted_entropy(torch.tensor([1, 0]), 0.3).tolist() == [0.0, 0.0]


def test_what_lies_behind_the_last_legal_action_counts_for_nothing() -> None:
    policy = torch.tensor([[0.7, 0.2, 0.1, 0.0]])
    values = torch.tensor([[0.5, -0.2, 0.1, 1e9]])
    assert torch.equal(targets.soft_values(policy, values, 0.1), targets.soft_values(POLICY, VALUES, 0.1))
    assert torch.equal(targets.actor_loss(policy, values, 0.1), targets.actor_loss(POLICY, VALUES, 0.1))
    assert torch.equal(targets.entropy(policy), targets.entropy(POLICY))


def test_the_critic_loss_is_half_the_mean_square() -> None:
    assert float(targets.critic_loss(torch.tensor([1.0, 3.0]), torch.tensor([0.0, 1.0]))) == 0.5 * (1 + 4) / 2


def test_the_actor_gradient_goes_through_the_policy_in_front_alone() -> None:
    """∂loss/∂π = α ln π − Q: the bracket is a constant."""
    policy = POLICY.clone().requires_grad_()
    values = VALUES.clone().requires_grad_()
    targets.actor_loss(policy, values, 0.1).backward()
    assert policy.grad is not None and values.grad is None
    torch.testing.assert_close(policy.grad, 0.1 * POLICY.log() - VALUES)


def test_the_next_decision_is_the_learners_own_in_the_same_game() -> None:
    own = torch.tensor([[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]).bool()
    assert targets.next_decisions(own).tolist() == [[2, -1, -1], [-1, 3, -1], [3, -1, -1], [-1, -1, -1]]


def test_utilities_are_known_as_outcomes() -> None:
    worths = torch.tensor([-1.0, 0.0, 1.0])
    assert targets.classes_of(torch.tensor([1.0, -1.0, 0.0]), worths).tolist() == [2, 0, 1]


def test_advantages_are_standardised() -> None:
    found = targets.standardised(torch.tensor([1.0, 2.0, 6.0]))
    assert float(found.mean()) == pytest.approx(0, abs=1e-6) and float(found.std(correction=0)) == pytest.approx(1)
    assert targets.standardised(torch.tensor([3.0])).tolist() == [0.0]


# ── Scores ───────────────────────────────────────────────────────────────────────────────────────


def test_a_sample_of_samples_is_that_of_all_games() -> None:
    first, second = [1.0, -1.0, 2.0], [0.5, 0.5, -3.0, 4.0]
    whole, joined = Sample.of(first + second), Sample.joined([Sample.of(first), Sample.of([]), Sample.of(second)])
    assert joined.games == 7
    assert (joined.mean, joined.deviation) == pytest.approx((whole.mean, whole.deviation))


def test_a_score_is_the_mean_of_both_seats_however_often_each_was_played() -> None:
    scores = SeatScores(Sample(100, 0.5, 1.0), Sample(400, -0.1, 2.0))
    assert scores.score == pytest.approx(0.2) and scores.games == 500
    assert scores.margin == pytest.approx(1.959964 * math.sqrt(0.1**2 + 0.1**2) / 2, rel=1e-5)
    assert SeatScores(Sample.of([1.0]), Sample.of([])).margin == math.inf


def test_a_course_has_every_game_in_one_of_its_points() -> None:
    def line(games: int, first: float) -> dict[str, float]:
        return {"minutes": games / 100, "games": games, "response.score": 0.0,
                "response.games.first": 5, "response.score.first": first, "response.deviation.first": 1.0,
                "response.games.second": 0}  # fmt: skip

    points = course([line(10 * n, n) for n in range(1, 11)], 3)
    assert [point.games for point in points] == [40, 70, 100]
    assert [point.scores.first.games for point in points] == [20, 15, 15]
    assert [point.scores.first.mean for point in points] == pytest.approx([2.5, 6, 9])
    assert [point.scores.second.games for point in points] == [0, 0, 0]
