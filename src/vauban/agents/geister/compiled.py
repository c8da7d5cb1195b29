"""Bots of Geister: compiled agents."""

from functools import partial

from vauban.agents import compiled

Bot = partial(compiled.Bot, family="geister")
"""Makes a bot of Geister: `Bot(name, choose, options, setup=…, judges=…)`."""
