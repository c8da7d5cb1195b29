"""The training room: a run keeps any learner going that is registered, as the first stage or as a later one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from vauban.games.base import Game
from vauban.learn import base
from vauban.learn.base import NATS, Learner, Metric, Place, StageConfig, register
from vauban.learn.card import training_of
from vauban.learn.config import config_text, parse_config
from vauban.learn.curves import Against, curves_svg, make_panels, read_runs
from vauban.learn.journal import read_metrics
from vauban.learn.metrics import find_metric
from vauban.learn.run import Run
from vauban.learn.trainee import Trainee
from vauban.nets.plain import PlainNetwork
from vauban.nets.store import load_model
from vauban.nets.transformer import Size


@dataclass(frozen=True)
class EvenConfig(StageConfig):
    """How the learner below learns."""

    learning_rate: float = 0.1
    width: int = 8


class Even(Learner):
    """Learns, in each iteration by a step, to prefer nothing: the sum of its outputs' squares falls."""

    config = EvenConfig
    metrics = (Metric("even.loss", "Sum of squares.", NATS, "Loss of Even", "loss {:.2f}", drawn=True, kept=True),)
    tables = {"even": ""}  # noqa: RUF012
    player = "even"

    def __init__(self, game: Game, config: EvenConfig, place: Place) -> None:
        self.settings, self.iteration, self.followed = config, 0, []
        self.size = Size(1, config.width, 1)
        with torch.random.fork_rng():
            torch.manual_seed(place.seed)
            self.trainee = Trainee(PlainNetwork(game, self.size), place.device, place.workers)
        self.networks = {self.part: self.trainee}
        self.momentum = torch.zeros(1)

    part = "even"

    def follow(self, networks: Mapping[str, Trainee[Any]]) -> None:
        self.followed = list(networks)

    def iterate(self) -> dict[str, float]:
        self.iteration += 1
        self.momentum += 1
        seen = torch.ones(4, 1, self.trainee.working.embed.in_features)
        loss = self.trainee.working(seen)[0].square().sum()
        self.trainee.step(loss, self.settings.learning_rate, 1.0)
        self.trainee.update_average(0.5)
        return {f"{self.part}.loss": loss.item(), **({self.clock: float(self.iteration)} if self.followed else {})}

    def state(self) -> dict[str, Any]:
        return {"momentum": self.momentum.clone()}

    def load_state(self, state: Mapping[str, Any], missing: str = "it is not there") -> list[str]:
        if "momentum" not in state:
            return [f"momentum: {missing}, so it begins anew"]
        self.momentum = state["momentum"]
        return []


class Later(Even):
    """The same as a later stage, with a network, a clock and a metric of its own."""

    metrics = (
        Metric("later.loss", "Sum of squares.", NATS, "Loss of Later", drawn=True),
        Metric("later.steps", "Its iterations.", title="steps of Later"),
    )
    tables = {"later": ""}  # noqa: RUF012
    clock, part, player = "later.steps", "later", ""


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    """Both learners are known as long as a test runs."""
    base.learners()
    before = dict(base._learners)
    register("even")(Even)
    register("later")(Later)
    yield
    base._learners.clear()
    base._learners.update(before)


CONFIG = 'game = "kuhn"\nalgorithms = ["even", "later"]\niterations = 3\n[even]\nwidth = 4\n[later]\nminutes = 60.0\n'


def test_a_run_keeps_any_learner_going_and_resumes_it_to_the_same_numbers(tmp_path: Path) -> None:
    whole = Run.begin(parse_config(CONFIG), tmp_path / "whole")
    expected = []
    while len(expected) < 5 and whole.goes_on():
        expected.append({name: each for name, each in whole.iterate().items() if not name.endswith("minutes")})
    assert ["later.loss" in line for line in expected] == [False, False, False, True, True]
    assert expected[0]["even.loss"] > expected[2]["even.loss"]
    assert whole.stages[1].learner.followed == ["even"], "a later stage is handed the networks before it"
    run = Run.begin(parse_config(CONFIG), tmp_path / "run")
    for _ in range(4):
        assert run.goes_on()
        run.iterate()
    run.save()
    again = Run.resume(tmp_path / "run")
    assert not again.notes and float(again.first.momentum) == 3
    assert again.goes_on()
    assert {name: each for name, each in again.iterate().items() if not name.endswith("minutes")} == expected[4]
    assert [line.get("later.steps", 0) for line in read_metrics(tmp_path / "run")] == [0, 0, 0, 1, 2]
    (tmp_path / "run" / "checkpoint" / "even.momentum.pt").unlink()
    assert Run.resume(tmp_path / "run").notes == ["momentum: it is not in the checkpoint, so it begins anew"]


def test_its_networks_are_a_model_whose_card_says_which_plays(tmp_path: Path) -> None:
    run = Run.begin(parse_config(CONFIG), tmp_path / "run")
    run.iterate()
    run.save()
    model = load_model(tmp_path / "run")
    assert (list(model.networks), model.card["plays"]) == (["even"], "even")
    assert torch.equal(model.player.policy.weight, run.trainees()["even"].average.policy.weight)
    other = Run.begin(parse_config(CONFIG), tmp_path / "other", model=model)
    assert other.notes == ["it goes on from the networks of 'run', after iteration 0"]


def test_what_it_declares_is_known_wherever_metrics_are_shown(tmp_path: Path) -> None:
    run = Run.begin(parse_config(CONFIG), tmp_path / "run")
    while "later.loss" not in run.iterate():
        assert run.goes_on()
    found = find_metric("even.loss")
    assert found is not None and found.meaning == "Sum of squares."
    read = read_runs([tmp_path / "run"])
    panels = make_panels(read, Against.ITERATIONS)
    drawn = [(panel.title, panel.against) for panel in panels]
    assert drawn == [("Loss of Even", "iteration"), ("Loss of Later", "later.steps")]
    assert "steps of Later" in curves_svg(read, panels)
    run.save()
    curve = training_of(tmp_path / "run").curve
    assert [row["iteration"] for row in curve] == [1, 2, 3] and curve[0]["loss"] > curve[2]["loss"]


def test_a_configuration_is_written_back_with_the_tables_of_all_its_algorithms() -> None:
    config = parse_config(CONFIG, ["even.learning_rate=0.5"])
    assert parse_config(config_text(config)) == config
    assert config.stages["even"] == EvenConfig(learning_rate=0.5, width=4)


def test_two_stages_that_train_a_network_of_one_name_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(Later, "part", "even")
    run = Run.begin(parse_config(CONFIG, ["iterations=1"]), tmp_path / "run")
    run.iterate()
    assert run.goes_on()
    with pytest.raises(ValueError, match="train a network 'even'"):
        run.iterate()
