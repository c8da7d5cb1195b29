"""Populations: many policies, each with its chance to play.

    population = read_population(Path("runs/psro-leduc-exact"))
    population.agents, population.chances

A population is a folder: `card.json`, which names the policies and has their meta-Nash; `payoffs.db`, what they get
from each other; and `policies`, a folder for each policy. A run keeps its own in its folder `population`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vauban.errors import VaubanError
from vauban.files import write_whole
from vauban.games.base import Game, from_spec

FOLDER, CARD, PAYOFFS, POLICIES = "population", "card.json", "payoffs.db", "policies"
FORMAT = 1


class PopulationError(VaubanError, ValueError):
    """A folder that is no population."""


@dataclass(frozen=True)
class Policy:
    """A policy of a population."""

    number: int
    agent: str
    """The agent that plays it, as text; what is relative in it begins in the population's folder."""
    chance: float
    """In the meta-Nash."""
    finished: bool
    updates: int
    steps: int
    """Actions that it has learned from."""
    episodes: int
    """Games that it has learned from."""
    performance: float | None
    """Its mean utility against its opponents at its last update; None before the first."""
    parent: int | None
    """The policy that it began as a copy of."""


@dataclass(frozen=True)
class Population:
    """A population, as its card describes it."""

    name: str
    run: str
    """The run that trained it."""
    game: Game
    scheme: str
    updates: int
    policies: Sequence[Policy]
    folder: Path

    @property
    def chances(self) -> list[float]:
        """The chance of each policy to play."""
        return [policy.chance for policy in self.policies]

    @property
    def agents(self) -> list[str]:
        """The agents that play the policies, as texts that work from any folder."""
        return [_anywhere(policy.agent, self.folder) for policy in self.policies]


def write_population(population: Population) -> None:
    """Write the card of a population into its folder."""
    card = {
        "format": FORMAT,
        "name": population.name,
        "run": population.run,
        **population.game.spec(),
        "scheme": population.scheme,
        "updates": population.updates,
        "policies": [asdict(each) for each in population.policies],
    }
    write_whole(population.folder / CARD, json.dumps(card, indent=1) + "\n")


def read_population(folder: Path) -> Population:
    """Return the population of a folder: its own, or that of a run."""
    place = folder if (folder / CARD).exists() else folder / FOLDER
    if not (place / CARD).exists():
        raise PopulationError(
            f"there is no population in {folder}: name the folder of a run that trains one (vauban train "
            f"psro-leduc-exact), or one with a {CARD}"
        )
    try:
        card: dict[str, Any] = json.loads((place / CARD).read_text(encoding="utf-8"))
        if card["format"] != FORMAT:
            raise PopulationError(f"{place} was written by another version of Vauban: go on with that version")
        policies = [Policy(**each) for each in card["policies"]]
        return Population(
            card["name"], card["run"], from_spec({"game": card["game"], "rules": card["rules"]}), card["scheme"],
            card["updates"], policies, place.absolute(),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, VaubanError):
            raise
        raise PopulationError(f"{place / CARD} is no card of a population: {type(error).__name__} {error}") from error


def _anywhere(agent: str, folder: Path) -> str:
    kind, colon, place = agent.partition(":")
    if not colon or "," in place:
        raise PopulationError(f"{folder}: {agent!r} is no agent of a population, which is written KIND:PLACE")
    return f"{kind}:{folder / place}"
