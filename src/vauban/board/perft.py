"""Perft: how many sequences of legal actions of each length a position has (docs/rules.md).

A family may name starts with known counts in `vauban.board.<family>.perft`: `STARTS`, and `start(name, rules)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vauban.board.base import Board
from vauban.door import PREFIX
from vauban.errors import ConfigurationError
from vauban.families import family_parts
from vauban.games import base
from vauban.games.base import Game, nearest
from vauban.sim.perft import count_sequences


def perft(board: Board, depth: int, tick: Callable[[int, int], None] = lambda *_: None) -> list[int]:
    """Return the numbers of sequences of exactly 1, 2, …, `depth` actions that follow a board's position.

    Every chance event that can happen is followed, and is no action. `tick` is told (first actions done, of how many).
    """
    return count_sequences(board.game, board.roomy_record(depth), depth, tick)


def start_board(start: str | Game, rules: Any = None, *, seed: int = 0, setups: tuple[Any, Any] | None = None) -> Board:
    """Return the board to count from: of a named start, of a game at its beginning, or of a position text.

    seed: draws the setups of a game, unless they are given.
    """
    if not isinstance(start, Game):
        for part in family_parts("board", "perft"):
            if start in part.STARTS:
                if setups is not None:
                    raise ConfigurationError(f"the start {start!r} has setups of its own: leave --setups out")
                found: Board = part.start(start, rules)
                return found
        if not (start in base.names() or start.startswith(PREFIX) or start.endswith(".toml")):
            return _from_position(start, rules)
    board: Board = Board.before_chance(base.game(start, rules), seed, setups)
    return board


def _from_position(text: str, rules: Any) -> Board:
    if " " not in text:
        named = [name for part in family_parts("board", "perft") for name in part.STARTS]
        raise ConfigurationError(
            f"there is no start {text!r}: {nearest(text, [*named, *base.names()], most=12)} (or give a position)"
        )
    found: Board = Board.from_position(text, None, rules)
    return found
