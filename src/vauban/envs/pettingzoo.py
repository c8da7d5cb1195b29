"""Every game as a PettingZoo AEC environment.

from vauban.envs.pettingzoo import env

game = env("barrage", render_mode="ansi")
game.reset(seed=1)
for agent in game.agent_iter():
    seen, reward, termination, truncation, info = game.last()
    action = None if termination else game.action_space(agent).sample(seen["action_mask"])
    game.step(action)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vauban.envs.table import BOUND, RENDER_MODES, Mask, Observed, Pool, Table, check_render_mode
from vauban.errors import ConfigurationError, install_command
from vauban.games.base import Game, nearest

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise ImportError(f"vauban.envs.pettingzoo needs PettingZoo: {install_command('envs')}") from error


def env(
    game: str | Game = "barrage",
    rules: str | Mapping[str, Any] | None = None,
    observation: str | None = None,
    layout: str = "planes",
    setups: Pool | None = None,
    render_mode: str | None = None,
) -> Any:
    """Return an environment in which the players of a game choose in turn; calls in a wrong order are refused.

    game: a name ("classic", "kuhn", …) or a `Game`.
    rules: a preset or switches, as `vauban.game` takes them.
    observation: its name; by default the first that the game has ("ataraxos", "information_state").
    layout: "planes" (channels × rows × columns) or "squares" (squares × channels).
    setups: a pool to draw from, texts or rows as `Simulator` takes them; by default, all setups.
    render_mode: "human" prints the game at every step, "ansi" is its text, "svg" a picture.
    """
    return OrderEnforcingWrapper(RawEnv(game, rules, observation, layout, setups, render_mode))


def parallel_env(game: str | Game = "barrage", **options: Any) -> Any:
    """Return the same environment with PettingZoo's parallel interface; options are those of `env`.

    Players still take turns: only the action of who is on turn counts, whom `infos` and the mask name.
    """
    return turn_based_aec_to_parallel(env(game, **options))


class RawEnv(AECEnv):  # type: ignore[misc]
    """The environment without PettingZoo's check of the order of calls."""

    def __init__(
        self,
        game: str | Game = "barrage",
        rules: str | Mapping[str, Any] | None = None,
        observation: str | None = None,
        layout: str = "planes",
        setups: Pool | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.table = Table(game, rules, observation, layout, setups)
        self.game = self.table.game
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.metadata = {
            "name": f"vauban_{self.game.name}_v{self.game.version}",
            "render_modes": list(RENDER_MODES),
            "render_fps": 1,
            "is_parallelizable": False,
        }
        self.possible_agents = list(self.game.players)
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.game.action_count) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations: {"observation", "action_mask"}."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game: the first one of a seed or, without one, the next one of the seed before.

        options: {"setups": (red, blue)} sets the setups in Stratego, texts or rows.
        """
        self.table.reset(seed, options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        # PettingZoo keeps the agent that follows the finished ones here; it is of the game before.
        self._skip_agent_selection = None
        self.agent_selection = self.possible_agents[self.table.player]
        self._tell()

    def step(self, action: Any) -> None:
        """Play an action; an illegal one raises `IllegalActionError` with the reason, and nothing changes."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.table.play(action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if self.table.over:
            # Limits are draws by the rules, so a game is never cut short: it ends.
            for player, other in enumerate(self.possible_agents):
                self.rewards[other] = self.table.utility(player)
                self.terminations[other] = True
            self.agent_selection = self.possible_agents[1 - self.possible_agents.index(agent)]
        else:
            self.agent_selection = self.possible_agents[self.table.player]
        self._accumulate_rewards()
        self._tell()

    def observe(self, agent: str) -> dict[str, Observed | Mask]:
        """Observe the game as an agent, on turn or not, in its own frame; off turn, the mask is all 0."""
        if agent not in self.possible_agents:
            raise ConfigurationError(f"there is no agent {agent!r}: {nearest(str(agent), self.possible_agents)}")
        player = self.possible_agents.index(agent)
        return {"observation": self.table.observe(player), "action_mask": self.table.mask(player)}

    def render(self) -> str | None:
        """Return the whole game, hidden things too: for people who watch."""
        return self.table.render(self.render_mode)

    def close(self) -> None:
        """Close nothing: nothing is held open."""

    def _tell(self) -> None:
        """Renew the infos and, for people, the picture."""
        outcome = self.table.outcome
        end = {} if outcome is None else {"end": outcome.end}
        self.infos = {
            agent: {"action_mask": self.table.mask(player), **end} for player, agent in enumerate(self.possible_agents)
        }
        if self.render_mode == "human":
            self.render()

    def _observation_space(self) -> Any:
        return spaces.Dict(
            {
                "observation": spaces.Box(-BOUND, BOUND, self.table.shape, np.float32),
                "action_mask": spaces.Box(0, 1, (self.game.action_count,), np.int8),
            }
        )
