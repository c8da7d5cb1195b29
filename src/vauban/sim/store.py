"""Records of many games as tensors: the store of a simulator, and snapshots of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import index
from typing import NamedTuple

import numpy as np
import torch

from vauban.errors import RecordError
from vauban.games.base import HISTORY, Game
from vauban.games.kernel import Record

Pools = tuple[torch.Tensor, torch.Tensor]
"""The setups that the first player's, and the second's, are drawn from."""


class Store(NamedTuple):
    """The records of a batch: a row for each game, its words, its halves, its bytes."""

    words: torch.Tensor
    halves: torch.Tensor
    bytes: torch.Tensor


class Results(NamedTuple):
    """What the games that ended in the last step came to; columns keep their last value between ends."""

    ended: torch.Tensor
    """1 where the game ended in the last step."""
    end: torch.Tensor
    """How it ended: an index into `Game.ends`."""
    winner: torch.Tensor
    """0, 1, or 2 for a draw."""
    plies: torch.Tensor
    """How long it was."""
    utility: torch.Tensor
    """What it was worth to the first player."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Copies of records, complete with the history that the rules need: to restore, to search from, to send.

    Rows can be taken, repeated and joined; `pack` makes one row of bytes of each record.
    """

    game: Game
    tracks: bool
    history: int
    store: Store
    viewer: int | None = None
    """Whose views these are, if hidden things have been erased from them."""

    def __len__(self) -> int:
        return len(self.store.words)

    def __repr__(self) -> str:
        return f"<Snapshot of {len(self)} games of {self.game!r} on {self.store.words.device}>"

    def __getitem__(self, rows: int | slice | Sequence[int] | torch.Tensor) -> Snapshot:
        """Some of the games; a single number gives a snapshot of one."""
        chosen = rows
        if not isinstance(rows, slice):
            with suppress(TypeError):
                chosen = [index(rows)]  # type: ignore[arg-type]
        return self._with(Store(*(part[chosen] for part in self.store)))

    def repeat(self, times: int) -> Snapshot:
        """Every game so many times, copies of one game side by side."""
        return self._with(Store(*(part.repeat_interleave(times, 0) for part in self.store)))

    def to(self, device: str | torch.device) -> Snapshot:
        """The same games on another device."""
        return self._with(Store(*(part.to(device) for part in self.store)))

    @staticmethod
    def join(snapshots: Sequence[Snapshot]) -> Snapshot:
        """All games of several snapshots of the same kind."""
        if not snapshots:
            raise RecordError("there is nothing to join")
        first = snapshots[0]
        for other in snapshots[1:]:
            other.check_fits(first.game, first.tracks, first.history)
        return first._with(
            Store(*(torch.cat(parts) for parts in zip(*(each.store for each in snapshots), strict=True)))
        )

    def record(self, row: int = 0) -> Record:
        """A copy of one game's record, as the kernels of the rules take it."""
        words, halves, bytes_ = (part[row].cpu().numpy().copy() for part in self.store)
        return Record(words.view(np.uint64), halves.view(np.uint16), bytes_, self.game.parameters(self.history))

    def pack(self) -> torch.Tensor:
        """The records as bytes, one row for each game."""
        rows = [part.contiguous().view(torch.uint8) for part in self.store]
        return torch.cat(rows, 1)

    @staticmethod
    def unpack(
        game: Game, rows: torch.Tensor, tracks: bool = True, history: int = HISTORY, viewer: int | None = None
    ) -> Snapshot:
        """The inverse of `pack`; refuses rows that are no records of this game. `viewer`: whose views they are."""
        shape = game.shape(tracks, history)
        if rows.dtype != torch.uint8 or rows.dim() != 2 or rows.shape[1] != shape.size:
            raise RecordError(
                f"records of {game.name!r} are rows of {shape.size} bytes (uint8), "
                f"not {tuple(rows.shape)} of {rows.dtype}"
            )
        parts, first = [], 0
        for count, dtype in zip(shape, (torch.int64, torch.int16, torch.uint8), strict=True):
            # A new tensor: a slice of a single row, or of none, may lie so that it cannot be viewed as words.
            part = torch.empty((len(rows), count), dtype=dtype, device=rows.device)
            part.view(torch.uint8).copy_(rows[:, first : first + count * dtype.itemsize])
            parts.append(part)
            first += count * dtype.itemsize
        snapshot = Snapshot(game, tracks, history, Store(*parts), viewer)
        words, halves, bytes_ = (part.cpu().numpy() for part in snapshot.store)
        game.check_records(words, halves, bytes_, history)
        erased = np.flatnonzero(game.are_views(bytes_))
        if viewer is None and len(erased):
            raise RecordError(
                f"row {erased[0]}: hidden things have been erased from this record: say whose view it is (viewer=…)"
            )
        return snapshot

    def check_fits(self, game: Game, tracks: bool, history: int) -> None:
        """Refuse to be restored where records are of another make."""
        same = game.name == self.game.name and tracks == self.tracks and history == self.history
        if not same or not np.array_equal(game.parameters(history), self.game.parameters(history)):
            raise RecordError(
                f"this snapshot holds games of {self.game!r} (tracks={self.tracks}, history={self.history}); "
                f"it does not fit {game!r} (tracks={tracks}, history={history})"
            )

    def _with(self, store: Store) -> Snapshot:
        return Snapshot(self.game, self.tracks, self.history, store, self.viewer)
