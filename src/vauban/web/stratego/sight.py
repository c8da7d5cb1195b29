"""A position of Stratego as it is sent: pieces, legal moves, what a piece reaches, and why a move is barred.

Everything is computed from a look, a player's `View` or the open board, and from nothing else. What is sent are codes
and figures: words for them are the page's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from vauban.board.stratego import Look, Played, View
from vauban.board.stratego.words import plies_left
from vauban.errors import NotationError, VaubanError
from vauban.games.stratego.pieces import BOMB, FLAG, PLAYERS, SCOUT, TYPES
from vauban.games.stratego.setups import parse_setup
from vauban.games.stratego.switches import WHY
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego.moves import Move, MoveText, move_text

Json = dict[str, Any]

STILL = (BOMB, FLAG)
"""Types that never move."""


def position(look: Look, viewer: int | None) -> Json:
    """Return everything about the pieces, from what may be looked at and nothing else."""
    v, r = look.variant, look.rules
    name = v.square_name
    captured = [look.captured(player) for player in (0, 1)]
    own = look if isinstance(look, View) and not look.is_over and viewer is not None else None
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
        "legal": [squares_text(move, v) for move in own.legal_moves] if own is not None else [],
        "reach": {} if own is None else _reach(own),
        "barred": _barred(own) if own is not None and own.turn == viewer else [],
        "left": {side: _left(look, captured[player]) for player, side in enumerate(PLAYERS)},
        "battleless": _count(look.battleless, plies_left(0, r.battleless_limit, r)),
        "total": _count(look.plies, plies_left(0, r.total_limit, r)),
    }


def before(v: Variant, setup: str | None, viewer: int | None) -> Json:
    """Return the board before the game begins: one's own setup, if it has been given."""
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
        "legal": [],
        "reach": {},
        "barred": [],
        "left": dict.fromkeys(PLAYERS, army),
        "battleless": _count(0, v.battleless_limit),
        "total": _count(0, v.total_limit),
    }


def move_made(played: Played, v: Variant) -> Json:
    """Return a move that was made. All that it tells is public."""
    battle, (source, target) = played.battle, played.move
    shown = None if battle is None else (battle.attacker, battle.defender, battle.result)
    return {
        "from": v.square_name(source),
        "to": v.square_name(target),
        "text": move_text(MoveText(played.move, battle is not None, shown), v),
        # A scout alone goes further than one square.
        "shows": battle is not None or _distance(source, target, v) > 1,
        "battle": None
        if battle is None
        else {
            "attacker": TYPES[battle.attacker].lower(),
            "defender": TYPES[battle.defender].lower(),
            "result": battle.result,
        },
    }


def explain(view: View, text: str) -> Json:
    """Say why a player's move cannot be played, or that it can: a code, and what belongs to it."""
    try:
        move = squares_of(text, view.variant)
    except VaubanError:
        return {"code": "square"}
    name = view.variant.square_name
    said = {"from": name(move.source), "to": name(move.target)}
    if view.turn != view.player:
        return said | {"code": "turn"}
    if move in view.legal_moves:
        return said | {"code": "legal"}
    for each in _barred(view):
        if (each["from"], each["to"]) == (said["from"], said["to"]):
            return each | {"code": each["rule"]}
    return said | _refusal(view, move)


def squares_text(move: Move, v: Variant) -> str:
    """Return a move as it travels: the squares that it goes from and to, as in "a4a5"."""
    return v.square_name(move.source) + v.square_name(move.target)


def squares_of(text: str, v: Variant) -> Move:
    """Return the squares of a text that `squares_text` would write; any two, also those of no move."""
    found = re.fullmatch(r"([a-z][0-9]{1,2})([a-z][0-9]{1,2})", text)
    if found is None:
        raise NotationError(
            f"{text[:40]!r} is no move: it is written as the squares that it goes from and to, as in a4a5"
        )
    return Move(v.square(found[1]), v.square(found[2]))


def _reach(view: View) -> dict[str, dict[str, str]]:
    """Return for each own piece that can ever move the squares where it may be sent, each with its move.

    On turn these are the legal moves. While the other side is on turn they are all that might be legal by then: as far
    as the piece goes, up to the edge or a lake, whatever stands there now.
    """
    v = view.variant
    pieces = view.pieces(view.player)
    found: dict[str, dict[str, str]] = {
        v.square_name(square): {} for square, piece in pieces.items() if piece.kind not in STILL
    }
    if view.turn == view.player:
        moves: list[Move] = list(view.legal_moves)
    else:
        moves = [
            Move(square, target)
            for square, piece in pieces.items()
            if piece.kind not in STILL
            for target in _ways(square, max(v.rows, v.columns) if piece.kind == SCOUT else 1, v)
        ]
    for move in moves:
        found[v.square_name(move.source)][v.square_name(move.target)] = squares_text(move, v)
    return found


def _ways(square: int, most: int, v: Variant) -> list[int]:
    """Return the squares within so many steps along a row or a column, up to the edge or a lake."""
    row, column = divmod(square, v.columns)
    found = []
    for up, across in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        for step in range(1, most + 1):
            there = row + step * up, column + step * across
            if not (0 <= there[0] < v.rows and 0 <= there[1] < v.columns):
                break
            target = there[0] * v.columns + there[1]
            if target in v.lakes:
                break
            found.append(target)
    return found


def _distance(source: int, target: int, v: Variant) -> int:
    (row, column), (to_row, to_column) = divmod(source, v.columns), divmod(target, v.columns)
    return abs(row - to_row) + abs(column - to_column)


def _barred(view: View) -> list[Json]:
    """Return the moves that a rule bars to a player who is on turn, each with what the rule goes by.

    `reason` is the rule's own sentence, for a page that has no words for the rule.
    """
    name = view.variant.square_name
    found: dict[Move, Json] = {}
    for move in {move for rule in WHY for move in view.barred_moves(rule)}:
        why = view.why_barred(move)
        assert why is not None
        told: Json = {"from": name(move.source), "to": name(move.target), "rule": why.rule, "ply": why.ply}
        if why.steps:
            steps = [[name(step.source), name(step.target)] for step in why.steps]
            told |= {"type": _own_type(view, move.source), "steps": steps}
        found[move] = told | {"reason": why.reason}
    return [found[move] for move in sorted(found)]


def _refusal(view: View, move: Move) -> Json:
    """Say which rule of moving forbids a move, and where the piece may go."""
    piece = view.piece_at(move.source)
    if piece is None:
        return {"code": "no_piece"}
    if piece.player != view.player:
        return {"code": "enemy"}
    name = view.variant.square_name
    free = [name(legal.target) for legal in view.legal_moves if legal.source == move.source]
    return {"type": _own_type(view, move.source), "targets": free, "code": view.fault(move)}


def _own_type(view: View, square: int) -> str | None:
    piece = view.piece_at(square)
    return None if piece is None or piece.kind is None else TYPES[piece.kind].lower()


def _left(look: Look, captured: Sequence[int]) -> dict[str, int]:
    army = enumerate(look.variant.army)
    return {TYPES[kind].lower(): count - captured.count(kind) for kind, count in army if count}


def _count(count: int, limit: int | None) -> Json:
    return {"count": count, "limit": limit, "left": None if limit is None else max(0, limit - count)}
