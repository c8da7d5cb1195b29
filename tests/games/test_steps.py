"""Games whose moves take several actions: steps within a ply."""

from __future__ import annotations

from typing import Any

import numpy as np

from vauban.games.base import DRAW, END, NOBODY, NUMBER, OWN, PLAYER, PLIES, STEP, WINNER, Kernels
from vauban.games.kernel import ONE, ZERO, kernel
from vauban.games.small import SmallGame, even_chance, no_setup, no_start
from vauban.sim.simulator import Simulator

STEPS, PLIES_EACH, CHOICES = 3, 2, 251


@kernel
def begin(game, start):
    game.words[PLIES] = ZERO
    for byte in range(game.bytes.shape[0]):
        game.bytes[byte] = 0
    game.bytes[WINNER] = NOBODY


@kernel
def legal_count(game):
    return CHOICES if game.bytes[END] == 0 else 0


@kernel
def legal_action(game, index):
    return index


@kernel
def is_legal(game, action):
    return 0 <= action < legal_count(game)


@kernel
def play(game, action):
    bytes_ = game.bytes
    bytes_[OWN + STEPS * np.int64(game.words[PLIES]) + bytes_[STEP]] = action
    bytes_[STEP] += 1
    if bytes_[STEP] == STEPS:
        bytes_[STEP] = 0
        bytes_[PLAYER] = 1 - bytes_[PLAYER]
        game.words[PLIES] += ONE
    if game.words[PLIES] == PLIES_EACH:
        bytes_[END], bytes_[WINNER] = 1, DRAW


@kernel
def worthless(game):
    return np.float32(0)


@kernel
def nothing(game, viewer):
    return 0


@kernel
def no_values(game, viewer, values):
    pass


@kernel
def conceal(game, viewer):
    game.words[NUMBER] = ZERO


@kernel
def no_assign(game, viewer, values):
    return True


class Steps(SmallGame):
    """Each player makes three actions in a row, which are one ply."""

    name = family = "three-steps"
    action_count = max_legal = CHOICES
    max_plies, moves_in_a_row, record_bytes = PLIES_EACH, STEPS, OWN + STEPS * PLIES_EACH
    has_chance = False
    ends = ("", "played")
    utilities = (0.0,)
    kernels = Kernels(
        begin, legal_count, legal_action, is_legal, play, worthless, no_start, no_setup, even_chance,
        nothing, no_values, conceal, no_assign,
    )  # fmt: skip

    def action_text(self, player: int, action: int) -> str:
        return str(action)


def test_every_step_of_a_ply_throws_dice_of_its_own() -> None:
    sim = Simulator(Steps(), 500, seed=3, restart=False)
    played: list[Any] = []
    for step in range(STEPS):
        assert (sim.steps == step).all() and (sim.plies == 0).all() and (sim.players == 0).all()
        played.append(np.asarray(sim.sample()))
        sim.step(played[-1])
    assert (sim.steps == 0).all() and (sim.plies == 1).all() and (sim.players == 1).all()
    for first, second in ((0, 1), (1, 2), (0, 2)):
        same = float((played[first] == played[second]).mean())
        assert same < 0.05, f"steps {first} and {second} draw the same in {same:.0%} of the games"


def test_the_first_step_draws_what_a_move_of_one_action_would() -> None:
    """Games without steps are thus played as they were before there were any."""
    sim = Simulator(Steps(), 64, seed=3, restart=False)
    first = np.asarray(sim.sample())
    sim.step(first)
    assert not np.array_equal(np.asarray(sim.sample()), first)
    sim.store.bytes[:, STEP] = 0
    assert np.array_equal(np.asarray(sim.sample()), first)
