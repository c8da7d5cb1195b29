"""Solvers against golden numbers of matrix games, Kuhn and Leduc, computed elsewhere (docs/solve.md)."""

from __future__ import annotations

import re
import sys
from fractions import Fraction

import numpy as np
import pytest

from vauban.errors import ConfigurationError
from vauban.games.base import CHANCE
from vauban.games.kuhn import ACTIONS
from vauban.games.matrix import NAMED, random_antisymmetric
from vauban.games.small import CARDS
from vauban.solve import (
    CFR,
    CFRPlus,
    ExternalSampling,
    OutcomeSampling,
    Solver,
    Table,
    Tree,
    best_response,
    build_tree,
    counterfactual_regrets,
    evaluate,
    fictitious_play,
    first,
    joined,
    matrix_nash_conv,
    regret_matching_plus,
    solve_matrix,
    solve_tree,
    uniform,
)
from vauban.solve.walk import TERMINAL

# ── Matrix games ─────────────────────────────────────────────────────────────────────────────────

THIRD = 1 / 3
EQUILIBRIA = {
    "matching-pennies": (0, [0.5, 0.5], [0.5, 0.5]),
    "rock-paper-scissors": (0, [THIRD] * 3, [THIRD] * 3),
    "rps-x": (0, [0, 0, 0, 1], [0, 0, 0, 1]),
    "matrix-b2": (1 / 7, [3 / 7, 4 / 7], [2 / 7, 5 / 7]),
    "matrix-b3": (1 / 2, [1 / 4, 3 / 4, 0], [1 / 2, 1 / 2, 0]),
}


@pytest.mark.parametrize("name", EQUILIBRIA)
def test_games_2_linear_programs_find_the_equilibria(name: str) -> None:
    value, row, column = EQUILIBRIA[name]
    found = solve_matrix(NAMED[name][0])
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.row == pytest.approx(row, abs=1e-9)
    assert found.column == pytest.approx(column, abs=1e-9)


@pytest.mark.parametrize("name", EQUILIBRIA)
def test_games_2_the_tree_of_a_matrix_game_has_the_same_equilibrium(name: str) -> None:
    value, row, column = EQUILIBRIA[name]
    tree = build_tree(name)
    rows, columns = np.shape(NAMED[name][0])
    assert tree.histories == 1 + rows + rows * columns
    assert tree.information_sets == (1, 1), "the second player must not see the row"
    found = evaluate(tree, np.array([*row, *column], float))
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.nash_conv == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("name", "gap"), [("matching-pennies", 0), ("rock-paper-scissors", 0), ("rps-x", 0.6)])
def test_games_2_nash_conv_of_uniform_play(name: str, gap: float) -> None:
    tree = build_tree(name)
    assert evaluate(tree, uniform(tree)).nash_conv == pytest.approx(gap, abs=1e-12)
    even = np.full(len(NAMED[name][0]), 1 / len(NAMED[name][0]))
    assert matrix_nash_conv(NAMED[name][0], even, even) == pytest.approx(gap, abs=1e-12)


def test_games_2_best_responses_in_the_counterexample() -> None:
    tree = build_tree("rps-x")
    rock, x = 0, 3
    got, answer = best_response(tree, np.array([THIRD, THIRD, THIRD, 0] * 2), 1)
    assert got == pytest.approx(2 / 5) and answer[4 + x] == 1
    got, answer = best_response(tree, np.array([0.5, 0, 0.5, 0] * 2), 1)
    assert got == pytest.approx(1 / 2) and answer[4 + rock] == 1
    assert answer[:4].tolist() == [0.5, 0, 0.5, 0], "the other player's part is as it was"


RANDOM = [
    (3, 0, {2: 1.0}, 0.459493175),
    (3, 1, {0: 1.0}, 0.308190214),
    (5, 0, {0: 0.146665, 1: 0.664960, 4: 0.188375}, 0.278279962),
    (5, 1, dict(enumerate([0.088987, 0.333507, 0.108326, 0.327210, 0.141970])), 0.222037752),
    (10, 0, {1: 0.124270, 3: 0.535553, 4: 0.340176}, 0.282964181),
]


@pytest.mark.parametrize(("n", "seed", "mix", "exploited"), RANDOM)
def test_games_2_random_antisymmetric_games(n: int, seed: int, mix: dict[int, float], exploited: float) -> None:
    payoffs = random_antisymmetric(n, seed)
    wanted = np.zeros(n)
    wanted[list(mix)] = list(mix.values())
    found = solve_matrix(payoffs)
    assert found.value == pytest.approx(0, abs=1e-9)
    assert found.row == pytest.approx(wanted, abs=1e-6)
    assert found.column == pytest.approx(wanted, abs=1e-6)
    assert (payoffs @ np.full(n, 1 / n)).max() == pytest.approx(exploited, abs=1e-9)


@pytest.mark.parametrize(
    ("seed", "support", "exploited"), [(0, 27, 0.177047754), (1, 31, 0.125164845), (2, 35, 0.159342547)]
)
def test_games_2_random_games_of_sixty(seed: int, support: int, exploited: float) -> None:
    payoffs = random_antisymmetric(60, seed)
    assert (solve_matrix(payoffs).row > 1e-9).sum() == support
    assert (payoffs @ np.full(60, 1 / 60)).max() == pytest.approx(exploited, abs=1e-9)


def test_games_2_fictitious_play_of_rock_paper_scissors() -> None:
    payoffs = np.array(NAMED["rock-paper-scissors"][0], float)
    mixes = {
        1: (0.666667, 0.166667, 0.166667),
        2: (0.444444, 0.444444, 0.111111),
        3: (0.333333, 0.583333, 0.083333),
        10: (0.212121, 0.303030, 0.484848),
    }
    for iterations, mix in mixes.items():
        assert fictitious_play(payoffs, iterations) == pytest.approx(mix, abs=1e-6)
    curve = {1: 0.5, 2: 1 / 3, 3: 0.25, 10: 0.181818182, 100: 0.069306931, 1000: 0.020979021}
    for iterations, exploited in curve.items():
        assert (payoffs @ fictitious_play(payoffs, iterations)).max() == pytest.approx(exploited, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "curve"),
    [
        (5, {10: 0.188249608, 100: 0.041822771, 1000: 0.008061237, 2000: 0.005437009}),
        (60, {100: 0.125458083, 2000: 0.029870007, 20000: 0.010197519}),
    ],
)
def test_games_2_fictitious_play_of_random_games(n: int, curve: dict[int, float]) -> None:
    payoffs = random_antisymmetric(n, 0)
    for iterations, exploited in curve.items():
        assert (payoffs @ fictitious_play(payoffs, iterations)).max() == pytest.approx(exploited, abs=1e-9)


def test_fictitious_play_refuses_a_game_that_is_not_symmetric() -> None:
    with pytest.raises(ValueError, match="symmetric"):
        fictitious_play([[1, -1], [-1, 1]], 10)


def test_games_2_regret_matching_plus_on_b3() -> None:
    payoffs = NAMED["matrix-b3"][0]
    for iterations, gap in {10: 0.352801073, 100: 0.006271008, 1000: 0.000201485}.items():
        assert matrix_nash_conv(payoffs, *regret_matching_plus(payoffs, iterations)) == pytest.approx(gap, abs=1e-9)


# ── Kuhn poker ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def kuhn() -> Tree:
    return build_tree("kuhn")


@pytest.fixture(scope="module")
def leduc() -> Tree:
    return build_tree("leduc")


def kuhn_slots(tree: Tree) -> dict[str, slice]:
    """Return the information sets of Kuhn poker by name: the own card, then the actions so far, as in "Qpb"."""
    named = {}
    for player in (0, 1):
        own = np.flatnonzero(tree.groups.owner == player)
        for each, bytes_ in zip(own, tree.views(own).store.bytes, strict=True):
            actions = "".join(" pb"[code] for code in bytes_[ACTIONS:]).strip()
            named["JQK"[bytes_[CARDS + player]] + actions] = tree.slots_of(int(each))
    return named


def kuhn_table(tree: Tree, bets: dict[str, float]) -> Table:
    """Return the policy that bets with these probabilities, and passes everywhere else with certainty."""
    table = np.zeros(tree.slots)
    for name, slots in kuhn_slots(tree).items():
        table[slots] = 1 - bets.get(name, 0), bets.get(name, 0)
    return table


def test_games_3_kuhn_counts(kuhn: Tree) -> None:
    assert kuhn.histories == 58
    assert [kuhn.count(kind) for kind in (CHANCE, 0, 1, TERMINAL)] == [4, 12, 12, 30]
    assert kuhn.information_sets == (6, 6)
    assert kuhn.sequences == (13, 13)
    assert set(kuhn.widths) == {2}
    assert kuhn.depth == 2 + 3
    assert set(kuhn_slots(kuhn)) == {card + line for card in "JQK" for line in ("", "p", "b", "pb")}


def test_games_3_kuhn_uniform_and_always_pass(kuhn: Tree) -> None:
    even = evaluate(kuhn, uniform(kuhn))
    assert even.value == pytest.approx(1 / 8)
    assert even.best_responses[0] - even.value == pytest.approx(3 / 8)
    assert even.best_responses[1] + even.value == pytest.approx(13 / 24)
    assert even.nash_conv == pytest.approx(11 / 12)
    assert even.exploitability == pytest.approx(11 / 24)
    passing = evaluate(kuhn, first(kuhn))
    assert (passing.value, passing.nash_conv) == (pytest.approx(0), pytest.approx(2))


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 6), Fraction(1, 3)])
def test_games_3_kuhn_the_whole_family_of_equilibria_is_worth_minus_one_eighteenth(kuhn: Tree, alpha: Fraction) -> None:
    a = float(alpha)
    bets = {"J": a, "Qpb": a + 1 / 3, "K": 3 * a, "Kpb": 1, "Jp": 1 / 3, "Qb": 1 / 3, "Kp": 1, "Kb": 1}
    found = evaluate(kuhn, kuhn_table(kuhn, bets))
    assert found.value == pytest.approx(-1 / 18, abs=1e-12)
    assert found.best_responses == (pytest.approx(-1 / 18, abs=1e-12), pytest.approx(1 / 18, abs=1e-12))


def test_games_3_kuhn_beyond_the_family_there_is_no_equilibrium(kuhn: Tree) -> None:
    bets = {"J": 0.4, "Qpb": 0.4 + 1 / 3, "K": 1, "Kpb": 1, "Jp": 1 / 3, "Qb": 1 / 3, "Kp": 1, "Kb": 1}
    assert evaluate(kuhn, kuhn_table(kuhn, bets)).nash_conv > 0.01


def test_games_3_kuhn_regrets_of_the_first_iteration(kuhn: Tree) -> None:
    bet = {"J": 1 / 8, "Q": 1 / 8, "K": 1 / 8, "Jp": 1 / 24, "Qp": 1 / 24, "Kp": 1 / 24,
           "Jb": -1 / 12, "Qb": 1 / 12, "Kb": 1 / 4, "Jpb": -1 / 12, "Qpb": 1 / 12, "Kpb": 1 / 4}  # fmt: skip
    regrets = counterfactual_regrets(kuhn, uniform(kuhn))
    for name, slots in kuhn_slots(kuhn).items():
        assert regrets[slots] == pytest.approx([-bet[name], bet[name]], abs=1e-12), name
    solver = CFR(kuhn)
    solver.run(1)
    own = kuhn.slot_owners == 0
    assert solver.regrets[own] == pytest.approx(regrets[own]), "the first player's turn comes before any update"


POINTS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
CURVES = {
    ("kuhn", "cfr+"): (0.9166666667, 0.5277777778, 0.2826340326, 0.1466890590, 0.0653741813, 0.0202179547, 0.0055945012,
                       0.0023888082, 0.0005899210, 0.0003453937, 0.0001747306),
    ("kuhn", "cfr"): (0.9166666667, 0.5416666667, 0.3888888889, 0.2427777778, 0.1373975876, 0.0813403955, 0.0303532039,
                      0.0164519546, 0.0066592063, 0.0023371649, 0.0018752333),
    ("leduc", "cfr+"): (4.7472222222, 4.1158333333, 3.5870881648, 2.7424647409, 1.2208778032, 0.3473107469,
                        0.0682429130, 0.0268319899, 0.0099262591, 0.0018772707, 0.0005143032),
    ("leduc", "cfr"): (4.7472222222, 4.1226388889, 3.5976131738, 2.9426491194, 1.7771579663, 0.9062913068, 0.3781669319,
                       0.1914327060, 0.1076766478, 0.0430144183, 0.0236356205),
}  # fmt: skip
EXACT_UNTIL = {("leduc", "cfr+"): 100, ("leduc", "cfr"): 500}
"""Later the order of summation makes runs part: they agree within 10 %."""
VALUES = {
    "kuhn": {10: -0.0587249116, 100: -0.0555840065, 1000: -0.0555559176},
    "leduc": {10: -0.3552738051, 100: -0.0846327989, 1000: -0.0855934855},
}


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("kind", [CFR, CFRPlus])
def test_games_3_curves_of_cfr(name: str, kind: type[Solver], request: pytest.FixtureRequest) -> None:
    tree = request.getfixturevalue(name)
    solver = kind(tree)
    exact_until = EXACT_UNTIL.get((name, kind.name), 1000)
    for iterations, golden in zip(POINTS, CURVES[name, kind.name], strict=True):
        solver.run(iterations - solver.iterations)
        found = evaluate(tree, solver.average())
        within = {"abs": 1e-8 if name == "leduc" else 1e-9} if iterations <= exact_until else {"rel": 0.1}
        assert found.nash_conv == pytest.approx(golden, **within), f"after {iterations} iterations"
        if kind is CFRPlus and iterations in VALUES[name]:
            near = {"abs": 1e-8} if iterations <= exact_until else {"abs": 1e-4}
            assert found.value == pytest.approx(VALUES[name][iterations], **near)


def test_games_3_cfr_plus_approaches_the_value_of_kuhn_from_both_sides(kuhn: Tree) -> None:
    solver = CFRPlus(kuhn)
    solver.run(5000)
    low, high = evaluate(kuhn, solver.average()).bounds
    assert low <= -1 / 18 <= high and high - low < 1e-4


def test_without_scipy_a_linear_program_says_what_it_needs(kuhn: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("scipy", "scipy.optimize", "scipy.sparse"):
        monkeypatch.setitem(sys.modules, module, None)
    for solve in (lambda: solve_tree(kuhn), lambda: solve_matrix([[1, 0], [0, 1]])):
        with pytest.raises(ConfigurationError, match=re.escape('need scipy: pip install "vauban-games[solve]"')):
            solve()


def test_games_3_kuhn_by_linear_programming(kuhn: Tree) -> None:
    value, policy = solve_tree(kuhn)
    assert value == pytest.approx(-1 / 18, abs=1e-10)
    assert evaluate(kuhn, policy).nash_conv == pytest.approx(0, abs=1e-10)


def test_a_run_in_pieces_is_the_run_in_one(leduc: Tree) -> None:
    for make in (CFRPlus, lambda tree: ExternalSampling(tree, 3), lambda tree: OutcomeSampling(tree, 3)):
        pieces, one = make(leduc), make(leduc)
        for count in (1, 0, 20, 9):
            pieces.run(count)
        one.run(30)
        assert np.array_equal(pieces.average(), one.average())
        assert np.array_equal(pieces.regrets, one.regrets)


# ── Leduc poker ──────────────────────────────────────────────────────────────────────────────────


def test_games_4_leduc_counts(leduc: Tree) -> None:
    assert leduc.histories == 9457
    assert [leduc.count(kind) for kind in (CHANCE, 0, 1, TERMINAL)] == [157, 1890, 1890, 5520]
    assert leduc.information_sets == (468, 468)
    assert leduc.sequences == (1093, 1093)
    assert np.bincount(leduc.widths).tolist() == [0, 0, 624, 312]
    assert leduc.depth == 3 + 8
    ends = leduc.nodes.utility[leduc.nodes.kind == TERMINAL]
    assert (ends.min(), ends.max()) == (-13, 13)


def test_games_4_leduc_uniform_and_lowest_action(leduc: Tree) -> None:
    even = evaluate(leduc, uniform(leduc))
    assert even.value == pytest.approx(-5 / 64)
    assert even.best_responses[0] - even.value == pytest.approx(693 / 320)
    assert even.best_responses[1] + even.value == pytest.approx(1487 / 576)
    assert even.nash_conv == pytest.approx(1709 / 360)
    lowest = evaluate(leduc, first(leduc))
    assert (lowest.value, lowest.nash_conv) == (pytest.approx(0, abs=1e-12), pytest.approx(2))


def test_games_4_leduc_value_by_linear_programming(leduc: Tree) -> None:
    value, policy = solve_tree(leduc)
    assert value == pytest.approx(-0.085606424078, abs=1e-10)
    assert evaluate(leduc, policy).nash_conv == pytest.approx(0, abs=1e-9)


def test_cfr_plus_brings_leduc_below_a_hundredth_at_once(leduc: Tree) -> None:
    solver = CFRPlus(leduc)
    solver.run(200)
    assert evaluate(leduc, solver.average()).exploitability < 0.01


def test_a_best_response_earns_what_it_says(leduc: Tree) -> None:
    for player in (0, 1):
        got, answer = best_response(leduc, uniform(leduc), player)
        value = evaluate(leduc, answer).value
        assert got == pytest.approx(value if player == 0 else -value)
        other = leduc.slot_owners != player
        assert np.array_equal(answer[other], uniform(leduc)[other])
    two = joined(leduc, best_response(leduc, uniform(leduc), 0)[1], best_response(leduc, uniform(leduc), 1)[1])
    assert set(two) == {0, 1}


# ── Sampling ─────────────────────────────────────────────────────────────────────────────────────

BOUNDS = [
    ("kuhn", ExternalSampling, 100_000, 0.02),
    ("kuhn", OutcomeSampling, 400_000, 0.05),
    ("leduc", ExternalSampling, 300_000, 0.2),
    ("leduc", OutcomeSampling, 2_000_000, 0.4),
]


@pytest.mark.parametrize(("name", "kind", "iterations", "bound"), BOUNDS)
def test_sampling_converges(
    name: str, kind: type[Solver], iterations: int, bound: float, request: pytest.FixtureRequest
) -> None:
    tree = request.getfixturevalue(name)
    solver = kind(tree, seed=7)  # type: ignore[call-arg]
    solver.run(iterations // 100)
    early = evaluate(tree, solver.average()).nash_conv
    solver.run(iterations - solver.iterations)
    late = evaluate(tree, solver.average()).nash_conv
    assert late < bound and late < early / 3


def test_sampling_depends_on_the_seed_alone(kuhn: Tree) -> None:
    for kind in (ExternalSampling, OutcomeSampling):
        tables = []
        for seed in (1, 1, 2):
            solver = kind(kuhn, seed)
            solver.run(500)
            tables.append(solver.average())
        assert np.array_equal(tables[0], tables[1])
        assert not np.array_equal(tables[0], tables[2])


def test_options_that_cannot_be_used_are_refused(kuhn: Tree) -> None:
    with pytest.raises(ValueError, match="a seed is a whole number"):
        ExternalSampling(kuhn, -1)
    with pytest.raises(ValueError, match="exploration is above 0"):
        OutcomeSampling(kuhn, 1, exploration=0)
    with pytest.raises(ValueError, match="cannot be negative"):
        CFR(kuhn).run(-1)


C3 = {"Q": 0.2, "Jp": 0.3, "Qpb": 0.4}
"""A profile of Kuhn: probabilities to bet; elsewhere ½."""


def test_equilibrium_c_3_exact_regrets_of_the_worked_profile(kuhn: Tree) -> None:
    table = kuhn_table(kuhn, {name: C3.get(name, 0.5) for name in kuhn_slots(kuhn)})
    regrets, slots = counterfactual_regrets(kuhn, table), kuhn_slots(kuhn)
    assert regrets[slots["Q"]] == pytest.approx([-6 / 125, 24 / 125])
    assert regrets[slots["Qpb"]] == pytest.approx([-2 / 75, 1 / 25])
    assert regrets[slots["Jp"]] == pytest.approx([-89 / 2000, 623 / 6000])
    assert evaluate(kuhn, table).value == pytest.approx(199 / 3000)


@pytest.mark.parametrize("kind", [ExternalSampling, OutcomeSampling])
def test_equilibrium_c_3_samples_are_right_on_average(kuhn: Tree, kind: type[Solver]) -> None:
    """Regrets, and the weights with which policies are averaged: a player's own reach, and chance."""
    slots = kuhn_slots(kuhn)
    table = kuhn_table(kuhn, {name: C3.get(name, 0.5) for name in slots})
    regrets = counterfactual_regrets(kuhn, table)
    weights = table / 3  # two of six deals lead to each information set
    for card in "JQK":
        weights[slots[card + "pb"]] *= table[slots[card]][0]
    # Regret matching plays in proportion to regrets; these are so large that a sample leaves the policy as it is.
    large = 1e7 * table
    solver = kind(kuhn, seed=5)  # type: ignore[call-arg]
    samples = np.empty((2, 20_000, kuhn.slots))
    for row in range(samples.shape[1]):
        solver.regrets[:] = large
        solver.sums[:] = 0
        solver.run(1)
        samples[:, row] = solver.regrets - large, solver.sums
    error = samples.std(1) / np.sqrt(samples.shape[1])
    assert (np.abs(samples.mean(1) - [regrets, weights]) < 5 * error + 1e-6).all()
    assert (error < 0.03).all()
