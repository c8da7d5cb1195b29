"""Games of Geister in the logs of the public server (docs/geister.md).

A log has the lines that the server was sent, `player=0,SET:ABCD`, `player=1,MOV:D,N`, and `winner=0` (2 is a draw)
where the game was decided on the board. Lines that the server refused are there too. They are found out by replaying:
of the setups of a player the first good one counts, and a move counts after both setups and on the player's own turn
only. A move on the own turn that is not legal loses the game, as it does on the server unless that was started to let
players try again, which the lines after it show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vauban.board.geister import Board
from vauban.errors import NotationError
from vauban.games.geister.game import DIRECTIONS
from vauban.notation.records import result_of, write_game
from vauban.words import shortened

FORMATS = "a log of the Geister server"
"""The formats, named in a sentence."""
_LINE = re.compile(r"player=([01]),(.*)|winner=([012])", re.ASCII)
_LOG = re.compile(r"^(?:player=[01],|winner=[012]\s*$)", re.MULTILINE | re.ASCII)
_SETUP = re.compile(r"SET:(\w{4})", re.ASCII | re.IGNORECASE)
_MOVE = re.compile(r"MOV:([a-z]),(north|east|west|south|[news])", re.ASCII | re.IGNORECASE)
WINNERS = {"0": "1-0", "1": "0-1", "2": "1/2-1/2"}
"""Results by the number in the log."""

Line = tuple[int, str]
"""A line's number, and the line."""


def recognises(data: bytes) -> bool:
    """Return whether a text looks like such a log; whether it is sound, `to_notation` says."""
    return _LOG.search(data.decode("utf-8-sig", "replace")) is not None


def to_notation(data: bytes) -> str:
    """Return the games of a log in our notation."""
    text = data.decode("utf-8-sig", "replace")
    return "\n".join(_game_text(lines) for lines in _split(text))


def _split(text: str) -> Iterator[list[Line]]:
    """Yield the lines of each game: a game ends with the line that names its winner, or with the log."""
    lines: list[Line] = []
    for number, written in enumerate(text.splitlines(), 1):
        line = written.strip()
        if not line:
            continue
        if _LINE.fullmatch(line) is None:
            raise NotationError(
                f"line {number}: {shortened(line)} is no line of a log: it is player=N,TEXT (N is 0 or 1) or winner=N"
            )
        lines.append((number, line))
        if line.startswith("winner"):
            yield lines
            lines = []
    if lines:
        yield lines


def _game_text(lines: list[Line]) -> str:
    """Return one game in our notation; refuse one whose winner is not the board's."""
    setups, moves, winner = _read(lines)
    if len(setups) < 2:
        raise NotationError(f"line {lines[-1][0]}: the game ends before both players have sent their setups")
    board: Board = Board.from_setups(setups[0], setups[1], "geister", "server")
    refused = _replay(board, moves)
    outcome = board.outcome()
    if outcome is not None:
        shown = result_of(outcome)
        if winner is None:
            raise NotationError(
                f"line {lines[-1][0]}: the moves end the game {shown} ({outcome.end}), and the log names no winner: "
                "its end is missing, or it was played by other rules"
            )
        if WINNERS[winner] != shown:
            raise NotationError(
                f"line {lines[-1][0]}: the log says winner={winner}, which is {WINNERS[winner]}, and on the board the "
                f"game ended {shown} ({outcome.end})"
            )
        return write_game(board)
    if winner is not None:
        raise NotationError(
            f"line {lines[-1][0]}: the log says winner={winner}, and on the board the game is not over after "
            f"{board.plies} plies"
        )
    if refused is None:
        return write_game(board, {"Result": "*", "End": "unfinished"})
    return write_game(board, {"Result": ("0-1", "1-0")[board.turn], "End": "illegal", "Note": refused})


def _read(lines: list[Line]) -> tuple[dict[int, str], list[tuple[int, int, str]], str | None]:
    """Return the setups by player, the lines after both (line, player, text), and the number of the winner."""
    setups: dict[int, str] = {}
    moves = []
    winner = None
    for number, line in lines:
        match = _LINE.fullmatch(line)
        assert match is not None
        if match[3] is not None:
            winner = match[3]
            continue
        player, text = int(match[1]), match[2].strip()
        setup = _SETUP.fullmatch(text)
        if setup is not None and player not in setups:
            setups[player] = _checked(setup[1], number)
        elif setup is None and len(setups) == 2:
            moves.append((number, player, text))
    return setups, moves, winner


def _checked(setup: str, number: int) -> str:
    if len(set(setup.upper())) != 4 or not set(setup.upper()) <= set("ABCDEFGH"):
        raise NotationError(
            f"line {number}: SET:{setup} does not name four different ghosts of A to H; the server takes it, and it is "
            "no setup of Geister"
        )
    return setup.upper()


def _replay(board: Board, moves: list[tuple[int, int, str]]) -> str | None:
    """Play the moves of a log; return why the last of them lost the game, if it was refused by the server."""
    refused = None
    for number, player, text in moves:
        if board.is_over:
            outcome = board.outcome()
            assert outcome is not None
            raise NotationError(
                f"line {number}: {shortened(text)} comes after the end: on the board the game ended "
                f"{result_of(outcome)} ({outcome.end})"
            )
        if player != board.turn:
            refused = None
            continue
        refused = None if _push(board, text) else f"{text} was refused"
    return refused


def _push(board: Board, text: str) -> bool:
    """Play a line of the player on turn; return whether it is a legal move."""
    match = _MOVE.fullmatch(text)
    if match is None:
        return False
    ghosts = {ghost.letter.upper(): ghost for ghost in board.ghosts(board.turn)}
    ghost = ghosts.get(match[1].upper())
    if ghost is None or ghost.square is None:
        return False
    own = ghost.square if board.turn == 0 else board.variant.squares - 1 - ghost.square
    action = 4 * own + DIRECTIONS.index(match[2][0].lower())
    if action not in board.legal_actions:
        return False
    board.push(action)
    return True
