"""Regularised Nash dynamics (R-NaD), after DeepNash: the loop.

A step plays whole games by the network in training and learns from them once, in chunks from the last rows to the
first: two-player v-trace says what each action was worth in the regularised game, the critic learns the positions'
worth, and neural replicator dynamics (NeuRD) push logits by advantages. A target network follows slowly. It is what
plays; and after a number of steps it becomes the policy towards which play is regularised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.learn.base import (
    NATS,
    PLAY_AND_LEARN,
    PLAYED,
    PLIES,
    SHARE,
    SPEED,
    Learner,
    Metric,
    Place,
    StageConfig,
    first_weights,
    in_order,
    names_of,
    register,
)  # fmt: skip
from vauban.learn.episodes import Episodes, Games, Looker, row_chunks
from vauban.learn.networks import NetworkTable
from vauban.learn.ranges import COUNT, DECAY, NOT_NEGATIVE, PART, POSITIVE, check_ranges
from vauban.learn.rnad import targets
from vauban.learn.rnad.regular import Policies
from vauban.learn.rnad.targets import Carry, Outer, Steps
from vauban.learn.schedules import PowerLaw
from vauban.learn.trainee import Trainee
from vauban.nets.actor import Actor
from vauban.nets.distinct import distinct
from vauban.nets.move import MoveNetworkConfig
from vauban.nets.policy import Forward, PolicyNetwork
from vauban.nets.processing import discretise, threshold
from vauban.nets.transformer import Size
from vauban.nets.values import estimator
from vauban.observe import base as observations

Answer = TypeVar("Answer")

NETWORK = "move"
"""The name of the network in training."""
REGULAR = "regular"
"""The part of a checkpoint that has the policies towards which play is regularised."""

MEANS = (
    Metric("rnad.entropy", "Entropy of the policy at the positions trained, in nats.", NATS, "Entropy of the policy",
           "entropy {:.3f}", drawn=True, kept=True),
    Metric("rnad.regular_kl", "Divergence of the policy from the one that it is regularised towards.", NATS,
           "Distance from the regularisation", "KL {:.3f}", drawn=True),
    Metric("rnad.value_loss", "Squared error of the critic, in units of the most that can be won.",
           title="Loss of the critic", shown="value loss {:.3f}", drawn=True, kept=True),
    Metric("rnad.policy_loss", "The NeuRD loss, whose size says little: its gradient is what counts."),
    Metric("rnad.advantage", "Mean size of the advantages, over all actions, in units of the most that can be won.",
           title="Size of the advantages", drawn=True),
    Metric("rnad.bounded", "The share of legal actions whose logit is at its bound or beyond.", SHARE,
           "Logits at their bound", "bounded {:.0%}", drawn=True),
    Metric("rnad.ratio", "Mean distance from 1 of the ratio of the policy to the one that played."),
)  # fmt: skip
"""Means over the positions that were trained."""


@dataclass(frozen=True)
class RNaDConfig(StageConfig):
    """Settings of R-NaD; the defaults are DeepNash's, but for v-trace's bound and the size of a batch."""

    network: NetworkTable = field(default=NetworkTable(MoveNetworkConfig(Size(2, 64, 4))))
    games: int = 256
    """Whole games that a step plays and learns from, of each worker. DeepNash's had 768."""
    chunk: int = 16384
    """Most positions that go through the networks at once: fewer take less memory."""
    longest: int = 3600
    """Actions after which a game is cut off, with nothing won."""
    steps: int = 1
    """Steps in an iteration of the run: the more, the fewer lines it writes."""
    eta: float = 0.2
    """Weight of the regularisation, in the units of the game's utilities."""
    durations: tuple[int, ...] = (10_000, 100_000, 35_000)
    """Steps between two replacements of the regularisation, in each phase of the training;"""
    counts: tuple[int, ...] = (101, 65)
    """and the replacements in each phase but the last, which goes on for good."""
    variant: str = "s"
    """V-trace as the public code has it, s, or as the equations are printed, p, which is only right on-policy."""
    rho: float = float("inf")
    """Most that a ratio of policies counts in the critic's targets; DeepNash's was 1, which biases them."""
    c: float = 1.0
    """Most that it counts in handing later targets on."""
    beta: float = 2.0
    """Distance from the mean logit beyond which nothing is pushed further."""
    clip: float = 10_000.0
    """Most that an advantage counts, in units of the most that can be won."""
    learning_rate: PowerLaw = PowerLaw(5e-5)  # noqa: RUF009 - it is frozen
    """By step."""
    gradient_norm: float = 10_000.0
    target_rate: float = 0.001
    """Share of the way to the network in training that the target goes in a step."""
    momentum: float = 0.0
    """Adam's first rate."""
    epsilon: float = 1e-8
    """Adam's smallest divisor."""
    fine_tuning_from: int = 0
    """Step from which on processed policies are evaluated, without small probabilities; 0: never."""
    threshold: float = 0.03
    """Probabilities below this are dropped then,"""
    levels: int = 32
    """and the others become multiples of one over this."""

    def __post_init__(self) -> None:
        check_ranges(self, "rnad", {
            COUNT: "games longest steps levels",
            POSITIVE: "eta rho c beta clip gradient_norm epsilon",
            PART: "target_rate",
            DECAY: "momentum threshold",
            NOT_NEGATIVE: "fine_tuning_from",
        })  # fmt: skip
        if self.chunk < self.games:
            raise ConfigurationError(
                f"chunk of rnad is {self.chunk}, and {self.games} games have as many positions at once: make it that "
                "large at least"
            )
        if not self.durations or min(self.durations) < 1:
            raise ConfigurationError(f"durations of rnad are numbers of steps from 1, not {list(self.durations)}")
        if len(self.counts) != len(self.durations) - 1 or any(each < 1 for each in self.counts):
            raise ConfigurationError(
                f"counts of rnad are one number from 1 for each duration but the last: {list(self.durations)} need "
                f"{len(self.durations) - 1}, not {list(self.counts)}"
            )
        if self.variant not in targets.VARIANTS:
            raise ConfigurationError(f"variant of rnad is {' or '.join(targets.VARIANTS)}, not {self.variant!r}")

    def fewer(self) -> dict[str, tuple[int, int]]:
        less = max(1, self.games // 2)
        return {"games": (self.games, less), "chunk": (self.chunk, max(less, self.chunk // 2))}


@register("rnad")
class RNaD(Learner):
    """A network in training by regularised Nash dynamics."""

    about = "regularised Nash dynamics (R-NaD) after DeepNash"
    config = RNaDConfig
    metrics = (
        SPEED,
        Metric("speed.play", "By the seconds of playing alone.", shown="playing {:,.0f}"),
        Metric("speed.learn", "By the seconds of learning alone.", shown="learning {:,.0f}"),
        *PLAY_AND_LEARN,
        Metric("rnad.plies", "Mean length of the games in plies.", PLIES, "Length of a game", "{:.0f} plies",
               drawn=True),
        Metric("rnad.first_mover", "Mean utility of the first player, in units of the most that can be won.",
               shown="{:+.2f} for the first"),
        Metric("rnad.cut", "The share of the games that were cut off before their end.", SHARE),
        Metric("rnad.end.*", "The share of the games that ended so.", SHARE, "Ends of games", drawn=True),
        *MEANS,
        Metric("rnad.outer", "How often the regularisation has been replaced, m.", title="Replacements of the "
               "regularisation", shown="m {:.0f}"),
        Metric("rnad.alpha", "Weight of the newer of the two policies towards which play is regularised."),
        Metric("rnad.processed", "Whether processed policies were evaluated: 1 in fine-tuning."),
        Metric("rnad.steps", "Gradient steps of this iteration."),
        Metric("rnad.gradient_norm", "Mean norm of the gradients before they are clipped."),
        Metric("rnad.learning_rate", "The learning rate."),
    )  # fmt: skip
    steps: ClassVar = {NETWORK: "rnad.steps"}
    tables: ClassVar = {NETWORK: "network"}
    player = NETWORK
    counts = PLAYED

    def __init__(self, game: Game, config: RNaDConfig, place: Place) -> None:
        self.game, self.settings, self.place = game, config, place
        self.device, self.workers = place.device, place.workers
        self.iteration = self.moves = self.games = self.taken = 0
        with first_weights(place.seed):
            network = config.network.make(game)
        self.trainee: Trainee[PolicyNetwork] = Trainee(network, place.device, place.workers)
        for group in self.trainee.optimiser.param_groups:
            group["betas"], group["eps"] = (config.momentum, group["betas"][1]), config.epsilon
        self.networks = {NETWORK: self.trainee}
        self.policies = Policies(self.trainee)
        policies = self.policies
        self._forward = self._compiled(estimator(self.trainee.working, game))
        # Of the others one answer alone is asked for: the heads that it does not need are not compiled.
        self._judge = self._compiled(_one_of(estimator(policies.target, game), 1))
        self._regular = {
            name: self._compiled(_one_of(estimator(each, game), 0))
            for name, each in (("newer", policies.newer), ("older", policies.older))
        }
        tracks = observations.find(game, network.observation).needs_tracking
        format = game.format(tracks=tracks, plies=game.max_plies or config.longest)
        self._merges = place.device.type == "cpu"
        """Whether networks are asked once about positions that look alike."""
        play = distinct(self._forward) if self._merges else self._forward
        self.episodes = Games(
            game, config.games, config.longest, lambda sim: Actor(self.trainee.working, sim, play), place.device,
            place.seed, format,
        )  # fmt: skip
        self.looker = Looker(self.episodes.sim, config.chunk, network.observation, self.trainee.dtype)
        self._most = max(map(abs, game.utilities))
        self._sums = torch.zeros(len(MEANS), device=place.device)

    def _compiled(self, forward: Callable[[Tensor], Answer]) -> Callable[[Tensor], Answer]:
        return torch.compile(forward, dynamic=False) if self.device.type == "cuda" else forward

    @classmethod
    def limits(cls, facts: Mapping[str, float]) -> list[str]:
        return [
            "It has learned from games against itself alone. The network that plays is the target network, a slow "
            "average of the one that learned, as it is: its policy is not processed.",
            "What it says of the outcome is about the regularised game, in which unlikely actions cost something.",
        ]

    # ── An iteration ─────────────────────────────────────────────────────────────────────────────

    def iterate(self) -> dict[str, float]:
        self.iteration += 1
        told: list[dict[str, float]] = []
        seconds: dict[str, float] = {}
        for _ in range(self.settings.steps):
            with self.place.timed(seconds, "play"):
                played = self._play()
            with self.place.timed(seconds, "learn"):
                told.append(self._learn(played))
        moves = sum(each.pop("moves") for each in told)
        return {
            "moves": float(self.moves),
            "games": float(self.games),
            "speed.moves_per_second": moves / max(sum(seconds.values()), 1e-9),
            **{f"speed.{name}": moves / max(value, 1e-9) for name, value in seconds.items()},
            **{f"seconds.{name}": value for name, value in seconds.items()},
            **{name: float(np.mean([each[name] for each in told])) for name in told[0]},
            "rnad.steps": float(self.settings.steps),
        }

    def _play(self) -> Episodes:
        """Play games with numbers that no others of the run have."""
        games, workers = self.settings.games, self.workers
        return self.episodes.play((self.taken * workers.count + workers.rank) * games)

    def _learn(self, played: Episodes) -> dict[str, float]:
        """Take a step on these games; the metrics of it."""
        config, trainee = self.settings, self.trainee
        outer = targets.outer_step(self.taken, config.durations, config.counts)
        self.taken += 1
        counts = torch.stack([(played.there & (played.players == player)).sum() for player in (0, 1)]).float()
        self.workers.add([counts])
        rate = config.learning_rate.at(self.taken)
        trainee.set_learning_rate(rate)
        self._sums.zero_()
        norm = trainee.descend(self._losses(played, outer, counts), config.gradient_norm)
        self.policies.follow(config.target_rate)
        if outer.ends:
            self.policies.replace()
        self.workers.add([self._sums])
        moves = int(counts.sum().item())
        means = self._sums / max(moves, 1)
        self.moves += moves
        return {
            "moves": float(moves),
            **self._told_of_games(),
            **{f"rnad.{name}": value for name, value in zip(names_of(MEANS), means.tolist(), strict=True)},
            "rnad.outer": float(outer.number),
            "rnad.alpha": outer.alpha,
            "rnad.processed": float(self._processes),
            "rnad.gradient_norm": norm.item(),
            "rnad.learning_rate": rate,
        }

    @property
    def _processes(self) -> bool:
        """Whether the present step, the last one that was begun, is one of fine-tuning."""
        return 0 < self.settings.fine_tuning_from <= self.taken

    def _told_of_games(self) -> dict[str, float]:
        ends = self.episodes.ends
        sums = torch.stack(
            [
                torch.ones_like(ends.over).sum(),
                ends.plies.sum(),
                ends.utilities.sum() / self._most,
                (~ends.over).sum(),
                *((ends.over & (ends.ends == end)).sum() for end in range(1, len(self.game.ends))),
            ]
        ).float()
        self.workers.add([sums])
        count, *rest = sums.tolist()
        self.games += int(count)
        names = ("plies", "first_mover", "cut", *(f"end.{end}" for end in self.game.ends[1:]))
        return {f"rnad.{name}": value / count for name, value in zip(names, rest, strict=True)}

    # ── Learning from games ──────────────────────────────────────────────────────────────────────

    def _losses(self, played: Episodes, outer: Outer, counts: Tensor) -> Iterator[Tensor]:
        """Yield the loss of each chunk of rows, from the last one to the first: their sum is that of the games.

        counts: steps of each player, of all workers. A player's losses are means over that player's own steps.
        """
        games = played.there.shape[1]
        weights = played.there / counts[played.players.long()].clamp_min(1)
        carry = Carry.at_the_end(played.sampled[0])
        for first, last in row_chunks(played.there.sum(1).tolist(), self.settings.chunk):
            rows = slice(first, last)
            inside = played.there[rows].flatten().nonzero().squeeze(1)
            opinions = self._look(played, first * games + inside, outer)
            steps = self._steps(played, rows, inside, opinions)
            estimates, carry = targets.VARIANTS[self.settings.variant](
                steps, carry, self.settings.eta / self._most, self.settings.rho, self.settings.c
            )
            value_targets = estimates.targets.flatten()[inside]
            action_values = estimates.action_values.flatten(0, 1)[inside]
            critic = targets.value_losses(opinions.values, value_targets)
            neurd = targets.neurd_losses(
                opinions.log_policy, action_values, self.settings.beta, self.settings.clip
            )  # fmt: skip
            self._measure(opinions, steps, inside, critic, neurd, action_values)
            yield ((critic + neurd) * weights[rows].flatten()[inside]).sum()

    def _look(self, played: Episodes, positions: Tensor, outer: Outer) -> Opinions:
        """Ask all four networks about some positions."""
        count, looker = len(positions), self.looker
        # On a GPU the networks are compiled for one number of positions: the rest is filled up, and cut off again.
        filled = torch.zeros(self.settings.chunk, dtype=torch.int64, device=self.device)
        filled[:count] = positions
        looker.look(played, filled)
        asked = count if self.device.type == "cpu" else self.settings.chunk
        regular = [name for name, weight in (("newer", outer.alpha), ("older", 1 - outer.alpha)) if weight]

        def ask(seen: Tensor) -> tuple[Tensor, ...]:
            choices, values = self._forward(seen)
            with torch.no_grad():
                return choices, values, self._judge(seen), *(self._regular[name](seen) for name in regular)

        answers = (distinct(ask) if self._merges else ask)(looker.seen[:asked])
        choices, values, target_values, *others = (each[:count] for each in answers)
        legal = looker.legal[:count]
        log_policy = self.trainee.working.legal_log_policy(choices, legal)
        with torch.no_grad():
            log_regular = {
                name: self.trainee.working.legal_log_policy(each, legal)
                for name, each in zip(regular, others, strict=True)
            }
            mine = log_policy.detach()
            log_ratios = targets.log_ratios(
                mine, log_regular.get("newer", mine), log_regular.get("older", mine), outer.alpha
            )
        return Opinions(log_policy, values.float() / self._most, target_values.float() / self._most, log_ratios)

    def _steps(self, played: Episodes, rows: slice, inside: Tensor, opinions: Opinions) -> Steps:
        """Return rows of games as v-trace wants them: opinions in their places, and nothing behind the ends."""
        policy = opinions.log_policy.detach().exp()
        if self._processes:
            policy = discretise(threshold(policy, self.settings.threshold), self.settings.levels)
        there = played.there[rows]

        def spread(found: Tensor) -> Tensor:
            flat = found.new_zeros((there.numel(), *found.shape[1:])).index_copy(0, inside, found)
            return flat.view(*there.shape, *found.shape[1:])

        return Steps(
            there,
            played.players[rows],
            played.places[rows],
            played.rewards[rows] / self._most,
            torch.where(there, played.sampled[rows], 1.0),
            spread(policy),
            spread(opinions.log_ratios),
            spread(opinions.target_values),
        )

    @torch.no_grad()
    def _measure(
        self, opinions: Opinions, steps: Steps, inside: Tensor, critic: Tensor, neurd: Tensor, action_values: Tensor
    ) -> None:
        """Add up what `MEANS` declares."""
        log_policy = opinions.log_policy
        there = log_policy > -torch.inf
        policy, width = log_policy.exp(), there.sum(1).clamp_min(1)
        logits = torch.where(there, log_policy, 0.0)
        centred = logits - logits.sum(1, keepdim=True) / width[:, None]
        advantages = action_values - (policy * action_values).sum(1, keepdim=True)
        place = steps.places.flatten()[inside][:, None]
        ratio = policy.gather(1, place).squeeze(1) / steps.sampled.flatten()[inside]
        beyond = (centred.abs() >= self.settings.beta) & there
        measured = {
            "entropy": -(policy * logits).sum(1),
            "regular_kl": (policy * opinions.log_ratios).sum(1),
            "value_loss": critic,
            "policy_loss": neurd,
            "advantage": torch.where(there, advantages.abs(), 0.0).sum(1) / width,
            "bounded": beyond.sum(1) / width,
            "ratio": (ratio - 1).abs(),
        }
        self._sums += in_order(MEANS, {name: each.sum() for name, each in measured.items()})

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def progress(self) -> dict[str, Any]:
        return super().progress() | {"taken": self.taken}

    def load_progress(self, progress: Mapping[str, Any]) -> None:
        super().load_progress(progress)
        self.taken = progress["taken"]

    @classmethod
    def progress_of(cls, config: RNaDConfig, training: Mapping[str, Any]) -> dict[str, Any]:
        begun = super().progress_of(config, training)
        return begun | {"taken": begun["iteration"] * config.steps}

    def state(self) -> dict[str, Any]:
        return {REGULAR: self.policies.state()}

    def load_state(self, state: Mapping[str, Any], missing: str = "it is not in the checkpoint") -> list[str]:
        self.policies.refresh()
        if REGULAR in state and self.policies.fits(state[REGULAR]):
            self.policies.load_state(state[REGULAR])
            return []
        self.policies.begin_anew()
        why = "it is of another network" if REGULAR in state else missing
        return [f"{self.name}.{REGULAR}.pt: {why}, so play is regularised towards the target network alone"]


def _one_of(forward: Forward, place: int) -> Callable[[Tensor], Tensor]:
    """Return what gives one of a network's two answers alone."""
    return lambda seen: forward(seen)[place]


class Opinions(NamedTuple):
    """The networks' answers about some positions."""

    log_policy: Tensor
    """Of the network in training, with its gradient: −∞ behind the last legal action."""
    values: Tensor
    """Its estimates, with their gradient, in units of the most that can be won."""
    target_values: Tensor
    """Those of the target."""
    log_ratios: Tensor
    """ℓ of every action."""
