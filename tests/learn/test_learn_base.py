"""The training room: a run keeps any learner going that is registered, as the first stage or as a later one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.learn import base
from vauban.learn.base import NATS, Learner, Metric, Place, StageConfig, in_order, learners, register
from vauban.learn.card import make_model, training_of
from vauban.learn.config import config_text, parse_config
from vauban.learn.curves import Against, curves_svg, make_panels, read_runs
from vauban.learn.journal import read_metrics
from vauban.learn.metrics import find_metric
from vauban.learn.readme import README, readme_text
from vauban.learn.run import Run
from vauban.learn.trainee import Trainee
from vauban.nets.plain import PlainNetwork
from vauban.nets.store import load_model
from vauban.nets.transformer import Size


@dataclass(frozen=True)
class EvenConfig(StageConfig):
    """Settings of the learner below."""

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


# ── What a learner says of itself ────────────────────────────────────────────────────────────────


class Plain(Even):
    """As it could be in another paper: nothing of it is like Ataraxos."""

    about = "regret matching by a network"

    @classmethod
    def limits(cls, facts: Mapping[str, float]) -> list[str]:
        return [f"It kept {len(facts)} facts."]


class Judge(Later):
    """A later algorithm whose last value the card keeps."""

    about = "a judge of what was learned"
    metrics = (
        Metric("later.loss", "Sum of squares.", NATS, "Loss of Later", "judged {:.1f}", drawn=True, kept=True),
        Metric("later.steps", "Its iterations.", title="steps of Later"),
    )


def test_a_page_says_what_the_algorithms_declare_and_nothing_of_others(tmp_path: Path) -> None:
    del base._learners["even"], base._learners["later"]
    register("even")(Plain)
    register("later")(Judge)
    run = Run.begin(parse_config(CONFIG), tmp_path / "run")
    while "later.loss" not in (last := run.iterate()):
        assert run.goes_on()
    run.save()
    card = make_model(tmp_path / "run", tmp_path / "model", "mine")
    page = (tmp_path / "model" / README).read_text(encoding="utf-8")
    assert card["training"]["facts"] == {"later.loss": round(last["later.loss"], 4)}
    assert "| algorithm | regret matching by a network; then a judge of what was learned |" in page
    assert f"| later | judged {last['later.loss']:.1f} |" in page and "* It kept 1 facts." in page
    for word in ("Ataraxos", "belief", "setups, for", "against itself", "search:mine", "stratego"):
        assert word not in page.replace("with the setups there", ""), word
    assert f"vauban exploitability kuhn net:{tmp_path / 'model'}" in page and "tags:\n- kuhn\n" in page


def test_an_algorithm_that_is_not_known_here_is_named_on_the_page(tmp_path: Path) -> None:
    run = Run.begin(parse_config(CONFIG), tmp_path / "run")
    run.iterate()
    run.save()
    card = make_model(tmp_path / "run", tmp_path / "model", "mine")
    del base._learners["even"], base._learners["later"]
    assert "| algorithm | even; then later |" in readme_text(card)


@pytest.mark.parametrize("shown", ["loss {", "loss {:.2q}", "{} of {}", "loss {loss}", "loss"])
def test_a_metric_that_cannot_be_shown_is_refused_when_its_learner_is_registered(shown: str) -> None:
    wrong = type("Wrong", (Even,), {"metrics": (Metric("wrong.loss", "Sum of squares.", shown=shown),)})
    with pytest.raises(ConfigurationError, match="'wrong': its metric 'wrong.loss' cannot be shown as"):
        register("wrong")(wrong)
    assert "wrong" not in base.learners()


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="there is an algorithm 'even' already, Even of"):
        register("even")(Plain)


def test_a_metric_has_one_meaning_whichever_algorithm_reports_it() -> None:
    """Curves, cards and docs/metrics.md find it by its name."""
    declared = [
        (kind.name, each) for kind in learners().values() for each in kind.metrics if "vauban." in kind.__module__
    ]
    for name, each in declared:
        others = [who for who, other in declared if other.name == each.name and other is not each]
        assert not others, f"{name} and {others} declare {each.name} each for itself: share one declaration"


def test_measured_and_declared_must_be_the_same() -> None:
    declared = (Metric("a.one", "One."), Metric("a.two", "Two."))
    measured = {"two": torch.tensor(2.0), "one": torch.tensor(1.0)}
    assert in_order(declared, measured).tolist() == [1, 2]
    with pytest.raises(ConfigurationError, match="not the same: three"):
        in_order(declared, {**measured, "three": torch.tensor(3.0)})
    with pytest.raises(ConfigurationError, match="not the same: two"):
        in_order(declared, {"one": torch.tensor(1.0)})


# ── Where learners come from ─────────────────────────────────────────────────────────────────────


def test_a_package_in_the_room_is_found_by_being_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import vauban.learn

    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "__init__.py").write_text("")
    (tmp_path / "found" / "learner.py").write_text(
        "from test_learn_base import Even\nfrom vauban.learn.base import register\n"
        "@register('found')\nclass Found(Even):\n    pass\n"
    )
    monkeypatch.setattr(vauban.learn, "__path__", [*vauban.learn.__path__, str(tmp_path)])
    monkeypatch.setattr(base, "_loaded", False)
    assert {"ataraxos", "belief", "found"} <= set(base.learners())


def test_installed_packages_offer_learners_and_a_broken_one_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ConfigurationError("'broken' of the package sand cannot be loaded")

    offered = {"offered": lambda: type("Offered", (Even,), {}), "broken": broken, "odd": lambda: 5}
    monkeypatch.setattr(base.door, "entry_points", lambda group: offered if group == "vauban.learners" else {})
    monkeypatch.setattr(base, "_loaded", False)
    monkeypatch.setattr(base, "_failed", {})
    assert base.find_learner("offered").__name__ == "Offered"
    with pytest.raises(ConfigurationError, match="no algorithm 'broken'.*of the package sand cannot be.*'odd' is no"):
        base.find_learner("broken")


def test_a_learner_in_a_file_is_trained_and_resumed_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("from test_learn_base import Even\nclass Mine(Even):\n    pass\nWrong = 5\n")
    text = 'game = "kuhn"\nalgorithms = ["py:mine.py:Mine"]\niterations = 3\n[mine]\nwidth = 4\n'
    config = parse_config(text, ["mine.learning_rate=0.5"])
    assert config.stages == {"mine": EvenConfig(learning_rate=0.5, width=4)}
    assert config.algorithms == (f"py:{tmp_path / 'mine.py'}:Mine",)
    run = Run.begin(config, Path("run"))
    run.iterate()
    run.save()
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert Run.resume(Path("../run")).iterate()["iteration"] == 2
    with pytest.raises(ConfigurationError, match="'py:mine.py:Wrong' is no algorithm: make it a class"):
        monkeypatch.chdir(tmp_path)
        parse_config(text.replace(":Mine", ":Wrong"))
