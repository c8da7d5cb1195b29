"""Learning something on a laptop, as a newcomer would: the preset laptop, start to end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


def vauban(*arguments: str) -> dict[str, Any]:
    """Run a command; its JSON."""
    command = [sys.executable, "-m", "vauban", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.slow
def test_laptop_beats_random_after_less_than_five_minutes(tmp_path: Path) -> None:
    run = tmp_path / "run"
    begun = time.perf_counter()
    vauban("train", "laptop", "--out", str(run), "--device", "cpu")
    minutes = (time.perf_counter() - begun) / 60
    match = vauban(
        "match", f"net:{run}", "random", "--game", "medium", "--setups", "own", "--games", "400", "--seed", "1"
    )
    print(f"{match['score']:.1%} after {minutes:.1f} minutes")
    assert match["score"] >= 0.85
    assert minutes < 5
