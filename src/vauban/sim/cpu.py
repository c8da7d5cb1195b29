"""The kernels of a game, run over a batch on the CPU, on as many threads as wanted."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from vauban.games.base import Format, Game
from vauban.observe.base import CHANNELS_PER_WORD, Observation
from vauban.sim import batch_cpu
from vauban.sim.arrays import Array
from vauban.sim.bodies import ResultArrays
from vauban.sim.compile import CPU, compiled, progress
from vauban.sim.store import Pools, Results, Store

SMALLEST_PART = 256
"""Fewer games than this are not worth a thread."""


class CpuBatch:
    """A game's kernels over rows of records in main memory."""

    def __init__(self, game: Game, format: Format, threads: int | None) -> None:
        self.game = game
        self.constants = {"TRACKS": format.tracks}
        self.hooks = vars(game.kernels)
        self.rules = format.parameters
        self.threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self._functions: dict[Any, Any] = {}
        self._scratch: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    # Each of the following does to all games what the kernel of the same name does to one.

    def begin_all(self, store: Store, starts: Array, pools: Pools, seed: int) -> None:
        first, second = (_array(pool) for pool in pools)
        self._run(batch_cpu.begin_all, store, _array(starts), first, second, np.uint64(seed))

    def begin_from(self, store: Store, starts: Array, seed: int) -> None:
        self._run(batch_cpu.begin_from, store, _array(starts), np.uint64(seed))

    def note_all(self, store: Store, results: Results) -> None:
        self._run(batch_cpu.note_all, store, _results(results))

    def sample_all(self, store: Store, seed: int, actions: Array) -> None:
        self._run(batch_cpu.sample_all, store, np.uint64(seed), _array(actions))

    def choose_all(self, store: Store, seed: int, legal: Array, log_policy: Array,
                   actions: Array) -> None:  # fmt: skip
        self._run(batch_cpu.choose_all, store, np.uint64(seed), _array(legal), _array(log_policy), _array(actions))

    def check_all(self, store: Store, actions: Array, faults: Array) -> None:
        self._run(batch_cpu.check_all, store, _array(actions), _array(faults))

    def step_all(self, store: Store, actions: Array, seed: int, results: Results, faults: Array,
                 restarts: bool, starts: Array, pools: Pools, stride: int) -> None:  # fmt: skip
        first, second = (_array(pool) for pool in pools)
        self._run(batch_cpu.step_all, store, _array(actions), np.uint64(seed), _results(results), _array(faults),
                  restarts, _array(starts), first, second, np.uint64(stride))  # fmt: skip

    def play_random(self, store: Store, plies: int, seed: int, results: Results, starts: Array,
                    pools: Pools, stride: int, counts: Array) -> None:  # fmt: skip
        first, second = (_array(pool) for pool in pools)
        self._run(batch_cpu.play_random, store, plies, np.uint64(seed), _results(results), _array(starts),
                  first, second, np.uint64(stride), _array(counts))  # fmt: skip

    def mask_all(self, store: Store, mask: Array) -> None:
        self._run(batch_cpu.mask_all, store, _array(mask).view(np.uint8))

    def list_all(self, store: Store, actions: Array, counts: Array) -> None:
        self._run(batch_cpu.list_all, store, _array(actions), _array(counts))

    def conceal_all(self, store: Store, viewer: int) -> None:
        self._run(batch_cpu.conceal_all, store, viewer)

    def count_hidden(self, store: Store, viewer: int, counts: Array) -> None:
        self._run(batch_cpu.count_hidden, store, viewer, _array(counts))

    def tell_hidden(self, store: Store, viewer: int, values: Array) -> None:
        self._run(batch_cpu.tell_hidden, store, viewer, _array(values))

    def settle_all(self, store: Store, seed: int) -> None:
        self._run(batch_cpu.settle_all, store, np.uint64(seed))

    def assign_all(self, store: Store, viewer: int, values: Array, faults: Array) -> None:
        self._run(batch_cpu.assign_all, store, viewer, _array(values), _array(faults))

    def observe_all(self, store: Store, observation: Observation, viewer: int, out: Array, by_square: bool) -> None:
        squares = self.game.board[0] * self.game.board[1]
        channels = observation.channels(self.game)
        array = _array(out).reshape(len(out), channels * squares)
        brief = array.dtype == np.uint16
        function = compiled(
            batch_cpu.observe_all,
            CPU,
            self.hooks | {"mark": observation.mark, "set_levels": observation.levels},
            **self.constants,
            OUT_BY_SQUARE=by_square,
            OUT_BFLOAT16=brief,
        )

        def part(first: int, last: int) -> None:
            # Scratch space belongs to a part of the batch, so that parts may run at the same time.
            key = (observation.name, first)
            if key not in self._scratch:
                words = -(-channels // CHANNELS_PER_WORD)
                self._scratch[key] = np.zeros((squares, words), np.uint32), np.zeros((channels, 4), np.float32)
            function(first, last, *_arrays(store), self.rules, viewer, array, *self._scratch[key])

        self._run_parts(function, part, len(out))

    def _run(self, plain: Callable[..., Any], store: Store, *arguments: Any) -> None:
        if plain not in self._functions:
            self._functions[plain] = compiled(plain, CPU, self.hooks, **self.constants)
        function = self._functions[plain]
        arrays = _arrays(store)
        self._run_parts(
            function, lambda first, last: function(first, last, *arrays, self.rules, *arguments), len(store.words)
        )

    def _run_parts(self, function: Any, part: Callable[[int, int], Any], rows: int) -> None:
        """Run over all rows: in one go if there are few, else a part on each thread."""
        with progress(function, self.game.name):
            parts = min(self.threads, rows // SMALLEST_PART)
            if self._pool is None or parts < 2:
                part(0, rows)
                return
            bounds = [rows * index // parts for index in range(parts + 1)]
            own, *others = pairwise(bounds)
            jobs = [self._pool.submit(part, first, last) for first, last in others]
            part(*own)
            for job in jobs:
                job.result()


def _array(array: Array) -> Any:
    """Return the NumPy array of the same memory."""
    if isinstance(array, np.ndarray):
        return array
    from vauban.sim.tensors import raw

    return raw(array)


def _arrays(store: Store) -> tuple[Any, Any, Any]:
    return _array(store.words).view(np.uint64), _array(store.halves).view(np.uint16), _array(store.bytes)


def _results(results: Results) -> ResultArrays:
    return ResultArrays(*(_array(column) for column in results))
