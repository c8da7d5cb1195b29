"""Training runs: they begin, are killed, go on to the same numbers, and say what they do."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from vauban.errors import ConfigurationError
from vauban.learn.config import config_text, load_config, parse_config, presets
from vauban.learn.metrics import meaning
from vauban.learn.run import Run
from vauban.nets.store import load_model

SMALL = """
game = "tiny"
rules = "battleless_limit=20,total_limit=60"
[move_network]
depth = 1
width = 16
heads = 2
[setup_network]
depth = 1
width = 16
heads = 2
[moves]
games = 24
length = 14
batch = 16
learning_rate = 1e-3
[setups]
per_player = 8
batch = 16
"""


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def without_times(metrics: dict[str, float]) -> dict[str, float]:
    return {
        name: value
        for name, value in metrics.items()
        if not name.startswith(("seconds.", "speed.")) and name != "minutes"
    }


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
    for one, other in zip(whole.move.average.parameters(), again.move.average.parameters(), strict=True):
        assert torch.equal(one, other)


def test_every_metric_is_explained(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    for _ in range(3):
        unexplained = [name for name in run.iterate() if meaning(name) is None]
        assert not unexplained


def test_a_run_leaves_a_model_that_plays(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    run.iterate()
    run.save()
    model = load_model(tmp_path / "run")
    assert model.game.name == "tiny" and model.setup is not None
    for mine, saved in zip(run.move.average.parameters(), model.move.parameters(), strict=True):
        assert torch.equal(mine.detach(), saved.detach())


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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("moves.gmaes=3", "did you mean 'games'"),
        ("moves.games=many", "a whole number"),
        ("moves=3", "is a table"),
        ("games", "key=value"),
        ("game.name=3", "game is a value"),
    ],
)
def test_a_wrong_change_says_what_would_be_right(change: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        parse_config(SMALL, [change])


def test_changes_reach_into_tables_and_numbers_become_schedules() -> None:
    config = parse_config(SMALL, ["moves.games=7", "moves.magnet_weight=0.01", "setup_network=false"])
    assert config.moves.games == 7
    assert config.moves.magnet_weight.at(1000) == 0.01
    assert config.setup_network is None
