"""Solved policies, by name, and as agents: `cfr+:iterations=1000`, `lp`, `uniform`, …

    table = policy("cfr+:iterations=200", seed=7)(tree)     # of `vauban.solve`
    agent = SolvedAgent("cfr+:iterations=200", seed=7)      # for games that are small enough

An agent solves a game when it first plays it; the answer is kept as long as the process lives.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vauban.agents.base import Actions, Floats, Seeds
from vauban.agents.options import make_options, option, split_text
from vauban.errors import ConfigurationError, RecordError
from vauban.games.base import NUMBER, PLAYER, PLIES, STEP, Game
from vauban.games.randomness import MOVE, draw

if TYPE_CHECKING:
    from vauban.sim.store import Snapshot
    from vauban.solve import Solver, Table, Tree

LARGEST = 2_000_000
"""Histories of a game that an agent solves before it plays: a minute of waiting, and some hundred megabytes."""
BATCH = 4096
"""Views that are looked up at once."""
PATIENCE = 0.3
"""Seconds between two reports of progress."""

Watch = Callable[[str, int, int], Any]
"""Is told what is going on, how many iterations are done, and how many there are."""


@dataclass(frozen=True)
class NoOptions:
    """Leaves nothing to choose."""


@dataclass(frozen=True)
class Kept:
    """Was computed before."""

    file: str = option("", "a file of NumPy with the table of a policy", leading=True)

    def __post_init__(self) -> None:
        if self.file and not Path(self.file).is_file():
            raise ConfigurationError(f"agent 'table' finds no file {self.file}: name the table of a policy (.npy)")


@dataclass(frozen=True)
class Iterations:
    """Goes through the whole tree of a game, again and again."""

    iterations: int = option(1000, "how often it goes through the tree", least=1)


@dataclass(frozen=True)
class Samples:
    """Goes through samples of the tree."""

    iterations: int = option(100_000, "how many samples for each player", least=1)


@dataclass(frozen=True)
class ExploringSamples(Samples):
    """Goes through samples of the tree, some of which it chooses for itself."""

    exploration: float = option(0.6, "share of own actions chosen uniformly", least=0, most=1)


@dataclass(frozen=True)
class Traversals:
    """Goes through samples of the tree, many of them between two changes of its strategies."""

    iterations: int = option(400, "how often it changes a player's strategy, the two in turn", least=1)
    traversals: int = option(384, "samples in an iteration", least=1)
    exploration: float = option(0.6, "share of own actions chosen uniformly", least=0, most=1)
    weights: str = option("printed", "how a regret is split into target and weight: printed, own or dream")


@dataclass(frozen=True)
class Dynamics:
    """Follows regularised dynamics to rest, again and again."""

    iterations: int = option(10, "how often it comes to rest, and the regularisation is replaced", least=1)
    eta: float = option(0.2, "weight of the regularisation, in the units of the game's utilities")

    def __post_init__(self) -> None:
        if not self.eta > 0:
            raise ConfigurationError(f"eta={self.eta} of agent 'r-nad': it must be more than 0")


OPTIONS: dict[str, type[Any]] = {
    "uniform": NoOptions,
    "first": NoOptions,
    "table": Kept,
    "lp": NoOptions,
    "cfr": Iterations,
    "cfr+": Iterations,
    "external": Samples,
    "outcome": ExploringSamples,
    "r-nad": Dynamics,
    "deep-cfr-table": Traversals,
}
"""The policies that are made here, and their options."""

MEANINGS = {
    "uniform": "Plays every legal action equally often.",
    "first": "Always plays the legal action with the lowest number.",
    "table": "Plays by a table of probabilities, one for each action of each information set of a game.",
    "lp": "Plays an equilibrium, found by linear programming.",
    "cfr": "Plays close to an equilibrium, found by counterfactual regret minimisation (CFR).",
    "cfr+": "Plays close to an equilibrium, found by CFR+, which comes near in fewer iterations than CFR.",
    "external": "Plays close to an equilibrium, found by CFR with external sampling.",
    "outcome": "Plays close to an equilibrium, found by CFR with outcome sampling.",
    "r-nad": "Plays close to an equilibrium, found by regularised Nash dynamics (R-NaD), exactly.",
    "deep-cfr-table": "Plays close to an equilibrium, found by Deep CFR with tables in place of networks.",
}


def policy(text: str, seed: int, watch: Watch = lambda name, done, total: None) -> Callable[[Tree], Table]:
    """Return what makes the table of a policy from a tree; refuse mistakes in the text now."""
    from vauban import solve

    name, settings = split_text(text)
    options = make_options(OPTIONS[name], name, settings)
    if name == "uniform":
        return solve.uniform
    if name == "first":
        return solve.first
    if name == "table":
        if not options.file:
            raise ConfigurationError("the agent 'table' needs a file: write table:FILE.npy")
        return lambda tree: _read(tree, Path(options.file))
    if name == "lp":
        return lambda tree: solve.solve_tree(tree).policy
    makers: dict[str, Callable[[Tree], Solver]] = {
        "cfr": solve.CFR,
        "cfr+": solve.CFRPlus,
        "external": lambda tree: solve.ExternalSampling(tree, seed),
        "outcome": lambda tree: solve.OutcomeSampling(tree, seed, options.exploration),
        "r-nad": lambda tree: solve.RegularisedDynamics(tree, options.eta),
        "deep-cfr-table": lambda tree: _deep_cfr(tree, seed, options),
    }
    return lambda tree: _run(makers[name](tree), options.iterations, watch)


def _read(tree: Tree, file: Path) -> Table:
    """Return the table of a policy that a file has."""
    try:
        table: Table = np.load(file)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file} cannot be read as a table: {error}") from error
    if table.shape != (tree.slots,) or table.dtype != np.float64:
        raise ConfigurationError(
            f"{file} has {table.dtype} of shape {table.shape}, and a policy of {tree.game.name!r} has float64 of shape "
            f"{(tree.slots,)}: it is of another game or other rules"
        )
    return table


def _deep_cfr(tree: Tree, seed: int, options: Traversals) -> Solver:
    from vauban.learn.solvers import find_solver

    make = find_solver("deep-cfr-table")
    return make(tree, seed, options.traversals, options.exploration, options.weights)


def _run(solver: Solver, iterations: int, watch: Watch) -> Table:
    """Run a solver, in pieces short enough to show progress."""
    piece = 1
    while solver.iterations < iterations:
        begun = time.perf_counter()
        solver.run(min(piece, iterations - solver.iterations))
        watch(solver.name, solver.iterations, iterations)
        if time.perf_counter() - begun < PATIENCE:
            piece *= 2
    return solver.average()


# ── As an agent ──────────────────────────────────────────────────────────────────────────────────


class SolvedAgent:
    """Plays a solved policy of a game that is small enough."""

    def __init__(self, text: str, seed: int = 0) -> None:
        self.name = text
        self.seed = seed
        policy(text, seed)  # refuses what it cannot read

    def check_plays(self, game: Game) -> None:
        """Refuse a game that is too large to be solved, or in which a view does not tell what was known before."""
        try:
            _known(game)
        except ConfigurationError as error:
            raise ConfigurationError(f"agent {self.name!r} plays what it has solved: {error}") from error

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        words, _, bytes_ = views.numpy().store
        assert views.viewer is not None
        players = np.full(len(views), views.viewer, np.uint64)
        throw: Callable[..., Any] = draw
        plies, steps = words[:, PLIES].astype(np.uint64), bytes_[:, STEP].astype(np.uint64)
        bits = throw(np.asarray(seeds, np.uint64), players, plies, steps, MOVE, 0)
        chances = (bits.astype(np.float64) + 0.5) / 2**32
        actions = np.empty(len(views), np.int64)
        for row, (legal, probabilities) in enumerate(self._look_up(views)):
            sums = np.cumsum(probabilities)
            actions[row] = legal[int((sums > chances[row] * sums[-1]).argmax())]
        return actions

    def policy(self, views: Snapshot) -> Floats:
        rows = np.zeros((len(views), views.game.max_legal))
        for row, (_, probabilities) in zip(rows, self._look_up(views), strict=True):
            row[: len(probabilities)] = probabilities
        return rows

    def _look_up(self, views: Snapshot) -> list[tuple[Actions, Floats]]:
        """Return the legal actions of each view and their probabilities."""
        solution = _solution(self.name, views.game)
        found = [solution.get(key) for key in _keys(views)]
        if None in found:
            raise RecordError(f"agent {self.name!r}: view {found.index(None)} is none of {views.game!r}")
        return found  # type: ignore[return-value]


_solutions: dict[Any, dict[bytes, tuple[Actions, Floats]]] = {}


_trees: dict[Any, tuple[Tree, dict[bytes, int]]] = {}
"""The tree of the game that was asked for last, and its information sets by view."""


def _key(game: Game) -> Any:
    """Return what a game is: games are made anew with every job of a match."""
    return game.kernels, game.format()


def _solution(text: str, game: Game) -> dict[bytes, tuple[Actions, Floats]]:
    """Return the legal actions of each view, and their probabilities."""
    key = text, *_key(game)
    if key not in _solutions:
        _solutions[key] = _solve(text, game)
    return _solutions[key]


def _solve(text: str, game: Game) -> dict[bytes, tuple[Actions, Floats]]:
    tree, sets = _known(game)
    table = policy(text, 0)(tree)  # one answer for all games, whatever their seeds
    slots = {key: tree.slots_of(each) for key, each in sets.items()}
    return {key: (tree.actions[place].astype(np.int64), table[place]) for key, place in slots.items()}


def _known(game: Game) -> tuple[Tree, dict[bytes, int]]:
    """Return the tree of a game, and its information sets by view; refuse a game that cannot be solved."""
    from vauban.solve import build_tree

    if _key(game) in _trees:
        return _trees[_key(game)]
    tree = build_tree(game, limit=LARGEST)
    found: dict[bytes, int] = {}
    for player in (0, 1):
        own = np.flatnonzero(tree.groups.owner == player)
        for start in range(0, len(own), BATCH):
            sets = own[start : start + BATCH]
            for each, key in zip(sets.tolist(), _keys(tree.views(sets)), strict=True):
                if key in found:
                    raise ConfigurationError(
                        f"what a player of {tree.game!r} sees now does not tell all that the player has known before, "
                        "so no agent can play a solution of it: take an agent that is no solved policy"
                    )
                found[key] = each
    _trees.clear()
    _trees[_key(game)] = tree, found
    return tree, found


def _keys(views: Snapshot) -> list[bytes]:
    """Return a name for each view, by its record but for the game's number."""
    words, halves, bytes_ = views.numpy().store
    unnumbered = words.copy()
    unnumbered[:, NUMBER] = 0
    assert views.viewer is not None and (bytes_[:, PLAYER] == views.viewer).all()
    return [
        hashlib.blake2b(b"".join(part.tobytes() for part in row), digest_size=16).digest()
        for row in zip(unnumbered, halves, bytes_, strict=True)
    ]
