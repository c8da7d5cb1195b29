"""Ambush, a board game of our own with setups and hidden pieces. Run it: python examples/ambush.py

Three by three squares. Each side places a King and a Guard on its back row, in secret. A move goes one square in any
of the four directions, onto a free square or an enemy. Who takes the King wins; after eight plies it is a draw.

    vauban match random random --game py:examples/ambush.py:Ambush
"""

import itertools
import random
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import SetupError
from vauban.games.base import (
    DRAW,
    END,
    NOBODY,
    NUMBER,
    OWN,
    PLAYER,
    PLIES,
    STEP,
    WINNER,
    Format,
    Game,
    Kernels,
    Setups,
    Shape,
    register,
)
from vauban.games.kernel import ONE, ZERO, kernel
from vauban.games.randomness import START, below
from vauban.games.small import even_chance
from vauban.observe import base as observations
from vauban.observe.base import put
from vauban.observe.small import no_levels

SIDE, SQUARES, LIMIT = 3, 9, 8
KING, GUARD, HIDDEN = 1, 2, 3  # by square: 0, or one of these, + 4 for the second player's
KING_TAKEN, TOO_LONG = 1, 2  # how a game can end
PLACES = tuple(itertools.permutations((0, KING, GUARD)))  # the six setups


@kernel
def owner(code):
    return (code - 1) >> 2  # −1 for an empty square


@kernel
def at(game, square):
    return np.int64(game.bytes[OWN + square])


@kernel
def turned(player, square):
    return square if player == 0 else SQUARES - 1 - square


@kernel
def target_of(action):  # in the frame of the player who moves; −1 off the board
    square, direction = action >> 2, action & 3
    row, column = square // SIDE, square % SIDE
    row += (direction == 0) - (direction == 1)
    column += (direction == 2) - (direction == 3)
    return row * SIDE + column if 0 <= row < SIDE and 0 <= column < SIDE else -1


@kernel
def is_legal(game, action):
    player, target = np.int64(game.bytes[PLAYER]), target_of(action)
    if game.bytes[END] != 0 or action < 0 or action >= 4 * SQUARES or target < 0:
        return False
    return owner(at(game, turned(player, action >> 2))) == player and owner(at(game, turned(player, target))) != player


@kernel
def legal_count(game):
    count = 0
    for action in range(4 * SQUARES):
        count += is_legal(game, action)
    return count


@kernel
def legal_action(game, index):
    for action in range(4 * SQUARES):
        if is_legal(game, action):
            if index == 0:
                return action
            index -= 1
    return -1


@kernel
def begin(game, start):
    bytes_ = game.bytes
    game.words[PLIES] = ZERO
    bytes_[PLAYER], bytes_[END], bytes_[WINNER], bytes_[STEP] = 0, 0, NOBODY, 0
    for square in range(SQUARES):
        bytes_[OWN + square] = start[square]


@kernel
def play(game, action):
    bytes_, player = game.bytes, np.int64(game.bytes[PLAYER])
    source, target = turned(player, action >> 2), turned(player, target_of(action))
    taken = at(game, target)
    bytes_[OWN + target], bytes_[OWN + source] = bytes_[OWN + source], 0
    game.words[PLIES] += ONE
    bytes_[PLAYER] = 1 - player
    if taken != 0 and (taken - 1 & 3) + 1 == KING:
        bytes_[END], bytes_[WINNER] = KING_TAKEN, player
    elif game.words[PLIES] == LIMIT:
        bytes_[END], bytes_[WINNER] = TOO_LONG, DRAW


@kernel
def utility(game):
    winner = game.bytes[WINNER]
    return np.float32(winner == 0) - np.float32(winner == 1)


@kernel
def place_setup(start, rules, player, setup):
    for place in range(SIDE):
        if setup[place]:
            start[turned(player, place)] = setup[place] + 4 * player


@kernel
def draw_start(start, rules, seed, number, attempt):
    for square in range(SQUARES):
        start[square] = 0
    for player in range(2):
        king = below(3, seed, number, attempt, 0, START, 2 * player)
        guard = below(2, seed, number, attempt, 0, START, 2 * player + 1)
        start[turned(player, king)] = KING + 4 * player
        start[turned(player, guard + (guard >= king))] = GUARD + 4 * player


@kernel
def hidden_count(game, viewer):  # both pieces; when one is left it must be the King
    count = 0
    for square in range(SQUARES):
        count += owner(at(game, square)) == 1 - viewer
    return 2 if count == 2 and game.bytes[END] != KING_TAKEN else 0


@kernel
def hidden_values(game, viewer, values):
    index = 0
    for place in range(SQUARES if hidden_count(game, viewer) else 0):
        code = at(game, turned(viewer, place))
        if owner(code) == 1 - viewer:
            values[index] = ((code - 1) & 3) + 1
            index += 1


@kernel
def conceal(game, viewer):
    game.words[NUMBER] = ZERO
    for square in range(SQUARES if hidden_count(game, viewer) else 0):
        if owner(at(game, square)) == 1 - viewer:
            game.bytes[OWN + square] = HIDDEN + 4 * (1 - viewer)


@kernel
def assign(game, viewer, values):
    if hidden_count(game, viewer) == 0:
        return True
    if values[0] + values[1] != KING + GUARD or min(values[0], values[1]) != KING:
        return False
    index = 0
    for place in range(SQUARES):
        square = turned(viewer, place)
        if owner(at(game, square)) == 1 - viewer:
            game.bytes[OWN + square] = values[index] + 4 * (1 - viewer)
            index += 1
    return True


class AmbushSetups(Setups):
    size, count = SIDE, len(PLACES)

    def all(self) -> npt.NDArray[np.int8]:
        return np.array(PLACES, np.int8)

    def draw(self, rng: random.Random) -> npt.NDArray[np.int8]:
        return np.array(rng.choice(PLACES), np.int8)

    def check(self, setups: npt.NDArray[Any]) -> None:
        for number, row in enumerate(setups):
            if tuple(row) not in PLACES:
                raise SetupError(
                    f"setup {number} is a King, a Guard and a free square, such as K.G, not {row.tolist()}"
                )

    def parse(self, text: str) -> npt.NDArray[np.int8]:
        row = np.array([".KG".find(letter) for letter in text.upper()], np.int8)
        self.check(row[None])
        return row

    def text(self, setup: npt.NDArray[Any]) -> str:
        return "".join(".KG"[code] for code in setup)

    def starts(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
        middle = np.zeros_like(first)
        return np.concatenate([first, middle, np.where(second > 0, second + 4, 0)[:, ::-1]], 1).astype(np.int8)

    def of_starts(self, starts: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        second = starts[:, :-4:-1]
        return starts[:, :SIDE].astype(np.int8), np.where(second > 0, second - 4, 0).astype(np.int8)


class Ambush(Game):
    name = family = "ambush"
    version, players, ends = 1, ("south", "north"), ("", "king_taken", "too_long")
    action_count, max_legal, max_plies = 4 * SQUARES, 8, LIMIT
    start_size, hidden_size, hidden_kinds = SQUARES, 2, ("", "King", "Guard")
    board, has_chance, utilities = (SIDE, SIDE), False, (-1.0, 0.0, 1.0)
    setups, public_actions = AmbushSetups(), True
    kernels = Kernels(
        begin, legal_count, legal_action, is_legal, play, utility, draw_start, place_setup, even_chance,
        hidden_count, hidden_values, conceal, assign,
    )  # fmt: skip

    def __init__(self, rules: Any = None) -> None:
        targets = np.array([target_of(action) for action in range(self.action_count)])
        self.moves = np.stack([np.arange(self.action_count) // 4, targets], 1)

    def format(self, *, tracks: bool = True, plies: int | None = None) -> Format:
        return Format(Shape(2, 0, OWN + SQUARES), np.zeros(1, np.int64), tracks)

    def action_text(self, player: int, action: int) -> str:
        source, target = (turned(player, int(square)) for square in self.moves[action])
        return "".join(f"{'abc'[square % SIDE]}{square // SIDE + 1}" for square in (source, target))

    def are_views(self, bytes_: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return np.asarray(((bytes_[:, OWN:] & 3) == HIDDEN).any(1))


CHANNELS = ["own King", "own Guard", "enemy King", "enemy Guard", "enemy hidden"]


@kernel
def mark(game, viewer, lane, lanes, codes):
    unknown = hidden_count(game, viewer) > 0
    for place in range(lane, SQUARES, lanes):
        code = at(game, turned(viewer, place))
        if owner(code) == viewer:
            put(codes, place, (code - 1) & 3, 1)
        elif code:
            put(codes, place, 4 if unknown else 2 + ((code - 1) & 3), 1)


register("ambush", Ambush)
observations.register(
    observations.Observation("pieces", "ambush", lambda _: len(CHANNELS), lambda _: CHANNELS, mark, no_levels)
)

if __name__ == "__main__":
    from vauban.games import kit
    from vauban.sim.simulator import Simulator

    kit.check("ambush")
    sim = Simulator("ambush", 10_000, seed=1, restart=False)
    while not sim.over.all():
        sim.step(sim.sample())
    won, lost = ((sim.results.winner == player).double().mean() for player in (0, 1))
    print(f"the contract holds; at random, south wins {won:.1%} and north {lost:.1%} of 10,000 games")
