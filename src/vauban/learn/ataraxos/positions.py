"""Positions to learn a belief from: games that a finished policy plays against itself, without end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from vauban.nets.actor import Actor
from vauban.nets.policy import PolicyNetwork
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot, Store

if TYPE_CHECKING:
    from vauban.learn.ataraxos.belief import BeliefConfig

Setups = Callable[[np.random.Generator], Sequence[Tensor] | Tensor]
"""(random numbers) → pools of setups, as `Simulator.set_pools` takes them."""


class PositionStream:
    """Positions of games that a policy plays against itself, `sim.n` at a time, without end.

    Neighbouring positions of a game are much alike. So each taking is put into a pool in exchange for as many
    positions drawn from it, of other games and other stages; these are what is handed out.
    """

    def __init__(
        self, sim: Simulator, network: PolicyNetwork, setups: Setups | None, rng: np.random.Generator,
        config: BeliefConfig,
    ) -> None:  # fmt: skip
        """
        sim: with `restart`, on the device of the network. Its games go on from where they are.
        setups: where new pools of setups come from; None leaves the simulator's own.
        rng: for the setups and the mixing.
        """
        self.sim, self.setups, self.rng, self.config = sim, setups, rng, config
        self.ply = 0
        self._given: Sequence[Tensor] | Tensor | None = None
        self._pool: list[Snapshot] = []
        """Takings; once there are enough, a single one of all."""
        self._actor = Actor(network, sim)

    def __iter__(self) -> Iterator[Snapshot]:
        return self

    def __next__(self) -> Snapshot:
        while True:
            drawn = self._exchange() if self._play() else None
            if drawn is not None:
                return drawn

    @torch.no_grad()
    def _play(self) -> bool:
        """Play a ply; whether the positions before it are to be taken, in which case they are the last of the pool."""
        sim, config = self.sim, self.config
        if self.ply % config.refresh == 0:
            sim.check_step()
            if self.setups is not None:
                self._given = self.setups(self.rng)
                sim.set_pools(self._given)
        taking = self.ply >= config.warmup and (self.ply - config.warmup) % config.every == 0
        if taking:
            self._pool.append(sim.snapshot())
        self._actor.choose()
        self._actor.step()
        self.ply += 1
        return taking

    def _exchange(self) -> Snapshot | None:
        """Put the last taking into the pool, and positions of the pool out; None as long as it is not full."""
        size = self.config.pool * self.sim.n
        held = sum(map(len, self._pool))
        if held == size:
            self._pool = [Snapshot.join(self._pool)]
        if held <= size:
            return None
        pool, taken = self._pool
        rows = torch.from_numpy(self.rng.choice(size, self.sim.n, replace=False)).to(self.sim.device)
        drawn = pool[rows]
        for part, new in zip(pool.store, taken.store, strict=True):
            part[rows] = new
        self._pool = [pool]
        return drawn

    def state(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        given = self._given
        return {
            "ply": self.ply,
            "rng": self.rng.bit_generator.state,
            "games": tuple(part.clone() for part in self.sim.store),
            "pool": [tuple(each.store) for each in self._pool],
            "setups": given if given is None or isinstance(given, Tensor) else list(given),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `state()`."""
        self.ply = state["ply"]
        self.rng.bit_generator.state = state["rng"]
        self.sim.restore(self._records(state["games"]))
        self._pool = [self._records(parts) for parts in state["pool"]]
        self._given = state["setups"]
        if self._given is not None:
            self.sim.set_pools(self._given)

    def fits(self, state: Mapping[str, Any]) -> bool:
        """Return whether a `state()` has as many games as this stream, and no more takings than the pool holds."""
        same = [part.shape for part in state["games"]] == [part.shape for part in self.sim.store]
        return same and sum(len(parts[0]) for parts in state["pool"]) <= self.config.pool * self.sim.n

    def _records(self, parts: Sequence[Tensor]) -> Snapshot:
        store = Store(*(part.to(self.sim.device) for part in parts))
        return Snapshot(self.sim.game, self.sim.format, store)


def observe_positions(
    sim: Simulator, positions: Snapshot, observation: str, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Return the observations of the players on turn in the layout "squares", and what is truly hidden from them."""
    sim.restore(positions)
    seen = sim.observe(observation, layout="squares", dtype=dtype)
    first = (sim.players == 0)[:, None]
    return seen, torch.where(first, sim.hidden_values(0), sim.hidden_values(1))
