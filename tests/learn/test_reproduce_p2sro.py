"""The script that measures Pipeline PSRO: it stops in time, goes on where it was, and does nothing twice."""

from __future__ import annotations

import importlib.util
import json
from argparse import Namespace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from vauban.learn.population import read_population

SCRIPT = Path(__file__).parents[2] / "scripts" / "reproduce_p2sro.py"
ARGUMENTS = [
    "sac", "population", "matches", "responses", "--device", "cpu", "--game", "kuhn", "--setups", "none",
    "--preset", "psro-leduc", "--train", "0", "--set", "iterations=6", "--set", "psro.ppo.games=64",
    "--set", "psro.neural.episodes=64", "--set", "psro.plateau.least=1", "--against", "random", "--games", "40",
    "--to", "random", "population", "--response-preset", "ppo-kuhn", "--respond", "0", "--response-games", "512",
    "--set-response", "iterations=2", "--set-response", "ppo.rounds=1", "--sac-preset", "sac-kuhn",
    "--set-sac", "sac.start=64", "--updates", "8",
]  # fmt: skip


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduce_p2sro", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Clock:
    """Seconds of a call that are left: so many fewer whenever it is looked at."""

    def __init__(self, seconds: float, a_look: float) -> None:
        self.seconds, self.a_look = seconds, a_look

    def __call__(self) -> float:
        self.seconds -= self.a_look
        return self.seconds


def asked_for(script: ModuleType, folder: Path) -> Namespace:
    found: Namespace = script._parser().parse_args([str(folder), *ARGUMENTS])
    return found


def test_calls_that_are_short_come_to_everything_and_do_nothing_twice(script: ModuleType, tmp_path: Path) -> None:
    asked = asked_for(script, tmp_path)
    assert not script.go_on(asked, lambda: -1.0)
    assert not list(tmp_path.iterdir())
    calls, reached = 0, [0]
    while not script.go_on(asked, Clock(100.0 + 20.0 * calls, 15.0)):
        calls += 1
        reached.append(read_population(tmp_path / "runs" / "population").updates)
        assert calls < 20
    assert calls > 1 and reached == sorted(reached) and 0 < reached[1] < 6
    found: dict[str, Any] = json.loads((tmp_path / "results.json").read_text())
    assert found["sac"]["sac-kuhn"]["updates"] >= 8 and found["sac"]["sac-kuhn"]["updates_per_second"] > 0
    population = found["population"]["psro-leduc"]
    assert population["over"] and population["updates"] == 6
    assert population["gains_of_new_responses"] and population["entries"] > 0
    assert sum(each["chance"] for each in population["policies"]) == pytest.approx(1)
    assert found["matches"]["random after 6 updates"]["games"] == 40
    assert set(found["responses"]) == {"random", "population"}
    assert found["responses"]["random"]["score"] > 0 and found["responses"]["random"]["margin"] < 0.3
    assert script.go_on(asked, Clock(1e6, 1.0))
    assert json.loads((tmp_path / "results.json").read_text())["matches"] == found["matches"]
