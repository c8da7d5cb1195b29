"""Training runs: they begin, are killed, go on to the same numbers, and say what they do."""

from __future__ import annotations

import fnmatch
import json
import math
import shutil
import sys
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import safetensors.torch
import torch

from vauban.agents.opponents import Opponents
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.stratego.game import Stratego
from vauban.learn.ataraxos.belief import BeliefStage
from vauban.learn.ataraxos.learner import COLLAPSED
from vauban.learn.ataraxos.targets import (
    Returns,
    divergence,
    outcome_loss,
    policy_loss,
)
from vauban.learn.base import learners
from vauban.learn.card import load_trained, make_model
from vauban.learn.checkpoint import CheckpointError
from vauban.learn.config import config_text, load_config, parse_config, presets
from vauban.learn.journal import read_metrics
from vauban.learn.metrics import find_metric
from vauban.learn.run import METRICS, Run, earlier_model
from vauban.nets.belief import BeliefNetwork
from vauban.nets.magnet import action_sources, magnet_log_policy
from vauban.nets.setup import SetupNetwork
from vauban.nets.store import load_model
from vauban.nets.transformer import Size
from vauban.signature import SMALL_RUNS

SMALL = """
game = "tiny"
algorithms = ["ataraxos", "belief"]
rules = "battleless_limit=20,total_limit=60"
[ataraxos.move_network]
depth = 1
width = 16
heads = 2
[ataraxos.setup_network]
depth = 1
width = 16
heads = 2
[ataraxos.moves]
settled = 5
games = 24
length = 14
batch = 16
learning_rate = 1e-3
[ataraxos.setups]
per_player = 8
batch = 16
[belief]
depth = 1
decoder_depth = 1
width = 16
heads = 2
games = 16
pool = 3
warmup = 6
refresh = 10
steps = 3
validation = 48
setups = 8
learning_rate = 1e-3
"""


def without_times(metrics: dict[str, float]) -> dict[str, float]:
    times = ("seconds.", "speed.", "minutes", "belief.minutes")
    return {name: value for name, value in metrics.items() if not name.startswith(times)}


def begun(folder: Path, iterations: int = 2, changes: tuple[str, ...] = ()) -> Run:
    """A run that has been saved after some iterations."""
    run = Run.begin(parse_config(SMALL, changes), folder)
    for _ in range(iterations):
        run.iterate()
    run.save()
    return run


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def believer(run: Run) -> BeliefStage:
    """The second stage of a run, which has begun."""
    learner = run.stages[1].learner
    assert isinstance(learner, BeliefStage)
    return learner


def same_networks(one: Run, other: Run) -> bool:
    pairs = zip(one.trainees().values(), other.trainees().values(), strict=True)
    return all(
        torch.equal(mine, its)
        for first, second in pairs
        for part in ("network", "average")
        for mine, its in zip(getattr(first, part).parameters(), getattr(second, part).parameters(), strict=True)
    )


def test_a_killed_run_goes_on_to_the_same_numbers_bit_for_bit(tmp_path: Path) -> None:
    whole = Run.begin(parse_config(SMALL), tmp_path / "whole")
    expected = [without_times(whole.iterate()) for _ in range(5)]
    run = Run.begin(parse_config(SMALL), tmp_path / "killed")
    run.iterate()
    run.iterate()
    run.save()
    run.iterate()  # lost: it was killed before the next checkpoint
    again = Run.resume(tmp_path / "killed")
    assert [without_times(again.iterate()) for _ in range(3)] == expected[2:]
    lines = again.journal.lines() if again.journal else []
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4, 5]
    assert same_networks(whole, again)
    assert again.first.move_learner.filter.large == whole.first.move_learner.filter.large == 5


def test_a_killed_run_goes_on_with_its_belief_to_the_same_numbers(tmp_path: Path) -> None:
    changes = ("iterations=2", "belief.minutes=60")
    whole = Run.begin(parse_config(SMALL, changes), tmp_path / "whole")
    expected = []
    while len(expected) < 6 and whole.goes_on():
        expected.append(without_times(whole.iterate()))
    assert [line.get("belief.steps") for line in expected] == [None, None, 3, 6, 9, 12]
    run = Run.begin(parse_config(SMALL, changes), tmp_path / "killed")
    for number in range(5):
        assert run.goes_on()
        run.iterate()
        if number == 3:
            run.save()
    again = Run.resume(tmp_path / "killed")
    assert not again.notes
    for line in expected[4:]:
        assert again.goes_on()
        assert without_times(again.iterate()) == line
    assert same_networks(whole, again)
    told = read_metrics(tmp_path / "killed")
    assert [line.get("belief.steps", 0) for line in told] == [0, 0, 3, 6, 9, 12]


@pytest.mark.parametrize("change", ["belief.games=8", "belief.games=24", "belief.pool=2"])
def test_a_belief_with_other_games_keeps_its_network(tmp_path: Path, change: str) -> None:
    run = begun(tmp_path / "run", 1, ("iterations=1", "belief.minutes=60"))
    assert run.goes_on() and run.iterate()["belief.steps"] == 3
    run.save()
    again = Run.resume(tmp_path / "run", changes=[change])
    assert again.notes == [
        "belief.games.pt: its games are for another configuration, so new games begin, for the belief to learn from"
    ]
    assert same_networks(run, again)
    assert again.goes_on() and again.iterate()["belief.steps"] == 6
    again.save()
    larger = Run.resume(tmp_path / "run", changes=["belief.pool=4"])
    assert not larger.notes and larger.goes_on() and larger.iterate()["belief.steps"] == 9, "a pool may grow"


def test_a_belief_can_be_asked_for_later_and_is_a_part_of_the_model(tmp_path: Path) -> None:
    begun(tmp_path / "run", changes=("iterations=2",))
    assert load_model(tmp_path / "run").find(BeliefNetwork) is None
    run = Run.resume(tmp_path / "run", changes=["belief.minutes=0.001"])
    assert run.goes_on()
    told = run.iterate()
    assert not run.goes_on(), "its time is over"
    assert told["iteration"] == 2 and run.iteration == 2
    for name in ("belief.validation", "belief.marginal", "belief.uniform"):
        assert 0 < told[name] < 3
    assert told["belief.uniform"] <= told["belief.marginal"] + 0.05
    run.save()
    model = load_model(tmp_path / "run")
    belief = model.find(BeliefNetwork)
    assert belief is not None
    for mine, saved in zip(believer(run).trainee.average.parameters(), belief.parameters(), strict=True):
        assert torch.equal(mine.detach(), saved.detach())


def test_a_belief_is_measured_on_games_that_it_does_not_learn_from(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL, ["iterations=1", "belief.minutes=60"]), tmp_path / "run")
    while run.stages[1].learner is None and run.goes_on():
        run.iterate()
    unseen = {bytes(row) for part in believer(run)._validation for row in part.store.bytes.numpy()}
    learned = {bytes(row) for _ in range(20) for row in next(believer(run).stream).store.bytes.numpy()}
    assert len(unseen) > 30 and not unseen & learned


def test_a_belief_needs_an_observation_that_tells_of_hidden_things(tmp_path: Path) -> None:
    config = parse_config(SMALL, ["game=kuhn", "rules=", "ataraxos.setup_network=false", "belief.minutes=1"])
    with pytest.raises(ConfigurationError, match="no observation of .kuhn. tells of hidden things"):
        Run.begin(config, tmp_path / "run")


def test_learners_report_the_metrics_that_they_declare_and_no_others(tmp_path: Path) -> None:
    """The small runs of the signatures, in which every learner takes part."""
    told: dict[str, set[str]] = {}
    for number, (preset, changes) in enumerate(SMALL_RUNS.values()):
        config = load_config(preset, [*changes, "iterations=10", "minutes=0"])
        run = Run.begin(config, tmp_path / f"{number}", agents=Opponents())
        last = {stage.name: 0 for stage in run.stages if stage.minutes or stage is run.stages[0]}
        while run.goes_on() and not all(last.values()):
            stage = run.stage
            said = told.setdefault(stage.name, set())
            said |= run.iterate().keys() - {each.name for each in METRICS}
            later = stage is run.stages[-1] and stage is not run.stages[0]
            last[stage.name] = later or stage.learner.iteration >= 10  # type: ignore[union-attr]
    for name, kind in learners().items():
        declared = [each.name for each in kind.metrics]
        assert name in told, f"no small run has {name!r}"
        missing = [each for each in declared if not fnmatch.filter(told[name], each)]
        assert not missing, f"{name} never reports {missing}"
        odd = [each for each in told[name] if not any(fnmatch.fnmatch(each, pattern) for pattern in declared)]
        assert not odd, f"{name} reports {odd} and does not declare it"


def test_every_metric_is_explained(tmp_path: Path) -> None:
    config = parse_config(SMALL, ["iterations=3", "belief.minutes=60", "evaluation.every=0.00001"])
    run = Run.begin(config, tmp_path / "run", evaluator=lambda folder: {"score.fox": 0.5, "score_low.fox": 0.4})
    names: set[str] = set()
    for _ in range(4):
        assert run.goes_on()
        names |= run.iterate().keys()
    assert {"belief.validation", "score.fox", "seconds.evaluation", "play.end.flag", "speed.collect"} <= names
    assert not [name for name in names if find_metric(name) is None]


# ── Checkpoints ──────────────────────────────────────────────────────────────────────────────────


def test_a_kill_between_the_two_renames_of_saving_loses_nothing(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    (tmp_path / "run" / "checkpoint").rename(tmp_path / "run" / "checkpoint.old")
    run.iterate()
    run.save()
    (tmp_path / "run" / "checkpoint").rename(tmp_path / "run" / "checkpoint.new")
    shutil.copytree(tmp_path / "run" / "checkpoint.new", tmp_path / "run" / "checkpoint.old")
    again = Run.resume(tmp_path / "run")
    assert again.iteration == 3
    assert without_times(again.iterate()) == without_times(run.iterate())


def test_a_kill_while_a_checkpoint_is_written_leaves_the_one_before(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = begun(folder)
    shutil.copytree(folder / "checkpoint", folder / "checkpoint.new")
    (folder / "checkpoint.new" / "progress.json").unlink()
    (folder / "checkpoint.new" / "ataraxos.games.pt").write_bytes(b"half of it")
    again = Run.resume(folder)
    assert without_times(again.iterate()) == without_times(run.iterate())
    again.save()
    left = {path.name for path in folder.iterdir()} - {"tensorboard"}
    assert left == {"config.toml", "metrics.jsonl", "checkpoint", "model"}
    assert Run.resume(folder).iteration == 3


def test_a_kill_while_the_first_checkpoint_is_written_begins_anew(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    expected = without_times(run.iterate())
    (tmp_path / "run" / "checkpoint.new").mkdir()
    (tmp_path / "run" / "checkpoint.new" / "ataraxos.games.pt").write_bytes(b"half of it")
    again = Run.resume(tmp_path / "run")
    assert again.iteration == 0 and again.notes == ["there is no checkpoint yet, so it begins anew"]
    assert without_times(again.iterate()) == expected


def test_a_run_without_a_checkpoint_is_not_resumed_over_its_model(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    begun(folder)
    shutil.rmtree(folder / "checkpoint")
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(CheckpointError, match=f"vauban train {folder}/config.toml --from {folder}/model --out FOLDER"):
        Run.resume(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == kept
    other = Run.begin(
        load_config(str(folder / "config.toml")), tmp_path / "other", model=load_trained(folder / "model")
    )
    assert other.notes == ["it goes on from the networks of 'run', after iteration 0"]


def test_a_young_run_that_is_killed_has_lost_little(tmp_path: Path) -> None:
    clock = Clock()
    run = Run.begin(parse_config(SMALL, ["save_every=5"]), tmp_path / "run", clock=clock)
    run.iterate()
    saved = [0.0]
    while clock.now < 3600:
        clock.now += 1
        if run.save_if_due():
            saved.append(clock.now)
        assert clock.now - saved[-1] <= max(10, 0.25 * clock.now), f"killed after {clock.now} seconds"
    pauses = [later - earlier for earlier, later in pairwise(saved)]
    assert min(pauses) == 10 and max(pauses) == 300, "soon at first, then every five minutes"
    assert Run.resume(tmp_path / "run").iteration == 1


def test_the_minutes_of_a_run_begin_with_its_first_iteration(tmp_path: Path) -> None:
    """Compiling and measuring, which come before it, take nothing away from what --minutes gives."""
    clock = Clock()
    run = Run.begin(parse_config(SMALL, ["minutes=2"]), tmp_path / "run", clock=clock)
    clock.now = 90
    assert run.minutes == 0 and run.goes_on()
    run.iterate()
    clock.now += 60
    assert run.iterate()["minutes"] == 1 and run.goes_on()
    run.save()
    clock.now = 1000
    again = Run.resume(tmp_path / "run", clock=clock)
    clock.now = 2000
    assert again.minutes == 1
    again.iterate()
    clock.now += 60
    again.iterate()
    assert again.minutes == 2 and not again.goes_on()


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("optimiser.pt", "the optimiser begins anew"),
        ("ataraxos.games.pt", "new games begin"),
        ("ataraxos.setups.pt", "do not count for their setups"),
    ],
)
def test_what_a_checkpoint_does_not_have_begins_anew_and_that_is_said(tmp_path: Path, missing: str, words: str) -> None:
    run = begun(tmp_path / "run")
    (tmp_path / "run" / "checkpoint" / missing).unlink()
    again = Run.resume(tmp_path / "run")
    assert [words in note for note in again.notes] == [True]
    assert same_networks(run, again)
    told = again.iterate()
    assert told["iteration"] == 3
    assert (told["setups.unknown"] > 0) == (missing == "ataraxos.setups.pt")
    rows = 14 if missing == "ataraxos.games.pt" else 12
    assert told["moves"] == run.totals["moves"] + 24 * rows


@pytest.mark.parametrize("changes", [[], ["ataraxos.moves.games=2"], ["ataraxos.moves.length=6"]])
def test_new_games_of_a_resumed_run_are_none_that_it_has_played(tmp_path: Path, changes: list[str]) -> None:
    run = begun(tmp_path / "run", iterations=4)
    (tmp_path / "run" / "checkpoint" / "ataraxos.games.pt").unlink()
    again = Run.resume(tmp_path / "run", changes=changes)
    again.first.draw_setups()
    assert again.first.collector.sim.numbers.min() > run.first.collector.sim.numbers.max()


def test_a_run_that_goes_on_with_another_game_begins_new_games(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    again = Run.resume(tmp_path / "run", changes=["rules=total_limit=40"])
    assert [note.partition(",")[0] for note in again.notes] == [
        f"ataraxos.{name}.pt: the checkpoint is of another game or other rules" for name in ("games", "setups")
    ]
    assert again.iterate()["moves"] == run.totals["moves"] + 24 * 14


def test_numbers_that_are_not_finite_leave_the_checkpoint_before(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    with torch.no_grad():
        run.first.move.network.outcome.bias[0] = torch.nan
    with pytest.raises(CheckpointError, match="the move network holds numbers that are not finite"):
        run.save()
    assert Run.resume(tmp_path / "run").iteration == 2


def test_a_window_in_which_nothing_matters_teaches_nothing(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", changes=("ataraxos.setup_network=false",))
    before = [each.clone() for each in (*run.first.move.network.parameters(), *run.first.move.average.parameters())]
    again = Run.resume(tmp_path / "run", changes=["ataraxos.moves.magnitude=9", "ataraxos.moves.settled=0"])
    told = again.iterate()
    assert (told["moves.kept"], told["moves.batches"], told["moves.threshold"]) == (0, 0, 9)
    after = (*again.first.move.network.parameters(), *again.first.move.average.parameters())
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))


def test_where_few_advantages_are_large_batches_are_smaller_and_not_fewer(tmp_path: Path) -> None:
    # Table 27: 202 batches an iteration, whatever the lower bound of the filter leaves of them.
    quantile = [
        "ataraxos.moves.quantile=0.5",
        "ataraxos.moves.settled=0",
        "ataraxos.moves.batch=8",
        "ataraxos.setup_network=false",
    ]
    begun(tmp_path / "run", 0, tuple(quantile))
    whole = Run.resume(tmp_path / "run", changes=["ataraxos.moves.magnitude=0.0"]).iterate()
    bound = whole["moves.threshold"] * 1.3
    few = Run.resume(tmp_path / "run", changes=[f"ataraxos.moves.magnitude={bound}"]).iterate()
    assert 0 < few["moves.kept"] < whole["moves.kept"]
    assert few["moves.batches"] == whole["moves.batches"] == math.ceil(0.5 * 24 * 12 / 8)


def test_the_loss_of_a_batch_is_the_weighed_sum_of_its_parts_17_3(tmp_path: Path) -> None:
    changes = ("ataraxos.moves.update_weight=0.3", "ataraxos.moves.outcome_weight=0.7", "ataraxos.moves.clip=0.01")
    run = begun(tmp_path / "run", changes=changes)
    learner, config = run.first.move_learner, run.first.settings.moves
    batch = learner._batch()
    loss, sums = learner._compute_losses(batch)
    network = run.first.move.working
    choices, outcome = network(batch.seen)
    policy = network.legal_log_policy(choices, batch.legal)
    expected = torch.zeros(())
    for row in range(len(batch.seen)):
        of = slice(row, row + 1)
        [place] = (batch.legal[row] == batch.actions[row]).nonzero()[0]
        log_ratio = policy[of, place] - batch.old_log_policy[of, place]
        magnet = magnet_log_policy(action_sources(run.game), batch.legal[of])
        expected = expected + batch.weights[row] * (
            policy_loss(log_ratio, batch.advantages[of], 0.01)
            + 0.3 * divergence(policy[of], batch.old_log_policy[of])
            + config.magnet_weight.at(2) * divergence(policy[of], magnet)
            + 0.7 * outcome_loss(outcome[of], batch.outcomes[of])
        )
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert torch.isfinite(sums).all() and loss.item() != 0


def test_the_newest_position_of_each_player_is_not_learned_from(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    learner, games = run.first.move_learner, run.first.settings.moves.games
    everything = Returns(torch.zeros(14, games, 3), torch.ones(14, games), torch.ones(14, games, dtype=torch.bool))
    positions, _, usual = learner._filter(everything)
    assert positions.tolist() == list(range(12 * games))
    assert usual == 12 * games / 4


def test_a_run_with_another_number_of_games_keeps_its_networks(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    again = Run.resume(tmp_path / "run", changes=["ataraxos.moves.games=10"])
    assert ["another configuration" in note for note in again.notes] == [True]
    assert same_networks(run, again)
    assert again.iterate()["moves"] == run.totals["moves"] + 140
    assert Run.resume(tmp_path / "run").config.stages["ataraxos"].moves.games == 10


def test_networks_that_were_rounded_to_bfloat16_are_taken(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    path = tmp_path / "run" / "checkpoint" / "networks.safetensors"
    rounded = {name: tensor.bfloat16() for name, tensor in safetensors.torch.load_file(path).items()}
    path.write_bytes(safetensors.torch.save(rounded))
    again = Run.resume(tmp_path / "run")
    assert torch.equal(
        again.first.move.network.outcome.weight, run.first.move.network.outcome.weight.bfloat16().float()
    )
    assert again.iterate()["iteration"] == 3


def test_a_checkpoint_that_cannot_be_read_or_does_not_fit_is_refused(tmp_path: Path) -> None:
    begun(tmp_path / "run")
    with pytest.raises(VaubanError, match="network of 'move'"):
        Run.resume(tmp_path / "run", changes=["ataraxos.move_network.width=32"])
    assert Run.resume(tmp_path / "run").config.stages["ataraxos"].move_network.config.size.width == 16, (
        "a change that fails is not kept"
    )
    (tmp_path / "run" / "checkpoint" / "ataraxos.games.pt").write_bytes(b"something else")
    with pytest.raises(CheckpointError, match="ataraxos.games.pt cannot be read .*: delete it"):
        Run.resume(tmp_path / "run")


# ── Measuring ────────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_evaluated_when_it_is_time_and_at_the_end(tmp_path: Path) -> None:
    seen: list[float] = []

    def evaluator(folder: Path) -> dict[str, float]:
        seen.append(float(load_model(folder).player.outcome.weight.detach().sum()))
        return {"score.random": 0.25}

    config = parse_config(SMALL, ["iterations=3", "evaluation.every=1000"])
    run = Run.begin(config, tmp_path / "run", evaluator=evaluator)
    lines = []
    while run.goes_on():
        lines.append(run.iterate())
    assert ["score.random" in line for line in lines] == [False, False, True]
    assert seen == [float(run.first.move.average.outcome.weight.sum())]
    assert read_metrics(tmp_path / "run")[-1]["score.random"] == 0.25
    often = parse_config(SMALL, ["iterations=3", "evaluation.every=1e-9"])
    run = Run.begin(often, tmp_path / "often", evaluator=evaluator)
    while run.goes_on():
        assert run.iterate()["score.random"] == 0.25


def test_an_evaluation_that_fails_loses_nothing_that_was_learned(tmp_path: Path) -> None:
    def evaluator(folder: Path) -> dict[str, float]:
        raise RuntimeError("the arena is closed")

    config = parse_config(SMALL, ["iterations=2", "evaluation.every=1000"])
    run = Run.begin(config, tmp_path / "run", evaluator=evaluator)
    run.iterate()
    with pytest.raises(RuntimeError, match="the arena is closed"):
        run.iterate()
    again = Run.resume(tmp_path / "run")
    assert again.iteration == 2 and not again.goes_on()
    assert same_networks(run, again)
    assert [line["iteration"] for line in read_metrics(tmp_path / "run")] == [1, 2]


def test_whoever_stops_a_run_does_not_wait_for_an_evaluation(tmp_path: Path) -> None:
    config = parse_config(SMALL, ["iterations=30", "evaluation.every=1000"])
    run = Run.begin(config, tmp_path / "run", evaluator=lambda folder: pytest.fail("evaluated"))
    run.iterate()
    run.stopping = True
    run.iterate()
    assert not run.goes_on()


def test_a_policy_that_plays_one_move_only_is_warned_of_once(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL, ["ataraxos.moves.learning_rate=1e-9"]), tmp_path / "run")
    run.iterate()
    assert not run.notes
    with torch.no_grad():
        for parameter in (
            *run.first.move.network.source_and_target.parameters(),
            *run.first.move.network.embed.parameters(),
        ):
            parameter.mul_(1000)  # logits that far apart leave one move
    told = [run.iterate() for _ in range(2)]
    assert max(line["moves.entropy"] for line in told) < COLLAPSED
    [note] = run.notes
    assert "play has collapsed" in note and "moves.magnet_weight" in note


def test_a_window_that_teaches_nothing_is_no_collapse(tmp_path: Path) -> None:
    begun(tmp_path / "run", 0, ("ataraxos.setup_network=false",))
    run = Run.resume(tmp_path / "run", changes=["ataraxos.moves.magnitude=9", "ataraxos.moves.settled=0"])
    assert run.iterate()["moves.batches"] == 0
    assert not run.notes


def test_an_estimate_leaves_a_run_as_it_is(tmp_path: Path) -> None:
    plain = Run.begin(parse_config(SMALL), tmp_path / "plain")
    run = Run.begin(parse_config(SMALL), tmp_path / "measured")
    for _ in range(3):
        found = run.first.estimate()
        assert found.moves == 24 * 12
        assert all(
            found.seconds[part] > 0 for part in ("drawing setups", "playing", "learning moves", "learning setups")
        )
        assert without_times(run.iterate()) == without_times(plain.iterate())
    assert same_networks(run, plain)


def test_a_game_without_a_board_is_learned_too(tmp_path: Path) -> None:
    config = parse_config(SMALL, ["game=kuhn", "rules="])
    run = Run.begin(config, tmp_path / "run")
    run.first.estimate()
    run.iterate()
    run.save()
    expected = without_times(run.iterate())
    assert without_times(Run.resume(tmp_path / "run").iterate()) == expected
    assert json.loads((tmp_path / "run" / "model" / "card.json").read_text())["networks"]["move"]["kind"] == "plain"


def test_a_run_leaves_a_model_that_plays(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    run.iterate()
    run.save()
    model = load_model(tmp_path / "run")
    assert model.game.name == "tiny" and model.find(SetupNetwork) is not None
    for mine, saved in zip(run.first.move.average.parameters(), model.player.parameters(), strict=True):
        assert torch.equal(mine.detach(), saved.detach())


def test_a_run_can_go_on_from_a_model_alone(tmp_path: Path) -> None:
    changes = ("belief.minutes=1", "iterations=2")
    first = begun(tmp_path / "first", 3, changes)
    first.place = 1
    first.iterate()
    model = tmp_path / "model"
    first.save()
    make_model(tmp_path / "first", model, "mine")
    run = Run.begin(parse_config(SMALL, changes), tmp_path / "second", model=load_model(model))
    assert (run.iteration, run.totals) == (3, first.totals)
    assert run.minutes == pytest.approx(first.stages[0].seconds / 60, abs=0.1)
    assert run.first.numbered > 0 and run.first.move_learner.filter.large == 5
    assert run.notes == ["it goes on from the networks of 'mine', after iteration 3"]
    for part, trainee in run.trainees().items():
        stored = load_model(model).networks[part].state_dict()
        for name, tensor in trainee.network.state_dict().items():
            assert torch.equal(tensor, stored[name]) and torch.equal(trainee.average.state_dict()[name], stored[name])
    assert set(run.trainees()) == {"move", "setup", "belief"}
    killed = Run.resume(tmp_path / "second")
    assert killed.iteration == 3
    assert without_times(killed.iterate()) == without_times(told := run.iterate()), "nothing is lost before it begins"
    assert told["iteration"] == 4 and told["moves.batches"] > 0
    run.save()
    make_model(tmp_path / "second", tmp_path / "third", "other")
    inherited = load_model(tmp_path / "third").card["training"]
    assert inherited["steps"]["belief"] == 3 and inherited["facts"] == {}, "it has not been measured again"
    run.place = 1
    assert run.iterate()["belief.steps"] == 6, "three steps each"
    run.save()
    assert Run.resume(tmp_path / "second").iteration == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            ["ataraxos.move_network.width=32"],
            "width of the move network is 16 in the model 'run' and 32",
        ),
        (
            ["ataraxos.setup_network.depth=2"],
            "depth of the setup network is 1 in the model 'run' and 2 in the",
        ),
        (
            ["ataraxos.move_network.width=32", "ataraxos.setup_network.depth=2"],
            "so add --set ataraxos.move_network.width=16 --set ataraxos.setup_network.depth=1$",
        ),
        (["game=duel"], "the model 'run' plays tiny, not 'duel'"),
    ],
)
def test_a_model_that_a_run_cannot_go_on_from_is_refused(tmp_path: Path, changes: list[str], words: str) -> None:
    begun(tmp_path / "run", 0)
    with pytest.raises(VaubanError, match=words):
        Run.begin(parse_config(SMALL, changes), tmp_path / "other", model=load_model(tmp_path / "run"))
    assert not (tmp_path / "other").exists()


def test_imported_weights_are_gone_on_from_without_their_setups(tmp_path: Path) -> None:
    begun(tmp_path / "run", 0)
    model = load_model(tmp_path / "run")
    published = SetupNetwork(Stratego("tiny"), Size(1, 16, 2), flag_side=True)
    networks = {**model.networks, "setup": published}
    model = replace(model, networks=networks, card={**model.card, "source": {"program": "another"}})
    with pytest.raises(ConfigurationError, match="as the published program does .flag_side.*setup_network=false"):
        Run.begin(parse_config(SMALL), tmp_path / "other", model=model)
    Run.begin(parse_config(SMALL, ["ataraxos.setup_network=false"]), tmp_path / "other", model=model)
    again = Run.resume(tmp_path / "other")
    assert again.before == {"source": {"program": "another"}}, "whose weights they were is not forgotten"


def test_a_model_without_setups_is_gone_on_from_without_them(tmp_path: Path) -> None:
    begun(tmp_path / "run", 0, ("ataraxos.setup_network=false",))
    model = load_model(tmp_path / "run")
    with pytest.raises(ConfigurationError, match="has no setup network: add --set ataraxos.setup_network=false"):
        Run.begin(parse_config(SMALL), tmp_path / "other", model=model)
    run = Run.begin(parse_config(SMALL, ["ataraxos.setup_network=false"]), tmp_path / "other", model=model)
    assert run.first.setup is None and run.iteration == 0, "the model of a run does not tell its training"


def test_a_run_does_not_write_over_another(tmp_path: Path) -> None:
    Run.begin(parse_config(SMALL), tmp_path / "run")
    with pytest.raises(ConfigurationError, match="resume it"):
        Run.begin(parse_config(SMALL), tmp_path / "run")
    with pytest.raises(ConfigurationError, match="no run in"):
        Run.resume(tmp_path / "elsewhere")


@pytest.mark.parametrize("preset", sorted(presets()))
def test_presets_are_read_and_written_back(preset: str) -> None:
    config = load_config(preset)
    assert parse_config(config_text(config)) == config
    assert config.about


def test_the_preset_paper_has_the_numbers_of_the_tables_17_to_25() -> None:
    config = load_config("ataraxos-paper")
    assert (config.game, config.rules) == ("classic", "battleless_limit=100,total_limit=4000")
    ataraxos, belief = config.stages["ataraxos"], config.stages["belief"]
    moves, setups = ataraxos.moves, ataraxos.setups
    assert (moves.games, setups.per_player, moves.length) == (1536, 1000, 202)
    assert (setups.learning_rate, setups.batch, setups.epochs, setups.clip) == (5e-5, 1024, 5, 0.2)
    assert (setups.entropy_weight, setups.kl_weight, setups.outcome_weight) == (1, 0.1, 0.5)
    assert (setups.gradient_norm, setups.average) == (0.5, 0.999)
    assert setups.reach == moves.reach == 0, "the plain moving average"
    assert [setups.temperature.at(n) for n in (1, 1000)] == pytest.approx([0.1, 0.1 / 1000**0.3])
    assert (moves.clip, moves.quantile, moves.magnitude, moves.settled, moves.average) == (0.2, 0.75, 0.01, 0, 0.999)
    assert (moves.advantage_decay, moves.outcome_decay, moves.update_weight) == (0.5, 0.8, 0.1)
    assert (moves.gradient_norm, moves.outcome_weight) == (0.267, 1)
    assert moves.batch == 1536 // 4, "what is left of 1,536 by the filter"
    rates = [moves.learning_rate.at(n) for n in (1, 5000, 42400)]
    assert rates == pytest.approx([1e-4, 0.5 / 5000**1.1, 5e-6])
    assert [moves.magnet_weight.at(n) for n in (1, 1000)] == pytest.approx([0.05, 0.05 / 1000**0.3])
    played = Stratego("classic")
    with torch.device("meta"):
        networks = (
            ataraxos.move_network.make(played),
            SetupNetwork(played, ataraxos.setup_network or pytest.fail("it sets up")),
            belief.network(played),
        )
    counted = [sum(each.numel() for each in network.parameters()) for network in networks]
    assert counted == [14_716_419, 12_647_954, 57_075_212]
    assert (belief.dropout, belief.minutes > 0) == (0.2, True)


def test_the_preset_for_a_gaming_gpu_is_that_for_a_large_one_in_smaller_iterations() -> None:
    small, large = load_config("ataraxos-gaming-gpu"), load_config("ataraxos-h200-barrage")
    assert (small.game, small.rules) == (large.game, large.rules)
    small, large = small.stages["ataraxos"], large.stages["ataraxos"]
    assert small.move_network == large.move_network
    assert small.moves.games * 4 == large.moves.games and small.setups.per_player * 4 == large.setups.per_player
    for mine, its in (
        (small.moves.learning_rate, large.moves.learning_rate),
        (small.moves.magnet_weight, large.moves.magnet_weight),
        (small.setups.temperature, large.setups.temperature),
    ):
        assert [mine.at(4 * n) for n in (1, 50, 500)] == pytest.approx([its.at(n) for n in (1, 50, 500)], rel=1e-3)
    assert small.moves.average**4 == pytest.approx(large.moves.average, abs=1e-4)
    assert small.setups.average**4 == pytest.approx(large.setups.average, abs=1e-4)
    assert small.moves.settled == 4 * large.moves.settled


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ataraxos.moves.gmaes=3", "did you mean 'games'"),
        ("ataraxos.moves.games=many", "a whole number"),
        ("ataraxos.moves=3", "is a table"),
        ("ataraxos=3", "is a table"),
        ("moves.games=3", "has no 'moves': did you mean 'ataraxos.moves'"),
        ("algorithms=['atraxos']", "there is no algorithm 'atraxos': did you mean 'ataraxos'"),
        ("algorithms=[]", "name one or more, none of them twice"),
        ("algorithms=['ataraxos']", "add it to algorithms, or leave the table away"),
        ("ataraxos.minutes=3", "the first algorithm has the minutes of the run, so set minutes"),
        ("games", "key=value"),
        ("game.name=3", "game is a value"),
        ("ataraxos.moves.games=0", "games of the moves must be 1 or more"),
        ("ataraxos.moves.quantile=1.5", "quantile of the moves must be from 0 to 1"),
        ("ataraxos.moves.clip=-1.0", "clip of the moves must be 0 or more"),
        ("ataraxos.moves.average=1.0", "average of the moves must be from 0 to below 1"),
        ("ataraxos.moves.reach=-1", "reach of the moves must be 0 or more"),
        ("ataraxos.moves.gradient_norm=0", "gradient_norm of the moves must be more than 0"),
        ("ataraxos.moves.learning_rate=0", "learning_rate of the moves must be more than 0"),
        ("ataraxos.moves.learning_rate=nan", "learning_rate is a number, not nan"),
        ("ataraxos.moves.magnet_weight=-1", "a schedule has a coefficient and a decay from 0"),
        (
            "ataraxos.moves.magnet_weight={coefficient=0.1,decay=-400}",
            "a schedule has a coefficient and a decay from 0",
        ),
        ("ataraxos.moves.magnet_weight={coefficient=0.1,floor=0.2,ceiling=0.1}", "a floor from 0 to its ceiling"),
        ("iterations=-1", "iterations must be a number from 0, not -1"),
        ("minutes=-3", "minutes must be a number from 0, not -3"),
        ("minutes=inf", "minutes must be a number from 0, not inf"),
        ("save_every=nan", "save_every is a number, not nan"),
        ("patience=0", "patience must be more than 0 minutes"),
        ("ataraxos.setups.clip=-1.0", "clip of the setups must be 0 or more"),
        ("ataraxos.setups.learning_rate=-1.0", "learning_rate of the setups must be more than 0"),
        ("belief.width=15", "width must be a multiple of its heads"),
        ("belief.dropout=1.5", "dropout of the belief must be from 0 to below 1, not 1.5"),
        ("belief.decoder_depth=0", "decoder_depth of the belief must be 1 or more"),
        ("belief.gradient_norm=0.0", "gradient_norm of the belief must be more than 0"),
    ],
)
def test_a_wrong_change_says_what_would_be_right(change: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        parse_config(SMALL, [change])


@pytest.mark.parametrize(("game", "length"), [("tiny", 2), ("leduc", 3)])
def test_a_window_needs_a_row_to_learn_from(tmp_path: Path, game: str, length: int) -> None:
    changes = [f"game={game}", "rules=", f"ataraxos.moves.length={length}"]
    with pytest.raises(ConfigurationError, match=f"a window of {length} rows has none to learn from"):
        Run.begin(parse_config(SMALL, changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_any_line_about_a_run_is_written_back() -> None:
    config = replace(parse_config(SMALL), about='two\nlines, a "word", a \\ and \x7f\t…')
    assert parse_config(config_text(config)) == config


def test_changes_reach_into_tables_and_numbers_become_schedules() -> None:
    config = parse_config(
        SMALL, ["ataraxos.moves.games=7", "ataraxos.moves.magnet_weight=0.01", "ataraxos.setup_network=false"]
    )
    assert config.stages["ataraxos"].moves.games == 7
    assert config.stages["ataraxos"].moves.magnet_weight.at(1000) == 0.01
    assert config.stages["ataraxos"].setup_network is None


def test_tensorboard_is_told_what_the_lines_say(tmp_path: Path) -> None:
    events = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="tensorboard is not installed"
    )
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    told = [run.iterate() for _ in range(2)]
    seen = events.EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    for name in ("moves.entropy", "play.end.flag"):
        points = seen.Scalars(name.replace(".", "/", 1))
        assert [point.step for point in points] == [1, 2]
        assert [point.value for point in points] == pytest.approx([line[name] for line in told], rel=1e-5)


def test_tensorboard_keeps_the_curve_of_a_belief_that_is_resumed(tmp_path: Path) -> None:
    events = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="tensorboard is not installed"
    )
    run = Run.begin(parse_config(SMALL, ["iterations=2", "belief.minutes=60"]), tmp_path / "run")
    for _ in range(4):
        assert run.goes_on()
        run.iterate()
    run.save()
    again = Run.resume(tmp_path / "run")
    assert again.goes_on()
    again.iterate()
    seen = events.EventAccumulator(str(tmp_path / "run" / "tensorboard" / "belief")).Reload()
    assert [point.step for point in seen.Scalars("belief/loss")] == [3, 6, 9]


def test_weights_and_biases_keeps_a_run_in_its_folder_where_there_is_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path / "elsewhere"))
    with closing(Run.begin(parse_config(SMALL, ["wandb=stories"]), tmp_path / "run")) as run:
        run.iterate()
        run.save()
    with closing(Run.resume(tmp_path / "run")) as again:
        again.iterate()
    assert not run.notes and not again.notes
    name = (tmp_path / "run" / "wandb" / "id").read_text()
    kept = list((tmp_path / "run" / "wandb").glob(f"offline-run-*-{name}/run-{name}.wandb"))
    assert kept and b"moves/entropy" in b"".join(path.read_bytes() for path in kept)


def test_weights_and_biases_is_not_asked_for_unless_a_project_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)  # importing it fails
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    run.iterate()
    assert not run.notes
    asked = Run.begin(parse_config(SMALL, ["wandb=stories"]), tmp_path / "asked")
    for _ in range(2):
        asked.iterate()
    [note] = asked.notes
    assert "Weights & Biases's curves are not written any more (it is not installed: pip install" in note
    assert len(read_metrics(tmp_path / "asked")) == 2


class Grumpy:
    """Stands in for the library `wandb`, whose service breaks down at one of its calls."""

    class Settings:
        def __init__(self, **_: object) -> None:
            self.mode = "online"

    def __init__(self, fails: str, key: bool = True) -> None:
        self.fails, self.key = fails, key
        self.settings = self.Settings()

    def setup(self) -> Grumpy:
        return self

    def login(self, prompt: bool) -> bool:
        assert not prompt, "nobody may be there to answer"
        return self.key

    def _call(self, name: str) -> None:
        if name == self.fails:
            raise ConnectionError("the service is gone\nfor good")

    def init(self, **_: object) -> Grumpy:
        self._call("init")
        return self

    def define_metric(self, *_: object, **__: object) -> None:
        self._call("define_metric")

    def log(self, _: object) -> None:
        self._call("log")

    def finish(self) -> None:
        self._call("finish")


@pytest.mark.parametrize("fails", ["init", "define_metric", "log", "finish", "no key"])
def test_weights_and_biases_cannot_end_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    monkeypatch.setitem(sys.modules, "wandb", Grumpy(fails, key=fails != "no key"))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    run = Run.begin(parse_config(SMALL, ["wandb=stories"]), tmp_path / "run")
    for _ in range(2):
        run.iterate()
    run.close()
    [note] = run.notes
    assert note.startswith("Weights & Biases's curves are not written any more (")
    assert ("`wandb login`" if fails == "no key" else "the service is gone)") in note
    assert len(read_metrics(tmp_path / "run")) == 2


# The thread that fails is TensorBoard's own.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("lines", [0, 1])
def test_curves_that_cannot_be_written_do_not_end_a_run(tmp_path: Path, lines: int) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    for _ in range(lines):
        run.iterate()
    curves = tmp_path / "run" / "tensorboard"
    shutil.rmtree(curves, ignore_errors=True)
    curves.write_text("in the way")
    for _ in range(2):
        run.iterate()
    assert ["TensorBoard's curves are not written any more" in note for note in run.notes] == [True]
    assert len(read_metrics(tmp_path / "run")) == lines + 2
    run.close()


# ── Runs of earlier versions ─────────────────────────────────────────────────────────────────────

EARLIER = """
about = "As an earlier version wrote it."
game = "tiny"
rules = "battleless_limit=20,total_limit=60"
iterations = 2
setup_network = false

[move_network]
depth = 1
width = 16
heads = 2
"""


def test_a_run_of_an_earlier_version_says_how_to_go_on_from_its_networks(tmp_path: Path) -> None:
    """Its configuration had no tables of algorithms, its progress no stages; its model was as models are."""
    changes = ("ataraxos.setup_network=false",)
    begun(tmp_path / "old", 1, changes).save()
    (tmp_path / "old" / "config.toml").write_text(EARLIER)
    (tmp_path / "old" / "checkpoint" / "progress.json").write_text('{"iteration": 1, "moves": 9, "before": {}}')
    way = f"train PRESET --from {tmp_path / 'old' / 'model'} --out FOLDER"
    for refused in (lambda: Run.resume(tmp_path / "old"), lambda: make_model(tmp_path / "old", tmp_path / "m", "m")):
        with pytest.raises(
            ConfigurationError, match="has no 'setup_network'.*another version.*cannot be resumed"
        ) as told:
            refused()
        assert way in str(told.value)
    model = load_trained(tmp_path / "old" / "model")
    run = Run.begin(parse_config(SMALL, changes), tmp_path / "new", model=model)
    assert run.notes == ["it goes on from the networks of 'old', after iteration 0"]
    run.iterate()


def test_a_change_that_cannot_be_is_not_taken_for_a_run_of_another_version(tmp_path: Path) -> None:
    begun(tmp_path / "run", 0).save()
    with pytest.raises(ConfigurationError, match="has no 'sede': did you mean 'seed'.$"):
        Run.resume(tmp_path / "run", changes=["sede=2"])


def test_a_run_that_loses_to_what_it_was_is_warned(tmp_path: Path) -> None:
    seen: list[str | None] = []
    scores = {"score.random": 0.9}

    def evaluator(folder: Path) -> dict[str, float]:
        there = earlier_model(folder.parent)
        seen.append(there and there.name)
        return scores

    clock = Clock()
    run = Run.begin(
        parse_config(SMALL, ["evaluation.every=1", "evaluation.earlier=true"]), tmp_path / "run",
        evaluator=evaluator, clock=clock,
    )  # fmt: skip
    for _ in range(4):
        run.iterate()
        clock.now += 61
    assert seen == [None, "000002", "000002"] and not run.notes
    scores |= {"score.earlier": 0.25, "score_high.earlier": 0.4}
    run.iterate()
    assert seen[-1] == "000004", "the one of iteration 2 is half as old by then"
    assert [path.name for path in (tmp_path / "run" / "earlier").iterdir()] == ["000004"]
    [note] = run.notes
    assert note.startswith("it loses to what it was at iteration 4 (25%): play may be going round in circles")
    assert load_model(tmp_path / "run" / "earlier" / "000004").game.name == "tiny"


# ── Another game than the preset's ───────────────────────────────────────────────────────────────


def test_a_change_of_the_game_leaves_out_what_was_said_of_the_other() -> None:
    notes: list[str] = []
    config = load_config("laptop", ["game=kuhn"], notes.append)
    assert (config.game, config.rules, config.about) == ("kuhn", "", "")
    words = "the rules 'battleless_limit=60,total_limit=400' are for 'medium', so 'kuhn' is played by its own"
    unmeasured = (
        "its opponents are for 'medium', so nothing is played against them (--set evaluation.every=… for others)"
    )
    assert notes == [f"{words} (--set rules=… for others)", unmeasured] and not config.evaluation.every
    notes.clear()
    assert load_config("laptop", ["game=kuhn", "evaluation.games=8"]).evaluation.every
    assert load_config("rnad-kuhn", ["game=leduc"], notes.append).evaluation.exact and not notes
    config = load_config("laptop", ["game=barrage"], notes.append)
    assert (config.rules, config.about) == ("battleless_limit=60,total_limit=400", ""), "another board of the family"
    config = load_config("laptop", ["game=barrage", "about=Mine", "rules=total_limit=50"], notes.append)
    assert (config.rules, config.about) == ("total_limit=50", "Mine")
    assert load_config("laptop", ["game=medium"], notes.append) == load_config("laptop")
    assert not notes
    with pytest.raises(ConfigurationError, match="there is no game 'khun': did you mean 'kuhn'"):
        load_config("laptop", ["game=khun"])
