"""The script that reproduces the Deep CFR paper: it stops in time, goes on where it was, and comes to the same."""

from __future__ import annotations

import importlib
import json
import sys
import tarfile
from argparse import Namespace
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from vauban.nets.store import load_model

SCRIPTS = Path(__file__).parents[2] / "scripts"
SMALL = (
    "deep_cfr.traversals=8", "deep_cfr.batch=32", "deep_cfr.batches=4", "deep_cfr.strategy_batches=4",
    "deep_cfr.strategy_every=1", "deep_cfr.capacity=500", "deep_cfr.network.width=16", "iterations=3", "keep_models=2",
)  # fmt: skip
ARGUMENTS = [
    "OUT", "--presets", "deep-cfr-geister", "--seeds", "2", "--device", "cpu", "--games", "6", "--against", "random",
    "runner", "--players", "1", *(part for each in SMALL for part in ("--set", each)),
]  # fmt: skip
EVERYTHING = [(2, "random"), (2, "runner"), (3, "random"), (3, "runner")]


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """Import the script by its name, under which the processes that play find it too."""
    sys.path.insert(0, str(SCRIPTS))
    yield importlib.import_module("reproduce_deep_cfr")
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="module")
def asked(script: ModuleType) -> Namespace:
    found: Namespace = script._parser().parse_args(ARGUMENTS)
    return found


def without_times(told: dict[str, Any]) -> dict[str, Any]:
    """Return results without what depends on the clock."""

    def steady(entry: dict[str, float]) -> dict[str, float]:
        return {name: value for name, value in entry.items() if not name.startswith(("seconds", "speed", "minutes"))}

    return steady(told) | {"metrics": list(map(steady, told["metrics"])), "matches": list(map(steady, told["matches"]))}


def results(script: ModuleType, asked: Namespace, runs: Path) -> list[dict[str, Any]]:
    return [script.told(asked, *run) for run in script._runs(asked, runs)]


def test_calls_that_run_out_of_time_come_to_the_same_as_one_that_has_all_it_needs(
    script: ModuleType, asked: Namespace, tmp_path: Path
) -> None:
    """A call without any time makes an iteration of every seed, or plays a match."""
    assert script.go_on_with_all(asked, tmp_path / "whole", lambda: 1e9) == []
    whole = results(script, asked, tmp_path / "whole")
    for run in whole:
        assert not run["left"] and run["iterations"] == 3 and run["states"] > 24
        assert [(match["iteration"], match["opponent"]) for match in run["matches"]] == EVERYTHING
        assert all(match["wins"] + match["draws"] + match["losses"] == 6 for match in run["matches"])
        assert [line["iteration"] for line in run["metrics"]] == [2]
    assert whole[0]["matches"] != whole[1]["matches"]
    left = []
    for _ in range(4):
        script.go_on_with_all(asked, tmp_path / "parts", lambda: 0.0)
        left.append([run["left"] for run in results(script, asked, tmp_path / "parts")])
    assert left[0] == [["iterations 2 to 3"]] * 2
    assert left[1] == [["iterations 3 to 3", "2 against random", "2 against runner"]] * 2
    assert [len(each) for each in left[2]] == [4, 4] and sorted(len(each) for each in left[3]) == [3, 4]
    script.go_on_with_all(asked, tmp_path / "parts", lambda: 1e9)
    assert list(map(without_times, results(script, asked, tmp_path / "parts"))) == list(map(without_times, whole))


@pytest.mark.slow
def test_what_the_command_leaves_is_gone_on_with_elsewhere(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """All is trained, and there is no time to play: the matches are played by what the archive has."""
    monkeypatch.setattr(script, "EXPECTED", 1e9)
    monkeypatch.setattr(script, "PIECE", 1 << 14)
    more = ["--runs", str(tmp_path / "runs"), "--minutes", "60"]
    monkeypatch.setattr(sys, "argv", ["reproduce_deep_cfr.py", str(tmp_path / "out"), *ARGUMENTS[1:], *more])
    script.main()
    first = json.loads((tmp_path / "out" / "results.json").read_text())
    assert not first["complete"] and [run["iterations"] for run in first["runs"]] == [3, 3]
    assert "not everything is done: the same command goes on" in capsys.readouterr().out
    pieces = sorted((tmp_path / "out").glob("runs.tar.gz.*"), key=lambda path: int(path.suffix[1:]))
    assert len(pieces) > 1 and max(path.stat().st_size for path in pieces) <= 1 << 14
    with tarfile.open(fileobj=BytesIO(b"".join(path.read_bytes() for path in pieces))) as archive:
        archive.extractall(tmp_path / "elsewhere", filter="data")
    names = {path.name for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()}
    assert names == {"config.toml", "starts.jsonl", "metrics.jsonl", "progress.json", "card.json",
                     "strategy.safetensors"}  # fmt: skip
    assert set(load_model(tmp_path / "elsewhere" / "deep-cfr-geister-1" / "models" / "000003").networks) == {"strategy"}
    monkeypatch.setattr(script, "EXPECTED", 0.0)
    monkeypatch.setattr(sys, "argv", [*sys.argv[:-3], str(tmp_path / "elsewhere"), "--minutes", "60"])
    script.main()
    told = json.loads((tmp_path / "out" / "results.json").read_text())
    assert told["complete"] and [len(run["matches"]) for run in told["runs"]] == [4, 4]
    assert "everything is done" in capsys.readouterr().out


def test_a_preset_that_fails_is_named_and_the_others_go_on(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "runs" / "deep-cfr-geister-1").mkdir(parents=True)
    (tmp_path / "runs" / "deep-cfr-geister-1" / "config.toml").write_text("nonsense = true\n")
    presets = ["--presets", "deep-cfr-geister", "deep-cfr-geister-history", "--seeds", "1", "--minutes", "0"]
    arguments = [*ARGUMENTS[1:], "--runs", str(tmp_path / "runs"), *presets]
    monkeypatch.setattr(sys, "argv", ["reproduce_deep_cfr.py", str(tmp_path / "out"), *arguments])
    with pytest.raises(SystemExit, match="what failed: deep-cfr-geister$"):
        script.main()
    assert "nonsense" in capsys.readouterr().err
    told = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [(run["preset"], run["iterations"]) for run in told["runs"]] == [("deep-cfr-geister-history", 1)]
