"""Damped self-play, after Ataraxos: two processes, one for setups and one for moves, that feed each other.

An iteration draws a pool of setups, plays a window of all games, learns to move from the moves that matter, and learns
to set up from the games that ended. Games without setups, or with such as chance draws, are learned by their moves
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.learn.ataraxos import collect, moves, setups
from vauban.learn.ataraxos.collect import Collector, Window
from vauban.learn.ataraxos.estimate import estimate
from vauban.learn.ataraxos.moves import MoveConfig, MoveLearner
from vauban.learn.ataraxos.setups import SetupConfig, SetupLearner
from vauban.learn.base import PLAYED, SPEED, Estimate, Learner, Metric, Place, StageConfig, first_weights, register
from vauban.learn.networks import NetworkTable
from vauban.learn.trainee import Trainee
from vauban.nets.actor import Actor
from vauban.nets.move import MoveNetworkConfig
from vauban.nets.policy import Forward, PolicyNetwork, utility_values
from vauban.nets.setup import SetupNetwork, learnable
from vauban.nets.transformer import Size

COLLAPSED = 0.05
"""An entropy of the policy, in nats, below which a run warns: of two moves, one is then played 99 times of 100."""
ANEW = {"games": "new games begin", "setups": "games that are under way do not count for their setups"}
"""Consequences of missing parts of a checkpoint."""


@dataclass(frozen=True)
class AtaraxosConfig(StageConfig):
    """Settings of Ataraxos; the defaults are the paper's."""

    move_network: NetworkTable = field(default=NetworkTable(MoveNetworkConfig(Size(8, 384, 8))))
    setup_network: Size | None = field(default=Size(4, 512, 8))
    """None: setups are not learned but drawn uniformly."""
    moves: MoveConfig = field(default_factory=MoveConfig)
    setups: SetupConfig = field(default_factory=SetupConfig)

    def fewer(self) -> dict[str, tuple[int, int]]:
        moves = self.moves
        return {
            "moves.games": (moves.games, max(1, moves.games // 2)), "moves.slices": (moves.slices, 2 * moves.slices)
        }  # fmt: skip


@register("ataraxos")
class Ataraxos(Learner):
    """The setup network and the move network in training."""

    about = "damped self-play after Ataraxos"
    config = AtaraxosConfig
    headed = ("setups",)
    metrics = (
        SPEED,
        Metric("speed.collect", "By the seconds of playing the window alone.", shown="playing {:,.0f}"),
        Metric("speed.moves", "By the seconds of training the move network alone.", shown="learning {:,.0f}"),
        Metric("speed.setups", "By the seconds of drawing setups alone."),
        Metric("speed.setup_training", "By the seconds of training the setup network alone."),
        Metric("seconds.setups", "Seconds that drawing the pool of setups took."),
        Metric("seconds.collect", "Seconds that playing the window took."),
        Metric("seconds.moves", "Seconds that training the move network took."),
        Metric("seconds.setup_training", "Seconds that training the setup network took."),
        *moves.METRICS,
        *collect.METRICS,
        *setups.METRICS,
    )  # fmt: skip
    steps: ClassVar = {"move": "moves.batches", "setup": "setups.steps"}
    tables: ClassVar = {"move": "move_network", "setup": "setup_network"}
    player = "move"
    counts = PLAYED | {"numbered": "moves"}  # at most one game has begun with each move
    own = ("games",)

    def __init__(self, game: Game, config: AtaraxosConfig, place: Place) -> None:
        self.game, self.settings, self.place = game, config, place
        self.device, self.workers = place.device, place.workers
        self.iteration = self.moves = self.games = 0
        self.numbered = 0
        """No game of this run has had this number yet, nor a higher one: games that begin anew begin here."""
        self._warned = False
        """Whether it has been said that play has collapsed."""
        rank, count = place.workers.rank, place.workers.count
        self.collector = Collector(
            game, config.moves.games, config.moves.length, place.device, place.seed,
            first=rank * config.moves.games, stride=count * config.moves.games,
        )  # fmt: skip
        with first_weights(place.seed):
            self.move: Trainee[PolicyNetwork] = Trainee(config.move_network.make(game), place.device, place.workers)
            self.setup: Trainee[SetupNetwork] | None = None
            if config.setup_network and learnable(game):
                self.setup = Trainee(SetupNetwork(game, config.setup_network), place.device, place.workers)
        self.networks = {"move": self.move} | ({"setup": self.setup} if self.setup else {})
        forward: Forward = self.move.working
        if place.device.type == "cuda":
            forward = torch.compile(self.move.working, dynamic=False)
        self.actor = Actor(self.move.working, self.collector.sim, forward)
        self.forward = forward
        self.move_learner = MoveLearner(self.move, self.collector, config.moves, place.seed, place.workers)
        self.setup_learner: SetupLearner | None = None
        if self.setup:
            plies = config.moves.length - self.collector.carried
            self.setup_learner = SetupLearner(
                self.setup, game, config.setups, plies=plies, seed=place.seed, workers=place.workers
            )

    @classmethod
    def check(cls, game: Game, config: AtaraxosConfig) -> None:
        last = 1 + game.moves_in_a_row
        if config.moves.length <= last:
            raise ConfigurationError(
                f"moves.length: a window of {config.moves.length} rows has none to learn from in {game.name!r}: its "
                f"last {last} only say what came of the others"
            )

    @classmethod
    def limits(cls, facts: Mapping[str, float]) -> list[str]:
        return ["It has learned from games against itself alone."]

    # ── An iteration ─────────────────────────────────────────────────────────────────────────────

    def iterate(self) -> dict[str, float]:
        self.iteration += 1
        seconds: dict[str, float] = {}
        first = self.collector.carried if self.collector.filled else 0
        with self.place.timed(seconds, "setups"):
            self.draw_setups()
        with self.place.timed(seconds, "collect"):
            window = self.collector.collect(self.actor)
        play = self._note_games(window, first)
        with self.place.timed(seconds, "moves"):
            learned = self.move_learner.learn(window, self.iteration)
        metrics = {f"moves.{name}": value for name, value in learned.items()}
        with self.place.timed(seconds, "setup_training"):
            if self.setup_learner:
                learned = self.setup_learner.learn(self.iteration)
                metrics |= {f"setups.{name}": value for name, value in learned.items()}
        played = (self.collector.length - first) * self.collector.sim.n * self.workers.count
        self.moves += played
        self.numbered += played  # a game can end with every move, and another begin
        self._warn_of_collapse(metrics)
        return {
            "moves": float(self.moves),
            "games": float(self.games),
            "speed.moves_per_second": played / max(sum(seconds.values()), 1e-9),
            **{f"speed.{name}": played / max(value, 1e-9) for name, value in seconds.items()},
            **{f"seconds.{name}": value for name, value in seconds.items()},
            **play,
            **metrics,
        }

    def draw_setups(self) -> None:
        """Draw the setups that new games begin from; and begin all games, if there are none to go on with."""
        sim = self.collector.sim
        if self.setup_learner is not None:
            sim.set_pools(self.setup_learner.draw_pool(self.iteration))
        if not self.collector.filled:
            sim.reset(first_number=self.numbered + self.workers.rank * sim.n)
            self.numbered += self.workers.count * sim.n

    def _note_games(self, window: Window, first: int) -> dict[str, float]:
        """Tell the setup learner of the games that ended, and say how they went."""
        ended = window.ended[first:]
        results, ends, plies = (column[first:][ended] for column in (window.results, window.ends, window.plies))
        if self.setup_learner:
            self.setup_learner.note_ended(window.starts[first:][ended], results)
        sums = collect.sums_of_games(self.game, utility_values(self.game, self.device)[results], ends, plies)
        self.workers.add([sums])
        self.games += int(sums[0].item())
        return collect.means_of_games(self.game, sums)

    def _warn_of_collapse(self, told: Mapping[str, float]) -> None:
        """Say, once, that the policy has come down to a single move almost everywhere."""
        if told["moves.batches"] and told["moves.entropy"] < COLLAPSED and not self._warned:
            self._warned = True
            self.place.note(
                f"play has collapsed: the policy's entropy is {told['moves.entropy']:.3f} nats, below {COLLAPSED}. A "
                f"larger {self.name}.moves.magnet_weight or a smaller {self.name}.moves.learning_rate keeps it mixed "
                "(docs/metrics.md)"
            )

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def progress(self) -> dict[str, Any]:
        return super().progress() | {"large_windows": self.move_learner.filter.large}

    def load_progress(self, progress: Mapping[str, Any]) -> None:
        super().load_progress(progress)
        self.move_learner.filter.large = progress["large_windows"]

    @classmethod
    def progress_of(cls, config: AtaraxosConfig, training: Mapping[str, Any]) -> dict[str, Any]:
        # Its values have long told positions apart.
        return super().progress_of(config, training) | {"large_windows": config.moves.settled}

    def state(self) -> dict[str, Any]:
        setups = {"setups": self.setup_learner.state()} if self.setup_learner else {}
        return {"games": self.collector.state(), **setups}

    def load_state(self, state: Mapping[str, Any], missing: str = "it is not in the checkpoint") -> list[str]:
        found = dict(state)
        wanted = ["games", *(["setups"] if self.setup_learner else [])]
        why = {part: missing for part in wanted if part not in found}
        if "games" in found and self.workers.any(not _same_shapes(found["games"], self.collector.state())):
            why["games"] = "those of the checkpoint are for another configuration"
            del found["games"]
        if "games" in found:
            self.collector.load_state(found["games"])
        if "setups" in found and self.setup_learner:
            self.setup_learner.load_state(found["setups"])
        return [f"{self.name}.{part}.pt: {reason}, so {ANEW[part]}" for part, reason in why.items()]

    def estimate(self) -> Estimate:
        return estimate(self)


def _same_shapes(saved: Mapping[str, Tensor], mine: Mapping[str, Tensor]) -> bool:
    return {name: each.shape for name, each in saved.items()} == {name: each.shape for name, each in mine.items()}
