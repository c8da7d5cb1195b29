"""The kernels of a game, run over a batch on a GPU.

Launches go to torch's current stream and take no memory, so that a loop of steps can be captured
into a `torch.cuda.CUDAGraph` once each kernel has been called (and thereby compiled) outside.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

from vauban.games.base import Format, Game
from vauban.observe.base import CHANNELS_PER_WORD, Observation
from vauban.sim.compile import CUDA, bound, cuda, progress
from vauban.sim.store import Pools, Results, Store

THREADS = 64
"""Threads in a block, where a thread has a game to itself."""
WARP = 32
WARP_THREADS = 128
OBSERVE_THREADS = 256

_TYPES = {
    torch.int64: "<u8",
    torch.int16: "<u2",
    torch.uint8: "|u1",
    torch.int8: "|i1",
    torch.int32: "<i4",
    torch.float32: "<f4",
    torch.bool: "|u1",
}


@cache
def _kernel(name: str, hooks: tuple[tuple[str, Any], ...], constants: tuple[tuple[str, Any], ...]) -> Any:
    """Return a kernel, compiled once for all simulators of a family of games."""
    module = cuda()
    from vauban.sim import batch_cuda

    return module.jit(bound(getattr(batch_cuda, name), CUDA, dict(hooks), **dict(constants)))


class _Interface:
    """A tensor's memory, described for numba."""

    def __init__(
        self, tensor: torch.Tensor, kind: str, shape: tuple[int, ...], strides: tuple[int, ...] | None
    ) -> None:
        self.tensor = tensor
        self.__cuda_array_interface__ = {
            "shape": shape,
            "strides": strides,
            "typestr": kind,
            "data": (tensor.data_ptr(), False),
            "version": 3,
        }


class CudaBatch:
    """A game's kernels over records in a GPU's memory."""

    def __init__(self, game: Game, format: Format, device: torch.device) -> None:
        self.game = game
        self.device = device
        self.constants = {"TRACKS": format.tracks}
        self.hooks = vars(game.kernels)
        self.rules = self._array(torch.from_numpy(format.parameters).to(device), "<i8")
        self._arrays: dict[Any, Any] = {}
        self._streams: dict[int, Any] = {}
        self._nothing = torch.zeros(1, dtype=torch.int64, device=device)

    # Each of the following does to all games what the kernel of the same name does to one.

    def begin_all(self, store: Store, starts: torch.Tensor, pools: Pools, seed: int) -> None:
        self._run("begin_all", store, starts, *pools, np.uint64(seed))

    def begin_from(self, store: Store, starts: torch.Tensor, seed: int) -> None:
        self._run("begin_from", store, starts, np.uint64(seed))

    def note_all(self, store: Store, results: Results) -> None:
        self._run("note_all", store, *results)

    def sample_all(self, store: Store, seed: int, actions: torch.Tensor) -> None:
        self._run("sample_all", store, np.uint64(seed), self._view(actions, "<i2"))

    def choose_all(self, store: Store, seed: int, legal: torch.Tensor, log_policy: torch.Tensor,
                   actions: torch.Tensor) -> None:  # fmt: skip
        self._run("choose_all", store, np.uint64(seed), self._view(legal, "<i2"), log_policy,
                  self._view(actions, "<i2"))  # fmt: skip

    def check_all(self, store: Store, actions: torch.Tensor, faults: torch.Tensor) -> None:
        self._run("check_all", store, self._view(actions, "<i2"), faults)

    def step_all(self, store: Store, actions: torch.Tensor, seed: int, results: Results, faults: torch.Tensor,
                 restarts: bool, starts: torch.Tensor, pools: Pools, stride: int) -> None:  # fmt: skip
        self._run("step_all", store, self._view(actions, "<i2"), np.uint64(seed), *results, faults, restarts, starts,
                  *pools, np.uint64(stride))  # fmt: skip

    def play_random(self, store: Store, plies: int, seed: int, results: Results, starts: torch.Tensor,
                    pools: Pools, stride: int, counts: torch.Tensor) -> None:  # fmt: skip
        self._run("play_random", store, plies, np.uint64(seed), *results, starts, *pools, np.uint64(stride), counts)

    def mask_all(self, store: Store, mask: torch.Tensor) -> None:
        mask.zero_()
        self._run("mask_all", store, mask, by_warp=True)

    def list_all(self, store: Store, actions: torch.Tensor, counts: torch.Tensor) -> None:
        self._run("list_all", store, self._view(actions, "<i2"), counts, by_warp=True)

    def conceal_all(self, store: Store, viewer: int) -> None:
        self._run("conceal_all", store, viewer)

    def count_hidden(self, store: Store, viewer: int, counts: torch.Tensor) -> None:
        self._run("count_hidden", store, viewer, counts)

    def tell_hidden(self, store: Store, viewer: int, values: torch.Tensor) -> None:
        self._run("tell_hidden", store, viewer, values)

    def settle_all(self, store: Store, seed: int) -> None:
        self._run("settle_all", store, np.uint64(seed))

    def assign_all(self, store: Store, viewer: int, values: torch.Tensor, faults: torch.Tensor) -> None:
        self._run("assign_all", store, viewer, values, faults)

    def observe_all(
        self, store: Store, observation: Observation, viewer: int, out: torch.Tensor, by_square: bool
    ) -> None:
        squares = self.game.board[0] * self.game.board[1]
        channels = observation.channels(self.game)
        brief = out.dtype == torch.bfloat16
        # Runs of squares are written as one number, of up to 64 bits (32 where squares have rows).
        longest = (4 if brief else 2) // (2 if by_square else 1)
        run = next(run for run in (4, 2, 1) if run <= longest and squares % run == 0)
        columns = squares // run
        threads = OBSERVE_THREADS if by_square else max(WARP, columns * max(1, OBSERVE_THREADS // columns))
        kernel = self._kernel(
            "observe_all",
            {"mark": observation.mark, "set_levels": observation.levels},
            OUT_SQUARES=squares,
            OUT_CHANNELS=channels,
            OUT_NUMBERS=4 * channels,
            # An odd number of words keeps neighbouring squares in different banks of shared memory.
            OUT_WORDS=-(-channels // CHANNELS_PER_WORD) | 1,
            OUT_BY_SQUARE=by_square,
            OUT_BFLOAT16=brief,
            OUT_RUN=run,
            OUT_BITS=np.uint64(16 if brief else 32),
        )
        kind = f"<u{out.element_size() * run}"
        array = self._array(out, kind, (len(out), channels * columns))
        with progress(kernel, self.game.name):
            kernel[len(out), threads, self._stream()](*self._record_arrays(store), self.rules, viewer, array)

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _run(self, name: str, store: Store, *arguments: Any, by_warp: bool = False) -> None:
        kernel = self._kernel(name, {})
        rows = len(store.words)
        threads = WARP_THREADS if by_warp else THREADS
        blocks = -(-rows * (WARP if by_warp else 1) // threads)
        given = [self._view(each) if isinstance(each, torch.Tensor) else each for each in arguments]
        with progress(kernel, self.game.name):
            kernel[blocks, threads, self._stream()](*self._record_arrays(store), self.rules, *given)

    def _kernel(self, name: str, hooks: dict[str, Callable[..., Any]], **constants: Any) -> Any:
        return _kernel(name, tuple((self.hooks | hooks).items()), tuple((self.constants | constants).items()))

    def _record_arrays(self, store: Store) -> tuple[Any, Any, Any]:
        return self._view(store.words), self._view(store.halves), self._view(store.bytes)

    def _view(self, tensor: torch.Tensor, kind: str | None = None) -> Any:
        """Return the tensor as an array of numba's; made once for each piece of memory."""
        key = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, kind)
        if key not in self._arrays:
            if len(self._arrays) > 1000:
                self._arrays.clear()
            self._arrays[key] = self._array(tensor, kind or _TYPES[tensor.dtype])
        return self._arrays[key]

    def _array(self, tensor: torch.Tensor, kind: str, shape: tuple[int, ...] | None = None) -> Any:
        size = tensor.element_size()
        strides = None if tensor.is_contiguous() else tuple(step * size for step in tensor.stride())
        source = tensor if tensor.numel() else self._nothing
        interface = _Interface(source, kind, tuple(tensor.shape) if shape is None else shape, strides)
        return cuda().as_cuda_array(interface, sync=False)

    def _stream(self) -> Any:
        handle = torch.cuda.current_stream(self.device).cuda_stream
        if handle not in self._streams:
            self._streams[handle] = cuda().external_stream(handle)
        return self._streams[handle]
