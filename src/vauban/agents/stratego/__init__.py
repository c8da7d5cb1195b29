"""The agents of Stratego, by name."""

from __future__ import annotations

from vauban.agents.options import Maker, make_options, without_options
from vauban.agents.stratego.alphabeta import BOT as ALPHABETA
from vauban.agents.stratego.cadet import CadetAgent
from vauban.agents.stratego.compiled import Bot, CompiledAgent, JudgingAgent
from vauban.agents.stratego.mcts.bots import BOTS as SEARCHING
from vauban.agents.stratego.scripted import BOTS as SCRIPTED


def _maker(bot: Bot) -> Maker:
    kind = JudgingAgent if bot.judges else CompiledAgent
    return lambda settings, seed: kind(bot, make_options(bot.options, bot.name, settings), seed)


AGENTS: dict[str, Maker] = {
    "cadet": without_options("cadet", CadetAgent),
    **{bot.name: _maker(bot) for bot in (*SCRIPTED, ALPHABETA, *SEARCHING)},
}
