"""Configurations of one position, drawn by a long chain of small steps, which a GPU replays as one captured graph."""

from __future__ import annotations

import torch
from torch import Tensor

from vauban.nets.belief import Belief
from vauban.nets.replay import Replay


class Draws:
    """Draws configurations of a position, a fixed number at a time; any surplus is left away."""

    def __init__(self, belief: Belief, seen: Tensor, samples: int) -> None:
        """seen: an observation of one position, on the device that draws. A GPU takes seconds here, to be quick later.

        samples: most that are drawn at a time; it takes as long to draw fewer.
        """
        self._belief = belief
        self._seen = seen.clone()
        self._uniforms = torch.zeros(1, samples, belief.pieces, device=seen.device)
        self._values = torch.empty(1, samples, belief.pieces, dtype=torch.int8, device=seen.device)
        self._replay = Replay(seen.device)
        self._replay.prepare(self._draw)

    def draw(self, seen: Tensor, uniforms: Tensor) -> Tensor:
        """Draw configurations, as `Belief.sample` does."""
        samples = uniforms.shape[1]
        self._seen.copy_(seen)
        self._uniforms[:, :samples].copy_(uniforms)
        self._replay(self._draw)
        return self._values[:, :samples].clone()

    def _draw(self) -> None:
        self._values.copy_(self._belief.sample(self._seen, self._uniforms, wait=False))
