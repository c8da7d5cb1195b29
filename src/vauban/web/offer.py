"""Games, levels and clocks that the page offers. The page has the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vauban import __version__
from vauban.games.base import nearest
from vauban.web.clocks import CLOCKS
from vauban.web.levels import Level, learned_agents
from vauban.web.show import TableError, show_of

Json = dict[str, Any]


def offer(games: Sequence[str], levels: Sequence[Level]) -> Json:
    """Return all that is offered."""
    return {
        "version": __version__,
        "variants": [_variant(name, levels) for name in games],
        "levels": [
            {
                "key": level.key, "name": level.name, "seconds": level.seconds, "elo": dict(level.elo),
                "variants": [name for name in games if level.plays(name)],
            }
            for level in levels
        ],
        "clocks": list(CLOCKS),
    }  # fmt: skip


def find_offered(name: Any, games: Sequence[str]) -> str:
    """Return the name of a game, if it can be played here."""
    if not isinstance(name, str) or name not in games:
        raise TableError("variant", f"There is no variant {name!r} here: {nearest(str(name), games)}.")
    return name


def _variant(name: str, levels: Sequence[Level]) -> Json:
    show = show_of(name)
    return {
        "name": name,
        "family": show.family,
        "setups": show.has_setups(name),
        "looks_back": show.looks_back,
        "network": bool(learned_agents(name, levels)),
        **show.offer(name),
    }
