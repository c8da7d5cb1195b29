"""A network at a game: one that has learned Stratego in steps plays the game of whole moves."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rough_models import rough_model

from vauban.agents import make_agent, make_player
from vauban.agents.net import NetAgent
from vauban.arena.match import Match
from vauban.arena.play import play_in_batch, play_on_boards
from vauban.board import Board
from vauban.cli.train import make_evaluator
from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.learn.card import _row
from vauban.learn.config import parse_config
from vauban.nets.store import ModelError, load_model
from vauban.search.opinion import ask, legal_actions
from vauban.search.player import Player
from vauban.search.reviewing import look_back
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot
from vauban.sim.stratego_steps import in_steps
from vauban.web.levels import own_levels

STEPS, PLAIN = "steps:tiny", "tiny"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> NetAgent:
    made = make_agent(rough_model(tmp_path_factory.mktemp("steps"), STEPS))
    assert isinstance(made, NetAgent)
    return made


def some_views(name: str = PLAIN, count: int = 24, plies: int = 8) -> Snapshot:
    """Views of the second player, who is on turn, in games that have come some way."""
    sim = Simulator(name, count, seed=7, restart=False, threads=1, arrays="numpy")
    sim.play_random(plies + 1)
    rows = np.flatnonzero((np.asarray(sim.players) == 1) & ~np.asarray(sim.over))
    assert len(rows) > count // 2
    return sim.views(1)[rows]


def seeds_for(views: Snapshot) -> Any:
    return np.arange(100, 100 + len(views), dtype=np.uint64)


def test_a_move_is_as_likely_as_its_piece_times_its_target(agent: NetAgent) -> None:
    views = some_views()
    policy, legal = agent.policy(views), legal_actions(views)
    network, moves = agent.network, game(PLAIN).moves
    assert moves is not None
    first = ask(network, in_steps(views))
    for row in range(len(views)):
        chosen = dict(zip(first.legal[row].tolist(), first.log_policy[row].double().exp().tolist(), strict=True))
        for place in np.flatnonzero(legal[row] >= 0):
            piece, target = moves[legal[row, place]].tolist()
            second = ask(network, in_steps(views[row], np.array([piece])))
            aimed = dict(zip(second.legal[0].tolist(), second.log_policy[0].double().exp().tolist(), strict=True))
            assert policy[row, place] == pytest.approx(chosen[piece] * aimed[target], abs=1e-6)
    assert policy.sum(1) == pytest.approx(1.0) and (policy[legal < 0] == 0).all()


def test_it_chooses_as_in_the_game_in_steps_with_the_same_seeds(agent: NetAgent) -> None:
    views = some_views()
    seeds = seeds_for(views)
    pieces = agent.choose(in_steps(views), seeds)
    targets = agent.choose(in_steps(views, pieces), seeds)
    moves = game(PLAIN).moves
    assert moves is not None
    assert (moves[agent.choose(views, seeds)] == np.stack([pieces, targets], 1)).all()
    assert len(set(pieces.tolist())) > 1


def test_many_views_get_the_same_answers_as_each_alone(agent: NetAgent) -> None:
    views = some_views()
    seeds = seeds_for(views)
    alone = [int(agent.choose(views[row], seeds[row : row + 1])[0]) for row in range(len(views))]
    assert agent.choose(views, seeds).tolist() == alone
    assert agent.choose(views, seeds).tolist() == alone  # nothing but the seeds decides
    np.testing.assert_allclose(agent.policy(views)[3:4], agent.policy(views[3]), atol=1e-6)
    np.testing.assert_allclose(agent.judge(views)[3:4], agent.judge(views[3]), atol=1e-5)


def test_what_it_chooses_is_spread_as_its_policy(agent: NetAgent) -> None:
    view = some_views()[0]
    policy, legal = agent.policy(view)[0], legal_actions(view)[0]
    chosen = agent.choose(view.repeat(4000), np.arange(4000, dtype=np.uint64))
    shares = np.array([(chosen == action).mean() if action >= 0 else 0.0 for action in legal])
    assert np.abs(shares - policy).max() < 0.04  # five standard deviations


@pytest.mark.parametrize("player", [0, 1])
def test_it_sets_up_as_it_deploys(agent: NetAgent, player: int, tmp_path: Path) -> None:
    plain, steps = game(PLAIN), game(STEPS)
    assert plain.setups is not None
    found = [agent.set_up(plain, player, random.Random(seed)) for seed in range(12)]
    plain.setups.check(np.stack(found))
    assert len({row.tobytes() for row in found}) > 1
    assert (agent.set_up(plain, player, random.Random(5)) == found[5]).all()
    # Where chance plays no part, the deployment in the game in steps is the same.
    greedy = make_agent(f"{agent.name},temperature=0", game=plain)
    assert isinstance(greedy, NetAgent)
    sim = Simulator(steps, 1, seed=0, threads=1)
    squares: list[int] = []
    while sim.steps[0]:
        who = int(sim.players[0])
        action = int(greedy.choose(sim.views(who), np.zeros(1, np.uint64))[0])
        if who == player:
            squares.append(action)
        sim.step(torch.tensor([action]))
    assert (greedy.set_up(plain, player, random.Random(0)) == steps.setup_of(squares)).all()  # type: ignore[attr-defined]


def test_it_plays_matches_of_the_plain_game_in_batches_and_on_boards(agent: NetAgent) -> None:
    match = Match(agent.name, "charger", 6, game(PLAIN), None, 3, setups="own")
    batch, boards = play_in_batch(match, range(6)), play_on_boards(match, range(6))
    assert [each.moves for each in batch] == [each.moves for each in boards]
    assert [each.setups for each in batch] == [each.setups for each in boards]
    assert not any(each.result.note for each in batch)


def test_games_that_it_has_not_learned_are_refused_with_a_sentence(agent: NetAgent, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="plays steps:tiny, and the same in whole moves, not 'micro'"):
        make_player(agent.name, game("micro"))
    plain = rough_model(tmp_path, PLAIN)
    make_player(plain, game(PLAIN))
    with pytest.raises(ModelError, match="plays tiny, not 'steps:tiny'"):
        make_player(plain, game(STEPS))
    with pytest.raises(ModelError, match="plays steps:tiny, not 'tiny'"):
        make_player(agent.name.replace("net:", "search:") + ",time=0", game(PLAIN))


def test_a_game_is_looked_back_on_by_what_it_would_have_played(agent: NetAgent) -> None:
    board = Board.random(PLAIN, seed=2)
    while len(board.history) < 6 and not board.is_over:
        board.push(next(iter(board.legal_moves)))
    model = load_model(str(agent.options.model))
    found = look_back(board, model)
    player = Player(model, board.game)
    back = board.copy()
    back.pop()
    place = len(back.history)
    legal, chances = player.policy(back.view(back.turn).snapshot())
    for action, chance in zip(legal[0], chances[0], strict=True):
        if action >= 0:
            assert found.policies[place][found.move_of(back.turn, int(action))] == pytest.approx(chance, abs=1e-6)
    assert sum(found.outcomes[place]) == pytest.approx(1, abs=1e-4)
    worth = found.outcomes[place][2] - found.outcomes[place][0]
    assert player.judge(back.view(back.turn).snapshot())[0] == pytest.approx(worth, abs=1e-5)


def test_a_run_in_steps_is_measured_in_the_plain_game(tmp_path: Path) -> None:
    rough_model(tmp_path / "model", STEPS)
    config = parse_config(
        f'game = "{STEPS}"\nalgorithms = ["rnad"]\n[rnad]\ngames = 8\n[rnad.network]\nkind = "pyramid"\n'
        '[evaluation]\nevery = 1\ngames = 4\nladder = ["random", "charger"]\n'
    )
    measure = make_evaluator(config, torch.device("cpu"))
    assert measure is not None
    scores = measure(tmp_path / "model")
    assert {"score.random", "score.charger"} <= set(scores)
    wrong = parse_config(
        f'game = "{STEPS}"\nalgorithms = ["rnad"]\n[rnad]\ngames = 8\n[rnad.network]\nkind = "pyramid"\n'
        '[evaluation]\nevery = 1\ngames = 4\nladder = ["runner"]\n'
    )
    with pytest.raises(ConfigurationError, match="runner"):
        make_evaluator(wrong, torch.device("cpu"))


def test_the_page_offers_it_where_it_plays(agent: NetAgent) -> None:
    told: list[str] = []
    [level] = own_levels([agent.name], [PLAIN, "micro", STEPS], told.append)
    assert [name for name in (PLAIN, "micro", STEPS) if level.plays(name)] == [PLAIN, STEPS]
    assert len(told) == 1 and "not 'micro'" in told[0]


def test_its_card_takes_matches_of_the_plain_game() -> None:
    told = {
        "agents": ["net:rough", "charger"], "game": PLAIN, "rules": game(PLAIN).rules_text, "setups": "own", "seed": 1,
        "games": 2, "score": 0.5, "score_low": 0.0, "score_high": 1.0, "elo": 0, "elo_low": -1, "elo_high": 1,
    }  # fmt: skip
    row = _row(told, Path("runs/none"), "rough", game(STEPS), STEPS, "2026-11-19")
    assert row["variant"] == PLAIN
    assert row["command"] == "vauban match net:rough charger --games 2 --game tiny --setups own --seed 1"
    with pytest.raises(ModelError, match="a match of 'micro'"):
        _row(told | {"game": "micro"}, Path("runs/none"), "rough", game(STEPS), STEPS, "2026-11-19")
