"""Import recorded games of the Gravon archive (docs/notation.md): XML files that a user has obtained.

    report = import_gravon(["archive/"])
    print(report.summary)

No original file was at hand when this was written. So nothing is assumed silently: the known parts of the format stand
in the tables below, everything else is refused with a `GravonFormatError`, and the orientation of the board is found by
replaying the first games (`calibrate`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from xml.parsers import expat

from vauban.board.stratego import Board
from vauban.errors import ConfigurationError, NotationError, VaubanError
from vauban.games.base import Outcome, nearest
from vauban.games.stratego.pieces import LETTERS
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.records import ENDS_UNSEEN, result_of, write_game
from vauban.notation.stratego.moves import Move
from vauban.notation.stratego.records import RESULTS_OF_END
from vauban.notation.stratego.strados import BLUE_LETTERS, RED_LETTERS

SIZE_LIMIT = 1_000_000
"""Bytes; a game of thousands of moves has a fifth of it."""
CALIBRATION_FILES = 50
REPLAYED_BY_RIGHT = 0.95
REPLAYED_BY_WRONG = 0.50
"""The right hypothesis replays at least 95 % of the games, every other one fewer than 50 %."""
COLUMNS = "ABCDEFGHIK"
"""The names of the columns: J is left out."""

KNOWN: dict[str, tuple[str, ...]] = {
    "game": (),
    "field": ("content",),
    "move": ("id", "source", "target"),
    "result": ("type", "winner"),
}
"""Elements and attributes that are understood; all others go into `meta`."""

WINNERS = {"0": "first", "1": "second"}
"""Meanings of an attribute `winner` where the board shows who won and no result table says otherwise."""

LAKES = VARIANTS["classic"].lakes
RULES = "two_square=off chase=off battleless_limit=none total_limit=none"
"""Gravon's own repetition rules are not ours: games are replayed without any."""

ResultTable = Mapping[str, tuple[str, Mapping[str, str]]]
"""By the code of the attribute `type`: the End, and the meaning of each value of `winner`: "first" (the
side with the letters B to M), "second" (N to Y) or "draw"."""


class GravonFormatError(NotationError):
    """A file that the importer does not understand in every point."""

    def __init__(self, file: str, place: str, reason: str, detail: str = "") -> None:
        super().__init__(f"{file}, {place}: {reason}{f' ({detail})' if detail else ''}")
        self.file = file
        self.place = place
        self.reason = reason
        """The same words for all files with this fault, so that they can be counted."""
        self.detail = detail


class GravonCalibrationError(NotationError):
    """No way of reading the squares replays the games of an archive, or more than one does."""

    def __init__(self, scores: Mapping[Hypothesis, int], games: int) -> None:
        lines = [f"  {count:4} of {games}  {hypothesis}" for hypothesis, count in scores.items()]
        super().__init__(
            f"the orientation of the archive could not be settled: one reading must replay at least "
            f"{REPLAYED_BY_RIGHT:.0%} of the first {games} games and every other fewer than {REPLAYED_BY_WRONG:.0%}. "
            "Games replayed by each:\n" + "\n".join(lines)
        )
        self.scores = dict(scores)


@dataclass(frozen=True)
class Hypothesis:
    """One way of reading square names and turns."""

    row_1_first: bool
    """Row 1 is the first ten letters of the board string, not the last."""
    column_a_first: bool
    """Column A is the first letter of each ten, not the last."""
    b_to_m_begins: bool
    """The side with the letters B to M moves first, not the side N to Y."""

    def __str__(self) -> str:
        return (
            f"row 1 is the {'first' if self.row_1_first else 'last'} block, "
            f"column A the {'first' if self.column_a_first else 'last'} letter, "
            f"{'B–M' if self.b_to_m_begins else 'N–Y'} moves first"
        )


HYPOTHESES = tuple(Hypothesis(*choice) for choice in product((True, False), repeat=3))


@dataclass
class GravonFile:
    """The contents of one file, before its orientation is known."""

    file: str
    letters: str
    """The board string, 100 letters."""
    variant: str
    moves: list[tuple[str, str]]
    """Names of squares, e.g. ("A4", "A5")."""
    result_type: str | None = None
    winner: str | None = None
    meta: dict[str, str] = field(default_factory=dict)
    """Unknown elements ("player") and attributes ("game.date") with their values."""


@dataclass(frozen=True)
class GravonGame:
    """An imported game."""

    file: str
    text: str
    """The game as game text (docs/notation.md); `read_games` reads it."""
    plies: int
    complete: bool
    """True if the board shows the end of the game."""
    result: str
    """"1-0", "0-1" or "1/2-1/2" (red is the side that moved first); "unknown" if neither board nor table tells."""
    prefix: bool
    """True if the game was cut before its first illegal move."""
    meta: dict[str, str]


@dataclass
class GravonReport:
    """The outcome of an import."""

    files: int = 0
    games: list[GravonGame] = field(default_factory=list)
    refusals: list[GravonFormatError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """One for each unknown name."""
    hypothesis: Hypothesis | None = None
    scores: dict[Hypothesis, int] = field(default_factory=dict)
    """Number of the first games that each hypothesis replays."""

    @property
    def accepted(self) -> int:
        """Number of games that were imported whole."""
        return sum(not game.prefix for game in self.games)

    @property
    def prefixes(self) -> int:
        """Number of games that were cut at their first illegal move."""
        return sum(game.prefix for game in self.games)

    @property
    def refused(self) -> dict[str, int]:
        """Number of files that were refused, by reason, the most frequent first."""
        return dict(Counter(error.reason for error in self.refusals).most_common())

    @property
    def summary(self) -> str:
        """The report for a person."""
        lines = [
            f"{self.files} files: {self.accepted} accepted, {self.prefixes} prefixes, {len(self.refusals)} refused"
        ]
        lines += [f"  {count:5}  {reason}" for reason, count in self.refused.items()]
        if self.hypothesis is not None:
            lines.append(f"orientation: {self.hypothesis}")
        return "\n".join([*lines, *self.warnings])


# ── One file ─────────────────────────────────────────────────────────────────────────────────────


def parse_gravon(data: bytes, file: str = "data") -> GravonFile:
    """Read one XML file. The error names the place and the reason."""
    if len(data) > SIZE_LIMIT:
        raise GravonFormatError(file, "size", f"larger than {SIZE_LIMIT} bytes", f"it has {len(data)}")
    elements = _elements(data, file)
    contents = [attributes for name, attributes, _ in elements if name == "field"]
    if len(contents) != 1:
        raise GravonFormatError(file, "element 'field'", "exactly one is needed", f"there are {len(contents)}")
    if "content" not in contents[0]:
        raise GravonFormatError(file, "element 'field'", "the attribute 'content' is missing")
    letters = "".join(contents[0]["content"].split())
    variant = _check_board(letters, file)
    results = [attributes for name, attributes, _ in elements if name == "result"]
    if len(results) > 1:
        raise GravonFormatError(file, "element 'result'", "at most one is understood", f"there are {len(results)}")
    result = results[0] if results else {}
    moves = _moves([attributes for name, attributes, _ in elements if name == "move"], file)
    return GravonFile(file, letters, variant, moves, result.get("type"), result.get("winner"), _meta(elements))


def _elements(data: bytes, file: str) -> list[tuple[str, dict[str, str], str]]:
    """Return every element's name, attributes and own text, in order. No entity is ever expanded."""
    elements: list[tuple[str, dict[str, str], str]] = []
    texts: list[list[str]] = []
    opened: list[int] = []
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def start(name: str, attributes: dict[str, str]) -> None:
        opened.append(len(elements))
        elements.append((name, attributes, ""))
        texts.append([])

    def end(name: str) -> None:
        opened.pop()

    def characters(text: str) -> None:
        texts[opened[-1]].append(text)

    def refuse(*_: Any) -> int:
        raise GravonFormatError(file, f"line {parser.CurrentLineNumber}", "a DOCTYPE or an entity, which is never read")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
    except GravonFormatError:
        raise
    except expat.ExpatError as error:
        raise GravonFormatError(
            file, f"line {error.lineno}", "not well-formed XML", expat.ErrorString(error.code)
        ) from None
    except (ValueError, LookupError) as error:
        raise GravonFormatError(file, "encoding", "an encoding that cannot be read", str(error)) from None
    joined = zip(elements, texts, strict=True)
    return [(name, attributes, " ".join("".join(pieces).split())) for (name, attributes, _), pieces in joined]


def _check_board(letters: str, file: str) -> str:
    """Return the variant that a board string belongs to."""
    place = "element 'field', content"
    if len(letters) != 100:
        raise GravonFormatError(file, place, "the board has not 100 letters", f"it has {len(letters)}")
    for index, letter in enumerate(letters):
        if letter not in "Aa_" + RED_LETTERS + BLUE_LETTERS:
            raise GravonFormatError(file, place, f"the letter {letter!r} is unknown", f"index {index}")
        if (letter == "_") != (index in LAKES):
            raise GravonFormatError(
                file, place, "the lakes are not where they should be", f"{letter!r} at index {index}"
            )
    sides = {}
    for name, alphabet in (("B–M", RED_LETTERS), ("N–Y", BLUE_LETTERS)):
        squares = [index for index, letter in enumerate(letters) if letter in alphabet]
        if not (all(index < 40 for index in squares) or all(index >= 60 for index in squares)):
            raise GravonFormatError(file, place, f"the pieces {name} do not stand in one block of 40 squares at an end")
        sides[name] = squares
    if all(sides.values()) and (sides["B–M"][0] < 40) == (sides["N–Y"][0] < 40):
        raise GravonFormatError(file, place, "both sides stand in the same block of 40 squares")
    counts = [tuple(letters.count(letter) for letter in alphabet) for alphabet in (RED_LETTERS, BLUE_LETTERS)]
    for variant in ("classic", "barrage"):
        if counts == [VARIANTS[variant].army] * 2:
            return variant
    vectors = [", ".join(str(side[RED_LETTERS.index(letter)]) for letter in sorted(RED_LETTERS)) for side in counts]
    raise GravonFormatError(
        file, place, f"neither Stratego nor Barrage: B C D E F G H I J K L M are {vectors[0]} and {vectors[1]}"
    )


def _moves(elements: Sequence[Mapping[str, str]], file: str) -> list[tuple[str, str]]:
    if not elements:
        raise GravonFormatError(file, "element 'move'", "at least one is needed", "there is none")
    moves = []
    before: int | None = None
    for number, attributes in enumerate(elements, 1):
        squares = []
        for name in ("source", "target"):
            if name not in attributes:
                raise GravonFormatError(file, f"move {number}", f"the attribute {name!r} is missing")
            square = attributes[name]
            if square.startswith("J"):
                raise GravonFormatError(
                    file, f"move {number}, {name}", "column J does not exist in this format", square
                )
            if re.fullmatch(r"[A-IK](10|[1-9])", square) is None:
                raise GravonFormatError(file, f"move {number}, {name}", "no square: A1 to K10", repr(square))
            squares.append(square)
        moves.append((squares[0], squares[1]))
        if ("id" in attributes) != ("id" in elements[0]):
            raise GravonFormatError(file, f"move {number}", "some moves have an id and some have none")
        if "id" in attributes:
            word = attributes["id"]
            if re.fullmatch(r"[0-9]{1,9}", word, re.ASCII) is None:
                raise GravonFormatError(file, f"move {number}", "the id is no number", repr(word))
            if before is not None and int(word) <= before:
                raise GravonFormatError(
                    file, f"move {number}", "the ids do not ascend, so the order is not certain", word
                )
            before = int(word)
    return moves


def _meta(elements: Iterable[tuple[str, Mapping[str, str], str]]) -> dict[str, str]:
    """Return the unknown elements and attributes, by name; the values of a name that occurs often are joined."""
    found: dict[str, list[str]] = {}
    for name, attributes, text in elements:
        if name not in KNOWN or text:
            found.setdefault(name, []).extend([text] if text else [])
        for attribute, value in attributes.items():
            if attribute not in KNOWN.get(name, ()):
                found.setdefault(f"{name}.{attribute}", []).append(value)
    return {name: "; ".join(values) for name, values in found.items()}


_PERSONAL = re.compile(r"name|nick|user|player|login|mail|account|red|blue|first|second|owner|host", re.IGNORECASE)
_HARMLESS = re.compile(r"[0-9 .,:;+/TZ-]*", re.ASCII)


def _without_names(meta: Mapping[str, str]) -> dict[str, str]:
    """Return the entries that cannot be a person's name.

    Where the archive writes the players' names is not known, so only numbers, dates and times under
    names that do not speak of persons are kept.
    """
    return {
        name: value for name, value in meta.items() if _HARMLESS.fullmatch(value) and _PERSONAL.search(name) is None
    }


# ── Replaying ────────────────────────────────────────────────────────────────────────────────────


def _start(game: GravonFile, hypothesis: Hypothesis) -> tuple[Board, bool]:
    """Return the board before the first move, and whether it is turned against the board string.

    Ours has the side that moves first at the bottom, as red.
    """
    first_letters, second_letters = RED_LETTERS, BLUE_LETTERS
    if not hypothesis.b_to_m_begins:
        first_letters, second_letters = second_letters, first_letters
    turned = any(letter in first_letters for letter in game.letters[60:])
    letters = game.letters[::-1] if turned else game.letters
    red = "".join(_own_letter(letter, first_letters) for letter in letters[:40])
    blue = "".join(_own_letter(letter, second_letters) for letter in letters[:59:-1])
    return Board.from_setups(red, blue, game.variant, RULES), turned


def _own_letter(letter: str, alphabet: str) -> str:
    return "." if letter in "Aa" else LETTERS[alphabet.index(letter)]


def _square(name: str, hypothesis: Hypothesis, turned: bool) -> int:
    row, column = int(name[1:]) - 1, COLUMNS.index(name[0])
    if not hypothesis.row_1_first:
        row = 9 - row
    if not hypothesis.column_a_first:
        column = 9 - column
    index = 10 * row + column
    return 99 - index if turned else index


def _replay(game: GravonFile, hypothesis: Hypothesis) -> tuple[Board, VaubanError | None]:
    """Return the board after all moves, or before the first that cannot be played, with the reason."""
    board, turned = _start(game, hypothesis)
    for source, target in game.moves:
        try:
            board.push(Move(_square(source, hypothesis, turned), _square(target, hypothesis, turned)))
        except VaubanError as error:
            return board, error
    return board, None


def calibrate(games: Sequence[GravonFile]) -> tuple[Hypothesis, dict[Hypothesis, int]]:
    """Find the one way of reading squares and turns that replays the games; return it, and the number that each of the
    eight replays.
    """
    scores = {hypothesis: sum(_replay(game, hypothesis)[1] is None for game in games) for hypothesis in HYPOTHESES}
    ranked = sorted(scores, key=lambda hypothesis: -scores[hypothesis])
    if (
        not games
        or scores[ranked[0]] < REPLAYED_BY_RIGHT * len(games)
        or scores[ranked[1]] >= REPLAYED_BY_WRONG * len(games)
    ):
        raise GravonCalibrationError(scores, len(games))
    return ranked[0], scores


# ── An archive ───────────────────────────────────────────────────────────────────────────────────


def import_gravon(
    paths: Iterable[str | Path],
    *,
    keep_prefix: bool = False,
    keep_names: bool = False,
    result_table: ResultTable | None = None,
) -> GravonReport:
    """Import the files of an archive: files, or folders that are searched for .xml and .gsn files.

    A file that is not understood is refused and counted. `keep_prefix` keeps the legal part of a game
    with an illegal move; `keep_names` keeps in `meta` what may be a person's name; `result_table` gives the meanings of
    the archive's codes for results. Raises `GravonCalibrationError` if the orientation of the boards cannot be found.
    """
    table = _checked_table(result_table)
    files = _files(paths)
    report = GravonReport(len(files))
    first: list[GravonFile] = []
    for path in files[:CALIBRATION_FILES]:
        game = _read(path, report, count=False)
        if game is not None:
            first.append(game)
    if first:
        report.hypothesis, report.scores = calibrate(first)
    warned: set[str] = set()
    for path in files:
        game = _read(path, report)
        # With nothing readable among the first files there is no orientation, and no game can be replayed.
        if game is None:
            continue
        for name in sorted(game.meta.keys() - warned):
            report.warnings.append(f"unknown name {name!r}, first seen in {game.file}: kept as meta, not understood")
        warned |= game.meta.keys()
        try:
            if report.hypothesis is None:
                raise GravonFormatError(
                    game.file, "orientation", f"not settled: none of the first {CALIBRATION_FILES} files could be read"
                )
            report.games.append(_judged(game, report.hypothesis, keep_prefix, keep_names, table))
        except GravonFormatError as error:
            report.refusals.append(error)
    return report


def _files(paths: Iterable[str | Path]) -> list[Path]:
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            files += sorted(each for each in path.rglob("*") if each.suffix.lower() in (".xml", ".gsn"))
        else:
            files.append(path)
    return files


def _read(path: Path, report: GravonReport, count: bool = True) -> GravonFile | None:
    """Return one file, or None if it is refused."""
    try:
        if path.suffix.lower() == ".gsn":
            raise GravonFormatError(
                path.name, "file", "format .gsn is not documented; convert it to a board string (docs/notation.md)"
            )
        if path.suffix.lower() != ".xml":
            raise GravonFormatError(path.name, "file", "not an .xml file", repr(path.suffix))
        try:
            with path.open("rb") as file:
                data = file.read(SIZE_LIMIT + 1)
        except OSError as error:
            raise GravonFormatError(path.name, "file", "cannot be opened", error.strerror or "") from error
        return parse_gravon(data, path.name)
    except GravonFormatError as error:
        if count:
            report.refusals.append(error)
        return None


def _judged(
    game: GravonFile, hypothesis: Hypothesis, keep_prefix: bool, keep_names: bool, table: ResultTable
) -> GravonGame:
    """Return the game replayed, with its result; refuses what contradicts the board."""
    board, fault = _replay(game, hypothesis)
    outcome = board.outcome()
    if fault is not None:
        number = len(board.history) + 1
        source, target = game.moves[number - 1]
        place = f"move {number}, {source}-{target}"
        if outcome is not None:
            after = "the Flag was taken" if outcome.end == "flag" else f"the game was over ({outcome.end})"
            raise GravonFormatError(game.file, place, f"a move after {after}")
        if not keep_prefix or number == 1:
            raise GravonFormatError(game.file, place, "an illegal move", str(fault))
    result, end = "unknown", "unfinished"
    if fault is None:
        result, end = _result(game, outcome, hypothesis, table)
    complete = outcome is not None
    headers = {
        "Event": "Gravon archive",
        "Source": re.sub(r"[\r\n]", " ", game.file),
        "Complete": "true" if complete else "false",
        "Result": "*" if result == "unknown" else result,
        "End": end,
    }
    meta = dict(game.meta) if keep_names else _without_names(game.meta)
    text = write_game(board, headers)
    return GravonGame(game.file, text, len(board.history), complete, result, fault is not None, meta)


def _result(game: GravonFile, outcome: Outcome | None, hypothesis: Hypothesis, table: ResultTable) -> tuple[str, str]:
    """Return result and End of a game that was replayed whole."""
    end, meanings = table.get(game.result_type or "", (None, None))
    meaning = (WINNERS if meanings is None else meanings).get(game.winner or "")
    claimed = None
    if meaning == "draw":
        claimed = "1/2-1/2"
    elif meaning is not None:
        claimed = "1-0" if (meaning == "first") == hypothesis.b_to_m_begins else "0-1"
    place = "element 'result'"
    if outcome is not None:
        shown = result_of(outcome)
        if claimed not in (None, shown):
            raise GravonFormatError(
                game.file, place, "the winner contradicts the board",
                f"winner {game.winner!r} means {claimed}, the board shows {shown} by {outcome.end}",
            )  # fmt: skip
        return shown, outcome.end
    if end is None:
        return "unknown", "unfinished"
    if end not in ENDS_UNSEEN:
        raise GravonFormatError(
            game.file,
            place,
            f"the type means {end!r}, and on the board the game is not over",
            f"type {game.result_type!r}",
        )
    if end == "unfinished":
        return "unknown", "unfinished"
    if claimed is None:
        raise GravonFormatError(
            game.file, place, "the result table does not know this winner",
            f"type {game.result_type!r}, winner {game.winner!r}",
        )  # fmt: skip
    if claimed not in RESULTS_OF_END[end]:
        raise GravonFormatError(game.file, place, f"the result {claimed} does not go with the end {end!r}")
    return claimed, end


def _checked_table(table: ResultTable | None) -> ResultTable:
    for code, (end, meanings) in (table or {}).items():
        if end not in RESULTS_OF_END:
            raise ConfigurationError(
                f"result table, type {code!r}: {end!r} is no End: {nearest(end, list(RESULTS_OF_END))}"
            )
        for winner, meaning in meanings.items():
            if meaning not in ("first", "second", "draw"):
                raise ConfigurationError(
                    f"result table, type {code!r}: winner {winner!r} means 'first', 'second' or 'draw', not {meaning!r}"
                )
    return table or {}
