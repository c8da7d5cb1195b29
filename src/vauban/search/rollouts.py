"""Rollouts: games played on by a network, for both sides, all at once on a device.

Nothing waits for the device between the first ply and the last; on a GPU a ply is a captured graph.
"""

from __future__ import annotations

import torch
from torch import Tensor

from vauban.games.base import Format, Game
from vauban.nets.actor import Actor
from vauban.nets.policy import Forward, PolicyNetwork, utility_values
from vauban.nets.replay import Replay
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot


class Rollouts:
    """Games that one network plays side by side."""

    def __init__(self, network: PolicyNetwork, forward: Forward, game: Game, rows: int, format: Format) -> None:
        """
        network: its device and numbers are those of the rollouts: as `Search` chooses them.
        forward: the function that runs it: the network itself, or its compiled form.
        """
        parameter = next(network.parameters())
        self.rows = rows
        self.sim = Simulator(game, rows, parameter.device, seed=0, restart=False, format=format)
        self._utilities = utility_values(game, parameter.device)
        self._actor = Actor(network, self.sim, forward)
        self._ply = Replay(parameter.device)

    @torch.inference_mode()
    def run(self, views: Snapshot, values: Tensor, first: Tensor, numbers: Tensor, depth: int) -> Tensor:
        """Play `depth` plies: the forced first move, then moves drawn from the network's policy, for both sides.

        views: one for each row, of one player, who is on turn; values: the hidden things, as `determinise` takes them.
        first: the forced moves (int16). numbers: seeds of the dice of each row (int64).
        Returns for each row the probabilities of the outcomes for that player: as the network foresees them at
        the last position, or the outcome itself where the game has ended. Where the first move is not legal, which
        repetition rules that compare hidden types can bring about, the row is nan.
        """
        viewer = views.viewer
        assert viewer is not None
        sim = self.sim
        sim.determinise(views, viewer, values)
        sim.numbers.copy_(numbers)
        before = sim.plies.clone()
        sim.step(first, check=False)
        played = sim.plies > before
        for _ in range(depth - 1):
            self._ply(self._play)
        _, logits = self._actor.look()
        foreseen = logits.float().softmax(-1)
        # Games without strict turns may stop at the other player's position: that player's gain is the viewer's loss.
        foreseen = torch.where((sim.players == viewer)[:, None], foreseen, foreseen.flip(1))
        worth = sim.results.utility if viewer == 0 else -sim.results.utility
        nearest = (worth[:, None] - self._utilities).abs().argmin(1)
        ended = torch.nn.functional.one_hot(nearest, len(self._utilities)).float()
        outcomes = torch.where(sim.over[:, None], ended, foreseen)
        return outcomes.masked_fill(~played[:, None], torch.nan)

    def _play(self) -> None:
        """Play one ply of all games."""
        self._actor.choose()
        self._actor.step()
