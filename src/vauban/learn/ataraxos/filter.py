"""The filter of advantages: which moves of a window are worth learning from (Ataraxos, section D.4)."""

from __future__ import annotations

from torch import Tensor

from vauban.learn.ataraxos.targets import quantile_of


class AdvantageFilter:
    """Moves pass whose advantage is among the largest, and larger than a given size.

    For a cold start, the size need not be asked for at first. While nothing has happened yet that values could tell
    apart, hardly any advantage has one worth naming; then the largest quarter must do, or learning would take long to
    begin. Nor does a single window of large ones count: an untrained network's values differ by chance, and its first
    lesson is to forget that.
    """

    def __init__(self, quantile: float, magnitude: float, settled: int = 0) -> None:
        """settled: in how many windows on end advantages have to be large before the size is asked for."""
        self.quantile, self.magnitude, self.settled = quantile, magnitude, settled
        self.large = 0
        """Windows on end with advantages of that size; it stays when there have been enough."""

    def threshold(self, sizes: Tensor) -> float:
        """Return the smallest advantage to learn from, among the sizes of those of a window."""
        found = quantile_of(sizes, self.quantile).item()
        if self.large < self.settled:
            self.large = self.large + 1 if found >= self.magnitude else 0
        return max(found, self.magnitude) if self.large >= self.settled else found
