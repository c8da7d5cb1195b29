"""Counting the sequences of legal actions that follow a position, with the kernels of its game.

Chance is no player: every event that can happen is followed, and adds nothing to the length of a sequence.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vauban.games.base import CHANCE, PLAYER, Game
from vauban.games.kernel import Record, copy_record, kernel
from vauban.sim.bodies import legal_action, legal_count, play
from vauban.sim.compile import CPU, compiled, progress

AT_ONCE = 1 << 22
"""Records that are looked at between two words about progress."""


@kernel
def count_on(words, halves, bytes_, rules, depth, nodes, lengths, counts, indexes, level, budget):
    """Go on counting for so many records, and return the level that was reached; −1 when all is counted.

    The records up to `level` are those along one sequence: `lengths` actions led to each of them, it has `counts`
    actions, of which so many as `indexes` have been followed. Also returns where there is no room for the next record.
    """
    while level >= 0 and budget > 0 and level + 1 < words.shape[0]:
        budget -= 1
        game = Record(words[level], halves[level], bytes_[level], rules)
        chance = bytes_[level, PLAYER] == CHANCE
        if indexes[level] == 0:
            counts[level] = legal_count(game)
            if not chance:
                nodes[lengths[level] + 1] += counts[level]
                if lengths[level] + 1 == depth:
                    level -= 1
                    continue
        if indexes[level] == counts[level]:
            level -= 1
            continue
        action = legal_action(game, indexes[level])
        indexes[level] += 1
        after = Record(words[level + 1], halves[level + 1], bytes_[level + 1], rules)
        copy_record(game, after)
        play(after, action)
        lengths[level + 1] = lengths[level] + (0 if chance else 1)
        indexes[level + 1] = 0
        level += 1
    return level


def count_sequences(
    game: Game, record: Record, depth: int, tick: Callable[[int, int], None] = lambda *_: None
) -> list[int]:
    """Return the numbers of sequences of exactly 1, 2, …, `depth` actions.

    record: the position that they begin from, with room for so many plies.
    tick: is told from time to time how many of the first actions, of how many, have been followed.
    """
    count = compiled(count_on, CPU, vars(game.kernels), TRACKS=False)
    nodes = np.zeros(depth + 1, np.int64)
    stack = [np.repeat(part[None], 1, 0) for part in record[:3]] + [np.zeros(1, np.int64) for _ in range(3)]
    level = 0
    while level >= 0:
        if level + 1 == len(stack[0]):
            stack = [np.concatenate([part, np.zeros_like(part)]) for part in stack]
        words, halves, bytes_, lengths, counts, indexes = stack
        with progress(count, game.family):
            level = count(
                words, halves, bytes_, record.rules, depth, nodes, lengths, counts, indexes, level, AT_ONCE
            )  # fmt: skip
        tick(int(indexes[0]), int(counts[0]))
    return [int(number) for number in nodes[1:]]
