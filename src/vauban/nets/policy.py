"""Networks that play: observation in, choices and outcome out; and the policy that the choices make.

A network does not know which actions are legal. It gives a logit for every *choice* (in Stratego a pair of squares),
and a table says which choice each action is. The logits of the legal actions, looked up in the simulator's list of
them, make the policy: nothing of the size of all actions is ever made.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from vauban.games.base import Game

Forward = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Runs a policy network: the network itself, or what it was compiled to."""


class PolicyNetwork(nn.Module):
    """The move network of a game with a board, or the plain network of one without."""

    observation: str
    """The name of the observation that it sees, in the layout "squares"."""
    choice_of_action: Tensor
    """int64, a choice for each action."""

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the choices (n × choices) and of the outcome (n × `game.utilities`, the worst first)."""
        raise NotImplementedError

    def of_legal(self, seen: Tensor, legal: Tensor) -> Tensor:
        """Return the outputs of the legal actions alone; behind the last they have no meaning."""
        choices: Tensor = self(seen)[0]
        return choices.gather(1, self.choice_of_action[legal.long().clamp_min(0)])

    def legal_log_policy(self, choices: Tensor, legal: Tensor) -> Tensor:
        """Return the logarithm of the policy over the legal actions: float32, −inf behind the last.

        legal: the actions as `Simulator.legal_actions` lists them, −1 behind the last. Where nothing is legal (a
        game that is over), the row is −inf throughout.
        """
        absent = legal < 0
        logits = choices.gather(1, self.choice_of_action[legal.long().clamp_min(0)]).float()
        logits = logits.masked_fill(absent, -torch.inf)
        nothing = absent[:, :1]
        return torch.log_softmax(logits.masked_fill(nothing, 0.0), 1).masked_fill(absent, -torch.inf)


def without_forecast(network: PolicyNetwork) -> PolicyNetwork:
    """Let a network say nothing of the outcome, all alike, where nothing is learned about it."""
    outcome = getattr(network, "outcome", None)
    if isinstance(outcome, nn.Linear):
        nn.init.zeros_(outcome.weight)
        nn.init.zeros_(outcome.bias)
    return network


def at_temperature(log_policy: Tensor, temperature: float) -> Tensor:
    """Return the logarithms of policies at a temperature: below 1 likely actions are likelier, at 0 alone."""
    if temperature == 1:
        return log_policy
    if temperature == 0:
        scaled = torch.zeros_like(log_policy).masked_fill(log_policy < log_policy.amax(-1, keepdim=True), -torch.inf)
    else:
        scaled = log_policy / temperature
    return scaled.log_softmax(-1)


def utility_values(game: Game, device: torch.device) -> Tensor:
    """Return the worth of the outcomes to a player, the worst first (float32)."""
    return torch.tensor(game.utilities, device=device)


def inverse_cdf(log_policy: Tensor, uniforms: Tensor) -> Tensor:
    """Return the entry (of the last dimension) that each uniform number picks: never one of probability 0."""
    policy = log_policy.double().exp()
    # Sums that a GPU makes in parallel need not rise evenly to the last bit: entries of probability 0 are left out.
    reached = policy.cumsum(-1).masked_fill(policy == 0, -1.0)
    most = reached.amax(-1, keepdim=True)
    # A uniform number that was rounded up to 1 picks the last entry.
    return ((reached > uniforms[..., None] * most) | (reached == most)).int().argmax(-1)
