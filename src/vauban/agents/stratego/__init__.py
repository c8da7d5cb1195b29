"""The agents of Stratego, by name."""

from __future__ import annotations

from vauban.agents.compiled import maker_of
from vauban.agents.options import Maker, without_options
from vauban.agents.stratego.alphabeta import BOT as ALPHABETA
from vauban.agents.stratego.cadet import CadetAgent
from vauban.agents.stratego.mcts.bots import BOTS as SEARCHING
from vauban.agents.stratego.scripted import BOTS as SCRIPTED

AGENTS: dict[str, Maker] = {
    "cadet": without_options("cadet", CadetAgent),
    **{bot.name: maker_of(bot) for bot in (*SCRIPTED, ALPHABETA, *SEARCHING)},
}
OPPONENT = "cadet"
"""The agent that a person plays against unless another is asked for."""
SIGNED = (("classic", "total_limit=100"), ("barrage", "total_limit=200"))
"""Games in which the behaviour of agents is signed: one to play against themselves, one against `random`."""
