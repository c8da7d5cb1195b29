"""Setups: as text (docs/setups.md), as rows of numbers, at random, and what is wrong with one.

A setup's row has a number for each square of the owner's setup rows, the back row first and each
row from the owner's left: 0 for nothing, 1 + type for a piece. A start's row has one for each square of
the board: 0, 1 + type for red, 13 + type for blue.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import SetupError
from vauban.games.base import Setups
from vauban.games.stratego.pieces import FLAG, LETTERS, MOVABLE_TYPES, TYPES, type_of
from vauban.games.stratego.variants import Variant

Row = npt.NDArray[np.int8]


class StrategoSetups(Setups):
    """The setups of a variant."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.size = variant.setup_rows * variant.columns
        self.count = variant.setup_count
        # Published networks know the types, a lake, which is never placed, and a free square.
        self.kinds = (*range(1, len(TYPES) + 2), 0)
        self.counts = (*variant.army, 0, self.size - variant.pieces)
        places = np.arange(self.size)
        column = places % variant.columns
        self.mirror = places - column + variant.columns - 1 - column
        self.one_sided = np.zeros((self.size, len(self.kinds)), bool)
        self.one_sided[:, FLAG] = column < variant.columns // 2

    def can_begin(self, setups: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        v = self.variant
        codes = np.asarray(setups).reshape(-1, v.setup_rows, v.columns)
        movable = (codes > 0) & (codes <= MOVABLE_TYPES)
        front = range(v.setup_rows * v.columns, (v.setup_rows + 1) * v.columns)
        ahead = np.array([square not in v.lakes for square in front])
        free = np.concatenate([codes == 0, np.broadcast_to(ahead, (len(codes), 1, v.columns))], 1)
        moves = (
            movable & free[:, 1:],
            movable[:, 1:] & free[:, :-2],
            movable[:, :, 1:] & free[:, :-1, :-1],
            movable[:, :, :-1] & free[:, :-1, 1:],
        )
        return np.asarray(np.any([each.any((1, 2)) for each in moves], 0))

    def all(self) -> npt.NDArray[np.int8]:
        return distinct_orders(_codes(self.variant))

    def draw(self, rng: random.Random) -> Row:
        return random_setup(self.variant, rng)

    def check(self, setups: npt.NDArray[Any]) -> None:
        check_setups(setups, self.variant)

    def parse(self, text: str) -> Row:
        return parse_setup(text, self.variant)

    def text(self, setup: npt.NDArray[Any]) -> str:
        return setup_text(setup, self.variant)

    def starts(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
        pairs = zip(first, second, strict=True)
        return np.stack([start_from_setups(red, blue, self.variant) for red, blue in pairs])

    def of_starts(self, starts: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        red = starts[:, : self.size]
        blue = starts[:, ::-1][:, : self.size]
        return red.astype(np.int8), np.where(blue > 0, blue - len(TYPES), 0).astype(np.int8)


def parse_setup(text: str, variant: Variant, *, whole: bool = True) -> Row:
    """Return the setup behind a text such as "FLPJ" or "F........O/B........O/.S..N...../.G..M.....".

    Slashes may be left out. The message of an error says which piece is missing or too many; if not
    `whole`, any part of the army with the Flag will do.
    """
    rows = text.strip().split("/")
    width, depth = variant.columns, variant.setup_rows
    if len(rows) == 1 and len(rows[0]) == width * depth:
        rows = [rows[0][start : start + width] for start in range(0, width * depth, width)]
    if len(rows) != depth:
        raise SetupError(
            f"setup {text!r} has {len(rows)} rows, and {variant.name!r} has {depth} setup rows (back row first)"
        )
    setup = np.zeros(width * depth, np.int8)
    for number, row in enumerate(rows):
        if len(row) != width:
            raise SetupError(f"row {number + 1} of the setup, {row!r}, has {len(row)} squares instead of {width}")
        for column, letter in enumerate(row):
            kind = type_of(letter)
            if kind < 0 and letter != ".":
                raise SetupError(
                    f"{letter!r} in row {number + 1} of the setup ({row!r}, place {column + 1}) is no piece: "
                    f"the letters are {LETTERS}, and '.' for an empty square"
                )
            setup[number * width + column] = kind + 1
    check_army(setup, variant, whole=whole)
    return setup


def setup_text(setup: npt.ArrayLike, variant: Variant) -> str:
    """Return the inverse of `parse_setup`."""
    letters = "".join("." if code == 0 else LETTERS[code - 1] for code in np.asarray(setup))
    return "/".join(letters[start : start + variant.columns] for start in range(0, len(letters), variant.columns))


def check_army(setup: npt.ArrayLike, variant: Variant, *, whole: bool = True, whose: str = "setup") -> None:
    """Refuse a setup that has not the variant's army (or, if not `whole`, not a part of it with the Flag)."""
    codes = np.asarray(setup)
    if codes.size and (codes.min() < 0 or codes.max() > len(TYPES)):
        raise SetupError(
            f"{whose}: the numbers of a setup go from 0 to {len(TYPES)}, not {int(codes.min())} to {int(codes.max())}"
        )
    counts = np.bincount(codes, minlength=len(TYPES) + 1)[1:]
    faults = []
    for kind, (have, want) in enumerate(zip(counts, variant.army, strict=True)):
        if have > want:
            faults.append(
                f"{have} {TYPES[kind]}s, {have - want} too many" if want else f"{have} {TYPES[kind]}, not in this army"
            )
        elif have < want and (whole or kind == FLAG):
            faults.append(f"{want - have} {TYPES[kind]}{'s are' if want - have > 1 else ' is'} missing")
    if faults:
        raise SetupError(
            f"{whose} has {int(counts.sum())} pieces, and {variant.name!r} wants "
            f"{'' if whole else 'at most '}{variant.pieces} ({variant.army_text}): {'; '.join(faults)}"
        )


def check_setups(setups: npt.NDArray[np.generic], variant: Variant) -> None:
    """Refuse rows that are no setups of the variant, naming the first that is none."""
    for number, row in enumerate(setups):
        check_army(row, variant, whose=f"setup {number}")


def check_starts(starts: npt.NDArray[np.generic], variant: Variant) -> None:
    """Refuse rows that are no starts on the variant's board: free setups of a part of the army are allowed."""
    for number, row in enumerate(np.asarray(starts, np.int64)):
        if row.min() < 0 or row.max() > 2 * len(TYPES):
            raise SetupError(f"start {number}: the numbers of a start go from 0 to {2 * len(TYPES)}")
        for lake in variant.lakes:
            if row[lake]:
                raise SetupError(f"start {number}: a piece stands in the lake on {variant.square_name(lake)}")
        red = np.where(row <= len(TYPES), row, 0)
        blue = np.where(row > len(TYPES), row - len(TYPES), 0)
        check_army(red, variant, whole=False, whose=f"start {number}, red")
        check_army(blue, variant, whole=False, whose=f"start {number}, blue")


def start_from_setups(red: npt.ArrayLike, blue: npt.ArrayLike, variant: Variant) -> Row:
    """Return the start that two setups make."""
    start = np.zeros(variant.squares, np.int8)
    red_row, blue_row = np.asarray(red), np.asarray(blue)
    start[: len(red_row)] = red_row
    start[variant.squares - len(blue_row) :] = np.where(blue_row > 0, blue_row + len(TYPES), 0)[::-1]
    return start


def random_setup(variant: Variant, rng: random.Random) -> Row:
    """Return a setup drawn uniformly from all that the variant allows."""
    codes = _codes(variant)
    rng.shuffle(codes)
    return np.array(codes, np.int8)


def _codes(variant: Variant) -> list[int]:
    """Return the numbers of a setup, in ascending order of types, empty squares last."""
    codes = [1 + kind for kind, count in enumerate(variant.army) for _ in range(count)]
    return codes + [0] * (variant.setup_rows * variant.columns - len(codes))


def mirrored(setup: npt.ArrayLike, variant: Variant) -> Row:
    """Return the setup with left and right exchanged."""
    return np.asarray(setup, np.int8).reshape(variant.setup_rows, variant.columns)[:, ::-1].reshape(-1).copy()


def can_move_first(setup: npt.ArrayLike, variant: Variant) -> bool:
    """Return whether some piece of the setup can move at the start of a game, whatever the opponent sets up."""
    codes = np.asarray(setup)
    taken = {square for square, code in enumerate(codes) if code}
    for square in taken:
        if codes[square] - 1 >= MOVABLE_TYPES:
            continue
        for beside in neighbours(square, variant):
            if beside not in taken and beside not in variant.lakes:
                return True
    return False


def neighbours(square: int, variant: Variant) -> Iterable[int]:
    """Yield the squares next to a square, lakes included."""
    row, column = divmod(square, variant.columns)
    if row + 1 < variant.rows:
        yield square + variant.columns
    if row > 0:
        yield square - variant.columns
    if column > 0:
        yield square - 1
    if column + 1 < variant.columns:
        yield square + 1


def distinct_orders(codes: list[int]) -> npt.NDArray[np.int8]:
    """Return all different orders of some numbers, in ascending order."""
    row = sorted(codes)
    orders = [row.copy()]
    while True:
        # The next greater order: raise the last number that can be raised, and put what follows it in order.
        at = next((place for place in range(len(row) - 2, -1, -1) if row[place] < row[place + 1]), None)
        if at is None:
            return np.array(orders, np.int8)
        by = next(place for place in range(len(row) - 1, at, -1) if row[place] > row[at])
        row[at], row[by] = row[by], row[at]
        row[at + 1 :] = reversed(row[at + 1 :])
        orders.append(row.copy())
