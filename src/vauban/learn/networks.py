"""The table in which a learner's configuration says which network plays: its kind, and what it is built from.

[ataraxos.move_network]
kind = "mine"        # left out: over squares where the game has a board, else plain
width = 64           # a setting of the kind; those of a size are beside the others
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.nets.kinds import find_kind
from vauban.nets.move import MoveNetworkConfig
from vauban.nets.policy import PolicyNetwork


@dataclass(frozen=True)
class NetworkTable:
    """A network that plays, as a configuration asks for it."""

    config: Any
    """Its settings: the dataclass of its kind."""
    kind: str = ""
    """Its kind; empty: `move` where the game has a board, else `plain`, which are built from the same."""

    @staticmethod
    def config_of(kind: str) -> type[Any]:
        """Return the dataclass of the settings that a kind has."""
        return find_kind(kind).config if kind else MoveNetworkConfig

    def table(self) -> dict[str, Any]:
        """Return it as a file has it."""
        return {"kind": self.kind, **_flat(self.config)}

    def make(self, game: Game) -> PolicyNetwork:
        """Return the network for a game, not trained."""
        kind = find_kind(self.kind or ("plain" if game.moves is None else "move"))
        if not issubclass(kind.network, PolicyNetwork):
            raise ConfigurationError(f"a network of the kind {kind.name!r} cannot play")
        made: PolicyNetwork = kind.build(game, self.config)
        return made


def _flat(config: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in fields(config):
        value = getattr(config, each.name)
        found |= _flat(value) if is_dataclass(value) else {each.name: value}
    return found
