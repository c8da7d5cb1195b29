"""Records of positions of Stratego (docs/notation.md)."""

from __future__ import annotations

import numpy as np

from vauban.board.base import new_record
from vauban.board.stratego.look import Look
from vauban.board.stratego.records import call
from vauban.errors import NotationError, SetupError
from vauban.games.base import END, NOBODY, PLAYER, PLIES, WINNER
from vauban.games.kernel import Record
from vauban.games.stratego import layout
from vauban.games.stratego import rules as kernels
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, SCOUT, TYPES
from vauban.games.stratego.setups import neighbours
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.notation.stratego.position import Position


def place(game: Stratego, position: Position) -> Record:
    """Return the record of a position: a start, with everything that the position text tells put in."""
    v = game.variant
    start = np.zeros(v.squares, np.int8)
    flags = [0, 0]
    for piece in position.pieces:
        if piece.kind is None:
            raise NotationError("a view (with U or u) is not a playable position: it can be shown, not resumed")
        if not 0 <= piece.square < v.squares or piece.square in v.lakes:
            raise SetupError(f"no piece can stand on square {piece.square} of this board")
        if not (0 <= piece.kind < len(TYPES) and piece.player in (0, 1)):
            raise SetupError(
                f"square {v.square_name(piece.square)}: there is no piece {piece.kind} of player {piece.player}"
            )
        start[piece.square] = 1 + piece.kind + 12 * piece.player
        flags[piece.player] += piece.kind == FLAG
    if max(flags) > 1 or flags == [0, 0]:
        raise SetupError(f"each side has exactly one Flag, not {flags[0]} (red) and {flags[1]} (blue)")
    if position.turn not in (0, 1):
        raise NotationError(f"the player on turn is 0 (red) or 1 (blue), not {position.turn!r}")
    record = new_record(game.format(plies=0))
    call(kernels.begin, record, start)
    words, bytes_ = record.words, record.bytes
    for piece in position.pieces:
        bit = np.uint64(1 << (piece.square & 63))
        assert piece.kind is not None
        if piece.revealed:
            words[layout.HIDDEN + (piece.square >> 6)] &= ~bit
            bytes_[layout.HIDDEN_COUNT + 12 * piece.player + piece.kind] -= 1
        if piece.moved:
            words[layout.MOVED + (piece.square >> 6)] |= bit
        if piece.revealed or piece.moved:
            bytes_[layout.UNMOVED + piece.player] -= 1
    words[PLIES] = position.plies
    words[layout.BATTLELESS] = position.battleless
    for player in (0, 1):
        newest_first = position.trails[player][::-1]
        first = layout.TRAIL + layout.TRAIL_LENGTH * player
        bytes_[first : first + len(newest_first)] = newest_first
        length, last = position.chases[player]
        words[layout.LENGTH + player] = length
        if last is not None:
            bytes_[layout.LAST + 2 * player : layout.LAST + 2 * player + 2] = last
    bytes_[PLAYER] = position.turn
    bytes_[END] = 0
    bytes_[WINNER] = NOBODY
    _resume_isf(game, record)
    # A side without its Flag has lost it to the other, who has just moved if this side is on turn.
    if flags == [1, 1] or flags[position.turn] == 0:
        call(kernels.judge, record, flags != [1, 1])
    else:
        call(kernels.finish, record, kernels.END_FLAG, position.turn)
    return record


def _resume_isf(game: Stratego, record: Record) -> None:
    """Begin the chase of the federation's text that a battle begins: it follows from the board right after it."""
    words, bytes_ = record.words, record.bytes
    player = 1 - int(bytes_[PLAYER])
    target = int(bytes_[layout.LAST + 2 * player + 1])
    if game.rules.chase != "isf" or words[layout.BATTLELESS] != 0 or target == layout.NONE:
        return
    look = Look(game, record)
    survivor = look.piece_at(target)
    if survivor is None or survivor.player != player:
        return
    beside = [square for square in neighbours(target, game.variant) if square in look.pieces(1 - player)]
    for square in beside:
        words[layout.THREATENED + 2 * player + (square >> 6)] |= np.uint64(1 << (square & 63))
    bytes_[layout.CHASING + player] = 1 if beside else 0


def variant_of(position: Position) -> Variant:
    """Return a variant with the board of a position: a shipped one if there is one, else one made for it."""
    for variant in VARIANTS.values():
        if (variant.rows, variant.columns, variant.lakes) == (position.rows, position.columns, tuple(position.lakes)):
            return variant
    army = [0] * len(TYPES)
    army[FLAG], army[SCOUT] = 1, 1
    rows = [lake // position.columns for lake in position.lakes]
    free = min([position.rows // 2, *(min(row, position.rows - 1 - row) for row in rows)])
    return Variant("position", position.rows, position.columns, tuple(position.lakes), free, tuple(army))
