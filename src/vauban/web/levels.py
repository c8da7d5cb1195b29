"""The opponents by name: who they are and what plays for them (levels.toml), how strong they are (ratings.json).

Both files lie with the family of games that the opponents play (`vauban.web.<family>`). Any other game is played by
an agent that moves at random.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from vauban.errors import ConfigurationError
from vauban.games.base import nearest
from vauban.web.show import shows

RATINGS = "ratings.json"
"""Beside the file of the levels, by variant and level's key: written by scripts/rate_levels.py, never by hand."""
DEFAULT = "default"
"""In a level's table of agents: the one for all variants that are not named."""


@dataclass(frozen=True)
class Level:
    """An opponent; the page has the words for it, by its key (strings.js)."""

    key: str
    name: str
    agents: Mapping[str, str]
    """The agents that play for it (`vauban.agents.make_agent`), by variant."""
    seconds: float
    """Usual time for a move."""
    elo: Mapping[str, int] = field(default_factory=dict)
    """By variant, where it was measured. Random play has 0."""
    games: Sequence[str] | None = None
    """The variants that "default" stands for; None: all there are."""

    def agent(self, variant: str) -> str:
        """Return the agent that plays for it in a variant."""
        return self.agents.get(variant) or self.agents[DEFAULT]

    def plays(self, variant: str) -> bool:
        """Say whether it plays a variant at all."""
        return variant in self.agents or (DEFAULT in self.agents and (self.games is None or variant in self.games))


ANYBODY = Level("random", "Random", {DEFAULT: "random"}, 0.01)
"""Plays games that have no opponents of their own."""


@cache
def levels() -> tuple[Level, ...]:
    """Return the opponents of all families that have some, the weakest of each first."""
    found = (read_levels(show.levels, show.offered) for show in shows() if show.levels is not None)
    return tuple(level for some in found for level in some)


@cache
def read_levels(file: Path, games: tuple[str, ...] | None = None) -> tuple[Level, ...]:
    """Read the opponents of a file, the weakest first; they play these games."""
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8")).get("level", [])
        rated = file.with_name(RATINGS)
        ratings = json.loads(rated.read_text(encoding="utf-8")) if rated.exists() else {}
        found = tuple(_level(entry, ratings, games) for entry in entries)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f"{file}: cannot be read as a list of levels: {error}") from error
    keys = [level.key for level in found]
    if not found or len(set(keys)) < len(keys):
        raise ConfigurationError(f"{file}: levels need keys that differ, not {keys}")
    return found


def find_level(key: Any, variant: str, among: Sequence[Level]) -> Level:
    """Return the opponent of this key, if it plays the variant."""
    for level in among:
        if level.key == key:
            if not level.plays(variant):
                raise ConfigurationError(f"{level.name} does not play {variant!r}")
            return level
    raise ConfigurationError(f"there is no level {key!r}: {nearest(str(key), [level.key for level in among])}")


def learned_agents(variant: str, among: Sequence[Level]) -> list[str]:
    """Return the agents with a network that has learned a variant, the weakest first."""
    agents = [level.agent(variant) for level in among if level.plays(variant)]
    return [agent for agent in agents if has_learned(agent)]


def has_learned(agent: str) -> bool:
    """Say whether an agent plays by a network."""
    return agent.partition(":")[0] in ("net", "search")


def _level(entry: dict[str, Any], ratings: Mapping[str, Mapping[str, int]], games: Sequence[str] | None) -> Level:
    agent, key = entry["agent"], str(entry["key"])
    return Level(
        key=key,
        name=str(entry["name"]),
        agents={DEFAULT: agent} if isinstance(agent, str) else {str(k): str(v) for k, v in agent.items()},
        seconds=float(entry["seconds"]),
        elo={variant: figures[key] for variant, figures in ratings.items() if key in figures},
        games=games,
    )
