"""Samplers of setups, by name: uniform, list:FILE, fixed:TEXT, mirrored:SAMPLER, and what a family has besides.

    sampler = make_sampler("uniform", game)
    setup = sampler(random.Random(7))

A setup that leaves its owner no first move is drawn again, or refused where it is given.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vauban.agents.base import Row
from vauban.errors import ConfigurationError, NotationError, SetupError
from vauban.families import family_part
from vauban.games.base import nearest

if TYPE_CHECKING:
    from vauban.games.base import Game, Setups

Sampler = Callable[[random.Random], Row]
"""Draws a setup."""
DRAWS = 1000
"""Most draws of a setup until one leaves a first move."""


def make_sampler(text: str, game: Game) -> Sampler:
    """Return the sampler that a text names; a family may have more of them (`SAMPLERS` in its part)."""
    setups = game.setups
    if setups is None:
        raise ConfigurationError(f"players of {game.name!r} place nothing, so there are no setups: leave {text!r} out")
    name, _, rest = text.partition(":")
    part = family_part("agents", game.family, "setups")
    drawn = {"uniform": lambda game: game.setups.draw} | getattr(part, "SAMPLERS", {})
    given = {"list": "a file", "fixed": "a setup"} | ({} if setups.mirror is None else {"mirrored": "another sampler"})
    if name not in drawn | given:
        raise ConfigurationError(
            f"there is no sampler of setups {name!r} in {game.name!r}: {nearest(name, [*drawn, *given])}"
        )
    if name in drawn and rest:
        raise ConfigurationError(f"the sampler {name!r} takes nothing after a colon, not {rest!r}")
    if name in given and not rest:
        raise ConfigurationError(f"the sampler {name!r} needs {given[name]} after a colon")
    if name in drawn:
        return partial(_draw, drawn[name](game), game.name, setups)
    if name == "mirrored":
        return partial(_perhaps_mirrored, make_sampler(rest, game), setups)
    if name == "fixed":
        setup = _parsed(rest, setups, name)
        return lambda rng: setup.copy()
    rows = read_setups(rest, game)
    return lambda rng: rows[rng.randrange(len(rows))].copy()


def usual_setups(game: Game) -> str | None:
    """Return a game's usual sampler: `human` where setups of people are known; None if there is none."""
    family = family_part("agents", game.family, "setups")
    return getattr(family, "USUAL", None)


def read_setups(path: str | Path, game: Game) -> list[Row]:
    """Return the setups of a text file: one on a line; # begins a comment."""
    assert game.setups is not None
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read as a list of setups: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if text:
            found.append(_parsed(text, game.setups, f"{path}, line {number}"))
    if not found:
        raise ConfigurationError(f"{path}: there is no setup in this file (one on a line, # begins a comment)")
    return found


def _parsed(text: str, setups: Setups, where: str) -> Row:
    try:
        setup = setups.parse(text)
    except (SetupError, NotationError) as error:
        raise SetupError(f"{where}: {error}") from error
    if not setups.can_begin(setup[None])[0]:
        raise SetupError(f"{where}: no piece of the setup {text!r} could make a first move")
    return setup


def _draw(draw: Sampler, name: str, setups: Setups, rng: random.Random) -> Row:
    """Draw until some piece can move."""
    for _ in range(DRAWS):
        setup = draw(rng)
        if setups.can_begin(setup[None])[0]:
            return setup
    raise SetupError(f"in {DRAWS:,} draws there was no setup of {name!r} that could make a first move")


def _perhaps_mirrored(inner: Sampler, setups: Setups, rng: random.Random) -> Row:
    setup = inner(rng)
    return setup[setups.mirror] if rng.random() < 0.5 else setup
