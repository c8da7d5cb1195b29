"""How strong the agents are: the matches behind docs/benchmarks.md, a line of JSON each.

    python benchmarks/agents.py mcts --seconds 0.1 --workers 16

Groups: scripted (every scripted bot against random), mcts (against the pool of the Louvain thesis and the scripted
bots), sampling (many sampled positions against one), alphabeta (against the simpler bots), published (pairs of the
Louvain thesis' table 5.1 and of P2SRO's table 1 that can be set side by side).
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time

from vauban.arena.executors import Processes
from vauban.arena.match import FinishedGame, Match
from vauban.arena.schedule import Schedule
from vauban.arena.statistics import summary

SCRIPTED = ("charger", "fox", "hunter", "hunter:finish=1", "thermal", "thermal:refuse=1", "prober")
SIMPLER = ("charger", "hunter", "hunter:finish=1", "thermal", "fox", "prober")


def matches(group: str, seconds: float, seed: int) -> list[Match]:
    """The matches of a group."""
    mcts, alphabeta = f"mcts:time={seconds}", f"alphabeta:time={seconds}"
    table: dict[str, list[tuple[str, str, str, int]]] = {
        "scripted": [(bot, "random", "classic", 200) for bot in SCRIPTED],
        "mcts": [
            (mcts, other, variant, games)
            for variant, games in (("classic", 60), ("barrage", 200))
            for other in ("random", "mcts-vanilla", *SIMPLER)
        ],
        "sampling": [
            (mcts, f"{mcts},resample=0", "barrage", 400),
            (mcts, f"{mcts},resample=0", "classic", 60),
        ],
        "alphabeta": [
            (alphabeta, other, variant, games)
            for variant, games in (("classic", 20), ("barrage", 50))
            for other in ("charger", "hunter", "thermal", "fox", "prober")
        ],
        "published": [
            ("mcts-louvain", "charger", "classic", 100),
            ("mcts-louvain", "hunter", "classic", 100),
            ("mcts-louvain", "random", "classic", 100),
            ("mcts-louvain", "mcts-vanilla", "classic", 100),
            ("charger", "hunter", "classic", 100),
            ("charger", "mcts-vanilla", "classic", 100),
            ("hunter", "mcts-vanilla", "classic", 100),
        ],
    }
    return [Match(a, b, games, variant, seed=seed) for a, b, variant, games in table[group]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", nargs="+")
    parser.add_argument("--seconds", type=float, default=0.1, help="a move of the agent that is measured")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    wanted = [match for group in asked.group for match in matches(group, asked.seconds, asked.seed)]
    executor = Processes(asked.workers)
    schedule = Schedule([(match, range(match.games)) for match in wanted], executor.workers)
    done: list[list[FinishedGame]] = [[] for _ in wanted]
    begun = time.perf_counter()
    # Ended early, by Ctrl-C or by a limit of time, the games that were played still count.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for index, games in executor.run(schedule):
            schedule.learn(index, games)
            done[schedule.taken[index][0]] += games
            played = sum(map(len, done))
            print(f"{played} games, {time.perf_counter() - begun:.0f} s", end="\r", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("\nstopped early", file=sys.stderr)
    for match, finished in zip(wanted, done, strict=True):
        if finished:
            results = sorted((game.result for game in finished), key=lambda result: result.number)
            line = {"first": match.names[0], "second": match.names[1], "variant": match.game.variant.name}
            print(json.dumps(line | summary(results)), flush=True)


if __name__ == "__main__":
    main()
