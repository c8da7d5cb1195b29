"""`vauban best-response`: what it prints and draws, how it is resumed, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from vauban.agents.net import NetAgent, NetOptions
from vauban.cli.main import app
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import game
from vauban.learn.card import load_trained
from vauban.learn.config import load_config
from vauban.learn.response import Sample, SeatScores, course, course_svg
from vauban.learn.run import run_config

SMALL = ["--set", "ppo.games=64", "--set", "iterations=3", "--set", "ppo.rounds=1"]


def told(*words: str) -> str:
    result = CliRunner().invoke(app, ["best-response", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_it_trains_measures_and_says_what_is_best(tmp_path: Path) -> None:
    run = tmp_path / "run"
    said = " ".join(told("uniform", "--game", "kuhn", *SMALL, "--out", str(run), "--games", "400").split())
    assert "measured 4" in said and "a lower bound of exploitability" in said
    assert "a best response gains 0.458333" in said and "% of it" in said
    picture = ElementTree.parse(run / "response.svg").getroot()
    assert "exact best response 0.4583" in "".join(picture.itertext())
    assert NetAgent(NetOptions(model=str(run))).check_plays(game("kuhn")) is None
    card = load_trained(run / "model").card
    assert "ppo" in card["training"]["configuration"] and "opponents=" in card["training"]["command"]


def test_its_last_line_is_an_object_with_score_interval_seconds_and_episodes_of_both_seats(tmp_path: Path) -> None:
    arguments = ["--set", "sac.games=64", "--set", "iterations=3", "--set", "sac.start=50", "--set", "sac.rounds=1"]
    words = ["uniform", "first", "--weight", "1", "--weight", "3", "--game", "kuhn", "--oracle", "sac", *arguments]
    found = json.loads(told(*words, "--out", str(tmp_path / "run"), "--games", "4000", "--json").splitlines()[-1])
    assert found["agents"] == ["uniform", "first"] and found["oracle"] == "sac" and found["episodes"] == 192
    low, high = found["interval"]
    assert low < found["score"] < high and found["seconds"] > 0
    assert found["score"] == pytest.approx((found["first"]["score"] + found["second"]["score"]) / 2)
    for seat in ("first", "second"):
        below, above = found[seat]["interval"]
        assert below < found[seat]["score"] < above and found[seat]["games"] > 100
    exact = found["exact"]
    assert low - 0.1 < exact["score"] < high + 0.1, "the mixture of the tree is the one that plays"
    assert exact["best"] == pytest.approx(sum(exact["best_responses"]) / 2)
    assert exact["share"] == pytest.approx(exact["score"] / exact["best"])
    assert sum(each["episodes"] > 0 for each in found["course"]) == 3


def test_a_run_is_resumed_with_the_agents_that_it_has(tmp_path: Path) -> None:
    run = tmp_path / "run"
    told("uniform", "--game", "kuhn", *SMALL, "--out", str(run), "--games", "64", "--seed", "7")
    found = json.loads(
        told("--resume", str(run), "--set", "iterations=5", "--games", "64", "--json").splitlines()[-1]
    )  # fmt: skip
    assert found["episodes"] == 5 * 64 and found["seed"] == 7
    assert run_config(run).stages["ppo"].opponents == ("uniform",)  # type: ignore[attr-defined]


def test_too_few_games_for_an_interval_have_none(tmp_path: Path) -> None:
    words = ["--set", "ppo.games=1", "--set", "iterations=1", "--set", "ppo.rounds=1", "--games", "2", "--json"]
    found = json.loads(told("uniform", "--game", "kuhn", *words, "--out", str(tmp_path / "run")).splitlines()[-1])
    assert found["course"][0]["interval"] is None and found["episodes"] == 1


def test_a_run_that_was_over_before_its_first_iteration_has_what_was_measured() -> None:
    measured = SeatScores(Sample.of([1.0, 0.0, 1.0]), Sample.of([0.0, -1.0, 0.0]))
    picture = ElementTree.fromstring(course_svg("Response to nobody", course([], 12), measured))
    assert "The score ends at 0.1667" in "".join(picture.itertext())


def test_where_nothing_is_exact_it_says_why(tmp_path: Path) -> None:
    words = ["uniform", "--game", "kuhn", *SMALL, "--out", str(tmp_path / "run"), "--games", "64", "--limit", "10"]
    said = " ".join(told(*words).split())
    assert "a best response gains" not in said
    found = json.loads(told("--resume", str(tmp_path / "run"), "--limit", "10", "--json").splitlines()[-1])
    assert found["exact"] is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name the agent and its game"),
        (["uniform"], "name the agent and its game"),
        (["uniform", "--game", "kuhn", "--oracle", "q"], "--oracle is ppo or sac, not 'q'"),
        (["uniform", "--game", "kuhn", "--preset", "rnad-kuhn"], "'rnad' plays against itself"),
        (["uniform", "--game", "kuhn", "--weight", "1", "--weight", "2"], "2 for 1 opponents"),
        (["charger", "--game", "kuhn"], "plays Stratego, not 'kuhn'"),
        (["uniform", "--resume", "runs/none"], "knows its agents and its game"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(words: list[str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(VaubanError, match=sentence):
        CliRunner().invoke(app, ["best-response", *words, "--out", str(tmp_path / "run")], catch_exceptions=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("preset", ["ppo-kuhn", "sac-kuhn"])
def test_presets_have_the_algorithm_of_their_name(preset: str) -> None:
    assert list(load_config(preset).stages) == [preset.partition("-")[0]]


def test_trains_refusal_of_an_opponent_names_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nobodyy"):
        CliRunner().invoke(
            app, ["train", "ppo-kuhn", "--set", 'ppo.opponents=["nobodyy"]', "--out", str(tmp_path / "run")],
            catch_exceptions=False,
        )  # fmt: skip
