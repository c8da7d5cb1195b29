"""Scripted bots: short rules of thumb after programs of the 2000s, each with a character of its own.

They are new programs, written from descriptions of the old ones; the documentation of each says
after which it was made and where it deviates. All keep nothing between moves.
"""

from vauban.agents.stratego.scripted import charger, fox, hunter, prober, thermal

BOTS = (charger.BOT, fox.BOT, hunter.BOT, thermal.BOT, prober.BOT)
