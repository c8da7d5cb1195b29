"""Kinds of networks, by name: what cards describe, and what the table of a learner asks for.

    @dataclass(frozen=True)
    class MineConfig:
        width: int
        observation: str = ""

    @register("mine", MineConfig)
    class Mine(PolicyNetwork):
        def __init__(self, game: Game, width: int, observation: str = "") -> None:
            super().__init__()
            self.observation = observation or observations.default(game).name
            self.config = MineConfig(width, self.observation)
            ...

A kind is a class and a frozen dataclass of what a network of it is built from, beside the game. The dataclass's fields
are the arguments of the class, and a network keeps what it was built from as `config`. Modules of this room are
imported by themselves. An installed package offers its own by an entry point of the group "vauban.networks".
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from torch import nn

from vauban import door
from vauban.errors import ConfigurationError
from vauban.games.base import Game, nearest

GROUP = "vauban.networks"
"""Under this entry point, installed packages offer modules or classes that register kinds of networks."""
COUNTED = ("parameters", "dtype", "observation_version")
"""Entries of a network in a card beside its kind and its settings."""

_NAME = re.compile("[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Kind:
    """A kind of network."""

    name: str
    """As in cards."""
    network: type[nn.Module]
    config: type[Any]
    """The dataclass of what a network is built from, beside the game."""

    def build(self, game: Game, config: Any) -> Any:
        """Return a network that is not trained."""
        return self.network(game, **{each.name: getattr(config, each.name) for each in fields(config)})


_kinds: dict[str, Kind] = {}
_failed: dict[str, str] = {}
_loaded = False
Network = TypeVar("Network", bound=type[nn.Module])


def register(name: str, config: type[Any]) -> Callable[[Network], Network]:
    """Make a kind of network known.

    config: a frozen dataclass; its fields are the arguments of the class, beside the game.
    """

    def add(network: Network) -> Network:
        if not _NAME.fullmatch(name):
            raise ConfigurationError(f"a kind of network is named by small letters, such as 'move', not {name!r}")
        if not is_dataclass(config):
            raise ConfigurationError(f"the kind of network {name!r}: {config!r} is no dataclass of its settings")
        taken = sorted({"kind", *COUNTED} & (set(get_type_hints(config)) | set(setting_types(config))))
        if taken:
            raise ConfigurationError(
                f"the kind of network {name!r}: a card has other uses for {taken[0]!r}, so call that setting otherwise"
            )
        if name in _kinds:
            other = _kinds[name].network
            raise ConfigurationError(
                f"there is a kind of network {name!r} already, {other.__qualname__} of {other.__module__}: give "
                f"{network.__qualname__} of {network.__module__} another name"
            )
        _kinds[name] = Kind(name, network, config)
        return network

    return add


def kinds() -> dict[str, Kind]:
    """Return all kinds, by name."""
    _load()
    return dict(_kinds)


def find_kind(name: str) -> Kind:
    """Return the kind of this name."""
    known = kinds()
    found = known.get(name)
    if found is None:
        lost = "".join(f"; {sentence}" for sentence in _failed.values())
        raise ConfigurationError(f"there is no kind of network {name!r}: {nearest(name, list(known))}{lost}")
    return found


def kind_of(network: nn.Module) -> Kind:
    """Return the kind that a network is of."""
    found = next((each for each in kinds().values() if each.network is type(network)), None)
    if found is None or not isinstance(getattr(network, "config", None), found.config):
        what = "is no registered kind of network" if found is None else f"keeps no {found.config.__name__} as `config`"
        raise ConfigurationError(f"{type(network).__qualname__} {what}, so no card can describe it (vauban.nets.kinds)")
    return found


def describe(network: nn.Module) -> dict[str, Any]:
    """Return a network as a card has it: its kind, and what it is built from."""
    return {"kind": kind_of(network).name, **asdict(network.config)}  # type: ignore[call-overload]


def setting_types(config: type[Any]) -> dict[str, Any]:
    """Return the types of a kind's settings by one name each: those of a dataclass inside are beside the others."""
    found: dict[str, Any] = {}
    for name, hint in get_type_hints(config).items():
        found |= setting_types(hint) if is_dataclass(hint) else {name: hint}  # type: ignore[arg-type]
    return found


def flat_settings(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a network in a card by one name each, without what was counted."""
    found: dict[str, Any] = {}
    for name, value in described.items():
        if name not in ("kind", *COUNTED):
            found |= flat_settings(value) if isinstance(value, Mapping) else {name: value}
    return found


def settings_text(described: Mapping[str, Any]) -> str:
    """Return the settings of a network in a card for people: "depth 4, width 256, observation ataraxos"."""
    return ", ".join(f"{name.replace('_', ' ')} {_worded(value)}" for name, value in flat_settings(described).items())


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return ("no", "yes")[value]
    return " ".join(map(_worded, value)) if isinstance(value, (list, tuple)) else str(value)


def _load() -> None:
    """Import the modules of this room, and what installed packages offer."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    import vauban.nets as room

    for module in pkgutil.iter_modules(room.__path__):
        if not module.ispkg:
            importlib.import_module(f"{room.__name__}.{module.name}")
    for name, load in door.entry_points(GROUP).items():
        # A package that is broken must not take the others away: it is told of where a kind is not found.
        try:
            load()
        except ConfigurationError as error:
            _failed[name] = str(error)
