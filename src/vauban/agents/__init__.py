"""Agents: the interface (`base`) and those that can be played with by name.

    make_agent("charger")
    make_agent("mcts:sims=200,setups=human", seed=7)
    make_agent("net:runs/mine,temperature=0.5")
    make_agent("py:mine.py:Striker,depth=2")
    make_agent("cfr+:iterations=1000")
    make_agent("bot:python3 examples/ucc_bot.py")

Installed packages may offer more (entry points of the group "vauban.agents"). Agents of one family of games live in a
package of their own in here, whose `AGENTS` names what makes them: it is found by being there. docs/agents.md says who
they are.
"""

from __future__ import annotations

from pathlib import Path

from vauban import door
from vauban.agents.adapter import build, load_agent
from vauban.agents.base import Agent
from vauban.agents.external.agent import PREFIX, ExternalAgent
from vauban.agents.net import ModelAgent, NetAgent
from vauban.agents.options import Maker, make_options, split_text
from vauban.agents.random import Options as RandomOptions
from vauban.agents.random import RandomAgent
from vauban.agents.search import SearchAgent
from vauban.agents.solved import OPTIONS as SOLVED
from vauban.agents.solved import SolvedAgent
from vauban.errors import ConfigurationError
from vauban.families import family_parts
from vauban.games.base import nearest

GROUP = "vauban.agents"
"""The entry points by which installed packages offer agents."""

AGENTS: dict[str, Maker] = {
    "random": lambda settings, seed: RandomAgent(seed, make_options(RandomOptions, "random", settings)),
}
"""By name: what makes an agent from settings and a seed."""
for _family in family_parts("agents"):
    AGENTS |= getattr(_family, "AGENTS", {})

LEARNED: dict[str, type[ModelAgent]] = {kind.kind: kind for kind in (NetAgent, SearchAgent)}
"""Agents that need a model, NAME:MODEL, by name."""


def make_agent(text: str, seed: int = 0, folder: Path | None = None) -> Agent:
    """Return the agent that a text names.

    NAME, NAME:OPTION=VALUE,…, NAME:MODEL,OPTION=VALUE,…, py:FILE.py:CLASS,OPTION=VALUE,…, or bot:COMMAND.
    folder: where a file is looked for; the current one if not given.
    """
    if text.startswith(PREFIX):
        return ExternalAgent(text.removeprefix(PREFIX), seed, cwd=folder)
    if text.startswith(door.PREFIX):
        return load_agent(text, seed, folder)
    name, settings = split_text(text)
    if name in LEARNED:
        kind = LEARNED[name]
        return kind(make_options(kind.options_kind, name, settings), seed)
    if name in SOLVED:
        return SolvedAgent(text, seed)
    if name in AGENTS:
        return AGENTS[name](settings, seed)
    offered = door.entry_points(GROUP)
    if name in offered:
        return build(offered[name](), seed, settings, text)
    raise ConfigurationError(f"there is no agent {name!r}: {nearest(name, [*AGENTS, *LEARNED, *SOLVED, *offered])}")
