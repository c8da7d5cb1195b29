"""The interface of a belief: what hidden things may be, as something to draw from."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from vauban.families import family_part
from vauban.games.base import Game


class Belief:
    """A distribution over what is hidden from a player."""

    observation: str
    """The observation that `seen` is, in the layout "squares"."""
    pieces: int
    """Most things that can be hidden."""

    def sample(self, seen: Tensor, uniforms: Tensor, *, wait: bool = True) -> Tensor:
        """Draw what the hidden things are (int8, positions × samples × `pieces`, −1 behind the last).

        seen: observations of the positions, by the player whose belief this is.
        uniforms: float32 from 0 to 1 (without 1), positions × samples × `pieces`: what the answer depends on.
        wait=False: do not ask the device how many things are hidden, but go through as many as can be: the same answer.
        """
        raise NotImplementedError


def uniform_belief(game: Game) -> Belief | None:
    """Return the belief that finds everything possible equally likely; None where the game's family has none."""
    part: Any = family_part("nets", game.family, "belief")
    if part is None:
        return None
    found: Belief = part.UniformBelief(game)
    return found
