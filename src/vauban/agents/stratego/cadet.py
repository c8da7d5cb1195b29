"""`CadetAgent`: plays by the book, for people who are new to the game.

It weighs every legal move by four things and plays the heaviest:

- what a battle would win or lose, over all types that the other piece can still have;
- whether the piece comes nearer to something that it would like to strike;
- whether it walks into, or out of, the reach of a piece that beats it;
- patience: the longer the game is without a battle, the more it likes to strike unknown pieces.

From the first follows the book: it takes what it surely beats, keeps away from what is known to be
stronger, tries unknown pieces with Scouts and middling ranks before it risks a General, and sends
Miners to what never moves. It looks no move ahead, remembers nothing and does not bluff.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from vauban.agents.base import Actions, Seeds, chance, check_family
from vauban.board.stratego import Piece, View
from vauban.games.base import Game
from vauban.games.stratego import rules
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, MOVABLE_TYPES, SCOUT, SPY, TYPES, WORTH
from vauban.games.stratego.setups import Row, can_move_first
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego.moves import Move
from vauban.sim.store import Snapshot

CURIOSITY = 1.0
"""Worth of learning a piece's type."""
SECRECY = 0.25
"""Share of its worth that a strong piece loses when it becomes known."""
NEARER = 0.8
"""Share of a wish that is left for every step on the way to it."""
CAUTION = 0.8
"""Share of a piece's worth that counts as lost beside one that is known to beat it."""
SHADOW = {True: 0.3, False: 0.1}
"""The same beside an unknown piece that beats it, if that one has moved already, and if it has not."""
PATIENCE = 40
"""Plies without a battle after which it is twice as curious."""

DEPTH = {SPY: 0.45, SCOUT: 0.9, MINER: 0.15, BOMB: 0.3, MARSHAL: 0.5}
"""Preferred place of a type in its setup: 0 is the back row, 1 the front; the others `AHEAD`."""
AHEAD = 0.75

Chances = Mapping[int, float]


class CadetAgent:
    """Plays by the book: takes what it beats, probes what it does not know."""

    name = "cadet"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def check_plays(self, game: Game) -> None:
        """Refuse games of other families."""
        check_family(self.name, "stratego", game)

    # ── Setup ────────────────────────────────────────────────────────────────────────────────────

    def set_up(self, game: Stratego, player: int, rng: random.Random) -> Row:
        """Set the Flag somewhere in the back row with Bombs around it, Scouts ahead, Miners behind."""
        while True:
            setup = _draw_setup(game.variant, rng)
            if can_move_first(setup, game.variant) or rng.random() < 0.01:  # some armies cannot do better
                return setup

    # ── Moves ────────────────────────────────────────────────────────────────────────────────────

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        self.check_plays(views.game)
        return np.array([self._choose(View.from_snapshot(views, row), seed) for row, seed in enumerate(seeds.tolist())])

    def _choose(self, view: View, seed: int) -> int:
        own, enemies = view.pieces(view.player), view.pieces(1 - view.player)
        chances = _chances(view, enemies)
        curiosity = CURIOSITY * (1 + view.battleless / PATIENCE)
        wishes = {
            (kind, secret): {
                square: _gain(kind, secret, piece, chances[square], curiosity) for square, piece in enemies.items()
            }
            for kind, secret in {(piece.kind or 0, not piece.revealed) for piece in own.values()}
            if kind < MOVABLE_TYPES
        }
        taken = own.keys() | enemies.keys()
        ways = {square: _distances(square, view.variant, taken) for square in enemies}
        near = _neighbours(view.variant)
        rng = chance(seed, view)

        def pull(wish: Mapping[int, float], square: int) -> float:
            """Return a piece's wish to stand on a square, for what it can reach from there."""
            return max((gain * NEARER ** ways[e].get(square, 99) for e, gain in wish.items() if gain > 0), default=0.0)

        def danger(kind: int, square: int, besides: int | None = None) -> float:
            """Return the share of a piece that counts as lost on a square."""
            worst = 0.0
            for beside in near[square]:
                if beside not in enemies or beside == besides:
                    continue
                risk = sum(p for other, p in chances[beside].items() if _fight(other, kind) > 0)
                worst = max(worst, risk * (CAUTION if enemies[beside].revealed else SHADOW[enemies[beside].moved]))
            return worst * WORTH[kind]

        def weight(move: Move) -> float:
            source, target = move
            piece = own[source]
            kind = piece.kind or 0
            wish = wishes[kind, not piece.revealed]
            flight = danger(kind, source)
            if target in enemies:
                survives = sum(p for other, p in chances[target].items() if _fight(kind, other) > 0)
                return wish[target] + flight - survives * danger(kind, target, besides=target)
            shown = 0.3 if kind == SCOUT and not piece.revealed and target not in near[source] else 0.0
            return pull(wish, target) - pull(wish, source) + flight - danger(kind, target) - shown

        move = max(view.legal_moves, key=lambda move: weight(move) + 0.1 * rng.random())
        return view.game.encode(view.player, *move)


def _chances(view: View, enemies: Mapping[int, Piece]) -> dict[int, Chances]:
    """Return, for each enemy piece, the probability of each type: counted from what is hidden and what has moved."""
    counts = view.hidden_types()
    movable = sum(count for kind, count in counts.items() if kind < MOVABLE_TYPES)
    hidden = [piece for piece in enemies.values() if not piece.revealed]
    moved = sum(piece.moved for piece in hidden)
    still = len(hidden) - moved
    walker: dict[int, float] = {kind: count / movable for kind, count in counts.items() if kind < MOVABLE_TYPES}
    share = (movable - moved) / still / movable if still and movable else 0.0
    sitter: dict[int, float] = {
        kind: count * share if kind < MOVABLE_TYPES else count / max(still, 1)
        for kind, count in counts.items()
        if count
    }
    return {
        square: {piece.kind: 1.0} if piece.kind is not None else walker if piece.moved else sitter
        for square, piece in enemies.items()
    }


def _gain(kind: int, secret: bool, enemy: Piece, chances: Chances, curiosity: float) -> float:
    """Estimate the gain from striking an enemy piece with one of its own."""
    gain = 0.0
    for other, probability in chances.items():
        outcome = _fight(kind, other)
        gain += probability * (WORTH[other] * (outcome >= 0) - WORTH[kind] * (outcome <= 0))
    if not enemy.revealed:
        gain += curiosity
    return gain - (SECRECY * WORTH[kind] if secret and kind > 5 else 0.0)


@lru_cache(None)
def _fight(attacker: int, defender: int) -> int:
    """Return 1 if the attacker wins, −1 if the defender does, 0 if both fall."""
    if attacker >= MOVABLE_TYPES:
        return -1
    battle: Callable[[int, int], int] = rules.battle
    return {rules.DEFENDER_DIES: 1, rules.BOTH_DIE: 0, rules.ATTACKER_DIES: -1}[battle(attacker, defender)]


@lru_cache(8)
def _neighbours(variant: Variant) -> tuple[tuple[int, ...], ...]:
    """Return the squares next to each square, lakes left out."""
    near = []
    for square in range(variant.squares):
        column = square % variant.columns
        steps = [square - variant.columns, square + variant.columns]
        steps += [square - 1] * (column > 0) + [square + 1] * (column + 1 < variant.columns)
        near.append(tuple(step for step in steps if 0 <= step < variant.squares and step not in variant.lakes))
    return tuple(near)


def _distances(goal: int, variant: Variant, taken: set[int]) -> dict[int, int]:
    """Count the steps over empty squares that lead from each square to the goal."""
    near = _neighbours(variant)
    steps = {goal: 0}
    edge = [goal]
    while edge:
        wider = []
        for square in edge:
            for beside in near[square]:
                if beside not in steps:
                    steps[beside] = steps[square] + 1
                    if beside not in taken:
                        wider.append(beside)
        edge = wider
    return steps


def _draw_setup(variant: Variant, rng: random.Random) -> Row:
    width, depth = variant.columns, variant.setup_rows
    setup = np.zeros(width * depth, np.int8)
    flag = rng.randrange(width)
    setup[flag] = 1 + FLAG
    guards = [beside for beside in _neighbours(variant)[flag] if beside < width * depth]
    rng.shuffle(guards)
    bombs = variant.army[BOMB]
    setup[guards[:bombs]] = 1 + BOMB
    rest = [kind for kind in range(len(TYPES)) for _ in range(variant.army[kind]) if kind not in (FLAG, BOMB)]
    rest += [BOMB] * (bombs - len(guards))
    rng.shuffle(rest)

    def discomfort(square: int, kind: int) -> float:
        row = square // width / max(depth - 1, 1)
        return abs(row - DEPTH.get(kind, AHEAD)) + 0.5 * rng.random()

    for kind in rest:
        free = [square for square in range(width * depth) if setup[square] == 0]
        setup[min(free, key=lambda square: discomfort(square, kind))] = 1 + kind
    return setup
