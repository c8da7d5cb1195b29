"""Deep CFR with outcome sampling: with tables it comes to equilibria, with networks close to them, and runs go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.agents.base import drawn_policies
from vauban.agents.net import NetAgent
from vauban.agents.solved import policy
from vauban.agents.tables import tabulated
from vauban.arena.match import Match
from vauban.arena.play import play_games
from vauban.cli.main import app
from vauban.cli.train import make_evaluator
from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.learn.base import Place
from vauban.learn.card import make_model
from vauban.learn.config import load_config
from vauban.learn.deep_cfr.learner import PLAYERS, RESERVOIRS, DeepCFR
from vauban.learn.deep_cfr.regression import Items, Regression
from vauban.learn.run import Run
from vauban.learn.solvers import find_solver
from vauban.nets.regrets import DrawnNetwork, RegretPolicy, match_regrets
from vauban.nets.store import ModelError, load_model
from vauban.search.opinion import ask
from vauban.solve import Table, Tree, build_tree, evaluate, joined, mixed, tabulate, uniform

CPU = torch.device("cpu")
SMALL = (
    "deep_cfr.traversals=64", "deep_cfr.batch=64", "deep_cfr.batches=10", "deep_cfr.strategy_batches=20",
    "deep_cfr.strategy_every=2", "deep_cfr.keep_every=1", "deep_cfr.capacity=2000",
)  # fmt: skip
GEISTER = (*SMALL, "keep_models=0", "deep_cfr.traversals=16", "iterations=4")


def begun(folder: Path, preset: str = "deep-cfr-kuhn", iterations: int = 4, changes: tuple[str, ...] = SMALL) -> Run:
    run = Run.begin(load_config(preset, [*changes, "iterations=100", "evaluation.every=0"]), folder)
    for _ in range(iterations):
        run.iterate()
    return run


def learner_of(run: Run) -> DeepCFR:
    assert isinstance(run.first, DeepCFR)
    return run.first


def without_times(told: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in told.items() if not name.startswith(("seconds", "speed", "minutes"))}


def same_networks(one: Run, other: Run) -> bool:
    pairs = zip(one.trainees().values(), other.trainees().values(), strict=True)
    return all(
        torch.equal(a, b)
        for mine, theirs in pairs
        for first, second in ((mine.network, theirs.network), (mine.average, theirs.average))
        for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    )


# ── With tables ──────────────────────────────────────────────────────────────────────────────────


def solved(tree: Tree, iterations: int, seed: int, **settings: Any) -> Table:
    solver = find_solver("deep-cfr-table")(tree, seed, **settings)
    solver.run(iterations)
    return solver.average()


@pytest.mark.parametrize("weights", ["printed", "own", "dream", "reached"])
def test_with_tables_it_solves_kuhn_poker(weights: str) -> None:
    """After 400 iterations of 384 plays NashConv was 0.012 to 0.022 in nine runs; the even policy has 11/12."""
    tree = build_tree("kuhn")
    found = evaluate(tree, solved(tree, 400, seed=1, weights=weights))
    print(f"NashConv {found.nash_conv:.4f}, value {found.value:.4f}")
    assert found.nash_conv < 0.035
    assert found.value == pytest.approx(-1 / 18, abs=0.01)


@pytest.mark.slow
def test_with_tables_it_solves_kuhn_poker_whatever_the_seed() -> None:
    tree = build_tree("kuhn")
    found = [evaluate(tree, solved(tree, 400, seed)).nash_conv for seed in range(10)]
    print(f"NashConv {min(found):.4f} to {max(found):.4f}")
    assert max(found) < 0.035


@pytest.mark.slow
def test_with_tables_it_solves_geister_on_nine_squares() -> None:
    """The game in which the second player wins at the limit of five plies: it is worth −1/3."""
    tree = build_tree("geister-33b", "paper total_limit=5 at_limit=second")
    found = evaluate(tree, solved(tree, 4000, seed=1))
    print(f"NashConv {found.nash_conv:.4f}, value {found.value:.4f}")
    assert found.value == pytest.approx(-1 / 3, abs=0.02)
    assert found.nash_conv <= 0.1


def test_with_tables_geister_on_nine_squares_comes_nearer_in_time() -> None:
    tree = build_tree("geister-33b", "paper total_limit=5 at_limit=second")
    solver = find_solver("deep-cfr-table")(tree, 1)
    found = []
    for more in (10, 90, 300):
        solver.run(more)
        found.append(evaluate(tree, solver.average()).nash_conv)
    print(f"NashConv {found}")
    assert evaluate(tree, uniform(tree)).nash_conv > 1.1 > found[0] > 2 * found[1] and found[1] > 1.2 * found[2]
    assert found[2] < 0.25


def test_the_solver_is_asked_for_by_name() -> None:
    tree = build_tree("kuhn")
    table = policy("deep-cfr-table:iterations=20,traversals=50", seed=3)(tree)
    assert np.array_equal(table, solved(tree, 20, seed=3, traversals=50))
    assert not np.array_equal(table, policy("deep-cfr-table:iterations=20,traversals=50", seed=4)(tree))
    with pytest.raises(ConfigurationError, match="weights are printed, own, dream, reached, not 'odd'"):
        policy("deep-cfr-table:weights=odd", seed=3)(tree)


# ── Regret matching and averages ─────────────────────────────────────────────────────────────────


def test_strategies_are_in_proportion_to_positive_values_or_the_largest_value_alone() -> None:
    values = torch.tensor([[3.0, -1.0, 1.0, 9.0], [-3.0, -1.0, -2.0, 9.0], [0.0, 0.0, 0.0, 0.0]])
    there = torch.tensor([[True, True, True, False], [True, True, True, False], [False] * 4])
    assert match_regrets(values, there).tolist() == [[0.75, 0, 0.25, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def test_drawing_a_policy_for_a_whole_game_is_its_average_by_reach() -> None:
    """In Kuhn poker, always passing and always betting, by half: whoever answers a bet after passing has passed."""
    tree = build_tree("kuhn")
    passes = (tree.actions == 0).astype(float)
    table = mixed(tree, [passes, 1 - passes], [0.5, 0.5])
    again = tree.groups.parent != tree.slots  # the first player's second choice
    for information_set in np.flatnonzero(again):
        slots = tree.slots_of(int(information_set))
        assert table[slots].tolist() == [1, 0]
    for information_set in np.flatnonzero(~again):
        assert table[tree.slots_of(int(information_set))].tolist() == [0.5, 0.5]
    assert np.array_equal(mixed(tree, [passes], [1.0]), passes)


@pytest.fixture(scope="module")
def kuhn_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = begun(tmp_path_factory.mktemp("runs") / "kuhn", iterations=6)
    run.save()
    return run


def test_both_averages_of_a_model_play(kuhn_run: Run) -> None:
    model = load_model(kuhn_run.folder)
    assert sorted(model.networks) == ["drawn", "first", "second", "strategy"]
    assert model.card["plays"] == "strategy"
    drawn = model.networks["drawn"]
    assert isinstance(drawn, DrawnNetwork)
    assert [drawn.chances_of(player) for player in (0, 1)] == [pytest.approx([1 / 6, 2 / 6, 3 / 6])] * 2
    for plays in ("", ",plays=strategy", ",plays=drawn"):
        match = Match(f"net:{kuhn_run.folder}{plays}", "random", 20, "kuhn", seed=1)
        assert not [each.result.note for each in play_games(match, range(20)) if each.result.note]
    with pytest.raises(ModelError, match="has no network 'odd' that plays: .*strategy"):
        make_agent(f"net:{kuhn_run.folder},plays=odd")


def test_a_drawn_network_plays_a_whole_game_and_all_are_drawn_by_their_chances(kuhn_run: Run) -> None:
    agent = make_agent(f"net:{kuhn_run.folder},plays=drawn")
    assert isinstance(agent, NetAgent)
    tree = build_tree("kuhn")
    own = np.flatnonzero(tree.groups.owner == 0)
    views = tree.views(own)  # of the first choices and of the second ones: at other plies of the same games
    seeds = np.arange(3000, dtype=np.uint64)
    draws = [drawn_policies(agent.chances(0), views[[row] * 3000], seeds) for row in (0, len(own) - 1)]
    assert np.array_equal(*draws)
    shares = np.bincount(draws[0], minlength=3) / 3000
    assert shares == pytest.approx([1 / 6, 2 / 6, 3 / 6], abs=0.03)


def test_exploitability_of_drawn_networks_is_that_of_their_average_by_reach(kuhn_run: Run) -> None:
    tree = build_tree("kuhn")
    drawn = load_model(kuhn_run.folder).networks["drawn"]
    assert isinstance(drawn, DrawnNetwork)

    def table_of(network: RegretPolicy) -> Table:
        return tabulate(
            tree, lambda views, actions: np.exp(ask(network, views).log_policy.double().numpy())[:, : actions.shape[1]]
        )

    parts = [mixed(tree, [table_of(drawn.member(player, n)) for n in range(3)], [1, 2, 3]) for player in (0, 1)]
    agent = make_agent(f"net:{kuhn_run.folder},plays=drawn")
    assert isinstance(agent, NetAgent)
    table = tabulated(tree, agent)
    assert table == pytest.approx(joined(tree, *parts))
    with pytest.raises(ConfigurationError, match="draws one of several networks for a whole game"):
        agent.policy(tree.views(np.array([0])))


def test_the_card_says_which_average_plays(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", iterations=2, changes=(*SMALL, "deep_cfr.average=drawn", "deep_cfr.strategy_every=0"))
    run.save()
    card = make_model(tmp_path / "run", tmp_path / "made", "mine")
    assert card["plays"] == "drawn"
    assert sorted(card["networks"]) == ["drawn", "first", "second"]
    assert card["training"]["steps"] == {"first": 10, "second": 10}
    made = make_agent(f"net:{tmp_path / 'made'}")
    match = Match(f"net:{tmp_path / 'made'}", "random", 10, "kuhn", seed=1)
    assert made.name and not [each.result.note for each in play_games(match, range(10)) if each.result.note]


def test_an_average_needs_what_it_is_made_of() -> None:
    with pytest.raises(ConfigurationError, match="'drawn' needs a keep_every of 1 or more"):
        load_config("deep-cfr-kuhn", ["deep_cfr.average=drawn", "deep_cfr.keep_every=0"])
    with pytest.raises(
        ConfigurationError, match="weights of deep_cfr is printed or own or dream or reached, not 'odd'"
    ):
        load_config("deep-cfr-kuhn", ["deep_cfr.weights=odd"])


# ── The loop ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("preset", "more"),
    [("deep-cfr-kuhn", ()), ("deep-cfr-geister-history", ()),
     ("deep-cfr-leduc", ("deep_cfr.merge=true", "deep_cfr.traversals=32"))],
)  # fmt: skip
def test_a_killed_run_goes_on_to_the_same_numbers_bit_for_bit(
    tmp_path: Path, preset: str, more: tuple[str, ...]
) -> None:
    changes = (*SMALL, "deep_cfr.traversals=8", "deep_cfr.capacity=500", *more)  # small enough to overflow
    whole = begun(tmp_path / "whole", preset, 3, changes)
    killed = begun(tmp_path / "killed", preset, 3, changes)
    killed.save()
    again = Run.resume(tmp_path / "killed")
    assert not again.notes
    for _ in range(4):
        assert without_times(whole.iterate()) == without_times(again.iterate())
    assert same_networks(whole, again)
    for name in RESERVOIRS:
        one, other = (learner_of(each).regressions[name].reservoir.state() for each in (whole, again))
        assert all(torch.equal(one[key], other[key]) for key in one)
    assert learner_of(again).kept_weights == learner_of(whole).kept_weights
    last = [learner_of(each).others()["drawn"].state_dict() for each in (whole, again)]
    assert all(torch.equal(last[0][key], last[1][key]) for key in last[0])


def test_what_a_checkpoint_does_not_have_begins_anew_and_that_is_said(tmp_path: Path) -> None:
    begun(tmp_path / "run", iterations=2).save()
    (tmp_path / "run" / "checkpoint" / "deep_cfr.first.pt").unlink()
    again = Run.resume(tmp_path / "run", changes=["deep_cfr.capacity=50"])
    assert "deep_cfr.first.pt: it is not in the checkpoint, so this reservoir begins empty" in again.notes
    assert "deep_cfr.second.pt: it is for another configuration, so this reservoir begins empty" in again.notes
    again.iterate()


def test_reservoirs_hold_what_was_met_and_say_how_much(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", iterations=0)
    told = [run.iterate() for _ in range(2)]
    learner = learner_of(run)
    seen = {name: int(learner.regressions[name].reservoir.seen) for name in RESERVOIRS}
    assert [told[0]["deep_cfr.seen.first"], told[1]["deep_cfr.seen.second"]] == [seen["first"], seen["second"]]
    assert sum(seen.values()) == run.totals["moves"]
    strategies = learner.regressions["strategy"].reservoir.state()
    assert strategies["policy"].sum(1) == pytest.approx(1)
    # Of the second player, who has not been trained yet, in the first iteration: it plays evenly.
    assert (strategies["policy"][: seen["first"] // 2] <= 1).all()
    assert told[1]["deep_cfr.filled.strategy"] == seen["strategy"] / 2000


def test_networks_begin_anew_unless_they_are_to_go_on(tmp_path: Path) -> None:
    """With no step of training to speak of, a network stays at first weights, which differ from time to time."""
    found = {}
    for warm in ("true", "false"):
        changes = (*SMALL, "deep_cfr.learning_rate=1e-12", f"deep_cfr.warm_start={warm}")
        run = begun(tmp_path / warm, iterations=1, changes=changes)
        network = learner_of(run).trainees["first"].network
        before = network.embed.weight.clone()  # type: ignore[union-attr, operator]
        run.iterate()
        run.iterate()
        found[warm] = torch.allclose(before, network.embed.weight, atol=1e-9)  # type: ignore[arg-type]
    assert found == {"true": True, "false": False}


# ── Merging ──────────────────────────────────────────────────────────────────────────────────────


def regression_of(preset: str, name: str, changes: tuple[str, ...] = ()) -> Regression:
    """Return a regression whose reservoir has the samples of two iterations, with all kinds of weights and policies."""
    config = load_config(preset, [*SMALL, *changes])
    learner = DeepCFR(game(config.game, config.rules or None), config.stages["deep_cfr"], Place(CPU))
    for learner.iteration in (1, 2):
        learner._traverse(0)
    columns, generator = learner.regressions[name].reservoir.columns, torch.Generator().manual_seed(1)
    for each in ("weight", "policy", "shares"):
        if each in columns:
            columns[each].uniform_(0.5, 2, generator=generator)
    return learner.regressions[name]


@pytest.mark.parametrize(("name", "weights"), [("first", "dream"), ("first", "reached"), ("strategy", "dream")])
def test_merged_items_have_the_same_gradient_as_all_items(name: str, weights: str) -> None:
    regression = regression_of("deep-cfr-leduc", name, (f"deep_cfr.weights={weights}",))
    network, filled = regression.trainee.network, int(regression.reservoir.filled)
    regression._look(torch.arange(regression.sim.n).clamp(max=filled - 1))
    everything = Items(*(column[:filled].clone() for column in regression.items))
    merged = regression._merged()
    assert len(merged.weight) < filled / 2
    assert len(merged.seen.flatten(1).unique(dim=0)) == len(merged.seen)
    gradients = []
    for items in (everything, merged):
        network.zero_grad()
        # The mean over the items; weights of merged ones are scaled for that of a minibatch.
        loss = regression.error(network, items) * len(items.weight)
        (loss / (filled if items is everything else max(len(items.weight), regression.batch))).backward()
        gradients.append(torch.cat([each.grad.flatten() for each in network.parameters() if each.grad is not None]))
    assert gradients[0].norm() > 0
    assert torch.allclose(*gradients, rtol=1e-3, atol=1e-5 * float(gradients[0].abs().max()))


def test_merging_goes_on_where_it_was_as_long_as_nothing_was_replaced() -> None:
    """Blocks that are full are not merged again, and a run that is resumed, which merges all, gets the same numbers."""
    regression = regression_of("deep-cfr-kuhn", "strategy", ("deep_cfr.batch=4", "deep_cfr.batches=2"))
    assert int(regression.reservoir.filled) > regression.sim.n
    found = regression._merged()
    done, _ = regression._blocks
    assert done == int(regression.reservoir.filled) // regression.sim.n * regression.sim.n
    again = regression._merged()
    regression._blocks = 0, None
    anew = regression._merged()
    for other in (again, anew):
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(found, other, strict=True))
    before = found.weight.sum()
    regression.reservoir.columns["weight"].mul_(2)
    assert before < regression._merged().weight.sum() < 1.4 * before
    regression.reservoir.capacity = int(regression.reservoir.filled) - 1  # now any of them may be another
    assert regression._merged().weight.sum() > 1.5 * before


@pytest.mark.parametrize(("batch", "distinct"), [(16, 6), (4, 6)])
def test_minibatches_of_merged_items_have_all_of_them_or_a_fair_share(batch: int, distinct: int) -> None:
    regression = regression_of("deep-cfr-kuhn", "first", (f"deep_cfr.batch={batch}", "deep_cfr.batches=500"))
    merged = regression._merged()
    assert len(merged.weight) == distinct
    regression._take(merged, torch.Generator().manual_seed(1))
    weights = regression.items.weight.view(-1, batch)
    whole = merged.weight.sum().item()
    if batch > distinct:
        assert torch.allclose(weights.sum(1), torch.full_like(weights[:, 0], whole))
    else:
        assert weights.mean().item() == pytest.approx(whole / distinct, rel=0.1)


def test_each_player_plays_by_its_own_network_unless_the_printed_form_is_asked_for() -> None:
    config = load_config("deep-cfr-kuhn", SMALL).stages["deep_cfr"]
    learner = DeepCFR(game("kuhn"), config, Place(CPU))
    learner.strategies.trained[0] = True  # the second player's network has not been trained: it plays evenly
    for literal in (False, True):
        learner.traversal.literal = literal
        learner.traversal.run(0, 0)
        visits = learner.traversal.visits
        theirs = visits.policy[visits.played & (visits.players == 1)]
        even = bool((theirs == 0.5).all())
        assert even != literal


def test_strategies_of_a_game_that_is_over_say_nothing() -> None:
    learner = DeepCFR(game("kuhn"), load_config("deep-cfr-kuhn", SMALL).stages["deep_cfr"], Place(CPU))
    paths = learner.traversal.run(0, 0)
    visits = learner.traversal.visits
    assert (visits.policy.sum(2)[visits.played] == 1).all() and (visits.policy.sum(2)[~visits.played] == 0).all()
    assert not torch.isnan(paths.log_policy[visits.played]).any()


def test_a_game_without_a_longest_play_is_refused(tmp_path: Path) -> None:
    endless = ["game=barrage", "rules=isf", "deep_cfr.network={kind='move', depth=1, width=16, heads=2}"]
    with pytest.raises(ConfigurationError, match="no longest one: give it a limit"):
        Run.begin(load_config("deep-cfr-kuhn", endless), tmp_path / "run")


def test_a_short_run_learns_kuhn_poker_and_is_measured_exactly_meanwhile(tmp_path: Path) -> None:
    """After 20 iterations NashConv of the networks that are drawn was 0.115; the even policy has 0.917."""
    changes = ["iterations=20", "deep_cfr.average=drawn", "deep_cfr.strategy_every=0", "evaluation.every=1000"]
    config = load_config("deep-cfr-kuhn", changes)
    run = Run.begin(config, tmp_path / "run", evaluator=make_evaluator(config, CPU))
    while run.goes_on():
        told = run.iterate()
    print(f"NashConv {told['nash_conv']:.4f}")
    assert told["nash_conv"] < 0.25


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_networks_come_close_to_the_equilibrium_of_kuhn_poker(tmp_path: Path, seed: int) -> None:
    """After 200 iterations NashConv was 0.008 to 0.012 of either average (docs/deep-cfr.md)."""
    config = load_config("deep-cfr-kuhn", ["evaluation.every=0", f"seed={seed}"])
    run = Run.begin(config, tmp_path / "run")
    while run.goes_on():
        run.iterate()
    run.save()
    tree = build_tree(config.game)
    for plays in ("strategy", "drawn"):
        agent = make_agent(f"net:{tmp_path / 'run'},plays={plays}")
        assert isinstance(agent, NetAgent)
        found = evaluate(tree, tabulated(tree, agent)).nash_conv
        print(f"NashConv of {plays} {found:.4f}")
        assert found <= 0.06


@pytest.mark.slow
def test_networks_come_near_the_equilibrium_of_leduc_poker(tmp_path: Path) -> None:
    """After 75 iterations NashConv was 0.34, and after 50 it was 0.45; the even policy has 4.747."""
    changes = ["iterations=75", "deep_cfr.strategy_every=0", "evaluation.every=0"]
    config = load_config("deep-cfr-leduc", changes)
    run = Run.begin(config, tmp_path / "run")
    while run.goes_on():
        run.iterate()
    run.save()
    tree = build_tree(config.game)
    agent = make_agent(f"net:{tmp_path / 'run'}")
    assert isinstance(agent, NetAgent)
    found = evaluate(tree, tabulated(tree, agent)).nash_conv
    print(f"NashConv {found:.4f}")
    assert found <= 0.5


# ── Geister ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("preset", ["deep-cfr-geister", "deep-cfr-geister-history", "deep-cfr-geister-best"])
def test_geister_is_played_learned_and_measured(tmp_path: Path, preset: str) -> None:
    changes = [*GEISTER, "deep_cfr.network.width=16", "keep_models=2", "evaluation.every=1000", "evaluation.games=20",
               "evaluation.ladder=['random']"]  # fmt: skip
    config = load_config(preset, changes)
    run = Run.begin(config, tmp_path / "run", evaluator=make_evaluator(config, CPU))
    while run.goes_on():
        told = run.iterate()
    assert sum(value for name, value in told.items() if name.startswith("deep_cfr.end.")) == pytest.approx(1)
    assert 0 <= told["score.random"] <= 1
    won = {name: value for name, value in told.items() if name.startswith("won.random.")}
    assert not won or sum(won.values()) == pytest.approx(1)
    assert sorted(path.name for path in (tmp_path / "run" / "models").iterdir()) == ["000002", "000004"]
    early = load_model(tmp_path / "run" / "models" / "000002")
    assert set(PLAYERS) <= set(early.networks)


@pytest.mark.parametrize(
    "network",
    ["{kind='move', depth=1, width=16, heads=2}", "{kind='conv', channels=4, width=16, pieces=0}",
     "{kind='conv', channels=4, width=16, observation='geister-full'}"],
)  # fmt: skip
def test_any_network_that_plays_a_game_learns_it(tmp_path: Path, network: str) -> None:
    run = begun(tmp_path / "run", "deep-cfr-geister", 2, (*GEISTER, f"deep_cfr.network={network}"))
    run.save()
    for plays in ("strategy", "drawn"):
        match = Match(f"net:{tmp_path / 'run'},plays={plays}", "random", 4, game("geister", "paper"), seed=1)
        assert not [each.result.note for each in play_games(match, range(4)) if each.result.note]


def test_the_card_of_a_model_says_by_what_ends_it_won(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", "deep-cfr-geister", 2, (*GEISTER, "deep_cfr.network.width=16"))
    run.save()
    command = ["match", f"net:{tmp_path / 'run'}", "random", "--game", "geister", "--games", "20", "--seed", "1"]
    played = CliRunner().invoke(app, [*command, "--rules", "paper total_limit=300", "--json"])
    (tmp_path / "match.jsonl").write_text(played.stdout.splitlines()[-1])
    card = make_model(tmp_path / "run", tmp_path / "made", "mine", [tmp_path / "match.jsonl"])
    [row] = card["strength"]
    assert sum(row["ends_of_wins"].values()) == pytest.approx(1)
    assert set(row["ends_of_wins"]) <= set(game("geister").ends)
    longest = max(row["ends_of_wins"], key=row["ends_of_wins"].get)
    assert f"; wins by {longest.replace('_', ' ')} " in (tmp_path / "made" / "README.md").read_text()
