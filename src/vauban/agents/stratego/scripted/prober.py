"""Prober, after peternlewis: finds out with cheap pieces, then kills with the smallest piece that suffices."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vauban.agents.base import RESIGNS
from vauban.agents.options import option
from vauban.agents.stratego.compiled import Bot
from vauban.agents.stratego.scripted.own_setups import open_setup
from vauban.agents.stratego.scripted.sight import (
    DOWN,
    LEFT,
    NOWHERE,
    RIGHT,
    STILL,
    STIRRED,
    UP,
    is_mobile,
    look,
    may_step,
)
from vauban.games.kernel import holds, kernel
from vauban.games.stratego.layout import HISTORY, MOVED, QUIET, RECORDED, SQUARES
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, MOVABLE_TYPES, SCOUT, SPY, TYPES
from vauban.games.stratego.rules import encode


@dataclass(frozen=True)
class Options:
    """Feeds cheap pieces to find out ranks, then kills with the smallest piece that suffices.

    After peternlewis, the winner of the competition of 2012. For every enemy it keeps the set of ranks that are still
    possible. Scouts, Sergeants, Lieutenants and Captains attack what it does not know; what it knows is killed by the
    weakest piece that surely wins and is not retaken; Miners go only for known Bombs. Its pieces never run away, it
    never makes a position again that it made before, and it resigns when nothing else is left.
    Deviations: it keeps to the rules of repetition (a rule goes on to its next candidate); it remembers the positions
    since the last battle, as many as a record keeps, and compares them by the ranks that it knows now.
    """

    setups: str = option("own", "how it sets up: own, or a way that other agents know, such as human")
    retreat: bool = option(False, "let pieces run from sure death, which the original meant to do and never did")


WINDING = (DOWN, LEFT, UP, RIGHT)
"""Order in which directions are gone through."""

# Sets of types, a bit for each.
MOVERS = (1 << MOVABLE_TYPES) - 1
EVERYTHING = (1 << len(TYPES)) - 1
FIXED = 1 << BOMB | 1 << FLAG


def _at_least(kind: int) -> int:
    return MOVERS & ~((1 << kind) - 1)


KILLERS = np.array([*(_at_least(kind) for kind in range(MARSHAL)), 1 << MARSHAL | 1 << SPY, MOVERS, 1 << MINER])
"""By type: the types that kill it, or fall with it."""
SAFE_KILLERS = np.array([*(_at_least(kind + 1) for kind in range(MARSHAL)), 1 << SPY, MOVERS, 1 << MINER])
"""By type: the types that kill it and live."""
BEATEN = np.array([MOVERS & ~_at_least(kind) | 1 << FLAG for kind in range(MOVABLE_TYPES)])
"""By type: the types that it surely beats."""
BEATEN[MINER] = 1 << SCOUT | FIXED
BEATEN[SPY] = 1 << MARSHAL
MATCHED = BEATEN | 1 << np.arange(MOVABLE_TYPES)
"""By type: the types that it beats or ties with."""
LOWLY = (SCOUT, 3, 4, 5)
"""Types that are sent to find out, the first of them first: Scouts, Sergeants, Lieutenants, Captains."""
SMALL = 5
"""The strongest type that may be retaken: Captains and weaker ones."""

FAR = 1 << 14
"""More steps than any way has."""

ATTACK, OTHER = ord("A"), ord("O")
SPY_ALARM = np.frombuffer(b"RARROAOORARRRARRXAXAOAOOXAXAXAXA", np.uint8)
"""Ways to meet a piece beside the Marshal that may be the Spy: the Marshal attacks it, a lowly piece does, or
neither. By case (`guard_marshal`)."""


@kernel
def suppose(sight):
    """Return, by square, the set of types that the enemy piece there may have; 0 where none stands."""
    sets = np.zeros(len(sight.own), np.int64)
    left = sight.unseen.copy()
    for square in sight.foes:
        enemy = sight.enemy[square]
        if enemy == STILL:
            sets[square] = EVERYTHING
        elif enemy == STIRRED:
            sets[square] = MOVERS
        else:
            sets[square] = 1 << enemy
    # A type of which none is left belongs to no piece. A piece that can have one type only has it, and one less is
    # left.
    settled = np.zeros(len(sight.own), np.bool_)
    changed = True
    while changed:
        changed = False
        possible = 0
        for kind in range(12):
            if left[kind] > 0:
                possible |= 1 << kind
        for square in sight.foes:
            if sight.enemy[square] >= STILL and not settled[square]:
                sets[square] &= possible
                if sets[square] & (sets[square] - 1) == 0:
                    settled[square] = True
                    changed = True
                    for kind in range(12):
                        if sets[square] == 1 << kind:
                            left[kind] -= 1
    return sets


@kernel
def is_one(kinds):
    """Return whether a set has one type: the piece is identified."""
    return kinds != 0 and kinds & (kinds - 1) == 0


@kernel
def is_open(kinds):
    """Return whether a set has several types: the piece is unknown."""
    return kinds & (kinds - 1) != 0


@kernel
def dangers(sight, sets):
    """Return, by square, the movable types that may stand beside it; and the same for identified pieces only."""
    possible = np.zeros(len(sets), np.int64)
    known = np.zeros(len(sets), np.int64)
    for foe in sight.foes:
        kinds = sets[foe] & MOVERS
        for direction in range(4):
            square = sight.beside[foe, direction]
            if square != NOWHERE:
                possible[square] |= kinds
                if is_one(sets[foe]):
                    known[square] |= kinds
    return possible, known


@kernel
def repeated(game, sight, sets):
    """Find the quiet moves (source, target) that would make a position again which an own move has made.

    Goes back through the moves since the last battle. The position after one of these moves differs from the present
    one in two squares: an earlier position that differs in the same way is the one that it would make again.
    """
    words, rules = game.words, game.rules
    squares, history = rules[SQUARES], rules[HISTORY]
    quiet = min(np.int64(words[QUIET]), history)
    now = np.zeros(squares, np.int64)
    for square in sight.units:
        now[square] = 1 + sight.own[square]
    for square in sight.foes:
        now[square] = -sets[square] if is_one(sets[square]) else -EVERYTHING
    then = now.copy()
    moves = np.empty((quiet, 2), np.int64)
    count = 0
    differing = 0
    slot = np.int64(words[RECORDED]) % history
    # The latest move is the enemy's: after an odd number of moves taken back stands what an own move has made.
    for back in range(1, quiet):
        slot = slot - 1 if slot > 0 else history - 1
        move = np.int64(game.halves[slot])
        source, target = move & 127, (move >> 7) & 127
        differing -= (then[source] != now[source]) + (then[target] != now[target])
        then[source] = then[target]
        then[target] = 0
        differing += (then[source] != now[source]) + (then[target] != now[target])
        if back & 1 and differing == 2:
            emptied, filled = NOWHERE, NOWHERE
            for square in range(squares):
                if then[square] != now[square]:
                    if then[square] == 0:
                        emptied = square
                    else:
                        filled = square
            if emptied >= 0 and filled >= 0 and now[filled] == 0 and now[emptied] > 0 and then[filled] == now[emptied]:
                moves[count] = emptied, filled
                count += 1
    return moves[:count]


class Mind(NamedTuple):
    """Its reading of a position."""

    sight: Any
    sets: Any
    """By square: the types that the enemy piece there may have, 0 where none stands."""
    possible: Any
    """By square: the movable types that may stand beside it."""
    known: Any
    """The same for identified pieces only."""
    repeats: Any
    """The quiet moves that would make a position again."""
    soldiers: Any
    """The squares of the own movable pieces, the own back row first."""
    vanguard: Any
    """The same, the farthest row first."""
    enemies: Any
    """The squares of the enemy's pieces, the own back row first."""


@kernel
def think(game):
    """Return its reading of the position, with all that the rules below ask for."""
    sight = look(game)
    sets = suppose(sight)
    possible, known = dangers(sight, sets)
    soldiers = np.empty(len(sight.units), np.int64)
    vanguard = np.empty(len(sight.units), np.int64)
    enemies = np.empty(len(sight.foes), np.int64)
    columns = sight.column[len(sets) - 1] + 1
    rows = sight.row[len(sets) - 1] + 1
    soldier_count, vanguard_count, enemy_count = 0, 0, 0
    for line in range(rows):
        home = columns * (line if sight.player == 0 else rows - 1 - line)
        far = columns * (rows - 1) - home
        for column in range(columns):
            if sight.enemy[home + column] != NOWHERE:
                enemies[enemy_count] = home + column
                enemy_count += 1
            if is_mobile(sight.own[home + column]):
                soldiers[soldier_count] = home + column
                soldier_count += 1
            if is_mobile(sight.own[far + column]):
                vanguard[vanguard_count] = far + column
                vanguard_count += 1
    repeats = repeated(game, sight, sets)
    return Mind(sight, sets, possible, known, repeats, soldiers[:soldier_count], vanguard[:vanguard_count], enemies)


@kernel
def is_fine(game, mind, source, target, direction):
    """Return whether a move is legal and, unless it attacks, makes no position again."""
    if not may_step(game, target, direction):
        return False
    if mind.sets[target] == 0:
        for repeat in mind.repeats:
            if repeat[0] == source and repeat[1] == target:
                return False
    return True


@kernel
def choose(game, seed, options, prior):
    """Choose by the first rule that applies."""
    mind = think(game)
    source, target = take_marshal(game, mind)
    if source < 0:
        source, target = guard_marshal(game, mind)
    if source < 0:
        source, target = attack_weaker(game, mind)
    if source < 0:
        source, target = attack_unknown(game, mind)
    if source < 0 and options[0] != 0.0:
        source, target = run_away(game, mind)
    if source < 0:
        source, target = scout(game, mind)
    if source < 0:
        source, target = approach(game, mind, BEATEN, mind.possible, KILLERS)
    if source < 0:
        source, target = explore(game, mind)
    if source < 0:
        source, target = approach(game, mind, MATCHED, mind.possible, SAFE_KILLERS)
    if source < 0:
        source, target = advance(game, mind)
    if source < 0:
        return np.int64(RESIGNS)
    return encode(game.rules, mind.sight.player, source, target)


# ── The rules: each gives a move (source, target), or NOWHERE twice ──────────────────────────────


@kernel
def take_marshal(game, mind):
    """Let the Spy take the Marshal beside it."""
    sight = mind.sight
    for source in mind.soldiers:
        if sight.own[source] == SPY:
            for direction in WINDING:
                target = sight.beside[source, direction]
                if target >= 0 and mind.sets[target] == 1 << MARSHAL and may_step(game, target, direction):
                    return source, target
    return NOWHERE, NOWHERE


@kernel
def guard_marshal(game, mind):
    """Deal with pieces beside the own Marshal that may be the Spy."""
    sight, sets = mind.sight, mind.sets
    if not spy_at_large(mind):
        return NOWHERE, NOWHERE
    for marshal in mind.soldiers:
        if sight.own[marshal] != MARSHAL:
            continue
        unknown = 0
        for direction in WINDING:
            square = sight.beside[marshal, direction]
            if square >= 0 and is_open(sets[square]):
                unknown += 1
        if unknown == 0:
            continue
        refuge = safe_direction(mind, marshal)
        for direction in WINDING:
            enemy = sight.beside[marshal, direction]
            if enemy < 0 or not is_open(sets[enemy]):
                continue
            case = 16 * (refuge < 0) + 8 * (unknown > 1) + (sight.enemy[enemy] == STIRRED)
            helped, company = False, False
            helper = NOWHERE
            for way in WINDING:
                near = sight.beside[enemy, way]
                if near < 0:
                    continue
                company |= is_open(sets[near])
                if is_lowly(sight.own[near]):
                    helped = True
                    if helper < 0 and may_step(game, enemy, way ^ 1):
                        helper = near
            case += 4 * helped + 2 * company
            if SPY_ALARM[case] == ATTACK and may_step(game, enemy, direction):
                return marshal, enemy
            if SPY_ALARM[case] == OTHER and helper >= 0:
                return helper, enemy
        if refuge >= 0 and is_fine(game, mind, marshal, sight.beside[marshal, refuge], refuge):
            return marshal, sight.beside[marshal, refuge]
    return NOWHERE, NOWHERE


@kernel
def spy_at_large(mind):
    """Return whether some enemy may be the Spy without being known to be."""
    for square in mind.enemies:
        if is_open(mind.sets[square]) and mind.sets[square] & 1 << SPY:
            return True
    return False


@kernel
def safe_direction(mind, source):
    """Find a direction in which an own piece can step and not be killed, backwards first; −1 if there is none."""
    sight = mind.sight
    first = 2 if sight.player == 0 else 0
    for index in range(4):
        direction = WINDING[(first + index) % 4]
        square = sight.beside[source, direction]
        if square >= 0 and sight.free[square] and mind.possible[square] & KILLERS[sight.own[source]] == 0:
            return direction
    return -1


@kernel
def is_lowly(kind):
    """Return whether a piece is one of those sent to find out."""
    return kind == LOWLY[0] or kind == LOWLY[1] or kind == LOWLY[2] or kind == LOWLY[3]


@kernel
def attack_weaker(game, mind):
    """Let the weakest piece take what it surely beats, if it cannot be retaken."""
    sight = mind.sight
    for target in mind.enemies:
        weakest, attacker = MOVABLE_TYPES, NOWHERE
        for direction in WINDING:
            source = sight.beside[target, direction]
            if source < 0 or not is_mobile(sight.own[source]):
                continue
            kind = sight.own[source]
            if kind < weakest and mind.sets[target] & ~BEATEN[kind] == 0 and mind.possible[target] & KILLERS[kind] == 0:
                if may_step(game, target, direction ^ 1):
                    weakest, attacker = kind, source
        if attacker >= 0:
            return attacker, target
    return NOWHERE, NOWHERE


@kernel
def attack_unknown(game, mind):
    """Let a lowly piece attack an unknown one beside it."""
    sight = mind.sight
    for kind in LOWLY:
        for source in mind.vanguard:
            if sight.own[source] == kind:
                for direction in WINDING:
                    target = sight.beside[source, direction]
                    if target >= 0 and is_open(mind.sets[target]) and may_step(game, target, direction):
                        return source, target
    return NOWHERE, NOWHERE


@kernel
def run_away(game, mind):
    """Send a piece that has moved, and stands beside one that surely kills it, towards another enemy."""
    sight = mind.sight
    words = game.words
    ways = plan(mind)
    for source in mind.vanguard:
        kind = sight.own[source]
        if not holds(words[MOVED], words[MOVED + 1], source):
            continue
        doomed = False
        for direction in WINDING:
            near = sight.beside[source, direction]
            if near >= 0 and mind.sets[near] & MOVERS and mind.sets[near] & MOVERS & ((1 << kind) - 1) == 0:
                doomed = True
        if not doomed:
            continue
        best, best_step = FAR, NOWHERE
        for target in mind.enemies:
            if not is_open(mind.sets[target]) and mind.sets[target] & ~BEATEN[kind]:
                continue
            if apart(sight, source, target) > best:
                continue
            length, step, direction = way_to(mind, ways, source, target, mind.known, SAFE_KILLERS)
            if length < FAR and may_step(game, step, direction):
                best, best_step = length, step
        if best_step >= 0:
            return source, best_step
    return NOWHERE, NOWHERE


@kernel
def scout(game, mind):
    """Send a Scout to where it stands beside most unknown pieces, and beside no other."""
    sight = mind.sight
    most, best_source, best_target = 0, NOWHERE, NOWHERE
    for source in mind.soldiers:
        if sight.own[source] != SCOUT:
            continue
        for direction in WINDING:
            target = sight.beside[source, direction]
            while target >= 0 and sight.free[target]:
                unknown = 0
                for way in WINDING:
                    near = sight.beside[target, way]
                    if near >= 0 and mind.sets[near]:
                        unknown = unknown + 1 if is_open(mind.sets[near]) else -4
                if unknown > most and is_fine(game, mind, source, target, direction):
                    most, best_source, best_target = unknown, source, target
                target = sight.beside[target, direction]
    return best_source, best_target


@kernel
def approach(game, mind, prey, danger, killers):
    """Send the piece with the shortest safe way to something that it beats."""
    sight = mind.sight
    ways = plan(mind)
    best, best_source, best_step = FAR, NOWHERE, NOWHERE
    for target in mind.enemies:
        kinds = mind.sets[target]
        if kinds & 1 << BOMB and kinds & 1 << MARSHAL:
            continue
        for source in mind.soldiers:
            kind = sight.own[source]
            if kinds & ~prey[kind] or (kind > SMALL and mind.possible[target] & KILLERS[kind]):
                continue
            if apart(sight, source, target) > best:
                continue
            length, step, direction = way_to(mind, ways, source, target, danger, killers)
            if length < FAR and is_fine(game, mind, source, step, direction):
                best, best_source, best_step = length, source, step
    return best_source, best_step


@kernel
def explore(game, mind):
    """Send the lowly piece with the shortest way to an unknown one, past known dangers only."""
    sight = mind.sight
    ways = plan(mind)
    best, best_source, best_step = FAR, NOWHERE, NOWHERE
    for target in mind.enemies:
        if not is_open(mind.sets[target]):
            continue
        for source in mind.soldiers:
            if not is_lowly(sight.own[source]) or apart(sight, source, target) > best:
                continue
            length, step, direction = way_to(mind, ways, source, target, mind.known, SAFE_KILLERS)
            if length < FAR and is_fine(game, mind, source, step, direction):
                best, best_source, best_step = length, source, step
    return best_source, best_step


@kernel
def advance(game, mind):
    """Take any step forward, else any step."""
    sight = mind.sight
    forward = DOWN if sight.player == 0 else UP
    for source in mind.vanguard:
        target = sight.beside[source, forward]
        if is_fine(game, mind, source, target, forward):
            return source, target
    for source in mind.vanguard:
        for direction in WINDING:
            target = sight.beside[source, direction]
            if is_fine(game, mind, source, target, direction):
                return source, target
    return NOWHERE, NOWHERE


# ── Ways ─────────────────────────────────────────────────────────────────────────────────────────


class Ways(NamedTuple):
    """The ways of pieces, by the squares of piece and goal; worked out for a piece when it is first asked for."""

    done: Any
    """By piece: True if worked out."""
    turn: Any
    """Turn at which the square was reached, counting from 0 (the piece's own square); `FAR` if it was not."""
    steps: Any
    heading: Any
    """The direction of the first step."""
    queue: Any


@kernel
def plan(mind):
    """Return ways of which none is worked out yet."""
    squares = len(mind.sets)
    return Ways(
        np.zeros(squares, np.bool_),
        np.empty((squares, squares), np.int16),
        np.empty((squares, squares), np.int16),
        np.empty((squares, squares), np.int8),
        np.empty(squares, np.int64),
    )


@kernel
def apart(sight, source, target):
    """Count the steps from square to square on an empty board."""
    return abs(sight.row[source] - sight.row[target]) + abs(sight.column[source] - sight.column[target])


@kernel
def way_to(mind, ways, source, target, danger, killers):
    """Find a piece's shortest way over safe squares to one beside an enemy: return its length and its first step.

    Beside it already, the length is 0 and the step is the attack. Without a way the length is `FAR`.
    """
    sight = mind.sight
    if not ways.done[source]:
        spread_out(mind, ways, source, danger, killers)
    last, ending = np.int64(FAR), 0
    for direction in range(4):
        near = sight.beside[target, direction]
        if near >= 0 and ways.turn[source, near] < last:
            last, ending = np.int64(ways.turn[source, near]), direction
    if last == FAR:
        return np.int64(FAR), np.int64(NOWHERE), np.int64(0)
    if last == 0:
        return np.int64(0), target, np.int64(ending ^ 1)
    near = sight.beside[target, ending]
    heading = np.int64(ways.heading[source, near])
    return np.int64(ways.steps[source, near]), sight.beside[source, heading], heading


@kernel
def spread_out(mind, ways, source, danger, killers):
    """Work out the squares that a piece can reach without being killed on the way."""
    sight = mind.sight
    turn, steps, heading, queue = ways.turn[source], ways.steps[source], ways.heading[source], ways.queue
    mask = killers[sight.own[source]]
    turn[:] = FAR
    turn[source] = 0
    steps[source] = 0
    queue[0] = source
    first, last = 0, 1
    while first < last:
        square = queue[first]
        first += 1
        for direction in WINDING:
            target = sight.beside[square, direction]
            if target < 0 or turn[target] != FAR or not sight.free[target] or danger[target] & mask:
                continue
            turn[target] = last
            steps[target] = steps[square] + 1
            heading[target] = direction if square == source else heading[square]
            queue[last] = target
            last += 1
    ways.done[source] = True


BOT = Bot("prober", choose, Options, open_setup)
