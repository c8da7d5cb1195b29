"""Records of plain Stratego as those of Stratego in steps, and back: what an agent that was trained in steps needs.

game = StrategoSteps(view.game)
first = in_steps(view)                     # as the network sees it before it chooses a piece
second = in_steps(view, pieces)            # and before it chooses a target, by the pieces it has chosen
action = game.action_of(piece, target)     # of the plain game
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import IllegalActionError, RecordError
from vauban.games.base import PLAYER, STEP, Game
from vauban.games.kernel import Record, kernel
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.layout import NONE
from vauban.games.stratego.layout import WORDS as PLAIN_WORDS
from vauban.games.stratego.steps.game import StrategoSteps
from vauban.games.stratego.steps.game import in_steps as game_in_steps
from vauban.games.stratego.steps.layout import CHOSEN, DEPLOYING, PIECE
from vauban.games.stratego.steps.rules import choose_piece, is_legal, open_squares, turned
from vauban.sim.compile import CPU, compiled, progress
from vauban.sim.store import Snapshot, Store

__all__ = ["game_in_steps", "in_steps", "in_whole_moves", "setup_of"]


@kernel
def choose_pieces(words, halves, bytes_, rules, pieces):
    """Make records in steps whole, and choose pieces (−1: none). Return the first row where that is illegal, or −1."""
    for row in range(words.shape[0]):
        game = Record(words[row], halves[row], bytes_[row], rules)
        game.words[CHOSEN] = NONE
        open_squares(game)
        if pieces[row] >= 0:
            if not is_legal(game, pieces[row]):
                return row
            choose_piece(game, turned(game, np.int64(game.bytes[PLAYER]), pieces[row]))
            open_squares(game)
    return -1


def setup_of(game: Game, squares: Sequence[int]) -> npt.NDArray[np.int8]:
    """Return the setup that a player's actions in the deployment of a game in steps make."""
    assert isinstance(game, StrategoSteps)
    return game.setup_of(squares)


def in_steps(plain: Snapshot, pieces: npt.NDArray[Any] | None = None) -> Snapshot:
    """Return records of plain Stratego, or views, as those of Stratego in steps (NumPy arrays).

    pieces: for each the square of the piece that the player on turn has chosen, in that player's frame, −1 for none; a
        target is chosen next then.
    """
    if not isinstance(plain.game, Stratego):
        raise RecordError(f"these are records of {plain.game.name!r}, not of plain Stratego")
    game = StrategoSteps(plain.game)
    format = game.around(plain.format)
    words, halves, bytes_ = format.empty(len(plain))
    given = plain.numpy().store
    words[:, :PLAIN_WORDS], halves[:], bytes_[:] = (
        given.words.view(np.uint64),
        given.halves.view(np.uint16),
        given.bytes,
    )
    chosen = np.full(len(plain), -1) if pieces is None else np.asarray(pieces, np.int64)
    function = compiled(choose_pieces, CPU)
    with progress(function, game.family):
        row = function(words, halves, bytes_, format.parameters, chosen)
    if row >= 0:
        raise IllegalActionError(
            f"game {row}: there is no piece of {game.players[int(bytes_[row, PLAYER])]} with a legal move on square "
            f"{chosen[row]}"
        )
    return Snapshot(game, format, Store(words.view(np.int64), halves.view(np.int16), bytes_), plain.viewer)


def in_whole_moves(steps: Snapshot) -> Snapshot:
    """Return records of Stratego in steps, or views, as those of plain Stratego: the inverse of `in_steps`.

    A piece that has been chosen is so no more. During the deployment there is no such record.
    """
    game = steps.game
    if not isinstance(game, StrategoSteps):
        raise RecordError(f"these are records of {game.name!r}, not of Stratego in steps")
    given = steps.numpy().store
    deploying = given.bytes[:, STEP] >= DEPLOYING
    if deploying.any():
        raise RecordError(f"game {int(deploying.argmax())}: the armies do not stand yet, as they do in plain Stratego")
    format = game.plain.format(tracks=steps.format.tracks, plies=steps.format.history - 1)
    bytes_ = given.bytes.copy()
    bytes_[:, STEP] = PIECE
    return Snapshot(
        game.plain, format, Store(given.words[:, :PLAIN_WORDS].copy(), given.halves.copy(), bytes_), steps.viewer
    )
