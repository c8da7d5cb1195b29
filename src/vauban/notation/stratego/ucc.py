"""The line protocol of the UCC programming competition of 2012, as text (docs/external-bots.md).

A manager and a bot talk in lines of ASCII over the bot's standard input and output. The board is
not turned for anybody: x is the column from a, y the row from red's back row, so that (x, y) is our
square 10·y + x on the classic board, RED is player 0 and BLUE player 1. The competition knew that
board and its army only; the line that asks for a setup describes any other.

    move_words(Move(30, 60))                       # "0 3 DOWN 3"
    parse_answer("0 3 DOWN 3").move()              # Move(source=30, target=60)
    parse_event("0 3 DOWN 3 DIES 9 8").outcome     # "DIES"

`write_log` and `read_log` are the manager's game log; a log is replayed and every outcome recomputed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from vauban.board.stratego import Battle, Board, Look, Played
from vauban.errors import ConfigurationError, InvalidMoveError, NotationError, SetupError, VaubanError
from vauban.games.base import Game
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES
from vauban.games.stratego.setups import Row, check_army, parse_setup
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.notation.records import result_of
from vauban.notation.stratego.moves import Move, MoveText
from vauban.notation.stratego.records import RESULTS_OF_END, RecordedGame, setups_of
from vauban.words import shortened

UCC_RULES = "ucc"
"""The rules of that competition as far as ours can say them: no repetition rules, and its turn cap."""

LETTERS = "s987654321FB"
"""One letter for each type, in the order of `TYPES`."""
EMPTY, ENEMY, LAKE = ".", "#", "+"
COLOURS = ("RED", "BLUE")
DIRECTIONS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
"""By word: the step in x and in y."""
START, QUIT, SURRENDER = "START", "QUIT", "SURRENDER"
OUTCOMES = {">": "KILLS", "<": "DIES", "=": "BOTHDIE"}
"""By a battle's result: the word for it."""
LONGEST_NAME = 60
"""Most letters of a bot's name: some bots read names into short buffers."""

CLASSIC = VARIANTS["classic"]
STRONGEST_FIRST = sorted(range(len(LETTERS)), key=lambda kind: "123456789sBF".index(LETTERS[kind]))
"""The types in the order in which an army is told."""
_SETUP_LINE = re.compile(
    r"(?P<colour>RED|BLUE) +(?P<name>.*\S) +(?P<columns>[0-9]{1,3}) +(?P<rows>[0-9]{1,3})"
    rf"( +SETUP +(?P<setup>[0-9]{{1,3}}) +ARMY(?P<army>( +[{LETTERS}]=[0-9]{{1,3}})+)"
    r"( +LAKES(?P<lakes>( +[0-9]{1,3},[0-9]{1,3})+))?( +[A-Z]+ .*)?)?",
    re.ASCII,
)
"""The first line of a manager. Words in capitals after LAKES are for managers of later days."""


def value(kind: int) -> int:
    """Return a piece's value in the line at the end: a Spy 1, a Marshal 10, Bombs and the Flag nothing."""
    return kind + 1 if kind < MOVABLE_TYPES else 0


def army_value(variant: Variant = CLASSIC) -> int:
    """Return the value of a whole army."""
    return sum(value(kind) * count for kind, count in enumerate(variant.army))


def variant_of(game: Game) -> Variant:
    """Return a game's variant; refuse a game that the protocol does not know."""
    if not isinstance(game, Stratego):
        raise ConfigurationError(f"a program plays Stratego, not {game.name!r}: its line protocol knows no other game")
    return game.variant


def is_classic(variant: Variant) -> bool:
    """Return whether a variant has the board and the army of the competition, which needs no words."""
    return (variant.place, variant.army) == (CLASSIC.place, CLASSIC.army)


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


def plain_name(name: str) -> str:
    """Return a program's name as bots can bear it: short, without blanks, with a slash."""
    plain = re.sub(r"[^!-~]+", "_", name)[-LONGEST_NAME:] or "bot"
    return plain if "/" in plain else f"./{plain}"


def setup_line(player: int, opponent: str, variant: Variant = CLASSIC) -> str:
    """Return the line that asks for a setup; it describes what is not the classic board and army."""
    line = f"{COLOURS[player]} {plain_name(opponent)} {variant.columns} {variant.rows}"
    if is_classic(variant):
        return line
    army = " ".join(f"{LETTERS[kind]}={variant.army[kind]}" for kind in STRONGEST_FIRST if variant.army[kind])
    lakes = " ".join(f"{lake % variant.columns},{lake // variant.columns}" for lake in variant.lakes)
    return f"{line} SETUP {variant.setup_rows} ARMY {army}" + (f" LAKES {lakes}" if lakes else "")


def parse_setup_line(line: str) -> tuple[int, str, Variant]:
    """Return the player, the opponent's name, which may hold blanks, and what is played."""
    found = _SETUP_LINE.fullmatch(line.strip())
    if found is None:
        raise NotationError(
            f"{shortened(line)} does not ask for a setup: that is e.g. 'RED ./opponent 10 10', or "
            "'RED ./opponent 6 6 SETUP 1 ARMY 3=1 4=1 5=1 6=1 7=1 F=1' for another board or army"
        )
    player, columns, rows = COLOURS.index(found["colour"]), int(found["columns"]), int(found["rows"])
    if found["army"] is None:
        if (columns, rows) != (CLASSIC.columns, CLASSIC.rows):
            raise NotationError(
                f"{shortened(line)} asks for a board of {columns} × {rows} and does not say what army stands there: "
                "without SETUP and ARMY it is 10 × 10"
            )
        return player, found["name"], CLASSIC
    army = [0] * len(LETTERS)
    for word in found["army"].split():
        army[LETTERS.index(word[0])] += int(word[2:])
    lakes = [tuple(map(int, word.split(","))) for word in (found["lakes"] or "").split()]
    outside = [f"{x},{y}" for x, y in lakes if x >= columns or y >= rows]
    if outside:
        raise NotationError(f"{shortened(line)}: there is no square {outside[0]} for a lake on {columns} × {rows}")
    try:
        variant = Variant(
            "of the manager", rows, columns, tuple(y * columns + x for x, y in lakes), int(found["setup"]), tuple(army)
        )
    except ConfigurationError as error:
        raise NotationError(f"{shortened(line)}: {error}") from error
    return player, found["name"], CLASSIC if is_classic(variant) else variant


def setup_rows(setup: Row, player: int, variant: Variant = CLASSIC) -> list[str]:
    """Return a setup as lines by ascending y: red's back row first, blue's front row first."""
    codes = np.asarray(setup)
    letters = "".join(EMPTY if code == 0 else LETTERS[code - 1] for code in (codes if player == 0 else codes[::-1]))
    return [letters[start : start + variant.columns] for start in range(0, len(letters), variant.columns)]


def parse_setup_rows(rows: Sequence[str], player: int, variant: Variant = CLASSIC) -> Row:
    """Return the setup behind its lines; the inverse of `setup_rows`."""
    if len(rows) != variant.setup_rows:
        raise SetupError(f"a setup has {variant.setup_rows} rows, not {len(rows)}")
    first = 0 if player == 0 else variant.rows - variant.setup_rows
    for y, row in enumerate(rows, first):
        if len(row) != variant.columns:
            raise SetupError(
                f"setup row y={y}, {shortened(row)}, has {len(row)} characters instead of {variant.columns}"
            )
        strange = [letter for letter in row if letter not in LETTERS + EMPTY]
        if strange:
            raise SetupError(
                f"{strange[0]!r} in setup row y={y}, {shortened(row)}, is no piece: the letters are 1 to 9, s, B, F "
                "(the spy is a small s)"
            )
    letters = "".join(rows)
    codes = np.array([0 if letter == EMPTY else 1 + LETTERS.index(letter) for letter in letters], np.int8)
    check_army(codes, variant)
    return codes if player == 0 else codes[::-1].copy()


# ── Boards ───────────────────────────────────────────────────────────────────────────────────────


def board_rows(look: Look, player: int) -> list[str]:
    """Return the board as a player is shown it, by ascending y: every enemy is `#`, even one that is known."""
    v = look.variant
    cells = [EMPTY] * v.squares
    for lake in v.lakes:
        cells[lake] = LAKE
    for square, piece in look.pieces().items():
        cells[square] = LETTERS[piece.kind] if piece.player == player and piece.kind is not None else ENEMY
    return ["".join(cells[start : start + v.columns]) for start in range(0, v.squares, v.columns)]


def parse_board_rows(rows: Sequence[str], variant: Variant = CLASSIC) -> dict[int, str]:
    """Return, by square, the letter of each piece on a shown board (`#` for an enemy)."""
    if len(rows) != variant.rows or any(len(row) != variant.columns for row in rows):
        raise NotationError(f"a board is {variant.rows} rows of {variant.columns} characters")
    found = {}
    for square, cell in enumerate("".join(rows)):
        if cell in LETTERS + ENEMY:
            found[square] = cell
        elif cell not in EMPTY + LAKE:
            y = square // variant.columns
            raise NotationError(f"{cell!r} in row y={y}, {rows[y]!r}, is nothing on a board")
    return found


# ── Moves ────────────────────────────────────────────────────────────────────────────────────────


class Answer(NamedTuple):
    """A bot's answer."""

    x: int
    y: int
    direction: str
    squares: int
    """Number of squares to go."""

    def move(self, variant: Variant = CLASSIC) -> Move | None:
        """Return the move; None if it is none on this board: from outside, to outside, or no way at all."""
        step_x, step_y = DIRECTIONS[self.direction]
        to_x, to_y = self.x + self.squares * step_x, self.y + self.squares * step_y
        columns, rows = variant.columns, variant.rows
        inside = 0 <= self.x < columns and 0 <= self.y < rows and 0 <= to_x < columns and 0 <= to_y < rows
        if not inside or self.squares < 1:
            return None
        return Move(columns * self.y + self.x, columns * to_y + to_x)


_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,9})", re.ASCII)
_WORD = re.compile(r"\s*(\S+)", re.ASCII)


def parse_answer(line: str) -> Answer | None:
    """Return a bot's answer, without its line feed; None if it resigns.

    Read as the manager reads it: two numbers, a word, perhaps a number, and whatever comes after
    that. A fourth word that is no number counts as 0 squares, so the move is not legal.
    """
    if line == SURRENDER:
        return None
    answer = _read_answer(line)
    if answer is None:
        raise InvalidMoveError(
            f"{shortened(line)} is no answer: that is X Y DIRECTION [SQUARES], e.g. '0 3 DOWN' or '9 6 UP 3', "
            f"in capitals, or {SURRENDER}"
        )
    return answer[0]


def _read_answer(line: str) -> tuple[Answer, str] | None:
    """Return the answer at the beginning of a line, and what follows its word."""
    x = _INTEGER.match(line)
    y = _INTEGER.match(line, x.end()) if x else None
    word = _WORD.match(line, y.end()) if y else None
    if x is None or y is None or word is None or word[1] not in DIRECTIONS:
        return None
    rest = line[word.end() :]
    squares = 1
    if rest.strip():
        number = _INTEGER.match(rest)
        squares = int(number[1]) if number else 0
    return Answer(int(x[1]), int(y[1]), word[1], squares), rest


def move_words(move: Move, variant: Variant = CLASSIC) -> str:
    """Return a move as an answer: "0 3 DOWN", or "0 3 DOWN 3" if it is longer than a step."""
    (y, x), (to_y, to_x) = (divmod(square, variant.columns) for square in move)
    squares = abs(to_x - x) + abs(to_y - y)
    sign = ((to_x > x) - (to_x < x), (to_y > y) - (to_y < y))
    if squares == 0 or 0 not in sign:
        raise InvalidMoveError(f"{tuple(move)} is no move along a row or a column")
    direction = next(word for word, step in DIRECTIONS.items() if step == sign)
    return f"{x} {y} {direction}" + (f" {squares}" if squares > 1 else "")


# ── Events ───────────────────────────────────────────────────────────────────────────────────────


class Event(NamedTuple):
    """A move and its outcome, as both players are told."""

    answer: Answer | None
    """None if the words before the outcome are no move."""
    outcome: str | None
    """OK, KILLS, DIES, BOTHDIE, or ILLEGAL; None if none is named."""
    shown: tuple[int, int] | None
    """The types of attacker and defender, if they fought."""


def outcome_words(battle: Battle | None) -> str:
    """Return the outcome of a move in words: "OK", "KILLS 3 8", … or, for the log only, "VICTORY_FLAG"."""
    if battle is None:
        return "OK"
    if battle.defender == FLAG:
        return "VICTORY_FLAG"
    return f"{OUTCOMES[battle.result]} {LETTERS[battle.attacker]} {LETTERS[battle.defender]}"


def event_line(played: Played, words: str | None = None, variant: Variant = CLASSIC) -> str:
    """Write the line that tells both players of a move; `words` are the mover's own, in place of the plain ones."""
    return f"{move_words(played.move, variant) if words is None else words} {outcome_words(played.battle)}"


def parse_event(line: str) -> Event:
    """Return the event behind a line, whatever odd words a bot has put between its move and the outcome."""
    words = line.split()
    outcome: str | None = None
    shown = None
    if len(words) >= 3 and words[-3] in OUTCOMES.values():
        kinds = [LETTERS.find(word) if len(word) == 1 else -1 for word in words[-2:]]
        if min(kinds) >= 0:
            outcome, shown = words[-3], (kinds[0], kinds[1])
            words = words[:-3]
    elif words and words[-1] in ("OK", "ILLEGAL", "VICTORY_FLAG"):
        outcome = words.pop()
    answer = _read_answer(" ".join(words))
    return Event(None if answer is None else answer[0], outcome, shown)


# ── The end ──────────────────────────────────────────────────────────────────────────────────────

WORDS_OF_END = {
    "flag": "VICTORY", "no_moves": "VICTORY", "both_immobile": "DRAW", "total_limit": "DRAW_DEFAULT",
    "battleless_limit": "DRAW_DEFAULT", "agreed": "DRAW_DEFAULT", "resigned": "SURRENDER", "time": "ILLEGAL",
    "illegal": "ILLEGAL", "absent": "ILLEGAL",
}  # fmt: skip
"""By our word for the end of a game: the protocol's."""


class Ending(NamedTuple):
    """The end of a game, as the manager says it."""

    name: str
    colour: str
    """The colour of the player on turn: RED or BLUE; BOTH if both setups were refused."""
    word: str
    turn: int
    """Turns of both players count as one, the first is 1; 0 while setups are made."""
    values: tuple[int, int]
    """Values of red's and blue's pieces on the board."""

    @property
    def text(self) -> str:
        """The manager's result line; after QUIT, the line that bots are told."""
        return f"{self.name} {self.colour} {self.word} {self.turn} {self.values[0]} {self.values[1]}"


def ending(end: str, plies: int, names: Sequence[str], values: tuple[int, int]) -> Ending:
    """Return the words for a game that ended after `plies` plies; `end` is one of our words.

    A player who resigned, was late or answered wrongly is the one on turn; the winner made the last ply.
    """
    if end not in WORDS_OF_END:
        raise NotationError(f"there is no word for a game that ended {end!r}: it is one of {', '.join(WORDS_OF_END)}")
    word = WORDS_OF_END[end]
    if word == "DRAW_DEFAULT":
        # The manager's loop has just counted one turn too many when it stops, on blue's side.
        player, turn = 1, plies // 2 + 1
    else:
        ply = max(0, plies - 1) if word in ("VICTORY", "DRAW") else plies
        player, turn = ply % 2, ply // 2 + 1
    return Ending(plain_name(names[player]), COLOURS[player], word, turn, values)


def parse_ending(line: str) -> Ending:
    """Return the ending behind a result line, or behind a bot's QUIT line."""
    words = line.split()
    if words[:1] == [QUIT]:
        words = words[1:]
    numbers = words[-3:]
    if len(words) < 6 or not all(number.isascii() and number.isdigit() and len(number) < 10 for number in numbers):
        raise NotationError(f"{shortened(line)} is no result: that is e.g. './bot BLUE VICTORY 5 142 138'")
    turn, red, blue = map(int, numbers)
    return Ending(" ".join(words[:-5]), words[-5], words[-4], turn, (red, blue))


# ── The game log ─────────────────────────────────────────────────────────────────────────────────

REASONS = {
    "flag": "Captured the flag",
    "no_moves": "Destroyed all mobile enemy pieces",
    "both_immobile": "Game declared a draw because neither player has mobile pieces",
    "total_limit": "Game declared a draw after {turn} turns",
    "battleless_limit": "Game declared a draw after {turn} turns",
    "resigned": "This player has surrendered!",
    "time": "Response timeout",
    "illegal": "Unintelligable response",  # as it is spelled there
    "absent": "Response timeout",
}
"""By our word for the end of a game: the reason in a log."""

_ENDS_OF_REASONS = {
    "captured the flag": "flag", "destroyed all mobile": "no_moves", "neither": "both_immobile",
    "draw": "total_limit", "surrender": "resigned", "timeout": "time", "internal": "unfinished",
    "unsure why": "unfinished",
}  # fmt: skip
"""By some words of a reason, in this order; all other reasons are illegal answers."""
_ASIDES = re.compile(r"SIGPIPE - .*|\s*Strange; .*|.* appears valid\. .*|(RED|BLUE) is invalid\. .*")
"""A line that the manager writes between the moves when a bot has gone."""
_MOVE_LINE = re.compile(r"([0-9]{1,9}) (RED|BLU): ?(.*)", re.ASCII)
_END_LINE = re.compile(r"Game ends on (RED|BLUE)'s turn - REASON: (.*)")


def write_log(
    board: Board, names: Sequence[str] = ("red", "blue"), result: str | None = None, end: str | None = None
) -> str:
    """Return a board's game as a log. Give result and end where the board cannot show them ("0-1", "resigned")."""
    setups = setups_of(board.start_position(), board.variant)
    if setups is None or board.variant.army != CLASSIC.army:
        raise NotationError("a log holds classic games from two setups, and this is none")
    lines = []
    for player, setup in enumerate(setups):
        rows = setup_rows(parse_setup(setup, CLASSIC), player)
        lines += [f"{plain_name(names[player])} {COLOURS[player]} SETUP", *rows]
    plies = len(board.history)
    for ply, played in enumerate(board.history):
        lines.append(f"{ply // 2 + 1} {COLOURS[ply % 2][:3]}: {event_line(played)}")
    outcome = board.outcome()
    if outcome is not None:
        result, end = result_of(outcome), outcome.end
    if end is not None and end != "unfinished":
        said = ending(end, plies, names, values_left(board.history))
        if end not in REASONS or result not in RESULTS_OF_END[end]:
            raise NotationError(f"a log cannot say that a game ended {end!r} with the result {result!r}")
        if said.word in ("SURRENDER", "ILLEGAL") and result != ("0-1", "1-0")[plies % 2]:
            raise NotationError(f"by {end!r} the player on turn loses in a log, and the result is {result!r}")
        lines += [f"Game ends on {said.colour}'s turn - REASON: {REASONS[end].format(turn=said.turn)}", said.text]
    return "\n".join(lines) + "\n"


def values_left(history: Iterable[Played], variant: Variant = CLASSIC) -> tuple[int, int]:
    """Return the values of red's and blue's pieces after these moves."""
    left = [army_value(variant)] * 2
    for played in history:
        if played.battle is not None:
            if played.battle.result in "<=":
                left[played.player] -= value(played.battle.attacker)
            if played.battle.result in ">=":
                left[1 - played.player] -= value(played.battle.defender)
    return left[0], left[1]


def read_log(text: str) -> RecordedGame:
    """Read a log and replay it; refuses one whose outcomes are not those of the rules.

    Where a log says twice that the game ended, the first is true: the manager can lose its way
    while it stops the bots.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    lines = [line for line in lines if line.strip() and not _ASIDES.fullmatch(line)]
    names, setups = _read_log_setups(lines)
    # Lines are counted without empty ones and asides, which few logs have.
    events: list[tuple[int, str]] = []
    number = 10
    while number < len(lines):
        match = _MOVE_LINE.fullmatch(lines[number])
        if match is None:
            break
        due = f"{len(events) // 2 + 1} {COLOURS[len(events) % 2][:3]}"
        if f"{match[1]} {match[2]}" != due:
            raise NotationError(f"line {number + 1}: {lines[number]!r} should be move '{due}: …'")
        events.append((number + 1, match[3]))
        number += 1
    ends = [match for line in lines[number:] if (match := _END_LINE.fullmatch(line))]
    if number < len(lines) and _END_LINE.fullmatch(lines[number]) is None:
        raise NotationError(f"line {number + 1}: {shortened(lines[number])} is no move and no end of the game")
    last = ends[0] if ends else None

    end = None if last is None else _end_of_reason(last[2])
    if events and end in ("illegal", "resigned", "time", "unfinished"):
        # The move that lost the game was not played, though it stands in the log.
        event = parse_event(events[-1][1])
        if event.answer is None or event.outcome in (None, "ILLEGAL"):
            events.pop()
    limit = str(len(events)) if end == "total_limit" else "none"
    board = _replay_log(setups, events, f"{UCC_RULES} total_limit={limit}")
    if end == "no_moves" and not board.is_over:
        # The manager looks for movable pieces before the other player has to move once more.
        board = _replay_log(setups, events, f"{UCC_RULES} total_limit={limit} cannot_move=eager")
    result, end = _settle_log(board, end, None if last is None else COLOURS.index(last[1]))
    if len(ends) == 1 and len(lines) > number + 1:
        said = parse_ending(lines[number + 1])
        if said.values != values_left(board.history):
            raise NotationError(
                f"line {number + 2}: the pieces left count {said.values[0]} and {said.values[1]} in the log, and "
                "{} and {} on the board".format(*values_left(board.history))
            )
    moves = [MoveText(played.move, played.battle is not None, _shown(played.battle)) for played in board.history]
    headers = {"Red": names[0], "Blue": names[1]}
    return RecordedGame(headers, board.game, board, moves, {}, result, end)


def _shown(battle: Battle | None) -> tuple[int, int, str] | None:
    return None if battle is None else (battle.attacker, battle.defender, battle.result)


def _read_log_setups(lines: list[str]) -> tuple[list[str], list[Row]]:
    """Return the names and the setups at the beginning of a log."""
    names, setups = [], []
    for player, first in ((0, 0), (1, 5)):
        words = lines[first].split() if first < len(lines) else []
        if len(words) < 3 or words[-2:] != [COLOURS[player], "SETUP"]:
            raise NotationError(f"line {first + 1}: a log has 'NAME {COLOURS[player]} SETUP' here")
        if lines[first + 1 : first + 2] == ["INVALID!"]:
            raise NotationError(f"line {first + 2}: the setup of {COLOURS[player]} was refused: there was no game")
        names.append(" ".join(words[:-2]))
        try:
            setups.append(parse_setup_rows(lines[first + 1 : first + 5], player))
        except SetupError as error:
            raise NotationError(f"line {first + 2}: {error}") from error
    return names, setups


def _end_of_reason(reason: str) -> str:
    said = reason.lower()
    if "illegal setup" in said:
        raise NotationError(f"the log says {reason!r}: there was no game")
    return next((end for words, end in _ENDS_OF_REASONS.items() if words in said), "illegal")


def _replay_log(setups: list[Row], events: list[tuple[int, str]], rules: str) -> Board:
    board = Board.from_setups(setups[0], setups[1], CLASSIC, rules)
    for line, text in events:
        event = parse_event(text)
        move = None if event.answer is None else event.answer.move()
        if move is None:
            raise NotationError(f"line {line}: {shortened(text)} is no move on this board")
        try:
            played = board.push(move)
        except VaubanError as error:
            raise NotationError(f"line {line}: {error}") from error
        outcome = outcome_words(played.battle)
        if event.outcome is not None and not text.split()[3:][-len(outcome.split()) :] == outcome.split():
            raise NotationError(f"line {line}: {shortened(text)} should end with {outcome!r}")
    return board


def _settle_log(board: Board, end: str | None, on_turn: int | None) -> tuple[str, str]:
    """Return the result and the end, from what the log says and what the board shows."""
    outcome = board.outcome()
    if end in (None, "unfinished") or on_turn is None:
        return ("*", "unfinished") if outcome is None else (result_of(outcome), outcome.end)
    assert end is not None
    won, lost = ("1-0", "0-1")[on_turn], ("0-1", "1-0")[on_turn]
    result = {"VICTORY": won, "SURRENDER": lost, "ILLEGAL": lost}.get(WORDS_OF_END[end], "1/2-1/2")
    if outcome is None:
        if end in ("resigned", "time", "illegal", "absent"):
            return result, end
        raise NotationError(f"the log says that the game ended ({REASONS[end]}), and on the board it is not over")
    # A player without a legal move is still asked there, and can only give up; here that player has lost already.
    same = end == outcome.end or (end in ("resigned", "time", "illegal") and outcome.end == "no_moves")
    if not same or result_of(outcome) != result:
        raise NotationError(
            f"the log says {result} ({REASONS[end]}), and on the board the game ended {result_of(outcome)} "
            f"({outcome.end})"
        )
    return result, outcome.end
