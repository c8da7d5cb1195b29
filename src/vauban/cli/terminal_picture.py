"""What a game looks like in the terminal, and how it is told: boards, armies, moves and battles.

Sides differ by their brackets as well as by their colour: red is [ 3], blue is ( 3).
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from rich.text import Text

from vauban.board.stratego import Look, Piece, Played, View
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES, PLAYERS, RANKS, SCOUT, TYPES
from vauban.games.stratego.variants import FILES, Variant
from vauban.words import capital

BRACKETS = (("[", "]"), ("(", ")"))
# Where there are only 16 colours the nearest of them are taken: so these lie near red, blue, and cyan for lakes.
STYLES = ("bold white on #a42a22", "bold white on #1c3f9c")
JUST_MOVED = ("bold white on #d9532c", "bold white on #3b78e6")
LAKE = "#8fd7c7 on #177a7a"
QUIET, LOUD, MARK = "dim", "bold yellow", "yellow"
CELL = 5
"""Columns of a square: two brackets, a rank of two, a mark."""

MARKS = "' has moved · ! your opponent knows it · ○ < the last move · × both fell"


# ── Pictures ─────────────────────────────────────────────────────────────────────────────────────


def draw(
    variant: Variant,
    person: int,
    pieces: Mapping[int, Piece],
    last: Played | None = None,
    rows: Iterable[int] | None = None,
) -> list[Text]:
    """The board from the person's side, a line for each row and one above and below for the files."""
    columns = range(variant.columns) if person == 0 else range(variant.columns - 1, -1, -1)
    files = Text("   " + "".join(f"{FILES[column]:^{CELL}}" for column in columns), QUIET)
    lines = [files]
    # The row farthest from the person comes first.
    for row in sorted(range(variant.rows) if rows is None else rows, reverse=person == 0):
        line = Text.assemble((f"{row + 1:>2} ", QUIET))
        for column in columns:
            square = row * variant.columns + column
            line.append_text(_cell(square, variant, person, pieces.get(square), last))
        lines.append(line)
    return [*lines, files]


def _cell(square: int, variant: Variant, person: int, piece: Piece | None, last: Played | None) -> Text:
    arrived = last is not None and square == last.move.target
    if square in variant.lakes:
        return Text("~~~~ ", LAKE)
    if piece is None:
        if arrived:
            return Text("  ×  ", LOUD)
        return Text("  ○  ", LOUD) if last is not None and square == last.move.source else Text("  ·  ", QUIET)
    rank = "?" if piece.kind is None else RANKS[piece.kind]
    left, right = BRACKETS[piece.player]
    mark = " "
    if piece.revealed:
        mark = "!" if piece.player == person else " "
    elif piece.moved:
        mark = "'"
    if arrived and mark == "!":
        right = "<"  # there is one column for marks: of two, the first stands in the bracket's place
    elif arrived:
        mark = "<"
    style = (JUST_MOVED if arrived else STYLES)[piece.player]
    return Text.assemble((f"{left}{rank:>2}{right}", style), (mark, LOUD if arrived else MARK))


def draw_armies(look: Look, person: int) -> list[Text]:
    """Both armies by type: how many are left of how many."""
    left = [_left(look, player) for player in (person, 1 - person)]
    lost = [Counter(look.captured(player)) for player in (person, 1 - person)]
    lines = [Text(f"{'you':>17} {PLAYERS[1 - person]:>5}", QUIET)]
    for kind in (*range(MOVABLE_TYPES - 1, -1, -1), *range(MOVABLE_TYPES, len(TYPES))):
        totals = [left[side][kind] + lost[side][kind] for side in (0, 1)]
        if not any(totals):
            continue
        line = Text(f"{RANKS[kind]:>2} {TYPES[kind]:<10}")
        for side in (0, 1):
            count = f"{left[side][kind]}/{totals[side]}" if totals[side] else "–"
            line.append(f"{count:>{4 + 2 * side}}", "" if left[side][kind] == totals[side] else QUIET)
        lines.append(line)
    return lines


def _left(look: Look, player: int) -> Counter[int]:
    """How many pieces of each type a player has on the board, as far as whoever looks can count."""
    kinds = Counter(piece.kind for piece in look.pieces(player).values() if piece.kind is not None)
    if isinstance(look, View) and player != look.player:
        kinds.update(look.hidden_types())
    return Counter({kind: count for kind, count in kinds.items() if kind is not None})


def beside(left: Sequence[Text], right: Sequence[Text], width: int) -> list[Text]:
    """Two pictures next to each other, or one below the other where there is no room."""
    room = max(line.cell_len for line in left) + 2
    if room + max(line.cell_len for line in right) > width:
        return [*left, *right]
    lines = []
    for one, other in zip_longest(left, right, fillvalue=Text()):
        lines.append(Text.assemble(one, " " * (room - one.cell_len), other))
    return lines


# ── Words ────────────────────────────────────────────────────────────────────────────────────────


def piece_words(kind: int) -> str:
    """A type with its rank, e.g. "Miner (3)"."""
    return TYPES[kind] if kind >= MOVABLE_TYPES else f"{TYPES[kind]} ({RANKS[kind]})"


def battle_words(played: Played, person: int, variant: Variant) -> str:
    """A battle as a sentence."""
    battle = played.battle
    assert battle is not None
    square = variant.square_name(played.move.target)
    foe = f"{PLAYERS[1 - person]}'s"
    whose = "your" if played.player == person else foe
    fate = {
        ">": f"{whose} {TYPES[battle.attacker]} won",
        "<": f"{whose} {TYPES[battle.attacker]} fell",
        "=": "both fell",
    }
    if played.player == person:
        article = "the" if battle.defender == FLAG else "a"
        said = f"your {piece_words(battle.attacker)} struck {square}: {article} {piece_words(battle.defender)}"
    else:
        said = f"{foe} {piece_words(battle.attacker)} struck your {piece_words(battle.defender)} on {square}"
    return capital(f"{said} — {fate[battle.result]}.")


def move_words(played: Played, person: int, variant: Variant) -> str:
    """A move as a sentence."""
    if played.battle is not None:
        return battle_words(played, person, variant)
    name = variant.square_name
    (row, column), (to_row, to_column) = (divmod(square, variant.columns) for square in played.move)
    far = abs(row - to_row) + abs(column - to_column) > 1
    who = "You" if played.player == person else capital(PLAYERS[played.player])
    shown = f", so it is a {piece_words(SCOUT)}" if far and played.player != person else ""
    return f"{who} went {name(played.move.source)}–{name(played.move.target)}{shown}."


def list_words(kinds: Iterable[int]) -> str:
    """Pieces as a list, e.g. "General, Captain ×2"."""
    counts = Counter(kinds)
    order = sorted(counts, key=lambda kind: (kind < MOVABLE_TYPES, kind), reverse=True)
    return ", ".join(f"{TYPES[kind]} ×{counts[kind]}" if counts[kind] > 1 else TYPES[kind] for kind in order)


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of this width; a piece's name stays with its letter and its number."""
    bound = re.sub(r"(?<=\b[A-Z0-9]) (?=[A-Z])|(?<=\b10) (?=[A-Z])| (?=[×(])", "\u00a0", text)
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(bound, width)]
