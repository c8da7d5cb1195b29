"""Records of many games as arrays: the store of a simulator, and snapshots of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vauban.errors import RecordError
from vauban.games.base import Format, Game
from vauban.games.kernel import Record
from vauban.sim.arrays import Array, as_numpy, joined, repeated

if TYPE_CHECKING:
    import torch

Pools = tuple[Array, Array]
"""Pools of setups: the first player's, and the second's."""


class Store(NamedTuple):
    """The records of a batch: a row for each game, its words, its halves, its bytes."""

    words: Array
    halves: Array
    bytes: Array


class Results(NamedTuple):
    """The outcomes of the games that ended in the last step; columns keep their last value between ends."""

    ended: Array
    """1 where the game ended in the last step."""
    end: Array
    """The end: an index into `Game.ends`."""
    winner: Array
    """0, 1, or 2 for a draw."""
    plies: Array
    """Plies of the game."""
    utility: Array
    """Its worth to the first player."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Copies of records, complete with the history that the rules need: to restore, to search from, to send.

    Rows can be taken, repeated and joined; `pack` makes one row of bytes of each record.
    """

    game: Game
    format: Format
    store: Store
    viewer: int | None = None
    """The player whose views these are, if hidden things have been erased from them."""

    def __len__(self) -> int:
        return len(self.store.words)

    def __repr__(self) -> str:
        return f"<Snapshot of {len(self)} games of {self.game!r}>"

    def __getitem__(self, rows: int | slice | Sequence[int] | Array) -> Snapshot:
        """Return some of the games; a single number gives a snapshot of one."""
        chosen = rows
        if not isinstance(rows, slice):
            with suppress(TypeError):
                chosen = [index(rows)]  # type: ignore[arg-type]
        return self._with(Store(*(part[chosen] for part in self.store)))

    def repeat(self, times: int) -> Snapshot:
        """Return every game `times` times, copies of one game side by side."""
        return self._with(Store(*(repeated(part, times) for part in self.store)))

    def to(self, device: str | torch.device) -> Snapshot:
        """Return the same games as tensors on a device."""
        import torch

        return self._with(Store(*(torch.as_tensor(part, device=device) for part in self.store)))

    def numpy(self) -> Snapshot:
        """Return the same games as NumPy arrays; of tensors in main memory, the same memory."""
        return self._with(Store(*map(as_numpy, self.store)))

    @staticmethod
    def join(snapshots: Sequence[Snapshot]) -> Snapshot:
        """Return all games of several snapshots of the same kind."""
        if not snapshots:
            raise RecordError("there is nothing to join")
        first = snapshots[0]
        for other in snapshots[1:]:
            other.check_fits(first.game, first.format)
        return first._with(Store(*(joined(parts) for parts in zip(*(each.store for each in snapshots), strict=True))))

    def record(self, row: int = 0) -> Record:
        """Return a copy of one game's record, as the kernels of the rules take it."""
        words, halves, bytes_ = (as_numpy(part[row]).copy() for part in self.store)
        return Record(words.view(np.uint64), halves.view(np.uint16), bytes_, self.format.parameters)

    def pack(self) -> Any:
        """Return the records as bytes, one row for each game: a NumPy array, or a tensor if the records are tensors."""
        first = self.store.bytes
        if isinstance(first, np.ndarray):
            return np.concatenate([np.ascontiguousarray(part).view(np.uint8) for part in self.store], 1)
        import torch

        return torch.cat([part.contiguous().view(torch.uint8) for part in self.store], 1)

    @staticmethod
    def unpack(game: Game, rows: Any, format: Format | None = None, viewer: int | None = None) -> Snapshot:
        """Return the inverse of `pack`; refuses rows that are no records of this game.

        format: that of the records; the game's usual one if not given.
        viewer: the player whose views they are.
        """
        format = format or game.format()
        packed = as_numpy(rows)
        if packed.dtype != np.uint8 or packed.ndim != 2 or packed.shape[1] != format.shape.size:
            raise RecordError(
                f"records of {game.name!r} are rows of {format.shape.size} bytes (uint8), "
                f"not {tuple(packed.shape)} of {packed.dtype}"
            )
        parts, first = [], 0
        for count, kind in zip(format.shape, (np.int64, np.int16, np.uint8), strict=True):
            size = count * np.dtype(kind).itemsize
            parts.append(packed[:, first : first + size].copy().view(kind).reshape(len(packed), count))
            first += size
        snapshot = Snapshot(game, format, Store(*parts), viewer)
        game.check_records(*snapshot.store, format)
        erased = np.flatnonzero(game.are_views(snapshot.store.bytes))
        if viewer is None and len(erased):
            raise RecordError(
                f"row {erased[0]}: hidden things have been erased from this record: say whose view it is (viewer=…)"
            )
        return snapshot if isinstance(rows, np.ndarray) else snapshot.to(rows.device)

    def check_fits(self, game: Game, format: Format) -> None:
        """Refuse to be restored where records are of another make."""
        if game.name != self.game.name or format != self.format:
            raise RecordError(
                f"this snapshot holds games of {self.game!r} (tracks={self.format.tracks}, "
                f"history={self.format.history}); it does not fit {game!r} (tracks={format.tracks}, "
                f"history={format.history})"
            )

    def _with(self, store: Store) -> Snapshot:
        return Snapshot(self.game, self.format, store, self.viewer)
