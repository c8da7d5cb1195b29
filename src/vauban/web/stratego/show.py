"""`SHOW`: Stratego on the page."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vauban.board.stratego import Board, Look, Played, View
from vauban.board.stratego.words import oddities, plies_left
from vauban.errors import VaubanError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, TYPES, WORTH
from vauban.games.stratego.setups import Row, can_move_first, parse_setup, random_setup, setup_text
from vauban.games.stratego.switches import default_rules, parse_rules
from vauban.games.stratego.variants import find_variant
from vauban.notation.stratego.position import PlacedPiece, Position, position_text
from vauban.notation.stratego.records import setups_of
from vauban.web.plain import PlainShow
from vauban.web.show import SIDES, Json, Placed, Setups, TableError, too_many
from vauban.web.stratego import sight
from vauban.web.stratego.playing_on import board_with, setups_with
from vauban.words import sentence

QUIET = 40
"""After so many plies without a battle, nothing has happened for long."""
TRIES = 50
"""Most draws of a setup until nothing about it is odd."""


class StrategoShow(PlainShow):
    """Every variant of Stratego. What is not here is as for any game."""

    family = "stratego"
    order = 0
    screens = ("setups", "puzzles", "rules")
    offered = ("barrage", "classic", "duel", "octa-barrage", "medium", "fives")
    levels = Path(__file__).with_name("levels.toml")
    looks_back = True
    marks = ("moved", "revealed")

    # ── A game ───────────────────────────────────────────────────────────────────────────────────

    def rules_text(self, variant: str, rules: str | None) -> str:
        return parse_rules(rules, find_variant(variant)).text

    def begin(self, variant: str, rules: str, setups: Setups, seed: int | None) -> Board:
        red, blue = setups
        assert red is not None and blue is not None
        return Board.from_setups(red, blue, variant, rules)

    def read_setup(self, variant: str, text: Any) -> str:
        return setup_text(_row(variant, text), find_variant(variant))

    def check_first(self, variant: str, setup: str) -> None:
        if not can_move_first(_row(variant, setup), find_variant(variant)):
            text = "None of these pieces could make a first move: leave one a way out."
            raise TableError("setup", text, "setup.stuck")

    def read_move(self, board: Board, text: str) -> str:
        try:
            move = sight.squares_of(text, board.variant)
        except VaubanError as error:
            raise TableError("move", sentence(error)) from error
        squares = sight.squares_text(move, board.variant)
        if move not in board.legal_moves:
            raise TableError("move", f"{squares} is not legal here.")
        return squares

    def played_text(self, board: Board, played: Played) -> str:
        return sight.squares_text(played.move, board.variant)

    def rules_of(self, board: Board, rules: str) -> str:
        return board.rules.text

    # ── What is sent ─────────────────────────────────────────────────────────────────────────────

    def offer(self, variant: str) -> Json:
        v = find_variant(variant)
        rules = default_rules(v)
        return {
            "columns": v.columns,
            "rows": v.rows,
            "setup_rows": v.setup_rows,
            "lakes": [v.square_name(lake) for lake in v.lakes],
            "army": {TYPES[kind].lower(): count for kind, count in enumerate(v.army) if count},
            "battleless_limit": plies_left(0, rules.battleless_limit, rules),
            "total_limit": plies_left(0, rules.total_limit, rules),
        }

    def position(self, look: Look, viewer: int | None) -> Json:
        return sight.position(look, viewer)

    def before(self, variant: str, setup: str | None, viewer: int | None) -> Json:
        return sight.before(find_variant(variant), setup, viewer)

    def move(self, board: Board, played: Played, viewer: int | None) -> Json:
        return sight.move_made(played, board.variant)

    def explain(self, view: View, text: str) -> Json:
        return sight.explain(view, text)

    def picture(self, look: Look) -> str:
        return look.svg()

    # ── Setups ───────────────────────────────────────────────────────────────────────────────────

    def check_setup(self, variant: str, text: Any) -> Json:
        v, row = find_variant(variant), _row(variant, text)
        names = [None if code == 0 else TYPES[code - 1].lower() for code in row]
        width = v.columns
        return {
            "setup": setup_text(row, v),
            "rows": [names[start : start + width] for start in range(0, len(names), width)],
            "warnings": oddities(row, v),
        }

    def draw_setup(self, variant: str, kind: str, seed: int) -> str:
        from vauban.agents.setups import make_sampler

        v, rng = find_variant(variant), random.Random(seed)
        if kind == "random":
            while True:
                row = random_setup(v, rng)
                if can_move_first(row, v):
                    return setup_text(row, v)
        sample = make_sampler(kind, Stratego(v))
        # People sometimes leave their Flag in the open. Whoever is shown a setup should not lose by it at once.
        for _ in range(TRIES):
            row = sample(rng)
            if not oddities(row, v):
                break
        return setup_text(row, v)

    # ── Agents ───────────────────────────────────────────────────────────────────────────────────

    def weigh(self, view: View) -> tuple[float, bool]:
        army = sum(WORTH[kind] * count for kind, count in enumerate(view.variant.army) if kind != FLAG)
        left = [army - sum(WORTH[kind] for kind in view.captured(player)) for player in (view.player, 1 - view.player)]
        return (left[0] - left[1]) / max(sum(left), 1e-9), view.battleless >= QUIET

    def warm_up(self, variant: str) -> Board:
        board = Board.random(variant, 0)
        view = board.view(0)
        sight.position(view, 0)
        sight.explain(view, sight.squares_text(view.legal_moves[0], view.variant))
        return board

    # ── What comes after a game ──────────────────────────────────────────────────────────────────

    def setups_of(self, board: Board) -> Setups:
        return setups_of(board.start_position(), board.variant) or (None, None)

    def setups_at(self, board: Board, hidden: Mapping[int, int]) -> tuple[str, str]:
        return setups_with(board, hidden)

    def with_hidden(self, board: Board, hidden: Mapping[int, int]) -> Board:
        return board_with(board, hidden)

    # ── Positions ────────────────────────────────────────────────────────────────────────────────

    def place(self, variant: str, text: str) -> Board:
        board = Board.from_position(text, variant)
        army, found = board.variant.army, board.pieces().values()
        for player, side in enumerate(SIDES):
            for kind, most in enumerate(army):
                have = sum(piece.player == player and piece.kind == kind for piece in found)
                if have > most:
                    raise too_many(side, TYPES[kind].lower(), have, most)
        return board

    def position_of(self, board: Board) -> str:
        return position_text(board.position())

    def position_text(self, variant: str, pieces: Sequence[Placed], turn: int) -> str:
        v = find_variant(variant)
        names = {name.lower(): kind for kind, name in enumerate(TYPES)}
        placed = tuple(
            sorted(
                (
                    PlacedPiece(v.square(each.at), each.player, names[each.type], each.moved, each.revealed)
                    for each in pieces
                    if each.type in names
                ),
                key=lambda piece: piece.square,
            )
        )
        nothing = (((), ()), ((0, None), (0, None)), ())
        return position_text(Position(v.rows, v.columns, v.lakes, placed, turn, 0, 0, *nothing))

    def draw_hidden(self, view: View, seed: int) -> dict[int, int]:
        from vauban.agents.stratego.belief import PriorBelief

        return PriorBelief(view.variant).sample(view, seed)


def _row(variant: str, text: Any) -> Row:
    if not isinstance(text, str):
        raise TableError("setup", "A setup is missing.")
    try:
        return parse_setup(text, find_variant(variant))
    except VaubanError as error:
        raise TableError("setup", sentence(error)) from error


SHOW = StrategoShow()
