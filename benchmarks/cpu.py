"""The figures of docs/benchmarks.md that need no GPU, and peers on the same machine.

    python benchmarks/cpu.py [--quick]

Prints one line of JSON for each figure as it is measured, then all of them as a table. A figure is
the median of several runs. Peers are measured if they are installed
(pip install -r benchmarks/requirements-peers.txt), by turns with ours, one thread each: the ratio is
the median of the ratios of neighbouring runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numba
import torch

from vauban import bench
from vauban.board import Board
from vauban.games.base import game
from vauban.sim.simulator import Simulator

GAMES = bench.DEFAULT_GAMES["cpu"]
VARIANTS = ("classic", "barrage", "medium")
START = (
    "from vauban import Simulator; sim = Simulator('classic', 1, seed=1, threads=1); sim.step(sim.sample()); "
    "print(int(sim.plies[0]))"
)
PEER_ROUNDS = 5
TEXTARENA_PLIES = 2000
"""Plies after which a game of TextArena's Stratego, which has no limit, is left."""
INSTALL = "pip install -r benchmarks/requirements-peers.txt"

Rate = Callable[[float], float]
"""(seconds) → plies a second."""

rows: list[tuple[str, str, str]] = []


def tell(figure: str, value: str, unit: str, **line: Any) -> None:
    """Print a figure as JSON, and keep it for the table."""
    print(json.dumps(line), flush=True)
    rows.append((figure, value, unit))


# ── Ours ─────────────────────────────────────────────────────────────────────────────────────────


def bench_play(seconds: float, threads: list[int]) -> None:
    """Measure random play, with and without what observations need: step by step, and many plies in one call."""
    ways = (("sim", "sample and step", bench.bench_sim), ("rollout", "play_random", bench.bench_rollout))
    for variant in VARIANTS:
        for count in threads:
            for tracks in (True, False):
                for name, title, measure in ways:
                    simulator = bench.make(game(variant), GAMES, "cpu", count, tracks)
                    rate = round(measure(simulator, seconds))
                    figure = f"{variant}, {title}, {_threads(count)}, {'with' if tracks else 'without'} tracks"
                    tell(figure, f"{rate / 1e6:.2f}", "M plies/s", bench=name, variant=variant, games=GAMES,
                         threads=count, tracks=tracks, plies_per_second=rate)  # fmt: skip


def bench_seen(seconds: float, threads: list[int]) -> None:
    """Measure masks of legal actions, and observations."""
    for count in threads:
        rate = round(bench.bench_mask(bench.make(game("classic"), GAMES, "cpu", count, True), seconds))
        tell(f"classic, legal_mask, {_threads(count)}", f"{rate / 1e6:.2f}", "M states/s", bench="mask",
             variant="classic", games=GAMES, threads=count, states_per_second=rate)  # fmt: skip
        for name, dtype in (
            ("ataraxos", torch.bfloat16), ("ataraxos", torch.float32),
            ("deepnash", torch.bfloat16), ("deepnash", torch.float32),
        ):  # fmt: skip
            simulator = bench.make(game("classic"), GAMES, "cpu", count, True)
            rate = round(bench.bench_observe(simulator, seconds, name, dtype, "planes"))
            kind = str(dtype).removeprefix("torch.")
            tell(f"classic, observe {name} {kind}, {_threads(count)}", f"{rate / 1e3:.1f}", "k states/s",
                 bench="observe", variant="classic", observation=name, dtype=kind, games=GAMES, threads=count,
                 states_per_second=rate)  # fmt: skip


def bench_records() -> None:
    """Measure the bytes of a game."""
    for variant in VARIANTS:
        sizes = [bench.make(game(variant), 1, "cpu", 1, tracks).record_bytes for tracks in (True, False)]
        tell(f"{variant}, record with tracks / without", f"{sizes[0]:,} / {sizes[1]:,}", "bytes", bench="record",
             variant=variant, record_bytes=sizes[0], record_bytes_without_tracks=sizes[1])  # fmt: skip


def bench_start(times: int) -> None:
    """Measure a new process, from its beginning to the first step of a game, with compiled kernels on disk."""
    command = [sys.executable, "-c", START]
    subprocess.run(command, check=True, capture_output=True)  # fills the cache
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - begun)
    seconds = statistics.median(taken)
    tell("new process to first step, kernels on disk", f"{seconds:.2f}", "s", bench="start", variant="classic",
         seconds=round(seconds, 3))  # fmt: skip


# ── Peers ────────────────────────────────────────────────────────────────────────────────────────


def bench_peers(seconds: float) -> None:
    """Measure the same play by others, on this machine and in this run."""
    if _installed("textarena"):
        theirs = textarena_rate()
        for title, ours in (("Board", board_rate()), ("Simulator", simulator_rate("classic"))):
            compare("Stratego", f"TextArena {version('textarena')}", title, theirs, ours, seconds)
    if _installed("open_spiel"):
        for name, theirs_name in (("kuhn", "kuhn_poker"), ("leduc", "leduc_poker")):
            peer = f"OpenSpiel {version('open_spiel')}"
            compare(name, peer, "Simulator", openspiel_rate(theirs_name), simulator_rate(name), seconds)


def compare(what: str, peer: str, title: str, theirs: Rate, ours: Rate, seconds: float) -> None:
    """Measure both by turns."""
    pairs = [(theirs(seconds), ours(seconds)) for _ in range(PEER_ROUNDS)]
    rate, our_rate = (statistics.median(each) for each in zip(*pairs, strict=True))
    ratio = statistics.median(mine / other for other, mine in pairs)
    tell(f"{what}, random play, 1 thread: {title} / {peer}", f"{our_rate:,.0f} / {rate:,.0f} = {ratio:,.1f}×",
         "plies/s", bench="peer", game=what, peer=peer, ours=title, plies_per_second=round(our_rate),
         peer_plies_per_second=round(rate), ratio=round(ratio, 1))  # fmt: skip


def simulator_rate(name: str) -> Rate:
    """Return the rate of ours, many games at once, sample and step."""
    simulator = Simulator(name, GAMES, seed=1, threads=1)
    actions = simulator.sample()

    def rate(seconds: float) -> float:
        def work() -> int:
            for _ in range(20):
                simulator.sample(actions)
                simulator.step(actions, check=False)
            return 20 * GAMES

        return _timed(work, seconds)

    rate(0.1)  # compiles
    return rate


def board_rate() -> Rate:
    """Return the rate of ours, one game at a time from Python: the list of legal moves, one of them pushed."""
    rng = random.Random(1)

    def play() -> int:
        board = Board.random("classic", rng.randrange(2**31))
        while not board.is_over:
            board.push(rng.choice(board.legal_moves))
        return board.plies

    play()  # compiles
    return lambda seconds: _timed(play, seconds)


def textarena_rate() -> Rate:
    """Return the rate of TextArena's Stratego: the moves that it offers in its text, one of them played.

    Version 0.7.4 asks for three precautions. A second reset of one environment never returns, so
    every game has a new one. Some games stop with a TypeError some time after a Miner has taken a
    Bomb, and some go on although a player has no movable piece: both are left there, and what was
    played counts. Its rules have no repetition rules and no limits.
    """
    import textarena

    listed = re.compile(r"\[[A-J]\d [A-J]\d\]")
    rng = random.Random(1)

    def play() -> int:
        env = textarena.make("Stratego-v0-raw")
        env.reset(num_players=2, seed=rng.randrange(2**31))
        for ply in range(TEXTARENA_PLIES):
            _, messages = env.get_observation()
            moves = listed.findall(messages[-1][1].partition("Available Moves:")[2])
            if not moves:
                return ply
            try:
                done, _ = env.step(rng.choice(moves))
            except TypeError:
                return ply
            if done:
                return ply + 1
        return TEXTARENA_PLIES

    return lambda seconds: _timed(play, seconds)


def openspiel_rate(name: str) -> Rate:
    """Return the rate of OpenSpiel's game, driven from Python one state at a time; its chance events are drawn too, and
    not counted.
    """
    import pyspiel

    played = pyspiel.load_game(name)
    rng = random.Random(1)

    def play() -> int:
        plies = 0
        for _ in range(100):
            state = played.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    events, weights = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(events, weights)[0])
                else:
                    state.apply_action(rng.choice(state.legal_actions()))
                    plies += 1
        return plies

    return lambda seconds: _timed(play, seconds)


def _timed(work: Callable[[], int], seconds: float) -> float:
    plies, begun = 0, time.perf_counter()
    while True:
        plies += work()
        taken = time.perf_counter() - begun
        if taken >= seconds:
            return plies / taken


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        print(f"{package} is not installed, so there is no comparison with it: {INSTALL}", file=sys.stderr)
        return False
    return True


# ── All of it ────────────────────────────────────────────────────────────────────────────────────


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def machine() -> dict[str, Any]:
    """Return the machine and the date of the figures."""
    info = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else []
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {
        "machine": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "torch": torch.__version__,
        "commit": commit,
        "date": date.today().isoformat(),
    }


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter runs: to see that it works, not for the docs")
    quick = parser.parse_args().quick
    seconds = 0.2 if quick else 3.0
    threads = [count for count in (1, 2) if count <= (os.cpu_count() or 1)]
    print(json.dumps(machine()), flush=True)
    bench_play(seconds, threads)
    bench_seen(seconds, threads)
    bench_records()
    bench_start(3 if quick else 7)
    bench_peers(seconds / 2)
    print("\n| what | figure | unit |\n| --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
