"""`Board` and `View` of Stratego in steps: drawn like Stratego, with a line that says what is chosen now."""

from __future__ import annotations

from typing import Any

from vauban.board import base
from vauban.board.stratego import look as plain
from vauban.board.stratego import picture
from vauban.games.base import STEP
from vauban.games.stratego.pieces import TYPES
from vauban.games.stratego.steps import StrategoSteps
from vauban.games.stratego.steps.layout import CHOSEN, DEPLOYING, PIECE


class Look(base.Look):
    """The common part of boards and views."""

    game: StrategoSteps

    @property
    def step(self) -> int:
        """The byte `STEP` of the record: 0 a piece is chosen, 1 its target, from 2 on armies are placed."""
        return int(self._record.bytes[STEP])

    @property
    def is_deployment(self) -> bool:
        """True while armies are placed."""
        return self.step >= DEPLOYING

    @property
    def chosen(self) -> int | None:
        """The square of the piece whose target is chosen now; None if none is."""
        return None if self.step == PIECE or self.is_deployment else int(self._record.words[CHOSEN])

    def pieces(self, player: int | None = None) -> dict[int, plain.Piece]:
        """Return all pieces on the board, or one player's, by square, as far as they are known."""
        return self._drawn().pieces(player)

    @property
    def phase_text(self) -> str:
        """The step that the player on turn takes now, in words; both players know it."""
        who = self.game.players[self.turn]
        if self.is_over:
            return "the game is over"
        if self.is_deployment:
            pieces = self.game.variant.pieces
            placed = self.step - DEPLOYING - pieces * self.turn
            return f"{who} places a {TYPES[self.game.placed_types[placed]]} ({placed + 1} of {pieces})"
        if self.chosen is None:
            return f"{who} chooses a piece"
        return f"{who} moves the piece on {self.game.square_name(self.chosen)}"

    def as_text(self, observation: str | None = None) -> str:
        return f"{picture.text(self._drawn())}\n{self.phase_text}"

    def svg(self, size: int = 480) -> str:
        return picture.svg(self._drawn(), size)

    def _drawn(self) -> plain.Look:
        """Return the position as one of plain Stratego, to be drawn."""
        return plain.Look(self.game.plain, self._record)


class View(Look, base.View):
    """All that one player may know; of the other army nothing before both stand."""


class Board(Look, base.Board):
    """One game, from the first piece that is placed or from given setups."""

    views = View

    def _known_history(self, player: int) -> list[Any]:
        """Return the moves of both players, and what the player itself has placed."""
        made = zip(self.history, self._records, strict=True)
        return [played for played, before in made if before.bytes[STEP] < DEPLOYING or played.player == player]
