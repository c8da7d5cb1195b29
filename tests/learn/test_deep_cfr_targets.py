"""The formulas of Deep CFR with outcome sampling: a worked play, exact expectations over Kuhn poker, long plays."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import pytest
import torch

from vauban.learn.deep_cfr import targets
from vauban.learn.deep_cfr.targets import (
    Paths,
    advantage_loss,
    advantages,
    explored,
    linear_weight,
    strategy_factors,
    traverser_of,
)

EXPLORATION = Fraction(3, 5)
PASS, BET = 0, 1


def paths_of(plays: list[list[tuple[bool, int, float, float]]], utilities: list[float]) -> Paths:
    """Return plays, each a list of (own, number of actions, σ(a), σ′(a)), side by side."""
    longest = max(map(len, plays))
    shape = (longest, len(plays))
    played, own = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
    widths = torch.zeros(shape, dtype=torch.int32)
    log_policy, log_sampled = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)
    for game, play in enumerate(plays):
        for step, (mine, width, probability, sampled) in enumerate(play):
            played[step, game], own[step, game], widths[step, game] = True, mine, width
            log_policy[step, game] = math.log(probability) if probability else -math.inf
            log_sampled[step, game] = math.log(sampled)
    return Paths(played, own, widths, log_policy, log_sampled, torch.tensor(utilities))


# The first player holds the queen and explores, the second holds the jack: pass, bet, bet, and the first wins 2.
QUEEN = [(True, 2, 0.8, 0.62), (False, 2, 0.3, 0.3), (True, 2, 0.4, 0.46)]


def test_a_worked_play_of_kuhn_poker_gives_its_numbers() -> None:
    paths = paths_of([QUEEN], [2.0])
    found = advantages(paths, "printed")
    root, answer = (step.squeeze(1).tolist() for step in (torch.stack(found)[:, 0], torch.stack(found)[:, 2]))
    assert root == pytest.approx([4.675082, -18.700327, 0.12], abs=1e-6)
    assert answer == pytest.approx([14.025245, -9.350164, 0.3], abs=1e-6)
    assert strategy_factors(paths)[1].item() == pytest.approx(1.612903, abs=1e-6)
    for weights, probabilities_in in (("printed", "value"), ("own", "weight")):
        found = advantages(paths, weights, probabilities_in)
        assert found.factor[[0, 2]].flatten().tolist() == [1, 1]
        assert found.taken[[0, 2]].flatten().tolist() == pytest.approx([0.561010, 4.207574], abs=1e-6)
        assert found.others[[0, 2]].flatten().tolist() == pytest.approx([-2.244039, -2.805049], abs=1e-6)


def test_the_bounded_target_and_its_weight_make_up_the_estimate_by_the_number_of_earlier_actions() -> None:
    paths = paths_of([QUEEN], [2.0])
    own, dream = advantages(paths, "own"), advantages(paths, "dream")
    # At the root nothing of the traverser's lies before; at the answer one choice between two actions does.
    for step, alternatives in ((0, 1), (2, 2)):
        for mine, theirs in ((own.taken, dream.taken), (own.others, dream.others)):
            assert (dream.factor * theirs * alternatives)[step].item() == pytest.approx(mine[step].item(), abs=1e-12)
    assert dream.taken[2].item() == pytest.approx(2 * (1 - 0.4) / 0.46)


# ── Expectations over all plays of Kuhn poker ────────────────────────────────────────────────────


class Choice(NamedTuple):
    card: int
    before: str
    action: int


def policy(card: int, before: str) -> tuple[Fraction, Fraction]:
    """Return the probabilities of pass and bet; even but for the information sets of the worked play."""
    special = {(1, ""): Fraction(4, 5), (0, "p"): Fraction(7, 10), (1, "pb"): Fraction(3, 5)}
    passes = special.get((card, before), Fraction(1, 2))
    return passes, 1 - passes


def worth(cards: tuple[int, ...], line: str) -> int:
    """Return what the first player wins."""
    higher = 1 if cards[0] > cards[1] else -1
    return {"pp": higher, "bb": 2 * higher, "pbb": 2 * higher, "bp": 1, "pbp": -1}[line]


def plays(traverser: int) -> Iterator[tuple[Fraction, list[Choice], list[tuple[Fraction, Fraction]], int]]:
    """All plays: the probability that the sampler makes it, its choices, σ(a) and σ′(a) of each, its utility."""
    for cards in itertools.permutations(range(3), 2):
        for line in ("pp", "bb", "pbb", "bp", "pbp"):
            chance, choices, probabilities = Fraction(1, 6), [], []
            for step, letter in enumerate(line):
                player, action = step % 2, "pb".index(letter)
                by_policy = policy(cards[player], line[:step])[action]
                sampled = by_policy
                if player == traverser:
                    sampled = (1 - EXPLORATION) * by_policy + EXPLORATION / 2
                chance *= sampled
                choices.append(Choice(cards[player], line[:step], action))
                probabilities.append((by_policy, sampled))
            utility = worth(cards, line) * (1 if traverser == 0 else -1)
            yield chance, choices, probabilities, utility


def exact_regrets(traverser: int) -> dict[Choice, Fraction]:
    """Counterfactual regrets by their definition: chance's and the other player's reach, and values behind."""
    found: dict[Choice, Fraction] = {}

    def value(cards: tuple[int, ...], line: str, reach: Fraction) -> Fraction:
        if line in ("pp", "bb", "pbb", "bp", "pbp"):
            return Fraction(worth(cards, line) * (1 if traverser == 0 else -1))
        player = len(line) % 2
        mine = policy(cards[player], line)
        below = [value(cards, line + "pb"[a], reach if player == traverser else reach * mine[a]) for a in (PASS, BET)]
        here = sum((mine[a] * below[a] for a in (PASS, BET)), Fraction(0))
        if player == traverser:
            for action in (PASS, BET):
                key = Choice(cards[player], line, action)
                found[key] = found.get(key, Fraction(0)) + reach * (below[action] - here)
        return here

    for cards in itertools.permutations(range(3), 2):
        value(cards, "", Fraction(1, 6))
    return found


def test_regrets_of_the_worked_profile_are_the_known_fractions() -> None:
    first, second = exact_regrets(0), exact_regrets(1)
    assert [first[Choice(1, "", action)] for action in (PASS, BET)] == [Fraction(-6, 125), Fraction(24, 125)]
    assert [first[Choice(1, "pb", action)] for action in (PASS, BET)] == [Fraction(-2, 75), Fraction(1, 25)]
    assert [second[Choice(0, "p", action)] for action in (PASS, BET)] == [Fraction(-89, 2000), Fraction(623, 6000)]


@pytest.mark.parametrize(
    ("weights", "probabilities_in"),
    [("printed", "weight"), ("printed", "value"), ("own", "weight"), ("dream", "weight")],
)
@pytest.mark.parametrize("traverser", [0, 1])
def test_weighted_targets_are_the_regrets_in_expectation(traverser: int, weights: str, probabilities_in: str) -> None:
    made = list(plays(traverser))
    paths = paths_of(
        [
            [(step % 2 == traverser, 2, float(a), float(b)) for step, (a, b) in enumerate(probabilities)]
            for _, _, probabilities, _ in made
        ],
        [float(utility) for *_, utility in made],
    )
    found = advantages(paths, weights, probabilities_in)
    expected: dict[Choice, float] = {}
    for game, (chance, choices, _, _) in enumerate(made):
        for step, choice in enumerate(choices):
            if step % 2 != traverser:
                continue
            for action in (PASS, BET):
                target = (found.taken if action == choice.action else found.others)[step, game].item()
                key = choice._replace(action=action)
                expected[key] = expected.get(key, 0.0) + float(chance) * found.factor[step, game].item() * target
    for choice, regret in exact_regrets(traverser).items():
        earlier = len(choice.before) // 2  # own choices before, between two actions each
        scale = 2**earlier if weights == "dream" else 1
        assert scale * expected[choice] == pytest.approx(float(regret), abs=1e-13)


@pytest.mark.parametrize("traverser", [0, 1])
def test_what_counts_as_often_as_it_is_reached_is_the_regret_by_the_players_own_reach(traverser: int) -> None:
    """In expectation, before an action counts by σ′ of it, which is the same number in its target and its weight."""
    made = list(plays(traverser))
    paths = paths_of(
        [[(s % 2 == traverser, 2, float(a), float(b)) for s, (a, b) in enumerate(each)] for _, _, each, _ in made],
        [float(utility) for *_, utility in made],
    )
    found = advantages(paths, "reached")
    assert bool((found.factor == 1).all())
    expected: dict[Choice, float] = {}
    for game, (chance, choices, _, _) in enumerate(made):
        for step, choice in enumerate(choices):
            for action in (PASS, BET) if step % 2 == traverser else ():
                target = (found.taken if action == choice.action else found.others)[step, game].item()
                key = choice._replace(action=action)
                expected[key] = expected.get(key, 0.0) + float(chance) * target
    for choice, regret in exact_regrets(traverser).items():
        reach = Fraction(1)
        for step, letter in enumerate(choice.before):
            if step % 2 == traverser:
                share = policy(choice.card, choice.before[:step])["pb".index(letter)]
                reach *= (1 - EXPLORATION) * share + EXPLORATION / 2
        assert expected[choice] == pytest.approx(float(reach * regret), abs=1e-13)


def test_actions_may_weigh_by_themselves() -> None:
    values, wanted = torch.tensor([[1.0, 2.0, 9.0]]), torch.tensor([[0.0, 5.0, 0.0]])
    there, weights = torch.tensor([[True, True, False]]), torch.tensor([2.0])
    assert advantage_loss(values, wanted, there, weights).item() == 2 * (1 + 9)
    shares = torch.tensor([[0.25, 0.5, 1.0]])
    assert advantage_loss(values, wanted, there, weights, shares).item() == 2 * (0.25 * 1 + 0.5 * 9)


@pytest.mark.parametrize("traverser", [0, 1])
def test_bounded_targets_are_divided_by_the_same_number_for_all_actions(traverser: int) -> None:
    """The weights of `dream` add up to the other player's reach by the number of own actions before."""
    made = list(plays(traverser))
    paths = paths_of(
        [[(s % 2 == traverser, 2, float(a), float(b)) for s, (a, b) in enumerate(each)] for _, _, each, _ in made],
        [float(utility) for *_, utility in made],
    )
    factors = advantages(paths, "dream").factor
    found: dict[tuple[int, str], float] = {}
    for game, (chance, choices, _, _) in enumerate(made):
        for step, choice in enumerate(choices):
            if step % 2 == traverser:
                key = choice.card, choice.before
                found[key] = found.get(key, 0.0) + float(chance) * factors[step, game].item()
    reaches: dict[tuple[int, str], Fraction] = {}
    for cards in itertools.permutations(range(3), 2):
        for before in {before for _, before in found}:
            reach = Fraction(1, 6 * 2 ** (len(before) // 2))
            for step, letter in enumerate(before):
                if step % 2 != traverser:
                    reach *= policy(cards[step % 2], before[:step])["pb".index(letter)]
            key = cards[traverser], before
            reaches[key] = reaches.get(key, Fraction(0)) + reach
    assert found == pytest.approx({key: float(reach) for key, reach in reaches.items()}, abs=1e-13)
    assert len(found) == 6


@pytest.mark.parametrize("traverser", [0, 1])
def test_strategy_weights_count_each_set_as_often_as_its_player_comes_there_by_itself(traverser: int) -> None:
    found: dict[tuple[int, str], float] = {}
    made = list(plays(traverser))
    paths = paths_of(
        [[(s % 2 == traverser, 2, float(a), float(b)) for s, (a, b) in enumerate(each)] for _, _, each, _ in made],
        [float(utility) for *_, utility in made],
    )
    factors = strategy_factors(paths)
    for game, (chance, choices, _, _) in enumerate(made):
        for step, choice in enumerate(choices):
            if step % 2 != traverser:
                key = choice.card, choice.before
                found[key] = found.get(key, 0.0) + float(chance) * factors[step, game].item()
    # Each of the two other cards leads here by chance with probability 1/6, whatever its holder likes to do; after
    # pass and bet, the player on turn has passed before.
    expected = {key: (policy(key[0], "")[0] if key[1] == "pb" else 1) * Fraction(1, 3) for key in found}
    assert found == pytest.approx({key: float(number) for key, number in expected.items()}, abs=1e-13)
    assert len(found) == 6


# ── Long plays ───────────────────────────────────────────────────────────────────────────────────


def exactly_cut(number: Fraction) -> float:
    return float(max(min(number, Fraction(10**6)), Fraction(-(10**6))))


@pytest.mark.parametrize("exploration", [Fraction(3, 5), Fraction(1, 50)])
def test_logarithms_keep_what_products_of_a_hundred_probabilities_lose(exploration: Fraction) -> None:
    rng = random.Random(1)
    steps: list[tuple[bool, int, Fraction, Fraction]] = []
    for step in range(100):
        width = rng.randint(3, 30)
        chosen = Fraction(rng.randint(1, 999), 1000)
        own = step % 2 == 0
        steps.append((own, width, chosen, (1 - exploration) * chosen + exploration / width if own else chosen))
    paths = paths_of([[(own, width, float(a), float(b)) for own, width, a, b in steps]], [-1.0])
    utility = Fraction(-1)
    sampled = math.prod((b for *_, b in steps), start=Fraction(1))
    assert float(sampled) < 1e-38 or exploration < Fraction(1, 2)
    printed, own_only, dream, reached = (advantages(paths, weights) for weights in targets.WEIGHTS)
    assert torch.equal(reached.taken, dream.taken)
    in_value = advantages(paths, "printed", "value")
    for place in range(0, 100, 2):
        _, _, here, _ = steps[place]
        tail = math.prod((a for _, _, a, _ in steps[place + 1 :]), start=Fraction(1))
        theirs = math.prod((a for own, _, a, _ in steps[:place] if not own), start=Fraction(1))
        estimate = utility * theirs * tail / sampled * (1 - here)
        assert in_value.taken[place].item() == pytest.approx(exactly_cut(estimate), rel=1e-9, abs=1e-300)
        assert own_only.taken[place].item() == pytest.approx(exactly_cut(estimate), rel=1e-9, abs=1e-300)
        assert printed.taken[place].item() == pytest.approx(exactly_cut(utility / sampled * (1 - here)), rel=1e-9)
        factor = max(min(theirs * tail, Fraction(10**6)), Fraction(1, 10**6))
        assert printed.factor[place].item() == pytest.approx(float(factor), rel=1e-9)
        before = math.prod((b for own, _, _, b in steps[:place] if own), start=Fraction(1))
        assert dream.taken[place].item() == pytest.approx(exactly_cut(estimate * before), rel=1e-9, abs=1e-300)
        assert printed.others[place].item() == pytest.approx(exactly_cut(-utility / sampled * here), rel=1e-9)


def test_where_exploration_plays_what_the_strategy_never_does_nothing_before_it_is_learned() -> None:
    play = [(True, 2, 0.5, 0.5), (False, 2, 0.5, 0.5), (True, 2, 0.0, 0.3), (True, 2, 1.0, 0.7)]
    for weights in ("own", "dream", "reached"):
        found = advantages(paths_of([play], [1.0]), weights)
        assert found.taken[0].item() == found.others[0].item() == 0
        assert found.taken[2].item() > 0 and found.others[2].item() == 0
        assert found.taken[3].item() == 0 and found.others[3].item() < 0  # the only action that σ ever plays
    printed = advantages(paths_of([play], [1.0]), "printed")
    assert printed.factor[0].item() == pytest.approx(1e-6)  # the published bound of weights, not 0
    assert all(part.isfinite().all() for part in printed)


def test_a_drawn_game_has_nothing_to_learn_but_strategies() -> None:
    paths = paths_of([QUEEN], [0.0])
    for weights in targets.WEIGHTS:
        found = advantages(paths, weights)
        assert found.taken.abs().sum() == found.others.abs().sum() == 0
    assert strategy_factors(paths)[1].item() == pytest.approx(1 / 0.62)


def test_players_take_turns_and_weights_count_a_players_own_iterations() -> None:
    assert [linear_weight(t) for t in range(1, 7)] == [1, 1, 2, 2, 3, 3]
    assert [traverser_of(t) for t in range(1, 7)] == [0, 1, 0, 1, 0, 1]


def test_exploring_mixes_evenly_over_the_legal_actions_alone() -> None:
    there = torch.tensor([[True, True, True, False], [True, False, False, False]])
    mixed = explored(torch.tensor([[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]), there, 0.6)
    assert torch.allclose(mixed, torch.tensor([[0.4, 0.4, 0.2, 0.0], [1.0, 0.0, 0.0, 0.0]]))
