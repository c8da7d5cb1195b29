"""`net`: a trained network at a table. What it shares with `search` is here too: the model and its setups."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from vauban.agents.base import Actions, Floats, Row, Seeds, drawn_policies
from vauban.agents.options import option, options_text
from vauban.agents.setups import make_sampler, usual_setups
from vauban.errors import ConfigurationError
from vauban.games.randomness import MOVE

if TYPE_CHECKING:
    from vauban.games.base import Game
    from vauban.nets.store import Model
    from vauban.sim.store import Snapshot

DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class NetOptions:
    """Plays by a trained network, at sight: net:MODEL.

    It looks at the position once and draws a move from the network's policy. A model plays the variants that it was
    trained for, by any rules (vauban models lists the models). The setups are its own as well: from its list, or from
    its setup network; a model that has neither sets up as people do.

    Where a model keeps several networks to be drawn from, one is drawn for a whole game.
    """

    model: str = option("", "a model: the name of a shipped one, or a folder such as runs/mine", leading=True)
    temperature: float | None = option(
        None,
        "below 1: likely moves more often; 0: always the most likely one (left out: as the model's card says)",
        kind=float,
    )
    device: str = option("cpu", "where it runs: cpu or cuda")
    setups: str = option("own", "how it sets up: own (as it learned), human, uniform, list:FILE, …")
    plays: str = option("", "which of the model's networks plays, if not the one that its card names")

    def __post_init__(self) -> None:
        if self.temperature is not None and not self.temperature >= 0:
            raise ConfigurationError(f"temperature={self.temperature} of agent 'net': it must be 0 or more")


@runtime_checkable
class DrawsSetups(Protocol):
    """A network that makes setups."""

    def draw(self, count: int, rng: np.random.Generator) -> Any:
        """Draw this many setups: `setups`, and the network's opinion of them."""


class ModelAgent:
    """Whoever plays by a model."""

    kind: str
    """Its name in the pool."""
    options_kind: type[Any]
    """Its options: a frozen dataclass with the fields model, device and setups, among others."""

    def __init__(self, options: Any, seed: int = 0) -> None:
        if not options.model:
            raise ConfigurationError(
                f"the agent {self.kind!r} needs a model: write {self.kind}:MODEL, with the name of a shipped model or "
                f"a folder, e.g. {self.kind}:runs/mine (vauban models lists those that are here)"
            )
        if options.device not in DEVICES:
            raise ConfigurationError(
                f"device={options.device} of agent {self.kind!r}: it must be {' or '.join(DEVICES)}"
            )
        self.name = f"{self.kind}:{options_text(options)}"
        self.options = options
        self.seed = seed
        self.model = load(options.model, options.device)

    def check_plays(self, game: Game) -> None:
        """Refuse a game for which the model is not meant."""
        self.model.check_plays(game)

    def set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        """Set up by its list of setups or its setup network, if it has learned this army; otherwise as is usual."""
        if self.options.setups != "own":
            return make_sampler(self.options.setups, game)(rng)
        self.check_plays(game)
        if self.model.game.same_setups(game):
            if self.model.setups is not None:
                return make_sampler(f"mirrored:list:{self.model.setups}", game)(rng)
            for network in self.model.networks.values():
                if isinstance(network, DrawsSetups):
                    drawn = network.draw(1, np.random.default_rng(rng.getrandbits(64)))
                    setup: Row = drawn.setups[0].cpu().numpy()
                    return setup
        return make_sampler(usual_setups(game) or "uniform", game)(rng)

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        raise NotImplementedError

    def policy(self, views: Snapshot) -> Floats:
        raise NotImplementedError

    def judge(self, views: Snapshot) -> Floats:
        """Estimate each game's worth by the network."""
        from vauban.search.opinion import ask

        self.model.check_plays(views.game)
        outcomes = ask(self.model.player, views).outcome.double().cpu().numpy()
        worth: Floats = outcomes @ np.array(views.game.utilities)
        return worth


class NetAgent(ModelAgent):
    """Plays by a trained network, at sight."""

    kind = "net"
    options_kind = NetOptions

    def __init__(self, options: NetOptions, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.network = self.model.part(options.plays)

    @property
    def temperature(self) -> float:
        """The temperature at which it plays."""
        given = self.options.temperature
        chosen: float = self.model.temperature if given is None else given
        return chosen

    @property
    def draws(self) -> bool:
        """Whether it draws one of several networks for a game."""
        from vauban.nets.regrets import DrawnNetwork

        return isinstance(self.network, DrawnNetwork)

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        from vauban.search.opinion import pick, uniforms

        legal = np.full((len(views), views.game.max_legal), -1, np.int64)
        policies = np.zeros(legal.shape)
        assert views.viewer is not None
        drawn = drawn_policies(self.chances(views.viewer), views, seeds)
        for number in np.unique(drawn):
            rows = np.flatnonzero(drawn == number)
            legal[rows], policies[rows] = self._policies(views[rows], int(number))
        places = pick(policies, uniforms(views, seeds, MOVE))
        return legal[np.arange(len(legal)), places]

    def policy(self, views: Snapshot) -> Floats:
        assert views.viewer is not None
        if len(self.chances(views.viewer)) > 1:
            raise ConfigurationError(
                f"the agent {self.name!r} draws one of several networks for a whole game, so a single position does "
                "not tell with what probabilities it moves; add plays=strategy, if its model has a strategy network"
            )
        return self.policy_of(views, 0)

    def chances(self, player: int) -> list[float]:
        """Return the chances of the networks that a player draws from; a single 1 where nothing is drawn."""
        from vauban.nets.regrets import DrawnNetwork

        return self.network.chances_of(player) if isinstance(self.network, DrawnNetwork) else [1.0]

    def policy_of(self, views: Snapshot, number: int) -> Floats:
        """Return the policy of one of the networks that are drawn from, as `policy` has it."""
        legal, policies = self._policies(views, number)
        return np.where(legal >= 0, policies, 0.0)

    def _policies(self, views: Snapshot, number: int) -> tuple[Actions, Floats]:
        """Return the legal actions of each view, −1 behind the last, and their probabilities."""
        from vauban.nets.policy import at_temperature
        from vauban.nets.regrets import DrawnNetwork
        from vauban.search.opinion import ask

        self.model.check_plays(views.game)
        network = self.network
        if isinstance(network, DrawnNetwork):
            assert views.viewer is not None
            network = network.member(views.viewer, number)
        opinion = ask(network, views)
        legal = opinion.legal.cpu().numpy().astype(np.int64)
        log_policy = at_temperature(opinion.log_policy.double(), self.temperature).cpu().numpy()
        weights = np.exp(log_policy - log_policy.max(1, keepdims=True))
        return legal, weights / weights.sum(1, keepdims=True)


def load(name: str, device: str) -> Model:
    """Return a model, read once for all agents that play by it, and again when its folder has been written anew."""
    import torch

    from vauban.models import CARD
    from vauban.nets.store import find_model

    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigurationError("device=cuda: there is no GPU that torch can use here; leave it out, or use cpu")
    folder = find_model(name)
    return _read(folder, device, (folder / CARD).stat().st_mtime_ns)


@lru_cache(4)
def _read(folder: Path, device: str, written: int) -> Model:
    from vauban.nets.store import load_model

    return load_model(folder, device)
