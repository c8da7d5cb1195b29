"""The agents `net` and `search`, and `vauban analyse`: a model at a table, by the rules of all agents."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import typer
from contenders import plain
from test_agents import check_answers_alike, check_many_games, play_out
from typer.testing import CliRunner

from vauban.agents import LEARNED, make_agent
from vauban.agents.base import GivesPolicy, Judge, choose_move, set_up
from vauban.agents.net import NetAgent
from vauban.agents.options import make_options, options_text, split_text
from vauban.agents.search import SearchAgent, SearchOptions
from vauban.arena.match import FORFEIT, FinishedGame, Match
from vauban.arena.play import play_in_batch, play_on_boards
from vauban.board import Board
from vauban.cli.analyse import analyse
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import game as find_game
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import can_move_first, check_army, mirrored, parse_setup, setup_text
from vauban.games.stratego.variants import VARIANTS
from vauban.nets.belief import BeliefNetwork
from vauban.nets.kinds import describe
from vauban.nets.move import MoveNetwork
from vauban.nets.plain import PlainNetwork
from vauban.nets.setup import SetupNetwork
from vauban.nets.store import ModelError, make_card, save_model
from vauban.nets.transformer import Size
from vauban.notation.records import write_game
from vauban.search.search import SearchConfig
from vauban.sim.simulator import Simulator
from vauban.solve import build_tree, evaluate, tabulate

SIZE = Size(depth=1, width=16, heads=2)
LITTLE = "rollouts=16,depth=2"
"""A search that answers at once."""


def save(
    folder: Path, name: str, parts: tuple[str, ...] = ("move", "setup", "belief"), rules: dict[str, int] | None = None
) -> str:
    """Save a model with random weights; return its folder, as an agent's text has it."""
    game: Any = find_game(name) if rules is None else Stratego(name, rules)
    made: dict[str, Any] = {}
    with torch.random.fork_rng():
        torch.manual_seed(len(name))
        if game.board == (1, 1):
            made["move"] = PlainNetwork(game, SIZE)
        else:
            made["move"] = MoveNetwork(game, SIZE)
            with torch.no_grad():
                made["move"].source_and_target.weight *= 4
        if "setup" in parts:
            made["setup"] = SetupNetwork(game, SIZE)
        if "belief" in parts:
            made["belief"] = BeliefNetwork(game, SIZE, decoder_depth=1, dropout=0.1)
    described = {part: describe(each) for part, each in made.items()}
    card = make_card(game, described, name=f"random-{name}", about="Random weights, for tests.")
    save_model(folder, made, card, torch.float32)
    return str(folder)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return folders of models by the name of their game; `plain-barrage` has a move network and nothing else."""
    folder = tmp_path_factory.mktemp("models")
    found = {name: save(folder / name, name) for name in ("barrage", "tiny", "micro")}
    found["plain-barrage"] = save(folder / "plain-barrage", "barrage", ())
    found["kuhn"] = save(folder / "kuhn", "kuhn", ())
    return found


def texts(folder: str) -> list[str]:
    """Return both agents with a model."""
    return [f"net:{folder}", f"search:{folder},{LITTLE}"]


def test_the_search_has_the_numbers_of_table_26_unless_told_otherwise() -> None:
    for each in (SearchConfig(), SearchOptions()):
        assert (each.alpha, each.beta, each.rollouts, each.depth) == (0.002, 0.02, 1000, 40)


def policy_of(agent: Any) -> Any:
    """Return an agent's policy as the solver asks for it."""
    return lambda views, actions: agent.policy(views)[:, : actions.shape[1]]


def probabilities(text: str, view: Any) -> Any:
    """Return an agent's probabilities of a view's legal moves."""
    agent: Any = make_agent(text)
    [row] = agent.policy(view.snapshot())
    return row[: len(view.legal_moves)]


KINDS = (0, 1)
"""Places in `texts`."""


# ── As every agent ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("variant", ["barrage", "tiny"])
def test_it_sets_up_the_whole_army(models: dict[str, str], kind: int, variant: str) -> None:
    agent = make_agent(texts(models[variant])[kind])
    found = set()
    for seed in range(8):
        setup = set_up(agent, Stratego(VARIANTS[variant]), seed % 2, random.Random(seed))
        check_army(setup, VARIANTS[variant])
        assert can_move_first(setup, VARIANTS[variant])
        found.add(setup_text(setup, VARIANTS[variant]))
        assert np.array_equal(setup, set_up(agent, Stratego(VARIANTS[variant]), seed % 2, random.Random(seed)))
    assert len(found) > 1


def test_its_own_setups_are_those_of_its_list_then_of_its_network_then_those_of_people(
    models: dict[str, str], tmp_path: Path
) -> None:
    tiny = VARIANTS["tiny"]
    listed = save(tmp_path / "listed", "tiny")
    Path(listed, "setups.txt").write_text("FLPJ\n")
    agent = make_agent(f"net:{listed}")
    found = {setup_text(set_up(agent, Stratego(tiny), 0, random.Random(seed)), tiny) for seed in range(20)}
    assert found == {"FLPJ", setup_text(mirrored(parse_setup("FLPJ", tiny), tiny), tiny)}
    barrage = VARIANTS["barrage"]
    people = set_up(make_agent("net:" + models["plain-barrage"]), Stratego(barrage), 0, random.Random(4))
    same = set_up(make_agent(f"net:{models['barrage']},setups=human"), Stratego(barrage), 0, random.Random(4))
    own = set_up(make_agent(f"net:{models['barrage']}"), Stratego(barrage), 0, random.Random(4))
    assert np.array_equal(people, same) and not np.array_equal(people, own)


@pytest.mark.parametrize("kind", KINDS)
def test_it_gives_the_same_answers_for_the_same_seed(models: dict[str, str], kind: int) -> None:
    text = texts(models["tiny"])[kind]
    games = [play_out(make_agent(text, 4), make_agent(text, seed), "tiny", 6) for seed in (5, 5, 6, 7, 8, 9)]
    assert games[0].history == games[1].history
    assert any(game.history != games[0].history for game in games[2:]), "chance depends on nothing"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("variant", ["barrage", "tiny"])
def test_it_plays_by_the_rules_to_the_end(models: dict[str, str], kind: int, variant: str) -> None:
    check_many_games(texts(models[variant])[kind], variant, 4 if variant == "tiny" else 2)


@pytest.mark.parametrize("kind", KINDS)
def test_many_games_at_once_are_answered_as_each_one_alone(models: dict[str, str], kind: int) -> None:
    agent: Any = make_agent(texts(models["barrage"])[kind])
    assert isinstance(agent, GivesPolicy) and isinstance(agent, Judge)
    sim = Simulator("barrage", 12, seed=3, restart=False)
    for _ in range(10):
        sim.step(sim.sample())
    assert not sim.over.any()
    views = sim.views(0)
    seeds = np.arange(12, dtype=np.uint64) + np.uint64(2**63)
    together = agent.choose(views, seeds)
    for row in range(12):
        alone = make_agent(texts(models["barrage"])[kind], int(seeds[row]))
        board = Board.from_snapshot(sim.snapshot(), row)
        move = choose_move(alone, board.view(0))
        assert move in board.legal_moves and board.game.encode(0, *move) == together[row]


@pytest.mark.parametrize("kind", KINDS)
def test_it_answers_alike_whatever_the_hidden_pieces_are(models: dict[str, str], kind: int) -> None:
    check_answers_alike(make_agent(texts(models["barrage"])[kind], 1), "barrage", 10, random.Random(5))


def test_a_network_plays_by_rules_without_limits_too(models: dict[str, str]) -> None:
    agent = make_agent(f"net:{models['tiny']}", 3)
    board = Board.from_position("3f/l3/3J/FP2 r 0 0 -,- 0:-,0:-", "tiny", "total_limit=none two_square=off chase=off")
    for _ in range(40):
        if not board.is_over:
            board.push(choose_move(agent, board.view(board.turn)))
    board = Board.random("tiny", 3, "total_limit=none")
    assert choose_move(agent, board.view(0)) in board.legal_moves


# ── Long games ───────────────────────────────────────────────────────────────────────────────────


def same_in_both_ways(a: str, b: str, games: int, variant: str, rules: str, seed: int) -> list[FinishedGame]:
    """Play a match in batches and on boards, which must give the same games; nobody forfeits one."""
    match = Match(a, b, games, variant, rules, seed, setups="own")
    assert match.in_batches
    together = play_in_batch(match, range(games))
    assert [plain(game) for game in together] == [plain(game) for game in play_on_boards(match, range(games))]
    assert not [game.result.note for game in together if game.result.end == FORFEIT]
    return together


def test_networks_play_on_after_256_quiet_plies_where_no_chase_rule_is_on(models: dict[str, str]) -> None:
    """Without it the rules look back no further, and games may be longer than a record's moves."""
    text = f"net:{models['tiny']},temperature=0"
    games = same_in_both_ways(text, text, 2, "tiny", "ucc total_limit=600", 3)
    assert max(game.result.plies for game in games) > 300, "no game was long enough to see what this is for"


@pytest.mark.slow
def test_the_shipped_network_plays_the_same_long_games_in_both_ways() -> None:
    games = same_in_both_ways("net:classic", "charger", 16, "classic", "ucc total_limit=1200", 5)
    assert max(game.result.plies for game in games) > 300


# ── Policies ─────────────────────────────────────────────────────────────────────────────────────


def test_a_network_without_temperature_plays_the_likeliest_move_and_a_hot_one_any(models: dict[str, str]) -> None:
    view = Board.random("tiny", 3).view(0)
    warm, cold, hot = (probabilities(f"net:{models['tiny']},temperature={each}", view) for each in (1, 0, 1000))
    assert cold[warm.argmax()] == 1 and cold.sum() == 1
    assert hot == pytest.approx(1 / len(hot), abs=0.01) and warm.max() > warm.min() + 0.01
    cooler = probabilities(f"net:{models['tiny']},temperature=0.5", view)
    assert cooler == pytest.approx(warm**2 / (warm**2).sum())


def test_a_network_plays_at_the_temperature_of_its_card_unless_it_is_told_another(
    models: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "cool"
    shutil.copytree(models["tiny"], folder)
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps(card | {"temperature": 0.5}))
    view = Board.random("tiny", 3).view(0)
    warm = probabilities(f"net:{models['tiny']}", view)
    assert probabilities(f"net:{folder}", view) == pytest.approx(warm**2 / (warm**2).sum())
    assert probabilities(f"net:{folder},temperature=1", view) == pytest.approx(warm)
    assert make_agent(f"net:{folder}").name == f"net:{folder}"
    (folder / "card.json").write_text(json.dumps(card | {"temperature": -1}))
    with pytest.raises(ModelError, match="'temperature' must be a number from 0, not -1"):
        make_agent(f"net:{folder}")


def test_a_network_moves_as_often_as_it_says(models: dict[str, str]) -> None:
    agent: Any = make_agent(f"net:{models['tiny']}")
    view = Board.random("tiny", 3).view(0)
    views = view.snapshot().repeat(4000)
    actions = agent.choose(views, np.arange(4000, dtype=np.uint64))
    shares = np.unique(actions, return_counts=True)[1] / 4000
    assert sorted(shares) == pytest.approx(sorted(probabilities(agent.name, view)), abs=0.04)


def test_the_solver_measures_a_network_view_by_view_or_many_at_once(models: dict[str, str]) -> None:
    agent: Any = make_agent(f"net:{models['kuhn']}")
    tree = build_tree("kuhn")
    table = tabulate(tree, policy_of(agent))
    assert evaluate(tree, table).exploitability > 0
    one_by_one = tabulate(
        tree, lambda views, _: np.concatenate([agent.policy(views[row]) for row in range(len(views))])
    )
    assert one_by_one == pytest.approx(table, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_solver_measures_both_agents_on_a_board(models: dict[str, str], kind: int) -> None:
    agent: Any = make_agent((f"net:{models['micro']}", f"search:{models['micro']},rollouts=12,depth=2")[kind])
    tree = build_tree("micro", "total_limit=2")
    table = tabulate(tree, policy_of(agent))
    assert evaluate(tree, table).exploitability >= 0 and (table > 0).all()
    view = tree.views(np.array([0]))
    assert agent.policy(view)[0, : len(table[tree.slots_of(0)])] == pytest.approx(table[tree.slots_of(0)], abs=1e-4)


# ── Texts and complaints ─────────────────────────────────────────────────────────────────────────


def test_its_name_is_the_text_that_makes_it_again(models: dict[str, str]) -> None:
    text = f"search:{models['tiny']},rollouts=7,time=0.5"
    agent = make_agent(text)
    assert isinstance(agent, SearchAgent) and agent.name == text
    assert (agent.options.rollouts, agent.options.depth, agent.options.time) == (7, 40, 0.5)
    name, settings = split_text(text)
    options = make_options(SearchOptions, name, settings)
    assert f"{name}:{options_text(options)}" == text
    assert make_options(SearchOptions, name, split_text(f"search:depth=4,model={models['tiny']}")[1]).depth == 4
    assert isinstance(make_agent(f"net:{models['tiny']}"), NetAgent)


def test_one_model_is_read_once_for_all_agents(models: dict[str, str]) -> None:
    one, other = (make_agent(f"net:{models['tiny']}", seed) for seed in (1, 2))
    assert one.model is other.model  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("net", "the agent 'net' needs a model: write net:MODEL"),
        ("search:time=1", "the agent 'search' needs a model: write search:MODEL"),
        ("net:no-such-model", "there is no model 'no-such-model'"),
        ("net:/no/such/folder", "/no/such/folder: there is no such folder"),
        ("net:MODEL,temperatur=1", "has no option 'temperatur': did you mean 'temperature'"),
        ("net:MODEL,temperature=-1", "it must be 0 or more"),
        ("net:MODEL,device=tpu", "device=tpu of agent 'net': it must be cpu or cuda"),
        ("search:MODEL,depth=5", "an even depth"),
        ("search:MODEL,alpha=0,beta=0", "not both 0"),
        ("fox:MODEL", "is no setting: write it as fox:key=value"),
        ("cadet:MODEL", "agent 'cadet' has no options, and"),
        ("serch:MODEL", "did you mean 'search'"),
    ],
)
def test_a_text_that_names_no_agent_is_refused_with_a_hint(models: dict[str, str], text: str, words: str) -> None:
    with pytest.raises(VaubanError, match=words):
        make_agent(text.replace("MODEL", models["tiny"]))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_named(models: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="there is no GPU"):
        make_agent(f"net:{models['tiny']},device=cuda")


@pytest.mark.parametrize("kind", KINDS)
def test_a_variant_that_the_model_was_not_trained_for_is_refused(models: dict[str, str], kind: int) -> None:
    agent = make_agent(texts(models["tiny"])[kind])
    with pytest.raises(ModelError, match="plays tiny, not 'barrage'"):
        choose_move(agent, Board.random("barrage", 1).view(0))
    with pytest.raises(ModelError, match="plays tiny, not 'barrage'"):
        set_up(agent, Stratego(VARIANTS["barrage"]), 0, random.Random(1))


def test_both_agents_are_described_without_a_model() -> None:
    assert list(LEARNED) == ["net", "search"]
    for kind in LEARNED.values():
        assert kind.options_kind().model == "" and kind.options_kind.__doc__


# ── vauban analyse ───────────────────────────────────────────────────────────────────────────────

COMMAND = typer.Typer()
COMMAND.command()(analyse)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(COMMAND, list(arguments))


def test_a_position_is_analysed(models: dict[str, str]) -> None:
    board = Board.random("barrage", 3)
    arguments = (board.text, "--agent", f"search:{models['barrage']},rollouts=60,depth=2")
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    for words in ("red to move at ply 0", "60 rollouts of 2 plies", "after the search", "most likely", "Bomb"):
        assert words in done.output
    table = json.loads(run(*arguments, "--json").stdout.splitlines()[-1])
    assert table["player"] == "red" and len(table["moves"]) == len(board.legal_moves)
    assert sum(each["policy"] for each in table["moves"]) == pytest.approx(1)
    assert sum(each["visits"] for each in table["moves"]) == 60
    hidden = {board.variant.square_name(square) for square in board.pieces(1)}
    assert set(table["belief"]) == hidden


def test_a_recorded_game_is_analysed_at_any_ply(models: dict[str, str], tmp_path: Path) -> None:
    played = play_out(make_agent("random", 1), make_agent("random", 2), "tiny", 5)
    file = tmp_path / "games.txt"
    file.write_text(write_game(played, {"Red": "random", "Blue": "random"}))
    agent = ("--agent", f"search:{models['tiny']},{LITTLE}", "--json")
    table = json.loads(run(str(file), "--ply", "3", *agent).stdout.splitlines()[-1])
    assert (table["ply"], table["player"]) == (3, "blue")
    lines = run(str(file), *agent).stdout.splitlines()
    assert len(lines) == len(played.history) + 2 and "moments" in json.loads(lines[-1])
    for arguments, words in (
        ((str(file), "--ply", "9999", *agent), "and no ply 9999"),
        ((str(file), "--number", "2", *agent), "and no game 2"),
        ((str(file), "--ply", str(len(played.history)), *agent), "the game is over"),
        ((str(file), "--agent", "cadet"), "does not tell what it thinks"),
        ((Board.random("tiny", 1).text, "--ply", "3", *agent), "--ply is a place in a recorded game"),
    ):
        error = run(*arguments).exception
        assert isinstance(error, ConfigurationError) and words in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_was_written_anew_is_read_anew(kind: int, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    text = texts(save(folder, "tiny"))[kind]
    before = make_agent(text)
    assert make_agent(text).model is before.model
    save(folder, "tiny", ("move",))
    after = make_agent(text)
    assert before.model.find(BeliefNetwork) is not None and after.model.find(BeliefNetwork) is None
    assert not isinstance(after, SearchAgent) or after.search.network is after.model.player


# ── Telling its thoughts ─────────────────────────────────────────────────────────────────────────


def test_an_analysis_in_a_hurry_tells_the_belief_by_more_configurations_than_it_had_time_to_search(
    models: dict[str, str],
) -> None:
    agent = make_agent(f"search:{models['barrage']},rollouts=1000,depth=40,time=0.001")
    view = Board.random("barrage", seed=2).view(0)
    found = agent.analyse(view)
    assert found.plan.configurations == 1
    belief = found.belief()
    assert list(belief) == view.hidden()
    assert all(sum(kinds.values()) == pytest.approx(1) for kinds in belief.values())
    assert max(share for kinds in belief.values() for share in kinds.values()) < 0.9, "random weights know nothing"
    assert min(len(kinds) for kinds in belief.values()) > 1


def test_what_a_search_with_a_clock_prepares_serves_games_by_the_rules_of_the_variant(tmp_path: Path) -> None:
    """A model is trained by rules with lower limits than those that people play by."""
    model = save(tmp_path / "hasty", "barrage", (), {"battleless_limit": 100, "total_limit": 2000})
    agent = make_agent(f"search:{model},rollouts=64,depth=4,time=0.5")
    prepared = {key[:2] for key in agent.search._batches}
    choose_move(agent, Board.random("barrage", seed=2).view(0))
    assert {key[:2] for key in agent.search._batches} == prepared
