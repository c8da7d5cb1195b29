"""Games whose whole tree is a table: those of other libraries, played by our kernels (docs/openspiel.md)."""

from vauban.games.tabulated import openspiel

openspiel.register()
