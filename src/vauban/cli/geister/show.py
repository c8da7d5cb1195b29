"""Geister at a terminal: how it is drawn and told.

The first player's ghosts stand in [ ], the second player's in ( ). Good ghosts are blue and have a +, evil ones are red
and have a -.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy.typing as npt
from rich.text import Text

from vauban.board.geister.look import Ghost, Played, ghosts_of_setup
from vauban.board.geister.picture import sign, squares_in_view
from vauban.cli import show
from vauban.cli.show import BRACKETS, LOUD, QUIET
from vauban.games.base import Outcome
from vauban.games.geister.game import Geister
from vauban.games.geister.switches import PRESETS
from vauban.games.geister.variants import FILES
from vauban.words import capital, moves_word

STYLES = {"good": "bold white on #1c3f9c", "evil": "bold white on #a42a22", "unknown": "bold white on #5b5170"}
"""By colour; where there are only 16, the nearest are blue, red and grey."""
JUST_MOVED = {"good": "bold white on #3b78e6", "evil": "bold white on #d9532c", "unknown": "bold white on #8a7ca8"}
EXIT = "bold green"
CELL = 5
"""Columns of a square: two brackets, a letter, its colour, a mark."""
MARKS = "+ good, - evil, ? not known · ↖ ↗ exits of your good ghosts · ○ < last move"
NEAR = 20
"""Warn a person this many plies before the limit."""

ENDS = {
    "escape": ("a good ghost of yours has left the board", "a good ghost of your opponent has left the board"),
    "good_captured": ("you have captured all good ghosts", "your good ghosts are all captured"),
    "evil_captured": ("your opponent has captured all your evil ghosts", "you have captured all evil ghosts"),
    "total_limit": ("the game has reached its longest length", "the game has reached its longest length"),
}
"""Ends of a game in words, if you won, if you lost."""
ENDS_SEEN = {
    "escape": "a good ghost has left the board",
    "good_captured": "the other side's good ghosts are all captured",
    "evil_captured": "the other side has captured all evil ghosts",
    "total_limit": "the game has reached its longest length",
}
"""The same, for an onlooker, and for a draw."""


class Show(show.Show):
    """Drawing and telling a game of Geister."""

    game: Geister
    legend: ClassVar[Sequence[str]] = ("rules by name (--rules): " + ", ".join(f"[bold]{name}[/]" for name in PRESETS),)

    setup_words = "the letters of the evil ghosts"

    def facts(self) -> dict[str, Any]:
        v = self.game.variant
        return {"ghosts": f"{v.good} good, {v.evil} evil", "good": v.good, "evil": v.evil}

    def player(self, player: int) -> Text:
        """Return a player's name in its brackets; red and blue are colours of ghosts here."""
        return Text(self.game.players[player].join(BRACKETS[player]), "bold")

    def picture(self, look: Any, bottom: int, history: Sequence[Any] = ()) -> list[Text]:
        """Return the board with the ghosts that each side has lost."""
        ghosts = {ghost.square: ghost for player in (0, 1) for ghost in look.ghosts(player) if ghost.square is not None}
        last = history[-1] if history else None
        moved = (None, None) if last is None else look.squares_of(last.player, last.action)
        lines = self._draw(ghosts, bottom, moved)
        for player, name in enumerate(self.game.players):
            lost = look.captured(player)
            if lost:
                words = [(sign(ghost, bottom), STYLES[ghost.colour]) for ghost in lost]
                spaced = [part for word in words for part in (" ", word)]
                lines.append(Text.assemble((f"{name} has lost", QUIET), *spaced))
        return lines

    def setup(self, row: npt.NDArray[Any], player: int) -> list[Text]:
        ghosts = {ghost.square: ghost for ghost in ghosts_of_setup(self.game, player, row) if ghost.square is not None}
        rows = [line for line in self._draw(ghosts, player, (None, None)) if "[" in line.plain or "(" in line.plain]
        return [*rows, Text(f"{self.game.setups.text(row)} (the evil ghosts)", QUIET)]

    def notes(self, look: Any) -> list[str]:
        limit = self.game.rules.total_limit
        left = limit - look.plies
        end = "a draw" if self.game.rules.at_limit == "draw" else "a win for the second player"
        said = [f"{look.plies} of {limit} {moves_word(limit)}"]
        if left <= NEAR:
            said.append(f"{left} more {moves_word(left)}, and the game is {end}.")
        escapes = [each for each in look.legal_actions if self.game.escapes[each]]
        if escapes:
            texts = " or ".join(self.game.action_text(look.turn, each) for each in escapes)
            said.append(f"You can leave the board and win: {texts}.")
        return [*said, MARKS]

    def told(self, board: Any, played: Played, person: int | None = None) -> str:
        who = self.name(played.player, person)
        name = self.game.square_name
        source, target = board.squares_of(played.player, played.action)
        if target is None:
            return f"{who} {name(source)}: a good ghost leaves the board"
        ghost = played.captured
        if ghost is None:
            return f"{who} {name(source)}–{name(target)}"
        letter = ghost.letter.upper() if ghost.player == person else ghost.letter.lower()
        what = f"{letter}, {'an evil' if ghost.evil else 'a good'} ghost"
        return f"{who} {name(source)}x{name(target)}: captures {what}"

    def ended(self, outcome: Outcome, person: int | None = None) -> str:
        if outcome.end not in ENDS:
            return super().ended(outcome, person)
        if outcome.winner is None:
            return f"A draw: {ENDS_SEEN[outcome.end]}."
        if person is None:
            return f"{capital(self.game.players[outcome.winner])} won: {ENDS_SEEN[outcome.end]}."
        lost = person != outcome.winner
        return f"You {'lose' if lost else 'win'}: {ENDS[outcome.end][lost]}."

    def _draw(self, ghosts: Mapping[int, Ghost], bottom: int, moved: tuple[int | None, int | None]) -> list[Text]:
        """Return the board from one side, with arrows at the exits of both players."""
        v = self.game.variant
        gap = " " * (CELL * (v.width - 1) - 1)
        lines = [Text(f"    ↖ {gap}↗", EXIT)]
        for row in squares_in_view(v, bottom):
            line = Text.assemble((f"{self.game.square_name(row[0])[1:]:>2} ", QUIET))
            for square in row:
                line.append_text(_cell(square, ghosts.get(square), bottom, moved))
            lines.append(line)
        files = FILES[: v.width] if bottom == 0 else FILES[: v.width][::-1]
        lines.append(Text(f"    ↙ {gap}↘", EXIT))
        return [*lines, Text("   " + "".join(f"{file:^{CELL}}" for file in files), QUIET)]


def _cell(square: int, ghost: Ghost | None, bottom: int, moved: tuple[int | None, int | None]) -> Text:
    source, target = moved
    if ghost is None:
        return Text("  ○  ", LOUD) if square == source else Text("  ·  ", QUIET)
    left, right = BRACKETS[ghost.player]
    style = (JUST_MOVED if square == target else STYLES)[ghost.colour]
    return Text.assemble((f"{left}{sign(ghost, bottom)}{right}", style), ("<" if square == target else " ", LOUD))
