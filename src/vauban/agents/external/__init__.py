"""Agents that are programs of their own, in any language (docs/external-bots.md).

    make_program("bot:python3 examples/ucc_bot.py", seed=7)

Programs are talked to by a line protocol, which the beginning of their text names: `PROTOCOLS`. Those of one family lie
in a package with its name, and are listed in its own `PROTOCOLS`. `process` runs and guards any program.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from vauban.agents.external.protocol import LineProtocol
from vauban.families import family_parts

if TYPE_CHECKING:
    from vauban.agents.base import Agent


_found = {prefix: each for part in family_parts("agents.external") for prefix, each in part.PROTOCOLS.items()}
PROTOCOLS: dict[str, LineProtocol] = dict(sorted(_found.items(), key=lambda each: each[0].rstrip(":")))
"""The line protocols, by what the texts of their agents begin with."""
MEMORY = 1024
"""MiB for each process of a program, unless told otherwise."""


def prefix_of(text: str) -> str | None:
    """Return what says that a text names a program, and how it is talked to; None if it names none."""
    return next((prefix for prefix in PROTOCOLS if text.startswith(prefix)), None)


def make_program(text: str, seed: int, folder: Path | None = None, memory: int = MEMORY) -> Agent:
    """Return the agent of a program's text; it is started in `folder`, and has `memory` MiB for each process."""
    prefix = prefix_of(text)
    assert prefix is not None
    module, _, maker = PROTOCOLS[prefix].maker.partition(":")
    made: Agent = getattr(import_module(module), maker)(text.removeprefix(prefix), seed, memory=memory, folder=folder)
    return made
