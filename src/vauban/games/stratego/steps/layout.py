"""The layout of a record of Stratego in steps: that of plain Stratego, and what follows here.

The byte `STEP` tells the phase: 0 where a piece is chosen, 1 where its target is; in the deployment, which is all of
ply 0 that comes before the first move, it is `DEPLOYING` + the number of pieces that stand. So no two actions of a game
throw the same dice.
"""

from vauban.games.stratego import layout
from vauban.games.stratego.layout import Field
from vauban.games.stratego.pieces import BOMB, FLAG, MOVABLE_TYPES, TYPES
from vauban.games.stratego.variants import Variant

PIECE, TARGET, DEPLOYING = 0, 1, 2
"""Values of the byte `STEP`; the last one and all above it are the deployment."""

# Words, behind those of plain Stratego.
OPEN = layout.WORDS
CHOSEN = OPEN + 2
WORDS = CHOSEN + 1

NOTHING = len(TYPES)
"""In place of a type, what is hidden on a setup square on which nothing has been placed."""

ORDER = (FLAG, BOMB, *reversed(range(MOVABLE_TYPES)))
"""The types in the order in which an army is placed: Flag, Bombs, Marshal, General, …, Scouts, Spy."""

# Parameters behind those of plain Stratego, which end with a number for each square.
ARMY_SIZE, ARMY_ORDER = layout.ROW, layout.ROW + 1
"""To be added to the number of squares: the number of pieces of an army, and the types in their order."""


def placed_types(variant: Variant) -> list[int]:
    """Return the type of every piece of an army, in the order in which they are placed."""
    return [kind for kind in ORDER for _ in range(variant.army[kind])]


def fields(squares: int, history: int, tracks: bool) -> list[Field]:
    """Return the whole record, in order, for a board of so many squares."""
    table = [each for each in layout.fields(squares, history, tracks) if each.name != "step"]
    more = [
        Field("open", "word", OPEN, 2, "squares that the player on turn can choose now"),
        Field("chosen", "word", CHOSEN, 1, "the square of the piece whose target is chosen now; 255 if none is"),
        Field("step", "byte", 3, 1, "0 a piece is chosen, 1 its target; 2 + pieces placed during the deployment"),
    ]
    units = ("word", "half", "byte")
    return sorted([*table, *more], key=lambda each: (units.index(each.unit), each.offset))
