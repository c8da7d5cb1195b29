"""Improvements of a network's play at a table, without training: those that fit any game, and those that know a family.

Inputs are edited first, then moves are taken out of the policy; what is left loses small probabilities, and is made of
equal parts. A family that has improvements of its own has a module `vauban.agents.<family>.improve` (`Improving`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from vauban.errors import ConfigurationError
from vauban.families import family_part
from vauban.games.base import Game
from vauban.observe import base as observations

if TYPE_CHECKING:
    from torch import Tensor

    from vauban.nets.positions import Edit
    from vauban.search.player import Pruning


@dataclass(frozen=True)
class Wanted:
    """Improvements that know a family's games; by default none is wanted."""

    threats: bool = True
    eagerness: float = 1.0
    memory: bool = False
    bounds: float | None = None

    @staticmethod
    def of(options: Any) -> Wanted:
        """Return those that an agent's options ask for."""
        return Wanted(**{each.name: getattr(options, each.name) for each in fields(Wanted)})

    @property
    def names(self) -> list[str]:
        """The improvements that are wanted, by their options."""
        return [each.name for each in fields(self) if getattr(self, each.name) != each.default]


class Improved(NamedTuple):
    """The part of a family that makes them."""

    edit: Edit | None = None
    pruning: Pruning | None = None


class Improving(Protocol):
    """A family's module with its improvements."""

    KNOWN: tuple[str, ...]
    """The options that it has."""

    def improve(self, wanted: Wanted) -> Improved:
        """Return what edits observations, and what takes moves out."""


def shaping(threshold: float, levels: int) -> Callable[[Tensor], Tensor] | None:
    """Return what drops small probabilities and makes the others multiples of one in so many; None for neither."""
    if not threshold and not levels:
        return None
    from vauban.nets import processing

    def shape(policy: Tensor) -> Tensor:
        kept = processing.threshold(policy, threshold)
        return processing.discretise(kept, levels) if levels else kept

    return shape


def improvements(agent: str, wanted: Wanted, game: Game, seen_in: Game, observation: str) -> Improved:
    """Return a family's improvements; refuse what it does not have.

    seen_in: the game in which observations are made; observation: the one that the network sees.
    """
    if not wanted.names:
        return Improved()
    part = cast("Improving | None", family_part("agents", game.family, "improve"))
    missing = [name for name in wanted.names if part is None or name not in part.KNOWN]
    if missing:
        raise ConfigurationError(
            f"{' and '.join(missing)} of agent {agent!r}: there is no such improvement for {game.name!r}, of the "
            f"family {game.family!r}; leave {'it' if len(missing) == 1 else 'them'} out. Any game takes threshold and "
            "levels"
        )
    edits = [name for name in wanted.names if name in ("eagerness", "memory")]
    if edits and observations.find(seen_in, observation).public is None:
        raise ConfigurationError(
            f"{' and '.join(edits)} of agent {agent!r}: its network sees the observation {observation!r}, which does "
            "not say what of it is public knowledge; leave them out"
        )
    assert part is not None
    return part.improve(wanted)
