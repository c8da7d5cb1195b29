"""The opponents by name: who they are and what plays for them (levels.toml), how strong they are (ratings.json)."""

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

FILE = Path(__file__).with_name("levels.toml")
RATINGS = Path(__file__).with_name("ratings.json")
"""By variant and level's key: written by scripts/rate_levels.py, never by hand."""
DEFAULT = "default"
"""In a level's table of agents: the one for all variants that are not named."""


@dataclass(frozen=True)
class Level:
    """An opponent; who it is in words, the page knows by its key (strings.js)."""

    key: str
    name: str
    agents: Mapping[str, str]
    """What plays for it (`vauban.agents.make_agent`), by variant."""
    seconds: float
    """What a move usually takes it."""
    elo: Mapping[str, int] = field(default_factory=dict)
    """By variant, where it was measured. Who moves at random has 0."""

    def agent(self, variant: str) -> str:
        """What plays for it in a variant."""
        return self.agents.get(variant) or self.agents[DEFAULT]

    def plays(self, variant: str) -> bool:
        """Whether it plays a variant at all."""
        return variant in self.agents or DEFAULT in self.agents


@cache
def levels(file: Path = FILE) -> tuple[Level, ...]:
    """All opponents, the weakest first."""
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8")).get("level", [])
        ratings = json.loads(RATINGS.read_text(encoding="utf-8"))
        found = tuple(_level(entry, ratings) for entry in entries)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f"{file}: cannot be read as a list of levels: {error}") from error
    keys = [level.key for level in found]
    if not found or len(set(keys)) < len(keys):
        raise ConfigurationError(f"{file}: levels need keys that differ, not {keys}")
    return found


def find_level(key: Any, variant: str, among: Sequence[Level]) -> Level:
    """The opponent of this name."""
    for level in among:
        if level.key == key:
            if not level.plays(variant):
                raise ConfigurationError(f"{level.name} does not play {variant!r}")
            return level
    raise ConfigurationError(f"there is no level {key!r}: {nearest(str(key), [level.key for level in among])}")


def learned_agents(variant: str, among: Sequence[Level]) -> list[str]:
    """The agents with a network that has learned a variant, the weakest first."""
    agents = [level.agent(variant) for level in among if level.plays(variant)]
    return [agent for agent in agents if has_learned(agent)]


def has_learned(agent: str) -> bool:
    """Whether an agent plays by a network."""
    return agent.partition(":")[0] in ("net", "search")


def _level(entry: dict[str, Any], ratings: Mapping[str, Mapping[str, int]]) -> Level:
    agent, key = entry["agent"], str(entry["key"])
    return Level(
        key=key,
        name=str(entry["name"]),
        agents={DEFAULT: agent} if isinstance(agent, str) else {str(k): str(v) for k, v in agent.items()},
        seconds=float(entry["seconds"]),
        elo={variant: figures[key] for variant, figures in ratings.items() if key in figures},
    )
