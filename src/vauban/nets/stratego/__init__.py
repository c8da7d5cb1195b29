"""Networks that only Stratego has: they set up, and name hidden pieces."""

from vauban.nets.stratego import belief, setup

__all__ = ["belief", "setup"]
