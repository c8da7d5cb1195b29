"""Improvements of a network's play in Stratego in steps: those of what it sees are the same as in plain Stratego.

Those that take out moves need whole moves: a network in steps has them where it plays the plain game.
"""

from __future__ import annotations

from vauban.agents.stratego.improve import improve

__all__ = ["KNOWN", "improve"]

KNOWN = ("eagerness", "memory")
