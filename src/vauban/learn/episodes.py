"""Whole games, from their beginning to their end, each as long as it is: what learners without a bootstrap learn from.

    games = Games(game, 256, 3600, lambda sim: Actor(network, sim), device, seed)
    played = games.play(first_number=0)
    played.there        # rows × games: where a game went on

Observations are not kept: records are, and `Looker` makes the rest again, for any of their positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from vauban.games.base import Format, Game
from vauban.nets.actor import Thought
from vauban.nets.replay import Replay
from vauban.sim.simulator import Simulator

ASK_EVERY = 16
"""Rows after which a GPU is asked whether all games are over: asking takes longer than playing a row."""
TABLES = 5
"""Tables, each half as large as the one before: what a network is compiled for."""


class Episodes(NamedTuple):
    """Games that were played to their ends: a row for each step, in each an entry for each game."""

    words: Tensor
    halves: Tensor
    bytes: Tensor
    """The records before the action."""
    there: Tensor
    """Whether the game went on here (bool); false behind its end."""
    players: Tensor
    """The player on turn."""
    places: Tensor
    """The action that was drawn: its place in the simulator's list of legal ones (int64)."""
    sampled: Tensor
    """The probability with which it was drawn."""
    rewards: Tensor
    """The first player's reward for it: the game's utility where it ended, else 0."""


class Ends(NamedTuple):
    """The ends of games, by game."""

    over: Tensor
    """Whether it was played to its end (bool); false where it was cut off."""
    ends: Tensor
    """Its end: an index into `Game.ends`."""
    plies: Tensor
    utilities: Tensor
    """Its worth to the first player; 0 where it was cut off."""


class Player(Protocol):
    """Whoever plays all games of a simulator, for both players: an `Actor`, say."""

    sim: Simulator
    actions: Tensor
    """The actions that were chosen last."""

    def choose(self) -> Thought:
        """Choose an action for each game."""

    def step(self) -> None:
        """Play what was chosen."""


class Games:
    """Games that are played from their beginning to their end, time and again.

    Some are much longer than others. Whenever no more than half of those on the table go on, they go on at a table half
    as large, so that the network is seldom asked about games that are over.
    """

    def __init__(
        self, game: Game, games: int, longest: int, make_actor: Callable[[Simulator], Player], device: torch.device,
        seed: int, format: Format | None = None, *, captured: bool = True,
    ) -> None:  # fmt: skip
        """
        games: at once. longest: steps after which a game is cut off, with nothing won.
        make_actor: makes what plays the games of a simulator.
        captured: False if on a GPU it cannot be captured into a graph.
        """
        sizes = [max(1, games >> halvings) for halvings in range(TABLES)]
        self._tables = [
            _Table(make_actor(Simulator(game, size, device, seed, format=format, restart=False)), captured)
            for size in dict.fromkeys(sizes)
        ]
        self.sim = self._tables[0].sim
        """The largest table."""
        self.longest = longest if game.max_actions is None else min(longest, game.max_actions)
        shapes: list[tuple[tuple[int, ...], torch.dtype]] = [
            *((part.shape[1:], part.dtype) for part in self.sim.store),
            ((), torch.bool),
            ((), torch.uint8),
            ((), torch.int64),
            ((), torch.float32),
            ((), torch.float32),
        ]
        self._columns = Episodes(
            *(torch.zeros((self.longest, games, *shape), dtype=dtype, device=device) for shape, dtype in shapes)
        )
        kinds = (torch.bool, torch.uint8, torch.int64, torch.float32)
        self.ends = Ends(*(torch.zeros(games, dtype=kind, device=device) for kind in kinds))
        """The ends of the games that were played last."""
        self._row = torch.zeros((), dtype=torch.int64, device=device)

    @torch.no_grad()
    def play(self, first_number: int, setups: Sequence[Any] | None = None) -> Episodes:
        """Play all games to their ends; they are numbered from `first_number`.

        setups: both players' in each game, as `Simulator.reset` takes them; drawn evenly if not given.
        They lie where the games that were played before have lain.
        """
        table, smaller = self._tables[0], self._tables[1:]
        table.sim.reset(setups, first_number=first_number)
        table.games.copy_(torch.arange(table.sim.n, device=table.sim.device))
        self._row.zero_()
        self._columns.there.zero_()
        every = ASK_EVERY if table.sim.device.type == "cuda" else 1
        rows = 0
        while rows < self.longest:
            if rows % every == 0:
                left = table.sim.n - int(table.sim.over.sum())
                if not left:
                    break
                while smaller and left <= smaller[0].sim.n:
                    smaller[0].take_over(table)
                    table, *smaller = smaller
            table.replay(lambda: self._play(table))  # noqa: B023 - it is done at once
            rows += 1
        for each in self._tables:
            each.sim.check_step()
        return Episodes(*(column[:rows] for column in self._columns))

    def _play(self, table: _Table) -> None:
        """Play a step of all games at a table that go on."""
        sim, games, actor = table.sim, table.games, table.actor
        there, players = ~sim.over, sim.players.clone()
        thought = actor.choose()
        places = (thought.legal == actor.actions[:, None]).int().argmax(1)
        sampled = thought.log_policy.gather(1, places[:, None]).squeeze(1).exp()
        positions = self._row * self.sim.n + games
        # Written before the step, since the records are the simulator's own.
        self._write(self._columns[:3], sim.store, positions)
        actor.step()
        results, over = sim.results, sim.over
        ended = there & (results.ended != 0)
        rewards = torch.where(ended, results.utility, 0.0)
        self._write(self._columns[3:], (there, players, places, sampled, rewards), positions)
        worths = torch.where(over, results.utility, 0.0)
        for column, value in zip(self.ends, (over, results.end, sim.plies, worths), strict=True):
            column.index_copy_(0, games, value)
        self._row += 1

    def _write(self, columns: Sequence[Tensor], values: Sequence[Tensor], positions: Tensor) -> None:
        for column, value in zip(columns, values, strict=True):
            column.flatten(0, 1).index_copy_(0, positions, value)


class _Table:
    """A simulator, who plays at it, and which of all games lie there."""

    def __init__(self, actor: Player, captured: bool) -> None:
        self.actor, self.sim = actor, actor.sim
        self.games = torch.zeros(actor.sim.n, dtype=torch.int64, device=actor.sim.device)
        self.replay = Replay(actor.sim.device, captured=captured)

    def take_over(self, table: _Table) -> None:
        """Go on with the games of a larger table, of which there is room for all that are not over."""
        first = table.sim.over.int().argsort(stable=True)[: self.sim.n]
        for mine, theirs in zip(self.sim.store, table.sim.store, strict=True):
            mine.copy_(theirs[first])
        for mine, theirs in zip(self.sim.results, table.sim.results, strict=True):
            mine.copy_(theirs[first])
        self.games.copy_(table.games[first])


def row_chunks(counts: list[int], most: int) -> list[tuple[int, int]]:
    """Cut rows into chunks of at most `most` positions, from the last chunk to the first: where each begins and ends.

    counts: positions in each row, none of which has more than `most`.
    """
    chunks, last, filled = [], len(counts), 0
    for row in reversed(range(len(counts))):
        if filled + counts[row] > most:
            chunks.append((row + 1, last))
            last, filled = row + 1, 0
        filled += counts[row]
    return [*chunks, (0, last)] if last else chunks


class Looker:
    """Makes observations and legal actions of positions again, for so many at a time."""

    def __init__(self, like: Simulator, positions: int, observation: str, dtype: torch.dtype) -> None:
        """like: the simulator that the positions are from; dtype: of the observations."""
        self.sim = Simulator(like.game, positions, like.device, seed=0, format=like.format)
        self.observation = observation
        shape = (positions, *self.sim.observation_shape(observation, "squares"))
        self.seen = torch.zeros(shape, dtype=dtype, device=like.device)
        self.legal, self._counts = self.sim.legal_actions()

    def look(self, played: Episodes, positions: Tensor) -> None:
        """Make `seen` and `legal` of positions (row × games + game), as many as there is room for."""
        for part, column in zip(self.sim.store, played[:3], strict=True):
            part.copy_(column.flatten(0, 1)[positions])
        self.sim.observe(self.observation, self.seen, layout="squares")
        self.sim.legal_actions(self.legal, self._counts)
