"""Many games of one player at once, as a Gymnasium vector environment: a `Simulator` underneath, no processes.

from vauban.envs.vector import make_vec

games = make_vec("medium", 64, opponent="fox")
seen, infos = games.reset(seed=1)
actions = [games.single_action_space.sample(mask) for mask in infos["action_mask"]]
seen, rewards, terminations, truncations, infos = games.step(actions)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.base import Agent
from vauban.envs.gymnasium import PATIENCE, SIDES
from vauban.envs.opponents import agent_of, choose
from vauban.envs.table import BOUND, Pool, pool_of
from vauban.errors import ConfigurationError, IllegalActionError, install_command
from vauban.games.base import Game, nearest
from vauban.games.base import game as find_game
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator

try:
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector import VectorEnv as Base
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError(f"vauban.envs.vector needs Gymnasium 1.1 or newer: {install_command('envs')}") from error

Rows = npt.NDArray[np.bool_]
Opponents = Callable[[npt.NDArray[np.float32], npt.NDArray[np.int8], np.random.Generator], Any]
"""(observations, action_masks, rng) → actions: for all games at once in which it is on turn."""


def make_vec(
    game: str | Game = "barrage", num_envs: int = 64, opponent: str | Agent | Opponents = "random", **options: Any
) -> VectorEnv:
    """Return many games of one player; the other options are those of `VectorEnv`."""
    return VectorEnv(game, num_envs, opponent, **options)


class VectorEnv(Base):  # type: ignore[misc]
    """One side of many games, against an opponent that is part of the environment.

    A new game begins in the step in which one ends: the observation is its first, the reward that of the one before. A
    game that the opponent ends before the player's first move is not shown.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012  (Gymnasium's own name)

    def __init__(
        self,
        game: str | Game = "barrage",
        num_envs: int = 64,
        opponent: str | Agent | Opponents = "random",
        side: str = "alternate",
        rules: str | Mapping[str, Any] | None = None,
        observation: str | None = None,
        layout: str = "planes",
        setups: Pool | None = None,
        threads: int | None = None,
    ) -> None:
        """Make the environment.

        opponent: an agent's text ("fox"), an agent, or a function (observations, action_masks, rng) → actions.
        side: this player, "first" or "second"; or "alternate", in half of the games each, and in turns.
        threads: of the simulator; all cores if not given.
        game, rules, observation, layout, setups: as in `vauban.envs.pettingzoo.env`.
        """
        if side not in SIDES:
            raise ConfigurationError(f"there is no side {side!r}: {nearest(str(side), SIDES)}")
        self.game = find_game(game, rules)
        self.observation = observation or observations.default(self.game).name
        self.layout = layout
        self.side = side
        self.opponent = opponent
        self.agent = None if opponent == "random" else agent_of(opponent, self.game)
        self.num_envs = num_envs
        pool = pool_of(self.game, setups)
        self.sim = Simulator(self.game, num_envs, setups=pool, threads=threads, arrays="numpy")
        shape = self.sim.observation_shape(self.observation, layout)
        self.single_observation_space = spaces.Box(-BOUND, BOUND, shape, np.float32)
        self.single_action_space = spaces.Discrete(self.game.action_count)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.players = np.zeros(num_envs, np.uint8)
        """The player's number in each game: 0 or 1."""

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin all games anew: the first ones of a seed or, without one, the next ones of the seed before."""
        first = 0
        if seed is not None:
            self.sim.seed = int(seed)
        else:
            first = (int(self.sim.numbers.max()) // self.num_envs + 1) * self.num_envs
        super().reset(seed=self.sim.seed if seed is None else seed)
        self.sim.reset(first_number=first)
        self._take_sides(np.ones(self.num_envs, bool))
        self._let_opponent_play(np.zeros(self.num_envs), np.ones(self.num_envs, bool))
        return self._observe(), self._info()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play an action in each game, and let the opponent answer. Rewards come at the end; no game is truncated."""
        rewards, ended = np.zeros(self.num_envs), np.zeros(self.num_envs, bool)
        self.sim.step(np.asarray(actions))
        self._note(rewards, ended)
        self._let_opponent_play(rewards, ended)
        return self._observe(), rewards, ended, np.zeros(self.num_envs, bool), self._info()

    def action_masks(self) -> Rows:
        """Return a mask of the legal actions of each game."""
        mask: Rows = self.sim.legal_mask()
        return mask

    def _observe(self) -> npt.NDArray[np.float32]:
        seen: npt.NDArray[np.float32] = self.sim.observe(self.observation, layout=self.layout)
        return seen

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().view(np.int8)}

    def _take_sides(self, rows: Rows) -> None:
        """Settle which player this is in games that have begun."""
        if self.side == "alternate":
            sides = (np.arange(self.num_envs) + self.sim.numbers // self.num_envs) % 2
            self.players[rows] = sides[rows]
        else:
            self.players[rows] = SIDES.index(self.side)

    def _note(self, rewards: npt.NDArray[np.float64], ended: Rows) -> None:
        """Take note of the games that have just ended; of those that were not shown, of their end alone."""
        now = self.sim.results.ended.astype(bool)
        shown = now & ~ended
        signs = 1.0 - 2.0 * self.players[shown]
        rewards[shown] = signs * self.sim.results.utility[shown] + 0.0
        ended |= now
        self._take_sides(now)

    def _let_opponent_play(self, rewards: npt.NDArray[np.float64], ended: Rows) -> None:
        """Let the opponent act in each game until the player is on turn."""
        for _ in range(PATIENCE):
            waiting = self.sim.players != self.players
            if not waiting.any():
                return
            actions = self.sim.sample() if self.opponent == "random" else self._answers(waiting)
            # No action: the games in which the player is on turn stay as they are.
            self.sim.step(np.where(waiting, actions, -1), check=False)
            self._note(rewards, ended)
        raise ConfigurationError(
            f"{PATIENCE} actions in a row were the opponent's: games are over before the player's first move. "
            "Give other setups, or another opponent"
        )

    def _answers(self, waiting: Rows) -> npt.NDArray[np.int64]:
        """Return the opponent's actions in these games, after checking them."""
        actions = np.full(self.num_envs, -1, np.int64)
        mask = self.sim.legal_mask()
        if self.agent is not None:
            for player in (0, 1):
                rows = np.flatnonzero(waiting & (self.sim.players == player))
                if len(rows):
                    # A seed for each game, so that an agent which draws for a whole game keeps to what it drew.
                    seeds = self.sim.numbers[rows].astype(np.uint64) + np.uint64(self.sim.seed % 2**32) * np.uint64(
                        2**32
                    )
                    actions[rows] = choose(self.agent, self.sim.views(player, rows), seeds)
        else:
            rows = np.flatnonzero(waiting)
            seen = self._observe()
            assert callable(self.opponent)
            actions[rows] = self.opponent(seen[rows], mask[rows].view(np.int8), self.np_random)
        rows = np.flatnonzero(waiting)
        known = (actions[rows] >= 0) & (actions[rows] < self.game.action_count)
        fine = known & mask[rows, np.where(known, actions[rows], 0)]
        if not fine.all():
            row = int(rows[~fine][0])
            raise IllegalActionError(f"the opponent chose what is not legal: action {actions[row]} in game {row}")
        return actions
