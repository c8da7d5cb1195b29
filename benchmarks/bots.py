"""Strength and speed of the scripted bots: each against the random mover and against itself.

    python benchmarks/bots.py [--games 200] [--game classic] [--rules strategus]

Half of the games are played as red, half as blue, on one core, without anything but the rules and
the bots' own answers to concealed records. Prints a table of wins, draws and losses, plies a game,
microseconds a ply and games a second (of processor time); against the random mover half of the
plies are its.
"""

from __future__ import annotations

import argparse
import random
import time

import numpy as np
import numpy.typing as npt

from vauban.agents.base import RESIGNS, set_up
from vauban.agents.compiled import CompiledAgent
from vauban.agents.options import make_options, split_text
from vauban.agents.setups import make_sampler
from vauban.agents.stratego.scripted import BOTS
from vauban.games.base import END, PLAYER, PLIES, WINNER
from vauban.games.kernel import ZERO, Record, hook, kernel
from vauban.games.randomness import MOVE, below
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.hidden import conceal
from vauban.games.stratego.rules import begin, legal_action, legal_count, play
from vauban.games.stratego.setups import Row, start_from_setups
from vauban.sim.compile import CPU, compiled

AGENTS = (*(bot.name for bot in BOTS), "hunter:finish=1", "thermal:refuse=1", "prober:retreat=1")
NO_PRIOR = np.zeros((1, 12))
"""An empty prior: the scripted bots do not use human setups."""


@hook
def choose_red(game, seed, options, prior):
    """Choose for red: the kernel of red's bot."""
    raise NotImplementedError


@hook
def choose_blue(game, seed, options, prior):
    """Choose for blue: the kernel of blue's bot."""
    raise NotImplementedError


@kernel
def choose_any(game, seed, options, prior):
    """Choose any legal action."""
    return legal_action(game, below(legal_count(game), seed, ZERO, game.words[PLIES], 0, MOVE, 0))


@kernel
def play_all(words, halves, bytes_, rules, starts, seeds, red, blue, prior, winners, plies):
    """Play a game from every start; `words`, `halves` and `bytes_` are room for a record and for a view of it."""
    game = Record(words[0], halves[0], bytes_[0], rules)
    view = Record(words[1], halves[1], bytes_[1], rules)
    for row in range(len(starts)):
        begin(game, starts[row])
        winner = -1
        while winner < 0 and game.bytes[END] == 0:
            player = np.int64(game.bytes[PLAYER])
            view.words[:] = game.words
            view.halves[:] = game.halves
            view.bytes[:] = game.bytes
            conceal(view, player)
            if player == 0:
                action = choose_red(view, seeds[row], red, prior)
            else:
                action = choose_blue(view, seeds[row], blue, prior)
            if action == RESIGNS:
                winner = 1 - player
            else:
                play(game, action)
        winners[row] = winner if winner >= 0 else game.bytes[WINNER]
        plies[row] = game.words[PLIES]


class Side:
    """A player: a bot by its text, or the random mover."""

    def __init__(self, text: str) -> None:
        name, settings = split_text(text)
        self.agent = None
        self.choose, self.numbers = choose_any, np.zeros(0)
        for bot in BOTS:
            if bot.name == name:
                self.agent = CompiledAgent(bot, make_options(bot.options, name, settings))
                self.choose, self.numbers = bot.choose, self.agent._numbers

    def setup(self, game: Stratego, player: int, rng: random.Random) -> Row:
        """Return its setup for a game."""
        if self.agent is None:
            return make_sampler("uniform", game)(rng)
        return set_up(self.agent, Stratego(game.variant), player, rng)


def measure(game: Stratego, red: Side, blue: Side, games: int) -> tuple[npt.NDArray[np.int64], int, float]:
    """Play games; return the winners, the plies of all games together, and the seconds."""
    rng = random.Random(games)
    starts = np.stack(
        [start_from_setups(red.setup(game, 0, rng), blue.setup(game, 1, rng), game.variant) for _ in range(games)]
    )
    seeds = np.array([rng.getrandbits(63) for _ in range(games)], np.uint64)
    format = game.format(tracks=False)
    room = format.empty(2)
    winners, plies = np.zeros(games, np.int64), np.zeros(games, np.int64)
    function = compiled(play_all, CPU, {"choose_red": red.choose, "choose_blue": blue.choose}, TRACKS=False)
    rest = seeds, red.numbers, blue.numbers, NO_PRIOR, winners, plies
    function(*room, format.parameters, starts[:0], *rest)  # compiles
    begun = time.process_time()
    function(*room, format.parameters, starts, *rest)
    return winners, int(plies.sum()), time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--game", default="classic")
    parser.add_argument("--rules", default=None)
    arguments = parser.parse_args()
    game = Stratego(arguments.game, arguments.rules)
    half = arguments.games // 2
    print("| bot | against | won | drawn | lost | plies | µs a ply | games/s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for text in AGENTS:
        for other in ("random", text):
            bot, opponent = Side(text), Side(other)
            red_won, red_plies, red_seconds = measure(game, bot, opponent, half)
            blue_won, blue_plies, blue_seconds = measure(game, opponent, bot, half)
            won = int((red_won == 0).sum() + (blue_won == 1).sum())
            lost = int((red_won == 1).sum() + (blue_won == 0).sum())
            plies, seconds = red_plies + blue_plies, red_seconds + blue_seconds
            print(
                f"| {text} | {other} | {won} | {2 * half - won - lost} | {lost} | {plies / (2 * half):.0f} | "
                f"{1e6 * seconds / plies:.1f} | {2 * half / seconds:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
