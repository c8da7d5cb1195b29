"""The one world in which `alphabeta` searches: a small board of identities, with make and unmake; as kernels.

Side 0 is the searcher, side 1 the enemy. Hidden pieces keep their chances of being this or that, but
each fight has one result on the board, the likelier one, and one value, the expected one: a piece that
comes out of a doubtful fight is worth the less for it. So the score of a position is always the sum
of what the pieces are worth and of where the searcher's stand (`plan`).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import Any, NamedTuple

import numpy as np

from vauban.agents.stratego.alphabeta.suspects import DIED_HIDDEN, deeds, estimate, tracks
from vauban.agents.stratego.alphabeta.values import ENEMY, OWN, weigh
from vauban.agents.stratego.terrain import neighbours
from vauban.games.base import PLAYER
from vauban.games.kernel import holds, kernel
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import (
    BATTLELESS,
    BATTLELESS_LIMIT,
    BYTES,
    DEAD,
    HIDDEN,
    HIDDEN_COUNT,
    HISTORY,
    MOVED,
    NONE,
    OWNER_BIT,
    PIECES,
    RECORDED,
    SET_EVADED,
    SQUARES,
    UNKNOWN,
)
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, MOVABLE_TYPES, SCOUT, SPY
from vauban.games.stratego.rules import ATTACKER_DIES, BOTH_DIE, DEFENDER_DIES, battle
from vauban.games.stratego.switches import NO_LIMIT

TAKES, BOTH_GONE, FALLS, STAYS, WINS = 0, 1, 2, 3, 4
"""Effects of a fight on the board: the attacker takes the square; both go; the attacker goes; nothing changes, since it
is not dared; the Flag is taken."""
WHOLE = 1024
"""Parts in which the share of a piece's worth that survives a fight is counted."""
SCORE, SIDE, PLY, QUIET_PLIES = 0, 1, 2, 3
"""Places in `World.state`."""
PAST = 12
"""Rows of `World.line` before the root: the latest moves of the game, which the two-square rule counts."""
LONGEST = 48
"""Plies that a line can have."""
MOVER, VICTIM, SOURCE, TARGET, RESULT, MOVER_WORTH, VICTIM_WORTH, OLD_SCORE, OLD_QUIET, TURNS_BACK = range(10)
"""Columns of `World.line`: a move and what undoing it needs. `TURNS_BACK`: times in a row that its piece went back."""
NOBODY = -1
LEAST_MOBILE = 0.3
"""A hidden piece that has never moved moves in the search if it is movable with this chance."""
FLAG_DARE = 0.5
"""Chance that an enemy beside the searcher's Flag strikes it, since it does not know it."""
DIED_ATTACKING_HIDDEN = 2
"""The cause of death of a piece that attacked a hidden one (docs/record.md)."""
LEAST_BOLD, BOLDER = 0.6, 0.1
"""Boldness of the enemy against what it does not know, from 0 to 1: at first, and added every time that it attacked."""
BOLD_DARE = 0.9
"""Chance that the boldest enemy attacks."""
ODD = np.uint64(0x9E3779B97F4A7C15)


class World(NamedTuple):
    """A position to search; see the arrays' lines. Pieces are counted by identity."""

    near: Any
    """squares × 4: the square next to it, −1 where there is none."""
    at: Any
    """By square: the identity of the piece there, −1 for none."""
    place: Any
    """By identity: its square, −1 if it is gone."""
    owner: Any
    """By identity: 0 the searcher's, 1 the enemy's."""
    kind: Any
    """By identity: its type; `UNKNOWN` if hidden from the searcher."""
    mobile: Any
    """By identity: 0 never moves, 1 a step, 2 a Scout."""
    secret: Any
    """By identity: 1 if the other side does not know its type."""
    unmoved: Any
    """By identity: 1 if it has never moved."""
    worth: Any
    """By identity, int64: its present worth."""
    chances: Any
    """identities × types: chances of the types of a hidden enemy; those of a known piece are 0 and 1."""
    suspected: Any
    """By identity: the type it is suspected to be, −1 for none."""
    values: Any
    """sides × types (`values.weigh`)."""
    stealth: Any
    """sides × types."""
    material: Any
    """By side: the sum of its pieces' worth."""
    plan: Any
    """identities × squares, int64: worth of having one of the searcher's pieces on the square."""
    keeps: Any
    """attackers × defenders × 2, int32: share of its worth that each keeps in a fight, in parts of `WHOLE`."""
    result: Any
    """attackers × defenders: effect of the fight on the board."""
    keys: Any
    """identities × squares, uint64: keys for the hash of a position."""
    pieces: Any
    """sides × 2, uint64: squares held."""
    movers: Any
    """sides × 2, uint64: of these, by pieces that move."""
    state: Any
    """int64: score, side to move, ply, plies without a battle."""
    hashes: Any
    """By ply, uint64: the hash of the position there, without what the repetition rules add."""
    line: Any
    """`PAST` + ply × columns: the moves that led here."""


@kernel
def build(game, suspicious, prior):
    """Return the world of the player on turn, from its view."""
    words, bytes_, rules = game.words, game.bytes, game.rules
    squares = rules[SQUARES]
    player = np.int64(bytes_[PLAYER])
    world = World(
        neighbours(rules),
        np.full(squares, NOBODY, np.int16),
        np.full(squares, NOBODY, np.int16),
        np.zeros(squares, np.int8),
        np.full(squares, UNKNOWN, np.int8),
        np.zeros(squares, np.int8),
        np.zeros(squares, np.int8),
        np.zeros(squares, np.int8),
        np.zeros(squares, np.int64),
        np.zeros((squares, 12)),
        np.zeros(squares, np.int64),
        np.zeros((2, 12)),
        np.zeros((2, 12)),
        np.zeros(2),
        np.zeros((squares, squares), np.int64),
        np.zeros((squares, squares, 2), np.int32),
        np.zeros((squares, squares), np.int8),
        np.zeros((squares, squares), np.uint64),
        np.zeros((2, 2), np.uint64),
        np.zeros((2, 2), np.uint64),
        np.zeros(4, np.int64),
        np.zeros(LONGEST + 1, np.uint64),
        np.full((PAST + LONGEST + 1, 10), NOBODY, np.int64),
    )
    bluff = estimate(game, 1 - player, suspicious, prior, world.chances, world.suspected)
    counts = np.zeros((2, 12), np.int64)
    shown = np.zeros((2, 12), np.int64)
    for kind in range(12):
        counts[ENEMY, kind] = bytes_[HIDDEN_COUNT + 12 * (1 - player) + kind]
    for square in range(squares):
        identity = np.int64(bytes_[BYTES + square])
        if identity == NONE:
            continue
        world.at[square] = identity
        world.place[identity] = square
        mine = holds(words[PIECES + 2 * player], words[PIECES + 2 * player + 1], square)
        side = OWN if mine else ENEMY
        kind = kind_of(game, identity)
        world.owner[identity] = side
        world.kind[identity] = kind
        world.secret[identity] = holds(words[HIDDEN], words[HIDDEN + 1], square)
        world.unmoved[identity] = not holds(words[MOVED], words[MOVED + 1], square)
        if kind != UNKNOWN:
            world.chances[identity, :] = 0.0
            world.chances[identity, kind] = 1.0
            counts[side, kind] += 1
            if not world.secret[identity]:
                shown[side, kind] += 1
    weigh(counts, shown, bluff, haste(game), world.values, world.stealth, world.material)
    set_pieces(world)
    set_fights(game, world, counts, bluff, boldness(game, player))
    set_keys(world)
    remember_line(game, world)
    world.state[QUIET_PLIES] = np.int64(words[BATTLELESS])
    return world


@kernel
def haste(game):
    """Measure how near a draw for want of battles is: 0 at a quarter of the limit, 1 at three quarters."""
    limit = game.rules[BATTLELESS_LIMIT]
    if limit == NO_LIMIT:
        return 0.0
    return min(1.0, max(0.0, 2 * np.int64(game.words[BATTLELESS]) / limit - 0.5))


@kernel
def movable_chance(world, identity):
    """Return the probability that a piece can move at all."""
    chance = 0.0
    for kind in range(MOVABLE_TYPES):
        chance += world.chances[identity, kind]
    return chance


@kernel
def put(words, square):
    """Put a square into a set, or take it out."""
    words[square >> 6] ^= np.uint64(1) << np.uint64(square & 63)


@kernel
def set_pieces(world):
    """Set each piece's worth, whether it moves, and the sum of it all."""
    guarded = np.int64(NOBODY)
    for identity in range(len(world.place)):
        if world.place[identity] >= 0 and world.owner[identity] == OWN and world.kind[identity] == FLAG:
            guarded = np.int64(world.place[identity])
    for identity in range(len(world.place)):
        square = np.int64(world.place[identity])
        if square < 0:
            continue
        side = np.int64(world.owner[identity])
        worth = 0.0
        for kind in range(12):
            bare = world.values[side, kind]
            if world.secret[identity]:
                bare += world.stealth[side, kind]
            worth += world.chances[identity, kind] * bare
        if side == OWN and world.kind[identity] == BOMB and guarded >= 0:
            for direction in range(4):
                if world.near[guarded, direction] == square:
                    worth = max(worth, world.values[OWN, MINER] * 4 / 3)
        world.worth[identity] = max(1, np.int64(worth))
        world.state[SCORE] += world.worth[identity] if side == OWN else -world.worth[identity]
        put(world.pieces[side], square)
        if world.kind[identity] == SCOUT:
            world.mobile[identity] = 2
        elif movable_chance(world, identity) >= LEAST_MOBILE:
            world.mobile[identity] = 1
        if world.mobile[identity]:
            put(world.movers[side], square)


# ── Fights ───────────────────────────────────────────────────────────────────────────────────────


@kernel
def set_fights(game, world, counts, bluff, bold):
    """Set the outcome of every fight between two pieces of the two sides, either of them attacking."""
    for own in range(len(world.place)):
        if world.place[own] < 0 or world.owner[own] != OWN:
            continue
        for other in range(len(world.place)):
            if world.place[other] < 0 or world.owner[other] != ENEMY:
                continue
            if world.mobile[own]:
                set_attack(world, own, other)
            if world.mobile[other] or movable_chance(world, other) > 0:
                set_defence(game, world, own, other, counts, bluff, bold)


@kernel
def settle(world, attacker, defender, attacker_keeps, defender_keeps, attacker_lives, defender_lives):
    """Write down a fight: the share of both worths that is kept, and the effect on the board."""
    keeps = world.keeps[attacker, defender]
    keeps[0] = np.int64(WHOLE * min(1.0, max(0.0, attacker_keeps)))
    keeps[1] = np.int64(WHOLE * min(1.0, max(0.0, defender_keeps)))
    if defender_lives < 0.5:
        world.result[attacker, defender] = TAKES if attacker_lives >= 0.5 else BOTH_GONE
    else:
        world.result[attacker, defender] = FALLS if attacker_lives < 0.5 else STAYS


@kernel
def set_attack(world, own, other):
    """Set the fight in which the searcher attacks: over all types that the other piece may have."""
    kind = np.int64(world.kind[own])
    bare = world.values[OWN, kind]
    full = np.float64(world.worth[own])
    wins, loses, left = 0.0, 0.0, 0.0
    for enemy in range(12):
        chance = world.chances[other, enemy]
        if chance == 0.0:
            continue
        outcome = battle(kind, enemy)
        if outcome == DEFENDER_DIES:
            wins += chance
        elif outcome == ATTACKER_DIES:
            loses += chance
            left += chance * world.values[ENEMY, enemy]
    settle(world, own, other, wins * min(bare, full) / full, left / world.worth[other], wins, loses)
    if world.chances[other, FLAG] > 0.999:
        world.result[own, other] = WINS


@kernel
def set_defence(game, world, own, other, counts, bluff, bold):
    """Set the fight in which the enemy attacks: over all movable types that it may have, as far as it dares."""
    kind = np.int64(world.kind[own])
    full = np.float64(world.worth[own])
    bare = min(full, world.values[OWN, kind])
    movable = movable_chance(world, other)
    before, after, kept = 0.0, 0.0, 0.0
    attacker_lives, defender_lives = 0.0, 0.0
    for enemy in range(MOVABLE_TYPES):
        chance = world.chances[other, enemy] / movable
        if chance == 0.0:
            continue
        worth = world.values[ENEMY, enemy]
        hidden_worth = worth + (world.stealth[ENEMY, enemy] if world.secret[other] else 0.0)
        outcome = battle(enemy, kind)
        dares = movable * dare(game, world, own, other, enemy, outcome, counts, bluff, bold)
        before += chance * hidden_worth
        after += chance * (1 - dares) * hidden_worth
        kept += chance * (1 - dares) * full
        attacker_lives += chance * (1 - dares)
        defender_lives += chance * (1 - dares)
        if outcome == DEFENDER_DIES:
            after += chance * dares * worth
            attacker_lives += chance * dares
        elif outcome == ATTACKER_DIES:
            kept += chance * dares * bare
            defender_lives += chance * dares
    settle(world, other, own, after / max(before, 1.0), kept / full, attacker_lives, defender_lives)
    if kind == FLAG and not world.secret[own]:
        world.result[other, own] = WINS


@kernel
def dare(game, world, own, other, enemy, outcome, counts, bluff, bold):
    """Return the chance that an enemy of this type attacks one of the searcher's pieces when that is best for it."""
    if not world.secret[own]:
        if not world.secret[other]:
            return 1.0
        # It knows both: it attacks where it gains.
        if outcome == DEFENDER_DIES:
            return 1.0
        gains = outcome == BOTH_DIE and world.values[OWN, enemy] >= world.values[ENEMY, enemy]
        return 1.0 if gains else 0.0
    if world.kind[own] == FLAG:
        return FLAG_DARE
    rank = 10 - enemy
    stronger = 0
    for kind in range(enemy, MOVABLE_TYPES):
        stronger += counts[OWN, kind]
    if enemy == MARSHAL:
        stronger += counts[OWN, SPY]
    if stronger == 0:
        return 0.8 if world.secret[other] else 1.0
    if not world.secret[other] and tracks(game) and deeds(game, own, SET_EVADED) >> enemy & 1:
        return 0.9
    if world.unmoved[own]:
        chance = 0.1
        if world.secret[other]:
            chance += 0.02 * bluff
        if rank == 5:
            chance += 0.25
    elif rank <= 4:
        chance = 0.1 * rank
    else:
        chance = 0.6 + 0.02 * rank
    return chance + bold * (BOLD_DARE - chance)


@kernel
def boldness(game, player):
    """Estimate how boldly the enemy attacks what it does not know, from 0 to 1: by how often it has."""
    squares = game.rules[SQUARES]
    attacks = 0
    for identity in range(squares):
        code = np.int64(game.bytes[BYTES + squares + identity])
        place = np.int64(game.bytes[BYTES + 2 * squares + identity])
        if code == NONE or place < DEAD:
            continue
        mine = (code & OWNER_BIT != 0) == (player == 1)
        cause = code >> 4 & 7
        if cause == (DIED_HIDDEN if mine else DIED_ATTACKING_HIDDEN):
            attacks += 1
    return min(1.0, LEAST_BOLD + BOLDER * attacks)


# ── Moving ───────────────────────────────────────────────────────────────────────────────────────


@kernel
def set_keys(world):
    """Set random words for every piece on every square, and the hash of the position."""
    squares = len(world.place)
    for identity in range(squares):
        if world.place[identity] < 0:
            continue
        for square in range(squares):
            word = np.uint64(identity * 128 + square + 1) * ODD
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            world.keys[identity, square] = word ^ (word >> np.uint64(31))
        world.hashes[0] ^= world.keys[identity, world.place[identity]]


@kernel
def remember_line(game, world):
    """Write the latest moves of the game, back to the last battle, before the root of the line."""
    rules = game.rules
    recorded = np.int64(game.words[RECORDED])
    for back in range(1, min(min(recorded, rules[HISTORY]), PAST) + 1):
        slot = (recorded - back) % rules[HISTORY]
        row = world.line[PAST - back]
        row[MOVER] = np.int64(game.bytes[BYTES + 3 * rules[SQUARES] + slot])
        row[SOURCE] = np.int64(game.halves[slot]) & 127
        row[TARGET] = np.int64(game.halves[slot]) >> 7 & 127
    for index in range(PAST):
        world.line[index, TURNS_BACK] = turns_back(world, index)


@kernel
def turns_back(world, index):
    """Count how many times in a row the piece moved in this row of the line has gone back to where it came from."""
    line = world.line
    if index < 2 or line[index, MOVER] != line[index - 2, MOVER] or line[index, MOVER] < 0:
        return 0
    if line[index, SOURCE] != line[index - 2, TARGET] or line[index, TARGET] != line[index - 2, SOURCE]:
        return 0
    return line[index - 2, TURNS_BACK] + 1


@kernel
def gain(world, attacker, defender):
    """Return what a fight brings the attacker's side."""
    keeps = world.keeps[attacker, defender]
    lost = world.worth[attacker] - (world.worth[attacker] * keeps[0] >> 10)
    won = world.worth[defender] - (world.worth[defender] * keeps[1] >> 10)
    return won - lost


@kernel
def make(world, source, target):
    """Play a move, or none if source = target; the other side is on turn then."""
    state = world.state
    ply = state[PLY]
    row = world.line[PAST + ply]
    word = world.hashes[ply]
    side = state[SIDE]
    sign = 1 if side == OWN else -1
    row[OLD_SCORE] = state[SCORE]
    row[OLD_QUIET] = state[QUIET_PLIES]
    row[SOURCE] = source
    row[TARGET] = target
    row[VICTIM] = NOBODY
    row[TURNS_BACK] = 0
    state[SIDE] = 1 - side
    state[PLY] = ply + 1
    state[QUIET_PLIES] += 1
    if source == target:
        row[MOVER] = NOBODY
        world.hashes[ply + 1] = word
        return
    mover = np.int64(world.at[source])
    row[MOVER] = mover
    row[TURNS_BACK] = turns_back(world, PAST + ply)
    victim = np.int64(world.at[target])
    if victim < 0:
        relocate(world, mover, side, source, target)
        state[SCORE] += sign * (world.plan[mover, target] - world.plan[mover, source])
        world.hashes[ply + 1] = word ^ world.keys[mover, source] ^ world.keys[mover, target]
        return
    state[QUIET_PLIES] = 0
    result = world.result[mover, victim]
    keeps = world.keeps[mover, victim]
    row[VICTIM] = victim
    row[RESULT] = result
    row[MOVER_WORTH] = world.worth[mover]
    row[VICTIM_WORTH] = world.worth[victim]
    state[SCORE] += sign * gain(world, mover, victim)
    world.worth[mover] = world.worth[mover] * keeps[0] >> 10
    world.worth[victim] = world.worth[victim] * keeps[1] >> 10
    if (keeps[0] != 0 and keeps[0] != WHOLE) or (keeps[1] != 0 and keeps[1] != WHOLE):
        # Their worth afterwards belongs to the position too.
        word += world.keys[mover, victim] * ODD
    if result not in (FALLS, STAYS):
        word ^= world.keys[victim, target]
        remove(world, victim, 1 - side, target)
    if result in (BOTH_GONE, FALLS):
        word ^= world.keys[mover, source]
        remove(world, mover, side, source)
    elif result != STAYS:
        word ^= world.keys[mover, source] ^ world.keys[mover, target]
        relocate(world, mover, side, source, target)
        state[SCORE] += sign * (world.plan[mover, target] - world.plan[mover, source])
    world.hashes[ply + 1] = word


@kernel
def unmake(world):
    """Take the last move back."""
    state = world.state
    ply = state[PLY] - 1
    row = world.line[PAST + ply]
    side = 1 - state[SIDE]
    state[SIDE] = side
    state[PLY] = ply
    state[SCORE] = row[OLD_SCORE]
    state[QUIET_PLIES] = row[OLD_QUIET]
    mover = row[MOVER]
    if mover < 0:
        return
    source, target, victim = row[SOURCE], row[TARGET], row[VICTIM]
    if victim < 0:
        relocate(world, mover, side, target, source)
        return
    result = row[RESULT]
    world.worth[mover] = row[MOVER_WORTH]
    world.worth[victim] = row[VICTIM_WORTH]
    if result in (BOTH_GONE, FALLS):
        restore(world, mover, side, source)
    elif result != STAYS:
        relocate(world, mover, side, target, source)
    if result not in (FALLS, STAYS):
        restore(world, victim, 1 - side, target)


@kernel
def relocate(world, identity, side, source, target):
    """Move a piece that moves from one square to another that is empty."""
    world.at[source] = NOBODY
    world.at[target] = identity
    world.place[identity] = target
    put(world.pieces[side], source)
    put(world.pieces[side], target)
    put(world.movers[side], source)
    put(world.movers[side], target)


@kernel
def remove(world, identity, side, square):
    """Take a piece off the board, with the worth of its place."""
    world.at[square] = NOBODY
    world.place[identity] = NOBODY
    put(world.pieces[side], square)
    if world.mobile[identity]:
        put(world.movers[side], square)
    if side == OWN:
        world.state[SCORE] -= world.plan[identity, square]


@kernel
def restore(world, identity, side, square):
    """Put a piece back."""
    world.at[square] = identity
    world.place[identity] = square
    put(world.pieces[side], square)
    if world.mobile[identity]:
        put(world.movers[side], square)
