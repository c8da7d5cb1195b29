"""`alphabeta` as a bot: its options and a description of it."""

from dataclasses import dataclass

from vauban.agents.options import option
from vauban.agents.stratego.alphabeta.root import choose
from vauban.agents.stratego.compiled import Bot


@dataclass(frozen=True)
class Options:
    """Looks ahead by alpha–beta over what it suspects; stronger the longer it may think.

    After Demon of Ignorance. It searches one assumed world: known pieces are what they are, hidden ones have chances of
    being this or that, and each fight has one value, the expected one. It wants material, by values that change with
    what both sides have left; it keeps its own pieces secret and unmoved, suspects pieces that chase of being stronger,
    sends
    pieces by plan to what they may gain, and strikes the unmoved where the Flag may be. It looks at captures beyond
    its horizon, confirms a new best move two plies deeper, keeps the two-square rule in its tree for both sides and
    does not repeat positions unless it is chased.
    Deviations: chances come from all that is hidden, who has moved and how people set up, and suspicions weigh in them
    instead of replacing them; how boldly the enemy attacks the unknown is learnt from how often it did; the Flag is
    worth the war, times its chance; ranks that both sides lack lower the others three times at most; ahead, its own
    pieces count less the nearer a draw for want of battles is; plans are one goal a piece, without forays and
    lane keeping; pruned and pointless chases, and deepening from the last move's table, are left out.
    """

    setups: str = option("own", "how it sets up: own (as people do), or a sampler of setups")
    time: float = option(0.2, "seconds a move", least=0)
    depth: int = option(0, "the deepest iteration; 0: as deep as time allows", least=0)
    nodes: int = option(
        0, "positions a move, in place of the time; 0: by time. With it, answers are reproducible", least=0
    )
    suspect: bool = option(True, "whether it draws conclusions from what hidden pieces did")


BOT = Bot("alphabeta", choose, Options, judges=True)
