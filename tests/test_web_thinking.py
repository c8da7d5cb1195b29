"""Thinking in processes: workers that die, hang, fail or have too much to do, and nobody who waits in vain."""

from __future__ import annotations

import asyncio
import multiprocessing.process
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from web_server import BLUE, RED, wait_until

from vauban.board import Board, View
from vauban.errors import ConfigurationError
from vauban.notation.moves import Move
from vauban.web import thinking as module
from vauban.web.thinking import (
    BusyError,
    ChooseMove,
    ChooseSetup,
    Thinking,
    ThinkingError,
    WarmUp,
    WeighDraw,
    draw_setup,
)


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
    """Ends its process, so many times."""

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
    """What some work with a few workers brings."""
    thinking = Thinking(workers, **options)
    thinking.start()
    try:
        return await work(thinking)
    finally:
        await thinking.close()


def lines(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def test_a_worker_that_dies_is_replaced_and_the_task_asked_again(tmp_path):
    async def work(thinking):
        first = await thinking.ask(Report(), 30)
        assert await thinking.ask(Die(tmp_path / "log", 1), 30) == "alive"
        os.kill(await thinking.ask(Report(), 30), signal.SIGKILL)  # while it has nothing to do
        return first, await thinking.ask(Report(), 30)

    first, last = asyncio.run(by(work))
    assert first != last != os.getpid()
    assert (tmp_path / "log").read_text() == "xx"


def test_a_task_that_kills_every_process_ends_with_a_sentence(tmp_path):
    async def work(thinking):
        with pytest.raises(ThinkingError, match="has ended 3 times in a row"):
            await thinking.ask(Die(tmp_path / "log", 99), 30)
        return await thinking.ask(Report(), 30)

    assert asyncio.run(by(work))


def failing_starts(monkeypatch, times: int) -> list[str]:
    """Have the next so many processes fail to start, as where the system has no room for one; returns which did."""
    start, failed = multiprocessing.process.BaseProcess.start, []

    def start_or_fail(process):
        if len(failed) < times:
            failed.append(process.name)
            raise BlockingIOError(11, "Resource temporarily unavailable")
        start(process)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start_or_fail)
    return failed


@pytest.mark.parametrize("times", [1, module.ATTEMPTS])
def test_a_process_that_cannot_be_started_costs_no_more_than_the_task_that_wanted_it(monkeypatch, caplog, times):
    async def work(thinking):
        failed = failing_starts(monkeypatch, times)
        if times == module.ATTEMPTS:
            with pytest.raises(ThinkingError, match="3 times in a row"):
                await asyncio.wait_for(thinking.ask(Report(), 30), 60)
        found = await asyncio.wait_for(thinking.ask(Report(), 30), 60)
        return found, failed

    found, failed = asyncio.run(by(work))
    assert found != os.getpid() and len(failed) == times
    assert caplog.text.count("Resource temporarily unavailable") == times


def test_whatever_goes_wrong_around_a_task_is_told_to_whoever_asked_and_the_next_is_answered(monkeypatch, caplog):
    async def work(thinking):
        submit = thinking._threads.submit

        def once(*args):
            monkeypatch.setattr(thinking._threads, "submit", submit)
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(thinking._threads, "submit", once)
        with pytest.raises(ThinkingError, match="could not be thought about"):
            await asyncio.wait_for(thinking.ask(Report(), 30), 60)
        return await asyncio.wait_for(thinking.ask(Report(), 30), 60)

    assert asyncio.run(by(work))
    assert "can't start new thread" in caplog.text


def test_a_task_that_cannot_be_sent_is_answered_with_a_sentence():
    async def work(thinking):
        with pytest.raises(ThinkingError, match="could not be thought about"):
            await thinking.ask(Fail(lambda: None), 30)
        return await thinking.ask(Report(), 30)

    assert asyncio.run(by(work))


def test_a_worker_that_takes_too_long_is_replaced_and_whoever_asked_is_told(tmp_path):
    async def work(thinking):
        await thinking.ask(Report(), 30)
        with pytest.raises(ThinkingError, match="longer than 0.2 seconds"):
            await thinking.ask(Report(tmp_path / "begun", tmp_path / "never"), 0.2)
        return str(await thinking.ask(Report(), 30))

    assert asyncio.run(by(work)) not in lines(tmp_path / "begun")


def test_an_agents_error_is_told_as_it_is_and_the_worker_goes_on():
    async def work(thinking):
        for task, words in ((Fail(True), "The wheel is broken."), (Fail(False), "KeyError: 'wheel'")):
            with pytest.raises(ThinkingError) as error:
                await thinking.ask(task, 30)
            assert str(error.value) == words
        with pytest.raises(ThinkingError, match="no agent 'nobody'"):
            await thinking.ask(ChooseSetup("nobody", 0, "barrage", 0), 30)
        return await thinking.ask(Report(), 30)

    assert asyncio.run(by(work))


def test_a_task_that_nobody_waits_for_any_more_gives_its_worker_back(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GRACE", 0.05)

    async def work(thinking):
        asked = asyncio.create_task(thinking.ask(Report(tmp_path / "begun", tmp_path / "never"), 600))
        waiting = asyncio.create_task(thinking.ask(Report(tmp_path / "begun"), 600))
        while not lines(tmp_path / "begun"):
            await asyncio.sleep(0.01)
        asked.cancel()
        waiting.cancel()  # in the queue: never begun
        found = await thinking.ask(Report(), 30)
        return str(found), lines(tmp_path / "begun")

    found, begun = asyncio.run(by(work))
    assert len(begun) == 1 and found not in begun


async def queued(thinking, folder, number):
    """A task that goes on when there is a file `go` in the folder, and so many that wait behind it."""
    asked = [asyncio.create_task(thinking.ask(Report(folder / "begun", folder / "go"), 60))]
    while not lines(folder / "begun"):
        await asyncio.sleep(0.01)
    asked += [asyncio.create_task(thinking.ask(Report(), 60)) for _ in range(number)]
    await asyncio.sleep(0)
    return asked


def test_whoever_gives_up_waiting_leaves_his_place_in_the_queue(tmp_path):
    async def work(thinking):
        asked = await queued(thinking, tmp_path, 2)
        with pytest.raises(BusyError):
            await thinking.ask(Report(), 60)
        asked[1].cancel()
        await asyncio.gather(asked[1], return_exceptions=True)
        asked[1] = asyncio.create_task(thinking.ask(Report(), 60))
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await thinking.ask(Report(), 60)
        (tmp_path / "go").touch()
        return await asyncio.gather(*asked)

    assert len(asyncio.run(by(work, queue=2))) == 3


def test_the_queue_is_bounded(tmp_path):
    async def work(thinking):
        asked = await queued(thinking, tmp_path, 3)
        with pytest.raises(BusyError, match="too much to think about"):
            await thinking.ask(Report(), 60)
        (tmp_path / "go").touch()
        return await asyncio.gather(*asked)

    assert len(asyncio.run(by(work, queue=3))) == 4


def test_a_slow_thought_does_not_keep_another_waiting_nor_the_loop(tmp_path):
    async def work(thinking):
        slow = asyncio.create_task(thinking.ask(Report(tmp_path / "begun", tmp_path / "go"), 60))
        while not lines(tmp_path / "begun"):
            await asyncio.sleep(0.01)
        others = [await thinking.ask(Report(), 60) for _ in range(5)]
        assert not slow.done()
        (tmp_path / "go").touch()
        return others, await slow

    others, slow = asyncio.run(by(work, workers=2))
    assert slow not in others and len(set(others)) == 1


def test_steps_of_a_task_are_told():
    told: list[float] = []

    async def work(thinking):
        await thinking.ask(Report(), 60, told.append)

    asyncio.run(by(work))
    assert told == [0.5]


def test_workers_end_with_the_thinking_even_in_the_middle_of_a_thought(tmp_path):
    async def work(thinking):
        asked = asyncio.create_task(thinking.ask(Report(tmp_path / "begun", tmp_path / "never"), 600))
        while not lines(tmp_path / "begun"):
            await asyncio.sleep(0.01)
        return asked

    async def whole():
        asked = await by(work)
        with pytest.raises(ThinkingError, match="being stopped"):
            await asked

    asyncio.run(whole())
    [pid] = lines(tmp_path / "begun")
    wait_until(lambda: not Path(f"/proc/{pid}").exists())


def test_agents_set_up_move_and_warm_up_in_a_worker_as_they_do_here():
    board = Board.from_setups(RED, BLUE, "barrage")

    async def work(thinking):
        setup = await thinking.ask(ChooseSetup("cadet", 5, "barrage", 1), 60)
        human = draw_setup("human", 5, "barrage")
        move = await thinking.ask(ChooseMove("cadet", 5, board.view(0)), 60)
        await thinking.ask(WarmUp("charger", "fives"), 60)
        return setup, human, move

    setup, human, move = asyncio.run(by(work, warm_ups=[WarmUp("charger", "barrage")]))
    assert Board.from_setups(setup, human, "barrage")
    assert Move(*move) in board.legal_moves
    assert setup == ChooseSetup("cadet", 5, "barrage", 1).run(print)
    assert move == ChooseMove("cadet", 5, board.view(0)).run(print)


# ── Draws ────────────────────────────────────────────────────────────────────────────────────────


def view_after(*moves: str, player: int) -> View:
    board = Board.from_setups(RED, BLUE, "barrage")
    for move in moves:
        board.push(move)
    while board.turn != player:
        board.pop()
    return board.view(player)


def test_an_agent_that_cannot_judge_weighs_a_draw_by_what_the_armies_are_worth():
    level = view_after("e3e4", "d8d7", player=0)
    assert WeighDraw("cadet", 0, level).run(print) == (False, "play")
    # Blue's Marshal strikes the Bomb on a2: blue is behind from then on.
    ahead = Board.from_setups(RED, "..F....S../..B...G.../...N....../OO.......M", "barrage")
    for move in "e3e4 a7a6 e4e5 a6a5 e5e6 a5a4 e6e5 a4a3 e5e4 a3a2 h3h4".split():  # noqa: SIM905
        ahead.push(move)
    assert WeighDraw("cadet", 0, ahead.view(1)).run(print) == (True, "weaker")
    assert WeighDraw("cadet", 0, ahead.view(0)).run(print) == (False, "stronger")


def test_in_a_dead_game_a_level_draw_is_taken():
    board = Board.from_setups(RED, BLUE, "barrage")
    dance = ["e3e4", "d8d7", "h3h4", "g8g7", "e4e3", "d7d8", "h4h3", "g7g8"]
    for ply in range(module.QUIET):
        board.push(dance[ply % 8])
    assert WeighDraw("cadet", 0, board.view(0)).run(print) == (True, "quiet")


@pytest.mark.parametrize(
    "agent", ["net:barrage", "search:barrage,time=1", "mcts:sims=400,time=0", "alphabeta:nodes=4000"]
)
def test_a_level_that_can_judge_weighs_a_draw_by_what_it_expects_itself(agent):
    """Blue's Marshal has been lost on a Bomb, and both know what that means."""
    board = Board.from_setups(RED, "..F....S../..B...G.../...N....../OO.......M", "barrage")
    for move in "e3e4 a7a6 e4e5 a6a5 e5e6 a5a4 e6e5 a4a3 e5e4 a3a2 h3h4".split():  # noqa: SIM905
        board.push(move)
    assert WeighDraw(agent, 0, board.view(1)).run(print) == (True, "less")
    board.pop()
    assert WeighDraw(agent, 0, board.view(0)).run(print) == (False, "more")


@pytest.mark.parametrize("agent", ["mcts:sims=400,time=0", "alphabeta:nodes=4000"])
def test_a_level_that_looks_ahead_declines_a_draw_when_it_is_about_to_win_though_its_army_is_the_weaker(agent):
    """Red has a Scout against the Marshal, but it stands beside the only piece that has not moved: the Flag."""
    board = Board.from_position("f9/O'!9/10/10/2~~2~~2/2~~2~~2/10/10/5m'!4/9F r 40 0 -,- 0:-,0:-", "barrage")
    assert WeighDraw(agent, 0, board.view(0)).run(print) == (False, "more")


@pytest.mark.parametrize("agent", ["net:barrage", "mcts:sims=400,time=0", "alphabeta:nodes=4000"])
def test_what_an_agent_says_to_a_draw_depends_on_nothing_that_is_hidden_from_it(agent):
    said = []
    for blue in (BLUE, BLUE.replace("F", "x").replace("S", "F").replace("x", "S")):
        board = Board.from_setups(RED, blue, "barrage")
        for move in ("e3e4", "d8d7"):
            board.push(move)
        said.append((module._foresight(agent, 0, board.view(0)), board.view(0).text))
    assert said[0] == said[1]
