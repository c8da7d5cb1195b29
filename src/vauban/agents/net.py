"""`net`: a trained network at a table. What it shares with `search` is here too: the model and its setups."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from vauban.agents.base import Actions, Floats, Row, Seeds, drawn_policies
from vauban.agents.improve import Wanted, improvements, shaping
from vauban.agents.options import option, options_text
from vauban.agents.setups import make_sampler, usual_setups
from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    from vauban.games.base import Game
    from vauban.nets.policy import PolicyNetwork
    from vauban.nets.store import Model
    from vauban.search.player import Manner, Player
    from vauban.sim.store import Snapshot

DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class NetOptions:
    """Plays by a trained network, at sight: net:MODEL.

    It looks at the position once and draws a move from the network's policy. A model plays the variants that it was
    trained for, by any rules (vauban models lists the models). The setups are its own as well: from its list, or from
    its setup network; a model that has neither sets up as people do.

    Where a model keeps several networks to be drawn from, one is drawn for a whole game. One that was trained in steps
    (steps:barrage) plays the game of whole moves too, and sets up by playing the deployment.

    From threshold on, the options improve play without training (docs/agents.md): any network takes threshold and
    levels, the others know Stratego.
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
    threshold: float = option(0.0, "never play what is less likely than this, e.g. 0.03", least=0, most=1)
    levels: int = option(0, "make probabilities multiples of one in so many, e.g. 16; 0: leave them", least=0)
    setup_levels: int = option(0, "the same for a deployment piece by piece, e.g. 32", least=0)
    threats: bool = option(True, "0: do not threaten a piece again and again by going back and forth")
    eagerness: float = option(1.0, "above 1: take a draw for want of battles to be nearer, e.g. 2", least=0)
    memory: bool = option(False, "1: a piece that did not take what it would have taken is none that would")
    bounds: float | None = option(
        None, "leave out moves whose best case is worse than now by more than this, e.g. 0.05", kind=float, least=0
    )

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
        return self.own_setup(game, player, rng)

    def own_setup(self, game: Game, player: int, rng: random.Random) -> Row:
        """Return a setup as the model has learned to set up."""
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
        raise NotImplementedError


class NetAgent(ModelAgent):
    """Plays by a trained network, at sight."""

    kind = "net"
    options_kind = NetOptions

    def __init__(self, options: NetOptions, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.network = self.model.part(options.plays)

    def check_plays(self, game: Game) -> None:
        """Refuse a game for which the model, or an option, is not meant."""
        self._player(game)

    def own_setup(self, game: Game, player: int, rng: random.Random) -> Row:
        """Play the deployment if it has learned the game in steps; else set up as any model does."""
        found = self._player(game)
        return found.deploy(player, rng) if found.in_steps else super().own_setup(game, player, rng)

    def plainly(self, game: Game) -> tuple[PolicyNetwork, float] | None:
        """Return the network and the temperature that a game is played by, where there is no more to it."""
        from vauban.nets.regrets import DrawnNetwork
        from vauban.search.player import Manner

        found = self._player(game)
        if found.in_steps or isinstance(self.network, DrawnNetwork):
            return None
        temperature = found.manner.temperature
        return (found.network, temperature) if found.manner == Manner(temperature) else None

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        actions = np.full(len(views), -1, np.int64)
        assert views.viewer is not None
        drawn = drawn_policies(self.chances(views.viewer), views, seeds)
        for number in np.unique(drawn):
            rows = np.flatnonzero(drawn == number)
            player = self._player(views.game, views.viewer, int(number))
            actions[rows] = player.choose(views[rows], np.asarray(seeds)[rows])
        return actions

    def judge(self, views: Snapshot) -> Floats:
        """Estimate each game's worth by the network."""
        return self._player(views.game).judge(views)

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
        return self._player(views.game, views.viewer, number).policy(views).chances

    def _player(self, game: Game, viewer: int | None = None, number: int = 0) -> Player:
        """Return the network at a game, as the options say; of several that are drawn from, one of the viewer's."""
        from vauban.nets.regrets import DrawnNetwork
        from vauban.search.player import Player

        network = self.network
        if isinstance(network, DrawnNetwork) and viewer is not None:
            network = network.member(viewer, number)
        player = Player(self.model, game, network)
        player.manner = self._manner(player)
        return player

    def _manner(self, player: Player) -> Manner:
        from vauban.search.player import Manner

        options = self.options
        if options.setup_levels and not player.in_steps:
            raise ConfigurationError(
                f"setup_levels={options.setup_levels} of agent {self.name!r}: it is for models that were trained in "
                f"steps and place their pieces one by one in a game of whole moves, unlike this one in "
                f"{player.game.name!r}; leave it out"
            )
        wanted = Wanted.of(options)
        improved = improvements(self.name, wanted, player.game, self.model.game, player.network.observation)
        return Manner(
            self.model.temperature if options.temperature is None else options.temperature,
            shaping(options.threshold, options.levels),
            shaping(options.threshold, options.setup_levels),
            improved.edit,
            improved.pruning,
        )


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
