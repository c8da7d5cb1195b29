"""Checks of bytes from elsewhere: no kernel is given a record that cannot be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vauban.games.base import END, NOBODY, PLAYER, STEP, WINNER
from vauban.games.stratego import layout
from vauban.games.stratego.pieces import MOVABLE_TYPES, SCOUT, TYPES
from vauban.games.stratego.variants import Variant

Rows = npt.NDArray[np.bool_]


def are_sound(
    variant: Variant,
    words: npt.NDArray[np.uint64],
    halves: npt.NDArray[np.uint16],
    bytes_: npt.NDArray[np.uint8],
    history: int,
    chases: bool,
) -> Rows:
    """Return which rows hold a record of this variant: pieces, squares and counters that belong together.

    `chases`: whether the rules look back through the history, which must then hold all that is quiet.
    """
    fine = stand_soundly(variant, words, halves, bytes_, history, chases) & (bytes_[:, STEP] == 0)
    return np.asarray(fine & can_go_on(variant, words, bytes_))


def can_go_on(variant: Variant, words: npt.NDArray[np.uint64], bytes_: npt.NDArray[np.uint8]) -> Rows:
    """Return in which rows somebody can move, or the game is over; in a view the other player's moves are erased."""
    kinds = bytes_[:, layout.BYTES + variant.squares : layout.BYTES + 2 * variant.squares]
    view = ((kinds & 15 == layout.UNKNOWN) & (kinds != layout.NONE)).any(1)
    some_legal = (words[:, layout.LEGAL : layout.LEGAL + 8] != 0).any(1)
    return np.asarray(np.where(bytes_[:, END] != 0, ~some_legal, some_legal | view))


def stand_soundly(
    variant: Variant,
    words: npt.NDArray[np.uint64],
    halves: npt.NDArray[np.uint16],
    bytes_: npt.NDArray[np.uint8],
    history: int,
    chases: bool,
) -> Rows:
    """Return in which rows pieces, squares and counters belong together, whoever can move."""
    squares = variant.squares
    identity = bytes_[:, layout.BYTES : layout.BYTES + squares].astype(np.int64)
    kinds = bytes_[:, layout.BYTES + squares : layout.BYTES + 2 * squares].astype(np.int64)
    places = bytes_[:, layout.BYTES + 2 * squares : layout.BYTES + 3 * squares].astype(np.int64)
    movers = bytes_[:, layout.BYTES + 3 * squares :].astype(np.int64)
    open_squares = np.ones(squares, bool)
    open_squares[list(variant.lakes)] = False

    here = identity != layout.NONE
    fine = (bytes_[:, PLAYER] < 2) & (bytes_[:, END] <= 5) & ((bytes_[:, WINNER] <= 2) | (bytes_[:, WINNER] == NOBODY))
    fine &= (bytes_[:, END] != 0) == (bytes_[:, WINNER] != NOBODY)
    fine &= (~here | (open_squares & (identity < squares))).all(1)
    # Every piece on the board is where its identity says, alive; and only those are alive.
    safe = np.where(here & (identity < squares), identity, 0)
    fine &= (~here | (np.take_along_axis(places, safe, 1) == np.arange(squares))).all(1)
    alive = (places != layout.NONE) & (places < layout.DEAD)
    fine &= alive.sum(1) == here.sum(1)
    fine &= ((places == layout.NONE) == (kinds == layout.NONE)).all(1)
    dead = (places != layout.NONE) & (places >= layout.DEAD)
    fine &= (~dead | (places - layout.DEAD < squares)).all(1)
    kind = kinds & 15
    fine &= ((kinds == layout.NONE) | (kind < len(TYPES)) | (kind == layout.UNKNOWN)).all(1)

    # Sets of squares say the same as the pieces do.
    kind_here = np.where(here, np.take_along_axis(kind, safe, 1), layout.NONE)
    blue_here = here & (np.take_along_axis(kinds, safe, 1) >= layout.OWNER_BIT)
    for player, mine in enumerate((here & ~blue_here, blue_here)):
        fine &= same_set(words, layout.PIECES + 2 * player, mine)
        fine &= same_set(words, layout.MOVABLE + 2 * player, mine & (kind_here < MOVABLE_TYPES))
        fine &= same_set(words, layout.SCOUTS + 2 * player, mine & (kind_here == SCOUT))
    for offset in (layout.HIDDEN, layout.MOVED):
        fine &= ~(members(words, offset, squares) & ~here).any(1) & _inside(words, offset, squares)
    for offset in range(layout.LEGAL, layout.THREATENED + 4, 2):
        fine &= ~(members(words, offset, squares) & ~open_squares).any(1) & _inside(words, offset, squares)

    own = np.where((bytes_[:, PLAYER] == 0)[:, None], here & ~blue_here, blue_here)
    for direction in range(4):
        legal = members(words, layout.LEGAL + 2 * direction, squares)
        fine &= ~(legal & ~_reach(variant, direction, own, here, kind_here, open_squares)).any(1)

    small = bytes_[:, layout.TRAIL : layout.LAST + 4].astype(np.int64)
    small = np.concatenate([small, bytes_[:, layout.PREVIOUS : layout.PREVIOUS_OWN + 1].astype(np.int64)], 1)
    fine &= ((small < squares) | (small == layout.NONE)).all(1)
    shown = bytes_[:, layout.SHOWN]
    fine &= (shown <= layout.TYPE_HIDDEN) | (shown == layout.NONE)
    moves = halves[:, :history].astype(np.int64)
    fine &= (((moves & 127) < squares) & (((moves >> 7) & 127) < squares)).all(1) & (movers < squares).all(1)
    counters = words[:, [1, *range(layout.BATTLELESS, layout.WORDS)]]
    fine &= (counters < np.uint64(2**40)).all(1)
    fine &= words[:, layout.QUIET] <= words[:, layout.RECORDED]
    if chases:
        fine &= words[:, layout.QUIET] <= np.uint64(history)

    view = (kind_here == layout.UNKNOWN).any(1)
    hidden = members(words, layout.HIDDEN, squares)
    moved = members(words, layout.MOVED, squares)
    for player, mine in enumerate((here & ~blue_here, blue_here)):
        counts = bytes_[:, layout.HIDDEN_COUNT + 12 * player : layout.HIDDEN_COUNT + 12 * player + 12].astype(np.int64)
        fine &= bytes_[:, layout.UNMOVED + player] == (mine & hidden & ~moved).sum(1)
        fine &= counts.sum(1) == (mine & hidden).sum(1)
        for each in range(len(TYPES)):
            fine &= view | (counts[:, each] == (mine & hidden & (kind_here == each)).sum(1))
    return np.asarray(fine)


def _reach(
    variant: Variant, direction: int, own: Rows, here: Rows, kinds: npt.NDArray[np.int64], open_squares: Rows
) -> Rows:
    """Return where the pieces of the player on turn can go in a direction, before the repetition rules."""

    def shifted(board: Rows) -> Rows:
        return one_step(variant, direction, board) & open_squares & ~own

    reach = shifted(own & (kinds < MOVABLE_TYPES))
    ray = own & (kinds == SCOUT)
    while ray.any():
        ray = shifted(ray)
        reach |= ray
        ray &= ~here
    return reach


def one_step(variant: Variant, direction: int, board: Rows) -> Rows:
    """Return sets of squares moved by one step; what leaves the board is dropped."""
    axis, step = ((1, 1), (1, -1), (2, -1), (2, 1))[direction]
    grid = np.roll(board.reshape(-1, variant.rows, variant.columns), step, axis)
    edge = 0 if step == 1 else -1
    grid[(slice(None), edge) if axis == 1 else (slice(None), slice(None), edge)] = False
    return grid.reshape(board.shape)


def members(words: npt.NDArray[np.uint64], offset: int, squares: int) -> Rows:
    """Return a set of squares as one truth value for each square."""
    square = np.arange(squares)
    bits = words[:, offset + (square >> 6)] >> (square & 63).astype(np.uint64)
    return (bits & np.uint64(1)).astype(bool)


def _inside(words: npt.NDArray[np.uint64], offset: int, squares: int) -> Rows:
    """Return where the set holds no square beyond the board."""
    everything = (1 << squares) - 1
    low, high = np.uint64(everything & (2**64 - 1)), np.uint64(everything >> 64)
    return np.asarray(((words[:, offset] & ~low) == 0) & ((words[:, offset + 1] & ~high) == 0))


def same_set(words: npt.NDArray[np.uint64], offset: int, wanted: Rows) -> Rows:
    """Return where the set kept at `offset` is the wanted one."""
    squares = wanted.shape[1]
    return np.asarray((members(words, offset, squares) == wanted).all(1)) & _inside(words, offset, squares)
