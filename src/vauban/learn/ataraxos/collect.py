"""Collecting: many games played at once by the network that is being trained.

A *window* is what is played between two trainings. Its last rows, which hold the newest position of each player, only
say what the rows before them led to; they are the first rows of the next window. No observation is kept: a window has
the records of its positions, from which learning makes observations and legal actions again.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vauban.games.base import Game
from vauban.learn.base import PLIES, SHARE, Metric
from vauban.nets.actor import Actor
from vauban.nets.policy import utility_values
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot, Store

METRICS = (
    Metric("play.ended", "Games that ended in this window."),
    Metric("play.plies", "Their mean length in plies.", PLIES, "Length of a game", "{:.0f} plies", drawn=True),
    Metric("play.first_mover", "Mean score of the player who moved first, draws half.", SHARE,
           shown="{:.0%} for the first to move"),
    Metric("play.draws", "The share of them that was drawn.", SHARE, "Drawn games", "{:.0%} drawn", drawn=True),
    Metric("play.end.*", "The share of them that ended so (docs/rules.md names the ends).", SHARE),
)  # fmt: skip


class Window(NamedTuple):
    """A window: a row for each step of the simulator, in each an entry for each game."""

    words: Tensor
    halves: Tensor
    bytes: Tensor
    """The records before the move."""
    players: Tensor
    """The player on turn."""
    actions: Tensor
    """The action that was played."""
    log_policy: Tensor
    """The logarithm of the player's policy over the legal actions, in the simulator's order (−inf behind the last)."""
    foreseen: Tensor
    """The outcome that was foreseen: a distribution over `game.utilities`."""
    ended: Tensor
    """Whether the move ended the game."""
    results: Tensor
    """The outcome of an ended game for the first player: its place in `game.utilities`."""
    ends: Tensor
    """Its end: its place in `game.ends`."""
    plies: Tensor
    """Its length."""
    starts: Tensor
    """The start of the game."""


def sums_of_games(game: Game, utilities: Tensor, ends: Tensor, plies: Tensor) -> Tensor:
    """Return sums over games that ended: games, plies, scores of the first player, draws, each kind of end."""
    return torch.stack(
        [
            torch.ones_like(utilities).sum(),
            plies.sum(),
            ((utilities > 0) + 0.5 * (utilities == 0)).sum(),
            (utilities == 0).sum(),
            *((ends == end).sum() for end in range(1, len(game.ends))),
        ]
    ).float()


def means_of_games(game: Game, sums: Tensor) -> dict[str, float]:
    """Return the metrics of `sums_of_games`."""
    count, *rest = sums.tolist()
    names = ("plies", "first_mover", "draws", *(f"end.{end}" for end in game.ends[1:]))
    shares = {f"play.{name}": value / max(count, 1) for name, value in zip(names, rest, strict=True)}
    return {"play.ended": count, **shares}


class Collector:
    """A simulator, and the window that is filled by those who play in it."""

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

    def collect(self, actor: Actor) -> Window:
        """Play until the window is full."""
        if self.filled:
            for column in self.window:
                column[: self.carried] = column[-self.carried :].clone()
        with torch.no_grad():
            for row in range(self.carried if self.filled else 0, self.length):
                self._play(actor, row)
        self.sim.check_step()
        self.filled = self.length
        return self.window

    def _play(self, actor: Actor, row: int) -> None:
        sim, window = self.sim, self.window
        thought = actor.choose()
        for column, part in zip(window[:3], sim.store, strict=True):
            column[row] = part
        window.players[row] = sim.players
        window.actions[row] = actor.actions
        window.log_policy[row] = thought.log_policy
        window.foreseen[row] = thought.outcome.float().softmax(-1)
        window.starts[row] = sim.starts
        actor.step()
        results = sim.results
        window.ended[row] = results.ended
        window.results[row] = (results.utility[:, None] - self._utilities).abs().argmin(1)
        window.ends[row] = results.end
        window.plies[row] = results.plies

    def state(self) -> dict[str, Tensor]:
        """Return all that a resumed run needs: the games, and the rows that the next window begins with."""
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
