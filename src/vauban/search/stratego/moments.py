"""The moments that decided a game, found by looking back on it, and the sentences that tell them.

A sentence has a name and data, so that others can put it into words of their own (the page does); `Moment.text` is
plain English.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vauban.board.stratego import Played
from vauban.games.stratego.pieces import BOMB, FLAG, PLAYERS, TYPES, WORTH
from vauban.notation.stratego.moves import Move

if TYPE_CHECKING:
    from vauban.search.stratego.review import Review

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
LOCATED, MISLED, SURE, SURPRISING = 0.5, 0.9, 0.8, 0.1
"""Beliefs: above the first the flag is found; above the second being wrong about the flag is told; from the third on
the same is told of a piece that was fought over; below the last a type comes as a surprise."""
SMALLEST_SHARE = 0.005
"""Least belief that is told."""

BATTLES = {
    "took": "{attacker} took {defender} on {at}",
    "captured": "{attacker} captured {defender} on {at}",
    "attacked": "{attacker} attacked {defender} on {at} and fell",
    "ran": "{attacker} ran into {defender} on {at} and fell",
    "both": "{attacker} and {defender} fell together on {at}",
}
"""The words for a battle."""
SENTENCES = {
    "battle": "{battle}.",
    "turning": "The battle that turned the game: {battle}.",
    "answer": "The answer: {battle}.",
    "answer.turning": "The answer turned the game: {battle}.",
    "moved": "{piece} went from {from} to {to}.",
    "outlook.rose": "{side}'s outlook rose from {before} to {after}.",
    "outlook.fell": "{side}'s outlook fell from {before} to {after}.",
    "network.same": "The network would have played it too ({chance}).",
    "network.other": "The network preferred {from}–{to} ({share} against {chance}).",
    "search.other": "A search chose {from}–{to} (worth {value} against {other}).",
    "flag.counted": "By counting alone {side} could tell where {whose}'s Flag was: {share} on {at}.",
    "flag.start": "The network guessed {whose}'s Flag before the first move: in {side}'s place it gave {at} {share}.",
    "flag.found": "By now the network would have found {whose}'s Flag: in {side}'s place it gave {at} {share}.",
    "flag.wrong": "The network was wrong about {whose}'s Flag: in {side}'s place it gave {at} {share}, "
    "but {kind} stood there.",
    "wrong": "The network was wrong about {whose}'s piece on {at}: in {side}'s place it gave it {share} to be {taken}, "
    "but it was {kind}, as a battle showed.",
    "believed": "In {side}'s place the network had given the piece on {at} {share} to be {kind}.",
    "believed.counted": "By counting, the piece on {at} was {kind} with {share}.",
}
"""Templates of all sentences about a moment."""


class Said(NamedTuple):
    """A sentence: one of `SENTENCES`, and the data to be filled in.

    Sides and squares are names, shares numbers from 0 to 1, pieces `{side, type}`, kinds `{type, only}` (whether an
    army has no other), a battle one of `BATTLES` with its data.
    """

    key: str
    data: Mapping[str, Any] = {}

    @property
    def text(self) -> str:
        """The sentence in English."""
        words = {name: _english(value) for name, value in self.data.items()}
        said = SENTENCES[self.key].format_map(words)
        return said[:1].upper() + said[1:]

    def to_json(self) -> dict[str, Any]:
        """Return name and data in one."""
        return {"key": self.key, **self.data}


def _english(value: Any) -> str:
    if isinstance(value, float):
        return "under 1%" if 0 < value < SMALLEST_SHARE else f"{value:.0%}"
    if isinstance(value, str):
        return value
    if "battle" in value:
        return BATTLES[value["battle"]].format_map({name: _english(each) for name, each in value.items()})
    if "side" in value:
        return f"{value['side']}'s {value['type'].capitalize()}"
    return f"{'the' if value['only'] else 'a'} {value['type'].capitalize()}"


@dataclass(frozen=True)
class Moment:
    """Something that decided the game."""

    ply: int
    """The move after which it shows, counted from 1: also the position after that move. 0: it shows at the start."""
    kind: str
    """"loss" (a move or battle by which a side's outlook fell), "belief" (a side had found the flag, or was sure and
    wrong: of it, or of a piece that was then fought over), "surprise" (a piece was what it was hardly believed to be)
    or "flag" (the flag was captured)."""
    side: int
    """The side of the moment: the one that lost ground, believed, was surprised, or captured the flag."""
    said: tuple[Said, ...]

    @property
    def text(self) -> str:
        """A sentence or two for a person."""
        return " ".join(each.text for each in self.said)

    def to_json(self) -> dict[str, Any]:
        """Return the data for those who have words of their own, and the text for those who have not."""
        said = [each.to_json() for each in self.said]
        return {"ply": self.ply, "kind": self.kind, "side": PLAYERS[self.side], "text": self.text, "said": said}


# ── Finding ──────────────────────────────────────────────────────────────────────────────────────


def find_moments(found: Review) -> list[Moment]:
    """Return the few moments that decided the game, in the order in which they came; one for each ply at most."""
    return sorted(_weightiest(found), key=lambda each: each.ply)


def critical_positions(found: Review) -> list[int]:
    """Return the positions before the moves of the moments, the most important first: a sentence about a loss depends
    on a search.
    """
    moments = sorted(_weightiest(found), key=lambda each: each.kind != "loss")
    return [each.ply - 1 for each in moments if each.ply - 1 in found.outcomes]


def _weightiest(found: Review) -> list[Moment]:
    """Return the moments, the most important first."""
    capture = _capture(found)
    turning = _turning(found)
    beliefs = [each for find in (_locating, _misled) for side in (0, 1) if (each := find(found, side)) is not None]
    surprises = _surprises(found)[:MOST_SURPRISES]
    losses = _losses(found, turning)[:MOST_LOSSES]
    if turning is not None and any((each.ply, each.side) == (turning.ply - 1, turning.side) for each in losses):
        turning = None  # it was the answer to a move that is told of
    chosen: dict[int, Moment] = {}
    for each in [*([capture] if capture else []), *([turning] if turning else []), *beliefs, *losses, *surprises]:
        same = chosen.get(each.ply)
        if same is not None:
            if each.kind in ("surprise", "belief"):
                chosen[each.ply] = replace(same, said=(*same.said, *_new(each.said, same.said)))
        elif len(chosen) < MOST_MOMENTS:
            chosen[each.ply] = each
    return list(chosen.values())


def _new(said: Sequence[Said], before: Sequence[Said]) -> list[Said]:
    """Return the sentences, without battles that have been told already."""
    told = [each.data["battle"] for each in before if "battle" in each.data]
    return [each for each in said if each.data.get("battle") not in told]


def _capture(found: Review) -> Moment | None:
    ended, history = found.ended, found.board.history
    if ended is None or ended.end != "flag" or not history:
        return None
    return Moment(len(history), "flag", history[-1].player, (_battle(found, len(history)),))


def _turning(found: Review) -> Moment | None:
    """Return the battle by which the outlook moved most away from the loser; in a draw, away from anybody."""
    ended = found.ended
    losers = (0, 1) if ended is None or ended.winner is None else (1 - ended.winner,)
    most, ply, loser = (LEAST_SWING if found.outcomes else min(WORTH)), 0, 0
    for number, played in enumerate(found.board.history, 1):
        if played.battle is None or played.battle.defender == FLAG:
            continue
        swing = _red_swing(found, number, played)
        for side in losers:
            harm = -swing if side == 0 else swing
            if harm > most:
                most, ply, loser = harm, number, side
    if ply == 0:
        return None
    return Moment(ply, "loss", loser, (_battle(found, ply, "turning"), *_outlook(found, loser, ply)))


def _red_swing(found: Review, ply: int, played: Played) -> float:
    """Measure how far a battle moved the outlook towards red: by what both foresaw, or by the worth of the fallen
    pieces.
    """
    if found.outcomes:
        red, blue = (found.swing(side, ply) for side in (0, 1))
        known = [each for each in (red, None if blue is None else -blue) if each is not None]
        return sum(known) / len(known) if known else 0.0
    battle = played.battle
    assert battle is not None
    gain = (WORTH[battle.defender] if battle.result in ">=" else 0.0) - (
        WORTH[battle.attacker] if battle.result in "<=" else 0.0
    )
    return gain if played.player == 0 else -gain


def _losses(found: Review, turning: Moment | None) -> list[Moment]:
    """Return the moves after which the mover's outlook fell most. The network's own count less."""
    weighed = []
    for ply, played in enumerate(found.board.history, 1):
        swing = found.swing(played.player, ply)
        if ply - 1 not in found.outcomes or swing is None or swing > -LEAST_SWING or _acquitted(found, ply):
            continue
        weighed.append((-swing * (1 - found.policies[ply - 1].get(played.move, 0.0)), ply))
    return [_loss(found, ply, turning) for _, ply in sorted(weighed, reverse=True)]


def _loss(found: Review, ply: int, turning: Moment | None) -> Moment:
    played = found.board.history[ply - 1]
    name = found.board.variant.square_name
    source, target = played.move
    if played.battle is not None:
        said = [_battle(found, ply)]
    else:
        piece = _piece(played.player, found.pieces[ply - 1][source].kind)
        said = [Said("moved", {"piece": piece, "from": name(source), "to": name(target)})]
    said += _outlook(found, played.player, ply)
    if ply < len(found.board.history) and found.board.history[ply].battle is not None:
        turned = turning is not None and turning.ply == ply + 1
        said.append(_battle(found, ply + 1, "answer.turning" if turned else "answer"))
    policy = found.policies[ply - 1]
    best, share = next(iter(policy.items()))
    chance = float(policy.get(played.move, 0.0))
    if best == played.move:
        said.append(Said("network.same", {"chance": chance}))
    else:
        shares = {"share": float(share), "chance": chance}
        said.append(Said("network.other", {"from": name(best.source), "to": name(best.target), **shares}))
    return Moment(ply, "loss", played.player, (*said, *_searched(found, ply - 1, played.move)))


class Worth(NamedTuple):
    """A move's worth, as a search found it."""

    value: float
    error: float
    """The standard error of the value."""
    visits: int


def searched_moves(found: Review, place: int) -> dict[Move, Worth]:
    """Return the moves that a search tried, the one that it chose first; empty if there was none."""
    analysis = found.searches.get(place)
    if analysis is None:
        return {}
    decode = found.board.game.decode
    return {
        Move(*decode(analysis.player, int(analysis.actions[which]))): Worth(
            float(analysis.values[which]), float(analysis.errors[which]), int(analysis.visits[which])
        )
        for which in np.argsort(-analysis.policy, kind="stable").tolist()
        if analysis.visits[which]
    }


def _shortfall(moves: Mapping[Move, Worth], played: Move) -> tuple[float, float] | None:
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


def _acquitted(found: Review, ply: int) -> bool:
    """Return whether a search shows that no other move would have averted the fall: its own is better by less than
    makes a moment, luck included.
    """
    moves, played = searched_moves(found, ply - 1), found.board.history[ply - 1].move
    if list(moves) == [played]:
        return True  # there was no other
    short = _shortfall(moves, played)
    return short is not None and not _is_fault(*short) and sum(short) < LEAST_SWING


def _is_fault(gap: float, luck: float) -> bool:
    return gap >= LEAST_FAULT and gap > luck


def _searched(found: Review, place: int, played: Move) -> list[Said]:
    """Name the move that a search would have played, where it is better beyond luck."""
    moves = searched_moves(found, place)
    short = _shortfall(moves, played)
    if short is None or not _is_fault(*short) or next(iter(moves)) == played:
        return []
    name = found.board.variant.square_name
    best = next(iter(moves))
    worth = {"value": _score(moves[best].value), "other": _score(moves[played].value)}
    return [Said("search.other", {"from": name(best.source), "to": name(best.target), **worth})]


def located(found: Review, side: int) -> tuple[int, int] | None:
    """Return the first position at which a side believed, with more than `LOCATED`, that the flag is where it is; and
    where.

    None if it never did.
    """
    for place, pieces in enumerate(found.pieces):
        for square, shares in found.beliefs[place][side].items():
            if pieces[square].kind == FLAG and shares[FLAG] > LOCATED:
                return place, square
    return None


def _locating(found: Review, side: int) -> Moment | None:
    first = located(found, side)
    if first is None:
        return None
    place, square = first
    key = "flag.counted" if found.counted else "flag.start" if place == 0 else "flag.found"
    return Moment(place, "belief", side, (_believed(found, key, side, place, square, FLAG),))


def _misled(found: Review, side: int) -> Moment | None:
    """Return the first position at which a side had become sure of something wrong: of the flag, or of a piece that it
    still took for another when that was fought over.

    A belief that was there from the start says only that the enemy does not set up as the network does.
    """
    if found.counted:
        return None
    wrong = [*_misplaced(found, side), *_mistaken(found, side)]
    return min(wrong, key=lambda each: each.ply, default=None)


def _misplaced(found: Review, side: int) -> Iterator[Moment]:
    """Yield the positions at which a side was all but sure that the flag is where it is not."""
    prejudice = {square for square, shares in found.beliefs[0][side].items() if shares[FLAG] > MISLED}
    for place, pieces in enumerate(found.pieces):
        for square, shares in found.beliefs[place][side].items():
            kind = pieces[square].kind
            if kind is not None and kind != FLAG and shares[FLAG] > MISLED and square not in prejudice:
                yield Moment(place, "belief", side, (_believed(found, "flag.wrong", side, place, square, FLAG, kind),))


def _mistaken(found: Review, side: int) -> Iterator[Moment]:
    """Yield a moment for each piece that a side took for another in a battle: the position since which it did. The flag
    is left to other moments.
    """
    for fought in _fought(found):
        shares = found.beliefs[fought.ply - 1][fought.side][fought.square]
        taken = int(shares.argmax())
        if fought.side != side or taken == fought.kind or shares[taken] < SURE or fought.kind == FLAG:
            continue
        identity = found.pieces[fought.ply - 1][fought.square].identity
        place, square = next(
            (place, square)
            for place, pieces in enumerate(found.pieces)
            for square, believed in found.beliefs[place][side].items()
            if pieces[square].identity == identity and believed[taken] >= SURE
        )
        if place > 0:
            told = _believed(found, "wrong", side, place, square, taken, fought.kind)
            said = Said(told.key, {**told.data, "taken": _kind(found, taken)})
            yield Moment(place, "belief", side, (said,))


class Fought(NamedTuple):
    """A piece that a battle showed to a side."""

    ply: int
    square: int
    """Its square before the battle."""
    kind: int
    side: int
    """The side to which it was shown."""


def _fought(found: Review) -> Iterator[Fought]:
    """Yield all pieces that battles showed."""
    for ply, played in enumerate(found.board.history, 1):
        if played.battle is None:
            continue
        source, target = played.move
        for each in (
            Fought(ply, source, played.battle.attacker, 1 - played.player),
            Fought(ply, target, played.battle.defender, played.player),
        ):
            if each.square in found.beliefs[ply - 1][each.side]:
                yield each


def _surprises(found: Review) -> list[Moment]:
    """Return the pieces that turned out in battle to be what they were hardly believed to be, those that mattered most
    first.
    """
    weighed = []
    key = "believed.counted" if found.counted else "believed"
    for ply, square, kind, side in _fought(found):
        share = found.beliefs[ply - 1][side][square][kind]
        if share >= SURPRISING or kind == FLAG:
            continue
        harm = -(_red_swing(found, ply, found.board.history[ply - 1]) * (1 if side == 0 else -1))
        if harm < LEAST_HARM:
            continue
        weight = harm * -log(max(float(share), SMALLEST_SHARE))
        weighed.append((weight, ply, side, _believed(found, key, side, ply - 1, square, kind, kind)))
    weighed.sort(key=lambda each: (-each[0], each[1]))
    return [Moment(ply, "surprise", side, (_battle(found, ply), said)) for _, ply, side, said in weighed]


# ── Saying ───────────────────────────────────────────────────────────────────────────────────────


def _battle(found: Review, ply: int, key: str = "battle") -> Said:
    """Return a move that was a battle."""
    played = found.board.history[ply - 1]
    battle = played.battle
    assert battle is not None
    if battle.result == "<":
        how = "ran" if battle.defender == BOMB else "attacked"
    else:
        how = "both" if battle.result == "=" else "captured" if battle.defender == FLAG else "took"
    fought = {
        "battle": how,
        "attacker": _piece(played.player, battle.attacker),
        "defender": _piece(1 - played.player, battle.defender),
        "at": found.board.variant.square_name(played.move.target),
    }
    return Said(key, {"battle": fought})


def _outlook(found: Review, side: int, ply: int) -> list[Said]:
    """Say how a side's outlook changed."""
    swing, after = found.swing(side, ply), found.value(side, ply)
    if swing is None or after is None:
        return []
    key = "outlook.rose" if swing > 0 else "outlook.fell"
    return [Said(key, {"side": PLAYERS[side], "before": _score(after - swing), "after": _score(after)})]


def _believed(found: Review, key: str, side: int, place: int, square: int, kind: int, truth: int | None = None) -> Said:
    """Say with what probability a side gave the piece on a square a type; and its true type, if that is to be told."""
    data = {
        "side": PLAYERS[side],
        "whose": PLAYERS[1 - side],
        "at": found.board.variant.square_name(square),
        "share": float(found.beliefs[place][side][square][kind]),
    }
    if truth is None:
        return Said(key, data)
    return Said(key, {**data, "kind": _kind(found, truth)})


def _kind(found: Review, kind: int) -> dict[str, Any]:
    return {"type": TYPES[kind].lower(), "only": found.board.variant.army[kind] == 1}


def _piece(side: int, kind: int | None) -> dict[str, str]:
    return {"side": PLAYERS[side], "type": TYPES[kind or 0].lower()}


def _score(value: float) -> float:
    """Return a value from −1 to 1 as the points that can be expected: a win is one, a draw half a one."""
    return (float(value) + 1) / 2
