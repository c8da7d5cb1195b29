"""The script that compares learners on a GPU: its learners are there, and its comparisons go on."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from test_learn_workers import ENVIRONMENT

from vauban.learn.comparison import contests

SCRIPT = Path(__file__).parents[2] / "scripts" / "compare_learners.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_learners", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare_learners"] = module  # its dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("part", ["micro", "geister", "barrage"])
def test_every_learner_of_a_part_is_there_and_can_be_compared(part: str, script: ModuleType, tmp_path: Path) -> None:
    given = argparse.Namespace(out=tmp_path, learners=None, seconds=6.0, seeds=2, device="cpu")
    words = script.command_of(part, given)
    options = dict(pairwise(words))
    learners = words[2 : words.index("--game")]
    assert len(learners) == len(script.PARTS[part].learners)
    rules = [f"rules={options['--rules']}"] if "--rules" in options else []
    changes = [f"game={options['--game']}", *rules]
    made = contests(learners, 1, tmp_path, 1.0, 1, changes, "cuda")
    assert {each.config.algorithms[0] for each in made} >= {"ataraxos", "rnad", "psro"}
    shortened = script.PARTS[part].response * 6 / script.PARTS[part].seconds
    assert options.get("--response", "0") == f"{shortened:g}" and options["--seconds"] == "6"


@pytest.mark.slow
def test_a_part_goes_through_and_is_not_done_again(tmp_path: Path) -> None:
    words = [
        sys.executable,
        str(SCRIPT),
        str(tmp_path),
        "geister",
        "--device",
        "cpu",
        "--seconds",
        "0.5",
        "--seeds",
        "1",
    ]
    words += ["--learners", "psro-leduc-exact", "rnad-geister-33b"]
    subprocess.run(words, check=True, env=ENVIRONMENT)
    page = tmp_path / "geister" / "index.html"
    assert "psro-leduc-exact" in page.read_text()
    points = {path: path.read_bytes() for path in tmp_path.glob("geister/*/points.jsonl")}
    assert len(points) == 2
    page.unlink()
    subprocess.run(words, check=True, env=ENVIRONMENT)
    assert page.exists() and {path: path.read_bytes() for path in points} == points
