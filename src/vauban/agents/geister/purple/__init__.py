"""`purple`: minimax in which unknown enemy ghosts are of both colours at once."""

from vauban.agents.geister.purple.bot import BOT

__all__ = ["BOT"]
