"""Stratego in all its sizes: rules, variants, records, setups."""

from vauban.games.stratego.game import Stratego

__all__ = ["Stratego"]
