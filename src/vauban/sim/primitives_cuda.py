"""Primitives of kernels on CUDA."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np
from numba import cuda


@cuda.jit(device=True, inline=True)
def popcount(word):
    return cuda.popc(word)


@cuda.jit(device=True, inline=True)
def lowest(word):
    return cuda.ffs(word) - 1


@cuda.jit(device=True, inline=True)
def add_code(codes, square, word, value):
    cuda.atomic.or_(codes, (square, word), value)


@cuda.jit(device=True, inline=True)
def float_bits(number):
    return np.uint32(cuda.libdevice.float_as_int(number))
