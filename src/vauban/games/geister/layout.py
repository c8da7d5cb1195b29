"""The layout of a Geister record, and the numbers that its kernels read.

Squares are numbered row by row from the far left corner, as the first player sees the board: square
width · y + x, with y = 0 on the opponent's side. The second player's view is turned by half a circle, so that a
square s of the first player is squares − 1 − s there. A set of squares is one word.

Ghosts are numbered 0 to 7 (A to H) for each player, in the order of their start squares, for the whole game.
"""

from vauban.games.base import OWN, PLIES

# Words.
PIECES = PLIES + 1
"""Two sets of squares, by player: where its ghosts are."""
EVIL = PIECES + 2
"""Two more: where its evil ghosts are. Empty for a player whose colours are concealed."""
WORDS = EVIL + 2

# Bytes.
CONCEALED = OWN
"""0; in a view, 1 + the player whose colours are erased."""
PLACE = CONCEALED + 1
"""By player and ghost: its square, or what became of it (below)."""
MOST_GHOSTS = 8
CAPTURED_GOOD, CAPTURED_EVIL, ESCAPED, ABSENT = 64, 65, 66, 67
"""Fates of ghosts that are on no square; absent are those that a small board does without."""
PROVEN = PLACE + 2 * MOST_GHOSTS
"""By player: a bit for each ghost that must be evil, since it stayed on an exit where escapes are forced."""
BYTES = PROVEN + 2

# Behaviour, which only observations need: by player and ghost, counted up to 255.
MOVED = BYTES
"""Moves that it made."""
FORWARD = MOVED + 2 * MOST_GHOSTS
"""Of these: towards the opponent's side."""
OFFERED = FORWARD + 2 * MOST_GHOSTS
"""Of these: onto a square beside an enemy."""
FLED = OFFERED + 2 * MOST_GHOSTS
"""Of these: away from an enemy beside it, to where none is."""
STOOD = FLED + 2 * MOST_GHOSTS
"""Moves of another ghost that its player made while, after it, an enemy was beside this one."""
TRACKED_BYTES = STOOD + 2 * MOST_GHOSTS

# Halves: the latest moves, in a ring; move number k is in the half k mod HISTORY.
HISTORY = 8
"""Number of the latest moves that a record keeps for observations."""
MOVE_TARGET, MOVE_CAPTURED = 6, 12
"""A move is its source + its target · 2⁶ + (1 + the captured ghost) · 2¹²; an escape has its source as target."""

# Parameters.
WIDTH, SQUARES, GHOSTS, EVIL_GHOSTS, TOTAL_LIMIT, FORCED, SECOND_WINS = range(7)
TOP, BOTTOM, LEFT, RIGHT = range(7, 11)
"""Sets of squares: the first and last row, the first and last column."""
START = 11
"""By ghost: its start square in its owner's view."""
PARAMETERS = START + MOST_GHOSTS
