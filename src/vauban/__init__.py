"""Vauban: board games of hidden information.

Most people need `Board` (one game, for people), `Simulator` (many games at once) and `game` (a
game by name). The rest is found by its room: `vauban.games`, `vauban.sim`, `vauban.observe`,
`vauban.notation`, `vauban.envs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Board", "Simulator", "VaubanError", "game"]

if TYPE_CHECKING:
    from vauban.board.stratego import Board
    from vauban.errors import VaubanError
    from vauban.games.base import game
    from vauban.sim.simulator import Simulator

_HOMES = {
    "Board": "vauban.board",
    "Simulator": "vauban.sim.simulator",
    "VaubanError": "vauban.errors",
    "game": "vauban.games.base",
}


def __getattr__(name: str) -> Any:
    # Looked up when used: importing Vauban does not import torch or numba.
    if name not in _HOMES:
        raise AttributeError(f"module 'vauban' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
