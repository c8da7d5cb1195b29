"""`Board`: one game of Geister, for people; and `View`, what one player may know of it.

    >>> from vauban import Board
    >>> board = Board.from_setups("ABCD", "BCDE", "geister")
    >>> board.push("b2b3").text
    'b2b3'
    >>> board.view(1).text
    '1hgfe1/1dcba1/6/1A4/2BCD1/1EFGH1 s ???????? BRRRRBBB 1'

Squares are numbers in the first player's view, 0 is the far left corner; the names begin with a1, the near left one.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from vauban.board import base
from vauban.board.base import call, new_record
from vauban.board.geister.look import Look, Played
from vauban.errors import ConfigurationError, NotationError
from vauban.games.base import DRAW, END, NOBODY, PLAYER, PLIES, WINNER, Game
from vauban.games.base import game as find_game
from vauban.games.geister import layout
from vauban.games.geister import rules as kernels
from vauban.games.geister.game import Geister
from vauban.games.kernel import Record
from vauban.games.small import finish
from vauban.notation.geister import position as texts
from vauban.notation.geister.position import Position, parse_position


class View(Look, base.View):
    """All that one player may know: the own colours, where every ghost stands, the colours of those captured."""

    @classmethod
    def from_position(cls, position: str | Position, player: int, game: Any = "geister", rules: Any = None) -> View:
        """Return the view that a text shows to a player, without the moves that led there."""
        found = _geister(find_game(game, rules))
        placed = parse_position(position) if isinstance(position, str) else position
        if texts.UNKNOWN in placed.known[player]:
            raise NotationError(f"this is no view of the {found.players[player]} player, who knows the own colours")
        record = place(found, placed)
        call(found, found.kernels.conceal, record, player)
        return cls(found, record, player, [])

    def _bottom(self) -> int:
        return self.player


class Board(Look, base.Board):
    """One game: its position, its moves so far, and what may be played next."""

    views: ClassVar[type[Any]] = View

    @classmethod
    def _from_text(cls, text: str | Position, game: Game, seed: int | None) -> Board:
        placed = parse_position(text) if isinstance(text, str) else text
        if placed.is_view:
            raise NotationError("a view (with ?) is not a playable position: View.from_position shows it")
        board: Board = cls._from_record(game, place(_geister(game), placed), seed)
        return board

    def push(self, move: Any) -> Played:
        """Make a move, given as text or as an action's number.

        Raises `InvalidMoveError` (no move at all), `NotYourTurnError` (the game is over) or `IllegalMoveError` with the
        reason. What is refused changes nothing.
        """
        made = super().push(move)
        before = Look(self.game, self._records[-1])
        _, target = before.squares_of(made.player, made.action)
        captured = None if target is None else before.ghost_at(target)
        if captured is not None:
            captured = self.ghosts(captured.player)[captured.number]
        played = Played(made.text, made.player, made.action, captured, target is None)
        self.history[-1] = played
        return played

    @property
    def start_text(self) -> str:
        """The position from which this board's moves began, as `text` writes it."""
        return Look(self.game, self._records[0]).text if self._records else self.text

    def _key(self) -> Any:
        return self.game.name, self.game.rules_text, self.text

    def _why_illegal(self, action: int) -> str:
        """Say what is wrong with a move, and where its ghost may go."""
        name = self.game.square_name
        source, target = self.squares_of(self.turn, action)
        ghost = self.ghost_at(source)
        if ghost is None:
            return f": there is no ghost on {name(source)}"
        if ghost.player != self.turn:
            return f": the ghost on {name(source)} is your opponent's"
        own = [each for each in self.legal_actions if self.squares_of(self.turn, each)[0] == source]
        instead = f"it may go {', '.join(self._goal(each) for each in own)}" if own else "it has no legal move"
        return f": {self._fault(source, target, bool(ghost.evil), action)}; {instead}"

    def _fault(self, source: int, target: int | None, evil: bool, action: int) -> str:
        name, exits = self.game.square_name, self.exits(self.turn)
        if target is None and not self.game.escapes[action]:
            where = " or ".join(map(name, exits))
            return f"that is off the board, which a good ghost leaves from {where} only, over its corner"
        if target is None and evil:
            return "an evil ghost cannot leave the board"
        there = None if target is None else self.ghost_at(target)
        if there is not None and there.player == self.turn:
            return f"your own ghost stands on {name(there.square or 0)}"
        legal = ", ".join(self.game.action_text(self.turn, each) for each in self.legal_actions)
        return f"escapes are forced, so {legal} are all that you may play"

    def _goal(self, action: int) -> str:
        """Return where a legal move leads, in words."""
        target = self.squares_of(self.turn, action)[1]
        text = self.game.action_text(self.turn, action)
        return f"off the board ({text})" if target is None else f"to {self.game.square_name(target)}"

    def __repr__(self) -> str:
        return f"<Board of {self.game.name}: {self.text}>"


def _geister(game: Game) -> Geister:
    if not isinstance(game, Geister):
        raise ConfigurationError(f"{game.name!r} is no game of Geister: name one, or leave it out")
    return game


def place(game: Geister, position: Position) -> Record:
    """Return the record of a position. Ghosts whose colours are not known are good in it: conceal them.

    What a text does not tell is empty: the latest moves, and how the ghosts have behaved.
    """
    v = game.variant
    if (position.width, position.height) != (v.width, v.height):
        raise ConfigurationError(
            f"the position is on a board of {position.width} × {position.height}, and {v.name!r} has {v.width} × "
            f"{v.height}"
        )
    record = new_record(game.format())
    call(game, game.kernels.begin, record, np.zeros(game.start_size, np.int8))
    words, bytes_ = record.words, record.bytes
    ends = []
    for player, (places, known) in enumerate(zip(position.places, position.known, strict=True)):
        _check_colours(game, player, known)
        words[layout.PIECES + player] = words[layout.EVIL + player] = 0
        for ghost, (square, code) in enumerate(zip(places, known, strict=True)):
            byte = layout.PLACE + layout.MOST_GHOSTS * player + ghost
            if square is None:
                bytes_[byte] = _GONE[code]
                continue
            bit = np.uint64(1 << square)
            bytes_[byte] = square
            words[layout.PIECES + player] |= bit
            if code in (texts.EVIL, texts.PROVEN):
                words[layout.EVIL + player] |= bit
            if code == texts.PROVEN:
                bytes_[layout.PROVEN + player] |= 1 << ghost
        ends += _ends(game, player, known)
    if len(ends) > 1:
        raise NotationError("this position cannot be: the game would have ended more than once")
    words[PLIES] = position.plies
    bytes_[PLAYER] = position.turn
    bytes_[END], bytes_[WINNER] = 0, NOBODY
    if not ends and position.plies >= game.rules.total_limit:
        ends = [(kernels.END_TOTAL, 1 if game.rules.at_limit == "second" else DRAW)]
    if ends:
        call(game, finish, record, *ends[0])
    return record


_GONE = {
    texts.CAPTURED_GOOD: layout.CAPTURED_GOOD,
    texts.CAPTURED_EVIL: layout.CAPTURED_EVIL,
    texts.ESCAPED: layout.ESCAPED,
}


def _check_colours(game: Geister, player: int, known: str) -> None:
    """Refuse colours that the ghosts of a player cannot have."""
    v = game.variant
    evil = sum(known.count(code) for code in (texts.EVIL, texts.PROVEN, texts.CAPTURED_EVIL))
    good = sum(known.count(code) for code in (texts.GOOD, texts.CAPTURED_GOOD, texts.ESCAPED))
    if len(known) != v.ghosts or evil > v.evil or good > v.good:
        raise NotationError(
            f"the colours {known} do not fit: the {game.players[player]} player has {v.good} good and {v.evil} evil "
            "ghosts"
        )


def _ends(game: Geister, player: int, known: str) -> list[tuple[int, int]]:
    """Return what ends the game for a player's ghosts: the end, and who has won by it."""
    found = [(kernels.END_ESCAPE, player)] * known.count(texts.ESCAPED)
    if known.count(texts.CAPTURED_GOOD) == game.variant.good:
        found.append((kernels.END_GOOD_CAPTURED, 1 - player))
    if known.count(texts.CAPTURED_EVIL) == game.variant.evil:
        found.append((kernels.END_EVIL_CAPTURED, player))
    return found
