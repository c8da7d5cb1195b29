"""The page's server under load: many games at once against a scripted agent.

    python benchmarks/web.py                              # 200 games for a minute, people who move after a second
    python benchmarks/web.py --hour                       # an hour's moves of 200 people, five times as fast
    python benchmarks/web.py --games 50 --think 0         # as fast as it goes
    python benchmarks/web.py --levels                     # what an answer of each level costs, and how many games fit

A server of its own is started, with its workers and a shelf on disk, on the same machine as the people, who are
written here: each plays random legal moves over a WebSocket, and begins another game when one is over. They arrive one
after the other; when all are there, it is measured how long it takes from sending a move to seeing the agent's answer,
without the pause that the server makes for people to see it. In the end every game that was begun is opened again,
and has to have all the moves that its player has seen. An hour's moves are one of each person every five seconds.

With --levels one person plays each level in turn, and the processor's seconds of the server and all its workers are
counted: they depend little on what else the machine does. A level that thinks for a time counts with that. From it
follows how many people can play it at once, each a move every five seconds, if three quarters of the processor are to
be used; and by a simulation of their queue how long they wait then (p50, p95), on a machine that does nothing else.

Says on the way what it measures, and prints one JSON object. Exits with 1 if an answer takes 200 ms or more at the
95th percentile, a game is lost, or the server's memory grows by more than a tenth after the first quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

ARRIVING = 10.0
"""Seconds within which all people arrive."""
MOVE_EVERY = 5.0
"""Seconds between two moves of a person, in life."""
MOST_MS, GROWTH = 200, 0.1
WARM_UP, ANSWERS = 10, 150
"""Answers before it is measured what one costs, and those that are measured."""
USED = 0.75
"""The share of the processor that is to be used by games."""
REQUESTS = 200
"""Requests that are timed, one after the other, before the first game."""


def serve(port: int, folder: str) -> None:
    """Run the server as `vauban.web.serve` makes it, behind its own listener, without the pause before an answer."""
    import uvicorn

    from vauban.web.app import make_app, own_names
    from vauban.web.host import Host, Settings
    from vauban.web.levels import levels
    from vauban.web.limits import Limits
    from vauban.web.serve import configuration, listen
    from vauban.web.shelf import Shelf
    from vauban.work.processes import cores

    host = Host(Shelf(Path(folder) / "games.sqlite"), levels(), Settings(delay=0.0, workers=cores(), warm_up=False))
    config = configuration(make_app(host, Limits(paced=False), own_names("127.0.0.1")))
    uvicorn.Server(config).run(sockets=[listen("127.0.0.1", port)])


def time_requests(port: int) -> float:
    """Time requests for the start screen's offer, again and again over one open connection; return the median in
    milliseconds.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    waits = []
    for _ in range(REQUESTS):
        asked = time.perf_counter()
        connection.request("GET", "/api/offer")
        connection.getresponse().read()
        waits.append(time.perf_counter() - asked)
    connection.close()
    return round(1000 * statistics.median(waits), 2)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Load:
    """People at their games, and their measurements."""

    def __init__(self, port: int, level: str, variant: str, think: float, until: float) -> None:
        self.address = f"127.0.0.1:{port}"
        self.level = level
        self.variant = variant
        self.think = think
        self.until = until
        self.enough: int | None = None
        """Moves after which it ends before that."""
        self.arriving = min(ARRIVING, (until - time.monotonic()) / 4)
        self.all_there = time.monotonic() + self.arriving
        self.waits: list[float] = []
        self.finished = 0
        self.failures: list[str] = []
        self.games: dict[str, tuple[str, str, int]] = {}
        """All that were begun: seat, secret, and the number of moves that their player has seen."""

    def is_over(self) -> bool:
        return time.monotonic() > self.until or (self.enough is not None and len(self.waits) >= self.enough)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://{self.address}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    async def person(self, number: int) -> None:
        rng = random.Random(number)
        await asyncio.sleep(rng.random() * self.arriving)
        while not self.is_over():
            try:
                setup = await asyncio.to_thread(self.post, "/api/setups", {"variant": self.variant, "kind": "random"})
                against = {"kind": "level", "level": self.level}
                wanted = {"variant": self.variant, "against": against, "side": rng.choice(["red", "blue"]), **setup}
                made = await asyncio.to_thread(self.post, "/api/games", wanted)
                async with connect(
                    f"ws://{self.address}/ws", origin=Origin(f"http://{self.address}"), compression=None
                ) as ws:
                    await self.game(ws, made, rng)
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
                return

    async def game(self, ws: ClientConnection, made: dict[str, Any], rng: random.Random) -> None:
        [(seat, secret)] = made["seats"].items()
        self.games[made["game"]] = (seat, secret, 0)
        await ws.send(json.dumps({"do": "sit", "game": made["game"], "seat": seat, "secret": secret}))
        asked: float | None = None
        ply = -1
        async for text in ws:
            told = json.loads(text)
            if told["say"] == "error":
                raise RuntimeError(told["text"])
            if told["say"] == "moves":
                self.games[made["game"]] = (seat, secret, told["first"] + len(told["moves"]))
            if told["say"] != "sight" or (told["turn"] != seat and told["over"] is None) or told["ply"] == ply:
                continue
            ply = told["ply"]
            if asked is not None and time.monotonic() > self.all_there:
                self.waits.append(time.perf_counter() - asked)
            if told["over"] is not None:
                self.finished += 1
                return
            if self.is_over():
                return
            if self.think:
                await asyncio.sleep(rng.uniform(0.5, 1.5) * self.think)
            asked = time.perf_counter()
            await ws.send(json.dumps({"do": "move", "move": rng.choice(told["legal"])}))


async def look_again(load: Load) -> list[str]:
    """Open all games again; return those in which a move is missing that their player has seen."""
    waiting = list(load.games.items())
    lost: list[str] = []

    async def check() -> None:
        async with connect(f"ws://{load.address}/ws", origin=Origin(f"http://{load.address}"), compression=None) as ws:
            while waiting:
                game, (seat, secret, seen) = waiting.pop()
                await ws.send(json.dumps({"do": "sit", "game": game, "seat": seat, "secret": secret, "n": game}))
                while (told := json.loads(await ws.recv())).get("n") != game:
                    pass
                if told["say"] != "sight" or told["ply"] < seen:
                    lost.append(game)

    await asyncio.gather(*(check() for _ in range(4)))
    return lost


def family(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def megabytes(pids: list[int]) -> float:
    """Return the memory of processes together; memory that several share counts once."""
    kilobytes = 0
    for pid in pids:
        try:
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    kilobytes += int(line.split()[1])
        except OSError:
            continue
    return round(kilobytes / 1024, 1)


def own_megabytes(pid: int) -> float:
    """Return the memory of a process alone; unlike shares of libraries, it does not depend on other processes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return round(int(status.partition("RssAnon:")[2].split()[0]) / 1024, 1)


def processor_seconds(pids: list[int]) -> float:
    """Return the seconds of the processor that processes have used, with their children that have ended."""
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


async def cost(port: int, server: int, level: str, variant: str) -> dict[str, float]:
    """Return what an answer of a level costs: processor seconds, of all processes and of the server's own, and the
    median of the seconds until it is seen.
    """
    load = Load(port, level, variant, 0.0, time.monotonic() + 3600)
    load.all_there, load.arriving, load.enough = 0.0, 0.0, WARM_UP
    await load.person(0)  # kernels, models, and the processes themselves
    own, all_ = processor_seconds([server]), processor_seconds(family(server))
    load.waits, load.enough = [], ANSWERS
    await load.person(1)
    if load.failures:
        raise RuntimeError(load.failures[0])
    answers = len(load.waits)
    return {
        "processor_s": round((processor_seconds(family(server)) - all_) / answers, 4),
        "server_s": round((processor_seconds([server]) - own) / answers, 4),
        "answer_s": round(statistics.median(load.waits), 3),
    }


def waits(games: int, cores: int, seconds: float) -> tuple[float, float]:
    """Simulate so many people, who move about every five seconds, and answers that take so long, one core each; return
    the median and the 95th percentile of how long an answer takes.
    """
    rng = random.Random(1)
    free = [0.0] * cores
    moves = sorted((rng.uniform(0, 2 * MOVE_EVERY), person) for person in range(games))
    heapq.heapify(moves)
    found = []
    for _ in range(200 * games):
        now, person = heapq.heappop(moves)
        done = max(now, heapq.heappop(free)) + seconds
        heapq.heappush(free, done)
        found.append(done - now)
        heapq.heappush(moves, (done + rng.uniform(0.5, 1.5) * MOVE_EVERY, person))
    cuts = statistics.quantiles(found[len(found) // 4 :], n=100)
    return round(cuts[49], 3), round(cuts[94], 3)


async def measure_levels(variant: str, port: int, server: int) -> dict[str, Any]:
    from vauban.web.levels import levels

    cores, rows = len(os.sched_getaffinity(0)), []
    for level in levels():
        if not level.plays(variant):
            continue
        row: dict[str, Any] = {"level": level.key} | await cost(port, server, level.key, variant)
        thinks = level.seconds if "time=" in level.agent(variant) else 0.0
        row["counted_s"] = max(row["processor_s"], thinks)
        # The server itself has one core.
        row["games_at_once"] = int(USED * MOVE_EVERY * min(cores / row["counted_s"], 1 / row["server_s"]))
        row["p50_s"], row["p95_s"] = waits(row["games_at_once"], cores, row["counted_s"])
        spent, games = row["processor_s"], row["games_at_once"]
        say(f"{level.name}: {spent} s of a core an answer, {games} games at once, 95 % within {row['p95_s']} s")
        rows.append(row)
    return {"variant": variant, "cores": cores, "levels": rows, "with_workers_mb": megabytes(family(server))}


async def measure(options: argparse.Namespace, port: int, server: int) -> dict[str, Any]:
    load = Load(port, options.level, options.game, options.think, time.monotonic() + options.seconds)
    if options.hour:
        load.enough = round(3600 / MOVE_EVERY) * options.games
    people = [asyncio.create_task(load.person(number)) for number in range(options.games)]
    memory, sizes = [], []
    begun = time.monotonic()
    step = 30.0 if options.hour else max(1.0, options.seconds / 10)
    while any(not person.done() for person in people):
        await asyncio.wait(people, timeout=step)
        memory.append(own_megabytes(server))
        sizes.append(await asyncio.to_thread(lambda: megabytes(family(server))))
        say(f"{len(load.waits):,} moves, {len(load.games):,} games, server {memory[-1]} MB, all {sizes[-1]} MB")
    seconds = time.monotonic() - begun
    lost = await look_again(load)
    waits = sorted(load.waits)
    early = memory[len(memory) // 4]
    cuts = statistics.quantiles(waits, n=100) if len(waits) > 1 else [0.0] * 99
    return {
        "games_at_once": options.games,
        "level": options.level,
        "variant": options.game,
        "think_seconds": options.think,
        "seconds": round(seconds, 1),
        "cores": len(os.sched_getaffinity(0)),
        "moves": len(waits),
        "hours_of_people": round(len(waits) * MOVE_EVERY / options.games / 3600, 2),
        "moves_per_second": round(len(waits) / (seconds - load.arriving), 1),
        "games_begun": len(load.games),
        "games_finished": load.finished,
        "games_lost": len(lost),
        "failures": load.failures[:5],
        "failed": len(load.failures),
        "p50_ms": round(1000 * cuts[49], 1),
        "p95_ms": round(1000 * cuts[94], 1),
        "p99_ms": round(1000 * cuts[98], 1),
        "max_ms": round(1000 * waits[-1], 1) if waits else None,
        "server_growth": round(memory[-1] / early - 1, 3) if early else None,
        "server_mb": memory,
        "with_workers_mb": sizes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200, help="games at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long")
    parser.add_argument("--hour", action="store_true", help="as long as it takes to play what people play in an hour")
    parser.add_argument("--levels", action="store_true", help="what an answer of each level costs")
    parser.add_argument("--think", type=float, default=1.0, help="seconds that a person thinks, on average")
    parser.add_argument("--level", default="cadet")
    parser.add_argument("--game", default="barrage")
    parser.add_argument("--server", nargs=2, metavar=("PORT", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.server:
        serve(int(options.server[0]), options.server[1])
        return
    if options.hour:
        options.seconds = 3600.0
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([sys.executable, __file__, "--server", str(port), folder])
        try:
            load = Load(port, options.level, options.game, 0, 0)
            while True:
                try:
                    setup = load.post("/api/setups", {"variant": options.game, "kind": "human"})
                    break
                except OSError:
                    time.sleep(0.1)
            against = {"kind": "watch", "red": options.level, "blue": options.level}
            load.post("/api/games", {"variant": options.game, "against": against, **setup})
            requests = {"request_p50_ms": time_requests(port)}
            say(f"a request, nobody playing: {requests['request_p50_ms']} ms")
            if options.levels:
                print(json.dumps(requests | asyncio.run(measure_levels(options.game, port, server.pid))))
                return
            found = requests | asyncio.run(measure(options, port, server.pid))
        finally:
            server.terminate()
            server.wait(20)
    grown = found["server_growth"] is not None and found["server_growth"] > GROWTH
    say(f"p95 of an answer {found['p95_ms']} ms: {'under' if found['p95_ms'] < MOST_MS else 'NOT UNDER'} {MOST_MS} ms")
    say(f"games lost: {found['games_lost']} of {found['games_begun']:,}; people who had to give up: {found['failed']}")
    say(f"memory after the first quarter: {found['server_growth']:+.1%}{' (NOT FLAT)' if grown else ''}")
    print(json.dumps(found))
    sys.exit(int(found["p95_ms"] >= MOST_MS or bool(found["games_lost"]) or bool(found["failed"]) or grown))


if __name__ == "__main__":
    main()
