"""The algorithms: each says whom a policy trains against, and when it is finished.

All of them run on one pipeline. They differ in these settings, and in nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vauban.errors import ConfigurationError
from vauban.games.base import nearest


@dataclass(frozen=True)
class Scheme:
    """One algorithm."""

    opponents: Literal["below", "finished", "newest", "beaten"]
    """The opponents of a policy: the meta-Nash of all policies with lower numbers, those in training among them; the
    meta-Nash of the finished ones; the one that was finished last; or that part of the meta-Nash which one finished
    policy beats or ties."""
    finishes: Literal["lowest", "each", "together", "never"]
    """Policies that may be finished: only the lowest in training; each by itself; a generation when all its policies
    have come to a plateau; none."""
    one: bool = False
    """Whether a single policy is trained at a time."""
    stops: bool = False
    """Whether a generation takes in only what is new, and the algorithm is over when nothing is."""


SCHEMES = {
    "p2sro": Scheme("below", "lowest"),
    "sequential": Scheme("finished", "each", one=True),
    "naive": Scheme("finished", "each"),
    "dch": Scheme("below", "never"),
    "rectified": Scheme("beaten", "together"),
    "rectified-paper": Scheme("beaten", "together", stops=True),
    "self-play": Scheme("newest", "each", one=True),
}
"""By name. `rectified-paper` is Rectified PSRO as the paper words it, which ends when no strategy is new."""
TITLES = {
    "p2sro": "P2SRO",
    "sequential": "sequential PSRO",
    "naive": "naive PSRO",
    "dch": "DCH",
    "rectified": "Rectified PSRO",
    "rectified-paper": "Rectified PSRO, as printed",
    "self-play": "self-play",
}
"""Their names in tables and plots."""


def find_scheme(name: str) -> Scheme:
    """Return the algorithm of this name."""
    if name not in SCHEMES:
        raise ConfigurationError(f"there is no scheme {name!r}: {nearest(name, list(SCHEMES))}")
    return SCHEMES[name]
