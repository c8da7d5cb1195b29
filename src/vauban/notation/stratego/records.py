"""Records of games of Stratego: a text that a board has replayed, and a board written as a text (docs/notation.md).

`vauban.notation.records` reads and writes the records of any game, and comes here for those of Stratego. A record is
refused where it contradicts the board: a battle that is none, types that are others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vauban.board.stratego import Board
from vauban.errors import NotationError, VaubanError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import HIDDEN_LETTER, LETTERS, PLAYERS, TYPES
from vauban.games.stratego.setups import check_army, setup_text
from vauban.games.stratego.switches import Rules, parse_rules
from vauban.games.stratego.variants import Variant
from vauban.notation import records
from vauban.notation.game import GameText, WrittenMove, game_text
from vauban.notation.records import ENDS_UNSEEN, comments_of, settle
from vauban.notation.stratego.headers import parse_variant_headers, variant_headers
from vauban.notation.stratego.moves import MoveText, move_text, parse_move_text
from vauban.notation.stratego.position import Position, parse_position, position_text

RESULTS_OF_END: dict[str, tuple[str, ...]] = {
    "flag": ("1-0", "0-1"),
    "no_moves": ("1-0", "0-1"),
    "both_immobile": ("1/2-1/2",),
    "total_limit": ("1/2-1/2",),
    "battleless_limit": ("1/2-1/2",),
    **ENDS_UNSEEN,
}
"""Every value of the header End, and the results that go with it."""

FILLED_IN = ("Game", "Variant", "Board", "Army", "Rules", "RedSetup", "BlueSetup", "Position", "Result", "End")
"""Headers that the writer takes from the board."""


@dataclass
class RecordedGame(records.RecordedGame):
    """A game of Stratego that was read from a record; without a board if some pieces are not known (U)."""

    game: Stratego
    board: Board | None
    moves: list[MoveText]

    @property
    def variant(self) -> Variant:
        """The variant that was played."""
        return self.game.variant

    @property
    def rules(self) -> Rules:
        """The rules it was played by."""
        return self.game.rules


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────


def replay(game: GameText) -> RecordedGame:
    """Replay one game."""
    headers = game.headers
    variant = parse_variant_headers(headers)
    rules = parse_rules(headers.get("Rules"), variant)
    setups, position = _beginning(headers, variant)
    hidden = position.is_view if position is not None else any(HIDDEN_LETTER in setup.upper() for setup in setups)
    board: Board | None = None
    if hidden:
        for setup, side in zip(setups, PLAYERS, strict=False):
            _check_secret_setup(setup, side, variant)
    elif position is None:
        board = Board.from_setups(setups[0], setups[1], variant, rules)
    else:
        board = Board.from_position(position, variant, rules)

    before = len(position.moves) if position is not None else 0
    first = ((position.turn if position is not None else 0) + before) % 2
    if game.first not in (None, first):
        raise NotationError(
            f"{PLAYERS[first]} begins, so the first move number is {'1...' if first else '1.'}, "
            f"not {'1...' if game.first else '1.'}"
        )
    moves = []
    comments = {} if game.comment is None else {before: game.comment}
    for index, written in enumerate(game.moves):
        try:
            moves.append(parse_move_text(written.text, variant))
            if board is not None:
                board.push(written.text)
        except VaubanError as error:
            raise NotationError(f"move {_number(index, first)} {written.text}: {error}") from error
        if written.comment is not None:
            comments[before + index + 1] = written.comment
    outcome = None if board is None else board.outcome()
    result, end = settle(game.result, headers.get("End"), outcome, RESULTS_OF_END, judged=board is not None)
    return RecordedGame(dict(headers), Stratego(variant, rules), board, moves, comments, result, end)


def _beginning(headers: Mapping[str, str], variant: Variant) -> tuple[tuple[str, ...], Position | None]:
    """Return the two setups, or the position, that a game begins from."""
    setups = tuple(headers[name] for name in ("RedSetup", "BlueSetup") if name in headers)
    if "Position" in headers:
        if setups:
            raise NotationError("a game begins from a Position or from two setups, and this one has both")
        position = parse_position(headers["Position"])
        if (position.rows, position.columns, position.lakes) != (variant.rows, variant.columns, variant.lakes):
            raise NotationError(
                f"the Position has not the board of {variant.name!r}: {variant.rows} × {variant.columns} with its lakes"
            )
        return (), position
    if len(setups) != 2:
        missing = [name for name in ("RedSetup", "BlueSetup") if name not in headers]
        raise NotationError(
            f"the header {' and '.join(missing)} is missing: a game begins from two setups or a Position"
        )
    return setups, None


def _check_secret_setup(text: str, side: str, variant: Variant) -> None:
    """Refuse a setup with U that no army of the variant can have."""
    rows = text.split("/")
    if len(rows) != variant.setup_rows or any(len(row) != variant.columns for row in rows):
        raise NotationError(
            f"{side}'s setup {text!r} has not {variant.setup_rows} rows of {variant.columns} squares, separated by '/'"
        )
    letters = text.upper().replace("/", "").replace(".", "")
    strange = [letter for letter in letters if letter not in LETTERS + HIDDEN_LETTER]
    if strange:
        raise NotationError(
            f"{strange[0]!r} in {side}'s setup {text!r} is no piece: the letters are {LETTERS}, "
            f"{HIDDEN_LETTER} for a piece that is not known, '.' for an empty square"
        )
    for kind, letter in enumerate(LETTERS):
        if letters.count(letter) > variant.army[kind]:
            raise NotationError(
                f"{side}'s setup {text!r} has {letters.count(letter)} × {TYPES[kind]}, "
                f"and the army of {variant.name!r} has {variant.army[kind]}"
            )
    if len(letters) > variant.pieces:
        raise NotationError(
            f"{side}'s setup {text!r} has {len(letters)} pieces, and {variant.name!r} has {variant.pieces}"
        )


def _number(index: int, first: int) -> str:
    """Return the move number of a record's move, e.g. "3." or "3..."."""
    turn = index + first
    return f"{turn // 2 + 1}{'...' if turn % 2 else '.'}"


# ── Writing ──────────────────────────────────────────────────────────────────────────────────────


def write_game(
    board: Board, headers: Mapping[str, str] | None = None, comments: Mapping[int, str] | None = None
) -> str:
    """Write a board's whole game; headers of `FILLED_IN` come from the board."""
    given = dict(headers or {})
    remarks = comments_of(board, comments)
    result, end = settle(given.get("Result"), given.get("End"), board.outcome(), RESULTS_OF_END)
    start = board.start_position()
    filled = {"Game": "stratego", **variant_headers(board.variant), "Rules": board.rules.text}
    filled |= {name: value for name, value in given.items() if name not in FILLED_IN}
    setups = setups_of(start, board.variant)
    if setups is None:
        filled["Position"] = position_text(start)
    else:
        filled["RedSetup"], filled["BlueSetup"] = setups
    filled["Result"] = result
    filled["End"] = end or "unfinished"
    moves = []
    for number, played in enumerate(board.history, 1):
        battle = played.battle
        shown = None if battle is None else (battle.attacker, battle.defender, battle.result)
        text = move_text(MoveText(played.move, battle is not None, shown), board.variant)
        moves.append(WrittenMove(text, remarks.get(number)))
    return game_text(GameText(filled, moves, result, remarks.get(0), start.turn))


def setups_of(start: Position, variant: Variant) -> tuple[str, str] | None:
    """Return the setup texts of red and blue, if a position is an ordinary start of the variant; else None."""
    history = (start.turn, start.plies, start.battleless, start.trails, start.chases, start.moves)
    if history != (0, 0, 0, ((), ()), ((0, None), (0, None)), ()):
        return None
    room = variant.setup_rows * variant.columns
    rows = np.zeros((2, room), np.int8)
    for piece in start.pieces:
        own = piece.square if piece.player == 0 else variant.squares - 1 - piece.square
        if own >= room or piece.kind is None or piece.moved or piece.revealed:
            return None
        rows[piece.player, own] = 1 + piece.kind
    try:
        for row in rows:
            check_army(row, variant)
    except VaubanError:
        return None
    return setup_text(rows[0], variant), setup_text(rows[1], variant)
