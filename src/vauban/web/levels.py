"""The opponents by name: who they are and what plays for them (levels.toml), how strong they are (ratings.json).

Both files lie with the family of games that the opponents play (`vauban.web.<family>`). Any other game is played by
an agent that moves at random. Whoever serves the page may add agents (`own_levels`).
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from vauban import door
from vauban.agents.external import PROTOCOLS, prefix_of
from vauban.errors import ConfigurationError, VaubanError, has_torch
from vauban.games.base import game, nearest
from vauban.models import is_shipped
from vauban.web.show import shows

RATINGS = "ratings.json"
"""Beside the file of the levels, by variant and level's key: written by scripts/rate_levels.py, never by hand."""
DEFAULT = "default"
"""In a level's table of agents: the one for all variants that are not named."""


@dataclass(frozen=True)
class Level:
    """An opponent; the page has the words for it, by its key (page/js/strings)."""

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
    own: bool = False
    """Whether it is an agent of whoever serves the page (`own_levels`), and the page has no words for it."""
    stays: bool = False
    """Whether it stays with its game, and is told of it move by move, as programs are (`vauban.web.programs`)."""

    def agent(self, variant: str) -> str:
        """Return the agent that plays for it in a variant."""
        return self.agents.get(variant) or self.agents[DEFAULT]

    def plays(self, variant: str) -> bool:
        """Say whether it plays a variant at all."""
        return variant in self.agents or (DEFAULT in self.agents and (self.games is None or variant in self.games))


OWN_SECONDS = 0.1
"""In place of the usual time for a move where it was not measured: too short to be told, too long to hold others up."""

ANYBODY = Level("random", "Random", {DEFAULT: "random"}, 0.01)
"""Plays games that have no levels of their own."""


@cache
def levels() -> tuple[Level, ...]:
    """Return the opponents of all families that have some, the weakest of each first."""
    found = (read_levels(show.levels, show.offered) for show in shows() if show.levels is not None)
    return tuple(level for some in found for level in some)


@cache
def read_levels(file: Path, games: tuple[str, ...] | None = None) -> tuple[Level, ...]:
    """Read the opponents of a file, the weakest first; they play these games.

    An opponent whose model, or what runs it, is not installed is left out.
    """
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8")).get("level", [])
        rated = file.with_name(RATINGS)
        ratings = json.loads(rated.read_text(encoding="utf-8")) if rated.exists() else {}
        named = [_level(entry, ratings, games) for entry in entries]
        found = tuple(level for level in named if level.agents)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f"{file}: cannot be read as a list of levels: {error}") from error
    keys = [level.key for level in named]
    if not found or len(set(keys)) < len(keys):
        raise ConfigurationError(f"{file}: levels need keys that differ, not {keys}")
    return found


def with_anybody(among: Sequence[Level], games: Sequence[str]) -> tuple[Level, ...]:
    """Return the opponents, with one more for the games that have no levels of their own."""
    levels = [level for level in among if not level.own]
    bare = tuple(name for name in games if not any(level.plays(name) for level in levels))
    return (*((replace(ANYBODY, games=bare),) if bare else ()), *among)


def own_levels(agents: Sequence[str], games: Sequence[str], tell: Callable[[str], None]) -> tuple[Level, ...]:
    """Return agents, by their texts, as opponents in those of the games that they can play; `tell` why not in others.

    An agent that plays none of the games is refused. Of a program no more than its file is named: its command may hold
    what is nobody else's.
    """
    found: list[Level] = []
    for agent in dict.fromkeys(agents):
        refusals = {name: _refusal(agent, name) for name in games}
        playing = tuple(name for name, refusal in refusals.items() if refusal is None)
        reasons = _reasons(agent, {name: refusal for name, refusal in refusals.items() if refusal})
        if not playing:
            raise ConfigurationError(f"{agent} plays none of the games that are offered here. {'; '.join(reasons)}")
        for reason in reasons:
            tell(reason)
        name = _own_name(agent, [level.name for level in found])
        stays = _stays(agent, playing[0])
        found.append(Level(f"own:{name}", name, {DEFAULT: agent}, OWN_SECONDS, games=playing, own=True, stays=stays))
    return tuple(found)


def find_level(key: Any, variant: str, among: Sequence[Level]) -> Level:
    """Return the opponent of this key, if it plays the variant."""
    for level in among:
        if level.key == key:
            if not level.plays(variant):
                raise ConfigurationError(f"{level.name} does not play {variant!r}")
            return level
    raise ConfigurationError(f"there is no level {key!r}: {nearest(str(key), [level.key for level in among])}")


def learned_agents(variant: str, among: Sequence[Level]) -> list[str]:
    """Return the agents with a network that has learned a variant, the weakest first; one's own before all others."""
    playing = sorted((level for level in among if level.plays(variant)), key=lambda level: not level.own)
    return [level.agent(variant) for level in playing if has_learned(level.agent(variant))]


def travels(variant: str, agents: Sequence[str], among: Sequence[Level]) -> bool:
    """Say whether agents can play a game on any machine with the same Vauban: those of levels, which need no file of
    the host's, and games that come from no file."""
    known = {level.agent(variant) for level in among if not level.own and level.plays(variant)}
    return known.issuperset(agents) and not variant.startswith(door.PREFIX)


def has_learned(agent: str) -> bool:
    """Say whether an agent plays by a network."""
    return agent.partition(":")[0] in ("net", "search")


def _is_installed(agent: str) -> bool:
    """Say whether the model of an agent with a network is there, and what runs it; other agents need nothing."""
    if not has_learned(agent):
        return True
    if not has_torch():
        return False
    model = agent.partition(":")[2].partition(",")[0]
    return "/" in model or is_shipped(model)


def _refusal(agent: str, name: str) -> str | None:
    """Return why an agent cannot play a game; None if it can. One that does not say so itself is asked for a move."""
    from vauban.agents import make_agent
    from vauban.agents.base import close
    from vauban.web.thinking import WarmUp

    prefix = prefix_of(agent)
    if prefix is not None and not PROTOCOLS[prefix].started:
        return "it comes by itself, and a page cannot wait for it: name the command that starts it"
    try:
        wanted = game(name)
        made = make_agent(agent, game=wanted)
        try:
            check = getattr(made, "check_plays", None)
            if check is not None:
                check(wanted)
        finally:
            close(made)
        if check is None:
            WarmUp(agent, name).run(lambda share: None)
    except VaubanError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _reasons(agent: str, refusals: Mapping[str, str]) -> list[str]:
    """Return why an agent is not offered in games: a sentence for each family of them, with the first one's reason."""
    families: dict[str, list[str]] = {}
    for name in refusals:
        families.setdefault(game(name).family, []).append(name)
    return [f"{agent} is not offered in {', '.join(names)}: {refusals[names[0]]}" for names in families.values()]


def _stays(agent: str, name: str) -> bool:
    """Return whether an agent has to be told of a game move by move, from the beginning."""
    from vauban.agents import make_agent
    from vauban.agents.base import Listener, Watcher, close

    made = make_agent(agent, game=game(name))
    try:
        return isinstance(made, Listener | Watcher)
    finally:
        close(made)


def _own_name(agent: str, taken: Sequence[str]) -> str:
    """Return what an agent is called on the page: a program by its file, any other by its text."""
    prefix = prefix_of(agent)
    name = agent if prefix is None else _file_of(agent.removeprefix(prefix))
    same = sum(each == name or each.startswith(f"{name} (") for each in taken)
    return f"{name} ({same + 1})" if same else name


def _file_of(command: str) -> str:
    """Return bot.py for python3 -u somewhere/bot.py --key 123."""
    words = shlex.split(command)
    place = next((n for n, word in enumerate(words[1:], 1) if "." in word and word[0] not in "-{"), 0)
    return Path(words[place]).name


def _level(entry: dict[str, Any], ratings: Mapping[str, Mapping[str, int]], games: Sequence[str] | None) -> Level:
    agent, key = entry["agent"], str(entry["key"])
    agents = {DEFAULT: agent} if isinstance(agent, str) else {str(k): str(v) for k, v in agent.items()}
    return Level(
        key=key,
        name=str(entry["name"]),
        agents={variant: text for variant, text in agents.items() if _is_installed(text)},
        seconds=float(entry["seconds"]),
        elo={variant: figures[key] for variant, figures in ratings.items() if key in figures},
        games=games,
    )
