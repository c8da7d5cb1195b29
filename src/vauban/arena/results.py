"""Results of a match: its games, counted from one agent's point of view.

A match is played between a first and a second agent. The first agent is the first player (red) in the games with even
numbers, the second (blue) in the others, so who is who follows from the number alone: an agent can play against
itself. Games 2k and 2k+1 are a pair: the same setups and deals, sides swapped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vauban.errors import VaubanError


class ResultsError(VaubanError, ValueError):
    """Results from which a figure cannot be computed, or that do not belong to one match."""


@dataclass(frozen=True)
class GameResult:
    """The result of one game of a match."""

    number: int
    """The game's number within its match, from 0; its pair is `number // 2`."""
    agents: tuple[str, str]
    """The texts of the agents: who was the first player (red), who the second (blue)."""
    winner: int | None
    """0 the first player, 1 the second, None a draw."""
    end: str
    """Its end, e.g. "flag", "no_moves", "total_limit", "forfeit"."""
    plies: int
    seconds: float
    """Its duration."""
    note: str = ""
    """A remark, e.g. the reason of a forfeit."""
    utility: float | None = None
    """Its worth to the first player; None where games are won, drawn or lost, and worth nothing else."""

    @property
    def pair(self) -> int:
        """The number of the pair that it belongs to."""
        return self.number // 2

    def outcome(self, agent: int = 0) -> int:
        """1 won, 0 drawn, −1 lost, for the first (0) or the second (1) agent of the match."""
        if self.winner is None:
            return 0
        return 1 if self.winner == (self.number + agent) % 2 else -1

    def worth(self, agent: int = 0) -> float:
        """Return the game's worth to the first (0) or the second (1) agent of the match."""
        if self.utility is None:
            return float(self.outcome(agent))
        return self.utility if (self.number + agent) % 2 == 0 else -self.utility


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of one agent."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The mean result: a win counts 1, a draw ½."""
        if self.games == 0:
            raise ResultsError("there is no score of no games: at least one has to be finished")
        return (self.wins + self.draws / 2) / self.games

    def __str__(self) -> str:
        return f"{self.wins}–{self.draws}–{self.losses}"


def results_pgn(matches: Iterable[Iterable[GameResult]]) -> str:
    """Return who won each game as PGN without moves, which programs such as Ordo and BayesElo rate.

    White is the first player. Quotation marks in names are single ones: not every program reads escaped ones.
    """
    results = {0: "1-0", 1: "0-1", None: "1/2-1/2"}
    games = []
    for match in matches:
        for game in in_order(match):
            white, black = (name.replace('"', "'") for name in game.agents)
            result = results[game.winner]
            games.append(f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{result}\n')
    return "\n".join(games)


PairCounts = tuple[int, int, int, int, int]
"""Numbers of pairs that brought an agent 0, ½, 1, 1½ and 2 points."""


def in_order(results: Iterable[GameResult]) -> list[GameResult]:
    """Return the games of one match by number, however they were finished; a number that comes twice is an error."""
    ordered = sorted(results, key=lambda result: result.number)
    for one, next_one in pairwise(ordered):
        if one.number == next_one.number:
            raise ResultsError(f"game {one.number} is there twice: these are results of more than one match")
    return ordered


def match_agents(results: Sequence[GameResult]) -> tuple[str, str]:
    """Return the first and the second agent of a match, after checking that all games are of these two."""
    if not results:
        raise ResultsError("a match without a finished game does not say who played")
    red, blue = results[0].agents
    first, second = (red, blue) if results[0].number % 2 == 0 else (blue, red)
    for result in results:
        expected = (first, second) if result.number % 2 == 0 else (second, first)
        if result.agents != expected:
            raise ResultsError(
                f"game {result.number} was played by {result.agents}, expected {expected}: in a match the same two "
                "agents play all games, and the first is red in those with even numbers"
            )
    return first, second


def outcomes(results: Iterable[GameResult], agent: int = 0) -> list[int]:
    """Return 1, 0 or −1 for each game that was won, drawn or lost, in the order of their numbers."""
    return [result.outcome(agent) for result in in_order(results)]


def tally(results: Iterable[GameResult], agent: int = 0) -> Tally:
    """Return the wins, draws and losses of the first (0) or the second (1) agent of a match."""
    counts = Counter(outcomes(results, agent))
    return Tally(counts[1], counts[0], counts[-1])


def pair_counts(results: Iterable[GameResult], agent: int = 0) -> PairCounts:
    """Count the complete pairs that brought the agent 0, ½, 1, 1½ and 2 points; leave out games without their twin."""
    counts = [0] * 5
    ordered = in_order(results)
    for one, twin in pairwise(ordered):
        if one.pair == twin.pair:
            counts[2 + one.outcome(agent) + twin.outcome(agent)] += 1
    return (counts[0], counts[1], counts[2], counts[3], counts[4])
