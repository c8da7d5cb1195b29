"""Search while playing: rollouts over sampled configurations, and one step of magnetic mirror descent.

search = Search.of_model(model, SearchConfig(rollouts=1000, depth=40), "cuda")
[analysis] = search.analyse(view.snapshot(), seeds=[7])
analysis.policy, analysis.values, analysis.belief()

docs/search.md explains it.
"""

from vauban.errors import need_torch

need_torch("search and analysis")
