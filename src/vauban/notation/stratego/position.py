"""Positions as text (docs/notation.md): the pieces, the player on turn, and the history that the rules look back to.

    10/7b2/5sfm2/4ng1oo1/2~~2~~2/2~~2~~2/1G2M5/1S2N5/B8O/F8O r 0 0 -,- 0:-,0:-

`parse_position` refuses what contradicts itself. The board knows whether the moves can be played.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from vauban.errors import InvalidMoveError, NotationError
from vauban.games.kernel import MAX_SQUARES
from vauban.games.stratego.pieces import FLAG, HIDDEN_LETTER, LETTERS, MOVABLE_TYPES, PLAYERS, SCOUT, TYPES, type_of
from vauban.games.stratego.variants import FILES
from vauban.notation.stratego.moves import (
    Move,
    MoveText,
    along_a_line,
    move_text,
    parse_move_text,
    parse_square,
    square_text,
    squares_between,
)
from vauban.words import shortened

LONGEST_TRAIL = 6
"""Squares that a trail keeps, whatever the two-square rule needs, so that texts compare equal."""
LARGEST_NUMBER = 10**9
"""Counters in a text may not be larger: a record holds them."""

FIELDS = ("board", "side to move", "plies", "battleless plies", "two-square squares", "chase")


@dataclass(frozen=True)
class PlacedPiece:
    """A piece on its square."""

    square: int
    player: int
    """0 red, 1 blue."""
    kind: int | None
    """Its type, a place in `TYPES`; None if it is hidden (U or u)."""
    moved: bool
    revealed: bool


@dataclass(frozen=True)
class Position:
    """The contents of a position text."""

    rows: int
    columns: int
    lakes: tuple[int, ...]
    pieces: tuple[PlacedPiece, ...]
    """By ascending squares."""
    turn: int
    """0 if red is on turn, 1 if blue is."""
    plies: int
    battleless: int
    trails: tuple[tuple[int, ...], tuple[int, ...]]
    """For red and blue: the squares of the piece moved last in its owner's latest consecutive turns, oldest first."""
    chases: tuple[tuple[int, Move | None], tuple[int, Move | None]]
    """For red and blue: the length of the chase, and the last move."""
    moves: tuple[MoveText, ...]
    """Moves to be played from here; the text means the position after them."""

    @property
    def is_view(self) -> bool:
        """True if some piece is hidden: such a position is shown, never played on."""
        return any(piece.kind is None for piece in self.pieces)


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────


def parse_position(text: str) -> Position:
    """Return the position behind a text. The message of an error names the field that is wrong."""
    words = text.split(" ")
    if "" in words or words != text.split():
        raise NotationError(f"the position {shortened(text)} has other spaces than single ones between its fields")
    if len(words) < len(FIELDS):
        raise NotationError(
            f"the position {shortened(text)} has {len(words)} fields instead of {len(FIELDS)}: {', '.join(FIELDS)}"
        )
    board, side, plies, battleless, trails, chases, *rest = words
    if rest and rest[0] != "moves":
        raise NotationError(f"after the six fields of a position comes 'moves' or nothing, not {rest[0]!r}")
    if rest == ["moves"]:
        raise NotationError("the position ends with the word 'moves': write moves after it, or leave it out")
    rows, columns, lakes, pieces = _parse_board(board)
    if side not in ("r", "b"):
        raise NotationError(f"the side to move is r or b, not {side!r}")
    bare = Position(
        rows=rows,
        columns=columns,
        lakes=lakes,
        pieces=pieces,
        turn="rb".index(side),
        plies=_parse_number(plies, "plies"),
        battleless=_parse_number(battleless, "battleless plies"),
        trails=((), ()),
        chases=((0, None), (0, None)),
        moves=(),
    )
    trail_words, chase_words = _pair(trails, "two-square squares"), _pair(chases, "chase")
    position = Position(
        rows,
        columns,
        lakes,
        pieces,
        bare.turn,
        bare.plies,
        bare.battleless,
        (_parse_trail(trail_words[0], bare), _parse_trail(trail_words[1], bare)),
        (_parse_chase(chase_words[0], bare), _parse_chase(chase_words[1], bare)),
        tuple(parse_move_text(word, bare) for word in rest[1:]),
    )
    _check(position)
    return position


def _parse_board(text: str) -> tuple[int, int, tuple[int, ...], tuple[PlacedPiece, ...]]:
    """Return rows, columns, lakes and pieces of the first field."""
    ranks = text.split("/")
    rows = len(ranks)
    if rows > MAX_SQUARES:
        raise NotationError(f"the board has {rows} ranks: a board has at most {MAX_SQUARES} squares")
    lakes: list[int] = []
    pieces: list[PlacedPiece] = []
    columns = 0
    for row, rank in zip(range(rows - 1, -1, -1), ranks, strict=True):
        cells = _parse_rank(rank, row + 1)
        if row == rows - 1:
            columns = len(cells)
            if not (1 <= columns <= len(FILES) and rows >= 2 and rows * columns <= MAX_SQUARES and rows + columns >= 4):
                raise NotationError(
                    f"a board has 1 to {len(FILES)} columns, at least 2 rows and at most {MAX_SQUARES} squares, "
                    f"not {rows} × {columns}"
                )
        if len(cells) != columns:
            raise NotationError(
                f"rank {row + 1} of the board, {shortened(rank)}, has {len(cells)} squares, "
                f"and rank {rows} has {columns}"
            )
        for column, cell in enumerate(cells):
            square = row * columns + column
            if cell == "~":
                lakes.append(square)
            elif cell:
                kind = None if cell[0].upper() == HIDDEN_LETTER else type_of(cell[0])
                pieces.append(PlacedPiece(square, int(cell[0].islower()), kind, "'" in cell, "!" in cell))
    return rows, columns, tuple(sorted(lakes)), tuple(sorted(pieces, key=lambda piece: piece.square))


_CELL = re.compile(rf"([0-9]+)|(~)|([{LETTERS}{HIDDEN_LETTER}]'?!?)", re.ASCII | re.IGNORECASE)


def _parse_rank(rank: str, number: int) -> list[str]:
    """Return the squares of a rank from file a on: a piece with its marks, "~" or "" each."""
    cells: list[str] = []
    place = 0
    while place < len(rank):
        match = _CELL.match(rank, place)
        if match is None:
            raise NotationError(_bad_cell(rank, place, number))
        if match[1]:
            empty = int(match[1][:4])
            if empty == 0:
                raise NotationError(f"rank {number} of the board, {shortened(rank)}, has a number 0: leave it out")
            cells += [""] * empty
        else:
            cells.append(match[0])
        place = match.end()
        if len(cells) > len(FILES):
            raise NotationError(f"rank {number} of the board, {shortened(rank)}, has more than {len(FILES)} squares")
    return cells


def _bad_cell(rank: str, place: int, number: int) -> str:
    where = f"{rank[place]!r} at place {place + 1} of rank {number} of the board ({shortened(rank)})"
    if rank[place] in "'!":
        return f"{where} stands after no piece: marks follow a letter, ' (has moved) before ! (revealed)"
    return (
        f"{where} is no piece: the letters are {LETTERS} for red, small ones for blue, {HIDDEN_LETTER} for hidden, "
        "a number for empty squares, ~ for a lake"
    )


def _parse_number(text: str, field: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) > LARGEST_NUMBER:
        raise NotationError(
            f"the field {field!r} of a position is a number from 0 to {LARGEST_NUMBER}, not {shortened(text)}"
        )
    return int(text)


def _pair(text: str, field: str) -> tuple[str, str]:
    red, comma, blue = text.partition(",")
    if not comma or "," in blue:
        raise NotationError(f"the field {field!r} of a position has two parts, red,blue, and {shortened(text)} has not")
    return red, blue


def _parse_trail(text: str, grid: Position) -> tuple[int, ...]:
    if text == "-":
        return ()
    try:
        return tuple(parse_square(name, grid) for name in text.split("-"))
    except InvalidMoveError as error:
        raise NotationError(
            f"the two-square squares {shortened(text)} are not squares joined by '-', or '-' alone: {error}"
        ) from None


def _parse_chase(text: str, grid: Position) -> tuple[int, Move | None]:
    length, colon, move = text.partition(":")
    if not colon:
        raise NotationError(f"a chase is 'length:last move', e.g. 2:d4d5, or 0:-, not {shortened(text)}")
    try:
        last = None if move == "-" else parse_move_text(move, grid).move
    except InvalidMoveError as error:
        raise NotationError(f"the chase {shortened(text)} has no last move: {error}") from None
    return _parse_number(length, "chase"), last


def _check(position: Position) -> None:
    """Refuse a position that contradicts itself."""
    at = {piece.square: piece for piece in position.pieces}
    for piece in position.pieces:
        name = square_text(piece.square, position)
        if piece.moved and piece.kind is not None and piece.kind >= MOVABLE_TYPES:
            raise NotationError(f"the {TYPES[piece.kind]} on {name} is marked as moved ('), and it never moves")
        if piece.revealed and piece.kind is None:
            raise NotationError(f"the hidden piece on {name} is marked as revealed (!): write its letter")
    _check_flags(position)
    if position.battleless > position.plies:
        raise NotationError(
            f"{position.battleless} battleless plies are more than all {position.plies} plies of the game"
        )
    for player in (0, 1):
        _check_trail(position, player, at)
        _check_chase(position, player)


def _check_flags(position: Position) -> None:
    without = []
    for player, side in enumerate(PLAYERS):
        own = [piece.kind for piece in position.pieces if piece.player == player]
        flags = own.count(FLAG)
        if flags > 1:
            raise NotationError(f"{side} has {flags} Flags on the board: a side has exactly one")
        if flags == 0 and None not in own:
            without.append(side)
    if len(without) == 2:
        raise NotationError("neither side has a Flag: only one side's can have been taken")
    if without and position.moves:
        raise NotationError(
            f"{without[0]} has no Flag, so it was taken and the game is over: no moves can follow the position"
        )


def _check_trail(position: Position, player: int, at: dict[int, PlacedPiece]) -> None:
    trail = position.trails[player]
    if not trail:
        return
    text = f"{PLAYERS[player]}'s two-square squares {'-'.join(square_text(square, position) for square in trail)}"
    if not 2 <= len(trail) <= LONGEST_TRAIL:
        raise NotationError(f"{text}: they are 2 to {LONGEST_TRAIL} squares, oldest first, or '-'")
    last = at.get(trail[-1])
    if last is None or last.player != player:
        raise NotationError(
            f"{text}: no {PLAYERS[player]} piece stands on the last of them; if the piece is gone, write '-'"
        )
    if not last.moved:
        raise NotationError(f"{text}: the piece on the last of them is not marked as moved (')")
    for before, after in itertools.pairwise(trail):
        step = Move(before, after)
        names = f"from {square_text(before, position)} to {square_text(after, position)}"
        if not along_a_line(step, position):
            raise NotationError(f"{text}: {names} is no move along a file or a rank")
        between = squares_between(step, position)
        if any(square in position.lakes for square in (before, after, *between)):
            raise NotationError(f"{text}: {names} leads through a lake")
        if len(between) and last.kind not in (None, SCOUT):
            raise NotationError(f"{text}: {names} is more than one step, and the piece is no Scout")


def _check_chase(position: Position, player: int) -> None:
    length, last = position.chases[player]
    trail = position.trails[player]
    if last is None:
        if length:
            raise NotationError(f"{PLAYERS[player]}'s chase has length {length} and no last move: write 0:-")
        return
    text = f"{PLAYERS[player]}'s last move {square_text(last.source, position)}{square_text(last.target, position)}"
    if any(square in position.lakes for square in (*last, *squares_between(last, position))):
        raise NotationError(f"{text} in the chase field leads through a lake")
    if trail and trail[-2:] != tuple(last):
        names = "-".join(square_text(square, position) for square in trail)
        raise NotationError(f"{text} in the chase field is not the last step of the two-square squares {names}")


# ── Writing ──────────────────────────────────────────────────────────────────────────────────────


def position_text(position: Position) -> str:
    """Return the text of a position; the inverse of `parse_position`."""
    fields = [
        _board_text(position),
        "rb"[position.turn],
        str(position.plies),
        str(position.battleless),
        ",".join("-".join(square_text(square, position) for square in trail) or "-" for trail in position.trails),
        ",".join(
            f"{length}:{'-' if last is None else move_text(MoveText(last), position)}"
            for length, last in position.chases
        ),
    ]
    if position.moves:
        fields += ["moves", *(move_text(move, position) for move in position.moves)]
    return " ".join(fields)


def _board_text(position: Position) -> str:
    cells = [""] * (position.rows * position.columns)
    for lake in position.lakes:
        cells[lake] = "~"
    for piece in position.pieces:
        letter = HIDDEN_LETTER if piece.kind is None else LETTERS[piece.kind]
        cells[piece.square] = (letter.lower() if piece.player else letter) + "'" * piece.moved + "!" * piece.revealed
    ranks = []
    for row in range(position.rows - 1, -1, -1):
        rank, empty = "", 0
        for cell in [*cells[row * position.columns : (row + 1) * position.columns], None]:
            if cell == "":
                empty += 1
                continue
            rank += (str(empty) if empty else "") + (cell or "")
            empty = 0
        ranks.append(rank)
    return "/".join(ranks)
