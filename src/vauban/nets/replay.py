"""Replaying work on a GPU: hundreds of small kernels are launched at once instead of one after the other."""

from __future__ import annotations

from collections.abc import Callable

import torch

WARM_UP = 3
"""Times that a piece of work is done as it is before it is captured: by then it must have compiled."""


class Replay:
    """Work that is done again and again; on a GPU soon by replaying a captured graph of it.

    The work takes and returns nothing. What it reads and writes must be the same tensors every time, and it may not
    wait for the device. It is handed in anew each time and not kept: an owner who keeps a replay that keeps the owner's
    method is freed only when Python looks for such circles, and until then a graph holds gigabytes of a GPU.
    """

    def __init__(self, device: torch.device, *, captured: bool = True) -> None:
        """captured=False: always do it as it is."""
        self._captured = captured and device.type == "cuda"
        self._done = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def prepare(self, work: Callable[[], None]) -> None:
        """Capture it now, by doing it a few times, so that the next one is fast already."""
        while self._captured and self._graph is None:
            self(work)

    def __call__(self, work: Callable[[], None]) -> None:
        """Do it once: always the same work."""
        if self._graph is None and self._captured and self._done >= WARM_UP:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                work()
            self._graph = graph
        if self._graph is not None:
            self._graph.replay()
        else:
            work()
            self._done += 1
