"""The wall: what a seat is sent about a game. The only module that turns positions into JSON.

During a game everything about the position is computed from the `View` of the seat's player, from which all that is
hidden from him has been erased: the look that `_look` returns is the only way to the pieces. Beside it there are
only public things: moves, clocks, offers, promises. Who may see all, a watcher, or anybody once the game is over, is
shown the board itself. What is sent are codes and figures: words for them are the page's (strings.js).
"""

from __future__ import annotations

from typing import Any

from vauban.board.stratego import Look, Played, View
from vauban.board.stratego.words import plies_left
from vauban.errors import VaubanError
from vauban.games.stratego.pieces import PLAYERS, TYPES
from vauban.games.stratego.setups import parse_setup
from vauban.notation.stratego.moves import Move, MoveText, move_text
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
) -> Json:
    """All that a seat may know of a game now.

    `spent` is how long the side on turn has been thinking, in milliseconds; `thinking` what is said of a machine that
    thinks; `now` the server's time in seconds; `eyes` the side with whose eyes a watcher looks on, None for all open;
    `owns` whether the client came by the seat's own secret, and not by a link to look on.
    """
    look = _look(table, seat, eyes)
    viewer = None if seat == WATCH else PLAYERS.index(seat)
    return {
        "say": "sight",
        "game": table.game,
        "seat": seat,
        "eyes": eyes,
        "kind": table.kind,
        "variant": table.variant.name,
        "phase": table.phase,
        "turn": PLAYERS[table.turn],
        "ply": table.plies,
        **(_position(look, viewer) if look is not None else _before(table, viewer)),
        "last": moves(table, table.plies - 1)[0] if table.plies else None,
        "players": {side: sitter.name or None for side, sitter in zip(PLAYERS, table.sitters, strict=True)},
        "clock": _clock(table, spent, now),
        "offer": None if table.offer is None else {"kind": table.offer.kind, "by": PLAYERS[table.offer.by]},
        "note": table.note,
        "took_back": table.took_back,
        "played_on": table.played_on,
        "takebacks": table.takebacks,
        "aids": table.aids,
        "thinking": thinking,
        "watching": _watching(table, owns) if table.kind == "watch" else None,
        "invited": table.invited,
        "ready": {side: setup is not None for side, setup in zip(PLAYERS, table.setups, strict=True)},
        "commitment": {side: table.commitment(player) for player, side in enumerate(PLAYERS)},
        "rematch": [PLAYERS[player] for player in sorted(table.wishes)],
        "over": _over(table),
    }


def moves(table: Table, first: int) -> list[Json]:
    """The moves from this number on, the first of the game being number 0. All that they tell is public."""
    if table.board is None:
        return []
    history = table.board.history[first:]
    return [_move(played, ply, table) for ply, played in enumerate(history, first + 1)]


def explain(table: Table, seat: str, source: str, target: str) -> Json:
    """Why a seat's move cannot be played, or that it can: a code, and what belongs to it."""
    said: Json = {"say": "why", "from": source, "to": target, "rule": None, "ply": None}
    view = None if seat == WATCH or table.phase != "play" else _view(table, seat)
    if view is None:
        return said | {"code": "nothing"}
    try:
        move = Move(table.variant.square(source), table.variant.square(target))
    except VaubanError:
        return said | {"code": "square"}
    if view.turn != view.player:
        return said | {"code": "turn"}
    if move in view.legal_moves:
        return said | {"code": "legal"}
    for each in _barred(view):
        if (each["from"], each["to"]) == (source, target):
            return said | each | {"code": each["rule"]}
    return said | _refusal(view, move)


# ── From a view ──────────────────────────────────────────────────────────────────────────────────


def _look(table: Table, seat: str, eyes: str | None) -> Look | None:
    """What a seat may look at: the board if nothing is hidden from it (any more), else a player's view."""
    side = eyes if seat == WATCH else seat
    return table.board if table.over is not None or side is None else _view(table, side)


def _view(table: Table, side: str) -> View | None:
    return None if table.board is None else table.board.view(PLAYERS.index(side))


def _position(look: Look, viewer: int | None) -> Json:
    """Everything about the pieces, from what may be looked at and nothing else."""
    v, r = look.variant, look.rules
    name = v.square_name
    captured = [look.captured(player) for player in (0, 1)]
    legal: dict[str, list[str]] = {}
    barred: list[Json] = []
    if isinstance(look, View) and not look.is_over and look.turn == viewer:
        for move in look.legal_moves:
            legal.setdefault(name(move.source), []).append(name(move.target))
        barred = _barred(look)
    return {
        "pieces": [
            {
                "at": name(square),
                "side": PLAYERS[piece.player],
                "type": None if piece.kind is None else TYPES[piece.kind].lower(),
                "moved": piece.moved,
                "revealed": piece.revealed,
                "from": name(piece.identity),
            }
            for square, piece in look.pieces().items()
        ],
        "legal": legal,
        "barred": barred,
        "left": {side: _left(look, captured[player]) for player, side in enumerate(PLAYERS)},
        "battleless": _count(look.battleless, plies_left(0, r.battleless_limit, r)),
        "total": _count(look.plies, plies_left(0, r.total_limit, r)),
    }


def _before(table: Table, viewer: int | None) -> Json:
    """The board before the game begins: one's own setup, if it has been given."""
    v = table.variant
    setup = None if viewer is None else table.setups[viewer]
    pieces = []
    if viewer is not None and setup is not None:
        for place, code in enumerate(parse_setup(setup, v)):
            if code:
                square = v.square_name(place if viewer == 0 else v.squares - 1 - place)
                kind = TYPES[int(code) - 1].lower()
                own = {"at": square, "side": PLAYERS[viewer], "type": kind, "moved": False, "revealed": False}
                pieces.append(own | {"from": square})
    army = {TYPES[kind].lower(): count for kind, count in enumerate(v.army) if count}
    return {
        "pieces": pieces,
        "legal": {},
        "barred": [],
        "left": dict.fromkeys(PLAYERS, army),
        "battleless": _count(0, v.battleless_limit),
        "total": _count(0, v.total_limit),
    }


def _barred(view: View) -> list[Json]:
    """The moves that a repetition rule bars to a player who is on turn, each with what the rule goes by."""
    name = view.variant.square_name
    found: dict[Move, Json] = {}
    for rule in ("two_square", "chase"):
        for move in view.barred_moves(rule):
            why = view.why_barred(move)
            if move in found or why is None:
                continue
            told: Json = {"from": name(move.source), "to": name(move.target), "rule": why.rule, "ply": why.ply}
            if why.rule == "two_square":
                steps = [[name(step.source), name(step.target)] for step in why.steps]
                told |= {"type": _own_type(view, move.source), "steps": steps}
            found[move] = told
    return [found[move] for move in sorted(found)]


def _refusal(view: View, move: Move) -> Json:
    """What §1.2 of the rules says against a move that is not legal, and where the piece may go."""
    piece = view.piece_at(move.source)
    if piece is None:
        return {"code": "no_piece"}
    if piece.player != view.player:
        return {"code": "enemy"}
    name = view.variant.square_name
    free = [name(legal.target) for legal in view.legal_moves if legal.source == move.source]
    told = {"type": _own_type(view, move.source), "targets": free}
    return told | {"code": view.fault(move)}


def _own_type(view: View, square: int) -> str | None:
    piece = view.piece_at(square)
    return None if piece is None or piece.kind is None else TYPES[piece.kind].lower()


def _left(look: Look, captured: list[int]) -> dict[str, int]:
    army = enumerate(look.variant.army)
    return {TYPES[kind].lower(): count - captured.count(kind) for kind, count in army if count}


def _count(count: int, limit: int | None) -> Json:
    return {"count": count, "limit": limit, "left": None if limit is None else max(0, limit - count)}


# ── Public things ────────────────────────────────────────────────────────────────────────────────


def _move(played: Played, ply: int, table: Table) -> Json:
    name, battle = table.variant.square_name, played.battle
    shown = None if battle is None else (battle.attacker, battle.defender, battle.result)
    return {
        "ply": ply,
        "side": PLAYERS[played.player],
        "from": name(played.move.source),
        "to": name(played.move.target),
        "text": move_text(MoveText(played.move, battle is not None, shown), table.variant),
        "battle": None
        if battle is None
        else {
            "attacker": TYPES[battle.attacker].lower(),
            "defender": TYPES[battle.defender].lower(),
            "result": battle.result,
        },
    }


def _watching(table: Table, owns: bool) -> Json:
    return {"paused": table.paused, "pace": table.pace, "look": table.look if owns else None}


def _clock(table: Table, spent: int, now: float) -> Json | None:
    clock = table.clock
    if clock.kind == "none":
        return None
    running = table.turn if table.phase == "play" else None
    sides = {}
    for player, side in enumerate(PLAYERS):
        bank, move = clock.shown(table.banks, player, spent if player == running else 0)
        sides[side] = {"bank": bank / 1000, "move": move / 1000}
    limits = {"free": clock.free / 1000, "cap": None if clock.cap is None else clock.cap / 1000}
    return {
        "kind": clock.kind, **limits, **sides, "running": None if running is None else PLAYERS[running], "now": now,
    }  # fmt: skip


def _over(table: Table) -> Json | None:
    end = table.over
    if end is None:
        return None
    return {
        "winner": None if end.winner is None else PLAYERS[end.winner],
        "end": end.end,
        "detail": end.text,
        "setups": dict(zip(PLAYERS, table.setups, strict=True)),
        "salts": dict(zip(PLAYERS, table.salts, strict=True)),
        "look": table.look,
    }
