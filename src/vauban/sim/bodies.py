"""The work on one game of a batch, the same on every device, as kernels.

The functions marked with `@hook` stand for the kernels of whatever game is played
(`vauban.games.base.Kernels`).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from math import exp
from typing import Any, NamedTuple

import numpy as np

from vauban.games.base import CHANCE, END, NUMBER, PLAYER, PLIES, STEP, WINNER
from vauban.games.kernel import float_bits, hook, kernel
from vauban.games.randomness import CHANCE as FOR_CHANCE
from vauban.games.randomness import MOVE, START, below, draw


class ResultArrays(NamedTuple):
    """The columns of a batch's results, as kernels see them (`vauban.sim.store.Results`)."""

    ended: Any
    end: Any
    winner: Any
    plies: Any
    utility: Any


ATTEMPTS = 1000
"""Most draws of a start, where drawn games would be over at once."""


@hook
def begin(game, start): ...


@hook
def legal_count(game): ...


@hook
def legal_action(game, index): ...


@hook
def is_legal(game, action): ...


@hook
def play(game, action): ...


@hook
def utility(game): ...


@hook
def draw_start(start, rules, seed, number, attempt): ...


@hook
def place_setup(start, rules, player, setup): ...


@hook
def chance_weight(game, index): ...


@kernel
def settle_chance(game, seed):
    """Let chance decide, as often as it is on turn."""
    event = 0
    while game.bytes[PLAYER] == CHANCE and game.bytes[END] == 0:
        count = legal_count(game)
        total = 0
        for index in range(count):
            total += chance_weight(game, index)
        pick = below(total, seed, game.words[NUMBER], game.words[PLIES], game.bytes[STEP], FOR_CHANCE, event)
        index = 0
        weight = chance_weight(game, 0)
        while pick >= weight:
            pick -= weight
            index += 1
            weight = chance_weight(game, index)
        play(game, legal_action(game, index))
        event += 1


@kernel
def begin_random(game, start, first_pool, second_pool, seed):
    """Begin a game from a start drawn for its number: from pools of setups, or as the game draws it."""
    number = game.words[NUMBER]
    for attempt in range(ATTEMPTS):
        if first_pool.shape[0] == 0:
            draw_start(start, game.rules, seed, number, attempt)
        else:
            for square in range(start.shape[0]):
                start[square] = 0
            pick = below(first_pool.shape[0], seed, number, attempt, 0, START, 0)
            place_setup(start, game.rules, 0, first_pool[pick])
            pick = below(second_pool.shape[0], seed, number, attempt, 0, START, 1)
            place_setup(start, game.rules, 1, second_pool[pick])
        begin(game, start)
        if game.bytes[END] == 0:
            break
    settle_chance(game, seed)


@kernel
def sample_action(game, seed):
    """Return a legal action, every one as likely as the others; −1 when the game is over."""
    count = legal_count(game)
    if count == 0:
        return -1
    pick = below(count, seed, game.words[NUMBER], game.words[PLIES], game.bytes[STEP], MOVE, 0)
    return legal_action(game, pick)


@kernel
def choose_action(game, seed, legal, log_policy):
    """Return one of the listed actions, by its probability; −1 when the game is over."""
    if game.bytes[END] != 0:
        return -1
    count = 0
    total = 0.0
    while count < legal.shape[0] and legal[count] >= 0:
        total += exp(np.float64(log_policy[count]))
        count += 1
    bits = np.float64(draw(seed, game.words[NUMBER], game.words[PLIES], game.bytes[STEP], MOVE, 0))
    left = (bits + 0.5) / 4294967296.0 * total
    for index in range(count):
        left -= exp(np.float64(log_policy[index]))
        if left < 0.0:
            return np.int64(legal[index])
    # Rounding alone leads here: the last action that has any probability.
    while count > 1 and log_policy[count - 1] == -np.inf:
        count -= 1
    return np.int64(legal[count - 1])


@kernel
def note_result(game, results, row):
    """Write down the result of a game that is over."""
    if game.bytes[END] != 0:
        results.ended[row] = 1
        results.end[row] = game.bytes[END]
        results.winner[row] = game.bytes[WINNER]
        results.plies[row] = game.words[PLIES]
        results.utility[row] = utility(game)


@kernel
def advance(game, action, seed, results, row):
    """Play a legal action and note the result if the game ends."""
    play(game, action)
    settle_chance(game, seed)
    note_result(game, results, row)


@kernel
def step_game(game, action, seed, results, row):
    """Play an action if it is legal; return False if it was not. A game that is over stays as it is."""
    results.ended[row] = 0
    if game.bytes[END] != 0:
        return True
    if not is_legal(game, action):
        return False
    advance(game, action, seed, results, row)
    return True


@kernel
def bfloat16_bits(number):
    """Return a float32 rounded to bfloat16 (to nearest, ties to even), as its 16 bits."""
    bits = np.int64(float_bits(number))
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
