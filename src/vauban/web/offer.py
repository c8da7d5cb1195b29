"""Families, games, levels, clocks and languages that the page offers. The page has the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vauban import __version__
from vauban.games.base import nearest
from vauban.web.clocks import CLOCKS
from vauban.web.files import explored, languages
from vauban.web.levels import Level, learned_agents
from vauban.web.plain import PLAIN
from vauban.web.show import Show, TableError, show_of, shows

Json = dict[str, Any]


def offer(games: Sequence[str], levels: Sequence[Level]) -> Json:
    """Return all that is offered."""
    return {
        "version": __version__,
        "languages": languages(),
        "families": [_family(show) for show in (*shows(), PLAIN)],
        "variants": [_variant(name, levels) for name in games],
        "levels": [
            {
                "key": level.key, "name": level.name, "seconds": level.seconds, "elo": dict(level.elo),
                "own": level.own, "program": level.stays,
                "variants": [name for name in games if level.plays(name)],
            }
            for level in levels
        ],
        "clocks": list(CLOCKS),
    }  # fmt: skip


def static_folder(show: Show) -> str:
    """Return the address of the folder with a family's script."""
    return "/static/js/games" if show.files is None else f"/static/games/{show.family}"


def find_offered(name: Any, games: Sequence[str]) -> str:
    """Return the name of a game, if it can be played here."""
    if not isinstance(name, str) or name not in games:
        raise TableError("variant", f"There is no variant {name!r} here: {nearest(str(name), games)}.")
    return name


def _family(show: Show) -> Json:
    return {
        "name": show.family,
        "script": f"{static_folder(show)}/{show.script.name}",
        "screens": list(show.screens),
    }


def _variant(name: str, levels: Sequence[Level]) -> Json:
    show = show_of(name)
    return {
        "name": name,
        "family": show.family,
        "setups": show.has_setups(name),
        "switches": [switch.to_json() for switch in show.switches(name)],
        "looks_back": show.looks_back,
        "marks": list(show.marks),
        "network": bool(learned_agents(name, levels)),
        "explored": explored(name),
        **show.offer(name),
    }
