"""One tabulated game, shown as the library shows it from which the table is."""

from __future__ import annotations

from vauban.board import base
from vauban.games.tabulated.game import NODE, TabulatedGame


class Look(base.Look):
    """The common part of its boards and views."""

    game: TabulatedGame

    def _shown(self, viewer: int | None, observation: str | None) -> str:
        shown = None if observation else self.game.shown(int(self._record.words[NODE]), viewer)
        return super().as_text(observation) if shown is None else shown


class View(Look, base.View):
    """A player's view: the first of the histories that look alike, as that player sees it."""

    def as_text(self, observation: str | None = None) -> str:
        return self._shown(self.player, observation)


class Board(Look, base.Board):
    """The whole game."""

    views = View

    def as_text(self, observation: str | None = None) -> str:
        return self._shown(None, observation)
