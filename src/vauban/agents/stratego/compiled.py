"""Agents whose choice is a compiled function of the view: fast alone, and for many games at once.

A bot is a kernel `choose(game, seed, options, prior)`: `game` is the record of one game from which
all that is hidden from the player on turn has been erased (the compiled form of a `View`), `seed`
the randomness it may use, `options` its numbers in the order of their fields, `prior` the statistics of human setups
(`vauban.agents.stratego.belief`). It returns a legal action, or `RESIGNS`; a bot that judges also returns the
game's worth to it. It keeps nothing between moves: everything that a bot remembers is in the record.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vauban.agents.base import Actions, Floats, Row, Seeds
from vauban.agents.options import options_text
from vauban.agents.stratego.belief import prior_table
from vauban.agents.stratego.setups import make_sampler
from vauban.errors import ConfigurationError
from vauban.games.kernel import Record, hook, kernel
from vauban.games.stratego.variants import Variant
from vauban.sim.compile import CPU, compiled, progress

if TYPE_CHECKING:
    from vauban.games.stratego.game import Stratego as Game
    from vauban.sim.store import Snapshot

OwnSetup = Callable[[Variant, int, random.Random], Row]


@dataclass(frozen=True)
class Bot:
    """The parts of a compiled agent."""

    name: str
    choose: Callable[..., Any]
    """The kernel."""
    options: type[Any]
    """A frozen dataclass: `setups`, and numbers. Its docstring describes the bot: in one line, then in full."""
    setup: OwnSetup | None = None
    """Its own way to set up; without it, it sets up as people do."""
    judges: bool = False
    """Whether the kernel returns two things: the action, and the game's worth from −1 to 1."""


class CompiledAgent:
    """A bot at a table."""

    def __init__(self, bot: Bot, options: Any, seed: int = 0) -> None:
        text = options_text(options)
        self.name = f"{bot.name}:{text}" if text else bot.name
        self.bot = bot
        self.options = options
        self.seed = seed
        self._numbers = np.array(
            [float(getattr(options, each.name)) for each in fields(options) if each.name != "setups"]
        )

    def set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        _check_plays(self.name, game)
        if self.options.setups == "own" and self.bot.setup is not None:
            return self.bot.setup(game.variant, player, rng)
        return make_sampler("human" if self.options.setups == "own" else self.options.setups, game.variant)(rng)

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        return self._answer(views, seeds)[0]

    def _answer(self, views: Snapshot, seeds: Seeds) -> tuple[Actions, Floats]:
        """Return the action for each view, and the game's worth; not a number if the bot does not judge."""
        game: Any = views.game
        _check_plays(self.name, game)
        words, halves, bytes_ = views.numpy().store
        answers = np.empty(len(views), np.int64), np.full(len(views), np.nan)
        every = judge_all if self.bot.judges else choose_all
        function = compiled(every, CPU, {"choose": self.bot.choose}, TRACKS=False)
        rules = views.format.parameters
        with progress(function, self.bot.name):
            function(
                words.view(np.uint64), halves.view(np.uint16), bytes_, rules,
                np.asarray(seeds, np.uint64), self._numbers, _prior(game.variant), *answers,
            )  # fmt: skip
        return answers


class JudgingAgent(CompiledAgent):
    """A bot that also tells its judgement of the game."""

    def judge(self, views: Snapshot) -> Floats:
        return self._answer(views, np.full(len(views), self.seed % 2**64, np.uint64))[1]


def _check_plays(name: str, game: Any) -> None:
    if game.family != "stratego":
        raise ConfigurationError(f"agent {name!r} plays Stratego, not {game.name!r}")


@cache
def _prior(variant: Variant) -> npt.NDArray[np.float64]:
    return prior_table(variant)


@hook
def choose(game, seed, options, prior):
    """Stand for the bot's kernel."""
    raise NotImplementedError


@kernel
def choose_all(words, halves, bytes_, rules, seeds, options, prior, actions, values):
    """Choose for every game, by a bot that does not judge."""
    for row in range(len(words)):
        game = Record(words[row], halves[row], bytes_[row], rules)
        actions[row] = choose(game, seeds[row], options, prior)


@kernel
def judge_all(words, halves, bytes_, rules, seeds, options, prior, actions, values):
    """Choose for every game, and write down its worth."""
    for row in range(len(words)):
        game = Record(words[row], halves[row], bytes_[row], rules)
        actions[row], values[row] = choose(game, seeds[row], options, prior)
