"""Hidden things as an observation tells of them, and what each may be so that the rest can be given out too.

An observation that tells of hidden things (`HiddenChannels`) shows where they stand, how many there are of each kind,
and which are *bound*: these can only be of the common kinds, the others of any. In Stratego a piece that has moved is
bound to the types that move; in Geister a ghost that is proven evil is bound to be evil.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.observe import base as observations


class Hidden(NamedTuple):
    """The hidden things of n positions, as an observation shows them: by square in the viewer's frame."""

    squares: Tensor
    """Their squares: int64, n × things; behind the last any square."""
    present: Tensor
    """Entries that are things (bool, n × things): the first ones."""
    bound: Tensor
    """Things that can only be of the common kinds (bool, n × things)."""
    unbound: Tensor
    """Number of things, from each one on, that are not bound (int64, n × things)."""
    counts: Tensor
    """Number of things of each kind (int64, n × kinds)."""
    chances: Tensor
    """The probability of each kind when all consistent assignments are equally likely (float32, n × things × kinds)."""


class Left(NamedTuple):
    """The kinds left to give out when a thing's turn comes."""

    counts: Tensor
    """Number of things of each kind (int64, … × kinds)."""
    bound: Tensor
    """Whether this thing is bound (bool, …)."""
    unbound: Tensor
    """Number of things, from this one on, that are not bound (int64, …)."""


class Kinds:
    """The kinds of a game's hidden things, and the channels of its observation that tell of them."""

    def __init__(self, game: Game) -> None:
        found = observations.of_hidden(game)
        if found is None or found.hidden is None:
            raise ConfigurationError(
                f"there is no belief about {game.name!r}: none of its observations tells of hidden things "
                "(vauban.observe.base.HiddenChannels)"
            )
        self.observation = found.name
        self.things = game.hidden_size
        self.count = len(game.hidden_kinds)
        self.common = tuple(kind in found.hidden.common for kind in range(self.count))
        """By kind, whether any thing can be it; the other kinds are for things that are not bound."""
        self._channels = found.hidden
        self._masks: dict[torch.device, Tensor] = {}

    def read(self, seen: Tensor) -> Hidden:
        """Read the hidden things off the observation, in the layout "squares"."""
        there_channel, bound_channel, first, _ = self._channels
        there = seen[:, :, there_channel] > 0
        chances = seen[:, :, first : first + self.count].float() * there[:, :, None]
        squares = (~there).byte().sort(dim=1, stable=True).indices[:, : self.things]
        present = there.gather(1, squares)
        bound = (seen[:, :, bound_channel] > 0).gather(1, squares) & present
        free = (present & ~bound).long()
        # The chances of a kind, added up over the things, are the number of such things: also in bfloat16, when
        # rounded.
        counts = chances.sum(1).round().long()
        unbound = free.flip(1).cumsum(1).flip(1)
        listed = chances.gather(1, squares[:, :, None].expand(-1, -1, self.count))
        return Hidden(squares, present, bound, unbound, counts, listed)

    def allowed(self, left: Left) -> Tensor:
        """Return the kinds that a thing may be given so that the rest can be given out too (bool, … × kinds)."""
        common = self._is_common(left.counts.device)
        others = torch.where(common, 0, left.counts).sum(-1)
        # The other kinds must go to things that are not bound: when they need all of those, none is left for the
        # common kinds.
        may_be_common = left.bound | (left.unbound > others)
        return (left.counts > 0) & torch.where(common, may_be_common[..., None], ~left.bound[..., None])

    def uniform_chances(self, left: Left) -> Tensor:
        """Return the probability of each kind of a thing when all consistent rests are equally likely (float32, … ×
        kinds).
        """
        counts, common = left.counts.float(), self._is_common(left.counts.device)
        bound, unbound = left.bound[..., None], left.unbound[..., None].float().clamp_min(1)
        shared = torch.where(common, counts, 0.0).sum(-1, keepdim=True)
        others = torch.where(common, 0.0, counts).sum(-1, keepdim=True)
        is_common = torch.where(bound, 1.0, 1 - others / unbound)
        return torch.where(common, counts / shared.clamp_min(1) * is_common, torch.where(bound, 0.0, counts / unbound))

    def _is_common(self, device: torch.device) -> Tensor:
        """Return `common` on a device, made once: a captured graph cannot fetch it."""
        if device not in self._masks:
            self._masks[device] = torch.tensor(self.common, device=device)
        return self._masks[device]

    def one_hot(self, values: Tensor) -> Tensor:
        """Return kinds as bits (int64, … × kinds); all 0 for −1."""
        return functional.one_hot(values.long() + 1, self.count + 1)[..., 1:]

    def marginals(self, values: Tensor) -> Tensor:
        """Return the share of each kind of each thing among samples: float32, positions × things × kinds.

        values: positions × samples × things, −1 behind the last thing, whose shares are 0.
        """
        return self.one_hot(values).float().mean(1)


def masked_log_policy(log_weights: Tensor, allowed: Tensor) -> Tensor:
    """Return the logarithm of the probabilities of the allowed kinds, −inf for the others; float32."""
    # A finite number first: where nothing is allowed, behind the last thing, there must be no NaN.
    lowest = torch.finfo(torch.float32).min
    return torch.log_softmax(log_weights.float().masked_fill(~allowed, lowest), -1).masked_fill(~allowed, -torch.inf)
