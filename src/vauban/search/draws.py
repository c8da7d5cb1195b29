"""Drawing configurations of one position: a long chain of small steps, which a GPU replays as one captured graph."""

from __future__ import annotations

import torch
from torch import Tensor

from vauban.nets.belief import Belief
from vauban.nets.replay import Replay


class Draws:
    """So many configurations of a position at a time."""

    def __init__(self, belief: Belief, seen: Tensor, samples: int) -> None:
        """seen: an observation of one position, for its shape, kind of numbers and device."""
        self._belief = belief
        self._seen = torch.empty_like(seen)
        self._uniforms = torch.empty(1, samples, belief.pieces, device=seen.device)
        self._values = torch.empty(1, samples, belief.pieces, dtype=torch.int8, device=seen.device)
        self._replay = Replay(self._draw, seen.device)

    def draw(self, seen: Tensor, uniforms: Tensor) -> Tensor:
        """As `Belief.sample`."""
        self._seen.copy_(seen)
        self._uniforms.copy_(uniforms)
        self._replay()
        return self._values.clone()

    def _draw(self) -> None:
        self._values.copy_(self._belief.sample(self._seen, self._uniforms, wait=False))
