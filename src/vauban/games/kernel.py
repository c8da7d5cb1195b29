"""Kernels: plain Python functions over integers and arrays, compiled later for one machine or another.

A function marked with `@kernel` uses nothing but numbers, arrays, other kernels and the primitives
below; `vauban.sim.compile` compiles it, and all that it calls, for the CPU or for CUDA. It does not
run before that: unsigned 64-bit arithmetic is what a compiler makes of it, not what Python would.

A *record* is handed to kernels as a `Record`: the words, halves and bytes of one game, and the
numbers that describe its rules. A set of squares is a pair of 64-bit words, (low, high).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

ZERO = np.uint64(0)
ONE = np.uint64(1)
MAX_SQUARES = 126


class Record(NamedTuple):
    """One game as its kernels see it."""

    words: Any
    """uint64: sets of squares, counters."""
    halves: Any
    """uint16: moves, sets of types."""
    bytes: Any
    """uint8: everything small."""
    rules: Any
    """int64: the game's parameters, the same for all games of a batch."""


def kernel(function: F) -> F:
    """Mark a plain function as one to be compiled for every target."""
    function.__kernel__ = True  # type: ignore[attr-defined]
    return function


def primitive(function: F) -> F:
    """Mark a function whose body every target supplies in its own way."""
    function.__primitive__ = True  # type: ignore[attr-defined]
    return function


def hook(function: F) -> F:
    """Mark a function that stands for one of a game's kernels; it is put in when a batch is compiled."""
    function.__hook__ = True  # type: ignore[attr-defined]
    return function


@primitive
def popcount(word):
    """Count the bits of a 64-bit word that are set."""
    raise NotImplementedError


@primitive
def lowest(word):
    """Return the index of the lowest set bit of a word that is not zero."""
    raise NotImplementedError


@primitive
def add_code(codes, square, word, value):
    """`codes[square, word] |= value`, also where several threads write one observation."""
    raise NotImplementedError


@primitive
def float_bits(number):
    """Return the 32 bits of a float32, as an integer."""
    raise NotImplementedError


@primitive
def clock():
    """Return seconds on a clock that never goes back; on the CPU only, for what may think as long as it was given."""
    raise NotImplementedError


@kernel
def copy_numbers(source, target):
    """Copy an array of one dimension to another; `target[:] = source` would make a third in between."""
    for index in range(len(source)):
        target[index] = source[index]


@kernel
def copy_record(source, target):
    """Make one record equal to another of the same shape."""
    copy_numbers(source.words, target.words)
    copy_numbers(source.halves, target.halves)
    copy_numbers(source.bytes, target.bytes)


@kernel
def single(square):
    """Return the set that holds one square."""
    if square < 64:
        return ONE << np.uint64(square), ZERO
    return ZERO, ONE << np.uint64(square - 64)


@kernel
def holds(low, high, square):
    """Return whether the square is in the set."""
    word = low if square < 64 else high
    return (word >> np.uint64(square & 63)) & ONE != ZERO


@kernel
def size(low, high):
    """Count the squares in the set."""
    return popcount(low) + popcount(high)


@kernel
def select(word, index):
    """Return the position of the set bit with `index` set bits below it."""
    position = 0
    width = 32
    while width > 0:
        below = popcount(word & ((ONE << np.uint64(width)) - ONE))
        if index >= below:
            index -= below
            word = word >> np.uint64(width)
            position += width
        width >>= 1
    return position
