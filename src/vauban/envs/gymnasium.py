"""Every game as a Gymnasium environment of one player; an opponent plays the other side.

import gymnasium
import vauban.envs.gymnasium                         # registers vauban/barrage-v1 and all the others

game = gymnasium.make("vauban/barrage-v1", side="alternate")
seen, info = game.reset(seed=1)
seen, reward, terminated, truncated, info = game.step(game.action_space.sample(info["action_mask"]))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.base import Agent
from vauban.envs.opponents import agent_of, choose
from vauban.envs.table import BOUND, RENDER_MODES, Mask, Observed, Pool, Table, check_render_mode
from vauban.errors import ConfigurationError, IllegalActionError, install_command
from vauban.games.base import Game, nearest
from vauban.games.base import game as find_game
from vauban.games.base import names as game_names

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise ImportError(f"vauban.envs.gymnasium needs Gymnasium: {install_command('envs')}") from error

SIDES = ("first", "second", "alternate")
PATIENCE = 1000
"""Most games in a row that may end before the player's first move."""

Opponent = str | Agent | Callable[[Observed, Mask, np.random.Generator], int]
"""An agent's text ("fox") or an agent; or (observation, action_mask, rng) → action, all in the opponent's own frame:
`rng` is the environment's."""


def play_random(observation: Observed, action_mask: Mask, rng: np.random.Generator) -> int:
    """Play any legal action, all equally likely."""
    return int(rng.choice(np.flatnonzero(action_mask)))


class SinglePlayerEnv(gymnasium.Env):  # type: ignore[misc]
    """One side of a game, against an opponent that is part of the environment.

    A game that the opponent ends before the player's first move is not shown: the next one begins.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  (Gymnasium's own name)

    def __init__(
        self,
        game: str | Game = "barrage",
        opponent: Opponent = play_random,
        side: str = "first",
        rules: str | Mapping[str, Any] | None = None,
        observation: str | None = None,
        layout: str = "planes",
        setups: Pool | None = None,
        illegal_reward: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Make the environment.

        opponent: an agent's text ("fox"; vauban agents lists them), an agent, or a function (observation, action_mask,
            rng) → action; by default any legal action.
        side: this player, "first" or "second"; or "alternate", first in the first game of a seed.
        illegal_reward: None raises an error for an illegal action; a number ends the game with this reward.
        game, rules, observation, layout, setups, render_mode: as in `vauban.envs.pettingzoo.env`.
        """
        if side not in SIDES:
            raise ConfigurationError(f"there is no side {side!r}: {nearest(str(side), SIDES)}")
        self.table = Table(game, rules, observation, layout, setups)
        self.game = self.table.game
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.opponent = opponent
        self.agent = agent_of(opponent, self.game)
        """The opponent, if it is an agent."""
        self._agent_seed = np.zeros(1, np.uint64)
        self.side = side
        self.illegal_reward = illegal_reward
        self.player = 0
        """This player's number in the present game: 0 or 1."""
        self._games = -1
        self._terminated = True
        self.observation_space = spaces.Box(-BOUND, BOUND, self.table.shape, np.float32)
        self.action_space = spaces.Discrete(self.game.action_count)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begin a game: the first one of a seed or, without one, the next one of the seed before.

        options: {"setups": (red, blue)} sets the setups in Stratego, texts or rows.
        """
        self.table.reset(seed, options)
        # Without a seed ever given, the drawn one serves all: reset(seed=env.np_random_seed) plays the game again.
        super().reset(seed=self.table.seed if self._games < 0 else seed)
        self._games = 0 if seed is not None else self._games + 1
        if self.agent is not None:
            self._agent_seed[0] = self.np_random.integers(2**63)
        self._terminated = True
        self.player = self._games % 2 if self.side == "alternate" else SIDES.index(self.side)
        for _ in range(PATIENCE):
            self._let_opponent_play()
            if not self.table.over:
                break
            self.table.reset(options=options)
        else:
            raise ConfigurationError(
                f"{PATIENCE} games in a row were over before the player's first move: "
                "give other setups, or another opponent"
            )
        self._terminated = False
        self._show()
        return self.table.observe(self.player), self._info()

    def step(self, action: Any) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Play an action, and let the opponent answer. The reward comes at the end; no game is truncated."""
        if self._terminated:
            raise IllegalActionError("the game is over, or has not begun: call reset()")
        reward = 0.0
        if self.illegal_reward is not None and not self.table.is_legal(int(action)):
            self._terminated = True
            reward = float(self.illegal_reward)
        else:
            self.table.play(action)
            # An opponent that fails leaves a game that cannot be continued.
            self._terminated = True
            self._let_opponent_play()
            self._terminated = self.table.over
            reward = self.table.utility(self.player)
        self._show()
        return self.table.observe(self.player), reward, self._terminated, False, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return a mask of the legal actions, as MaskablePPO of sb3-contrib asks for it; none once the game is over."""
        return self._mask().astype(np.bool_)

    def render(self) -> str | None:
        """Return the game as the player may see it."""
        return self.table.render(self.render_mode, self.player)

    def _mask(self) -> Mask:
        return np.zeros(self.game.action_count, np.int8) if self._terminated else self.table.mask(self.player)

    def _info(self) -> dict[str, Any]:
        outcome = self.table.outcome
        if self._terminated:
            return {"action_mask": self._mask(), "end": "illegal" if outcome is None else outcome.end}
        return {"action_mask": self._mask()}

    def _let_opponent_play(self) -> None:
        """Let the opponent act until the player is on turn, or the game is over."""
        while not self.table.over and self.table.player != self.player:
            other = 1 - self.player
            if self.agent is not None:
                action = int(choose(self.agent, self.table.sim.views(other), self._agent_seed)[0])
            else:
                assert callable(self.opponent)
                action = self.opponent(self.table.observe(other), self.table.mask(other), self.np_random)
            try:
                self.table.play(action)
            except IllegalActionError as error:
                raise IllegalActionError(f"the opponent chose what is not legal. {error}") from error

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


def register() -> None:
    """Register "vauban/<game>-v<version>" for every game; again after games of your own have been added.

    For Gymnasium a colon comes behind the name of a module, so "steps:barrage" is "vauban/steps-barrage-v1".
    """
    for name in game_names():
        identity = f"vauban/{name.replace(':', '-')}-v{find_game(name).version}"
        if identity not in gymnasium.registry:
            gymnasium.register(
                identity, "vauban.envs.gymnasium:SinglePlayerEnv", kwargs={"game": name},
                vector_entry_point="vauban.envs.vector:VectorEnv",
            )  # fmt: skip


register()
