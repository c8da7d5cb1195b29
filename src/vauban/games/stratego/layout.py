"""The layout of a Stratego record, and of the numbers that describe its rules.

This is the one description of the record: kernels index with these constants, and
`docs/record.md` is printed from `fields`. Parts whose size depends on the board (S squares) or on
the history kept (H moves) come last, and their offsets follow from S and H.

A piece is known by its *identity*, the square on which it started: it never changes, and it is
public.
"""

from typing import NamedTuple

from vauban.games.stratego.switches import SWITCHES

# Words: sets of squares take two words each (low, high); sets by player take red's, then blue's.
# Words 0 and 1 and bytes 0 to 3 mean the same in every game (vauban.games.base).
PIECES = 2
MOVABLE = 6
SCOUTS = 10
HIDDEN = 14
MOVED = 16
LEGAL = 18
EVADERS = 26
THREATENED = 30
BATTLELESS = 34
LENGTH = 35
RECORDED = 37
QUIET = 38
WORDS = 39

# Bytes.
TRAIL = 4
TRAIL_LENGTH = 6
LAST = 16
CHASING = 20
EVADED = 22
HIDDEN_COUNT = 24
UNMOVED = 48
PREVIOUS = 50
PREVIOUS_OWN = 51
SHOWN = 52
BYTES = 53
NONE = 255
"""A byte that stands for no square, no piece or no type."""
DEAD = 128
"""Added to a piece's place when it has been removed there."""

UNKNOWN = 15
"""The type of a concealed piece: no Scout, and nothing that can move, until it is assigned one."""
OWNER_BIT = 128
"""Added to a piece's type if it is blue's."""

# Halves: H moves, then seven sets of types for each identity (only when a record tracks).
SETS = 7
SET_THREATENED, SET_EVADED, SET_ADJACENT = 0, 1, 2
SET_PROTECTED, SET_PROTECTED_AGAINST, SET_PROTECTED_BY, SET_WAS_PROTECTED_AGAINST = 3, 4, 5, 6
TYPE_EMPTY, TYPE_HIDDEN = 13, 15
"""In sets of types: an empty square, a piece whose type is not known."""
BATTLE_FLAG = 1 << 14
"""Set in a recorded move (from + 128 · to) that was a battle."""

# Parameters of the rules.
ROWS, COLUMNS, SQUARES = 0, 1, 2
SWITCH = {name: 3 + index for index, name in enumerate(SWITCHES)}
"""By switch of the rules: the parameter that holds its number. Those that several modules read have names."""
TWO_SQUARE, COMPARE_TYPES = SWITCH["two_square"], SWITCH["chase_compare"]
BATTLELESS_LIMIT, TOTAL_LIMIT, EXCEEDED = SWITCH["battleless_limit"], SWITCH["total_limit"], SWITCH["limits"]
HISTORY = 3 + len(SWITCH)
SETUP_SQUARES = HISTORY + 1
PLAYABLE, NOT_FIRST, NOT_LAST = HISTORY + 2, HISTORY + 4, HISTORY + 6
ARMY = HISTORY + 8
ROW = ARMY + 12
"""By square: its row (a look-up costs less than a division)."""

NORTH, SOUTH, WEST, EAST = 0, 1, 2, 3


class Field(NamedTuple):
    """One entry of the record."""

    name: str
    unit: str
    offset: int
    length: int
    meaning: str


def fields(squares: int, history: int, tracks: bool) -> list[Field]:
    """Return the whole record, in order, for a board of so many squares."""
    table = [
        Field("number", "word", 0, 1, "the game's number: what its randomness depends on"),
        Field("plies", "word", 1, 1, "plies played"),
        Field("pieces", "word", PIECES, 4, "squares held by red, by blue"),
        Field("movable", "word", MOVABLE, 4, "of these, the movable pieces"),
        Field("scouts", "word", SCOUTS, 4, "of these, the Scouts"),
        Field("hidden", "word", HIDDEN, 2, "squares of pieces that have not been revealed"),
        Field("moved", "word", MOVED, 2, "squares of pieces that have moved"),
        Field("legal", "word", LEGAL, 8, "where a legal move may end, going north, south, west, east"),
        Field("evaders", "word", EVADERS, 4, "isf: pieces that ran from red's chase, from blue's"),
        Field("threatened", "word", THREATENED, 4, "isf: pieces that red's, blue's last move threatened"),
        Field("battleless", "word", BATTLELESS, 1, "plies since the last battle"),
        Field("length", "word", LENGTH, 2, "length of red's, of blue's chase in plies"),
        Field("recorded", "word", RECORDED, 1, "moves written into the history so far"),
        Field("quiet", "word", QUIET, 1, "of these, those since the last battle"),
        Field("moves", "half", 0, history, "the latest moves, a ring: from + 128 · to + 16384 if a battle"),
    ]
    if tracks:
        table.append(
            Field("sets", "half", history, SETS * squares, "by identity, seven sets of types: threatened, evaded, "
                  "adjacent, protected, protected against, protected by, was protected against")
        )  # fmt: skip
    table += [
        Field("player", "byte", 0, 1, "who is on turn: 0 red, 1 blue"),
        Field("end", "byte", 1, 1, "how the game ended; 0 while it goes on"),
        Field("winner", "byte", 2, 1, "0 red, 1 blue, 2 a draw, 255 while it goes on"),
        Field("step", "byte", 3, 1, "actions of this ply so far: always 0, a move is one action"),
        Field("trail", "byte", TRAIL, 12, "for red, for blue: squares of the piece moved last, newest first"),
        Field("last", "byte", LAST, 4, "red's last move (from, to), blue's"),
        Field("chasing", "byte", CHASING, 2, "isf: 1 if red, if blue has a chase"),
        Field("evaded", "byte", EVADED, 2, "isf: 1 if the answer to it was an evasion"),
        Field("hidden_count", "byte", HIDDEN_COUNT, 24, "hidden pieces of each type, red's, blue's"),
        Field("unmoved", "byte", UNMOVED, 2, "hidden pieces that have never moved, red's, blue's"),
        Field("previous", "byte", PREVIOUS, 1, "where the last move ended"),
        Field("previous_own", "byte", PREVIOUS_OWN, 1, "where the move before it ended"),
        Field("shown", "byte", SHOWN, 1, "type shown by the piece moved last; 255 if it died"),
        Field("identity", "byte", BYTES, squares, "by square: the identity of the piece there"),
        Field(
            "type", "byte", BYTES + squares, squares, "by identity: its type, + 16 · cause of death, + 128 if blue's"
        ),
        Field("place", "byte", BYTES + 2 * squares, squares, "by identity: its square, + 128 if it died there"),
        Field("movers", "byte", BYTES + 3 * squares, history, "the identities that made the moves of the ring"),
    ]
    return table
