"""`purple` as a bot: its options and a description of it."""

from dataclasses import dataclass

from vauban.agents.geister.compiled import Bot
from vauban.agents.geister.own_setups import mixed
from vauban.agents.geister.purple.search import MOST_DEPTH, choose
from vauban.agents.options import option


@dataclass(frozen=True)
class Options:
    """Looks ahead by minimax, and takes every unknown enemy ghost to be of both colours at once.

    After the published idea of PurpleAI (Kawakami), with an evaluation of our own. An unknown enemy ghost is purple: it
    can escape like a good one, and counts as evil when it is captured. The enemy is taken to see all colours. So it
    stops every ghost that comes near its exits, and captures with care: whoever captures the last evil ghost loses.
    Ghosts that must be evil (they stayed on an exit where escapes are forced), and those that must then be good, are
    taken for what they are. The evaluation counts ghosts left, steps to the exits, ghosts that nobody can stop any
    more, good ghosts about to be captured, and steps that can be made (docs/agents.md). Of moves equally good it takes
    any.
    """

    setups: str = option(
        "own", "how it sets up: own (any setup, evil ghosts rather ahead), uniform, list:FILE, fixed:TEXT"
    )
    depth: int = option(3, "plies that it looks ahead", least=1, most=MOST_DEPTH)


BOT = Bot("purple", choose, Options, mixed, judges=True)
