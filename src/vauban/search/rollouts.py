"""Rollouts: games played on by a network, for both sides, all at once on a device.

Nothing waits for the device between the first ply and the last; on a GPU a ply is a captured graph.
"""

from __future__ import annotations

import torch
from torch import Tensor

from vauban.games.base import Game
from vauban.nets.policy import PolicyNetwork, utility_values
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot


class Rollouts:
    """So many games side by side, played by one network."""

    def __init__(self, network: PolicyNetwork, game: Game, rows: int, history: int) -> None:
        """The network's device and numbers are those of the rollouts: bfloat16 on a GPU, float32 on a CPU."""
        parameter = next(network.parameters())
        self.network = network
        self.rows = rows
        self.sim = Simulator(game, rows, parameter.device, seed=0, restart=False, history=history)
        self._utilities = utility_values(game, parameter.device)
        shape = self.sim.observation_shape(network.observation, "squares")
        self._seen = torch.empty((rows, *shape), dtype=parameter.dtype, device=parameter.device)
        self._legal, self._counts = self.sim.legal_actions()
        self._actions = torch.empty(rows, dtype=torch.int16, device=parameter.device)
        self._graph: torch.cuda.CUDAGraph | None = None

    @torch.inference_mode()
    def run(self, views: Snapshot, values: Tensor, first: Tensor, numbers: Tensor, depth: int) -> Tensor:
        """Play so many plies: the forced first move, then moves drawn from the network's policy, for both sides.

        views: one for each row, of one player, who is on turn; values: what is hidden, as `determinise` takes it.
        first: the forced moves (int16). numbers: what the dice of each row depend on (int64).
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
            self._play_ply()
        sim.observe(self.network.observation, self._seen, layout="squares")
        _, logits = self.network(self._seen)
        foreseen = logits.float().softmax(-1)
        # Games without strict turns may stop at the other player's position; what he gains the viewer loses.
        foreseen = torch.where((sim.players == viewer)[:, None], foreseen, foreseen.flip(1))
        worth = sim.results.utility if viewer == 0 else -sim.results.utility
        nearest = (worth[:, None] - self._utilities).abs().argmin(1)
        ended = torch.nn.functional.one_hot(nearest, len(self._utilities)).float()
        outcomes = torch.where(sim.over[:, None], ended, foreseen)
        return outcomes.masked_fill(~played[:, None], torch.nan)

    def _play_ply(self) -> None:
        if self.sim.device.type != "cuda":
            self._ply()
            return
        if self._graph is None:
            self._capture()
        assert self._graph is not None
        self._graph.replay()

    def _capture(self) -> None:
        """Capture a ply. What is captured must have run before, which changes the games: they are put back."""
        games = self.sim.snapshot()
        results = [column.clone() for column in self.sim.results]
        stream = torch.cuda.Stream(self.sim.device)  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream(self.sim.device))
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._ply()
        torch.cuda.current_stream(self.sim.device).wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._ply()
        self.sim.restore(games)
        for column, kept in zip(self.sim.results, results, strict=True):
            column.copy_(kept)

    def _ply(self) -> None:
        sim = self.sim
        sim.observe(self.network.observation, self._seen, layout="squares")
        choices, _ = self.network(self._seen)
        sim.legal_actions(self._legal, self._counts)
        sim.choose(self._legal, self.network.legal_log_policy(choices, self._legal), self._actions)
        sim.step(self._actions, check=False)
