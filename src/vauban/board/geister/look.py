"""Reading a position of Geister: ghosts and what is known of them; what boards and views have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vauban.board import base
from vauban.board.geister import picture
from vauban.board.geister.places import home_square
from vauban.errors import InvalidMoveError
from vauban.games.geister import layout
from vauban.games.geister.game import Geister
from vauban.games.geister.switches import Rules
from vauban.games.geister.variants import Variant
from vauban.notation.geister import position as texts
from vauban.notation.geister.moves import EXAMPLE
from vauban.notation.geister.position import Position, position_text

ON_BOARD, CAPTURED, ESCAPED = "on the board", "captured", "escaped"
_SQUARES = re.compile(r"([a-z][0-9]+)([a-z][0-9]+|[news])", re.ASCII)


@dataclass(frozen=True)
class Ghost:
    """A ghost, as whoever looks knows it."""

    player: int
    number: int
    """Its place among the player's ghosts."""
    square: int | None
    """None once it is gone."""
    evil: bool | None
    """None if whoever looks cannot know."""
    proven: bool
    """Whether everybody can tell that it is evil: it stayed on an exit where escapes are forced."""
    fate: str
    """`ON_BOARD`, `CAPTURED` or `ESCAPED`."""

    @property
    def letter(self) -> str:
        """Its letter: capital for the first player, small for the second."""
        return texts.SIDES[self.player][self.number]

    @property
    def colour(self) -> str:
        """Its colour in words."""
        return "unknown" if self.evil is None else "evil" if self.evil else "good"

    @property
    def code(self) -> str:
        """Its letter in the colours of a position text."""
        if self.fate == ESCAPED:
            return texts.ESCAPED
        if self.fate == CAPTURED:
            return texts.CAPTURED_EVIL if self.evil else texts.CAPTURED_GOOD
        if self.proven:
            return texts.PROVEN
        return texts.UNKNOWN if self.evil is None else texts.EVIL if self.evil else texts.GOOD


@dataclass(frozen=True)
class Played(base.Played):
    """A move that was made, and what it showed."""

    captured: Ghost | None = None
    """The ghost that it captured."""
    escaped: bool = False
    """Whether the ghost left the board."""


def ghosts_of_setup(game: Geister, player: int, setup: Iterable[Any]) -> list[Ghost]:
    """Return a player's ghosts before the first move, in the order of their letters."""
    squares = [home_square(game, player, number) for number in range(game.variant.ghosts)]
    return [
        Ghost(player, number, square, bool(evil), False, ON_BOARD)
        for number, (square, evil) in enumerate(zip(squares, setup, strict=True))
    ]


class Look(base.Look):
    """The common part of boards and views: reading a record."""

    game: Geister
    history: list[Played]
    """The moves made so far, all public."""

    @property
    def variant(self) -> Variant:
        """The board that is played on."""
        return self.game.variant

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.game.rules

    def ghosts(self, player: int) -> list[Ghost]:
        """Return all ghosts of a player, in the order of their letters."""
        return [self._ghost(player, number) for number in range(self.variant.ghosts)]

    def ghost_at(self, square: int) -> Ghost | None:
        """Return the ghost on a square; None if there is none."""
        for player in (0, 1):
            for ghost in self.ghosts(player):
                if ghost.square == square:
                    return ghost
        return None

    def captured(self, player: int) -> list[Ghost]:
        """Return the player's ghosts that have been captured."""
        return [ghost for ghost in self.ghosts(player) if ghost.fate == CAPTURED]

    def exits(self, player: int) -> tuple[int, int]:
        """Return the squares from which the player's good ghosts can leave the board."""
        left, right = 0, self.variant.width - 1
        return (left, right) if player == 0 else (self.variant.squares - 1 - left, self.variant.squares - 1 - right)

    def squares_of(self, player: int, action: int) -> tuple[int, int | None]:
        """Return the squares of a player's move: from, and to; None for a move off the board."""
        source, target = (int(square) for square in self.game.moves[action])
        last = self.variant.squares - 1
        inside = target not in (source, -1)
        if player == 1:
            source, target = last - source, last - target
        return source, target if inside else None

    def position(self) -> Position:
        """Return the position as it stands, without the moves that led to it."""
        both = self.ghosts(0), self.ghosts(1)
        places = tuple(tuple(ghost.square for ghost in ghosts) for ghosts in both)
        known = tuple("".join(ghost.code for ghost in ghosts) for ghosts in both)
        v = self.variant
        return Position(v.width, v.height, (places[0], places[1]), (known[0], known[1]), self.turn, self.plies)

    @property
    def text(self) -> str:
        """The position as one line of text; `from_position` reads it back."""
        return position_text(self.position())

    def action_of(self, move: Any) -> int:
        """Return the number of an action, from its text or from its number."""
        try:
            return super().action_of(move)
        except InvalidMoveError:
            squares = _SQUARES.fullmatch(move.strip().lower()) if isinstance(move, str) else None
            if squares is None:
                raise
            names = [self.game.square_name(square) for square in range(self.variant.squares)]
            wrong = [name for name in squares.groups() if len(name) > 1 and name not in names]
            if wrong:
                last = names[self.variant.width - 1]
                why = f"{wrong[0]} is no square of this board, which goes from a1 to {last}"
            elif len(squares[2]) > 1:
                why = "a ghost moves one square along a row or a column"
            else:
                why = "a direction stands for a way off the board, and this one leads to a square"
            raise InvalidMoveError(f"{move!r} is no move: {why}; {EXAMPLE}") from None

    def as_text(self, observation: str | None = None) -> str:
        """Return the board as lines of text, with the view's player at the bottom."""
        return picture.text(self, self._bottom())

    def svg(self, size: int = 480) -> str:
        """Return the position as an SVG picture, with the view's player at the bottom."""
        return picture.svg(self, self._bottom(), size)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _bottom(self) -> int:
        return 0

    def _ghost(self, player: int, number: int) -> Ghost:
        words, bytes_ = self._record.words, self._record.bytes
        place = int(bytes_[layout.PLACE + layout.MOST_GHOSTS * player + number])
        if place >= layout.CAPTURED_GOOD:
            fate = ESCAPED if place == layout.ESCAPED else CAPTURED
            return Ghost(player, number, None, place == layout.CAPTURED_EVIL, False, fate)
        proven = bool(int(bytes_[layout.PROVEN + player]) >> number & 1)
        evil: bool | None = bool(int(words[layout.EVIL + player]) >> place & 1)
        if int(bytes_[layout.CONCEALED]) == 1 + player:
            evil = True if proven else None
        return Ghost(player, number, place, evil, proven, ON_BOARD)
