"""Networks that only Stratego has: they set up, and name hidden pieces."""

from vauban.nets.stratego.belief import BeliefNetwork, BeliefNetworkConfig
from vauban.nets.stratego.setup import SetupNetwork, SetupNetworkConfig

KINDS = {"setup": (SetupNetwork, SetupNetworkConfig), "belief": (BeliefNetwork, BeliefNetworkConfig)}
"""For `vauban.nets.store.KINDS`."""
