"""A pool of workers: processes that die, hang, fail or have too much to do; every caller gets an answer."""

from __future__ import annotations

import asyncio
import multiprocessing.process
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from patience import PATIENCE
from web_server import wait_until

from vauban.errors import ConfigurationError
from vauban.work import pool as module
from vauban.work.base import ATTEMPTS, BusyError, WorkError
from vauban.work.pool import Pool


@dataclass(frozen=True)
class Report:
    """Tells which process did it, after having written that it is there, and waited for a file if one is named."""

    begun: Path | None = None
    until: Path | None = None

    def run(self, tell):
        if self.begun is not None:
            with self.begun.open("a") as file:
                file.write(f"{os.getpid()}\n")
        tell(0.5)
        while self.until is not None and not self.until.exists():
            time.sleep(0.01)
        return os.getpid()


@dataclass(frozen=True)
class Die:
    """Ends its process, a given number of times."""

    log: Path
    times: int

    def run(self, tell):
        with self.log.open("a") as file:
            file.write("x")
        if len(self.log.read_text()) <= self.times:
            os.kill(os.getpid(), signal.SIGKILL)
        return "alive"


@dataclass(frozen=True)
class Fail:
    """Raises an error."""

    ours: bool

    def run(self, tell):
        raise ConfigurationError("the wheel is broken") if self.ours else KeyError("wheel")


async def by(work, workers=1, **options):
    """Return the results of some work with a few workers."""
    pool = Pool(workers, **options)
    pool.start()
    try:
        return await work(pool)
    finally:
        await pool.close()


def lines(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def test_a_worker_that_dies_is_replaced_and_the_task_asked_again(tmp_path):
    async def work(pool):
        first = await pool.ask(Report(), PATIENCE)
        assert await pool.ask(Die(tmp_path / "log", 1), PATIENCE) == "alive"
        os.kill(await pool.ask(Report(), PATIENCE), signal.SIGKILL)  # while it has nothing to do
        return first, await pool.ask(Report(), PATIENCE)

    first, last = asyncio.run(by(work))
    assert first != last != os.getpid()
    assert (tmp_path / "log").read_text() == "xx"


def test_a_task_that_kills_every_process_ends_with_a_sentence(tmp_path):
    async def work(pool):
        with pytest.raises(WorkError, match="has ended 3 times in a row"):
            await pool.ask(Die(tmp_path / "log", 99), PATIENCE)
        return await pool.ask(Report(), PATIENCE)

    assert asyncio.run(by(work))


def failing_starts(monkeypatch, times: int) -> list[str]:
    """Have the next `times` processes fail to start, as where the system has no room for one; return which did."""
    start, failed = multiprocessing.process.BaseProcess.start, []

    def start_or_fail(process):
        if len(failed) < times:
            failed.append(process.name)
            raise BlockingIOError(11, "Resource temporarily unavailable")
        start(process)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start_or_fail)
    return failed


@pytest.mark.parametrize("times", [1, ATTEMPTS])
def test_a_process_that_cannot_be_started_costs_no_more_than_the_task_that_wanted_it(monkeypatch, caplog, times):
    async def work(pool):
        failed = failing_starts(monkeypatch, times)
        if times == ATTEMPTS:
            with pytest.raises(WorkError, match="3 times in a row"):
                await asyncio.wait_for(pool.ask(Report(), PATIENCE), PATIENCE)
        found = await asyncio.wait_for(pool.ask(Report(), PATIENCE), PATIENCE)
        return found, failed

    found, failed = asyncio.run(by(work))
    assert found != os.getpid() and len(failed) == times
    assert caplog.text.count("Resource temporarily unavailable") == times


def test_any_error_around_a_task_is_told_to_its_caller_and_the_next_is_answered(monkeypatch, caplog):
    async def work(pool):
        submit = pool._threads.submit

        def once(*args):
            monkeypatch.setattr(pool._threads, "submit", submit)
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(pool._threads, "submit", once)
        with pytest.raises(WorkError, match="could not be done"):
            await asyncio.wait_for(pool.ask(Report(), PATIENCE), PATIENCE)
        return await asyncio.wait_for(pool.ask(Report(), PATIENCE), PATIENCE)

    assert asyncio.run(by(work))
    assert "can't start new thread" in caplog.text


def test_a_task_that_cannot_be_sent_is_answered_with_a_sentence():
    async def work(pool):
        with pytest.raises(WorkError, match="could not be done"):
            await pool.ask(Fail(lambda: None), PATIENCE)
        return await pool.ask(Report(), PATIENCE)

    assert asyncio.run(by(work))


def test_a_worker_that_takes_too_long_is_replaced_and_its_caller_is_told(tmp_path):
    async def work(pool):
        await pool.ask(Report(), PATIENCE)
        with pytest.raises(WorkError, match="longer than 0.2 seconds"):
            await pool.ask(Report(tmp_path / "begun", tmp_path / "never"), 0.2)
        return str(await pool.ask(Report(), PATIENCE))

    assert asyncio.run(by(work)) not in lines(tmp_path / "begun")


def test_a_tasks_error_is_told_as_it_is_and_the_worker_goes_on():
    async def work(pool):
        for task, words in ((Fail(True), "the wheel is broken"), (Fail(False), "KeyError: 'wheel'")):
            with pytest.raises(WorkError) as error:
                await pool.ask(task, PATIENCE)
            assert str(error.value) == words
        return await pool.ask(Report(), PATIENCE)

    assert asyncio.run(by(work))


def test_a_task_without_a_waiting_caller_gives_its_worker_back(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GRACE", 0.05)

    async def work(pool):
        asked = asyncio.create_task(pool.ask(Report(tmp_path / "begun", tmp_path / "never"), 600))
        waiting = asyncio.create_task(pool.ask(Report(tmp_path / "begun"), 600))
        while not lines(tmp_path / "begun"):
            await asyncio.sleep(0.01)
        asked.cancel()
        waiting.cancel()  # in the queue: never begun
        found = await pool.ask(Report(), PATIENCE)
        return str(found), lines(tmp_path / "begun")

    found, begun = asyncio.run(by(work))
    assert len(begun) == 1 and found not in begun


async def queued(pool, folder, number):
    """Ask for a task that goes on when there is a file `go` in the folder, and `number` that wait behind it."""
    asked = [asyncio.create_task(pool.ask(Report(folder / "begun", folder / "go"), PATIENCE))]
    while not lines(folder / "begun"):
        await asyncio.sleep(0.01)
    asked += [asyncio.create_task(pool.ask(Report(), PATIENCE)) for _ in range(number)]
    await asyncio.sleep(0)
    return asked


def test_a_caller_that_gives_up_waiting_leaves_a_place_in_the_queue(tmp_path):
    async def work(pool):
        asked = await queued(pool, tmp_path, 2)
        with pytest.raises(BusyError):
            await pool.ask(Report(), PATIENCE)
        asked[1].cancel()
        await asyncio.gather(asked[1], return_exceptions=True)
        asked[1] = asyncio.create_task(pool.ask(Report(), PATIENCE))
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await pool.ask(Report(), PATIENCE)
        (tmp_path / "go").touch()
        return await asyncio.gather(*asked)

    assert len(asyncio.run(by(work, queue=2))) == 3


def test_the_queue_is_bounded(tmp_path):
    async def work(pool):
        asked = await queued(pool, tmp_path, 3)
        with pytest.raises(BusyError, match="3 tasks are waiting already"):
            await pool.ask(Report(), PATIENCE)
        (tmp_path / "go").touch()
        return await asyncio.gather(*asked)

    assert len(asyncio.run(by(work, queue=3))) == 4


def test_owners_take_turns_and_one_of_them_cannot_fill_the_queue(tmp_path):
    async def work(pool):
        done = []

        async def ask(owner):
            await pool.ask(Report(), PATIENCE, owner=owner)
            done.append(owner)

        first = await queued(pool, tmp_path, 0)
        many = [asyncio.create_task(ask("many")) for _ in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="4 tasks are waiting already"):
            await pool.ask(Report(), PATIENCE, owner="many")
        others = [asyncio.create_task(ask(owner)) for owner in ("one", "another", "one")]
        await asyncio.sleep(0)
        assert pool.waiting == 7
        (tmp_path / "go").touch()
        await asyncio.gather(*first, *many, *others)
        return done

    done = asyncio.run(by(work, each=4))
    assert done == ["many", "one", "another", "many", "one", "many", "many"]


def test_a_slow_task_does_not_keep_another_waiting_nor_the_loop(tmp_path):
    async def work(pool):
        slow = asyncio.create_task(pool.ask(Report(tmp_path / "begun", tmp_path / "go"), PATIENCE))
        while not lines(tmp_path / "begun"):
            await asyncio.sleep(0.01)
        others = [await pool.ask(Report(), PATIENCE) for _ in range(5)]
        assert not slow.done()
        (tmp_path / "go").touch()
        return others, await slow

    others, slow = asyncio.run(by(work, workers=2))
    assert slow not in others and len(set(others)) == 1


def test_steps_of_a_task_are_told():
    told: list[float] = []

    async def work(pool):
        await pool.ask(Report(), 60, told.append)

    asyncio.run(by(work))
    assert told == [0.5]


def test_workers_end_with_the_pool_even_in_the_middle_of_a_task(tmp_path):
    async def work(pool):
        asked = asyncio.create_task(pool.ask(Report(tmp_path / "begun", tmp_path / "never"), 600))
        while not lines(tmp_path / "begun"):
            await asyncio.sleep(0.01)
        return asked

    async def whole():
        asked = await by(work)
        with pytest.raises(WorkError, match="being stopped"):
            await asked

    asyncio.run(whole())
    [pid] = lines(tmp_path / "begun")
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
