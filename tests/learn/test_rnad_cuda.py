"""R-NaD on a GPU does what it does on a CPU: the same losses of the same games, and runs that go on."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from vauban.games.base import game
from vauban.learn.base import Place
from vauban.learn.config import load_config, parse_config
from vauban.learn.episodes import Episodes
from vauban.learn.rnad.learner import RNaD
from vauban.learn.run import Run

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

MICRO = """
game = "micro"
rules = "total_limit=8"
algorithms = ["rnad"]
[rnad]
games = 64
chunk = 200
durations = [8]
counts = []
learning_rate = 1e-3
target_rate = 0.1
[rnad.network]
kind = "{kind}"
{size}
"""
KINDS = {
    "move": "depth = 1\nwidth = 32\nheads = 2",
    "pyramid": "width = 16\ninner = 16\nouter_blocks = 1\ninner_blocks = 1",
}


def learner_on(device: str, kind: str) -> RNaD:
    config = parse_config(MICRO.format(kind=kind, size=KINDS[kind]))
    return RNaD(game(config.game, config.rules), config.stages["rnad"], Place(torch.device(device), seed=5))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_step_on_the_same_games_says_the_same_on_cpu_and_cuda(kind: str) -> None:
    """Networks run in bfloat16 there, which has three digits; four steps have compiled and replayed all there is."""
    here, there = learner_on("cpu", kind), learner_on("cuda", kind)
    for _ in range(4):
        played = here._play()
        there._play()
        copied = Episodes(*(column.to("cuda") for column in played))
        mine, other = here._learn(played), there._learn(copied)
        assert mine["moves"] == other["moves"]
        for name in ("rnad.entropy", "rnad.value_loss", "rnad.regular_kl", "rnad.advantage"):
            assert mine[name] == pytest.approx(other[name], abs=0.03, rel=0.05), name
        assert other["rnad.ratio"] < 0.05, "the policy that learns is nearly the one that played"


def test_kuhn_poker_is_learned_on_a_gpu_and_the_run_goes_on(tmp_path: Path) -> None:
    config = load_config("rnad-kuhn", ["iterations=3", "rnad.steps=10", "evaluation.every=0"])
    run = Run.begin(config, tmp_path / "run", "cuda")
    while run.goes_on():
        told = run.iterate()
    assert told["rnad.cut"] == 0 and told["games"] == 3 * 10 * 256
    run.save()
    again = Run.resume(tmp_path / "run", "cuda", changes=["iterations=4"])
    assert not again.notes
    states = [each.first.state()["regular"] for each in (run, again)]
    for part in states[0]:
        assert all(torch.equal(states[0][part][key], states[1][part][key]) for key in states[0][part])
    assert again.iterate()["iteration"] == 4


def test_long_games_move_to_smaller_tables_on_a_gpu_too() -> None:
    learner = learner_on("cuda", "move")
    for _ in range(5):
        played = learner._play()
        lengths = played.there.sum(0)
        assert bool(learner.episodes.ends.over.all()) and torch.equal(learner.episodes.ends.plies, lengths)
        ended = played.rewards.masked_fill(~played.there, 0).sum(0)
        assert torch.equal(ended, learner.episodes.ends.utilities)
