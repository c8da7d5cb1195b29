"""Agents: the interface (`base`) and those that can be played with by name.

    make_agent("charger")
    make_agent("mcts:sims=200,setups=human", seed=7)
    make_agent("net:runs/mine,temperature=0.5")
    make_agent("py:mine.py:Striker,depth=2")
    make_agent("cfr+:iterations=1000")
    make_agent("bot:python3 examples/ucc_bot.py")

Installed packages may offer more (entry points of the group "vauban.agents"). Agents of one family of games live in a
package of their own in here, which is found by being there. It says what makes its agents (`AGENTS`), which of them a
person plays against unless another is asked for (`OPPONENT`), and the games in which their behaviour is signed
(`SIGNED`). docs/agents.md says who they are.

Agents of several families may share a name, such as `mcts`. The game that is played tells which is meant.
"""

from __future__ import annotations

from pathlib import Path

from vauban import door
from vauban.agents.adapter import adapted, build, load_agent
from vauban.agents.base import Agent, check_plays
from vauban.agents.external import MEMORY, make_program, prefix_of
from vauban.agents.net import ModelAgent, NetAgent
from vauban.agents.options import Maker, make_options, split_text
from vauban.agents.population import PopulationAgent, PopulationOptions
from vauban.agents.random import Options as RandomOptions
from vauban.agents.random import RandomAgent
from vauban.agents.search import SearchAgent
from vauban.agents.solved import OPTIONS as SOLVED
from vauban.agents.solved import SolvedAgent
from vauban.errors import ConfigurationError
from vauban.families import family_part, family_parts, folder_of
from vauban.games.base import Game, nearest

GROUP = "vauban.agents"
"""The entry points by which installed packages offer agents."""

AGENTS: dict[str, Maker] = {
    "random": lambda settings, seed: RandomAgent(seed, make_options(RandomOptions, "random", settings)),
}
"""By name of an agent that plays any game: what makes it from settings and a seed."""
FAMILIES: dict[str, dict[str, Maker]] = {
    part.__name__.rpartition(".")[2]: part.AGENTS for part in family_parts("agents") if hasattr(part, "AGENTS")
}
"""By family of games, and by name, its agents."""
USUAL_FAMILY = "stratego"
"""The family whose agent is meant by a name that several families have, where no game is given."""

LEARNED: dict[str, type[ModelAgent]] = {kind.kind: kind for kind in (NetAgent, SearchAgent)}
"""Agents that need a model, NAME:MODEL, by name."""
POPULATION = "population"
"""The agent that draws a policy of a population for each game."""


def make_agent(
    text: str, seed: int = 0, folder: Path | None = None, memory: int = MEMORY, *, game: Game | None = None
) -> Agent:
    """Return the agent that a text names.

    NAME, NAME:OPTION=VALUE,…, NAME:MODEL,OPTION=VALUE,…, py:FILE.py:CLASS,OPTION=VALUE,…, or bot:COMMAND.
    folder: where a file is looked for, and a program is started; the current one if not given.
    memory: MiB for each process of a program, 0 for no limit.
    game: what it is to play; tells apart agents of the same name. The agent may be one that does not play it.
    """
    if prefix_of(text):
        return make_program(text, seed, folder, memory)
    if text.startswith(door.PREFIX):
        return load_agent(text, seed, folder)
    name, settings = split_text(text)
    if name in LEARNED:
        kind = LEARNED[name]
        return kind(make_options(kind.options_kind, name, settings), seed)
    if name == POPULATION:
        return PopulationAgent(make_options(PopulationOptions, name, settings), seed, make_agent)
    if name in SOLVED:
        return SolvedAgent(text, seed)
    family = family_of(name, game)
    known = AGENTS if family is None else FAMILIES[family]
    if name in known:
        return adapted(known[name](settings, seed), text)
    offered = door.entry_points(GROUP)
    if name in offered:
        return build(offered[name](), seed, settings, text)
    raise ConfigurationError(
        f"there is no agent {name!r}: {nearest(name, [*shipped(), *LEARNED, POPULATION, *SOLVED, *offered])}"
    )


def make_player(text: str, game: Game, seed: int = 0) -> Agent:
    """Return the agent that a text names, to play this game; refuse one that cannot, before anything is played."""
    agent = make_agent(text, seed, game=game)
    check_plays(agent, game)
    return agent


def family_of(name: str, game: Game | None = None) -> str | None:
    """Return the family of the agent that a name means; None if it plays any game, or there is none.

    That is the game's family if it has such an agent, else the usual one, else any that has.
    """
    if name in AGENTS:
        return None
    first = USUAL_FAMILY if game is None else folder_of(game.family)
    families = [first, USUAL_FAMILY, *FAMILIES]
    return next((family for family in families if name in FAMILIES.get(family, ())), None)


def shipped(game: Game | None = None) -> list[str]:
    """List the names of Vauban's own agents, each once: all of them, or those that play a game."""
    families = FAMILIES if game is None else [folder_of(game.family)]
    return list(dict.fromkeys([*AGENTS, *(name for family in families for name in FAMILIES.get(family, ()))]))


def usual_opponent(game: Game) -> str:
    """Return the agent that a person plays against unless another is asked for."""
    return getattr(family_part("agents", game.family), "OPPONENT", "random")
