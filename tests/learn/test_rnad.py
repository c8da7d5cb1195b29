"""The learner R-NaD: it comes close to equilibria, resumes bit for bit, and does what its settings say."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from test_learn_run import without_times
from test_learn_workers import ENVIRONMENT, HOURS
from torch._dynamo.testing import CompileCounter

from vauban.agents.net import NetAgent, NetOptions
from vauban.agents.tables import tabulated
from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.learn.base import Place
from vauban.learn.card import load_trained, make_model
from vauban.learn.config import load_config, parse_config
from vauban.learn.episodes import Episodes, Games, row_chunks
from vauban.learn.journal import read_metrics
from vauban.learn.rnad.learner import RNaD, RNaDConfig
from vauban.learn.run import Run
from vauban.learn.trainee import Trainee
from vauban.nets import distinct
from vauban.nets.actor import Actor
from vauban.nets.plain import PlainNetwork
from vauban.nets.store import load_model
from vauban.nets.transformer import Size
from vauban.nets.values import tilted
from vauban.solve import build_tree, evaluate, uniform

SMALL = """
game = "kuhn"
algorithms = ["rnad"]
iterations = 6
[rnad]
games = 32
chunk = 40
steps = 2
durations = [5]
counts = []
learning_rate = 1e-2
target_rate = 0.1
[rnad.network]
kind = "plain"
depth = 1
width = 16
heads = 1
"""


def learner_of(run: Run) -> RNaD:
    learner = run.first
    assert isinstance(learner, RNaD)
    return learner


def trained(folder: Path, changes: list[str] | None = None, iterations: int | None = None) -> Run:
    run = Run.begin(parse_config(SMALL, changes or []), folder)
    while run.goes_on() and run.iteration != iterations:
        run.iterate()
    return run


def weights(run: Run) -> list[torch.Tensor]:
    learner = learner_of(run)
    policies = learner.policies
    networks = (learner.trainee.network, policies.target, policies.newer, policies.older)
    return [each for network in networks for each in network.state_dict().values()]


def nash_conv(run: Run) -> float:
    run.save_model(run.folder / "model")
    tree = build_tree(run.game)
    return evaluate(tree, tabulated(tree, NetAgent(NetOptions(model=str(run.folder))))).nash_conv


# ── What it learns ───────────────────────────────────────────────────────────────────────────────


def test_it_learns_kuhn_poker(tmp_path: Path) -> None:
    """The uniform policy's NashConv is 11/12. After these 2,000 steps it was 0.039 and 0.028 with the seeds 1 and 2."""
    run = Run.begin(load_config("rnad-kuhn", ["iterations=40", "rnad.durations=[500]"]), tmp_path / "run")
    while run.goes_on():
        run.iterate()
    assert nash_conv(run) < 0.1 < evaluate(build_tree("kuhn"), uniform(build_tree("kuhn"))).nash_conv / 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_its_target_network_comes_close_to_an_equilibrium_of_kuhn_poker(tmp_path: Path, seed: int) -> None:
    run = Run.begin(load_config("rnad-kuhn", [f"seed={seed}"]), tmp_path / "run")
    while run.goes_on():
        run.iterate()
    learned = nash_conv(run)
    print(f"NashConv: {learned:.4f}")
    assert learned <= 0.03


# ── What its settings do ─────────────────────────────────────────────────────────────────────────


def test_chunks_of_any_size_make_the_same_step(tmp_path: Path) -> None:
    small, large = (trained(tmp_path / str(chunk), [f"rnad.chunk={chunk}", "rnad.eta=0.5"]) for chunk in (32, 4096))
    for one, other in zip(weights(small), weights(large), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_asking_once_about_alike_positions_makes_the_same_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    merged = trained(tmp_path / "merged")
    monkeypatch.setattr(distinct, "_weights", lambda count: torch.zeros(count, dtype=torch.float64))
    every = trained(tmp_path / "every")
    for one, other in zip(weights(merged), weights(every), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_the_target_follows_slowly_and_becomes_the_regularisation_at_the_end_of_an_iteration(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL, ["rnad.steps=1", "iterations=20"]), tmp_path / "run")
    learner = learner_of(run)
    policies, trainee = learner.policies, learner.trainee

    def flat(network: Any) -> torch.Tensor:
        return torch.cat([each.flatten() for each in network.parameters()]).clone()

    first = flat(trainee.network)
    told = []
    for _ in range(4):
        before = flat(policies.target)
        told.append(run.iterate())
        torch.testing.assert_close(flat(policies.target), before + 0.1 * (flat(trainee.network) - before))
        assert torch.equal(flat(policies.newer), first) and torch.equal(flat(policies.older), first)
    told.append(run.iterate())
    fifth = flat(policies.target)
    assert torch.equal(flat(policies.newer), fifth) and torch.equal(flat(policies.older), first)
    told += [run.iterate() for _ in range(5)]
    assert torch.equal(flat(policies.older), fifth) and torch.equal(flat(policies.newer), flat(policies.target))
    assert [each["rnad.alpha"] for each in told] == [0, 0.4, 0.8, 1, 1] * 2
    assert [each["rnad.outer"] for each in told] == [0] * 5 + [1] * 5


BOARD = """
game = "{game}"
rules = "{rules}"
algorithms = ["rnad"]
iterations = 6
[rnad]
games = 8
chunk = 60
steps = 2
durations = [5]
counts = []
learning_rate = 1e-3
target_rate = 0.1
[rnad.network]
kind = "{kind}"
{size}
"""
SIZES = {
    "move": "depth = 1\nwidth = 8\nheads = 1",
    "pyramid": "width = 4\ninner = 4\nouter_blocks = 1\ninner_blocks = 1",
}
GAMES = {
    "steps:nano": ("total_limit=8", "pyramid"),
    "geister-33b": ("paper total_limit=5 at_limit=second", "pyramid"),
    "micro": ("total_limit=8", "move"),
}


def on_a_board(name: str) -> str:
    rules, kind = GAMES[name]
    return BOARD.format(game=name, rules=rules, kind=kind, size=SIZES[kind])


@pytest.mark.parametrize("name", ["kuhn", "leduc", *GAMES])
def test_on_policy_the_policy_that_learns_is_the_one_that_played(tmp_path: Path, name: str) -> None:
    """Observations made again of the records of whole games are those that the network saw when it played."""
    config = parse_config(on_a_board(name)) if name in GAMES else parse_config(SMALL, [f"game={name}"])
    run = Run.begin(config, tmp_path / "run")
    for _ in range(2):
        assert run.iterate()["rnad.ratio"] < 1e-5


def test_games_that_are_cut_off_are_counted_and_end_with_nothing(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL, ["rnad.longest=2"]), tmp_path / "run")
    told = run.iterate()
    assert 0.1 < told["rnad.cut"] < 0.9 and told["rnad.plies"] == 2
    assert told["rnad.cut"] + sum(value for name, value in told.items() if name.startswith("rnad.end.")) == 1
    none = Run.begin(parse_config(SMALL, ["rnad.longest=1"]), tmp_path / "none").iterate()
    assert none["rnad.cut"] == 1 and none["rnad.first_mover"] == 0 and none["rnad.value_loss"] < 0.1


def test_fine_tuning_evaluates_processed_policies_from_its_step_on(tmp_path: Path) -> None:
    changes = ["rnad.steps=1", "rnad.fine_tuning_from=3", "rnad.threshold=0.49"]
    run, plain = trained(tmp_path / "run", changes, 2), trained(tmp_path / "plain", changes[:1], 2)
    for one, other in zip(weights(run), weights(plain), strict=True):
        assert torch.equal(one, other)
    assert run.iterate()["rnad.processed"] == 1 and plain.iterate()["rnad.processed"] == 0
    assert any(not torch.equal(one, other) for one, other in zip(weights(run), weights(plain), strict=True))


def test_adam_has_no_momentum_unless_it_is_asked_for(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", iterations=0)
    (group,) = learner_of(run).trainee.optimiser.param_groups
    assert group["betas"] == (0.0, 0.999) and group["eps"] == 1e-8


def test_eta_is_in_chips_and_rewards_in_units_of_the_most_that_can_be_won(tmp_path: Path) -> None:
    """In Leduc poker a critic that knows nothing errs by what is won, squared: 13 chips are 1."""
    run = Run.begin(parse_config(SMALL, ["game=leduc", "rnad.games=512", "rnad.chunk=2048"]), tmp_path / "run")
    assert run.iterate()["rnad.value_loss"] < 2 * (5 / 13) ** 2


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("rnad.chunk=31", "chunk of rnad is 31, and 32 games have as many positions at once"),
        ("rnad.counts=[3]", "counts of rnad are one number from 1 for each duration but the last"),
        ("rnad.variant=q", "variant of rnad is s or p, not 'q'"),
        ("rnad.eta=0.0", "eta of rnad must be more than 0"),
        ("rnad.target_rate=0.0", "target_rate of rnad must be above 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(change: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        parse_config(SMALL, [change])


def test_the_preset_paper_has_the_published_numbers() -> None:
    settings = load_config("rnad-paper").stages["rnad"]
    assert isinstance(settings, RNaDConfig)
    assert (settings.eta, settings.beta, settings.clip, settings.rho, settings.c) == (0.2, 2, 10_000, 1, 1)
    assert (settings.games, settings.longest, settings.target_rate) == (768, 3600, 0.001)
    assert (settings.momentum, settings.epsilon, settings.learning_rate.at(10**6)) == (0, 1e-8, 5e-5)
    assert (settings.durations, settings.counts) == ((10_000, 100_000, 35_000), (101, 65))
    assert (settings.threshold, settings.levels, settings.network.kind) == (0.03, 32, "pyramid")


# ── Games ────────────────────────────────────────────────────────────────────────────────────────


def test_rows_are_cut_into_chunks_from_the_last_to_the_first() -> None:
    assert row_chunks([4, 4, 3, 2, 1], 6) == [(2, 5), (1, 2), (0, 1)]
    assert row_chunks([4, 4, 3, 2, 1], 100) == [(0, 5)]
    assert row_chunks([], 5) == []


def games_of(games: int, longest: int) -> Games:
    torch.manual_seed(1)
    network = PlainNetwork(game("leduc"), Size(1, 8, 1))
    return Games(game("leduc"), games, longest, lambda sim: Actor(network, sim), torch.device("cpu"), seed=1)


def copied(played: Episodes) -> Episodes:
    return Episodes(*(column.clone() for column in played))


def test_games_are_played_to_their_ends_and_the_last_step_has_what_was_won() -> None:
    games = games_of(64, 3600)
    played = copied(games.play(0))
    lengths = played.there.sum(0)
    assert lengths.min() >= 2 and lengths.max() == len(played.there) <= 8 and len(lengths.unique()) > 2
    assert bool(games.ends.over.all()) and torch.equal(games.ends.plies, lengths)
    last = lengths - 1
    for column in range(64):
        assert played.there[: lengths[column], column].all()
        assert played.rewards[last[column], column] == games.ends.utilities[column]
    there = played.there
    assert (played.rewards[there] != 0).sum() == (games.ends.utilities != 0).sum() > 0
    assert played.sampled[there].min() > 0 and played.sampled[there].max() < 1
    again = copied(games.play(0))
    assert torch.equal(again.words[there], played.words[there]) and torch.equal(
        again.places[there], played.places[there]
    )
    assert not torch.equal(games.play(64).words[0], again.words[0])


def test_games_that_go_on_at_smaller_tables_are_those_that_they_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    from vauban.learn import episodes

    several = games_of(64, 3600)
    tables = several._tables
    assert [each.sim.n for each in tables] == [64, 32, 16, 8, 4]
    played = copied(several.play(0))
    for each in tables[1:]:
        assert len(each.games.unique()) == each.sim.n, "every table was needed"
    monkeypatch.setattr(episodes, "TABLES", 1)
    alone = games_of(64, 3600)
    expected = alone.play(0)
    there = expected.there
    assert torch.equal(played.there, there)
    for one, other in zip(played, expected, strict=True):
        torch.testing.assert_close(one[there], other[there])
    for one, other in zip(several.ends, alone.ends, strict=True):
        assert torch.equal(one, other)


def test_a_game_that_is_cut_off_has_nothing_won() -> None:
    games = games_of(64, 2)
    played = games.play(0)
    over = games.ends.over
    assert len(played.there) == 2 and bool(over.any()) and not bool(over.all())
    assert (played.rewards[:, ~over] == 0).all() and (games.ends.utilities[~over] == 0).all()


@pytest.mark.parametrize("name", ["micro", pytest.param("steps:nano", marks=pytest.mark.slow)])
def test_what_a_gpu_compiles_is_less_than_torch_would_give_up_at(name: str) -> None:
    """Tables of five sizes, a chunk with gradients and one without: beyond the limit torch goes on uncompiled."""
    config = parse_config(on_a_board(name), ["rnad.games=64", "rnad.chunk=64"])
    learner = RNaD(game(config.game, config.rules), config.stages["rnad"], Place(torch.device("cpu")))
    shape = learner.looker.seen.shape[1:]
    mine, others = CompileCounter(), CompileCounter()
    forward = torch.compile(learner._forward, dynamic=False, backend=mine)
    with torch.no_grad():
        for table in learner.episodes._tables:
            forward(torch.zeros(table.sim.n, *shape))
    forward(torch.zeros(80, *shape))
    assert mine.frame_count == len(learner.episodes._tables) + 1 < torch._dynamo.config.recompile_limit
    with torch.no_grad():
        for each in (learner._judge, *learner._regular.values()):
            torch.compile(each, dynamic=False, backend=others)(torch.zeros(80, *shape))
    assert 1 < others.frame_count < torch._dynamo.config.recompile_limit


# ── Keeping ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (SMALL, []),
        # Fine-tuning begins at the seventh step, the first one behind the checkpoint, or is under way there.
        (SMALL, ["rnad.fine_tuning_from=7", "rnad.threshold=0.45", "rnad.levels=8"]),
        (SMALL, ["rnad.fine_tuning_from=3", "rnad.threshold=0.45", "rnad.levels=8", "rnad.variant=p"]),
        (on_a_board("steps:nano"), ["rnad.fine_tuning_from=6"]),
    ],
)
def test_a_run_that_was_resumed_goes_on_bit_for_bit(tmp_path: Path, text: str, changes: list[str]) -> None:
    config = parse_config(text, changes)
    whole = Run.begin(config, tmp_path / "whole")
    expected = [without_times(whole.iterate()) for _ in range(6)]
    run = Run.begin(config, tmp_path / "run")
    for _ in range(3):  # six steps: the second iteration of the regularisation has begun
        run.iterate()
    run.save()
    again = Run.resume(tmp_path / "run")
    assert not again.notes
    assert [without_times(again.iterate()) for _ in range(3)] == expected[3:]
    assert all(torch.equal(one, other) for one, other in zip(weights(again), weights(whole), strict=True))
    assert [each["rnad.processed"] for each in expected][::5] == [0, bool(changes)]


def test_a_checkpoint_has_four_sets_of_parameters(tmp_path: Path) -> None:
    run = trained(tmp_path / "run")
    run.save()
    learner, folder = learner_of(run), tmp_path / "run" / "checkpoint"
    kept = load_file(folder / "networks.safetensors")
    regular = torch.load(folder / "rnad.regular.pt", weights_only=True)
    policies = learner.policies
    sets = [learner.trainee.network, policies.target, policies.newer, policies.older]
    found = [{name: kept[f"move.{part}.{name}"] for name in regular["newer"]} for part in ("network", "average")]
    for network, stored in zip(sets, [*found, regular["newer"], regular["older"]], strict=True):
        for name, each in network.state_dict().items():
            assert torch.equal(each, stored[name]), name
    weight = [network.state_dict()["embed.weight"] for network in sets]
    assert all(not torch.equal(one, other) for one, other in combinations(weight, 2)), "all four differ"


def test_a_run_without_its_regularisation_goes_on_from_the_target_and_says_so(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", iterations=3)
    run.save()
    (tmp_path / "run" / "checkpoint" / "rnad.regular.pt").unlink()
    other = Run.resume(tmp_path / "run")
    (note,) = other.notes
    assert note.startswith("rnad.regular.pt: it is not in the checkpoint, so play is regularised towards the target")
    policies = learner_of(other).policies
    assert all(
        torch.equal(one, two)
        for one, two in zip(policies.newer.parameters(), policies.target.parameters(), strict=True)
    )


def test_the_model_is_the_target_network_and_its_page_says_so(tmp_path: Path) -> None:
    run = trained(tmp_path / "run")
    run.save()
    model = load_model(tmp_path / "run")
    target = learner_of(run).policies.target
    assert all(torch.equal(one, two) for one, two in zip(model.player.parameters(), target.parameters(), strict=True))
    card = make_model(tmp_path / "run", tmp_path / "model", "mine")
    assert card["training"]["steps"] == {"move": 12}
    page = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "regularised Nash dynamics (R-NaD) after DeepNash" in page and "The network that plays is the target" in page
    other = Run.begin(parse_config(SMALL), tmp_path / "other", model=load_trained(tmp_path / "run"))
    assert learner_of(other).taken == 12
    assert all(
        torch.equal(one, two)
        for one, two in zip(learner_of(other).policies.older.parameters(), target.parameters(), strict=True)
    )


def test_two_workers_learn_what_one_with_twice_the_games_does(tmp_path: Path) -> None:
    """They stop once and go on, as one that never stopped; fine-tuning begins behind that."""
    config = tmp_path / "config.toml"
    config.write_text(SMALL.replace("[rnad]", "[rnad]\nfine_tuning_from = 9", 1))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*torchrun, "-m", "vauban", "train", "--device", "cpu"]
    begin = [str(config), "--out", str(tmp_path / "together"), "--set", "iterations=3"]
    for arguments in (begin, ["--resume", str(tmp_path / "together"), "--set", "iterations=6"]):
        done = subprocess.run([*command, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=HOURS)
        assert done.returncode == 0, done.stderr
    trained(tmp_path / "alone", ["rnad.games=64", "rnad.chunk=80", "rnad.fine_tuning_from=9"]).save()
    theirs, mine = read_metrics(tmp_path / "together"), read_metrics(tmp_path / "alone")
    assert len(theirs) == len(mine) == 6 and mine[-1]["rnad.processed"] == 1
    for one, other in zip(theirs, mine, strict=True):
        for name, value in without_times(one).items():
            assert value == pytest.approx(other[name], abs=1e-4, rel=1e-3), name
    folders = [tmp_path / name / "checkpoint" for name in ("together", "alone")]
    networks = [load_file(folder / "networks.safetensors") for folder in folders]
    for name, weight in networks[0].items():
        torch.testing.assert_close(weight, networks[1][name], atol=1e-4, rtol=1e-3, msg=name)
    regular = [torch.load(folder / "rnad.regular.pt", weights_only=True) for folder in folders]
    for part in ("newer", "older"):
        for name, weight in regular[0][part].items():
            torch.testing.assert_close(weight, regular[1][part][name], atol=1e-4, rtol=1e-3, msg=name)
    progress = json.loads((tmp_path / "together" / "checkpoint" / "progress.json").read_text())
    assert progress["games"] == 6 * 2 * 64


# ── Networks with a number for an outcome ────────────────────────────────────────────────────────


@pytest.mark.parametrize("utilities", [(-1.0, 0.0, 1.0), (-2.0, -1.0, 1.0, 2.0), game("leduc").utilities])
def test_a_number_becomes_the_distribution_of_outcomes_with_that_mean(utilities: tuple[float, ...]) -> None:
    worths = torch.tensor(utilities)
    values = (torch.linspace(-0.95, 0.95, 11) * worths.max()).requires_grad_()
    means = tilted(values, worths).softmax(1) @ worths
    torch.testing.assert_close(means.detach(), values.detach(), atol=1e-4, rtol=1e-4)
    means.sum().backward()
    torch.testing.assert_close(values.grad, torch.ones(11), atol=1e-2, rtol=0)
    beyond = tilted(torch.tensor([5.0, -5.0]) * worths.max(), worths)
    assert beyond.isfinite().all() and (beyond.softmax(1) @ worths).abs().max() < worths.max()


def test_learning_goes_on_with_any_network_in_the_numbers_of_a_gpu() -> None:
    """On a GPU copies in bfloat16 run; the target and the regularisation are kept in float32 all the same."""
    from vauban.learn.rnad.regular import Policies

    torch.manual_seed(1)
    network: Any = PlainNetwork(game("kuhn"), Size(1, 8, 1))
    policies = Policies(Trainee(network, torch.device("cpu"), working=torch.bfloat16))
    with torch.no_grad():
        for each in network.parameters():
            each += 1
    policies.follow(1e-3)
    policies.replace()
    average = policies.trainee.average.embed.weight
    assert policies.target.embed.weight.dtype == policies.newer.embed.weight.dtype == torch.bfloat16
    assert torch.equal(policies.newer.embed.weight, average.bfloat16())
    assert torch.equal(policies.state()["newer"]["embed.weight"], average) and average.dtype == torch.float32
    assert not torch.equal(policies.older.embed.weight, policies.newer.embed.weight) or not torch.equal(
        policies.state()["older"]["embed.weight"], average
    )
