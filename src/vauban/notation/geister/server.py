"""The words of the public Geister server (docs/external-bots.md): lines, boards of 48 characters, logs.

    setup_line(row)                      "SET:ABCD"
    move_line(look, action)              "MOV:A,NORTH"
    board_text(look, player)             "14R24R34R44R15B25B35B45B41u31u21u11u40u30u20u10u"

A player sees the board from its own side, as our actions do: x from left to right, y from the opponent's side to its
own. Ghosts keep their names, A to H, for the whole game. Evil ghosts are red, good ones blue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vauban.board import Look
from vauban.errors import ConfigurationError, IllegalMoveError, InvalidMoveError, NotationError, SetupError
from vauban.games.base import Game
from vauban.games.geister.game import Geister
from vauban.games.geister.layout import CAPTURED_EVIL, CAPTURED_GOOD, CONCEALED, ESCAPED, EVIL, MOST_GHOSTS, PLACE
from vauban.games.kernel import Record
from vauban.words import shortened

PUBLIC = Geister()
"""The board and the rules of the public server."""
GHOSTS = PUBLIC.variant.letters
WIDTH, SQUARES = PUBLIC.variant.width, PUBLIC.variant.squares

BREAK = "\r\n"
"""The end of every line; a line feed alone is none."""
SET_ASKED, MOVE_ASKED = "SET?", "MOV?"
OK, REFUSED = "OK ", "NG "
WON, LOST, DRAWN = "WON:", "LST:", "DRW:"
DIRECTIONS = ("NORTH", "EAST", "WEST", "SOUTH")
"""In the order of our actions."""
CAPTURED_TEXT, ESCAPED_TEXT = "99", "88"
"""In place of coordinates."""
BOARD_LENGTH = 3 * 2 * len(GHOSTS)
DRAW_NUMBER = 2
"""In a log, in place of the winner."""

_SETUP = re.compile(r"SET:(\w*)", re.ASCII)
_MOVE = re.compile(r"MOV:(\w*),(\w*)", re.ASCII)


def check_game(game: Game, name: str) -> None:
    """Refuse a game that is not played with these ghosts on this board."""
    if not game.same_board(PUBLIC):
        raise ConfigurationError(
            f"{name!r} speaks the protocol of the public Geister server, which knows the full board of "
            f"{PUBLIC.name!r} only, not {game.name!r}"
        )


# ── Lines ────────────────────────────────────────────────────────────────────────────────────────


def setup_line(row: npt.NDArray[np.int8]) -> str:
    """Return the line that names the red ghosts of a setup."""
    return f"SET:{PUBLIC.setups.text(row)}"


def parse_setup(line: str) -> npt.NDArray[np.int8]:
    """Return the setup of a line. The letters may be small; they must be four different ones."""
    found = _SETUP.fullmatch(line)
    if found is None:
        raise SetupError(f"{shortened(line)} names no setup: SET:ABCD, the four red ghosts, was asked for")
    return PUBLIC.setups.parse(found[1])


def move_line(look: Look, action: int) -> str:
    """Return the line of an action of the player on turn."""
    return f"MOV:{GHOSTS[ghost_of(look, look.turn, action)]},{DIRECTIONS[action % 4]}"


def parse_move(line: str) -> tuple[int, int]:
    """Return the ghost and the direction of a line. Directions may be one letter, and letters may be small."""
    found = _MOVE.fullmatch(line)
    if found is None:
        raise InvalidMoveError(f"{shortened(line)} is no move: a move is MOV:A,NORTH")
    letter, word = found[1].upper(), found[2].upper()
    if len(letter) != 1 or letter not in GHOSTS:
        raise InvalidMoveError(f"{shortened(line)} is no move: there is no ghost {found[1]!r}, they are A to H")
    for number, direction in enumerate(DIRECTIONS):
        if word in (direction, direction[0]):
            return GHOSTS.index(letter), number
    raise InvalidMoveError(
        f"{shortened(line)} is no move: there is no direction {found[2]!r}, they are {', '.join(DIRECTIONS)} or their "
        "first letters"
    )


def legal_action(look: Look, line: str) -> int:
    """Return the action of a line, which the player on turn may play; refuse any other with the reason."""
    ghost, direction = parse_move(line)
    player = look.turn
    square = places(record_of(look), player)[player][ghost]
    name, word = GHOSTS[ghost], DIRECTIONS[direction]
    if square >= SQUARES:
        fate = "has escaped" if square == ESCAPED else "is captured"
        raise IllegalMoveError(f"{shortened(line)} is not legal: ghost {name} {fate}")
    action = 4 * square + direction
    if action in look.legal_actions:
        return action
    x, y = square % WIDTH, square // WIDTH
    target = int(PUBLIC.moves[action, 1])
    if target == square:
        why = f"ghost {name} on ({x}, {y}) is red, and only blue ones leave the board"
    elif target < 0:
        why = f"{word} of ({x}, {y}) there is no square"
    elif target in places(record_of(look), player)[player]:
        why = f"another ghost of its own stands {word} of ({x}, {y})"
    else:
        why = f"a ghost that can escape has to (the rules are {look.game.rules_text})"
    raise IllegalMoveError(f"{shortened(line)} is not legal: {why}")


def ghost_of(look: Look, player: int, action: int) -> int:
    """Return which of a player's ghosts an action moves."""
    found = places(record_of(look), player)[player]
    if action // 4 not in found:
        raise IllegalMoveError(f"no ghost of the player stands where action {action} begins")
    return found.index(action // 4)


def captured_letter(look: Look, owner: int, before: Sequence[str]) -> str:
    """Return what the mover is told behind "OK": R or B for the owner's ghost that it has captured, else a blank."""
    for then, now in zip(before, fates(look, owner), strict=True):
        if now != then and now in "rb":
            return now.upper()
    return " "


# ── Boards ───────────────────────────────────────────────────────────────────────────────────────


class Shown(NamedTuple):
    """A board of 48 characters, taken apart. The receiver's own ghosts come first, then the opponent's."""

    places: tuple[tuple[int, ...], tuple[int, ...]]
    """Squares in the receiver's view; `CAPTURED_GOOD`, `CAPTURED_EVIL` or `ESCAPED` for ghosts that are gone."""
    evil: tuple[tuple[bool | None, ...], tuple[bool | None, ...]]
    """Whether a ghost is evil; None if that is not shown."""


def record_of(look: Look) -> Record:
    """Return the record of a board or of a view."""
    return look.snapshot().record(0)


def places(record: Record, viewer: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return by player where its ghosts are, as squares in the viewer's view or as what became of them."""
    found = []
    for owner in (0, 1):
        first = PLACE + MOST_GHOSTS * owner
        own = (int(place) for place in record.bytes[first : first + len(GHOSTS)])
        found.append(tuple(SQUARES - 1 - place if viewer == 1 and place < SQUARES else place for place in own))
    return found[0], found[1]


def fates(look: Look, owner: int) -> str:
    """Return a letter for each of a player's ghosts: r or b if it was captured, e if it has escaped, else a dot."""
    letters = {CAPTURED_GOOD: "b", CAPTURED_EVIL: "r", ESCAPED: "e"}
    return "".join(letters.get(place, ".") for place in places(record_of(look), owner)[owner])


def board_text(look: Look, player: int, *, reveal: bool = False) -> str:
    """Return the board as a player is shown it; at the end of a game the opponent's ghosts are revealed.

    What is concealed in a view stays unknown in any case.
    """
    record = record_of(look)
    squares = places(record, player)
    return "".join(
        _triple(record, owner, player, place, reveal) for owner in (player, 1 - player) for place in squares[owner]
    )


def _triple(record: Record, owner: int, viewer: int, place: int, reveal: bool) -> str:
    if place >= SQUARES:
        return {CAPTURED_GOOD: "99b", CAPTURED_EVIL: "99r", ESCAPED: "88b"}[place]
    where = f"{place % WIDTH}{place // WIDTH}"
    concealed = int(record.bytes[CONCEALED]) == 1 + owner
    if concealed or (owner != viewer and not reveal):
        return f"{where}u"
    square = place if viewer == 0 else SQUARES - 1 - place
    evil = int(record.words.view(np.uint64)[EVIL + owner]) >> square & 1
    colour = "R" if evil else "B"
    return where + (colour if owner == viewer else colour.lower())


def without_colours(text: str, opponents: bool) -> str:
    """Return a board on which one side's ghosts are unknown: the receiver's own, or its opponent's."""
    half = BOARD_LENGTH // 2
    triples = re.findall("...", text[half:] if opponents else text[:half])
    blank = "".join(f"{triple[:2]}u" for triple in triples)
    return text[:half] + blank if opponents else blank + text[half:]


def parse_board(text: str) -> Shown:
    """Return what a board of 48 characters shows."""
    if len(text) != BOARD_LENGTH:
        raise NotationError(f"a board is {BOARD_LENGTH} characters, not {len(text):,}: {shortened(text)}")
    found = [_ghost(text[place : place + 3], place // 3) for place in range(0, BOARD_LENGTH, 3)]
    squares = [square for square, _ in found if square < SQUARES]
    if len(set(squares)) != len(squares):
        raise NotationError(f"two ghosts stand on one square of the board {text!r}")
    count = len(GHOSTS)
    own, other = found[:count], found[count:]
    return Shown(
        (tuple(square for square, _ in own), tuple(square for square, _ in other)),
        (tuple(evil for _, evil in own), tuple(evil for _, evil in other)),
    )


def _ghost(triple: str, number: int) -> tuple[int, bool | None]:
    """Return the square of one of the 16 ghosts of a board, and whether it is evil."""
    where, letter = triple[:2], triple[2]
    evil = {"R": True, "r": True, "B": False, "b": False}.get(letter)
    if evil is None and letter != "u":
        raise NotationError(f"{triple!r} is no ghost on a board: its colour is R, B, r, b or u, not {letter!r}")
    if where == ESCAPED_TEXT:
        return ESCAPED, evil
    if where == CAPTURED_TEXT and evil is not None:
        return CAPTURED_EVIL if evil else CAPTURED_GOOD, evil
    if not (where.isascii() and where.isdigit() and int(where[0]) < WIDTH and int(where[1]) < SQUARES // WIDTH):
        name = GHOSTS[number] if number < len(GHOSTS) else GHOSTS[number - len(GHOSTS)].lower()
        raise NotationError(f"ghost {name} of a board is on x, y = {where!r}, and both go from 0 to 5")
    return WIDTH * int(where[1]) + int(where[0]), evil


def opponents_action(look: Look, player: int, shown: Shown) -> int | None:
    """Return the move that has led from one board to the next, made by the player's opponent; None if none was made."""
    before = places(record_of(look), player)[1 - player]
    moved = [ghost for ghost, place in enumerate(shown.places[1]) if place != before[ghost]]
    if not moved:
        return None
    source, target = before[moved[0]], shown.places[1][moved[0]]
    # By what it adds to a square in the player's view: the direction in the opponent's.
    steps = {WIDTH: 0, -1: 1, 1: 2, -WIDTH: 3}
    direction = 0 if target == ESCAPED else steps.get(target - source)
    if len(moved) > 1 or source >= SQUARES or direction is None:
        names = " and ".join(GHOSTS[ghost].lower() for ghost in moved)
        raise NotationError(f"no single move of the opponent leads to the board that is shown: see ghost {names}")
    return 4 * (SQUARES - 1 - source) + direction


# ── Logs ─────────────────────────────────────────────────────────────────────────────────────────


def log_line(player: int, line: str) -> str:
    """Return what a log says of a line that a player has sent."""
    return f"player={player},{line}"


def log_end(winner: int | None) -> str:
    """Return the last line of the log of a game that was ended on the board; None for a draw."""
    return f"winner={DRAW_NUMBER if winner is None else winner}"
