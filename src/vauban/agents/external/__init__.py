"""Agents that are programs of their own, in any language (docs/external-bots.md).

    make_program("bot:python3 examples/ucc_bot.py", seed=7)

Programs are talked to by a line protocol, which the beginning of their text names: `PROTOCOLS`. What one family of
games has for a protocol lies in a package with the family's name. `process` runs and guards any program.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vauban.agents.base import Agent


@dataclass(frozen=True)
class LineProtocol:
    """A way to talk to programs."""

    maker: str
    """MODULE:FUNCTION; the function, called with (command, seed, memory=…, folder=…), makes an agent of a command."""
    plays: str
    """The games that it has words for."""
    about: str
    """A line for a list of agents."""
    example: str
    """An agent's text."""
    docs: str
    """The page that describes it."""
    check: str
    """The command that says whether a program speaks it."""
    given: str = "COMMAND"
    """The rest of an agent's text, behind its beginning."""


PROTOCOLS = {
    "bot:": LineProtocol(
        "vauban.agents.external.stratego.agent:make_program", "Stratego", "A program of your own, in any language.",
        "bot:python3 examples/ucc_bot.py", "docs/external-bots.md", "vauban bot-check",
    ),
    "geister:": LineProtocol(
        "vauban.agents.external.geister.agent:make_program", "Geister",
        "A client of the public Geister server, started for every game.",
        "geister:python3 examples/geister_bot.py {host} {port}", "docs/external-bots.md",
        "vauban geister-server --second random",
    ),
    "geister-tcp:": LineProtocol(
        "vauban.agents.external.geister.agent:make_caller", "Geister",
        "A client of the public Geister server, which connects by itself.", "geister-tcp:10000",
        "docs/external-bots.md", "vauban geister-server --second random", "PORT",
    ),
}  # fmt: skip
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
