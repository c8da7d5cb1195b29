"""`LineProtocol`: a way to talk to programs, as the list of agents and the arena know it."""

from __future__ import annotations

from dataclasses import dataclass


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
    started: bool = True
    """Whether the program is started for every game; else it comes by itself."""
