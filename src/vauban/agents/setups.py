"""Samplers of setups, by name: uniform, list:FILE and fixed:TEXT in any game, and what its family has besides.

sampler = make_sampler("uniform", game)
setup = sampler(random.Random(7))
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from vauban.agents.base import Row
from vauban.errors import ConfigurationError, SetupError
from vauban.families import family_part
from vauban.games.base import nearest

if TYPE_CHECKING:
    from vauban.games.base import Game, Setups

Sampler = Callable[[random.Random], Row]
"""Draws a setup."""


def make_sampler(text: str, game: Game) -> Sampler:
    """Return the sampler that a text names. A family that knows more of setups makes its own (`make_sampler_for`)."""
    if game.setups is None:
        raise ConfigurationError(f"players of {game.name!r} place nothing, so there are no setups: leave {text!r} out")
    family = family_part("agents", game.family, "setups")
    if family is not None:
        sampler: Sampler = family.make_sampler_for(text, game)
        return sampler
    name, _, rest = text.partition(":")
    if name == "uniform" and not rest:
        return game.setups.draw
    if name == "fixed" and rest:
        setup = game.setups.parse(rest)
        return lambda rng: setup.copy()
    if name == "list" and rest:
        setups = _read(Path(rest), game.setups)
        return lambda rng: setups[rng.randrange(len(setups))].copy()
    known = ["uniform", "list:FILE", "fixed:TEXT"]
    raise ConfigurationError(f"{game.name!r} has no sampler of setups {text!r}: {nearest(text, known)}")


def usual_setups(game: Game) -> str | None:
    """Return a game's usual sampler: `human` where setups of people are known; None if there is none."""
    family = family_part("agents", game.family, "setups")
    return getattr(family, "USUAL", None)


def _read(path: Path, setups: Setups) -> list[Row]:
    """Return the setups of a text file: one on a line; # begins a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read as a list of setups: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        try:
            found += [setups.parse(text)] if text else []
        except SetupError as error:
            raise SetupError(f"{path}, line {number}: {error}") from error
    if not found:
        raise ConfigurationError(f"{path}: there is no setup in this file (one on a line, # begins a comment)")
    return found
