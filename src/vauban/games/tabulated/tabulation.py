"""`Tabulation`: the whole tree of a game of two players as arrays, and the numbers that kernels read it by.

A `Tabulator` takes the histories of a game, from the root down, checks and numbers them, and makes the arrays of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.games.base import CHANCE

TERMINAL = 3
"""The kind of a history at which the game is over; the others are those of the byte `PLAYER`."""
MOST_HISTORIES = 1_000_000
"""More are refused: every process that plays the game lists them all."""
MOST_WEIGHT = 2**31 - 1
"""The weights of the events of one chance may sum to this."""

NODES, SETS, MEMBERS, VALUES, TENSORS, CHANNELS, DIGITS, HEADER = range(8)
"""The first parameters: where each table begins, the number of channels, the digits of a hidden history."""
NODE_SIZE, FIRST, KNOWN, ACTION = 3, 0, 1, 2
"""Three numbers for each history: its first child (or the number of its worth), how many there are, whose turn it is
and the plies so far; both players' information sets; the action that leads to it and, behind chance, its weight."""
COUNT_SHIFT, KIND_SHIFT, PLIES_SHIFT, HALF_SHIFT, HALF = 32, 48, 52, 32, 2**32 - 1
COUNT_MASK, KIND_MASK = 2**16 - 1, 2**4 - 1
SIZE_SHIFT, TENSOR_SHIFT, PLACE_MASK = 21, 42, 2**21 - 1
"""One number for each information set: its first member (of a single one: that history), how many, its tensor."""
PACKED, VALUE_BITS, MOST_VALUES = 4, 16, 2**15
"""A tensor's values are numbers of 16 bits, four in one parameter (of which the uppermost keeps its sign)."""
BASE = 128
"""A hidden history is told by digits to this base."""


Known = tuple[Hashable, Hashable]
"""By player, a value that two histories share exactly if they look alike to that player."""


@dataclass(frozen=True, eq=False)
class Tabulation:
    """A game as numbers."""

    parameters: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int8]
    """By history: 0 or 1 for the player on turn, `CHANCE`, `TERMINAL`."""
    plies: npt.NDArray[np.int64]
    worths: tuple[float, ...]
    """All that an end is worth to the first player."""
    channels: tuple[str, ...]
    """Names of the numbers of a tensor."""
    texts: tuple[dict[int, str], dict[int, str]]
    """By player and action: its text."""
    action_count: int
    max_legal: int
    largest_set: int
    """Most histories that look alike to a player."""
    moves_in_a_row: int
    public_actions: bool

    @property
    def utilities(self) -> tuple[float, ...]:
        """All that the game can be worth to either player, the worst first."""
        return tuple(sorted({sign * worth + 0.0 for worth in self.worths for sign in (-1.0, 1.0)}))

    def path(self, node: int) -> list[int]:
        """Return the actions and events that lead to a history."""
        actions = []
        while node:
            actions.append(int(self._nodes[node, ACTION] & HALF))
            node = int(self._parents[node])
        return actions[::-1]

    @property
    def _nodes(self) -> npt.NDArray[np.int64]:
        return self.parameters[HEADER : self.parameters[SETS]].reshape(-1, NODE_SIZE)

    @cached_property
    def _parents(self) -> npt.NDArray[np.int64]:
        """Parents by history. Children lie side by side, in the order of their parents' first ones."""
        firsts = self._nodes[:, FIRST] & HALF
        parents = np.flatnonzero(self.kinds != TERMINAL)
        parents = parents[np.argsort(firsts[parents])]
        counts = self._nodes[parents, FIRST] >> COUNT_SHIFT & COUNT_MASK
        return np.concatenate([[-1], np.repeat(parents, counts)])


class Tabulator:
    """Takes the histories of a game, one by one, and makes a `Tabulation` of them."""

    def __init__(self, name: str, perfect: bool = False, limit: int = MOST_HISTORIES) -> None:
        """`perfect`: both players know the whole history, and `known` is not looked at."""
        self.name = name
        self.perfect = perfect
        self.limit = limit
        self._kinds: list[int] = [TERMINAL]
        self._firsts = [0]
        self._counts = [0]
        self._actions = [-1]
        self._weights = [0]
        self._plies = [0]
        self._rows = [0]
        self._sets: list[tuple[int, int]] = [(0, 0)]
        self._chains: list[tuple[int, int]] = [(0, 0)]
        self._set_numbers: dict[Hashable, int] = {}
        self._chain_numbers: dict[tuple[int, int, int], int] = {}
        self._chain_of_set: dict[int, int] = {}
        self._legal_in: dict[int, tuple[int, ...]] = {}
        self._told: dict[tuple[int, int], int] = {}
        self._public = True
        self._tensor_of: dict[int, int] = {}
        self._tensors: dict[tuple[float, ...], int] = {}
        self._values: dict[float, int] = {0.0: 0}
        self._worths: set[float] = set()
        self._texts: tuple[dict[int, str], dict[int, str]] = ({}, {})

    def end(self, node: int, worth: float, known: Known = (None, None)) -> None:
        """Make a history an end, with its worth to the first player."""
        self._worths.add(float(worth) + 0.0)
        self._firsts[node] = self._values.setdefault(float(worth) + 0.0, len(self._values))
        self._know(node, TERMINAL, ((known[0], worth), (known[1], worth)))

    def decision(
        self, node: int, player: int, actions: Sequence[int], texts: Sequence[str], known: Known = (None, None)
    ) -> range:
        """Make a history a player's decision between actions; return the numbers of the histories behind it."""
        self._know(node, player, known)
        alike = self.perfect or self._legal_in.setdefault(self._sets[node][player], tuple(actions)) == tuple(actions)
        if not alike:
            raise ConfigurationError(
                f"{self.name!r} cannot be tabulated: two histories that look alike to the player on turn have "
                f"different legal actions ({known[player]!r})"
            )
        known_texts = self._texts[player]
        for action, text in zip(actions, texts, strict=True):
            if action not in known_texts:
                known_texts[action] = " ".join(text.split())
        return self._children(node, actions, [0] * len(actions), 1)

    def chance(
        self, node: int, events: Sequence[int], probabilities: Sequence[float], known: Known = (None, None)
    ) -> range:
        """Make a history one at which chance decides; return the numbers of the histories behind it."""
        self._know(node, CHANCE, known)
        return self._children(node, events, self._whole(probabilities), 0)

    def lack_tensors(self, node: int) -> list[int]:
        """Return the players that have no tensor yet for this history, or for one that looks alike."""
        return [player for player, which in enumerate(self._sets[node]) if which not in self._tensor_of]

    def tensor(self, node: int, player: int, seen: Sequence[float]) -> None:
        """Set what a player observes at a history."""
        self._tensor_of[self._sets[node][player]] = self._tensors.setdefault(tuple(seen), len(self._tensors))

    def finished(self, action_count: int, channels: Iterable[str] | None) -> Tabulation:
        """Return the tables. Without names of channels, players observe digits of their information sets' numbers."""
        if all(kind >= CHANCE for kind in self._kinds):
            raise ConfigurationError(f"{self.name!r} cannot be tabulated: nobody ever decides anything in it")
        sets = np.array(self._sets, np.int64)
        set_count = int(sets.max()) + 1
        kinds = np.array(self._kinds, np.int8)
        plies = np.array(self._plies, np.int64)
        set_words, members, largest = self._listed(sets, set_count)
        which, tensors, names = self._observed(set_count, channels)
        set_words |= which << TENSOR_SHIFT
        fractions, exponents = np.frexp(np.array(list(self._values)))
        values = np.stack([np.ldexp(fractions, 53).astype(np.int64), exponents - 53], 1)
        nodes = np.stack(
            [
                np.array(self._firsts, np.int64)
                | np.array(self._counts, np.int64) << COUNT_SHIFT
                | kinds.astype(np.int64) << KIND_SHIFT
                | plies << PLIES_SHIFT,
                sets[:, 0] | sets[:, 1] << HALF_SHIFT,
                (np.array(self._actions, np.int64) & HALF) | np.array(self._weights, np.int64) << HALF_SHIFT,
            ],
            1,
        )
        tables = [nodes, set_words, members, values, tensors]
        places = HEADER + np.cumsum([0, *(table.size for table in tables)])
        digits = 1
        while BASE**digits < largest:
            digits += 1
        header = [*places[:5].tolist(), len(names), digits]
        return Tabulation(
            np.concatenate([np.array(header, np.int64), *(table.ravel() for table in tables)]), kinds, plies,
            tuple(self._worths), names, self._distinct_texts(action_count), action_count,
            max(count for count, kind in zip(self._counts, self._kinds, strict=True) if kind < CHANCE),
            largest, self._longest_row(), self._public,
        )  # fmt: skip

    # ── While histories are added ────────────────────────────────────────────────────────────────

    def _know(self, node: int, kind: int, known: Known) -> None:
        """Number what both players know at a history, and all that they have known so far."""
        self._kinds[node] = kind
        if self.perfect:
            self._sets[node] = 2 * node, 2 * node + 1
            return
        sets, chains = [], []
        before, mover, action = self._chains[node], self._rows[node], self._actions[node]
        for player in (0, 1):
            which = self._set_numbers.setdefault((player, kind, known[player]), len(self._set_numbers))
            # As the solver does it: what was known before, the own action, and what is seen now.
            link = before[player], action if mover == player else -1, which
            chain = self._chain_numbers.setdefault(link, 1 + len(self._chain_numbers))
            if player == kind and self._chain_of_set.setdefault(which, chain) != chain:
                raise ConfigurationError(
                    f"{self.name!r} cannot be played here: what it tells the player on turn ({known[player]!r}) leaves "
                    "out something that this player has seen, such as how many moves were made or what was known "
                    "earlier. Our games are of players who forget nothing and see every turn pass"
                )
            if mover == 1 - player:
                self._public &= self._told.setdefault((player, which), action) == action
            sets.append(which)
            chains.append(chain)
        self._sets[node], self._chains[node] = (sets[0], sets[1]), (chains[0], chains[1])

    def _children(self, node: int, actions: Sequence[int], weights: Sequence[int], plies: int) -> range:
        first, count = len(self._kinds), len(actions)
        if first + count > self.limit:
            raise too_large(self.name, f"more than {self.limit:,} histories", self.limit)
        self._firsts[node], self._counts[node] = first, count
        self._kinds += [TERMINAL] * count
        self._firsts += [0] * count
        self._counts += [0] * count
        self._actions += actions
        self._weights += weights
        self._plies += [self._plies[node] + plies] * count
        self._rows += [self._kinds[node]] * count
        self._sets += [(0, 0)] * count
        self._chains += [self._chains[node]] * count
        return range(first, first + count)

    def _whole(self, probabilities: Sequence[float]) -> list[int]:
        """Return probabilities as whole weights."""
        parts = [Fraction(each).limit_denominator(10**6) for each in probabilities]
        common = lcm(*(part.denominator for part in parts))
        weights = [int(part * common) for part in parts]
        total = sum(weights)
        exact = 0 < total <= MOST_WEIGHT and all(
            abs(weight / total - each) < 1e-9 for weight, each in zip(weights, probabilities, strict=True)
        )
        if not exact or min(weights) == 0:
            raise ConfigurationError(
                f"{self.name!r} cannot be tabulated: its chances {list(probabilities)[:6]} are no fractions of "
                "small numbers"
            )
        return weights

    # ── At the end ───────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def _listed(sets: npt.NDArray[np.int64], count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
        """Return a number for each set, the members of those that have several, and the size of the largest."""
        order = np.argsort(sets.T.ravel(), kind="stable")
        members = order % len(sets)
        sizes = np.bincount(sets.ravel(), minlength=count)
        firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        several = sizes > 1
        kept = np.repeat(several, sizes)
        places = np.concatenate([[0], np.cumsum(np.where(several, sizes, 0))[:-1]])
        words = np.where(several, places, members[firsts]) | sizes << SIZE_SHIFT
        return words.astype(np.int64), members[kept].astype(np.int64), int(sizes.max())

    def _observed(
        self, sets: int, channels: Iterable[str] | None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], tuple[str, ...]]:
        """Return each set's tensor by number, the tensors, and names of their channels.

        A tensor is a row of the numbers of its values, four of which lie in one number.
        """
        if channels is None:
            width = max(1, int(sets - 1).bit_length())
            which = np.arange(sets)
            one = self._values.setdefault(1.0, len(self._values))
            rows = one * (which[:, None] >> np.arange(width) & 1)
            names = tuple(f"digit[{digit}]" for digit in range(width))
        else:
            names = tuple(channels)
            nothing = self._tensors.setdefault((0.0,) * len(names), len(self._tensors))
            which = np.full(sets, nothing)
            which[list(self._tensor_of)] = list(self._tensor_of.values())
            places, values = self._values, [value for row in self._tensors for value in row]
            numbers = [places.setdefault(value + 0.0, len(places)) for value in values]
            rows = np.array(numbers, np.int64).reshape(len(self._tensors), len(names))
        if len(self._values) > MOST_VALUES:
            raise ConfigurationError(
                f"{self.name!r} cannot be tabulated: its observations have more than {MOST_VALUES:,} different values"
            )
        padded = np.zeros((len(rows), -(-len(names) // PACKED), PACKED), np.int64)
        padded.reshape(len(rows), -1)[:, : len(names)] = rows
        return which, (padded << VALUE_BITS * np.arange(PACKED)).sum(2), names

    def _distinct_texts(self, action_count: int) -> tuple[dict[int, str], dict[int, str]]:
        """Return texts that name one action each: where two share one, with the action's number."""
        distinct: list[dict[int, str]] = []
        for known in self._texts:
            texts = {action: known.get(action) or f"action {action}" for action in range(action_count)}
            often: dict[str, int] = {}
            for text in texts.values():
                often[text.lower()] = often.get(text.lower(), 0) + 1
            distinct.append(
                {action: text if often[text.lower()] == 1 else f"{text} #{action}" for action, text in texts.items()}
            )
        return distinct[0], distinct[1]

    def _longest_row(self) -> int:
        """Return most actions of one player before the other is on turn, whatever chance does in between."""
        longest = 1
        rows = [(-1, 0)] * len(self._kinds)
        for node, kind in enumerate(self._kinds):  # children stand behind their parents
            if kind < CHANCE:
                player, row = rows[node]
                rows[node] = (kind, row + 1 if player == kind else 1)
                longest = max(longest, rows[node][1])
            for child in range(self._firsts[node], self._firsts[node] + self._counts[node]):
                rows[child] = rows[node]
        return longest


def too_large(name: str, size: str, limit: int) -> ConfigurationError:
    """Return the error that refuses a game whose tree is too large."""
    return ConfigurationError(
        f"{name!r} is too large: a game from elsewhere is played from a table of its whole tree, of at most {limit:,} "
        f"histories, and it has {size}. Choose smaller parameters, or write its rules down (docs/adding-a-game.md)"
    )
