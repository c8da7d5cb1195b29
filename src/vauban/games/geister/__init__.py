"""Geister: ghosts of two colours, of which each player sees only the own ones (docs/geister.md)."""

from vauban.games.geister.game import Geister

__all__ = ["Geister"]
