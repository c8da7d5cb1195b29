"""The text of whole games (docs/notation.md): headers, moves, comments, result. No board is asked.

    [Game "stratego"]
    [Variant "micro"]
    [RedSetup "FLP."]
    [BlueSetup "P.FL"]
    [Result "1-0"]
    [End "flag"]

    1. b1b2 d3d2 2. c1b1 {slow} a3a2 3. b2xb3(L>F) 1-0

`parse_games` and `game_text` keep every header and every comment, known or not. `vauban.notation.records` knows what
the moves mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vauban.errors import NotationError
from vauban.families import family_part
from vauban.words import shortened

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
"""The first player has won, the second has won, a draw, not known."""

OLDEST = "stratego"
"""The game of a text without the header Game."""

WIDTH = 80
"""The writer breaks lines at this column."""


class Form(NamedTuple):
    """The syntax of a game's moves."""

    is_move: Callable[[str], bool]
    """True if a text has the form of a move."""
    example: str
    """An example of a move, for messages."""
    players: tuple[str, str] | None = None
    """The players, if they move by turns and a number stands before a pair of moves. If None, every move gets a number,
    and a reader takes any."""


ANY = Form(lambda text: bool(text), "a move is one word, or stands in quotes")
"""The form of games whose family has none of its own."""


def form_of(headers: Mapping[str, str]) -> Form:
    """Return the form of the moves in a text with these headers."""
    part = family_part("notation", headers.get("Game", OLDEST), "moves")
    return ANY if part is None else part.FORM


class WrittenMove(NamedTuple):
    """A move as it stands in a text, and the comment after it."""

    text: str
    comment: str | None = None


@dataclass
class GameText:
    """One game, as it is written."""

    headers: dict[str, str] = field(default_factory=dict)
    """In the order in which they stand; unknown ones too."""
    moves: list[WrittenMove] = field(default_factory=list)
    """As they are written; the game says what they mean."""
    result: str | None = None
    """One of `RESULTS`, from the header or from the end of the moves; None if neither is there."""
    comment: str | None = None
    """A comment before the first move."""
    first: int | None = None
    """The player who begins, by the first move number ("1." the first player, "1..." the second); None without one."""


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────

_HEADER = re.compile(r'\[\s*([^\s"\]]+)[ \t]*"((?:[^"\\\r\n]|\\.)*)"\s*\]')
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NUMBER = re.compile(r"([0-9]+)(\.\.\.|\.)", re.ASCII)
_WORD = re.compile(r'"((?:[^"\\]|\\["\\])*)"|[^\s{}\[\]]+')
_PLAIN = re.compile(r'[^\s{}\[\]"]+')
_SPACE = re.compile(r"\s+")


def parse_games(text: str) -> list[GameText]:
    """Return all games of a text, in order. The message of an error names the game and the line."""
    return list(iterate_games(text))


def iterate_games(text: str) -> Iterator[GameText]:
    """Yield the games of a text, one by one: those before one that cannot be read are had all the same."""
    text = text.removeprefix("\ufeff")
    number, place = 1, _skip_space(text, 0)
    while place < len(text):
        game, place = _parse_game(text, place, number)
        yield game
        number += 1


def _parse_game(text: str, place: int, number: int) -> tuple[GameText, int]:
    """Return one game that begins at a place, and the place of the next."""
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

    form = form_of(game.headers)
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
            if form.players is not None and (number_match[1], who) != (str(due), player):
                raise refuse(
                    place,
                    f"the move number {shortened(number_match[0])} is wrong here: "
                    f"{due}{'...' if player else '.'} comes next ({form.players[player]} is on turn)",
                )
            place = _skip_space(text, number_match.end())
            continue
        word_match = _WORD.match(text, place)
        if word_match is None:
            raise refuse(place, f"{text[place]!r} belongs to no header and no comment")
        word = word_match[0]
        move = word if word_match[1] is None else re.sub(r"\\(.)", r"\1", word_match[1])
        if word in RESULTS:
            end = word
        elif form.is_move(move):
            game.moves.append(WrittenMove(move))
            due, player = _next_number(due, player, form)
        else:
            raise refuse(
                place,
                f"{shortened(word)} is no move and no result: {form.example}, a result is one of {' '.join(RESULTS)}",
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
    """Add a comment to the move before it; several after one move are joined."""
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
    """Return the text of one game; the inverse of `parse_games`. It ends with a line break.

    Texts of several games are joined with an empty line between them: `"\\n".join(...)`.
    """
    lines = [_header_text(name, value) for name, value in game.headers.items()]
    if not lines:
        raise NotationError('a game needs headers: at least [Variant "…"] and two setups or a [Position "…"]')
    form = form_of(game.headers)
    words: list[str] = []
    number, player = 1, game.first or 0
    for written in game.moves:
        if not form.is_move(written.text):
            raise NotationError(f"{written.text!r} is no move: {form.example}")
        text = _move_word(written.text)
        numbered = player == 0 or not words
        words.append(f"{number}{'...' if player else '.'} {text}" if numbered else text)
        if written.comment:
            words.append(_comment_text(written.comment))
        number, player = _next_number(number, player, form)
    if game.comment:
        words.insert(0, _comment_text(game.comment))
    result = game.result or "*"
    if result not in RESULTS:
        raise NotationError(f"the result {result!r} is none of {' '.join(RESULTS)}")
    words.append(result)
    return "\n".join([*lines, "", *_broken(words)]) + "\n"


def games_text(games: list[GameText]) -> str:
    """Return the text of several games, with an empty line between them."""
    return "\n".join(game_text(game) for game in games)


def _next_number(number: int, player: int, form: Form) -> tuple[int, int]:
    """Return the number of the next move and who makes it: always 0 where every move has a number."""
    return (number + 1, 0) if form.players is None else (number + player, 1 - player)


def _move_word(text: str) -> str:
    """Return a move as one word: in quotes, if it could be taken for something else."""
    if _PLAIN.fullmatch(text) and text not in RESULTS and not _NUMBER.match(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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
    """Return words in lines of at most `WIDTH` columns; a comment, or a move with its number, is one word."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
