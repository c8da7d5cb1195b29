"""Family parts: what a room keeps for one family of games only.

A room (`vauban.board`, `vauban.notation`, …) knows interfaces and serves any game. What only one family of games has
lies in a module of the room that bears the family's name, `vauban.board.stratego` for example, with "_" for "-". It is
found by that name, so there is no list of families to keep.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType


def folder_of(family: str) -> str:
    """Return the name of a family's parts: that of the family, with "_" for "-"."""
    return family.replace("-", "_")


@cache
def family_part(room: str, family: str, module: str = "") -> ModuleType | None:
    """Return a room's part for a family of games, or a module in it; None if the family needs none there."""
    folder = folder_of(family)
    name = f"vauban.{room}.{folder}"
    if not folder.isidentifier() or find_spec(name) is None:
        return None
    if module:
        name = f"{name}.{module}"
        if find_spec(name) is None:
            return None
    return import_module(name)


def family_parts(room: str, module: str = "") -> list[ModuleType]:
    """Return the parts that the families have in a room, or a module in each, in the order of the families' names."""
    paths = import_module(f"vauban.{room}").__path__
    families = sorted(found.name for found in iter_modules(paths) if found.ispkg)
    return [part for family in families if (part := family_part(room, family, module)) is not None]
