"""Observations: what they are made of, and their registry.

Most of an observation is bits. So a kernel does not write numbers: it writes, for each square and
channel, a *code* from 0 to 3, and for each channel the three *levels* that the codes 1 to 3 stand
for (code 0 is the number 0). The simulator turns codes and levels into the tensor that the caller
wants, in its layout and type, on its device.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vauban.errors import ConfigurationError
from vauban.games.base import Game, nearest
from vauban.games.kernel import add_code, kernel

CHANNELS_PER_WORD = 16
"""A code takes two bits of a 32-bit word."""


@kernel
def put(codes, square, channel, code):
    """Set the code of a channel on a square (squares in the viewer's frame)."""
    add_code(codes, square, channel >> 4, np.uint32(code << (2 * (channel & 15))))


@kernel
def put_row(codes, square, channel, row):
    """Set the codes of up to 16 neighbouring channels on a square: two bits of `row` for each."""
    bits = row << (2 * (channel & 15))
    low = bits & 0xFFFFFFFF
    if low:
        add_code(codes, square, channel >> 4, np.uint32(low))
    high = bits >> 32
    if high:
        add_code(codes, square, (channel >> 4) + 1, np.uint32(high))


@kernel
def widened(bits):
    """Return a set of up to 16 bits as a row of codes 1."""
    bits = (bits | (bits << 8)) & 0x00FF00FF
    bits = (bits | (bits << 4)) & 0x0F0F0F0F
    bits = (bits | (bits << 2)) & 0x33333333
    return (bits | (bits << 1)) & 0x55555555


class HiddenChannels(NamedTuple):
    """Channels that tell of the opponent's hidden things, for beliefs about them (`vauban.nets.hidden`)."""

    there: int
    """1 where a hidden thing stands."""
    bound: int
    """1 where it can only be of the common kinds."""
    chances: int
    """The first of as many channels as the game has kinds of hidden things: how likely the thing is to be of each, when
    all consistent assignments are equally likely."""
    common: tuple[int, ...]
    """The kinds that any hidden thing can be; the others are for things that are not bound."""


class PublicChannels(NamedTuple):
    """Channels that tell what is public of pieces, and how near a draw is: what agents may change before a network
    sees it (`vauban.agents.improve`)."""

    own: tuple[int, ...]
    """By kind of a hidden thing (`Game.hidden_kinds`): how likely the viewer's piece is to be of it, to all that the
    opponent knows."""
    theirs: tuple[int, ...]
    """The same of the opponent's pieces."""
    battleless: int
    """The plies without a battle, as a share of those that make a draw."""


@dataclass(frozen=True)
class Observation:
    """One kind of observation of one family of games."""

    name: str
    family: str
    channels: Callable[[Any], int]
    """(game) → how many channels."""
    channel_names: Callable[[Any], list[str]]
    """(game) → what each channel is called."""
    mark: Callable[..., Any]
    """Kernel (game, viewer, lane, lanes, codes): write the codes; `lanes` workers share the work."""
    levels: Callable[..., Any]
    """Kernel (game, viewer, lane, lanes, levels): write the levels (channel, code) that are not 1, 1, 1."""
    needs_tracking: bool = False
    """Whether the record must keep what observations need (`Simulator(…, tracks=True)`)."""
    version: int = 1
    """Raised when its channels change: a network plays with the version that it was trained on."""
    default: bool = False
    """Whether it is meant where none is named. One of a family may say so; the only one of a family need not."""
    pieces: tuple[int, ...] = ()
    """The channels that mark the viewer's pieces, if it says so: each piece in one of them."""
    hidden: HiddenChannels | None = None
    """Its channels that tell of hidden things, if they tell all that there is to know of them."""
    public: PublicChannels | None = None
    """Its channels that tell what is public, if it says so."""


_observations: dict[tuple[str, str], Observation] = {}
_loaded = False


def register(observation: Observation) -> None:
    """Make an observation known."""
    for other in _observations.values():
        if observation.default and other.default and _is_another(observation, other):
            raise ConfigurationError(
                f"{observation.name!r} cannot be the default observation of {observation.family!r}: {other.name!r} is"
            )
    _observations[observation.family, observation.name] = observation


def names(game: Game) -> list[str]:
    """Return the observations that a game has."""
    _load()
    return [name for family, name in _observations if family == game.family]


def default(game: Game) -> Observation:
    """Return the observation of a game that is meant where none is named."""
    known = [find(game, name) for name in names(game)]
    if not known:
        raise ConfigurationError(
            f"{game.name!r} has no observation, so nothing can see it: register one for its family {game.family!r} "
            "(vauban.observe.base.register, docs/adding-a-game.md)"
        )
    marked = [each for each in known if each.default or len(known) == 1]
    if not marked:
        raise ConfigurationError(
            f"{game.name!r} has several observations and none is the default: name one of "
            f"{', '.join(repr(each.name) for each in known)}, or register one with default=True"
        )
    return marked[0]


def of_hidden(game: Game) -> Observation | None:
    """Return the observation of a game that tells of hidden things, if there is one."""
    return next((found for name in names(game) if (found := find(game, name)).hidden), None)


def find(game: Game, name: str) -> Observation:
    """Return the observation of this name."""
    known = names(game)
    if name not in known:
        raise ConfigurationError(f"{game.name!r} has no observation {name!r}: {nearest(name, known)}")
    return _observations[game.family, name]


def _is_another(one: Observation, other: Observation) -> bool:
    return one.family == other.family and one.name != other.name


def _load() -> None:
    """Import the modules of this room, which register their observations."""
    global _loaded
    if not _loaded:
        _loaded = True
        import vauban.observe as room

        for module in pkgutil.iter_modules(room.__path__):
            importlib.import_module(f"{room.__name__}.{module.name}")
