"""`runner`: the good ghost nearest to an exit goes straight there."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vauban.agents.geister.compiled import Bot
from vauban.agents.geister.own_setups import good_ahead
from vauban.agents.geister.terrain import (
    MOST_MOVES,
    as_action,
    beside,
    escape_action,
    is_in,
    set_of,
    sources,
    stepped,
    survey,
    towards,
)
from vauban.agents.options import option
from vauban.games.base import PLAYER, PLIES
from vauban.games.geister.hidden import count_evil
from vauban.games.geister.layout import EVIL, MOST_GHOSTS, PIECES, PLACE, PROVEN, SQUARES, WIDTH
from vauban.games.geister.rules import exit_squares, leavers
from vauban.games.kernel import ZERO, kernel, lowest
from vauban.games.randomness import MOVE, below


@dataclass(frozen=True)
class Options:
    """Runs straight to an exit with the good ghost that is nearest to one.

    It escapes as soon as it can. Until then it moves the good ghost with the shortest way to an exit, of several such
    ghosts and ways any with the same chance. A way leads over empty squares and over enemy ghosts, which are captured
    in passing, but not over its own ghosts, which it does not ask to step aside. Where one evil ghost is left to the
    enemy it captures only what cannot be that one, since it would lose otherwise. When no good ghost has a way, it
    makes any move that captures nothing, and if there is none, any move.

    With careful=1 a good ghost keeps away from squares beside an enemy ghost, where it could be captured at once. It
    makes the first of these moves that there is: a step to a safe square on a shortest way of a good ghost, of the
    ghost that is nearest to an exit; any other step of a good ghost to a safe square, where the rest of the way is
    shortest; a step as without this option. That saves ghosts from an enemy who guards its corners, and loses time in a
    race against one who does not.

    It does not defend its own side, and its evil ghosts move only when nobody else can go anywhere.
    """

    setups: str = option(
        "own", "how it sets up: own (good ghosts nearest to the exits), uniform, list:FILE, fixed:TEXT"
    )
    careful: bool = option(False, "whether good ghosts keep away from squares where they could be captured at once")


@kernel
def choose(game, seed, options, prior):
    """Return an escape, else a step of the nearest good ghost to an exit, else any move."""
    player = np.int64(game.bytes[PLAYER])
    terrain = survey(game.rules)
    own, foes = game.words[PIECES + player], game.words[PIECES + 1 - player]
    good = own & ~game.words[EVIL + player]
    leaving = leavers(game, player)
    if leaving[0] | leaving[1]:
        return escape_action(terrain, player, lowest(leaving[0] | leaving[1]))
    exits = exit_squares(game.rules[SQUARES], game.rules[WIDTH], player)
    goals = exits[0] | exits[1]
    walls = own | untouchable(game, 1 - player)
    attacked = beside(terrain, foes)
    source, target = -1, -1
    if options[0] != 0:
        source, target = next_step(game, terrain, good, goals, walls, ~attacked, True, seed)
        if source < 0:
            source, target = next_step(game, terrain, good, goals, walls, ~attacked, False, seed)
    if source < 0:
        source, target = next_step(game, terrain, good, goals, walls, ~ZERO, True, seed)
    if source < 0:
        return any_move(game, terrain, player, seed)
    return as_action(terrain, player, source, towards(terrain, source, target))


@kernel
def untouchable(game, enemy):
    """Return the enemy ghosts whose capture could lose the game: those that may be its last evil one."""
    if count_evil(game, enemy) > 1:
        return ZERO
    pieces = game.words[PIECES + enemy]
    if game.bytes[PROVEN + enemy] == 0:
        return pieces
    proven = ZERO
    for ghost in range(MOST_GHOSTS):
        square = np.int64(game.bytes[PLACE + MOST_GHOSTS * enemy + ghost])
        if (game.bytes[PROVEN + enemy] >> ghost) & 1 and square < game.rules[SQUARES]:
            proven |= set_of(square)
    return proven if proven else pieces


@kernel
def next_step(game, terrain, good, goals, walls, allowed, nearer, seed):
    """Return the square of the good ghost with the shortest way to a goal, and the next one on it; −1 if none has any.

    The way avoids the walls, and its first square is an allowed one. With `nearer` it is also on a shortest way of its
    ghost.
    """
    edge = goals & ~walls
    reached = edge
    while edge:
        near = beside(terrain, edge)
        found = beside(terrain, edge & allowed) & good
        if found:
            return draw_step(game, terrain, found, edge & allowed, seed)
        if nearer:
            good &= ~near
        edge = near & ~reached & ~walls
        reached |= edge
    return -1, -1


@kernel
def draw_step(game, terrain, ghosts, targets, seed):
    """Draw a step of one of these ghosts to one of these squares beside them."""
    steps = np.empty((MOST_MOVES, 2), np.int64)
    count = 0
    while ghosts:
        source = lowest(ghosts)
        ghosts &= ~set_of(source)
        near = beside(terrain, set_of(source)) & targets
        while near:
            target = lowest(near)
            near &= ~set_of(target)
            steps[count, 0], steps[count, 1] = source, target
            count += 1
    index = chance_below(game, count, seed)
    return steps[index, 0], steps[index, 1]


@kernel
def any_move(game, terrain, player, seed):
    """Return a random move that captures nothing; any move if there is none."""
    own, foes = game.words[PIECES + player], game.words[PIECES + 1 - player]
    actions = np.empty(MOST_MOVES, np.int64)
    for shy in (True, False):
        count = 0
        for direction in range(4):
            moving = sources(terrain, own, direction)
            while moving:
                source = lowest(moving)
                moving &= ~set_of(source)
                if not (shy and is_in(foes, stepped(terrain, source, direction))):
                    actions[count] = as_action(terrain, player, source, direction)
                    count += 1
        if count > 0:
            return actions[chance_below(game, count, seed)]
    return actions[0]


@kernel
def chance_below(game, bound, seed):
    """Return a random number from 0 to bound − 1."""
    return below(bound, seed, np.uint64(game.bytes[PLAYER]), np.int64(game.words[PLIES]), 0, MOVE, 0)


BOT = Bot("runner", choose, Options, good_ahead)
