"""The part that both oracles share: playing against opponents, counting the outcomes, measuring what was learned."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.games.randomness import RESPONSE
from vauban.learn.base import PLAY_AND_LEARN, PLIES, SHARE, SPEED, Learner, Metric, Place, StageConfig
from vauban.learn.best_response.duels import UNIFORM, Duel, Duels
from vauban.learn.networks import NetworkTable
from vauban.learn.opponents import NetworkPlayer, Player
from vauban.learn.ranges import COUNT, check_ranges
from vauban.learn.response import SEATS, Sample, SeatScores
from vauban.learn.trainee import Trainee
from vauban.nets.move import MoveNetworkConfig
from vauban.nets.policy import PolicyNetwork
from vauban.nets.positions import Recorded
from vauban.nets.transformer import Size
from vauban.observe import base as observations
from vauban.sim.store import Snapshot, Store

NETWORK = "move"
"""The name of the network that plays."""
FIRST_WEIGHTS, BATCHES = 0, 1
"""Purposes of the chance of a round."""
MEASURED = 1 << 40
"""The number of the first game by which a response is measured: no training comes so far."""
REMEMBERED = 10_000
"""Episodes whose rewards are remembered at least, for whoever asks for the latest."""


METRICS = (
    SPEED,
    *PLAY_AND_LEARN,
    Metric("response.score", "Mean utility of the response in the games of this iteration, both seats alike: what it "
           "gains from its opponents while it learns, a lower bound of their exploitability but for chance.",
           title="Gain of the response", shown="gains {:+.3f}", drawn=True, kept=True),
    Metric("response.score.first", "The same in the games in which it was the first player.",
           title="Gain by seat", shown="first {:+.3f}", drawn=True),
    Metric("response.score.second", "The same in the games in which it was the second player.",
           title="Gain by seat", shown="second {:+.3f}", drawn=True),
    Metric("response.deviation.*", "Standard deviation of its utility in the games of this iteration, by seat."),
    Metric("response.games.*", "Games of this iteration that have ended, by its seat."),
    Metric("response.plies", "Mean length of the games in plies.", PLIES, "Length of a game", "{:.0f} plies",
           drawn=True),
    Metric("response.cut", "The share of the games that were cut off before their end.", SHARE),
    Metric("response.decisions", "Decisions of the response so far."),
)  # fmt: skip
"""The metrics of every oracle."""


@dataclass(frozen=True)
class OracleConfig(StageConfig):
    """Settings that all oracles have."""

    network: NetworkTable = field(default=NetworkTable(MoveNetworkConfig(Size(2, 64, 4))))
    opponents: tuple[str, ...] = ()
    """Agents; one of them is drawn for each game."""
    weights: tuple[float, ...] = ()
    """Weights by which they are drawn; left out: all alike."""
    setups: str = UNIFORM
    """The setups of both sides, where players choose: a sampler, or own: each opponent as it does by itself, and the
    response as is usual in the game."""
    games: int = 128
    """Whole games of a round."""
    longest: int = 3600
    """Actions after which a game is cut off, with nothing won."""
    rounds: int = 1
    """Rounds of playing and learning in an iteration of the run: the more, the fewer lines it writes."""

    def __post_init__(self) -> None:
        check_ranges(self, "the oracle", {COUNT: "games longest rounds"})
        if self.weights and len(self.weights) != len(self.opponents):
            raise ConfigurationError(
                f"weights: {len(self.weights)} for {len(self.opponents)} opponents; give one for each, or none"
            )

    def fewer(self) -> dict[str, tuple[int, int]]:
        return {"games": (self.games, max(1, self.games // 2))}


class Looked(NamedTuple):
    """Positions as a network sees them, and their legal actions."""

    seen: Tensor
    legal: Tensor
    counts: Tensor


class Oracle(Learner):
    """A player in training against fixed opponents, who may be exchanged at any time (`face`)."""

    metrics: ClassVar[Sequence[Metric]] = METRICS
    player = NETWORK
    settings: OracleConfig

    working_in: ClassVar[torch.dtype | None] = None
    """The numbers in which its networks run, where they are not as usual on a device."""

    def __init__(self, game: Game, config: Any, place: Place) -> None:
        if place.workers.count > 1:
            raise ConfigurationError(f"{self.name} trains on one device: start it without torchrun")
        self.game, self.settings, self.place, self.device = game, config, place, place.device
        self.iteration = self.taken = self.moves = self.episodes = self.decisions = 0
        self.reward_sum = 0.0
        """Of the learner's utilities in all episodes so far."""
        self.warm = False
        """Whether it explores more, as a policy does that is not to be finished yet."""
        self._latest: deque[tuple[int, float]] = deque()
        """Episodes of the latest rounds, and the sum of their rewards."""
        self.trainee = self.make_trainee(0)
        self.networks = {NETWORK: self.trainee}
        self.duels = self._make_duels(self.trainee.working)
        if config.opponents:
            players = [place.agents.player(text, game, place.device) for text in config.opponents]
            self.face(players, config.weights or (1.0,) * len(players))

    def make_trainee(self, part: int) -> Trainee[PolicyNetwork]:
        """Return a network with first weights: the same ones on every device, and nothing of torch's own generator."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed_of(FIRST_WEIGHTS, part))
            network = self.fresh()
        return Trainee(network, self.device, self.place.workers, self.working_in)

    def fresh(self) -> PolicyNetwork:
        """Return a network that has learned nothing."""
        return self.settings.network.make(self.game)

    def _make_duels(self, network: PolicyNetwork) -> Duels:
        config, place = self.settings, self.place
        return Duels(
            self.game, config.games, config.longest, NetworkPlayer("the response", network), place.device,
            place.seed, place.agents, config.setups,
        )  # fmt: skip

    # ── Whom it plays against ────────────────────────────────────────────────────────────────────

    def face(self, opponents: Sequence[Player], weights: Sequence[float]) -> None:
        """Play against these from the next round on: each is drawn for a game as often as its weight says."""
        self.duels.face(opponents, weights)

    def warm_up(self, on: bool) -> None:
        """Explore more (`warm_entropy`), or as in the end (`entropy`)."""
        self.warm = on

    def latest_reward(self, episodes: int) -> tuple[float, int]:
        """Return the mean reward of the latest episodes, at least so many if there are, and their number.

        episodes: no more than `REMEMBERED`.
        """
        count, total = 0, 0.0
        for number, reward in reversed(self._latest):
            if count >= episodes:
                break
            count, total = count + number, total + reward
        return total / max(count, 1), count

    # ── An iteration ─────────────────────────────────────────────────────────────────────────────

    def iterate(self) -> dict[str, float]:
        self.iteration += 1
        told: list[dict[str, float]] = []
        played: list[Tensor] = []
        seconds = {"play": 0.0, "learn": 0.0}
        before = self.moves
        for _ in range(self.settings.rounds):
            begun = time.perf_counter()
            duel = self.duels.play(self.taken * self.settings.games)
            self.taken += 1
            played.append(self._note(duel))
            between = time.perf_counter()
            told.append(self.learn(duel))
            seconds["play"] += between - begun
            seconds["learn"] += time.perf_counter() - between
        self.trainee.update_average(0.0)
        return {
            "moves": float(self.moves),
            "games": float(self.episodes),
            "speed.moves_per_second": (self.moves - before) / max(sum(seconds.values()), 1e-9),
            **{f"seconds.{name}": value for name, value in seconds.items()},
            **_told_of_games(torch.cat(played, 1)),
            "response.decisions": float(self.decisions),
            **self._joined(told),
        }

    def _joined(self, told: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """Return the metrics of several rounds as those of one iteration: steps add up, of all else it is the mean."""
        found: dict[str, list[float]] = {}
        for name, value in (item for each in told for item in each.items()):
            found.setdefault(name, []).append(value)
        counted = set(self.steps.values())
        return {name: sum(each) if name in counted else fmean(each) for name, each in found.items()}

    @abstractmethod
    def learn(self, duel: Duel) -> dict[str, float]:
        """Learn from the games of a round, and from what came before; its metrics."""

    def _note(self, duel: Duel) -> Tensor:
        """Count the games of a round; by game: seat, utility, plies, whether it came to its end."""
        columns = (duel.seats, duel.utilities, duel.plies, duel.over)
        found = torch.stack([each.double() for each in columns]).cpu()
        count, reward = len(duel.seats), float(found[1].sum())
        self.episodes += count
        self.reward_sum += reward
        self.moves += int(duel.played.there.sum())
        self.decisions += int(duel.own.sum())
        self._latest.append((count, reward))
        while sum(number for number, _ in self._latest) - self._latest[0][0] >= REMEMBERED:
            self._latest.popleft()
        return found

    # ── Parts of learning ────────────────────────────────────────────────────────────────────────

    def look(self, words: Tensor, halves: Tensor, bytes_: Tensor) -> Looked:
        """Make observations and legal actions of records again."""
        game, network, count = self.game, self.trainee.network, len(words)
        positions = Recorded(Snapshot(game, self.duels.games.sim.format, Store(words, halves, bytes_)))
        squares = game.board[0] * game.board[1]
        channels = observations.find(game, network.observation).channels(game)
        seen = torch.empty((count, squares, channels), dtype=self.trainee.dtype, device=self.device)
        legal = torch.empty((count, game.max_legal), dtype=torch.int16, device=self.device)
        counts = torch.empty(count, dtype=torch.int32, device=self.device)
        positions.observe(network.observation, seen)
        positions.legal_actions(legal, counts)
        return Looked(seen, legal, counts)

    def seed_of(self, purpose: int, part: int = 0) -> int:
        """Return a seed for one purpose of a round."""
        return int(np.random.default_rng((self.place.seed, self.taken, purpose, part, RESPONSE)).integers(2**63))

    def dice(self) -> torch.Generator:
        """Return the random numbers of a round."""
        return torch.Generator(self.device).manual_seed(self.seed_of(BATCHES))

    # ── What it has come to ──────────────────────────────────────────────────────────────────────

    def measure(self, games: int, tick: Callable[[int], None] = lambda _: None) -> SeatScores:
        """Play new games by the network that plays in the end, against the opponents of now: what it gains from them.

        games: at least so many; every call plays the same ones. tick: called with the number of those that are over.
        """
        duels = self._make_duels(self.trainee.average)
        duels.face(self.duels.opponents, self.duels.weights)
        found: tuple[list[float], list[float]] = ([], [])
        for number in range(math.ceil(games / duels.count)):
            duel = duels.play(MEASURED + number * duels.count)
            for seat in (0, 1):
                found[seat].extend(duel.utilities[duel.seats == seat].tolist())
            tick(min(games, (number + 1) * duels.count))
        return SeatScores(Sample.of(found[0]), Sample.of(found[1]))

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def progress(self) -> dict[str, Any]:
        return {
            "iteration": self.iteration, "taken": self.taken, "moves": self.moves, "games": self.episodes,
            "decisions": self.decisions, "reward_sum": self.reward_sum, "warm": self.warm,
            "latest": [list(each) for each in self._latest],
        }  # fmt: skip

    def load_progress(self, progress: Mapping[str, Any]) -> None:
        self.iteration, self.taken, self.moves = progress["iteration"], progress["taken"], progress["moves"]
        self.episodes, self.decisions = progress["games"], progress["decisions"]
        self.reward_sum, self.warm = progress["reward_sum"], progress["warm"]
        self._latest = deque((int(count), float(reward)) for count, reward in progress["latest"])

    @classmethod
    def progress_of(cls, config: OracleConfig, training: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts of a run that begins with the networks of a model: rewards were those of other games."""
        iterations = training.get("iterations", 0)
        return {
            "iteration": iterations, "taken": iterations * config.rounds, "moves": training.get("moves", 0),
            "games": training.get("games", 0), "decisions": 0, "reward_sum": 0.0, "warm": False, "latest": [],
        }  # fmt: skip

    @classmethod
    def limits(cls, facts: Mapping[str, float]) -> list[str]:
        return [
            "It has learned to beat its opponents and nobody else: against others it may be weak, and it is easy to "
            "exploit itself."
        ]


def _told_of_games(games: Tensor) -> dict[str, float]:
    """Return what `METRICS` declares of games; rows: seat, utility, plies, whether it came to its end."""
    seats, utilities, plies, over = games
    told, means = {}, []
    for seat, name in enumerate(SEATS):
        mine = Sample.of(utilities[seats == seat].tolist())
        if mine.games:
            means.append(mine.mean)
            told[f"response.score.{name}"] = mine.mean
            told[f"response.deviation.{name}"] = mine.deviation
        told[f"response.games.{name}"] = float(mine.games)
    return {
        "response.score": sum(means) / len(means),
        **told,
        "response.plies": float(plies.mean()),
        "response.cut": float((over == 0).double().mean()),
    }
