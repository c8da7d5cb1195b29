"""`mcts` as a bot: its options and a description of it."""

from dataclasses import dataclass

from vauban.agents.geister.belief import prior_of
from vauban.agents.geister.compiled import Bot
from vauban.agents.geister.mcts.search import MOST_SIMS, choose
from vauban.agents.geister.own_setups import mixed
from vauban.agents.options import option


@dataclass(frozen=True)
class Options:
    """Searches one tree over many guesses at the enemy's colours; stronger the longer it may think.

    In every simulation it draws the colours of the enemy's ghosts: as many evil ones as are left, those that must be
    evil among them, the others by how they have behaved (who moved, advanced, was offered, fled, stood beside an
    enemy). All simulations share one tree; what a capture shows tells positions in it apart. Moves to look at come from
    a prior: each is weighed by the evaluation of `purple` after it, by what its player can know. New positions are
    judged by the same evaluation, with the guessed colours, after a few moves drawn from the prior. In the tree the
    enemy plays as if it knew all colours.
    """

    setups: str = option(
        "own", "how it sets up: own (any setup, evil ghosts rather ahead), uniform, list:FILE, fixed:TEXT"
    )
    sims: int = option(0, "simulations a move; 0: as many as the time allows, 20,000 at most", least=0, most=MOST_SIMS)
    time: float = option(0.3, "seconds a move, at most; 0: as long as the simulations take", least=0)
    ahead: int = option(5, "moves played on from a new position before it is judged", least=0)
    explore: float = option(1.0, "how much it tries moves it has seen little of", least=0)
    belief: bool = option(True, "whether behaviour counts; 0: all colours are equally likely")


BOT = Bot("mcts", choose, Options, mixed, judges=True, prior=prior_of)
