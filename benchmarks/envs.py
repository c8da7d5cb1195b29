"""Steps a second of the Gymnasium environments, one game at a time and many at once, on one thread.

    python benchmarks/envs.py [--seconds 5] [--games 256]

Both play actions drawn from the mask, so that a figure has all that a learner pays for: observation, mask, opponent,
new games. Seconds are of the processor, and a step is one action of the player. One line for each game and opponent.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from vauban.envs.gymnasium import SinglePlayerEnv, play_random
from vauban.envs.vector import VectorEnv

CASES = (("kuhn", None, "random"), ("medium", "deepnash", "random"), ("medium", "deepnash", "fox"),
         ("barrage", "deepnash", "random"))  # fmt: skip
"""Game, observation (None: its default) and opponent."""


def one_at_a_time(game: str, observation: str | None, opponent: str, seconds: float) -> float:
    """Return steps a second of the environment of one game."""
    played = SinglePlayerEnv(game, play_random if opponent == "random" else opponent, observation=observation)
    rng, steps, begun = np.random.default_rng(1), -100, time.process_time()
    _, info = played.reset(seed=1)
    while steps < 0 or time.process_time() - begun < seconds:
        _, _, over, _, info = played.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        if over:
            _, info = played.reset()
        steps += 1
        if steps == 0:  # everything has been compiled
            begun = time.process_time()
    return steps / (time.process_time() - begun)


def many_at_once(game: str, observation: str | None, opponent: str, seconds: float, games: int) -> float:
    """Return steps a second of the environment of many games."""
    played = VectorEnv(game, games, opponent, observation=observation, threads=1)
    rng, steps, begun = np.random.default_rng(1), -10, time.process_time()
    _, infos = played.reset(seed=1)
    while steps < 0 or time.process_time() - begun < seconds:
        mask = infos["action_mask"]
        actions = (rng.random(mask.shape, np.float32) * mask).argmax(1)
        _, _, _, _, infos = played.step(actions)
        steps += 1
        if steps == 0:
            begun = time.process_time()
    return games * steps / (time.process_time() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="processor seconds of each figure")
    parser.add_argument("--games", type=int, default=256, help="games at once")
    given = parser.parse_args()
    many_games = f"{given.games} games"
    print(f"steps a second\n{'game':9}{'observation':12}{'opponent':10}{'one game':>10}{many_games:>12}{'ratio':>8}")
    for game, observation, opponent in CASES:
        one = one_at_a_time(game, observation, opponent, given.seconds)
        many = many_at_once(game, observation, opponent, given.seconds, given.games)
        print(
            f"{game:9}{observation or 'default':12}{opponent:10}{one:10,.0f}{many:12,.0f}{many / one:8.1f}", flush=True
        )


if __name__ == "__main__":
    main()
