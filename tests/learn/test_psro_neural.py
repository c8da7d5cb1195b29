"""Populations of networks: updates, entries, copies, processes killed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from vauban.agents import make_agent
from vauban.agents.opponents import Opponents
from vauban.agents.tables import tabulated
from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.learn.best_response.oracle import OracleConfig
from vauban.learn.best_response.ppo import PPOConfig
from vauban.learn.best_response.sac import SACConfig
from vauban.learn.config import load_config
from vauban.learn.networks import NetworkTable
from vauban.learn.opponents import NetworksPlayer
from vauban.learn.population import read_population
from vauban.learn.presets import presets
from vauban.learn.psro.ledger import SqliteLedger
from vauban.learn.psro.neural import TRAINING, NeuralConfig, NeuralWorkshop
from vauban.learn.psro.pipeline import Pipeline, Plateau
from vauban.learn.psro.schemes import find_scheme
from vauban.learn.psro.workshop import Checkpoint, Job, Trained, Wanted
from vauban.learn.run import Run
from vauban.nets.move import MoveNetworkConfig
from vauban.nets.store import load_model
from vauban.nets.transformer import Size
from vauban.solve import build_tree, evaluate
from vauban.solve.meta import MetaSolver
from vauban.solve.policies import joined

CPU = torch.device("cpu")
SMALL = NetworkTable(MoveNetworkConfig(Size(1, 16, 1)), "plain")
ORACLES: dict[str, OracleConfig] = {
    "ppo": PPOConfig(network=SMALL, games=64, batch=128, epochs=2),
    "sac": SACConfig(network=SMALL, games=64, capacity=2000, start=50, updates=2, batch=64),
}
NEW = Checkpoint(0, 0)


def make_workshop(folder: Path, oracle: str = "ppo", **settings: Any) -> NeuralWorkshop:
    folder.mkdir(parents=True, exist_ok=True)
    return NeuralWorkshop(
        game("kuhn"), oracle, ORACLES[oracle], folder, CPU, NeuralConfig(**{"episodes": 100, "games": 0, **settings})
    )  # fmt: skip


def job(policy: Checkpoint, warm: bool = False, opponents: Sequence[Checkpoint] = (NEW,)) -> Job:
    return Job(policy, list(opponents), np.full(len(opponents), 1 / len(opponents)), warm, (1, 2, *policy))


def weights(folder: Path, part: str = "move") -> dict[str, torch.Tensor]:
    return dict(load_model(folder).networks[part].state_dict())


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


# ── Updates ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("oracle", ORACLES)
def test_an_update_done_again_comes_to_the_same_and_goes_on_from_the_one_before(oracle: str, tmp_path: Path) -> None:
    made = []
    for name in ("one", "other"):
        workshop = make_workshop(tmp_path / name, oracle)
        for number in (0, 1):
            workshop.begin(number, None, (1, 3, number))
        found = [workshop.train([job(Checkpoint(1, version))])[0] for version in (0, 1)]
        made.append((found, weights(tmp_path / name / "0001-2")))
    assert made[0][0] == made[1][0] and same(made[0][1], made[1][1])
    # 64 games a round, so 128 for each update; a decision or two in each.
    assert [each.episodes for each in made[0][0]] == [128, 128] and 128 <= made[0][0][0].steps <= 256
    state = torch.load(tmp_path / "one" / "0001-2" / TRAINING, weights_only=True)
    assert state["progress"]["games"] == 256 and state["networks"]["move"]["optimiser"]["state"]
    if oracle == "sac":
        assert state["state"]["replay"]["seen"] == sum(each.steps for each in made[0][0])
    assert not same(weights(tmp_path / "one" / "0001-0"), weights(tmp_path / "one" / "0001-1"))
    assert not same(weights(tmp_path / "one" / "0000-0"), weights(tmp_path / "one" / "0001-0"))


def test_the_performance_is_the_mean_reward_of_the_latest_games(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path, episodes=640, remembered=640)
    for number in (0, 1):
        workshop.begin(number, None, (1, 3, number))
    told = workshop.train([job(Checkpoint(1, 0))])[0]
    progress = torch.load(tmp_path / "0001-1" / TRAINING, weights_only=True)["progress"]
    assert told.performance == pytest.approx(progress["reward_sum"] / 640)
    assert abs(told.performance) < 0.5


def test_a_policy_explores_as_long_as_it_is_said_to_be_warm(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path, "sac")
    for number in (0, 1):
        workshop.begin(number, None, (1, 3, number))
    for version, warm in enumerate((True, False)):
        workshop.train([job(Checkpoint(1, version), warm)])
        progress = torch.load(tmp_path / f"0001-{version + 1}" / TRAINING, weights_only=True)["progress"]
        assert progress["warm"] == warm


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_copy_has_its_parents_networks_and_nothing_else_of_it(oracle: str, tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path, oracle)
    for number in (0, 1):
        workshop.begin(number, None, (1, 3, number))
    workshop.train([job(Checkpoint(1, 0))])
    workshop.begin(2, Checkpoint(1, 1), (1, 3, 2))
    for part in load_model(tmp_path / "0001-1").networks:
        assert same(weights(tmp_path / "0001-1", part), weights(tmp_path / "0002-0", part))
    assert not (tmp_path / "0002-0" / TRAINING).exists()
    workshop.train([job(Checkpoint(2, 0))])
    state = torch.load(tmp_path / "0002-1" / TRAINING, weights_only=True)
    assert state["progress"]["games"] == 128
    assert not same(weights(tmp_path / "0002-1"), weights(tmp_path / "0002-0"))


def test_what_is_finished_keeps_its_model_alone_and_what_is_forgotten_nothing(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path)
    for number in (0, 1):
        workshop.begin(number, None, (1, 3, number))
    workshop.train([job(Checkpoint(1, 0))])
    workshop.keep({NEW, Checkpoint(1, 1)})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["0000-0", "0001-1"]
    assert (tmp_path / "0001-1" / TRAINING).exists()
    workshop.retire({NEW, Checkpoint(1, 1)})
    assert not (tmp_path / "0001-1" / TRAINING).exists()
    assert load_model(tmp_path / "0001-1").game.name == "kuhn"


# ── Entries ──────────────────────────────────────────────────────────────────────────────────────


def test_entries_are_exact_on_a_small_game_and_close_to_it_where_games_are_played(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path)
    for number in range(4):
        workshop.begin(number, None, (1, 3, number))
    workshop.train([job(Checkpoint(3, 0))])
    row, columns = Checkpoint(3, 1), [Checkpoint(number, 0) for number in range(3)]
    exact = workshop.measure([Wanted(row, columns)])[0]
    tree = build_tree("kuhn")
    agents = [make_agent(f"net:{tmp_path}/{each.number:04}-{each.version}") for each in (row, *columns)]
    tables = [tabulated(tree, agent) for agent in agents]  # type: ignore[arg-type]
    for table, payoff in zip(tables[1:], exact.payoffs, strict=True):
        first, second = (evaluate(tree, joined(tree, *pair)).value for pair in ((tables[0], table), (table, tables[0])))
        assert payoff == pytest.approx((first - second) / 2, abs=1e-6)
    assert exact.games == 0
    played = make_workshop(tmp_path, games=4000).measure([Wanted(row, columns)])[0]
    assert played.games >= 4000
    # A payoff in Kuhn poker is 1 or 2 chips, so that the standard error of 4,000 is 0.03 at most.
    assert np.abs(played.payoffs - exact.payoffs).max() < 0.1
    again = make_workshop(tmp_path, games=4000).measure([Wanted(row, columns)])[0]
    assert (again.payoffs == played.payoffs).all()


def test_the_exploitability_of_a_mix_is_that_of_its_agent(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path)
    workshop.begin(0, None, (1, 3, 0))
    tree = build_tree("kuhn")
    table = tabulated(tree, make_agent(f"net:{tmp_path}/0000-0"))  # type: ignore[arg-type]
    assert workshop.exploitability([NEW], np.ones(1)) == pytest.approx(evaluate(tree, table).exploitability, abs=1e-6)
    assert workshop.alike(NEW, NEW)


def test_exact_payoffs_are_refused_where_the_game_is_too_large(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="too large for exact payoffs"):
        NeuralWorkshop(game("barrage"), "ppo", PPOConfig(), tmp_path, CPU, NeuralConfig(games=0))


# ── Killed ───────────────────────────────────────────────────────────────────────────────────────


def vars_of(workshop: NeuralWorkshop) -> dict[str, Any]:
    return {name: getattr(workshop, name) for name in workshop.__dataclass_fields__}


class Killed(BaseException):
    """Stands for the end of a process."""


def grow(folder: Path, oracle: str, where: str = "", when: int = 0) -> None:
    """Grow a population of networks to eight updates, up to a place of the update after `when`, if one is named."""
    pipelines: list[Pipeline] = []

    def die(place: str) -> None:
        if pipelines and place == where and pipelines[0].updates >= when:
            raise Killed

    class Dies(NeuralWorkshop):
        def train(self, jobs: Sequence[Job]) -> list[Trained]:
            found = []
            for each in jobs:
                found += super().train([each])
                die("training")
            return found

        def measure(self, wanted: Sequence[Wanted]) -> list[Any]:
            found = super().measure(wanted)
            die("measuring")
            return found

        def keep(self, checkpoints: Any) -> None:
            die("committed")
            super().keep(checkpoints)
            die("kept")

    class Falling(SqliteLedger):
        def commit(self, *what: Any) -> None:
            die("committing")
            super().commit(*what)

    workshop = make_workshop(folder / "policies", oracle, games=64)
    ledger = Falling(folder / "payoffs.db", {"seed": 7})
    solver = MetaSolver(100, random_start=True, uniform=0.1, least=1e-4)
    pipelines.append(
        Pipeline(find_scheme("p2sro"), Dies(**vars_of(workshop)), workers=2, solver=solver, seed=7, drawn=True,
                 plateau=Plateau(gain=1.0), ledger=ledger)
    )  # fmt: skip
    try:
        while pipelines[0].updates < 8:
            pipelines[0].update()
    finally:
        ledger.close()


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_population_that_is_killed_goes_on_with_nothing_lost_and_nothing_counted_twice(
    oracle: str, tmp_path: Path
) -> None:
    grow(tmp_path / "whole", oracle)
    for when, where in enumerate(("training", "measuring", "committing", "committed", "kept")):
        with pytest.raises(Killed):
            grow(tmp_path / "broken", oracle, where, when)
    grow(tmp_path / "broken", oracle)
    ledgers = [SqliteLedger(tmp_path / name / "payoffs.db", {"seed": 7}) for name in ("whole", "broken")]
    members = [ledger.members() for ledger in ledgers]
    assert repr(members[0]) == repr(members[1])
    assert any(each.parent is not None for each in members[0]) and members[0][3].state == "finished"
    tables = [sorted((each.row, each.column, each.payoff) for each in ledger.entries()) for ledger in ledgers]
    assert tables[0] == tables[1]
    folders = [sorted(each.name for each in (tmp_path / name / "policies").iterdir()) for name in ("whole", "broken")]
    assert folders[0] == folders[1] == sorted(f"{m.number:04}-{m.version}" for m in members[0])
    for member, name in zip(members[0], folders[0], strict=True):
        places = [tmp_path / each / "policies" / name for each in ("whole", "broken")]
        assert same(*(weights(place) for place in places))
        for place in places:
            assert (place / TRAINING).exists() == (member.state == "active" and member.version > 0)


# ── In processes ─────────────────────────────────────────────────────────────────────────────────


def test_networks_that_are_trained_by_processes_come_to_the_same(tmp_path: Path) -> None:
    found = []
    for processes in (0, 2):
        changes = ['game="kuhn"', "psro.ppo.games=64", "psro.neural.episodes=128", "psro.neural.games=64",
                   "psro.plateau.least=1", f"psro.spread.processes={processes}"]  # fmt: skip
        run = Run.begin(load_config("psro-leduc", changes), tmp_path / str(processes), agents=Opponents())
        for _ in range(5):
            run.iterate()
        run.close()
        population = tmp_path / str(processes) / "population"
        ledger = SqliteLedger(population / "payoffs.db", {})
        entries = sorted((each.row, each.column, each.payoff, each.games) for each in ledger.entries())
        there = {each.name: weights(each) for each in sorted((population / "policies").iterdir())}
        found.append((repr(ledger.members()), entries, list(there), there))
    assert found[0][:3] == found[1][:3] and len(found[0][1]) > 5
    assert all(same(one, found[1][3][name]) for name, one in found[0][3].items())


# ── Runs ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_grows_a_population_of_networks_that_plays(tmp_path: Path) -> None:
    changes = ['game="kuhn"', "psro.ppo.games=512", "psro.neural.episodes=2000", "iterations=12"]
    run = Run.begin(load_config("psro-leduc", changes), tmp_path / "run", agents=Opponents())
    told = {}
    while run.goes_on():
        told = run.iterate()
    run.save()
    run.close()
    population = read_population(tmp_path / "run")
    assert len(population.policies) == told["psro.policies"] >= 4
    assert told["games"] == episodes_of(tmp_path / "run")
    tree = build_tree("kuhn")
    agent = make_agent(f"population:{tmp_path / 'run'}")
    table = tabulated(tree, agent)  # type: ignore[arg-type]
    # Uniform play is exploitable by 0.458, each player's best pure answer to it by more.
    assert evaluate(tree, table).exploitability == pytest.approx(told["psro.exploitability"], abs=1e-3)
    assert told["psro.exploitability"] < 0.25
    player = Opponents().player(f"population:{tmp_path / 'run'}", game("kuhn"), CPU)
    assert isinstance(player, NetworksPlayer) and len(player.networks) == (np.array(population.chances) > 1e-4).sum()
    card = json.loads((tmp_path / "run" / "population" / "card.json").read_text())
    assert card["policies"][1]["agent"].startswith("net:policies/0001-")


def episodes_of(run: Path) -> int:
    with closing(sqlite3.connect(run / "population" / "payoffs.db")) as database:
        return int(database.execute("SELECT sum(episodes) FROM policies").fetchone()[0])


def test_opponents_of_an_oracle_in_a_population_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="policies of a population play each other"):
        load_config("psro-leduc", ['psro.ppo.opponents=["random"]'])
    with pytest.raises(ConfigurationError, match="remembered is from 1"):
        load_config("psro-leduc", ["psro.neural.remembered=0"])
    assert {"psro-leduc", "psro-barrage"} <= set(presets())
