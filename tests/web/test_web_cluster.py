"""A server whose strong levels think on a cluster: workers that are killed, a cluster that is lost; moves come."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nearby import Nearby
from patience import PATIENCE
from web_server import WALLED, Server, wait_until

from vauban.web.levels import DEFAULT, Level, levels
from vauban.web.logs import events
from vauban.work.bridge import Bridge

THINKER = """
import os
import signal
from pathlib import Path

FOLDER = Path(__file__).parent


class Thinker:
    '''Says which process thinks, and thinks until it may go on.'''

    def choose_move(self, view):
        mark = FOLDER / f"thinks.{view.plies}.{os.getpid()}"
        mark.touch()
        while not (FOLDER / "go").exists():
            signal.sigtimedwait([], 0.01)
        return view.legal_moves[0]
"""


class Scene:
    """A game against an agent that thinks for as long as it is told."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder, self.rng = server, folder, random.Random(1)
        made = server.level("thinker", setup=WALLED)
        [(side, secret)] = made["seats"].items()
        self.seat = server.sit(made["game"], side, secret)

    def go(self, may: bool) -> None:
        (self.folder / "go").touch() if may else (self.folder / "go").unlink(missing_ok=True)

    def processes(self, ply: int) -> list[int]:
        """Return the processes that have begun to think about a ply."""
        marks = sorted(self.folder.glob(f"thinks.{ply}.*"), key=lambda mark: mark.stat().st_mtime_ns)
        return [int(mark.suffix[1:]) for mark in marks]

    def play(self, meanwhile: Callable[[int], None]) -> list[int]:
        """Make a move, do something to the process that thinks about the answer, and await that; return who thought."""
        self.go(False)
        told = self.seat.my_turn()
        assert told["over"] is None, told["over"]
        self.seat.quiet_move(self.rng)
        wait_until(lambda: bool(self.processes(told["ply"] + 1)))
        [thinking] = self.processes(told["ply"] + 1)
        meanwhile(thinking)
        self.go(True)
        after = self.seat.my_turn()
        assert after["over"] is None and after["ply"] == told["ply"] + 2
        return self.processes(told["ply"] + 1)


def thinker(folder: Path) -> tuple[Level, ...]:
    """Return the levels, with one whose agent is in a file that every machine of the cluster has."""
    (folder / "thinker.py").write_text(THINKER)
    return (*levels(), Level("thinker", "Thinker", {DEFAULT: f"py:{folder}/thinker.py:Thinker"}, 1.0))


def looked_back(answer: tuple[int, Any, Any]) -> bool:
    """Return whether a review is there; it is, or is being made."""
    status, told, _ = answer
    assert status in (200, 202), told
    return status == 200


def end(process: int) -> None:
    os.kill(process, signal.SIGKILL)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict]]:
    """Return the events that a server writes down."""
    told: list[dict] = []
    monkeypatch.setattr(events, "info", lambda what, extra: told.append({"what": what, **extra["fields"]}))
    return told


def test_strong_levels_think_on_the_cluster_and_here_when_it_is_lost(tmp_path, log):
    cluster = Nearby()
    server = Server(among=thinker(tmp_path), cluster=cluster)
    try:
        assert server.ask("GET", "/api/health")[1]["cluster"] == {"connected": True, "workers": 1}
        scene = Scene(server, tmp_path)
        [far] = scene.play(lambda process: None)
        assert far not in server.host.deep.pids
        killed, other = scene.play(end)
        assert killed == far != other, "another worker of the cluster has thought again"
        _, here = scene.play(lambda process: cluster.cut())
        assert here in server.host.deep.pids
        assert server.ask("GET", "/api/health")[1]["cluster"]["connected"] is False
        assert scene.play(lambda process: None)[0] in server.host.deep.pids
    finally:
        server.close()
    assert {"what": "cluster", "connected": True, "workers": 1} in log
    assert not cluster.staff, "the server has left the cluster"


def test_weak_levels_and_agents_of_the_host_think_here(tmp_path):
    own = Level("own:mine", "mine", {DEFAULT: "py:nowhere.py:Mine"}, 1.0, own=True)
    server = Server(among=(*levels(), own), cluster=Nearby())
    try:
        thinks = server.host._thinking
        assert thinks("mcts:time=0.3", "barrage", 0.35) is thinks("net:barrage", "barrage", 0.05) is server.host.far
        assert thinks("cadet", "barrage", 0.01) is server.host.quick
        assert thinks("py:nowhere.py:Mine", "barrage", 1.0) is server.host.deep
        assert thinks("search:barrage,time=9", "barrage", 9.0) is server.host.deep, "a game kept from another version"
    finally:
        server.close()


@pytest.mark.slow
@pytest.mark.xdist_group("ray")  # clusters of one machine are in each other's way
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed (the extra [ray])")
def test_on_a_ray_cluster_a_move_comes_though_its_worker_is_killed_and_then_the_cluster(tmp_path, monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_worker_niceness", "0")  # or all else that a machine does comes first
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    bridge = Bridge(made.address, PATIENCE)
    server = Server(among=thinker(tmp_path), cluster=bridge)
    try:
        assert server.ask("GET", "/api/health")[1]["cluster"] == {"connected": True, "workers": 2}
        scene = Scene(server, tmp_path)
        [far] = scene.play(lambda process: None)
        assert far not in server.host.deep.pids
        assert scene.play(end)[1:], "another worker of the cluster has thought again"

        finished = server.level("cadet", setup=WALLED)
        [(side, secret)] = finished["seats"].items()
        with server.sit(finished["game"], side, secret) as seat:
            seat.move(min(seat.my_turn()["legal"]))
            seat.my_turn()
            seat.do("resign")
            seat.until(lambda sight: sight["over"] is not None)
        asked = f"/api/games/{finished['game']}/review"
        wait_until(lambda: looked_back(server.ask("GET", asked, secret=secret)))
        assert not server.host.reviews.short.near.pids, "the cluster looked back"

        scene.play(lambda process: made.shutdown())
        wait_until(lambda: not bridge.connected)
        assert server.ask("GET", "/api/health")[1]["cluster"] == {"connected": False, "workers": 2}
        [here] = scene.play(lambda process: None)
        assert here in server.host.deep.pids
    finally:
        server.close()
        made.shutdown()
