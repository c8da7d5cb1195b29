"""Checks of bytes from elsewhere: no kernel is given a record of Stratego in steps that cannot be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vauban.games.base import END, PLAYER, PLIES, STEP
from vauban.games.stratego import layout as plain
from vauban.games.stratego.pieces import TYPES
from vauban.games.stratego.records import Rows, can_go_on, members, one_step, same_set, stand_soundly
from vauban.games.stratego.steps.layout import CHOSEN, DEPLOYING, OPEN, TARGET, placed_types
from vauban.games.stratego.variants import Variant


def are_sound(
    variant: Variant,
    words: npt.NDArray[np.uint64],
    halves: npt.NDArray[np.uint16],
    bytes_: npt.NDArray[np.uint8],
    history: int,
    chases: bool,
) -> Rows:
    """Return which rows hold a record of this variant: as in plain Stratego, in the deployment or in play."""
    fine = stand_soundly(variant, words, halves, bytes_, history, chases)
    deploying = bytes_[:, STEP] >= DEPLOYING
    return fine & np.where(deploying, _are_deploying(variant, words, bytes_), _are_playing(variant, words, bytes_))


def lack_pieces(variant: Variant, bytes_: npt.NDArray[np.uint8]) -> Rows:
    """Return for each player in which rows it has placed more pieces than stand: they have been erased."""
    placed = _placed(variant, bytes_)
    return np.stack([(placed[player] > 0) & ~_pieces(variant, bytes_, player).any(1) for player in (0, 1)])


def _placed(variant: Variant, bytes_: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return for each player how many pieces it has placed so far; 0 in play."""
    placed = bytes_[:, STEP].astype(np.int64) - DEPLOYING
    return np.stack([np.clip(placed - variant.pieces * player, 0, variant.pieces) for player in (0, 1)])


def _pieces(variant: Variant, bytes_: npt.NDArray[np.uint8], player: int) -> Rows:
    """Return the squares of a player's pieces, where no piece has moved yet."""
    kinds = bytes_[:, plain.BYTES + variant.squares : plain.BYTES + 2 * variant.squares]
    return np.asarray((kinds != plain.NONE) & (kinds >> 7 == player))


def _are_deploying(variant: Variant, words: npt.NDArray[np.uint64], bytes_: npt.NDArray[np.uint8]) -> Rows:
    """Return in which rows a player places an army: just the first pieces stand, and nothing has happened."""
    squares, room = variant.squares, variant.setup_rows * variant.columns
    step = bytes_[:, STEP].astype(np.int64)
    player = (step - DEPLOYING >= variant.pieces).astype(np.int64)
    fine = (bytes_[:, END] == 0) & (bytes_[:, PLAYER] == player) & (step - DEPLOYING < 2 * variant.pieces)
    idle = [PLIES, *range(plain.MOVED, plain.WORDS)]
    fine &= (words[:, idle] == 0).all(1) & (words[:, CHOSEN] == plain.NONE)
    fine &= (bytes_[:, plain.TRAIL : plain.LAST + 4] == plain.NONE).all(1)
    fine &= (bytes_[:, [plain.PREVIOUS, plain.PREVIOUS_OWN, plain.SHOWN]] == plain.NONE).all(1)

    identity = bytes_[:, plain.BYTES : plain.BYTES + squares]
    fine &= ((identity == np.arange(squares)) | (identity == plain.NONE)).all(1)
    order = np.array(placed_types(variant))
    kinds = bytes_[:, plain.BYTES + squares : plain.BYTES + 2 * squares] & 15
    everything = np.zeros(identity.shape, bool)
    for owner, placed in enumerate(_placed(variant, bytes_)):
        mine = _pieces(variant, bytes_, owner)
        own_rows = slice(0, room) if owner == 0 else slice(squares - room, squares)
        erased = ~mine.any(1) & (placed > 0)  # in a view of the other player
        fine &= mine[:, own_rows].sum(1) == mine.sum(1)
        for kind in range(len(TYPES)):
            wanted = np.cumsum(np.concatenate([[0], order == kind]))[placed]
            fine &= erased | ((mine & (kinds == kind)).sum(1) == wanted)
        everything |= mine
        free = np.zeros(identity.shape, bool)
        free[:, own_rows] = ~mine[:, own_rows] & ~erased[:, None]
        fine &= (player != owner) | same_set(words, OPEN, free)
    return np.asarray(fine & same_set(words, plain.HIDDEN, everything))


def _are_playing(variant: Variant, words: npt.NDArray[np.uint64], bytes_: npt.NDArray[np.uint8]) -> Rows:
    """Return in which rows a piece is chosen, or its target: what can be chosen follows from the legal moves."""
    squares = variant.squares
    fine = can_go_on(variant, words, bytes_)
    second = bytes_[:, STEP] == TARGET
    chosen = words[:, CHOSEN].astype(np.int64)
    own = np.where(bytes_[:, [PLAYER]] == 0, members(words, plain.PIECES, squares),
                   members(words, plain.PIECES + 2, squares))  # fmt: skip
    scouts = members(words, plain.SCOUTS, squares) | members(words, plain.SCOUTS + 2, squares)
    taken = members(words, plain.PIECES, squares) | members(words, plain.PIECES + 2, squares)
    standing = np.arange(squares) == np.where(second, chosen, -1)[:, None]
    fine &= np.where(second, (standing & own).any(1) & (bytes_[:, END] == 0), chosen == plain.NONE)
    pieces, targets = np.zeros(own.shape, bool), np.zeros(own.shape, bool)
    for direction in range(4):
        legal = members(words, plain.LEGAL + 2 * direction, squares)
        back = legal
        while back.any():
            back = one_step(variant, direction ^ 1, back)
            pieces |= back & own
            back &= ~taken
        ahead = one_step(variant, direction, standing)
        while ahead.any():
            targets |= ahead & legal
            ahead = one_step(variant, direction, ahead & ~taken & (standing & scouts).any(1)[:, None])
    fine &= np.where(second, same_set(words, OPEN, targets), same_set(words, OPEN, pieces))
    view = ~pieces.any(1)
    return np.asarray(fine & (bytes_[:, STEP] <= TARGET) & (~second | targets.any(1) | view))
