"""Deep CFR with outcome sampling: the loop.

An iteration makes some traversals for one player, each a single play; puts the regrets that they estimate into that
player's reservoir, and the other player's strategies into another; and trains the player's value network anew on all
that its reservoir holds. What plays is the average of the strategies of all iterations: a strategy network that is
trained on them from time to time, or one of the value networks of all iterations, drawn for a whole game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.games.randomness import DEEP_CFR
from vauban.learn.base import PLAYED, PLIES, SHARE, Learner, Metric, Place, StageConfig, first_weights, register
from vauban.learn.buffers import Reservoir
from vauban.learn.deep_cfr import targets
from vauban.learn.deep_cfr.regression import AT_ONCE, SHARES, AdvantageRegression, Regression, StrategyRegression
from vauban.learn.deep_cfr.traversal import NetworkStrategies, Traversal, Visits, records_of
from vauban.learn.networks import NetworkTable
from vauban.learn.ranges import COUNT, NOT_NEGATIVE, PART, POSITIVE, check_ranges
from vauban.learn.trainee import Trainee
from vauban.nets.conv import ConvNetworkConfig
from vauban.nets.kinds import describe
from vauban.nets.policy import PolicyNetwork, without_forecast
from vauban.nets.regrets import DrawnNetwork
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator
from vauban.sim.store import Results

if TYPE_CHECKING:
    from vauban.learn.deep_cfr.together import Together

PLAYERS = ("first", "second")
"""The value networks of the players."""
STRATEGY, DRAWN = "strategy", "drawn"
"""The two averages."""
RESERVOIRS = (*PLAYERS, STRATEGY)
INITIAL, SAMPLING, KEEPING = range(3)
"""Uses of random numbers: first weights, minibatches, reservoirs."""
SEEDS = 1 << 20
"""Seeds whose games have numbers side by side, so that one simulator can play those of several runs."""


@dataclass(frozen=True)
class DeepCFRConfig(StageConfig):
    """Settings of Deep CFR with outcome sampling; the published ones for Geister."""

    network: NetworkTable = field(default=NetworkTable(ConvNetworkConfig(), "conv"))
    """Of the value networks and the strategy network alike."""
    traversals: int = 384
    """Plays in an iteration."""
    exploration: float = 0.6
    """Share of the traverser's actions that are drawn evenly. 0.6 was published; over many moves of one's own hardly a
    sample is then of any use, and 0.05 is better."""
    weights: str = "printed"
    """The way in which a regret is split into a target and a weight: printed, own, dream or reached
    (docs/deep-cfr.md)."""
    probabilities_in: str = "weight"
    """The part of `printed` that contains reach probabilities: weight or value."""
    literal_network: bool = False
    """Ask the traverser's network at the other player's positions too, as the published pseudo-code says."""
    warm_start: bool = False
    """Train networks on from where they are, and not anew."""
    capacity: int = 1_075_200
    """Most items of each reservoir."""
    batch: int = 3584
    """Items of a minibatch."""
    batches: int = 300
    """Minibatches that a value network is trained on in an iteration."""
    strategy_batches: int = 300
    """Minibatches that the strategy network is trained on each time."""
    strategy_every: int = 100
    """Iterations between two trainings of the strategy network; 0: there is none."""
    keep_every: int = 0
    """Of each player's value networks, every so many-th is kept, to be drawn from; 0: none."""
    average: str = STRATEGY
    """The player: strategy, the strategy network, or drawn, one of the value networks that were kept."""
    learning_rate: float = 0.01
    """Rate of Adam at the beginning of each training."""
    final_rate: float = 1.0
    """Share of it that is left at the end of a training; it falls evenly. 1, as published: it does not fall."""
    gradient_norm: float = 1.0
    merge: bool = False
    """Train on each observation of a reservoir once, with the sum of its weights and the mean of its targets: the same
    loss but for a constant, without the noise of minibatches. For games whose positions come again and again."""

    def __post_init__(self) -> None:
        check_ranges(self, "deep_cfr", {
            COUNT: "traversals capacity batch batches strategy_batches",
            NOT_NEGATIVE: "strategy_every keep_every",
            PART: "exploration final_rate",
            POSITIVE: "learning_rate gradient_norm",
        })  # fmt: skip
        for name, known in (("weights", targets.WEIGHTS), ("probabilities_in", targets.PLACES),
                            ("average", (STRATEGY, DRAWN))):  # fmt: skip
            if getattr(self, name) not in known:
                raise ConfigurationError(f"{name} of deep_cfr is {' or '.join(known)}, not {getattr(self, name)!r}")
        needed = {STRATEGY: "strategy_every", DRAWN: "keep_every"}[self.average]
        if not getattr(self, needed):
            raise ConfigurationError(f"average of deep_cfr: {self.average!r} needs a {needed} of 1 or more")

    def fewer(self) -> dict[str, tuple[int, int]]:
        return {name: (getattr(self, name), max(1, getattr(self, name) // 2)) for name in ("capacity", "traversals")}


@register("deep_cfr")
class DeepCFR(Learner):
    """Value networks of both players and the strategy network in training."""

    about = "Deep CFR with outcome sampling"
    config = DeepCFRConfig
    metrics = (
        Metric("speed.traversed_per_second", "Moves of this iteration's traversals by its seconds, trainings included.",
               shown="{:,.0f} moves/s"),
        Metric("seconds.traversals", "Seconds that the traversals took."),
        Metric("seconds.values", "Seconds that training the value network took."),
        Metric("seconds.strategy", "Seconds that training the strategy network took, where it was trained."),
        Metric("deep_cfr.plies", "Mean length of the plays in plies.", PLIES, "Length of a game", "{:.0f} plies",
               drawn=True),
        Metric("deep_cfr.end.*", "The share of the plays that ended so.", SHARE, "Ends of games", drawn=True),
        Metric("deep_cfr.useful", "The share of the traverser's samples whose target is not 0: where exploration drew "
               "what the strategy never plays, nothing before it counts.", SHARE, "Samples that say something",
               "{:.0%} useful", drawn=True),
        Metric("deep_cfr.sure", "The mean probability of the strategies' likeliest action.", SHARE,
               "Likeliest action", "likeliest {:.0%}", drawn=True, kept=True),
        Metric("deep_cfr.value_loss", "Weighted squared error of the value network, the mean over its training.",
               title="Loss of the value networks", shown="value loss {:.3g}", drawn=True),
        Metric("deep_cfr.strategy_loss", "Weighted squared error of the strategy network, the mean over its training.",
               title="Loss of the strategy network", shown="strategy loss {:.3g}", drawn=True),
        Metric("deep_cfr.batches.first", "Minibatches that the first player's value network was trained on."),
        Metric("deep_cfr.batches.second", "The same of the second player's."),
        Metric("deep_cfr.batches.strategy", "The same of the strategy network."),
        Metric("deep_cfr.seen.*", "Items that were ever put into this reservoir."),
        Metric("deep_cfr.filled.*", "The share of this reservoir that is filled.", SHARE),
    )  # fmt: skip
    steps: ClassVar = {part: f"deep_cfr.batches.{part}" for part in RESERVOIRS}
    tables: ClassVar = dict.fromkeys(RESERVOIRS, "network")
    player = STRATEGY
    counts = PLAYED

    def __init__(self, game: Game, config: DeepCFRConfig, place: Place) -> None:
        if place.workers.count > 1:
            raise ConfigurationError(
                "deep_cfr trains on one device: start it without torchrun; several seeds make several runs"
            )
        self.game, self.settings, self.place, self.device = game, config, place, place.device
        self.player = config.average
        self.iteration = self.moves = self.games = 0
        self.together: Together | None = None
        """The runs that go on side by side with this one, if there are any."""
        self.kept: tuple[list[dict[str, Tensor]], list[dict[str, Tensor]]] = ([], [])
        """The value networks of each player that are kept to be drawn from."""
        self.kept_weights: tuple[list[float], list[float]] = ([], [])
        # Small networks on targets that differ by orders of magnitude: bfloat16 has too few bits for them.
        self.trainees: dict[str, Trainee[PolicyNetwork]] = {
            name: Trainee(self._fresh(name), place.device, place.workers, torch.float32) for name in self._parts
        }
        self.networks = dict(self.trainees)
        for trainee in self.trainees.values():
            trainee.network.eval()
        first, second = (self.trainees[name].network for name in PLAYERS)
        tracks = observations.find(game, first.observation).needs_tracking
        format = game.format(tracks=tracks, plies=game.max_plies)
        self.strategies = NetworkStrategies((first, second), game, config.traversals)
        self.traversal = Traversal(
            game, config.traversals, self.strategies, config.exploration, place.device, place.seed // SEEDS,
            format=format, literal=config.literal_network,
        )  # fmt: skip
        most = max(config.batches, config.strategy_batches if config.strategy_every else 1)
        at_once = config.batch * max(1, min(most, AT_ONCE[place.device.type] // config.batch))
        # Neither its games nor their numbers matter: it only looks at records.
        self._looking = Simulator(game, at_once, place.device, seed=0, format=format)
        self.regressions: dict[str, Regression] = {}
        for name in self._parts:
            kind = StrategyRegression if name == STRATEGY else AdvantageRegression
            reservoir = Reservoir(config.capacity, kind.columns(game, format, config.weights), place.device)
            self.regressions[name] = kind(
                self.trainees[name], reservoir, self._looking, config.batch, config.learning_rate, config.final_rate,
                config.gradient_norm, config.merge,
            )  # fmt: skip

    @property
    def _parts(self) -> tuple[str, ...]:
        return RESERVOIRS if self.settings.strategy_every else PLAYERS

    @classmethod
    def check(cls, game: Game, config: DeepCFRConfig) -> None:
        if game.max_plies is None:
            raise ConfigurationError(
                f"deep_cfr plays games to their ends, and {game.name!r} has no longest one: give it a limit, such as "
                "rules = \"total_limit=100\""
            )  # fmt: skip

    @classmethod
    def limits(cls, facts: Mapping[str, float]) -> list[str]:
        return ["It says nothing about the outcome of a game: it has learned regrets and strategies alone."]

    # ── An iteration ─────────────────────────────────────────────────────────────────────────────

    def iterate(self) -> dict[str, float]:
        if self.together is not None:
            return self.together.iterate(self)
        self.iteration += 1
        player = targets.traverser_of(self.iteration)
        seconds: dict[str, float] = {}
        with self.place.timed(seconds, "traversals"):
            told = self._traverse(player)
        with self.place.timed(seconds, "values"):
            told |= self.learned(PLAYERS[player], self._learn(PLAYERS[player]))
        if self.strategy_is_due:
            with self.place.timed(seconds, "strategy"):
                told |= self.learned(STRATEGY, self._learn(STRATEGY))
        return self.summed_up(told, seconds)

    @property
    def strategy_is_due(self) -> bool:
        """Whether the strategy network is trained in this iteration."""
        every = self.settings.strategy_every
        return bool(every) and self.iteration % every == 0

    def summed_up(self, told: dict[str, float], seconds: Mapping[str, float]) -> dict[str, float]:
        """Return the metrics of an iteration, by what its parts have told and how long they took."""
        return {
            "moves": float(self.moves),
            "games": float(self.games),
            "speed.traversed_per_second": told.pop("moves") / max(sum(seconds.values()), 1e-9),
            **{f"seconds.{name}": value for name, value in seconds.items()},
            **told,
        }

    @property
    def first_number(self) -> int:
        """The number of the first game of this iteration, which no other game of the run has, nor of another seed's."""
        return (self.iteration * SEEDS + self.place.seed % SEEDS) * self.settings.traversals

    def _traverse(self, player: int) -> dict[str, float]:
        """Make the traversals of an iteration, and put what they say into the reservoirs."""
        paths = self.traversal.run(player, self.first_number)
        self.traversal.sim.check_step()
        return self.keep(player, paths, self.traversal.visits, self.traversal.sim.results)

    def keep(self, player: int, paths: targets.Paths, visits: Visits, results: Results) -> dict[str, float]:
        """Put what traversals say into the reservoirs; return the metrics of them."""
        config = self.settings
        found = targets.advantages(paths, config.weights, config.probabilities_in)
        linear = targets.linear_weight(self.iteration)
        own, other = paths.played & paths.own, paths.played & ~paths.own
        records = records_of(visits)._asdict()
        there = torch.arange(self.game.max_legal, device=self.device) < visits.widths[..., None]
        sampled = targets.explored(visits.policy, there, config.exploration)
        self.regressions[PLAYERS[player]].reservoir.add(
            {
                SHARES: sampled.flatten(0, 1),
                **records,
                "weight": (linear * found.factor).flatten(),
                "place": visits.places.flatten(),
                "taken": found.taken.flatten(),
                "others": found.others.flatten(),
            },
            own.flatten(),
            self._dice(KEEPING, player),
        )
        if STRATEGY in self.regressions:
            self.regressions[STRATEGY].reservoir.add(
                {
                    **records,
                    "weight": (linear * targets.strategy_factors(paths)).flatten(),
                    "policy": visits.policy.flatten(0, 1),
                },
                other.flatten(),
                self._dice(KEEPING, 2),
            )
        useful = (found.taken != 0) | (found.others != 0)
        sums = torch.stack(
            [
                paths.played.sum(),
                own.sum(),
                (useful & own).sum(),
                torch.where(paths.played, visits.policy.amax(2), 0.0).sum(),
                results.plies.sum(),
                *((results.end == end).sum() for end in range(1, len(self.game.ends))),
            ]
        ).tolist()
        moves, traversed, telling, sure, plies, *ends = sums
        self.moves += int(moves)
        self.games += config.traversals
        shares = {f"deep_cfr.end.{end}": n / config.traversals for end, n in zip(self.game.ends[1:], ends, strict=True)}
        return {
            "moves": moves,
            "deep_cfr.plies": plies / config.traversals,
            **shares,
            "deep_cfr.useful": telling / max(traversed, 1),
            "deep_cfr.sure": sure / max(moves, 1),
        }

    def _learn(self, name: str) -> float:
        """Train a network on its reservoir; return the mean loss."""
        self.prepare(name)
        return self.regressions[name].learn(self.batches(name), self.scale, self.sampling(name))

    def prepare(self, name: str) -> None:
        """Let a network begin anew, unless it is to go on."""
        if not self.settings.warm_start:
            self._begin_anew(name)

    def batches(self, name: str) -> int:
        """Return the number of minibatches that a network is trained on each time."""
        return self.settings.strategy_batches if name == STRATEGY else self.settings.batches

    @property
    def scale(self) -> float:
        """The factor of all weights: as published, one by the number of the iteration."""
        return 1 / self.iteration

    def sampling(self, name: str) -> torch.Generator:
        """Return the random numbers by which minibatches for a network are drawn in this iteration."""
        return self._dice(SAMPLING, RESERVOIRS.index(name))

    def learned(self, name: str, loss: float) -> dict[str, float]:
        """Take note that a network was trained; return the metrics of that."""
        config, batches = self.settings, {f"deep_cfr.batches.{name}": float(self.batches(name))}
        if name == STRATEGY:
            return {"deep_cfr.strategy_loss": loss, **batches, **self._contents(name)}
        player, number = PLAYERS.index(name), targets.linear_weight(self.iteration)
        self.strategies.trained[player] = True
        if config.keep_every and number % config.keep_every == 0:
            state = self.trainees[name].network.state_dict()
            self.kept[player].append({key: tensor.clone() for key, tensor in state.items()})
            self.kept_weights[player].append(float(number))
        return {"deep_cfr.value_loss": loss, **batches, **self._contents(name)}

    def _contents(self, name: str) -> dict[str, float]:
        reservoir = self.regressions[name].reservoir
        seen = int(reservoir.seen)
        return {
            f"deep_cfr.seen.{name}": float(seen),
            f"deep_cfr.filled.{name}": min(1.0, seen / reservoir.capacity),
        }

    # ── Networks ─────────────────────────────────────────────────────────────────────────────────

    def _fresh(self, name: str) -> PolicyNetwork:
        """Return a network with first weights, the same ones in the same iteration."""
        with first_weights(self._seed(INITIAL, RESERVOIRS.index(name))):
            return without_forecast(self.settings.network.make(self.game))

    @torch.no_grad()
    def _begin_anew(self, name: str) -> None:
        """Give a network first weights, and its optimiser no past, in the tensors that they have."""
        trainee = self.trainees[name]
        trainee.network.load_state_dict(self._fresh(name).state_dict())
        for moments in trainee.optimiser.state.values():
            for tensor in moments.values():
                tensor.zero_()

    def others(self) -> dict[str, nn.Module]:
        """Return the networks that are kept to be drawn from; of a player who has none yet, the newest."""
        if not self.settings.keep_every:
            return {}
        networks = [self.trainees[name].network for name in PLAYERS]
        states = [kept or [network.state_dict()] for kept, network in zip(self.kept, networks, strict=True)]
        chances = [weights or [1.0] for weights in self.kept_weights]
        return {DRAWN: DrawnNetwork.of(self.game, describe(networks[0]), states, chances)}

    def _seed(self, purpose: int, part: int) -> int:
        numbers = (self.place.seed, self.iteration, purpose, part, DEEP_CFR)
        return int(np.random.default_rng(numbers).integers(2**63))

    def _dice(self, purpose: int, part: int) -> torch.Generator:
        """Return random numbers of this iteration, for one purpose."""
        return torch.Generator(self.device).manual_seed(self._seed(purpose, part))

    # ── Keeping ──────────────────────────────────────────────────────────────────────────────────

    def load_progress(self, progress: Mapping[str, Any]) -> None:
        super().load_progress(progress)
        for player in range(2):
            self.strategies.trained[player] = self.iteration > player

    def state(self) -> dict[str, Any]:
        reservoirs = {name: each.reservoir.state() for name, each in self.regressions.items()}
        return {**reservoirs, "kept": {"networks": list(self.kept), "weights": list(self.kept_weights)}}

    def load_state(self, state: Mapping[str, Any], missing: str = "it is not in the checkpoint") -> list[str]:
        said = []
        for name, regression in self.regressions.items():
            if name in state and regression.reservoir.fits(state[name]):
                regression.reservoir.load_state(state[name])
                continue
            why = "it is for another configuration" if name in state else missing
            said.append(f"{self.name}.{name}.pt: {why}, so this reservoir begins empty")
        if "kept" in state:
            networks, weights = state["kept"]["networks"], state["kept"]["weights"]
            for player in range(2):
                self.kept[player][:] = [
                    {key: tensor.to(self.device) for key, tensor in each.items()} for each in networks[player]
                ]
                self.kept_weights[player][:] = weights[player]
        elif self.settings.keep_every:
            said.append(f"{self.name}.kept.pt: {missing}, so only networks to come are drawn from")
        return said
