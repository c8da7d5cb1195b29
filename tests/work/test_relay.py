"""A pool far away with one on this machine behind it: a caller gets an answer whatever happens to the far one."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from nearby import Broken, Nearby, Refuses, Report
from patience import PATIENCE
from web_server import wait_until

from vauban.work import relay as module
from vauban.work.base import BusyError, WorkError
from vauban.work.pool import Pool
from vauban.work.relay import Relay, keep_connected


async def by(work, cluster: Nearby, **options):
    """Return the results of some work with a relay to this cluster."""
    far, near = Pool(cluster.workers, hire=cluster.hire, **options), Pool(1)
    relay = Relay(cluster, far, near)
    near.start()
    relay.start()
    try:
        return await work(relay, near)
    finally:
        await relay.close()
        await near.close()


def test_what_is_asked_is_done_far_away_and_here_while_the_cluster_is_lost():
    cluster, told = Nearby(), []

    async def work(relay, near):
        here = await near.ask(Report(), PATIENCE)
        far = await relay.ask(Report(), PATIENCE, told.append)
        cluster.cut()
        meanwhile = await relay.ask(Report(), PATIENCE)
        cluster.connect()
        return here, far, meanwhile, await relay.ask(Report(), PATIENCE)

    here, far, meanwhile, again = asyncio.run(by(work, cluster))
    assert far != here == meanwhile and again not in (here, far)
    assert told == [0.5]


def test_a_task_whose_cluster_is_lost_in_the_midst_of_it_is_done_here(tmp_path):
    cluster, begun = Nearby(), tmp_path / "begun"

    async def work(relay, near):
        here = await near.ask(Report(), PATIENCE)
        asked = asyncio.create_task(relay.ask(Report(begun, tmp_path / "go"), PATIENCE))
        await asyncio.to_thread(wait_until, begun.exists)
        far = int(begun.read_text())
        (tmp_path / "go").touch()
        cluster.cut()
        return here, far, await asked

    here, far, done = asyncio.run(by(work, cluster))
    assert far != here and done in (here, far)


def test_a_far_worker_that_is_killed_is_replaced_far_away(tmp_path):
    async def work(relay, near):
        far = await relay.ask(Report(), PATIENCE)
        asked = asyncio.create_task(relay.ask(Report(tmp_path / "begun", tmp_path / "go"), PATIENCE))
        await asyncio.to_thread(wait_until, (tmp_path / "begun").exists)
        os.kill(far, signal.SIGKILL)
        (tmp_path / "go").touch()
        return await near.ask(Report(), PATIENCE), far, await asked

    here, far, done = asyncio.run(by(work, Nearby()))
    assert done not in (here, far)


def test_what_cannot_be_done_far_away_is_done_here_and_it_is_said_why_once(caplog):
    async def work(relay, near):
        far = await relay.ask(Report(), PATIENCE)
        found = [await relay.ask(Refuses(far), PATIENCE) for _ in range(2)]
        with pytest.raises(WorkError, match="KeyError"):
            await relay.ask(Broken(), PATIENCE)
        return await near.ask(Report(), PATIENCE), found

    here, found = asyncio.run(by(work, Nearby()))
    assert found == [here, here]
    assert caplog.text.count("not here") == 1


def test_a_full_queue_far_away_is_told_and_does_not_fill_the_one_here(tmp_path):
    async def work(relay, near):
        begun = tmp_path / "begun"
        asked = [asyncio.create_task(relay.ask(Report(begun, tmp_path / "go"), PATIENCE))]
        await asyncio.to_thread(wait_until, begun.exists)
        asked.append(asyncio.create_task(relay.ask(Report(), PATIENCE)))
        await asyncio.sleep(0)
        assert relay.waiting == 1
        with pytest.raises(BusyError):
            await relay.ask(Report(), PATIENCE)
        (tmp_path / "go").touch()
        await asyncio.gather(*asked)

    asyncio.run(by(work, Nearby(), queue=1))


def test_a_lost_cluster_is_reached_again_and_both_are_told(monkeypatch):
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.0)
    cluster, told = Nearby(), []
    cluster.cut(refusals=2)

    async def work():
        keeping = asyncio.create_task(keep_connected(cluster, told.append))
        await asyncio.to_thread(wait_until, lambda: told == [False, True])
        keeping.cancel()

    asyncio.run(work())
    assert cluster.connected and cluster.attempts == 3
