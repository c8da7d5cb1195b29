"""Populations whose policies are trained elsewhere: the same whoever trains them, and whoever is lost meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE
from workshops import MEASURE, TRAIN, TRAINED, Say, fragile

from vauban.errors import ConfigurationError
from vauban.learn.config import load_config
from vauban.learn.psro.ledger import SqliteLedger
from vauban.learn.psro.pipeline import Pipeline
from vauban.learn.psro.schemes import find_scheme
from vauban.learn.psro.spread import Bench, SpreadWorkshop, Team
from vauban.learn.psro.workshop import TRAINING, Workshop
from vauban.learn.run import Run
from vauban.solve.meta import MetaSolver
from vauban.work.base import Crew, WorkError
from vauban.work.cluster import RayCrew, RayExecutor
from vauban.work.executors import Processes
from vauban.work.parcels import Linked, Packed

UPDATES = 8


class Grown:
    """A population in a folder, and what its training came to."""

    def __init__(self, folder: Path, spread: Callable[[Workshop, Path], Workshop], fuses: Path, hangs: bool = False):
        policies = folder / "policies"
        policies.mkdir(parents=True)
        fuses.mkdir(exist_ok=True)
        workshop = spread(fragile(fuses, hangs, policies), policies)
        ledger = SqliteLedger(folder / "payoffs.db", {})
        pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=2, solver=MetaSolver(200), seed=7, ledger=ledger)
        for _ in range(UPDATES):
            pipeline.update()
        self.members = repr(ledger.members())
        self.entries = sorted((each.row, each.column, each.payoff, each.games) for each in ledger.entries())
        self.tables = {path.name: np.load(path / "table.npy").tolist() for path in policies.iterdir()}
        self.trained = Counter((fuses / "log").read_text().split())
        ledger.close()

    def is_like(self, other: Grown) -> bool:
        """Return whether both have the same policies, payoffs and progress."""
        return (self.members, self.entries, self.tables) == (other.members, other.entries, other.tables)


def by_itself(workshop: Workshop, folder: Path) -> Workshop:
    return workshop


def by(learners: Crew, measurers: Crew, fuses: Path, hangs: bool = False, where: Path | None = None) -> Any:
    """Return what spreads a workshop over these workers."""
    bench = Bench(partial(fragile, fuses, hangs), where)
    return lambda here, folder: SpreadWorkshop(here, folder, Team(learners, bench), Team(measurers, bench))


def light(fuses: Path, *names: str) -> None:
    """Light fuses: each is for the first worker that comes to it."""
    fuses.mkdir()
    for name in names:
        (fuses / name).touch()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Grown:
    """Return the population that the pipeline's own process trains."""
    folder = tmp_path_factory.mktemp("alone")
    return Grown(folder / "population", by_itself, folder / "fuses")


@pytest.fixture
def crew() -> Iterator[Processes]:
    crew = Processes(2, standing=True)
    yield crew
    crew.close()


def test_processes_that_are_killed_lose_nothing_and_count_nothing_twice(
    crew: Processes, alone: Grown, tmp_path: Path
) -> None:
    fuses, workers = tmp_path / "fuses", tmp_path / "workers"
    workers.mkdir()
    light(fuses, TRAIN, TRAINED, MEASURE)
    grown = Grown(tmp_path / "population", by(crew, crew, fuses, where=workers), fuses)
    assert sorted(path.stem for path in fuses.glob("*.*")) == [MEASURE, TRAIN, TRAINED], "nobody was killed"
    assert grown.is_like(alone)
    assert grown.trained == alone.trained and set(grown.trained.values()) == {1}


def test_a_task_that_fails_says_which_and_leaves_no_checkpoint(crew: Processes, tmp_path: Path) -> None:
    here = fragile(tmp_path / "nowhere", False, tmp_path / "policies")
    workshop = by(crew, crew, tmp_path / "nowhere")(here, tmp_path / "policies")
    pipeline = Pipeline(find_scheme("p2sro"), workshop, workers=1)
    with pytest.raises(WorkError, match="^update 1 of policy 1: FileNotFoundError: .*nowhere/log"):
        pipeline.update()
    assert sorted(path.name for path in (tmp_path / "policies").iterdir()) == ["0000-0", "0001-0"]


def test_another_version_of_vauban_is_refused(crew: Processes, tmp_path: Path) -> None:
    bench = Bench(partial(fragile, tmp_path, False), version="0.0.1")
    here = fragile(tmp_path, False, tmp_path / "policies")
    team = Team(crew, bench)
    pipeline = Pipeline(find_scheme("p2sro"), SpreadWorkshop(here, tmp_path / "policies", team, team))
    with pytest.raises(WorkError, match="and the run was begun with 0.0.1: install the same version everywhere"):
        pipeline.update()


@pytest.mark.parametrize("kind", [Linked, Packed.of])
def test_a_parcel_leaves_out_what_only_training_needs(kind: Any, tmp_path: Path) -> None:
    folder = tmp_path / "0003-2"
    (folder / "training").mkdir(parents=True)
    (folder / "training" / "replay").write_bytes(bytes(99))
    (folder / "training.pt").write_bytes(bytes(9))
    (folder / "model").mkdir()
    (folder / "model" / "card.json").write_text("{}")
    kind(folder, TRAINING).unpack(tmp_path / "light")
    kind(folder).unpack(tmp_path / "whole")
    assert [path.name for path in (tmp_path / "light").iterdir()] == ["model"]
    assert (tmp_path / "light" / "model" / "card.json").read_text() == "{}"
    assert (tmp_path / "whole" / "training" / "replay").read_bytes() == bytes(99)


def test_a_run_spreads_over_processes_and_leaves_only_its_population(tmp_path: Path) -> None:
    folders = []
    for name, changes in (("here", []), ("spread", ["psro.spread.processes=2"])):
        run = Run.begin(load_config("psro-kuhn-exact", ["iterations=6", *changes]), tmp_path / name)
        while run.goes_on():
            run.iterate()
        run.save()
        run.close()
        folders.append(tmp_path / name / "population")
    assert {path.name for path in folders[1].iterdir()} == {"card.json", "payoffs.db", "policies"}
    cards = [(each / "card.json").read_text().replace("spread", "here") for each in folders]
    assert cards[0] == cards[1]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (["processes=2", 'ray="auto"'], "leave one of them away"),
        (["gpus=0.5"], "name the cluster by spread.ray"),
        (["processes=-1"], "are 0 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes: list[str], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        load_config("psro-kuhn-exact", [f"psro.spread.{each}" for each in changes])


# ── Clusters ─────────────────────────────────────────────────────────────────────────────────────

ONE_AT_A_TIME = pytest.mark.xdist_group("ray")
"""Clusters of one machine are in each other's way."""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a Ray cluster whose head has no room for work."""
    ray = pytest.importorskip("ray", reason="ray is not installed (the extra [ray])")
    from ray.cluster_utils import Cluster

    # Workers find the tests' modules, as they would find an installed package.
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.mark.slow
@ONE_AT_A_TIME
@pytest.mark.parametrize("lost", ["worker", "node"])
def test_on_a_cluster_of_two_a_policy_whose_worker_is_lost_in_training_goes_on(
    lost: str, cluster: Any, alone: Grown, tmp_path: Path
) -> None:
    import ray

    fuses = tmp_path / "fuses"
    light(fuses, TRAIN)
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    learners = RayCrew(2, cluster.address)
    measurers = RayExecutor(cluster.address)

    def end_it() -> None:
        """Wait until a worker is in the midst of an update, and end it, or its machine."""
        [hanging] = wait_for(lambda: list(fuses.glob(f"{TRAIN}.*")))
        process = int(hanging.suffix[1:])
        if lost == "worker":
            os.kill(process, signal.SIGKILL)
        else:
            node = next(each for each in nodes if process in workers_of(each))
            cluster.remove_node(node)  # the other one has room for both policies

    with ThreadPoolExecutor(1) as aside:
        ended = aside.submit(end_it)
        grown = Grown(tmp_path / "population", by(learners, measurers, fuses, hangs=True), fuses, hangs=True)
        ended.result()
    assert grown.is_like(alone)
    assert grown.trained == alone.trained and set(grown.trained.values()) == {1}
    learners.close()
    measurers.close()
    assert not ray.is_initialized()


def wait_for(found: Callable[[], Any]) -> Any:
    """Return what comes to be there."""
    deadline = time.monotonic() + PATIENCE
    while not (there := found()):
        assert time.monotonic() < deadline, "it has not come in time"
        threading.Event().wait(0.02)
    return there


def workers_of(node: Any) -> set[int]:
    """Return the processes that a node has started."""
    parents = [each.process.pid for kind in node.all_processes.values() for each in kind]
    below = {int(path.parent.name): int(path.read_text().rpartition(")")[2].split()[1])
             for path in Path("/proc").glob("[0-9]*/stat")}  # fmt: skip
    return {process for process, parent in below.items() if parent in parents}


@pytest.mark.slow
@ONE_AT_A_TIME
def test_a_run_on_a_local_cluster_grows_the_same_population(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed (the extra [ray])")
    cards = []
    for name, changes in (("here", []), ("spread", ['psro.spread.ray="local"'])):
        run = Run.begin(load_config("psro-kuhn-exact", ["iterations=6", *changes]), tmp_path / name)
        while run.goes_on():
            run.iterate()
        run.save()
        run.close()
        cards.append((tmp_path / name / "population" / "card.json").read_text().replace("spread", "here"))
    assert cards[0] == cards[1]


@pytest.mark.slow
@ONE_AT_A_TIME
def test_a_crew_without_room_says_that_it_waits_and_goes_on_when_there_is_some(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vauban.work.cluster.ROOM_SECONDS", 1.0)
    noted: list[str] = []

    def note(sentence: str) -> None:
        noted.append(sentence)
        cluster.add_node(num_cpus=1)

    crew = RayCrew(1, cluster.address, note=note)
    assert list(crew.run([Say("something")])) == [(0, "something")]
    assert noted == ["the cluster has no room yet, and is waited for: a worker needs a CPU"]
    crew.close()
