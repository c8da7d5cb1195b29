"""Training networks on what a reservoir holds: minibatches, drawn evenly, of a weighted squared error.

A reservoir keeps records; observations and legal actions are made again from them, for many minibatches in one go. On a
GPU a step of training is captured once and replayed; nothing waits for it but the mean loss at the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor

from vauban.games.base import Format, Game
from vauban.learn.buffers import Columns, Reservoir
from vauban.learn.deep_cfr import targets
from vauban.learn.trainee import Trainee
from vauban.nets.policy import PolicyNetwork
from vauban.nets.replay import Replay
from vauban.sim.simulator import Simulator
from vauban.sim.store import Store

AT_ONCE = {"cpu": 1 << 15, "cuda": 1 << 17}
"""Positions that are observed in one go: more only take more memory."""


def record_columns(game: Game, format: Format) -> Columns:
    """Return the columns of a reservoir that keep records."""
    words, halves, bytes_ = format.shape
    return {
        "words": ((words,), torch.int64),
        "halves": ((halves,), torch.int16),
        "bytes": ((bytes_,), torch.uint8),
        "weight": ((), torch.float32),
    }


class Regression(ABC):
    """A network, and the reservoir that it learns from."""

    def __init__(
        self, trainee: Trainee[PolicyNetwork], reservoir: Reservoir, sim: Simulator, batch: int, rate: float,
        final_rate: float, gradient_norm: float,
    ) -> None:  # fmt: skip
        """
        sim: to look at records with; it has as many games as are observed in one go.
        final_rate: the share of the rate to which it falls, evenly, in each training.
        """
        self.trainee, self.reservoir, self.sim, self.batch = trainee, reservoir, sim, batch
        self.rate, self.final_rate, self.gradient_norm = rate, final_rate, gradient_norm
        device = sim.device
        shape = sim.observation_shape(trainee.network.observation, "squares")
        self._seen = torch.empty((sim.n, *shape), dtype=trainee.dtype, device=device)
        self._legal, self._counts = sim.legal_actions()
        self._laid_out = {
            name: column[: sim.n].new_zeros((sim.n, *column.shape[1:]))
            for name, column in reservoir.columns.items()
            if name not in Store._fields
        }
        self._number = torch.zeros((), dtype=torch.int64, device=device)
        self._rows = torch.arange(batch, device=device)
        self._loss = torch.zeros((), device=device)
        self._scale = torch.zeros((), device=device)
        self._train = Replay(device)

    def learn(self, batches: int, scale: float, generator: torch.Generator) -> float:
        """Train on this many minibatches, with all weights multiplied by `scale`; return the mean loss."""
        self.trainee.network.train()
        self._loss.zero_()
        self._scale.fill_(scale)
        at_once = self.sim.n // self.batch
        for first in range(0, batches, at_once):
            self._lay_out(generator)
            for number in range(first, min(first + at_once, batches)):
                done = number / max(1, batches - 1)
                self.trainee.set_learning_rate(self.rate * (1 - done * (1 - self.final_rate)))
                self._train(self._train_batch)
        self.trainee.network.eval()
        self.trainee.update_average(0.0)
        return self._loss.item() / batches

    @torch.no_grad()
    def _lay_out(self, generator: torch.Generator) -> None:
        """Draw items, and make what minibatches need of their records."""
        places = self.reservoir.draw(self.sim.n, generator)
        columns = self.reservoir.columns
        for part, name in zip(self.sim.store, Store._fields, strict=True):
            part.copy_(columns[name][places])
        self.sim.observe(self.trainee.network.observation, self._seen, layout="squares")
        self.sim.legal_actions(self._legal, self._counts)
        for name, column in self._laid_out.items():
            column.copy_(columns[name][places])
        self._number.zero_()

    def _train_batch(self) -> None:
        """Take a step on the next of the minibatches that are laid out."""
        rows = self._number * self.batch + self._rows
        items = {name: column[rows] for name, column in self._laid_out.items()}
        choices, _ = self.trainee.working(self._seen[rows])
        loss = self._error(choices, self._legal[rows], items, items["weight"] * self._scale)
        self.trainee.descend([loss], self.gradient_norm)
        self._loss += loss.detach()
        self._number += 1

    @abstractmethod
    def _error(self, choices: Tensor, legal: Tensor, items: Mapping[str, Tensor], weights: Tensor) -> Tensor:
        """Return the loss of a minibatch."""


class AdvantageRegression(Regression):
    """A value network on a player's sampled regrets."""

    @staticmethod
    def columns(game: Game, format: Format) -> Columns:
        """Return the columns of its reservoir: of all targets but one are the same."""
        return {
            **record_columns(game, format),
            "place": ((), torch.int16),
            "taken": ((), torch.float32),
            "others": ((), torch.float32),
        }

    def _error(self, choices: Tensor, legal: Tensor, items: Mapping[str, Tensor], weights: Tensor) -> Tensor:
        there = legal >= 0
        values = choices.gather(1, self.trainee.working.choice_of_action[legal.long().clamp_min(0)])
        values = torch.where(there, values, 0.0).float()
        places = torch.arange(legal.shape[1], device=legal.device)
        taken = places == items["place"][:, None]
        wanted = torch.where(taken, items["taken"][:, None], items["others"][:, None])
        return targets.advantage_loss(values, wanted, there, weights)


class StrategyRegression(Regression):
    """The strategy network on both players' strategies."""

    @staticmethod
    def columns(game: Game, format: Format) -> Columns:
        """Return the columns of its reservoir."""
        return {**record_columns(game, format), "policy": ((game.max_legal,), torch.float32)}

    def _error(self, choices: Tensor, legal: Tensor, items: Mapping[str, Tensor], weights: Tensor) -> Tensor:
        policy = choices.float().softmax(1)
        wanted = torch.zeros_like(policy)
        of_action = self.trainee.working.choice_of_action[legal.long().clamp_min(0)]
        # Behind the last legal action there is probability 0, which adds nothing.
        wanted = wanted.scatter_add(1, of_action, items["policy"])
        return targets.strategy_loss(policy, wanted, weights)
