"""Batches on the CPU: loops over the games `first` to `last`, run by as many threads as there are parts."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import END, NUMBER, PLAYER
from vauban.games.kernel import Record, hook, kernel
from vauban.sim.bodies import (
    advance,
    begin,
    begin_random,
    bfloat16_bits,
    choose_action,
    is_legal,
    legal_action,
    legal_count,
    note_result,
    sample_action,
    settle_chance,
    step_game,
)

OUT_BY_SQUARE = False
"""Whether an observation has a row for each square, instead of a plane for each channel."""
OUT_BFLOAT16 = False
"""Whether an observation is written as bfloat16, instead of float32."""


@hook
def conceal(game, viewer): ...


@hook
def hidden_count(game, viewer): ...


@hook
def hidden_values(game, viewer, values): ...


@hook
def assign(game, viewer, values): ...


@hook
def mark(game, viewer, lane, lanes, codes): ...


@hook
def set_levels(game, viewer, lane, lanes, levels): ...


@kernel
def begin_all(first, last, words, halves, bytes_, rules, starts, first_pool, second_pool, seed):
    """Begin every game from a start drawn for it."""
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        begin_random(game, starts[row], first_pool, second_pool, seed)


@kernel
def begin_from(first, last, words, halves, bytes_, rules, starts, seed):
    """Begin every game from its given start; some may be over at once."""
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        begin(game, starts[row])
        settle_chance(game, seed)


@kernel
def note_all(first, last, words, halves, bytes_, rules, results):
    """Write down the results of the games that are over."""
    for row in range(first, last):
        note_result(Record(words[row], halves[row], bytes_[row], rules), results, row)


@kernel
def sample_all(first, last, words, halves, bytes_, rules, seed, actions):
    """Choose a legal action in every game, uniformly."""
    for row in range(first, last):
        actions[row] = sample_action(Record(words[row], halves[row], bytes_[row], rules), seed)


@kernel
def choose_all(first, last, words, halves, bytes_, rules, seed, legal, log_policy, actions):
    """Choose one of the listed actions in every game, by their probabilities."""
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        actions[row] = choose_action(game, seed, legal[row], log_policy[row])


@kernel
def check_all(first, last, words, halves, bytes_, rules, actions, faults):
    """Record faults: the games that go on and in which the action is not legal."""
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        if bytes_[row, END] == 0 and not is_legal(game, np.int64(actions[row])):
            faults[row] = 1


@kernel
def step_all(first, last, words, halves, bytes_, rules, actions, seed, results, faults,
             restarts, starts, first_pool, second_pool, stride):  # fmt: skip
    """Play an action in every game; begin a new one where it ended, if `restarts`. Faults: illegal actions."""
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        if not step_game(game, np.int64(actions[row]), seed, results, row):
            faults[row] = 1
        elif restarts and bytes_[row, END] != 0:
            words[row, NUMBER] += stride
            begin_random(game, starts[row], first_pool, second_pool, seed)


@kernel
def play_random(first, last, words, halves, bytes_, rules, plies, seed, results,
                starts, first_pool, second_pool, stride, counts):  # fmt: skip
    """Play every game on at random, for `plies` plies; `counts` is the number of games that ended in each row."""
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        for _ in range(plies):
            results.ended[row] = 0
            if game.bytes[END] == 0:
                action = sample_action(game, seed)
                advance(game, action, seed, results, row)
                counts[row] += results.ended[row]
            if game.bytes[END] != 0:
                words[row, NUMBER] += stride
                begin_random(game, starts[row], first_pool, second_pool, seed)


@kernel
def mask_all(first, last, words, halves, bytes_, rules, mask):
    """Write one byte for every action: 1 if it is legal."""
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        line = mask[row]
        line[:] = 0
        for index in range(legal_count(game)):
            line[legal_action(game, index)] = 1


@kernel
def list_all(first, last, words, halves, bytes_, rules, actions, counts):
    """List the legal actions of every game, −1 behind the last."""
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        count = legal_count(game)
        counts[row] = count
        for index in range(actions.shape[1]):
            actions[row, index] = legal_action(game, index) if index < count else -1


@kernel
def observe_all(first, last, words, halves, bytes_, rules, viewer, out, codes, levels):
    """Write observations of the player on turn (or of `viewer`, if not negative) into flat rows of `out`."""
    squares, channels = codes.shape[0], levels.shape[0]
    for row in range(first, last):
        game = Record(words[row], halves[row], bytes_[row], rules)
        who = np.int64(bytes_[row, PLAYER]) if viewer < 0 else viewer
        codes[:, :] = 0
        mark(game, who, 0, 1, codes)
        levels[:, 0] = np.float32(0)
        levels[:, 1:] = np.float32(1)
        set_levels(game, who, 0, 1, levels)
        line = out[row]
        line[:] = 0
        for square in range(squares):
            for word in range(codes.shape[1]):
                rest = np.int64(codes[square, word])
                channel = 16 * word
                while rest:
                    if rest & 3:
                        place = square * channels + channel if OUT_BY_SQUARE else channel * squares + square
                        if OUT_BFLOAT16:
                            line[place] = bfloat16_bits(levels[channel, rest & 3])
                        else:
                            line[place] = levels[channel, rest & 3]
                    rest >>= 2
                    channel += 1


@kernel
def conceal_all(first, last, words, halves, bytes_, rules, viewer):
    """Make every record the view of one player."""
    for row in range(first, last):
        conceal(Record(words[row], halves[row], bytes_[row], rules), viewer)


@kernel
def count_hidden(first, last, words, halves, bytes_, rules, viewer, counts):
    """Count the things that are hidden from the viewer in every game."""
    for row in range(first, last):
        counts[row] = hidden_count(Record(words[row], halves[row], bytes_[row], rules), viewer)


@kernel
def tell_hidden(first, last, words, halves, bytes_, rules, viewer, values):
    """Write the things that are hidden from the viewer in every game, −1 behind the last."""
    for row in range(first, last):
        line = values[row]
        line[:] = -1
        hidden_values(Record(words[row], halves[row], bytes_[row], rules), viewer, line)


@kernel
def settle_all(first, last, words, halves, bytes_, rules, seed):
    """Let chance decide where it is on turn."""
    for row in range(first, last):
        settle_chance(Record(words[row], halves[row], bytes_[row], rules), seed)


@kernel
def assign_all(first, last, words, halves, bytes_, rules, viewer, values, faults):
    """Assign the hidden things of every game."""
    for row in range(first, last):
        if not assign(Record(words[row], halves[row], bytes_[row], rules), viewer, values[row]):
            faults[row] = 1
