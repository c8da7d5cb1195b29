"""Plain twins of five published bots, written from their description alone. Tests compare against them.

bot = ORACLES["charger"]
move = bot.choose(view, SeededDraws(1))   # None if it resigns
assert move in bot.acceptable(view)       # all that it could play, for some draws
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from vauban.board import View
from vauban.notation.stratego.moves import Move

from . import asmodeus, celsius, hunter, peternlewis, vixen
from .common import Draws, SeededDraws
from .setups import BASE, CELSIUS, PETERNLEWIS, setup_text

__all__ = ["ORACLES", "Draws", "OracleBot", "SeededDraws", "setup_text"]


@dataclass(frozen=True)
class OracleBot:
    """A bot as functions of a view."""

    choose: Callable[[View, Draws], Move | None]
    """Its move; None if it resigns."""
    acceptable: Callable[[View], set[Move | None]]
    """Every answer that it could give: for some draws, and whatever the order in which sums are added up."""
    rows: tuple[str, ...]
    """Its setup on the classic board, for `setup_text`."""


ORACLES = {
    "charger": OracleBot(asmodeus.choose, asmodeus.acceptable, BASE),
    "fox": OracleBot(vixen.choose, vixen.acceptable, BASE),
    "hunter": OracleBot(hunter.choose, hunter.acceptable, BASE),
    "hunter:finish=1": OracleBot(partial(hunter.choose, finish=True), partial(hunter.acceptable, finish=True), BASE),
    "thermal": OracleBot(celsius.choose, celsius.acceptable, CELSIUS),
    "thermal:version=1.1": OracleBot(
        partial(celsius.choose, version="1.1"), partial(celsius.acceptable, version="1.1"), CELSIUS
    ),
    "prober": OracleBot(peternlewis.choose, peternlewis.acceptable, PETERNLEWIS),
    "prober:retreat=1": OracleBot(
        partial(peternlewis.choose, retreat=True), partial(peternlewis.acceptable, retreat=True), PETERNLEWIS
    ),
}
