"""Train MaskablePPO of sb3-contrib against an agent of the pool, over many games at once (docs/envs.md).

    pip install "vauban-games[envs]" sb3-contrib
    python examples/maskable_ppo.py --game medium --opponent fox --steps 300000

Prints the mean reward of fresh games before and after: -1 is every game lost, 1 every game won.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from vauban.envs.vector import VectorEnv


class Games(VecEnv):
    """A `VectorEnv` as Stable-Baselines3 wants one."""

    def __init__(self, games: VectorEnv) -> None:
        self.games = games
        super().__init__(games.num_envs, games.single_observation_space, games.single_action_space)

    def reset(self) -> np.ndarray:
        return self.games.reset(seed=self._seeds[0])[0]

    def step_async(self, actions: np.ndarray) -> None:
        self.actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        seen, rewards, ended, _, _ = self.games.step(self.actions)
        # A game that has ended is worth its reward and nothing more, so nobody looks at its last observation.
        infos = [{"terminal_observation": seen[row]} if over else {} for row, over in enumerate(ended)]
        return seen, rewards.astype(np.float32), ended, infos

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **options: Any) -> list[Any]:
        return list(getattr(self.games, method_name)(*arguments, **options))

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.games, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self.games, attr_name, value)

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self.games, attr_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs

    def close(self) -> None:
        self.games.close()


def mean_reward(model: MaskablePPO, games: VectorEnv, number: int, seed: int) -> tuple[float, float]:
    """Return the mean reward of so many fresh games or a few more, drawn from the policy, and its standard error."""
    rewards: list[float] = []
    seen, infos = games.reset(seed=seed)
    while len(rewards) < number:
        actions, _ = model.predict(seen, action_masks=infos["action_mask"])
        seen, won, ended, _, infos = games.step(actions)
        rewards += won[ended].tolist()
    return float(np.mean(rewards)), float(np.std(rewards) / np.sqrt(len(rewards)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="medium")
    parser.add_argument("--opponent", default="fox")
    parser.add_argument("--observation", default="deepnash")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--games", type=int, default=64, help="games at once")
    parser.add_argument("--judged", type=int, default=500, help="games that are played before and after")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    games = VectorEnv(given.game, given.games, given.opponent, observation=given.observation)
    model = MaskablePPO(
        "MlpPolicy", Games(games), n_steps=128, batch_size=1024, n_epochs=4, gamma=1.0, ent_coef=0.01,
        learning_rate=3e-4, policy_kwargs={"net_arch": [256, 256]}, seed=given.seed, device="cpu",
    )  # fmt: skip
    for when in ("before", "after"):
        if when == "after":
            model.learn(given.steps)
        mean, error = mean_reward(model, games, given.judged, seed=1000 + given.seed)
        print(f"{when}: {mean:+.3f} ± {1.96 * error:.3f} (95 %)", flush=True)


if __name__ == "__main__":
    main()
