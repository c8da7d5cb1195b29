"""Numbers that fall as a run goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class PowerLaw:
    """coefficient / iterationᵈᵉᶜᵃʸ, kept between a floor and a ceiling; the first iteration is 1."""

    coefficient: float
    decay: float = 0.0
    floor: float = 0.0
    ceiling: float = math.inf

    def at(self, iteration: int) -> float:
        """The number for an iteration."""
        return float(min(max(self.coefficient / iteration**self.decay, self.floor), self.ceiling))
