"""Trees: their histories, players' knowledge, refusals; Stratego against a plain walk; the command."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
import torch
import typer
from typer.testing import CliRunner

from vauban.board import Board
from vauban.cli.solve import exploitability
from vauban.errors import ConfigurationError
from vauban.games.base import CHANCE, END, NOBODY, PLAYER, PLIES, WINNER
from vauban.games.base import game as find_game
from vauban.games.kernel import ONE, ZERO, kernel
from vauban.games.kuhn import Kuhn
from vauban.games.small import CARDS, SmallGame
from vauban.games.stratego.setups import distinct_orders
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot
from vauban.solve import (
    CFRPlus,
    Tree,
    best_response,
    build_tree,
    evaluate,
    first,
    solve_matrix,
    solve_tree,
    tabulate,
    uniform,
)
from vauban.solve.gambit import efg_lines
from vauban.solve.walk import TERMINAL

# ── Stratego against a plain walk ────────────────────────────────────────────────────────────────


class End(NamedTuple):
    """An end of a game, found by playing on boards: each player's knowledge and moves on the way there."""

    utility: float
    lines: tuple[tuple[tuple[Any, int], ...], tuple[tuple[Any, int], ...]]


class PlainTree:
    """All plays of a small variant from all pairs of setups, by `Board`; a player's knowledge spelt out."""

    def __init__(self, variant: str, rules: str | None = None) -> None:
        letters = {"nano": "FP", "micro": "FLP."}[variant]
        setups = ["".join(order) for order in itertools.permutations(letters)]
        self.histories = 0
        self.ends: list[End] = []
        self.widths: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
        self.starts = len(setups) ** 2
        for red in setups:
            for blue in setups:
                self._walk(Board.from_setups(red, blue, variant, rules), (red, blue), (), ((), ()))

    def _walk(self, board: Board, setups: tuple[str, str], seen: tuple[Any, ...], lines: Any) -> None:
        self.histories += 1
        if board.is_over:
            outcome = board.outcome()
            assert outcome is not None
            self.ends.append(End(outcome.utility / self.starts, lines))
            return
        player = board.turn
        # All can see where the other player's pieces stand, and so the gap in that player's setup.
        known = (setups[player], setups[1 - player].find("."), seen)
        moves = list(board.legal_moves)
        assert self.widths[player].setdefault(known, len(moves)) == len(moves)
        for index, move in enumerate(moves):
            played = board.push(move)
            longer = list(lines)
            longer[player] = (*lines[player], (known, index))
            # Battles show both pieces to both players; there are no Scouts in these variants.
            self._walk(board, setups, (*seen, (played.move, played.battle)), tuple(longer))
            board.pop()

    def uniform_value(self) -> float:
        return sum(end.utility * self._chance(end, 0) * self._chance(end, 1) for end in self.ends)

    def best_response(self, player: int) -> float:
        """Return a player's most against uniform play."""
        gains: dict[Any, float] = defaultdict(float)
        for end in self.ends:
            line = end.lines[player]
            gains[line[-1] if line else None] += (1 - 2 * player) * end.utility * self._chance(end, 1 - player)
        before = {}
        for end in self.ends:
            for earlier, later in itertools.pairwise((None, *end.lines[player])):
                before[later[0]] = earlier
        for known in sorted(before, key=lambda each: -len(each[-1])):
            gains[before[known]] += max(gains[known, index] for index in range(self.widths[player][known]))
        return gains[None]

    def _chance(self, end: End, player: int) -> float:
        return float(np.prod([1 / self.widths[player][known] for known, _ in end.lines[player]]))

    def payoffs_of_plans(self) -> npt.NDArray[np.float64]:
        """Return the game as a matrix: a row for each plan of the first player (a choice for each of the player's
        possible sights).
        """
        plans = []
        for player in (0, 1):
            known = list(self.widths[player])
            choices = itertools.product(*(range(self.widths[player][each]) for each in known))
            plans.append([dict(zip(known, choice, strict=True)) for choice in choices])
        follows = [
            np.array([[all(plan[k] == i for k, i in end.lines[p]) for end in self.ends] for plan in plans[p]], float)
            for p in (0, 1)
        ]
        return np.asarray((follows[0] * [end.utility for end in self.ends]) @ follows[1].T)


@pytest.fixture(scope="module")
def nano() -> Tree:
    return build_tree("nano")


@pytest.mark.parametrize(("rules", "histories", "ends"), [(None, 34, 14), ("two_square=off chase=off", 42, 20)])
def test_rules_2_the_whole_tree_of_nano(rules: str | None, histories: int, ends: int) -> None:
    tree = build_tree("nano", rules)
    assert tree.histories == 1 + histories, "and chance, which draws the setups"
    assert (tree.count(CHANCE), tree.count(TERMINAL)) == (1, ends)
    assert len(tree.starts) == 4


def test_rules_8_4_nano_played_at_random(nano: Tree) -> None:
    """Ends by red's Flag win, blue's and nobody's in the proportion 7 : 2 : 27."""
    assert evaluate(nano, uniform(nano)).value == pytest.approx((7 - 2) / 36)


@pytest.mark.parametrize("rules", [None, "two_square=off chase=off", "total_limit=4"])
def test_nano_is_worth_what_all_plans_against_all_plans_are(rules: str | None) -> None:
    tree, plain = build_tree("nano", rules), PlainTree("nano", rules)
    brute = solve_matrix(plain.payoffs_of_plans()).value
    value, policy = solve_tree(tree)
    assert value == pytest.approx(brute, abs=1e-9)
    assert evaluate(tree, policy).nash_conv == pytest.approx(0, abs=1e-9)


def test_nano_is_worth_a_half(nano: Tree) -> None:
    solver = CFRPlus(nano)
    solver.run(1000)
    low, high = evaluate(nano, solver.average()).bounds
    assert low == pytest.approx(1 / 2, abs=1e-3) and high == pytest.approx(1 / 2, abs=1e-3)
    assert solve_tree(nano).value == pytest.approx(1 / 2, abs=1e-12)


@pytest.mark.parametrize(("variant", "rules"), [("nano", None), ("micro", "total_limit=3")])
def test_the_tree_is_that_of_a_plain_walk(variant: str, rules: str | None) -> None:
    tree, plain = build_tree(variant, rules), PlainTree(variant, rules)
    assert tree.histories == 1 + plain.histories
    assert tree.count(TERMINAL) == len(plain.ends)
    assert tree.information_sets == tuple(map(len, plain.widths))
    assert tree.sequences == tuple(1 + sum(widths.values()) for widths in plain.widths)
    found = evaluate(tree, uniform(tree))
    assert found.value == pytest.approx(plain.uniform_value(), abs=1e-12)
    assert found.best_responses == pytest.approx([plain.best_response(0), plain.best_response(1)], abs=1e-12)


MICRO = {3: 1 / 3, 4: 1 / 12}
"""Worth of micro to red when it is a draw after this many plies."""


@pytest.mark.parametrize("limit", MICRO)
def test_short_micro_is_worth_what_was_recorded(limit: int) -> None:
    tree = build_tree("micro", f"total_limit={limit}")
    assert solve_tree(tree).value == pytest.approx(MICRO[limit], abs=1e-9)
    solver = CFRPlus(tree)
    solver.run(300)
    low, high = evaluate(tree, solver.average()).bounds
    assert low <= MICRO[limit] + 1e-12 and MICRO[limit] - 1e-12 <= high and high - low < 0.01


@pytest.mark.slow
def test_micro_with_a_limit_of_eight_plies_is_solved() -> None:
    tree = build_tree("micro", "total_limit=8")
    assert tree.histories == 26_086_783
    assert [tree.count(kind) for kind in (CHANCE, 0, 1, TERMINAL)] == [1, 1_321_516, 5_058_820, 19_706_446]
    assert tree.information_sets == (807_868, 3_402_420)
    even = evaluate(tree, uniform(tree))
    assert even.best_responses == pytest.approx([0.7410337001682749, 0.7167895998677251], abs=1e-9)
    solver = CFRPlus(tree)
    solver.run(100)
    low, high = evaluate(tree, solver.average()).bounds
    # Proven with 200 iterations: between 0.19080 and 0.19188.
    assert high - low < 0.005
    assert low < 0.19188 and high > 0.19080


def test_setups_are_all_different_and_all_there() -> None:
    assert distinct_orders([1, 1, 0]).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    micro = find_game("micro").setups.all()
    assert len(micro) == 24
    assert len({tuple(row) for row in micro.tolist()}) == 24
    find_game("micro").setups.check(micro)


# ── Players' knowledge ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("name", "rules"), [("kuhn", None), ("leduc", None), ("micro", "total_limit=4")])
def test_views_are_those_of_the_simulator(name: str, rules: str | None) -> None:
    """Play every fifth information set's example in a simulator, and look at it there."""
    tree = build_tree(name, rules)
    for player in (0, 1):
        sets = np.flatnonzero(tree.groups.owner == player)[::5]
        views = tree.views(sets)
        assert views.viewer == player and len(views) == len(sets)
        sim = Simulator(tree.game, len(sets), seed=0, restart=False)
        sim.restore(views)
        assert (sim.players == player).all()
        legal, counts = sim.legal_actions()
        for row, each in enumerate(sets):
            assert legal[row, : counts[row]].tolist() == tree.actions[tree.slots_of(int(each))].tolist()
        if tree.game.has_chance:
            continue
        paths, lengths = tree.paths(tree.groups.example[sets])
        sim.reset(starts=tree.starts[paths[:, 0]])
        for step in range(1, paths.shape[1]):
            going = torch.from_numpy(lengths > step)
            legal, _ = sim.legal_actions()
            chosen = torch.from_numpy(paths[:, step].clip(0)).long()
            before = sim.snapshot()
            sim.step(legal[torch.arange(len(sets)), chosen])
            # Games whose path is shorter have arrived, and must stay where they were.
            pairs = zip(sim.snapshot().store, before.store, strict=True)
            kept = [torch.where(going[:, None], after, earlier) for after, earlier in pairs]
            sim.restore(replace(before, store=type(before.store)(*kept)))
        assert np.array_equal(sim.views(player).pack(), views.pack())


def test_views_of_several_players_at_once_are_refused() -> None:
    tree = build_tree("kuhn")
    with pytest.raises(ConfigurationError, match="of one player"):
        tree.views(np.arange(12))


COIN = 3


@kernel
def coin_begin(game, start):  # type: ignore[no-untyped-def]
    game.words[PLIES] = ZERO
    game.bytes[PLAYER] = CHANCE
    game.bytes[END] = 0
    game.bytes[WINNER] = NOBODY
    game.bytes[COIN] = 9


@kernel
def coin_legal_count(game):  # type: ignore[no-untyped-def]
    if game.bytes[END] != 0:
        return 0
    return 1 if game.rules[0] and game.bytes[PLAYER] == 1 and game.bytes[COIN] == 1 else 2


@kernel
def coin_legal_action(game, index):  # type: ignore[no-untyped-def]
    return index


@kernel
def coin_is_legal(game, action):  # type: ignore[no-untyped-def]
    return 0 <= action < coin_legal_count(game)


@kernel
def coin_play(game, action):  # type: ignore[no-untyped-def]
    """Play: chance throws a coin; the first player sees it and acts; the second acts; then the first guesses."""
    if game.bytes[PLAYER] == CHANCE:
        game.bytes[COIN] = action
        game.bytes[PLAYER] = 0
        return
    game.words[PLIES] += ONE
    if game.words[PLIES] == 3:
        game.bytes[END] = 1
        game.bytes[WINNER] = 0 if action == game.bytes[COIN] else 1
    else:
        game.bytes[PLAYER] = 1 - game.bytes[PLAYER]


@kernel
def coin_utility(game):  # type: ignore[no-untyped-def]
    return 1.0 if game.bytes[WINNER] == 0 else -1.0


@kernel
def coin_chance_weight(game, index):  # type: ignore[no-untyped-def]
    return 1 + 2 * index


@kernel
def coin_conceal(game, viewer):  # type: ignore[no-untyped-def]
    """Conceal: the coin lies open for the first player until a player acts; then the record shows it no more."""
    if viewer == 1 or game.words[PLIES] > 0:
        game.bytes[COIN] = 7


class Coin(SmallGame):
    name = family = "coin"
    action_count = max_legal = 2
    max_plies = 3
    record_bytes = 4
    ends = ("", "guess")
    kernels = replace(
        Kuhn.kernels,
        begin=coin_begin,
        legal_count=coin_legal_count,
        legal_action=coin_legal_action,
        is_legal=coin_is_legal,
        play=coin_play,
        utility=coin_utility,
        chance_weight=coin_chance_weight,
        conceal=coin_conceal,
    )

    def __init__(self, betrays: bool = False) -> None:
        """betrays: the second player's choices depend on the coin, which that player cannot see."""
        self.betrays = betrays

    def parameters(self) -> npt.NDArray[np.int64]:
        return np.array([self.betrays], np.int64)

    def action_text(self, player: int, action: int) -> str:
        return str(action)


def test_what_a_view_no_longer_shows_is_not_forgotten() -> None:
    """Two things seen, two own actions: the last view is the same in all four cases, the player knows which it is.

    Neither player is told of the second player's action, and the second knows nothing of the first one's.
    """
    tree = build_tree(Coin())
    assert tree.information_sets == (2 + 4, 1)
    assert solve_tree(tree).value == pytest.approx(1)
    assert tree.chances.probability.tolist() == [1 / 4, 3 / 4], "events have weights"


def test_legal_actions_that_betray_what_is_hidden_are_noticed() -> None:
    with pytest.raises(ConfigurationError, match="look alike .* different legal actions"):
        build_tree(Coin(betrays=True))


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "rules", "words"),
    [
        ("classic", None, "1.99e+66 pairs of setups alone"),
        ("micro", None, "about 1e+14 histories, estimated"),
        ("micro", "total_limit=none", "has no longest game.*total_limit=8"),
    ],
)
def test_games_that_are_too_large_are_refused_at_once(name: str, rules: str | None, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words.replace("+", r"\+")):
        build_tree(name, rules)


def test_a_tree_that_passes_the_limit_is_given_up() -> None:
    with pytest.raises(ConfigurationError, match="more than 9,000 histories, and 9,000 are allowed"):
        build_tree("leduc", limit=9000)
    assert build_tree("leduc", limit=9457).histories == 9457


def test_tables_of_another_tree_are_refused(nano: Tree) -> None:
    with pytest.raises(ConfigurationError, match="one for each action of each information set"):
        evaluate(nano, np.ones(5))
    with pytest.raises(ConfigurationError, match="player is 0 or 1"):
        best_response(nano, uniform(nano), 2)


# ── Policies ─────────────────────────────────────────────────────────────────────────────────────


def lowest_action(views: Snapshot, actions: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    return actions == np.where(actions < 0, 10**6, actions).min(1, keepdims=True)


class Cautious:
    """Answers from the view alone: passes with a Jack, else with probability ¼; one number more if `wrong`."""

    def __init__(self, wrong: bool = False) -> None:
        self.wrong = wrong

    def probabilities(self, view: Snapshot) -> list[float]:
        assert len(view) == 1 and view.viewer is not None
        passes = 1.0 if view.store.bytes[0, CARDS + view.viewer] == 0 else 0.25
        return [passes, 1 - passes] + [0.0] * self.wrong


@pytest.mark.parametrize(("name", "rules"), [("leduc", None), ("micro", "total_limit=4")])
def test_a_policy_function_becomes_a_table(name: str, rules: str | None) -> None:
    tree = build_tree(name, rules)
    ticks: list[int] = []
    assert np.array_equal(tabulate(tree, lowest_action, ticks.append), first(tree))
    assert ticks[-1] == sum(tree.information_sets)


def test_an_agent_that_gives_probabilities_becomes_a_table() -> None:
    tree = build_tree("kuhn")
    table = tabulate(tree, Cautious())
    assert sorted(table[::2].tolist()) == [0.25] * 8 + [1.0] * 4
    with pytest.raises(ConfigurationError, match="Cautious.probabilities .* 2 legal actions"):
        tabulate(tree, Cautious(wrong=True))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda views, actions: actions * 0.0, "sum to 1.*"),
        (lambda views, actions: np.tile([1.5, -0.5], (len(actions), 1)), "pass, bet.*not negative"),
        (lambda views, actions: np.full(actions.shape, np.nan), "not negative"),
        (lambda views, actions: np.ones(3), "shape .3,. instead of .6, 2."),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(answer: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        tabulate(build_tree("kuhn"), answer)


# ── The command ──────────────────────────────────────────────────────────────────────────────────

app = typer.Typer(rich_markup_mode=None)
app.command()(exploitability)


def result(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    table: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return table


def test_games_3_exploitability_of_uniform_play_on_the_command_line() -> None:
    table = result("kuhn", "uniform")
    assert {"game": "kuhn", "agent": "uniform"}.items() <= table.items()
    assert table["nash_conv"] == pytest.approx(11 / 12)
    assert table["exploitability"] == pytest.approx(11 / 24)
    assert table["value"] == pytest.approx(1 / 8)
    assert (table["histories"], table["information_sets"]) == (58, [6, 6])


@pytest.mark.parametrize(
    ("agent", "bound"),
    [("lp", 1e-9), ("cfr+:iterations=500", 2e-4), ("cfr:iterations=500", 2e-3), ("external:iterations=50000", 0.02),
     ("outcome:iterations=200000,exploration=0.5", 0.05)],
)  # fmt: skip
def test_solvers_are_named_with_their_options(agent: str, bound: float) -> None:
    table = result("kuhn", agent, "--seed", "1")
    assert abs(table["exploitability"]) < bound
    assert table["bounds"][0] - 1e-12 <= -1 / 18 <= table["bounds"][1] + 1e-12


def test_rules_can_be_given() -> None:
    assert result("micro", "first", "--rules", "total_limit=3")["histories"] == 30_745


def test_the_command_prints_a_table_for_people() -> None:
    done = CliRunner().invoke(app, ["nano", "lp"], catch_exceptions=False)
    assert "35 histories, 10 + 8 information sets" in done.stdout
    assert "So the game is worth 0.50000000 to 0.50000000 to red." in done.stdout
    assert "-0.00000000" not in done.stdout
    assert "Example: vauban exploitability leduc" in CliRunner().invoke(app, ["--help"]).stdout


def test_a_file_of_gambit_has_exact_fractions_and_names() -> None:
    lines = list(efg_lines(build_tree("kuhn")))
    assert lines[:3] == ['EFG 2 R "kuhn"', '{ "first" "second" }', ""]
    assert lines[3] == 'c "" 1 "" { "1" 1/3 "2" 1/3 "3" 1/3 } 0' and lines[4] == 'c "" 2 "" { "1" 1/2 "2" 1/2 } 0'
    assert lines[5] == 'p "" 1 1 "" { "pass" "bet" } 0' and lines[6] == 'p "" 2 1 "" { "pass" "bet" } 0'
    assert lines[7] == 't "" 1 "" { -1, 1 }', "first has the Jack and both pass"
    assert [line[0] for line in lines[3:]].count("t") == 30


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["kuhn", "cfr:iters=3"], "did you mean 'iterations'"),
        (["kuhn", "cfr:iterations=0"], "iterations=0 .* must be at least 1"),
        (["kuhn", "crf"], "no agent 'crf'.*the policies uniform, first, table, lp"),
        (["kuhn", "cadet"], "does not say with what probabilities"),
        (["kuhnn", "uniform"], "did you mean 'kuhn'"),
        (["kuhn", "uniform", "--rules", "chase=off"], "no rules to choose"),
        (["leduc", "uniform", "--limit", "5000"], "5,000 are allowed"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(arguments: list[str], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
