"""Signs of life of several workers.

Each counts on in the store where they met, about once a second, and looks at the counts of the others. One whose count
stands still has died or hangs; one that is busy, however long, still counts.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.distributed.distributed_c10d import Store

BEAT = 1.0
"""Seconds between two counts."""
SILENCE = 5.0
"""After something has broken: seconds without a new count that tell who is gone."""
DONE, GONE = "done", "gone"
"""In the store: how many pieces of work the first worker has done, and the workers that are gone, by whoever noticed
first: that one ends as well, and those who notice later are not to take it for the cause."""


class Pulse:
    """The signs of life of this worker, and a look at those of the others.

    A store that does not answer holds up whoever asks it, without an end. So only a thread of its own does.
    """

    def __init__(self, store: Store, rank: int, count: int, patience: float) -> None:
        """patience: for so many seconds a worker that is waited for may be silent."""
        self._store, self._rank, self._patience = store, rank, patience
        now = time.monotonic()
        self._counts = {each: (0, now) for each in range(count) if each != rank}
        """The last count of each of the others, and when it was new."""
        self._rounds = 0
        """Rounds of questions to the store."""
        self._lost = False
        """Whether its connection is broken."""
        self._done = 0
        self._announced = 0
        self._gone = self._noticed = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)
        self._thread.start()

    def announce(self, done: int) -> None:
        """Say, as the first worker, how many pieces of work are done."""
        self._announced = done
        self._ask()

    def wait_for(self, done: int) -> None:
        """Wait until the first worker has done so many; RuntimeError when it is gone, or silent for too long."""
        while self._done < done:
            if self._lost:
                raise RuntimeError("the connection is broken")
            if time.monotonic() - self._counts[0][1] > self._patience:
                raise RuntimeError(f"nothing was heard of it for {self._patience:g} seconds")
            time.sleep(BEAT / 4)

    def gone(self) -> list[int]:
        """Return the other workers that have fallen silent, after something has broken; it may take some seconds."""
        began = time.monotonic()
        silent = sorted(self._counts)
        while silent and not self._lost and time.monotonic() - began < SILENCE:
            time.sleep(BEAT / 4)
            # What is read in the first moments may have been written by somebody who has died since.
            silent = [rank for rank, (_, heard) in self._counts.items() if heard < began + 2 * BEAT]
        self._noticed = " ".join(map(str, silent))
        if self._ask():
            time.sleep(2 * BEAT)  # the store may end with this process, and the others are to read it first
        elif not self._gone:
            # torchrun keeps a store; without it, the first worker does.
            kept = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
            return [] if kept or self._rank == 0 else [0]
        return [int(rank) for rank in self._gone.split()]

    def stop(self) -> None:
        """Give no more signs of life."""
        self._over.set()
        self._thread.join(SILENCE)

    def _ask(self) -> bool:
        """Let the store be told and asked; whether it answered."""
        until, wanted = time.monotonic() + SILENCE, self._rounds + 2  # one may be under way
        while self._rounds < wanted and not self._lost and time.monotonic() < until:
            time.sleep(BEAT / 4)
        return self._rounds >= wanted

    def _beat(self) -> None:
        try:
            while not self._over.is_set():
                self._round()
                self._over.wait(BEAT)
        except RuntimeError:
            self._lost = True

    def _round(self) -> None:
        self._store.add(str(self._rank), 1)
        for rank, (before, _) in self._counts.items():
            count = self._store.add(str(rank), 0)
            if count != before:
                self._counts[rank] = (count, time.monotonic())
        if self._announced > self._done:
            self._store.set(DONE, str(self._announced))
        self._done = self._store.add(DONE, 0)
        self._gone = self._store.compare_set(GONE, "", self._noticed).decode()
        self._rounds += 1
