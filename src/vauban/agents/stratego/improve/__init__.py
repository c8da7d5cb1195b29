"""Improvements of a network's play that know Stratego, as published with DeepNash (docs/agents.md).

`eagerness` and `memory` change what a network sees; `threats` and `bounds` take moves out of its policy, in this order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vauban.agents.base import Floats
from vauban.agents.improve import Improved, Wanted
from vauban.agents.stratego.improve.bounds import upper_bounds
from vauban.agents.stratego.improve.memory import ruled_out
from vauban.agents.stratego.improve.threats import pointless
from vauban.games.stratego.pieces import GENERAL, MARSHAL, SPY
from vauban.observe.base import Observation
from vauban.sim.store import Snapshot

KNOWN = ("threats", "eagerness", "memory", "bounds")


def improve(wanted: Wanted) -> Improved:
    """Return what edits observations, and what takes moves out; None for what is not wanted."""

    def edit(views: Snapshot, observation: Observation, seen: Any) -> None:
        public = observation.public
        assert public is not None
        if wanted.eagerness != 1:
            seen[:, :, public.battleless] = 1 - (1 - seen[:, :, public.battleless]) ** wanted.eagerness
        if wanted.memory:
            types = ruled_out(views)
            for kind in (SPY, GENERAL, MARSHAL):
                left = seen.new_tensor(types >> kind & 1 == 0)
                for channel in (public.own[kind], public.theirs[kind]):
                    seen[:, :, channel] *= left

    def prune(views: Snapshot, found: Any, judge: Any) -> Floats:
        chances: Floats = found.chances
        if not wanted.threats:
            chances = _without(chances, pointless(views, found.legal))
        if wanted.bounds is not None:
            bounds = upper_bounds(views, found.legal, chances, judge)
            chances = _without(chances, bounds + wanted.bounds < judge(views)[:, None])
        return chances

    edits, prunes = wanted.eagerness != 1 or wanted.memory, not wanted.threats or wanted.bounds is not None
    return Improved(edit if edits else None, prune if prunes else None)


def _without(chances: Floats, out: Any) -> Floats:
    """Return policies without some moves; one of which nothing would be left stays as it is."""
    left = np.where(out, 0.0, chances)
    return np.where(left.sum(1, keepdims=True) > 0, left, chances)
