"""Strength of the agents: the matches behind docs/benchmarks.md, a line of JSON each.

    python benchmarks/agents.py mcts --seconds 0.1 --workers 16
    python benchmarks/agents.py net --game classic
    python benchmarks/agents.py search --device cuda

Groups: scripted (every scripted bot against random), mcts (against the pool of the Louvain thesis and the scripted
bots), sampling (many sampled positions against one), alphabeta (against the simpler bots), published (pairs of the
Louvain thesis' table 5.1 that can be set side by side); and of the model that is shipped for a variant, or of another
(--model): net (against random and every scripted bot), search (against the same network without search), search-mcts
(against mcts, with the same time a move on the same CPU). Models set up as they learned to.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator

from vauban.arena.match import FORFEIT, OWN, FinishedGame, Match
from vauban.arena.schedule import Job, Schedule
from vauban.arena.statistics import summary
from vauban.work.base import WorkError
from vauban.work.executors import Here, Processes

SCRIPTED = ("charger", "cadet", "fox", "hunter", "hunter:finish=1", "thermal", "thermal:refuse=1", "prober")
LEARNED = ("net", "search", "search-mcts")
LITTLE = "rollouts=200,depth=10,time=0"
"""A smaller search than the paper's, for many games: the shape where none is named."""
SIDE_BY_SIDE = 100
"""Games that a GPU plays at once. All at once would be a little quicker, but if stopped early none would count."""
SIMPLER = ("charger", "hunter", "hunter:finish=1", "thermal", "fox", "prober")


def matches(group: str, asked: argparse.Namespace) -> list[Match]:
    """Return the matches of a group."""
    seconds, variant = asked.seconds, asked.game
    model, device = asked.model or variant, f"device={asked.device}"
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
        "net": [(f"net:{model},{device}", other, variant, asked.games) for other in ("random", *SCRIPTED)],
        "search": [(f"search:{model},{asked.shape},{device}", f"net:{model},{device}", variant, asked.games)],
        "search-mcts": [(f"search:{model},time={seconds}", mcts, variant, asked.games)],
    }
    setups = OWN if group in LEARNED else "human"
    return [Match(a, b, games, variant, seed=asked.seed, setups=setups) for a, b, variant, games in table[group]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", nargs="+")
    parser.add_argument("--seconds", type=float, default=0.1, help="a move of the agent that is measured")
    parser.add_argument("--game", default="barrage", help="of the groups net, search and search-mcts")
    parser.add_argument("--model", help="theirs: a shipped model or a folder; the variant's own, if not given")
    parser.add_argument("--games", type=int, default=400, help="theirs, against each opponent")
    parser.add_argument("--shape", default=LITTLE, help=f"of the group search: its options ({LITTLE})")
    parser.add_argument("--device", default="cpu", help="cuda: networks answer for all games at once, on a GPU")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    wanted = [match for group in asked.group for match in matches(group, asked)]
    done: list[list[FinishedGame]] = [[] for _ in wanted]
    # If Ctrl-C or a limit of time ends this early, the games that were played still count.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    stopped = None
    try:
        play(wanted, done, asked)
    except KeyboardInterrupt:
        stopped = "\nstopped early"
    except WorkError as error:
        stopped = f"\nstopped: {error}"
    for match, finished in zip(wanted, done, strict=True):
        if finished:
            results = sorted((game.result for game in finished), key=lambda result: result.number)
            line = {"first": match.names[0], "second": match.names[1], "game": match.game.name}
            print(json.dumps(line | summary(results)), flush=True)
    sys.exit(stopped)


def play(wanted: list[Match], done: list[list[FinishedGame]], asked: argparse.Namespace) -> None:
    """Play the matches, and put each game down where it belongs."""
    begun = time.perf_counter()
    for place, games in side_by_side(wanted) if asked.device == "cuda" else spread(wanted, asked.workers):
        lost = [game.result.note for game in games if game.result.end == FORFEIT]
        if lost:  # not by playing worse: such games say nothing about strength
            raise WorkError(f"{len(lost)} of {len(games)} games were forfeited, the first since: {lost[0]}")
        done[place] += games
        played = sum(map(len, done))
        print(f"{played} games, {time.perf_counter() - begun:.0f} s", end="\r", file=sys.stderr, flush=True)


def side_by_side(wanted: list[Match]) -> Iterator[tuple[int, list[FinishedGame]]]:
    """Yield the games of each match, many at a time: a GPU answers for all of them at once."""
    for place, match in enumerate(wanted):
        jobs = [
            Job(match, tuple(range(first, min(first + SIDE_BY_SIDE, match.games))))
            for first in range(0, match.games, SIDE_BY_SIDE)
        ]
        for _, games in Here().run(jobs):
            yield place, games


def spread(wanted: list[Match], workers: int | None) -> Iterator[tuple[int, list[FinishedGame]]]:
    """Yield the games of all matches, spread over the cores of this machine."""
    executor = Processes(workers)
    schedule = Schedule([(match, range(match.games)) for match in wanted], executor.workers)
    for index, games in executor.run(schedule):
        schedule.learn(index, games)
        yield schedule.taken[index][0], games


if __name__ == "__main__":
    main()
