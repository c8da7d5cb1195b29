"""Worth of positions, by networks that foresee outcomes and by those that foresee a number.

A policy network gives logits of the outcomes, which make a distribution, whose mean the position is worth. A network
with a single number in their place (`ValueNetwork`) can also say what no outcome is worth, as values of a regularised
game are; for the rest of the house it makes the distribution of that mean which assumes least.
"""

from __future__ import annotations

import torch
from torch import Tensor

from vauban.games.base import Game
from vauban.nets.policy import Forward, PolicyNetwork, utility_values

NEARLY = 0.999
"""No mean is nearer to the best or the worst outcome than this share of the way: its logits would be infinite."""
HALVINGS = 40
STEEPEST = 64.0
"""The largest tilt that is looked for, in units of one over the largest utility."""


class ValueNetwork(PolicyNetwork):
    """A policy network that foresees what a position is worth, as a number."""

    utilities: Tensor
    """The worth of the outcomes."""

    def set_utilities(self, game: Game) -> None:
        """Keep the worth of a game's outcomes; called where the network is made."""
        self.register_buffer("utilities", utility_values(game, torch.device("cpu")), persistent=False)

    def estimate(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the choices (n × choices), and the positions' worth to the player on turn (n)."""
        raise NotImplementedError

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the choices and of the outcome."""
        choices, values = self.estimate(seen)
        return choices, tilted(values.float(), self.utilities.float())


def estimator(network: PolicyNetwork, game: Game) -> Forward:
    """Return a function from observations to the logits of the choices and the positions' worth (float32)."""
    if isinstance(network, ValueNetwork):
        return network.estimate
    worths = utility_values(game, next(network.parameters()).device)

    def estimate(seen: Tensor) -> tuple[Tensor, Tensor]:
        choices, outcome = network(seen)
        return choices, outcome.float().softmax(-1) @ worths

    return estimate


def tilted(values: Tensor, utilities: Tensor) -> Tensor:
    """Return logits of the outcomes with these means: t · utility, the distribution that assumes nothing else.

    Means that no distribution has are moved to where there is one. The gradient is that of t as a function of the mean.
    """
    scale = utilities.abs().max().clamp_min(1e-12)
    levels = utilities / scale
    wanted = (values / scale).clamp(NEARLY * levels.min(), NEARLY * levels.max())
    with torch.no_grad():
        low = torch.full_like(wanted, -STEEPEST)
        high = -low
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            above = (middle[..., None] * levels).softmax(-1) @ levels > wanted
            high, low = torch.where(above, middle, high), torch.where(above, low, middle)
        tilt = (low + high) / 2
        policy = (tilt[..., None] * levels).softmax(-1)
        mean = policy @ levels
        spread = (policy @ levels.square() - mean.square()).clamp_min(1e-6)
    return (tilt + (wanted - mean) / spread)[..., None] * levels
