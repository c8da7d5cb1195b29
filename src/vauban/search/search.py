"""`Search`: chooses a move by rollouts over what may be hidden (Ataraxos, section D.7).

1. Configurations of the hidden pieces are drawn from the belief.
2. Every legal move is played in every configuration at least once; the game then goes on by the move network for both
   sides, to a depth at which the player is on turn again.
3. A move's value is the mean over its rollouts: of the outcome that the network foresees at the last position, or of
   the result where the game has ended before.
4. One step of magnetic mirror descent from the network's policy, with these values, gives the policy that is played.

Positions of many games are searched together: all their rollouts are rows of one batch. The analysis of a position
depends on its seed alone, not on the other positions (beyond rounding).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from vauban.errors import ConfigurationError, RecordError
from vauban.games.base import PLIES, Format, Game
from vauban.games.randomness import CONFIGURATION, ROLLOUT
from vauban.nets.belief import Belief, uniform_belief
from vauban.nets.dtypes import working_copy
from vauban.nets.magnet import action_sources, magnet_log_policy
from vauban.nets.policy import Forward, PolicyNetwork, at_temperature
from vauban.nets.store import Model
from vauban.search.allocation import BELIEF, Plan, make_plan, rollout_counts
from vauban.search.analysis import Analysis, Floats, Ints
from vauban.search.draws import Draws
from vauban.search.opinion import Opinion, ask, bits, look
from vauban.search.pace import TRIAL_DEPTHS, Pace, measure
from vauban.search.rollouts import Rollouts
from vauban.search.update import mirror_descent
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

MOST_ROWS = {"cpu": 256, "cuda": 8192}
"""Rollouts side by side: more only take more memory."""
STEP_OF_ROWS = {"cpu": 1, "cuda": 128}
"""On a GPU the number of rollouts is filled up to a multiple of this, so that few graphs have to be captured."""
LEAST_SAMPLES = 128
"""Least number of configurations of a position that are drawn on a GPU: fewer take as long, and would be captured
anew."""
MOST_SAMPLES = 4096
"""Configurations that are drawn in one go: more only take more memory."""
KEPT = 8
"""Batches that are kept for the next search."""

USED = 0.9
"""Share of the time that is planned with: no estimate is exact."""
TRIAL_DRAWS = 8
"""Configurations that are drawn to measure the time of drawing: hardly slower than drawing one."""

Seeds = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class SearchConfig:
    """The amount of searching, and how far the policy may move."""

    rollouts: int = 1000
    depth: int = 40
    """Plies of a rollout: an even number."""
    alpha: float = 0.002
    """Pull towards the magnet: a movable piece uniformly, then one of its moves uniformly."""
    beta: float = 0.02
    """Pull towards the network's policy."""
    configurations: int = 0
    """Configurations to draw at most; 0: as many as there are rollouts for each move."""
    time: float = 0.0
    """Seconds for a position; 0: no limit. What does not fit is cut (`vauban.search.allocation`)."""
    moves: int = 0
    """Moves to compare at most, the likeliest ones; 0: all legal ones, as published."""

    def __post_init__(self) -> None:
        if self.rollouts < 1 or self.depth < 2 or self.depth % 2 or min(self.configurations, self.time, self.moves) < 0:
            raise ConfigurationError(
                "a search has at least one rollout, an even depth from 2, and no negative numbers: "
                f"rollouts={self.rollouts}, depth={self.depth}, configurations={self.configurations}, "
                f"time={self.time}, moves={self.moves}"
            )
        mirror_descent(torch.zeros(1), torch.zeros(1), torch.zeros(1), self.alpha, self.beta)


class Search:
    """A network that searches before it plays."""

    def __init__(
        self,
        network: PolicyNetwork,
        belief: Belief | None = None,
        config: SearchConfig | None = None,
        device: str | torch.device = "cpu",
        temperature: float = 1.0,
    ) -> None:
        """
        network: for the policy and for both sides of the rollouts.
        belief: of the hidden pieces; without it, everything that is possible is equally likely.
        device: where it has instructions for bfloat16, rollouts and belief run on copies of the networks in that.
        temperature: at which the network plays; a search starts from that policy. Rollouts go by it as it was learned,
            since that is what the values were learned for.
        """
        self.config = config or SearchConfig()
        self.temperature = temperature
        self.device = torch.device(device)
        self.network = network.to(self.device).eval()
        self.paces: dict[str, Pace] = {}
        """The cost of searches so far, by the name of the game."""
        self._player: PolicyNetwork = working_copy(self.network, self.device)
        # One compilation serves any number of rollouts: players wait for the first move as it is.
        self._forward: Forward = self._player
        if self.device.type == "cuda":
            self._forward = torch.compile(self._player, dynamic=True)
        self._belief: Belief | None = None if belief is None else working_copy(belief, self.device)
        self._batches: OrderedDict[tuple[str, Format, int], Rollouts] = OrderedDict()
        self._draws: dict[tuple[Any, ...], Draws] = {}
        self._sources: dict[tuple[str, Format], Tensor] = {}

    @classmethod
    def of_model(cls, model: Model, config: SearchConfig | None = None, device: str | torch.device = "cpu") -> Search:
        """Return a search by the network of a model that plays, and by its belief if it has one."""
        return cls(model.player, model.find(Belief), config, device, model.temperature)

    def analyse(
        self,
        views: Snapshot,
        seeds: Sequence[int] | Seeds,
        time: float | None = None,
        among: Sequence[Sequence[int]] | None = None,
    ) -> list[Analysis]:
        """Search positions of one player, who is on turn in all of them: return one analysis for each.

        seeds: one for each position; the same seed, the same answer, unless there is a limit of time.
        time: seconds for each position, in place of the configuration's; 0 for no limit.
        among: for each position the actions that are compared; only these get rollouts. Without it, all legal ones do.
        """
        if len(seeds) != len(views):
            raise ConfigurationError(f"{len(views)} positions need as many seeds, not {len(seeds)}")
        views.game.format()  # refuses rules that look back without a bound: rollouts could outgrow these records
        config = self.config if time is None else replace(self.config, time=time)
        if config.time:
            self.warm_up(views.game, views.format)
        return self._analyse(views, np.asarray(seeds, np.uint64), config, among)

    def warm_up(self, game: Game, format: Format | None = None) -> None:
        """Measure the cost of a search here, so that the first one already keeps to its time. Done once for a game."""
        if game.name in self.paces:
            return
        kind = self.device.type
        view = Simulator(game, 1, seed=0, format=format, threads=1).views(0)
        attempt = partial(self._try, view)
        draw = min(self._try_draw(view) for _ in range(3))  # the first time compiles, captures and allocates
        self.paces[game.name] = measure(attempt, draw, 2 * STEP_OF_ROWS[kind], MOST_ROWS[kind])
        if kind == "cuda":
            attempt(min(self.config.rollouts, MOST_ROWS[kind]), TRIAL_DEPTHS[0])

    def _try(self, view: Snapshot, rollouts: int, depth: int) -> float:
        config = replace(self.config, rollouts=rollouts, depth=depth, time=0.0)
        begun = perf_counter()
        self._analyse(view, np.zeros(1, np.uint64), config)
        return perf_counter() - begun

    def _try_draw(self, view: Snapshot) -> float:
        begun = perf_counter()
        self._draw_configurations(view.to(self.device), np.zeros(1, np.uint64), [TRIAL_DRAWS])
        return perf_counter() - begun

    # ── One search ───────────────────────────────────────────────────────────────────────────────

    def _analyse(
        self, views: Snapshot, seeds: Seeds, config: SearchConfig, among: Sequence[Sequence[int]] | None = None
    ) -> list[Analysis]:
        begun = perf_counter()
        pace = self.paces.get(views.game.name)
        views = views.to(self.device)
        opinion = ask(self.network, views)
        opinion = opinion._replace(log_policy=at_temperature(opinion.log_policy, self.temperature))
        before = opinion.log_policy.double().exp().cpu().numpy()
        counts = opinion.counts.tolist()
        legal, foreseen = opinion.legal.cpu().numpy(), opinion.outcome.double().cpu().numpy()
        compared = [
            _compared(legal[row, :count], None if among is None else among[row]) for row, count in enumerate(counts)
        ]
        plans = [
            make_plan(
                min(len(each), config.moves or len(each)),
                config.rollouts,
                config.depth,
                config.configurations,
                pace,
                USED * config.time,
            )
            for each in compared
        ]
        searched = [
            each[_likeliest(before[row, each], plan.moves)]
            for row, (each, plan) in enumerate(zip(compared, plans, strict=True))
        ]
        asked = perf_counter()
        hurried = BELIEF in plans[0].cut
        drawn = self._draw_configurations(views, seeds, [plan.configurations for plan in plans], hurried=hurried)
        prepared = perf_counter()
        reached = self._roll_out(views, seeds, opinion.legal, plans, searched, drawn)
        outcomes, visits = _average(before, plans, searched, reached)
        utilities = np.array(views.game.utilities)
        values = outcomes @ utilities
        errors = _standard_errors(values.shape, plans, searched, [each @ utilities for each in reached])
        policy = self._update(views.game, opinion, values, config)
        done = perf_counter()
        if config.time and pace is not None:
            expected = sum(pace.rolling(plan.rollouts, plan.depth) for plan in plans)
            drawing = None if hurried else (prepared - asked) / len(plans)
            corrected = pace.corrected((asked - begun) / len(plans), drawing, (done - prepared) / expected)
            self.paces[views.game.name] = corrected
        views = views.to("cpu")
        return [
            Analysis(
                views[row], legal[row, :count].astype(np.int64), values[row, :count], visits[row, :count],
                errors[row, :count], outcomes[row, :count], before[row, :count], policy[row, :count], foreseen[row],
                drawn[row].cpu().numpy(), plans[row], (done - begun) / len(plans),
            )
            for row, count in enumerate(counts)
        ]  # fmt: skip

    def draw_configurations(self, view: Snapshot, seed: int, count: int) -> npt.NDArray[np.int8]:
        """Draw this many configurations of one view by the belief: configurations × things."""
        [drawn] = self._draw_configurations(view.to(self.device), np.array([seed], np.uint64), [count])
        found: npt.NDArray[np.int8] = drawn.cpu().numpy()
        return found

    def _draw_configurations(
        self, views: Snapshot, seeds: Seeds, counts: list[int], *, hurried: bool = False
    ) -> list[Tensor]:
        """Draw the configurations of each position: int8, configurations × things, −1 behind."""
        belief = self._belief_for(views.game, hurried=hurried)
        seen = look(views, belief.observation, torch.float32)
        plies = views.store.words[:, PLIES].tolist()
        viewer = int(views.viewer or 0)
        drawn: list[Tensor] = [torch.empty(0)] * len(counts)
        for size, rows in _alike(counts):
            dice = [np.random.default_rng((int(seeds[row]), viewer, plies[row], CONFIGURATION)) for row in rows]
            uniforms = np.stack([each.random((size, belief.pieces), np.float32) for each in dice])
            values = self._draw(belief, seen[rows], torch.from_numpy(uniforms).to(self.device))
            for row, each in zip(rows, values, strict=True):
                drawn[row] = each[: counts[row]]
        return drawn

    @torch.inference_mode()
    def _draw(self, belief: Belief, seen: Tensor, uniforms: Tensor) -> Tensor:
        if self.device.type == "cpu" or len(seen) > 1:
            return belief.sample(seen, uniforms)
        # One position alone is too little work for a GPU to hide how long launching every step takes.
        samples = max(uniforms.shape[1], LEAST_SAMPLES)
        key = (type(belief), *seen.shape, samples, belief.pieces)
        if key not in self._draws:
            self._draws[key] = Draws(belief, seen, samples)
        return self._draws[key].draw(seen, uniforms)

    def _roll_out(
        self, views: Snapshot, seeds: Seeds, legal: Tensor, plans: list[Plan], searched: list[Ints], drawn: list[Tensor]
    ) -> list[Floats]:
        """Return the probabilities of the outcomes that each rollout of each position ends with, move by move."""
        rollouts = [plan.rollouts for plan in plans]
        order = [torch.arange(count) for count in rollouts]
        moves = [np.repeat(each, rollout_counts(p.rollouts, p.moves)) for each, p in zip(searched, plans, strict=True)]
        dice = bits(views, seeds, ROLLOUT).view(np.int64) << 32
        owner = torch.repeat_interleave(torch.arange(len(plans)), torch.tensor(rollouts)).to(self.device)
        first = legal[owner, torch.from_numpy(np.concatenate(moves)).to(self.device)]
        numbers = torch.cat([each + int(high) for each, high in zip(order, dice, strict=True)]).to(self.device)
        values = torch.cat(
            [each[places.to(self.device) % len(each)] for each, places in zip(drawn, order, strict=True)]
        )
        depths = np.repeat([plan.depth for plan in plans], rollouts)
        found = np.empty((len(depths), len(views.game.utilities)))
        for depth in np.unique(depths).tolist():
            places = np.flatnonzero(depths == depth)
            for start in range(0, len(places), MOST_ROWS[self.device.type]):
                part = places[start : start + MOST_ROWS[self.device.type]]
                batch = self._batch(views, len(part))
                rows = torch.from_numpy(np.resize(part, batch.rows)).to(self.device)
                outcomes = batch.run(views[owner[rows]], values[rows], first[rows], numbers[rows], depth)
                found[part] = outcomes[: len(part)].cpu().numpy()
        return np.split(found, np.cumsum(rollouts)[:-1])

    def _update(self, game: Game, opinion: Opinion, values: Floats, config: SearchConfig) -> Floats:
        key = game.name, game.format(plies=0)
        if key not in self._sources:
            self._sources[key] = action_sources(game)
        magnet = magnet_log_policy(self._sources[key], opinion.legal.cpu()).double()
        log_policy = opinion.log_policy.cpu().double()
        updated = mirror_descent(torch.from_numpy(values), log_policy, magnet, config.alpha, config.beta)
        policy: Floats = updated.exp().numpy()
        return policy

    # ── What is kept ─────────────────────────────────────────────────────────────────────────────

    def _belief_for(self, game: Game, *, hurried: bool = False) -> Belief:
        """Return the search's belief; if it has none, or no time for it, the uniform one."""
        found = None if self._belief is not None and not hurried else uniform_belief(game)
        found = found or self._belief
        if found is None:
            raise ConfigurationError(f"a search needs a belief about what is hidden, and there is none for {game!r}")
        return found

    def _batch(self, views: Snapshot, rows: int) -> Rollouts:
        step = STEP_OF_ROWS[self.device.type]
        rows = -(-rows // step) * step
        key = (views.game.name, views.format, rows)
        if key not in self._batches:
            self._batches[key] = Rollouts(self._player, self._forward, views.game, rows, views.format)
            if len(self._batches) > KEPT:
                self._batches.popitem(last=False)
        self._batches.move_to_end(key)
        return self._batches[key]


def _alike(wanted: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield groups of rows that want about as many samples, to be drawn together: the number of samples, and the rows.
    (Any surplus is left away.)
    """
    sizes = [1 << (count - 1).bit_length() for count in wanted]
    for size in sorted(set(sizes)):
        rows = [row for row, each in enumerate(sizes) if each == size]
        most = max(1, MOST_SAMPLES // size)
        for start in range(0, len(rows), most):
            yield size, rows[start : start + most]


def _compared(legal: npt.NDArray[np.int16], among: Sequence[int] | None) -> Ints:
    """Return the places of the legal actions that are to be compared, in ascending order."""
    found = np.arange(len(legal)) if among is None else np.flatnonzero(np.isin(legal, among))
    if not len(found):
        raise ConfigurationError("none of the actions that are to be compared is legal")
    return found


def _likeliest(policy: Floats, moves: int) -> Ints:
    """Return the places of the `moves` most likely moves, in ascending order."""
    return np.sort(np.argsort(-policy, kind="stable")[:moves])


def _average(before: Floats, plans: list[Plan], searched: list[Ints], reached: list[Floats]) -> tuple[Floats, Ints]:
    """Return, for each position and move, the mean of the results of its rollouts, and the number of rollouts.

    Moves without a rollout get the mean of the others, weighed by the network's policy: a move about which nothing is
    known neither gains nor loses.
    """
    outcomes = np.zeros((*before.shape, reached[0].shape[1]))
    visits = np.zeros(before.shape, np.int64)
    for row, plan in enumerate(plans):
        moves = np.repeat(searched[row], rollout_counts(plan.rollouts, plan.moves))
        valid = ~np.isnan(reached[row][:, 0])
        np.add.at(visits[row], moves[valid], 1)
        np.add.at(outcomes[row], moves[valid], reached[row][valid])
        seen = visits[row] > 0
        if not seen.any():
            raise RecordError("no move of the position is legal in any of the sampled configurations")
        outcomes[row, seen] /= visits[row, seen, None]
        weights = before[row, seen] + np.finfo(np.float64).tiny
        outcomes[row, ~seen] = weights @ outcomes[row, seen] / weights.sum()
    return outcomes, visits


def _standard_errors(shape: tuple[int, ...], plans: list[Plan], searched: list[Ints], reached: list[Floats]) -> Floats:
    """Return, for each position and move, the standard error of its value, from the results of its rollouts."""
    errors = np.full(shape, np.inf)
    for row, plan in enumerate(plans):
        moves = np.repeat(searched[row], rollout_counts(plan.rollouts, plan.moves))
        valid = ~np.isnan(reached[row])
        moves, ends = moves[valid], reached[row][valid]
        counts = np.bincount(moves, minlength=shape[1])
        means = np.bincount(moves, ends, shape[1]) / np.maximum(counts, 1)
        squares = np.bincount(moves, (ends - means[moves]) ** 2, shape[1])
        several = counts > 1
        errors[row, several] = np.sqrt(squares[several] / ((counts - 1) * counts)[several])
    return errors
