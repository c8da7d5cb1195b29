"""What every network that plays is: observation in, choices and outcome out; and how its choices become a policy.

A network does not know which actions are legal. It gives a logit for every *choice* (in Stratego a pair of squares),
and a table says which choice each action is. The logits of the legal actions, looked up in the simulator's list of
them, make the policy: nothing of the size of all actions is ever made.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vauban.games.base import Game


class PolicyNetwork(nn.Module):
    """The move network of a game with a board, or the plain network of one without."""

    observation: str
    """The name of the observation that it sees, in the layout "squares"."""
    choice_of_action: Tensor
    """int64, a choice for each action."""

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the choices (n × choices) and of the outcome (n × `game.utilities`, the worst first)."""
        raise NotImplementedError

    def legal_log_policy(self, choices: Tensor, legal: Tensor) -> Tensor:
        """The logarithm of the policy over the legal actions: float32, −inf behind the last.

        legal: the actions as `Simulator.legal_actions` lists them, −1 behind the last. Where nothing is legal (a
        game that is over), the row is −inf throughout.
        """
        absent = legal < 0
        logits = choices.gather(1, self.choice_of_action[legal.long().clamp_min(0)]).float()
        logits = logits.masked_fill(absent, -torch.inf)
        nothing = absent[:, :1]
        return torch.log_softmax(logits.masked_fill(nothing, 0.0), 1).masked_fill(absent, -torch.inf)


def payoff_values(game: Game, device: torch.device) -> Tensor:
    """What the outcomes are worth to a player, the worst first (float32)."""
    return torch.tensor(game.utilities, device=device)
