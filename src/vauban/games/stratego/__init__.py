"""Stratego in all its sizes: rules, variants, records, setups; whole moves, and in steps."""

from vauban.games.stratego.game import Stratego
from vauban.games.stratego.steps import StrategoSteps

__all__ = ["Stratego", "StrategoSteps"]
