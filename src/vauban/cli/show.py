"""Games at a terminal: how they are drawn and told; a family may have a `Show` in `vauban.cli.<family>.show`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy.typing as npt
from rich.text import Text

from vauban.families import family_part
from vauban.games.base import Game, Outcome
from vauban.words import capital

QUIET, LOUD = "dim", "bold yellow"
STYLES = ("bold white on #a42a22", "bold white on #1c3f9c")
"""The players' colours; where there are only 16, the nearest are red and blue."""
BRACKETS = (("[", "]"), ("(", ")"))
"""Players differ by their brackets as well as by their colours."""
ENDS = {
    "resigned": "the other side resigned",
    "time": "the other side's time is up",
    "illegal": "the other side gave no legal answer",
    "absent": "the other side stayed away",
    "unfinished": "the game was not finished",
}
"""Ends of a game in words, where the name of the end does not do."""
ENDS_DRAWN = ENDS | {"time": "the time for the whole game is up"}
"""The same, of a draw."""


class Show:
    """Drawing and telling a game of any kind."""

    legend: ClassVar[Sequence[str]] = ()
    """A note under a list of games, which explains its facts."""
    setup_words: ClassVar[str] = "back row first"
    """The form of a setup's text."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def facts(self) -> dict[str, Any]:
        """Return a game's facts for a list, besides those of every game; the list itself prints texts alone."""
        return {}

    def player(self, player: int) -> Text:
        """Return a player's name, in brackets and colours."""
        return Text(self.game.players[player].join(BRACKETS[player]), STYLES[player])

    def name(self, player: int, person: int | None) -> str:
        """Return a player's name at the beginning of a sentence to a person, or to an onlooker."""
        return "You" if player == person else capital(self.game.players[player])

    def picture(self, look: Any, bottom: int, history: Sequence[Any] = ()) -> list[Text]:
        """Return a board or a view, from the side of one player; `history` are the moves that led there."""
        return [Text(line) for line in str(look).splitlines()]

    def setup(self, row: npt.NDArray[Any], player: int) -> list[Text]:
        """Return a player's setup."""
        return [] if self.game.setups is None else [Text(self.game.setups.text(row))]

    def notes(self, look: Any) -> list[str]:
        """Say what a player should know of a position besides its picture."""
        return []

    def told(self, board: Any, played: Any, person: int | None = None) -> str:
        """Return a move as it is told to one of the players, or to an onlooker."""
        return f"{self.name(played.player, person)}: {board.played_text(played)}"

    def ended(self, outcome: Outcome, person: int | None = None) -> str:
        """Say how a game ended, as a sentence to one of its players, or to an onlooker."""
        why = (ENDS_DRAWN if outcome.winner is None else ENDS).get(outcome.end, outcome.end)
        if outcome.end == "unfinished" or outcome.winner is None:
            return f"{'No result' if outcome.end == 'unfinished' else 'A draw'}: {why}."
        won = "lose" if person == 1 - outcome.winner else "win" if person is not None else "won"
        worth = "" if abs(outcome.utility) == 1 else f" {abs(outcome.utility):g}"
        return f"{self.name(outcome.winner if person is None else person, person)} {won}{worth}: {why}."


def show_of(game: Game) -> Show:
    """Return what draws and tells a game: its family's own, or what does for any."""
    part = family_part("cli", game.family, "show")
    kind: type[Show] = Show if part is None else part.Show
    return kind(game)
