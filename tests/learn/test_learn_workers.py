"""Several workers: they learn what one would, and when one of them dies all end with a sentence."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from vauban.errors import ConfigurationError
from vauban.learn.config import load_config
from vauban.learn.journal import read_metrics
from vauban.learn.run import Run
from vauban.learn.workers import Workers, WorkersError, join_workers, local_device
from vauban.nets.setup import SetupNetwork
from vauban.nets.store import load_model
from vauban.sim.simulator import Simulator

CONFIG = """
game = "tiny"
rules = "battleless_limit=20,total_limit=60"
iterations = {iterations}
patience = 60
[ataraxos.move_network]
depth = 1
width = 16
heads = 2
[ataraxos.setup_network]
depth = 1
width = 16
heads = 2
[ataraxos.moves]
games = {games}
length = 14
batch = {batch}
quantile = 0.75
learning_rate = 1e-3
[ataraxos.setups]
per_player = {per_player}
batch = {batch}
"""
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
TIMES = ("seconds.", "speed.", "minutes")


def write_config(folder: Path, share: int, iterations: int) -> Path:
    """A configuration with a whole's share of the games for each worker."""
    path = folder / f"share-{share}.toml"
    path.write_text(CONFIG.format(games=48 // share, batch=32 // share, per_player=16 // share, iterations=iterations))
    return path


def test_two_workers_learn_what_one_with_twice_the_games_does(tmp_path: Path) -> None:
    together, alone = tmp_path / "together", tmp_path / "alone"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*torchrun, "-m", "vauban", "train", "--device", "cpu"]
    begin = [str(write_config(tmp_path, 2, iterations=3)), "--out", str(together)]
    # They stop once and go on, as one that never stopped. In the end one of them plays, and the other waits.
    evaluation = ["--set", "evaluation.every=100", "--set", "evaluation.games=2"]
    for arguments in (begin, ["--resume", str(together), "--set", "iterations=5", *evaluation]):
        done = subprocess.run([*command, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=HOURS)
        assert done.returncode == 0, done.stderr
    run = Run.begin(load_config(str(write_config(tmp_path, 1, iterations=5))), alone)
    while run.goes_on():
        run.iterate()
    run.save()
    theirs, mine = read_metrics(together), read_metrics(alone)
    assert len(theirs) == len(mine) == 5
    measured = {name: theirs[-1].pop(name) for name in list(theirs[-1]) if name.startswith(("score", "seconds.eval"))}
    assert 0 <= measured["score.random"] <= 1
    for one, other in zip(theirs, mine, strict=True):
        assert one.keys() == other.keys()
        assert any(name.startswith("setups.gradient") for name in one)
        assert 0.2 < one["moves.kept"] < 0.5, "the filter must be on"
        for name, value in one.items():
            if not name.startswith(TIMES):
                assert value == pytest.approx(other[name], abs=1e-4), name
    # What they say is compared: the bias of attention's keys has no effect, and Adam lets it drift with rounding.
    first, second = load_model(together), load_model(alone)
    sim = Simulator(first.game, 32, seed=5)
    sim.play_random(9)
    seen = sim.observe("ataraxos", layout="squares")
    one_setup, other_setup = first.find(SetupNetwork), second.find(SetupNetwork)
    assert one_setup is not None and other_setup is not None
    pieces = torch.from_numpy(Simulator(first.game, 16, seed=1).starts[:, : first.game.setup_size].numpy()).long() - 1
    pieces = torch.where(pieces < 0, 13, pieces)
    with torch.no_grad():
        for ours, others in zip(first.player(seen), second.player(seen), strict=True):
            assert torch.allclose(ours, others, atol=1e-5)
        assert torch.allclose(one_setup(pieces).outcome, other_setup(pieces).outcome, atol=1e-5)
    # A run of two workers goes on as two, and each of them has games of its own.
    assert {path.name for path in (together / "checkpoint").glob("ataraxos.games*")} == {
        "ataraxos.games-0-of-2.pt",
        "ataraxos.games-1-of-2.pt",
    }
    progress = json.loads((together / "checkpoint" / "progress.json").read_text())
    assert (progress["iteration"], progress["moves"]) == (5, mine[-1]["moves"])
    assert "torchrun --nproc-per-node=2 -m vauban train" in (together / "starts.jsonl").read_text()


def test_when_a_worker_dies_the_other_ends_with_a_sentence(tmp_path: Path) -> None:
    port = free_port()
    config = write_config(tmp_path, 2, iterations=0)
    command = [sys.executable, "-m", "vauban", "train", str(config), "--device", "cpu", "--out", str(tmp_path / "run")]
    meeting = {**ENVIRONMENT, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    leader, other = (
        subprocess.Popen(command, env={**meeting, "RANK": rank, "LOCAL_RANK": rank}, stderr=subprocess.PIPE, text=True)
        for rank in "01"
    )
    try:
        assert leader.stderr is not None
        for line in leader.stderr:
            if "outcome loss" in line:
                other.kill()
                break
        words = leader.stderr.read()
        assert leader.wait(HOURS) == 2
        assert "worker 0 of 2 stops, since worker 1 has died" in words and "--resume" in words
        assert "Traceback" not in words
    finally:
        leader.kill()
        other.kill()
        leader.communicate()
        other.communicate()


PATIENCE = 3.0
"""Seconds, in the tests that are about it."""
HOURS = 3600.0
"""Seconds that a test waits for what will happen, however slow the machine is."""


def meet(rank: int, port: int, patience: float = HOURS) -> Workers:
    """Begin as one of two workers. patience: in seconds, from when both are there."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return join_workers(torch.device("cpu"), patience / 60, meeting=HOURS / 60)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def wait_for_the_first(rank: int, port: int, folder: str) -> None:
    """The first one works for longer than a worker's patience; then both agree."""
    workers = meet(rank, port, PATIENCE)
    done = workers.led(lambda: not threading.Event().wait(2 * PATIENCE))
    assert done is (True if rank == 0 else None)
    assert workers.any(rank == 0)
    workers.leave()
    Path(folder, str(rank)).write_text("parted")


def test_work_of_the_first_worker_may_take_longer_than_patience(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(wait_for_the_first, (free_port(), str(tmp_path)), nprocs=2)  # type: ignore[no-untyped-call]
    assert [(tmp_path / rank).read_text() for rank in "01"] == ["parted", "parted"]


def hang(rank: int, port: int, folder: str, hanging: int, leads: bool) -> None:
    """One worker stands still; the other tells what becomes of it."""
    workers = meet(rank, port, PATIENCE)
    if rank == hanging:
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        workers.led(int) if leads else workers.wait()
    except WorkersError as error:
        Path(folder, "error").write_text(str(error))
        os._exit(0)


@pytest.mark.parametrize(("hanging", "leads"), [(1, False), (0, True)])
def test_a_worker_that_hangs_is_named_when_patience_ends(tmp_path: Path, hanging: int, leads: bool) -> None:
    arguments = (free_port(), str(tmp_path), hanging, leads)
    context = torch.multiprocessing.get_context("spawn")
    workers = [context.Process(target=hang, args=(rank, *arguments)) for rank in range(2)]
    for each in workers:
        each.start()
    try:
        workers[1 - hanging].join(HOURS)
        words = (tmp_path / "error").read_text()
        assert f"worker {1 - hanging} of 2 stops, since worker {hanging} has died or does not answer" in words
    finally:
        for each in workers:
            each.kill()
            each.join()


def part(rank: int, port: int, folder: str) -> None:
    """Be one of two workers: meet, load what takes the group for a default, part, tell the threads left."""
    workers = meet(rank, port)
    importlib.import_module("torch.distributed.nn")  # as torch's own optimisers do, some time or other
    assert workers.any(workers.leads)
    workers.leave()
    names = [(path / "comm").read_text().strip() for path in Path("/proc/self/task").iterdir()]
    Path(folder, str(rank)).write_text(" ".join(names))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted as Linux lists them")
def test_workers_that_part_leave_no_thread_behind_that_could_end_them_with_an_abort(tmp_path: Path) -> None:
    port = free_port()
    torch.multiprocessing.spawn(part, (port, str(tmp_path)), nprocs=2)  # type: ignore[no-untyped-call]
    for rank in "01":
        names = (tmp_path / rank).read_text()
        assert "gloo" not in names and "pulse" not in names


def test_a_device_that_is_not_here_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="auto, cpu or cuda"):
        local_device("gpu")
    assert local_device("cpu") == torch.device("cpu")
    if not torch.cuda.is_available():
        with pytest.raises(ConfigurationError, match="--device cpu"):
            local_device("cuda")
