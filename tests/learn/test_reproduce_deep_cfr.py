"""The script that reproduces the Deep CFR paper: it stops in time, goes on where it was, and comes to the same."""

from __future__ import annotations

import importlib.util
import json
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "reproduce_deep_cfr.py"
SMALL = (
    "deep_cfr.traversals=8", "deep_cfr.batch=32", "deep_cfr.batches=4", "deep_cfr.strategy_batches=4",
    "deep_cfr.strategy_every=1", "deep_cfr.capacity=500", "deep_cfr.network.width=16", "iterations=3", "keep_models=2",
)  # fmt: skip
ARGUMENTS = [
    "OUT", "--presets", "deep-cfr-geister", "--seeds", "1", "--device", "cpu", "--games", "6", "--against", "random",
    "runner", *(part for each in SMALL for part in ("--set", each)),
]  # fmt: skip


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduce_deep_cfr", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def asked(script: ModuleType) -> Namespace:
    found: Namespace = script._parser().parse_args(ARGUMENTS)
    return found


def without_times(told: dict[str, Any]) -> dict[str, Any]:
    """Return results without what depends on the clock."""

    def steady(entry: dict[str, float]) -> dict[str, float]:
        return {name: value for name, value in entry.items() if not name.startswith(("seconds", "speed", "minutes"))}

    return steady(told) | {"metrics": list(map(steady, told["metrics"])), "matches": list(map(steady, told["matches"]))}


@pytest.fixture(scope="module")
def whole(script: ModuleType, asked: Namespace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the results of a run that had all the time it needs."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    script.go_on(asked, "deep-cfr-geister", 1, folder, lambda: 1e9)
    found: dict[str, Any] = script.told(asked, "deep-cfr-geister", 1, folder)
    return found


def test_every_model_that_is_kept_plays_everybody(whole: dict[str, Any]) -> None:
    assert not whole["left"] and whole["iterations"] == 3 and whole["states"] > 24
    played = [(match["iteration"], match["opponent"]) for match in whole["matches"]]
    assert played == [(2, "random"), (2, "runner"), (3, "random"), (3, "runner")]
    assert all(match["wins"] + match["draws"] + match["losses"] == 6 for match in whole["matches"])
    assert [line["iteration"] for line in whole["metrics"]] == [2]


def test_calls_that_run_out_of_time_come_to_the_same_in_the_end(
    script: ModuleType, asked: Namespace, whole: dict[str, Any], tmp_path: Path
) -> None:
    """A call without any time makes an iteration or plays a match."""
    left = []
    for _ in range(7):
        script.go_on(asked, "deep-cfr-geister", 1, tmp_path / "run", lambda: 0.0)
        left.append(script.told(asked, "deep-cfr-geister", 1, tmp_path / "run")["left"])
    assert left[:2] == [["iterations 2 to 3"], ["iterations 3 to 3", "2 against random", "2 against runner"]]
    assert [len(each) for each in left[2:]] == [4, 3, 2, 1, 0]
    assert without_times(script.told(asked, "deep-cfr-geister", 1, tmp_path / "run")) == without_times(whole)


def test_the_command_goes_on_until_everything_is_done(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Two seeds, each in a process of its own; at first there is only time for an iteration of each."""
    monkeypatch.setattr(
        sys, "argv",
        [str(SCRIPT), str(tmp_path / "out"), *ARGUMENTS[1:], "--seeds", "2", "--runs", str(tmp_path / "runs"),
         "--model", str(tmp_path / "model"), "--minutes", "0"],
    )  # fmt: skip
    script.main()
    first = json.loads((tmp_path / "out" / "results.json").read_text())
    assert not first["complete"] and [run["iterations"] for run in first["runs"]] == [1, 1]
    assert "not everything is done: the same command goes on" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*sys.argv[:-1], "1000"])
    script.main()
    told = json.loads((tmp_path / "out" / "results.json").read_text())
    assert told["complete"] and [run["seed"] for run in told["runs"]] == [1, 2]
    assert [len(run["matches"]) for run in told["runs"]] == [4, 4]
    assert (tmp_path / "model" / "card.json").exists()
    assert "everything is done" in capsys.readouterr().out


def test_a_run_that_fails_is_named_and_the_others_go_on(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "runs" / "deep-cfr-geister-1").mkdir(parents=True)
    (tmp_path / "runs" / "deep-cfr-geister-1" / "config.toml").write_text("nonsense = true\n")
    arguments = [*ARGUMENTS[1:], "--set", "iterations=1", "--seeds", "1", "--runs", str(tmp_path / "runs")]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(tmp_path / "out"), *arguments])
    with pytest.raises(SystemExit, match="1 runs failed: deep-cfr-geister-1"):
        script.main()
    assert "nonsense" in capsys.readouterr().out
