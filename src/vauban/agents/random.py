"""`RandomAgent`: every setup and every legal move with the same chance."""

from __future__ import annotations

import random

from vauban.agents.base import chance
from vauban.board import View
from vauban.games.stratego.setups import Row, random_setup
from vauban.games.stratego.variants import Variant
from vauban.notation.moves import Move


class RandomAgent:
    """Plays any legal move. Anyone can beat it."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> Row:
        return random_setup(variant, rng)

    def choose_move(self, view: View) -> Move:
        move: Move = chance(self.seed, view).choice(view.legal_moves)
        return move
