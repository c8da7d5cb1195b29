"""Agents whose choice is a compiled function of the view: fast alone, and for many games at once.

    BOT = Bot("runner", choose, Options, family="geister")
    agent = make_compiled(BOT, Options(), seed=7)

A bot is a kernel `choose(game, seed, options, prior)`: `game` is the record of one game from which
all that is hidden from the player on turn has been erased (the compiled form of a `View`), `seed`
the randomness it may use, `options` its numbers in the order of their fields, `prior` what its family
knows beforehand, such as how people set up. It returns a legal action, or `RESIGNS`; a bot that judges
returns what the game is worth to it as well. It keeps nothing between moves: everything that a bot
remembers is in the record.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vauban.agents.base import Actions, Floats, Row, Seeds, check_family
from vauban.agents.options import Maker, make_options, options_text
from vauban.agents.setups import make_sampler, usual_setups
from vauban.games.kernel import Record, hook, kernel
from vauban.sim.compile import CPU, compiled, progress

if TYPE_CHECKING:
    from vauban.games.base import Game
    from vauban.sim.store import Snapshot

Prior = npt.NDArray[np.float64]
OwnSetup = Callable[[Any, int, random.Random], Row]
"""Makes a setup of what describes a game (`Game.described`), for a player."""


def no_prior(game: Game) -> Prior:
    """Return what a family knows beforehand that knows nothing."""
    return np.zeros(0)


@dataclass(frozen=True)
class Bot:
    """The parts of a compiled agent."""

    name: str
    choose: Callable[..., Any]
    """The kernel."""
    options: type[Any]
    """A frozen dataclass: numbers, and `setups` in a game that has some. Its documentation says who the bot is: one
    line, then in full."""
    family: str = field(kw_only=True)
    """The games that it plays."""
    setup: OwnSetup | None = None
    """Its own way to set up; without it, the game's usual one."""
    judges: bool = False
    """Whether the kernel returns two things: the action, and what the game is worth, from −1 to 1."""
    prior: Callable[[Any], Prior] = no_prior
    """The family's knowledge of a game beforehand; made once for each and kept by whoever makes it."""


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

    def check_plays(self, game: Game) -> None:
        """Refuse games of other families."""
        check_family(self.name, self.bot.family, game)

    def set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        self.check_plays(game)
        asked = getattr(self.options, "setups", "own")
        if asked == "own" and self.bot.setup is not None:
            return self.bot.setup(game.described, player, rng)
        return make_sampler((usual_setups(game) or "uniform") if asked == "own" else asked, game)(rng)

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        return self._answer(views, seeds)[0]

    def _answer(self, views: Snapshot, seeds: Seeds) -> tuple[Actions, Floats]:
        """Return the action for each view, and the game's worth; not a number, if the bot does not judge."""
        self.check_plays(views.game)
        words, halves, bytes_ = views.numpy().store
        answers = np.empty(len(views), np.int64), np.full(len(views), np.nan)
        every = judge_all if self.bot.judges else choose_all
        function = compiled(every, CPU, {"choose": self.bot.choose}, TRACKS=False)
        rules = views.format.parameters
        with progress(function, self.bot.name):
            function(
                words.view(np.uint64), halves.view(np.uint16), bytes_, rules,
                np.asarray(seeds, np.uint64), self._numbers, self.bot.prior(views.game), *answers,
            )  # fmt: skip
        return answers


class JudgingAgent(CompiledAgent):
    """A bot that knows what it thinks of its game."""

    def judge(self, views: Snapshot) -> Floats:
        return self._answer(views, np.full(len(views), self.seed % 2**64, np.uint64))[1]


def make_compiled(bot: Bot, options: Any, seed: int = 0) -> CompiledAgent:
    """Return the agent of a bot."""
    return (JudgingAgent if bot.judges else CompiledAgent)(bot, options, seed)


def maker_of(bot: Bot) -> Maker:
    """Return what makes a bot's agents from settings, for the `AGENTS` of its family."""
    return lambda settings, seed: make_compiled(bot, make_options(bot.options, bot.name, settings), seed)


@hook
def choose(game, seed, options, prior):
    """Return the bot's kernel."""
    raise NotImplementedError


@kernel
def choose_all(words, halves, bytes_, rules, seeds, options, prior, actions, values):
    """Choose for every game, by a bot that does not judge."""
    for row in range(len(words)):
        game = Record(words[row], halves[row], bytes_[row], rules)
        actions[row] = choose(game, seeds[row], options, prior)


@kernel
def judge_all(words, halves, bytes_, rules, seeds, options, prior, actions, values):
    """Choose for every game, and write down what it is worth."""
    for row in range(len(words)):
        game = Record(words[row], halves[row], bytes_[row], rules)
        actions[row], values[row] = choose(game, seeds[row], options, prior)
