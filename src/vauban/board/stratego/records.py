"""Records of one game of Stratego: kernels called with them, moves listed, room made for more history."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from vauban.board.base import copy_of, new_record
from vauban.errors import RecordError
from vauban.games.base import Format
from vauban.games.kernel import Record
from vauban.games.stratego import inspect, layout
from vauban.games.stratego.game import Stratego
from vauban.notation.stratego.moves import Move
from vauban.sim.compile import CPU, compiled, progress


@cache
def _kernel(function: Any) -> Any:
    return compiled(function, CPU, TRACKS=True)


def call(function: Any, *arguments: Any) -> Any:
    """Call a kernel; the first call may have to compile it."""
    kernel = _kernel(function)
    with progress(kernel, "stratego"):
        return kernel(*arguments)


def list_moves(record: Record, which: int) -> list[Move]:
    """List the moves of one kind (`inspect.LEGAL_MOVES`, …) in a position."""
    moves = np.empty((4 * int(record.rules[layout.SQUARES]) + 8, 2), np.int64)
    count = call(inspect.list_moves, record, which, moves)
    return [Move(int(source), int(target)) for source, target in moves[:count]]


def reformatted(record: Record, game: Stratego, format: Format) -> Record:
    """Return the same record in another format; refuses to drop moves that the rules look back to."""
    old, new = int(record.rules[layout.HISTORY]), format.history
    if new == old:
        return copy_of(record)
    if int(record.words[layout.QUIET]) >= new:
        raise RecordError(
            f"this game has {int(record.words[layout.QUIET])} plies since the last battle, and a record with "
            f"history={new} cannot hold them: ask for more (game.format(plies=…))"
        )
    fresh = new_record(format)
    fresh.words[:] = record.words
    recorded = int(record.words[layout.RECORDED])
    movers = layout.BYTES + 3 * game.variant.squares
    fresh.bytes[:movers] = record.bytes[:movers]
    fresh.halves[new:] = record.halves[old:]
    for ply in range(max(0, recorded - min(old, new)), recorded):
        fresh.halves[ply % new] = record.halves[ply % old]
        fresh.bytes[movers + ply % new] = record.bytes[movers + ply % old]
    return fresh
