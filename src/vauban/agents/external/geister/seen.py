"""`SeenGame`: a game of which only one side's colours are known, followed by the boards that a server shows.

    game = SeenGame(setup)
    game.look(text)            # the 48 characters, on turn
    view = game.view()         # what an agent is handed
    game.made(action)          # our move, which the server has taken
    game.end(text)             # the 48 characters of the end, with all colours

A server does not say what the opponent has played: that follows from two boards. A board of ours needs a colour for
every ghost. So the opponent's get colours that agree with all that has been seen; when one is shown to be otherwise,
they are dealt anew and the game is played again from its start. A view says nothing of that deal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vauban.agents.base import Row
from vauban.board import Board
from vauban.errors import NotationError, VaubanError
from vauban.games.base import Game
from vauban.notation.geister import server


class SeenGame:
    """One player's game."""

    def __init__(self, setup: Row, player: int = 0, game: Game = server.PUBLIC) -> None:
        """A game that begins; `player` is who we expect to be, until the first board says it."""
        self.player = player
        self.game = game
        self._setup = setup
        self._actions: list[int] = []
        """The moves so far, of both players."""
        self._known: list[bool | None] = [None] * len(setup)
        """By the opponent's ghost: whether it is evil, as far as it was shown."""
        self._dealt: Row | None = None
        self._board: Any = None
        self._begun = False

    def look(self, text: str) -> None:
        """Learn from the board that we are shown, on turn."""
        shown = server.parse_board(text)
        self._learn(shown)
        if not self._begun:
            self._begun = True
            self.player, self._board = 0, None
            if server.board_text(self.board, 0) != text:
                self.player, self._board = 1, None
        if self.board.turn != self.player:
            self._follow(shown)
        if self.board.turn != self.player or server.board_text(self.board, self.player) != text:
            raise NotationError(
                f"the board that is shown is another than the one that we have followed: {text} and not "
                f"{server.board_text(self.board, self.player)}"
            )

    def view(self) -> Any:
        """Return our view of the game."""
        return self.board.view(self.player)

    def made(self, action: int) -> None:
        """We have made a move; what it captured is shown later."""
        self._actions.append(action)

    def end(self, text: str) -> None:
        """Learn from the board that is shown at the end: all colours, and a last move of the opponent's."""
        shown = server.parse_board(text)
        self._learn(shown)
        if not self._begun:
            # All colours are shown, so both had set up; the first player would have been asked for a move by then.
            self.player, self._board = 1, None
        elif not self.board.is_over and self.board.turn != self.player:
            self._follow(shown)

    @property
    def board(self) -> Any:
        """The game so far, with colours of the opponent's ghosts that can be."""
        wrong = self._dealt is None or any(
            known is not None and known != bool(dealt) for known, dealt in zip(self._known, self._dealt, strict=True)
        )
        if wrong:
            self._dealt, self._board = self._deal(), None
        if self._board is None:
            assert self._dealt is not None
            pair = (self._setup, self._dealt) if self.player == 0 else (self._dealt, self._setup)
            self._board = Board(self.game, setups=pair)
        for action in self._actions[self._board.plies :]:
            self._board.push(action)
        return self._board

    @property
    def complete(self) -> bool:
        """Whether all colours are known, and could be chosen."""
        return self._dealt is not None and None not in self._known and [*map(bool, self._dealt)] == self._known

    def _learn(self, shown: server.Shown) -> None:
        for ghost, evil in enumerate(shown.evil[1]):
            if evil is not None:
                self._known[ghost] = evil

    def _follow(self, shown: server.Shown) -> None:
        """Play the opponent's move that leads to a board."""
        action = server.opponents_action(self.board, self.player, shown)
        if action is None:
            return
        try:
            self.board.push(action)
        except VaubanError as error:
            raise NotationError(f"the board that is shown follows from no legal move: {error}") from error
        self._actions.append(action)

    def _deal(self) -> Row:
        """Return colours for the opponent's ghosts: those that were shown, and for the others some that can be."""
        assert self.game.setups is not None
        for row in self.game.setups.all():
            if all(known is None or known == bool(evil) for known, evil in zip(self._known, row, strict=True)):
                return np.asarray(row)
        # A server may let a player set up as none should, which shows at the end.
        return np.asarray(self.game.setups.all()[0]) if self._dealt is None else self._dealt
