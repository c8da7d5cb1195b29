"""Stratego in steps: armies placed piece by piece, then of every move first the piece and then its target."""

from vauban.games.stratego.steps.game import StrategoSteps

__all__ = ["StrategoSteps"]
