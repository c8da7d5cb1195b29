"""Perft: the number of sequences of legal moves of each length from a position (docs/rules.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vauban.board.stratego import Board
from vauban.errors import ConfigurationError
from vauban.games.base import nearest
from vauban.games.kernel import Record
from vauban.games.stratego.inspect import count_sequences
from vauban.games.stratego.switches import Rules
from vauban.sim.compile import CPU, compiled, progress

STARTS: dict[str, tuple[str, str, str]] = {
    "classic-1": (
        "classic",
        "LBNPBJNCBJ/OOBPNSFNPN/LTJOGLCMTP/BOOOTOTLOB",
        "TBFBNONOPL/BNBCJOCNBB/PONJPOSPLO/LTMOLTGJTO",
    ),
    "barrage-1": (
        "barrage",
        "F........O/B........O/.S..N...../.G..M.....",
        "........../..B......./..MFS...../.OO.GN....",
    ),
    "duel-1": ("duel", "B.F..N../..B..S.O/.N.M.G.O", "NF..S..B/.B..O.../M..G..NO"),
    "octa-1": ("octa-barrage", "F.B...../..S..N../.O.M.G.O", ".F....B./S..N..../O..MG..O"),
    "medium-1": ("medium", "FTLPJC", "CJFPLT"),
    "fives-1": ("fives", "FTLPJ", "JPFLT"),
    "tiny-1": ("tiny", "FLPJ", "JFPL"),
    "micro-1": ("micro", "FLP.", "P.FL"),
    "nano-1": ("nano", "FP", "PF"),
}
"""Starts with known counts: variant, red's setup, blue's setup."""

POSITIONS = {"dance-1": "3f/4/1J1l/F3 r 0 0 -,- 0:-,0:-"}
"""Positions with known counts, without limits: one made for the repetition rules."""


def start_board(start: str, rules: str | Mapping[str, Any] | Rules | None = None) -> Board:
    """Return the board of a named start, or of a position text."""
    if start in STARTS:
        variant, red, blue = STARTS[start]
        return Board.from_setups(red, blue, variant, rules)
    if " " not in start and start not in POSITIONS:
        raise ConfigurationError(
            f"there is no start {start!r}: {nearest(start, [*STARTS, *POSITIONS])} (or give a position)"
        )
    return Board.from_position(POSITIONS.get(start, start), None, rules)


def perft(board: Board, depth: int, tick: Callable[[int, int], None] = lambda *_: None) -> list[int]:
    """Return the number of sequences of exactly 1, 2, …, `depth` plies; `tick` is called with (first moves done, of how
    many).
    """
    nodes = np.zeros(depth + 1, np.int64)
    count = compiled(count_sequences, CPU, TRACKS=False)
    moves = list(board.legal_moves)
    if depth >= 1:
        nodes[1] = len(moves)
    for done, move in enumerate(moves):
        tick(done, len(moves))
        if depth < 2:
            break
        board.push(move)
        stack = _stack(board, depth)
        with progress(count, "stratego"):
            count(stack.words, stack.halves, stack.bytes, stack.rules, depth - 1, nodes[1:], np.zeros(depth, np.int64))
        board.pop()
    tick(len(moves), len(moves))
    return [int(number) for number in nodes[1:]]


def _stack(board: Board, depth: int) -> Record:
    """Return room for the records along a sequence of moves, the board's own (without observations' needs) on top."""
    format = board.game.format(plies=board.quiet + depth)
    words, halves, bytes_ = board.snapshot(format).store
    return Record(
        np.repeat(words.view(np.uint64), depth, 0),
        np.repeat(halves.view(np.uint16)[:, : format.history], depth, 0),
        np.repeat(bytes_, depth, 0),
        format.parameters,
    )
