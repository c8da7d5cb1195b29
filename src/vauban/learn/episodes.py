"""Whole games, from their beginning to their end, each as long as it is: what learners without a bootstrap learn from.

    games = Games(game, 256, longest=3600, device, seed)
    played = games.play(actor_of(games.sim), first_number=0)
    played.there        # rows × games: where a game went on

Observations are not kept: records are, and `Looker` makes the rest again, for any of their positions.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vauban.games.base import Format, Game
from vauban.nets.actor import Actor
from vauban.nets.replay import Replay
from vauban.sim.simulator import Simulator
from vauban.sim.store import Results

ASK_EVERY = 16
"""Rows after which a GPU is asked whether all games are over: asking takes longer than playing a row."""


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
    """What the first player got for it: the game's utility where it ended, else 0."""


class Games:
    """A simulator whose games are played from their beginning to their end, time and again."""

    def __init__(
        self, game: Game, games: int, longest: int, device: torch.device, seed: int, format: Format | None = None
    ) -> None:
        """
        games: at once. longest: steps after which a game is cut off, with nothing won.
        """
        self.sim = Simulator(game, games, device, seed, format=format, restart=False)
        self.longest = longest_of(game, longest)
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
        self._row = torch.zeros(1, dtype=torch.int64, device=device)
        self._replay = Replay(device)

    @property
    def results(self) -> Results:
        """The outcomes of the games that were played last."""
        return self.sim.results

    @torch.no_grad()
    def play(self, actor: Actor, first_number: int) -> Episodes:
        """Play all games to their ends; they are numbered from `first_number`. actor: of the games' simulator.

        They lie where the games that were played before have lain.
        """
        self.sim.reset(first_number=first_number)
        self._row.zero_()
        self._columns.there.zero_()
        every = ASK_EVERY if self.sim.device.type == "cuda" else 1
        rows = 0
        while rows < self.longest and (rows % every or not bool(self.sim.over.all())):
            self._replay(lambda: self._play(actor))
            rows += 1
        self.sim.check_step()
        return Episodes(*(column[:rows] for column in self._columns))

    def _play(self, actor: Actor) -> None:
        """Play a step of all games that go on."""
        sim = self.sim
        there, players = ~sim.over, sim.players.clone()
        thought = actor.choose()
        places = (thought.legal == actor.actions[:, None]).int().argmax(1)
        sampled = thought.log_policy.gather(1, places[:, None]).squeeze(1).exp()
        # Written before the step, since the records are the simulator's own.
        for column, part in zip(self._columns[:3], sim.store, strict=True):
            column.index_copy_(0, self._row, part[None])
        actor.step()
        ended = there & (sim.results.ended != 0)
        rewards = torch.where(ended, sim.results.utility, 0.0)
        for column, value in zip(self._columns[3:], (there, players, places, sampled, rewards), strict=True):
            column.index_copy_(0, self._row, value[None])
        self._row += 1


def longest_of(game: Game, longest: int) -> int:
    """Return the most steps that a game can have, but no more than `longest`."""
    return longest if game.max_plies is None else min(longest, game.max_plies * game.moves_in_a_row)


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
