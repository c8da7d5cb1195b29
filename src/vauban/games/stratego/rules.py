"""Moves, battles and ends of the game (docs/rules.md), as kernels.

Legal moves are kept as four sets of squares: where a move may end that goes north, south, west or
east. A direction and a target tell the origin too, since the way between them is empty: it is the
first piece met when going back.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

import numpy as np

from vauban.games.base import DRAW, END, PLAYER, PLIES, WINNER
from vauban.games.kernel import ONE, ZERO, holds, kernel, popcount, select
from vauban.games.randomness import START, below
from vauban.games.stratego.history import (
    kind_of,
    remember_adjacency,
    remember_evasion,
    remember_protection,
    remember_threat,
)
from vauban.games.stratego.layout import (
    ARMY,
    BATTLE_FLAG,
    BATTLELESS,
    BATTLELESS_LIMIT,
    BYTES,
    COLUMNS,
    DEAD,
    EXCEEDED,
    HIDDEN,
    HIDDEN_COUNT,
    HISTORY,
    LAST,
    LEGAL,
    MOVABLE,
    MOVED,
    NONE,
    OWNER_BIT,
    PIECES,
    PREVIOUS,
    PREVIOUS_OWN,
    QUIET,
    RECORDED,
    ROW,
    ROWS,
    SCOUTS,
    SETUP_SQUARES,
    SHOWN,
    SQUARES,
    SWITCH,
    TOTAL_LIMIT,
    TRAIL,
    TYPE_HIDDEN,
    UNMOVED,
)
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, MOVABLE_TYPES, SCOUT, SPY
from vauban.games.stratego.repetition import ALL_RULES, bar, clear_trail, extend_trail, update_chase, update_isf
from vauban.games.stratego.squares import around, direction_of, origin, shifted
from vauban.games.stratego.switches import NO_LIMIT

EAGER = SWITCH["cannot_move"]
END_FLAG, END_NO_MOVES, END_BOTH_IMMOBILE, END_TOTAL, END_BATTLELESS = 1, 2, 3, 4, 5
ATTACKER_DIES, DEFENDER_DIES, BOTH_DIE = 1, 2, 3
TRACKS = True
"""Whether the sets of types that observations need are kept; set when the rules are compiled."""


# ── Moves ────────────────────────────────────────────────────────────────────────────────────────


@kernel
def reach(game, player, direction):
    """Return where the player's pieces can go in a direction, before the repetition rules."""
    words = game.words
    own_low, own_high = words[PIECES + 2 * player], words[PIECES + 2 * player + 1]
    enemy_low, enemy_high = words[PIECES + 2 - 2 * player], words[PIECES + 3 - 2 * player]
    low, high = shifted(words[MOVABLE + 2 * player], words[MOVABLE + 2 * player + 1], direction, game.rules)
    low &= ~own_low
    high &= ~own_high
    ray_low, ray_high = words[SCOUTS + 2 * player], words[SCOUTS + 2 * player + 1]
    while ray_low | ray_high:
        ray_low, ray_high = shifted(ray_low, ray_high, direction, game.rules)
        ray_low &= ~own_low
        ray_high &= ~own_high
        low |= ray_low
        high |= ray_high
        ray_low &= ~enemy_low
        ray_high &= ~enemy_high
    return low, high


@kernel
def can_step(game, player):
    """Return whether the player has a geometric move: some piece can take one step."""
    words = game.words
    own_low, own_high = words[PIECES + 2 * player], words[PIECES + 2 * player + 1]
    for direction in range(4):
        low, high = shifted(words[MOVABLE + 2 * player], words[MOVABLE + 2 * player + 1], direction, game.rules)
        if (low & ~own_low) | (high & ~own_high):
            return True
    return False


@kernel
def find_moves(game):
    """Write down the legal moves of the player on turn; True if there are any."""
    words = game.words
    player = np.int64(game.bytes[PLAYER])
    any_move = ZERO
    for direction in range(4):
        low, high = reach(game, player, direction)
        words[LEGAL + 2 * direction] = low
        words[LEGAL + 2 * direction + 1] = high
        any_move |= low | high
    if any_move == ZERO:
        return False
    if not bar(game, player, ALL_RULES):
        return True
    any_move = ZERO
    for word in range(LEGAL, LEGAL + 8):
        any_move |= words[word]
    return any_move != ZERO


@kernel
def encode(rules, player, source, target):
    """Return the action number of a move, in the mover's frame: S · (line crossed to) + source."""
    squares = rules[SQUARES]
    if player == 1:
        source = squares - 1 - source
        target = squares - 1 - target
    source_row = rules[ROW + source]
    target_row = rules[ROW + target]
    if source_row != target_row:
        line = target_row
        if target_row > source_row:
            line -= 1
    else:
        line = rules[ROWS] - 1 + target - target_row * rules[COLUMNS]
        if target > source:
            line -= 1
    return squares * line + source


@kernel
def decode(rules, player, action):
    """Return the squares (source, target) of an action number; the inverse of `encode`."""
    squares = rules[SQUARES]
    columns = rules[COLUMNS]
    line = action // squares
    source = action - line * squares
    row = rules[ROW + source]
    if line < rules[ROWS] - 1:
        if line >= row:
            line += 1
        target = source + (line - row) * columns
    else:
        line -= rules[ROWS] - 1
        column = source - row * columns
        if line >= column:
            line += 1
        target = row * columns + line
    if player == 1:
        source = squares - 1 - source
        target = squares - 1 - target
    return source, target


@kernel
def legal_count(game):
    """Count the legal moves of the player on turn."""
    count = 0
    for word in range(LEGAL, LEGAL + 8):
        count += popcount(game.words[word])
    return count


@kernel
def legal_move(game, index):
    """Return the legal move with this index (source, target): by direction, then by target square."""
    word = LEGAL
    count = popcount(game.words[word])
    while index >= count:
        index -= count
        word += 1
        count = popcount(game.words[word])
    direction = (word - LEGAL) >> 1
    target = select(game.words[word], index) + 64 * ((word - LEGAL) & 1)
    return origin(game, direction, target), target


@kernel
def legal_action(game, index):
    """Return the action number of the legal move with this index."""
    source, target = legal_move(game, index)
    return encode(game.rules, np.int64(game.bytes[PLAYER]), source, target)


@kernel
def is_legal_move(game, source, target):
    """Return whether the player on turn may play this move; any numbers may be asked about."""
    squares = game.rules[SQUARES]
    if source < 0 or target < 0 or source >= squares or target >= squares:
        return False
    direction = direction_of(game.rules, source, target)
    if direction < 0:
        return False
    if not holds(game.words[LEGAL + 2 * direction], game.words[LEGAL + 2 * direction + 1], target):
        return False
    return origin(game, direction, target) == source


@kernel
def is_legal(game, action):
    """Return whether the action is legal for the player on turn; any number may be asked about."""
    rules = game.rules
    if action < 0 or action >= rules[SQUARES] * (rules[ROWS] + rules[COLUMNS] - 2):
        return False
    source, target = decode(rules, np.int64(game.bytes[PLAYER]), action)
    return is_legal_move(game, source, target)


# ── Battles and playing a move ───────────────────────────────────────────────────────────────────


@kernel
def battle(attacker, defender):
    """Return who dies when one type attacks another."""
    if attacker == defender:
        return BOTH_DIE
    if defender == FLAG:
        return DEFENDER_DIES
    if defender == BOMB:
        return DEFENDER_DIES if attacker == MINER else ATTACKER_DIES
    if attacker == SPY and defender == MARSHAL:
        return DEFENDER_DIES
    return DEFENDER_DIES if attacker > defender else ATTACKER_DIES


@kernel
def flip(words, offset, square):
    """Put the square into the set if it is not there, take it out if it is."""
    words[offset + (square >> 6)] ^= ONE << np.uint64(square & 63)


@kernel
def contains(words, offset, square):
    """Return whether the square is in the set kept at `offset`."""
    return (words[offset + (square >> 6)] >> np.uint64(square & 63)) & ONE != ZERO


@kernel
def lift(game, player, square, kind):
    """Take a piece off the sets of squares that it is in, or put it into them."""
    words = game.words
    flip(words, PIECES + 2 * player, square)
    if kind < MOVABLE_TYPES:
        flip(words, MOVABLE + 2 * player, square)
        if kind == SCOUT:
            flip(words, SCOUTS + 2 * player, square)


@kernel
def reveal(game, player, square, kind):
    """Show a hidden piece to everyone."""
    flip(game.words, HIDDEN, square)
    game.bytes[HIDDEN_COUNT + 12 * player + kind] -= 1
    if not contains(game.words, MOVED, square):
        game.bytes[UNMOVED + player] -= 1


@kernel
def bury(game, identity, square, cause):
    """Record that a piece died on a square, and why."""
    squares = game.rules[SQUARES]
    game.bytes[BYTES + 2 * squares + identity] = square + DEAD
    game.bytes[BYTES + squares + identity] += 16 * cause


@kernel
def record_move(game, identity, source, target, fought):
    """Write the move into the ring of latest moves."""
    words = game.words
    rules = game.rules
    slot = np.int64(words[RECORDED]) % rules[HISTORY]
    game.halves[slot] = source + 128 * target + (BATTLE_FLAG if fought else 0)
    game.bytes[BYTES + 3 * rules[SQUARES] + slot] = identity
    words[RECORDED] += ONE
    words[QUIET] = ZERO if fought else words[QUIET] + ONE


@kernel
def play_move(game, source, target):
    """Play a legal move of the player on turn, and see whether the game is over."""
    words = game.words
    bytes_ = game.bytes
    squares = game.rules[SQUARES]
    player = np.int64(bytes_[PLAYER])
    other = 1 - player
    identity = np.int64(bytes_[BYTES + source])
    kind = kind_of(game, identity)
    fought = contains(words, PIECES + 2 * other, target)
    died = False
    defender_won = False
    flag_taken = False

    if TRACKS:
        remember_adjacency(game, player)
        remember_evasion(game, identity, source, target)

    hidden = contains(words, HIDDEN, source)
    if not contains(words, MOVED, source):
        if hidden:
            bytes_[UNMOVED + player] -= 1
        flip(words, MOVED, source)
    distance = abs(target - source)
    if hidden and (fought or (distance != 1 and distance != game.rules[COLUMNS])):
        reveal(game, player, source, kind)

    lift(game, player, source, kind)
    flip(words, MOVED, source)
    if contains(words, HIDDEN, source):
        flip(words, HIDDEN, source)
        flip(words, HIDDEN, target)
    bytes_[BYTES + source] = NONE
    extend_trail(game, player, source, target)

    if fought:
        victim = np.int64(bytes_[BYTES + target])
        victim_kind = kind_of(game, victim)
        result = battle(kind, victim_kind)
        seen = not contains(words, HIDDEN, target)
        if not seen:
            reveal(game, other, target, victim_kind)
        died = result & ATTACKER_DIES != 0
        defender_won = result == ATTACKER_DIES
        flag_taken = victim_kind == FLAG
        tie = 1 if result == BOTH_DIE else 0
        if died:
            bury(game, identity, target, tie if seen else 2)
            clear_trail(game, player, target)
        if not defender_won:
            lift(game, other, target, victim_kind)
            if contains(words, MOVED, target):
                flip(words, MOVED, target)
            bury(game, victim, target, 3 + tie if seen else 5)
            clear_trail(game, other, target)
            bytes_[BYTES + target] = NONE
    if not died:
        lift(game, player, target, kind)
        flip(words, MOVED, target)
        bytes_[BYTES + target] = identity
        bytes_[BYTES + 2 * squares + identity] = target

    record_move(game, identity, source, target, fought)
    words[PLIES] += ONE
    words[BATTLELESS] = ZERO if fought else words[BATTLELESS] + ONE
    near_low, near_high = around(target, game.rules)
    update_chase(game, player, source, target, near_low, near_high, fought)
    update_isf(game, player, source, target, near_low, near_high, fought, died)

    if TRACKS:
        if not fought:
            remember_threat(game, other, identity, (near_low, near_high))
        remember_protection(game, player, source, target, died, defender_won)
        shown = TYPE_HIDDEN if contains(words, HIDDEN, target) else kind
        bytes_[SHOWN] = NONE if died else shown
        bytes_[PREVIOUS_OWN] = bytes_[PREVIOUS]
        bytes_[PREVIOUS] = target

    bytes_[PLAYER] = other
    judge(game, flag_taken)


@kernel
def play(game, action):
    """Play a legal action of the player on turn."""
    source, target = decode(game.rules, np.int64(game.bytes[PLAYER]), action)
    play_move(game, source, target)


# ── Ends of the game ─────────────────────────────────────────────────────────────────────────────


@kernel
def finish(game, end, winner):
    """End the game: nobody has a legal move any more."""
    game.bytes[END] = end
    game.bytes[WINNER] = winner
    for word in range(LEGAL, LEGAL + 8):
        game.words[word] = ZERO


@kernel
def limit_hit(game):
    """Return the limit that ends the game now, as an end; 0 if none does."""
    rules = game.rules
    margin = rules[EXCEEDED]
    total = rules[TOTAL_LIMIT]
    if total != NO_LIMIT and np.int64(game.words[PLIES]) >= total + margin:
        return END_TOTAL
    battleless = rules[BATTLELESS_LIMIT]
    if battleless != NO_LIMIT and np.int64(game.words[BATTLELESS]) >= battleless + margin:
        return END_BATTLELESS
    return 0


@kernel
def judge(game, flag_taken):
    """Find the legal moves of the player on turn, or end the game; the tests in the order of docs/rules.md."""
    rules = game.rules
    mover = np.int64(game.bytes[PLAYER])
    other = 1 - mover
    limit = limit_hit(game)
    if limit and rules[EXCEEDED]:
        finish(game, limit, DRAW)
        return
    if flag_taken:
        finish(game, END_FLAG, other)
        return
    if not find_moves(game):
        if can_step(game, other):
            finish(game, END_NO_MOVES, other)
        else:
            finish(game, END_BOTH_IMMOBILE, DRAW)
        return
    if rules[EAGER] and not can_step(game, other):
        finish(game, END_NO_MOVES, mover)
        return
    if limit:
        finish(game, limit, DRAW)


@kernel
def utility(game):
    """Return the game's worth to red: 1, 0 or −1; 0 while it goes on."""
    winner = game.bytes[WINNER]
    if winner == 0:
        return np.float32(1)
    if winner == 1:
        return np.float32(-1)
    return np.float32(0)


@kernel
def chance_weight(game, index):
    """Nothing in Stratego is left to chance once the setups stand."""
    return 0


# ── Starts ───────────────────────────────────────────────────────────────────────────────────────


@kernel
def clear(game):
    """Make an empty board of the record, red on turn; only the game's number is kept."""
    words, halves, bytes_, rules = game.words, game.halves, game.bytes, game.rules
    squares = rules[SQUARES]
    for word in range(1, words.shape[0]):
        words[word] = ZERO
    for half in range(halves.shape[0]):
        halves[half] = 0
    for byte in range(BYTES):
        bytes_[byte] = 0
    bytes_[WINNER] = NONE
    for byte in range(TRAIL, LAST + 4):
        bytes_[byte] = NONE
    bytes_[PREVIOUS] = NONE
    bytes_[PREVIOUS_OWN] = NONE
    bytes_[SHOWN] = NONE
    for slot in range(rules[HISTORY]):
        bytes_[BYTES + 3 * squares + slot] = 0
    for byte in range(BYTES, BYTES + 3 * squares):
        bytes_[byte] = NONE


@kernel
def put_piece(game, player, square, kind):
    """Put a player's hidden piece on an empty square, from which it gets its identity."""
    bytes_ = game.bytes
    squares = game.rules[SQUARES]
    bytes_[BYTES + square] = square
    bytes_[BYTES + squares + square] = kind + OWNER_BIT * player
    bytes_[BYTES + 2 * squares + square] = square
    lift(game, player, square, kind)
    flip(game.words, HIDDEN, square)
    bytes_[HIDDEN_COUNT + 12 * player + kind] += 1
    bytes_[UNMOVED + player] += 1


@kernel
def put_pieces(game, start):
    """Put the pieces of a start on an empty board: by square 0 for nothing, 1 + type for red, 13 + type for blue."""
    for square in range(game.rules[SQUARES]):
        code = np.int64(start[square])
        if code != 0:
            player = 1 if code > 12 else 0
            put_piece(game, player, square, code - 1 - 12 * player)


@kernel
def begin(game, start):
    """Begin a game, red on turn, from a start."""
    clear(game)
    put_pieces(game, start)
    judge(game, False)


@kernel
def place_setup(start, rules, player, setup):
    """Write a player's setup (in the player's frame, 0 for nothing, 1 + type) into a start."""
    squares = rules[SQUARES]
    for index in range(rules[SETUP_SQUARES]):
        if player == 0:
            start[index] = setup[index]
        else:
            start[squares - 1 - index] = setup[index] + 12 if setup[index] else 0


@kernel
def draw_start(start, rules, seed, number, attempt):
    """Draw both setups uniformly: the army and what stays empty, shuffled over the setup squares."""
    squares = rules[SQUARES]
    room = rules[SETUP_SQUARES]
    for square in range(squares):
        start[square] = 0
    for player in range(2):
        # Blue's squares run backwards, so that a setup means the same to both.
        base = 0 if player == 0 else squares - 1
        sign = 1 if player == 0 else -1
        index = 0
        for kind in range(12):
            for _ in range(rules[ARMY + kind]):
                start[base + sign * index] = 1 + kind + 12 * player
                index += 1
        for last in range(room - 1, 0, -1):
            pick = below(last + 1, seed, number, attempt, 0, START, 128 * player + last)
            swap = start[base + sign * last]
            start[base + sign * last] = start[base + sign * pick]
            start[base + sign * pick] = swap
