"""Looking back on whole games: what a family of games has to offer for it, and which families do.

A family that can look back has a module `review` in its part of this room (`vauban.search.<family>.review`), with its
class below `vauban.search.review.Review`; all else is made by `vauban.search.reviewing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

from vauban.errors import ConfigurationError
from vauban.families import family_part, family_parts
from vauban.games.base import Game, Outcome

if TYPE_CHECKING:
    from vauban.nets.store import Model
    from vauban.search.review import Review
    from vauban.search.search import Search, SearchConfig


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
