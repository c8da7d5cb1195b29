"""A position of Geister as it is sent: ghosts, exits, legal moves, what was captured, and why a move cannot be played.

Everything is computed from a look, a player's view or the open board, and from nothing else. What is sent are codes and
figures: words for them are the page's.
"""

from __future__ import annotations

from typing import Any

from vauban.board.geister.look import CAPTURED, ESCAPED, Ghost, ghosts_of_setup
from vauban.board.geister.places import PLACE, ends, gate_at, gates, home, neighbours
from vauban.games.geister.game import DIRECTIONS, Geister
from vauban.web.show import SIDES, Json


def all_ghosts(look: Any) -> list[Ghost]:
    """Return all ghosts, the first player's before the second's."""
    return [*look.ghosts(0), *look.ghosts(1)]


def position(look: Any, viewer: int | None) -> Json:
    """Return everything about the ghosts, from what may be looked at and nothing else."""
    game: Geister = look.game
    ghosts = all_ghosts(look)
    own = viewer is not None and not look.is_over
    on_turn = own and look.turn == viewer
    actions = look.legal_actions if on_turn else []
    return {
        "pieces": [_piece(game, ghost) for ghost in ghosts if ghost.square is not None],
        "legal": [game.action_text(look.turn, action) for action in actions],
        "reach": _reach(look, actions, on_turn, viewer) if own else {},
        "left": left(game, ghosts),
        "total": _count(look.plies, game.rules.total_limit),
    }


def before(game: Geister, setup: str | None, viewer: int | None) -> Json:
    """Return the board before the game begins: one's own setup, if it has been given."""
    ghosts = [] if viewer is None or setup is None else ghosts_of_setup(game, viewer, game.setups.parse(setup))
    return {
        "pieces": [_piece(game, ghost) for ghost in ghosts],
        "legal": [],
        "reach": {},
        "left": left(game, []),
        "total": _count(0, game.rules.total_limit),
    }


def left(game: Geister, ghosts: list[Ghost]) -> Json:
    """Return how many ghosts of each colour have not been taken from a side, as everybody can count."""
    v = game.variant
    found = {}
    for player, side in enumerate(SIDES):
        taken = [ghost.colour for ghost in ghosts if ghost.player == player and ghost.fate == CAPTURED]
        found[side] = {"good": v.good - taken.count("good"), "evil": v.evil - taken.count("evil")}
    return found


def move_made(board: Any, played: Any) -> Json:
    """Return a move that was made. All that it tells is public."""
    game: Geister = board.game
    source, target = ends(game, played.player, played.action)
    told: Json = {"from": source, "to": target, "text": played.text, "captured": None, "escaped": played.escaped}
    if played.captured is not None:
        told["captured"] = _named(game, played.captured)
    if played.escaped:
        told["ghost"] = _named(game, next(ghost for ghost in board.ghosts(played.player) if ghost.fate == ESCAPED))
    return told


def explain(view: Any, text: str) -> Json:
    """Say why a player's move cannot be played, or that it can: a code, and what belongs to it."""
    game: Geister = view.game
    found = PLACE.fullmatch(text)
    squares, exits = _squares(game), gates(game)
    if found is None or found[1] not in squares or found[2] not in squares | exits:
        return {"code": "square"}
    source, target = found.groups()
    said: Json = {"from": source, "to": target}
    if view.turn != view.player:
        return said | {"code": "turn"}
    goals = [ends(game, view.player, action) for action in view.legal_actions]
    if (source, target) in goals:
        return said | {"code": "legal"}
    standing = {ghost.square: ghost for ghost in all_ghosts(view)}
    ghost = standing.get(squares[source])
    if ghost is None:
        return said | {"code": "no_piece"}
    if ghost.player != view.player:
        return said | {"code": "enemy"}
    said |= {"type": _colour(ghost), "targets": list(dict.fromkeys(to for start, to in goals if start == source))}
    if target in exits:
        if exits[target] != view.player:
            return said | {"code": "gate_enemy"}
        if gate_at(game, view.player, squares[source]) != target:
            return said | {"code": "gate_far"}
        return said | {"code": "gate_evil"}
    there = standing.get(squares[target])
    if there is not None and there.player == view.player:
        return said | {"code": "own"}
    return said | {"code": "forced" if squares[target] in neighbours(game, squares[source]) else "ghost_step"}


def unknown(look: Any, viewer: int) -> tuple[list[int], int]:
    """Return the squares of the enemy's ghosts whose colour a player cannot tell, and how many of them are evil."""
    enemies = look.ghosts(1 - viewer)
    found = [ghost.square for ghost in enemies if ghost.square is not None and not ghost.proven]
    evil = left(look.game, enemies)[SIDES[1 - viewer]]["evil"] - sum(ghost.proven for ghost in enemies)
    return found, evil


def _piece(game: Geister, ghost: Ghost) -> Json:
    assert ghost.square is not None
    return {"at": game.square_name(ghost.square), "side": SIDES[ghost.player], "revealed": ghost.proven} | _named(
        game, ghost
    )


def _named(game: Geister, ghost: Ghost) -> Json:
    """Return which ghost it is, by its letter and the square that it started from, and its colour."""
    letter = game.variant.letters[ghost.number]
    return {"type": _colour(ghost), "letter": letter, "from": home(game, ghost.player, ghost.number)}


def _colour(ghost: Ghost) -> str | None:
    return None if ghost.evil is None else ghost.colour


def _reach(look: Any, actions: list[int], on_turn: bool, viewer: int | None) -> Json:
    """Return for each own ghost the places where it may be sent, each with its move.

    On turn these are the legal moves. While the other side is on turn they are all that might be legal by then.
    """
    game: Geister = look.game
    assert viewer is not None
    own = {game.square_name(ghost.square): ghost for ghost in look.ghosts(viewer) if ghost.square is not None}
    found: Json = {at: {} for at in own}
    if on_turn:
        for action in actions:
            source, target = ends(game, viewer, action)
            # Both directions of an escape mean the same.
            found[source].setdefault(target, game.action_text(viewer, action))
        return found
    for at, ghost in own.items():
        for beside in neighbours(game, ghost.square):
            target = game.square_name(beside)
            found[at][target] = at + target
        gate = gate_at(game, viewer, ghost.square)
        if gate is not None and not ghost.evil:
            found[at][gate] = at + DIRECTIONS[0 if viewer == 0 else 3]
    return found


def _squares(game: Geister) -> dict[str, int]:
    return {game.square_name(square): square for square in range(game.variant.squares)}


def _count(count: int, limit: int) -> Json:
    return {"count": count, "limit": limit, "left": max(0, limit - count)}
