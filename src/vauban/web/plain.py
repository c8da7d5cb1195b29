"""`PLAIN`: any game on the page that has no show of its own.

A player sees what the player's observation holds, as text, and the legal actions as buttons. The other side's moves are
told as they are played where the game is played in the open (`Game.public_actions`), otherwise when it is over.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from vauban.board import Board
from vauban.errors import VaubanError
from vauban.games import base
from vauban.notation.records import write_game
from vauban.web.show import Json, Setups, Show, TableError, no_way_back
from vauban.words import sentence


class PlainShow(Show):
    """Any game."""

    family = "plain"

    # ── A game ───────────────────────────────────────────────────────────────────────────────────

    def has_setups(self, variant: str, rules: str | None = None) -> bool:
        game = base.game(variant, rules or None)
        return game.setups is not None and game.setups_chosen

    def rules_text(self, variant: str, rules: str | None) -> str:
        return rules or ""

    def begin(self, variant: str, rules: str, setups: Setups, seed: int | None) -> Any:
        red, blue = setups
        given = None if red is None or blue is None else (red, blue)
        return Board(variant, rules or None, seed=seed, setups=given)

    def read_setup(self, variant: str, text: Any) -> str:
        setups = base.game(variant).setups
        if not isinstance(text, str) or setups is None:
            raise TableError("setup", "A setup is missing." if setups else "Nothing is set up in this game.")
        try:
            row = setups.parse(text)
            setups.check(row[None])
        except VaubanError as error:
            raise TableError("setup", sentence(error)) from error
        return setups.text(row)

    def read_move(self, board: Any, text: str) -> str:
        try:
            action = board.game.parse_action(board.turn, text)
        except VaubanError as error:
            raise TableError("move", sentence(error)) from error
        move = str(board.game.action_text(board.turn, action))
        if action not in board.legal_actions:
            raise TableError("move", f"{move} is not legal here.")
        return move

    def played_text(self, board: Any, played: Any) -> str:
        return str(played.text)

    # ── What is sent ─────────────────────────────────────────────────────────────────────────────

    def offer(self, variant: str) -> Json:
        return {}

    def position(self, look: Any, viewer: int | None) -> Json:
        mine = viewer is not None and not look.is_over and look.turn == viewer
        return {"picture": str(look), "legal": list(look.legal_moves) if mine else []}

    def before(self, variant: str, setup: str | None, viewer: int | None) -> Json:
        return {"picture": setup or "", "legal": []}

    def move(self, board: Any, played: Any, viewer: int | None) -> Json:
        told = viewer is None or board.game.public_actions or played.player == viewer
        return {"text": played.text if told else None}

    def explain(self, view: Any, text: str) -> Json:
        return {"code": "legal" if text in view.legal_moves else "illegal"}

    def picture(self, look: Any) -> str:
        raise TableError("picture", "There is no picture of this game.")

    # ── Setups and agents ────────────────────────────────────────────────────────────────────────

    def check_setup(self, variant: str, text: Any) -> Json:
        return {"setup": self.read_setup(variant, text), "warnings": []}

    def draw_setup(self, variant: str, kind: str, seed: int) -> str:
        setups = base.game(variant).setups
        if setups is None:
            raise TableError("setup", "Nothing is set up in this game.")
        return setups.text(setups.draw(random.Random(seed)))

    def choose_setup(self, agent: str, seed: int, variant: str, player: int) -> str:
        from vauban.agents import make_player
        from vauban.agents.base import set_up

        game = base.game(variant)
        if game.setups is None:
            raise TableError("setup", "Nothing is set up in this game.")
        return game.setups.text(set_up(make_player(agent, game, seed), game, player, random.Random(f"{seed} setup")))

    def weigh(self, view: Any) -> tuple[float, bool]:
        return 0.0, False

    def warm_up(self, variant: str) -> Any:
        board = Board(variant, seed=0)
        self.position(board.view(board.turn), board.turn)
        board.copy().push(board.legal_moves[0])
        return board

    # ── Records, and what comes after a game ─────────────────────────────────────────────────────

    def record(self, board: Any, headers: Mapping[str, str]) -> str:
        return write_game(board, headers)

    def setups_at(self, board: Any, hidden: Mapping[int, int]) -> tuple[str, str]:
        raise no_way_back()

    def draw_hidden(self, view: Any, seed: int) -> dict[int, int]:
        raise no_way_back()


PLAIN = PlainShow()
