"""Time that the opponents of the page take for an answer: a table of Markdown, the weakest opponent first.

    python benchmarks/levels.py geister --player purple:depth=3

Every opponent is asked for its move at the same positions: all of some games that a player plays against itself. One
thread; the time is that of the processor, so that other programs on the machine do not count.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ["OMP_NUM_THREADS"] = "1"

from vauban.agents import make_player
from vauban.agents.base import choose_action, close
from vauban.board import Board, View
from vauban.games.base import game as find_game
from vauban.web.levels import levels


def positions(name: str, player: str, games: int) -> list[View]:
    """Return the views of the player on turn, in all positions of some games."""
    agent = make_player(player, find_game(name), 1)
    found = []
    for seed in range(games):
        board = Board(name, seed=seed)
        while not board.is_over:
            found.append(board.view(board.turn))
            board.push(choose_action(agent, found[-1], seed))
    close(agent)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--player", default="random", help="plays the games")
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--most", type=int, default=60, help="positions at most, spread evenly over the games")
    asked = parser.parse_args()
    views = positions(asked.game, asked.player, asked.games)
    views = views[:: -(-len(views) // asked.most)]
    print(f"{len(views)} positions\n\n| opponent | agent | median | longest |\n| --- | --- | --- | --- |")
    for level in levels():
        if not level.plays(asked.game):
            continue
        agent = make_player(level.agent(asked.game), find_game(asked.game), 1)
        choose_action(agent, views[0], 0)  # compiled, and read from disk
        spent = []
        for seed, view in enumerate(views):
            began = time.process_time()
            choose_action(agent, view, seed)
            spent.append(1000 * (time.process_time() - began))
        close(agent)
        row = (level.name, f"`{level.agent(asked.game)}`", f"{statistics.median(spent):.3g} ms", f"{max(spent):.3g} ms")
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
