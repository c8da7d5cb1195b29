"""Load agents and games that others wrote: from a file, or from an installed package.

    load("py:mine.py:Striker", "an agent")      # the object of this name in the file
    entry_points("vauban.agents")               # by name, a loader of each object that installed packages offer

A file is imported once a process, under a module name of its own, with its folder on the path behind everything else:
it may import the files beside it. Objects are not checked here: the caller says what is missing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    import importlib.metadata

PREFIX = "py:"
"""Begins a text that names something in a file."""
_NAMED = re.compile(r"py:(?P<file>.+?\.py):(?P<name>\w+)(?P<rest>,.*)?", re.DOTALL)


def split(text: str, wanted: str) -> tuple[Path, str, str]:
    """Return the file and the name of `py:FILE.py:NAME,REST`, and the rest, where there is one.

    wanted: the kind of thing that the text should name, in words: "an agent", "a game".
    """
    found = _NAMED.fullmatch(text)
    if found is None:
        raise ConfigurationError(f"{text!r} does not name {wanted}: write {PREFIX}FILE.py:NAME, e.g. py:mine.py:Mine")
    return Path(found["file"]), found["name"], (found["rest"] or "").removeprefix(",")


def load(text: str, wanted: str) -> Any:
    """Load what `py:FILE.py:NAME` names. `wanted` is its kind in words, for the error messages."""
    path, name, rest = split(text, wanted)
    if rest:
        raise ConfigurationError(f"{wanted} in a file has no options, and {rest!r} was given")
    module = load_file(path, wanted)
    if name.startswith("_") or not hasattr(module, name):
        own = [each for each, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        known = ", ".join(each for each in own if not each.startswith("_")) or "nothing that could be one"
        raise ConfigurationError(f"{path} has no {name!r}, which should be {wanted}: it has {known}")
    return getattr(module, name)


def whole(text: str) -> str:
    """Return a text that names something in a file so that it is found from any folder; other texts as they are."""
    if not text.startswith(PREFIX) or _NAMED.fullmatch(text) is None:
        return text
    path, name, rest = split(text, "")
    return f"{PREFIX}{path.expanduser().resolve()}:{name}{',' * bool(rest)}{rest}"


def is_loaded(text: str) -> bool:
    """Return whether the file that `py:FILE.py:NAME` names has been imported: somebody has asked for it by now."""
    return _module_name(split(text, "")[0]) in sys.modules


def _module_name(path: Path) -> str:
    """Return a file's name as a module, in every process the same, so that objects of it can be sent to another."""
    whole = path.expanduser().resolve()
    return f"door_{whole.stem}_{hashlib.blake2b(str(whole).encode(), digest_size=4).hexdigest()}"


def load_file(path: Path, wanted: str) -> ModuleType:
    """Return the module in a file; imported the first time only."""
    whole, name = path.expanduser().resolve(), _module_name(path)
    if name in sys.modules:
        return sys.modules[name]
    if not whole.is_file():
        raise ConfigurationError(f"there is no file {path} to take {wanted} from: it is looked for in {Path.cwd()}")
    spec = importlib.util.spec_from_file_location(name, whole)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(whole.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ConfigurationError(f"{path} cannot be imported: {_complaint(error, whole)}") from error
    return module


def _complaint(error: Exception, path: Path) -> str:
    """Return an error that a file raised, with the line of the file, if it is known."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__} in line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    where = f" in line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}{where}: {error}"


def entry_points(group: str) -> dict[str, Callable[[], Any]]:
    """Return, by name, a loader of each object that installed packages offer under a group, e.g. "vauban.agents"."""
    import importlib.metadata

    found: dict[str, dict[str, importlib.metadata.EntryPoint]] = {}
    for each in importlib.metadata.entry_points(group=group):
        found.setdefault(each.name, {})[each.value] = each
    return {name: partial(_load_entry_point, *points.values()) for name, points in found.items()}


def _load_entry_point(point: importlib.metadata.EntryPoint, *others: importlib.metadata.EntryPoint) -> Any:
    if others:
        places = " and ".join(each.value for each in (point, *others))
        raise ConfigurationError(f"{point.name!r} is offered by several packages ({places}): uninstall all but one")
    try:
        return point.load()
    except Exception as error:
        package = f" of the package {point.dist.name}" if point.dist else ""
        raise ConfigurationError(
            f"{point.name!r}{package} cannot be loaded from {point.value}: {type(error).__name__}: {error}"
        ) from error
