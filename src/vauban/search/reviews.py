"""Looking back on whole games: what a family of games has to offer for it, and which families do.

A family that can look back has a module `review` in its part of this room (`vauban.search.stratego.review`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from vauban.errors import ConfigurationError
from vauban.families import family_part, family_parts
from vauban.games.base import Game, Outcome

if TYPE_CHECKING:
    from vauban.nets.store import Model
    from vauban.search.search import Search, SearchConfig


class Moment(Protocol):
    """A moment that decided a game."""

    ply: int
    kind: str
    side: int

    @property
    def text(self) -> str:
        """What happened, as a sentence."""


class Review(Protocol):
    """A game that has been looked back on. Positions are counted from 0, the start, to the number of moves."""

    @property
    def turns(self) -> Sequence[int]:
        """By position, who was on turn."""

    @property
    def outcomes(self) -> Mapping[int, Any]:
        """By position that a network has looked at: the outcome that the side on turn foresaw."""

    @property
    def moments(self) -> Sequence[Moment]:
        """The moments that decided the game."""

    @property
    def unsearched_text(self) -> str:
        """Where time was too short for all searches, as a sentence; empty otherwise."""

    def value(self, side: int, position: int) -> float | None:
        """Return the result that a side foresees, from −1 to 1; None where nothing is foreseen."""

    def plies_json(self) -> Iterator[dict[str, Any]]:
        """Return one position after the other."""

    def summary_json(self) -> dict[str, Any]:
        """Return all but the positions."""


class Reviewer(Protocol):
    """A family's module that looks back on its games."""

    SEARCHED: SearchConfig
    """The search at the positions that matter, unless somebody asks for something else."""

    def review(
        self,
        board: Any,
        model: Model | None,
        *,
        search: Search | None = None,
        seed: int = 0,
        ended: Outcome | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Review:
        """Look back on a game with all its moves."""


def reviewer_of(game: Game) -> Reviewer:
    """Return what looks back on games of this family; refuse a game that nothing can look back on."""
    part = family_part("search", game.family, "review")
    if part is None:
        able = ", ".join(each.__name__.split(".")[2] for each in family_parts("search", "review"))
        raise ConfigurationError(
            f"nothing looks back on a whole game of {game.name!r} yet, only on games of these families: {able}; "
            "a single position can be searched (--ply)"
        )
    return cast(Reviewer, part)
