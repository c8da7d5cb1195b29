"""OpenSpiel both ways: its games as ours and ours as its, against its own algorithms."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: vauban-games[openspiel]")

from open_spiel.python import policy as policies  # noqa: E402
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability  # noqa: E402

import vauban.envs.openspiel as openspiel  # noqa: E402
from vauban import Board  # noqa: E402
from vauban.arena.match import Match  # noqa: E402
from vauban.arena.schedule import play_match  # noqa: E402
from vauban.errors import ConfigurationError  # noqa: E402
from vauban.games import kit  # noqa: E402
from vauban.games.base import game  # noqa: E402
from vauban.sim.simulator import Simulator  # noqa: E402
from vauban.solve import CFR, build_tree, evaluate, uniform, write_efg  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs" / "openspiel.md"
GOOFSPIEL = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"

# ── Its games as ours ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda check: check.__name__)
def test_the_contract_holds(check: object) -> None:
    check(game("openspiel:leduc_poker"), "cpu")  # type: ignore[operator]


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "leduc_poker", "matrix_rps", GOOFSPIEL, "dark_hex(num_cols=2,num_rows=2)"]
)
def test_its_trees_are_those_that_openspiel_walks(name: str) -> None:
    theirs = pyspiel.load_game(name)
    if theirs.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        theirs = pyspiel.convert_to_turn_based(theirs)
    histories, states = 0, ({}, {})
    waiting = [theirs.new_initial_state()]
    while waiting:
        state = waiting.pop()
        histories += 1
        if not state.is_terminal() and not state.is_chance_node():
            states[state.current_player()][state.information_state_string()] = 1
        waiting += [state.child(action) for action in state.legal_actions()]
    tree = build_tree(f"openspiel:{name}")
    assert tree.histories == histories and tree.information_sets == (len(states[0]), len(states[1]))
    expected = exploitability.nash_conv(theirs, policies.UniformRandomPolicy(theirs))
    assert evaluate(tree, uniform(tree)).nash_conv == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("theirs", "ours"), [("kuhn_poker", "kuhn"), ("leduc_poker", "leduc")])
def test_its_poker_is_our_poker(theirs: str, ours: str) -> None:
    both = [CFR(build_tree(name)) for name in (f"openspiel:{theirs}", ours)]
    for solver in both:
        solver.run(50)
    first, second = (evaluate(solver.tree, solver.average()) for solver in both)
    assert first.nash_conv == pytest.approx(second.nash_conv, abs=1e-12) and first.value == pytest.approx(second.value)


def test_observations_are_its_tensors() -> None:
    ours, theirs = Board("openspiel:leduc_poker", seed=7), pyspiel.load_game("leduc_poker").new_initial_state()
    node = int(ours._record.words[2])
    for event in ours.game.table.path(node):
        theirs.apply_action(event)
    for action in (1, 2, 1):
        for player in (0, 1):
            assert ours.look_through(None, "planes", player).ravel().tolist() == theirs.information_state_tensor(player)
        ours.push(action)
        theirs.apply_action(action)
        if theirs.is_chance_node():
            theirs.apply_action(ours.game.table.path(int(ours._record.words[2]))[-1])


def test_boards_show_what_it_shows_and_views_hide_what_it_hides() -> None:
    board = Board("openspiel:kuhn_poker", seed=1)
    board.push("bet")
    cards = str(board).split()[:2]
    assert str(board) == f"{cards[0]} {cards[1]} b" and str(board.view(1))[0] == cards[1]
    other = next(each for each in (Board("openspiel:kuhn_poker", seed=seed) for seed in range(2, 99))
                 if str(each).split()[1] == cards[1] and str(each).split()[0] != cards[0])  # fmt: skip
    other.push("bet")
    assert str(other.view(1)) == str(board.view(1)) and other.view(1).text == board.view(1).text


def test_it_is_played_in_the_arena() -> None:
    report = play_match(Match("cfr+:iterations=300", "random", games=40, game=game("openspiel:kuhn_poker"), seed=1))
    assert len(report) == 40 and {each.result.end for each in report} == {"over"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nosuch", "OpenSpiel has no game 'nosuch'"),
        ("kuhn_pokr", "did you mean 'kuhn_poker'"),
        ("chess", "is too large: .*at most 1,000,000 histories, and it has about"),
        ("tiny_hanabi", "one does not win what the other loses"),
        ("kuhn_poker(players=3)", "it has 3 players"),
        ("kuhn_poker(cards=3)", "Unknown parameter 'cards'"),
    ],
)
def test_what_cannot_be_played_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        game(f"openspiel:{text}")


def test_there_are_no_rules_to_choose() -> None:
    with pytest.raises(ConfigurationError, match="no rules to choose"):
        game("openspiel:kuhn_poker", "ucc")


def test_the_code_of_the_page_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, PAGE.name, "exec"), {"__name__": "example"})


# ── Our games as its ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "rules"), [("kuhn", None), ("nano", "total_limit=4"), ("geister-33a", "total_limit=4")]
)
def test_its_exploitability_is_ours(name: str, rules: str | None) -> None:
    theirs, tree = openspiel.load(name, rules), build_tree(name, rules)
    expected = evaluate(tree, uniform(tree)).nash_conv
    assert exploitability.nash_conv(theirs, policies.UniformRandomPolicy(theirs)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "rules"), [("kuhn", None), ("nano", "total_limit=4")])
def test_a_tree_in_a_file_of_gambit_is_the_same_game(name: str, rules: str | None, tmp_path: Path) -> None:
    tree, path = build_tree(name, rules), tmp_path / "game.efg"
    write_efg(tree, path)
    theirs = pyspiel.load_game("efg_game", {"filename": str(path)})
    lines = path.read_text().splitlines()[3:]
    assert len(lines) == tree.histories and len({line.split("{")[0] for line in lines if line[0] == "p"}) == sum(
        tree.information_sets
    )
    found = evaluate(tree, uniform(tree))
    uniformly = policies.UniformRandomPolicy(theirs)
    assert exploitability.nash_conv(theirs, uniformly) == pytest.approx(found.nash_conv, abs=1e-9)
    values = expected_game_score.policy_value(theirs.new_initial_state(), [uniformly, uniformly])
    assert values == pytest.approx([found.value, -found.value], abs=1e-9)


def test_its_cfr_does_the_same_on_our_kuhn_as_on_its_own() -> None:
    found = []
    for each in (openspiel.load("kuhn"), pyspiel.load_game("kuhn_poker")):
        solver = cfr.CFRSolver(each)
        for _ in range(10):
            solver.evaluate_and_update_policy()
        found.append(exploitability.nash_conv(each, solver.average_policy()))
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_states_are_cloned_written_and_read_back_at_any_time() -> None:
    for name, rules in (("leduc", None), ("geister-33a", "total_limit=6")):
        theirs, draw = openspiel.load(name, rules), random.Random(5)
        state = theirs.new_initial_state()
        while not state.is_terminal():
            written = pyspiel.serialize_game_and_state(theirs, state)
            read, again = pyspiel.deserialize_game_and_state(written)
            copied = state.clone()
            if not state.is_chance_node():
                player = state.current_player()
                for each in (again, copied):
                    assert each.legal_actions() == state.legal_actions() == sorted(state.legal_actions())
                    assert each.information_state_string(player) == state.information_state_string(player)
                    assert each.observation_tensor(player) == state.observation_tensor(player)
                before = state.history()
                copied.apply_action(draw.choice(copied.legal_actions()))
                assert state.history() == before, "a copy goes its own way"
                state.apply_action(draw.choice(state.legal_actions()))
            else:
                events = state.chance_outcomes()
                assert sum(chance for _, chance in events) == pytest.approx(1)
                state.apply_action(draw.choice(events)[0])
        assert read.get_type().short_name == "vauban" and sum(state.returns()) == 0


def test_tensors_are_our_observations() -> None:
    state = openspiel.load("kuhn").new_initial_state()
    sim = Simulator("kuhn", 1, seed=1)
    cards = [int(card) for card in sim.hidden_values(1)[0]] + [int(card) for card in sim.hidden_values(0)[0]]
    state.apply_action(cards[0])
    state.apply_action([card for card in range(3) if card != cards[0]].index(cards[1]))
    for name, tensor in (
        ("information_state", state.information_state_tensor),
        ("observation", state.observation_tensor),
    ):
        assert np.array(tensor(0), np.float32).tolist() == sim.observe(name).ravel().tolist()


def test_a_state_tells_a_player_nothing_hidden() -> None:
    strings = set()
    for other in (0, 1):
        state = openspiel.load("kuhn").new_initial_state()
        state.apply_action(0)
        state.apply_action(other)
        state.apply_action(1)
        strings.add(
            (state.information_state_string(0), state.observation_string(0), tuple(state.observation_tensor(0)))
        )
    assert len(strings) == 1


def test_games_are_loaded_by_name_and_those_with_too_many_setups_in_steps() -> None:
    with pytest.raises(ConfigurationError, match=r"too many for a list .*steps:NAME"):
        openspiel.load("barrage")
    assert pyspiel.load_game("vauban(game=geister-33a,rules=total_limit:6)").max_game_length() == 6
    state = openspiel.load("steps:nano").new_initial_state()
    assert not state.is_chance_node() and state.current_player() == 0
