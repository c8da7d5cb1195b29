"""Liar's coin, a game of our own. Run it: python examples/adding_a_game.py

A coin is tossed and only the first player sees it, who claims that it shows heads, or gives up and
loses 1. The second player believes the claim and loses 1, or doubts it: then 2 go to who was right.
"""

from typing import Any

import numpy as np

from vauban.games.base import CHANCE, END, NOBODY, NUMBER, OWN, PLAYER, PLIES, STEP, WINNER, Kernels, register
from vauban.games.kernel import ONE, ZERO, kernel
from vauban.games.small import NONE, UNKNOWN, SmallGame, even_chance, no_setup, no_start, refuse_rules
from vauban.observe import base as observations
from vauban.observe.base import put
from vauban.observe.small import no_levels
from vauban.sim.simulator import Simulator

COIN, BYTES = OWN, OWN + 1  # our one byte: what the coin shows
HEADS, TAILS = 0, 1
GIVE_UP, CLAIM, BELIEVE, DOUBT = 0, 1, 0, 1
GIVEN_UP, BELIEVED, DOUBTED = 1, 2, 3  # how a game can end


@kernel
def begin(game, start):
    game.words[PLIES] = ZERO
    game.bytes[PLAYER], game.bytes[COIN] = CHANCE, NONE
    game.bytes[END], game.bytes[WINNER], game.bytes[STEP] = 0, NOBODY, 0


@kernel
def legal_count(game):
    return 2 if game.bytes[END] == 0 else 0  # give up and claim, believe and doubt; for chance, heads and tails


@kernel
def legal_action(game, index):
    return index


@kernel
def is_legal(game, action):
    return 0 <= action < legal_count(game)


@kernel
def play(game, action):
    bytes_, player = game.bytes, game.bytes[PLAYER]
    if player == CHANCE:
        bytes_[COIN], bytes_[PLAYER] = action, 0
        return
    game.words[PLIES] += ONE
    bytes_[PLAYER] = 1 - player
    if player == 0 and action == GIVE_UP:
        bytes_[END], bytes_[WINNER] = GIVEN_UP, 1
    elif player == 1:
        bytes_[END] = BELIEVED if action == BELIEVE else DOUBTED
        bytes_[WINNER] = 1 if action == DOUBT and bytes_[COIN] == TAILS else 0


@kernel
def utility(game):
    if game.bytes[END] == 0:
        return np.float32(0)
    stake = np.float32(2 if game.bytes[END] == DOUBTED else 1)
    return stake if game.bytes[WINNER] == 0 else -stake


@kernel
def hidden_count(game, viewer):
    return 1 if viewer == 1 and game.bytes[COIN] != NONE and game.bytes[END] != DOUBTED else 0


@kernel
def hidden_values(game, viewer, values):
    if hidden_count(game, viewer):
        values[0] = game.bytes[COIN]


@kernel
def conceal(game, viewer):
    if hidden_count(game, viewer):
        game.bytes[COIN] = UNKNOWN
    game.words[NUMBER] = ZERO  # with the seed, it would tell the toss


@kernel
def assign(game, viewer, values):
    if hidden_count(game, viewer):
        if values[0] != HEADS and values[0] != TAILS:
            return False
        game.bytes[COIN] = values[0]
    return True


class LiarsCoin(SmallGame):
    name = family = "liars-coin"
    players = ("liar", "doubter")
    action_count, max_legal, max_plies, record_bytes = 2, 2, 2, BYTES
    public_actions = True
    utilities = (-2.0, -1.0, 1.0, 2.0)
    ends = ("", "given_up", "believed", "doubted")
    kernels = Kernels(
        begin, legal_count, legal_action, is_legal, play, utility, no_start, no_setup, even_chance,
        hidden_count, hidden_values, conceal, assign,
    )  # fmt: skip

    def __init__(self, rules: Any = None) -> None:
        refuse_rules(self.name, rules)

    def action_text(self, player: int, action: int) -> str:
        return (("give up", "claim"), ("believe", "doubt"))[player][action]


@kernel
def mark(game, viewer, lane, lanes, codes):
    if lane == 0:
        put(codes, 0, viewer, 1)
        if viewer == 0 and game.bytes[COIN] != NONE:
            put(codes, 0, 2 + np.int64(game.bytes[COIN]), 1)


CHANNELS = ["liar", "doubter", "heads", "tails"]
register("liars-coin", LiarsCoin)
observations.register(
    observations.Observation("coin", "liars-coin", lambda _: 4, lambda _: CHANNELS, mark, no_levels, False)
)

if __name__ == "__main__":
    sim = Simulator("liars-coin", 10_000, seed=1, restart=False)
    while not sim.over.all():
        sim.step(sim.sample())
    print(f"uniform play is worth {sim.results.utility.mean():+.3f} to the first player; exactly, -1/4")
