"""The moments that decided a game: what those of all families have in common, and the sentences that tell them.

A sentence has a name and data, so that others can put it into words of their own (the page does); `Moment.text` is
plain English. What else is a moment of a game, its family says (`Review.weighty`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import hypot, log
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from vauban.search.review import Review

SIDES = ("red", "blue")
"""Names of the players of any game in a look back, the first one first."""
MOST_MOMENTS, MOST_LOSSES, MOST_SURPRISES = 7, 3, 2
LEAST_SWING = 0.15
"""Least loss or gain of a side's foresight (−1 … 1) that makes a moment."""
LEAST_HARM = 0.05
"""Least cost of a surprise to the surprised."""
LEAST_FAULT = 0.02
"""Least difference of values by which a search's move must beat the played one for it to be the mover's fault."""
LEAST_VISITS = 16
"""Fewest rollouts of a move for a search to say anything about it."""
BEYOND_CHANCE = 3.0
"""Standard errors that a difference must have for it not to be the luck of the rollouts. Two would do for two moves
that were named beforehand; the choice of a search is the best of eight, and so had some luck."""
SMALLEST_SHARE = 0.005
"""Least belief that is told."""

SENTENCES = {
    "outlook.rose": "{side}'s outlook rose from {before} to {after}.",
    "outlook.fell": "{side}'s outlook fell from {before} to {after}.",
    "network.same": "The network would have played it too ({chance}).",
    "network.other": "The network preferred {from}–{to} ({share} against {chance}).",
    "search.other": "A search chose {from}–{to} (worth {value} against {other}).",
}
"""Templates of the sentences that all families have."""


@dataclass(frozen=True)
class Said:
    """A sentence: one of `sentences`, and the data to be filled in.

    Sides and squares are names, shares numbers from 0 to 1; what else there is, the family puts into words.
    """

    key: str
    data: Mapping[str, Any] = field(default_factory=dict)

    sentences: ClassVar[Mapping[str, str]] = SENTENCES

    @property
    def text(self) -> str:
        """The sentence in English."""
        words = {name: self.english(value) for name, value in self.data.items()}
        said = self.sentences[self.key].format_map(words)
        return said[:1].upper() + said[1:]

    def to_json(self) -> dict[str, Any]:
        """Return name and data in one."""
        return {"key": self.key, **self.data}

    @classmethod
    def english(cls, value: Any) -> str:
        """Return what is filled in, in English."""
        if isinstance(value, float):
            return "under 1%" if 0 < value < SMALLEST_SHARE else f"{value:.0%}"
        return str(value)


@dataclass(frozen=True)
class Moment:
    """Something that decided the game."""

    ply: int
    """The move after which it shows, counted from 1: also the position after that move. 0: it shows at the start."""
    kind: str
    """One of the family's `Review.kinds`."""
    side: int
    """The side of the moment: the one that lost ground, believed, was surprised, or brought the end about."""
    said: tuple[Said, ...]

    @property
    def text(self) -> str:
        """A sentence or two for a person."""
        return " ".join(each.text for each in self.said)

    def to_json(self) -> dict[str, Any]:
        """Return the data for those who have words of their own, and the text for those who have not."""
        said = [each.to_json() for each in self.said]
        return {"ply": self.ply, "kind": self.kind, "side": SIDES[self.side], "text": self.text, "said": said}


# ── Choosing ─────────────────────────────────────────────────────────────────────────────────────


def find_moments(found: Review) -> list[Moment]:
    """Return the few moments that decided the game, in the order in which they came; one for each ply at most."""
    return sorted(found.weighty(), key=lambda each: each.ply)


def critical_positions(found: Review) -> list[int]:
    """Return the positions before the moves of the moments, the most important first: a sentence about a loss depends
    on a search.
    """
    moments = sorted(found.weighty(), key=lambda each: each.kind != "loss")
    return [each.ply - 1 for each in moments if each.ply - 1 in found.outcomes]


def chosen(moments: Iterable[Moment], same: Callable[[Said, Sequence[Said]], bool]) -> list[Moment]:
    """Choose among moments, the most important first: `MOST_MOMENTS` at most, and one for each ply.

    What another one of the same ply has to say of beliefs is added to it, but for what has been said already.

    same: whether a sentence tells what some others have told.
    """
    kept: dict[int, Moment] = {}
    for each in moments:
        there = kept.get(each.ply)
        if there is None:
            if len(kept) < MOST_MOMENTS:
                kept[each.ply] = each
        elif each.kind in ("surprise", "belief"):
            new = tuple(said for said in each.said if not same(said, there.said))
            kept[each.ply] = replace(there, said=there.said + new)
    return list(kept.values())


# ── Losses ───────────────────────────────────────────────────────────────────────────────────────


def losses(found: Review) -> list[int]:
    """Return the moves after which the mover's outlook fell, the worst first. The network's own count less, and what a
    search acquits is left out.
    """
    weighed = []
    for ply, played in enumerate(found.board.history, 1):
        swing = found.swing(played.player, ply)
        if ply - 1 not in found.outcomes or swing is None or swing > -LEAST_SWING or acquitted(found, ply):
            continue
        weighed.append((-swing * (1 - found.policies[ply - 1].get(found.move_made(ply), 0.0)), ply))
    return [ply for _, ply in sorted(weighed, reverse=True)]


def red_swing(found: Review, ply: int) -> float:
    """Measure how far a move brought the outlook towards red, by what both foresaw."""
    red, blue = (found.swing(side, ply) for side in (0, 1))
    known = [each for each in (red, None if blue is None else -blue) if each is not None]
    return sum(known) / len(known) if known else 0.0


Swing = Callable[[int], float]
"""Measures the distance by which a move brought the outlook towards red."""


def turning_point(found: Review, plies: Iterable[int], swing: Swing, least: float) -> tuple[int, int] | None:
    """Return the move by which the outlook moved most away from the loser, in a draw away from anybody; and that side.

    None if no move did by more than `least`.
    """
    ended = found.ended
    losers = (0, 1) if ended is None or ended.winner is None else (1 - ended.winner,)
    most, found_there = least, None
    for ply in plies:
        for side in losers:
            harm = _harm(swing(ply), side)
            if harm > most:
                most, found_there = harm, (ply, side)
    return found_there


def unless_answer(turning: Moment | None, lost: Iterable[Moment]) -> list[Moment]:
    """Return the moment that turned the game, but not if it was the answer to a loss, which tells of it."""
    if turning is None or any((each.ply, each.side) == (turning.ply - 1, turning.side) for each in lost):
        return []
    return [turning]


def _harm(swing: float, side: int) -> float:
    return -swing if side == 0 else swing


def outlook(found: Review, side: int, ply: int) -> list[Said]:
    """Say how a side's outlook changed."""
    swing, after = found.swing(side, ply), found.value(side, ply)
    if swing is None or after is None:
        return []
    key = "outlook.rose" if swing > 0 else "outlook.fell"
    return [found.said(key, {"side": SIDES[side], "before": score(after - swing), "after": score(after)})]


def preferred(found: Review, ply: int) -> list[Said]:
    """Say what the network would have played in place of a move, and what a search chose, where that was better."""
    policy, played = found.policies[ply - 1], found.move_made(ply)
    best, share = next(iter(policy.items()))
    chance = float(policy.get(played, 0.0))
    if best == played:
        said = found.said("network.same", {"chance": chance})
    else:
        said = found.said("network.other", {**found.squares_json(best), "share": float(share), "chance": chance})
    return [said, *_searched(found, ply - 1, played)]


def score(value: float) -> float:
    """Return a value from −1 to 1 as the points that can be expected: a win is one, a draw half a one."""
    return (float(value) + 1) / 2


# ── What came out ────────────────────────────────────────────────────────────────────────────────


class Shown(NamedTuple):
    """A hidden piece whose kind a move showed."""

    ply: int
    square: int
    """Its square before the move."""
    kind: int
    side: int
    """The side to which it was shown."""


class Mistaken(NamedTuple):
    """A piece that a side took for another, until its kind came out."""

    place: int
    """The first position in which the side did, and the piece's square there."""
    square: int
    taken: int
    """The kind that it was taken for."""
    kind: int


def mistaken(found: Review, shown: Iterable[Shown], side: int, sure: float) -> Iterator[Mistaken]:
    """Yield pieces that a side took for others when they were shown, as sure as this; not those from the start on."""
    for each in shown:
        if each.side != side:
            continue
        shares = found.beliefs[each.ply - 1][side][each.square]
        taken = int(shares.argmax())
        if taken == each.kind or shares[taken] < sure:
            continue
        identity = found.pieces[each.ply - 1][each.square].identity
        place, square = next(
            (place, square)
            for place, pieces in enumerate(found.pieces)
            for square, believed in found.beliefs[place][side].items()
            if pieces[square].identity == identity and believed[taken] >= sure
        )
        if place > 0:
            yield Mistaken(place, square, taken, each.kind)


def surprises(found: Review, shown: Iterable[Shown], swing: Swing, unlikely: float) -> list[Shown]:
    """Return the pieces that were what they were hardly believed to be, those that harmed the surprised most first.

    unlikely: the share that they were believed to be so with is less than this.
    """
    weighed = []
    for each in shown:
        share = found.beliefs[each.ply - 1][each.side][each.square][each.kind]
        harm = _harm(swing(each.ply), each.side)
        if share < unlikely and harm >= LEAST_HARM:
            weighed.append((harm * -log(max(float(share), SMALLEST_SHARE)), each))
    weighed.sort(key=lambda each: (-each[0], each[1].ply))
    return [each for _, each in weighed[:MOST_SURPRISES]]


# ── What a search says ───────────────────────────────────────────────────────────────────────────


class Worth(NamedTuple):
    """A move's worth, as a search found it."""

    value: float
    error: float
    """The standard error of the value."""
    visits: int


def searched_moves(found: Review, place: int) -> dict[Any, Worth]:
    """Return the moves that a search tried, the one that it chose first; empty if there was none."""
    analysis = found.searches.get(place)
    if analysis is None:
        return {}
    return {
        found.move_of(analysis.player, int(analysis.actions[which])): Worth(
            float(analysis.values[which]), float(analysis.errors[which]), int(analysis.visits[which])
        )
        for which in np.argsort(-analysis.policy, kind="stable").tolist()
        if analysis.visits[which]
    }


def _shortfall(moves: Mapping[Any, Worth], played: Any) -> tuple[float, float] | None:
    """Return how much more the search's choice is worth than the played move, and how much of that may be luck.

    Where it chose the played move, its second choice is taken. None if too few rollouts were made to say.
    The best of all values would not do: of many moves with few rollouts each, some have luck.
    """
    mine, other = moves.get(played), next((worth for move, worth in moves.items() if move != played), None)
    if mine is None or other is None or min(mine.visits, other.visits) < LEAST_VISITS:
        return None
    # The rollouts of both are taken as independent. They begin from the same configurations, so the error is rather
    # less.
    return other.value - mine.value, BEYOND_CHANCE * hypot(mine.error, other.error)


def acquitted(found: Review, ply: int) -> bool:
    """Return whether a search shows that no other move would have averted the fall: its own is better by less than
    makes a moment, luck included.
    """
    moves, played = searched_moves(found, ply - 1), found.move_made(ply)
    if list(moves) == [played]:
        return True  # there was no other
    short = _shortfall(moves, played)
    return short is not None and not _is_fault(*short) and sum(short) < LEAST_SWING


def _is_fault(gap: float, luck: float) -> bool:
    return gap >= LEAST_FAULT and gap > luck


def _searched(found: Review, place: int, played: Any) -> list[Said]:
    """Name the move that a search would have played, where it is better beyond luck."""
    moves = searched_moves(found, place)
    short = _shortfall(moves, played)
    if short is None or not _is_fault(*short) or next(iter(moves)) == played:
        return []
    best = next(iter(moves))
    worth = {"value": score(moves[best].value), "other": score(moves[played].value)}
    return [found.said("search.other", {**found.squares_json(best), **worth})]
