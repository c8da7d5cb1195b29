"""`SHOW`: Geister on the page."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vauban.board import Board
from vauban.board.geister.places import gates, home
from vauban.games import base
from vauban.games.geister.switches import SWITCHES
from vauban.notation.geister.position import (
    CAPTURED_EVIL,
    CAPTURED_GOOD,
    EVIL,
    GOOD,
    PROVEN,
    Position,
    position_text,
)
from vauban.web.geister import sight
from vauban.web.plain import PlainShow
from vauban.web.show import SIDES, Json, Placed, Setups, Switch, TableError, too_many

LIMITS = (20, 1000)
"""The shortest and the longest game that people can choose, in plies."""
QUIET = 40
"""After so many plies without a capture, nothing has happened for long."""


class GeisterShow(PlainShow):
    """Every board of Geister. What is not here is as for any game."""

    family = "geister"
    order = 10
    screens = ("setups", "rules")
    offered = ("geister", "geister-44", "geister-34", "geister-33b")
    levels = Path(__file__).with_name("levels.toml")
    looks_back = True

    def rules_text(self, variant: str, rules: str | None) -> str:
        return str(_game(variant, rules).rules.text)

    def switches(self, variant: str) -> tuple[Switch, ...]:
        usual = _game(variant).rules
        return (
            Switch("escape", usual.escape, SWITCHES["escape"] or ()),
            Switch("colours", usual.colours, SWITCHES["colours"] or (), drawn=("chance",)),
            Switch("total_limit", usual.total_limit, least=LIMITS[0], most=LIMITS[1]),
        )

    def rules_with_setups(self, variant: str, rules: str) -> str:
        return str(_game(variant, f"{rules} colours=chosen").rules.text)

    def rules_of(self, board: Any, rules: str) -> str:
        return str(board.game.rules.text)

    # ── What is sent ─────────────────────────────────────────────────────────────────────────────

    def offer(self, variant: str) -> Json:
        game = _game(variant)
        v = game.variant
        return {
            "columns": v.width,
            "rows": v.height,
            "gates": {gate: SIDES[player] for gate, player in gates(game).items()},
            "homes": {letter: home(game, 0, number) for number, letter in enumerate(v.letters)},
            "army": {"good": v.good, "evil": v.evil},
            "total_limit": game.rules.total_limit,
        }

    def position(self, look: Any, viewer: int | None) -> Json:
        return sight.position(look, viewer)

    def before(self, variant: str, setup: str | None, viewer: int | None) -> Json:
        return sight.before(_game(variant), setup, viewer)

    def move(self, board: Any, played: Any, viewer: int | None) -> Json:
        return sight.move_made(board, played)

    def explain(self, view: Any, text: str) -> Json:
        return sight.explain(view, text)

    def picture(self, look: Any) -> str:
        return str(look.svg())

    def weigh(self, view: Any) -> tuple[float, bool]:
        """Count the ghosts: a good one is missed, and an evil one that is gone brings its owner nearer to a win."""
        v = view.game.variant
        own, other = (sight.left(view.game, sight.all_ghosts(view))[SIDES[p]] for p in (view.player, 1 - view.player))
        value = (own["good"] - other["good"]) / v.good + (other["evil"] - own["evil"]) / v.evil
        return value / 2, _plies_since_capture(view) >= QUIET

    # ── What comes after a game ──────────────────────────────────────────────────────────────────

    def setups_of(self, board: Any) -> Setups:
        if board.setups is None:
            return None, None
        first, second = (board.game.setups.text(row) for row in board.setups)
        return first, second

    def setups_at(self, board: Any, hidden: Mapping[int, int]) -> tuple[str, str]:
        if board.is_over:
            raise TableError("ply", "The game is over here: nothing is left to play.", "ply.over")
        start = board.copy()
        while start.history:
            start.pop()
        v = board.game.variant
        rows = [[0] * v.ghosts, [0] * v.ghosts]
        for first, ghost in zip(sight.all_ghosts(start), sight.all_ghosts(board), strict=True):
            if first.square is None or board.game.square_name(first.square) != home(
                board.game, first.player, first.number
            ):
                text = "This record does not begin at the start of a game, so it cannot be played on."
                raise TableError("ply", text, "ply.start")
            evil = hidden.get(-1 if ghost.square is None else ghost.square, int(bool(ghost.evil)))
            rows[ghost.player][ghost.number] = evil
        text = board.game.setups.text
        return text(rows[0]), text(rows[1])

    def with_hidden(self, board: Any, hidden: Mapping[int, int]) -> Any:
        start = board.copy()
        while start.history:
            start.pop()
        known = []
        for player, codes in enumerate(start.position().known):
            drawn = [hidden.get(-1 if ghost.square is None else ghost.square) for ghost in board.ghosts(player)]
            pairs = zip(codes, drawn, strict=True)
            known.append("".join(code if evil is None else (EVIL if evil else GOOD) for code, evil in pairs))
        found = Board.from_position(replace(start.position(), known=(known[0], known[1])), board.game)
        for played in board.history:
            found.push(played.text)
        return found

    # ── Positions ────────────────────────────────────────────────────────────────────────────────

    def place(self, variant: str, text: str) -> Any:
        return Board.from_position(text, _game(variant))

    def position_of(self, board: Any) -> str:
        return str(board.text)

    def position_text(self, variant: str, pieces: Sequence[Placed], turn: int) -> str:
        """Return the text of a position. The letters go by where the ghosts stand: captured ones have the last."""
        v = _game(variant).variant
        squares = {v.square_name(square): square for square in range(v.squares)}
        places: list[tuple[int | None, ...]] = []
        known = []
        for player, side in enumerate(SIDES):
            own = sorted((each for each in pieces if each.player == player), key=lambda each: squares[each.at])
            gone = []
            for colour, most in (("good", v.good), ("evil", v.evil)):
                have = sum(each.type == colour for each in own)
                if have > most:
                    raise too_many(side, colour, have, most)
                gone += [{"good": CAPTURED_GOOD, "evil": CAPTURED_EVIL}[colour]] * (most - have)
            places.append((*(squares[each.at] for each in own), *(None for _ in gone)))
            known.append("".join(_code(each) for each in own) + "".join(gone))
        return position_text(Position(v.width, v.height, (places[0], places[1]), (known[0], known[1]), turn, 0))

    def draw_hidden(self, view: Any, seed: int) -> dict[int, int]:
        unknown, evil = sight.unknown(view, view.player)
        chosen = random.Random(seed).sample(unknown, evil)
        return {square: int(square in chosen) for square in unknown}


def _game(variant: str, rules: str | None = None) -> Any:
    return base.game(variant, rules or None)


def _code(piece: Placed) -> str:
    if piece.type == "good":
        return GOOD
    return PROVEN if piece.revealed else EVIL


def _plies_since_capture(view: Any) -> int:
    """Count the plies since a ghost was captured, or the game began."""
    captures = (ply for ply, played in enumerate(view.history, 1) if played.captured is not None)
    return len(view.history) - max(captures, default=0)


SHOW = GeisterShow()
