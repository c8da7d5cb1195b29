"""Runs of Deep CFR side by side come to what each comes to alone, and can be parted, saved and gone on with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from vauban.agents import make_agent
from vauban.arena.match import Match
from vauban.arena.play import play_games
from vauban.errors import ConfigurationError
from vauban.learn.config import load_config
from vauban.learn.deep_cfr.learner import PLAYERS, RESERVOIRS, DeepCFR
from vauban.learn.deep_cfr.together import join
from vauban.learn.run import Run

SMALL = (
    "deep_cfr.traversals=24", "deep_cfr.batch=64", "deep_cfr.batches=6", "deep_cfr.strategy_batches=8",
    "deep_cfr.strategy_every=2", "deep_cfr.keep_every=1", "deep_cfr.capacity=700", "iterations=100",
    "evaluation.every=0", "keep_models=0",
)  # fmt: skip
# What explores less has weights of one size, and steps that do not make much of rounding.
GEISTER = (
    *SMALL, "deep_cfr.network.width=16", "rules='paper total_limit=40'", "deep_cfr.exploration=0.1",
    "deep_cfr.learning_rate=0.001",
)  # fmt: skip


def begun(folder: Path, preset: str, changes: Sequence[str], seeds: Sequence[int] = (1, 2, 3)) -> list[Run]:
    return [Run.begin(load_config(preset, [*changes, f"seed={seed}"]), folder / str(seed)) for seed in seeds]


def learner_of(run: Run) -> DeepCFR:
    assert isinstance(run.first, DeepCFR)
    return run.first


def joined(runs: list[Run]) -> list[Run]:
    join([learner_of(run) for run in runs])
    return runs


def iterated(runs: Sequence[Run], times: int) -> list[dict[str, float]]:
    for _ in range(times):
        told = [run.iterate() for run in runs]
    return told


def network_state(run: Run) -> dict[str, torch.Tensor]:
    return {
        f"{name}.{part}.{key}": tensor.double()
        for name, trainee in run.trainees().items()
        for part, network in (("network", trainee.network), ("average", trainee.average))
        for key, tensor in network.state_dict().items()
    }


def check_close(one: Run, other: Run, tolerance: float) -> None:
    found, wanted = network_state(other), network_state(one)
    assert set(found) == set(wanted)
    for name, tensor in wanted.items():
        assert torch.allclose(found[name], tensor, rtol=1e-3, atol=tolerance), name


@pytest.mark.parametrize("changes", [SMALL, (*SMALL, "deep_cfr.literal_network=true", "deep_cfr.merge=false")])
def test_runs_side_by_side_come_to_what_each_comes_to_alone(tmp_path: Path, changes: tuple[str, ...]) -> None:
    """In Kuhn poker, where for three iterations rounding changes no play: networks differ by rounding alone."""
    alone = begun(tmp_path / "alone", "deep-cfr-kuhn", changes)
    together = joined(begun(tmp_path / "together", "deep-cfr-kuhn", changes))
    for _ in range(3):
        for mine, theirs in zip(iterated(alone, 1), iterated(together, 1), strict=True):
            assert set(mine) == set(theirs)
            same = {name: value for name, value in mine.items() if not name.startswith(("seconds", "speed", "minutes"))}
            assert {name: theirs[name] for name in same} == pytest.approx(same, rel=1e-3, abs=1e-6)
    for one, other in zip(alone, together, strict=True):
        for name in RESERVOIRS:
            kept, same_kept = (learner_of(each).regressions[name].reservoir.state() for each in (one, other))
            assert torch.equal(kept["words"], same_kept["words"]) and torch.equal(kept["seen"], same_kept["seen"])
        check_close(one, other, 1e-3)
    first, second = (network_state(each)["first.network.embed.weight"] for each in together[:2])
    assert not torch.allclose(first, second, atol=1e-2)  # of different seeds


@pytest.mark.parametrize(
    ("preset", "changes"),
    [("deep-cfr-geister", GEISTER),
     ("deep-cfr-geister-history", (*GEISTER, "deep_cfr.warm_start=true", "deep_cfr.final_rate=0.1"))],
)  # fmt: skip
def test_in_geister_one_iteration_is_the_same_and_the_next_one_nearly(
    tmp_path: Path, preset: str, changes: tuple[str, ...]
) -> None:
    """After the first training rounding may change a play: where two values are 0, or a drawn number lies between."""
    alone = begun(tmp_path / "alone", preset, changes)
    together = joined(begun(tmp_path / "together", preset, changes))
    for mine, theirs in zip(iterated(alone, 1), iterated(together, 1), strict=True):
        assert set(mine) == set(theirs)
    for one, other in zip(alone, together, strict=True):
        for name in ("first", "strategy"):
            kept, same_kept = (learner_of(each).regressions[name].reservoir.state() for each in (one, other))
            assert all(torch.equal(kept[key], same_kept[key]) for key in kept)
        check_close(one, other, 1e-4)
    told = zip(iterated(alone, 1), iterated(together, 1), strict=True)
    assert all(theirs["deep_cfr.sure"] == pytest.approx(mine["deep_cfr.sure"], rel=0.05) for mine, theirs in told)
    for one, other in zip(alone, together, strict=True):
        kept, same_kept = (learner_of(each).regressions["second"].reservoir.state()["words"] for each in (one, other))
        rows = min(len(kept), len(same_kept))
        assert torch.isin(kept[:rows, 2], same_kept[:, 2]).float().mean() > 0.8


def test_runs_that_went_on_side_by_side_are_saved_and_resumed_alone_or_together(tmp_path: Path) -> None:
    changes = (*GEISTER, "deep_cfr.warm_start=true")
    runs = joined(begun(tmp_path, "deep-cfr-geister", changes, (1, 2)))
    iterated(runs, 3)
    for run in runs:
        run.save()
    again = joined([Run.resume(run.folder) for run in runs])
    assert not any(run.notes for run in again)
    alone = Run.resume(runs[1].folder)
    check_close(runs[1], alone, 0.0)
    alone.iterate()
    for _ in range(2):
        assert iterated(runs, 1)[1]["deep_cfr.value_loss"] == iterated(again, 1)[1]["deep_cfr.value_loss"]
    for one, other in zip(runs, again, strict=True):
        assert all(torch.equal(tensor, network_state(other)[name]) for name, tensor in network_state(one).items())
    runs[1].save()
    for plays in ("strategy", "drawn"):
        match = Match(f"net:{runs[1].folder},plays={plays}", "random", 4, runs[1].game, seed=1)
        assert not [each.result.note for each in play_games(match, range(4)) if each.result.note]
    assert make_agent(f"net:{runs[0].folder}").name


def test_gradients_are_clipped_for_each_run_by_itself(tmp_path: Path) -> None:
    """One run with a hundred times the loss of the other moves no further, and the other as if it were alone."""
    runs = joined(begun(tmp_path, "deep-cfr-geister", (*GEISTER, "deep_cfr.gradient_norm=0.5"), (1, 2)))
    together = learner_of(runs[0]).together
    assert together is not None
    stack = together.stacks[PLAYERS[0]]
    norms = []
    for factors in ((1.0, 100.0), (100.0, 1.0)):
        seen = torch.rand(2, 8, 36, 6, generator=torch.Generator().manual_seed(1))
        losses = stack.each(lambda network, seen: network(seen)[0].clamp_min(-1).square().mean(), seen)
        stack.descend(losses * torch.tensor(factors), 0.5)
        assert stack.flat.grad is not None
        norms.append(stack.flat.grad.norm(dim=1).tolist())
    assert [norms[0][1], norms[1][0]] == pytest.approx([0.5, 0.5], rel=1e-3)
    assert norms[0][0] < 0.5 and norms[1][1] < 0.5


def test_only_runs_that_differ_by_their_seeds_alone_go_on_side_by_side(tmp_path: Path) -> None:
    one, *_ = begun(tmp_path / "a", "deep-cfr-geister", GEISTER, (1,))
    for seed, change in ((3, "deep_cfr.batches=6"), (2, "deep_cfr.batches=7")):
        other, *_ = begun(tmp_path / f"b{seed}", "deep-cfr-geister", (*GEISTER, change), (seed,))
        with pytest.raises(ConfigurationError, match="side by side only with the same game, settings"):
            join([learner_of(one), learner_of(other)])
    runs = joined([one, *begun(tmp_path / "c", "deep-cfr-geister", GEISTER, (2,))])
    runs[0].iterate()
    with pytest.raises(ConfigurationError, match="in turn"):
        runs[0].iterate()
