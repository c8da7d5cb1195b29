"""`alphabeta`: a searcher modelled on Demon of Ignorance, written anew from a description of it."""

from vauban.agents.stratego.alphabeta.bot import BOT, Options

__all__ = ["BOT", "Options"]
