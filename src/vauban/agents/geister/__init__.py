"""The agents of Geister, by name."""

from __future__ import annotations

from vauban.agents.compiled import maker_of
from vauban.agents.geister.mcts import BOT as MCTS
from vauban.agents.geister.purple import BOT as PURPLE
from vauban.agents.geister.runner import BOT as RUNNER
from vauban.agents.options import Maker

AGENTS: dict[str, Maker] = {bot.name: maker_of(bot) for bot in (RUNNER, PURPLE, MCTS)}
OPPONENT = "purple"
"""The agent that a person plays against unless another is asked for."""
SIGNED = (("geister", "total_limit=100"), ("geister-44", "escape=forced"))
"""Games in which the behaviour of agents is signed: one to play against themselves, one against `random`."""
