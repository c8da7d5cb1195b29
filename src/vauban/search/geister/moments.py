"""The moments that decided a game of Geister, and the sentences that tell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from vauban.board.geister import Ghost
from vauban.board.geister.places import neighbours
from vauban.search import moments as base
from vauban.search.moments import (
    LEAST_SWING,
    MOST_LOSSES,
    SIDES,
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
    from vauban.search.geister.review import Review, Standing

COLOURS = ("good", "evil")
"""The hidden kinds, in the game's order."""
MISLED, SURE, SURPRISING = 0.9, 0.8, 0.2
"""Beliefs: above the first being wrong about a ghost is told, and being right; from the second on being wrong is told
of a ghost that was then captured, or that escaped; below the last a colour comes as a surprise. Half of the ghosts are
good: a belief of 50% says nothing."""

SENTENCES = base.SENTENCES | {
    "ghost.moved": "{ghost} went from {from} to {to}.",
    "ghost.took": "{side} took {ghost} on {at}.",
    "ghost.turning": "The capture that turned the game: {side} took {ghost} on {at}.",
    "ghost.answer": "The answer: {side} took {ghost} on {at}.",
    "ghost.answer.turning": "The answer turned the game: {side} took {ghost} on {at}.",
    "ghost.answer.out": "The answer: {ghost} escaped from {from}.",
    "ghost.out": "{ghost} escaped from {from}.",
    "ghost.last.good": "{side} took {ghost} on {at}, the last good one.",
    "ghost.last.evil": "{side} took {ghost} on {at}, the last evil one, and so lost.",
    "ghost.missed": "{ghost} stood in the corner {at} and could have escaped, but {side} played {from}–{to}.",
    "ghost.unstopped": "{ghost} stood in the corner {at}, ready to escape, and {side} could have taken it by "
    "{from}–{to}.",
    "ghost.one.good": "{side} has one good ghost left.",
    "ghost.one.evil": "{side} has one evil ghost left, and wins if it is taken.",
    "ghost.believed.good": "In {side}'s place the network had given it {share} to be good.",
    "ghost.believed.evil": "In {side}'s place the network had given it {share} to be evil.",
    "ghost.counted.good": "By counting, it was good with {share}.",
    "ghost.counted.evil": "By counting, it was evil with {share}.",
    "ghost.wrong.good": "The network was wrong about {ghost} on {at}: in {side}'s place it gave it {share} to be good, "
    "but it was evil.",
    "ghost.wrong.evil": "The network was wrong about {ghost} on {at}: in {side}'s place it gave it {share} to be evil, "
    "but it was good.",
    "ghost.seen.good": "By now the network would have seen through {ghost} on {at}: in {side}'s place it gave it "
    "{share} to be good.",
    "ghost.seen.evil": "By now the network would have seen through {ghost} on {at}: in {side}'s place it gave it "
    "{share} to be evil.",
}
"""Templates of all sentences about a moment."""


@dataclass(frozen=True)
class Said(base.Said):
    """A sentence about a game of Geister: one of `SENTENCES`, and the data to be filled in.

    A ghost is `{side, type, letter}`, the type null where the sentence itself tells its colour.
    """

    sentences: ClassVar = SENTENCES

    @classmethod
    def english(cls, value: Any) -> str:
        if isinstance(value, dict):
            kind = "ghost" if value["type"] is None else f"{value['type']} ghost"
            return f"{value['side']}'s {kind} {value['letter']}"
        return super().english(value)


def told(colour: str | None, letter: str) -> dict[str, Any]:
    """Return a ghost as data."""
    return {"side": SIDES[letter.islower()], "type": colour, "letter": letter}


# ── Finding ──────────────────────────────────────────────────────────────────────────────────────


def weighty(found: Review) -> list[Moment]:
    """Return the moments, the most important first.

    A moment is the "end" (an escape, or the last ghost of a colour was taken), "missed" (a side that did not win could
    have escaped), "unstopped" (a ghost escaped that could have been taken just before), a "loss" (a move or capture by
    which a side's outlook fell), a "belief" (a side was sure of a ghost, and wrong or right), a "surprise" (a captured
    ghost was what it was hardly believed to be) or "one_left" (of a colour).
    """
    turning = _turning(found)
    missed = [each for side in (0, 1) if (each := _missed(found, side)) is not None]
    wrong = [each for side in (0, 1) if (each := _misled(found, side)) is not None]
    seen = [each for side in (0, 1) if (each := _seen(found, side)) is not None]
    lost = [_loss(found, ply, turning) for ply in losses(found)[:MOST_LOSSES]]
    turned = unless_answer(turning, lost)
    first = [each for each in (_end(found), _unstopped(found)) if each is not None]
    last = [*_surprises(found), *seen, *_one_left(found)]
    return chosen([*first, *missed, *turned, *wrong, *lost, *last], _same_capture)


def _same_capture(said: base.Said, before: Sequence[base.Said]) -> bool:
    """Return whether a capture, or what was believed of its ghost, has been told already."""
    if "at" in said.data and "side" in said.data and "ghost" in said.data:
        return any(each.data.get("at") == said.data["at"] and "ghost" in each.data for each in before)
    return said in before


def _end(found: Review) -> Moment | None:
    """Return the move by which the game ended on the board, with what was believed of its ghost."""
    history, ended = found.board.history, found.ended
    if not history or ended is None or ended.winner is None or found.board.outcome() is None:
        return None
    ply = len(history)
    played = history[-1]
    source = found.board.squares_of(played.player, played.action)[0]
    said: list[base.Said]
    if played.escaped:
        ghost = found.pieces[ply - 1][source]
        said = [Said("ghost.out", {"ghost": _ghost(ghost), "from": found.board.game.square_name(source)})]
        said += _believed(found, 1 - played.player, ply - 1, source)
    elif played.captured is not None:
        said = [_capture(found, ply, f"ghost.last.{played.captured.colour}")]
        said += _believed(found, played.player, ply - 1, found.board.squares_of(played.player, played.action)[1])
    else:
        return None
    return Moment(ply, "end", ended.winner, tuple(said))


def _missed(found: Review, side: int) -> Moment | None:
    """Return the first time that a side could have escaped, and so have won, but did not; None if it won anyway."""
    if found.ended is not None and found.ended.winner == side:
        return None
    name = found.board.game.square_name
    for ply, played in enumerate(found.board.history, 1):
        if played.player != side or played.escaped:
            continue
        for square in found.board.exits(side):
            ghost = found.pieces[ply - 1].get(square)
            if ghost is not None and ghost.player == side and COLOURS[ghost.kind] == "good":
                data = {"ghost": _ghost(ghost), "at": name(square), "side": SIDES[side], **_squares(found, ply)}
                return Moment(ply, "missed", side, (Said("ghost.missed", data),))
    return None


def _unstopped(found: Review) -> Moment | None:
    """Return the move in place of which a ghost could have been taken that then escaped."""
    history = found.board.history
    if len(history) < 2 or not history[-1].escaped:
        return None
    ply, loser = len(history) - 1, history[-2].player
    square = found.board.squares_of(history[-1].player, history[-1].action)[0]
    ghost = found.pieces[ply - 1].get(square)
    if ghost is None or ghost.player == loser:
        return None  # it came there by the last move but one
    standing = found.pieces[ply - 1]
    beside = neighbours(found.board.game, square)
    takers = [taker for taker in beside if taker in standing and standing[taker].player == loser]
    if not takers:
        return None
    name = found.board.game.square_name
    takes = {"from": name(takers[-1]), "to": name(square)}
    data = {"ghost": _ghost(ghost), "at": name(square), "side": SIDES[loser], **takes}
    said: list[base.Said] = [Said("ghost.unstopped", data), *_believed(found, loser, ply - 1, square)]
    if ply - 1 in found.outcomes:
        said += preferred(found, ply)
    return Moment(ply, "unstopped", loser, tuple(said))


def _turning(found: Review) -> Moment | None:
    """Return the capture by which the outlook moved most away from the loser; in a draw, away from anybody."""
    last = len(found.board.history) if found.board.outcome() is not None else None  # which is told as the end
    plies = (ply for ply, played in enumerate(found.board.history, 1) if played.captured is not None and ply != last)
    turned = turning_point(found, plies, partial(red_swing, found), LEAST_SWING)
    if turned is None:
        return None
    ply, loser = turned
    return Moment(ply, "loss", loser, (_capture(found, ply, "ghost.turning"), *outlook(found, loser, ply)))


def _loss(found: Review, ply: int, turning: Moment | None) -> Moment:
    history = found.board.history
    played = history[ply - 1]
    said: list[base.Said]
    if played.captured is not None:
        said = [_capture(found, ply)]
    else:
        ghost = found.pieces[ply - 1][found.board.squares_of(played.player, played.action)[0]]
        said = [Said("ghost.moved", {"ghost": _ghost(ghost), **_squares(found, ply)})]
    said += outlook(found, played.player, ply)
    if ply < len(history) and history[ply].captured is not None:
        turned = turning is not None and turning.ply == ply + 1
        said.append(_capture(found, ply + 1, "ghost.answer.turning" if turned else "ghost.answer"))
    elif ply < len(history) and history[ply].escaped:
        square = found.board.squares_of(history[ply].player, history[ply].action)[0]
        ghost = found.pieces[ply][square]
        said.append(Said("ghost.answer.out", {"ghost": _ghost(ghost), "from": found.board.game.square_name(square)}))
    return Moment(ply, "loss", played.player, (*said, *preferred(found, ply)))


def _one_left(found: Review) -> list[Moment]:
    """Return the captures that left a side with one ghost of a colour."""
    v = found.board.variant
    left = [{"good": v.good, "evil": v.evil}, {"good": v.good, "evil": v.evil}]
    moments = []
    for ply, played in enumerate(found.board.history, 1):
        if played.captured is None:
            continue
        owner, colour = played.captured.player, played.captured.colour
        left[owner][colour] -= 1
        if left[owner][colour] == 1:
            said = (_capture(found, ply), Said(f"ghost.one.{colour}", {"side": SIDES[owner]}))
            moments.append(Moment(ply, "one_left", owner if colour == "good" else played.player, said))
    return moments


# ── Beliefs ──────────────────────────────────────────────────────────────────────────────────────


def _shown(found: Review) -> Iterator[Shown]:
    """Yield all ghosts that were captured or escaped, and were hidden before."""
    for ply, played in enumerate(found.board.history, 1):
        source, target = found.board.squares_of(played.player, played.action)
        if played.escaped:
            square, side = source, 1 - played.player
        elif played.captured is not None:
            assert target is not None
            square, side = target, played.player
        else:
            continue
        if square in found.beliefs[ply - 1][side]:
            yield Shown(ply, square, found.pieces[ply - 1][square].kind, side)


def _misled(found: Review, side: int) -> Moment | None:
    """Return the first position at which a side had become sure of a ghost, and wrong: all but sure, or sure still when
    the ghost was captured or escaped.

    A belief that was there from the start says only that the enemy does not set up as the network does.
    """
    if found.counted:
        return None
    first = _first(found, side, MISLED, right=False)
    wrong = [] if first is None else [first]
    for place, square, taken, _ in mistaken(found, _shown(found), side, SURE):
        wrong.append(_sure(found, side, place, square, taken))
    return min(wrong, key=lambda each: each.ply, default=None)


def _seen(found: Review, side: int) -> Moment | None:
    """Return the first position at which a side had become all but sure of a ghost, and right."""
    return None if found.counted else _first(found, side, MISLED, right=True)


def _first(found: Review, side: int, sure: float, right: bool) -> Moment | None:
    """Return the first position at which a belief about a ghost came above a share, and was right, or wrong."""
    prejudice = {
        found.pieces[0][square].identity for square, shares in found.beliefs[0][side].items() if max(shares) > sure
    }
    for place, pieces in enumerate(found.pieces[: len(found.turns) - found.board.is_over]):
        for square, shares in found.beliefs[place][side].items():
            ghost = pieces[square]
            kind = ghost.kind if right else 1 - ghost.kind
            if shares[kind] > sure and ghost.identity not in prejudice:
                return _sure(found, side, place, square, kind)
    return None


def _sure(found: Review, side: int, place: int, square: int, kind: int) -> Moment:
    """Return the moment at which a side was sure that a ghost has a colour."""
    ghost = found.pieces[place][square]
    data = {
        "ghost": told(None, ghost.letter),
        "at": found.board.game.square_name(square),
        "side": SIDES[side],
        "share": float(found.beliefs[place][side][square][kind]),
    }
    word = "seen" if ghost.kind == kind else "wrong"
    return Moment(place, "belief", side, (Said(f"ghost.{word}.{COLOURS[kind]}", data),))


def _surprises(found: Review) -> list[Moment]:
    """Return the captured ghosts that turned out to be what they were hardly believed to be."""
    captured = (each for each in _shown(found) if not found.board.history[each.ply - 1].escaped)
    return [
        Moment(ply, "surprise", side, (_capture(found, ply), *_believed(found, side, ply - 1, square)))
        for ply, square, _, side in surprises(found, captured, partial(red_swing, found), SURPRISING)
    ]


# ── Saying ───────────────────────────────────────────────────────────────────────────────────────


def _ghost(ghost: Standing | Ghost) -> dict[str, Any]:
    """Return a ghost, with its true colour."""
    return told(ghost.colour if isinstance(ghost, Ghost) else COLOURS[ghost.kind], ghost.letter)


def _squares(found: Review, ply: int) -> dict[str, str]:
    return found.squares_json(found.move_made(ply))


def _capture(found: Review, ply: int, key: str = "ghost.took") -> Said:
    """Return a move that was a capture."""
    played = found.board.history[ply - 1]
    data = {"side": SIDES[played.player], "ghost": _ghost(played.captured), "at": _squares(found, ply)["to"]}
    return Said(key, data)


def _believed(found: Review, side: int, place: int, square: int | None) -> list[Said]:
    """Say with what probability a side gave the ghost on a square its true colour, if it was hidden."""
    shares = found.beliefs[place][side].get(-1 if square is None else square)
    if shares is None or square is None:
        return []
    kind = found.pieces[place][square].kind
    word = "counted" if found.counted else "believed"
    data = {"share": float(shares[kind])}
    return [Said(f"ghost.{word}.{COLOURS[kind]}", data if found.counted else {"side": SIDES[side], **data})]
