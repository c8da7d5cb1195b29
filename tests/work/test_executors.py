"""Executors: the same games wherever they are played; processes that are killed, and those that must not stay."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from contenders import Dice, KillsAlways, KillsOnce, Rogue, plain
from patience import PATIENCE

from vauban.arena.match import Match
from vauban.arena.play import play_games
from vauban.arena.schedule import Job, play_match
from vauban.arena.sprt import Hypotheses, Sprt
from vauban.errors import ConfigurationError
from vauban.work.base import WorkError
from vauban.work.cluster import RayExecutor
from vauban.work.executors import Here, Processes


def wait_until(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it has not happened in time"
        time.sleep(0.02)


def is_running(process: int) -> bool:
    """Return whether there is a process of this number that is more than a name."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def match() -> Match:
    return Match(Dice, Rogue, 14, "medium", seed=8, setups="own")


def test_games_do_not_depend_on_the_number_of_processes(match: Match) -> None:
    here = [plain(game) for game in play_match(match, Here())]
    assert [plain(game) for game in play_match(match, Processes(2))] == here
    assert [plain(game) for game in play_match(match, Processes(3))] == here


def test_the_sequential_test_decides_alike_with_one_worker_and_with_two() -> None:
    match = Match("cadet", "random", 300, "fives", seed=6)
    tests = [Sprt(Hypotheses(0, 60)), Sprt(Hypotheses(0, 60))]
    games = [play_match(match, executor, test) for executor, test in zip((Here(), Processes(2)), tests, strict=True)]
    assert tests[0].decision == tests[1].decision == "H1"
    assert tests[0].state() == tests[1].state()
    assert [plain(game) for game in games[0]] == [plain(game) for game in games[1]]


def test_a_job_whose_process_is_killed_is_played_again(tmp_path: Path) -> None:
    fuse = tmp_path / "fuse"
    match = Match(partial(KillsOnce, fuse), "random", 8, "tiny", seed=5)
    expected = [plain(game) for game in play_match(match)]
    fuse.touch()
    assert [plain(game) for game in play_match(match, Processes(2))] == expected
    assert not fuse.exists()


def test_a_job_that_always_ends_its_process_is_given_up_with_a_sentence() -> None:
    match = Match(KillsAlways, "random", 2, "tiny")
    with pytest.raises(WorkError, match="games 0–1 of kills-always – random: .* by signal 9, 3 times"):
        play_match(match, Processes(2))


def test_the_error_of_a_job_is_raised_where_it_was_handed_out() -> None:
    job = Job(Match("random", "random", 2, "tiny"), (0, 1), version="0.0.1")
    with pytest.raises(WorkError, match="install the same version everywhere"):
        list(Processes(1).run([job]))


def test_jobs_are_taken_when_a_worker_is_free() -> None:
    match = Match("random", "random", 100, "tiny")
    taken = []

    def jobs():  # type: ignore[no-untyped-def]
        for number in range(0, 100, 2):
            taken.append(number)
            yield Job(match, (number, number + 1))

    running = Processes(2).run(jobs())
    index, games = next(running)
    assert len(taken) <= 4
    assert [game.result.number for game in games] == [2 * index, 2 * index + 1]
    running.close()  # type: ignore[attr-defined]
    assert len(taken) <= 4


LINGER = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, {tests!r})
from contenders import Lingers
from vauban.arena.match import Match
from vauban.arena.schedule import play_match
from vauban.work.executors import Processes
if __name__ == "__main__":
    play_match(Match(partial(Lingers, Path({folder!r})), "random", 8, "tiny"), Processes(2))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_no_process_stays_behind(tmp_path: Path, ending: signal.Signals) -> None:
    script = tmp_path / "linger.py"
    folder = tmp_path / "processes"
    folder.mkdir()
    script.write_text(LINGER.format(tests=str(Path(__file__).parents[1]), folder=str(folder)))
    with subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL) as parent:
        wait_until(lambda: len(list(folder.iterdir())) == 2)
        workers = [int(file.name) for file in folder.iterdir()]
        assert all(map(is_running, workers))
        os.kill(parent.pid, ending)
        parent.wait(PATIENCE)
    wait_until(lambda: not any(map(is_running, workers)))


def test_the_number_of_workers_is_checked() -> None:
    with pytest.raises(ConfigurationError, match="whole number from 1"):
        Processes(0)


def test_ctrl_c_does_not_reach_the_process_that_is_copied_while_it_imports() -> None:
    program = (
        "from vauban.work.processes import prepare\n"
        "from multiprocessing import forkserver\n"
        "prepare(['vauban.arena.play'])\n"
        "print(open(f'/proc/{forkserver._forkserver._forkserver_pid}/status').read())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    ignored = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("SigIgn"))
    assert int(ignored, 16) >> (signal.SIGINT - 1) & 1


CALLED_BACK = """
import ctypes, os, signal
from vauban.work.processes import become_worker
become_worker()
ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))()
print("it went on")
"""


def test_a_worker_that_is_told_to_end_while_the_compiler_calls_it_back_ends_in_silence() -> None:
    """In such a call Python cannot raise anything: it would print the error, and go on."""
    done = subprocess.run([sys.executable, "-c", CALLED_BACK], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_without_ray_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError, match=r"pip install \"vauban-games\[ray\]\""):
        RayExecutor()


@pytest.mark.slow
@pytest.mark.xdist_group("ray")  # clusters of one machine are in each other's way
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed (the extra [ray])")
def test_an_address_without_a_cluster_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match=r"no Ray cluster at '127\.0\.0\.1:1'.*refused.*ray start --head"):
        RayExecutor("127.0.0.1:1")


@pytest.mark.slow
@pytest.mark.xdist_group("ray")  # clusters of one machine are in each other's way
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed (the extra [ray])")
def test_a_ray_cluster_of_two_workers_plays_the_same_games() -> None:
    match = Match("cadet", "random", 12, "barrage", seed=8)
    expected = [plain(game) for game in play_games(match, range(12))]
    cluster = RayExecutor(workers=2)
    try:
        assert cluster.workers == 2
        assert [plain(game) for game in play_match(match, cluster)] == expected
        old = Job(match, (0, 1), version="0.0.1")
        with pytest.raises(WorkError, match="install the same version everywhere"):
            list(cluster.run([old]))
    finally:
        cluster.close()
