"""The cost of searches on this machine: measured before the first one, corrected by every one that follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

KEPT_SHARE = 0.5
"""Share of an estimate that stays when a search has shown another."""
SURPRISE = 2.0
"""Factor on the expected time up to which a measurement is believed: a machine that was busy for a moment is not slow
for good."""
USUAL_HICCUP = 0.01
"""Seconds that may come on top, so that estimates near 0 can grow."""
TRIAL_SECONDS = 0.05
"""A trial that takes longer than this says enough about the pace."""
TRIAL_DEPTHS = (2, 6)


@dataclass(frozen=True)
class Pace:
    """The cost of a search."""

    fixed: float
    """Seconds for the network's policy, and all that is done once."""
    ply: float
    """Seconds for each ply of the rollouts, however many there are."""
    row: float
    """Seconds for each ply of each rollout."""
    draw: float = 0.0
    """Seconds for drawing configurations by the belief."""

    def seconds(self, rollouts: int, depth: int) -> float:
        """Predict the seconds that a search takes."""
        return self.fixed + self.draw + self.rolling(rollouts, depth)

    def rolling(self, rollouts: int, depth: int) -> float:
        """Predict the seconds that its rollouts take."""
        return depth * (self.ply + self.row * rollouts)

    def corrected(self, fixed: float, draw: float | None, rolling: float) -> Pace:
        """Return the pace after a search has taken these seconds for the policy and for drawing configurations.

        draw: None if nothing was drawn by the belief; the pace of drawing then stays.
        rolling: seconds of the rollouts, divided by the expected ones.
        """
        factor = KEPT_SHARE + (1 - KEPT_SHARE) * min(rolling, SURPRISE)
        return Pace(
            _between(self.fixed, fixed),
            factor * self.ply,
            factor * self.row,
            self.draw if draw is None else _between(self.draw, draw),
        )


def _between(expected: float, taken: float) -> float:
    return KEPT_SHARE * expected + (1 - KEPT_SHARE) * min(taken, SURPRISE * expected + USUAL_HICCUP)


def measure(attempt: Callable[[int, int], float], draw: float, fewest: int, most: int) -> Pace:
    """Return the pace, by searches with more and more rollouts, until one takes long enough to tell.

    attempt: runs a search with a number of rollouts of a number of plies, and returns its seconds.
    draw: seconds for drawing configurations.
    """
    rows, shallow = fewest, 0.0
    measured = [(0, 0.0)]
    while rows <= most and measured[-1][1] < TRIAL_SECONDS:
        attempt(rows, TRIAL_DEPTHS[0])  # the first time compiles, captures and allocates
        shallow, deep = (attempt(rows, depth) for depth in TRIAL_DEPTHS)
        measured.append((rows, max(deep - shallow, 1e-6) / (TRIAL_DEPTHS[1] - TRIAL_DEPTHS[0])))
        rows *= 4
    (few, short), (many, long) = measured[-2:]
    # Timing is rough: whatever it says, more rollouts take more time.
    row = max((long - short) / (many - few), 0.1 * long / many)
    fixed = max(shallow - TRIAL_DEPTHS[0] * long - draw, 0.0)
    return Pace(fixed, max(long - row * many, 0.0), row, draw)
