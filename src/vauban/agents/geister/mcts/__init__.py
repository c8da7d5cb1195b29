"""`mcts`: Monte-Carlo tree search over sampled colours."""

from vauban.agents.geister.mcts.bot import BOT

__all__ = ["BOT"]
