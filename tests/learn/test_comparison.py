"""Comparisons of learners: the same time for all, several seeds, one page."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from vauban.arena.comparison import comparison_html, interval_text, mean_interval, summarise
from vauban.cli.main import app
from vauban.errors import ConfigurationError
from vauban.learn.comparison import Contest, Stopwatch, contests, read_points
from vauban.learn.journal import read_metrics

TINY = """
game = "kuhn"
algorithms = ["rnad"]
[rnad]
games = 16
chunk = 64
steps = 1
durations = [10]
counts = []
[rnad.network]
kind = "plain"
depth = 1
width = 8
heads = 1
"""


@pytest.fixture
def presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return two learners that differ in their rate, in a folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    for name, rate in (("slow", 1e-5), ("quick", 1e-3)):
        (tmp_path / f"{name}.toml").write_text(TINY.replace("steps = 1", f"steps = 1\nlearning_rate = {rate}"))
    return ["slow.toml", "quick.toml"]


def told(*arguments: str) -> str:
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["compare", *arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_a_stopwatch_stands_still_while_a_run_is_measured() -> None:
    now = 10.0
    watch = Stopwatch(torch.device("cpu"), lambda: now)
    begun = watch()
    now += 2
    with watch.paused():
        now += 30
        assert watch() - begun == 2
    now += 1
    assert watch() - begun == 3


def test_an_interval_over_seeds_is_students() -> None:
    mean, reach = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2 and reach == pytest.approx(4.303 / math.sqrt(3), abs=1e-9)
    assert mean_interval([1.5]) == (1.5, None)
    assert interval_text(0.1, 0.3, "nash_conv") == "0.1000 (0.0000 … 0.4000)"  # NashConv is never below 0
    assert interval_text(-12.0, None, "elo") == "−12"


def test_the_page_and_the_figures_have_every_learner_seed_and_measurement(presets: list[str]) -> None:
    options = ["--seconds", "0.3", "--seeds", "2", "--points", "2", "--out", "both", "--device", "cpu"]
    comparison = json.loads(told(*presets, *options, "--json").splitlines()[-1])
    assert [each["name"] for each in comparison["learners"]] == presets
    for learner in comparison["learners"]:
        assert [run["seed"] for run in learner["runs"]] == [1, 2]
        for run in learner["runs"]:
            last = run["points"][-1]
            assert last["number"] == 2 and last["seconds"] >= 0.3 and last["games"] == 16 * last["iteration"]
            assert 0 < last["measured"]["nash_conv"] < 2
        ends = [run["points"][-1]["measured"]["nash_conv"] for run in learner["runs"]]
        assert learner["curve"][-1]["mean"] == pytest.approx(sum(ends) / 2)
    page = Path("both/index.html").read_text()
    assert page.count("<polyline") == 4 and "quick.toml" in page  # a curve for each learner, against seconds and games
    assert "<script" not in page and "http" not in page.replace("http://www.w3.org/2000/svg", "")

    # The same command trains nothing more; another one is refused.
    before = {path: path.read_bytes() for path in Path("both").glob("*/points.jsonl")}
    assert len(before) == 4
    again = json.loads(told(*presets, *options, "--json").splitlines()[-1])
    assert again["learners"] == comparison["learners"]
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(ConfigurationError, match=r"another comparison in both \(seeds 2 and not 3\)"):
        told(*presets, *options, "--seeds", "3")


def test_a_comparison_that_was_killed_goes_on_from_its_last_measurement(presets: list[str], tmp_path: Path) -> None:
    contest = Contest("quick.toml", 1, tmp_path / "quick-1", 1.5, 3)
    measured = []

    def killed(folder: Path) -> dict[str, float]:
        measured.append(folder)
        if len(measured) > 1:
            raise KeyboardInterrupt
        return {"nash_conv": 1.0}

    with pytest.raises(KeyboardInterrupt):
        contest.train(killed)
    first = read_points(contest.folder)
    assert len(first) == 1
    points = contest.train(lambda folder: {"nash_conv": 0.5})
    assert points[0] == first[0] and points[-1].number == 3
    assert [point.number for point in points] == sorted({point.number for point in points})
    iterations = [line["iteration"] for line in read_metrics(contest.folder)]
    assert iterations == list(range(1, len(iterations) + 1))  # none lost, none counted twice


def test_learners_of_different_games_are_refused(presets: list[str], tmp_path: Path) -> None:
    Path("other.toml").write_text(TINY.replace("kuhn", "leduc"))
    with pytest.raises(ConfigurationError, match=r"slow.toml learns kuhn, and other.toml learns leduc: name the game"):
        contests(["slow.toml", "other.toml"], 1, tmp_path, 1.0, 1)
    assert {each.config.game for each in contests(["slow.toml", "other.toml"], 1, tmp_path, 1.0, 1, ["game=kuhn"])} == {
        "kuhn"
    }
    with pytest.raises(ConfigurationError, match="slow is named twice"):
        contests(["slow.toml", "slow.toml"], 1, tmp_path, 1.0, 1)


def test_models_are_rated_by_their_scores_against_opponents() -> None:
    def run(*scores: float) -> dict[str, object]:
        points = [
            {"number": number, "iteration": number, "seconds": 1.0 * number, "games": 10.0, "moves": 20.0,
             "measured": {"score.random": score, "score.fox": score / 2}}
            for number, score in enumerate(scores, 1)
        ]  # fmt: skip
        return {"seed": 1, "points": points}

    comparison: dict[str, Any] = {
        "settings": {"opponents": ["random", "fox"], "games": 100},
        "learners": [{"name": "a", "runs": [run(0.5, 0.9)]}, {"name": "b", "runs": [run(0.5, 0.6)]}],
    }
    summarise(comparison)
    a, b = ([point["mean"] for point in learner["curve"]] for learner in comparison["learners"])
    assert a[0] == pytest.approx(b[0], abs=1e-6) and a[1] > b[1] > b[0]
    assert comparison["ratings"]["random"] == 0 and comparison["ratings"]["fox"] > 100
    page = comparison_html(comparison, "Two", {"date": "today"})
    assert "Elo against seconds" in page and "random 0" in page.replace("+", "")
