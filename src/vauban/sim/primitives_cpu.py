"""Primitives of kernels on the CPU."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import time
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def popcount(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@njit(inline="always")
def add_code(codes, square, word, value):
    codes[square, word] |= value


@intrinsic  # type: ignore[untyped-decorator]
def float_bits(context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.uint32(types.float32), generate


_read_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uintp))
_MONOTONIC = time.CLOCK_MONOTONIC


@njit(nogil=True)
def clock():
    instant = np.zeros(2, np.int64)
    _read_clock(_MONOTONIC, instant.ctypes.data)
    return instant[0] + 1e-9 * instant[1]
