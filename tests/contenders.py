"""Agents for the tests of the arena: one that answers for many games at once, and several that misbehave."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vauban.agents.base import RESIGNS, chance
from vauban.arena.match import FinishedGame
from vauban.arena.results import GameResult
from vauban.board import View
from vauban.games.base import PLIES
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import Row, random_setup
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego.moves import Move
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot


class Plain:
    """Plays any legal move, one game at a time."""

    name = "plain"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> Row:
        return random_setup(variant, rng)

    def choose_move(self, view: View) -> Move:
        move: Move = chance(self.seed, view).choice(view.legal_moves)
        return move


class Dice:
    """Throws dice: plays alike alone and for many games at once."""

    name = "dice"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def set_up(self, game: Stratego, player: int, rng: random.Random) -> Row:
        return random_setup(game.variant, rng)

    def choose(self, views: Snapshot, seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        sim = Simulator(views.game, len(views), seed=0, format=views.format, threads=1, arrays="numpy")
        sim.restore(views)
        actions, counts = sim.legal_actions()
        plies = views.store.words[:, PLIES].tolist()
        chosen = [
            self.pick(random.Random(f"{seed} {ply}"), row[:count], int(seed), ply)
            for seed, ply, row, count in zip(seeds, plies, actions, counts, strict=True)
        ]
        return np.array(chosen, np.int64)

    def pick(self, rng: random.Random, legal: npt.NDArray[np.int16], seed: int, ply: int) -> int:
        return int(rng.choice(legal))


class Rogue(Dice):
    """By its seed it resigns, cheats or breaks down at some ply, in about half of its games."""

    name = "rogue"

    def pick(self, rng: random.Random, legal: npt.NDArray[np.int16], seed: int, ply: int) -> int:
        if ply // 2 == 2:
            if seed % 6 == 0:
                return RESIGNS
            if seed % 6 == 1:
                return next(action for action in range(2000) if action not in legal)
            if seed % 6 == 2:
                raise RuntimeError("out of wits")
            if seed % 6 == 3:
                return 31_000
        return super().pick(rng, legal, seed, ply)


class Untidy(Dice):
    """Sometimes its setup is none."""

    name = "untidy"

    def set_up(self, game: Stratego, player: int, rng: random.Random) -> Row:
        setup = super().set_up(game, player, rng)
        if rng.random() < 0.5:
            setup[0] = setup[1] = 1
        return setup


class Slow(Plain):
    """Thinks for a while, by a clock of its own that tests put in the place of the arena's."""

    name = "slow"
    now = 0.0

    def choose_move(self, view: View) -> Move:
        Slow.now += 0.2
        return super().choose_move(view)


class KillsOnce(Plain):
    """Ends its own process, hard, if there is a certain file, which it removes before."""

    def __init__(self, fuse: Path, seed: int = 0) -> None:
        super().__init__(seed)
        self.fuse = fuse

    def choose_move(self, view: View) -> Move:
        if self.fuse.exists():
            self.fuse.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().choose_move(view)


class KillsAlways(Plain):
    """Ends its own process, hard, whenever it is asked."""

    name = "kills-always"

    def choose_move(self, view: View) -> Move:
        os.kill(os.getpid(), signal.SIGKILL)
        return super().choose_move(view)


class Lingers(Plain):
    """Leaves its process's number in a folder, and then thinks for minutes."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        super().__init__(seed)
        self.folder = folder

    def choose_move(self, view: View) -> Move:
        (self.folder / str(os.getpid())).touch()
        time.sleep(600)
        return super().choose_move(view)


def plain(game: FinishedGame) -> tuple[GameResult, tuple[str, str], str]:
    """Return all of a game that may not depend on where and how it was played."""
    return replace(game.result, seconds=0.0), game.setups, game.moves
