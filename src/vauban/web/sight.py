"""The wall: what a seat is sent about a game. The only module that turns positions into JSON.

During a game everything about the position is computed from the `View` of the seat's player, from which all that is
hidden from that player has been erased: the look that `_look` returns is the only way to it. Beside it there are only
public things: moves, clocks, offers, promises. Watchers, and all once the game is over, are shown the board itself.
What is sent are codes and figures; the page has the words for them (page/js/strings).
"""

from __future__ import annotations

from typing import Any

from vauban.web.show import SIDES
from vauban.web.table import WATCH, Table

Json = dict[str, Any]


def sight(
    table: Table,
    seat: str,
    spent: int = 0,
    thinking: Json | None = None,
    now: float = 0.0,
    eyes: str | None = None,
    owns: bool = True,
    elsewhere: bool = False,
    absence: Json | None = None,
) -> Json:
    """Return all that a seat may know of a game now.

    `spent` is how long the side on turn has been thinking, in milliseconds; `thinking` what is said of a machine that
    thinks; `now` the server's time in seconds; `eyes` the side with whose eyes a watcher looks on, None for all open;
    `owns` whether the client came by the seat's own secret, and not by a link to look on; `elsewhere` whether another
    browser did, too; `absence` what two friends are told of who is away.
    """
    look = _look(table, seat, eyes)
    viewer = None if seat == WATCH else SIDES.index(seat)
    return {
        "say": "sight",
        "game": table.game,
        "seat": seat,
        "eyes": eyes,
        "elsewhere": elsewhere,
        "absence": absence,
        "kind": table.kind,
        "variant": table.variant,
        "family": table.show.family,
        "phase": table.phase,
        "turn": SIDES[table.turn],
        "ply": table.plies,
        **(table.show.position(look, viewer) if look is not None else _before(table, viewer)),
        "last": moves(table, table.plies - 1, seat)[0] if table.plies else None,
        "players": {side: sitter.name or None for side, sitter in zip(SIDES, table.sitters, strict=True)},
        "levels": {side: sitter.level or None for side, sitter in zip(SIDES, table.sitters, strict=True)},
        "clock": _clock(table, spent, now),
        "offer": None if table.offer is None else {"kind": table.offer.kind, "by": SIDES[table.offer.by]},
        "note": table.note,
        "took_back": table.took_back,
        "played_on": table.played_on,
        "takebacks": table.takebacks,
        "aids": table.aids,
        "thinking": thinking,
        "watching": _watching(table, owns) if table.kind == "watch" else None,
        "invited": table.invited,
        "rules": table.show.rules_told(table.variant, table.rules_played),
        "ready": {side: table.is_ready(player) for player, side in enumerate(SIDES)},
        "commitment": {side: table.commitment(player) for player, side in enumerate(SIDES)},
        "rematch": [SIDES[player] for player in sorted(table.wishes)],
        "over": _over(table),
    }


def moves(table: Table, first: int, seat: str = WATCH) -> list[Json]:
    """Return the moves from this number on, as a seat may know them; the first of the game is number 0."""
    if table.board is None:
        return []
    viewer = None if table.over is not None or seat == WATCH else SIDES.index(seat)
    history = table.board.history[first:]
    return [
        {"ply": ply, "side": SIDES[played.player], **table.show.move(table.board, played, viewer)}
        for ply, played in enumerate(history, first + 1)
    ]


def line(table: Table, board: Any, ply: int) -> Json:
    """Return a position of a line (`vauban.web.lines`) that leaves a finished game after so many moves: all is open.

    `moves` are those of the line.
    """
    show, end = table.show, board.outcome()
    return {
        "ply": len(board.history),
        "turn": SIDES[board.turn],
        "text": show.position_of(board),
        "moves": [
            {"ply": number, "side": SIDES[played.player], **show.move(board, played, None)}
            for number, played in enumerate(board.history[ply:], ply + 1)
        ],
        "over": None if end is None else {"winner": None if end.winner is None else SIDES[end.winner], "end": end.end},
        **show.open_position(board),
    }


def explain_line(table: Table, board: Any, text: str) -> Json:
    """Say why a move cannot be played in a line, to the side on turn, or that it can: as `explain` does at a table."""
    return {"move": text, "rule": None, "ply": None, **table.show.explain(board.view(board.turn), text)}


def explain(table: Table, seat: str, text: str) -> Json:
    """Say why a seat's move cannot be played, or that it can: a code, and what belongs to it."""
    said: Json = {"say": "why", "move": text, "rule": None, "ply": None}
    view = None if seat == WATCH or table.phase != "play" else _view(table, seat)
    return said | ({"code": "nothing"} if view is None else table.show.explain(view, text))


# ── What may be looked at ────────────────────────────────────────────────────────────────────────


def _look(table: Table, seat: str, eyes: str | None) -> Any:
    """Return what a seat may look at: the board if nothing is hidden from it (any more), else a player's view."""
    side = eyes if seat == WATCH else seat
    return table.board if table.over is not None or side is None else _view(table, side)


def _view(table: Table, side: str) -> Any:
    return None if table.board is None else table.board.view(SIDES.index(side))


def _before(table: Table, viewer: int | None) -> Json:
    return table.show.before(table.variant, None if viewer is None else table.setups[viewer], viewer)


# ── Public things ────────────────────────────────────────────────────────────────────────────────


def _watching(table: Table, owns: bool) -> Json:
    return {"paused": table.paused, "pace": table.pace, "look": table.look if owns else None}


def _clock(table: Table, spent: int, now: float) -> Json | None:
    clock = table.clock
    if clock.kind == "none":
        return None
    running = table.turn if table.phase == "play" else None
    sides = {}
    for player, side in enumerate(SIDES):
        bank, move = clock.shown(table.banks, player, spent if player == running else 0)
        sides[side] = {"bank": bank / 1000, "move": move / 1000}
    limits = {"free": clock.free / 1000, "cap": None if clock.cap is None else clock.cap / 1000}
    left = table.whole_left
    whole = {} if left is None else {"whole": max(0, left - (0 if running is None else spent)) / 1000}
    return {
        "kind": clock.kind, **limits, **whole, **sides, "running": None if running is None else SIDES[running],
        "now": now,
    }  # fmt: skip


def _over(table: Table) -> Json | None:
    end = table.over
    if end is None:
        return None
    return {
        "winner": None if end.winner is None else SIDES[end.winner],
        "end": end.end,
        "detail": end.text,
        "setups": dict(zip(SIDES, table.setups, strict=True)),
        "salts": dict(zip(SIDES, table.salts, strict=True)),
        "look": table.look,
    }
