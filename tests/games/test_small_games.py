"""Kuhn, Leduc and matrix games against golden numbers computed elsewhere, by walking their whole trees."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from patience import PATIENCE

from vauban.errors import ConfigurationError, RecordError
from vauban.games.base import CHANCE, END, NUMBER, PLAYER, PLIES, Game
from vauban.games.base import game as find_game
from vauban.games.kernel import Record
from vauban.games.matrix import NAMED, MatrixGame, named, random_antisymmetric
from vauban.games.small import CARDS, PUBLIC
from vauban.observe import base as observations
from vauban.sim.compile import CPU, compiled
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot, Store

ROOT = Path(__file__).parents[2]
FIRST, SECOND = 0, 1
PASS, BET = 0, 1
FOLD, CALL, RAISE = 0, 1, 2


class History(NamedTuple):
    """A node of the game tree: its record, how it came about, and how likely it is when all play uniformly."""

    words: Any
    bytes: Any
    path: tuple[int, ...]
    chance: Fraction
    uniform: Fraction
    legal: tuple[int, ...]
    utility: float

    @property
    def player(self) -> int:
        return int(self.bytes[PLAYER])

    @property
    def over(self) -> bool:
        return bool(self.bytes[END])

    @property
    def kind(self) -> str:
        return "terminal" if self.over else ("first", "second", "chance")[self.player]


@cache
def tree(name: str) -> list[History]:
    """Return all histories of a game."""
    return list(walk(find_game(name)))


def walk(game: Game) -> Iterator[History]:
    """Go through the tree with the compiled kernels, the root first."""
    rules = game.format().parameters
    do = {key: compiled(function, CPU, vars(game.kernels)) for key, function in vars(game.kernels).items()}
    shape = game.format().shape

    def record(words: Any, bytes_: Any) -> Record:
        return Record(words, np.zeros(0, np.uint16), bytes_, rules)

    words, bytes_ = np.zeros(shape.words, np.uint64), np.zeros(shape.bytes, np.uint8)
    do["begin"](record(words, bytes_), np.zeros(0, np.int8))
    stack: list[tuple[Any, Any, tuple[int, ...], Fraction, Fraction]] = [(words, bytes_, (), Fraction(1), Fraction(1))]
    while stack:
        words, bytes_, path, chance, uniform = stack.pop()
        here = record(words, bytes_)
        legal = tuple(do["legal_action"](here, index) for index in range(do["legal_count"](here)))
        yield History(words, bytes_, path, chance, uniform, legal, do["utility"](here))
        at_chance = bytes_[PLAYER] == CHANCE
        weights = [do["chance_weight"](here, index) if at_chance else 1 for index in range(len(legal))]
        for action, weight in zip(legal, weights, strict=True):
            copy = words.copy(), bytes_.copy()
            do["play"](record(*copy), action)
            share = Fraction(weight, sum(weights))
            stack.append((*copy, (*path, action), chance * share if at_chance else chance, uniform * share))


def at(name: str, *path: int) -> History:
    """Return the history that these events and actions lead to."""
    return next(history for history in tree(name) if history.path == path)


def simulator(name: str, histories: Sequence[History]) -> Simulator:
    """Return a simulator whose games stand at these histories."""
    sim = Simulator(name, len(histories), seed=1)
    words = torch.from_numpy(np.stack([history.words for history in histories]).view(np.int64))
    bytes_ = torch.from_numpy(np.stack([history.bytes for history in histories]))
    halves = torch.zeros((len(histories), 0), dtype=torch.int16)
    sim.restore(Snapshot(sim.game, sim.format, Store(words, halves, bytes_)))
    return sim


def numbers(name: str, observation: str, viewer: int, *path: int) -> list[float]:
    """Return a player's observation after these events and actions."""
    return simulator(name, [at(name, *path)]).observe(observation, viewer=viewer).flatten().tolist()


def decisions(name: str) -> list[History]:
    return [history for history in tree(name) if history.kind in ("first", "second")]


def information_sets(name: str) -> dict[tuple[float, ...], History]:
    """Return the information sets as the observation `information_state` tells them apart, with one history of each."""
    histories = decisions(name)
    seen = simulator(name, histories).observe("information_state").flatten(1).tolist()
    return dict(zip(map(tuple, seen), histories, strict=True))


def sequences(name: str, player: int) -> int:
    return 1 + sum(len(history.legal) for history in information_sets(name).values() if history.player == player)


def uniform_value(name: str) -> Fraction:
    return sum((history.uniform * Fraction(history.utility) for history in tree(name)), Fraction(0))


def read(text: str) -> list[float]:
    """Return a row of numbers from a text."""
    return [float(word) for word in text.replace("|", " ").split()]


# ── Kuhn poker ───────────────────────────────────────────────────────────────────────────────────


def test_games_3_kuhn_has_58_histories() -> None:
    kinds = Counter(history.kind for history in tree("kuhn"))
    assert kinds == {"chance": 4, "first": 12, "second": 12, "terminal": 30}
    assert len(tree("kuhn")) == 58


def test_games_3_kuhn_has_12_information_sets_and_13_sequences_a_player() -> None:
    sets = information_sets("kuhn")
    assert Counter(history.player for history in sets.values()) == {FIRST: 6, SECOND: 6}
    assert all(history.legal == (PASS, BET) for history in sets.values())
    assert sequences("kuhn", FIRST) == sequences("kuhn", SECOND) == 13


def test_games_3_the_longest_play_of_kuhn_is_3_actions() -> None:
    assert max(int(history.words[PLIES]) for history in tree("kuhn")) == 3 == find_game("kuhn").max_plies


def test_games_3_the_payoffs_of_kuhn_are_those_of_the_table() -> None:
    table = {"pp": (1, -1), "bp": (1, 1), "bb": (2, -2), "pbp": (-1, -1), "pbb": (2, -2)}
    ended = {history.path: history.utility for history in tree("kuhn") if history.over}
    expected = {}
    for first, second in permutations(range(3), 2):
        for actions, (higher, lower) in table.items():
            path = (first, second, *("pb".index(letter) for letter in actions))
            expected[path] = higher if first > second else lower
    assert ended == expected


def test_games_3_the_cards_of_kuhn_come_one_after_the_other() -> None:
    assert at("kuhn").legal == (0, 1, 2)
    assert at("kuhn", 1).legal == (0, 2)
    assert at("kuhn", 1, 2).kind == "first"


def test_games_3_the_example_information_states_of_kuhn() -> None:
    assert numbers("kuhn", "information_state", SECOND, 0, 2, PASS) == read("0 1 | 0 0 1 | 1 0 0 0 0 0")
    assert numbers("kuhn", "information_state", FIRST, 1, 0, PASS, BET) == read("1 0 | 0 1 0 | 1 0 0 1 0 0")


def test_games_3_the_observation_of_kuhn_shows_the_chips() -> None:
    assert numbers("kuhn", "observation", FIRST, 1, 0, PASS, BET) == read("1 0 | 0 1 0 | 1 2")
    assert numbers("kuhn", "observation", SECOND, 1, 0, PASS, BET, BET) == read("0 1 | 1 0 0 | 2 2")


def test_games_3_uniform_play_of_kuhn_is_worth_an_eighth() -> None:
    assert uniform_value("kuhn") == Fraction(1, 8)


# ── Leduc poker ──────────────────────────────────────────────────────────────────────────────────


def test_games_4_leduc_has_9457_histories() -> None:
    kinds = Counter(history.kind for history in tree("leduc"))
    assert kinds == {"chance": 157, "first": 1890, "second": 1890, "terminal": 5520}
    assert len(tree("leduc")) == 9457


def test_games_4_leduc_has_936_information_sets_and_1093_sequences_a_player() -> None:
    sets = information_sets("leduc")
    assert Counter(history.player for history in sets.values()) == {FIRST: 468, SECOND: 468}
    assert Counter(len(history.legal) for history in sets.values()) == {2: 624, 3: 312}
    assert sequences("leduc", FIRST) == sequences("leduc", SECOND) == 1093


def test_games_4_leduc_has_288_information_sets_when_suits_are_identified() -> None:
    merged = set()
    for state in information_sets("leduc"):
        ranks = [max(state[channel : channel + 2]) for channel in range(2, 14, 2)]
        merged.add((*state[:2], *ranks, *state[14:]))
    assert len(merged) == 288


def test_games_4_the_histories_of_an_information_set_have_the_same_legal_actions() -> None:
    histories = decisions("leduc")
    seen = simulator("leduc", histories).observe("information_state").flatten(1).tolist()
    legal: dict[tuple[float, ...], tuple[int, ...]] = {}
    for state, history in zip(map(tuple, seen), histories, strict=True):
        assert legal.setdefault(state, history.legal) == history.legal


def test_games_4_the_longest_play_of_leduc_is_8_actions() -> None:
    assert max(int(history.words[PLIES]) for history in tree("leduc")) == 8 == find_game("leduc").max_plies


def test_games_4_utilities_of_leduc_go_from_minus_13_to_13() -> None:
    utilities = [history.utility for history in tree("leduc") if history.over]
    assert (min(utilities), max(utilities)) == (-13, 13)


def test_games_4_leduc_allows_a_fold_only_to_a_bet_and_two_raises_a_round() -> None:
    assert at("leduc", 0, 1).legal == (CALL, RAISE)
    assert at("leduc", 0, 1, CALL).legal == (CALL, RAISE)
    assert at("leduc", 0, 1, RAISE).legal == (FOLD, CALL, RAISE)
    assert at("leduc", 0, 1, RAISE, RAISE).legal == (FOLD, CALL)
    assert at("leduc", 0, 1, RAISE, RAISE, CALL).legal == (2, 3, 4, 5), "chance turns up one of the four cards left"
    assert at("leduc", 0, 1, RAISE, RAISE, CALL, 2).legal == (CALL, RAISE)


def test_games_4_a_pair_wins_then_the_higher_rank_and_equal_ranks_share() -> None:
    checks = (CALL, CALL)
    assert at("leduc", 0, 4, *checks, 1, *checks).utility == 1, "a pair of Jacks beats a King"
    assert at("leduc", 4, 0, *checks, 1, *checks).utility == -1
    assert at("leduc", 2, 4, *checks, 1, *checks).utility == -1, "a King beats a Queen"
    assert at("leduc", 2, 3, *checks, 1, *checks).utility == 0
    assert at("leduc", 2, 4, RAISE, CALL, 3, RAISE, RAISE, CALL).utility == 11
    assert at("leduc", 2, 4, RAISE, CALL, 3, RAISE, RAISE, FOLD).utility == -7


def test_games_4_the_example_tensors_of_leduc() -> None:
    path = (0, 3, RAISE, RAISE, CALL, 1)
    start = "1 0 | 1 0 0 0 0 0 | 0 1 0 0 0 0 | "
    assert numbers("leduc", "information_state", FIRST, *path) == read(start + "0 1 0 1 1 0 0 0 | 0 0 0 0 0 0 0 0")
    assert numbers("leduc", "observation", FIRST, *path) == read(start + "5 5")


def test_games_4_uniform_play_of_leduc_is_worth_minus_5_of_64() -> None:
    assert uniform_value("leduc") == Fraction(-5, 64)


# ── Matrix games ─────────────────────────────────────────────────────────────────────────────────

GOLDEN_VALUES: dict[str, tuple[float, list[float], list[float]]] = {
    "matching-pennies": (0, [1 / 2, 1 / 2], [1 / 2, 1 / 2]),
    "rock-paper-scissors": (0, [1 / 3] * 3, [1 / 3] * 3),
    "rps-x": (0, [0, 0, 0, 1], [0, 0, 0, 1]),
    "matrix-b2": (1 / 7, [3 / 7, 4 / 7], [2 / 7, 5 / 7]),
    "matrix-b3": (1 / 2, [1 / 4, 3 / 4, 0], [1 / 2, 1 / 2, 0]),
}


@pytest.mark.parametrize("name", NAMED)
def test_games_2_the_equilibrium_of_the_table_holds_in_the_tree(name: str) -> None:
    value, row, column = GOLDEN_VALUES[name]
    payoffs = np.zeros((len(row), len(column)))
    for history in tree(name):
        if history.over:
            payoffs[history.path] = history.utility
    assert (payoffs == named(name).payoffs).all()
    assert (payoffs @ np.array(column)).max() == pytest.approx(value)
    assert (np.array(row) @ payoffs).min() == pytest.approx(value)


def test_games_2_uniform_play_of_the_counterexample_has_a_nash_conv_of_0_6() -> None:
    payoffs = named("rps-x").payoffs
    assert payoffs.mean(1).max() - payoffs.mean(0).min() == pytest.approx(0.6)
    assert payoffs[3] @ [1 / 3, 1 / 3, 1 / 3, 0] == pytest.approx(2 / 5)
    assert (payoffs @ [1 / 2, 0, 1 / 2, 0]).argmax() == 0


def test_games_2_a_matrix_game_is_two_choices_and_an_information_set_each() -> None:
    kinds = Counter(history.kind for history in tree("rps-x"))
    assert kinds == {"first": 1, "second": 4, "terminal": 16}
    assert sorted(information_sets("rps-x")) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("n", "seed", "first", "largest"),
    [
        (3, 0, {(0, 1): 0.27392337, (0, 2): -0.46042657, (1, 2): -0.91805295}, 0.459493175),
        (3, 1, {(0, 1): 0.02364325, (0, 2): 0.90092739, (1, 2): -0.71168077}, 0.308190214),
        (5, 0, {(0, 1): 0.27392337, (0, 3): -0.91805295, (0, 4): -0.96694473}, 0.278279962),
        (5, 1, {(0, 1): 0.02364325, (0, 3): -0.71168077, (0, 4): 0.89729889}, 0.222037752),
        (10, 0, {(0, 1): 0.27392337}, 0.282964181),
        (60, 0, {(0, 1): 0.27392337}, 0.177047754),
        (60, 1, {(0, 1): 0.02364325}, 0.125164845),
        (60, 2, {(0, 1): -0.47677573}, 0.159342547),
    ],
)
def test_games_2_random_antisymmetric_games(
    n: int, seed: int, first: dict[tuple[int, int], float], largest: float
) -> None:
    payoffs = random_antisymmetric(n, seed)
    assert (payoffs == -payoffs.T).all()
    assert {place: round(float(payoffs[place]), 8) for place in first} == first
    assert payoffs.mean(1).max() == pytest.approx(largest, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "seed", "equilibrium"),
    [
        (3, 0, {2: 1}),
        (3, 1, {0: 1}),
        (5, 0, {0: 0.146665, 1: 0.664960, 4: 0.188375}),
        (5, 1, {0: 0.088987, 1: 0.333507, 2: 0.108326, 3: 0.327210, 4: 0.141970}),
        (10, 0, {1: 0.124270, 3: 0.535553, 4: 0.340176}),
    ],
)
def test_games_2_nothing_gains_against_the_equilibrium_of_a_random_game(
    n: int, seed: int, equilibrium: dict[int, float]
) -> None:
    mix = np.zeros(n)
    mix[list(equilibrium)] = list(equilibrium.values())
    assert (random_antisymmetric(n, seed) @ mix).max() < 2e-6


def test_payoffs_of_every_size_come_through_exactly() -> None:
    payoffs = np.array([[1 / 3, -0.1, 1e-310], [math.pi * 1e300, -1e-38, 2.0**-1074], [0, -7, 2**53 + 2.0]])
    ended = {history.path: history.utility for history in walk(MatrixGame("sizes", payoffs)) if history.over}
    assert ended == {(row, column): payoffs[row, column] for row in range(3) for column in range(3)}


def test_a_batch_of_matrix_games_rounds_payoffs_to_float32() -> None:
    payoffs = random_antisymmetric(60, 0)
    sim = Simulator(MatrixGame("sixty", payoffs), 3600, restart=False)
    rows, columns = np.divmod(np.arange(3600), 60)
    sim.step(rows)
    sim.step(columns)
    assert (sim.results.utility.numpy() == payoffs[rows, columns].astype(np.float32)).all()
    assert (sim.results.winner.numpy() == np.array([1, 2, 0])[1 + np.sign(payoffs[rows, columns]).astype(int)]).all()


def test_a_matrix_need_not_be_square() -> None:
    sim = Simulator(MatrixGame("wide", [[1, 2, 3]]), 1, restart=False)
    assert sim.legal_mask().tolist() == [[True, False, False]]
    sim.step([0])
    assert sim.legal_mask().tolist() == [[True, True, True]]
    sim.step([2])
    assert sim.results.utility.tolist() == [3]


@pytest.mark.parametrize("payoffs", [[1, 2], [[]], np.zeros((129, 1)), [[math.nan]]])
def test_a_matrix_that_is_none_is_refused(payoffs: Any) -> None:
    with pytest.raises(ConfigurationError, match="the payoffs of 'mine' must be"):
        MatrixGame("mine", payoffs)


# ── Chance ───────────────────────────────────────────────────────────────────────────────────────


def assert_even(keys: np.ndarray[Any, Any], cells: int) -> None:
    """Check that all cells are about equally frequent: none is 5 standard deviations away."""
    counts = np.bincount(keys, minlength=cells)
    counts = counts[counts > 0]
    assert len(counts) == cells
    p = 1 / cells
    assert abs(counts - p * len(keys)).max() < 5 * math.sqrt(len(keys) * p * (1 - p))


def test_games_3_all_six_deals_of_kuhn_are_equally_frequent() -> None:
    cards = Simulator("kuhn", 60_000, seed=3).store.bytes[:, CARDS : CARDS + 2].numpy().astype(int)
    assert (cards[:, 0] != cards[:, 1]).all()
    assert_even(cards @ [3, 1], 6)


def test_games_4_all_120_deals_of_leduc_are_equally_frequent() -> None:
    sim = Simulator("leduc", 120_000, seed=3)
    sim.step(np.full(sim.n, CALL))
    sim.step(np.full(sim.n, CALL))
    cards = sim.store.bytes[:, CARDS : PUBLIC + 1].numpy().astype(int)
    assert_even(cards @ [36, 6, 1], 120)


@pytest.mark.parametrize(("name", "value"), [("kuhn", 1 / 8), ("leduc", -5 / 64)])
def test_random_play_in_the_simulator_is_worth_what_the_tree_says(name: str, value: float) -> None:
    sim = Simulator(name, 100_000, seed=5, restart=False)
    while not sim.over.all():
        sim.step(sim.sample())
    utility = sim.results.utility.double()
    assert abs(utility.mean() - value) < 5 * utility.std() / math.sqrt(sim.n)


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def alternatives(name: str, viewer: int) -> tuple[list[History], list[int]]:
    """Return histories in which something is hidden from the viewer, and for each the alternatives to it."""
    histories, values = [], []
    standing = [history for history in tree(name) if history.player != CHANCE]
    hidden = simulator(name, standing).hidden_counts(viewer).tolist()
    for history, count in zip(standing, hidden, strict=True):
        if name in NAMED:
            others = set(range(len(NAMED[name][0]))) - set(history.path[:1])
        else:
            others = set(range(find_game(name).format().parameters[0])) - set(
                history.bytes[CARDS : PUBLIC + 1].tolist()
            )
        if count:
            histories += [history] * len(others)
            values += sorted(others)
    return histories, values


@pytest.mark.parametrize(
    ("name", "viewer"), [("kuhn", 0), ("kuhn", 1), ("leduc", 0), ("leduc", 1), ("rps-x", 1), ("matrix-b3", 1)]
)
def test_what_is_hidden_changes_nothing_that_the_viewer_can_see(name: str, viewer: int) -> None:
    histories, values = alternatives(name, viewer)
    assert len(histories) > 5
    sim = simulator(name, histories)
    kinds = observations.names(sim.game)
    views, mask, before = sim.views(viewer), sim.legal_mask(), sim.store.bytes.clone()
    seen = [sim.observe(kind, viewer=viewer) for kind in kinds]
    sim.determinise(views, viewer, torch.tensor(values).reshape(-1, 1))
    assert (sim.store.bytes != before).any(1).all(), "something else is hidden now in every game"
    assert torch.equal(sim.views(viewer).pack(), views.pack())
    assert torch.equal(sim.legal_mask(), mask)
    for kind, numbers_before in zip(kinds, seen, strict=True):
        assert torch.equal(sim.observe(kind, viewer=viewer), numbers_before), kind


def test_nothing_is_hidden_after_a_showdown_and_the_card_stays_hidden_after_a_fold() -> None:
    sim = simulator("kuhn", [at("kuhn", 0, 1, BET, BET), at("kuhn", 0, 1, BET, PASS)])
    assert sim.hidden_counts(FIRST).tolist() == sim.hidden_counts(SECOND).tolist() == [0, 1]


def test_a_view_does_not_tell_the_number_of_its_game() -> None:
    sim = Simulator("leduc", 4, seed=1)
    sim.reset(first_number=100)
    assert sim.views(FIRST).store.words[:, NUMBER].tolist() == [0] * 4


@pytest.mark.parametrize(("name", "values"), [("kuhn", (-1, 1, 3)), ("leduc", (-1, 1, 6))])
def test_a_card_that_the_viewer_sees_cannot_be_the_hidden_one(name: str, values: tuple[int, ...]) -> None:
    sim = simulator(name, [at(name, 1, 2)])
    views = sim.views(FIRST)
    for value in values:
        with pytest.raises(RecordError, match="game 0"):
            sim.determinise(views, FIRST, [[value]])


def test_the_public_card_of_leduc_cannot_be_the_hidden_one() -> None:
    sim = simulator("leduc", [at("leduc", 1, 2, CALL, CALL, 5)])
    with pytest.raises(RecordError, match="game 0"):
        sim.determinise(sim.views(SECOND), SECOND, [[5]])


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["kuhn", "leduc", "rps-x"])
def test_rules_are_refused_where_there_are_none_to_choose(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"'{name}' has no rules to choose"):
        find_game(name, rules="official")


@pytest.mark.parametrize("name", ["kuhn", "leduc", "rps-x"])
def test_every_record_of_the_tree_can_be_packed_and_read_back(name: str) -> None:
    packed = simulator(name, tree(name)).snapshot().pack()
    assert torch.equal(Snapshot.unpack(find_game(name), packed).pack(), packed)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "rps-x"])
def test_a_damaged_record_is_refused(name: str) -> None:
    history = [history for history in tree(name) if history.kind == "second"][-1]
    packed = simulator(name, [history]).snapshot().pack().repeat(2, 1)
    packed[1] = 99
    with pytest.raises(RecordError, match=f"row 1 is no record of '{name}'"):
        Snapshot.unpack(find_game(name), packed)


def test_actions_have_names_that_a_person_would_write() -> None:
    assert [find_game("kuhn").action_text(0, action) for action in range(2)] == ["pass", "bet"]
    assert [find_game("leduc").action_text(1, action) for action in range(3)] == ["fold", "call", "raise"]
    assert find_game("rps-x").action_text(0, 2) == "scissors"
    assert find_game("matrix-b2").action_text(1, 1) == "1"


# ── docs/adding-a-game.md ────────────────────────────────────────────────────────────────────────


def test_the_example_of_adding_a_game_runs_and_comes_near_its_exact_value() -> None:
    command = [sys.executable, ROOT / "examples/adding_a_game.py"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    value = float(run.stdout.split()[4])
    assert abs(value + 1 / 4) < 5 * 1.4 / math.sqrt(10_000), run.stdout


def test_the_page_on_adding_a_game_shows_the_example_as_it_is() -> None:
    page = (ROOT / "docs/adding-a-game.md").read_text()
    shown = page.split("```python\n", 1)[1].split("```", 1)[0]
    assert shown == (ROOT / "examples/adding_a_game.py").read_text()
