"""The rules that bar moves: two squares, and two readings of the chase rule (docs/rules.md); as kernels."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.kernel import ONE, ZERO, holds, kernel, lowest, single, size
from vauban.games.stratego.layout import (
    BYTES,
    CHASING,
    COLUMNS,
    COMPARE_TYPES,
    EAST,
    EVADED,
    EVADERS,
    HISTORY,
    LAST,
    LEGAL,
    LENGTH,
    NONE,
    NORTH,
    PIECES,
    QUIET,
    RECORDED,
    SCOUTS,
    SOUTH,
    SQUARES,
    SWITCH,
    THREATENED,
    TRAIL,
    TRAIL_LENGTH,
    TWO_SQUARE,
    WEST,
)
from vauban.games.stratego.squares import around, beside, direction_of, origin, shifted
from vauban.games.stratego.switches import CHASE_ATARAXOS, CHASE_ISF, CHASE_OFF

CHASE = SWITCH["chase"]
ALL_RULES = -1


@kernel
def bar(game, player, rule):
    """Take out of the legal moves those that a switch bars, by its place in `layout.SWITCH`; True if any was there.

    ALL_RULES: those that any switch bars.
    """
    every = rule == ALL_RULES
    barred = False
    if every or rule == TWO_SQUARE:
        barred |= bar_two_square(game, player)
    if every or rule == CHASE:
        barred |= bar_chase(game, player)
    return barred


# ── Two squares ──────────────────────────────────────────────────────────────────────────────────


@kernel
def extend_trail(game, player, source, target):
    """Keep the squares of the piece that the player moves, as long as it is the same one."""
    bytes_ = game.bytes
    trail = TRAIL + TRAIL_LENGTH * player
    if bytes_[trail] == source:
        for step in range(TRAIL_LENGTH - 1, 0, -1):
            bytes_[trail + step] = bytes_[trail + step - 1]
    else:
        bytes_[trail + 1] = source
        for step in range(2, TRAIL_LENGTH):
            bytes_[trail + step] = NONE
    bytes_[trail] = target


@kernel
def clear_trail(game, player, square):
    """Forget the trail of a piece that dies on this square."""
    trail = TRAIL + TRAIL_LENGTH * player
    if game.bytes[trail] == square:
        for step in range(TRAIL_LENGTH):
            game.bytes[trail + step] = NONE


@kernel
def bar_two_square(game, player):
    """Take out of the legal moves those that cross a border once too often; True if any was there.

    All moves of the trail lie on one line when they share a border, and along a line the numbers
    of the squares order them: so the borders that every move crossed are those between two numbers.
    """
    turns = game.rules[TWO_SQUARE]
    trail = TRAIL + TRAIL_LENGTH * player
    if turns == 0 or game.bytes[trail + turns] == NONE:
        return False
    columns = game.rules[COLUMNS]
    here = np.int64(game.bytes[trail])
    newer = here
    lower = np.int64(0)
    upper = np.int64(NONE)
    horizontal = abs(here - np.int64(game.bytes[trail + 1])) < columns
    for step in range(1, turns + 1):
        older = np.int64(game.bytes[trail + step])
        if (abs(newer - older) < columns) != horizontal:
            return False
        lower = max(lower, min(newer, older))
        upper = min(upper, max(newer, older))
        newer = older
    if lower >= upper:
        return False
    step = np.int64(1) if horizontal else columns
    # The last move crossed all common borders, so the piece stands at one side of them.
    if here >= upper:
        step = -step
        direction = WEST if horizontal else SOUTH
        first = upper + step
    else:
        direction = EAST if horizontal else NORTH
        first = lower + step
    return bar_ray(game, here, step, direction, first)


@kernel
def bar_ray(game, here, step, direction, first):
    """Take out the moves of the piece on `here` that go at least as far as `first`; True if any was there."""
    words = game.words
    row = LEGAL + 2 * direction
    scout = is_scout(game, here)
    barred = False
    reached = False
    square = here
    low, high = single(here)
    while True:
        low, high = shifted(low, high, direction, game.rules)
        square += step
        if (low & words[row]) | (high & words[row + 1]) == ZERO:
            return barred
        reached |= square == first
        if reached:
            words[row] &= ~low
            words[row + 1] &= ~high
            barred = True
        taken = (low & (words[PIECES] | words[PIECES + 2])) | (high & (words[PIECES + 1] | words[PIECES + 3]))
        if taken or not scout:
            return barred


@kernel
def is_scout(game, square):
    """Return whether a Scout stands on the square."""
    words = game.words
    return holds(words[SCOUTS] | words[SCOUTS + 2], words[SCOUTS + 1] | words[SCOUTS + 3], square)


# ── Chases ───────────────────────────────────────────────────────────────────────────────────────


@kernel
def update_chase(game, player, source, target, near_low, near_high, fought):
    """Count both chases after a move, as the published simulator does; `near` is what lies next to the target."""
    words = game.words
    bytes_ = game.bytes
    other = 1 - player
    last = np.int64(bytes_[LAST + 2 * other + 1])
    evaded = False
    if last != NONE:
        low, high = around(last, game.rules)
        evaded = holds(low, high, source)
    words[LENGTH + other] = words[LENGTH + other] + ONE if evaded else ZERO
    if fought:
        words[LENGTH] = ZERO
        words[LENGTH + 1] = ZERO
    threat = (near_low & words[PIECES + 2 * other]) | (near_high & words[PIECES + 2 * other + 1])
    words[LENGTH + player] = words[LENGTH + player] + ONE if threat else ZERO
    bytes_[LAST + 2 * player] = source
    bytes_[LAST + 2 * player + 1] = target


@kernel
def update_isf(game, player, source, target, near_low, near_high, fought, died):
    """Follow both chases after a move, as the federation's text has it."""
    if game.rules[CHASE] != CHASE_ISF:
        return
    words = game.words
    bytes_ = game.bytes
    other = 1 - player
    evaders = EVADERS + 2 * other
    threatened = THREATENED + 2 * other
    if bytes_[CHASING + other]:
        if not fought and holds(words[threatened], words[threatened + 1], source):
            # The mover is counted among the evaders, where it stands now.
            from_low, from_high = single(source)
            to_low, to_high = single(target)
            words[evaders] = (words[evaders] & ~from_low) | to_low
            words[evaders + 1] = (words[evaders + 1] & ~from_high) | to_high
            bytes_[EVADED + other] = 1
        else:
            end_chase(game, other)
    low = near_low & words[PIECES + 2 * other]
    high = near_high & words[PIECES + 2 * other + 1]
    if died or (low | high) == ZERO:
        end_chase(game, player)
        return
    if not (bytes_[CHASING + player] and bytes_[EVADED + player] and not fought):
        end_chase(game, player)
    bytes_[CHASING + player] = 1
    bytes_[EVADED + player] = 0
    words[THREATENED + 2 * player] = low
    words[THREATENED + 2 * player + 1] = high


@kernel
def end_chase(game, player):
    """Forget the player's chase (isf)."""
    game.bytes[CHASING + player] = 0
    game.bytes[EVADED + player] = 0
    for half in range(2):
        game.words[EVADERS + 2 * player + half] = ZERO
        game.words[THREATENED + 2 * player + half] = ZERO


@kernel
def bar_chase(game, player):
    """Take out of the legal moves those by which a chaser repeats a position; True if any was there.

    Goes back through the history and keeps the set of pieces (by identity) that stood elsewhere
    then. Where just one of the player's pieces stood elsewhere, moving it there repeats that board.
    """
    rules = game.rules
    words = game.words
    if rules[CHASE] == CHASE_OFF:
        return False
    quiet = np.int64(words[QUIET])
    if rules[CHASE] == CHASE_ISF:
        if game.bytes[EVADED + player] == 0:
            return False
        target_low, target_high = beside(words[EVADERS + 2 * player], words[EVADERS + 2 * player + 1], rules)
        window = quiet
    else:
        length = np.int64(words[LENGTH + player])
        if length < 2:
            return False
        other = 1 - player
        target_low, target_high = beside(words[PIECES + 2 * other], words[PIECES + 2 * other + 1], rules)
        window = min(length - 1, quiet)
    window = min(window, rules[HISTORY])
    if rules[COMPARE_TYPES] and rules[CHASE] == CHASE_ATARAXOS:
        return bar_same_types(game, player, window, target_low, target_high)

    squares = rules[SQUARES]
    away_low, away_high = ZERO, ZERO
    barred = False
    for back in range(1, window + 1):
        slot = (np.int64(words[RECORDED]) - back) % rules[HISTORY]
        identity = np.int64(game.bytes[BYTES + 3 * squares + slot])
        then = np.int64(game.halves[slot]) & 127
        bit_low, bit_high = single(identity)
        away_low &= ~bit_low
        away_high &= ~bit_high
        if then != np.int64(game.bytes[BYTES + 2 * squares + identity]):
            away_low |= bit_low
            away_high |= bit_high
        if size(away_low, away_high) == 1:
            piece = lowest(away_low) if away_low else 64 + lowest(away_high)
            source = np.int64(game.bytes[BYTES + 2 * squares + piece])
            if holds(words[PIECES + 2 * player], words[PIECES + 2 * player + 1], source):
                target = square_then(game, piece, back)
                if holds(target_low, target_high, target):
                    barred |= bar_move(game, player, source, target)
    return barred


@kernel
def square_then(game, identity, back):
    """Return a moved piece's square `back` plies ago: the origin of its first move after that."""
    squares = game.rules[SQUARES]
    slot = np.int64(0)
    for ply in range(back, 0, -1):
        slot = (np.int64(game.words[RECORDED]) - ply) % game.rules[HISTORY]
        if game.bytes[BYTES + 3 * squares + slot] == identity:
            break
    return np.int64(game.halves[slot]) & 127


@kernel
def bar_move(game, player, source, target):
    """Take one move out of the legal ones, unless it steps straight back or is no move at all; True if it was there."""
    words = game.words
    last = LAST + 2 * player
    if game.bytes[last + 1] == source and game.bytes[last] == target:
        return False
    direction = direction_of(game.rules, source, target)
    if direction < 0:
        return False
    if not holds(words[LEGAL + 2 * direction], words[LEGAL + 2 * direction + 1], target):
        return False
    if origin(game, direction, target) != source:
        return False
    bit_low, bit_high = single(target)
    words[LEGAL + 2 * direction] &= ~bit_low
    words[LEGAL + 2 * direction + 1] &= ~bit_high
    return True


@kernel
def bar_same_types(game, player, window, target_low, target_high):
    """`bar_chase` where boards are equal if owners and types agree on every square (`chase_compare = type`)."""
    words = game.words
    rules = game.rules
    squares = rules[SQUARES]
    own_low, own_high = words[PIECES + 2 * player], words[PIECES + 2 * player + 1]
    other = 1 - player
    enemy_low, enemy_high = words[PIECES + 2 * other], words[PIECES + 2 * other + 1]
    barred = False
    for back in range(1, window + 1):
        slot = (np.int64(words[RECORDED]) - back) % rules[HISTORY]
        move = np.int64(game.halves[slot])
        from_low, from_high = single(move & 127)
        to_low, to_high = single((move >> 7) & 127)
        identity = np.int64(game.bytes[BYTES + 3 * squares + slot])
        now = np.int64(game.bytes[BYTES + 2 * squares + identity])
        if holds(words[PIECES + 2 * player], words[PIECES + 2 * player + 1], now):
            own_low ^= from_low ^ to_low
            own_high ^= from_high ^ to_high
        else:
            enemy_low ^= from_low ^ to_low
            enemy_high ^= from_high ^ to_high
        if enemy_low != words[PIECES + 2 * other] or enemy_high != words[PIECES + 2 * other + 1]:
            continue
        left_low = words[PIECES + 2 * player] & ~own_low
        left_high = words[PIECES + 2 * player + 1] & ~own_high
        if size(left_low, left_high) != 1:
            continue
        source = lowest(left_low) if left_low else 64 + lowest(left_high)
        gone_low = own_low & ~words[PIECES + 2 * player]
        gone_high = own_high & ~words[PIECES + 2 * player + 1]
        target = lowest(gone_low) if gone_low else 64 + lowest(gone_high)
        if holds(target_low, target_high, target) and same_types(game, back, source, target):
            barred |= bar_move(game, player, source, target)
    return barred


@kernel
def same_types(game, back, source, target):
    """Return whether after source→target every square shows the owner and type that it showed `back` plies ago.

    Only called where the squares held by each player agree already; so types decide.
    """
    rules = game.rules
    squares = rules[SQUARES]
    for ply in range(1, back + 1):
        slot = (np.int64(game.words[RECORDED]) - ply) % rules[HISTORY]
        identity = np.int64(game.bytes[BYTES + 3 * squares + slot])
        then = square_then(game, identity, back)
        standing = source if then == target else then
        occupant = np.int64(game.bytes[BYTES + standing])
        if game.bytes[BYTES + squares + occupant] != game.bytes[BYTES + squares + identity]:
            return False
    return True
