"""The formulas of regularised Nash dynamics: worked numbers of sections A.3 to A.6, and the bias of v-trace."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest
import torch
from torch import Tensor

from vauban.learn.rnad.targets import (
    VARIANTS,
    Carry,
    Steps,
    backwards,
    log_ratios,
    neurd_losses,
    outer_step,
    transformed_rewards,
    value_losses,
    vtrace_p,
    vtrace_s,
)
from vauban.nets.processing import discretise, threshold

ETA = 0.2


def numbers(text: str) -> Tensor:
    return torch.tensor([[float(each) for each in row.split()] for row in text.split(",")], dtype=torch.float64)


# ── A.3: the schedule ────────────────────────────────────────────────────────────────────────────


def test_interpolation_reaches_the_newer_policy_half_way_through_an_iteration() -> None:
    alphas = [outer_step(step, (10_000,), ()).alpha for step in (0, 2500, 5000, 9999, 10_000)]
    assert alphas == [0, 0.5, 1, 1, 0]


def test_the_published_schedule_has_101_short_iterations_then_65_long_ones_and_then_others() -> None:
    def at(step: int) -> Any:
        return outer_step(step, (10_000, 100_000, 35_000), (101, 65))

    assert at(0) == (0, 0, 10_000) and at(1_009_999) == (100, 9_999, 10_000)
    assert at(1_010_000) == (101, 0, 100_000) and at(7_509_999) == (165, 99_999, 100_000)
    assert at(7_510_000) == (166, 0, 35_000) and at(7_510_000 + 70_000) == (168, 0, 35_000)
    assert at(1_009_999).ends and not at(1_009_998).ends


def test_the_logarithms_of_the_two_policies_are_mixed_and_illegal_actions_have_none() -> None:
    policy, newer, older = (numbers(text).log() for text in ("0.5 0.5 0", "0.8 0.2 0", "0.2 0.8 0"))
    found = log_ratios(policy, newer, older, 0.25)
    expected = [math.log(0.5) - 0.25 * math.log(0.8) - 0.75 * math.log(0.2),
                math.log(0.5) - 0.25 * math.log(0.2) - 0.75 * math.log(0.8), 0.0]  # fmt: skip
    assert found[0].tolist() == pytest.approx(expected, abs=1e-12)
    assert log_ratios(policy, newer, older, 0.0)[0].tolist() == pytest.approx(
        [math.log(0.5 / 0.2), math.log(0.5 / 0.8), 0], abs=1e-12
    )


# ── A.4: the golden trajectory ───────────────────────────────────────────────────────────────────

PLAYERS = [0, 1, 1, 0, 0, 1]
BEHAVIOUR = numbers(".5 .3 .2, .2 .6 .2, .7 .2 .1, .25 .25 .5, .4 .4 .2, .1 .8 .1")
POLICY = numbers(".6 .3 .1, .1 .7 .2, .5 .4 .1, .2 .2 .6, .3 .5 .2, .2 .7 .1")
REGULAR = numbers(".4 .4 .2, .3 .4 .3, .6 .2 .2, .3 .3 .4, .5 .25 .25, .25 .5 .25")
ACTIONS = torch.tensor([0, 1, 0, 2, 1, 1])


def golden() -> Steps:
    """The trajectory, as a batch of one game and two rows of padding behind its end."""
    log_ratio = log_ratios(POLICY.log(), REGULAR.log(), REGULAR.log(), 1.0)
    sampled = BEHAVIOUR.gather(1, ACTIONS[:, None]).squeeze(1)
    rewards = torch.tensor([0, 0, 0, 0, 0, 1.0], dtype=torch.float64)
    values = torch.tensor([0.10, -0.05, 0.02, 0.20, 0.25, -0.30], dtype=torch.float64)
    columns = [
        torch.ones(6, dtype=torch.bool),
        torch.tensor(PLAYERS),
        ACTIONS,
        rewards,
        sampled,
        POLICY,
        log_ratio,
        values,
    ]
    padding = [False, 0, 0, 7.0, 1.0, 1.0, 3.0, 5.0]
    return Steps(
        *(
            torch.cat([column, torch.full((2, *column.shape[1:]), number, dtype=column.dtype)])[:, None]
            for column, number in zip(columns, padding, strict=True)
        )
    )


def chunks(steps: Steps, variant: str, rho: float, c: float, rows: int) -> Iterator[tuple[int, Any, Carry]]:
    """Work it off in chunks of rows, from the last to the first."""
    carry = Carry.at_the_end(steps.values[0])
    for first in reversed(range(0, len(steps.played), rows)):
        part = Steps(*(column[first : first + rows] for column in steps))
        estimates, carry = VARIANTS[variant](part, carry, ETA, rho, c)
        yield first, estimates, carry


S_ACTION_VALUES = numbers(
    "1.703781 0.157536 0.238629, 0.169722 -1.626113 0.031093, -1.890540 -0.118629 0.158629,"
    "0.281093 0.281093 1.837909, 0.352165 1.723507 0.294629, -0.255371 -1.242294 -0.116742"
)
S_TARGETS = [1.096019, -0.963695, -0.928514, 1.050039, 1.059501, -0.929873]
S_TARGETS_BOUNDED = [1.019877, -0.947427, -0.907271, 0.973897, 0.990115, -0.929873]
P_ACTION_VALUES = numbers(
    "2.659972 0.157536 0.238629, 0.169722 -1.552808 0.031093, -0.710816 -0.118629 0.158629,"
    "0.281093 0.281093 2.588080, 0.352165 2.821666 0.294629, -0.255371 -1.242294 -0.116742"
)
P_TARGETS = [1.116560, -0.870093, -0.758170, 1.114396, 1.195489, -0.971383]


@pytest.mark.parametrize("rows", [1, 3, 8])
@pytest.mark.parametrize(
    ("variant", "rho", "targets", "action_values"),
    [
        ("s", math.inf, S_TARGETS, S_ACTION_VALUES),
        ("s", 1.0, S_TARGETS_BOUNDED, None),
        ("p", 1.0, P_TARGETS, P_ACTION_VALUES),
    ],
)
def test_v_trace_has_the_worked_numbers_in_chunks_of_any_size(
    variant: str, rho: float, targets: list[float], action_values: Tensor | None, rows: int
) -> None:
    found = {}
    for first, estimates, _ in chunks(golden(), variant, rho, 1.0, rows):
        for row in range(len(estimates.targets)):
            found[first + row] = estimates.targets[row, 0].item(), estimates.action_values[row, 0]
    assert [found[row][0] for row in range(6)] == pytest.approx(targets, abs=1e-6)
    if action_values is not None:
        torch.testing.assert_close(torch.stack([found[row][1] for row in range(6)]), action_values, atol=1e-6, rtol=0)


def test_variant_s_carries_the_worked_numbers_from_row_to_row() -> None:
    carries = {first: carry for first, _, carry in chunks(golden(), "s", math.inf, 1.0, 1)}
    expected = {
        7: (0, 0, 0, 0, 1), 6: (0, 0, 0, 0, 1), 5: (0.894855, 1.019855, 0, 0, 0.875), 4: (0, 0, 0.25, 1.059501, 1),
        3: (0, 0, 0.2, 1.050039, 1), 2: (0.023357, 0.023357, 0.2, 1.050039, 0.714286),
        1: (0.067405, 0.063512, 0.2, 1.050039, 0.833333),
    }  # fmt: skip
    for row, wanted in expected.items():
        assert [part[0, 0].item() for part in carries[row]] == pytest.approx(wanted, abs=1e-6), row


def test_variant_p_carries_the_worked_numbers_from_row_to_row() -> None:
    carries = {first: carry for first, _, carry in chunks(golden(), "p", 1.0, 1.0, 1)}
    first_player = {
        "targets": [1.116560, 1.114396, 1.114396, 1.114396, 1.195489],
        "rewards": [0, 0.069381, -0.036464, 0, 0, 1.067294],
        "ratio": [1, 0.833333, 0.714286, 1, 1, 0.875],
    }
    second_player = {
        "targets": [-0.870093, -0.870093, -0.758170, -0.971383, -0.971383, -0.971383],
        "rewards": [0.081093, 0, 0, 0.247448, 0.138629, 0],
        "ratio": [1.2, 1, 1, 1.5, 1.25, 1],
    }
    for player, wanted in enumerate((first_player, second_player)):
        for name, each in wanted.items():
            found = [getattr(carries[row], name)[player, 0].item() for row in range(len(each))]
            assert found == pytest.approx(each, abs=1e-6), (player, name)


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 64, 1000])
def test_sums_of_all_rows_at_once_are_those_of_one_row_after_the_other(rows: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    factors, terms = (torch.randn(rows, 2, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    behind = torch.randn(2, 3, generator=generator, dtype=torch.float64)
    expected = [behind]
    for factor, term in zip(reversed(factors), reversed(terms), strict=True):
        expected.append(term + factor * expected[-1])
    torch.testing.assert_close(backwards(factors, terms, behind), torch.stack(expected[::-1]))


def test_ratios_and_expected_regularisation_are_the_worked_ones() -> None:
    steps = golden()
    expected = numbers(
        "0.405465 -0.287682 -0.693147, -1.098612 0.559616 -0.405465, -0.182322 0.693147 -0.693147,"
        "-0.405465 -0.405465 0.405465, -0.510826 0.693147 -0.223144, -0.223144 0.336472 -0.916291"
    )
    torch.testing.assert_close(steps.log_ratios[:6, 0], expected, atol=1e-6, rtol=0)
    bonuses = [-0.017532, 0.040155, 0.023357, -0.016219, -0.029739, 0.019855]
    ratios = [1.2, 1.166667, 0.714286, 1.2, 1.25, 0.875]
    for row, (bonus, wanted) in enumerate(zip(bonuses, ratios, strict=True)):
        # A row by itself, without what it pays: the other player's carry has the bonus, and the ratio.
        step = Steps(*(column[row : row + 1] for column in steps))._replace(rewards=torch.zeros(1, 1).double())
        estimates, carry = vtrace_s(step, Carry.at_the_end(step.values[0]), ETA, math.inf, 1.0)
        other, sign = 1 - PLAYERS[row], 1 if PLAYERS[row] else -1
        assert carry.regularised[other].item() == pytest.approx(sign * bonus, abs=1e-6)
        assert carry.ratio[other].item() == pytest.approx(wanted, abs=1e-6)
        # The player's own target: v + ratio · (h − v).
        value = step.values.item()
        own = (estimates.targets.item() - value) / wanted + value
        assert own == pytest.approx(-sign * bonus, abs=3e-6)


def test_rewards_of_the_regularised_game_are_the_worked_ones() -> None:
    steps = golden()
    taken = steps.log_ratios.gather(2, steps.places[:, :, None]).squeeze(2)[:6, 0]
    own = torch.tensor(PLAYERS) == 0
    found = transformed_rewards(steps.rewards[:6, 0], own, taken, ETA)
    assert found.tolist() == pytest.approx([-0.081093, 0.111923, -0.036464, -0.081093, -0.138629, 1.067294], abs=1e-6)
    other = transformed_rewards(-steps.rewards[:6, 0], ~own, taken, ETA)
    torch.testing.assert_close(other, -found)


# ── A.4: bias, exactly, over all plays of Kuhn poker ─────────────────────────────────────────────

ENDS = ["pp", "bp", "bb", "pbp", "pbb"]
PASS_BET = "pb"


def worth(cards: tuple[int, int], play: str) -> float:
    """Of an end to the first player."""
    if play == "bp":
        return 1.0
    if play == "pbp":
        return -1.0
    return (2.0 if play.endswith("bb") else 1.0) * (1 if cards[0] > cards[1] else -1)


class Kuhn:
    """All plays of Kuhn poker under a policy μ, and what they are worth under another, π, in the regularised game."""

    def __init__(self, seed: int, on_policy: bool = False) -> None:
        generator = torch.Generator().manual_seed(seed)

        def policies() -> dict[str, Tensor]:
            names = [f"{card}{play}" for card in range(3) for play in ("", "p", "b", "pb")]
            return {name: torch.rand(2, generator=generator, dtype=torch.float64).softmax(0) for name in names}

        self.policy, self.regular = policies(), policies()
        self.behaviour = self.policy if on_policy else policies()
        self.guesses = {name: torch.rand((), generator=generator, dtype=torch.float64) - 0.5 for name in self.policy}

    def log_ratio(self, name: str) -> Tensor:
        return (self.policy[name] / self.regular[name]).log()

    def exact(self, cards: tuple[int, int], play: str, player: int) -> float:
        """Of a position to a player: what comes of it if both go on by π."""
        if play in ENDS:
            return worth(cards, play) * (1 - 2 * player)
        mover = len(play) % 2
        name = f"{cards[mover]}{play}"
        sign = -ETA if mover == player else ETA
        return sum(
            float(chance) * (sign * float(log_ratio) + self.exact(cards, play + action, player))
            for action, chance, log_ratio in zip(PASS_BET, self.policy[name], self.log_ratio(name), strict=True)
        )

    def plays(self) -> list[tuple[tuple[int, int], str, float]]:
        """Every play, with its probability under μ."""
        found = []
        for cards in permutations(range(3), 2):
            for play in ENDS:
                chance = 1 / 6
                for ply, action in enumerate(play):
                    chance *= float(self.behaviour[f"{cards[ply % 2]}{play[:ply]}"][PASS_BET.index(action)])
                found.append((cards, play, chance))
        return found

    def steps(self) -> Steps:
        """All of them as one batch."""
        plays, width = self.plays(), 3
        played, players, places, rewards, sampled, policy, log_ratio, values = [], [], [], [], [], [], [], []
        for ply in range(width):
            names = [f"{cards[ply % 2]}{play[:ply]}" if ply < len(play) else f"{cards[0]}" for cards, play, _ in plays]
            there = [ply < len(play) for _, play, _ in plays]
            taken = [PASS_BET.index(play[ply]) if ply < len(play) else 0 for _, play, _ in plays]
            played.append(torch.tensor(there))
            players.append(torch.full((len(plays),), ply % 2))
            places.append(torch.tensor(taken))
            rewards.append(
                torch.tensor(
                    [worth(cards, play) if ply == len(play) - 1 else 0 for cards, play, _ in plays], dtype=torch.float64
                )
            )
            sampled.append(torch.stack([self.behaviour[name][place] for name, place in zip(names, taken, strict=True)]))
            policy.append(torch.stack([self.policy[name] for name in names]))
            log_ratio.append(torch.stack([self.log_ratio(name) for name in names]))
            values.append(torch.stack([self.guesses[name] for name in names]))
        columns = (played, players, places, rewards, sampled, policy, log_ratio, values)
        return Steps(*(torch.stack(column) for column in columns))

    def bias(self, variant: str, rho: float) -> float:
        """The largest error of an action value's expectation, over all positions and actions."""
        steps, plays = self.steps(), self.plays()
        estimates, _ = VARIANTS[variant](steps, Carry.at_the_end(steps.values[0]), ETA, rho, 1.0)
        worst = 0.0
        for cards in permutations(range(3), 2):
            for play in ("", "p", "b", "pb"):
                ply = len(play)
                through = [
                    (number, chance)
                    for number, (hand, whole, chance) in enumerate(plays)
                    if hand == cards and whole.startswith(play) and len(whole) > ply
                ]
                total = sum(chance for _, chance in through)
                mean = sum(chance / total * estimates.action_values[ply, number] for number, chance in through)
                player = ply % 2
                log_ratio = self.log_ratio(f"{cards[player]}{play}")
                for place, action in enumerate(PASS_BET):
                    exact = -ETA * float(log_ratio[place]) + self.exact(cards, play + action, player)
                    worst = max(worst, abs(float(mean[place]) - exact))
        return worst


def test_variant_s_without_a_bound_has_no_bias_whoever_played_and_the_others_have() -> None:
    for seed in range(3):
        kuhn = Kuhn(seed)
        assert sum(chance for *_, chance in kuhn.plays()) == pytest.approx(1)
        assert kuhn.bias("s", math.inf) < 1e-12
        assert 0.01 < kuhn.bias("s", 1.0) < 1
        assert kuhn.bias("p", 1.0) > 0.3


def test_on_policy_no_variant_has_a_bias() -> None:
    for seed in range(3):
        kuhn = Kuhn(seed, on_policy=True)
        assert kuhn.bias("s", 1.0) < 1e-12 and kuhn.bias("p", 1.0) < 1e-12


def test_both_variants_agree_on_policy_and_without_regularisation() -> None:
    steps = Kuhn(5, on_policy=True).steps()
    start = Carry.at_the_end(steps.values[0])
    for one, other in zip(vtrace_s(steps, start, 0.0, 1, 1)[0], vtrace_p(steps, start, 0.0, 1, 1)[0], strict=True):
        torch.testing.assert_close(one[steps.played], other[steps.played], atol=1e-12, rtol=0)


# ── A.5: losses ──────────────────────────────────────────────────────────────────────────────────


def test_neurd_has_the_worked_loss_and_pushes_logits() -> None:
    logits = torch.tensor([[3.0, 0.5, -1.5, -2.5, 7.0]], dtype=torch.float64, requires_grad=True)
    legal = torch.tensor([[True, True, True, True, False]])
    log_policy = logits.masked_fill(~legal, -torch.inf).log_softmax(1)
    action_values = torch.tensor([[0.9, 0.2, -0.4, -0.6, 99.0]], dtype=torch.float64)
    assert log_policy.exp()[0].tolist() == pytest.approx([0.911344, 0.074808, 0.010124, 0.003724, 0], abs=1e-6)
    loss = neurd_losses(log_policy, action_values, beta=2.0, clip=10_000)
    assert loss.item() == pytest.approx(-1.296665, abs=1e-6)
    loss.sum().backward()
    advantages = action_values[0, :4] - (log_policy.exp()[0, :4] * action_values[0, :4]).sum()
    assert advantages.tolist() == pytest.approx([0.071113, -0.628887, -1.228887, -1.428887], abs=1e-6)
    force = torch.tensor([0, -0.628887, -1.228887, 0], dtype=torch.float64)
    # Through l̄, the logits less their mean: what is pushed down pushes all others up a little.
    expected = [*(-(force - force.mean())).tolist(), 0.0]
    assert logits.grad is not None and logits.grad[0].tolist() == pytest.approx(expected, abs=1e-6)


def test_neurd_clips_advantages() -> None:
    log_policy = torch.tensor([[0.5, 0.5]]).log()
    loss = neurd_losses(log_policy + torch.tensor([[0.2, -0.2]]), torch.tensor([[10.0, -10.0]]), beta=2.0, clip=1.0)
    assert loss.item() == pytest.approx(-(0.2 * 1 + -0.2 * -1), abs=1e-6)


def test_the_critic_learns_its_targets_by_squared_errors_without_moving_them() -> None:
    values = torch.tensor([1.0, -1.0], requires_grad=True)
    targets = torch.tensor([0.5, -1.0], requires_grad=True)
    losses = value_losses(values, targets)
    losses.sum().backward()
    assert losses.tolist() == [0.25, 0.0] and targets.grad is None
    assert values.grad is not None and values.grad.tolist() == [1.0, 0.0]


# ── A.6: processing policies ─────────────────────────────────────────────────────────────────────

PROCESSED = [
    (".55 .25 .12 .05 .02 .01", ".567010 .257732 .123711 .051546 0 0", "19 9 4 0 0 0", "10 5 1 0 0 0"),
    (".2 .2 .2 .2 .2", ".2 .2 .2 .2 .2", "7 7 7 7 4", "4 4 4 4 0"),
    (".9 .05 .03 .02", ".918367 .051020 .030612 0", "30 2 0 0", "15 1 0 0"),
    (".4 .3 .2 .07 .03", ".4 .3 .2 .07 .03", "13 10 7 2 0", "7 5 4 0 0"),
    (".33 .33 .34", ".33 .33 .34", "11 10 11", "6 4 6"),
    (".025 " * 40, ".025 " * 40, "1 " * 32 + "0 " * 8, "1 " * 16 + "0 " * 24),
    (".029 .971", "0 1", "0 32", "0 16"),
]


@pytest.mark.parametrize(("policy", "above", "in_32", "in_16"), PROCESSED)
def test_policies_are_processed_as_worked_out(policy: str, above: str, in_32: str, in_16: str) -> None:
    kept = threshold(numbers(policy), 0.03)
    torch.testing.assert_close(kept, numbers(above), atol=1e-6, rtol=0)
    for levels, wanted in ((32, in_32), (16, in_16)):
        torch.testing.assert_close(discretise(kept, levels) * levels, numbers(wanted))


def test_a_quarter_is_eight_of_32_parts_whatever_rounding_makes_of_it() -> None:
    assert (discretise(numbers("0.25 0.5 0.25"), 32) * 32).tolist() == [[8, 16, 8]]
    policy = torch.tensor([[0.1 + 0.15, 0.75]], dtype=torch.float64)
    assert (discretise(policy, 32) * 32).tolist() == [[8, 24]]
