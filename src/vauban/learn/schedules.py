"""Numbers that fall as a run goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vauban.errors import ConfigurationError


@dataclass(frozen=True)
class PowerLaw:
    """coefficient / iterationᵈᵉᶜᵃʸ, kept between a floor and a ceiling; the first iteration is 1."""

    coefficient: float
    decay: float = 0.0
    floor: float = 0.0
    ceiling: float = math.inf

    def __post_init__(self) -> None:
        if not (0 <= self.coefficient < math.inf and 0 <= self.decay < math.inf and 0 <= self.floor <= self.ceiling):
            raise ConfigurationError(
                f"a schedule has a coefficient and a decay from 0, and a floor from 0 to its ceiling: {self}"
            )

    def at(self, iteration: int) -> float:
        """Return the number for an iteration."""
        return float(min(max(self.coefficient / iteration**self.decay, self.floor), self.ceiling))


def average_rate(rate: float, reach: float, iteration: int) -> float:
    """Return the share of the averaged weights that an iteration (from 1) keeps: `rate`, and less while a run is young.

    An average at a steady rate consists of the first, untrained weights for the most part until it has gone on for
    longer than the rate remembers. With a `reach` it looks back over no more than that share of the run so far.
    """
    return min(rate, 1 - 1 / (1 + reach * iteration)) if reach else rate
