"""Records and views as positions that a network is asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from vauban.observe import base as observations
from vauban.observe.base import Observation
from vauban.sim.cpu import CpuBatch
from vauban.sim.store import Snapshot

Edit = Callable[[Snapshot, Observation, Tensor], None]
"""Changes what a network sees of records: an observation of them, by squares."""

ALONE = 512
"""Fewer positions than this are not worth several threads."""


class Recorded:
    """Games or views of a snapshot, as they are; a `Simulator` would refuse rules without limits."""

    def __init__(self, records: Snapshot, edit: Edit | None = None) -> None:
        """edit: changes what a network sees of them."""
        self._records, self._batch, self._edit = records, _batch(records), edit
        self.game, self.n = records.game, len(records)

    def observe(self, name: str, out: Tensor, *, layout: str = "squares") -> None:
        """Write what the players on turn see, or the viewer of the views."""
        found = observations.find(self.game, name)
        viewer = -1 if self._records.viewer is None else self._records.viewer
        self._batch.observe_all(self._records.store, found, viewer, out, layout == "squares")
        if self._edit is not None:
            self._edit(self._records, found, out)

    def legal_actions(self, out: Tensor, counts: Tensor) -> None:
        """Write the legal actions, and how many they are."""
        self._batch.list_all(self._records.store, out, counts)


def _batch(records: Snapshot) -> Any:
    """Return the batch that runs the kernels over these records in place."""
    device = records.store.words.device
    if device.type == "cpu":
        return CpuBatch(records.game, records.format, 1 if len(records) < ALONE else None)
    from vauban.sim.cuda import CudaBatch

    return CudaBatch(records.game, records.format, device)
