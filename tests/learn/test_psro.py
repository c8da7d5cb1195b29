"""PSRO: the worked runs on random games, the rules of each scheme, populations of small games, processes killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.agents.base import check_plays
from vauban.agents.tables import tabulated
from vauban.arena.match import Match
from vauban.arena.play import play_games
from vauban.cli.main import app
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import game
from vauban.games.matrix import random_antisymmetric
from vauban.learn.checkpoint import CheckpointError
from vauban.learn.config import load_config
from vauban.learn.population import read_population
from vauban.learn.psro import experiment
from vauban.learn.psro.ledger import LedgerError, SqliteLedger
from vauban.learn.psro.normal_form import MatrixWorkshop
from vauban.learn.psro.pipeline import ACTIVE, TRAINED, WAITING, Pipeline, Plateau
from vauban.learn.psro.portrait import Portrait, portrait_svg
from vauban.learn.psro.schemes import SCHEMES, find_scheme
from vauban.learn.psro.trees import TreeWorkshop
from vauban.learn.psro.workshop import Checkpoint, Job, Measured, Trained, Wanted, Workshop
from vauban.learn.run import Run
from vauban.sim.simulator import Simulator
from vauban.solve import build_tree, evaluate
from vauban.solve.meta import MetaSolver
from vauban.work.executors import Here

ROCK, PAPER, SCISSORS, X = range(4)


def on_a_random_game(scheme: str, workers: int, rate: float, seed: int) -> Pipeline:
    return experiment.Setting(60, scheme, rate, workers).pipeline(seed)


def judged(pipeline: Pipeline) -> tuple[Any, int, Any]:
    """Return exploitability of the finished policies, their number, exploitability of all."""
    return (
        pipeline.judge(pipeline.finished)[1], len(pipeline.finished), pipeline.judge(pipeline.population)[1],
    )  # fmt: skip


# ── The experiment on random games ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("scheme", "workers", "rate", "seed", "worked"),
    [
        ("p2sro", 4, 0.5, 0, {10: (0.972476, 4, 0.464024), 50: (0.300692, 20, 0.160909), 100: (0.012939, 40, 0.01357)}),
        ("p2sro", 4, 0.2, 1, {10: (0.847357, 2, 0.332191), 50: (0.631014, 10, 0.28146), 100: (0.127746, 29, 0.119212)}),
        ("sequential", 1, 0.5, 0, {10: (0.959930, 2, None), 50: (0.720776, 8, None), 100: (0.279752, 17, None)}),
    ],
)  # fmt: skip
def test_worked_runs_on_random_games_of_dimension_60(
    scheme: str, workers: int, rate: float, seed: int, worked: dict[int, tuple[float, int, float | None]]
) -> None:
    pipeline = on_a_random_game(scheme, workers, rate, seed)
    for update in range(1, 101):
        pipeline.update()
        if update in worked:
            finished, count, whole = judged(pipeline)
            assert finished == pytest.approx(worked[update][0], abs=1e-4)
            assert count == worked[update][1]
            if worked[update][2] is not None:
                assert whole == pytest.approx(worked[update][2], abs=1e-4)


WORKED = json.loads((Path(__file__).parents[1] / "data" / "psro_random_games.json").read_text(encoding="utf-8"))
"""Rows of (learning rate, workers, scheme, {updates: [mean, standard error, mean of the whole population]}, finished
after 100 updates)."""


def check_row(row: dict, updates: int) -> None:  # type: ignore[type-arg]
    setting = experiment.Setting(60, row["scheme"], row["rate"], row["workers"])
    told = tuple(at for at in experiment.TOLD if at <= updates)
    played = [experiment.Played(setting, seed, told).run(lambda share: None) for seed in range(5)]
    curves = experiment.Curves(setting, tuple(played))
    for at, (mean, error, whole) in row["exploitability"].items():
        if int(at) > updates or (row["scheme"] == "rectified" and int(at) > 200):
            continue
        points = curves.points(int(at))
        of_whole = experiment.mean_and_error([point.whole for point in points])[0]
        found = of_whole if row["scheme"] == "dch" else experiment.mean_and_error([p.finished for p in points])[0]
        assert abs(found - mean) <= error, f"after {at} updates {found}, and it is {mean} ± {error}"
        if whole is not None:
            assert abs(of_whole - whole) <= error
    if row["scheme"] != "dch" and updates >= 100:
        count = np.mean([point.count for point in curves.points(100)])
        assert count == pytest.approx(row["finished"], rel=0.05)


@pytest.mark.parametrize("row", [row for row in WORKED if row["rate"] == 0.5 and row["workers"] in (1, 4)],
                         ids=lambda row: row["scheme"])  # fmt: skip
def test_five_random_games_come_to_the_worked_means(row: dict) -> None:  # type: ignore[type-arg]
    check_row(row, 100)


@pytest.mark.slow
@pytest.mark.parametrize("row", WORKED, ids=lambda row: f"{row['scheme']}-{row['rate']}-{row['workers']}")
def test_every_row_of_the_table_is_within_its_standard_errors(row: dict) -> None:  # type: ignore[type-arg]
    check_row(row, 500)


def test_pipeline_psro_is_far_below_all_others_after_100_updates() -> None:
    settings = experiment.grid([60], experiment.USUAL, [0.5], [4])
    assert [each.scheme for each in settings] == list(experiment.USUAL)
    curves = {each.setting.scheme: each for each in experiment.run_all(settings, 2, 100, Here())}
    means = {scheme: each.outcome(100)[0] for scheme, each in curves.items()}
    ours = means.pop("p2sro")
    assert ours <= 0.015
    assert ours * 5 < min(means.values())


@pytest.mark.parametrize("random_start", [False, True])
def test_dch_with_as_many_levels_as_strategies_rests_unless_mixes_are_found_by_chance(random_start: bool) -> None:
    pipeline = experiment.Setting(12, "dch", 1.0, 12, random_start=random_start).pipeline(0)
    for _ in range(60):
        pipeline.update()
    workshop = pipeline.workshop
    assert isinstance(workshop, MatrixWorkshop)
    before = workshop.strategies.copy()
    moved = 0
    for _ in range(20):
        pipeline.update()
        moved += int((workshop.strategies != before).any())
    assert (moved > 0) == random_start


# ── The game of rock, paper, scissors and x ──────────────────────────────────────────────────────


def on_the_counterexample(scheme: str, workers: int) -> Pipeline:
    return experiment.Setting(4, scheme, 1.0, workers, game="rps-x").pipeline(0)


def choices(pipeline: Pipeline) -> list[int]:
    workshop = pipeline.workshop
    assert isinstance(workshop, MatrixWorkshop)
    return [int(workshop.strategies[number].argmax()) for number in pipeline.finished]


@pytest.mark.parametrize(("scheme", "workers"), [("p2sro", 2), ("sequential", 1)])
def test_double_oracles_find_x(scheme: str, workers: int) -> None:
    pipeline = on_the_counterexample(scheme, workers)
    for update in range(1, 11):
        pipeline.update()
        if update == 5:
            assert judged(pipeline)[0] == pytest.approx(0.4, abs=2e-3)
    assert X in choices(pipeline)
    assert judged(pipeline)[0] < 2e-5


def test_rectified_psro_adds_rock_paper_and_scissors_for_ever() -> None:
    pipeline = on_the_counterexample("rectified", 2)
    for _ in range(50):
        pipeline.update()
        assert judged(pipeline)[0] >= 0.4 - 1e-9
    assert judged(pipeline)[0] == pytest.approx(0.4, abs=1e-9)
    assert set(choices(pipeline)) == {ROCK, PAPER, SCISSORS}
    assert len(pipeline.finished) > 10


def test_rectified_psro_as_printed_ends_at_its_third_generation_without_x() -> None:
    pipeline = on_the_counterexample("rectified-paper", 3)
    for _ in range(20):
        pipeline.update()
    # Two updates for each generation of one worker's time: paper, scissors, and a third in which nothing is new.
    assert pipeline.over and pipeline.updates == 6
    assert choices(pipeline) == [ROCK, PAPER, SCISSORS]
    assert pipeline.update() == {} and pipeline.updates == 6


def test_self_play_goes_round_in_circles() -> None:
    pipeline = on_the_counterexample("self-play", 1)
    for _ in range(50):
        pipeline.update()
    assert choices(pipeline)[:6] == [ROCK, PAPER, SCISSORS, ROCK, PAPER, SCISSORS]
    assert judged(pipeline)[0] == pytest.approx(0.4, abs=1e-3)


# ── The rules of the pipeline ────────────────────────────────────────────────────────────────────


class Told(Workshop):
    """A workshop whose policies perform as they are told, and that notes what it is asked."""

    def __init__(self, performances: dict[int, list[float]] | None = None, steps: int = 1) -> None:
        self.performances, self.steps = performances or {}, steps
        self.begun: list[tuple[int, Checkpoint | None]] = []
        self.jobs: list[dict[int, Job]] = []
        self.measured: list[tuple[Checkpoint, Checkpoint]] = []

    def begin(self, number: int, parent: Checkpoint | None, seed: tuple[int, ...]) -> None:
        self.begun.append((number, parent))

    def train(self, jobs: Sequence[Job]) -> list[Trained]:
        self.jobs.append({job.policy.number: job for job in jobs})
        return [self._trained(job.policy) for job in jobs]

    def _trained(self, policy: Checkpoint) -> Trained:
        told = self.performances.get(policy.number, [])
        rises = float(policy.version)
        return Trained(told[policy.version] if policy.version < len(told) else rises, self.steps, 10 * self.steps)

    def measure(self, wanted: Sequence[Wanted]) -> list[Measured]:
        self.measured += [(each.row, column) for each in wanted for column in each.columns]
        return [Measured(np.array([np.sin(each.row.number * 7 + column.number) for column in each.columns]), 100)
                for each in wanted]  # fmt: skip


FLAT = [0.0] * 1000
"""Performances on a plateau: finished at the second test."""


def test_only_the_lowest_policy_is_finished_however_flat_the_others_are() -> None:
    workshop = Told(dict.fromkeys(range(2, 20), FLAT))  # 1 goes on rising
    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=3)
    for _ in range(20):
        pipeline.update()
    assert pipeline.finished == [0] and [each.number for each in pipeline.active] == [1, 2, 3]
    workshop.performances[1] = FLAT
    for _ in range(8):
        pipeline.update()
        assert pipeline.finished == list(range(len(pipeline.finished)))
        assert [each.number for each in pipeline.active] == [len(pipeline.finished) + level for level in range(3)]
    # One that has just become the lowest is tested twice at least.
    assert len(pipeline.finished) == 1 + 4


def test_the_lowest_trains_against_a_mix_that_is_settled_and_the_others_against_what_is_new() -> None:
    workshop = Told({1: [0, 1, 2, 3, 3]})
    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=3)
    for _ in range(5):
        pipeline.update()
    for update, jobs in enumerate(workshop.jobs):
        assert [each.number for each in jobs[1].opponents] == [0]
        assert not jobs[1].warm and jobs[2].warm and jobs[3].warm
        assert Checkpoint(1, update) in jobs[3].opponents
        assert all(each.number < number for number, job in jobs.items() for each in job.opponents)
    assert pipeline.finished == [0, 1]
    pipeline.update()
    now = workshop.jobs[-1]
    assert not now[2].warm and {each.number for each in now[2].opponents} == {0, 1} and now[3].warm
    settled = list(now[2].chances)
    pipeline.update()
    assert list(workshop.jobs[-1][2].chances) == settled


def test_a_settled_mix_stays_even_if_it_was_found_by_chance() -> None:
    workshop = Told({1: FLAT, 2: FLAT})  # and 3 goes on rising
    solver = MetaSolver(50, random_start=True)
    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=2, solver=solver)
    for _ in range(10):
        pipeline.update()
    assert pipeline.finished == [0, 1, 2]
    settled = {tuple(jobs[3].chances) for jobs in workshop.jobs if 3 in jobs and not jobs[3].warm}
    warm = {tuple(jobs[4].chances) for jobs in workshop.jobs if 4 in jobs and jobs[4].warm}
    assert len(settled) == 1 and len(warm) > 2


def test_a_pair_of_checkpoints_is_measured_once_and_the_top_policy_not_before_somebody_needs_it() -> None:
    workshop = Told(dict.fromkeys(range(100), FLAT))
    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=3)
    for _ in range(12):
        pipeline.update()
    assert len(workshop.measured) == len(set(workshop.measured))
    assert all(row.number > column.number for row, column in workshop.measured)
    top = {number for jobs in workshop.jobs for number in jobs if number == max(jobs)}
    first = {row.number for row, _ in workshop.measured}
    assert max(first) < max(top)


def test_a_plateau_is_tested_as_often_and_as_late_as_it_is_said() -> None:
    # Ten steps an update: tests at 30 steps, then every 20; 80 steps at least.
    plateau = Plateau(gain=0.5, start=30, every=20, least=80)
    workshop = Told({1: [5, 5, 1.0, 9, 1.2, 9, 1.6, 1.6, 1.7]}, steps=10)
    pipeline = Pipeline(find_scheme("sequential"), workshop, plateau=plateau)
    for update in range(1, 10):
        pipeline.update()
        # At 50 steps it has gained only 0.2 since 30, which is too soon; at 70 as well; at 90 it may end.
        assert (len(pipeline.finished) == 2) == (update >= 9)
    assert pipeline.members[1].steps == 90 and pipeline.members[1].episodes == 900
    rising = Pipeline(find_scheme("sequential"), Told(steps=10), plateau=Plateau(0.0, most=60))
    for _ in range(6):
        assert rising.finished == [0]
        rising.update()
    assert rising.finished == [0, 1]


def test_naive_workers_are_finished_each_by_itself_and_answer_the_finished_ones() -> None:
    workshop = Told({2: FLAT})
    pipeline = Pipeline(find_scheme("naive"), workshop, workers=3)
    pipeline.update()
    pipeline.update()
    assert pipeline.finished == [0, 2] and [each.number for each in pipeline.active] == [1, 3, 4]
    pipeline.update()
    for job in workshop.jobs[-1].values():
        assert {each.number for each in job.opponents} == {0, 2} and not job.warm


def test_dch_finishes_nobody() -> None:
    workshop = Told(dict.fromkeys(range(10), FLAT))
    pipeline = Pipeline(find_scheme("dch"), workshop, workers=4)
    for _ in range(10):
        pipeline.update()
    assert pipeline.finished == [0] and [each.number for each in pipeline.active] == [1, 2, 3, 4]
    assert Checkpoint(3, 9) in workshop.jobs[-1][4].opponents


def test_a_generation_of_rectified_psro_waits_for_all_of_its_policies() -> None:
    pipeline = on_a_random_game("rectified", 3, 0.5, 0)
    sizes = []
    for _ in range(80):
        before = len(pipeline.finished)
        pipeline.update()
        states = [each.state for each in pipeline.members]
        assert states.count(ACTIVE) <= 3
        assert WAITING not in states or states.count(ACTIVE) == 3
        if len(pipeline.finished) > before:
            sizes.append(len(pipeline.finished) - before)
            assert TRAINED not in states
    assert sizes[0] == 1 and max(sizes) > 3
    assert pipeline.finished == list(range(len(pipeline.finished)))


def test_an_annealed_rate_is_half_after_so_many_updates() -> None:
    workshop = MatrixWorkshop(random_antisymmetric(5, 0), 0.8, halves=20)
    workshop.begin(0, None, ())
    before = workshop.strategies[0].copy()
    for version, rate in ((0, 0.8), (20, 0.4), (60, 0.2)):
        workshop.strategies[0] = before
        workshop.train([Job(Checkpoint(0, version), [Checkpoint(0, version)], np.ones(1), False, ())])
        kept = workshop.strategies[0] / before
        assert np.delete(kept, workshop.strategies[0].argmax()) == pytest.approx(1 - rate)


def test_a_new_policy_may_begin_as_a_copy_of_one_that_its_meta_nash_plays() -> None:
    workshop = Told(dict.fromkeys(range(100), FLAT))
    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=2, drawn=True, seed=3)
    for _ in range(40):
        pipeline.update()
    assert workshop.begun[0] == (0, None)
    parents = dict(workshop.begun[1:])
    assert all(parent is not None and parent.number < number for number, parent in parents.items())
    assert len({parent.number for parent in parents.values() if parent}) > 1
    assert all(pipeline.members[number].parent == parent.number for number, parent in parents.items() if parent)
    # A copy is what its parent was: of a matrix game, its strategy.
    matrix = MatrixWorkshop(random_antisymmetric(5, 0), 0.5)
    matrix.begin(0, None, ())
    matrix.begin(1, Checkpoint(0, 0), ())
    assert (matrix.strategies[1] == matrix.strategies[0]).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_goes_on_with_random_starts_noise_and_a_mix(scheme: str) -> None:
    def run() -> tuple[list[int], list[float]]:
        solver = MetaSolver(200, random_start=True, uniform=0.1, least=1e-4, noise=0.01)
        workshop = MatrixWorkshop(random_antisymmetric(8, 1), 0.5)
        pipeline = Pipeline(find_scheme(scheme), workshop, workers=2, solver=solver, seed=5)
        for _ in range(12):
            pipeline.update()
        return pipeline.finished, [each.performance for each in pipeline.members[1:]]

    one, again = run(), run()
    assert one[0] == again[0] and one[1] == pytest.approx(again[1], nan_ok=True, abs=0)


# ── Small games ──────────────────────────────────────────────────────────────────────────────────


def grow(tree_of: str, policies: int, workers: int = 1) -> tuple[Pipeline, TreeWorkshop]:
    workshop = TreeWorkshop(build_tree(tree_of))
    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=workers)
    while len(pipeline.finished) < policies:
        pipeline.update()
    return pipeline, workshop


def exploitability_on_tree(pipeline: Pipeline, workshop: TreeWorkshop) -> float:
    """Return it by the table that plays as the mix does."""
    mix, told = pipeline.judge(pipeline.finished)
    reach = workshop.exact.mixed([pipeline.members[each].checkpoint for each in pipeline.finished], mix)
    found = evaluate(workshop.tree, workshop.exact.table(reach)).exploitability
    assert found == pytest.approx(told, abs=1e-9)
    return found


def test_an_exact_best_response_gets_what_its_opponents_are_exploitable_for() -> None:
    pipeline, workshop = grow("kuhn", 5)
    lowest = pipeline.active[0]
    opponents = [Checkpoint(number, pipeline.members[number].version) for number, _ in lowest.opponents]
    reach = workshop.exact.mixed(opponents, np.array([chance for _, chance in lowest.opponents]))
    exact = evaluate(workshop.tree, workshop.exact.table(reach)).exploitability
    pipeline.update()
    assert lowest.performance == pytest.approx(exact, abs=1e-12)


def test_a_best_response_plays_evenly_where_its_opponents_never_let_it_come() -> None:
    workshop = TreeWorkshop(build_tree("kuhn"))
    for number in (0, 1, 2):
        workshop.begin(number, None, ())
    workshop.train([Job(Checkpoint(1, 0), [Checkpoint(0, 0)], np.ones(1), False, ())])
    # Against policy 1, which never passes with a jack or a king as the first player, for example.
    [came] = workshop.train([Job(Checkpoint(2, 0), [Checkpoint(1, 1)], np.ones(1), False, ())])
    against = workshop.exact.table(workshop.exact.mixed([Checkpoint(1, 1)], np.ones(1)))
    assert came.performance == pytest.approx(evaluate(workshop.tree, against).exploitability)
    reach = workshop.exact.mixed([Checkpoint(2, 1)], np.ones(1))
    own = np.add.reduceat(reach[:-1], workshop.tree.groups.first_slot[:-1]) > 0
    table = workshop.exact.table(reach).reshape(-1, 2)
    even = (table == 0.5).all(1)
    assert ((table == 0).any(1) | even).all()
    assert (own & even).any() and (own & ~even).any()


def test_payoffs_on_a_tree_are_those_of_playing_both_seats() -> None:
    from vauban.solve import joined

    pipeline, workshop = grow("kuhn", 6)
    tables = [
        workshop.exact.table(workshop.exact.mixed([pipeline.members[each].checkpoint], np.ones(1))) for each in range(6)
    ]
    payoffs = pipeline.payoffs(range(6))
    for row in range(6):
        for column in range(6):
            first = evaluate(workshop.tree, joined(workshop.tree, tables[row], tables[column])).value
            second = evaluate(workshop.tree, joined(workshop.tree, tables[column], tables[row])).value
            assert payoffs[row, column] == pytest.approx((first - second) / 2, abs=1e-12)


def test_the_double_oracle_solves_kuhn_and_comes_down_on_leduc_with_any_number_of_workers() -> None:
    assert exploitability_on_tree(*grow("kuhn", 12)) < 5e-3
    at_26 = [exploitability_on_tree(*grow("leduc", 26, workers)) for workers in (1, 3)]
    # An exact best response is the same, whatever it was trained against before: so are the populations.
    assert at_26[0] == pytest.approx(at_26[1], abs=1e-9)
    assert 0.6 < at_26[0] < 0.85
    assert exploitability_on_tree(*grow("leduc", 50)) < 0.54


# ── Runs, populations, agents ────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def kuhn_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "kuhn"
    run = Run.begin(load_config("psro-kuhn-exact", ["iterations=24"]), folder)
    while run.goes_on():
        told = run.iterate()
    run.save()
    run.close()
    assert told["psro.policies"] == 13 and told["psro.response"] < 0.02 and told["psro.exploitability"] < 5e-3
    return folder


def test_a_population_is_as_exploitable_as_its_card_and_its_policies_are(kuhn_run: Path) -> None:
    agent = make_agent(f"population:{kuhn_run}")
    tree = build_tree("kuhn")
    found = evaluate(tree, tabulated(tree, agent)).exploitability  # type: ignore[arg-type]
    told = json.loads((kuhn_run / "metrics.jsonl").read_text().splitlines()[-1])
    # The agent leaves out policies that are hardly ever drawn.
    assert found == pytest.approx(told["psro.exploitability"], abs=2e-4)
    done = CliRunner().invoke(app, ["exploitability", "kuhn", f"population:{kuhn_run}", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout.splitlines()[-1])["exploitability"] == pytest.approx(found)
    # Its policies by themselves are far from that.
    worst = evaluate(tree, tabulated(tree, make_agent(read_population(kuhn_run).agents[5])))  # type: ignore[arg-type]
    assert worst.exploitability > 0.1


def test_a_population_draws_a_policy_for_a_whole_game_as_often_as_its_card_says(kuhn_run: Path) -> None:
    population = read_population(kuhn_run)
    agent = make_agent(f"population:{kuhn_run}")
    sim = Simulator(game("kuhn"), 4000, seed=1)
    sim.reset()
    views = sim.views(0)
    seeds = np.arange(4000, dtype=np.uint64)
    first = agent.choose(views, seeds)
    assert (agent.choose(views, seeds) == first).all()
    assert (agent.choose(views[np.arange(10, 20)], seeds[10:20]) == first[10:20]).all()
    tree = build_tree("kuhn")
    table = tabulated(tree, agent)  # type: ignore[arg-type]
    cards = np.asarray(sim.hidden_values(1))[:, 0]
    for card in range(3):
        own = [each for each in range(12) if tree.groups.owner[each] == 0 and tree.groups.parent[each] == tree.slots]
        bets = {round(table[tree.slots_of(each)][1], 6) for each in own}
        share = (first[cards == card] == 1).mean()
        assert min(abs(share - bet) for bet in bets) < 0.04
    assert sum(population.chances) == pytest.approx(1)


def test_a_population_plays_a_match(kuhn_run: Path) -> None:
    match = Match(f"population:{kuhn_run}", "random", 200, "kuhn", seed=3)
    games = play_games(match, range(200))
    assert all(not each.result.note for each in games)
    assert np.mean([each.result.utility * (1 if each.result.agents[0] != "random" else -1) for each in games]) > 0.1


def test_a_population_refuses_other_games_and_folders_that_are_none(kuhn_run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="population of 'kuhn', and does not play 'leduc'"):
        check_plays(make_agent(f"population:{kuhn_run}"), game("leduc"))
    with pytest.raises(VaubanError, match="there is no population in"):
        make_agent(f"population:{tmp_path}")
    with pytest.raises(VaubanError, match="needs a run: write population:RUN"):
        make_agent("population")
    table = read_population(kuhn_run).agents[1]
    with pytest.raises(ConfigurationError, match="it is of another game or other rules"):
        tabulated(build_tree("leduc"), make_agent(table))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="finds no file"):
        make_agent("table:nowhere.npy")


def test_a_run_goes_on_where_its_population_is_even_if_its_checkpoint_is_older(tmp_path: Path) -> None:
    config = load_config("psro-kuhn-exact", ["iterations=6"])
    whole = Run.begin(config, tmp_path / "whole")
    for _ in range(6):
        whole.iterate()
    whole.close()
    broken = Run.begin(config, tmp_path / "broken")
    broken.iterate()
    broken.save()
    for _ in range(3):
        broken.iterate()
    broken.close()  # and no checkpoint, as if it had been killed
    again = Run.resume(tmp_path / "broken")
    assert again.iteration == 4 and "its population has had 4 updates" in " ".join(again.notes)
    while again.goes_on():
        again.iterate()
    again.close()
    cards = [json.loads((tmp_path / each / "population" / "card.json").read_text()) for each in ("whole", "broken")]
    assert cards[0]["policies"] == cards[1]["policies"]
    lines = (tmp_path / "broken" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(each)["iteration"] for each in lines] == [1, 2, 3, 4, 5, 6]


def test_a_run_without_its_population_is_not_resumed(tmp_path: Path) -> None:
    run = Run.begin(load_config("psro-kuhn-exact", []), tmp_path / "run")
    run.iterate()
    run.save()
    run.close()
    (tmp_path / "run" / "population").rename(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match="bring the whole folder of the run here"):
        Run.resume(tmp_path / "run")


def test_a_population_is_not_gone_on_with_by_another_scheme(tmp_path: Path) -> None:
    run = Run.begin(load_config("psro-kuhn-exact", []), tmp_path / "run")
    run.iterate()
    run.save()
    run.close()
    with pytest.raises(LedgerError, match='was begun with scheme "p2sro", and this asks for "naive"'):
        Run.resume(tmp_path / "run", changes=['psro.scheme="naive"'])


def test_a_population_is_shown_with_its_meta_nash_and_its_payoffs(kuhn_run: Path, tmp_path: Path) -> None:
    picture = tmp_path / "population.svg"
    done = CliRunner().invoke(app, ["psro", "show", str(kuhn_run), "--out", str(picture), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout.splitlines()[-1])
    assert [each["number"] for each in told["policies"]] == list(range(13))
    # No policy gains from an equilibrium of the table, and those that it plays lose nothing.
    for each in told["policies"]:
        assert each["against_the_mix"] < 2e-3
        assert each["chance"] < 0.05 or each["against_the_mix"] > -2e-3
    gained = [each["performance"] for each in told["policies"][1:]]
    assert gained[0] == pytest.approx(11 / 24) and gained[-1] < 0.02
    payoffs = Portrait.of(read_population(kuhn_run)).payoffs
    assert not np.isnan(payoffs).any() and (payoffs == -payoffs.T).all()
    # A cell for every ordered pair, a bar for each policy, and the frame.
    assert picture.read_text(encoding="utf-8").count("<rect") == 13 * 12 + 13 + 1
    shown = CliRunner().invoke(app, ["psro", "show", str(kuhn_run)])
    assert "policy   chance  gets now" in shown.stdout


def test_the_report_of_a_match_of_a_population_has_its_payoffs_and_its_meta_nash(
    kuhn_run: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    arguments = ["match", f"population:{kuhn_run}", "random", "--game", "kuhn", "--games", "20", "--workers", "1"]
    done = CliRunner().invoke(app, [*arguments, "--html", str(page)])
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    data = text.partition("data:image/svg+xml;base64,")[2].partition('"')[0]
    assert b64decode(data).decode() == portrait_svg(Portrait.of(read_population(kuhn_run)))
    assert text.count("data:image") == 1


# ── Killed ───────────────────────────────────────────────────────────────────────────────────────

GROWING = """
import os, signal, sys
from pathlib import Path
from typing import Any
from vauban.learn.psro.ledger import SqliteLedger
from vauban.learn.psro.pipeline import Pipeline
from vauban.learn.psro.schemes import find_scheme
from vauban.learn.psro.trees import TreeWorkshop
from vauban.solve import build_tree
from vauban.solve.meta import MetaSolver

folder, scheme, where, when, updates = Path(sys.argv[1]), *sys.argv[2:4], *map(int, sys.argv[4:])

def die(place):
    if place == where and pipeline.updates >= when:
        os.kill(os.getpid(), signal.SIGKILL)

class Mortal(TreeWorkshop):
    def _publish(self, checkpoint, reach):
        super()._publish(checkpoint, reach)
        if checkpoint.version:
            die("publishing")
    def measure(self, wanted):
        found = super().measure(wanted)
        die("measuring")
        return found
    def keep(self, checkpoints):
        if pipeline is not None:
            die("committed")
        super().keep(checkpoints)

class Falling(SqliteLedger):
    def commit(self, *what):
        if pipeline is not None:
            die("committing")
        super().commit(*what)

pipeline = None
(folder / "policies").mkdir(parents=True, exist_ok=True)
solver = MetaSolver(100, random_start=True, uniform=0.1, least=1e-4)
pipeline = Pipeline(find_scheme(scheme), Mortal(build_tree("kuhn"), 0.5, folder / "policies"), workers=3,
                    solver=solver, seed=7, drawn=True, ledger=Falling(folder / "payoffs.db", {"seed": 7}))
while pipeline.updates < updates:
    pipeline.update()
print("done")
"""


def grow_in_a_process(folder: Path, scheme: str, where: str, when: int) -> int:
    given = [str(folder), scheme, where, str(when), "16"]
    return subprocess.run([sys.executable, "-c", GROWING, *given], capture_output=True).returncode


@pytest.mark.parametrize(
    ("scheme", "places"),
    [("p2sro", ("publishing", "measuring", "committing", "committed")), ("rectified", ("committing",))],
)
def test_processes_killed_in_the_midst_of_updates_lose_nothing_and_count_nothing_twice(
    scheme: str, places: Sequence[str], tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert grow_in_a_process(whole, scheme, "never", 0) == 0
    for when, where in enumerate(places):
        assert grow_in_a_process(broken, scheme, where, 3 * when) == -signal.SIGKILL
    assert grow_in_a_process(broken, scheme, "never", 0) == 0
    ledgers = [SqliteLedger(each / "payoffs.db", {"seed": 7}) for each in (whole, broken)]
    for ledger in ledgers:
        assert ledger.updates() == 16
    assert repr(ledgers[0].members()) == repr(ledgers[1].members())
    tables = [sorted((each.row, each.column, each.payoff) for each in ledger.entries()) for ledger in ledgers]
    assert tables[0] == tables[1]
    folders = [sorted(each.name for each in (place / "policies").iterdir()) for place in (whole, broken)]
    assert folders[0] == folders[1] == sorted(f"{m.number:04}-{m.version}" for m in ledgers[0].members())
    for name in folders[0]:
        one, other = (np.load(place / "policies" / name / "table.npy") for place in (whole, broken))
        assert (one == other).all()


def test_of_two_processes_with_one_population_the_later_one_is_stopped(tmp_path: Path) -> None:
    def open_it() -> Pipeline:
        return Pipeline(find_scheme("naive"), Told(), workers=2, ledger=SqliteLedger(tmp_path / "payoffs.db", {}))

    one, other = open_it(), open_it()
    one.update()
    with pytest.raises(LedgerError, match="another process goes on"):
        other.update()
    one.update()
    assert open_it().updates == 2


def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "payoffs.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (a)")
    with pytest.raises(LedgerError, match="no population's"):
        SqliteLedger(path, {})
    path.write_bytes(b"not a database at all, but long enough to look like one" * 40)
    with pytest.raises(LedgerError, match="cannot be used as a population's payoffs"):
        SqliteLedger(path, {})


# ── The command ──────────────────────────────────────────────────────────────────────────────────


def test_the_command_prints_the_table_and_draws_the_curves(tmp_path: Path) -> None:
    arguments = ["psro", "normal-form", "--game", "rps-x", "--rate", "1", "--workers", "2", "--updates", "20"]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    assert "| rps-x | 1 | 2 | Rectified PSRO | 0.4000 |" in done.stdout
    assert "| rps-x | 1 | 2 | P2SRO | 0.0000 (0.0000) |" in done.stdout
    rows = json.loads(done.stdout.splitlines()[-1])["rows"]
    assert {row["scheme"] for row in rows} == set(experiment.USUAL)
    drawn = (tmp_path / "psro-rps-x.svg").read_text(encoding="utf-8")
    assert drawn.count('class="curve"') == len(experiment.USUAL)
    annealed = CliRunner().invoke(
        app, ["psro", "normal-form", "--dimension", "5", "--rate", "1", "--workers", "2", "--scheme", "dch",
              "--anneal", "20", "--games", "2", "--updates", "20"],
    )  # fmt: skip
    assert "| DCH, annealed |" in annealed.stdout and "| DCH |" in annealed.stdout
    refused = CliRunner().invoke(app, ["psro", "normal-form", "--game", "matrix-b2"])
    assert isinstance(refused.exception, ConfigurationError)
    assert "no symmetric matrix game" in str(refused.exception)
