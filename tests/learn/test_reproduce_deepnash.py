"""The script that measures R-NaD as the paper does: what it says of deployments, and whether it goes through."""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest
import torch
from test_learn_workers import ENVIRONMENT, HOURS

from vauban.games.stratego.steps.game import StrategoSteps
from vauban.nets.pyramid import PyramidNetwork

SCRIPT = Path(__file__).parents[2] / "scripts" / "reproduce_deepnash.py"
TINY = """
about = "tiny"
game = "steps:tiny"
rules = "battleless_limit=10,total_limit=20"
algorithms = ["rnad"]
iterations = 2
[rnad]
games = 8
chunk = 100
steps = 1
durations = [3]
counts = []
[rnad.network]
kind = "pyramid"
width = 4
inner = 4
outer_blocks = 0
inner_blocks = 0
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduce_deepnash", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def setup(played: StrategoSteps, *squares: str) -> npt.NDArray[np.int8]:
    """A setup by the squares of its pieces, in the order in which they are placed."""
    return played.setup_of([played.variant.square(square) for square in squares])


def test_deployments_are_described_in_the_words_of_the_paper(script: ModuleType) -> None:
    played = StrategoSteps("barrage")
    # Flag, Bomb, Marshal, General, Miner, two Scouts, Spy.
    guarded = setup(played, "a1", "a2", "b4", "j4", "c3", "e4", "f4", "h3")
    open_one = setup(played, "e2", "j1", "c4", "d4", "c3", "g4", "f4", "h3")
    told = script.described(played, np.stack([guarded, guarded, guarded, open_one]))
    assert told["flag_by_row_from_the_back"] == [0.75, 0.25, 0, 0]
    assert told["different_of_all"] == 0.5 and told["most_frequent_flag_square"] == 0.75
    assert told["bombs_beside_the_flag"] == told["flag_has_a_bomb_beside_it"] == 0.75
    assert told["flag_closed_in_by_bombs"] == 0, "the square at its side is open"
    assert told["marshal_and_general_on_different_sides"] == 0.75
    assert told["columns_between_marshal_and_general"] == pytest.approx((3 * 8 + 1) / 4)
    assert told["spy_within_two_squares_of_the_general"] == 0.75
    assert told["immobile"] == 0


def test_a_setup_that_cannot_move_is_counted(script: ModuleType) -> None:
    """Bombs and the Flag in front, and pieces that can move before the lakes alone."""
    played = StrategoSteps("classic")
    immobile = [1 + kind for kind in played.placed_types if kind >= script.MOVABLE_TYPES]
    movable = [1 + kind for kind in played.placed_types if kind < script.MOVABLE_TYPES]
    lakes = [column for column in range(10) if 40 + column in played.barred]
    front = [movable.pop() if column in lakes else immobile.pop() for column in range(10)]
    codes = np.array([*movable, *immobile, *front], np.int8)
    assert not script._moves(played, codes)
    codes[[30, 10]] = codes[[10, 30]]  # a Bomb goes back
    assert script._moves(played, codes)
    told = script.described(played, np.stack([codes] * 2))
    assert told["immobile"] == 0


def test_deployments_are_drawn_as_the_network_places_them(script: ModuleType) -> None:
    torch.manual_seed(1)
    played = StrategoSteps("tiny")
    network = PyramidNetwork(played, 4, 4, 0, 0)
    setups, nats = script.drawn_deployments(played, network, 64, torch.device("cpu"))
    assert setups.shape == (2, 64, 4)
    assert (np.sort(setups, axis=2) == np.sort(setups[0, 0])).all() and len(np.unique(setups[0], axis=0)) > 4
    assert 0 < nats[0] <= np.log(24) and 0 < nats[1] <= np.log(24)


@pytest.mark.slow
def test_all_parts_go_through_and_go_on(tmp_path: Path) -> None:
    config = tmp_path / "tiny.toml"
    config.write_text(TINY)
    sizes = ("games=2", "longest=20", "chunk=64", "network.width=4", "network.inner=4")

    def call(*arguments: str) -> dict[str, object]:
        command = [sys.executable, str(SCRIPT), str(tmp_path / "out"), *arguments, "--device", "cpu"]
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=HOURS)
        assert done.returncode == 0, done.stderr
        found: dict[str, object] = json.loads((tmp_path / "out" / "results.json").read_text())
        return found

    call("throughput", "--steps", "1", *(part for size in sizes for part in ("--set", f"rnad.{size}")))
    kuhn = ["--presets", "rnad-kuhn", "--seeds", "1", "--set", "iterations=10", "--set", "rnad.steps=2"]
    call("small", *kuhn)
    run = ["--run", str(config), "--against", "random", "--games", "4", "--draws", "20"]
    call("barrage", *run, "--seconds", "0")
    found = call("barrage", "matches", "deployments", *run)
    assert set(found) == {"throughput", "small", "barrage", "matches", "deployments"}
    throughput, small, barrage = found["throughput"], found["small"], found["barrage"]
    assert isinstance(throughput, dict) and isinstance(small, list) and isinstance(barrage, list)
    assert set(throughput) == {"paper", "small"}
    for row in throughput.values():
        assert sum(row["parts"].values()) == pytest.approx(1, abs=0.01) and row["actions_per_second"] > 0
    (trained,) = small
    assert trained["ended"] and set(trained["nash_conv"]) == {"plain", "tuned"} and len(trained["course"]) == 10
    assert [row["iteration"] for row in barrage] == [0, 2]


@pytest.mark.slow
def test_a_run_goes_on_from_the_pieces_of_its_archive_and_plays_no_match_twice(tmp_path: Path) -> None:
    config = tmp_path / "tiny.toml"
    config.write_text(TINY)
    there = ["--run", str(config), "--against", "random", "--games", "2", "--keep", "1e-9", "--device", "cpu"]

    def call(out: str, *arguments: str) -> dict[str, list[dict[str, object]]]:
        command = [sys.executable, str(SCRIPT), str(tmp_path / out), *arguments, *there]
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=HOURS)
        assert done.returncode == 0, done.stderr
        found: dict[str, list[dict[str, object]]] = json.loads((tmp_path / out / "results.json").read_text())
        return found

    call("one", "barrage", "--set", "iterations=1")
    runs = tmp_path / "runs"
    runs.mkdir()
    pieces = sorted((tmp_path / "one").glob("runs.tar.*"))
    with tarfile.open(fileobj=io.BytesIO(b"".join(each.read_bytes() for each in pieces))) as archive:
        archive.extractall(runs, filter="data")
    (runs / "tiny" / "config.toml").write_text(
        (runs / "tiny" / "config.toml").read_text().replace("iterations = 1", "iterations = 2")
    )
    found = call("two", "barrage", "matches", "--runs", str(runs))
    assert [row["iteration"] for row in found["barrage"]] == [1, 2]
    assert sorted(row["iteration"] for row in found["matches"]) == [1, 2], "the model that was kept, and the last"
    assert "tiny" in (tmp_path / "two" / "strength.svg").read_text()
    assert call("two", "matches", "--runs", str(runs))["matches"] == found["matches"]
