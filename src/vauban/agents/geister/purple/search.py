"""Minimax with alpha–beta over purple ghosts, without recursion: a row of every array for each ply below the root."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from typing import NamedTuple

import numpy as np

from vauban.agents.geister.purple.evaluate import Sides, evaluate
from vauban.agents.geister.terrain import (
    MOST_MOVES,
    Terrain,
    as_action,
    escape_action,
    is_in,
    set_of,
    sources,
    stepped,
    survey,
)
from vauban.games.base import PLAYER, PLIES
from vauban.games.geister.hidden import count_evil
from vauban.games.geister.layout import (
    EVIL,
    MOST_GHOSTS,
    PIECES,
    PLACE,
    PROVEN,
    SECOND_WINS,
    SQUARES,
    TOTAL_LIMIT,
    WIDTH,
)
from vauban.games.geister.rules import exit_squares
from vauban.games.kernel import ZERO, kernel, lowest, popcount
from vauban.games.randomness import MOVE, below

MOST_DEPTH = 20
WIN = 100_000
"""Worth of a win at the root; one later by so many plies is worth so much less."""
CERTAIN = WIN - 1000
INFINITY = 10 * WIN
FULL_SCALE = 1000
"""Points that count as a game as good as won, where a value from −1 to 1 is wanted."""
OWN_GOOD, OWN_EVIL, FOE_GOOD, FOE_EVIL, PURPLE = range(5)
FOE_EVIL_LEFT, FOE_GOOD_LEFT = 0, 1
NOT_OVER = 2 * INFINITY


class Search(NamedTuple):
    """Working memory of a search."""

    terrain: Terrain
    player: np.int64
    exits: np.uint64
    foe_exits: np.uint64
    plies_left: np.int64
    """Plies until the limit."""
    at_limit: np.int64
    """Worth of the limit to the player at the root."""
    sets: np.ndarray
    """By ply: own good and evil ghosts, known good and evil ones of the enemy, purple ones."""
    left: np.ndarray
    """By ply: how many evil and good ghosts the enemy has left."""
    moves: np.ndarray
    """By ply: source + 64 · direction of each move."""
    counts: np.ndarray
    places: np.ndarray
    """By ply: number of moves, and of those that were tried."""
    bounds: np.ndarray
    """By ply: alpha, beta, and the best value so far, for the side on turn."""
    killers: np.ndarray
    """By ply: the latest move that refuted another."""


@kernel
def make_search(game, player, depth):
    """Return a search for a player, from what it knows of a position; it is on turn there."""
    rules = game.rules
    exits = exit_squares(rules[SQUARES], rules[WIDTH], player)
    foe_exits = exit_squares(rules[SQUARES], rules[WIDTH], 1 - player)
    at_limit = 0
    if rules[SECOND_WINS]:
        at_limit = CERTAIN if player == 1 else -CERTAIN
    search = Search(
        survey(rules), player, exits[0] | exits[1], foe_exits[0] | foe_exits[1],
        rules[TOTAL_LIMIT] - np.int64(game.words[PLIES]), np.int64(at_limit),
        np.zeros((depth + 1, 5), np.uint64), np.zeros((depth + 1, 2), np.int64),
        np.empty((depth + 1, MOST_MOVES), np.int64), np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64),
        np.zeros((depth + 1, 3), np.int64), np.full(depth + 1, -1, np.int64),
    )  # fmt: skip
    known_sides(game, player, search.sets[0], search.left[0])
    return search


@kernel
def known_sides(game, player, sets, left):
    """Write down what a player knows of who stands where."""
    other = 1 - player
    foes = game.words[PIECES + other]
    proven = ZERO
    for ghost in range(MOST_GHOSTS):
        square = np.int64(game.bytes[PLACE + MOST_GHOSTS * other + ghost])
        if (game.bytes[PROVEN + other] >> ghost) & 1 and square < game.rules[SQUARES]:
            proven |= set_of(square)
    evil = count_evil(game, other)
    surely_good = foes & ~proven if popcount(proven) == evil else ZERO
    sets[OWN_GOOD] = game.words[PIECES + player] & ~game.words[EVIL + player]
    sets[OWN_EVIL] = game.words[EVIL + player]
    sets[FOE_GOOD], sets[FOE_EVIL] = surely_good, proven
    sets[PURPLE] = foes & ~surely_good & ~proven
    left[FOE_EVIL_LEFT], left[FOE_GOOD_LEFT] = evil, popcount(foes) - evil


@kernel
def choose(game, seed, options, prior):
    """Return the move with the best minimax value, and that value as a share of a win; of equals, a random one."""
    depth = np.int64(options[0])
    search = make_search(game, np.int64(game.bytes[PLAYER]), depth)
    sets = search.sets
    leaving = sets[0, OWN_GOOD] & search.exits
    if leaving:
        return escape_action(search.terrain, search.player, lowest(leaving)), 1.0
    list_moves(search, 0)
    best, chosen, equals = -INFINITY, 0, 0
    for index in range(search.counts[0]):
        value = play(search, 0, search.moves[0, index])
        if value == NOT_OVER:
            # Equal values have to be told from smaller ones.
            value = -value_below(search, 1, depth, -INFINITY, 1 - best)
        if value > best:
            best, chosen, equals = value, index, 1
        elif value == best:
            equals += 1
            if below(equals, seed, np.uint64(search.player), np.int64(game.words[PLIES]), 0, MOVE, equals) == 0:
                chosen = index
    move = search.moves[0, chosen]
    share = min(1.0, max(-1.0, best / FULL_SCALE))
    return as_action(search.terrain, search.player, move & 63, move >> 6), share


@kernel
def value_below(search, first, depth, alpha, beta):
    """Return the value of the position at a ply to the side on turn there, searched to a depth below the root."""
    bounds, counts, places = search.bounds, search.counts, search.places
    ply = first
    bounds[ply, 0], bounds[ply, 1] = alpha, beta
    entered = True
    while True:
        value = NOT_OVER
        if entered:
            value = settled(search, ply, depth)
            if value == NOT_OVER:
                list_moves(search, ply)
                places[ply], bounds[ply, 2] = 0, -INFINITY
        if value == NOT_OVER:
            done = places[ply] == counts[ply] or bounds[ply, 2] >= bounds[ply, 1]
            if not done:
                move = search.moves[ply, places[ply]]
                places[ply] += 1
                value = play(search, ply, move)
                entered = value == NOT_OVER
                if entered:
                    bounds[ply + 1, 0], bounds[ply + 1, 1] = -bounds[ply, 1], -bounds[ply, 0]
                    ply += 1
                else:
                    improve(search, ply, value)
                continue
            value = bounds[ply, 2]
        if ply == first:
            return value
        ply -= 1
        entered = False
        improve(search, ply, -value)


@kernel
def improve(search, ply, value):
    """Take the value of the latest move at a ply into account."""
    bounds = search.bounds
    bounds[ply, 2] = max(bounds[ply, 2], value)
    bounds[ply, 0] = max(bounds[ply, 0], value)
    if value >= bounds[ply, 1]:
        search.killers[ply] = search.moves[ply, search.places[ply] - 1]


@kernel
def settled(search, ply, depth):
    """Return the value of a position to the side on turn if it is not searched further; else `NOT_OVER`."""
    own_turn = ply % 2 == 0
    if ply >= search.plies_left:
        return search.at_limit if own_turn else -search.at_limit
    sets = search.sets[ply]
    leaving = sets[OWN_GOOD] & search.exits if own_turn else (sets[FOE_GOOD] | sets[PURPLE]) & search.foe_exits
    if leaving:
        return WIN - ply - 1
    if ply < depth:
        return NOT_OVER
    value = evaluate(search.terrain, sides_of(search, ply), search.player, own_turn)
    return value if own_turn else -value


@kernel
def sides_of(search, ply):
    """Return who stands where at a ply."""
    sets, left = search.sets[ply], search.left[ply]
    return Sides(
        sets[OWN_GOOD], sets[OWN_EVIL], sets[FOE_GOOD], sets[FOE_EVIL], sets[PURPLE], left[FOE_EVIL_LEFT],
        left[FOE_GOOD_LEFT],
    )  # fmt: skip


@kernel
def list_moves(search, ply):
    """Write down the steps of the side on turn: the latest refutation, captures, steps ahead, the others."""
    terrain, sets = search.terrain, search.sets[ply]
    own_turn = ply % 2 == 0
    own, foes = sets[OWN_GOOD] | sets[OWN_EVIL], sets[FOE_GOOD] | sets[FOE_EVIL] | sets[PURPLE]
    if not own_turn:
        own, foes = foes, own
    player = search.player if own_turn else 1 - search.player
    killer = search.killers[ply]
    count = 0
    for order in range(3):
        for step in range(4):
            # Ahead first.
            direction = step if player == 0 else 3 - step
            moving = sources(terrain, own, direction)
            while moving:
                source = lowest(moving)
                moving &= moving - np.uint64(1)
                move = source + 64 * direction
                captures = is_in(foes, stepped(terrain, source, direction))
                if order == (0 if move == killer else 1 if captures else 2):
                    search.moves[ply, count] = move
                    count += 1
    search.counts[ply] = count


@kernel
def play(search, ply, move):
    """Write the position after a step to the next ply; return what the step is worth if it ends the game."""
    terrain = search.terrain
    source = move & 63
    here, there = set_of(source), set_of(stepped(terrain, source, move >> 6))
    before, after = search.sets[ply], search.sets[ply + 1]
    for kind in range(5):
        after[kind] = before[kind] & ~(here | there)
        if before[kind] & here:
            after[kind] |= there
    evil, good = search.left[ply, FOE_EVIL_LEFT], search.left[ply, FOE_GOOD_LEFT]
    won = WIN - ply - 1
    if ply % 2 == 0:
        if (before[FOE_EVIL] | before[PURPLE]) & there:
            evil -= 1
            if evil == 0:
                return -won
        elif before[FOE_GOOD] & there:
            good -= 1
            if good == 0:
                return won
    elif before[OWN_GOOD] & there and after[OWN_GOOD] == ZERO:
        return won
    elif before[OWN_EVIL] & there and after[OWN_EVIL] == ZERO:
        return -won
    search.left[ply + 1, FOE_EVIL_LEFT], search.left[ply + 1, FOE_GOOD_LEFT] = evil, good
    return NOT_OVER
