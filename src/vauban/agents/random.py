"""`random`: every setup and every legal move with the same chance."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vauban.agents.options import option
from vauban.agents.stratego.compiled import Bot, CompiledAgent
from vauban.games.base import PLAYER, PLIES, STEP
from vauban.games.kernel import kernel
from vauban.games.randomness import MOVE, below
from vauban.games.stratego.rules import legal_action, legal_count
from vauban.games.stratego.setups import Row, random_setup
from vauban.games.stratego.variants import Variant
from vauban.sim.compile import CPU, compiled

if TYPE_CHECKING:
    from vauban.sim.store import Snapshot


@dataclass(frozen=True)
class Options:
    """Plays any legal move. Anyone can beat it."""

    setups: str = option("own", "how it sets up: own (any setup with the same chance), human, list:FILE, …")


@kernel
def choose(game, seed, options, prior):
    """Any legal action."""
    player, ply = np.uint64(game.bytes[PLAYER]), np.int64(game.words[PLIES])
    return legal_action(game, below(legal_count(game), seed, player, ply, game.bytes[STEP], MOVE, 0))


def _setup(variant: Variant, player: int, rng: random.Random) -> Row:
    return random_setup(variant, rng)


BOT = Bot("random", choose, Options, _setup)


class RandomAgent(CompiledAgent):
    """Plays any legal move. Anyone can beat it."""

    def __init__(self, seed: int = 0, options: Options | None = None) -> None:
        super().__init__(BOT, options or Options(), seed)

    def probabilities(self, view: Snapshot) -> npt.NDArray[np.float64]:
        """The same chance for every legal action, in any game (`vauban.solve`)."""
        count = int(compiled(view.game.kernels.legal_count, CPU)(view.record()))
        return np.full(count, 1 / count)
