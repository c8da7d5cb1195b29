"""`Review`: a game that has been looked back on, of any family: forecasts, policies, beliefs, searches, moments.

A family has a class below it (`vauban.search.<family>.review`) for what only its games have: pieces, moves, and the
moments that a player would name. How a review is made is in `vauban.search.reviewing`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from vauban.games.base import Game, Outcome
from vauban.search.analysis import Analysis
from vauban.search.moments import SIDES, SMALLEST_SHARE, Moment, Said
from vauban.sim.store import Snapshot

TOP = 5
"""Moves of a position that are told."""
Shares = npt.NDArray[np.float64]
"""Probabilities of the hidden kinds of the game."""
Forecast = tuple[float, float, float]
"""The probabilities of loss, draw and win."""
Believed = dict[int, Shares]
"""A side's belief about the enemy's hidden pieces, by square."""


class Standing(Protocol):
    """A piece, ghost or the like on a square, as it truly is."""

    @property
    def player(self) -> int:
        """Its owner."""

    @property
    def kind(self) -> int | None:
        """Its kind, a place in the game's `hidden_kinds`."""

    @property
    def identity(self) -> int:
        """The square on which it started."""

    @property
    def revealed(self) -> bool:
        """Whether the enemy knows its kind for certain."""


@dataclass(frozen=True, eq=False)
class Review(ABC):
    """A game that has been looked back on. Positions are counted from 0, the start, to the number of moves."""

    board: Any
    """The game at its end."""
    ended: Outcome | None
    """Its end; None if it was not finished."""
    model: str | None
    """The name of the model that has looked at it."""
    pieces: list[dict[int, Any]]
    """By position, what truly stands on the squares (`Standing`)."""
    turns: list[int]
    """By position, the player on turn."""
    outcomes: dict[int, Forecast]
    """By position a network has looked at: the outcome that the side on turn foresaw (loss, draw, win)."""
    policies: dict[int, dict[Any, float]]
    """By position a network has looked at: its policy over moves (`move_of`), the likeliest first."""
    beliefs: list[tuple[Believed, Believed]]
    """By position, the beliefs of red and blue."""
    counted: bool
    """Whether beliefs come from counting, not from a network."""
    searches: dict[int, Analysis]
    """Critical positions that have been searched."""
    unsearched: list[int]
    """Critical positions that have not been, because the search took too long (`reviewing.MOST_SEARCH_SECONDS`)."""
    moments: list[Moment]
    seconds: float

    said: ClassVar[type[Said]]
    """The family's sentences about moments."""

    # ── What a family adds ───────────────────────────────────────────────────────────────────────

    @staticmethod
    @abstractmethod
    def standing(board: Any) -> Mapping[int, Standing]:
        """Return what truly stands on the squares of a board."""

    @staticmethod
    def bound(piece: Any) -> bool:
        """Return whether an enemy's piece can only be of the common kinds, as anybody can tell."""
        return False

    @staticmethod
    def views(positions: Sequence[Any], side: int, places: Sequence[int]) -> Snapshot:
        """Return some of the positions as a side sees them."""
        return Snapshot.join([positions[place].view(side).snapshot() for place in places])

    @staticmethod
    @abstractmethod
    def move_in(game: Game, player: int, action: int) -> Any:
        """Return an action as a move; actions that mean the same to people are one move."""

    @abstractmethod
    def squares_json(self, move: Any) -> dict[str, str]:
        """Return where a move goes from and to, by name."""

    @abstractmethod
    def move_json(self, ply: int) -> dict[str, Any]:
        """Return a move that was made, beside its number, side and squares."""

    @abstractmethod
    def details_json(self) -> dict[str, Any]:
        """Return what only this family tells of a whole game; `truth` says what was hidden at the start."""

    @abstractmethod
    def weighty(self) -> list[Moment]:
        """Return the moments that decided the game, the most important first; one for each ply at most."""

    # ── Moves ────────────────────────────────────────────────────────────────────────────────────

    def move_of(self, player: int, action: int) -> Any:
        """Return an action of this game as a move."""
        return self.move_in(self.board.game, player, action)

    def move_made(self, ply: int) -> Any:
        """Return the move with this number, counted from 1."""
        played = self.board.history[ply - 1]
        return self.move_of(played.player, played.action)

    # ── Values ───────────────────────────────────────────────────────────────────────────────────

    def outcome(self, side: int, position: int) -> Forecast | None:
        """Return a side's forecast (loss, draw, win): at its next own position, or the result; None without either."""
        for place in range(position, len(self.turns)):
            if place in self.outcomes and self.turns[place] == side:
                return self.outcomes[place]
        if self.ended is None:
            return None
        result = self.ended.utility if side == 0 else -self.ended.utility
        return float(result < 0), float(result == 0), float(result > 0)

    def value(self, side: int, position: int) -> float | None:
        """Return the result that a side foresees, from −1 to 1, at its next own position, or the result itself."""
        found = self.outcome(side, position) if self.outcomes else None
        return None if found is None else found[2] - found[0]

    def swing(self, side: int, ply: int) -> float | None:
        """Return how much a side's foresight rose by a move: from its last own position before it to the next one."""
        if self.board.outcome() is None and side not in self.turns[ply:]:
            return None  # it ended by something else than this move: by resignation, say
        for place in (ply - 1, ply - 2):
            if place in self.outcomes and self.turns[place] == side:
                after = self.value(side, ply)
                return None if after is None else after - self.outcomes[place][2] + self.outcomes[place][0]
        return None

    # ── In words and numbers ─────────────────────────────────────────────────────────────────────

    @property
    def unsearched_text(self) -> str:
        """Say where time was too short for all searches; nothing otherwise."""
        plies = ", ".join(str(place + 1) for place in self.unsearched)
        return f"Time was short: no search was made before these moves: {plies}." if plies else ""

    def kind_word(self, kind: int) -> str:
        """Return what a hidden kind is called."""
        return self.board.game.hidden_kinds[kind].lower()  # type: ignore[no-any-return]

    @property
    def belief_by(self) -> str:
        """Whence beliefs come: "counting" or "network"."""
        return "counting" if self.counted else "network"

    def to_json(self) -> dict[str, Any]:
        """Return everything, for the page and for programs."""
        return {**self.summary_json(), "plies": list(self.plies_json())}

    def summary_json(self) -> dict[str, Any]:
        """Return all but the positions."""
        game, ended = self.board.game, self.ended
        return {
            "game": game.family,
            "variant": game.name,
            "rules": game.rules_text,
            "model": self.model,
            "belief_by": self.belief_by,
            "sides": list(SIDES),
            "winner": None if ended is None or ended.winner is None else SIDES[ended.winner],
            "end": None if ended is None else ended.end,
            "moves": [
                {
                    "ply": ply,
                    "side": SIDES[played.player],
                    **self.squares_json(self.move_made(ply)),
                    **self.move_json(ply),
                }
                for ply, played in enumerate(self.board.history, 1)
            ],
            **self.details_json(),
            "moments": [each.to_json() for each in self.moments],
            "unsearched": self.unsearched,
            "seconds": round(self.seconds, 3),
        }

    def plies_json(self) -> Iterator[dict[str, Any]]:
        """Yield one position after the other."""
        name = self.board.game.square_name
        for position, turn in enumerate(self.turns):
            outcomes = [self.outcome(side, position) if self.outcomes else None for side in (0, 1)]
            yield {
                "ply": position,
                "turn": SIDES[turn],
                "values": {
                    side: None if found is None else rounded(found[2] - found[0])
                    for side, found in zip(SIDES, outcomes, strict=True)
                },
                "wdl": {
                    side: None if found is None else [rounded(share) for share in found]
                    for side, found in zip(SIDES, outcomes, strict=True)
                },
                "policy": [
                    {**self.squares_json(move), "p": rounded(share)}
                    for move, share in list(self.policies.get(position, {}).items())[:TOP]
                ],
                "search": self._search_json(position),
                "belief": {
                    side: {
                        name(square): {
                            self.kind_word(kind): rounded(shares[kind])
                            for kind in np.argsort(-shares, kind="stable").tolist()
                            if shares[kind] >= SMALLEST_SHARE
                        }
                        for square, shares in believed.items()
                    }
                    for side, believed in zip(SIDES, self.beliefs[position], strict=True)
                },
            }

    def _search_json(self, position: int) -> list[dict[str, Any]] | None:
        found = self.searches.get(position)
        if found is None:
            return None
        moves = [self.move_of(found.player, int(action)) for action in found.actions]
        before: dict[Any, float] = {}
        for move, share in zip(moves, found.before, strict=True):
            before[move] = before.get(move, 0.0) + float(share)
        order = [place for place in np.argsort(-found.policy, kind="stable").tolist() if found.visits[place]]
        return [
            {
                **self.squares_json(moves[place]),
                "value": rounded(found.values[place]),
                "visits": int(found.visits[place]),
                "before": rounded(before[moves[place]]),
                "p": rounded(found.policy[place]),
            }
            for place in order[:TOP]
        ]


def rounded(number: float) -> float:
    """Return a number as reviews tell it."""
    return round(float(number), 3)
