"""Stratego at a terminal: how it is drawn and told.

Sides differ by their brackets as well as by their colour: red is [ 3], blue is ( 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy.typing as npt
from rich.text import Text

from vauban.board.stratego import Piece, Played
from vauban.board.stratego.words import ODD, counter_words, end_words, oddities, warnings
from vauban.cli import show
from vauban.cli.show import BRACKETS, LOUD, QUIET, STYLES
from vauban.games.base import Outcome
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, LETTERS, MOVABLE_TYPES, PIECE_TYPES, RANKS, SCOUT, TYPES
from vauban.games.stratego.setups import setup_text
from vauban.games.stratego.switches import PRESETS
from vauban.games.stratego.variants import FILES

JUST_MOVED = ("bold white on #d9532c", "bold white on #3b78e6")
LAKE, MARK = "#8fd7c7 on #177a7a", "yellow"
CELL = 5
"""Columns of a square: two brackets, a rank of two, a mark."""
MARKS = "' has moved · ! your opponent knows it · ○ < the last move · × both fell"


def _by_strength(kind: int) -> tuple[bool, int]:
    return kind != FLAG, kind


class Show(show.Show):
    """Drawing and telling a game of Stratego."""

    game: Stratego
    legend: ClassVar[Sequence[str]] = (
        "army: " + ", ".join(f"{LETTERS[kind]} {TYPES[kind]}" for kind in sorted(range(len(TYPES)), key=_by_strength)),
        "rules by name (--rules): " + ", ".join(f"[bold]{name}[/]" for name in PRESETS),
    )

    def facts(self) -> dict[str, Any]:
        """Return the army and the limits; squares and numbers for programs."""
        v = self.game.variant
        return {
            "army": v.army_text,
            "lakes": [v.square_name(square) for square in v.lakes],
            "setup_rows": v.setup_rows,
            "total_limit": v.total_limit,
            "battleless_limit": v.battleless_limit,
        }

    def picture(self, look: Any, bottom: int, history: Sequence[Any] = ()) -> list[Text]:
        """Return the board with what each side has lost."""
        lines = self._draw(look.pieces(), bottom, history[-1] if history else None)
        for player, name in enumerate(self.game.players):
            lost = look.captured(player)
            if lost:
                lines.append(Text(f"{name} lost: {list_words(lost)}", QUIET))
        return lines

    def setup(self, row: npt.NDArray[Any], player: int) -> list[Text]:
        last = self.game.variant.squares - 1
        pieces = {}
        for place, code in enumerate(row):
            if code:
                square = place if player == 0 else last - place
                pieces[square] = Piece(player, PIECE_TYPES[code - 1], square, False, False)
        odd = [Text(ODD[each], LOUD) for each in oddities(row, self.game.variant)]
        return [*self._draw(pieces, player), Text(setup_text(row, self.game.variant), QUIET), *odd]

    def notes(self, look: Any) -> list[str]:
        return [counter_words(look), *warnings(look), MARKS]

    def told(self, board: Any, played: Played, person: int | None = None) -> str:
        name, battle = self.game.variant.square_name, played.battle
        who, source, target = self.name(played.player, person), name(played.move.source), name(played.move.target)
        if battle is None:
            row, column = divmod(played.move.source, self.game.variant.columns)
            to_row, to_column = divmod(played.move.target, self.game.variant.columns)
            far = abs(row - to_row) + abs(column - to_column) > 1
            return f"{who} {source}–{target}{', so it is a ' + piece_words(SCOUT) if far else ''}"
        winner = played.player if battle.result == ">" else 1 - played.player
        fate = "both fell" if battle.result == "=" else f"{self.name(winner, person).lower()} won"
        other = f"{'the' if battle.defender == FLAG else 'a'} {piece_words(battle.defender)}"
        return f"{who} {source}x{target}: {piece_words(battle.attacker)} against {other}, {fate}"

    def ended(self, outcome: Outcome, person: int | None = None) -> str:
        return end_words(outcome.winner, outcome.end, person)

    def _draw(self, pieces: Mapping[int, Piece], bottom: int, last: Played | None = None) -> list[Text]:
        """Return the board from one side, a line for each row, and one above and below for the files."""
        v = self.game.variant
        columns = range(v.columns) if bottom == 0 else range(v.columns - 1, -1, -1)
        files = Text("   " + "".join(f"{FILES[column]:^{CELL}}" for column in columns), QUIET)
        lines = [files]
        # The row farthest from the one who looks comes first.
        for row in sorted(range(v.rows), reverse=bottom == 0):
            line = Text.assemble((f"{row + 1:>2} ", QUIET))
            for square in (row * v.columns + column for column in columns):
                line.append_text(
                    Text("~~~~ ", LAKE) if square in v.lakes else _cell(square, bottom, pieces.get(square), last)
                )
            lines.append(line)
        return [*lines, files]


def _cell(square: int, bottom: int, piece: Piece | None, last: Played | None) -> Text:
    arrived = last is not None and square == last.move.target
    if piece is None:
        left = last is not None and square == last.move.source
        return Text("  ×  ", LOUD) if arrived else Text("  ○  ", LOUD) if left else Text("  ·  ", QUIET)
    rank = "?" if piece.kind is None else RANKS[piece.kind]
    left_bracket, right = BRACKETS[piece.player]
    mark = " "
    if piece.revealed:
        mark = "!" if piece.player == bottom else " "
    elif piece.moved:
        mark = "'"
    if arrived and mark == "!":
        right = "<"  # there is one column for marks: of two, the first stands in the bracket's place
    elif arrived:
        mark = "<"
    style = (JUST_MOVED if arrived else STYLES)[piece.player]
    return Text.assemble((f"{left_bracket}{rank:>2}{right}", style), (mark, LOUD if arrived else MARK))


def piece_words(kind: int) -> str:
    """Return a type with its rank, e.g. "Miner (3)"."""
    return TYPES[kind] if kind >= MOVABLE_TYPES else f"{TYPES[kind]} ({RANKS[kind]})"


def list_words(kinds: Iterable[int]) -> str:
    """Return pieces as a list, e.g. "General, Captain ×2"."""
    counts = Counter(kinds)
    order = sorted(counts, key=lambda kind: (kind < MOVABLE_TYPES, kind), reverse=True)
    return ", ".join(f"{TYPES[kind]} ×{counts[kind]}" if counts[kind] > 1 else TYPES[kind] for kind in order)
