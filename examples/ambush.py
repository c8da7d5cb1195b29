"""Ambush, a board game of our own with setups and hidden pieces. Run it: python examples/ambush.py

Three by three squares. Each side places a King and a Guard on its back row, in secret. A move goes one square in any
of the four directions, onto a free square or an enemy. Who takes the King wins; after eight plies it is a draw.

    vauban match random random --game py:examples/ambush.py:Ambush
"""

import numpy as np

from vauban.games.base import DRAW, END, PLAYER, PLIES, WINNER, register
from vauban.games.kernel import kernel
from vauban.games.squares import SquareGame, square_kernels, step
from vauban.observe import base as observations
from vauban.observe.squares import pieces

KING, LIMIT = 1, 8
KING_TAKEN, TOO_LONG = 1, 2  # how a game can end


@kernel
def play(game, action):
    player = np.int64(game.bytes[PLAYER])
    taken = step(game, action)
    if taken == KING:
        game.bytes[END], game.bytes[WINNER] = KING_TAKEN, player
    elif game.words[PLIES] == LIMIT:
        game.bytes[END], game.bytes[WINNER] = TOO_LONG, DRAW


class Ambush(SquareGame):
    name = family = "ambush"
    board, setup_rows, army = (3, 3), 1, {"King": 1, "Guard": 1}
    ends, max_plies = ("", "king_taken", "too_long"), LIMIT
    kernels = square_kernels(play)


register("ambush", Ambush)
observations.register(pieces("ambush"))

if __name__ == "__main__":
    from vauban.games import kit
    from vauban.sim.simulator import Simulator

    kit.check("ambush")
    sim = Simulator("ambush", 10_000, seed=1, restart=False)
    while not sim.over.all():
        sim.step(sim.sample())
    won, lost = ((sim.results.winner == player).double().mean() for player in (0, 1))
    print(f"the contract holds; at random, south wins {won:.1%} and north {lost:.1%} of 10,000 games")
