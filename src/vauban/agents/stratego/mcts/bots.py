"""The searching agents and their presets."""

from __future__ import annotations

from dataclasses import dataclass

from vauban.agents.options import option
from vauban.agents.stratego.compiled import Bot
from vauban.agents.stratego.mcts import search


@dataclass(frozen=True)
class Options:
    """Searches one tree over many sampled positions; stronger the longer it may think.

    Monte-Carlo tree search after the agent of the Louvain thesis (2023), with its parts rebuilt and two things beyond
    it. It samples complete positions that fit what it has seen (how people set up, what has moved, which types are
    left), and searches one tree over all of them; the thesis searches a single position a move and names that as its
    main weakness. And it weighs moves and positions by worth instead of won fights. Moves to look at come from a
    prior over what is known; new positions are judged by playing a few moves on.
    `mcts-louvain` is the same search with the thesis' own parts and parameters.
    """

    setups: str = option("own", "how it sets up: own (as people do), uniform, list:FILE, …")
    sims: int = option(
        0, "simulations a move; 0: as many as the time allows, 20,000 at most", least=0, most=search.MOST_SIMS
    )
    time: float = option(0.55, "seconds a move, at most; 0: as long as the simulations take", least=0)
    resample: int = option(4, "simulations before another position is sampled; 0: one position a move", least=0)
    rollouts: int = option(1, "games played on from a new position", least=1)
    ahead: int = option(5, "moves in each of them", least=0)
    explore: float = option(1.0, "how much it tries moves it has seen little of", least=0)
    puct: bool = option(True, "choose by PUCT, with the prior; 0: by UCT")
    prior: int = option(search.OWN_PRIOR, "which prior and evaluation: 2 ours, 1 the thesis', 0 none", least=0, most=2)
    finished: float = option(1.0, "weight of finished games in the mean of the rollouts", least=0.01)
    swaps: int = option(20, "steps that settle a sampled position; -1: sample as the thesis does", least=-1)


@dataclass(frozen=True)
class LouvainOptions(Options):
    """Searches a single guessed position, with the parameters of the Louvain thesis.

    The agent of the thesis as far as it is published: one position a move, sampled as there; its prior with pruning,
    path finder and evaluation; 50 simulations with 9 rollouts of 5 moves (table 4.1). Where the thesis gives no
    numbers, they are ours (src/vauban/agents/stratego/mcts/prior.py, evaluate.py).
    """

    sims: int = option(
        50, "simulations a move; 0: as many as the time allows, 20,000 at most", least=0, most=search.MOST_SIMS
    )
    time: float = option(0.0, "seconds a move, at most; 0: as long as the simulations take", least=0)
    resample: int = option(0, "simulations before another position is sampled; 0: one position a move", least=0)
    rollouts: int = option(9, "games played on from a new position", least=1)
    explore: float = option(0.2, "how much it tries moves it has seen little of", least=0)
    prior: int = option(
        search.THESIS_PRIOR, "which prior and evaluation: 2 ours, 1 the thesis', 0 none", least=0, most=2
    )
    finished: float = option(3.0, "weight of finished games in the mean of the rollouts", least=0.01)
    swaps: int = option(-1, "steps that settle a sampled position; -1: sample as the thesis does", least=-1)


@dataclass(frozen=True)
class VanillaOptions(LouvainOptions):
    """Searches a single guessed position by UCT, knowing nothing: the yardstick of the Louvain thesis.

    Plain Monte-Carlo tree search over one sampled position a move: every legal move, UCT, random rollouts of 10
    moves, judged by material. The thesis gives no more of its parameters; simulations and rollouts are those of
    table 4.1.
    """

    ahead: int = option(10, "moves in each of them", least=0)
    explore: float = option(1.41, "how much it tries moves it has seen little of", least=0)
    puct: bool = option(False, "choose by PUCT, with the prior; 0: by UCT")
    prior: int = option(search.NO_PRIOR, "which prior and evaluation: 2 ours, 1 the thesis', 0 none", least=0, most=2)
    finished: float = option(1.0, "weight of finished games in the mean of the rollouts", least=0.01)


BOTS = (
    Bot("mcts-vanilla", search.choose, VanillaOptions, judges=True),
    Bot("mcts-louvain", search.choose, LouvainOptions, judges=True),
    Bot("mcts", search.choose, Options, judges=True),
)
