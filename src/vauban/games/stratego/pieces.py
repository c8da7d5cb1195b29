"""The twelve kinds of pieces: numbers, names, letters, and who beats whom (docs/rules.md).

A type's number is its place in `TYPES`: Spy 0 … Marshal 9, Flag 10, Bomb 11, so that among the
movable pieces the larger number is the stronger one.
"""

from __future__ import annotations

from enum import IntEnum

TYPES = (
    "Spy", "Scout", "Miner", "Sergeant", "Lieutenant", "Captain",
    "Major", "Colonel", "General", "Marshal", "Flag", "Bomb",
)  # fmt: skip
LETTERS = "SONTLPJCGMFB"
"""One letter for each type; capitals are red, small letters blue."""
HIDDEN_LETTER = "U"


class PieceType(IntEnum):
    """A type, for people: a number that prints as its name."""

    SPY = 0
    SCOUT = 1
    MINER = 2
    SERGEANT = 3
    LIEUTENANT = 4
    CAPTAIN = 5
    MAJOR = 6
    COLONEL = 7
    GENERAL = 8
    MARSHAL = 9
    FLAG = 10
    BOMB = 11

    def __str__(self) -> str:
        return TYPES[self]

    __repr__ = __str__

    def __format__(self, form: str) -> str:
        return format(str(self), form)


PIECE_TYPES = tuple(PieceType)
"""The types by number."""

SPY, SCOUT, MINER, COLONEL, GENERAL, MARSHAL, FLAG, BOMB = 0, 1, 2, 7, 8, 9, 10, 11
MOVABLE_TYPES = 10
"""Types below this number can move."""

RANKS = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "F", "B")
"""The label of a piece."""

WORTH = (3.0, 1.5, 3.0, 2.0, 3.0, 4.0, 5.0, 7.0, 9.0, 11.0, 25.0, 2.5)
"""Rough worth of each type of piece, for agents that weigh pieces without having learnt to."""

PLAYERS = ("red", "blue")


def type_of(letter: str) -> int:
    """Return the type's number, from its letter in either case; −1 if it is no piece's letter."""
    return LETTERS.find(letter.upper()) if len(letter) == 1 else -1
