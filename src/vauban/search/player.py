"""A network of a model at a game: its opinions and policies, and how it sets up and chooses.

    player = Player(model, game)
    legal, policy = player.policy(views)

A model that has learned a game in steps plays the game of whole moves too (`Game.plain`). Its opinion of a move is then
made of two: of the piece, and of the target once that piece has been chosen. It sets up by playing the deployment.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from vauban.families import family_part
from vauban.games.base import STEP, Game
from vauban.games.randomness import MOVE
from vauban.nets.policy import PolicyNetwork, at_temperature
from vauban.nets.positions import Edit
from vauban.nets.store import Model, ModelError
from vauban.search.opinion import Actions, Opinion, ask, legal_actions, pick, uniforms
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot, Store

Floats = npt.NDArray[np.float64]
Row = npt.NDArray[np.int8]
Seeds = npt.NDArray[np.uint64]
Shaping = Callable[[Tensor], Tensor]
"""Makes other policies of policies, a row each."""
Judging = Callable[[Snapshot], Floats]
"""Estimates the worth of views to their player."""


class Policies(NamedTuple):
    """The actions that are played, by view."""

    legal: Actions
    """The legal actions, −1 behind the last."""
    chances: Floats
    """Their probabilities, 0 behind the last."""


class Pruning(Protocol):
    """Takes moves out of policies, by what the views tell."""

    def __call__(self, views: Snapshot, found: Policies, judge: Judging) -> Floats:
        """Return the chances without some of them; what is left need not add up to 1."""


class Steps(Protocol):
    """Leads from a game of whole moves to the same in steps: the module `vauban.sim.<family>` of the latter."""

    def game_in_steps(self, game: Game) -> Game:
        """Return the game in steps."""

    def in_steps(self, plain: Snapshot, pieces: npt.NDArray[Any] | None = None) -> Snapshot:
        """Return records, or views, as those of the game in steps, with these pieces chosen."""

    def setup_of(self, game: Game, squares: list[int]) -> Row:
        """Return the setup that a player's actions in the deployment make."""


@dataclass(frozen=True)
class Manner:
    """Ways in which a player departs from what its network says."""

    temperature: float = 1.0
    shaping: Shaping | None = None
    """Of the policy of each action."""
    deploying: Shaping | None = None
    """Of the policies in the deployment."""
    edit: Edit | None = None
    pruning: Pruning | None = None


def steps_of(model: Model, game: Game) -> Steps | None:
    """Return how a model plays a game in steps, None where it plays it at once; refuse one that it does not play."""
    plain = model.game.plain
    if plain is None or plain.family != game.family:
        model.check_plays(game)
        return None
    steps = cast(Steps, family_part("sim", model.game.family))
    if not model.plays(steps.game_in_steps(game)):
        raise ModelError(
            f"the model {model.card['name']!r} plays {' and '.join(model.card['variants'])}, and the same in whole "
            f"moves, not {game.name!r}"
        )
    return steps


class Player:
    """A network of a model at a game."""

    def __init__(
        self, model: Model, game: Game, network: PolicyNetwork | None = None, manner: Manner | None = None
    ) -> None:
        """network: in place of the one that plays by the model's card."""
        self.game, self.network, self.manner = game, network or model.player, manner or Manner()
        self._steps = steps_of(model, game)
        if self._steps is not None:
            assert game.moves is not None
            squares = game.board[0] * game.board[1]
            self._moves = game.moves
            self._action = np.full((squares, squares), -1, np.int64)
            self._action[tuple(game.moves.T)] = np.arange(len(game.moves))

    @property
    def in_steps(self) -> bool:
        """Whether the network has learned the game in steps."""
        return self._steps is not None

    # ── Opinions ─────────────────────────────────────────────────────────────────────────────────

    def opinion(self, views: Snapshot) -> Opinion:
        """Return the network's opinion of whole moves, at its temperature."""
        if self._steps is None:
            return self._ask(views)
        first = self._ask(self._steps.in_steps(views))
        rows, places = (first.legal >= 0).nonzero(as_tuple=True)
        pieces = first.legal[rows, places].long()
        of_rows = rows.cpu().numpy()
        second = self._ask(self._steps.in_steps(views[of_rows], pieces.cpu().numpy()))
        # By view and piece a row of targets, to be looked up by move.
        squares = len(self._action)
        which = torch.zeros((len(views), squares), dtype=torch.long, device=rows.device)
        which[rows, pieces] = torch.arange(len(rows), device=rows.device)
        chosen, aimed = _by_square(first, squares), _by_square(second, squares)
        legal = torch.from_numpy(legal_actions(views)).to(rows.device)
        moves = torch.from_numpy(self._moves).to(rows.device)[legal.clamp_min(0)]
        sources, targets = moves[..., 0], moves[..., 1]
        log_policy = chosen.gather(1, sources) + aimed[which.gather(1, sources), targets]
        log_policy = log_policy.masked_fill(legal < 0, -torch.inf)
        return Opinion(legal.to(torch.int16), (legal >= 0).sum(1).int(), log_policy, first.outcome)

    def judge(self, views: Snapshot) -> Floats:
        """Estimate the worth of views to the player on turn."""
        steps = views if self._steps is None else self._steps.in_steps(views)
        outcomes = ask(self.network, steps, self.manner.edit).outcome.double().cpu().numpy()
        return np.asarray(outcomes @ np.array(self.game.utilities))

    def _ask(self, views: Snapshot) -> Opinion:
        found = ask(self.network, views, self.manner.edit)
        return found._replace(log_policy=at_temperature(found.log_policy.double(), self.manner.temperature))

    # ── Policies and choices ─────────────────────────────────────────────────────────────────────

    def policy(self, views: Snapshot) -> Policies:
        """Return what is played, and with which probabilities."""
        pruned = self._pruned(views)
        if self._steps is None:
            return Policies(pruned.legal, _shaped(pruned.chances, self.manner.shaping))
        rows, pieces, chosen, aimed = self._split(pruned)
        moves = self._moves[np.maximum(pruned.legal, 0)]
        which = np.zeros(chosen.shape, np.int64)
        which[rows, pieces] = np.arange(len(rows))
        views_of = np.arange(len(views))[:, None]
        whole = chosen[views_of, moves[..., 0]] * aimed[which[views_of, moves[..., 0]], moves[..., 1]]
        return Policies(pruned.legal, np.where(pruned.legal >= 0, whole, 0.0))

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        """Draw an action for each view; chance comes from its seed."""
        if self._steps is None:
            legal, chances = self.policy(views)
            places = pick(chances, uniforms(views, seeds, MOVE))
            return legal[np.arange(len(legal)), places]
        if self.manner.pruning is None:
            pieces = self._choose_step(self._steps.in_steps(views), seeds)
            targets = self._choose_step(self._steps.in_steps(views, pieces), seeds)
            return self._action[pieces, targets]
        rows, from_squares, chosen, aimed = self._split(self._pruned(views))
        pieces = pick(chosen, uniforms(views, seeds, MOVE))
        rank = np.full(chosen.shape, -1)
        rank[rows, from_squares] = np.arange(len(rows))
        targets = pick(aimed[rank[np.arange(len(views)), pieces]], uniforms(_second(views), seeds, MOVE))
        return self._action[pieces, targets]

    def _choose_step(self, views: Snapshot, seeds: Seeds) -> Actions:
        found = self._ask(views)
        chances = _shaped(_chances(found.log_policy), self.manner.shaping)
        legal = found.legal.cpu().numpy().astype(np.int64)
        return legal[np.arange(len(legal)), pick(chances, uniforms(views, seeds, MOVE))]

    def _pruned(self, views: Snapshot) -> Policies:
        """Return policies before they are shaped, without the moves that are not to be played."""
        opinion = self.opinion(views)
        found = Policies(opinion.legal.cpu().numpy().astype(np.int64), _chances(opinion.log_policy))
        if self.manner.pruning is None:
            return found
        kept = self.manner.pruning(views, found, self.judge)
        return found._replace(chances=kept / kept.sum(1, keepdims=True))

    def _split(self, found: Policies) -> tuple[Actions, Actions, Floats, Floats]:
        """Return policies in steps, shaped: for each view over its pieces, for each view and piece over its targets.

        The first two tell to which view and piece a row of targets belongs.
        """
        views, places = (found.legal >= 0).nonzero()
        sources, targets = self._moves[found.legal[views, places]].T
        squares = len(self._action)
        pairs, which = np.unique(views * squares + sources, return_inverse=True)
        rows, pieces = np.divmod(pairs, squares)
        aimed = np.zeros((len(pairs), squares))
        aimed[which, targets] = found.chances[views, places]
        sums = aimed.sum(1)
        chosen = np.zeros((len(found.legal), squares))
        chosen[rows, pieces] = sums
        # A piece whose moves are all taken out is not chosen: its targets do not matter.
        aimed = np.where(sums[:, None] > 0, aimed / np.where(sums, sums, 1)[:, None], aimed)
        return rows, pieces, _shaped(chosen, self.manner.shaping), _shaped(aimed, self.manner.shaping)

    # ── Setups ───────────────────────────────────────────────────────────────────────────────────

    def deploy(self, player: int, rng: random.Random) -> Row:
        """Play a player's deployment, and return the setup that it makes."""
        assert self._steps is not None
        game = self._steps.game_in_steps(self.game)
        sim = Simulator(game, 1, seed=0, format=game.format(plies=1), threads=1)
        while int(sim.players[0]) != player:  # nothing can be seen of what the other one places
            sim.step(sim.legal_mask().int().argmax(1))
        squares: list[int] = []
        while int(sim.players[0]) == player and int(sim.steps[0]):
            found = self._ask(sim.views(player))
            chances = _shaped(_chances(found.log_policy), self.manner.deploying)
            [place] = pick(chances, np.array([rng.random()]))
            squares.append(int(found.legal[0, place]))
            sim.step(torch.tensor(squares[-1:]))
        return self._steps.setup_of(game, squares)


def _by_square(found: Opinion, squares: int) -> Tensor:
    """Return a log policy by square, −inf where nothing is legal."""
    table = torch.full((len(found.legal), squares + 1), -torch.inf, dtype=torch.double, device=found.legal.device)
    places = found.legal.long()
    table.scatter_(1, places.masked_fill(places < 0, squares), found.log_policy)
    return table[:, :squares]


def _chances(log_policy: Tensor) -> Floats:
    weights = log_policy.double().exp().cpu().numpy()
    return np.asarray(weights / weights.sum(1, keepdims=True))


def _shaped(chances: Floats, shaping: Shaping | None) -> Floats:
    return chances if shaping is None else np.asarray(shaping(torch.from_numpy(chances)).numpy())


def _second(views: Snapshot) -> Snapshot:
    """Return views as they are after the first step, as far as chance depends on them."""
    words, halves, bytes_ = views.numpy().store
    bytes_ = bytes_.copy()
    bytes_[:, STEP] = 1
    return Snapshot(views.game, views.format, Store(words, halves, bytes_), views.viewer)
