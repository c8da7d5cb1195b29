"""Learning something on a laptop, as a newcomer would: the preset laptop, start to end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vauban.learn.journal import read_metrics


def vauban(*arguments: str) -> dict[str, Any]:
    """Run a command; its JSON."""
    command = [sys.executable, "-m", "vauban", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.slow
def test_laptop_beats_random_after_as_many_iterations_as_four_minutes_have(tmp_path: Path) -> None:
    """Two cores of a shared machine take about two and a half seconds an iteration; slower ones may take longer."""
    run = tmp_path / "run"
    last = vauban("train", "laptop", "--out", str(run), "--device", "cpu", "--minutes", "0", "--set", "iterations=96")
    match = vauban(
        "match", f"net:{run}", "random", "--game", "medium", "--setups", "own", "--games", "400", "--seed", "1"
    )
    print(f"{match['score']:.1%} after {last['minutes']:.1f} minutes")
    assert match["score"] >= 0.85
    scored = [line for line in read_metrics(run) if "score.random" in line]
    assert scored[-1]["score.random"] > scored[0]["score.random"], "it is seen to learn while it runs"
