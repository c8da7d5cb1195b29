"""Collecting: many games played at once by the network that is being trained.

A *window* is what is played between two trainings. Its last rows, in which each player has his newest position, only
say what the rows before them led to; they are the first rows of the next window. No observation is kept: a window has
the records of its positions, from which learning makes observations and legal actions again.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vauban.games.base import Game
from vauban.nets.policy import Forward, PolicyNetwork, utility_values
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot, Store


class Window(NamedTuple):
    """What was played: a row for each step of the simulator, in each an entry for each game."""

    words: Tensor
    halves: Tensor
    bytes: Tensor
    """The records before the move."""
    players: Tensor
    """Who was on turn."""
    actions: Tensor
    """What he played."""
    log_policy: Tensor
    """The logarithm of his policy over the legal actions, in the simulator's order (−inf behind the last)."""
    foreseen: Tensor
    """The outcome he foresaw: a distribution over `game.utilities`."""
    ended: Tensor
    """Whether the move ended the game."""
    results: Tensor
    """If so, the outcome for the first player: its place in `game.utilities`."""
    ends: Tensor
    """And how it ended: its place in `game.ends`."""
    plies: Tensor
    """And how long it was."""
    starts: Tensor
    """What the game began from."""


class Collector:
    """A simulator, the network that plays in it, and the window it fills."""

    def __init__(
        self, game: Game, games: int, length: int, device: torch.device, seed: int, *, first: int = 0, stride: int = 0
    ) -> None:
        """`games` at once, numbered from `first` of `stride` in all; `length` rows in a window."""
        self.sim = Simulator(game, games, device, seed, stride=stride or games)
        self.sim.reset(first_number=first)
        self.length = length
        self.carried = 1 + game.moves_in_a_row
        """Rows of a window that the next one begins with: both players are on turn in them."""
        self.filled = 0
        store = self.sim.store
        shapes: list[tuple[tuple[int, ...], torch.dtype]] = [
            *((part.shape[1:], part.dtype) for part in store),
            ((), torch.uint8),
            ((), torch.int16),
            ((game.max_legal,), torch.float32),
            ((len(game.utilities),), torch.float32),
            ((), torch.bool),
            ((), torch.int64),
            ((), torch.uint8),
            ((), torch.int32),
            ((game.start_size,), torch.int8),
        ]
        self.window = Window(
            *(torch.zeros((length, games, *shape), dtype=dtype, device=device) for shape, dtype in shapes)
        )
        self._utilities = utility_values(game, device)
        self._legal, self._counts = self.sim.legal_actions()
        self._actions = self.sim.sample()
        self._seen: Tensor | None = None

    def collect(self, network: PolicyNetwork, forward: Forward) -> Window:
        """Play until the window is full; `forward` is how the network is run."""
        if self.filled:
            for column in self.window:
                column[: self.carried] = column[-self.carried :].clone()
        shape = (self.sim.n, *self.sim.observation_shape(network.observation, "squares"))
        dtype = next(network.parameters()).dtype
        if self._seen is None or self._seen.shape != shape or self._seen.dtype != dtype:
            self._seen = torch.empty(shape, dtype=dtype, device=self.sim.device)
        with torch.no_grad():
            for row in range(self.carried if self.filled else 0, self.length):
                self._play(network, forward, self._seen, row)
        self.sim.check_step()
        self.filled = self.length
        return self.window

    def _play(self, network: PolicyNetwork, forward: Forward, seen: Tensor, row: int) -> None:
        sim, window = self.sim, self.window
        sim.observe(network.observation, seen, layout="squares")
        sim.legal_actions(self._legal, self._counts)
        choices, outcome = forward(seen)
        log_policy = network.legal_log_policy(choices, self._legal)
        sim.choose(self._legal, log_policy, self._actions)
        for column, part in zip(window[:3], sim.store, strict=True):
            column[row] = part
        window.players[row] = sim.players
        window.actions[row] = self._actions
        window.log_policy[row] = log_policy
        window.foreseen[row] = outcome.float().softmax(-1)
        window.starts[row] = sim.starts
        sim.step(self._actions, check=False)
        results = sim.results
        window.ended[row] = results.ended
        window.results[row] = (results.utility[:, None] - self._utilities).abs().argmin(1)
        window.ends[row] = results.end
        window.plies[row] = results.plies

    def state(self) -> dict[str, Tensor]:
        """All that a resumed run needs: the games, and the rows that the next window begins with."""
        kept = {name: column[-self.carried :].clone() for name, column in self.window._asdict().items()}
        store = {f"sim.{name}": part.clone() for name, part in self.sim.store._asdict().items()}
        return kept | store | {"sim.starts": self.sim.starts.clone(), "filled": torch.tensor(self.filled)}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Go on from `state()`."""
        for name, column in self.window._asdict().items():
            column[-self.carried :] = state[name]
        store = Store(*(state[f"sim.{name}"].to(self.sim.device) for name in Store._fields))
        self.sim.restore(Snapshot(self.sim.game, self.sim.format, store))
        self.sim.starts.copy_(state["sim.starts"])
        self.filled = int(state["filled"])
