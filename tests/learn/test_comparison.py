"""Comparisons of learners: the same time for all, several seeds, one page."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.agents.net import NetAgent
from vauban.agents.tables import tabulated
from vauban.arena.comparison import comparison_html, interval_text, mean_interval, spread, summarise
from vauban.charts import PowerScale, power_text
from vauban.cli.main import app
from vauban.errors import ConfigurationError
from vauban.learn.comparison import Contest, Stopwatch, contests, read_points
from vauban.learn.journal import read_metrics
from vauban.solve import build_tree, evaluate

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
    assert interval_text(0.1, 0.3, "exploitability") == "0.1000 (0.0000 … 0.4000)"  # it is never below 0
    assert interval_text(0.1, 0.3, "response") == "0.1000 (−0.2000 … 0.4000)"
    assert interval_text(-12.0, None, "elo") == "−12"


def test_the_page_and_the_figures_have_every_learner_seed_and_measurement(presets: list[str]) -> None:
    options = ["--seconds", "0.3", "--seeds", "2", "--points", "2", "--out", "both", "--device", "cpu"]
    comparison = json.loads(told(*presets, *options, "--json").splitlines()[-1])
    assert [each["name"] for each in comparison["learners"]] == ["slow", "quick"]
    for learner in comparison["learners"]:
        assert [run["seed"] for run in learner["runs"]] == [1, 2]
        for run in learner["runs"]:
            last = run["points"][-1]
            assert last["number"] == 2 and last["seconds"] >= 0.3 and last["games"] == 16 * last["iteration"]
            assert 0 < last["measured"]["nash_conv"] < 2
        ends = [run["points"][-1]["measured"]["nash_conv"] for run in learner["runs"]]
        assert learner["curves"]["exploitability"][-1]["mean"] == pytest.approx(sum(ends) / 4)  # half of NashConv
    page, picture = Path("both/index.html").read_text(), Path("both/comparison.svg").read_text()
    for drawn in (page, picture):  # curves for each learner, against seconds and games, and one for each seed
        assert drawn.count('stroke-width="2.5"') == 4 and drawn.count('class="seed"') == 8 and "quick" in drawn
        assert "<script" not in drawn and "http" not in drawn.replace("http://www.w3.org/2000/svg", "")

    # The same command trains nothing more; another time is refused; seeds and learners may be added.
    before = {path: path.read_bytes() for path in Path("both").glob("*/points.jsonl")}
    assert len(before) == 4
    again = json.loads(told(*presets, *options, "--json").splitlines()[-1])
    assert again["learners"] == comparison["learners"]
    with pytest.raises(ConfigurationError, match=r"another comparison in both \(seconds 0.3 and not 0.5\)"):
        told(*presets, *options, "--seconds", "0.5")
    more = json.loads(told(*presets, *options, "--seeds", "3", "--json").splitlines()[-1])
    assert [[run["seed"] for run in each["runs"]] for each in more["learners"]] == [[1, 2, 3], [1, 2, 3]]
    assert {path: path.read_bytes() for path in before} == before


def test_a_comparison_that_was_killed_goes_on_from_its_last_measurement(presets: list[str], tmp_path: Path) -> None:
    contest = Contest("quick.toml", 1, tmp_path / "quick-1", 1.5, 3)
    measured = []

    def killed(folder: Path, number: int) -> dict[str, float]:
        measured.append(folder)
        if len(measured) > 1:
            raise KeyboardInterrupt
        return {"nash_conv": 1.0}

    with pytest.raises(KeyboardInterrupt):
        contest.train(killed)
    first = read_points(contest.folder)
    assert len(first) == 1
    points = contest.train(lambda folder, number: {"nash_conv": 0.5})
    assert points[0] == first[0] and points[-1].number == 3
    assert [point.number for point in points] == sorted({point.number for point in points})
    iterations = [line["iteration"] for line in read_metrics(contest.folder)]
    assert iterations == list(range(1, len(iterations) + 1))  # none lost, none counted twice


def test_a_model_is_measured_by_what_a_player_gains_that_learns_to_beat_it(presets: list[str]) -> None:
    # Both hardly learn, and play about evenly: whoever knows that gains some 0.4 chips a game.
    options = ["--seconds", "0.2", "--seeds", "1", "--points", "4", "--out", "beaten", "--device", "cpu"]
    options += ["--response", "2.5", "--responses", "2", "--games", "4000"]
    comparison = json.loads(told("slow.toml", *options, "--json").splitlines()[-1])
    points = comparison["learners"][0]["runs"][0]["points"]
    assert [point["number"] for point in points if "response" in point["measured"]] == [2, 4]
    gained = points[-1]["measured"]["response"]
    assert 0.2 < gained < 0.46 and points[-1]["measured"]["response.margin"] < 0.1
    assert comparison["learners"][0]["curves"]["response"][-1]["mean"] == gained
    model = make_agent("net:beaten/slow-1")
    assert isinstance(model, NetAgent)
    tree = build_tree("kuhn")
    assert gained < evaluate(tree, tabulated(tree, model)).exploitability + points[-1]["measured"]["response.margin"]
    page = Path("beaten/index.html").read_text()
    assert "a lower bound of exploitability" in page and "Each learns for 2.5 seconds, by ppo." in page
    with pytest.raises(ConfigurationError, match="at no more than all 4 measurements"):
        told("slow.toml", *options, "--responses", "5")


def test_learners_that_work_elsewhere_are_refused(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('game = "kuhn"\nalgorithms = ["psro"]\n[psro.spread]\nprocesses = 2\n')
    with pytest.raises(ConfigurationError, match="counts the seconds of one"):
        contests([str(own)], 1, tmp_path, 1.0, 1)


def test_learners_that_play_no_games_are_not_drawn_against_games(tmp_path: Path) -> None:
    point = {"number": 1, "iteration": 3, "seconds": 1.0, "games": 0.0, "moves": 6.0, "measured": {"nash_conv": 0.5}}
    runs = [{"seed": 1, "points": [point, {**point, "number": 2, "seconds": 2.0, "measured": {"nash_conv": 0.001}}]}]
    played = [{"seed": 1, "points": [{**each, "games": 1e4 * each["number"]} for each in runs[0]["points"]]}]
    comparison: dict[str, Any] = {
        "settings": {"opponents": [], "games": 2, "response": 0},
        "learners": [{"name": "exact", "runs": runs}, {"name": "neural", "runs": played}],
    }
    page = comparison_html(summarise(comparison), "Two", {})
    seconds, _, games = page.partition("<h2>Exploitability against games played")
    assert "from 0.2500 to 0.0005" in seconds and "exact: from" in seconds
    assert "exact: from" not in games and "Not drawn, since no games are played: exact." in games


def test_a_scale_of_powers_has_round_numbers_at_equal_ratios() -> None:
    scale = PowerScale(0.008, 1.2, 300, 0)
    assert [power_text(tick) for tick in scale.ticks] == ["0.01", "0.03", "0.1", "0.3", "1"]
    steps = [scale.at(each) for each in (1, 0.1, 0.01)]
    assert steps[1] - steps[0] == pytest.approx(steps[2] - steps[1]) and scale.at(0) == scale.at(0.008) == 300
    assert [power_text(tick) for tick in (2e-5, 2e4, 1e6)] == ["2e−5", "20 k", "1 M"]


def test_labels_are_moved_apart_and_stay_within_the_drawing() -> None:
    assert spread([10, 50, 90], 17, 0, 100) == [10, 50, 90]
    assert spread([10, 12, 14], 17, 0, 100) == [10, 27, 44]
    assert spread([90, 95, 99], 17, 0, 100) == [66, 83, 100]


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
        "settings": {"opponents": ["random", "fox"], "games": 100, "response": 0},
        "learners": [{"name": "a", "runs": [run(0.5, 0.9)]}, {"name": "b", "runs": [run(0.5, 0.6)]}],
    }
    summarise(comparison)
    a, b = ([point["mean"] for point in each["curves"]["elo"]] for each in comparison["learners"])
    assert a[0] == pytest.approx(b[0], abs=1e-6) and a[1] > b[1] > b[0]
    assert comparison["ratings"]["random"] == 0 and comparison["ratings"]["fox"] > 100
    page = comparison_html(comparison, "Two", {"date": "today"})
    assert "Elo against seconds" in page and "random 0" in page.replace("+", "")
