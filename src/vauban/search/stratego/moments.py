"""The moments that decided a game of Stratego, and the sentences that tell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from vauban.games.stratego.pieces import BOMB, FLAG, PLAYERS, TYPES, WORTH
from vauban.search import moments as base
from vauban.search.moments import (
    LEAST_SWING,
    MOST_LOSSES,
    Moment,
    Shown,
    chosen,
    losses,
    mistaken,
    outlook,
    preferred,
    red_swing,
    surprises,
    turning_point,
    unless_answer,
)

if TYPE_CHECKING:
    from vauban.search.stratego.review import Review

LOCATED, MISLED, SURE, SURPRISING = 0.5, 0.9, 0.8, 0.1
"""Beliefs: above the first the flag is found; above the second being wrong about the flag is told; from the third on
the same is told of a piece that was fought over; below the last a type comes as a surprise."""

BATTLES = {
    "took": "{attacker} took {defender} on {at}",
    "captured": "{attacker} captured {defender} on {at}",
    "attacked": "{attacker} attacked {defender} on {at} and fell",
    "ran": "{attacker} ran into {defender} on {at} and fell",
    "both": "{attacker} and {defender} fell together on {at}",
}
"""The words for a battle."""
SENTENCES = base.SENTENCES | {
    "battle": "{battle}.",
    "turning": "The battle that turned the game: {battle}.",
    "answer": "The answer: {battle}.",
    "answer.turning": "The answer turned the game: {battle}.",
    "moved": "{piece} went from {from} to {to}.",
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


@dataclass(frozen=True)
class Said(base.Said):
    """A sentence about a game of Stratego: one of `SENTENCES`, and the data to be filled in.

    Pieces are `{side, type}`, kinds `{type, only}` (whether an army has no other), a battle one of `BATTLES` with its
    data.
    """

    sentences: ClassVar = SENTENCES

    @classmethod
    def english(cls, value: Any) -> str:
        if isinstance(value, dict) and "battle" in value:
            return BATTLES[value["battle"]].format_map({name: cls.english(each) for name, each in value.items()})
        if isinstance(value, dict) and "side" in value:
            return f"{value['side']}'s {value['type'].capitalize()}"
        if isinstance(value, dict):
            return f"{'the' if value['only'] else 'a'} {value['type'].capitalize()}"
        return super().english(value)


# ── Finding ──────────────────────────────────────────────────────────────────────────────────────


def weighty(found: Review) -> list[Moment]:
    """Return the moments, the most important first.

    A moment is a "loss" (a move or battle by which a side's outlook fell), a "belief" (a side had found the flag, or
    was sure and wrong: of it, or of a piece that was then fought over), a "surprise" (a piece was what it was hardly
    believed to be) or the "flag" (it was captured).
    """
    capture = _capture(found)
    turning = _turning(found)
    beliefs = [each for find in (_locating, _misled) for side in (0, 1) if (each := find(found, side)) is not None]
    lost = [_loss(found, ply, turning) for ply in losses(found)[:MOST_LOSSES]]
    first = [] if capture is None else [capture]
    turned = unless_answer(turning, lost)
    return chosen([*first, *turned, *beliefs, *lost, *_surprises(found)], _same_battle)


def _same_battle(said: base.Said, before: Sequence[base.Said]) -> bool:
    """Return whether a battle has been told already."""
    return "battle" in said.data and said.data["battle"] in [each.data.get("battle") for each in before]


def _capture(found: Review) -> Moment | None:
    ended, history = found.ended, found.board.history
    if ended is None or ended.end != "flag" or not history:
        return None
    return Moment(len(history), "flag", history[-1].player, (_battle(found, len(history)),))


def _turning(found: Review) -> Moment | None:
    """Return the battle by which the outlook moved most away from the loser; in a draw, away from anybody."""
    battles = ((ply, played.battle) for ply, played in enumerate(found.board.history, 1))
    plies = (ply for ply, battle in battles if battle is not None and battle.defender != FLAG)
    least = LEAST_SWING if found.outcomes else min(WORTH)
    turned = turning_point(found, plies, partial(_red_swing, found), least)
    if turned is None:
        return None
    ply, loser = turned
    return Moment(ply, "loss", loser, (_battle(found, ply, "turning"), *outlook(found, loser, ply)))


def _red_swing(found: Review, ply: int) -> float:
    """Measure how far a battle moved the outlook towards red: by what both foresaw, or by the worth of the fallen
    pieces.
    """
    if found.outcomes:
        return red_swing(found, ply)
    played = found.board.history[ply - 1]
    battle = played.battle
    assert battle is not None
    gain = (WORTH[battle.defender] if battle.result in ">=" else 0.0) - (
        WORTH[battle.attacker] if battle.result in "<=" else 0.0
    )
    return gain if played.player == 0 else -gain


def _loss(found: Review, ply: int, turning: Moment | None) -> Moment:
    played = found.board.history[ply - 1]
    name = found.board.variant.square_name
    source, target = played.move
    if played.battle is not None:
        said: list[base.Said] = [_battle(found, ply)]
    else:
        piece = _piece(played.player, found.pieces[ply - 1][source].kind)
        said = [Said("moved", {"piece": piece, "from": name(source), "to": name(target)})]
    said += outlook(found, played.player, ply)
    if ply < len(found.board.history) and found.board.history[ply].battle is not None:
        turned = turning is not None and turning.ply == ply + 1
        said.append(_battle(found, ply + 1, "answer.turning" if turned else "answer"))
    return Moment(ply, "loss", played.player, (*said, *preferred(found, ply)))


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
    shown = (each for each in _shown(found) if each.kind != FLAG)
    for place, square, taken, kind in mistaken(found, shown, side, SURE):
        told = _believed(found, "wrong", side, place, square, taken, kind)
        said = Said(told.key, {**told.data, "taken": _kind(found, taken)})
        yield Moment(place, "belief", side, (said,))


def _shown(found: Review) -> Iterator[Shown]:
    """Yield all pieces that battles showed."""
    for ply, played in enumerate(found.board.history, 1):
        if played.battle is None:
            continue
        source, target = played.move
        for each in (
            Shown(ply, source, played.battle.attacker, 1 - played.player),
            Shown(ply, target, played.battle.defender, played.player),
        ):
            if each.square in found.beliefs[ply - 1][each.side]:
                yield each


def _surprises(found: Review) -> list[Moment]:
    """Return the pieces that turned out in battle to be what they were hardly believed to be."""
    key = "believed.counted" if found.counted else "believed"
    shown = (each for each in _shown(found) if each.kind != FLAG)
    return [
        Moment(ply, "surprise", side, (_battle(found, ply), _believed(found, key, side, ply - 1, square, kind, kind)))
        for ply, square, kind, side in surprises(found, shown, partial(_red_swing, found), SURPRISING)
    ]


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
