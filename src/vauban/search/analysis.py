"""The result of a search of one position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.games.base import PLIES
from vauban.search.allocation import Plan
from vauban.sim.store import Snapshot

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Analysis:
    """One position, as the player on turn sees it. Arrays over moves are in the order of `actions`."""

    view: Snapshot
    """The view that was searched."""
    actions: Ints
    """The legal actions, in the order of `Simulator.legal_actions`."""
    values: Floats
    """Worth of each move: the mean over its rollouts. A move without any has that of the others, by `before`."""
    visits: Ints
    """Rollouts of each move."""
    errors: Floats
    """The standard error of each value, by how far its rollouts lie apart; infinite with fewer than two of them."""
    outcomes: Floats
    """For each move the probabilities of the outcomes (`game.utilities`, the worst first)."""
    before: Floats
    """The network's policy."""
    policy: Floats
    """The policy of the search."""
    foreseen: Floats
    """The probabilities of the outcomes as the network foresees them, without a search."""
    configurations: npt.NDArray[np.int8]
    """The hidden things as they were drawn for the rollouts or for `belief`: configurations × things."""
    plan: Plan
    """The work that was done, and what was cut to keep to the time."""
    seconds: float
    """Seconds that it took; of several positions that were searched together, each one's share."""

    @property
    def player(self) -> int:
        """The player whose position it is."""
        assert self.view.viewer is not None
        return self.view.viewer

    @property
    def value(self) -> float:
        """Worth of the position to the player, played by the policy of the search."""
        return float(self.policy @ self.values)

    @property
    def forecast(self) -> Floats:
        """The probabilities of the outcomes, played by the policy of the search."""
        forecast: Floats = self.policy @ self.outcomes
        return forecast

    def belief(self) -> dict[int, dict[int, float]]:
        """Return, for the square of each hidden thing, the share of each kind in the configurations."""
        game = self.view.game
        found = {}
        for place, square in enumerate(game.hidden_squares(self.view.record(), self.player) or ()):
            counts = np.bincount(self.configurations[:, place], minlength=len(game.hidden_kinds))
            shares = counts / len(self.configurations)
            found[square] = {int(kind): float(shares[kind]) for kind in np.flatnonzero(shares)}
        return found

    def to_json(self) -> dict[str, Any]:
        """Return everything, in words and numbers: for the page and for programs. The best moves come first."""
        game, player = self.view.game, self.player
        order = np.argsort(-self.policy, kind="stable")
        return {
            "game": game.name,
            "player": game.players[player],
            "ply": int(self.view.store.words[0, PLIES]),
            "value": self.value,
            "utilities": list(game.utilities),
            "forecast": self.forecast.tolist(),
            "forecast_before": self.foreseen.tolist(),
            "moves": [
                {
                    "move": game.action_text(player, int(self.actions[place])),
                    "action": int(self.actions[place]),
                    "value": float(self.values[place]),
                    "visits": int(self.visits[place]),
                    "before": float(self.before[place]),
                    "policy": float(self.policy[place]),
                    "outcomes": self.outcomes[place].tolist(),
                }
                for place in order
            ],
            "belief": {
                game.square_name(square): {game.hidden_kinds[kind]: share for kind, share in kinds.items()}
                for square, kinds in self.belief().items()
            },
            "rollouts": self.plan.rollouts,
            "depth": self.plan.depth,
            "configurations": self.plan.configurations,
            "moves_searched": self.plan.moves,
            "cut": list(self.plan.cut),
            "seconds": self.seconds,
        }
