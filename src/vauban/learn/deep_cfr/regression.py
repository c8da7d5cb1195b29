"""Training networks on what a reservoir holds: minibatches, drawn evenly, of a weighted squared error.

A reservoir keeps records; observations and legal actions are made again from them, for many minibatches in one go. On a
GPU a step of training is captured once and replayed; nothing waits for it but the mean loss at the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Format, Game
from vauban.learn.buffers import Columns, Reservoir, row_keys
from vauban.learn.deep_cfr import targets
from vauban.learn.trainee import Trainee
from vauban.nets.policy import PolicyNetwork
from vauban.nets.replay import Replay
from vauban.sim.simulator import Simulator
from vauban.sim.store import Store

AT_ONCE = {"cpu": 1 << 15, "cuda": 1 << 17}
"""Positions that are observed in one go: more only take more memory."""
SHARES = "shares"
"""The column of a reservoir with weights of single actions, if they are not all alike."""


def record_columns(game: Game, format: Format) -> Columns:
    """Return the columns of a reservoir that keep records."""
    words, halves, bytes_ = format.shape
    return {
        "words": ((words,), torch.int64),
        "halves": ((halves,), torch.int16),
        "bytes": ((bytes_,), torch.uint8),
        "weight": ((), torch.float32),
    }


class Items(NamedTuple):
    """The tensors of minibatches, a row for each position."""

    seen: Tensor
    """Its observation."""
    legal: Tensor
    """Its legal actions, −1 behind the last."""
    wanted: Tensor
    """The targets of these."""
    weight: Tensor
    shares: Tensor
    """Further weights of these."""


class Regression(ABC):
    """A network, and the reservoir that it learns from."""

    def __init__(
        self, trainee: Trainee[PolicyNetwork], reservoir: Reservoir, sim: Simulator, batch: int, rate: float,
        final_rate: float, gradient_norm: float, merge: bool = False,
    ) -> None:  # fmt: skip
        """
        sim: to look at records with; it has as many games as are observed in one go.
        final_rate: the share of the rate to which it falls, evenly, in each training.
        merge: learn from each observation once, by the mean of its targets.
        """
        self.trainee, self.reservoir, self.sim, self.batch = trainee, reservoir, sim, batch
        self.rate, self.final_rate, self.gradient_norm, self.merge = rate, final_rate, gradient_norm, merge
        device = sim.device
        shape = sim.observation_shape(trainee.network.observation, "squares")
        legal, self._counts = sim.legal_actions()
        self.items = Items(
            torch.empty((sim.n, *shape), dtype=trainee.dtype, device=device),
            legal,
            torch.zeros(legal.shape, device=device),
            torch.zeros(sim.n, device=device),
            torch.ones(legal.shape, device=device),
        )
        """The minibatches that are laid out, one below the other."""
        self._number = torch.zeros((), dtype=torch.int64, device=device)
        self._rows = torch.arange(batch, device=device)
        self._loss = torch.zeros((), device=device)
        # As long as nothing is replaced, items that were merged once need not be looked at again. Only blocks of a
        # fixed size are kept, so that a run which is resumed adds up its numbers in the same order.
        self._blocks: tuple[int, Items | None] = 0, None
        """The number of the reservoir's first items that have been merged, and what they were merged to."""
        self._train = Replay(device)

    def learn(self, batches: int, scale: float, generator: torch.Generator) -> float:
        """Train on this many minibatches, with all weights multiplied by `scale`; return the mean loss."""
        self._loss.zero_()
        done = 0
        for laid_out in self.lay_out(batches, scale, generator):
            self._number.zero_()
            for number in range(done, done + laid_out):
                self.trainee.set_learning_rate(self.rate_at(number, batches))
                self._train(self._train_batch)
            done += laid_out
        return self._loss.item() / batches

    def lay_out(self, batches: int, scale: float, generator: torch.Generator) -> Iterator[int]:
        """Lay out minibatches to be trained on, some at a time: say each time how many of them there are now."""
        self.trainee.network.train()
        merged = self._merged() if self.merge else None
        at_once = self.sim.n // self.batch
        for first in range(0, batches, at_once):
            if merged is None:
                self._look(self.reservoir.draw(self.sim.n, generator))
            else:
                self._take(merged, generator)
            self.items.weight.mul_(scale)
            yield min(at_once, batches - first)
        self.trainee.network.eval()
        self.trainee.update_average(0.0)

    def rate_at(self, number: int, batches: int) -> float:
        """Return the learning rate of one of so many minibatches."""
        return self.rate * (1 - number / max(1, batches - 1) * (1 - self.final_rate))

    @torch.no_grad()
    def _look(self, places: Tensor) -> None:
        """Make what minibatches need of the items at these places of the reservoir."""
        columns = self.reservoir.columns
        for part, name in zip(self.sim.store, Store._fields, strict=True):
            part.copy_(columns[name][places])
        self.sim.observe(self.trainee.network.observation, self.items.seen, layout="squares")
        self.sim.legal_actions(self.items.legal, self._counts)
        self.items.wanted.copy_(self._wanted(places))
        self.items.weight.copy_(columns["weight"][places])
        if SHARES in columns:
            self.items.shares.copy_(columns[SHARES][places])

    @torch.no_grad()
    def _merged(self) -> Items:
        """Return every observation of the reservoir once, by the sum of its weights and the mean of its targets.

        Their weighted squared error is that of all items but for a constant.
        """
        filled, n = int(self.reservoir.filled), self.sim.n
        count, found = self._blocks
        if int(self.reservoir.seen) > self.reservoir.capacity:
            count, found = 0, None  # any of them may have been replaced
        for first in range(count, filled, n):
            places = torch.arange(first, first + n, device=self.sim.device)
            self._look(places.clamp(max=filled - 1))
            there = min(n, filled - first)
            part = Items(*(column[:there] for column in self.items))
            found = merge(part if found is None else Items(*map(torch.cat, zip(found, part, strict=True))))
            if there == n:
                self._blocks = first + n, found
        if found is None:
            raise ConfigurationError("a network is trained on at least one item")
        # Minibatches have the mean over `filled` items as their expectation, or as their value.
        weight = found.weight * (max(len(found.weight), self.batch) / filled)
        return found._replace(wanted=found.wanted.float(), weight=weight.float(), shares=found.shares.float())

    @torch.no_grad()
    def _take(self, merged: Items, generator: torch.Generator) -> None:
        """Draw minibatches from merged items, evenly; each has all of them where there are few enough."""
        count = len(merged.weight)
        if count > self.batch:
            rows = torch.randint(count, (self.sim.n,), generator=generator, device=self.sim.device)
            weight = merged.weight[rows]
        else:
            rows = self._rows.repeat(self.sim.n // self.batch)
            weight = torch.where(rows < count, merged.weight[rows % count], 0.0)
            rows = rows % count
        for column, values in zip(self.items, merged, strict=True):
            column[: len(rows)] = values[rows]
        self.items.weight[: len(rows)] = weight

    def _train_batch(self) -> None:
        """Take a step on the next of the minibatches that are laid out."""
        rows = self._number * self.batch + self._rows
        items = Items(*(column[rows] for column in self.items))
        loss = self.error(self.trainee.working, items)
        self.trainee.descend([loss], self.gradient_norm)
        self._loss += loss.detach()
        self._number += 1

    @abstractmethod
    def _wanted(self, places: Tensor) -> Tensor:
        """Return the targets of the legal actions of items."""

    @abstractmethod
    def error(self, network: PolicyNetwork, items: Items) -> Tensor:
        """Return the loss of a minibatch."""


class AdvantageRegression(Regression):
    """A value network on a player's sampled regrets."""

    @staticmethod
    def columns(game: Game, format: Format, weights: str) -> Columns:
        """Return the columns of its reservoir: of all targets but one are the same."""
        shares: Columns = {SHARES: ((game.max_legal,), torch.float32)} if weights == targets.REACHED else {}
        return {
            **shares,
            **record_columns(game, format),
            "place": ((), torch.int16),
            "taken": ((), torch.float32),
            "others": ((), torch.float32),
        }

    def _wanted(self, places: Tensor) -> Tensor:
        place, taken, others = (self.reservoir.columns[name][places] for name in ("place", "taken", "others"))
        wanted = others[:, None].repeat(1, self.items.wanted.shape[1])
        return wanted.scatter_(1, place.long()[:, None], taken[:, None])

    def error(self, network: PolicyNetwork, items: Items) -> Tensor:
        there = items.legal >= 0
        values = torch.where(there, network.of_legal(items.seen, items.legal), 0.0).float()
        return targets.advantage_loss(values, items.wanted, there, items.weight, items.shares)


class StrategyRegression(Regression):
    """The strategy network on both players' strategies."""

    @staticmethod
    def columns(game: Game, format: Format, weights: str) -> Columns:
        """Return the columns of its reservoir."""
        return {**record_columns(game, format), "policy": ((game.max_legal,), torch.float32)}

    def _wanted(self, places: Tensor) -> Tensor:
        return self.reservoir.columns["policy"][places]

    def error(self, network: PolicyNetwork, items: Items) -> Tensor:
        policy = network(items.seen)[0].float().softmax(1)
        wanted = torch.zeros_like(policy)
        of_action = network.choice_of_action[items.legal.long().clamp_min(0)]
        # Behind the last legal action there is probability 0, which adds nothing.
        wanted = wanted.scatter_add(1, of_action, items.wanted)
        return targets.strategy_loss(policy, wanted, items.weight)


def merge(items: Items) -> Items:
    """Return every observation once, with the sum of its items' weights and the mean of their targets by weight."""
    seen = items.seen.flatten(1).float().view(torch.int32)
    keys = row_keys(torch.cat([seen.long(), items.legal.long()], 1))
    found, group = torch.unique(keys, return_inverse=True)
    of_group = torch.empty(len(found), dtype=torch.int64, device=keys.device)
    of_group[group] = torch.arange(len(keys), device=keys.device)
    weight = torch.zeros(len(found), dtype=torch.float64, device=keys.device)
    weight.index_add_(0, group, items.weight.double())
    wanted, shares = (torch.zeros((len(found), items.wanted.shape[1]), dtype=torch.float64, device=keys.device)
                      for _ in range(2))  # fmt: skip
    by_action = items.shares.double() * items.weight.double()[:, None]
    wanted.index_add_(0, group, items.wanted.double() * by_action)
    shares.index_add_(0, group, by_action)
    wanted /= torch.where(shares > 0, shares, 1.0)
    return Items(items.seen[of_group], items.legal[of_group], wanted, weight, shares / weight[:, None])
