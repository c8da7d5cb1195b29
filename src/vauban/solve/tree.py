"""The tree of a game: all its histories, its information sets, and its ends by what the players did.

    tree = build_tree("leduc")
    tree.histories, tree.information_sets      # 9457, (468, 468)

A policy for the tree is a *table*: one probability for every action of every information set of
both players, in one array. The place of an action in it is its *slot*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError, SetupError
from vauban.games.base import Game
from vauban.games.base import game as find_game
from vauban.sim.compile import CPU, compiled, progress
from vauban.sim.store import Snapshot, Store
from vauban.solve import sweeps, walk
from vauban.solve.starts import all_starts, count_setups

LIMIT = 60_000_000
"""Most histories of a tree unless more are allowed: about 2 GB of them."""
MOST = 2**31 - 1
"""Histories are numbered with 32 bits."""
SHARE = 1_000_000
"""Histories that are walked between two reports of progress."""
PLAYS = 4000
"""Random plays by which the size of a tree is estimated."""
MUCH = 4.0
"""Factor by which an estimate must exceed the limit to be believed at once; below that, walking tells."""

Table = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """A whole game. Histories are numbered; the root is 0, and children lie side by side behind their parent."""

    game: Game
    starts: npt.NDArray[np.int8]
    """The starts between which chance chooses at the root; a single one is the root itself."""
    nodes: walk.Nodes
    groups: walk.Groups
    """The information sets."""
    actions: npt.NDArray[np.int32]
    """By slot: the action's number in the game."""
    payoffs: walk.Payoffs
    chances: walk.Chances
    depth: int
    """The longest path, chance included."""

    @property
    def histories(self) -> int:
        """Number of histories: of chance, of the players, and ends."""
        return len(self.nodes.kind)

    @property
    def slots(self) -> int:
        """Length of a table."""
        return len(self.actions)

    @property
    def information_sets(self) -> tuple[int, int]:
        """Number of information sets of each player."""
        second = int(self.groups.owner.sum())
        return len(self.groups.owner) - second, second

    @property
    def sequences(self) -> tuple[int, int]:
        """Number of sequences of each player: one for each slot, and the empty one."""
        owners = self.slot_owners
        second = int(owners.sum())
        return 1 + len(owners) - second, 1 + second

    def count(self, kind: int) -> int:
        """Count the histories of a kind: 0 or 1 for a player's, `CHANCE`, `TERMINAL`."""
        return int((self.nodes.kind == kind).sum())

    @property
    def widths(self) -> npt.NDArray[np.int64]:
        """By information set: its number of actions."""
        widths: npt.NDArray[np.int64] = np.diff(self.groups.first_slot).astype(np.int64)
        return widths

    @property
    def slot_owners(self) -> npt.NDArray[np.int8]:
        """By slot: its player."""
        return np.repeat(self.groups.owner, self.widths)

    def slots_of(self, information_set: int) -> slice:
        """Return the places of an information set's actions in a table."""
        first, last = self.groups.first_slot[information_set : information_set + 2]
        return slice(int(first), int(last))

    @cached_property
    def live(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """For each player, in order, the information sets from which an end that is not worth 0 can be reached."""
        alive = np.zeros(self.slots + 1, np.bool_)
        mark_live = compiled(sweeps.mark_live, CPU)
        with progress(mark_live, "the solver"):
            mark_live(self.groups, self.payoffs, alive)
        some = np.logical_or.reduceat(alive[:-1], self.groups.first_slot[:-1])
        first, second = (np.flatnonzero(some & (self.groups.owner == player)).astype(np.int32) for player in (0, 1))
        return first, second

    # ── Paths and views ──────────────────────────────────────────────────────────────────────────

    def views(self, information_sets: npt.NDArray[Any]) -> Snapshot:
        """Return what the owner sees in each of these information sets, which must all be of one player.

        The views are complete, as `Simulator.views` would give them: with what observations need.
        """
        groups = np.asarray(information_sets, np.int64)
        owners = self.groups.owner[groups]
        if len(groups) == 0 or (owners != owners[0]).any():
            raise ConfigurationError("views are of one player: give information sets of one owner, and at least one")
        format = self.game.format(plies=self.game.max_plies)
        words, halves, bytes_ = format.empty(len(groups))
        paths, lengths = self.paths(self.groups.example[groups])
        replay = compiled(walk.replay_views, CPU, vars(self.game.kernels), TRACKS=True)
        with progress(replay, self.game.name):
            viewers = owners.astype(np.int64)
            replay(words, halves, bytes_, format.parameters, self.starts, paths, lengths, viewers)
        parts = (words.view(np.int64), halves.view(np.int16), bytes_)
        return Snapshot(self.game, format, Store(*parts), viewer=int(owners[0]))

    def paths(self, histories: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return the ways to histories: the child taken at each step (−1 behind the last), and the number of steps."""
        here = np.asarray(histories, np.int64)
        parents, first_children = self._families
        upwards: list[npt.NDArray[np.int64]] = []
        while (here > 0).any():
            family = np.searchsorted(first_children, here, "right") - 1
            upwards.append(np.where(here > 0, here - first_children[family], -1))
            here = np.where(here > 0, parents[family], 0)
        steps = np.array(upwards, np.int32).reshape(len(upwards), len(here)).T
        lengths = (steps >= 0).sum(1)
        downwards = lengths[:, None] - 1 - np.arange(steps.shape[1])
        return np.where(downwards >= 0, np.take_along_axis(steps, downwards.clip(0), 1), -1), lengths

    @cached_property
    def _families(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The histories that have children and the first child of each, in the order of their children."""
        parents = np.flatnonzero(self.nodes.kind != walk.TERMINAL)
        parents = parents[np.argsort(self.nodes.child[parents])]
        return parents, self.nodes.child[parents]


def build_tree(
    game: str | Game,
    rules: str | Mapping[str, Any] | None = None,
    *,
    starts: npt.NDArray[np.int8] | None = None,
    limit: int = LIMIT,
    tick: Callable[[int], None] = lambda _: None,
) -> Tree:
    """Walk through all histories of a game, from all its starts.

    starts: those that chance draws between, each as likely; all that the game has if not given.
    limit: most histories that there may be; an error gives their number, or an estimate of it.
    tick: called from time to time with the number of histories found.
    """
    found = find_game(game, rules)
    if not 0 < limit <= MOST:
        raise ConfigurationError(f"limit is a number of histories from 1 to {MOST:,}, not {limit!r}")
    if found.max_plies is None:
        raise ConfigurationError(
            f"{found!r} has no longest game, so its tree has no end: give it a limit, such as total_limit=8"
        )
    pairs = count_setups(found) ** 2 if starts is None else len(starts)
    if pairs > limit:
        raise _too_large(found, f"{pairs:.3g} pairs of setups alone", limit)
    starts, guess = _survey(found, all_starts(found) if starts is None else starts)
    if guess > MUCH * limit:
        raise _too_large(found, f"about {guess:.1g} histories, estimated from {PLAYS:,} random plays", limit)
    builder = _Builder(found, starts)
    for histories in builder.walk():
        tick(histories)
        if histories > limit:
            raise _too_large(found, f"more than {limit:,} histories", limit)
    return builder.tree()


def _too_large(game: Game, size: str, limit: int) -> ConfigurationError:
    return ConfigurationError(
        f"{game!r} is too large to be solved exactly: it has {size}, and {limit:,} are allowed. "
        "Shorten it (in Stratego with rules such as total_limit=8), take a smaller game, or allow more (limit=…)"
    )


def _survey(game: Game, starts: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.int8], float]:
    """Return the starts from which a game goes on, and an estimate of the number of histories."""
    live = np.zeros(len(starts), np.int64)
    function = compiled(walk.survey, CPU, vars(game.kernels), TRACKS=False)
    words, halves, bytes_, rules = _records(game, 1)
    with progress(function, game.name):
        count, each = function(words[0], halves[0], bytes_[0], rules, starts, live, PLAYS)
    if count == 0:
        raise SetupError(f"every start of {game!r} would be over at once: nobody could move")
    return starts[live[:count]], count * each


def _records(game: Game, levels: int) -> tuple[Any, Any, Any, Any]:
    """Return room for the records of a number of levels, without what only observations need."""
    format = game.format(tracks=False, plies=game.max_plies)
    return *format.empty(levels), format.parameters


class _Builder:
    """The arrays of a tree while they grow."""

    def __init__(self, game: Game, starts: npt.NDArray[np.int8]) -> None:
        self.game = game
        self.starts = starts
        first = 1024
        nodes = max(first, 2 * len(starts))
        words, halves, bytes_, self.rules = _records(game, 16)
        levels = len(words)
        self.nodes = walk.Nodes(
            np.zeros(nodes, np.int8), np.zeros(nodes, np.int32), np.zeros(nodes, np.int32), np.zeros(nodes)
        )
        self.groups = walk.Groups(
            np.zeros(first, np.int8),
            np.zeros(first + 1, np.int32),
            np.zeros(first, np.int32),
            np.zeros(first, np.int32),
        )
        self.index = walk.Index(np.zeros((first, 2), np.uint64), np.full(2 * first, -1, np.int32))
        self.actions = np.zeros(first, np.int32)
        self.payoffs = walk.Payoffs(np.zeros((first, 2), np.int32), np.zeros(first))
        self.chances = walk.Chances(np.zeros(first + 1, np.int32), np.zeros(nodes))
        self.stack = walk.Stack(
            words,
            halves,
            bytes_,
            np.zeros(levels, np.int64),
            np.zeros(levels, np.int64),
            np.zeros(levels, np.int64),
            np.zeros((levels, 2, 2), np.uint64),
            np.zeros((levels, 2), np.int64),
            np.zeros(levels),
        )
        self.counts = np.zeros(walk.COUNTS, np.int64)
        self.counts[walk.LEVEL] = -1

    def walk(self) -> Iterator[int]:
        """Walk; yield from time to time the number of histories found."""
        go_on = self._compiled(walk.walk)
        with progress(go_on, self.game.name):
            stop = go_on(*self._arrays, self.starts, 0)
        while stop != walk.DONE:
            if stop == walk.UNLIKE:
                raise ConfigurationError(
                    f"two positions of {self.game.name!r} look alike to the player on turn and have different legal "
                    "actions: the game's kernel `conceal` erases something that the player knows"
                )
            if stop != walk.SHARE_DONE:
                self._grow(stop)
            stop = go_on(*self._arrays, self.starts, SHARE)
            yield int(self.counts[walk.NODE_COUNT])

    def tree(self) -> Tree:
        """Return the tree that was walked, with the room that was not needed given back."""
        nodes, sets, slots, ends, chances, events = (
            int(self.counts[which])
            for which in (
                walk.NODE_COUNT,
                walk.GROUP_COUNT,
                walk.SLOT_COUNT,
                walk.PAYOFF_COUNT,
                walk.CHANCE_COUNT,
                walk.EVENT_COUNT,
            )
        )
        owner, first_slot, parent, example = self.groups
        parent, last = parent[:sets].copy(), self.payoffs.slots[:ends].copy()
        parent[parent < 0] = slots
        last[last < 0] = slots
        return Tree(
            self.game,
            self.starts,
            walk.Nodes(*(part[:nodes].copy() for part in self.nodes)),
            walk.Groups(owner[:sets].copy(), first_slot[: sets + 1].copy(), parent, example[:sets].copy()),
            self.actions[:slots].copy(),
            walk.Payoffs(last, self.payoffs.weight[:ends].copy()),
            walk.Chances(self.chances.first_event[: chances + 1].copy(), self.chances.probability[:events].copy()),
            int(self.counts[walk.DEEPEST]),
        )

    @property
    def _arrays(self) -> tuple[Any, ...]:
        arrays = (self.nodes, self.groups, self.index, self.actions, self.payoffs, self.chances)
        return (*arrays, self.stack, self.counts, self.rules)

    def _compiled(self, function: Callable[..., Any]) -> Any:
        return compiled(function, CPU, vars(self.game.kernels), TRACKS=False)

    def _grow(self, what: int) -> None:
        """Enlarge what is full."""
        if what == walk.NODES_FULL:
            # By a half only: these arrays take most of the memory.
            self.nodes = walk.Nodes(*(_longer(part, len(part) // 2) for part in self.nodes))
        elif what == walk.GROUPS_FULL:
            more = len(self.groups.owner)
            self.groups = walk.Groups(*(_longer(part, more) for part in self.groups))
            self.index = walk.Index(_longer(self.index.keys, more), np.full(4 * more, -1, np.int32))
            fill_table = compiled(walk.fill_table, CPU)
            with progress(fill_table, "the solver"):
                fill_table(*self.index, self.counts[walk.GROUP_COUNT])
        elif what == walk.SLOTS_FULL:
            self.actions = _longer(self.actions, len(self.actions))
        elif what == walk.PAYOFFS_FULL:
            self.payoffs = walk.Payoffs(*(_longer(part, len(part) // 2) for part in self.payoffs))
        elif what == walk.CHANCES_FULL:
            longer = _longer(self.chances.first_event, len(self.chances.first_event))
            self.chances = self.chances._replace(first_event=longer)
        elif what == walk.EVENTS_FULL:
            longer = _longer(self.chances.probability, len(self.chances.probability))
            self.chances = self.chances._replace(probability=longer)
        elif what == walk.STACK_FULL:
            self.stack = walk.Stack(*(_longer(part, len(part)) for part in self.stack))


def _longer(array: npt.NDArray[Any], more: int) -> npt.NDArray[Any]:
    """Return a copy with more room at its end."""
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])
