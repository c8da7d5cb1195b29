"""`random`: every setup and every legal action with the same chance, in any game."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vauban.agents.base import Actions, Floats, Row, Seeds
from vauban.agents.options import option, options_text
from vauban.agents.setups import make_sampler
from vauban.games.base import PLAYER, PLIES, STEP
from vauban.games.kernel import Record, kernel
from vauban.games.randomness import MOVE, below
from vauban.sim.bodies import legal_action, legal_count
from vauban.sim.compile import CPU, compiled, progress

if TYPE_CHECKING:
    from vauban.games.base import Game
    from vauban.sim.store import Snapshot


@dataclass(frozen=True)
class Options:
    """Plays any legal move. Anyone can beat it."""

    setups: str = option("own", "how it sets up: own (any setup with the same chance), human, list:FILE, …")


class RandomAgent:
    """Plays any legal move. Anyone can beat it."""

    def __init__(self, seed: int = 0, options: Options | None = None) -> None:
        self.options = options or Options()
        text = options_text(self.options)
        self.name = f"random:{text}" if text else "random"
        self.seed = seed

    def set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        if self.options.setups == "own" and game.setups is not None:
            return game.setups.draw(rng)
        return make_sampler(self.options.setups, game)(rng)

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        actions = np.empty(len(views), np.int64)
        _run(choose_all, views, seeds, actions)
        return actions

    def policy(self, views: Snapshot) -> Floats:
        """Return the same chance for every legal action."""
        counts = np.empty(len(views), np.int64)
        _run(count_all, views, np.zeros(len(views), np.uint64), counts)
        return np.where(np.arange(views.game.max_legal) < counts[:, None], 1 / counts[:, None], 0.0)


def _run(function, views, seeds, answers):
    """Run a kernel over all views."""
    words, halves, bytes_ = views.numpy().store
    compiled_ = compiled(function, CPU, vars(views.game.kernels), TRACKS=False)
    with progress(compiled_, "random"):
        compiled_(
            words.view(np.uint64), halves.view(np.uint16), bytes_, views.format.parameters,
            np.asarray(seeds, np.uint64), answers,
        )  # fmt: skip


@kernel
def choose_all(words, halves, bytes_, rules, seeds, actions):
    """Choose any legal action in every game."""
    for row in range(len(words)):
        game = Record(words[row], halves[row], bytes_[row], rules)
        player, ply = np.uint64(game.bytes[PLAYER]), np.int64(game.words[PLIES])
        actions[row] = legal_action(game, below(legal_count(game), seeds[row], player, ply, game.bytes[STEP], MOVE, 0))


@kernel
def count_all(words, halves, bytes_, rules, seeds, counts):
    """Count the legal actions of every game."""
    for row in range(len(words)):
        counts[row] = legal_count(Record(words[row], halves[row], bytes_[row], rules))
