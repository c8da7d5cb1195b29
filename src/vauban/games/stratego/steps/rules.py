"""The rules of Stratego in steps around those of plain Stratego, as kernels: deployment, piece, target.

An action is a square in the frame of the player on turn. Those that can be chosen are kept as one set, `OPEN`, in every
phase: the empty squares of the own rows, the pieces that have a legal move, the targets of the chosen piece.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import END, PLAYER, STEP
from vauban.games.kernel import ONE, ZERO, holds, kernel, popcount, select, single, size
from vauban.games.stratego.layout import LEGAL, NONE, PIECES, SETUP_SQUARES, SQUARES
from vauban.games.stratego.repetition import is_scout
from vauban.games.stratego.rules import clear, judge, play_move, put_piece, put_pieces
from vauban.games.stratego.squares import shifted
from vauban.games.stratego.steps.layout import ARMY_ORDER, ARMY_SIZE, CHOSEN, DEPLOYING, OPEN, PIECE, TARGET


@kernel
def turned(game, player, square):
    """Return a square in the player's frame as an absolute one, or the other way round."""
    return square if player == 0 else game.rules[SQUARES] - 1 - square


# ── Deployment ───────────────────────────────────────────────────────────────────────────────────


@kernel
def army_size(game):
    """Return the number of pieces of an army."""
    return game.rules[game.rules[SQUARES] + ARMY_SIZE]


@kernel
def type_to_place(game, index):
    """Return the type of an army's piece, by its place in the order of the deployment."""
    return game.rules[game.rules[SQUARES] + ARMY_ORDER + index]


@kernel
def placed_by(game, player):
    """Count the pieces that a player has placed so far; only asked during the deployment."""
    placed, pieces = np.int64(game.bytes[STEP]) - DEPLOYING, army_size(game)
    return min(placed, pieces) if player == 0 else max(placed - pieces, 0)


@kernel
def setup_squares(game, player):
    """Return the squares on which a player sets up: the first ones of the board, or the last ones."""
    room = game.rules[SETUP_SQUARES]
    squares = (ONE << np.uint64(room)) - ONE
    if player == 0:
        return squares, ZERO
    first = game.rules[SQUARES] - room
    if first >= 64:
        return ZERO, squares << np.uint64(first - 64)
    return squares << np.uint64(first), squares >> np.uint64(64 - first)


@kernel
def place(game, player, square):
    """Place the next piece of the player's army; when both armies stand, the game begins."""
    placed = np.int64(game.bytes[STEP]) - DEPLOYING
    pieces = army_size(game)
    put_piece(game, player, square, type_to_place(game, placed - pieces * player))
    placed += 1
    if placed < 2 * pieces:
        game.bytes[PLAYER] = 1 if placed >= pieces else 0
        game.bytes[STEP] = DEPLOYING + placed
    else:
        game.bytes[PLAYER] = 0
        game.bytes[STEP] = PIECE
        judge(game, False)


# ── Choosing ─────────────────────────────────────────────────────────────────────────────────────


@kernel
def free_squares(game, player):
    """Return the empty squares on which a player sets up."""
    low, high = setup_squares(game, player)
    return low & ~game.words[PIECES + 2 * player], high & ~game.words[PIECES + 2 * player + 1]


@kernel
def pieces_to_move(game, player):
    """Return the squares of the player's pieces that have a legal move: go back from all targets at once."""
    words = game.words
    own_low, own_high = words[PIECES + 2 * player], words[PIECES + 2 * player + 1]
    found_low, found_high = ZERO, ZERO
    for direction in range(4):
        low, high = words[LEGAL + 2 * direction], words[LEGAL + 2 * direction + 1]
        while low | high:
            low, high = shifted(low, high, direction ^ 1, game.rules)
            found_low |= low & own_low
            found_high |= high & own_high
            low &= ~own_low
            high &= ~own_high
    return found_low, found_high


@kernel
def targets_of(game, source):
    """Return where the piece on a square may go: the legal targets that lie ahead of it, with nothing in between."""
    words = game.words
    scout = is_scout(game, source)
    found_low, found_high = ZERO, ZERO
    for direction in range(4):
        low, high = single(source)
        while low | high:
            low, high = shifted(low, high, direction, game.rules)
            found_low |= low & words[LEGAL + 2 * direction]
            found_high |= high & words[LEGAL + 2 * direction + 1]
            low &= ~(words[PIECES] | words[PIECES + 2])
            high &= ~(words[PIECES + 1] | words[PIECES + 3])
            if not scout:  # no other piece has targets further on
                break
    return found_low, found_high


@kernel
def open_squares(game):
    """Write down what the player on turn can choose; True if there is anything."""
    words = game.words
    step = np.int64(game.bytes[STEP])
    player = np.int64(game.bytes[PLAYER])
    low, high = ZERO, ZERO
    if game.bytes[END] == 0:
        if step >= DEPLOYING:
            low, high = free_squares(game, player)
        elif step == PIECE:
            low, high = pieces_to_move(game, player)
        else:
            low, high = targets_of(game, np.int64(words[CHOSEN]))
    words[OPEN] = low
    words[OPEN + 1] = high
    return low | high != ZERO


@kernel
def legal_count(game):
    """Count the squares that can be chosen."""
    return size(game.words[OPEN], game.words[OPEN + 1])


@kernel
def legal_action(game, index):
    """Return the square with this many lower ones that can be chosen, in the frame of the player on turn."""
    words = game.words
    player = np.int64(game.bytes[PLAYER])
    if player == 1:
        index = legal_count(game) - 1 - index
    below = popcount(words[OPEN])
    square = select(words[OPEN], index) if index < below else 64 + select(words[OPEN + 1], index - below)
    return turned(game, player, square)


@kernel
def is_legal(game, action):
    """Return whether the square can be chosen by the player on turn; any number may be asked about."""
    if action < 0 or action >= game.rules[SQUARES]:
        return False
    return holds(game.words[OPEN], game.words[OPEN + 1], turned(game, np.int64(game.bytes[PLAYER]), action))


# ── Beginning and playing ────────────────────────────────────────────────────────────────────────


@kernel
def begin(game, start):
    """Begin a game: from the setups of a start, as plain Stratego does, or from an empty one with the deployment."""
    clear(game)
    put_pieces(game, start)
    game.words[CHOSEN] = NONE
    if game.words[PIECES] | game.words[PIECES + 1]:
        judge(game, False)
    else:
        game.bytes[STEP] = DEPLOYING
    open_squares(game)


@kernel
def draw_start(start, rules, seed, number, attempt):
    """Leave the start empty: the players place their armies."""
    for square in range(rules[SQUARES]):
        start[square] = 0


@kernel
def play(game, action):
    """Place a piece, choose one, or move the chosen one."""
    player = np.int64(game.bytes[PLAYER])
    step = np.int64(game.bytes[STEP])
    square = turned(game, player, action)
    if step >= DEPLOYING:
        place(game, player, square)
    elif step == PIECE:
        choose_piece(game, square)
    else:
        source = np.int64(game.words[CHOSEN])
        game.words[CHOSEN] = NONE
        game.bytes[STEP] = PIECE
        play_move(game, source, square)
    open_squares(game)


@kernel
def choose_piece(game, square):
    """Choose the piece to move: the first step of a ply."""
    game.words[CHOSEN] = square
    game.bytes[STEP] = TARGET
