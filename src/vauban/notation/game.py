"""The text of whole games (RULES.md §4.5): headers, moves, comments, result. No board is asked.

    [Game "stratego"]
    [Variant "micro"]
    [RedSetup "FLP."]
    [BlueSetup "P.FL"]
    [Result "1-0"]
    [End "flag"]

    1. b1b2 d3d2 2. c1b1 {slow} a3a2 3. b2xb3(L>F) 1-0

`parse_games` and `game_text` keep every header and every comment, known or not. What the moves mean
is the business of `vauban.notation.records`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vauban.errors import ConfigurationError, NotationError
from vauban.games.base import nearest
from vauban.games.stratego.variants import VARIANTS, Variant, parse_army
from vauban.notation.stratego.moves import FORMS, looks_like_a_move
from vauban.words import shortened

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
"""Red has won, blue has won, a draw, not known."""

WIDTH = 80
"""The writer breaks lines at this column."""


class WrittenMove(NamedTuple):
    """A move as it stands in a record, and the comment after it."""

    text: str
    comment: str | None = None


@dataclass
class GameText:
    """One game, as it is written."""

    headers: dict[str, str] = field(default_factory=dict)
    """In the order in which they stand; unknown ones too."""
    moves: list[WrittenMove] = field(default_factory=list)
    """As words: which squares they name depends on the variant."""
    result: str | None = None
    """One of `RESULTS`, from the header or from the end of the moves; None if neither is there."""
    comment: str | None = None
    """A comment before the first move."""
    first: int | None = None
    """Who begins, as the first move number says ("1." red, "1..." blue); None if there is none."""


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────

_HEADER = re.compile(r'\[\s*([^\s"\]]+)[ \t]*"((?:[^"\\\r\n]|\\.)*)"\s*\]')
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NUMBER = re.compile(r"([0-9]+)(\.\.\.|\.)", re.ASCII)
_WORD = re.compile(r"[^\s{}\[\]]+")
_SPACE = re.compile(r"\s+")


def parse_games(text: str) -> list[GameText]:
    """All games of a text, in order. The message of an error names the game and the line."""
    return list(iterate_games(text))


def iterate_games(text: str) -> Iterator[GameText]:
    """The games of a text, one by one: those before one that cannot be read are had all the same."""
    text = text.removeprefix("\ufeff")
    number, place = 1, _skip_space(text, 0)
    while place < len(text):
        game, place = _parse_game(text, place, number)
        yield game
        number += 1


def _parse_game(text: str, place: int, number: int) -> tuple[GameText, int]:
    """One game that begins at a place, and the place of the next."""
    game = GameText()

    def refuse(where: int, why: str) -> NotationError:
        return NotationError(f"game {number}, line {text.count(chr(10), 0, where) + 1}: {why}")

    while text.startswith("[", place):
        match = _HEADER.match(text, place)
        if match is None:
            line = text[place : place + 60].splitlines()[0]
            raise refuse(place, f'{line!r} is no header: a header is [Name "value"], with \\" for a quote in the value')
        name = match[1]
        try:
            _check_header_name(name)
            if name in game.headers:
                raise NotationError(f"the header {name!r} stands there twice")
            game.headers[name] = _unescaped(match[2], name)
        except NotationError as error:
            raise refuse(place, str(error)) from None
        place = _skip_space(text, match.end())
    if not game.headers:
        raise refuse(
            place, f'a game begins with headers, e.g. [Variant "classic"], not with {text[place : place + 20]!r}'
        )

    def skip_comment(place: int) -> int:
        close = text.find("}", place)
        if close < 0:
            raise refuse(place, "a comment begins with { and never ends: } is missing")
        _add_comment(game, text[place + 1 : close].strip())
        return _skip_space(text, close + 1)

    end: str | None = None
    player, due = 0, 1  # who is on turn, and the number of the next move
    while place < len(text) and end is None and text[place] != "[":
        if text[place] == "{":
            place = skip_comment(place)
            continue
        number_match = _NUMBER.match(text, place)
        if number_match is not None:
            who = 1 if number_match[2] == "..." else 0
            if not game.moves and game.first is None:
                game.first = player = who
            if (number_match[1], who) != (str(due), player):
                raise refuse(
                    place,
                    f"the move number {shortened(number_match[0])} is wrong here: "
                    f"{due}{'...' if player else '.'} comes next ({'blue' if player else 'red'} is on turn)",
                )
            place = _skip_space(text, number_match.end())
            continue
        word_match = _WORD.match(text, place)
        if word_match is None:
            raise refuse(place, f"{text[place]!r} belongs to no header and no comment")
        word = word_match[0]
        if word in RESULTS:
            end = word
        elif looks_like_a_move(word):
            game.moves.append(WrittenMove(word))
            due += player
            player = 1 - player
        else:
            raise refuse(
                place, f"{shortened(word)} is no move and no result: {FORMS}, a result is one of {' '.join(RESULTS)}"
            )
        place = _skip_space(text, word_match.end())
    # A comment after the result still belongs to the last move.
    while end is not None and text.startswith("{", place):
        place = skip_comment(place)

    written = game.headers.get("Result")
    if written is not None and written not in RESULTS:
        raise refuse(place, f"the Result {written!r} is none of {' '.join(RESULTS)}")
    if written is not None and end is not None and written != end:
        raise refuse(place, f"the header Result is {written!r}, and the moves end with {end!r}")
    game.result = written if end is None else end
    return game, place


def _add_comment(game: GameText, comment: str) -> None:
    """A comment belongs to the move before it; several after one move are joined."""
    if not comment:
        return
    if not game.moves:
        game.comment = comment if game.comment is None else f"{game.comment} {comment}"
    else:
        text, before = game.moves[-1]
        game.moves[-1] = WrittenMove(text, comment if before is None else f"{before} {comment}")


def _skip_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return place if match is None else match.end()


def _check_header_name(name: str) -> None:
    if _NAME.fullmatch(name) is None:
        raise NotationError(f"{shortened(name)} is no name for a header: names are letters and digits, e.g. RedSetup")


def _unescaped(value: str, name: str) -> str:
    wrong = re.search(r"\\(?:[^\"\\])", re.sub(r"\\\\", "", value))
    if wrong is not None:
        raise NotationError(
            f"the value of the header {name!r} has {wrong[0]!r}: a backslash stands before a quote or a backslash only"
        )
    return re.sub(r"\\(.)", r"\1", value)


# ── Writing ──────────────────────────────────────────────────────────────────────────────────────


def game_text(game: GameText) -> str:
    """The text of one game; the inverse of `parse_games`. It ends with a line break.

    Texts of several games are joined with an empty line between them: `"\\n".join(...)`.
    """
    lines = [_header_text(name, value) for name, value in game.headers.items()]
    if not lines:
        raise NotationError('a game needs headers: at least [Variant "…"] and two setups or a [Position "…"]')
    words: list[str] = []
    player = game.first or 0
    number = 1
    for written in game.moves:
        if not looks_like_a_move(written.text):
            raise NotationError(f"{written.text!r} is no move: {FORMS}")
        numbered = player == 0 or not words
        words.append(f"{number}{'...' if player else '.'} {written.text}" if numbered else written.text)
        if written.comment:
            words.append(_comment_text(written.comment))
        number += player
        player = 1 - player
    if game.comment:
        words.insert(0, _comment_text(game.comment))
    result = game.result or "*"
    if result not in RESULTS:
        raise NotationError(f"the result {result!r} is none of {' '.join(RESULTS)}")
    words.append(result)
    return "\n".join([*lines, "", *_broken(words)]) + "\n"


def games_text(games: list[GameText]) -> str:
    """The text of several games, with an empty line between them."""
    return "\n".join(game_text(game) for game in games)


def _header_text(name: str, value: str) -> str:
    _check_header_name(name)
    if "\n" in value or "\r" in value:
        raise NotationError(
            f"the value of the header {name!r} has a line break, and a header is one line: {shortened(value)}"
        )
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _comment_text(comment: str) -> str:
    if "}" in comment:
        raise NotationError(f"a comment cannot hold '}}', which would end it: {shortened(comment)}")
    return f"{{{comment}}}"


def _broken(words: list[str]) -> list[str]:
    """Words in lines of at most `WIDTH` columns; a comment, or a move with its number, is one word."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


# ── The variant of a game ────────────────────────────────────────────────────────────────────────


def parse_variant_headers(headers: Mapping[str, str]) -> Variant:
    """The variant that a game's headers name, or describe with Board and Army."""
    if "Variant" not in headers:
        raise NotationError('the header Variant is missing, e.g. [Variant "classic"]')
    name = headers["Variant"]
    shipped = VARIANTS.get(name)
    board, army = headers.get("Board"), headers.get("Army")
    if board is None and army is None:
        if shipped is None:
            raise NotationError(
                f"there is no variant {name!r}: {nearest(name, list(VARIANTS))} "
                "(a variant of your own needs the headers Board and Army)"
            )
        return shipped
    if board is None or army is None:
        raise NotationError(f"the variant {name!r} needs both headers, Board and Army, or none if it is a known one")
    try:
        described = _parse_board_header(board, name, parse_army(army))
    except ConfigurationError as error:
        raise NotationError(str(error)) from error
    if shipped is None:
        return described
    if not _same_board(shipped, described):
        raise NotationError(
            f"the headers Board and Army describe another variant than {name!r}, a known one: rename it"
        )
    return shipped


def variant_headers(variant: Variant) -> dict[str, str]:
    """The headers that describe a variant; the inverse of `parse_variant_headers`.

    Its limits are not among them: they are part of the rules.
    """
    shipped = VARIANTS.get(variant.name)
    if shipped is not None:
        if not _same_board(shipped, variant):
            raise NotationError(
                f"there is another variant with the name {variant.name!r}: rename yours before writing games"
            )
        return {"Variant": variant.name}
    lakes = "".join(f" {variant.square_name(lake)}" for lake in variant.lakes)
    board = f"{variant.rows} x {variant.columns}; {f'lakes{lakes}; ' if lakes else ''}setup rows {variant.setup_rows}"
    return {"Variant": variant.name, "Board": board, "Army": variant.army_text}


_BOARD = re.compile(r"(\d{1,3}) ?[x×] ?(\d{1,3}); ?(?:lakes((?: [a-z][0-9]+)*); ?)?setup rows (\d{1,3})", re.ASCII)


def _parse_board_header(text: str, name: str, army: tuple[int, ...]) -> Variant:
    match = _BOARD.fullmatch(text)
    if match is None:
        raise NotationError(f"the Board {text!r} is not written 'rows x columns; lakes c4 f4 …; setup rows n'")
    bare = Variant(name, int(match[1]), int(match[2]), (), int(match[4]), army)
    lakes = tuple(sorted({bare.square(lake) for lake in (match[3] or "").split()}))
    return Variant(name, bare.rows, bare.columns, lakes, bare.setup_rows, army)


def _same_board(one: Variant, other: Variant) -> bool:
    return (one.rows, one.columns, one.lakes, one.setup_rows, one.army) == (
        other.rows, other.columns, other.lakes, other.setup_rows, other.army,
    )  # fmt: skip
