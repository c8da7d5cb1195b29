"""Playing by advantages: regret matching on a network's values, and one of many such networks for a whole game.

Single Deep CFR keeps the value network of every iteration. Drawing one of them at the beginning of a game, later ones
more often, and playing it to the end is to play the average strategy exactly, as far as the networks are right.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.nets.kinds import find_kind, register
from vauban.nets.policy import PolicyNetwork
from vauban.nets.store import settings_of


def match_regrets(values: Tensor, there: Tensor) -> Tensor:
    """Return the strategy by regret matching on the values of actions; 0 for those that are not there.

    In proportion to the values above 0; where there are none, the action with the largest.
    """
    positive = values.clamp_min(0).masked_fill(~there, 0)
    total = positive.sum(-1, keepdim=True)
    best = values.masked_fill(~there, -torch.inf).argmax(-1, keepdim=True)
    alone = torch.zeros_like(positive).scatter(-1, best, 1.0)
    return torch.where(total > 0, positive / torch.where(total > 0, total, 1.0), alone).masked_fill(~there, 0)


class RegretPolicy(PolicyNetwork):
    """A value network that plays by regret matching."""

    def __init__(self, values: PolicyNetwork) -> None:
        super().__init__()
        self.values = values
        self.observation = values.observation
        self.register_buffer("choice_of_action", values.choice_of_action, persistent=False)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the advantages of the choices, and the logits of the outcome."""
        choices: tuple[Tensor, Tensor] = self.values(seen)
        return choices

    def legal_log_policy(self, choices: Tensor, legal: Tensor) -> Tensor:
        there = legal >= 0
        values = choices.gather(1, self.choice_of_action[legal.long().clamp_min(0)]).float()
        return match_regrets(values, there).log()


@dataclass(frozen=True)
class DrawnConfig:
    """Settings of networks of which one is drawn."""

    first: int
    """Number of networks that the first player draws from."""
    second: int
    """Number of those of the second player."""
    network: dict[str, Any]
    """Each of them, as a card describes a network."""


@register("drawn", DrawnConfig)
class DrawnNetwork(PolicyNetwork):
    """Value networks of both players, of which one is drawn for a whole game, by the chances."""

    def __init__(self, game: Game, first: int, second: int, network: Mapping[str, Any]) -> None:
        super().__init__()
        self.config = DrawnConfig(first, second, dict(network))
        kind = find_kind(str(network.get("kind")))
        if not issubclass(kind.network, PolicyNetwork) or kind.network is DrawnNetwork:
            raise ConfigurationError(f"networks of the kind {kind.name!r} cannot be drawn from: they do not play")
        one: PolicyNetwork = kind.build(game, settings_of(kind, network, "network"))
        self.observation = one.observation
        self.members = nn.ModuleList(RegretPolicy(copy.deepcopy(one)) for _ in range(first + second))
        self.chances: Tensor
        self.register_buffer("chances", torch.ones(first + second))
        """Chances to be drawn, in proportion."""
        self.register_buffer("choice_of_action", one.choice_of_action.clone(), persistent=False)

    @staticmethod
    def of(
        game: Game, network: Mapping[str, Any], states: Sequence[Sequence[Mapping[str, Tensor]]],
        chances: Sequence[Sequence[float]],
    ) -> DrawnNetwork:  # fmt: skip
        """Return networks of one make with these parameters, by player."""
        drawn = DrawnNetwork(game, len(states[0]), len(states[1]), network)
        for member, state in zip(drawn.members, [*states[0], *states[1]], strict=True):
            assert isinstance(member, RegretPolicy)
            member.values.load_state_dict(state)
        drawn.chances.copy_(torch.tensor([*chances[0], *chances[1]]))
        return drawn

    def chances_of(self, player: int) -> list[float]:
        """Return how often a player draws each of its networks, as probabilities."""
        weights = self.chances.double()[self._places(player)]
        return [float(each) for each in weights / weights.sum()]

    def member(self, player: int, number: int) -> RegretPolicy:
        """Return a network of a player."""
        member = list(self.members)[self._places(player)][number]
        assert isinstance(member, RegretPolicy)
        return member

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Refuse: one is drawn first (`member`)."""
        raise ConfigurationError("one of the networks is drawn for a whole game: take a `member`")

    def _places(self, player: int) -> slice:
        first = self.config.first
        return slice(first, None) if player else slice(0, first)
