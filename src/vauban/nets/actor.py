"""The playing loop: observe, ask the network, choose by its policy, step.

    actor = Actor(network, Simulator(game, 256, seed=1))
    for _ in range(plies):
        thought = actor.choose()     # the actions lie in `actor.actions`
        actor.step()

Everything that a network plays, it plays here: windows and belief streams of a training, rollouts of a search, single
answers about views. What the loop reads and writes lies in the same tensors every time, so that it can be captured into
a CUDA graph.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from vauban.games.base import Game
from vauban.nets.policy import Forward, PolicyNetwork
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator


class Positions(Protocol):
    """Positions that a network can be asked about: the games of a simulator, or views."""

    @property
    def game(self) -> Game: ...

    @property
    def n(self) -> int: ...

    def observe(self, name: str, out: Tensor, *, layout: str) -> Any:
        """Write what the players on turn see."""

    def legal_actions(self, out: Tensor, counts: Tensor) -> Any:
        """Write the legal actions, and how many they are."""


class Thought(NamedTuple):
    """A network's answer about each position, for the player on turn."""

    legal: Tensor
    """int16, the legal actions, −1 behind the last."""
    counts: Tensor
    """int32, how many they are."""
    log_policy: Tensor
    """float32, the logarithm of the policy over them, −inf behind the last."""
    outcome: Tensor
    """Logits of the outcomes (`game.utilities`)."""


class Thinker:
    """A network that is asked about positions, time and again."""

    def __init__(self, network: PolicyNetwork, positions: Positions, forward: Forward | None = None) -> None:
        """forward: runs the network, if it was compiled."""
        self.network, self._positions = network, positions
        # Not `forward or network`: what a network was compiled to has no truth value.
        self._forward = network if forward is None else forward
        parameter = next(network.parameters())
        game, rows, device = positions.game, positions.n, parameter.device
        channels = observations.find(game, network.observation).channels(game)
        squares = game.board[0] * game.board[1]
        self._seen = torch.empty((rows, squares, channels), dtype=parameter.dtype, device=device)
        self._legal = torch.empty((rows, game.max_legal), dtype=torch.int16, device=device)
        self._counts = torch.empty(rows, dtype=torch.int32, device=device)

    def observe(self) -> Tensor:
        """Return what the players on turn see. It lies in the same tensor every time."""
        self._positions.observe(self.network.observation, self._seen, layout="squares")
        return self._seen

    def look(self) -> tuple[Tensor, Tensor]:
        """Return the logits of the choices and of the outcomes, for the players on turn."""
        return self._forward(self.observe())

    def think(self) -> Thought:
        """Look, and make a policy over the legal actions. They lie in the same tensors every time."""
        choices, outcome = self.look()
        self._positions.legal_actions(self._legal, self._counts)
        return Thought(self._legal, self._counts, self.network.legal_log_policy(choices, self._legal), outcome)


class Actor(Thinker):
    """A network that plays all games of a simulator, for whoever is on turn."""

    def __init__(self, network: PolicyNetwork, sim: Simulator, forward: Forward | None = None) -> None:
        """forward: runs the network, if it was compiled."""
        super().__init__(network, sim, forward)
        self.sim = sim
        self.actions = torch.empty(sim.n, dtype=torch.int16, device=self._seen.device)
        """The actions that were chosen last."""

    def choose(self) -> Thought:
        """Think, and draw an action for each game from the policy."""
        thought = self.think()
        self.sim.choose(thought.legal, thought.log_policy, self.actions)
        return thought

    def step(self) -> None:
        """Play what was chosen; `Simulator.check_step` tells later whether all of it was legal."""
        self.sim.step(self.actions, check=False)
