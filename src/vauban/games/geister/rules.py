"""Moves, captures, escapes and ends of the game (docs/geister.md), as kernels.

Directions are north, east, west, south = 0, 1, 2, 3 in the view of the player who moves; north is towards the
opponent. An action is 4 · square + direction, the square in that view too.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import DRAW, END, NOBODY, PLAYER, PLIES, STEP, WINNER
from vauban.games.geister.layout import (
    ABSENT,
    BOTTOM,
    CAPTURED_EVIL,
    CAPTURED_GOOD,
    ESCAPED,
    EVIL,
    EVIL_GHOSTS,
    FLED,
    FORCED,
    FORWARD,
    GHOSTS,
    HISTORY,
    LEFT,
    MOST_GHOSTS,
    MOVE_CAPTURED,
    MOVE_TARGET,
    MOVED,
    OFFERED,
    PIECES,
    PLACE,
    PROVEN,
    RIGHT,
    SECOND_WINS,
    SQUARES,
    START,
    STOOD,
    TOP,
    TOTAL_LIMIT,
    WIDTH,
)
from vauban.games.kernel import ONE, ZERO, kernel, popcount, select
from vauban.games.randomness import START as FOR_START
from vauban.games.randomness import below
from vauban.games.small import finish

END_ESCAPE, END_GOOD_CAPTURED, END_EVIL_CAPTURED, END_TOTAL = 1, 2, 3, 4
NORTH, EAST, WEST, SOUTH = 0, 1, 2, 3
TRACKS = True
"""Whether behaviour and the latest moves are kept, which observations need; set when the rules are compiled."""


# ── Moves ────────────────────────────────────────────────────────────────────────────────────────
# Kernels that are called at every ply take numbers rather than the record, which costs more to hand on than they take.


@kernel
def turned(squares, player, square):
    """Return a square of the board in a player's view, or back."""
    return square if player == 0 else squares - 1 - square


@kernel
def exit_squares(squares, width, player):
    """Return the player's two exits, in its view the far left corner and the far right one."""
    left = turned(squares, player, 0)
    right = turned(squares, player, width - 1)
    return ONE << np.uint64(left), ONE << np.uint64(right)


@kernel
def leavers(game, player):
    """Return the squares of good ghosts of the player that can leave the board: by the left exit, by the right one."""
    rules = game.rules
    good = game.words[PIECES + player] & ~game.words[EVIL + player]
    left, right = exit_squares(rules[SQUARES], rules[WIDTH], player)
    return good & left, good & right


@kernel
def legal_sources(game):
    """Return by direction the squares from which the player on turn may move: four sets."""
    rules = game.rules
    player = np.int64(game.bytes[PLAYER])
    own = game.words[PIECES + player]
    left, right = leavers(game, player)
    if rules[FORCED] and left | right:
        return left | right, right, left, ZERO
    width = np.uint64(rules[WIDTH])
    up = own & ~np.uint64(rules[TOP]) & ~(own << width)
    down = own & ~np.uint64(rules[BOTTOM]) & ~(own >> width)
    rightwards = own & ~np.uint64(rules[RIGHT]) & ~(own >> ONE)
    leftwards = own & ~np.uint64(rules[LEFT]) & ~(own << ONE)
    if player == 0:
        return up | left | right, rightwards | right, leftwards | left, down
    return down | left | right, leftwards | right, rightwards | left, up


@kernel
def legal_count(game):
    """Count the legal moves of the player on turn."""
    if game.bytes[END] != 0:
        return 0
    north, east, west, south = legal_sources(game)
    return popcount(north) + popcount(east) + popcount(west) + popcount(south)


@kernel
def legal_action(game, index):
    """Return the legal move with this index: by direction, then by square."""
    north, east, west, south = legal_sources(game)
    found, direction = north, NORTH
    count = popcount(found)
    if index >= count:
        index -= count
        found, direction = east, EAST
        count = popcount(found)
        if index >= count:
            index -= count
            found, direction = west, WEST
            count = popcount(found)
            if index >= count:
                index -= count
                found, direction = south, SOUTH
    return 4 * turned(game.rules[SQUARES], game.bytes[PLAYER], select(found, index)) + direction


@kernel
def is_legal(game, action):
    """Return whether the player on turn may make this move."""
    squares = game.rules[SQUARES]
    if game.bytes[END] != 0 or action < 0 or action >= 4 * squares:
        return False
    north, east, west, south = legal_sources(game)
    direction = action & 3
    found = north
    if direction == EAST:
        found = east
    elif direction == WEST:
        found = west
    elif direction == SOUTH:
        found = south
    return (found >> np.uint64(turned(squares, game.bytes[PLAYER], action >> 2))) & ONE != ZERO


@kernel
def ghost_at(game, player, square):
    """Return the number of the player's ghost on a square; `MOST_GHOSTS` if it has none there."""
    for ghost in range(MOST_GHOSTS):
        if game.bytes[PLACE + MOST_GHOSTS * player + ghost] == square:
            return ghost
    return MOST_GHOSTS


@kernel
def around(squares, width, top, bottom, left, right):
    """Return the squares next to those of a set; the other numbers are of the board."""
    return (
        ((squares & ~top) >> width)
        | ((squares & ~bottom) << width)
        | ((squares & ~left) >> ONE)
        | ((squares & ~right) << ONE)
    )


# ── Playing ──────────────────────────────────────────────────────────────────────────────────────


@kernel
def begin(game, start):
    """Place both players' ghosts; a start is a number for each ghost, 1 for an evil one."""
    words, bytes_, rules = game.words, game.bytes, game.rules
    for byte in range(bytes_.shape[0]):
        bytes_[byte] = 0
    for half in range(game.halves.shape[0]):
        game.halves[half] = 0
    bytes_[WINNER] = NOBODY
    words[PLIES] = ZERO
    ghosts = rules[GHOSTS]
    for player in range(2):
        words[PIECES + player] = ZERO
        words[EVIL + player] = ZERO
        for ghost in range(MOST_GHOSTS):
            if ghost >= ghosts:
                bytes_[PLACE + MOST_GHOSTS * player + ghost] = ABSENT
                continue
            square = turned(rules[SQUARES], player, rules[START + ghost])
            bytes_[PLACE + MOST_GHOSTS * player + ghost] = square
            words[PIECES + player] |= ONE << np.uint64(square)
            if start[ghosts * player + ghost] != 0:
                words[EVIL + player] |= ONE << np.uint64(square)


@kernel
def play(game, action):
    """Move a ghost, capture what is there, pass the turn on, and judge."""
    words, bytes_, rules = game.words, game.bytes, game.rules
    player = np.int64(bytes_[PLAYER])
    other = 1 - player
    direction = action & 3
    source = turned(rules[SQUARES], player, action >> 2)
    here = ONE << np.uint64(source)
    ghost = 0
    while bytes_[PLACE + MOST_GHOSTS * player + ghost] != source:
        ghost += 1
    evil = words[EVIL + player] & here != ZERO
    left, right = exit_squares(rules[SQUARES], rules[WIDTH], player)
    escapes = not evil and (
        (here == left and direction in (NORTH, WEST)) or (here == right and direction in (NORTH, EAST))
    )
    target = source
    captured = MOST_GHOSTS
    words[PLIES] += ONE
    bytes_[PLAYER] = other
    bytes_[STEP] = 0
    if rules[FORCED] and words[PIECES + player] & (left | right) and not escapes:
        prove(game, player, words[PIECES + player] & (left | right))
    words[PIECES + player] &= ~here
    words[EVIL + player] &= ~here
    if escapes:
        bytes_[PLACE + MOST_GHOSTS * player + ghost] = ESCAPED
        finish(game, END_ESCAPE, player)
    else:
        heading = direction if player == 0 else 3 - direction
        if heading == NORTH:
            target = source - rules[WIDTH]
        elif heading == SOUTH:
            target = source + rules[WIDTH]
        else:
            target = source + 1 if heading == EAST else source - 1
        there = ONE << np.uint64(target)
        words[PIECES + player] |= there
        if evil:
            words[EVIL + player] |= there
        bytes_[PLACE + MOST_GHOSTS * player + ghost] = target
        if words[PIECES + other] & there:
            captured = capture(game, other, target)
    if TRACKS:
        track(game, player, ghost, source, target, captured, direction == NORTH)
    if bytes_[END] == 0 and words[PLIES] >= np.uint64(rules[TOTAL_LIMIT]):
        finish(game, END_TOTAL, 1 if rules[SECOND_WINS] else DRAW)


@kernel
def prove(game, player, waiting):
    """Remember that the player's ghosts on these squares, its exits, are evil: good ones would have had to leave."""
    for ghost in range(MOST_GHOSTS):
        square = np.int64(game.bytes[PLACE + MOST_GHOSTS * player + ghost])
        if square < CAPTURED_GOOD and (waiting >> np.uint64(square)) & ONE:
            game.bytes[PROVEN + player] |= 1 << ghost


@kernel
def capture(game, owner, square):
    """Take a ghost off the board, and judge; return which it was."""
    words = game.words
    ghost = ghost_at(game, owner, square)
    there = ONE << np.uint64(square)
    evil = words[EVIL + owner] & there != ZERO
    words[PIECES + owner] &= ~there
    words[EVIL + owner] &= ~there
    game.bytes[PLACE + MOST_GHOSTS * owner + ghost] = CAPTURED_EVIL if evil else CAPTURED_GOOD
    if evil and words[EVIL + owner] == ZERO:
        finish(game, END_EVIL_CAPTURED, owner)
    elif not evil and words[PIECES + owner] & ~words[EVIL + owner] == ZERO:
        finish(game, END_GOOD_CAPTURED, 1 - owner)
    return ghost


@kernel
def utility(game):
    """Return what the ended game is worth to the first player."""
    winner = game.bytes[WINNER]
    return np.float32(winner == 0) - np.float32(winner == 1)


# ── Behaviour, for observations ──────────────────────────────────────────────────────────────────


@kernel
def track(game, player, ghost, source, target, captured, forward):
    """Remember a move, and how the player's ghosts behaved towards enemies beside them."""
    words, bytes_, rules = game.words, game.bytes, game.rules
    slot = np.int64(words[PLIES] - ONE) % HISTORY
    told = (captured + 1) % (MOST_GHOSTS + 1)
    game.halves[slot] = source | (target << MOVE_TARGET) | (told << MOVE_CAPTURED)
    enemies = words[PIECES + 1 - player]
    near = around(
        enemies, np.uint64(rules[WIDTH]), np.uint64(rules[TOP]), np.uint64(rules[BOTTOM]), np.uint64(rules[LEFT]),
        np.uint64(rules[RIGHT]),
    )  # fmt: skip
    first = MOST_GHOSTS * player
    bytes_[MOVED + first + ghost] += bytes_[MOVED + first + ghost] < 255
    if forward:
        bytes_[FORWARD + first + ghost] += bytes_[FORWARD + first + ghost] < 255
    if (near >> np.uint64(target)) & ONE:
        bytes_[OFFERED + first + ghost] += bytes_[OFFERED + first + ghost] < 255
    elif captured == MOST_GHOSTS and (near >> np.uint64(source)) & ONE:
        bytes_[FLED + first + ghost] += bytes_[FLED + first + ghost] < 255
    if near & words[PIECES + player]:
        for other in range(MOST_GHOSTS):
            square = np.uint64(bytes_[PLACE + first + other])
            if other != ghost and square < CAPTURED_GOOD and (near >> square) & ONE:
                bytes_[STOOD + first + other] += bytes_[STOOD + first + other] < 255


# ── Starts ───────────────────────────────────────────────────────────────────────────────────────


@kernel
def place_setup(start, rules, player, setup):
    """Write one player's colours into a start."""
    ghosts = rules[GHOSTS]
    for ghost in range(ghosts):
        start[ghosts * player + ghost] = setup[ghost]


@kernel
def draw_start(start, rules, seed, number, attempt):
    """Draw the evil ghosts of both players, every choice as likely as the others."""
    ghosts = rules[GHOSTS]
    for player in range(2):
        left = rules[EVIL_GHOSTS]
        for ghost in range(ghosts):
            pick = below(ghosts - ghost, seed, number, attempt, 0, FOR_START, MOST_GHOSTS * player + ghost)
            start[ghosts * player + ghost] = 1 if pick < left else 0
            left -= 1 if pick < left else 0
