"""Batches on CUDA: one thread for a game where little is done, a warp or a block where much is written.

Each function is the body of a kernel; `vauban.sim.cuda` compiles and launches them.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np
from numba import cuda

from vauban.games.base import END, NUMBER, PLAYER
from vauban.games.kernel import Record, float_bits
from vauban.sim.batch_cpu import assign, conceal, hidden_count, hidden_values, mark, set_levels
from vauban.sim.bodies import (
    ResultArrays,
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

# Set when an observation's kernel is compiled.
OUT_SQUARES, OUT_CHANNELS, OUT_NUMBERS, OUT_WORDS = 1, 1, 4, 1
OUT_BY_SQUARE, OUT_BFLOAT16 = False, False
OUT_RUN, OUT_BITS = 1, np.uint64(32)
"""Number of squares that are written at once, as one number, and the bits of each."""
WARP = 32


def begin_all(words, halves, bytes_, rules, starts, first_pool, second_pool, seed):
    row = cuda.grid(1)
    if row < words.shape[0]:
        game = Record(words[row], halves[row], bytes_[row], rules)
        begin_random(game, starts[row], first_pool, second_pool, seed)


def begin_from(words, halves, bytes_, rules, starts, seed):
    row = cuda.grid(1)
    if row < words.shape[0]:
        game = Record(words[row], halves[row], bytes_[row], rules)
        begin(game, starts[row])
        settle_chance(game, seed)


def note_all(words, halves, bytes_, rules, ended, end, winner, plies, utility):
    row = cuda.grid(1)
    if row < words.shape[0]:
        results = ResultArrays(ended, end, winner, plies, utility)
        note_result(Record(words[row], halves[row], bytes_[row], rules), results, row)


def sample_all(words, halves, bytes_, rules, seed, actions):
    row = cuda.grid(1)
    if row < words.shape[0]:
        actions[row] = sample_action(Record(words[row], halves[row], bytes_[row], rules), seed)


def choose_all(words, halves, bytes_, rules, seed, legal, log_policy, actions):
    row = cuda.grid(1)
    if row < words.shape[0]:
        game = Record(words[row], halves[row], bytes_[row], rules)
        actions[row] = choose_action(game, seed, legal[row], log_policy[row])


def step_all(words, halves, bytes_, rules, actions, seed, ended, end, winner, plies, utility, faults,
             restarts, starts, first_pool, second_pool, stride):  # fmt: skip
    row = cuda.grid(1)
    if row < words.shape[0]:
        game = Record(words[row], halves[row], bytes_[row], rules)
        results = ResultArrays(ended, end, winner, plies, utility)
        if not step_game(game, np.int64(actions[row]), seed, results, row):
            faults[row] = 1
        elif restarts and bytes_[row, END] != 0:
            words[row, NUMBER] += stride
            begin_random(game, starts[row], first_pool, second_pool, seed)


def play_random(words, halves, bytes_, rules, count, seed, ended, end, winner, plies, utility,
                starts, first_pool, second_pool, stride, counts):  # fmt: skip
    row = cuda.grid(1)
    if row < words.shape[0]:
        game = Record(words[row], halves[row], bytes_[row], rules)
        results = ResultArrays(ended, end, winner, plies, utility)
        for _ in range(count):
            ended[row] = 0
            if game.bytes[END] == 0:
                advance(game, sample_action(game, seed), seed, results, row)
                counts[row] += ended[row]
            if game.bytes[END] != 0:
                words[row, NUMBER] += stride
                begin_random(game, starts[row], first_pool, second_pool, seed)


def mask_all(words, halves, bytes_, rules, mask):
    row = cuda.grid(1) // WARP
    if row < words.shape[0]:
        game = Record(words[row], halves[row], bytes_[row], rules)
        for index in range(cuda.threadIdx.x % WARP, legal_count(game), WARP):
            mask[row, legal_action(game, index)] = 1


def list_all(words, halves, bytes_, rules, actions, counts):
    row = cuda.grid(1) // WARP
    if row < words.shape[0]:
        game = Record(words[row], halves[row], bytes_[row], rules)
        count = legal_count(game)
        counts[row] = count
        for index in range(cuda.threadIdx.x % WARP, actions.shape[1], WARP):
            actions[row, index] = legal_action(game, index) if index < count else -1


def conceal_all(words, halves, bytes_, rules, viewer):
    row = cuda.grid(1)
    if row < words.shape[0]:
        conceal(Record(words[row], halves[row], bytes_[row], rules), viewer)


def count_hidden(words, halves, bytes_, rules, viewer, counts):
    row = cuda.grid(1)
    if row < words.shape[0]:
        counts[row] = hidden_count(Record(words[row], halves[row], bytes_[row], rules), viewer)


def tell_hidden(words, halves, bytes_, rules, viewer, values):
    row = cuda.grid(1)
    if row < words.shape[0]:
        for index in range(values.shape[1]):
            values[row, index] = -1
        hidden_values(Record(words[row], halves[row], bytes_[row], rules), viewer, values[row])


def settle_all(words, halves, bytes_, rules, seed):
    row = cuda.grid(1)
    if row < words.shape[0]:
        settle_chance(Record(words[row], halves[row], bytes_[row], rules), seed)


def check_all(words, halves, bytes_, rules, actions, faults):
    row = cuda.grid(1)
    if row < words.shape[0]:
        game = Record(words[row], halves[row], bytes_[row], rules)
        if bytes_[row, END] == 0 and not is_legal(game, np.int64(actions[row])):
            faults[row] = 1


def assign_all(words, halves, bytes_, rules, viewer, values, faults):
    row = cuda.grid(1)
    if row < words.shape[0]:
        if not assign(Record(words[row], halves[row], bytes_[row], rules), viewer, values[row]):
            faults[row] = 1


def observe_all(words, halves, bytes_, rules, viewer, out):
    """Observe with a block for each game: codes and levels are made in shared memory, then spread out.

    Indexes run along instead of being multiplied out: the writing is most of the work, and its cost is the arithmetic
    around each number written.
    """
    codes = cuda.shared.array((OUT_SQUARES, OUT_WORDS), np.uint32)
    levels = cuda.shared.array((OUT_CHANNELS, 4), np.float32)
    numbers = cuda.shared.array(OUT_NUMBERS, np.uint32)
    row = cuda.blockIdx.x
    lane, lanes = cuda.threadIdx.x, cuda.blockDim.x
    game = Record(words[row], halves[row], bytes_[row], rules)
    who = np.int64(bytes_[row, PLAYER]) if viewer < 0 else viewer
    # Loops over a block's share count up by hand: a range would divide to know its length.
    index = lane
    while index < OUT_SQUARES * OUT_WORDS:
        codes[index // OUT_WORDS, index % OUT_WORDS] = 0
        index += lanes
    channel = lane
    while channel < OUT_CHANNELS:
        for code in range(4):
            levels[channel, code] = np.float32(1 if code else 0)
        channel += lanes
    cuda.syncthreads()
    mark(game, who, lane, lanes, codes)
    set_levels(game, who, lane, lanes, levels)
    cuda.syncthreads()
    channel = lane
    while channel < OUT_CHANNELS:
        for code in range(4):
            if OUT_BFLOAT16:
                numbers[4 * channel + code] = bfloat16_bits(levels[channel, code])
            else:
                numbers[4 * channel + code] = float_bits(levels[channel, code])
        channel += lanes
    cuda.syncthreads()

    line = out[row]
    if OUT_BY_SQUARE:
        # The rows of OUT_RUN squares are written together, OUT_RUN numbers at a time: a thread's
        # numbers are always of the same channels.
        entry = lane
        while entry < OUT_CHANNELS:
            first = OUT_RUN * entry
            first_square = 1 if first >= OUT_CHANNELS else 0
            first -= OUT_CHANNELS * first_square
            second = OUT_RUN * entry + OUT_RUN - 1
            second_square = 1 if second >= OUT_CHANNELS else 0
            second -= OUT_CHANNELS * second_square
            place = entry
            for square in range(0, OUT_SQUARES, OUT_RUN):
                first_code = (codes[square + first_square, first >> 4] >> (2 * (first & 15))) & 3
                second_code = (codes[square + second_square, second >> 4] >> (2 * (second & 15))) & 3
                value = np.uint32(0)
                if first_code | second_code:
                    value = numbers[4 * first + first_code]
                    if OUT_RUN > 1:
                        value |= numbers[4 * second + second_code] << np.uint32(16)
                line[place] = value
                place += OUT_CHANNELS
            entry += lanes
        return
    # Each thread keeps a run of neighbouring squares and goes through the channels.
    columns = OUT_SQUARES // OUT_RUN
    groups = lanes // columns
    group = lane // columns
    column = lane - group * columns
    if group >= groups:
        return
    square = column * OUT_RUN
    word = group
    while word < OUT_WORDS:
        first = codes[square, word]
        second = codes[square + 1, word] if OUT_RUN > 1 else np.uint32(0)
        third = codes[square + 2, word] if OUT_RUN > 2 else np.uint32(0)
        fourth = codes[square + 3, word] if OUT_RUN > 2 else np.uint32(0)
        place = 16 * word * columns + column
        for number in range(64 * word, min(64 * word + 64, OUT_NUMBERS), 4):
            value = np.uint64(0)
            # Most of an observation is zeros.
            if (first | second | third | fourth) & 3:
                value = np.uint64(numbers[number + (first & 3)])
                if OUT_RUN > 1:
                    value |= np.uint64(numbers[number + (second & 3)]) << OUT_BITS
                if OUT_RUN > 2:
                    value |= np.uint64(numbers[number + (third & 3)]) << np.uint64(32)
                    value |= np.uint64(numbers[number + (fourth & 3)]) << np.uint64(48)
            line[place] = value
            place += columns
            first >>= 2
            second >>= 2
            third >>= 2
            fourth >>= 2
        word += groups
