"""`Referee`: one game as the public Geister server conducts it, without sockets and without a clock.

    referee = Referee(game)
    referee.connect(0, now)                     # "SET?"
    referee.receive(0, b"SET:ABCD\\r\\n", now)    # "OK "
    referee.sent                                # what is to be sent, to whom

Whoever carries the bytes says what the time is, in seconds, and calls `expire` at `deadline`. A player that is none of
the two connections is played by whoever calls `set_up` and `move`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vauban.agents.base import Row
from vauban.agents.external.geister.wire import BUDGET, MOST_REFUSED, TIMEOUT, Clock, Lines
from vauban.agents.external.process import BotError
from vauban.board import Board
from vauban.errors import InvalidMoveError, SetupError, VaubanError
from vauban.games.base import Game
from vauban.notation.geister import server
from vauban.words import shortened

FORFEIT = "forfeit"
RESIGNED = "resigned"


@dataclass(frozen=True)
class Terms:
    """Agreements of the players beside the rules."""

    budget: float = BUDGET
    """Seconds of a player for the whole game."""
    timeout: float = TIMEOUT
    """Seconds for each move once these are used up."""
    illegal_loses: bool = True
    """Whether a move that may not be played loses the game; if not, the player may try again."""


@dataclass(frozen=True)
class Ending:
    """A game's end."""

    winner: int | None
    """None for a draw."""
    end: str
    """One of the game's ends, or `FORFEIT`."""
    plies: int
    kind: str = ""
    """Of a forfeit: one of `vauban.agents.external.process.KINDS`, or `RESIGNED`."""
    sentence: str = ""
    """The fault of a forfeit's loser."""


class Referee:
    """One game."""

    def __init__(
        self, game: Game = server.PUBLIC, terms: Terms | None = None, remote: tuple[bool, bool] = (True, True)
    ) -> None:
        """`remote` says which of the players are connections."""
        server.check_game(game, "the server")
        terms = terms or Terms()
        self.game, self.terms, self.remote = game, terms, remote
        self.board: Any = None
        """The game's `Board`, once both players have set up."""
        self.ending: Ending | None = None
        self.sent: list[tuple[int, bytes]] = []
        """Lines to be sent, each with its player; whoever sends them empties the list."""
        self.log: list[str] = []
        """The lines of the game's log, as the public server writes it."""
        self._rows: list[Row | None] = [None, None]
        self._here = [not each for each in remote]
        self._lines = [Lines(), Lines()]
        self._clocks = [Clock(terms.budget, terms.timeout) for _ in remote]
        self._refused = [0, 0]
        self._since = 0.0

    # ── Time ─────────────────────────────────────────────────────────────────────────────────────

    @property
    def deadline(self) -> float | None:
        """The time after which somebody has lost; None while a player has not come, or when the game is over."""
        if self.ending is not None or not all(self._here):
            return None
        clock = Clock(self.terms.budget, self.terms.timeout) if self.board is None else self._clocks[self.board.turn]
        return self._since + clock.allowed

    def expire(self, now: float) -> None:
        """End the game if somebody's time is up."""
        deadline = self.deadline
        if deadline is None or now <= deadline:
            return
        loser = self.due[0]
        seconds = f"{deadline - self._since:g} s"
        half = self._lines[loser].half
        what = f"it sent {shortened(half)}, and no end of the line (CR LF)" if half else "it sent nothing"
        self.forfeit(loser, "late", f"{what} within {seconds}")

    @property
    def due(self) -> list[int]:
        """The players who have to say something: their setups, or a move."""
        if self.ending is not None:
            return []
        if self.board is None:
            return [player for player in (0, 1) if self._rows[player] is None]
        return [self.board.turn]

    # ── Connections ──────────────────────────────────────────────────────────────────────────────

    def connect(self, player: int, now: float) -> None:
        """Take in a player who has come."""
        self._here[player] = True
        self._since = now
        self._send(player, server.SET_ASKED)

    def receive(self, player: int, data: bytes, now: float) -> None:
        """Take in bytes from a player."""
        self.expire(now)
        self._lines[player].add(data)
        try:
            while self.ending is None and (line := self._lines[player].next()) is not None:
                self._answer(player, line, now)
        except BotError as error:
            self.forfeit(player, error.kind, str(error))

    def disconnect(self, player: int) -> None:
        """Note that a player has gone. Before its opponent has come too, there is no game that could be lost."""
        if self.ending is not None:
            return
        if all(self._here):
            half = self._lines[player].half
            after = f" after {shortened(half)}, which is half a line" if half else ""
            self._here[player] = False
            self.forfeit(player, "crashed", f"it closed the connection{after}")
            return
        self._here[player] = False
        self._rows[player], self._lines[player], self._refused[player] = None, Lines(), 0
        self.log = [line for line in self.log if not line.startswith(server.log_line(player, ""))]

    # ── Players who are here ─────────────────────────────────────────────────────────────────────

    def set_up(self, player: int, row: Row, now: float) -> None:
        """Take the setup of a player who is no connection."""
        self.log.append(server.log_line(player, server.setup_line(row)))
        self._place(player, row, now)

    def move(self, action: int, now: float) -> None:
        """Take the move of a player who is no connection."""
        self.expire(now)
        if self.ending is None:
            self.log.append(server.log_line(self.board.turn, server.move_line(self.board, action)))
            self._play(action, now)

    def forfeit(self, player: int, kind: str, sentence: str) -> None:
        """End the game: a player has lost it other than on the board."""
        plies = 0 if self.board is None else self.board.plies
        self._end(Ending(1 - player, FORFEIT, plies, kind, sentence))

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _answer(self, player: int, line: str, now: float) -> None:
        """Answer a line. Only setups that are taken are logged: the public server would have taken others too."""
        if self.board is None:
            try:
                row = server.parse_setup(line)
            except SetupError:
                self._refuse(player)
                return
            if self._rows[player] is not None:
                self._refuse(player)
                return
            self.log.append(server.log_line(player, line))
            self._send(player, server.OK)
            self._place(player, row, now)
            return
        self.log.append(server.log_line(player, line))
        if player != self.board.turn:
            self._refuse(player)
        else:
            try:
                action = server.legal_action(self.board, line)
            except VaubanError as error:
                self._refuse(player)
                if self.terms.illegal_loses:
                    kind = "unintelligible" if isinstance(error, InvalidMoveError) else "illegal"
                    self.forfeit(player, kind, str(error))
                return
            self._play(action, now)

    def _refuse(self, player: int) -> None:
        self._send(player, server.REFUSED)
        self._refused[player] += 1
        if self._refused[player] > MOST_REFUSED:
            self.forfeit(player, "babbling", f"more than {MOST_REFUSED:,} of its lines were refused")

    def _place(self, player: int, row: Row, now: float) -> None:
        self._rows[player] = row
        first, second = self._rows
        if first is not None and second is not None:
            self.board = Board(self.game, setups=(first, second))
            self._ask(now)

    def _ask(self, now: float) -> None:
        player = self.board.turn
        self._since = now
        self._send(player, server.MOVE_ASKED + server.board_text(self.board, player))

    def _play(self, action: int, now: float) -> None:
        player = self.board.turn
        self._clocks[player].spend(now - self._since)
        before = server.fates(self.board, 1 - player)
        self.board.push(action)
        self._send(player, "OK" + server.captured_letter(self.board, 1 - player, before))
        outcome = self.board.outcome()
        if outcome is None:
            self._ask(now)
        else:
            self.log.append(server.log_end(outcome.winner))
            self._end(Ending(outcome.winner, outcome.end, self.board.plies))

    def _end(self, ending: Ending) -> None:
        """Tell both players, the winner first."""
        if self.ending is not None:
            return
        self.ending = ending
        for player in (0, 1) if ending.winner != 1 else (1, 0):
            word = server.DRAWN if ending.winner is None else server.WON if ending.winner == player else server.LOST
            self._send(player, word + self._final_board(player))

    def _final_board(self, player: int) -> str:
        if self.board is not None:
            return server.board_text(self.board, player, reveal=True)
        first, second = (self.game.setups.all()[0] if row is None else row for row in self._rows)  # type: ignore[union-attr]
        text = server.board_text(Board(self.game, setups=(first, second)), player, reveal=True)
        for side in (player, 1 - player):
            if self._rows[side] is None:
                text = server.without_colours(text, opponents=side != player)
        return text

    def _send(self, player: int, line: str) -> None:
        if self.remote[player] and self._here[player]:
            self.sent.append((player, (line + server.BREAK).encode()))
